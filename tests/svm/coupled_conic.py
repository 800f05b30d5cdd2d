"""The coupled problem by an independent conic solver, straight from eq. (2)-(3), and random problems to compare on."""

from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from recuse import Costs

PRICES = [
    Costs(fp=4, fn=4, reject=1),
    Costs(reject=0.45),
    Costs(reject=0.05),
    Costs(fp=1, fn=5, reject=0.3),
    Costs(fp=8, fn=2, reject_negative=1.0, reject_positive=0.4),
    Costs(fp=1, fn=10, reject_negative=0.6, reject_positive=1.0),  # rejecting a negative costs more than half an error
]


@dataclass
class Case:
    """A random problem: kernel, cases, labels, prices, C, nu of both classes, weights."""

    kernel: str
    X: np.ndarray
    y: np.ndarray
    costs: Costs
    C: float
    nu_negative: float
    nu_positive: float
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
    def bounds(self):
        """Weights of the three kinds of slack: xi or eta, theta, epsilon."""
        positive, w = self.y > 0, self.weights
        largest = max(self.costs.fp, self.costs.fn)
        reject = np.where(positive, self.costs.reject_positive, self.costs.reject_negative)
        error = np.where(positive, self.costs.fn, self.costs.fp)
        own = np.where(positive, self.nu_positive * w[positive].sum(), self.nu_negative * w[~positive].sum())
        return w / own, self.C * w * reject / largest / w.sum(), self.C * w * (error - reject) / largest / w.sum()


def random_case(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(10, 45)), int(rng.integers(1, 5))
    y = np.where(np.arange(n) < max(2, n * rng.uniform(0.1, 0.9)), 1.0, -1.0)
    rng.shuffle(y)
    X = rng.normal(size=(n, d))
    X[:, 0] += y * rng.choice([0.0, 0.7, 4.0])  # hopeless, overlapping, separable
    if seed % 4 == 0:
        X[: n // 3] = X[n // 3 : 2 * (n // 3)]  # duplicates, some with opposite labels
    weights = np.ones(n)
    if seed % 5 == 0:
        weights = rng.choice([0.0, 0.5, 1.0, 3.0], size=n)
        weights[[y.argmax(), y.argmin()]] = 1.0
    kernel = ("rbf", "rbf", "linear", "precomputed")[int(rng.integers(4))]
    if kernel == "precomputed":
        B = np.column_stack([X, rng.normal(size=(n, 2)), np.tanh(X)])
        X = B @ B.T
    C = 0.0 if seed % 6 == 0 else 10 ** rng.uniform(-2, 4)
    nu = rng.choice([0.01, 0.05, 0.2, 0.5, 0.9, 1.0], size=2)
    return Case(kernel, X, y, PRICES[seed % len(PRICES)], C, float(nu[0]), float(nu[1]), weights)


def primal(case, F, half_norm, rho_negative, rho_positive, rho):
    """Objective (2) with the best slacks; F holds the scores in the negative and the positive machine, two columns."""
    a, g, u = case.bounds
    positive = case.y > 0
    own, threshold = np.where(positive, F[:, 1], F[:, 0]), np.where(positive, rho_positive, rho_negative)
    m = case.y * (F[:, 1] - F[:, 0])
    slacks = a @ np.maximum(threshold - own, 0) + g @ np.maximum(rho - m, 0) + u @ np.maximum(-rho - m, 0)
    return half_norm - rho_positive - rho_negative + slacks


def conic_solution(case, nonnegative=False):
    """Minimum and scores of both machines (two columns), from Clarabel; on demand with rho >= 0."""
    values, vectors = np.linalg.eigh(case.gram)
    keep = values > 1e-12 * values[-1]
    root = vectors[:, keep] * np.sqrt(values[keep])
    w = [cp.Variable(int(keep.sum())) for _ in range(2)]
    thresholds, rho = [cp.Variable() for _ in range(2)], cp.Variable(nonneg=nonnegative)
    used = case.weights > 0
    a, g, u = (bound[used] for bound in case.bounds)
    y, root_used = case.y[used], root[used]
    terms, constraints = [], []
    for side, sign in enumerate((-1, 1)):
        of = y == sign
        xi = cp.Variable(int(of.sum()), nonneg=True)
        constraints.append(root_used[of] @ w[side] >= thresholds[side] - xi)
        terms.append(0.5 * cp.sum_squares(w[side]) - thresholds[side] + a[of] @ xi)
    if case.C > 0:
        theta, epsilon = (cp.Variable(len(y), nonneg=True) for _ in range(2))
        margin = cp.multiply(y, root_used @ (w[1] - w[0]))
        constraints += [margin >= rho - theta, margin >= -rho - epsilon]
        terms.append(g @ theta + u @ epsilon)
    problem = cp.Problem(cp.Minimize(sum(terms)), constraints)
    tight = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
    problem.solve(solver=cp.CLARABEL, **tight)
    F = np.column_stack([root @ side.value for side in w])
    half_norm = 0.5 * sum(float(side.value @ side.value) for side in w)
    width = float(rho.value) if case.C > 0 else 0.0
    return primal(case, F, half_norm, float(thresholds[0].value), float(thresholds[1].value), width), F
