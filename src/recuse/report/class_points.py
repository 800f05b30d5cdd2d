"""Where a method of three classes or more can stand at other prices than those of the run.

Two things can be moved on the page: the price of a review, and the prices of all errors on cases of one class. A method
has a list of operating points, its own answers in the run first; at other prices it stands at the cheapest of them, so
that its cost is the least of several sums "count times price", as with two classes (`operating_points` says what
follows from that, and what does not). The other points are:

- of a method with probabilities, the answers of least expected cost at the prices of a grid;
- of any other, the answers of the run that have an acceptance score above a level of a grid.

Points that would have been cheaper than the method's own answers at the prices of the run are left out: to take one of
them would be to choose by luck. So are points that answer every case and would have been cheaper than the classes that
the method was forced to give in the run. A case rejected as a novelty stays rejected.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Indices
from ..class_costs import ClassCosts
from .inputs import ReportedAnswers
from .operating_points import CHOW, NEVER_REJECTS

_REVIEWS = 10.0 ** np.linspace(-1.0, 1.0, 17)  # factors on the price of a review
_LEVELS = np.linspace(0.0, 1.0, 61)  # of the acceptance scores
_RULES = 40  # factors on the errors of all classes together
_SAME = 1e-12


class Factors(NamedTuple):
    """Prices other than those of the run: all errors on cases of one class, and all reviews, times a factor."""

    of_class: int
    error: float
    review: float


class ClassPoint(NamedTuple):
    """A fixed rule and its counts.

    Attributes
    ----------
    matrix : ndarray of shape (n_classes, n_classes + 2)
        Cases by class and answer; means over the repetitions.
    """

    matrix: Floats


def count_class_answers(columns: NDArray[Any], truth: Indices, n_classes: int) -> Floats:
    """Counts of answers of shape (repeats, n) by class and answer, as means over the repetitions."""
    columns, width = np.atleast_2d(columns), n_classes + 2
    cells = np.bincount((width * truth + columns).ravel(), minlength=n_classes * width)
    found: Floats = cells.reshape(n_classes, width) / len(columns)
    return found


def class_points(answers: ReportedAnswers, truth: Indices, moves: str, costs: ClassCosts) -> list[ClassPoint]:
    """Where a method can stand: its own answers first, then every other point that is cheapest at some prices.

    Parameters
    ----------
    answers : ReportedAnswers
        Out-of-fold answers of the method.
    truth : ndarray of int of shape (n,)
        True classes.
    moves : str
        How it follows the prices: `CHOW`, `NEVER_REJECTS`, or any other name for a threshold on the acceptance score.
    costs : ClassCosts
        The prices of the run.
    """
    n_classes = costs.n_classes
    rules = _priced_rules(answers, costs, moves) if moves in (CHOW, NEVER_REJECTS) else _levels(answers, n_classes)
    novel = answers.columns > n_classes
    others = (count_class_answers(np.where(novel, n_classes + 1, rule), truth, n_classes) for rule in rules)
    forced = count_class_answers(np.where(novel, n_classes + 1, answers.forced), truth, n_classes)
    points = _honest_where_all_is_answered(others, forced, costs)
    return _useful(count_class_answers(answers.columns, truth, n_classes), points, costs)


def forced_class_points(answers: ReportedAnswers, truth: Indices, moves: str, costs: ClassCosts) -> list[ClassPoint]:
    """The same for the method without its reject option: every case is answered, novelties too."""
    n_classes = costs.n_classes
    own = count_class_answers(answers.forced, truth, n_classes)
    if moves not in (CHOW, NEVER_REJECTS) or (answers.columns > n_classes).any():
        return [ClassPoint(own)]  # there are no probabilities, or not for every case
    rules = _priced_rules(answers, costs, NEVER_REJECTS)
    return _useful(own, (count_class_answers(rule, truth, n_classes) for rule in rules), costs)


def _honest_where_all_is_answered(others: Iterator[Floats], forced: Floats, costs: ClassCosts) -> Iterator[Floats]:
    """The points, without those that answer every case by a luckier rule than the method's own; and this one."""
    prices, ambiguous = costs.matrix()[:-1], costs.n_classes
    limit = (forced * prices).sum() * (1 - _SAME)
    for matrix in others:
        if matrix[:, ambiguous].any() or (matrix * prices).sum() >= limit:
            yield matrix
    yield forced


def at_factors(costs: ClassCosts, factors: Factors) -> Floats:
    """The price matrix at other prices."""
    n = costs.n_classes
    prices = costs.matrix()[:-1].copy()
    prices[factors.of_class, :n] *= factors.error
    prices[:, n:] *= factors.review
    return prices


def cheapest_class_point(points: list[ClassPoint], prices: Floats) -> ClassPoint:
    """The point at which a method stands at these prices; of equally cheap ones (but for rounding) the first."""
    paid = np.array([(point.matrix * prices).sum() for point in points])
    return points[int(np.argmax(paid <= paid.min() * (1 + _SAME)))]


def error_factors(n_classes: int) -> Floats:
    """Factors on the errors of a class that there are points for: the fewer, the more classes there are."""
    half = int(np.clip(_RULES // (2 * n_classes), 1, 4))
    positive = np.logspace(0, 1, half + 1)[1:]
    return np.concatenate([1 / positive[::-1], positive])


def _grid(n_classes: int) -> Iterator[tuple[int, float]]:
    """Classes and factors on their errors, the prices of the run first."""
    yield 0, 1.0
    for of_class in range(n_classes):
        for factor in error_factors(n_classes):
            yield of_class, float(factor)


def _priced_rules(answers: ReportedAnswers, costs: ClassCosts, moves: str) -> Iterator[NDArray[Any]]:
    """Answers of least expected cost at each price list of the grid."""
    n, matrix = costs.n_classes, costs.matrix()[:-1]
    expected = answers.score @ matrix[:, :n]
    review = answers.score @ matrix[:, n]
    for of_class, factor in _grid(n):
        more = (factor - 1) * answers.score[..., of_class, None] * matrix[of_class, :n]
        forced = (expected + more).argmin(axis=-1)
        if moves == NEVER_REJECTS:
            yield forced
            continue
        best = np.take_along_axis(expected + more, forced[..., None], axis=-1)[..., 0]
        for times in _REVIEWS:
            yield np.where(best < times * review, forced, n)


def _levels(answers: ReportedAnswers, n_classes: int) -> Iterator[NDArray[Any]]:
    """The class of each case where its acceptance score is above a level."""
    ordinary = answers.r[_not_novel(answers, n_classes)]
    levels = np.unique(np.quantile(ordinary, _LEVELS)) if len(ordinary) else np.zeros(0)
    for level in (-np.inf, *levels):
        yield np.where(answers.r > level, answers.forced, n_classes)


def _not_novel(answers: ReportedAnswers, n_classes: int) -> Flags:
    return np.asarray(answers.columns <= n_classes)


def _useful(own: Floats, others: Iterator[Floats], costs: ClassCosts) -> list[ClassPoint]:
    """The method's own point, and those of the others that are cheapest at some prices, but not at those of the run."""
    prices = costs.matrix()[:-1]
    limit = (own * prices).sum() * (1 - _SAME)
    kept = np.array([own, *(matrix for matrix in others if (matrix * prices).sum() >= limit)])
    lists = [at_factors(costs, Factors(*pair, times)) for pair in _grid(costs.n_classes) for times in _REVIEWS]
    cheapest = {int(np.tensordot(kept, prices, axes=2).argmin()) for prices in lists}
    return [ClassPoint(kept[position]) for position in sorted(cheapest | {0})]
