"""Where a method would operate at other prices, from its out-of-fold scores alone.

The page computes the same in the browser while prices are moved; this module is the definition, and what the browser is
tested against. How a method follows the prices:

- "plain": yes above the break-even probability, never rejects;
- "chow": Chow's thresholds for the prices, on its probabilities;
- "tuned": two thresholds of least cost on its class score;
- "pair": one threshold of least cost on its acceptance score, the classes as they are.

The thresholds of the last two are chosen for each fold on the cases of the other folds, so that no case takes part
in the choice that decides it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..costs import Costs
from ..metrics import cost_curve
from ..thresholds.rules import Sample, tuned_band

Floats = NDArray[np.float64]
PLAIN, CHOW, TUNED, PAIR = "plain", "chow", "tuned", "pair"

EXACT_UP_TO = 5000
BINS = 1000
_SAME = 1e-12


@dataclass(frozen=True, eq=False)
class Entries:
    """Scored cases in order of their score, or groups of cases with nearly equal scores.

    Attributes
    ----------
    values : ndarray of float
        The score that thresholds cut, ascending.
    fold : ndarray of int
        Fold of each entry.
    positive, forced : ndarray of bool
        Outcome, and class without the reject option.
    weights : ndarray of float
        Number of cases.
    """

    values: Floats
    fold: NDArray[np.intp]
    positive: NDArray[np.bool_]
    forced: NDArray[np.bool_]
    weights: Floats

    @classmethod
    def of(cls, values: Floats, fold: Any, positive: Any, forced: Any) -> Entries:
        """Sort the cases; group them where there are too many for a page."""
        order = np.argsort(values, kind="stable")
        columns = [np.asarray(column)[order] for column in (values, fold, positive, forced)]
        if len(order) <= EXACT_UP_TO:
            return cls(
                columns[0],
                columns[1].astype(np.intp),
                columns[2].astype(bool),
                columns[3].astype(bool),
                np.ones(len(order)),
            )
        return cls._grouped(*columns)

    @classmethod
    def _grouped(cls, values: Floats, fold: Any, positive: Any, forced: Any) -> Entries:
        # Groups of about equal size; equal scores always together.
        edges = np.unique(np.quantile(values, np.linspace(0, 1, BINS + 1)[1:-1], method="lower"))
        group = np.searchsorted(edges, values, side="left")
        means = np.bincount(group, values, BINS + 1) / np.maximum(np.bincount(group, minlength=BINS + 1), 1)
        keys = np.column_stack([group, fold, positive, forced]).astype(np.int64)
        distinct, counts = np.unique(keys, axis=0, return_counts=True)
        rounded = np.array([float(f"{value:.6g}") for value in means])[distinct[:, 0]]
        return cls(
            rounded,
            distinct[:, 1].astype(np.intp),
            distinct[:, 2].astype(bool),
            distinct[:, 3].astype(bool),
            counts.astype(np.float64),
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain lists for the page; a code holds fold, outcome and class."""
        codes = 4 * self.fold + 2 * self.positive + self.forced
        weights = None if (self.weights == 1).all() else self.weights.astype(int).tolist()
        return {"values": self.values.tolist(), "codes": codes.tolist(), "weights": weights}


def operating_matrix(entries: Entries, moves: str, costs: Costs) -> Floats:
    """Confusion matrix at these prices: rows negative and positive, columns no, yes and rejected."""
    answer = _answers(entries, moves, costs)
    matrix = np.zeros((2, 3))
    np.add.at(matrix, (entries.positive.astype(np.intp), answer), entries.weights)
    return matrix


def _answers(entries: Entries, moves: str, costs: Costs) -> NDArray[np.intp]:
    if moves == PLAIN or not costs.rejecting_pays:
        return _never_rejecting(entries, moves, costs)
    if moves == CHOW:
        return _cut(entries.values, *costs.thresholds)
    answers = np.empty(len(entries.values), dtype=np.intp)
    for fold in np.unique(entries.fold):
        here, others = entries.fold == fold, entries.fold != fold
        if moves == TUNED:
            sample = Sample.of(entries.values[others], entries.positive[others], entries.weights[others])
            band, _ = tuned_band(sample, costs)
            answers[here] = _cut(entries.values[here], band.lower, band.upper)
        else:
            threshold = _acceptance_threshold(entries, others, costs)
            answers[here] = np.where(entries.values[here] >= threshold, entries.forced[here], 2)
    return answers


def _never_rejecting(entries: Entries, moves: str, costs: Costs) -> NDArray[np.intp]:
    if moves in (PLAIN, CHOW):
        return (entries.values > costs.break_even).astype(np.intp)
    return entries.forced.astype(np.intp)


def _cut(values: Floats, lower: float, upper: float) -> NDArray[np.intp]:
    return np.where(values > upper, 1, np.where(values < lower, 0, 2))


def _acceptance_threshold(entries: Entries, rows: NDArray[np.bool_], costs: Costs) -> float:
    """Acceptance score from which on accepting costs least; of equally cheap ones the lowest."""
    _, cost, thresholds = cost_curve(
        entries.positive[rows].astype(int),
        entries.forced[rows].astype(int),
        entries.values[rows],
        costs=costs,
        labels=[0, 1],
        sample_weight=entries.weights[rows],
    )
    return float(thresholds[np.flatnonzero(cost <= cost.min() + _SAME * (costs.fp + costs.fn))[-1]])
