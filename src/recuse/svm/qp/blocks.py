"""Block decomposition of the kinked program: a few thousand variables at a time, for any number of cases.

Each round takes the variables that violate the optimality conditions most, solves the program in them alone with the
compiled inner solver, and adds the kernel rows of those that moved to ``g = K beta``. Variables that are settled at a
bound or a kink are taken out (shrinking) and examined again before the end. Sums of many rows drift, those of
single-precision rows most: before the end ``g`` is recomputed in double precision, and the work goes on where that
shows a violation; the rows are then in double precision if the violation is not much smaller than the last time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Floats, Indices
from .. import loops
from .problem import KinkedQP

_SMALLEST_BLOCK = 1024
_MOST_SETBACKS = 3  # recomputed scores that show no progress, with rows in double precision
_MOST_ROUNDS = (1000, 0.1)  # a constant, and a number per case: ten times what hard problems take


@dataclass(frozen=True, eq=False)
class BlockResult:
    """End point: beta, its g in double precision, the number of pair steps, and the violation."""

    beta: Floats
    g: Floats
    n_iter: int
    violation: float


def solve_blocks(
    problem: KinkedQP,
    rows: Any,
    beta: Floats,
    g: Floats,
    *,
    tol: float,
    max_iter: int,
    largest_block: int,
) -> BlockResult:
    """Minimise the program from a feasible beta with ``g = K beta``.

    Parameters
    ----------
    problem : KinkedQP
    rows : MatrixRows or VectorRows
        Source of the kernel matrix.
    beta, g : ndarray of shape (n,)
        Starting point; not changed.
    tol : float
        Largest violation ``B_lo - B_hi`` accepted.
    max_iter : int
        Largest number of pair steps.
    largest_block : int
        Most variables in a block.
    """
    run = _Run(problem, rows, beta, g, largest_block)
    while True:
        low, high = run.violations()
        # A little less than tol while g is inexact, so that the recomputed one need not be improved again.
        if low - high <= (tol if run.fresh else 0.9 * tol) or run.n_iter >= max_iter or run.given_up:
            if run.shrunk:
                run.restore()
            elif not run.fresh:
                run.recompute(tol)
            else:
                return run.result(max(low - high, 0.0))
        elif not run.shrink(low, high) and run.improve(low, high, tol, max_iter) == 0:
            run.refine()  # no pair can move: values that overflow in single precision
            run.refresh()


class _Run:
    """State of a decomposition: the active part of beta and g, and the last state of the others."""

    def __init__(self, problem: KinkedQP, rows: Any, beta: Floats, g: Floats, largest_block: int) -> None:
        self.problem, self.rows = problem, rows
        self.beta, self.g = beta.copy(), g.copy()
        self.largest_block = largest_block
        self.n_iter = 0
        self.fresh = False  # whether g was recomputed since the last step
        self.given_up = False  # whether more steps would not help
        self._setbacks = self._rounds = 0
        self._last_violation = np.inf
        self._random = np.random.default_rng(0)
        self._part: KinkedQP  # the program in the active variables
        self._pieces: loops.Pieces
        self._b: Floats
        self._g: Floats
        self._up: Floats
        self._down: Floats
        self._patience = self._first_patience = 2 + 3 * len(problem) // _SMALLEST_BLOCK
        self._activate_all()

    @property
    def shrunk(self) -> bool:
        """Whether some variables have been taken out."""
        return len(self._b) < len(self.beta)

    def violations(self) -> tuple[float, float]:
        """``(B_lo, B_hi)`` over the active variables."""
        m = len(self._b)
        self._up, self._down = self._up[:m], self._down[:m]
        low, high = loops.fill_moves(self._pieces, self._b, self._g, self._up, self._down)
        return low, high

    def improve(self, low: float, high: float, tol: float, max_iter: int) -> int:
        """Solve the program in one block and carry the moves over to g; returns the number of steps."""
        block = self._select(low, high)
        before = self._b[block]
        after, local = before.copy(), self._g[block]
        target = max(0.1 * (low - high), 0.5 * tol)
        steps, _ = loops.smo(
            self.rows.square(block),
            loops.Pieces(*self._part.take(block).arrays()),
            after,
            local,
            target,
            min(max_iter - self.n_iter, 100 * len(block)),
        )
        self.n_iter += steps
        self._rounds += 1
        self.given_up = self._rounds >= _MOST_ROUNDS[0] + _MOST_ROUNDS[1] * len(self.beta)
        self.fresh = False
        moved = np.flatnonzero(after != before)
        self._b[block] = after
        self.rows.add(block[moved], (after - before)[moved], self._g)
        return int(steps)

    def shrink(self, low: float, high: float) -> bool:
        """Every few rounds, take the settled variables out; return whether any were."""
        self._patience -= 1
        if self._patience > 0:
            return False
        self._patience = max(self._first_patience // 2, 5)
        # Neither may grow against the lowest `down` nor shrink against the highest `up`.
        kept = np.flatnonzero((self._up >= high) | (self._down <= low))
        if len(kept) > 0.7 * len(self._b):
            return False
        self._store()
        if not self.shrunk:
            self._left_beta, self._left_g = self.beta.copy(), self.g.copy()
        self.rows.keep(kept)
        self._b, self._g = self._b[kept], self._g[kept]
        self._work_on(self.problem.take(self.rows.active))
        return True

    def restore(self) -> None:
        """Make every variable active again, with g brought up to date."""
        self._store()
        inactive = np.setdiff1d(np.arange(len(self.beta)), self.rows.active, assume_unique=True)
        moved = np.flatnonzero(self.beta != self._left_beta)
        change = self.rows.product(inactive, moved, (self.beta - self._left_beta)[moved])
        self.g[inactive] = self._left_g[inactive] + change
        self.rows.reset()
        self._activate_all()
        self._patience = self._first_patience

    def recompute(self, tol: float) -> None:
        """Refresh g; finer rows where the violation has not become much smaller since the last time."""
        self.refresh()
        low, high = self.violations()
        stalled = low - high > max(tol, 0.5 * self._last_violation)
        self._last_violation = low - high
        if stalled:
            self.refine()

    def refresh(self) -> None:
        """Scores from the coefficients in double precision, with every variable active."""
        self._store()
        self.g = self.rows.scores(self.beta)
        self._activate_all()
        self.fresh = True

    def refine(self) -> None:
        """Rows in double precision from here on; where they already are, give up after a few times."""
        if self.shrunk:
            self.restore()
        if self.rows.refine():
            self._last_violation = np.inf
        else:
            self._setbacks += 1
            self.given_up = self.given_up or self._setbacks >= _MOST_SETBACKS

    def result(self, violation: float) -> BlockResult:
        """The point reached; every variable is active."""
        return BlockResult(self._b, self._g, self.n_iter, violation)

    def _select(self, low: float, high: float) -> Indices:
        """Positions of a block: half of it the variables with the largest violations, half of it any that violate."""
        free = int(np.count_nonzero(self._up == self._down))
        size = min(max(_SMALLEST_BLOCK, 3 * free // 2), self.largest_block)
        quarter = max(size // 4, 1)
        chosen = []
        for want, allowed in ((self._up, self._up > high), (-self._down, self._down < low)):
            chosen.append(_largest(np.where(allowed, want, -np.inf), quarter))
            chosen.append(random_part(self._random, np.flatnonzero(allowed), quarter))
        return np.unique(np.concatenate(chosen))

    def _activate_all(self) -> None:
        n = len(self.beta)
        self._work_on(self.problem)
        self._b, self._g = self.beta.copy(), self.g.copy()
        self._up, self._down = np.empty(n), np.empty(n)

    def _work_on(self, part: KinkedQP) -> None:
        self._part, self._pieces = part, loops.Pieces(*part.arrays())

    def _store(self) -> None:
        """Write the active values back into the full vectors."""
        self.beta[self.rows.active] = self._b
        self.g[self.rows.active] = self._g


def random_part(random: np.random.Generator, positions: Indices, count: int) -> Indices:
    """At most `count` of the positions, chosen at random.

    The largest violations alone are too much alike, and blocks of nothing else overshoot.
    """
    return positions if len(positions) <= count else random.choice(positions, count, replace=False)


def _largest(values: Floats, count: int) -> Indices:
    """Positions of the largest finite values, at most `count`."""
    if len(values) > count:
        chosen = np.argpartition(values, len(values) - count)[len(values) - count :]
    else:
        chosen = np.arange(len(values))
    return chosen[values[chosen] > -np.inf]
