"""Metrics of answers in a partitioned table: each partition is summarised where it is, and summaries are merged.

They have the names of those in `recuse.metrics`, and are functions of their own for two reasons: they compute at once
what is lazy, which a call should show, and the area under the risk-coverage curve is an estimate here, with limits.
Metrics of counts are exact: only a small table of outcomes, answers and kinds travels. Curves come from a
`recuse.metrics.RiskCoverageSketch`, whose points are points of the exact curve.

Answers are the dask DataFrame that `recuse.decide` gives for one, or labels in a dask Series or array.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from .. import metrics
from ..arrays import Floats
from ..costs import Costs
from ..metrics.merging import BITS, RiskCoverageSketch
from .summaries import by_number, counted, sketched

__all__ = [
    "aurc_score",
    "cost_curve",
    "coverage_score",
    "expected_cost",
    "reject_confusion_matrix",
    "rejection_rate",
    "risk_coverage_curve",
    "risk_coverage_sketch",
    "selective_accuracy_score",
]


def expected_cost(
    y_true: Any,
    y_pred: Any,
    *,
    costs: Costs | float,
    labels: Any = None,
    pos_label: Any = None,
    reject_label: Any = None,
    novelty_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Mean price of the answers in a partitioned table, exact.

    Parameters
    ----------
    y_true : dask Series or array
        The outcomes.
    y_pred : dask DataFrame, Series or array
        Decisions, as `recuse.decide` gives them for a dask collection, or labels; with the partitions of `y_true`.
    costs : Costs or float
        The prices: a dask DataFrame of decisions does not carry those of its model.
    labels : array-like, optional
        The classes, such as the `classes_` of the model; by default those among the outcomes, and the answers of
        decisions.
    pos_label : label, optional
        The positive class; by default the second.
    reject_label : label, optional
        What `y_pred` holds for a rejected case, where it holds labels.
    novelty_label : label, optional
        What `y_true` holds for a case that belongs to no class.
    sample_weight : dask Series or array, optional
        Weight of each case.

    Returns
    -------
    float

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from recuse import Costs
    >>> from recuse.dask.metrics import expected_cost
    >>> truth = da.from_array(np.array([0, 0, 1, 1]), chunks=2)
    >>> answers = da.from_array(np.array([0, 1, -1, 0]), chunks=2)
    >>> expected_cost(truth, answers, costs=Costs(fp=1, fn=5, reject=0.5), reject_label=-1)
    1.625
    """
    counts = counted(y_true, y_pred, sample_weight, labels, reject_label, novelty_label)
    return metrics.expected_cost(
        **counts.arguments(),
        kind=counts.kinds(),
        costs=by_number(costs, counts.classes),
        pos_label=counts.number(pos_label),
        **counts.novelty(),
    )


def reject_confusion_matrix(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    reject_label: Any = None,
    sample_weight: Any = None,
    normalize: str | None = None,
) -> NDArray[Any]:
    """Confusion matrix of a partitioned table with a last column for the rejected cases, exact.

    Parameters
    ----------
    y_true, y_pred, labels, reject_label, sample_weight
        As in `expected_cost`.
    normalize : {"true", "all"}, optional
        Divide by the row sums, or by the total.

    Returns
    -------
    ndarray of shape (n_classes, n_classes + 1)

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from recuse.dask.metrics import reject_confusion_matrix
    >>> truth = da.from_array(np.array([0, 0, 1, 1]), chunks=2)
    >>> answers = da.from_array(np.array([0, 1, -1, 1]), chunks=2)
    >>> reject_confusion_matrix(truth, answers, reject_label=-1)
    array([[1, 1, 0],
           [0, 1, 1]])
    """
    counts = counted(y_true, y_pred, sample_weight, labels, reject_label)
    return metrics.reject_confusion_matrix(**counts.arguments(), normalize=normalize)


def coverage_score(
    y_true: Any, y_pred: Any, *, labels: Any = None, reject_label: Any = None, sample_weight: Any = None
) -> float:
    """Share of the cases of a partitioned table that were not rejected, exact.

    Parameters
    ----------
    y_true, y_pred, labels, reject_label, sample_weight
        As in `expected_cost`.

    Returns
    -------
    float

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from recuse.dask.metrics import coverage_score
    >>> truth = da.from_array(np.array([0, 0, 1, 1]), chunks=2)
    >>> coverage_score(truth, da.from_array(np.array([0, 1, -1, 1]), chunks=2), reject_label=-1)
    0.75
    """
    return metrics.coverage_score(**counted(y_true, y_pred, sample_weight, labels, reject_label).arguments())


def rejection_rate(
    y_true: Any, y_pred: Any, *, labels: Any = None, reject_label: Any = None, sample_weight: Any = None
) -> float:
    """Share of the cases of a partitioned table that were rejected, exact.

    Parameters
    ----------
    y_true, y_pred, labels, reject_label, sample_weight
        As in `expected_cost`.

    Returns
    -------
    float

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from recuse.dask.metrics import rejection_rate
    >>> truth = da.from_array(np.array([0, 0, 1, 1]), chunks=2)
    >>> rejection_rate(truth, da.from_array(np.array([0, 1, -1, 1]), chunks=2), reject_label=-1)
    0.25
    """
    return metrics.rejection_rate(**counted(y_true, y_pred, sample_weight, labels, reject_label).arguments())


def selective_accuracy_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    reject_label: Any = None,
    sample_weight: Any = None,
    all_rejected: float | None = None,
) -> float:
    """Share of right answers among the accepted cases of a partitioned table, exact.

    Parameters
    ----------
    y_true, y_pred, labels, reject_label, sample_weight
        As in `expected_cost`.
    all_rejected : float, optional
        The value when no case is accepted; NaN, with a warning, by default.

    Returns
    -------
    float

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from recuse.dask.metrics import selective_accuracy_score
    >>> truth = da.from_array(np.array([0, 0, 1, 1]), chunks=2)
    >>> selective_accuracy_score(truth, da.from_array(np.array([0, -1, -1, 1]), chunks=2), reject_label=-1)
    1.0
    """
    counts = counted(y_true, y_pred, sample_weight, labels, reject_label)
    return metrics.selective_accuracy_score(**counts.arguments(), all_rejected=all_rejected)


def risk_coverage_sketch(
    y_true: Any,
    y_pred: Any,
    score: Any = None,
    *,
    costs: Costs | float | None = None,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    bits: int = BITS,
) -> RiskCoverageSketch:
    """Summary of a partitioned table from which the risk-coverage curve, its area and their limits are read.

    Parameters
    ----------
    y_true : dask Series or array
        The outcomes.
    y_pred : dask DataFrame, Series or array
        Decisions, which hold the forced answers and the score, or forced answers; with the partitions of `y_true`.
    score : dask Series or array, optional
        Acceptance score of each case; by default that of the decisions.
    costs : Costs or float, optional
        With prices, the risk is the mean price of the errors; without them, the error rate.
    labels, pos_label, sample_weight
        As in `expected_cost`. Where prices and no `labels` are given, the table is read once more to find them.
    bits : int, default=10
        The scores of a bin differ by less than 2**-bits of the smaller one. Each bit more doubles what travels, and
        halves the distance between the limits of the area, or better.

    Returns
    -------
    RiskCoverageSketch

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from recuse.dask.metrics import risk_coverage_sketch
    >>> truth, forced = da.zeros(1000, chunks=100, dtype=int), da.ones(1000, chunks=100, dtype=int)
    >>> sketch = risk_coverage_sketch(truth, forced, da.linspace(-1, 1, 1000, chunks=100))
    >>> sketch.area(), sketch.risk_at(0.5)
    (1.0, (1.0, 1.0))
    """
    return sketched(y_true, y_pred, score, sample_weight, labels, costs, pos_label, bits)


def risk_coverage_curve(
    y_true: Any,
    y_pred: Any,
    score: Any = None,
    *,
    costs: Costs | float | None = None,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    bits: int = BITS,
) -> tuple[Floats, Floats, Floats]:
    """Risk on the accepted cases of a partitioned table against the share accepted.

    Every point is one of the exact curve, up to rounding; points between whose scores lie less than 2**-bits apart are
    left out.

    Parameters
    ----------
    y_true, y_pred, score, costs, labels, pos_label, sample_weight, bits
        As in `risk_coverage_sketch`.

    Returns
    -------
    coverage, risk, thresholds : ndarray
        From low coverage to 1.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from recuse.dask.metrics import risk_coverage_curve
    >>> truth = da.from_array(np.array([0, 0, 1, 1]), chunks=2)
    >>> forced = da.from_array(np.array([0, 0, 1, 0]), chunks=2)
    >>> score = da.from_array(np.array([0.9, 0.5, 0.7, 0.5]), chunks=2)
    >>> coverage, risk, thresholds = risk_coverage_curve(truth, forced, score)
    >>> coverage, risk
    (array([0.25, 0.5 , 1.  ]), array([0.  , 0.  , 0.25]))
    """
    return sketched(y_true, y_pred, score, sample_weight, labels, costs, pos_label, bits).curve()


def cost_curve(
    y_true: Any,
    y_pred: Any,
    score: Any = None,
    *,
    costs: Costs | float,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    bits: int = BITS,
) -> tuple[Floats, Floats, Floats]:
    """Expected cost of a partitioned table against the share accepted, at points of the exact curve.

    Parameters
    ----------
    y_true, y_pred, score, costs, labels, pos_label, sample_weight, bits
        As in `risk_coverage_sketch`.

    Returns
    -------
    coverage, cost, thresholds : ndarray
        From coverage 0 (threshold infinity, everything rejected) to 1.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from recuse.dask.metrics import cost_curve
    >>> truth = da.from_array(np.array([0, 0, 1, 1]), chunks=2)
    >>> forced = da.from_array(np.array([0, 0, 1, 0]), chunks=2)
    >>> score = da.from_array(np.array([0.9, 0.5, 0.7, 0.5]), chunks=2)
    >>> coverage, cost, _ = cost_curve(truth, forced, score, costs=0.2)
    >>> coverage, cost
    (array([0.  , 0.25, 0.5 , 1.  ]), array([0.2 , 0.15, 0.1 , 0.25]))
    """
    return sketched(y_true, y_pred, score, sample_weight, labels, costs, pos_label, bits).cost_curve()


def aurc_score(
    y_true: Any,
    y_pred: Any,
    score: Any = None,
    *,
    costs: Costs | float | None = None,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    bits: int = BITS,
) -> float:
    """Area under the risk-coverage curve of a partitioned table: an estimate, within the limits of the sketch.

    Lower is better. ``risk_coverage_sketch(...).area_bounds()`` gives the limits.

    Parameters
    ----------
    y_true, y_pred, score, costs, labels, pos_label, sample_weight, bits
        As in `risk_coverage_sketch`.

    Returns
    -------
    float

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from recuse.dask.metrics import aurc_score
    >>> truth = da.from_array(np.array([0, 0, 1, 1]), chunks=2)
    >>> forced, score = np.array([0, 0, 1, 0]), np.array([0.9, 0.5, 0.7, 0.4])
    >>> aurc_score(truth, da.from_array(forced, chunks=2), da.from_array(score, chunks=2))  # (0 + 0 + 0 + 1/4) / 4
    0.0625
    """
    return sketched(y_true, y_pred, score, sample_weight, labels, costs, pos_label, bits).area()
