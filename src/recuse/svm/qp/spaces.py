"""Where the interior point method solves its linear systems: among the features, or among the cases.

Newton's equations of the kinked program say that ``f = K beta + b`` follows from ``beta = drawn - W df``, ``sum beta =
0``, where `drawn` is where the barriers draw beta to while the scores stay, and W its inverse curvature. With ``K = X
X'`` that is a system of the size of ``(w, b)``, ``w = X' beta``; with any K one of the size of ``(u, b)``, ``f = K u +
b``. Where there are more cases than features the first is the smaller one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, sparse

from ...arrays import Floats
from ..kernels import stretches
from ..rows import WHOLE, MatrixRows
from .problem import NOTHING_HELD, Held


class FeatureSpace:
    """The kernel ``X X'``: iterates are weights of the features and an intercept.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, n_features)
    held : Held
        Variables of other cases, `held.scores` being their ``X' beta``.

    Attributes
    ----------
    total : float
        What beta sums to.
    """

    def __init__(self, X: Any, held: Held = NOTHING_HELD) -> None:
        self.X, self.total = X, -held.total
        self._held = np.zeros(X.shape[1]) + held.scores
        self._held_scores = np.asarray(X @ self._held).ravel()
        self._constant = held.gain - 0.5 * float(self._held @ self._held)
        self.w, self.b = np.zeros(X.shape[1]), 0.0
        self._step = np.zeros(X.shape[1] + 1)

    def first_scores(self) -> Floats:
        """Scores at the first iterate."""
        return np.zeros(self.X.shape[0])

    def value(self) -> float:
        """The primal objective at the iterate, but for the losses of these cases."""
        own = self.w - self._held
        return 0.5 * float(own @ own) + self.total * self.b + self._constant

    def value_at(self, beta: Floats, g: Floats, b: float) -> float:
        """The same at coefficients with scores ``g + b``."""
        return 0.5 * float(beta @ (g - self._held_scores)) + self.total * b + self._constant

    def factorise(self, weight: Floats) -> None:
        """Prepare the system at these inverse curvatures."""
        self._factor = linalg.cho_factor(curvature(self.X, weight), check_finite=False)

    def change(self, drawn: Floats) -> Floats:
        """The change of the scores; it is kept for `move`."""
        rhs = np.append(transposed(self.X, drawn) + self._held - self.w, drawn.sum() - self.total)
        self._step = linalg.cho_solve(self._factor, rhs, check_finite=False)
        return np.asarray(self.X @ self._step[:-1]).ravel() + self._step[-1]

    def move(self, length: float) -> None:
        """Go along the last change."""
        self.w += length * self._step[:-1]
        self.b += length * float(self._step[-1])

    def coefficients(self, beta: Floats) -> Floats:
        """The coefficients of the iterate, as far as they are known here: those given."""
        return beta

    def scores(self, beta: Floats) -> Floats:
        """``K beta``, with what is held elsewhere."""
        return np.asarray(self.X @ (transposed(self.X, beta) + self._held)).ravel()


class CaseSpace:
    """Any positive semidefinite kernel matrix: iterates are coefficients of the cases and an intercept.

    The system is solved as ``1 + S K S`` with ``S = sqrt(W)``, whose eigenvalues are at least 1, however singular K is.

    Parameters
    ----------
    K : ndarray of shape (n, n)
    held : Held
        Variables of other cases, `held.scores` being the part of the scores of these cases that is theirs.
    """

    def __init__(self, K: Floats, held: Held = NOTHING_HELD) -> None:
        self.K, self.total = K, -held.total
        self._held_scores = np.zeros(len(K)) + held.scores
        self._constant = held.gain - held.half_norm
        self.u, self.b = np.zeros(len(K)), 0.0
        self._g, self._du, self._dg, self._db = np.zeros(len(K)), np.zeros(len(K)), np.zeros(len(K)), 0.0

    def first_scores(self) -> Floats:
        """Scores at the first iterate."""
        return self._held_scores.copy()

    def value(self) -> float:
        """The primal objective at the iterate, but for the losses of these cases."""
        return 0.5 * float(self.u @ self._g) + self.total * self.b + self._constant

    def value_at(self, beta: Floats, g: Floats, b: float) -> float:
        """The same at coefficients with scores ``g + b``."""
        return 0.5 * float(beta @ (g - self._held_scores)) + self.total * b + self._constant

    def factorise(self, weight: Floats) -> None:
        """Prepare the system at these inverse curvatures."""
        self._root = np.sqrt(weight)
        B = self.K * self._root
        B *= self._root[:, None]
        B[np.diag_indices_from(B)] += 1.0
        # LAPACK reads columns: the transpose of a symmetric matrix stored by rows saves a copy.
        self._factor = linalg.cho_factor(B.T, lower=True, overwrite_a=True, check_finite=False)
        self._to_ones = linalg.cho_solve(self._factor, self._root, check_finite=False)

    def change(self, drawn: Floats) -> Floats:
        """The change of the scores; it is kept for `move`."""
        to_drawn = linalg.cho_solve(self._factor, (drawn - self.u) / self._root, check_finite=False)
        self._db = float(self._root @ to_drawn + self.u.sum() - self.total) / float(self._root @ self._to_ones)
        self._du = self._root * (to_drawn - self._db * self._to_ones)
        self._dg = self.K @ self._du
        return self._dg + self._db

    def move(self, length: float) -> None:
        """Go along the last change."""
        self.u += length * self._du
        self._g += length * self._dg
        self.b += length * self._db

    def coefficients(self, beta: Floats) -> Floats:
        """Those that have the scores of the iterate: of a free variable the barriers know fewer digits."""
        return self.u

    def scores(self, beta: Floats) -> Floats:
        """``K beta``, with what is held elsewhere."""
        return np.asarray(self.K @ beta) + self._held_scores


def curvature(X: Any, weight: Floats) -> Floats:
    """The matrix of ``(w, b)``: the identity for w, plus the weighted products of [X, 1]."""
    d = X.shape[1]
    H = np.zeros((d + 1, d + 1))
    H[:d, :d], H[:d, d] = weighted_gram(X, weight)
    H[d, :d] = H[:d, d]
    H[d, d] = weight.sum()
    H[np.arange(d), np.arange(d)] += 1.0
    return H


def weighted_gram(X: Any, weight: Floats) -> tuple[Floats, Floats]:
    """``X' diag(weight) X`` and ``X' weight``, a stretch of rows at a time."""
    if sparse.issparse(X):
        return np.asarray((X.T @ sparse.diags_array(weight) @ X).toarray()), transposed(X, weight)
    H, root = np.zeros((X.shape[1], X.shape[1])), np.sqrt(weight)
    for rows in stretches(X.shape[0], X.shape[1], 2**16):
        part = X[rows] * root[rows, None]
        H += part.T @ part  # a product with its own transpose takes half the work
    return H, transposed(X, weight)


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


def transposed(X: Any, v: Floats) -> Floats:
    """``X' v``."""
    return np.asarray(X.T @ v).ravel()
