"""The kinked program by an interior point method: about twenty Newton steps, whatever C.

With ``beta = lower + a + e``, ``0 <= a <= kink - lower``, ``0 <= e <= upper - kink``, each step solves a system of the
size of the features, for a linear kernel on many cases, or of the cases: see `spaces`. At the end the variables are put
on the ends they tend to, so that the result is a support vector expansion like that of the other solvers, with the same
certificate.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import linalg

from ...arrays import Floats
from ...solution import Solution
from .. import loops
from ..kernels import centred, middle, squared_norms
from .problem import Expansion, KinkedQP, best_shift, feasible
from .spaces import CaseSpace, FeatureSpace, transposed

_MOST_STEPS = 100
_OVERFLOW = "The linear kernel overflows on these cases: standardise the features, or lower C."
_SHARE_OF_WAY = 0.995  # how far to go towards the nearest wall


def solve_linear(problem: KinkedQP, X: Any, *, tol: float, max_iter: int = -1) -> Solution:
    """Minimise the program with ``K = X X'``.

    Parameters
    ----------
    problem : KinkedQP
    X : ndarray or CSR matrix of shape (n, n_features)
    tol : float
        Largest violation ``B_lo - B_hi`` accepted.
    max_iter : int, default=-1
        Most Newton steps; -1 for 100.

    Returns
    -------
    Solution
        Its model is an `Expansion`.
    """
    Z = centred(X)  # the intercept takes up the shift of the scores
    refuse_overflow(Z)
    return shifted_back(solve_in(problem, FeatureSpace(Z), tol=tol, max_iter=max_iter), X, Z)


def solve_in(problem: KinkedQP, space: FeatureSpace | CaseSpace, *, tol: float, max_iter: int = -1) -> Solution:
    """Newton steps until the point, with its variables on their ends, is good enough.

    Where the space says that other variables are held, the facts are those of the whole program if they are on the
    right ends: they then add nothing to its gap.
    """
    state = _Interior(problem, space)
    limit = max_iter if max_iter >= 0 else _MOST_STEPS
    best: Solution | None = None
    aim, n_iter = min(1e-3 * tol, 1e-5), 0
    while n_iter < limit:
        n_iter += 1
        try:
            gap = state.step()
        except linalg.LinAlgError:  # no positive definite matrix is left
            gap = np.nan
        if not np.isfinite(gap) and best is None:
            raise ValueError(_OVERFLOW)
        if gap > aim and n_iter < limit:
            continue
        point = _facts(problem, space, state.on_ends(), n_iter, tol)
        if best is None or point.residual < best.residual:
            best = point
        # A gap below rounding does not get better.
        if best.converged or gap < 1e-13 or not np.isfinite(gap):
            break
        aim = 0.1 * gap
    return best if best is not None else _facts(problem, space, state.on_ends(), n_iter, tol)


def _facts(problem: KinkedQP, space: FeatureSpace | CaseSpace, beta: Floats, n_iter: int, tol: float) -> Solution:
    """As `convergence.finish`, with variables held elsewhere."""
    g = space.scores(beta)
    b = best_shift(*problem.bends(g), space.total - float(problem.upper.sum()))
    low, high = problem.intercept_interval(beta, g)
    losses = float(problem.loss(g + b).sum())
    gap = losses - float(problem.gain(beta).sum()) + float(beta @ (g + b))
    primal, violation = space.value_at(beta, g, b) + losses, max(low - high, 0.0)
    converged = violation <= tol and gap <= tol * primal
    return Solution(Expansion(beta, g, b, gap), primal, violation, n_iter, converged)


def refuse_overflow(Z: Any) -> None:
    """Refuse cases whose products are not finite."""
    with np.errstate(over="ignore"):
        size = float(squared_norms(Z).sum())
    if not np.isfinite(size):
        raise ValueError(_OVERFLOW)


def shifted_back(solution: Solution, X: Any, Z: Any) -> Solution:
    """The solution found on the centred cases Z, for the cases X."""
    if X is Z:
        return solution
    point = solution.model
    shift = float(middle(X) @ transposed(Z, point.beta))
    return replace(solution, model=Expansion(point.beta, point.g + shift, point.intercept - shift, point.gap))


class _Piece:
    """One of the two pieces of every variable: value x in (0, width), room = width - x, and their multipliers.

    `weight` is the inverse curvature of the barrier; `change` holds the last changes of x and of both multipliers.
    """

    def __init__(self, width: Floats, slope: Floats) -> None:
        # The middle of the piece, with multipliers for the score 0.
        offset = max(1.0, float(np.abs(slope).max()))
        self.width, self.slope = width, slope
        self.state = loops.Barrier(
            0.5 * width, 0.5 * width, np.maximum(-slope, 0) + offset, np.maximum(slope, 0) + offset
        )
        self.change = loops.BarrierChange(np.zeros_like(width), np.zeros_like(width), np.zeros_like(width))
        self.weight = np.empty_like(width)

    @property
    def x(self) -> Floats:
        """The value."""
        x: Floats = self.state.x
        return x

    def renew(self) -> None:
        """Compute the weight at the current point, and forget the last change."""
        loops.barrier_weight(self.state, self.weight)
        for part in self.change:
            part[:] = 0.0

    def draw(self, f: Floats, target: float, drawn: Floats) -> None:
        """Add to `drawn` where x is drawn to at scores f, with Mehrotra's correction for the last change."""
        loops.barrier_draw(self.slope, f, self.state, self.weight, target, self.change, drawn)

    def set_change(self, f: Floats, df: Floats, target: float) -> tuple[float, float]:
        """Set the change for a change df of the scores; return the largest steps for values and for multipliers."""
        primal, dual = loops.barrier_change(self.slope, f, df, self.state, self.weight, target, self.change)
        return (1 / primal if primal > 0 else np.inf), (1 / dual if dual > 0 else np.inf)

    def gap(self, primal: float = 0.0, dual: float = 0.0) -> float:
        """Sum of the products that vanish at the optimum, after a step along the change."""
        return float(loops.barrier_gap(self.state, self.change, primal, dual))

    def move(self, primal: float, dual: float) -> None:
        """Go along the change."""
        loops.barrier_move(self.state, self.change, primal, dual)

    def settled(self) -> Floats:
        """The value; exactly 0 or `width` where the multiplier shows that it converges to that end."""
        x, room, low, high = self.state
        inner = np.where(x < low * self.width, 0.0, x)
        return np.where(room < high * self.width, self.width, inner)


class _Interior:
    """Iterates of Mehrotra's predictor-corrector method."""

    def __init__(self, problem: KinkedQP, space: FeatureSpace | CaseSpace) -> None:
        self.problem, self.space = problem, space
        self.first = _Piece(problem.kink - problem.lower, problem.below)
        self.second = _Piece(problem.upper - problem.kink, problem.above)
        self.pieces = (self.first, self.second)
        self.f = space.first_scores()
        self._pieces = loops.Pieces(*problem.arrays())
        self._drawn = np.empty(len(problem))

    def step(self) -> float:
        """One Newton step; returns the relative gap after it."""
        for piece in self.pieces:
            piece.renew()
        self.space.factorise(self.first.weight + self.second.weight)
        now = self.gap()
        primal, dual, df = self._solve(0.0, share=1.0)
        target = (self.gap(primal, dual) / now) ** 3 * now / (4 * len(self.f))
        primal, dual, df = self._solve(target, share=_SHARE_OF_WAY)
        for piece in self.pieces:
            piece.move(primal, dual)
        self.space.move(dual)
        self.f += dual * df
        value = self._value()
        return self.gap() / max(abs(value), 1e-300) if np.isfinite(value) else np.nan

    def gap(self, primal: float = 0.0, dual: float = 0.0) -> float:
        """Sum of all products that vanish at the optimum, after a step along the last change."""
        return self.first.gap(primal, dual) + self.second.gap(primal, dual)

    def on_ends(self) -> Floats:
        """The coefficients, those that tend to an end put on it; the free ones restore the sum."""
        problem = self.problem
        beta = problem.lower + self.first.settled() + self.second.settled()
        for end in (problem.lower, problem.kink, problem.upper):  # sums of widths are equal up to rounding
            beta = np.where(np.abs(beta - end) <= 1e-12 * (problem.upper - problem.lower), end, beta)
        free = (beta != problem.lower) & (beta != problem.kink) & (beta != problem.upper)
        beta = np.where(free, self.space.coefficients(beta), beta)
        beta = np.clip(beta, problem.lower, problem.upper)
        return _balanced(problem, beta, self.space.total)

    def _value(self) -> float:
        """The primal objective."""
        return self.space.value() + float(loops.total_loss(self._pieces, self.f))

    def _solve(self, target: float, share: float) -> tuple[float, float, Floats]:
        """Newton's direction for products equal to `target`, and how far to go along it."""
        np.add(self.problem.lower, self.first.x, out=self._drawn)
        self._drawn += self.second.x
        for piece in self.pieces:
            piece.draw(self.f, target, self._drawn)
        df = self.space.change(self._drawn)
        reaches = [piece.set_change(self.f, df, target) for piece in self.pieces]
        primal, dual = (min(1.0, share * min(reach)) for reach in zip(*reaches, strict=True))
        return primal, dual, df


def _balanced(problem: KinkedQP, beta: Floats, total: float) -> Floats:
    """Make the sum `total` by moving the free variables, each in proportion to its room."""
    excess = float(beta.sum()) - total
    free = (beta != problem.lower) & (beta != problem.kink) & (beta != problem.upper)
    towards = problem.lower if excess > 0 else problem.upper
    kink_first = beta > problem.kink if excess > 0 else beta < problem.kink
    end = np.where(kink_first, problem.kink, towards)
    if excess == 0:
        return beta
    for chosen in (free, beta != towards):  # all that may move, where the free ones have too little room
        room = np.where(chosen, end - beta, 0.0)
        space = float(room.sum())
        if abs(space) >= abs(excess) > 0:
            return beta - room * (excess / space)
    return feasible(problem, beta) if total == 0 else beta
