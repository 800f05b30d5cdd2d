"""The kinked program with a linear kernel and many more cases than features, by an interior point method.

With ``beta = lower + a + e``, ``0 <= a <= kink - lower``, ``0 <= e <= upper - kink``, the kernel ``K = X X'`` never
appears: each Newton step solves a system of the size of ``(w, b)``, ``w = X' beta``, whose matrix is one weighted
product ``X' W X``. About twenty steps, whatever C. At the end the variables are put on the ends they tend to, so that
the result is a support vector expansion like that of the other solvers, with the same certificate.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import linalg, sparse

from ...arrays import Floats
from ...solution import Solution
from .. import loops
from ..kernels import centred, middle, squared_norms, stretches
from ..rows import WHOLE, MatrixRows
from .convergence import finish
from .problem import Expansion, KinkedQP, feasible

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
    with np.errstate(over="ignore"):
        size = float(squared_norms(Z).sum())
    if not np.isfinite(size):
        raise ValueError(_OVERFLOW)
    state = _Interior(problem, Z)
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
        point = _on_ends(problem, Z, state, n_iter, tol)
        if best is None or point.residual < best.residual:
            best = point
        # A gap below rounding does not get better.
        if best.converged or gap < 1e-13 or not np.isfinite(gap):
            break
        aim = 0.1 * gap
    return _shifted(best if best is not None else _on_ends(problem, Z, state, n_iter, tol), X, Z)


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

    def __init__(self, problem: KinkedQP, X: Any) -> None:
        self.problem, self.X = problem, X
        n, d = X.shape
        self.first = _Piece(problem.kink - problem.lower, problem.below)
        self.second = _Piece(problem.upper - problem.kink, problem.above)
        self.pieces = (self.first, self.second)
        self.w, self.b = np.zeros(d), 0.0
        self.f = np.zeros(n)
        self._pieces = loops.Pieces(*problem.arrays())
        self._drawn = np.empty(n)

    def step(self) -> float:
        """One Newton step; returns the relative gap after it."""
        for piece in self.pieces:
            piece.renew()
        factor = linalg.cho_factor(self._system(self.first.weight + self.second.weight), check_finite=False)
        now = self.gap()
        primal, dual, dz, df = self._solve(factor, 0.0, share=1.0)
        target = (self.gap(primal, dual) / now) ** 3 * now / (4 * len(self.f))
        primal, dual, dz, df = self._solve(factor, target, share=_SHARE_OF_WAY)
        for piece in self.pieces:
            piece.move(primal, dual)
        self.w += dual * dz[:-1]
        self.b += dual * float(dz[-1])
        self.f += dual * df
        value = self._value()
        return self.gap() / max(abs(value), 1e-300) if np.isfinite(value) else np.nan

    def gap(self, primal: float = 0.0, dual: float = 0.0) -> float:
        """Sum of all products that vanish at the optimum, after a step along the last change."""
        return self.first.gap(primal, dual) + self.second.gap(primal, dual)

    def _value(self) -> float:
        """The primal objective."""
        losses = loops.total_loss(self._pieces, self.f)
        return 0.5 * float(self.w @ self.w) + float(losses)

    def _system(self, weight: Floats) -> Floats:
        """The matrix of ``(w, b)``: the identity for w, plus the weighted products of [X, 1]."""
        d = self.X.shape[1]
        H = np.zeros((d + 1, d + 1))
        H[:d, :d], H[:d, d] = weighted_gram(self.X, weight)
        H[d, :d] = H[:d, d]
        H[d, d] = weight.sum()
        H[np.arange(d), np.arange(d)] += 1.0
        return H

    def _solve(self, factor: Any, target: float, share: float) -> tuple[float, float, Floats, Floats]:
        """Newton's direction for products equal to `target`, and how far to go along it."""
        np.add(self.problem.lower, self.first.x, out=self._drawn)
        self._drawn += self.second.x
        for piece in self.pieces:
            piece.draw(self.f, target, self._drawn)
        rhs = np.append(_transposed(self.X, self._drawn) - self.w, self._drawn.sum())
        dz = linalg.cho_solve(factor, rhs, check_finite=False)
        df = np.asarray(self.X @ dz[:-1]).ravel() + dz[-1]
        reaches = [piece.set_change(self.f, df, target) for piece in self.pieces]
        primal, dual = (min(1.0, share * min(reach)) for reach in zip(*reaches, strict=True))
        return primal, dual, dz, df


def weighted_gram(X: Any, weight: Floats) -> tuple[Floats, Floats]:
    """``X' diag(weight) X`` and ``X' weight``, a stretch of rows at a time."""
    if sparse.issparse(X):
        return np.asarray((X.T @ sparse.diags_array(weight) @ X).toarray()), _transposed(X, weight)
    H, root = np.zeros((X.shape[1], X.shape[1])), np.sqrt(weight)
    for rows in stretches(X.shape[0], X.shape[1], 2**16):
        part = X[rows] * root[rows, None]
        H += part.T @ part  # a product with its own transpose takes half the work
    return H, _transposed(X, weight)


def pivoted_factor(rows: Any, most: int) -> Floats | None:
    """Matrix F with ``K = F F'`` up to rounding, with as many columns as K has rank; None if that is above `most`."""
    n, rest = rows.n, rows.diagonal.copy()
    negligible = 1e-13 * rest.max()
    if isinstance(rows, MatrixRows) and n <= WHOLE:
        factor, pivots, rank, _ = linalg.lapack.dpstrf(rows.K, tol=negligible, lower=1)
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


def _transposed(X: Any, v: Floats) -> Floats:
    """``X' v``."""
    return np.asarray(X.T @ v).ravel()


def _shifted(solution: Solution, X: Any, Z: Any) -> Solution:
    """The solution found on the centred cases Z, for the cases X."""
    if X is Z:
        return solution
    point = solution.model
    shift = float(middle(X) @ _transposed(Z, point.beta))
    return replace(solution, model=Expansion(point.beta, point.g + shift, point.intercept - shift, point.gap))


def _on_ends(problem: KinkedQP, X: Any, state: _Interior, n_iter: int, tol: float) -> Solution:
    """Put the variables on their ends, let the free ones restore the sum, and evaluate the point."""
    beta = problem.lower + state.first.settled() + state.second.settled()
    for end in (problem.lower, problem.kink, problem.upper):  # sums of widths are equal up to rounding
        beta = np.where(np.abs(beta - end) <= 1e-12 * (problem.upper - problem.lower), end, beta)
    beta = _balanced(problem, beta)
    g = np.asarray(X @ _transposed(X, beta)).ravel()
    return finish(problem, beta, g, n_iter, tol)


def _balanced(problem: KinkedQP, beta: Floats) -> Floats:
    """Make the sum 0 by moving the free variables, each in proportion to its room."""
    excess = float(beta.sum())
    free = (beta != problem.lower) & (beta != problem.kink) & (beta != problem.upper)
    towards = problem.lower if excess > 0 else problem.upper
    kink_first = beta > problem.kink if excess > 0 else beta < problem.kink
    end = np.where(kink_first, problem.kink, towards)
    if excess == 0:
        return beta
    for chosen in (free, beta != towards):  # all that may move, where the free ones have too little room
        room = np.where(chosen, end - beta, 0.0)
        total = float(room.sum())
        if abs(total) >= abs(excess) > 0:
            return beta - room * (excess / total)
    return feasible(problem, beta)
