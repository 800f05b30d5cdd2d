"""The kernels between two sets of cases, dense or CSR: rbf, linear, poly, sigmoid, precomputed, or a function.

NumPy and SciPy only: prediction needs no compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ..arrays import Flags, Floats
from ..rounding import EPS, row_sums

Matrix = NDArray[Any]
# Sums of a batch, and how far each may be off -> which of them lie that near a threshold.
Near = Callable[[Floats, Floats], Flags]
CHECKED = 2048  # most cases whose kernel values are checked: a Cholesky factor takes a fraction of a second
_ASYMMETRY = 1e-8  # share of the largest kernel value up to which a matrix is symmetric
_NEGATIVE = 1e-8  # share of the largest eigenvalue up to which a negative one is rounding
_FAR = 1e150  # in units of the rbf kernel's width
_TILE = (256, 512)  # a megabyte: stays in the processor's cache
_ROUNDING_OF_FUNCTIONS = 1e-10  # share of the values of a user's function that its rounding is taken to be at most


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

    @property
    def form(self) -> KernelForm:
        """What the kernel computes."""
        return form_of(self.name)

    def __call__(self, X: Any, Z: Any) -> Matrix:
        """Matrix of kernel values between the rows of X and those of Z."""
        return self.form.matrix(self, X, Z)

    def finish(self, products: Matrix, left: Matrix, right: Matrix) -> Matrix:
        """Turn inner products into kernel values, in place; `left` and `right` are squared norms (rbf only)."""
        return self.form.finish(self, products, left, right)

    def diagonal(self, X: Any) -> Floats:
        """Kernel of each case with itself."""
        return self.form.diagonal(self, X)

    @property
    def semidefinite(self) -> bool:
        """Whether every matrix of its values is known to be positive semidefinite."""
        return self.form.semidefinite(self)

    def closeness(self, X: Any, Z: Any) -> Matrix:
        """Minus the squared distance between rows of X and Z in the kernel's space, up to a constant per row of X."""
        return self.form.closeness(self, X, Z)

    def expansion(self, X: Any, basis: Any, coef: Floats, near: Near | None = None) -> Floats:
        """``sum_j coef_j k(x, basis_j)`` for each row x of X, a tile of the kernel matrix at a time.

        Parameters
        ----------
        X, basis : ndarray or CSR matrix
            Cases.
        coef : ndarray of shape (n_basis,) or (n_basis, k)
            Coefficients; several columns for as many expansions.
        near : callable, optional
            Which sums are too near a threshold for the rounding that they may have. These cases are computed again,
            each by itself, so that the side they are on does not depend on the other rows of X.
        """
        return self.form.expansion(self, X, basis, coef, near)


@dataclass(frozen=True, eq=False)
class KernelExpansion:
    """A weighted sum of kernel values with a basis.

    Attributes
    ----------
    kernel : Kernel
        The kernel.
    basis : ndarray or CSR matrix of shape (m, p)
        Cases, shifted.
    coef : ndarray of shape (m,) or (m, k)
        Their coefficients.
    right : ndarray or None
        Their factors, where kernel values follow from a product of dense matrices.
    """

    kernel: Kernel
    basis: Any
    coef: Floats
    right: Matrix | None

    @cached_property
    def largest_norm(self) -> float:
        """Largest squared norm of the basis."""
        return float(squared_norms(self.basis).max())

    @cached_property
    def total(self) -> Floats:
        """Sum of the sizes of the coefficients."""
        return np.abs(self.coef).sum(axis=0)


class KernelForm:
    """What one kernel computes, given the `Kernel` that holds the parameters; as it stands, the linear kernel.

    Attributes
    ----------
    given_as_matrix : bool
        Whether X holds the kernel values themselves, a column per training case.
    linear : bool
        Whether the score has a weight per feature.
    uses_gamma : bool
        Whether the parameter gamma matters.
    by_distance : bool
        Whether only the distance of two cases matters, as for rbf, whose logarithm is then one product.
    from_products : bool
        Whether the values follow from inner products of the cases.
    """

    given_as_matrix: ClassVar[bool] = False
    linear: ClassVar[bool] = False
    uses_gamma: ClassVar[bool] = False
    by_distance: ClassVar[bool] = False
    from_products: ClassVar[bool] = True

    def named(self, kernel: Kernel) -> str:
        """The kernel in a message."""
        return f"kernel={kernel.name!r}"

    def semidefinite(self, kernel: Kernel) -> bool:
        """Whether it is known that the kernel is an inner product in some space, whatever the cases."""
        return True

    def matrix(self, kernel: Kernel, X: Any, Z: Any) -> Matrix:
        """Kernel values between the rows of X and those of Z."""
        return self.finish(kernel, inner(X, Z), squared_norms(X), squared_norms(Z))

    def finish(self, kernel: Kernel, products: Matrix, left: Matrix, right: Matrix) -> Matrix:
        """Kernel values from inner products, in place, and squared norms, where they matter."""
        return products

    def diagonal(self, kernel: Kernel, X: Any) -> Floats:
        """Kernel of each case with itself."""
        norms = squared_norms(X)
        return self.finish(kernel, norms.copy(), norms, norms)

    def closeness(self, kernel: Kernel, X: Any, Z: Any) -> Matrix:
        """Minus the squared distance in the kernel's space, up to a constant per row of X."""
        return 2.0 * self.matrix(kernel, X, Z) - self.diagonal(kernel, Z)

    def centred(self, X: Any) -> Any:
        """The cases, shifted if that changes no kernel value and saves digits."""
        return self.shifted(X, self.centre(X))

    def centre(self, X: Any) -> Floats | None:
        """The point that cases are shifted by; None where a shift would change the kernel."""
        return None

    def shifted(self, X: Any, centre: Floats | None) -> Any:
        """The cases minus a centre, if there is one."""
        return X if centre is None else shifted(X, centre)

    def factors(self, kernel: Kernel, X: Matrix) -> tuple[Matrix, Matrix]:
        """Two matrices whose product `finish_product` turns into kernel values."""
        return X, X

    def finish_product(self, kernel: Kernel, values: Matrix) -> Matrix:
        """Kernel values from a product of factors, in place."""
        return self.finish(kernel, values, values, values)

    def expansion(self, kernel: Kernel, X: Any, basis: Any, coef: Floats, near: Near | None = None) -> Floats:
        """``sum_j coef_j k(x, basis_j)`` for each row x of X."""
        out = np.zeros((X.shape[0], *coef.shape[1:]))
        if not basis.shape[0]:
            return out
        # Distances are taken from the middle of the basis, so that cases far from the origin lose no digits.
        centre = self.centre(basis)
        expansion = self._prepare(kernel, self.shifted(basis, centre), coef, dense_cases=not sparse.issparse(X))
        for rows in stretches(X.shape[0], max(basis.shape[0], _TILE[0])):
            cases, sums = self.shifted(by_rows(X[rows]), centre), out[rows]
            if near is None:
                sums[:] = self._sums(cases, expansion)
                continue
            alone: Any = [0]
            if len(sums) > 1:
                sums[:], rounding = self._bounded_sums(cases, expansion)
                alone = np.flatnonzero(near(sums, rounding))
            for i in alone:
                sums[i] = self._sum_alone(cases[i : i + 1], expansion)
        return out

    def _prepare(self, kernel: Kernel, basis: Any, coef: Floats, *, dense_cases: bool) -> KernelExpansion:
        """What all cases share."""
        multiplies = self.from_products and dense_cases and not sparse.issparse(basis)
        return KernelExpansion(kernel, basis, coef, self.factors(kernel, basis)[1] if multiplies else None)

    def _sums(self, cases: Any, expansion: KernelExpansion) -> Floats:
        """The sums of some cases, by products of matrices: fast, in an order that depends on the batch."""
        kernel, coef, right = expansion.kernel, expansion.coef, expansion.right
        if right is None:
            return np.asarray(self.matrix(kernel, cases, expansion.basis) @ coef)
        sums = np.zeros((len(cases), *coef.shape[1:]))
        for rows in stretches(len(cases), 1, _TILE[0]):
            left = self.factors(kernel, cases[rows])[0]
            for columns in stretches(len(right), 1, _TILE[1]):
                values = self.finish_product(kernel, left @ right[columns].T)
                sums[rows] += values @ coef[columns]
        return sums

    def _bounded_sums(self, cases: Any, expansion: KernelExpansion) -> tuple[Floats, Floats]:
        """The sums, and how far those of the same case can be apart in different orders."""
        with np.errstate(over="ignore", invalid="ignore"):
            size = self.largest_term(expansion.kernel, squared_norms(cases), expansion.largest_norm)
        # Adding m numbers is off by m eps times their total size at most, in any order; twice, for two orders.
        steps = cases.shape[1] + expansion.basis.shape[0] + 8
        return self._sums(cases, expansion), np.multiply.outer(2 * EPS * steps * size, expansion.total)

    def _sum_alone(self, case: Any, expansion: KernelExpansion) -> Floats:
        """The sum of one case, a matrix of one row, in an order that depends on the lengths only."""
        kernel, basis = expansion.kernel, expansion.basis
        if expansion.right is None:
            values = self.matrix(kernel, case, basis)
        else:
            values = self.finish(kernel, row_sums(basis, case[0])[None], squared_norms(case), squared_norms(basis))
        return row_sums(values, expansion.coef)[0]

    def largest_term(self, kernel: Kernel, left: Floats, right: float) -> Floats:
        """How large numbers get on the way to a kernel value: rounding is a share of it.

        `left` and `right` are squared norms of cases and the largest of the basis.
        """
        return np.sqrt(left * right)


class Linear(KernelForm):
    """``x'z``."""

    linear: ClassVar[bool] = True

    def expansion(self, kernel: Kernel, X: Any, basis: Any, coef: Floats, near: Near | None = None) -> Floats:
        """One product with the weights of the features."""
        weights = np.asarray(basis.T @ coef)
        return np.asarray(X @ weights, dtype=np.float64) if near is None else row_sums(X, weights)


class Rbf(KernelForm):
    """``exp(-gamma |x - z|^2)``."""

    uses_gamma: ClassVar[bool] = True
    by_distance: ClassVar[bool] = True

    def finish(self, kernel: Kernel, products: Matrix, left: Matrix, right: Matrix) -> Matrix:
        """``|x - z|^2`` from the inner product and the two squared norms."""
        products *= 2.0
        products -= left[:, None]
        products -= right
        np.minimum(products, 0.0, out=products)  # rounding may make a squared distance negative
        products *= kernel.gamma
        return np.exp(products, out=products)

    def diagonal(self, kernel: Kernel, X: Any) -> Floats:
        """1 everywhere."""
        return np.ones(X.shape[0])

    def closeness(self, kernel: Kernel, X: Any, Z: Any) -> Matrix:
        """In the space of the cases, where the order is the same and nothing vanishes far away."""
        return 2.0 * inner(X, Z) - squared_norms(Z)

    def centre(self, X: Any) -> Floats:
        """Their middle: distances are the same."""
        return middle(X)

    def factors(self, kernel: Kernel, X: Matrix) -> tuple[Matrix, Matrix]:
        """Factors of the logarithm."""
        return log_factors(X, kernel.gamma)

    def largest_term(self, kernel: Kernel, left: Floats, right: float) -> Floats:
        """The terms of the exponent, which are differences of squared norms, and the value, up to 1."""
        return 1.0 + 2.0 * kernel.gamma * (left + right)

    def finish_product(self, kernel: Kernel, values: Matrix) -> Matrix:
        """The exponential of what is not above 0 but for rounding."""
        return np.exp(np.minimum(values, 0.0, out=values), out=values)


class Poly(KernelForm):
    """``(gamma x'z + coef0)^degree``."""

    uses_gamma: ClassVar[bool] = True

    def semidefinite(self, kernel: Kernel) -> bool:
        """Sums and products of inner products are inner products; differences and roots need not be."""
        return kernel.coef0 >= 0 and float(kernel.degree).is_integer()

    def finish(self, kernel: Kernel, products: Matrix, left: Matrix, right: Matrix) -> Matrix:
        """The power."""
        products *= kernel.gamma
        products += kernel.coef0
        with np.errstate(invalid="ignore", over="ignore"):  # the solvers refuse what is not finite
            return np.power(products, kernel.degree, out=products)

    def largest_term(self, kernel: Kernel, left: Floats, right: float) -> Floats:
        """The largest value; a power multiplies the relative error of what it is taken of."""
        largest: Floats = (kernel.gamma * np.sqrt(left * right) + abs(kernel.coef0)) ** kernel.degree
        return max(kernel.degree, 1.0) * largest


class Sigmoid(KernelForm):
    """``tanh(gamma x'z + coef0)``."""

    uses_gamma: ClassVar[bool] = True

    def semidefinite(self, kernel: Kernel) -> bool:
        """It depends on the cases."""
        return False

    def finish(self, kernel: Kernel, products: Matrix, left: Matrix, right: Matrix) -> Matrix:
        """The hyperbolic tangent."""
        products *= kernel.gamma
        products += kernel.coef0
        return np.tanh(products, out=products)

    def largest_term(self, kernel: Kernel, left: Floats, right: float) -> Floats:
        """What the hyperbolic tangent is taken of, and its value, up to 1."""
        return 1.0 + kernel.gamma * np.sqrt(left * right) + abs(kernel.coef0)


class Precomputed(KernelForm):
    """X holds the kernel values."""

    given_as_matrix: ClassVar[bool] = True
    from_products: ClassVar[bool] = False

    def named(self, kernel: Kernel) -> str:
        """The kernel in a message."""
        return "the precomputed kernel matrix"

    def semidefinite(self, kernel: Kernel) -> bool:
        """It depends on the values."""
        return False

    def matrix(self, kernel: Kernel, X: Any, Z: Any) -> Matrix:
        """The values as given."""
        return dense(X)

    def diagonal(self, kernel: Kernel, X: Any) -> Floats:
        """The diagonal as given."""
        return np.asarray(X.diagonal(), dtype=np.float64)

    def expansion(self, kernel: Kernel, X: Any, basis: Any, coef: Floats, near: Near | None = None) -> Floats:
        """One product with the coefficients."""
        return np.asarray(X @ coef, dtype=np.float64) if near is None else row_sums(X, coef)


class UserFunction(KernelForm):
    """A function of the user: two matrices in, the matrix of kernel values out."""

    from_products: ClassVar[bool] = False

    def named(self, kernel: Kernel) -> str:
        """The kernel in a message."""
        return "the kernel function"

    def semidefinite(self, kernel: Kernel) -> bool:
        """It depends on the function."""
        return False

    def matrix(self, kernel: Kernel, X: Any, Z: Any) -> Matrix:
        """What the function returns, checked."""
        assert callable(kernel.name)
        values = np.asarray(kernel.name(X, Z), dtype=np.float64)
        if values.shape != (X.shape[0], Z.shape[0]):
            expected = (X.shape[0], Z.shape[0])
            raise ValueError(f"kernel must return a matrix of shape {expected} here; got shape {values.shape}.")
        return values

    def _bounded_sums(self, cases: Any, expansion: KernelExpansion) -> tuple[Floats, Floats]:
        """The sums, and a guess of their rounding: what the function does on the way is not known."""
        values = self.matrix(expansion.kernel, cases, expansion.basis)
        size = np.multiply.outer(np.abs(values).max(axis=1), expansion.total)
        return np.asarray(values @ expansion.coef), _ROUNDING_OF_FUNCTIONS * size

    def diagonal(self, kernel: Kernel, X: Any) -> Floats:
        """Case by case."""
        return np.array([float(self.matrix(kernel, X[i : i + 1], X[i : i + 1])[0, 0]) for i in range(X.shape[0])])


KERNELS: dict[str, KernelForm] = {
    "linear": Linear(),
    "rbf": Rbf(),
    "poly": Poly(),
    "sigmoid": Sigmoid(),
    "precomputed": Precomputed(),
}
_USER_FUNCTION = UserFunction()


def form_of(name: str | Callable[..., Any]) -> KernelForm:
    """The kernel of a name, or of a function of the user."""
    return KERNELS[name] if isinstance(name, str) else _USER_FUNCTION


def log_factors(X: Matrix, gamma: float) -> tuple[Matrix, Matrix]:
    """Longer vectors l and r for which ``l'r = -gamma |x - z|^2``, the logarithm of the rbf kernel: one product."""
    with np.errstate(over="ignore"):
        # Beyond this distance the kernel is 0 anyway, and squares would be infinite.
        scaled = np.clip(X * np.sqrt(2 * gamma), -_FAR, _FAR)
    norms, ones = -0.5 * squared_norms(scaled), np.ones(len(X))
    return np.column_stack([scaled, norms, ones]), np.column_stack([scaled, ones, norms])


def finite(values: Matrix, kernel: Kernel) -> Matrix:
    """The values, if all of them are finite."""
    if np.isfinite(values).all():
        return values
    named = kernel.form.named(kernel)
    raise ValueError(
        f"{named} with gamma={kernel.gamma:g}, degree={kernel.degree:g}, coef0={kernel.coef0:g} gives values that are "
        "not finite. A fractional degree needs inner products above -coef0 / gamma; large values overflow "
        "unless the features are standardised."
    )


def require_symmetric(K: Any, kernel: Kernel) -> None:
    """Refuse kernel values, dense or CSR, that depend on the order of two cases."""
    if abs(K - K.T).max() > _ASYMMETRY * abs(K).max():
        raise ValueError(
            f"{kernel.form.named(kernel)} must be symmetric; use (K + K.T) / 2 if it is symmetric up to noise."
        )


def sampled_cases(n: int) -> NDArray[np.intp]:
    """Positions of the cases whose kernel values are checked: all, or evenly spread ones where there are many."""
    return np.linspace(0, n - 1, min(n, CHECKED)).astype(np.intp)


def require_semidefinite(K: Matrix, kernel: Kernel) -> None:
    """Refuse kernel values between cases for which the programs of the machines would not be convex.

    What a machine proves about its optimum holds for convex programs only.
    """
    require_symmetric(K, kernel)
    # A Cholesky factor is found in a small part of the time that eigenvalues take, and proves as much.
    shifted_K = K + _NEGATIVE * float(K.diagonal().max()) * np.eye(len(K))
    if K.diagonal().max() > 0 and linalg.lapack.dpotrf(shifted_K, overwrite_a=True)[1] == 0:
        return
    values = np.linalg.eigvalsh(K)
    if values[0] < -_NEGATIVE * max(abs(values[-1]), abs(values[0])):
        raise ValueError(
            f"{kernel.form.named(kernel)} must be positive semidefinite on the training cases, or nothing would prove "
            f"an optimum; its smallest eigenvalue is {values[0]:.3g}, its largest {values[-1]:.3g}. Use another "
            "kernel, or DoubleRampSVC(penalty='l1'), which takes any kernel function."
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


def by_rows(X: Any) -> Any:
    """X with the entries of a row side by side, as sums over a row find them."""
    return X if sparse.issparse(X) else np.ascontiguousarray(X)


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
