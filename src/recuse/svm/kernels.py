"""The kernels between two sets of cases, dense or CSR: rbf, linear, poly, sigmoid, precomputed, or a function.

NumPy and SciPy only: prediction needs no compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..arrays import Floats

KERNELS = ("linear", "rbf", "poly", "sigmoid", "precomputed")
Matrix = NDArray[Any]
_TILE = (256, 512)  # a megabyte: stays in the processor's cache


@dataclass(frozen=True)
class Kernel:
    """A kernel function with its parameters settled.

    Attributes
    ----------
    name : str or callable
        One of `KERNELS`, or a function of two matrices that returns the matrix of kernel values.
    gamma, degree, coef0 : float
        ``rbf``: ``exp(-gamma |x - z|^2)``; ``poly``: ``(gamma x'z + coef0)^degree``; ``sigmoid``:
        ``tanh(gamma x'z + coef0)``.
    """

    name: str | Callable[..., Any]
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 0.0

    def __call__(self, X: Any, Z: Any) -> Matrix:
        """Matrix of kernel values between the rows of X and those of Z."""
        if callable(self.name):
            values = np.asarray(self.name(X, Z), dtype=np.float64)
            if values.shape != (X.shape[0], Z.shape[0]):
                expected = (X.shape[0], Z.shape[0])
                raise ValueError(f"kernel must return a matrix of shape {expected} here; got shape {values.shape}.")
            return values
        if self.name == "precomputed":
            return dense(X)
        return self.finish(inner(X, Z), squared_norms(X), squared_norms(Z))

    def finish(self, products: Matrix, left: Matrix, right: Matrix) -> Matrix:
        """Turn inner products into kernel values, in place; `left` and `right` are squared norms (rbf only)."""
        if self.name == "rbf":
            products *= 2.0
            products -= left[:, None]
            products -= right
            np.minimum(products, 0.0, out=products)  # rounding may make a squared distance negative
            products *= self.gamma
            return np.exp(products, out=products)
        if self.name in ("poly", "sigmoid"):
            products *= self.gamma
            products += self.coef0
            if self.name == "sigmoid":
                return np.tanh(products, out=products)
            with np.errstate(invalid="ignore", over="ignore"):  # the solvers refuse what is not finite
                return np.power(products, self.degree, out=products)
        return products

    def diagonal(self, X: Any) -> Floats:
        """Kernel of each case with itself."""
        if callable(self.name):
            return np.array([float(self(X[i : i + 1], X[i : i + 1])[0, 0]) for i in range(X.shape[0])])
        if self.name == "precomputed":
            return np.asarray(X.diagonal(), dtype=np.float64)
        norms = squared_norms(X)
        if self.name == "rbf":
            return np.ones(X.shape[0])
        return self.finish(norms.copy(), norms, norms)

    def closeness(self, X: Any, Z: Any) -> Matrix:
        """Minus the squared distance between rows of X and Z in the kernel's space, up to a constant per row of X.

        For rbf in the space of the cases, where the order is the same and nothing vanishes far away.
        """
        if self.name == "rbf":
            return 2.0 * inner(X, Z) - squared_norms(Z)
        return 2.0 * self(X, Z) - self.diagonal(Z)

    def expansion(self, X: Any, basis: Any, coef: Floats) -> Floats:
        """``sum_j coef_j k(x, basis_j)`` for each row x of X, a tile of the kernel matrix at a time.

        `coef` may have several columns, one for each expansion. Distances are taken from the middle of the basis, so
        that cases far from the origin lose no digits.
        """
        if self.name == "precomputed":
            return np.asarray(X @ coef, dtype=np.float64)
        if self.name == "linear":
            return np.asarray(X @ np.asarray(basis.T @ coef), dtype=np.float64)
        out = np.zeros((X.shape[0], *coef.shape[1:]))
        if not basis.shape[0]:
            return out
        rbf = self.name == "rbf"
        centre = middle(basis) if rbf else np.zeros(0)
        if callable(self.name) or sparse.issparse(X) or sparse.issparse(basis):
            nearer = shifted(basis, centre) if rbf else basis
            for rows in stretches(X.shape[0], basis.shape[0]):
                out[rows] = self(shifted(X[rows], centre) if rbf else X[rows], nearer) @ coef
            return out
        right = log_factors(basis - centre, self.gamma)[1] if rbf else basis
        for rows in stretches(X.shape[0], 1, _TILE[0]):
            left = log_factors(X[rows] - centre, self.gamma)[0] if rbf else X[rows]
            for columns in stretches(basis.shape[0], 1, _TILE[1]):
                values = left @ right[columns].T
                if rbf:
                    np.exp(np.minimum(values, 0.0, out=values), out=values)
                else:
                    values = self.finish(values, values, values)
                out[rows] += values @ coef[columns]
        return out


def log_factors(X: Matrix, gamma: float) -> tuple[Matrix, Matrix]:
    """Longer vectors l and r for which ``l'r = -gamma |x - z|^2``, the logarithm of the rbf kernel: one product."""
    scaled = X * np.sqrt(2 * gamma)
    norms, ones = -0.5 * squared_norms(scaled), np.ones(len(X))
    return np.column_stack([scaled, norms, ones]), np.column_stack([scaled, ones, norms])


def finite(values: Matrix, kernel: Kernel) -> Matrix:
    """The values, if all of them are finite."""
    if np.isfinite(values).all():
        return values
    named = "the kernel function" if callable(kernel.name) else f"kernel={kernel.name!r}"
    raise ValueError(
        f"{named} with gamma={kernel.gamma:g}, degree={kernel.degree:g}, coef0={kernel.coef0:g} gives values that are "
        "not finite. A fractional degree needs inner products above -coef0 / gamma; large values overflow "
        "unless the features are standardised."
    )


def stretches(n_rows: int, width: int, budget: int = 2**20) -> Iterator[slice]:
    """Slices of rows of that width, each of about `budget` numbers."""
    size = max(1, budget // max(width, 1))
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


def inner(X: Any, Z: Any) -> Matrix:
    """Dense matrix of inner products."""
    return dense(X @ Z.T)


def dense(X: Any) -> Matrix:
    """The matrix as an array."""
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def squared_norms(X: Any) -> Matrix:
    """Squared length of each row."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def centred(X: Any) -> Any:
    """X minus its middle: distances are the same, and fewer digits are lost."""
    return shifted(X, middle(X))


def middle(X: Any) -> Floats:
    """Column means; of a sparse matrix only where a column has no zeros, and is as sparse when it is shifted."""
    if not sparse.issparse(X):
        return np.asarray(X.mean(axis=0))
    full = np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0]
    return np.where(full, np.asarray(X.mean(axis=0)).ravel(), 0.0)


def shifted(X: Any, centre: Floats) -> Any:
    """X minus a point."""
    if not sparse.issparse(X):
        return X - centre
    at, n = np.flatnonzero(centre), X.shape[0]
    if not len(at):
        return X
    entries = (np.tile(centre[at], n), np.tile(at, n), len(at) * np.arange(n + 1))
    return (X - type(X)(entries, shape=X.shape)).tocsr()
