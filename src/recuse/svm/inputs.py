"""What the kernel machines share when they are given cases and parameters: checks, weights, the settled kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Floats, Indices
from ..parameters import check_choice, check_number, is_number
from .kernels import KERNELS, Kernel

# How X is validated.
INPUT_FORM: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64, "accept_large_sparse": False}
_CHECKED_SPECTRUM = 500  # precomputed kernels up to this size are checked for negative eigenvalues


def check_kernel_parameters(machine: Any) -> None:
    """Refuse bad values of kernel, gamma, degree and coef0."""
    if not callable(machine.kernel):
        check_choice("kernel", machine.kernel, KERNELS, or_else=" or a function")
    check_number("degree", machine.degree, 0.0)
    check_number("coef0", machine.coef0)
    gamma = machine.gamma
    named = isinstance(gamma, str) and gamma in ("scale", "auto")
    if not named and not (is_number(gamma) and np.isfinite(gamma) and float(gamma) > 0):
        raise ValueError(f"gamma must be 'scale', 'auto' or a number greater than 0; got {gamma!r}.")


def check_both_classes_weigh(codes: Indices, weights: Floats) -> None:
    """Refuse weights that leave one class without cases."""
    if len(np.unique(codes[weights > 0])) < 2:
        raise ValueError(
            "sample_weight leaves one class only: a classifier needs cases of two classes with weights above 0."
        )


def some_cases(X: Any, rows: Indices, kernel: Any) -> Any:
    """Some of the cases; of a kernel matrix, rows and columns."""
    return X[rows][:, rows] if isinstance(kernel, str) and kernel == "precomputed" else X[rows]


def settle_kernel(machine: Any, X: Any, weights: Floats) -> Kernel:
    """The kernel function, with gamma as a number."""
    gamma = machine.gamma
    if gamma == "auto":
        gamma = 1.0 / X.shape[1]
    elif gamma == "scale":
        spread = _variance(X, weights) if machine.kernel in ("rbf", "poly", "sigmoid") else 1.0
        gamma = 1.0 / (X.shape[1] * spread) if spread > 0 else 1.0
    return Kernel(machine.kernel, float(gamma), float(machine.degree), float(machine.coef0))


def _variance(X: Any, weights: Floats) -> float:
    """Variance of all entries of X, each row with its weight: a case of weight 2 counts as two."""
    total = weights.sum() * X.shape[1]
    if sparse.issparse(X):
        mean = float((X.T @ weights).sum()) / total
        return float((X.multiply(X).T @ weights).sum()) / total - mean**2
    centre = float((weights @ X).sum()) / total
    return float((weights @ (X - centre) ** 2).sum()) / total


def check_kernel_matrix(K: Any) -> None:
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
