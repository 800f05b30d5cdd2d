"""Rows of a kernel matrix that is never formed as a whole, and their bounded cache.

Three sources have the same methods: `VectorRows` computes rows from the cases by one matrix product, `LastingRows` does
and keeps them for the next program on the same cases, `MatrixRows` reads them from a matrix; `kernel_source` chooses.
`active` are the columns still worked on; the solver drops those it has settled (shrinking).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..arrays import Floats, Indices
from . import loops
from .kernels import (
    Kernel,
    dense,
    finite,
    log_factors,
    require_semidefinite,
    sampled_cases,
    squared_norms,
    stretches,
)

WHOLE = 2048  # up to this many cases the matrix is held whole, and a solver takes it as one block
FINEST_SINGLE_TOL = 1e-5  # tolerances below need kernel values in double precision
_LARGEST_SINGLE = 1e10  # features beyond this overflow in single precision once they are multiplied
_SINGLE_ERROR = 1e-5  # rounding of single-precision kernel values that recomputed scores make up for
_SAMPLED = 64
_SIDE = 320  # of a tile of kernel values: it stays in the processor's cache


class MatrixRows:
    """A kernel matrix in memory: precomputed, or small enough to be computed whole."""

    def __init__(self, K: NDArray[Any]) -> None:
        self.K = K
        self.n = len(K)
        self.diagonal = np.asarray(K.diagonal(), dtype=np.float64)
        self.active: Indices = np.arange(self.n)

    def square(self, rows: Indices) -> NDArray[Any]:
        """Kernel values among the active cases at these positions in `active`."""
        chosen = self.active[rows]
        out = np.empty((len(rows), len(rows)), dtype=self.K.dtype)
        loops.gather_block(self.K, chosen, chosen, out)
        return out

    def exact_square(self, cases: Indices) -> Floats:
        """Kernel values among any cases, in double precision."""
        return self.K[np.ix_(cases, cases)].astype(np.float64, copy=False)

    def add(self, rows: Indices, coef: Floats, g: Floats) -> None:
        """``g += K[active, rows] @ coef``."""
        if len(self.active) == self.n:
            loops.add_rows(self.K, self.active[rows], coef, g)
        else:
            loops.add_rows_at(self.K, self.active[rows], self.active, coef, g)

    def row(self, i: int) -> Floats:
        """Row i in double precision."""
        return self.K[i].astype(np.float64, copy=False)

    def keep(self, positions: Indices) -> None:
        """Restrict the active columns to those at `positions`."""
        self.active = self.active[positions]

    def reset(self) -> None:
        """Make every column active again."""
        self.active = np.arange(self.n)

    def refine(self) -> bool:
        """There is no finer source than the matrix."""
        return False

    def scores(self, beta: Floats) -> Floats:
        """``K @ beta`` in double precision; `beta` may have several columns."""
        support = nonzero_rows(beta)
        return self._product_of_all(support, beta[support])

    def product(self, rows: Indices, columns: Indices, coef: Floats) -> Floats:
        """``K[rows][:, columns] @ coef`` in double precision; `coef` may have several columns."""
        if len(rows) == self.n:
            return self._product_of_all(columns, coef)
        out = np.empty((len(rows), *coef.shape[1:]))
        for part in stretches(len(rows), len(columns)):
            out[part] = self.K[np.ix_(rows[part], columns)].astype(np.float64, copy=False) @ coef
        return out

    def _product_of_all(self, columns: Indices, coef: Floats) -> Floats:
        if 2 * len(columns) < self.n:
            return self.K[:, columns] @ coef
        full = np.zeros((self.n, *coef.shape[1:]))  # cheaper than a copy of most of the matrix
        full[columns] = coef
        return self.K @ full


class VectorRows:
    """Kernel rows computed from the cases when they are needed, in `dtype`, kept within `budget` bytes."""

    def __init__(self, X: Any, kernel: Kernel, budget: int, dtype: Any = np.float32) -> None:
        self.X = kernel.form.centred(X)
        self.kernel = kernel
        self.n = X.shape[0]
        self.dtype = np.dtype(dtype)
        self.budget = budget
        self.diagonal = finite(kernel.diagonal(X), kernel)
        self._set_up()

    def square(self, rows: Indices) -> NDArray[Any]:
        """Kernel values among the active cases at these positions in `active`."""
        chosen = self.active[rows]
        out = self._values(chosen, self._take(self._right, chosen))
        np.fill_diagonal(out, self.diagonal[chosen])
        return out

    def exact_square(self, cases: Indices) -> Floats:
        """Kernel values among any cases, in double precision."""
        K = np.asarray(self.kernel(self.X[cases], self.X[cases]), dtype=np.float64)
        np.fill_diagonal(K, self.diagonal[cases])
        return finite(K, self.kernel)

    def add(self, rows: Indices, coef: Floats, g: Floats) -> None:
        """``g += K[active, rows] @ coef``, from the cache where the rows are there."""
        ids = self.active[rows]
        slots = self._slot[ids]
        found = slots >= 0
        self._add_cached(slots[found], coef[found], g)
        ids, coef = ids[~found], coef[~found]
        for part in stretches(len(ids), 1, self._capacity):
            self._add_cached(self._load(ids[part]), coef[part], g)

    def _add_cached(self, slots: Indices, coef: Floats, g: Floats) -> None:
        """The same for rows in these slots of the cache."""
        loops.add_rows(self._view, slots, coef, g)

    def row(self, i: int) -> Floats:
        """Row i in double precision."""
        return self.kernel(self.X[i : i + 1], self.X)[0].astype(np.float64, copy=False)

    def keep(self, positions: Indices) -> None:
        """Restrict the active columns to those at `positions`; the cached rows are cut to fit."""
        used = self._slot[self.active[positions]]
        used = np.sort(used[used >= 0])  # rows of the others are hardly needed again
        owners, old, m = self._owner[used], self._view, len(positions)
        self._lay_out(self.active[positions])
        # Rows only get shorter, so that each fits where its predecessors were: the buffer is cut in place.
        loops.cut_rows(old, used, positions, self._view)
        self._owner[: len(used)] = owners
        self._slot[owners] = np.arange(len(used))
        self._next = len(used)
        self._active_right = self._take(self._right, self.active) if m < self.n else self._right

    def reset(self) -> None:
        """Make every column active again."""
        self._lay_out(np.arange(self.n))
        self._active_right = self._right

    def scores(self, beta: Floats) -> Floats:
        """``K @ beta`` in double precision; `beta` may have several columns."""
        if self.kernel.form.by_distance and not sparse.issparse(self.X):
            return finite(gaussian_scores(self.X, self.kernel.gamma, beta), self.kernel)
        support = nonzero_rows(beta)
        return self.product(np.arange(self.n), support, beta[support])

    def product(self, rows: Indices, columns: Indices, coef: Floats) -> Floats:
        """``K[rows][:, columns] @ coef`` in double precision."""
        return finite(self.kernel.expansion(self.X[rows], self.X[columns], coef), self.kernel)

    def refine(self) -> bool:
        """Change to double precision, with every column active; return whether that is a change."""
        if self.dtype == np.float64:
            return False
        self.dtype = np.dtype(np.float64)
        self._set_up()
        return True

    def error(self) -> float:
        """Largest rounding error of a kernel value, on a sample, as a share of the typical curvature of a pair."""
        norms = squared_norms(self.X)
        size = min(_SAMPLED, self.n)
        evenly = np.linspace(0, self.n - 1, size).astype(np.intp)
        # Cancellation is worst far from the origin.
        sample = np.union1d(evenly, np.argpartition(norms, -size)[-size:])
        K = finite(self.kernel(self.X[sample], self.X[sample]), self.kernel)
        with np.errstate(over="ignore"):
            error = np.abs(self._values(sample, self._take(self._right, sample)) - K).max()
        curvature = 2.0 * (K.diagonal().mean() - K.mean())
        return float(error / max(curvature, 1e-300))

    def _set_up(self) -> None:
        """Factors and an empty cache of the current precision."""
        self._prepare()
        self._buffer = np.empty(max(self.budget // self.dtype.itemsize, self.n), dtype=self.dtype)
        self.reset()

    def _lay_out(self, active: Indices) -> None:
        """Share the buffer out among rows as long as `active`."""
        m = len(active)
        self.active = active
        self._capacity = min(len(self._buffer) // m, self.n)
        self._view = self._buffer[: self._capacity * m].reshape(self._capacity, m)
        self._slot = np.full(self.n, -1, dtype=np.intp)
        self._owner = np.full(self._capacity, -1, dtype=np.intp)
        self._next = 0

    def _load(self, ids: Indices) -> Indices:
        """Compute rows into the oldest slots, which lie side by side."""
        size = len(ids)
        if self._next + size > self._capacity:
            self._next = 0
        slots = np.arange(self._next, self._next + size)
        evicted = self._owner[slots]
        self._slot[evicted[evicted >= 0]] = -1
        self._values(ids, self._active_right, out=self._view[slots[0] : slots[-1] + 1])
        self._owner[slots], self._slot[ids] = ids, slots
        self._next += size
        return slots

    def _prepare(self) -> None:
        """Store both factors of the product that gives the kernel (or, for rbf, its logarithm)."""
        form = self.kernel.form
        if sparse.issparse(self.X) or not form.from_products:
            X = self.X.astype(self.dtype) if sparse.issparse(self.X) else self.X
            self._left = X
            self._right: Any = (X, squared_norms(X) if form.by_distance else np.zeros(self.n))
        elif form.by_distance:
            left, right = form.factors(self.kernel, self.X)
            self._left, self._right = left.astype(self.dtype), right.astype(self.dtype)
        else:
            self._left = self._right = np.ascontiguousarray(self.X, dtype=self.dtype)

    def _take(self, right: Any, rows: Indices) -> Any:
        return tuple(part[rows] for part in right) if isinstance(right, tuple) else right[rows]

    def _values(self, rows: Indices, right: Any, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Kernel values between the cases `rows` and those behind `right`."""
        if isinstance(right, tuple):
            values = self._general_values(rows, *right)
            if out is None:
                return values
            out[:] = values
            return out
        out = np.matmul(self._left[rows], right.T, out=out)
        return exp_in_place(out) if self.kernel.form.by_distance else self.kernel.finish(out, out, out)

    def _general_values(self, rows: Indices, right: Any, norms: NDArray[Any]) -> NDArray[Any]:
        if not self.kernel.form.from_products:
            return self.kernel(self._left[rows], right).astype(self.dtype)
        products = dense(self._left[rows] @ right.T)
        return self.kernel.finish(products, self._right[1][rows], norms)


class LastingRows(VectorRows):
    """Kernel rows for several programs on the same cases: they stay in the cache as they are.

    Shrinking does not cut them, so that a row serves every program, for the price of products over columns that are
    settled.
    """

    def square(self, rows: Indices) -> NDArray[Any]:
        """Kernel values among the active cases at these positions in `active`, from the cache where rows are there."""
        chosen = self.active[rows]
        slots = self._slot[chosen]
        found = slots >= 0
        if not found.any():
            return super().square(rows)
        cached = np.empty((int(found.sum()), len(rows)), dtype=self.dtype)
        loops.gather_block(self._view, slots[found], chosen, cached)
        out = np.empty((len(rows), len(rows)), dtype=self.dtype)
        out[found] = cached
        out[~found] = self._values(chosen[~found], self._take(self._right, chosen))
        np.fill_diagonal(out, self.diagonal[chosen])
        return out

    def keep(self, positions: Indices) -> None:
        """Restrict the active columns to those at `positions`."""
        self.active = self.active[positions]

    def reset(self) -> None:
        """Make every column active again."""
        self.active = np.arange(self.n)

    def _set_up(self) -> None:
        super()._set_up()
        super().reset()

    def _add_cached(self, slots: Indices, coef: Floats, g: Floats) -> None:
        if len(self.active) == self.n:
            loops.add_rows(self._view, slots, coef, g)
        else:
            loops.add_rows_at(self._view, slots, self.active, coef, g)


class ReorderedRows:
    """The rows of another source for its cases in another order, which the source itself does not know."""

    def __init__(self, rows: MatrixRows | VectorRows, order: Indices) -> None:
        self.rows, self.order = rows, order
        self.n = rows.n
        self.diagonal = rows.diagonal[order]
        self.active: Indices = np.arange(self.n)

    def square(self, rows: Indices) -> NDArray[Any]:
        """Kernel values among the active cases at these positions in `active`."""
        return self.rows.square(self.order[self.active[rows]])

    def exact_square(self, cases: Indices) -> Floats:
        """Kernel values among any cases, in double precision."""
        return self.rows.exact_square(self.order[cases])

    def add(self, rows: Indices, coef: Floats, g: Floats) -> None:
        """``g += K[active, rows] @ coef``."""
        total = np.zeros(self.n)
        self.rows.add(self.order[self.active[rows]], coef, total)
        g += total[self.order[self.active]]

    def row(self, i: int) -> Floats:
        """Row i in double precision."""
        return self.rows.row(int(self.order[i]))[self.order]

    def keep(self, positions: Indices) -> None:
        """Restrict the active columns to those at `positions`."""
        self.active = self.active[positions]

    def reset(self) -> None:
        """Make every column active again."""
        self.active = np.arange(self.n)

    def refine(self) -> bool:
        """Change to double precision; return whether that is a change."""
        return self.rows.refine()

    def scores(self, beta: Floats) -> Floats:
        """``K @ beta`` in double precision; `beta` may have several columns."""
        there = np.empty_like(beta)
        there[self.order] = beta
        return self.rows.scores(there)[self.order]

    def product(self, rows: Indices, columns: Indices, coef: Floats) -> Floats:
        """``K[rows][:, columns] @ coef`` in double precision."""
        return self.rows.product(self.order[rows], self.order[columns], coef)


def reordered(rows: MatrixRows | VectorRows, order: Indices) -> MatrixRows | ReorderedRows:
    """Kernel rows for the cases in another order; a small matrix as one of its own, which solvers take whole."""
    if isinstance(rows, MatrixRows) and rows.n <= WHOLE:
        return MatrixRows(rows.K[np.ix_(order, order)])
    return ReorderedRows(rows, order)


def kernel_source(
    X: Any,
    kernel: Kernel,
    *,
    cache_bytes: int,
    tol: float,
    whole: int = WHOLE,
    needs_norm: bool = True,
    several: bool = False,
) -> MatrixRows | VectorRows:
    """Choose how kernel rows are obtained: up to `whole` cases all at once and in double precision, else on demand.

    With `needs_norm`, a kernel that is not positive semidefinite is refused: its expansions have no norm. With
    `several` programs on these cases rows are kept from one program to the next.
    """
    n = X.shape[0]
    if kernel.form.given_as_matrix:  # checked when it was read
        return MatrixRows(np.ascontiguousarray(dense(X), dtype=np.float64))
    K = finite(_whole_matrix(X, kernel), kernel) if n <= whole else None
    if needs_norm and not kernel.semidefinite:
        sample = sampled_cases(n)
        values = kernel(X[sample], X[sample]) if K is None else K[np.ix_(sample, sample)]
        require_semidefinite(finite(values, kernel), kernel)
    if K is not None:
        return MatrixRows(K)
    single = tol >= FINEST_SINGLE_TOL and abs(X).max() < _LARGEST_SINGLE
    source = LastingRows if several else VectorRows
    rows = source(X, kernel, budget=3 * cache_bytes // 4, dtype=np.float32 if single else np.float64)
    if single and rows.error() > _SINGLE_ERROR:
        rows.refine()
    return rows


def _whole_matrix(X: Any, kernel: Kernel) -> Floats:
    """The kernel matrix of the cases, a few rows at a time."""
    if not kernel.form.from_products:  # a function of the user is called once
        return np.ascontiguousarray(kernel(X, X))
    X = kernel.form.centred(X)
    K = np.empty((X.shape[0], X.shape[0]))
    for rows in stretches(len(K), len(K), 2**17):  # small enough to stay in the processor's cache
        K[rows] = kernel(X[rows], X)
    return K


def gaussian_scores(X: Floats, gamma: float, beta: Floats) -> Floats:
    """``K @ beta`` for the rbf kernel between the rows of X, in double precision; `beta` may have several columns.

    K is symmetric: each value between two cases with coefficients is computed once, for both.
    """
    support = nonzero_rows(beta)
    others = np.setdiff1d(np.arange(len(beta)), support, assume_unique=True)
    right = log_factors(X[support], gamma)[1]
    coef, sums = beta[support], np.zeros((len(support), *beta.shape[1:]))
    out = np.zeros(beta.shape)
    for part in stretches(len(support), 1, _SIDE):
        left = log_factors(X[support[part]], gamma)[0]
        for columns in stretches(len(support), 1, _SIDE):
            if columns.start < part.start:
                continue
            values = exp_in_place(left @ right[columns].T)
            sums[part] += values @ coef[columns]
            if columns.start > part.start:
                sums[columns] += values.T @ coef[part]
    out[support] = sums
    for part in stretches(len(others), 1, _SIDE):
        left = log_factors(X[others[part]], gamma)[0]
        for columns in stretches(len(support), 1, _SIDE):
            out[others[part]] += exp_in_place(left @ right[columns].T) @ coef[columns]
    return out


def nonzero_rows(beta: Floats) -> Indices:
    """Positions of the cases with a coefficient, in any column."""
    return np.flatnonzero(beta if beta.ndim == 1 else beta.any(axis=1))


def exp_in_place(values: NDArray[Any]) -> NDArray[Any]:
    """``exp(min(x, 0))`` of each value of a matrix: rounding may make a squared distance negative."""
    (loops.exp_single if values.dtype == np.float32 else loops.exp_double)(values)
    return values
