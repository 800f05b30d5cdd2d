"""From the caller's cases to a `RankingProblem`: labels, prices, order, weights, k, coded features, initial scores.

Nothing is stored on the estimator here, so that a fit that fails leaves it as it was.
"""

from __future__ import annotations

import reprlib
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Flags, Floats, Indices
from ...base import SettledCosts, require_two_classes
from ...folds import check_groups
from ...labels import LabelSpace, to_python
from ...parameters import check_weights, is_number
from ...validation import require_known_columns, validate_data
from ..binning import Bins, bin_features, code_features, find_cuts, resolve_bins
from ..categories import Categories, find_categories, in_cells, refuse_monotone_categories
from ..constraints import resolve_monotonic
from .objectives import Terms, find_objective
from .problem import UNITS, RankingProblem

START_SPAN = 8 * UNITS  # initial scores are spread over as much: a stump can move a case by an eighth of it
DEFAULT_BINS = 64
DEFAULT_COSTS = 0.2
_WIDEST = 1e12  # ratio of weights: sums of products of two must stay finite, and keep some digits
_CUT_ROWS = 20_000  # quantiles of larger tables are taken from about that many evenly spaced rows


class SettledCases(NamedTuple):
    """The training cases and what is settled about them before a run; nothing of it is stored yet.

    `sign` is that of the published score: prices and precision look at `pos_label`, h at ``classes_[1]``. `span` is the
    range of the initial scores, None without them.
    """

    labels: LabelSpace
    prices: SettledCosts
    sign: float
    span: tuple[float, float] | None
    problem: RankingProblem
    categories: Categories = Categories()

    @property
    def unit_of_loss(self) -> float:
        """What a loss is multiplied by where it is published: one that is an amount of money, in its currency."""
        return self.prices.unit if self.problem.objective.rejects else 1.0


class ReadCases(NamedTuple):
    """Checked cases with any number of classes: features as numbers, class numbers, weights, names of the columns."""

    X: NDArray[Any]
    labels: LabelSpace
    codes: Indices
    weights: Floats
    categories: Categories
    names: NDArray[Any] | None


def read_cases(estimator: Any, X: Any, y: Any, sample_weight: Any) -> ReadCases:
    """Check the cases and settle their labels."""
    draft = copy(estimator)  # scikit-learn stores the columns on what it checks
    X, y, categories = _checked_cases(draft, X, y)
    labels, codes = estimator._settle_labels(y)
    weights = check_weights(sample_weight, len(codes))
    require_equal_weights(estimator.metric, weights[weights > 0])
    require_known_columns(draft, X, weights)
    return ReadCases(X, labels, codes, weights, categories, getattr(draft, "feature_names_in_", None))


def prepare(
    estimator: Any, X: Any, y: Any, sample_weight: Any, init_score: Any, groups: Any, *, hold_out: bool
) -> SettledCases:
    """Check the cases, settle labels and prices, code the features, positives first."""
    read = read_cases(estimator, X, y, sample_weight)
    return settle_two(estimator, read, init_score, groups, hold_out=hold_out)


def settle_two(estimator: Any, read: ReadCases, init_score: Any, groups: Any, *, hold_out: bool) -> SettledCases:
    """Prices and problem of cases of two classes.

    With `hold_out` each run will keep some of the cases out, whole groups where there are groups.
    """
    X, labels, codes, weights, categories, names = read
    prices, positive, sign = settle_sides(estimator, labels)
    order, n_pos = positives_first(codes == positive, weights)
    sides = labels.classes[positive], labels.classes[1 - positive]
    check_class_sizes(sides, (n_pos, len(order) - n_pos), estimator.subsample, held_out=hold_out)
    weight, unit = in_units(weights[order])
    terms = Terms(prices.costs.normalised(), k_in_units(estimator.k, weight, n_pos, unit))
    # Runs boost the score towards the positive class, h is the score towards classes_[1].
    signs = int(sign) * resolve_monotonic(estimator.monotonic_cst, X.shape[1], names)
    refuse_monotone_categories(signs, categories)
    bins = replace(code_cases(X, order, estimator.max_bins, weights, categories), monotonic=signs.astype(np.int8))
    span, start = settle_start(init_score, order, len(codes), sign)
    together = check_groups(groups, len(codes))
    together = None if together is None else together[order]
    if together is not None and hold_out:
        check_class_groups(together, n_pos, sides)
    problem = RankingProblem(bins, n_pos, weight, start, find_objective(estimator.metric), terms, together)
    return SettledCases(labels, prices, sign, span, problem, categories)


def _checked_cases(draft: Any, X: Any, y: Any) -> tuple[NDArray[Any], NDArray[Any], Categories]:
    """The features as numbers, the labels, and the features that are categories; the columns go to the draft."""
    categories = find_categories(draft.categorical_features, X)
    X, y = validate_data(
        draft,
        categories.encode(X),
        y,
        dtype=[np.float64, np.float32],
        ensure_all_finite="allow-nan",
        ensure_min_samples=2,
    )
    return X, y, categories


def settle_sides(estimator: Any, labels: LabelSpace) -> tuple[SettledCosts, int, float]:
    """The prices, the number of the positive class, and the sign of the published score."""
    require_two_classes(labels.classes)
    rejects = find_objective(estimator.metric).rejects
    prices = estimator._settle_costs(labels.classes, must_pay=rejects, default=DEFAULT_COSTS)
    positive = 0 if prices.pos_label == labels.classes[0] else 1
    return prices, positive, 1.0 if positive == 1 else -1.0


def settle_start(
    init_score: Any, order: Indices, n: int, sign: float
) -> tuple[tuple[float, float] | None, NDArray[np.int32]]:
    """The range of the initial scores and these in units, in the order given; None and zeros without them."""
    if init_score is None:
        return None, np.zeros(len(order), dtype=np.int32)
    scores = check_scores(init_score, n)[order] * sign
    span = start_range(scores)
    return span, np.rint(start_units(scores, span)).astype(np.int32)


def require_equal_weights(metric: Any, weights: Floats) -> None:
    """Refuse weights that differ where the metric cannot see them."""
    if callable(metric) and np.ptp(weights) > 0:
        raise ValueError("sample_weight does not go with a metric of your own, which sees scores only.")


def positives_first(positive: Flags, weights: Floats) -> tuple[Indices, int]:
    """Rows that count, positives first, and the number of positives."""
    pos, neg = np.flatnonzero((weights > 0) & positive), np.flatnonzero((weights > 0) & ~positive)
    return np.concatenate([pos, neg]), len(pos)


def check_class_sizes(labels: Any, sizes: tuple[int, int], subsample: float, *, held_out: bool) -> None:
    """Refuse classes with too few cases: the positive class first, in both."""
    for label, n in zip(labels, sizes, strict=True):
        _check_class_size(label, n, subsample, held_out=held_out)


def _check_class_size(label: Any, n: int, subsample: float, *, held_out: bool) -> None:
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


def start_of_cases(init_score: Any, n: int, span: tuple[float, float] | None, sign: float) -> Floats | None:
    """Initial scores of n cases in units; None for a model that was fitted without, to which none may be given."""
    if span is None:
        if init_score is not None:
            raise ValueError("init_score was not given to fit, so it means nothing here: leave it out.")
        return None
    if init_score is None:
        raise ValueError(
            "This model was fitted with init_score: pass the other model's scores of these cases, as in "
            "predict(X, init_score=scores). Under scikit-learn's wrappers, which cannot, give them as a "
            "feature instead (StackingClassifier does)."
        )
    return start_units(check_scores(init_score, n) * sign, span)


def check_margins(margins: Any) -> Floats:
    """Return the margins as floats; refuse what is not a list of numbers at least 0."""
    try:
        values = np.asarray(margins, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.zeros(())
    if values.ndim != 1 or not (np.isfinite(values) & (values >= 0)).all():
        raise ValueError(f"margins must be a list of numbers, at least 0; got {reprlib.repr(margins)}.")
    return values
