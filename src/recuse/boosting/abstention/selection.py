"""Selection on held-out cases: of several penalties, numbers of rounds, thresholds, and of several candidates.

A choice made on some cases looks better on them than it is. So what a candidate would cost is read off with everything
chosen for each part on the other parts, and only then candidates are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np

from ...arrays import Floats, Indices
from .engine.problem import Parts

# Loss of scores (h, r) of all cases, on some of them.
ScoreLoss = Callable[[Floats, Indices], float]

# By how many standard errors another candidate must be cheaper on held-out cases than the first. One: over twelve kinds
# of simulated tables, eight draws each, pairs started from the score cost up to 1.3 % more than Chow's rule on it where
# that is all there is to know, and up to half less elsewhere; asking for two lost more than it saved.
SURE = 1.0
# Share of the held-out cases, two of five folds, after which a candidate that is not cheaper so far is given up.
FIRST_LOOK = 0.35
TRIED_THRESHOLDS = 41  # thresholds tried


class JudgedPrices(Protocol):
    """What answers to some cases cost."""

    @property
    def weight(self) -> Floats:
        """Sample weights."""

    def mean(self, y: Floats, h: Floats, r: Floats) -> float:
        """Mean price of the answers that scores give."""

    def take(self, rows: Indices) -> JudgedPrices:
        """The prices of some cases."""


class JudgedCases(Protocol):
    """Training cases, and the folds that hold them out."""

    @property
    def y(self) -> Floats:
        """Their classes."""

    @property
    def prices(self) -> JudgedPrices:
        """What answers to them cost."""

    @property
    def tested(self) -> Indices:
        """Those that some fold holds out."""

    @property
    def parts(self) -> list[Indices]:
        """The same in parts, each judged by what the others choose."""

    def price(self, scores: Floats, rows: Indices) -> float:
        """Mean price of the answers that scores (h, r) give to some cases."""


def best_option(options: Floats, loss: ScoreLoss, rows: Indices) -> int:
    """The option, of scores of shape (n, 2, m), of least loss on some cases."""
    return int(np.argmin([loss(scores, rows) for scores in options]))


def judged_scores(options: Floats, loss: ScoreLoss, training: JudgedCases, *, tuned: bool = False) -> Floats:
    """Scores (h, r) of held-out cases, the option chosen on the other parts; if `tuned`, the threshold as well."""
    out = np.full(options.shape[1:], np.nan)
    for part in training.parts:
        # Parts that all hold the same cases leave no others.
        others = np.setdiff1d(training.tested, part)
        scores = options[best_option(options, loss, others if len(others) else part)]
        out[:, part] = scores[:, part]
        if tuned and len(others):
            out[1, part] -= _threshold_on(others, scores, training)
    return out


def judge(options: Floats, loss: ScoreLoss, training: JudgedCases, *, with_threshold: bool) -> tuple[Floats, float]:
    """The judged scores of the best option, and its threshold: 0 where none is to be tuned."""
    if not with_threshold:
        return judged_scores(options, loss, training), 0.0
    return tune_threshold(options, best_option(options, loss, training.tested), loss, training)


def tune_threshold(options: Floats, best: int, loss: ScoreLoss, training: JudgedCases) -> tuple[Floats, float]:
    """The judged scores and a threshold: one set on held-out cases, if it pays on cases it was not set on, else 0."""
    rows, judged = training.tested, judged_scores(options, loss, training)
    moved = judged_scores(options, loss, training, tuned=True)
    if training.price(moved, rows) >= training.price(judged, rows):
        return judged, 0.0
    return moved, _threshold_on(rows, options[best], training)


def _threshold_on(rows: Indices, scores: Floats, training: JudgedCases) -> float:
    """Rejection threshold at which some cases cost least."""
    return best_threshold(training.y[rows], scores[0, rows], scores[1, rows], training.prices.take(rows))


def best_threshold(y: Floats, h: Floats, r: Floats, prices: JudgedPrices) -> float:
    """Rejection threshold tau (reject when r <= tau) of least mean price; 0 unless another is better.

    Tried are quantiles of r, always rejecting and never rejecting.
    """
    tried = np.concatenate([[0.0], np.unique(np.quantile(r, np.linspace(0.0, 1.0, TRIED_THRESHOLDS))), [r.min() - 1.0]])
    means = [prices.mean(y, h, r - tau) for tau in tried]
    return float(tried[int(np.argmin(means))])


def first_folds(folds: Parts) -> Parts:
    """The folds of a first look: two or more that hold out enough cases, or all where that leaves none for a second."""
    sizes = np.cumsum([len(test) for _, test in folds])
    n = max(2, int(np.searchsorted(sizes, FIRST_LOOK * sizes[-1])) + 1)
    return folds[:n]


class Judged(Protocol):
    """Something that held-out cases have judged."""

    @property
    def name(self) -> str:
        """What it is called."""

    def held_out_cost(self, training: Any) -> Floats | None:
        """Price of each held-out case."""


C = TypeVar("C", bound=Judged)


def choose(candidates: list[C], training: JudgedCases) -> C:
    """Return the candidate of least held-out cost; to replace the first it must be `SURE` standard errors cheaper."""
    first, *others = candidates
    base = first.held_out_cost(training)
    best, least = first, 0.0
    for other in others:
        cost = other.held_out_cost(training)
        if base is None or cost is None:
            continue
        difference, weight = cost - base, training.prices.weight[training.tested]
        mean = float(weight @ difference / weight.sum())
        if mean < least and mean < -SURE * standard_error(difference, weight):
            best, least = other, mean
    return best


def held_out_means(candidates: list[C], training: JudgedCases) -> dict[str, float]:
    """Mean price of each candidate that was judged on held-out cases."""
    costs = {candidate.name: candidate.held_out_cost(training) for candidate in candidates}
    judged = {name: cost for name, cost in costs.items() if cost is not None}
    weight = training.prices.weight[training.tested] if judged else np.zeros(0)
    return {name: float(weight @ cost / weight.sum()) for name, cost in judged.items()}


def standard_error(differences: Floats, weight: Floats) -> float:
    """Standard error of the weighted mean of paired differences."""
    share = weight / weight.sum()
    mean = share @ differences
    return float(np.sqrt((share**2) @ (differences - mean) ** 2))
