"""From the caller's cases to a `RankingProblem`: order, sizes, weights, k, coded features and initial scores."""

from __future__ import annotations

import reprlib
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Flags, Floats, Indices
from ...labels import to_python
from ...parameters import is_number
from ..binning import Bins, bin_features, code_features, find_cuts, resolve_bins
from ..categories import Categories, in_cells
from .problem import UNITS

START_SPAN = 8 * UNITS  # initial scores are spread over as much: a stump can move a case by an eighth of it
DEFAULT_BINS = 64
_WIDEST = 1e12  # ratio of weights: sums of products of two must stay finite, and keep some digits
_CUT_ROWS = 20_000  # quantiles of larger tables are taken from about that many evenly spaced rows


def positives_first(positive: Flags, weights: Floats) -> tuple[Indices, int]:
    """Rows that count, positives first, and the number of positives."""
    pos, neg = np.flatnonzero((weights > 0) & positive), np.flatnonzero((weights > 0) & ~positive)
    return np.concatenate([pos, neg]), len(pos)


def check_class_size(label: Any, n: int, subsample: float, *, held_out: bool) -> None:
    """Refuse a class with too few cases for a run, or for thresholds chosen on held-out cases."""
    if n < (2 if held_out else 1):
        raise ValueError(
            f"y holds {n} case{'' if n == 1 else 's'} of class {to_python(label)!r} with a positive weight: "
            + ("at least 2, to choose thresholds on held-out cases." if held_out else "at least one is needed.")
        )
    if round(subsample * n) < 1:
        raise ValueError(
            f"subsample={subsample!r} leaves no case of the class {to_python(label)!r}, which has {n}: "
            f"use subsample={1 / n:.2g}, which takes one of them, or more."
        )


def check_class_groups(groups: Indices, n_pos: int, labels: tuple[Any, Any]) -> None:
    """Refuse groups of which a single one has all cases of a class: positives first, labels in that order."""
    for label, members in zip(labels, (groups[:n_pos], groups[n_pos:]), strict=True):
        if len(np.unique(members)) < 2:
            raise ValueError(
                f"groups has all cases of class {to_python(label)!r} in one group: at least 2 are needed, to choose "
                "thresholds on held-out groups."
            )


def in_units(weights: Floats) -> tuple[Floats, float]:
    """Weights in units of the smallest, so that those of whole proportions add up without rounding; and the unit."""
    low, high = float(weights.min()), float(weights.max())
    if high / _WIDEST > low:
        raise ValueError(
            f"sample_weight goes from {low:g} to {high:g}, more than {_WIDEST:g} to 1: "
            "give weight 0 to cases that do not count."
        )
    return np.round(weights / low, 9), low


def k_in_units(k: Any, weight: Floats, n_pos: int, unit: float) -> float:
    """Return k in units of weight: by default as many cases as there are positives."""
    if k is None:
        return float(weight[:n_pos].sum())
    total = float(weight.sum())
    if not is_number(k) or not k >= 1 or not k / unit <= total * (1 + 1e-9):
        raise ValueError(f"k must be between 1 and the number of cases, {total * unit:g}; got {k!r}.")
    return float(min(k / unit, total))


def code_cases(
    X: NDArray[Any], order: Indices, max_bins: Any, weights: Floats, categories: Categories | None = None
) -> Bins:
    """Put the features into bins of equal weight, rows in the order given; `max_bins` as in the estimator."""
    n_bins = DEFAULT_BINS if max_bins == "auto" else resolve_bins(max_bins, len(order))
    X, levels = in_cells(X, order, categories or Categories())
    step = len(order) // _CUT_ROWS
    if n_bins is None or step < 2:
        return bin_features(X, order, n_bins, weights[order], levels)
    rows = np.sort(order)[::step]
    weight = weights[rows] if np.ptp(weights[order]) > 0 else None
    cuts = [levels[f].cuts if f in levels else find_cuts(X[rows, f], n_bins, weight) for f in range(X.shape[1])]
    return replace(code_features(X, order, cuts), levels=levels)


def start_range(scores: Floats) -> tuple[float, float]:
    """The range of the initial scores in training, which is never empty."""
    low, high = float(scores.min()), float(scores.max())
    if not np.isfinite(high - low):
        raise ValueError(f"init_score goes from {low:g} to {high:g}, too wide to be rescaled: divide it first.")
    return low, high if high > low else low + 1.0


def start_units(scores: Floats, span: tuple[float, float]) -> Floats:
    """Initial scores in units, their range in training spread over `START_SPAN`."""
    low, high = span
    return (scores - low) / (high - low) * START_SPAN


def check_scores(init_score: Any, n: int) -> Floats:
    """Return the initial scores of n cases as floats; refuse what is not a finite number per case."""
    try:
        scores = np.asarray(init_score, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"init_score must hold {n} finite numbers; got {reprlib.repr(init_score)}.") from None
    if scores.shape != (n,):
        raise ValueError(f"init_score must hold {n} finite numbers, one per case; got shape {scores.shape}.")
    if not np.isfinite(scores).all():
        raise ValueError(f"init_score must hold {n} finite numbers; it holds NaN or infinity.")
    return scores


def check_margins(margins: Any) -> Floats:
    """Return the margins as floats; refuse what is not a list of numbers at least 0."""
    try:
        values = np.asarray(margins, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.zeros(())
    if values.ndim != 1 or not (np.isfinite(values) & (values >= 0)).all():
        raise ValueError(f"margins must be a list of numbers, at least 0; got {reprlib.repr(margins)}.")
    return values
