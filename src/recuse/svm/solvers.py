"""How the kinked program is minimised: arrays in, `Solution` out.

Every solver takes a `KinkedQP`, a source of kernel rows and a feasible starting point (or None) and returns a
`Solution` whose model is a `DualPoint`; its residual is the violation ``B_lo - B_hi`` of the optimality conditions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..solution import Solution
from . import kernels
from .active_set import ActiveSet, NoEndError
from .blocks import solve_blocks
from .gram import Kernel, centred, dense, finite, stretches
from .qp import DualPoint, KinkedQP, Vector, certify, feasible
from .rows import MatrixRows, VectorRows

_WHOLE = 2048  # up to this size the whole problem is one block
_POLISHED = 1000
_MOST_PASSES = 5
_PAIRS = (10_000, 200)  # with no limit given, most steps by pairs: so many, and so many a case
FINEST_SINGLE_TOL = 1e-5
_LARGEST_SINGLE = 1e10  # features beyond this overflow in single precision once they are multiplied
_SINGLE_ERROR = 1e-5  # rounding of single-precision kernel values that recomputed scores make up for


def kernel_source(
    X: Any, kernel: Kernel, *, cache_bytes: int, tol: float, whole: int = _WHOLE
) -> MatrixRows | VectorRows:
    """Choose how kernel rows are had: up to `whole` cases all at once and in double precision, else on demand."""
    n = X.shape[0]
    if kernel.name == "precomputed":
        return MatrixRows(np.ascontiguousarray(dense(X), dtype=np.float64))
    if n <= whole:
        return MatrixRows(finite(_whole_matrix(X, kernel), kernel))
    single = tol >= FINEST_SINGLE_TOL and abs(X).max() < _LARGEST_SINGLE
    rows = VectorRows(X, kernel, budget=3 * cache_bytes // 4, dtype=np.float32 if single else np.float64)
    if single and rows.error() > _SINGLE_ERROR:
        rows.refine()
    return rows


def solve_smo(
    problem: KinkedQP,
    rows: MatrixRows | VectorRows,
    *,
    tol: float,
    max_iter: int,
    cache_bytes: int,
    start: Vector | None = None,
    polish: bool = False,
) -> Solution:
    """Pairs chosen by second-order information; by blocks where the problem is large.

    With no limit on the steps, small problems that pairs do not finish soon go to the active set. With `polish`, small
    problems are finished by active set steps in any case, to the last digits.
    """
    n = len(problem)
    beta, g = _starting_point(problem, rows, start)
    limit = max_iter if max_iter >= 0 else np.iinfo(np.int64).max
    handed_over = max_iter < 0 and n <= _POLISHED  # pairs may crawl where the active set takes a few steps
    if handed_over:
        limit = _PAIRS[0] + _PAIRS[1] * n
    if isinstance(rows, MatrixRows) and n <= _WHOLE:
        beta, g, n_iter = _whole(problem, rows, beta, g, tol, limit)
    else:
        # A quarter of the cache is for the kernel values inside a block.
        largest = max(int(np.sqrt(cache_bytes / 16)), 64)
        done = solve_blocks(
            problem,
            rows,
            beta,
            g,
            tol=tol,
            max_iter=limit,
            largest_block=min(largest, 4096),
        )
        beta, g, n_iter = done.beta, done.g, done.n_iter
    solution = finish(problem, beta, g, n_iter, tol)
    if handed_over and not solution.converged:
        solution = _finished(problem, rows, solution, tol)
    if polish and solution.converged and n <= _POLISHED:
        return _polished(problem, rows, solution)
    return solution


def _whole(
    problem: KinkedQP, rows: MatrixRows, beta: Vector, g: Vector, tol: float, limit: int
) -> tuple[Vector, Vector, int]:
    """All variables as one block, again where the recomputed scores show a violation that rounding had hidden."""
    n_iter = 0
    for _ in range(_MOST_PASSES):
        steps, _ = kernels.smo(rows.K, *problem.arrays(), beta, g, tol, limit - n_iter)
        n_iter += steps
        g = _exact_scores(rows, beta)
        low, high = problem.intercept_interval(beta, g)
        if low - high <= tol or steps == 0:
            break
    return beta, g, n_iter


def solve_active_set(
    problem: KinkedQP,
    rows: MatrixRows | VectorRows,
    *,
    tol: float,
    max_iter: int,
    cache_bytes: int = 0,
    start: Vector | None = None,
) -> Solution:
    """Algorithm 1 of the paper; holds one kernel column for each free case, so it is for moderate sizes."""
    limit = max_iter if max_iter >= 0 else _most_steps(problem)
    try:
        # Half of tol here, so that the violation over pairs is below tol.
        state, n_iter = _steps(problem, rows, *_starting_point(problem, rows, start), 0.5 * tol, limit)
    except NoEndError:
        raise ValueError(
            "solver='active_set' found no end of a step: the kernel is not positive semidefinite on these cases, or "
            "its values are too large. Use solver='smo', another kernel, or standardised features."
        ) from None
    return finish(problem, state.beta, _exact_scores(rows, state.beta), n_iter, tol)


def _most_steps(problem: KinkedQP) -> int:
    return 1000 + 100 * len(problem)


def _steps(problem: KinkedQP, rows: Any, beta: Vector, g: Vector, tol: float, limit: int) -> tuple[ActiveSet, int]:
    """Active set steps until the point is optimal; the state reached, and their number."""
    n_iter = 0
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # what is not finite raises NoEndError
        state = ActiveSet(problem, rows, beta, g)
        while n_iter < limit:
            n_iter += 1
            if state.step(tol):
                break
    return state, n_iter


def _finished(problem: KinkedQP, rows: Any, solution: Solution, tol: float) -> Solution:
    """Active set steps from where the pairs got stuck; what they reach if it is better."""
    try:
        state, n_iter = _steps(problem, rows, solution.model.beta, solution.model.g, 0.5 * tol, _most_steps(problem))
    except NoEndError:
        return solution
    better = finish(problem, state.beta, _exact_scores(rows, state.beta), solution.n_iter + n_iter, tol)
    return better if better.converged or better.objective < solution.objective else solution


def _polished(problem: KinkedQP, rows: Any, solution: Solution) -> Solution:
    """Active set steps from a good solution; what they reach if it is better."""
    finest = 1e-13 * float(np.abs(problem.below).max())
    try:
        state, _ = _steps(problem, rows, solution.model.beta, solution.model.g, finest, len(problem))
    except NoEndError:
        return solution
    better = finish(problem, state.beta, _exact_scores(rows, state.beta), solution.n_iter, solution.residual)
    return better if better.residual < solution.residual and better.model.gap < solution.model.gap else solution


def _starting_point(problem: KinkedQP, rows: Any, start: Vector | None) -> tuple[Vector, Vector]:
    if start is None or not start.any():
        return np.zeros(len(problem)), np.zeros(len(problem))
    beta = feasible(problem, start)
    return beta, _exact_scores(rows, beta)


def _exact_scores(rows: Any, beta: Vector) -> Vector:
    support = np.flatnonzero(beta)
    scores: Vector = rows.product(np.arange(len(beta)), support, beta[support])
    return scores


def finish(problem: KinkedQP, beta: Vector, g: Vector, n_iter: int, tol: float) -> Solution:
    """Choose the intercept, evaluate both objectives at the exact scores g, and pack the facts."""
    facts = certify(problem, beta, g)
    point = DualPoint(beta, g, facts.intercept, facts.gap)
    return Solution(point, facts.primal, facts.violation, int(n_iter), facts.violation <= tol)


def _whole_matrix(X: Any, kernel: Kernel) -> Any:
    if callable(kernel.name):
        return np.ascontiguousarray(kernel(X, X))
    X = centred(X) if kernel.name == "rbf" else X
    K = np.empty((X.shape[0], X.shape[0]))
    for rows in stretches(len(K), len(K), 2**17):  # small enough to stay in the processor's cache
        K[rows] = kernel(X[rows], X)
    return K


SOLVERS: dict[str, Callable[..., Solution]] = {"smo": solve_smo, "active_set": solve_active_set}
