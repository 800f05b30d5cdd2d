"""The paper's Algorithm 1: guess which cases are free, solve for them exactly, repair the guess.

A *free* variable lies on one of the two pieces between its lower bound, its kink and its upper bound (the paper's I_t
and I_tau); all others sit on one of these three ends (I_0, I_C, I_D). The free ones solve the linear system (13), by a
Cholesky factor that is updated as cases enter and leave. Three corrections to the algorithm as printed: when a case
reaches an end, all free ones move with it, so that the coefficients keep their sum; the step is limited by the piece of
each, not by its whole box; and with no free case the intercept comes from the optimality interval. Where kernel rows of
free cases depend on each other (duplicates, a linear kernel) the system has no unique solution; see `_slide`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Floats
from ...solution import Solution
from .. import loops
from ..rows import MatrixRows, VectorRows
from .convergence import finest_tolerance, finish, run_to_tolerance, starting_point
from .problem import KinkedQP

_SINGULAR = 1e-9  # a pivot below this share of the diagonal counts as 0
_MOST_REFINEMENTS = 5


class NoEndError(ArithmeticError):
    """A direction along which no variable reaches an end: the kernel is not positive semidefinite, or overflows."""


def solve_active_set(
    problem: KinkedQP,
    rows: MatrixRows | VectorRows,
    *,
    tol: float,
    max_iter: int,
    cache_bytes: int = 0,
    start: Floats | None = None,
    polish: bool = False,
) -> Solution:
    """Algorithm 1 of the paper; holds one kernel column for each free case, so it is for moderate sizes.

    `cache_bytes` and `polish` are for other solvers: nothing is cached here, and the steps are exact as they are.
    """
    limit = max_iter if max_iter >= 0 else most_steps(problem)
    try:
        return run_to_tolerance(by_active_set, problem, rows, *starting_point(problem, rows, start), tol, limit)
    except NoEndError:
        raise ValueError(
            "solver='active_set' found no end of a step: the kernel is not positive semidefinite on these cases, or "
            "its values are too large. Use solver='smo', another kernel, or standardised features."
        ) from None


def by_active_set(
    problem: KinkedQP, rows: Any, beta: Floats, g: Floats, tol: float, limit: int
) -> tuple[Floats, Floats, int]:
    """Active set steps from a point to one whose violation is at most `tol`."""
    # Half of tol here, so that the violation over pairs is below tol.
    state, n_iter = _take_steps(problem, rows, beta, g, 0.5 * tol, limit)
    return state.beta, rows.scores(state.beta), n_iter


def polished(problem: KinkedQP, rows: Any, solution: Solution, tol: float) -> Solution:
    """Active set steps from a good solution; what they reach if it is better."""
    finest, point = finest_tolerance(problem), solution.model
    try:
        state, _ = _take_steps(problem, rows, point.beta, point.g, finest, len(problem))
    except NoEndError:
        return solution
    better = finish(problem, state.beta, rows.scores(state.beta), solution.n_iter, tol)
    return better if better.residual < solution.residual and better.model.gap < point.gap else solution


def most_steps(problem: KinkedQP) -> int:
    """A limit on the steps where none is given."""
    return 1000 + 100 * len(problem)


def _take_steps(problem: KinkedQP, rows: Any, beta: Floats, g: Floats, tol: float, limit: int) -> tuple[ActiveSet, int]:
    """Active set steps until the point is optimal; the state reached, and their number."""
    n_iter = 0
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # what is not finite raises NoEndError
        state = ActiveSet(problem, rows, beta, g)
        while n_iter < limit:
            n_iter += 1
            if state.step(tol):
                break
    return state, n_iter


class ActiveSet:
    """State of the algorithm: the point, the free variables in the order of the factor, and the factor."""

    def __init__(self, problem: KinkedQP, rows: Any, beta: Floats, g: Floats) -> None:
        self.problem, self.rows = problem, rows
        self.beta, self.g = beta.copy(), g.copy()
        self.intercept = 0.0
        self.free: list[int] = []
        # A constant added to the kernel changes nothing, since the coefficients sum to 0, but makes the system of the
        # free cases definite wherever (13) has one solution.
        self._shift = max(float(rows.diagonal.mean()), 1e-300)
        self._factor = np.zeros((16, 16))
        self._columns = np.empty((16, len(problem)))
        self._low, self._high = problem.lower.copy(), problem.upper.copy()  # ends of each free one's piece
        self._slope = np.zeros(len(problem))
        self._stalled = self._refined = 0
        self._fresh = True
        inside = (beta != problem.lower) & (beta != problem.kink) & (beta != problem.upper)
        for i in np.flatnonzero(inside):
            self._enter(int(i), grows=bool(beta[i] < problem.kink[i]))

    def step(self, tol: float) -> bool:
        """Do one step; say whether the point is optimal."""
        if not self.free:
            return self._start(tol)
        direction, level = self._direction()
        length, blocked = self._longest(direction, 1.0)
        self._move(direction, length)
        if blocked >= 0:
            self._stalled = self._stalled + 1 if length == 0 else 0
            self._leave(blocked, factored=len(self.free))
            return False
        self.intercept = level
        if self._refine(tol):
            return False
        return self._repair(tol)

    def _direction(self) -> tuple[Floats, float]:
        """The way to the solution of (13), and the intercept there."""
        at = np.array(self.free)
        m = len(at)
        to_slope = loops.factor_solve(self._factor, m, self._slope[at] - self.g[at])
        to_one = loops.factor_solve(self._factor, m, np.ones(m))
        level = float(to_slope.sum() / to_one.sum())
        direction = to_slope - level * to_one
        return direction - direction.mean(), level  # a near singular factor leaves a sum that is not quite 0

    def _longest(self, direction: Floats, limit: float) -> tuple[float, int]:
        """The largest step up to a limit that keeps all free variables on their pieces, and which stops it (or -1)."""
        if not np.isfinite(direction).all():
            raise NoEndError
        at = np.array(self.free)
        end = np.where(direction > 0, self._high[at], self._low[at])
        room = np.full(len(at), np.inf)
        moving = direction != 0
        room[moving] = np.maximum((end - self.beta[at])[moving] / direction[moving], 0.0)
        first = int(room.argmin())
        if room[first] >= limit and np.isfinite(limit):
            return limit, -1
        if not np.isfinite(room[first]):
            raise NoEndError
        self._blocking_end = float(end[first])
        return float(room[first]), first

    def _move(self, direction: Floats, length: float) -> None:
        if length > 0:
            self._fresh = False
            self.beta[self.free] += length * direction
            self.g += (length * direction) @ self._columns[: len(self.free)]

    def _refine(self, tol: float) -> bool:
        """Whether the free cases miss their level by more than tol, as with a near singular factor: solve again."""
        missed = float(np.abs(self._slope[self.free] - self.g[self.free] - self.intercept).max())
        again = missed > tol and self._refined < _MOST_REFINEMENTS
        self._refined = self._refined + 1 if again else 0
        if again:
            self._recompute()
        return again

    def _recompute(self) -> None:
        """Scores from the coefficients, without the rounding of many steps."""
        self.g = self.rows.scores(self.beta)
        self._fresh = True

    def _start(self, tol: float) -> bool:
        """With no free variable: optimal, or free the two that disagree most."""
        up, down = self.problem.moves(self.beta)
        i, j = int((up - self.g).argmax()), int((down - self.g).argmin())
        if up[i] - self.g[i] <= down[j] - self.g[j] + tol:
            return True
        self._enter(i, grows=True)
        self._enter(j, grows=False)
        return False

    def _repair(self, tol: float) -> bool:
        """After a full step: optimal, or free the variable that violates its condition most."""
        up, down = self.problem.moves(self.beta)
        grows, shrinks = up - self.g - self.intercept, self.intercept - down + self.g
        grows[self.free] = shrinks[self.free] = -np.inf
        worst = np.maximum(grows, shrinks)
        # After many steps of length 0 the smallest index enters: then no cycle can go on.
        i = int((worst > tol).argmax() if self._stalled > 3 * len(worst) else worst.argmax())
        if worst[i] > tol:
            self._enter(i, grows=bool(grows[i] > shrinks[i]))
            return False
        if not self._fresh:
            self._recompute()
            return self._repair(tol)
        return True

    def _enter(self, i: int, *, grows: bool) -> None:
        """Free variable i, on the piece into which it moves."""
        p = self.problem
        first_piece = self.beta[i] < p.kink[i] or (self.beta[i] == p.kink[i] and not grows)
        self._low[i], self._high[i] = (p.lower[i], p.kink[i]) if first_piece else (p.kink[i], p.upper[i])
        self._slope[i] = p.below[i] if first_piece else p.above[i]
        m = len(self.free)
        self._make_room(m + 1)
        self._columns[m] = self.rows.row(i)
        self.free.append(i)
        if self._append(m) <= _SINGULAR * (self._columns[m, i] + self._shift):
            self._slide(m)

    def _append(self, m: int) -> float:
        """Extend the factor by the m-th free case; returns its pivot."""
        column = self._columns[m, self.free[: m + 1]] + self._shift
        return float(loops.factor_append(self._factor, m, column))

    def _slide(self, m: int) -> None:
        """The kernel row of the m-th free case depends on those before: move along the null direction.

        There the objective is linear, so that the best point is where the first one reaches an end.
        """
        column = self._columns[m, self.free[:m]] + self._shift
        direction = np.append(-loops.factor_solve(self._factor, m, column), 1.0)
        direction -= direction.mean()
        gain = direction @ (self._slope[self.free] - self.g[self.free])
        if gain < 0:
            direction = -direction
        length, blocked = self._longest(direction, np.inf)
        self._move(direction, length)
        self._stalled = self._stalled + 1 if length == 0 else 0
        newest = blocked == m
        self._leave(blocked, factored=m)
        if not newest:
            self._append(m - 1)

    def _leave(self, position: int, factored: int) -> None:
        """Put a free variable exactly on the end it has reached; the factor holds the first `factored` of them."""
        i = self.free.pop(position)
        self.beta[i] = self._blocking_end
        if position < factored:
            loops.factor_delete(self._factor, factored, position)
        self._columns[position : len(self.free)] = self._columns[position + 1 : len(self.free) + 1]

    def _make_room(self, m: int) -> None:
        size = len(self._factor)
        if m > size:
            self._factor = _grown(_grown(self._factor, 2 * size).T, 2 * size).T.copy()
            self._columns = _grown(self._columns, 2 * size)


def _grown(A: Floats, size: int) -> Floats:
    """The matrix with rows of zeros added."""
    out = np.zeros((size, A.shape[1]))
    out[: len(A)] = A
    return out
