"""What the kernel machines share: checked input, weights, the kernel, support vectors, reasons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from ..base import Evaluation, RejectOptionMixin
from ..checks import check_finite, check_weights, is_number
from ..labels import plain
from .gram import KERNELS, Kernel

_CHECKED_SPECTRUM = 500  # precomputed kernels up to this size are checked for negative eigenvalues


class KernelMachineMixin(RejectOptionMixin):
    """Input and output of a classifier whose score is a kernel expansion with an intercept.

    A subclass has the parameters `kernel`, `gamma`, `degree`, `coef0` and `class_weight`, defines `_check_parameters`,
    and has once fitted `thresholds_`, the scores between which a case is rejected.
    """

    kernel: str | Callable[..., Any]
    gamma: str | float
    degree: float
    coef0: float
    class_weight: Any
    thresholds_: tuple[float, float]
    intercept_: float
    _kernel: Kernel

    def _check_parameters(self) -> None:
        raise NotImplementedError(f"{type(self).__name__} must define _check_parameters.")

    def _check_input(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, NDArray[np.float64], NDArray[np.float64]]:
        """Return the cases, their labels as -1 and +1, and their weights."""
        self._check_parameters()
        X, y = validate_data(self, X, y, **self._input_form())
        codes = self._fit_labels(y)
        self._require_two_classes()
        weights = self._weights(sample_weight, codes)
        if len(np.unique(codes[weights > 0])) < 2:
            raise ValueError(
                "sample_weight leaves one class only: a classifier needs cases of two classes with weights above 0."
            )
        if self.kernel == "precomputed":
            _check_kernel_matrix(X)
        return X, np.where(codes == 1, 1.0, -1.0), weights

    def _check_kernel(self) -> None:
        if not (self.kernel in KERNELS if isinstance(self.kernel, str) else callable(self.kernel)):
            known = ", ".join(map(repr, KERNELS))
            raise ValueError(f"kernel must be one of {known} or a function; got {self.kernel!r}.")
        if not is_number(self.degree) or not (np.isfinite(self.degree) and self.degree >= 0):
            raise ValueError(f"degree must be a finite number, not negative; got {self.degree!r}.")
        check_finite("coef0", self.coef0)
        named = isinstance(self.gamma, str) and self.gamma in ("scale", "auto")
        if not named and not (is_number(self.gamma) and np.isfinite(self.gamma) and float(self.gamma) > 0):
            raise ValueError(f"gamma must be 'scale', 'auto' or a number greater than 0; got {self.gamma!r}.")

    def _input_form(self) -> dict[str, Any]:
        """How X is validated."""
        return {"accept_sparse": "csr", "dtype": np.float64, "accept_large_sparse": False}

    def _weights(self, sample_weight: Any, codes: NDArray[np.intp]) -> NDArray[np.float64]:
        """Weight of each case: its own times that of its class."""
        weights = check_weights(sample_weight, len(codes))
        if self.class_weight is None:
            return weights
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            totals = np.bincount(codes, weights=weights, minlength=2)
            return weights * (totals.sum() / (2 * np.maximum(totals, 1e-300)))[codes]
        if not isinstance(self.class_weight, dict):
            raise ValueError(f"class_weight must be a dict, 'balanced' or None; got {self.class_weight!r}.")
        names = [plain(label) for label in self.classes_]
        unknown = [key for key in self.class_weight if plain(key) not in names]
        if unknown:
            raise ValueError(f"class_weight has keys that are no classes: {unknown!r}; the classes are {names!r}.")
        given = [self.class_weight.get(name, 1.0) for name in names]
        if not all(is_number(factor) and np.isfinite(factor) and factor > 0 for factor in given):
            raise ValueError(f"class_weight must hold finite numbers greater than 0; got {self.class_weight!r}.")
        factors = np.array(given, dtype=np.float64)
        return weights * factors[codes]

    def _present(self, X: Any, used: NDArray[np.intp]) -> Any:
        """The cases of positive weight; of a kernel matrix, rows and columns."""
        if len(used) == X.shape[0]:
            return X
        return X[used][:, used] if self.kernel == "precomputed" else X[used]

    def _settle_kernel(self, X: Any, weights: NDArray[np.float64]) -> Kernel:
        gamma = self.gamma
        if gamma == "auto":
            gamma = 1.0 / X.shape[1]
        elif gamma == "scale":
            spread = _variance(X, weights) if self.kernel in ("rbf", "poly", "sigmoid") else 1.0
            gamma = 1.0 / (X.shape[1] * spread) if spread > 0 else 1.0
        return Kernel(self.kernel, float(gamma), float(self.degree), float(self.coef0))

    def _store_support(self, beta: NDArray[np.float64], X: Any, used: NDArray[np.intp]) -> None:
        """Publish the cases with coefficients; `used` are the positions of the rows of X among the training cases."""
        support = np.flatnonzero(beta)
        self.support_ = used[support]
        self.dual_coef_ = beta[support]
        self.support_vectors_ = X[support] if self.kernel != "precomputed" else np.empty((0, 0))
        if self.kernel == "linear":
            self.coef_ = np.asarray(self.support_vectors_.T @ self.dual_coef_).ravel()
        elif hasattr(self, "coef_"):
            del self.coef_  # of an earlier fit

    def _score(self, X: Any) -> NDArray[np.float64]:
        """The score f of each case."""
        name = self._kernel.name  # as fitted
        if name == "linear":
            expansion = np.asarray(X @ self.coef_).ravel()
        elif name == "precomputed":
            expansion = np.asarray(X[:, self.support_] @ self.dual_coef_).ravel()
        else:
            expansion = self._kernel.expansion(X, self.support_vectors_, self.dual_coef_)
        return expansion + self.intercept_

    def _reasons(self, evaluation: Evaluation) -> list[str]:
        low, high = self.thresholds_
        names = [plain(label) for label in self.classes_]
        return [_reason(float(f), low, high, names) for f in evaluation.detail]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _reason(f: float, low: float, high: float, names: list[Any]) -> str:
    """One sentence: the score, both thresholds, and how far the nearer one is."""
    thresholds = f"thresholds {low:.4g} and {high:.4g}"
    if f > high:
        return f"score {f:.4g} is {f - high:.4g} above the upper of the {thresholds}: {names[1]!r}"
    if f < low:
        return f"score {f:.4g} is {low - f:.4g} below the lower of the {thresholds}: {names[0]!r}"
    nearer = names[1] if high - f < f - low else names[0]
    return f"score {f:.4g} lies between the {thresholds}, {min(high - f, f - low):.4g} from {nearer!r}"


def _variance(X: Any, weights: NDArray[np.float64]) -> float:
    """Variance of all entries of X, each row with its weight: a case of weight 2 counts as two."""
    total = weights.sum() * X.shape[1]
    if sparse.issparse(X):
        mean = float((X.T @ weights).sum()) / total
        return float((X.multiply(X).T @ weights).sum()) / total - mean**2
    centre = float((weights @ X).sum()) / total
    return float((weights @ (X - centre) ** 2).sum()) / total


def _check_kernel_matrix(K: Any) -> None:
    """Refuse what cannot be a matrix of kernel values."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"Precomputed matrix must be a square matrix of kernel values between the training cases; got {K.shape}."
        )
    size = abs(K).max()
    if abs(K - K.T).max() > 1e-8 * size:
        raise ValueError("A precomputed kernel matrix must be symmetric; use (K + K.T) / 2 if it is so but for noise.")
    if K.shape[0] <= _CHECKED_SPECTRUM:
        values = np.linalg.eigvalsh(K.toarray() if sparse.issparse(K) else K)
        if values[0] < -1e-8 * max(abs(values[-1]), abs(values[0])):
            raise ValueError(
                f"A precomputed kernel matrix must be positive semidefinite; its smallest eigenvalue is "
                f"{values[0]:.3g}, its largest {values[-1]:.3g}. The dual problem would not be convex."
            )
