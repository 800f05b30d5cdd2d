"""What held-out cases favour: of several penalties, numbers of rounds, thresholds, and of several pairs.

A choice made on some cases looks better on them than it is. So what a candidate would cost is read off with everything
chosen for each part on the other parts, and only then candidates are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats, Indices
from .tuning import Prices, best_threshold, standard_error

Loss = Callable[[Floats, Indices], float]  # of scores (h, r) of all cases, on some of them

# By how many standard errors a learned rejector must be cheaper on held-out cases than the confidence rule: two, since
# the better of several is compared.
_SURE = 2.0


@dataclass(frozen=True, eq=False)
class Data:
    """Training cases; `order` puts the positives first, and all columns but X are in that order.

    Attributes
    ----------
    X : ndarray of shape (m, p)
        As given.
    order : ndarray of int of shape (m,)
        Indices of X, positives first.
    n_pos : int
        Number of positives.
    s : ndarray of shape (m,)
        Weights of the reduced symmetric problem, summing to 1.
    c : float or ndarray of shape (m,)
        Reject price of the reduced problem.
    prices : Prices
        What answers really cost.
    folds : list of (train, test)
        Positions in the order, each increasing.
    partition : list of (train, test)
        Parts that hold out every case exactly once, for a stacked score; empty where there are none.
    weight : ndarray of shape (m,)
        Sample weights as given.
    log_odds : float
        Log-odds of the reduced problem above which the positive class is the cheaper answer.
    """

    X: NDArray[Any]
    order: Indices
    n_pos: int
    s: Floats
    c: float | Floats
    prices: Prices
    folds: list[tuple[Indices, Indices]]
    partition: list[tuple[Indices, Indices]] = field(default_factory=list)
    weight: Floats = field(default_factory=lambda: np.ones(1))
    log_odds: float = 0.0

    @property
    def y(self) -> Floats:
        """Labels, -1 or +1."""
        return np.where(np.arange(len(self.s)) < self.n_pos, 1.0, -1.0)

    @property
    def tested(self) -> Indices:
        """Positions that some fold holds out."""
        return np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *(test for _, test in self.folds)]))

    @property
    def parts(self) -> list[Indices]:
        """Held-out cases in parts, each judged by what the others favour: if held out once, halves of each class."""
        rows = self.tested
        return [test for _, test in self.folds] if len(self.folds) > 1 else [rows[::2], rows[1::2]]

    def price(self, scores: Floats, rows: Indices) -> float:
        """Mean price of the answers that scores (h, r) give to some cases."""
        return self.prices.take(rows).mean(self.y[rows], scores[0, rows], scores[1, rows])


def favoured(options: Floats, loss: Loss, rows: Indices) -> int:
    """The option, of scores of shape (n, 2, m), of least loss on some cases."""
    return int(np.argmin([loss(scores, rows) for scores in options]))


def judge(options: Floats, loss: Loss, data: Data, *, tuned: bool = False) -> Floats:
    """Scores (h, r) of held-out cases, the option chosen on the other parts; if `tuned`, the threshold as well."""
    out = np.full(options.shape[1:], np.nan)
    for part in data.parts:
        # Parts that all hold the same cases leave no others.
        others = np.setdiff1d(data.tested, part)
        scores = options[favoured(options, loss, others if len(others) else part)]
        out[:, part] = scores[:, part]
        if tuned and len(others):
            out[1, part] -= threshold_on(others, scores, data)
    return out


def threshold_on(rows: Indices, scores: Floats, data: Data) -> float:
    """Rejection threshold at which some cases cost least."""
    return best_threshold(data.y[rows], scores[0, rows], scores[1, rows], data.prices.take(rows))


def with_threshold(options: Floats, held_out: Floats, judged: Floats, loss: Loss, data: Data) -> tuple[Floats, float]:
    """The judged scores and a threshold: one set on held-out cases, if it pays on cases it was not set on, else 0."""
    rows, moved = data.tested, judge(options, loss, data, tuned=True)
    if data.price(moved, rows) >= data.price(judged, rows):
        return judged, 0.0
    return moved, threshold_on(rows, held_out, data)


class Candidate(Protocol):
    """Something that has been judged."""

    def held_out_cost(self, data: Data) -> Floats | None:
        """Price of each held-out case."""


C = TypeVar("C", bound=Candidate)


def choose(candidates: list[C], data: Data) -> C:
    """Return the candidate of least held-out cost; another than the first must beat it by `_SURE` standard errors."""
    first, *others = candidates
    base = first.held_out_cost(data)
    weight = data.prices.weight[data.tested]
    best, least = first, 0.0
    for other in others:
        cost = other.held_out_cost(data)
        if base is None or cost is None:
            continue
        difference = cost - base
        mean = float(weight @ difference / weight.sum())
        if mean < least and mean < -_SURE * standard_error(difference, weight):
            best, least = other, mean
    return best
