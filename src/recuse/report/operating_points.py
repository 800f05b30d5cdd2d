"""Where a method would operate at other prices, from its out-of-fold scores alone.

The page computes the same in the browser while prices are moved; this module is the definition, and what the browser is
tested against. How a method follows the prices:

- "plain": yes above the break-even probability, never rejects;
- "chow": Chow's thresholds for the prices, on its probabilities;
- "tuned": two thresholds of least cost on its class score;
- "pair": one threshold on its acceptance score, 0 at the prices it was trained for and moved by as much as the
  threshold of least cost moves from there; the classes as they are.

The thresholds of the last two are chosen for each fold on the cases of the other folds of the same repetition, so that
no case takes part in the choice that decides it. A case rejected as a novelty stays rejected at every price, and has
no part in the choice of thresholds: what is unlike anything seen does not depend on prices. Counts are means over the
repetitions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Indices
from ..costs import Costs
from ..metrics import cost_curve
from ..thresholds.rules import Sample, tuned_band

PLAIN, CHOW, TUNED, PAIR = "plain", "chow", "tuned", "pair"

EXACT_UP_TO = 5000  # cases
EXACT_ANSWERS = 20_000  # over all repetitions
BINS = 1000
_SAME = 1e-12


@dataclass(frozen=True, eq=False)
class Entries:
    """Scored cases in order of their score, or groups of cases with nearly equal scores.

    Attributes
    ----------
    values : ndarray of float
        The score that thresholds cut, ascending.
    repeat, fold : ndarray of int
        Repetition, and fold in it, of each entry.
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
        # Each repetition has entries of its own: as many in all, whatever their number.
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
        """Number of each entry's fold over all repetitions."""
        return self.repeat * (self.fold.max() + 1) + self.fold

    @property
    def repeats(self) -> int:
        """How often each case was answered."""
        return int(self.repeat.max()) + 1

    def as_dict(self) -> dict[str, Any]:
        """Plain lists for the page; a code holds fold over all repetitions, novelty, outcome and class."""
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

    `trained` are the prices of the run.
    """
    answer = np.where(entries.novel, 3, _answers(entries, moves, costs, trained))
    matrix = np.zeros((2, 4))
    np.add.at(matrix, (entries.positive.astype(np.intp), answer), entries.weights)
    return matrix / entries.repeats


def _answers(entries: Entries, moves: str, costs: Costs, trained: Costs) -> Indices:
    if moves == PLAIN or not costs.rejecting_pays:
        return _never_rejecting(entries, moves, costs)
    if moves == CHOW:
        return _cut(entries.values, *costs.thresholds)
    answers = np.empty(len(entries.values), dtype=np.intp)
    part = entries.part
    for number in np.unique(part):
        here = part == number
        others = (entries.repeat == entries.repeat[here][0]) & ~here & ~entries.novel
        if not others.any():  # nothing to choose thresholds on
            answers[here] = entries.forced[here]
        elif moves == TUNED:
            sample = Sample.of(entries.values[others], entries.positive[others], entries.weights[others])
            band, _ = tuned_band(sample, costs)
            answers[here] = _cut(entries.values[here], band.lower, band.upper)
        else:
            new, old = (_acceptance_threshold(entries, others, prices) for prices in (costs, trained))
            # Folds differ in the scale and the calibration of their scores: a threshold from the others would be off
            # even where nothing has changed, while the way it moves is theirs in common.
            answers[here] = np.where(entries.values[here] > new - old, entries.forced[here], 2)
    return answers


def _never_rejecting(entries: Entries, moves: str, costs: Costs) -> Indices:
    if moves in (PLAIN, CHOW):
        return (entries.values > costs.break_even).astype(np.intp)
    return entries.forced.astype(np.intp)


def _cut(values: Floats, lower: float, upper: float) -> Indices:
    return np.where(values > upper, 1, np.where(values < lower, 0, 2))


def _acceptance_threshold(entries: Entries, rows: Flags, costs: Costs) -> float:
    """Acceptance score from which on accepting costs least; of equally cheap ones the lowest.

    Where it costs least to accept nothing: as far above all scores as they reach.
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
