"""Sequential minimal optimisation of the kinked program: pairs of variables, in blocks where there are many cases.

Problems that pairs do not finish soon go on to other methods: an interior point method where the kernel matrix has a
low rank, else on the variables that are still in doubt, then active set steps on small problems and more pairs on large
ones.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ...arrays import Floats
from ...solution import Solution
from .. import loops
from ..rows import WHOLE, MatrixRows, VectorRows
from .active_set import NoEndError, by_active_set, most_steps, polished
from .blocks import solve_blocks
from .convergence import Method, run_to_tolerance, starting_point
from .in_doubt import by_interior_point_in_doubt
from .interior_point import solve_linear
from .problem import KinkedQP
from .spaces import pivoted_factor

_POLISHED = 1000  # up to this many cases active set steps are cheap
_MOST_PASSES = 5
# With no limit given, most pair steps before other methods are tried: a constant, and a number per case; and how many
# more per case where the others do not help.
_PAIRS = (10_000, 200)
_MORE_PAIRS = 800
_NEWTON_STEPS = 100
_FACTORS_HELD = 4  # copies of the factor the interior point method has at a time
_WIDEST = 1000  # rank of a kernel matrix beyond which its Newton steps would take longer than the pairs left


def solve_smo(
    problem: KinkedQP,
    rows: MatrixRows | VectorRows,
    *,
    tol: float,
    max_iter: int,
    cache_bytes: int,
    start: Floats | None = None,
    polish: bool = False,
) -> Solution:
    """Pairs chosen by second-order information; by blocks where the problem is large.

    With no limit on the steps, problems that pairs do not finish soon go to other methods, see `_finished`. With
    `polish`, small problems are finished by active set steps in any case, to the last digits.
    """
    n = len(problem)
    limit = max_iter if max_iter >= 0 else _PAIRS[0] + _PAIRS[1] * n
    one_block = n <= WHOLE and isinstance(rows, MatrixRows)
    by_pairs: Method = _by_pairs if one_block else partial(_by_blocks, cache_bytes=cache_bytes)
    beta, g = starting_point(problem, rows, start)
    solution = run_to_tolerance(by_pairs, problem, rows, beta, g, tol, limit)
    if max_iter < 0 and not solution.converged:
        solution = _finished(problem, rows, solution, tol, by_pairs, cache_bytes)
    if polish and solution.converged and n <= _POLISHED:
        return polished(problem, rows, solution, tol)
    return solution


def _finished(
    problem: KinkedQP, rows: Any, solution: Solution, tol: float, by_pairs: Method, cache_bytes: int
) -> Solution:
    """What other methods reach where the pairs got stuck; the best point, if none of them converges."""
    n = len(problem)
    last = (by_active_set, most_steps(problem)) if n <= _POLISHED else (by_pairs, _MORE_PAIRS * n)
    low_rank = partial(_by_interior_point, cache_bytes=cache_bytes)
    for method, limit in ((low_rank, _NEWTON_STEPS), (by_interior_point_in_doubt, 2 * _NEWTON_STEPS), last):
        try:
            other = run_to_tolerance(method, problem, rows, solution.model.beta, solution.model.g, tol, limit)
        except (NoEndError, ValueError):  # a kernel that is not positive semidefinite, or values too large
            continue
        better = other if other.converged or other.objective < solution.objective else solution
        solution = replace(better, n_iter=solution.n_iter + other.n_iter)
        if solution.converged:
            break
    return solution


def _by_pairs(
    problem: KinkedQP, rows: MatrixRows, beta: Floats, g: Floats, tol: float, limit: int
) -> tuple[Floats, Floats, int]:
    """All variables as one block, again where the recomputed scores show a violation that rounding had hidden."""
    beta, g, n_iter = beta.copy(), g.copy(), 0
    pieces = loops.Pieces(*problem.arrays())
    for _ in range(_MOST_PASSES):
        steps, _ = loops.smo(rows.K, pieces, beta, g, tol, limit - n_iter)
        n_iter += steps
        g = rows.scores(beta)
        low, high = problem.intercept_interval(beta, g)
        if low - high <= tol or steps == 0:
            break
    return beta, g, n_iter


def _by_blocks(
    problem: KinkedQP, rows: Any, beta: Floats, g: Floats, tol: float, limit: int, *, cache_bytes: int
) -> tuple[Floats, Floats, int]:
    # A quarter of the cache is for the kernel values inside a block.
    largest = min(max(int(np.sqrt(cache_bytes / 16)), 64), 4096)
    done = solve_blocks(problem, rows, beta, g, tol=tol, max_iter=limit, largest_block=largest)
    return done.beta, done.g, done.n_iter


def _by_interior_point(
    problem: KinkedQP, rows: Any, beta: Floats, g: Floats, tol: float, limit: int, *, cache_bytes: int
) -> tuple[Floats, Floats, int]:
    """The kernel matrix is that of a linear kernel on the rows of its Cholesky factor: no starting point is needed."""
    fitting = cache_bytes // (_FACTORS_HELD * 8 * len(problem)) if len(problem) > WHOLE else _WIDEST
    factor = pivoted_factor(rows, most=min(fitting, _WIDEST))
    if factor is None:
        return beta, g, 0
    # Half of tol here: the factor leaves out what rounding would.
    inside = solve_linear(problem, factor, tol=0.5 * tol, max_iter=limit)
    return inside.model.beta, rows.scores(inside.model.beta), inside.n_iter
