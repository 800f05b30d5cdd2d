"""Successive convex programs: the DC algorithm for the double ramp loss.

At the current point both one-sided choices of slopes give a convex majoriser that touches the objective J there. The
minimum of a majoriser is at most J; if it is less, its minimiser is a better point, and the next one. Where neither
majoriser can be lowered by more than `tol`, in units of the largest price, the point is critical, and the lower bounds
from the duals of the two programs are the proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ...arrays import Floats
from ...solution import Solution
from ..losses import ActiveHinges, RampLoss


@dataclass(frozen=True, eq=False)
class RampPoint:
    """A score on the training cases, and its reject band.

    Attributes
    ----------
    beta : ndarray of shape (n,)
        Signed coefficients: ``f = K beta + intercept``.
    f : ndarray of shape (n,)
        Scores of the training cases.
    intercept, rho : float
    penalty : float
        Penalty term of the objective, lam included.
    """

    beta: Floats
    f: Floats
    intercept: float
    rho: float
    penalty: float

    def objective(self, loss: RampLoss) -> float:
        """J: penalty plus mean loss."""
        return self.penalty + loss.value(self.f, self.rho)

    def one_class(self) -> bool:
        """Whether every training case gets the same class."""
        return bool((self.f > self.rho).all() or (self.f < -self.rho).all())


class Program(Protocol):
    """A convex program: the penalty plus a majoriser."""

    loss: RampLoss
    balanced: bool

    def reset(self, loss: RampLoss, lam: float) -> None:
        """Change to another lam or other prices, keeping what can be used again."""

    def moved(self, point: RampPoint) -> RampPoint:
        """A point of another program, with its penalty in this one."""

    def minimise(self, active: ActiveHinges) -> tuple[RampPoint, float]:
        """A minimiser and a proven lower bound of the minimum."""


MakeProgram = Callable[[RampLoss], Program]


def constant_point(loss: RampLoss, intercept: float, rho: float) -> RampPoint:
    """A constant score."""
    n = len(loss.y)
    return RampPoint(np.zeros(n), np.full(n, intercept), intercept, rho, 0.0)


def descend(program: Program, start: ActiveHinges | RampPoint, *, tol: float, max_iter: int) -> Solution:
    """Go down from a point, or from the minimiser of a majoriser, to a critical point.

    The residual of the solution is J minus the lower of the two majorisers' lower bounds at the point, over the largest
    price; its history holds J along the way. After `max_iter` programs the point stays, and the one or two that
    touch J there are solved for the residual only.
    """
    loss, n_iter = program.loss, 0
    if isinstance(start, ActiveHinges):
        start, _ = program.minimise(start)
        n_iter = 1
    point, J = start, start.objective(loss)
    history, allowed = [J], tol * loss.price
    while True:
        better, gap, solved = _improve(program, point, J, allowed, may_move=n_iter < max_iter)
        n_iter += solved
        if better is None:
            return Solution(point, J, gap / loss.price, n_iter, gap <= allowed, history)
        point, J = better, better.objective(loss)
        history.append(J)


def _improve(
    program: Program, point: RampPoint, J: float, allowed: float, *, may_move: bool
) -> tuple[RampPoint | None, float, int]:
    """A better point, if a majoriser that touches J at this one has it; else how far the two could be lowered.

    The third is the number of programs solved.
    """
    gap = 0.0
    tried: list[ActiveHinges] = []
    for side in (1, -1):
        active = program.loss.active_hinges(point.f, point.rho, side)
        if any(active.same(other) for other in tried):
            continue
        tried.append(active)
        candidate, bound = program.minimise(active)
        if may_move and J - bound > allowed and candidate.objective(program.loss) < J:
            return candidate, np.inf, len(tried)
        gap = max(gap, J - bound)
    return None, gap, len(tried)


def best_of(program: Program, starts: Iterable[ActiveHinges | RampPoint], *, tol: float, max_iter: int) -> Solution:
    """The best critical point over several starts.

    When a constant score is better than every end point, the descent begins there once more: a solution is never
    worse than rejecting every case, or than one answer for all.
    """
    found = [descend(program, start, tol=tol, max_iter=max_iter) for start in starts]
    n_iter = sum(solution.n_iter for solution in found)
    best = min(found, key=lambda solution: solution.objective)
    constants = [constant_point(program.loss, *each) for each in program.loss.constants()]
    simplest = min(constants, key=lambda point: point.objective(program.loss))
    if simplest.objective(program.loss) < best.objective - tol * program.loss.price:
        best = descend(program, simplest, tol=tol, max_iter=max_iter)
        n_iter += best.n_iter
    return replace(best, n_iter=n_iter)
