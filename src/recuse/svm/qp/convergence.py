"""When a solver of the kinked program is done: the violation and the gap are both small.

Every method goes from a point ``(beta, g = K beta)`` to a better one. `run_to_tolerance` calls it with finer tolerances
until both criteria hold, and `finish` packs the end point as a `Solution` whose model is an `Expansion`; its residual
is the violation ``B_lo - B_hi`` of the optimality conditions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...arrays import Floats
from ...solution import Solution
from ..rows import FINEST_SINGLE_TOL
from .problem import Expansion, KinkedQP, certify, feasible

# From a point (beta, g) with a tolerance and a limit on the steps to another point, and the steps done.
Method = Callable[[KinkedQP, Any, Floats, Floats, float, int], tuple[Floats, Floats, int]]


def starting_point(problem: KinkedQP, rows: Any, start: Floats | None) -> tuple[Floats, Floats]:
    """Where to begin, with its scores: a feasible point near `start`, or 0."""
    if start is None or not start.any():
        return np.zeros(len(problem)), np.zeros(len(problem))
    beta = feasible(problem, start)
    return beta, rows.scores(beta)


def run_to_tolerance(
    method: Method, problem: KinkedQP, rows: Any, beta: Floats, g: Floats, tol: float, limit: int
) -> Solution:
    """One method from a point, with finer tolerances where the gap is not small yet though the violation is."""
    aim, finest, n_iter = tol, finest_tolerance(problem), 0
    while True:
        beta, g, steps = method(problem, rows, beta, g, aim, limit - n_iter)
        n_iter += steps
        solution = finish(problem, beta, g, n_iter, tol)
        if solution.converged or solution.residual > aim or n_iter >= limit or aim <= finest:
            return solution
        # The gap is about proportional to the violation; the objective falls a little as well.
        aim = max(0.3 * aim * tol * solution.objective / solution.model.gap, finest)
        if aim < FINEST_SINGLE_TOL:
            rows.refine()


def finest_tolerance(problem: KinkedQP) -> float:
    """The smallest violation that still means something next to rounding."""
    return 1e-13 * float(np.abs(problem.below).max())


def finish(problem: KinkedQP, beta: Floats, g: Floats, n_iter: int, tol: float) -> Solution:
    """Choose the intercept, evaluate both objectives at the exact scores g, and pack the facts.

    Converged means two things: the violation is at most tol, in units of the score, and so is the gap, as a share of
    the objective. At extreme prices the boxes are wide compared with the coefficients, and the first says little.
    """
    facts = certify(problem, beta, g)
    converged = facts.violation <= tol and facts.gap <= tol * facts.primal
    model = Expansion(beta, g, facts.intercept, facts.gap)
    return Solution(model, facts.primal, facts.violation, int(n_iter), converged)
