"""The end of problems on which pairs are slow: the interior point method on the variables in doubt, any kernel.

After many pair steps most variables are where they belong, at a bound or a kink, with scores that leave no doubt about
it. The others, those inside a piece and those whose score is near where they would move, are solved for together, with
all others held. Held variables that turn out to be wrong join them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Flags, Floats, Indices
from .interior_point import solve_in
from .problem import Held, KinkedQP, best_intercept
from .spaces import CaseSpace

_MOST = 4000  # variables solved for together, at most: a Newton step takes some 3 seconds then
_SPARE = (200, 1.3)  # how many more than those known to be in doubt: a number, and a factor
_MOST_ROUNDS = 6


def by_interior_point_in_doubt(
    problem: KinkedQP, rows: Any, beta: Floats, g: Floats, tol: float, limit: int
) -> tuple[Floats, Floats, int]:
    """From a point with its exact scores to a better one; also the number of Newton steps."""
    known: Flags = np.zeros(len(problem), dtype=bool)
    n_iter = 0
    for _ in range(_MOST_ROUNDS):
        doubt = _doubt(problem, beta, g)
        known |= doubt > -tol
        count = np.count_nonzero(known)
        doubt[known] = np.inf
        chosen = _largest(doubt, min(int(_SPARE[0] + _SPARE[1] * count), _MOST, len(problem)))
        if count > _MOST or n_iter >= limit or not _can_balance(problem, beta, chosen):
            break
        steps = _solve(problem, rows, beta := beta.copy(), g, chosen, tol, limit - n_iter)
        n_iter += steps
        g = rows.scores(beta)
        low, high = problem.intercept_interval(beta, g)
        if low - high <= tol:
            break
    return beta, g, n_iter


def _doubt(problem: KinkedQP, beta: Floats, g: Floats) -> Floats:
    """How far each score is beyond the value at which its variable moves; negative where it is settled."""
    f = g + best_intercept(problem, g)
    up, down = problem.moves(beta)
    return np.maximum(up - f, f - down)


def _largest(values: Floats, count: int) -> Indices:
    """Positions of the largest values, in ascending order."""
    if count >= len(values):
        return np.arange(len(values))
    return np.sort(np.argpartition(values, len(values) - count)[len(values) - count :])


def _can_balance(problem: KinkedQP, beta: Floats, chosen: Indices) -> bool:
    """Whether the chosen variables have room on both sides of their sum."""
    total = float(beta[chosen].sum())
    return bool(problem.lower[chosen].sum() < total < problem.upper[chosen].sum())


def _solve(problem: KinkedQP, rows: Any, beta: Floats, g: Floats, chosen: Indices, tol: float, limit: int) -> int:
    """Solve for the chosen variables, in place; returns the number of steps."""
    K, mine = rows.exact_square(chosen), beta[chosen]
    others = np.ones(len(beta), dtype=bool)
    others[chosen] = False
    scores = g[chosen] - K @ mine
    held = Held(
        scores,
        float(beta[others].sum()),
        float(problem.gain(beta)[others].sum()),
        0.5 * float(beta[others] @ g[others] - mine @ scores),
    )
    # Half of tol: what is found for these must hold beside the others.
    inside = solve_in(problem.take(chosen), CaseSpace(K, held), tol=0.5 * tol, max_iter=limit)
    beta[chosen] = inside.model.beta
    return inside.n_iter
