"""Metrics of answers that include rejections."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from ..arrays import Flags, Floats
from ..costs import Costs, as_costs
from ..decisions import Decisions
from ..labels import encode, to_python
from .encoding import PlacedAnswers, place_answers


def expected_cost(
    y_true: Any,
    y_pred: Any,
    *,
    costs: Costs | float | None = None,
    labels: Any = None,
    pos_label: Any = None,
    reject_label: Any = None,
    kind: Any = None,
    novelty_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Mean price of the answers.

    Parameters
    ----------
    y_true : array-like
        The outcomes.
    y_pred : Decisions or array-like
        The answers. A `Decisions` table also provides classes, reject label, kinds, prices and positive class.
    costs : Costs or float, optional
        The prices; by default those of the `Decisions` table. Answers in an array have none: give them.
    labels : array-like, optional
        The classes, where `y_true` does not hold them all.
    pos_label : label, optional
        The positive class; by default that of the `Decisions` table, else the second.
    reject_label : label, optional
        What `y_pred` holds for a rejected case.
    kind : array-like of str, optional
        Kind of each answer, as in `Decisions.kind`: needed where the two kinds of rejection have different prices.
    novelty_label : label, optional
        What `y_true` holds for a case that belongs to no class. Rejecting it is free, classifying it is an error.
    sample_weight : array-like, optional
        Weight of each case.

    Returns
    -------
    float

    Examples
    --------
    >>> from recuse import Costs
    >>> from recuse.metrics import expected_cost
    >>> prices = Costs(fp=1, fn=5, reject=0.5)
    >>> expected_cost([0, 0, 1, 1], [0, 1, -1, 0], costs=prices, reject_label=-1)  # (0 + 1 + 0.5 + 5) / 4
    1.625
    """
    placed = place_answers(
        y_true,
        y_pred,
        labels=labels,
        reject_label=reject_label,
        kind=kind,
        novelty_label=novelty_label,
        sample_weight=sample_weight,
    )
    costs, pos_label = prices_of(y_pred, costs, pos_label)
    prices = price_matrix(placed.labels, costs, pos_label)[placed.truth, placed.answer]
    return float(np.average(prices, weights=placed.weights))


def prices_of(y_pred: Any, costs: Costs | float | None, pos_label: Any) -> tuple[Costs, Any]:
    """Prices and positive class: those given, else those of a `Decisions` table; prices are never guessed."""
    if isinstance(y_pred, Decisions):
        costs = y_pred.costs if costs is None else costs
        if pos_label is None and len(y_pred.classes) == 2:
            pos_label = y_pred.pos_label
    if costs is None:
        raise ValueError(
            "costs is missing, and y_pred has no prices of its own: pass costs=Costs(fp=, fn=, reject=), or a reject "
            "price such as costs=0.2."
        )
    return as_costs(costs), pos_label


def price_matrix(labels: NDArray[Any], costs: Costs, pos_label: Any = None) -> Floats:
    """Price matrix in the order of `labels`."""
    if len(labels) < 2:
        raise ValueError(f"y_true holds only the class {labels.tolist()}: pass labels= with both classes.")
    if pos_label is None:
        return costs.for_classes(labels).matrix(len(labels))
    position = encode(np.asarray([pos_label]), labels)[0]
    if len(labels) > 2 or position < 0:
        raise ValueError(f"pos_label={pos_label!r} must be one of two classes; got {labels.tolist()}.")
    costs = costs.for_classes(labels, pos_label)
    return (costs if position == 1 else costs.swapped()).matrix()


def coverage_score(
    y_true: Any, y_pred: Any, *, labels: Any = None, reject_label: Any = None, sample_weight: Any = None
) -> float:
    """Share of the cases that were not rejected.

    Parameters
    ----------
    y_true : array-like
        The outcomes.
    y_pred : Decisions or array-like
        The answers, with `reject_label` where a case was rejected; a `Decisions` table tells by itself.
    labels : array-like, optional
        The classes, where `y_true` does not hold them all.
    reject_label : label, optional
        What `y_pred` holds for a rejected case.
    sample_weight : array-like, optional
        Weight of each case.

    Returns
    -------
    float

    Examples
    --------
    >>> from recuse.metrics import coverage_score
    >>> coverage_score([0, 0, 1, 1], [0, 1, -1, 1], reject_label=-1)
    0.75
    """
    placed = place_answers(y_true, y_pred, labels=labels, reject_label=reject_label, sample_weight=sample_weight)
    return _share(placed, ~placed.rejected)


def rejection_rate(
    y_true: Any, y_pred: Any, *, labels: Any = None, reject_label: Any = None, sample_weight: Any = None
) -> float:
    """Share of the cases that were rejected: 1 - coverage.

    Parameters
    ----------
    y_true : array-like
        The outcomes.
    y_pred : Decisions or array-like
        The answers, with `reject_label` where a case was rejected; a `Decisions` table tells by itself.
    labels : array-like, optional
        The classes, where `y_true` does not hold them all.
    reject_label : label, optional
        What `y_pred` holds for a rejected case.
    sample_weight : array-like, optional
        Weight of each case.

    Returns
    -------
    float

    Examples
    --------
    >>> from recuse.metrics import rejection_rate
    >>> rejection_rate(["no", "yes"], ["no", "[abstain]"], reject_label="[abstain]")
    0.5
    """
    placed = place_answers(y_true, y_pred, labels=labels, reject_label=reject_label, sample_weight=sample_weight)
    return _share(placed, placed.rejected)


def selective_accuracy_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    reject_label: Any = None,
    sample_weight: Any = None,
    all_rejected: float | None = None,
) -> float:
    """Share of right answers among the accepted cases.

    Parameters
    ----------
    y_true : array-like
        The outcomes.
    y_pred : Decisions or array-like
        The answers, with `reject_label` where a case was rejected; a `Decisions` table tells by itself.
    labels : array-like, optional
        The classes, where `y_true` does not hold them all.
    reject_label : label, optional
        What `y_pred` holds for a rejected case.
    sample_weight : array-like, optional
        Weight of each case.
    all_rejected : float, optional
        The value when no case is accepted; by default it is NaN, with a warning.

    Returns
    -------
    float

    Examples
    --------
    >>> from recuse.metrics import selective_accuracy_score
    >>> selective_accuracy_score([0, 0, 1, 1], [0, 1, -1, 1], reject_label=-1)
    0.6666666666666666
    """
    placed = place_answers(y_true, y_pred, labels=labels, reject_label=reject_label, sample_weight=sample_weight)
    accepted = placed.weights[~placed.rejected].sum()
    if accepted > 0:
        return float(placed.weights[placed.answer == placed.truth].sum() / accepted)
    if all_rejected is None:
        message = "Every case is rejected, so the accuracy on accepted cases is undefined; pass all_rejected=."
        warnings.warn(message, UndefinedMetricWarning, stacklevel=2)
        return float("nan")
    return float(all_rejected)


def reject_confusion_matrix(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    reject_label: Any = None,
    sample_weight: Any = None,
    normalize: str | None = None,
    kind: Any = None,
    by_kind: bool = False,
) -> NDArray[Any]:
    """Confusion matrix with a last column for the rejected cases, or one for each kind of rejection.

    Parameters
    ----------
    y_true : array-like
        The outcomes.
    y_pred : Decisions or array-like
        The answers, with `reject_label` where a case was rejected; a `Decisions` table tells by itself.
    labels : array-like, optional
        The classes, where `y_true` does not hold them all.
    reject_label : label, optional
        What `y_pred` holds for a rejected case.
    sample_weight : array-like, optional
        Weight of each case.
    normalize : {"true", "all"}, optional
        "true" divides by the row sums, "all" by the total.
    kind : array-like of str, optional
        Kind of each answer, as in `Decisions.kind`, where `y_pred` is an array.
    by_kind : bool, default=False
        Whether cases rejected as ambiguous and as novelties have a column each.

    Returns
    -------
    ndarray of shape (n_classes, n_classes + 1), or (n_classes, n_classes + 2)
        Row i, column j: number, or weight, of the cases of class i answered with class j; last column: rejected, or
        with `by_kind` the last two: rejected as ambiguous, and as a novelty. Whole numbers where cases are counted:
        without `normalize`, and without weights or with whole ones.

    Examples
    --------
    >>> from recuse.metrics import reject_confusion_matrix
    >>> reject_confusion_matrix([0, 0, 1, 1], [0, 1, -1, 1], reject_label=-1)
    array([[1, 1, 0],
           [0, 1, 1]])
    """
    if normalize not in (None, "true", "all"):
        raise ValueError(f"normalize must be None, 'true' or 'all'; got {normalize!r}.")
    placed = place_answers(
        y_true, y_pred, labels=labels, reject_label=reject_label, kind=kind, sample_weight=sample_weight
    )
    n = len(placed.labels)
    matrix = np.zeros((n, n + 1 + by_kind))
    np.add.at(matrix, (placed.truth, np.minimum(placed.answer, n + by_kind)), placed.weights)
    if normalize == "all":
        return matrix / matrix.sum()
    if normalize == "true":
        totals = matrix.sum(axis=1, keepdims=True)
        return np.divide(matrix, totals, out=np.zeros_like(matrix), where=totals > 0)
    return matrix.astype(np.int64) if _are_whole(sample_weight) else matrix


class ClassScores(NamedTuple):
    """What became of the cases of one class.

    Attributes
    ----------
    label : object
        The class.
    weight : float
        Number of its cases, or their weight.
    coverage : float
        Share of them that is answered.
    error : float
        Share of wrong answers among those that are answered; NaN where none is.
    ambiguity, novelty : float
        Shares of them that are rejected as ambiguous and as novelties.
    """

    label: Any
    weight: float
    coverage: float
    error: float
    ambiguity: float
    novelty: float


def per_class_scores(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    reject_label: Any = None,
    kind: Any = None,
    sample_weight: Any = None,
) -> list[ClassScores]:
    """Coverage and error for each class: whether some of them are left to reviewers, or answered badly.

    Parameters
    ----------
    y_true : array-like
        The outcomes.
    y_pred : Decisions or array-like
        The answers, with `reject_label` where a case was rejected; a `Decisions` table tells by itself.
    labels : array-like, optional
        The classes, where `y_true` does not hold them all.
    reject_label : label, optional
        What `y_pred` holds for a rejected case.
    kind : array-like of str, optional
        Kind of each answer, as in `Decisions.kind`; without it all rejections in an array are of ambiguous cases.
    sample_weight : array-like, optional
        Weight of each case.

    Returns
    -------
    list of ClassScores
        One for each class; ``pandas.DataFrame`` makes a table of them.

    Examples
    --------
    >>> from recuse.metrics import per_class_scores
    >>> for scores in per_class_scores(["a", "a", "b", "c"], ["a", "b", "?", "c"], reject_label="?"):
    ...     print(scores.label, scores.coverage, scores.error)
    a 1.0 0.5
    b 0.0 nan
    c 1.0 0.0
    """
    matrix = reject_confusion_matrix(
        y_true,
        y_pred,
        labels=labels,
        reject_label=reject_label,
        sample_weight=sample_weight,
        kind=kind,
        by_kind=True,
    )
    known = y_pred.classes if labels is None and isinstance(y_pred, Decisions) else labels
    names = place_answers(y_true, y_pred, labels=known, reject_label=reject_label).labels
    return [_class_scores(to_python(label), i, row) for i, (label, row) in enumerate(zip(names, matrix, strict=True))]


def _class_scores(label: Any, i: int, row: NDArray[Any]) -> ClassScores:
    """Of a row of the confusion matrix."""
    total, answered = float(row.sum()), float(row[:-2].sum())
    error = 1 - float(row[i]) / answered if answered > 0 else float("nan")
    if total == 0:
        return ClassScores(label, 0.0, *4 * [float("nan")])
    return ClassScores(label, total, answered / total, error, float(row[-2]) / total, float(row[-1]) / total)


def _are_whole(weights: Any) -> bool:
    """Whether weighted cases are counted in whole numbers: there are no weights, or these are integers."""
    return weights is None or np.asarray(weights).dtype.kind in "biu"


def _share(placed: PlacedAnswers, chosen: Flags) -> float:
    """Weighted share of the chosen cases."""
    return float(placed.weights[chosen].sum() / placed.weights.sum())
