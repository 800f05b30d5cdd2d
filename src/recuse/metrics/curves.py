"""Curves over the operating points of an acceptance score, and their summaries.

The cases are accepted in order of falling score, cases with equal scores together, so a curve has one point per
distinct score and does not depend on the order of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Floats, Indices
from ..costs import Costs
from ..parameters import check_share, is_number
from .encoding import by_falling_score, place_ranked
from .rejection import price_matrix, prices_of


@dataclass(frozen=True)
class OperatingPoints:
    """Cumulative sums over the accepted cases, one entry per distinct score from high to low.

    Attributes
    ----------
    thresholds : ndarray
        Cases with at least this score are accepted.
    weight : ndarray
        Weight of the accepted cases.
    loss : ndarray
        Weighted loss of the accepted cases.
    reject_price : ndarray
        What rejecting the accepted cases would cost, weighted.
    """

    thresholds: Floats
    weight: Floats
    loss: Floats
    reject_price: Floats

    @property
    def coverage(self) -> Floats:
        """Share of the cases accepted."""
        return self.weight / self.weight[-1]

    @property
    def risk(self) -> Floats:
        """Mean loss of the accepted cases."""
        return self.loss / self.weight

    def cost(self) -> Floats:
        """Mean cost of all cases, from everything rejected to everything accepted."""
        loss, accepted_price = np.append(0.0, self.loss), np.append(0.0, self.reject_price)
        return (loss + accepted_price[-1] - accepted_price) / self.weight[-1]

    def area(self) -> float:
        """Area under the risk-coverage curve, a step function."""
        added = np.diff(self.weight, prepend=0.0)
        return float(np.sum(added * self.risk) / self.weight[-1])

    def generalised_area(self) -> float:
        """Area under the loss of the accepted cases over all cases, by the trapezoidal rule."""
        generalised_risk = np.append(0.0, self.loss) / self.weight[-1]
        return float(np.trapezoid(generalised_risk, np.append(0.0, self.coverage)))

    def risk_at(self, coverage: float) -> float:
        """Risk at the first point with at least this coverage."""
        # Sums of weights round: a share that is reached up to rounding is reached.
        reached = int(np.searchsorted(self.coverage, coverage - 1e-12))
        return float(self.risk[min(reached, len(self.risk) - 1)])

    def coverage_at(self, risk: float) -> float:
        """Largest coverage with at most this risk; 0 if there is none."""
        allowed = self.coverage[self.risk <= risk + 1e-12]
        return float(allowed[-1]) if len(allowed) else 0.0


def operating_points(
    y_true: Any,
    y_pred: Any,
    score: Any = None,
    costs: Costs | float | None = None,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> OperatingPoints:
    """Sort the cases by score once and sum what the curves need."""
    cases = place_ranked(y_true, y_pred, score, labels=labels, sample_weight=sample_weight)
    present = cases.weights > 0  # a case of weight 0 is absent: its score is not an operating point
    truth, answer, weights = cases.truth[present], cases.answer[present], cases.weights[present]
    ranking = cases.score[present]
    order, ends = by_falling_score(ranking)

    def cumulative(amounts: Floats) -> Floats:
        return np.cumsum(amounts[order])[ends]

    if costs is None:
        loss = np.where(truth != answer, weights, 0.0)
        reject_price = np.zeros(len(ends))
    else:
        prices = price_matrix(cases.labels, *prices_of(y_pred, costs, pos_label))
        loss = prices[truth, answer] * weights
        reject_price = cumulative(prices[truth, cases.rejection[present]] * weights)
    return OperatingPoints(ranking[order[ends]], cumulative(weights), cumulative(loss), reject_price)


def risk_coverage_curve(
    y_true: Any,
    y_pred: Any,
    score: Any = None,
    *,
    costs: Costs | float | None = None,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> tuple[Floats, Floats, Floats]:
    """Risk on the accepted cases against the share accepted.

    Parameters
    ----------
    y_true : array-like
        The outcomes.
    y_pred : Decisions or array-like
        The forced answers, without rejections, or a `Decisions` table, which holds them and the score.
    score : array-like of float, optional
        Acceptance score: the cases with the highest are accepted first.
    costs : Costs or float, optional
        With prices, the risk is the mean price of the errors; without them, the error rate.
    labels, pos_label, sample_weight
        As in `expected_cost`.

    Returns
    -------
    coverage, risk, thresholds : ndarray
        From low coverage to 1. At each threshold, the cases with at least this score are accepted.

    Examples
    --------
    >>> from recuse.metrics import risk_coverage_curve
    >>> coverage, risk, thresholds = risk_coverage_curve([0, 0, 1, 1], [0, 0, 1, 0], [0.9, 0.5, 0.7, 0.5])
    >>> coverage, risk, thresholds
    (array([0.25, 0.5 , 1.  ]), array([0.  , 0.  , 0.25]), array([0.9, 0.7, 0.5]))
    """
    points = operating_points(y_true, y_pred, score, costs, labels, pos_label, sample_weight)
    return points.coverage, points.risk, points.thresholds


def accuracy_rejection_curve(
    y_true: Any, y_pred: Any, score: Any = None, *, labels: Any = None, sample_weight: Any = None
) -> tuple[Floats, Floats, Floats]:
    """Best accuracy on accepted cases against the share rejected: the Pareto front of the operating points.

    Parameters
    ----------
    y_true : array-like
        The outcomes.
    y_pred : Decisions or array-like
        The forced answers, without rejections, or a `Decisions` table, which holds them and the score.
    score : array-like of float, optional
        Acceptance score: the cases with the highest are accepted first.
    labels : array-like, optional
        The classes, where `y_true` does not hold them all.
    sample_weight : array-like, optional
        Weight of each case.

    Returns
    -------
    rejection, accuracy, thresholds : ndarray
        Both increase, from the point with the fewest rejections. A point that rejects more cases without a better
        accuracy is left out.

    Examples
    --------
    >>> from recuse.metrics import accuracy_rejection_curve
    >>> rejection, accuracy, _ = accuracy_rejection_curve([0, 0, 1, 1], [0, 0, 1, 0], [0.9, 0.5, 0.7, 0.5])
    >>> rejection, accuracy
    (array([0. , 0.5]), array([0.75, 1.  ]))
    """
    points = operating_points(y_true, y_pred, score, labels=labels, sample_weight=sample_weight)
    rejection, accuracy = 1 - points.coverage, 1 - points.risk
    front = pareto_front(rejection, accuracy)
    return rejection[front], accuracy[front], points.thresholds[front]


def pareto_front(rejection: Any, accuracy: Any) -> Indices:
    """Positions of the points that no other beats: fewer rejections first, accuracy strictly increasing.

    The points may come from anywhere, such as from two thresholds moved independently.

    Parameters
    ----------
    rejection : array-like
        Share rejected at each point.
    accuracy : array-like
        Accuracy on the accepted cases there.

    Returns
    -------
    ndarray of int

    Examples
    --------
    >>> from recuse.metrics import pareto_front
    >>> pareto_front([0.3, 0.1, 0.2, 0.1], [0.9, 0.8, 0.8, 0.7]).tolist()
    [1, 0]
    """
    rejection, accuracy = np.asarray(rejection, dtype=float), np.asarray(accuracy, dtype=float)
    order = np.lexsort((-accuracy, rejection))
    ordered = accuracy[order]
    best_before = np.append(-np.inf, np.maximum.accumulate(ordered)[:-1])
    return order[ordered > best_before]


def cost_curve(
    y_true: Any,
    y_pred: Any,
    score: Any = None,
    *,
    costs: Costs | float | None = None,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> tuple[Floats, Floats, Floats]:
    """Expected cost against the share accepted: the lowest point is the operating point to choose.

    Parameters
    ----------
    y_true : array-like
        The outcomes.
    y_pred : Decisions or array-like
        The forced answers, without rejections, or a `Decisions` table, which holds them and the score.
    score : array-like of float, optional
        Acceptance score: the cases with the highest are accepted first.
    costs : Costs or float, optional
        The prices; by default those of the `Decisions` table. Answers in an array have none: give them.
    labels : array-like, optional
        The classes, where `y_true` does not hold them all.
    pos_label : label, optional
        The positive class; by default that of the `Decisions` table, else the second.
    sample_weight : array-like, optional
        Weight of each case.

    Returns
    -------
    coverage, cost, thresholds : ndarray
        From coverage 0 (threshold infinity, everything rejected) to 1.

    Examples
    --------
    >>> from recuse.metrics import cost_curve
    >>> coverage, cost, _ = cost_curve([0, 0, 1, 1], [0, 0, 1, 0], [0.9, 0.5, 0.7, 0.5], costs=0.2)
    >>> coverage, cost
    (array([0.  , 0.25, 0.5 , 1.  ]), array([0.2 , 0.15, 0.1 , 0.25]))
    """
    costs, pos_label = prices_of(y_pred, costs, pos_label)
    points = operating_points(y_true, y_pred, score, costs, labels, pos_label, sample_weight)
    return np.append(0.0, points.coverage), points.cost(), np.append(np.inf, points.thresholds)


def aurc_score(
    y_true: Any,
    y_pred: Any,
    score: Any = None,
    *,
    costs: Costs | float | None = None,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Area under the risk-coverage curve: the mean, over the cases, of the risk when accepting down to that case.

    Lower is better.

    Parameters
    ----------
    y_true : array-like
        The outcomes.
    y_pred : Decisions or array-like
        The forced answers, without rejections, or a `Decisions` table, which holds them and the score.
    score : array-like of float, optional
        Acceptance score: the cases with the highest are accepted first.
    costs : Costs or float, optional
        With prices, the risk is the mean price of the errors; without them, the error rate.
    labels : array-like, optional
        The classes, where `y_true` does not hold them all.
    pos_label : label, optional
        The positive class; by default that of the `Decisions` table, else the second.
    sample_weight : array-like, optional
        Weight of each case.

    Returns
    -------
    float

    Examples
    --------
    >>> from recuse.metrics import aurc_score
    >>> aurc_score([0, 0, 1, 1], [0, 0, 1, 0], [0.9, 0.5, 0.7, 0.4])  # (0 + 0 + 0 + 1/4) / 4
    0.0625
    """
    return operating_points(y_true, y_pred, score, costs, labels, pos_label, sample_weight).area()


def eaurc_score(y_true: Any, y_pred: Any, score: Any = None, *, labels: Any = None, sample_weight: Any = None) -> float:
    """Excess area under the risk-coverage curve: 0 when every right answer ranks above every wrong one.

    The area of the best possible ranking of the same answers is subtracted.

    Parameters
    ----------
    y_true : array-like
        The outcomes.
    y_pred : Decisions or array-like
        The forced answers, without rejections, or a `Decisions` table, which holds them and the score.
    score : array-like of float, optional
        Acceptance score: the cases with the highest are accepted first.
    labels : array-like, optional
        The classes, where `y_true` does not hold them all.
    sample_weight : array-like, optional
        Weight of each case.

    Returns
    -------
    float

    Examples
    --------
    >>> from recuse.metrics import eaurc_score
    >>> eaurc_score([0, 0, 1, 1], [0, 0, 1, 0], [0.9, 0.5, 0.7, 0.4])
    0.0
    """
    cases = place_ranked(y_true, y_pred, score, labels=labels, sample_weight=sample_weight)
    weights, is_wrong = cases.weights, (cases.truth != cases.answer) & (cases.weights > 0)
    wrong = np.sort(weights[is_wrong])  # light ones first: the risk then rises as late as possible
    errors = np.cumsum(wrong)
    best = float(np.sum(wrong * errors / (weights[~is_wrong].sum() + errors)) / weights.sum())
    return aurc_score(y_true, y_pred, score, labels=labels, sample_weight=sample_weight) - best


def augrc_score(
    y_true: Any,
    y_pred: Any,
    score: Any = None,
    *,
    costs: Costs | float | None = None,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Area under the generalised risk-coverage curve, whose risk is the loss of accepted cases divided by all cases.

    It is the average risk of undetected errors, between 0 and 1/2 for the error rate; lower is better. Cases with
    equal scores are accepted gradually (the trapezoidal rule).

    Parameters
    ----------
    y_true : array-like
        The outcomes.
    y_pred : Decisions or array-like
        The forced answers, without rejections, or a `Decisions` table, which holds them and the score.
    score : array-like of float, optional
        Acceptance score: the cases with the highest are accepted first.
    costs : Costs or float, optional
        With prices, the risk is the mean price of the errors; without them, the error rate.
    labels : array-like, optional
        The classes, where `y_true` does not hold them all.
    pos_label : label, optional
        The positive class; by default that of the `Decisions` table, else the second.
    sample_weight : array-like, optional
        Weight of each case.

    Returns
    -------
    float

    References
    ----------
    Traub et al., "Overcoming common flaws in the evaluation of selective classification systems", 2024.

    Examples
    --------
    >>> from recuse.metrics import augrc_score
    >>> augrc_score([0, 0, 1, 1], [0, 0, 1, 0], [0.9, 0.5, 0.7, 0.4])  # a triangle, 1/4 wide and 1/4 high
    0.03125
    """
    return operating_points(y_true, y_pred, score, costs, labels, pos_label, sample_weight).generalised_area()


def risk_at_coverage(
    y_true: Any,
    y_pred: Any,
    score: Any = None,
    *,
    coverage: float = 0.9,
    costs: Costs | float | None = None,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Risk on the accepted cases at the highest threshold that accepts at least a share `coverage`.

    Parameters
    ----------
    y_true : array-like
        The outcomes.
    y_pred : Decisions or array-like
        The forced answers, without rejections, or a `Decisions` table, which holds them and the score.
    score : array-like of float, optional
        Acceptance score: the cases with the highest are accepted first.
    coverage : float in (0, 1], default=0.9
        Share of the cases to accept.
    costs : Costs or float, optional
        With prices, the risk is the mean price of the errors; without them, the error rate.
    labels : array-like, optional
        The classes, where `y_true` does not hold them all.
    pos_label : label, optional
        The positive class; by default that of the `Decisions` table, else the second.
    sample_weight : array-like, optional
        Weight of each case.

    Returns
    -------
    float

    Examples
    --------
    >>> from recuse.metrics import risk_at_coverage
    >>> risk_at_coverage([0, 0, 1, 1], [0, 0, 1, 0], [0.9, 0.5, 0.7, 0.4], coverage=0.75)
    0.0
    """
    check_share("coverage", coverage, or_one=True)
    points = operating_points(y_true, y_pred, score, costs, labels, pos_label, sample_weight)
    return points.risk_at(coverage)


def coverage_at_risk(
    y_true: Any,
    y_pred: Any,
    score: Any = None,
    *,
    risk: float = 0.05,
    costs: Costs | float | None = None,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Largest share of cases that can be accepted with a risk of at most `risk`; 0 if there is none.

    Parameters
    ----------
    y_true : array-like
        The outcomes.
    y_pred : Decisions or array-like
        The forced answers, without rejections, or a `Decisions` table, which holds them and the score.
    score : array-like of float, optional
        Acceptance score: the cases with the highest are accepted first.
    risk : float, default=0.05
        Largest risk that is allowed.
    costs : Costs or float, optional
        With prices, the risk is the mean price of the errors; without them, the error rate.
    labels : array-like, optional
        The classes, where `y_true` does not hold them all.
    pos_label : label, optional
        The positive class; by default that of the `Decisions` table, else the second.
    sample_weight : array-like, optional
        Weight of each case.

    Returns
    -------
    float

    Examples
    --------
    >>> from recuse.metrics import coverage_at_risk
    >>> coverage_at_risk([0, 0, 1, 1], [0, 0, 1, 0], [0.9, 0.5, 0.7, 0.4], risk=0.1)
    0.75
    """
    if not is_number(risk) or not risk >= 0:
        raise ValueError(f"risk must be 0 or more; got {risk!r}.")
    points = operating_points(y_true, y_pred, score, costs, labels, pos_label, sample_weight)
    return points.coverage_at(risk)
