"""Everything that changes while a boosting problem is solved: weights of the stumps, scores, weights of the cases.

Symbols as in `rounds`.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....arrays import Floats
from ....compiling import without_collector
from ...binning import Bins
from .problem import Problem
from .settings import Settings
from .stumps import Coded, StumpSearch, cell_labels, make_family
from .surrogates import Surrogate
from .weights import RunningScores, Spread, make_weights


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Weighted stumps: the model of a `Solution`."""

    stumps: list[Coded]
    weights: Floats
    h0: float
    r0: float
    values: Floats

    def tables(self, bins: Bins) -> tuple[Floats, Floats]:
        """Contributions to h and to r of every cell of every feature, without the intercepts."""
        h, r = np.zeros(bins.n_cells), np.zeros(bins.n_cells)
        for stump, weight in zip(self.stumps, self.weights, strict=True):
            cells, n_bins = bins.cells[stump[0]]
            both = (weight * self.values).take(cell_labels(stump, n_bins), axis=0)
            h[cells] += both[:, 0]
            r[cells] += both[:, 1]
        return h, r

    def scores(self, problem: Problem) -> tuple[Floats, Floats]:
        """Scores h and r of a problem's cases."""
        bins = problem.bins
        h, r = np.full(problem.n_cases, self.h0), np.full(problem.n_cases, self.r0)
        if problem.offset is not None:
            h, r = h + problem.offset[:, 0], r + problem.offset[:, 1]
        h_table, r_table = self.tables(bins)
        for f in sorted({stump[0] for stump in self.stumps}):
            cells = slice(bins.offsets[f], bins.offsets[f + 1])
            h += h_table[cells][bins.codes[f]]
            r += r_table[cells][bins.codes[f]]
        return h, r


class State:
    """Everything that changes during a fit.

    The loop of `rounds` asks the cases for sums alone: `sweep`, `shift_sums`, `loss_sum`, `gap_sums` and `start_sum`. A
    state whose cases lie elsewhere overrides these, and passes on `apply`, `shift`, `refresh` and `sharpen`.

    Attributes
    ----------
    alpha : dict
        Weight of each stump used.
    weights : Weights
        Weights of the cases.
    search : StumpSearch
        The weak learner and its buffers.
    """

    def __init__(self, problem: Problem, settings: Settings, threads: ThreadPoolExecutor | None = None) -> None:
        from . import loops

        self.loops = without_collector(loops)
        self.problem, self.settings = problem, settings
        self.alpha: dict[Coded, float] = {}
        self._active: NDArray[np.int64] | None = None
        self.family = make_family(settings.family, settings.gamma)
        self.spread = _spreader(threads, settings.n_threads)
        self.search = StumpSearch(problem.bins, self.family, problem.n_pos, self.spread)
        self._scores = RunningScores(problem, loops)
        self.weights = make_weights(problem, settings.exponents, self._scores, self.spread, loops)
        self.weights.refresh()

    @property
    def n_cases(self) -> int:
        """Number of cases."""
        return self.problem.n_cases

    @property
    def w(self) -> Floats:
        """The weights w1 and w2 of every case."""
        return self.weights.w

    @property
    def total_weight(self) -> float:
        """Sum of the stumps' weights."""
        return float(sum(self.alpha.values()))

    @property
    def active(self) -> NDArray[np.int64]:
        """The stumps that have a weight, a row each, in the order of `alpha`."""
        if self._active is None:
            self._active = np.array(list(self.alpha), dtype=np.int64)
        return self._active

    @property
    def surrogate(self) -> Surrogate:
        """What is minimised now."""
        return self.weights.surrogate

    @property
    def h0(self) -> float:
        """Intercept of h."""
        return self._scores.h0

    @property
    def r0(self) -> float:
        """Intercept of r."""
        return self._scores.r0

    def scores(self) -> tuple[Floats, Floats]:
        """Scores h and r of every case."""
        return self._scores.of()

    def refresh(self) -> None:
        """Recompute the weights of the cases from the scores."""
        self.weights.refresh()

    def sweep(self) -> None:
        """Find the best stump of every feature for the weights as they are."""
        self.search.sweep(self.w)

    def loss_sum(self) -> float:
        """The objective without its penalty."""
        return self.weights.total()

    def shift_sums(self, dh: float, dr: float) -> Floats:
        """What the best intercepts depend on, when constants are added to h and r."""
        return self.weights.shift_sums(dh, dr)

    def gap_sums(self, tau: float) -> Floats:
        """What the certificate depends on."""
        return self.weights.gap_sums(tau)

    def start_sum(self) -> float:
        """What the scores that the stumps are added to contribute to the dual: their arguments u, v weighted by w."""
        start = self.problem.offset
        if start is None:
            return 0.0
        return float(self.w[:, 0] @ (start[:, 1] - self.problem.y * start[:, 0]) - self.w[:, 1] @ start[:, 1])

    def objective(self) -> float:
        """F at the current weights."""
        return self.loss_sum() + self.settings.beta * self.total_weight

    def settle_intercepts(self) -> None:
        """Move h0 and r0 to their optimum given the stumps."""
        free_h, free_r = self.settings.free_h, self.settings.free_r
        if free_h or free_r:
            self.shift(*self.weights.best_shift(free_h, free_r, self.shift_sums))

    def sharpen(self, p: float) -> None:
        """Take another exponent of the surrogate, with the intercepts at their optimum."""
        if self.weights.sharpen(p):
            self.settle_intercepts()

    def shift(self, dh: float, dr: float) -> None:
        """Add constants to h and r."""
        self._scores.h0 += dh
        self._scores.r0 += dr
        self.weights.shift(dh, dr)

    def apply(self, stump: Coded, eta: float, dh: float, dr: float) -> None:
        """Add eta to a stump's weight and (dh, dr) to the intercepts."""
        before = self.alpha.get(stump, 0.0)
        weight = before + eta
        self.alpha[stump] = weight
        if before == 0.0 or weight <= 0.0:
            self._active = None
        if weight <= 0.0:
            del self.alpha[stump]
        self._scores.h0 += dh
        self._scores.r0 += dr
        f, b = stump[0], self.problem.bins
        cells, n_bins = b.cells[f]
        labels = cell_labels(stump, n_bins)
        h, r = eta * self.family.values.T  # by label
        self._scores.h_table[cells] += h.take(labels)  # in every round: quicker than an index
        self._scores.r_table[cells] += r.take(labels)
        self.weights.grow(b.codes[f], labels, h + dh, r + dr)

    def set_weights(self, stumps: list[Coded], weights: Floats, h0: float, r0: float) -> None:
        """Replace the whole model."""
        self.alpha = {stump: float(a) for stump, a in zip(stumps, weights, strict=True) if a > 0.0}
        self._active = None
        self._scores.h0, self._scores.r0 = h0, r0
        self._scores.h_table, self._scores.r_table = self.ensemble().tables(self.problem.bins)
        self.weights.refresh()

    def ensemble(self) -> Ensemble:
        """Return the model so far."""
        weights = np.array(list(self.alpha.values()), dtype=float)
        return Ensemble(list(self.alpha), weights, self.h0, self.r0, self.family.values)


def _spreader(threads: ThreadPoolExecutor | None, n_threads: int) -> Spread:
    """Return what calls ``function(first, last)`` over 0 .. n, in as many pieces as there are threads.

    A bare pool, since a round takes a millisecond: handing it two pieces of work takes 15 microseconds, while
    ``joblib.Parallel`` with threads takes 400, and then looks for their results every 10 milliseconds only.
    """

    def spread(function: Callable[[int, int], Any], n: int) -> None:
        if threads is None or n == 1:
            function(0, n)
            return
        ends = np.linspace(0, n, n_threads + 1).astype(int).tolist()
        *others, own = [(a, b) for a, b in pairwise(ends) if a < b]
        jobs = [threads.submit(function, a, b) for a, b in others]
        function(*own)  # the calling thread would only wait
        for job in jobs:
            job.result()

    return spread
