"""The kinked program with a linear kernel and many more cases than features, by an interior point method.

With ``beta = lower + a + e``, ``0 <= a <= kink - lower``, ``0 <= e <= upper - kink``, the kernel ``K = X X'`` never
appears: each Newton step solves a system of the size of ``(w, b)``, ``w = X' beta``, whose matrix is one weighted
product ``X' W X``. About twenty steps, whatever C. At the end the variables are put on the ends they tend to, so that
the result is a support vector expansion like that of the other solvers, with the same certificate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ..solution import Solution
from .gram import stretches
from .qp import DualPoint, KinkedQP, Vector, certify

_MOST_STEPS = 100
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
        Its model is a `DualPoint`.
    """
    state = _Interior(problem, X)
    limit = max_iter if max_iter >= 0 else _MOST_STEPS
    best: Solution | None = None
    aim, n_iter = min(1e-3 * tol, 1e-5), 0
    while n_iter < limit:
        n_iter += 1
        gap = state.step()
        if gap > aim and n_iter < limit:
            continue
        point = _on_ends(problem, X, state, n_iter, tol)
        if best is None or point.residual < best.residual:
            best = point
        # A gap below rounding does not get better.
        if best.converged or gap < 1e-13 or not np.isfinite(gap):
            break
        aim = 0.1 * gap
    return best if best is not None else _on_ends(problem, X, state, n_iter, tol)


@dataclass(eq=False)
class _Piece:
    """One of the two pieces of every variable: value x in (0, width), room = width - x, and their multipliers."""

    width: Vector
    slope: Vector
    x: Vector
    room: Vector
    low: Vector
    high: Vector

    @classmethod
    def start(cls, width: Vector, slope: Vector) -> _Piece:
        """The middle of the piece, with multipliers for the score 0."""
        offset = max(1.0, float(np.abs(slope).max()))
        low, high = np.maximum(-slope, 0) + offset, np.maximum(slope, 0) + offset
        return cls(width, slope, 0.5 * width, 0.5 * width, low, high)

    def gap(self) -> float:
        """Sum of the products that vanish at the optimum."""
        return float(self.x @ self.low + self.room @ self.high)

    def weight(self) -> Vector:
        """Inverse curvature of the barrier."""
        return 1.0 / (self.low / self.x + self.high / self.room)

    def pull(self, f: Vector, target: float, change: tuple[Vector, ...] | None) -> Vector:
        """What x is drawn by at scores f: slope - f and the barrier, with Mehrotra's correction."""
        at_low: Any = target
        at_high: Any = target
        if change is not None:
            dx, dlow, dhigh = change
            at_low, at_high = target - dx * dlow, target + dx * dhigh
        return self.slope - f + at_low / self.x - at_high / self.room

    def change(
        self, dx: Vector, target: float, previous: tuple[Vector, ...] | None
    ) -> tuple[Vector, Vector, Vector]:
        """Changes of the value and of both multipliers."""
        at_low: Any = target
        at_high: Any = target
        if previous is not None:
            at_low, at_high = target - previous[0] * previous[1], target + previous[0] * previous[2]
        dlow = (at_low - self.low * dx) / self.x - self.low
        dhigh = (at_high + self.high * dx) / self.room - self.high
        return dx, dlow, dhigh

    def longest(self, change: tuple[Vector, ...]) -> tuple[float, float]:
        """Largest steps that keep values, and multipliers, positive."""
        dx, dlow, dhigh = change
        primal = min(_reach(self.x, dx), _reach(self.room, -dx))
        return primal, min(_reach(self.low, dlow), _reach(self.high, dhigh))

    def move(self, change: tuple[Vector, ...], primal: float, dual: float) -> None:
        """Go along a change."""
        dx, dlow, dhigh = change
        self.x += primal * dx
        self.room -= primal * dx
        self.low += dual * dlow
        self.high += dual * dhigh

    def gap_after(self, change: tuple[Vector, ...], primal: float, dual: float) -> float:
        """`gap` after a move that is not made."""
        dx, dlow, dhigh = change
        return float((self.x + primal * dx) @ (self.low + dual * dlow)) + float(
            (self.room - primal * dx) @ (self.high + dual * dhigh)
        )

    def settled(self) -> Vector:
        """The value, on an end where it tends to one, as its multiplier tells."""
        x = np.where(self.x < self.low * self.width, 0.0, self.x)
        return np.where(self.room < self.high * self.width, self.width, x)


class _Interior:
    """Iterates of Mehrotra's predictor-corrector method."""

    def __init__(self, problem: KinkedQP, X: Any) -> None:
        self.problem, self.X = problem, X
        n, d = X.shape
        self.first = _Piece.start(problem.kink - problem.lower, problem.below)
        self.second = _Piece.start(problem.upper - problem.kink, problem.above)
        self.w, self.b = np.zeros(d), 0.0
        self.f = np.zeros(n)

    def step(self) -> float:
        """One Newton step; returns the relative gap after it."""
        pieces = (self.first, self.second)
        weights = [piece.weight() for piece in pieces]
        factor = linalg.cho_factor(self._system(weights[0] + weights[1]), check_finite=False)
        n_products = 4 * len(self.f)
        now = self.first.gap() + self.second.gap()
        predicted, dz, df = self._solve(factor, weights, 0.0, (None, None))
        primal, dual = self._longest(predicted, 1.0)
        after = sum(p.gap_after(c, primal, dual) for p, c in zip(pieces, predicted, strict=True))
        target = (after / now) ** 3 * now / n_products
        changes, dz, df = self._solve(factor, weights, target, predicted)
        primal, dual = self._longest(changes, _SHARE_OF_WAY)
        for piece, change in zip(pieces, changes, strict=True):
            piece.move(change, primal, dual)
        self.w += dual * dz[:-1]
        self.b += dual * float(dz[-1])
        self.f += dual * df
        return self.relative_gap()

    def relative_gap(self) -> float:
        """Complementarity and infeasibility against the objective."""
        value = 0.5 * float(self.w @ self.w) + float(self.problem.loss(self.f).sum())
        beta = self.beta()
        missing = abs(float(beta.sum())) + float(np.abs(_transposed(self.X, beta) - self.w).max())
        return (self.first.gap() + self.second.gap() + missing) / max(abs(value), 1e-300)

    def beta(self) -> Vector:
        """The variables of the program."""
        return self.problem.lower + self.first.x + self.second.x

    def _system(self, weight: Vector) -> NDArray[np.float64]:
        """The matrix of ``(w, b)``: the identity for w, plus the weighted products of [X, 1]."""
        d = self.X.shape[1]
        H = np.zeros((d + 1, d + 1))
        H[:d, :d] = weighted_gram(self.X, weight)
        H[:d, d] = H[d, :d] = _transposed(self.X, weight)
        H[d, d] = weight.sum()
        H[np.arange(d), np.arange(d)] += 1.0
        return H

    def _solve(self, factor: Any, weights: list[Vector], target: float, previous: Any) -> Any:
        pieces = (self.first, self.second)
        pulls = [p.pull(self.f, target, c) for p, c in zip(pieces, previous, strict=True)]
        drawn = self.beta() + sum(w * q for w, q in zip(weights, pulls, strict=True))
        rhs = np.append(_transposed(self.X, drawn) - self.w, drawn.sum())
        dz = linalg.cho_solve(factor, rhs, check_finite=False)
        df = np.asarray(self.X @ dz[:-1]).ravel() + dz[-1]
        changes = tuple(
            p.change(w * (q - df), target, c) for p, w, q, c in zip(pieces, weights, pulls, previous, strict=True)
        )
        return changes, dz, df

    def _longest(self, changes: Any, share: float) -> tuple[float, float]:
        reaches = [p.longest(c) for p, c in zip((self.first, self.second), changes, strict=True)]
        return tuple(min(1.0, share * min(reach)) for reach in zip(*reaches, strict=True))  # type: ignore[return-value]


def weighted_gram(X: Any, weight: Vector) -> NDArray[np.float64]:
    """``X' diag(weight) X``, a stretch of rows at a time."""
    if sparse.issparse(X):
        return np.asarray((X.T @ sparse.diags_array(weight) @ X).toarray())
    H = np.zeros((X.shape[1], X.shape[1]))
    for rows in stretches(X.shape[0], X.shape[1], 2**17):
        H += X[rows].T @ (X[rows] * weight[rows, None])
    return H


def _transposed(X: Any, v: Vector) -> Vector:
    """``X' v``."""
    return np.asarray(X.T @ v).ravel()


def _reach(x: Vector, dx: Vector) -> float:
    """Largest step for which ``x + step dx`` is not negative."""
    worst = float((dx / x).min())
    return -1.0 / worst if worst < 0 else np.inf


def _on_ends(problem: KinkedQP, X: Any, state: _Interior, n_iter: int, tol: float) -> Solution:
    """Put the variables on their ends, let the free ones restore the sum, and evaluate the point."""
    beta = problem.lower + state.first.settled() + state.second.settled()
    for end in (problem.lower, problem.kink, problem.upper):  # sums of widths are equal but for rounding
        beta = np.where(np.abs(beta - end) <= 1e-12 * (problem.upper - problem.lower), end, beta)
    beta = _balanced(problem, beta)
    g = np.asarray(X @ _transposed(X, beta)).ravel()
    facts = certify(problem, beta, g)
    point = DualPoint(beta, g, facts.intercept, facts.gap)
    return Solution(point, facts.primal, facts.violation, n_iter, facts.violation <= tol)


def _balanced(problem: KinkedQP, beta: Vector) -> Vector:
    """Spread what is missing to a sum of 0 over the free variables, by the room each has."""
    excess = float(beta.sum())
    free = (beta != problem.lower) & (beta != problem.kink) & (beta != problem.upper)
    towards = problem.lower if excess > 0 else problem.upper
    at_kink = beta < problem.kink if excess < 0 else beta > problem.kink
    end = np.where(at_kink, problem.kink, towards)
    for chosen in (free, beta != towards):  # all that may move, where the free ones have too little room
        room = np.where(chosen, end - beta, 0.0)
        total = float(room.sum())
        if abs(total) >= abs(excess) > 0:
            return beta - room * (excess / total) if total * excess > 0 else beta + room * (-excess / total)
    return beta
