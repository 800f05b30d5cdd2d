"""The weights w1 and w2 of every case during a fit: multiplied, or computed anew in every round.

For the sum of the two terms (p = 1) a stump multiplies e^u and e^v of the cases in a cell by the same factor, so no
exponential per case is needed. For the smoothed maximum the weights are computed from the scores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ....arrays import Floats
from .losses import CLIP, CaseWeights, ShiftSums
from .newton import NewtonLimits, minimise_shift
from .problem import Problem
from .surrogates import Surrogate

_WORTH_A_THREAD = 50_000  # from this many rows on an update is faster in threads
# Calls function(first, last) so that 0 .. n is covered, perhaps in threads.
Spread = Callable[[Callable[[int, int], Any], int], None]


class RunningScores:
    """Scores of a problem's cases by the model so far: two intercepts and what each cell of each feature adds."""

    def __init__(self, problem: Problem, loops: Any) -> None:
        self._problem, self._loops = problem, loops
        self.h0 = self.r0 = 0.0
        self.h_table, self.r_table = np.zeros(problem.bins.n_cells), np.zeros(problem.bins.n_cells)

    def of(self, start: int = 0, stop: int | None = None) -> tuple[Floats, Floats]:
        """Scores h and r of the rows start <= i < stop, all by default."""
        stop = self._problem.n_cases if stop is None else stop
        h, r = np.full(stop - start, self.h0), np.full(stop - start, self.r0)
        offset, bins = self._problem.offset, self._problem.bins
        if offset is not None:
            h += offset[start:stop, 0]
            r += offset[start:stop, 1]
        self._loops.add_tables(bins.codes, bins.offsets, self.h_table, self.r_table, h, r, start, stop)
        return h, r


class Weights(Protocol):
    """What a fit asks of its weights; `w` (m, 2) holds w1 and w2, and `surrogate` is what is minimised now."""

    w: Floats
    surrogate: Surrogate
    certified: bool

    def refresh(self) -> None:
        """Compute the weights from the scores."""

    def total(self) -> float:
        """The objective without its penalty."""

    def shift_sums(self, dh: float, dr: float) -> Floats:
        """What `best_shift` asks of the cases when constants are added to h and r."""

    def best_shift(self, free_h: bool, free_r: bool, sums: ShiftSums | None = None) -> tuple[float, float]:
        """Constants to be added to h and r that minimise the objective; `sums` where cases lie elsewhere, too."""

    def shift(self, dh: float, dr: float) -> None:
        """Follow constants that were added to h and r."""

    def grow(self, codes: NDArray[Any], labels: NDArray[np.int64], h: Floats, r: Floats) -> None:
        """Follow a stump that was added: the values (h, r) by label, the labels by cell."""

    def gap_sums(self, tau: float) -> Floats:
        """What `gap` asks of the cases."""

    def gap(self, sums: Floats, objective: float, tau: float, start: float) -> float:
        """Objective less the value of the dual problem at the weights times tau, from the sums over all cases."""

    def sharpen(self, p: float) -> bool:
        """Take another exponent of the surrogate; say whether that changes anything."""


class MultipliedWeights:
    """Weights of the sum, kept by multiplication; a duality gap is known."""

    certified = True

    def __init__(self, problem: Problem, scores: RunningScores, spread: Spread, loops: Any) -> None:
        self._scores, self._spread, self._loops = scores, spread, loops
        surrogate, m = problem.surrogate, len(problem.s)
        self.surrogate, self.loss, self.w = surrogate, surrogate.phi, np.empty((m, 2))
        kb = np.broadcast_to(surrogate.k * surrogate.b, (m,))
        growth = np.empty((m, 2)) if self.loss.keeps_growth else self.w
        self._cases = CaseWeights(problem.s, kb, problem.n_pos, surrogate.b, self.loss.unit, self.w, growth)

    def refresh(self) -> None:
        """Compute the weights from the scores, against the rounding errors of many products."""
        cases = self._cases
        for rows in cases.blocks():
            h, r = self._scores.of(rows.start, rows.stop)
            y = np.where(np.arange(rows.start, rows.stop) < cases.n_pos, 1.0, -1.0)
            cases.growth[rows, 0] = np.exp(np.clip(r - y * h, -CLIP, CLIP))
            cases.growth[rows, 1] = np.exp(np.clip(-cases.b * r, -CLIP, CLIP))
            self.loss.fill(cases, rows)

    def total(self) -> float:
        """The objective without its penalty."""
        return self.loss.total(self._cases)

    def shift_sums(self, dh: float, dr: float) -> Floats:
        """What `best_shift` asks of the cases when constants are added to h and r."""
        return self.loss.shift_sums(self._loops, self._cases, dh, dr)

    def best_shift(self, free_h: bool, free_r: bool, sums: ShiftSums | None = None) -> tuple[float, float]:
        """Constants to be added to h and r that minimise the objective."""
        return self.loss.best_shift(sums or self.shift_sums, self._cases.b, free_h, free_r)

    def shift(self, dh: float, dr: float) -> None:
        """Follow constants that were added to h and r."""
        cases, n_pos = self._cases, self._cases.n_pos
        factors = np.exp([dr - dh, dr + dh, -cases.b * dr])
        cases.growth[:n_pos, 0] *= factors[0]
        cases.growth[n_pos:, 0] *= factors[1]
        cases.growth[:, 1] *= factors[2]
        if self.loss.keeps_growth:
            for rows in cases.blocks():
                self.loss.fill(cases, rows)

    def grow(self, codes: NDArray[Any], labels: NDArray[np.int64], h: Floats, r: Floats) -> None:
        """Multiply e^u and e^v of each row by the factor of its cell's label: no exponential per row is needed."""
        cases, n_pos = self._cases, self._cases.n_pos
        growth = np.array([r - h, r + h, -cases.b * r])
        factors = np.exp(growth.clip(-CLIP, CLIP, out=growth)).take(labels, axis=1)

        def work(first: int, last: int) -> None:
            for of_class, rows in ((0, slice(first, min(last, n_pos))), (1, slice(max(first, n_pos), last))):
                self.loss.multiply(self._loops, cases, rows, codes[rows], (factors[of_class], factors[2]))

        if len(codes) < _WORTH_A_THREAD:
            work(0, len(codes))
        else:
            self._spread(work, len(codes))

    def gap_sums(self, tau: float) -> Floats:
        """What `gap` asks of the cases."""
        return self.loss.gap_sums(self._cases, tau)

    def gap(self, sums: Floats, objective: float, tau: float, start: float) -> float:
        """Objective less the value of the dual problem at the weights times tau."""
        return self.loss.gap(sums, objective, tau, start)

    def sharpen(self, p: float) -> bool:
        """The sum has one exponent only."""
        return False


class RecomputedWeights:
    """Weights of the smoothed maximum, computed from the scores after every change; no gap is known."""

    certified = False

    def __init__(self, problem: Problem, scores: RunningScores) -> None:
        self.problem, self.surrogate, self._scores = problem, problem.surrogate, scores
        self.w = np.empty((problem.n_cases, 2))

    def refresh(self) -> None:
        """Compute the weights from the scores."""
        h, r = self._scores.of()
        w1, w2 = self.surrogate.slopes(r - self.problem.y * h, -self.surrogate.b * r)
        self.w[:, 0], self.w[:, 1] = self.problem.s * w1, self.problem.s * w2

    def total(self) -> float:
        """The objective without its penalty."""
        return self.surrogate.objective(self.problem.y, self.problem.s, *self._scores.of())

    def shift_sums(self, dh: float, dr: float) -> Floats:
        """The six sums of `newton.ShiftTerms`."""
        h, r = self._scores.of()
        y, s, surrogate, b = self.problem.y, self.problem.s, self.surrogate, self.surrogate.b
        u, v = r + dr - y * (h + dh), -b * (r + dr)
        w1, w2 = surrogate.slopes(u, v)
        uu, uv, vv = surrogate.curvatures(u, v)
        gradient = -((s * y) @ w1), s @ (w1 - w2)
        hessian = s @ uu, -((s * y) @ (uu - b * uv)), s @ (uu - 2 * b * uv + b * b * vv)
        return np.array([*gradient, *hessian, s @ (w1 + w2)])

    def best_shift(self, free_h: bool, free_r: bool, sums: ShiftSums | None = None) -> tuple[float, float]:
        """Constants to be added to h and r that minimise the objective, which is convex in them: Newton."""
        limits = NewtonLimits(max_iter=200, longest=2.0, last=1e-9)
        return minimise_shift(sums or self.shift_sums, free_h, free_r, limits)

    def shift(self, dh: float, dr: float) -> None:
        """Follow constants that were added to h and r."""
        self.refresh()

    def grow(self, codes: NDArray[Any], labels: NDArray[np.int64], h: Floats, r: Floats) -> None:
        """Follow a stump that was added."""
        self.refresh()

    def gap_sums(self, tau: float) -> Floats:
        """No dual value is known."""
        return np.zeros(0)

    def gap(self, sums: Floats, objective: float, tau: float, start: float) -> float:
        """No dual value is known."""
        return float("nan")

    def sharpen(self, p: float) -> bool:
        """Take another exponent of the surrogate; say whether that changes anything."""
        if self.surrogate.p == p:
            return False
        self.surrogate = replace(self.surrogate, p=p)
        self.refresh()
        return True


def make_weights(
    problem: Problem, exponents: tuple[float, ...], scores: RunningScores, spread: Spread, loops: Any
) -> Weights:
    """Choose how the weights of a problem are kept."""
    if problem.surrogate.p == 1.0 and not exponents:
        return MultipliedWeights(problem, scores, spread, loops)
    return RecomputedWeights(problem, scores)
