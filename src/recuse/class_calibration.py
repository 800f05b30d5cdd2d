"""From the scores of three or more classes to probabilities, fitted to scores of cases that the model did not see.

A score z of each class is any number that grows with its probability; a probability enters as its log-odds. Each map is
a small frozen object, as those of two classes are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_expit, log_softmax, softmax
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from .arrays import Floats, Indices
from .calibration import AUTO, CALIBRATIONS, Calibrator

_FOLDS = 5
_SMALLEST = 1e-9  # a probability closer to 0 than this is as good as 0
_COLDEST, _HOTTEST = -7.0, 7.0  # log of the slopes that are tried


class ClassCalibrator(Protocol):
    """A map from the scores of the classes to probabilities."""

    def __call__(self, scores: Floats) -> Floats:
        """Probabilities that sum to 1, a column for each class."""


@dataclass(frozen=True)
class SharedTemperature:
    """p = softmax(slope z): log-probabilities made less or more extreme, the most probable class unchanged."""

    slope: float
    of_probabilities: bool

    @classmethod
    def fit(cls, scores: Floats, codes: Indices, weights: Floats, of_probabilities: bool) -> SharedTemperature:
        """The map of least log loss, which is convex in the slope."""
        line, rows = _line(scores, of_probabilities), np.arange(len(codes))
        scale = float(np.sqrt(np.average(np.var(line, axis=1), weights=weights))) or 1.0

        def loss(log_slope: float) -> float:
            found = log_softmax(np.exp(log_slope) / scale * line, axis=1)[rows, codes]
            return float(-np.average(found, weights=weights))

        found = minimize_scalar(loss, bounds=(_COLDEST, _HOTTEST), method="bounded", options={"xatol": 1e-10})
        return cls(float(np.exp(found.x) / scale), of_probabilities)

    def __call__(self, scores: Floats) -> Floats:
        """Probabilities of the classes."""
        p: Floats = softmax(self.slope * _line(scores, self.of_probabilities), axis=1)
        return p


def _line(scores: Floats, of_probabilities: bool) -> Floats:
    """Log-probabilities where the scores are log-odds of probabilities, else the scores."""
    return log_expit(scores) if of_probabilities else scores


@dataclass(frozen=True)
class OneVersusRest:
    """A map for each class against the others, the probabilities divided by their sum."""

    maps: tuple[Calibrator, ...]

    def __call__(self, scores: Floats) -> Floats:
        """Probabilities of the classes."""
        p = np.column_stack([to_probability(scores[:, k]) for k, to_probability in enumerate(self.maps)])
        p = np.maximum(p, _SMALLEST)
        return p / p.sum(axis=1, keepdims=True)


Fit = Callable[[Floats, Indices, Floats], ClassCalibrator]


def calibrate_classes(
    how: str,
    scores: Floats,
    codes: Indices,
    weights: Floats,
    groups: Indices | None = None,
    *,
    of_probabilities: bool,
) -> ClassCalibrator:
    """Fit a map by its name; "auto" takes the one with the least log loss on held-out scores.

    Parameters
    ----------
    how : str
        A name in `CALIBRATIONS`, or "auto". A temperature is shared by all classes; the others map each by itself.
    scores : ndarray of shape (n, n_classes)
        Scores of cases that the model was not fitted to.
    codes : ndarray of int of shape (n,)
        Their classes.
    weights : ndarray of shape (n,)
        Their weights.
    groups : ndarray of int of shape (n,), optional
        Cases that belong together: "auto" never judges a map by cases whose group it was fitted to.
    of_probabilities : bool
        Whether the scores are log-odds of probabilities.
    """
    ways = {name: _way(name, of_probabilities) for name in CALIBRATIONS}
    chosen = _least_log_loss(ways, scores, codes, weights, groups) if how == AUTO else how
    return ways[chosen](scores, codes, weights)


def _way(name: str, of_probabilities: bool) -> Fit:
    def shared(scores: Floats, codes: Indices, weights: Floats) -> ClassCalibrator:
        return SharedTemperature.fit(scores, codes, weights, of_probabilities)

    def each(scores: Floats, codes: Indices, weights: Floats) -> ClassCalibrator:
        fit = CALIBRATIONS[name]
        return OneVersusRest(tuple(fit(scores[:, k], codes == k, weights) for k in range(scores.shape[1])))

    return shared if name == "temperature" else each


def _least_log_loss(
    ways: dict[str, Fit], scores: Floats, codes: Indices, weights: Floats, groups: Indices | None
) -> str:
    units = np.arange(len(codes)) if groups is None else groups
    smallest = min(len(np.unique(units[codes == k])) for k in range(scores.shape[1]))
    if smallest < 2 * _FOLDS:  # too few to tell maps apart
        return "temperature"
    splitter = (StratifiedKFold if groups is None else StratifiedGroupKFold)(_FOLDS, shuffle=True, random_state=0)
    folds = list(splitter.split(scores, codes, groups))
    losses = {}
    for name, fit in ways.items():
        held_out = np.empty(len(codes))
        for train, test in folds:
            found = fit(scores[train], codes[train], weights[train])(scores[test])
            held_out[test] = found[np.arange(len(test)), codes[test]]
        losses[name] = float(-np.average(np.log(np.maximum(held_out, _SMALLEST)), weights=weights))
    return min(losses, key=lambda name: losses[name])
