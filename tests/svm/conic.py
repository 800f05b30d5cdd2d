"""The same problems by an independent conic solver, and random problems to compare on."""

from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from recuse import Costs

PRICES = [
    Costs(reject=0.2),
    Costs(reject=0.45),
    Costs(reject=0.01),
    Costs(fp=1, fn=5, reject=0.3),
    Costs(fp=1, fn=50, reject=0.4),
    Costs(fp=50, fn=1, reject=0.3),
    Costs(fp=2, fn=1, reject_negative=0.5, reject_positive=0.05),
    Costs(fp=1, fn=8, reject_negative=0.1, reject_positive=1.5),
]


@dataclass
class Case:
    """A random problem: kernel, cases, labels, prices, C, weights."""

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


def random_case(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(10, 40)), int(rng.integers(1, 5))
    y = np.where(np.arange(n) < max(2, n * rng.uniform(0.2, 0.8)), 1.0, -1.0)
    rng.shuffle(y)
    X = rng.normal(size=(n, d))
    X[:, 0] += y * rng.choice([0.0, 0.7, 4.0])  # hopeless, overlapping, separable
    if seed % 4 == 0:
        X[: n // 3] = X[n // 3 : 2 * (n // 3)]  # duplicates, some with opposite labels
    weights = np.ones(n)
    if seed % 5 == 0:
        weights = rng.choice([0.0, 0.5, 1.0, 3.0], size=n)
        weights[[y.argmax(), y.argmin()]] = 1.0
    kernel = ("rbf", "linear", "precomputed")[seed % 3]
    if kernel == "precomputed":
        B = np.column_stack([X, rng.normal(size=(n, 2)), np.tanh(X)])
        X = B @ B.T
    return Case(kernel, X, y, PRICES[seed % len(PRICES)], 10 ** rng.uniform(-3, 4), weights)


def loss_lines(costs, y):
    """The double hinge as the maximum of three lines, eq. (7) and (8): slopes and constants, one row a case."""

    def entropy(p):
        return -p * np.log(p) - (1 - p) * np.log(1 - p)

    low, high = costs.thresholds
    positive = ([-(1 - low), -(1 - high), 0.0], [entropy(low), entropy(high), 0.0])
    negative = ([high, low, 0.0], [entropy(high), entropy(low), 0.0])
    slopes = np.where(y[:, None] > 0, positive[0], negative[0])
    constants = np.where(y[:, None] > 0, positive[1], negative[1])
    return slopes, constants


def primal(case, g, half_norm, b):
    """The objective (10) at scores g + b."""
    slopes, constants = loss_lines(case.costs, case.y)
    losses = (slopes * (g + b)[:, None] + constants).max(axis=1)
    return half_norm + case.C * float(case.weights @ losses)


def conic_solution(case):
    """Minimum, scores without intercept, and intercept, from Clarabel."""
    values, vectors = np.linalg.eigh(case.gram)
    keep = values > 1e-12 * values[-1]
    root = vectors[:, keep] * np.sqrt(values[keep])
    u, b = cp.Variable(keep.sum()), cp.Variable()
    xi = cp.Variable(len(case.y), nonneg=True)
    slopes, constants = loss_lines(case.costs, case.y)
    f = root @ u + b
    constraints = [xi >= cp.multiply(slopes[:, k], f) + constants[:, k] for k in range(2)]
    objective = 0.5 * cp.sum_squares(u) + case.C * (case.weights @ xi)
    problem = cp.Problem(cp.Minimize(objective), constraints)
    tight = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
    problem.solve(solver=cp.CLARABEL, **tight)
    g = root @ u.value
    return primal(case, g, 0.5 * float(u.value @ u.value), float(b.value)), g, float(b.value)
