"""How the kinked program is minimised: arrays in, `Solution` out.

Every solver takes a `KinkedQP`, a source of kernel rows and a feasible starting point (or None) and returns a
`Solution` whose model is a `DualPoint`; its residual is the violation ``B_lo - B_hi`` of the optimality conditions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import lapack

from ...arrays import Floats
from ...solution import Solution
from .. import loops
from ..kernels import Kernel, centred, dense, finite, stretches
from ..rows import MatrixRows, VectorRows
from .active_set import ActiveSet, NoEndError
from .blocks import solve_blocks
from .interior_point import solve_linear
from .problem import KinkedQP, feasible, finish

# From a point (beta, g) with a tolerance and a limit on the steps to another point, and the steps done.
Method = Callable[[KinkedQP, Any, Floats, Floats, float, int], tuple[Floats, Floats, int]]

_WHOLE = 2048  # up to this size the whole problem is one block
_POLISHED = 1000
_MOST_PASSES = 5
# With no limit given, most steps by pairs before other methods are tried: so many, and so many a case; and how many
# more a case where the others do not help.
_PAIRS = (10_000, 200)
_MORE_PAIRS = 800
_NEWTON_STEPS = 100
_FACTORS_HELD = 4  # copies of the factor the interior point method has at a time
_WIDEST = 1000  # rank of a kernel matrix beyond which its Newton steps would take longer than the pairs left
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
    start: Floats | None = None,
    polish: bool = False,
) -> Solution:
    """Pairs chosen by second-order information; by blocks where the problem is large.

    With no limit on the steps, problems that pairs do not finish soon go to other methods, see `_finished`. With
    `polish`, small problems are finished by active set steps in any case, to the last digits.
    """
    n = len(problem)
    limit = max_iter if max_iter >= 0 else _PAIRS[0] + _PAIRS[1] * n
    one_block = n <= _WHOLE and isinstance(rows, MatrixRows)
    by_pairs: Method = _by_pairs if one_block else partial(_by_blocks, cache_bytes=cache_bytes)
    beta, g = _starting_point(problem, rows, start)
    solution = _solve(by_pairs, problem, rows, beta, g, tol, limit)
    if max_iter < 0 and not solution.converged:
        solution = _finished(problem, rows, solution, tol, by_pairs, cache_bytes)
    if polish and solution.converged and n <= _POLISHED:
        return _polished(problem, rows, solution, tol)
    return solution


def solve_active_set(
    problem: KinkedQP,
    rows: MatrixRows | VectorRows,
    *,
    tol: float,
    max_iter: int,
    cache_bytes: int = 0,
    start: Floats | None = None,
) -> Solution:
    """Algorithm 1 of the paper; holds one kernel column for each free case, so it is for moderate sizes."""
    limit = max_iter if max_iter >= 0 else _most_steps(problem)
    try:
        return _solve(_by_active_set, problem, rows, *_starting_point(problem, rows, start), tol, limit)
    except NoEndError:
        raise ValueError(
            "solver='active_set' found no end of a step: the kernel is not positive semidefinite on these cases, or "
            "its values are too large. Use solver='smo', another kernel, or standardised features."
        ) from None


def _solve(method: Method, problem: KinkedQP, rows: Any, beta: Floats, g: Floats, tol: float, limit: int) -> Solution:
    """One method from a point, with finer tolerances where the gap is not small yet though the violation is."""
    aim, finest, n_iter = tol, _finest(problem), 0
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


def _finished(
    problem: KinkedQP, rows: Any, solution: Solution, tol: float, by_pairs: Method, cache_bytes: int
) -> Solution:
    """What other methods reach where the pairs got stuck; the best point, if none of them converges."""
    n = len(problem)
    last = (_by_active_set, _most_steps(problem)) if n <= _POLISHED else (by_pairs, _MORE_PAIRS * n)
    for method, limit in ((partial(_by_interior_point, cache_bytes=cache_bytes), _NEWTON_STEPS), last):
        try:
            other = _solve(method, problem, rows, solution.model.beta, solution.model.g, tol, limit)
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
    for _ in range(_MOST_PASSES):
        steps, _ = loops.smo(rows.K, *problem.arrays(), beta, g, tol, limit - n_iter)
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


def _by_active_set(
    problem: KinkedQP, rows: Any, beta: Floats, g: Floats, tol: float, limit: int
) -> tuple[Floats, Floats, int]:
    # Half of tol here, so that the violation over pairs is below tol.
    state, n_iter = _steps(problem, rows, beta, g, 0.5 * tol, limit)
    return state.beta, rows.scores(state.beta), n_iter


def _by_interior_point(
    problem: KinkedQP, rows: Any, beta: Floats, g: Floats, tol: float, limit: int, *, cache_bytes: int
) -> tuple[Floats, Floats, int]:
    """The kernel matrix is that of a linear kernel on the rows of its Cholesky factor: no starting point is needed."""
    fitting = cache_bytes // (_FACTORS_HELD * 8 * len(problem)) if len(problem) > _WHOLE else _WIDEST
    factor = pivoted_factor(rows, most=min(fitting, _WIDEST))
    if factor is None:
        return beta, g, 0
    # Half of tol here: the factor leaves out what rounding would.
    inside = solve_linear(problem, factor, tol=0.5 * tol, max_iter=limit)
    return inside.model.beta, rows.scores(inside.model.beta), inside.n_iter


def pivoted_factor(rows: Any, most: int) -> Floats | None:
    """Matrix F with ``K = F F'`` but for rounding, with as many columns as K has rank; None if that is above `most`."""
    n, rest = rows.n, rows.diagonal.copy()
    negligible = 1e-13 * rest.max()
    if isinstance(rows, MatrixRows) and n <= _WHOLE:
        factor, pivots, rank, _ = lapack.dpstrf(rows.K, tol=negligible, lower=1)
        if rank > most:
            return None
        out = np.empty((n, rank))
        out[pivots - 1] = np.tril(factor)[:, :rank]
        return out
    columns = np.empty((min(most, n), n))
    for rank in range(len(columns)):
        pivot = int(rest.argmax())
        if rest[pivot] <= negligible:
            return np.ascontiguousarray(columns[:rank].T)
        new = rows.row(pivot) - columns[:rank, pivot] @ columns[:rank]
        columns[rank] = new / np.sqrt(rest[pivot])
        rest -= columns[rank] ** 2
        rest[pivot] = 0.0
    return np.ascontiguousarray(columns.T) if rest.max() <= negligible else None


def _most_steps(problem: KinkedQP) -> int:
    return 1000 + 100 * len(problem)


def _steps(problem: KinkedQP, rows: Any, beta: Floats, g: Floats, tol: float, limit: int) -> tuple[ActiveSet, int]:
    """Active set steps until the point is optimal; the state reached, and their number."""
    n_iter = 0
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # what is not finite raises NoEndError
        state = ActiveSet(problem, rows, beta, g)
        while n_iter < limit:
            n_iter += 1
            if state.step(tol):
                break
    return state, n_iter


def _polished(problem: KinkedQP, rows: Any, solution: Solution, tol: float) -> Solution:
    """Active set steps from a good solution; what they reach if it is better."""
    try:
        state, _ = _steps(problem, rows, solution.model.beta, solution.model.g, _finest(problem), len(problem))
    except NoEndError:
        return solution
    better = finish(problem, state.beta, rows.scores(state.beta), solution.n_iter, tol)
    return better if better.residual < solution.residual and better.model.gap < solution.model.gap else solution


def _finest(problem: KinkedQP) -> float:
    """The least violation that rounding leaves meaningful."""
    return 1e-13 * float(np.abs(problem.below).max())


def _starting_point(problem: KinkedQP, rows: Any, start: Floats | None) -> tuple[Floats, Floats]:
    if start is None or not start.any():
        return np.zeros(len(problem)), np.zeros(len(problem))
    beta = feasible(problem, start)
    return beta, rows.scores(beta)


def _whole_matrix(X: Any, kernel: Kernel) -> Any:
    if callable(kernel.name):
        return np.ascontiguousarray(kernel(X, X))
    X = centred(X) if kernel.name == "rbf" else X
    K = np.empty((X.shape[0], X.shape[0]))
    for rows in stretches(len(K), len(K), 2**17):  # small enough to stay in the processor's cache
        K[rows] = kernel(X[rows], X)
    return K


SOLVERS: dict[str, Callable[..., Solution]] = {"smo": solve_smo, "active_set": solve_active_set}
