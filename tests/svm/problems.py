"""Random kernel problems, and what an independent conic solver needs of them."""

from dataclasses import dataclass

import numpy as np

from recuse import Costs

TIGHT = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}  # of Clarabel


@dataclass
class KernelProblem:
    """Kernel, cases (or kernel values), labels, prices, C and weights."""

    kernel: str
    X: np.ndarray
    y: np.ndarray
    costs: Costs
    C: float
    weights: np.ndarray

    @property
    def gram(self):
        if self.kernel == "precomputed":
            return self.X
        if self.kernel == "linear":
            return self.X @ self.X.T
        distances = ((self.X[:, None] - self.X[None]) ** 2).sum(axis=2)
        return np.exp(-0.5 * distances)

    @property
    def root(self):
        """Matrix whose rows have the kernel matrix as their inner products."""
        values, vectors = np.linalg.eigh(self.gram)
        keep = values > 1e-12 * values[-1]
        return vectors[:, keep] * np.sqrt(values[keep])


def random_cases(rng, seed, *, most, smallest_class):
    """Fewer than `most` cases with labels and weights; every fourth seed has duplicates, every fifth other weights."""
    n, d = int(rng.integers(10, most)), int(rng.integers(1, 5))
    y = np.where(np.arange(n) < max(2, n * rng.uniform(smallest_class, 1 - smallest_class)), 1.0, -1.0)
    rng.shuffle(y)
    X = rng.normal(size=(n, d))
    X[:, 0] += y * rng.choice([0.0, 0.7, 4.0])  # hopeless, overlapping, separable
    if seed % 4 == 0:
        X[: n // 3] = X[n // 3 : 2 * (n // 3)]  # duplicates, some with opposite labels
    weights = np.ones(n)
    if seed % 5 == 0:
        weights = rng.choice([0.0, 0.5, 1.0, 3.0], size=n)
        weights[[y.argmax(), y.argmin()]] = 1.0
    return X, y, weights


def random_gram(rng, X):
    """Kernel values between cases, from more features than they have."""
    B = np.column_stack([X, rng.normal(size=(len(X), 2)), np.tanh(X)])
    return B @ B.T
