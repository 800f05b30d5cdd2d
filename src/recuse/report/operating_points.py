"""Where a method would operate at other prices, from its out-of-fold scores alone.

The page computes the same in the browser while the reader moves the prices; this module is the definition, and the
browser is tested against it. There are four ways for a method to follow the prices (`WAYS`):

- "plain": yes above the break-even probability, never rejects;
- "chow": Chow's thresholds for the prices, on its probabilities;
- "tuned": the two thresholds of least cost on its class score;
- "pair": one threshold on its acceptance score. It is 0 at the prices the method was trained for, and shifts by as much
  as the threshold of least cost shifts from there; the forced classes stay as they are.

For the last two, the thresholds of a fold are chosen on the other folds of the same repetition, so no case influences
the thresholds that decide it. A case rejected as a novelty stays rejected at every price and does not take part in the
choice of thresholds: whether a case is unlike the training cases does not depend on prices. Counts are means over the
repetitions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Indices
from ..costs import Costs, answer_columns
from ..decisions import KINDS
from ..metrics import cost_curve
from ..thresholds.rules import Sample, tuned_band

EXACT_UP_TO = 5000  # cases
EXACT_ANSWERS = 20_000  # over all repetitions
BINS = 1000
_SAME = 1e-12

_NO, _YES = 0, 1
_AMBIGUOUS, _NOVEL = (int(answer_columns(0, kind)) for kind in range(1, len(KINDS)))


@dataclass(frozen=True, eq=False)
class Entries:
    """Scored cases in order of their score, or groups of cases with nearly equal scores.

    Attributes
    ----------
    values : ndarray of float
        The score that the thresholds cut, ascending.
    repeat, fold : ndarray of int
        Repetition, and fold within it, of each entry.
    positive, forced, novel : ndarray of bool
        Outcome, class without the reject option, and whether it was rejected as a novelty.
    weights : ndarray of float
        Number of cases.
    """

    values: Floats
    repeat: Indices
    fold: Indices
    positive: Flags
    forced: Flags
    novel: Flags
    weights: Floats

    @classmethod
    def of(cls, values: Any, fold: Any, positive: Any, forced: Any, novel: Any = False) -> Entries:
        """Sort the cases; group them where there are too many for a page.

        Parameters are of shape (n,), or (repeats, n).
        """
        values = np.atleast_2d(values)
        repeat = np.arange(len(values))[:, None]
        columns = [np.broadcast_to(column, values.shape).ravel() for column in (repeat, fold, positive, forced, novel)]
        repeats, n = values.shape
        order = np.argsort(values, axis=None, kind="stable")
        values, columns = values.ravel()[order], [column[order] for column in columns]
        if n <= EXACT_UP_TO and len(order) <= EXACT_ANSWERS:
            return cls._from_columns(values, np.column_stack(columns), np.ones(len(order)))
        # Entries of different repetitions are never merged: fewer groups per repetition keep the total the same.
        return cls._grouped(values, columns, max(BINS // repeats, 100))

    @classmethod
    def _grouped(cls, values: Floats, columns: list[Any], bins: int) -> Entries:
        # Groups of about equal size; equal scores always together.
        edges = np.unique(np.quantile(values, np.linspace(0, 1, bins + 1)[1:-1], method="lower"))
        group = np.searchsorted(edges, values, side="left")
        means = np.bincount(group, values, bins + 1) / np.maximum(np.bincount(group, minlength=bins + 1), 1)
        keys = np.column_stack([group, *columns]).astype(np.int64)
        distinct, counts = np.unique(keys, axis=0, return_counts=True)
        rounded = np.array([float(f"{value:.6g}") for value in means])[distinct[:, 0]]
        return cls._from_columns(rounded, distinct[:, 1:], counts.astype(np.float64))

    @classmethod
    def _from_columns(cls, values: Floats, columns: NDArray[Any], weights: Floats) -> Entries:
        repeat, fold, positive, forced, novel = columns.T
        numbers = (repeat.astype(np.intp), fold.astype(np.intp))
        return cls(values, *numbers, positive.astype(bool), forced.astype(bool), novel.astype(bool), weights)

    @property
    def part(self) -> Indices:
        """Number of each entry's fold, counted over all repetitions."""
        return self.repeat * (self.fold.max() + 1) + self.fold

    @property
    def repeats(self) -> int:
        """How often each case was answered."""
        return int(self.repeat.max()) + 1

    def as_dict(self) -> dict[str, Any]:
        """Lists for the page; a code packs the fold over all repetitions, novelty, outcome and forced class."""
        codes = 8 * self.part + 4 * self.novel + 2 * self.positive + self.forced
        weights = None if (self.weights == 1).all() else self.weights.astype(int).tolist()
        return {
            "values": self.values.tolist(),
            "codes": codes.tolist(),
            "weights": weights,
            "folds": int(self.fold.max()) + 1,
            "repeats": self.repeats,
        }


def operating_matrix(entries: Entries, moves: str, costs: Costs, trained: Costs) -> Floats:
    """Confusion matrix at these prices: rows negative and positive; columns no, yes, ambiguous and novel.

    Parameters
    ----------
    entries : Entries
        The scored cases.
    moves : str
        Name of the way the method follows the prices, in `WAYS`.
    costs, trained : Costs
        The prices asked for, and those of the run.
    """
    answer = np.where(entries.novel, _NOVEL, WAYS[moves].answers(entries, costs, trained))
    matrix = np.zeros((2, 4))
    np.add.at(matrix, (entries.positive.astype(np.intp), answer), entries.weights)
    return matrix / entries.repeats


def break_even_answers(probabilities: Floats, costs: Costs) -> Indices:
    """Answer every case: yes above the break-even probability, else no."""
    return (probabilities > costs.break_even).astype(np.intp)


def chow_answers(probabilities: Floats, costs: Costs) -> Indices:
    """Answer by Chow's thresholds, which must exist: rejecting has to pay at these prices."""
    return _cut(probabilities, *costs.thresholds)


def _cut(values: Floats, lower: float, upper: float) -> Indices:
    return np.where(values > upper, _YES, np.where(values < lower, _NO, _AMBIGUOUS))


def _never_rejecting(entries: Entries, costs: Costs, trained: Costs) -> Indices:
    return break_even_answers(entries.values, costs)


def _by_chow(entries: Entries, costs: Costs, trained: Costs) -> Indices:
    follow = chow_answers if costs.rejecting_pays else break_even_answers
    return follow(entries.values, costs)


def _by_tuned_thresholds(entries: Entries, costs: Costs, trained: Costs) -> Indices:
    def answer(here: Flags, others: Flags) -> Indices:
        sample = Sample.of(entries.values[others], entries.positive[others], entries.weights[others])
        band, _ = tuned_band(sample, costs)
        return _cut(entries.values[here], band.lower, band.upper)

    return _fold_by_fold(entries, costs, answer)


def _by_acceptance_threshold(entries: Entries, costs: Costs, trained: Costs) -> Indices:
    def answer(here: Flags, others: Flags) -> Indices:
        new, old = (_acceptance_threshold(entries, others, prices) for prices in (costs, trained))
        # Folds differ in the scale and the calibration of their scores. A threshold taken from the other folds would
        # be off even at unchanged prices; how far it shifts is what the folds have in common.
        return np.where(entries.values[here] > new - old, entries.forced[here], _AMBIGUOUS)

    return _fold_by_fold(entries, costs, answer)


def _fold_by_fold(entries: Entries, costs: Costs, answer: Callable[[Flags, Flags], Indices]) -> Indices:
    """Answers of each fold by thresholds chosen on the other folds of its repetition."""
    if not costs.rejecting_pays:
        return entries.forced.astype(np.intp)
    answers = np.empty(len(entries.values), dtype=np.intp)
    part = entries.part
    for number in np.unique(part):
        here = part == number
        others = (entries.repeat == entries.repeat[here][0]) & ~here & ~entries.novel
        # Without other cases there is nothing to choose thresholds on.
        answers[here] = answer(here, others) if others.any() else entries.forced[here]
    return answers


def _acceptance_threshold(entries: Entries, rows: Flags, costs: Costs) -> float:
    """Lowest of the acceptance scores at which accepting everything above costs least.

    Where it costs least to accept nothing, the threshold is as far above the highest score as the scores are spread.
    """
    _, cost, thresholds = cost_curve(
        entries.positive[rows].astype(int),
        entries.forced[rows].astype(int),
        entries.values[rows],
        costs=costs,
        labels=[0, 1],
        sample_weight=entries.weights[rows],
    )
    chosen = float(thresholds[np.flatnonzero(cost <= cost.min() + _SAME * (costs.fp + costs.fn))[-1]])
    values = entries.values[rows]  # ascending
    return min(chosen, float(values[-1] + (values[-1] - values[0])))


class Way(NamedTuple):
    """A way to follow the prices.

    Attributes
    ----------
    score : str
        Column of the out-of-fold answers that its thresholds cut: "score" or "r".
    answers : callable
        Entries, prices, prices of the run -> column of the price matrix for each entry.
    """

    score: str
    answers: Callable[[Entries, Costs, Costs], Indices]


# The one list of these names. They are stored in summary.json, and the page has a function for each of them.
NEVER_REJECTS, CHOW, TUNED, PAIR = "plain", "chow", "tuned", "pair"
WAYS = {
    NEVER_REJECTS: Way("score", _never_rejecting),
    CHOW: Way("score", _by_chow),
    TUNED: Way("score", _by_tuned_thresholds),
    PAIR: Way("r", _by_acceptance_threshold),
}
