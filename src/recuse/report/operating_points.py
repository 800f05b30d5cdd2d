"""What a method costs at other prices than those of the run: the same figures for the leaderboard, sliders and curves.

A method has a list of operating points, each a fixed rule with its counts: its own answers in the run come first, then
its scores cut at other thresholds. At any prices it stands at the cheapest of them, so its cost is the least of several
sums "count times price". From that follows what a reader may expect of prices: all prices times ten cost ten times as
much, a cheaper review never costs more, and no small change of a price makes a jump.

Thresholds come from a grid that does not depend on outcomes. Points that would have been cheaper than the method's own
answers at the prices of the run are left out: to take one of them would be to choose by luck, and at the prices of the
run every method costs what its own answers cost. For the same reason the point at which a method answers every case
holds the answers that it was forced to give in the run, which is what it is compared with when one asks whether
rejecting pays: other points that answer every case, and would have been cheaper than that, are left out. Away from
these prices the cheapest of the points is still chosen on the cases that it is counted on, so the figures are too low
there (`benchmarks/sliders.py` measures by how much); a new run at these prices gives figures without that advantage. To
choose a point on other folds than it is counted on would avoid it, but such a cost jumps where the choice changes, and
a cheaper review could then cost more.

Curves over the share of answers are made of the same points: those that the method passes as reviews become more
expensive (`points_along`). So the lowest point of a curve is where the method stands.

A case rejected as a novelty stays rejected at every price: whether a case is unlike the training cases does not depend
on prices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Indices
from ..costs import Costs, answer_columns
from ..decisions import KINDS
from .inputs import ReportedAnswers

_NO, _YES = 0, 1
_AMBIGUOUS, _NOVEL = (int(answer_columns(0, kind)) for kind in range(1, len(KINDS)))
_LOGITS = np.linspace(-7.0, 7.0, 57)  # a grid of probabilities
_LEVELS = np.linspace(0.0, 1.0, 61)  # a grid of quantiles, for scores on no particular scale
_DECADES = 2.0  # how far the ratio of two prices may be moved on the page, as a power of ten
_SAME = 1e-12
_IN_LINE = 1e-9  # points on a straight line but for rounding: the last of them is a corner


class OperatingPoint(NamedTuple):
    """A fixed rule and its counts.

    Attributes
    ----------
    matrix : ndarray of shape (2, 4)
        Cases, negative and positive, by answer: no, yes, ambiguous, novel. Means over the repetitions.
    thresholds : tuple of float or None
        Yes above the second, no below the first; of an acceptance score, accepted above it, twice; None if the rule
        has none in common to all folds.
    forced : bool
        Whether it holds the classes that the method was forced to give in the run.
    """

    matrix: Floats
    thresholds: tuple[float, float] | None
    forced: bool = False


def operating_points(answers: ReportedAnswers, positive: Flags, moves: str, costs: Costs) -> list[OperatingPoint]:
    """Where a method can stand: its own answers first, then every other point that is cheapest at some prices.

    Parameters
    ----------
    answers : ReportedAnswers
        Out-of-fold answers of the method.
    positive : ndarray of bool of shape (n,)
        Which cases are positive.
    moves : str
        Name of the way it follows the prices, in `WAYS`.
    costs : Costs
        The prices of the run.
    """
    way = WAYS[moves]
    own = OperatingPoint(count_answers(answers.columns, positive), way.own_thresholds(costs))
    points = way.points(Scored.of(answers, positive, way.score))
    return _useful(
        own, _honest_where_all_is_answered(points, _answering_all(answers, positive, moves, costs), costs), costs
    )


def forced_points(answers: ReportedAnswers, positive: Flags, moves: str, costs: Costs) -> list[OperatingPoint]:
    """The same for the method without its reject option: every case is answered, novelties too."""
    own = OperatingPoint(count_answers(answers.forced, positive), None)
    scored = Scored.of(answers, positive, WAYS[moves].score)
    if WAYS[moves].score != "score" or scored.novelties.any():
        return [own]  # a class score that is not there, or not for every case, cannot be cut
    grid = _probabilities() if WAYS[moves].own_thresholds(costs) else _quantiles(scored.values)
    return _useful(own, _one_threshold(scored, grid), costs)


def forced_columns(answers: ReportedAnswers) -> NDArray[Any]:
    """Columns of the price matrix when every case gets its forced class; novelties stay rejected."""
    return np.where(answers.columns == _NOVEL, _NOVEL, answers.forced)


def _answering_all(answers: ReportedAnswers, positive: Flags, moves: str, costs: Costs) -> OperatingPoint:
    """The method of the run when it must answer every case but novelties."""
    probability = answers.score[answers.columns != _NOVEL] if WAYS[moves].own_thresholds(costs) else None
    at_break_even = probability is not None and np.array_equal(
        answers.forced[answers.columns != _NOVEL] == 1, probability > costs.break_even
    )
    thresholds = (costs.break_even, costs.break_even) if at_break_even else None
    return OperatingPoint(count_answers(forced_columns(answers), positive), thresholds, forced=True)


def _honest_where_all_is_answered(
    points: list[OperatingPoint], forced: OperatingPoint, costs: Costs
) -> list[OperatingPoint]:
    """The points, without those that answer every case by luckier thresholds than the method's own; and this one."""
    limit = point_cost(forced, costs) * (1 - _SAME)
    return [
        *(point for point in points if point.matrix[:, _AMBIGUOUS].any() or point_cost(point, costs) >= limit),
        forced,
    ]


def columns_at(answers: ReportedAnswers, thresholds: tuple[float, float], moves: str) -> NDArray[Any]:
    """Columns of the price matrix when the scores are cut at the thresholds of an operating point; novelties stay."""
    lower, upper = thresholds
    score = getattr(answers, WAYS[moves].score)
    if moves == PAIR:
        cut = np.where(score > lower, answers.forced, _AMBIGUOUS)
    else:
        rest = _NO if moves == NEVER_REJECTS else _AMBIGUOUS
        cut = np.where(score > upper, _YES, np.where(score < lower, _NO, rest))
    return np.where(answers.columns == _NOVEL, _NOVEL, cut)


def _useful(own: OperatingPoint, others: list[OperatingPoint], costs: Costs) -> list[OperatingPoint]:
    """The method's own point, and those of the others that are cheapest at some prices, but not at those of the run."""
    unit = costs.matrix()[:2]
    limit = (own.matrix * unit).sum() * (1 - _SAME)
    kept = [own, *(point for point in others if (point.matrix * unit).sum() >= limit)]
    matrices = np.array([point.matrix for point in kept])
    cheapest = {int(np.argmin(_costs(matrices, prices))) for prices in _price_lists(costs)}
    return [kept[position] for position in sorted(cheapest | {0})]


def cheapest_point(points: list[OperatingPoint], costs: Costs) -> OperatingPoint:
    """The point at which a method stands at these prices."""
    return points[int(np.argmin(_costs(np.array([point.matrix for point in points]), costs.matrix()[:2])))]


def points_along(points: list[OperatingPoint], costs: Costs) -> list[OperatingPoint]:
    """The points that a method passes as reviews become more expensive, from few answers to many.

    They are cheapest at some price of review, all other prices being those of `costs`: the lower left corners of what
    the points pay for reviews and for errors.
    """
    unit = costs.matrix()[:2]
    paid = np.array([point.matrix * unit for point in points])
    errors, reviews = paid[:, :, :_AMBIGUOUS].sum(axis=(1, 2)), paid[:, :, _AMBIGUOUS:].sum(axis=(1, 2))
    here = int(np.lexsort((reviews, errors))[0])  # where reviews cost nothing
    path = [here]
    while len(fewer := np.flatnonzero(reviews < reviews[here] * (1 - _SAME))):
        # How many times more expensive reviews must be for each to be as cheap as the point before.
        factors = (errors[fewer] - errors[here]) / (reviews[here] - reviews[fewer])
        soonest = fewer[factors <= factors.min() * (1 + _IN_LINE)]
        here = int(soonest[np.argmin(reviews[soonest])])
        path.append(here)
    return [points[position] for position in path]


def point_cost(point: OperatingPoint, costs: Costs) -> float:
    """Cost per case of a point at these prices."""
    return float((point.matrix * costs.matrix()[:2]).sum() / point.matrix.sum())


def count_answers(columns: NDArray[Any], positive: Flags) -> Floats:
    """Counts of answers of shape (repeats, n), as means over the repetitions."""
    columns = np.atleast_2d(columns)
    cells = 4 * positive.astype(np.intp) + columns
    return np.bincount(cells.ravel(), minlength=8).reshape(2, 4) / len(columns)


def _costs(matrices: Floats, unit: Floats) -> Floats:
    total: Floats = np.tensordot(matrices, unit, axes=2)
    return total


def _price_lists(costs: Costs) -> list[Floats]:
    """Prices all over what the page can show, as price matrices."""
    unit = costs.matrix()[:2]
    factors = 10.0 ** np.linspace(-_DECADES, _DECADES, 25)
    lists = []
    for miss in factors:
        for review in 10.0 ** np.linspace(-_DECADES, _DECADES, 49):
            prices = unit.copy()
            prices[1, _NO] *= miss
            prices[:, _AMBIGUOUS:] *= review
            lists.append(prices)
    return lists


class Scored(NamedTuple):
    """Every answer as one entry, in the order of a score; novelties are counted apart.

    Attributes
    ----------
    values : ndarray of float
        The score that thresholds cut, ascending.
    positive, forced : ndarray of bool
        Outcome, and class without the reject option.
    novelties : ndarray of shape (2, 4)
        Counts of the cases rejected as novelties.
    repeats : int
        How often each case was answered.
    """

    values: Floats
    positive: Flags
    forced: Flags
    novelties: Floats
    repeats: int

    @classmethod
    def of(cls, answers: ReportedAnswers, positive: Flags, score: str) -> Scored:
        """Sort the answers by the score of this name."""
        values: Floats = getattr(answers, score)
        novel = (answers.columns == _NOVEL).ravel()
        outcomes = np.broadcast_to(positive, values.shape).ravel()
        order = np.argsort(values.ravel()[~novel], kind="stable")
        novelties = np.zeros((2, 4))
        novelties[:, _NOVEL] = np.bincount(outcomes[novel], minlength=2) / len(values)
        return cls(
            values.ravel()[~novel][order],
            outcomes[~novel][order],
            (answers.forced.ravel() == 1)[~novel][order],
            novelties,
            len(values),
        )

    def below(self, thresholds: Floats) -> Floats:
        """Counts of negative and positive cases whose score lies below each threshold."""
        return self._counts(np.searchsorted(self.values, thresholds, side="left"))

    def up_to(self, thresholds: Floats) -> Floats:
        """Counts of those whose score is at most each threshold."""
        return self._counts(np.searchsorted(self.values, thresholds, side="right"))

    def _counts(self, ends: Indices) -> Floats:
        by_class = np.column_stack([~self.positive, self.positive])
        sums = np.vstack([np.zeros((1, 2)), np.cumsum(by_class, axis=0)])
        found: Floats = sums[ends] / self.repeats
        return found

    @property
    def totals(self) -> Floats:
        """Counts of all negative and positive cases that are no novelties."""
        return self._counts(np.array([len(self.values)]))[0]


def _two_thresholds(scored: Scored, grid: Floats) -> list[OperatingPoint]:
    """No below one threshold of the grid, yes above another, rejected in between."""
    below, up_to, totals = scored.below(grid), scored.up_to(grid), scored.totals
    points = []
    for i, lower in enumerate(grid):
        for k in range(i, len(grid)):
            no, yes = below[i], totals - up_to[k]
            matrix = scored.novelties + np.column_stack([no, yes, totals - no - yes, np.zeros(2)])
            points.append(OperatingPoint(matrix, (float(lower), float(grid[k]))))
    return points


def _one_threshold(scored: Scored, grid: Floats) -> list[OperatingPoint]:
    """Yes above a threshold of the grid, no otherwise."""
    up_to, totals = scored.up_to(grid), scored.totals
    return [
        OperatingPoint(
            scored.novelties + np.column_stack([no, totals - no, np.zeros(2), np.zeros(2)]), (float(cut), float(cut))
        )
        for cut, no in zip(grid, up_to, strict=True)
    ]


def _probabilities() -> Floats:
    # Beyond both ends nothing is answered no, or yes.
    return np.concatenate([[-np.inf], 1 / (1 + np.exp(-_LOGITS)), [np.inf]])


def _quantiles(values: Floats) -> Floats:
    if len(values) == 0:
        return np.array([-np.inf, np.inf])
    return np.concatenate([[-np.inf], np.unique(np.quantile(values, _LEVELS)), [np.inf]])


def _break_even_points(scored: Scored) -> list[OperatingPoint]:
    return _one_threshold(scored, _probabilities())


def _chow_points(scored: Scored) -> list[OperatingPoint]:
    return _two_thresholds(scored, _probabilities())


def _score_points(scored: Scored) -> list[OperatingPoint]:
    return _two_thresholds(scored, _quantiles(scored.values))


def _acceptance_points(scored: Scored) -> list[OperatingPoint]:
    """Accepted above a threshold of the grid, with the class the method would be forced to give."""
    grid = _quantiles(scored.values)
    ends = np.searchsorted(scored.values, grid, side="right")
    cells = np.eye(4)[2 * scored.positive.astype(np.intp) + scored.forced]
    sums = np.vstack([np.zeros((1, 4)), np.cumsum(cells, axis=0)]) / scored.repeats
    accepted = (sums[-1] - sums[ends]).reshape(-1, 2, 2)
    rejected = scored.totals - accepted.sum(axis=2)
    return [
        OperatingPoint(scored.novelties + np.column_stack([counts, rest, np.zeros(2)]), (float(cut), float(cut)))
        for cut, counts, rest in zip(grid, accepted, rejected, strict=True)
    ]


def break_even_answers(probabilities: Floats, costs: Costs) -> Indices:
    """Answer every case: yes above the break-even probability, else no."""
    return (probabilities > costs.break_even).astype(np.intp)


def chow_answers(probabilities: Floats, costs: Costs) -> Indices:
    """Answer by Chow's thresholds, which must exist: rejecting has to pay at these prices."""
    lower, upper = costs.thresholds
    return np.where(probabilities > upper, _YES, np.where(probabilities < lower, _NO, _AMBIGUOUS))


class Way(NamedTuple):
    """A way to follow the prices.

    Attributes
    ----------
    score : str
        Column of the out-of-fold answers that its thresholds cut: "score" or "r".
    points : callable
        Scored answers -> operating points.
    own_thresholds : callable
        Prices of the run -> thresholds of the method's own answers, None if they have none in common.
    """

    score: str
    points: Callable[[Scored], list[OperatingPoint]]
    own_thresholds: Callable[[Costs], tuple[float, float] | None]


# The one list of these names. They are stored in summary.json.
NEVER_REJECTS, CHOW, TUNED, PAIR = "no-reject", "chow", "tuned", "pair"
WAYS = {
    NEVER_REJECTS: Way("score", _break_even_points, lambda costs: (costs.break_even, costs.break_even)),
    CHOW: Way("score", _chow_points, lambda costs: costs.thresholds),
    TUNED: Way("score", _score_points, lambda costs: None),
    PAIR: Way("r", _acceptance_points, lambda costs: None),
}
