"""From scores to probabilities: monotone maps fitted to scores of cases that the model did not see.

A score z is any number that grows with the probability of the positive class; a probability enters as its log-odds.
Each map is a small frozen object: `fit` learns it, calling it gives probabilities. A case of weight 2 counts as two,
and all weights times ten give the same map.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit, xlogy
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from .arrays import Flags, Floats, Indices
from .parameters import check_choice

_SMALLEST = 1e-9  # a probability closer to 0 or 1 than this is as good as certain
_FOLDS = 5
_RIDGE = 1e-4  # keeps the slope finite where scores separate the classes; elsewhere it changes the third digit at most
AUTO = "auto"


def log_odds(probabilities: Floats) -> Floats:
    """Log-odds, finite also where a probability is 0 or 1."""
    odds: Floats = logit(np.clip(probabilities, _SMALLEST, 1 - _SMALLEST))
    return odds


def log_loss(probabilities: Floats, positive: Flags, weights: Floats) -> float:
    """Mean negative log-likelihood of the outcomes."""
    p = np.clip(probabilities, _SMALLEST, 1 - _SMALLEST)
    return float(np.average(-(xlogy(positive, p) + xlogy(~positive, 1 - p)), weights=weights))


class Calibrator(Protocol):
    """A map from scores to probabilities."""

    def __call__(self, scores: Floats) -> Floats:
        """Probabilities of the positive class."""


@dataclass(frozen=True)
class Sigmoid:
    """p = expit(slope z + intercept), slope >= 0: Platt's map."""

    slope: float
    intercept: float

    @classmethod
    def fit(cls, scores: Floats, positive: Flags, weights: Floats) -> Sigmoid:
        """The map of least log loss."""
        shift, scale = _location(scores, weights)
        features = np.column_stack([(scores - shift) / scale, np.ones(len(scores))])
        slope, intercept = _fit_logistic(features, positive, weights, bounds=[(0, None), (None, None)])
        return cls(slope / scale, intercept - slope * shift / scale)

    def __call__(self, scores: Floats) -> Floats:
        """Probabilities of the positive class."""
        p: Floats = expit(self.slope * scores + self.intercept)
        return p

    def score_at(self, probability: float) -> float:
        """The score that has this probability; infinite where the score tells nothing."""
        distance = float(logit(probability)) - self.intercept
        return distance / self.slope if self.slope > 0 else float(np.copysign(np.inf, distance))


@dataclass(frozen=True)
class Temperature:
    """p = expit(slope z): log-odds made less or more extreme, none of them changing sides."""

    slope: float

    @classmethod
    def fit(cls, scores: Floats, positive: Flags, weights: Floats) -> Temperature:
        """The map of least log loss."""
        scale = float(np.sqrt(np.average(scores**2, weights=weights))) or 1.0
        (slope,) = _fit_logistic(scores[:, None] / scale, positive, weights, bounds=[(0, None)])
        return cls(slope / scale)

    def __call__(self, scores: Floats) -> Floats:
        """Probabilities of the positive class."""
        p: Floats = expit(self.slope * scores)
        return p


@dataclass(frozen=True)
class Beta:
    """p = expit(a log q - b log(1 - q) + c) with q = expit(z), a and b >= 0 (Kull, Silva Filho and Flach, 2017)."""

    a: float
    b: float
    c: float

    @classmethod
    def fit(cls, scores: Floats, positive: Flags, weights: Floats) -> Beta:
        """The map of least log loss."""
        features = np.column_stack([*_beta_features(scores), np.ones(len(scores))])
        return cls(*_fit_logistic(features, positive, weights, bounds=[(0, None), (0, None), (None, None)]))

    def __call__(self, scores: Floats) -> Floats:
        """Probabilities of the positive class."""
        towards_one, towards_zero = _beta_features(scores)
        p: Floats = expit(self.a * towards_one + self.b * towards_zero + self.c)
        return p


@dataclass(frozen=True, eq=False)
class Isotonic:
    """A non-decreasing curve through the shares of positives, straight between its points; never 0 or 1."""

    scores: Floats
    probabilities: Floats

    @classmethod
    def fit(cls, scores: Floats, positive: Flags, weights: Floats) -> Isotonic:
        """The non-decreasing curve of least squared error."""
        curve = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
        curve.fit(scores, positive.astype(np.float64), sample_weight=weights)
        # A share of 0 among the cases seen is not a probability of 0: as small as half a case among all of them.
        least = 0.5 / (np.count_nonzero(weights) + 1)
        return cls(curve.X_thresholds_, np.clip(curve.y_thresholds_, least, 1 - least))

    def __call__(self, scores: Floats) -> Floats:
        """Probabilities of the positive class."""
        return np.interp(scores, self.scores, self.probabilities)


Fit = Callable[[Floats, Flags, Floats], Calibrator]

# The simplest first: among maps of equal log loss the first is taken.
CALIBRATIONS: dict[str, Fit] = {
    "temperature": Temperature.fit,
    "sigmoid": Sigmoid.fit,
    "beta": Beta.fit,
    "isotonic": Isotonic.fit,
}


def check_calibration(name: str, value: Any) -> None:
    """Refuse what is neither None, "auto" nor a known map."""
    if value is not None:
        check_choice(name, value, (AUTO, *CALIBRATIONS))


def calibrate(how: str, scores: Floats, positive: Flags, weights: Floats, groups: Indices | None = None) -> Calibrator:
    """Fit a map by its name; "auto" takes the one with the least log loss on held-out scores.

    Parameters
    ----------
    how : str
        A name in `CALIBRATIONS`, or "auto".
    scores : ndarray of shape (n,)
        Scores of cases that the model was not fitted to.
    positive : ndarray of bool of shape (n,)
        Which of them are positive.
    weights : ndarray of shape (n,)
        Their weights.
    groups : ndarray of int of shape (n,), optional
        Cases that belong together: "auto" never judges a map by cases whose group it was fitted to.
    """
    chosen = _least_log_loss(scores, positive, weights, groups) if how == AUTO else how
    return CALIBRATIONS[chosen](scores, positive, weights)


def _least_log_loss(scores: Floats, positive: Flags, weights: Floats, groups: Indices | None) -> str:
    units = np.arange(len(scores)) if groups is None else groups
    smaller_class = min(len(np.unique(units[positive])), len(np.unique(units[~positive])))
    if smaller_class < 2 * _FOLDS:  # too few to tell maps apart
        return "sigmoid"
    splitter = (StratifiedKFold if groups is None else StratifiedGroupKFold)(_FOLDS, shuffle=True, random_state=0)
    folds = list(splitter.split(scores, positive, groups))
    losses = {}
    for name, fit in CALIBRATIONS.items():
        held_out = np.empty(len(scores))
        for train, test in folds:
            held_out[test] = fit(scores[train], positive[train], weights[train])(scores[test])
        losses[name] = log_loss(held_out, positive, weights)
    return min(losses, key=lambda name: losses[name])


def _location(scores: Floats, weights: Floats) -> tuple[float, float]:
    """Mean and standard deviation, so that the slope to be found is of the order of 1."""
    mean = float(np.average(scores, weights=weights))
    return mean, float(np.sqrt(np.average((scores - mean) ** 2, weights=weights))) or 1.0


def _beta_features(scores: Floats) -> tuple[Floats, Floats]:
    return log_expit(scores), -log_expit(-scores)


def _fit_logistic(features: Floats, positive: Flags, weights: Floats, bounds: list[Any]) -> list[float]:
    """Coefficients of least mean log loss, within bounds; those without a bound, the intercepts, are not shrunk."""
    weights = weights / weights.sum()
    targets, ridge = positive.astype(np.float64), np.array([0.0 if low is None else _RIDGE for low, _ in bounds])

    def loss_and_slope(coefficients: Floats) -> tuple[float, Floats]:
        z = features @ coefficients
        value = -(weights @ (targets * log_expit(z) + (1 - targets) * log_expit(-z)))
        slope = features.T @ (weights * (expit(z) - targets))
        return float(value + ridge @ coefficients**2), slope + 2 * ridge * coefficients

    start = np.zeros(features.shape[1])
    start[0] = 1.0
    # Both tolerances far below what a threshold could show: the answer must not depend on how sums are rounded.
    options = {"gtol": 1e-10, "ftol": 1e-15, "maxiter": 1000}
    found = minimize(loss_and_slope, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return [float(value) for value in found.x]
