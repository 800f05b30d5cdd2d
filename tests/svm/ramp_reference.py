"""The double ramp problem written out a second time: its objective, its majoriser by a conic solver, its optimum."""

from dataclasses import dataclass

import cvxpy as cp
import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from recuse import Costs

PRICES = [
    Costs(reject=0.2),
    Costs(reject=0.45),
    Costs(reject=0.05),
    Costs(fp=1, fn=5, reject=0.3),
    Costs(fp=20, fn=30, reject_negative=4, reject_positive=7),
]


@dataclass
class RampCase:
    """A random problem: cases, labels, prices, weights and the parameters of the machine.

    `lam` is the weight of the penalty against losses in the currency of the prices.
    """

    X: np.ndarray
    y: np.ndarray
    costs: Costs
    weights: np.ndarray
    kernel: str
    lam: float
    mu: float

    @property
    def gram(self):
        if self.kernel == "linear":
            return self.X @ self.X.T
        return np.exp(-0.5 * ((self.X[:, None] - self.X[None]) ** 2).sum(axis=2))

    @property
    def heights(self):
        """Of both ramps, for each case, over 1 + mu."""
        c = np.where(self.y > 0, self.costs.fn, self.costs.fp)
        r = np.where(self.y > 0, self.costs.reject_positive, self.costs.reject_negative)
        return self.weights * r / self.weights.sum(), self.weights * (c - r) / self.weights.sum()

    def loss(self, f, rho):
        """Eq. (4), term by term as printed, for each case's prices."""
        m, mu = self.y * f, self.mu
        outer, inner = self.heights

        def ramp(t):
            return np.maximum(mu - t, 0) - np.maximum(-(mu**2) - t, 0)

        return float(outer @ ramp(m - rho) + inner @ ramp(m + rho)) / mu


def random_ramp_case(seed, n=None):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 45)) if n is None else n
    y = np.where(np.arange(n) < max(2, n * rng.uniform(0.25, 0.75)), 1.0, -1.0)
    rng.shuffle(y)
    X = rng.normal(size=(n, 2))
    X[:, 0] += y * rng.choice([0.0, 0.6, 3.0])
    if seed % 4 == 0:
        X[: n // 3] = X[n // 3 : 2 * (n // 3)]  # duplicates, some with opposite labels
    weights = np.ones(n)
    if seed % 3 == 0:
        weights = rng.choice([0.5, 1.0, 3.0], size=n)
    costs = PRICES[seed % len(PRICES)]
    lam = 10 ** rng.uniform(-4, -1) * max(costs.fp, costs.fn)
    return RampCase(X, y, costs, weights, ("rbf", "linear")[seed % 2], lam, (1.0, 0.5, 0.8)[seed % 3])


def majoriser_minimum(case, penalty, f, rho, tie, slopes=None):
    """Least value of penalty plus the convex majoriser that touches the loss at (f, rho), by a conic solver.

    With `slopes`, that of the majoriser they name, wherever it touches.
    """
    m, mu, n = case.y * f, case.mu, len(case.y)
    slope_outer = (m - rho <= -(mu**2) + tie).astype(float) if slopes is None else slopes.outer
    slope_inner = (m + rho <= -(mu**2) + tie).astype(float) if slopes is None else slopes.inner
    values, vectors = np.linalg.eigh(case.gram)
    root = vectors * np.sqrt(np.maximum(values, 0))
    b, width = cp.Variable(), cp.Variable()
    if penalty == "l1":
        alpha = cp.Variable(n, nonneg=True)
        score, size = case.gram @ cp.multiply(case.y, alpha) + b, cp.sum(alpha)
    else:
        u = cp.Variable(n)
        score, size = root @ u + b, 0.5 * cp.sum_squares(u)
    margin = cp.multiply(case.y, score)
    outer, inner = case.heights
    loss = 0
    for height, t, slope in ((outer, margin - width, slope_outer), (inner, margin + width, slope_inner)):
        loss += height @ (cp.pos(mu - t) + cp.multiply(slope, t + mu**2)) / mu
    problem = cp.Problem(cp.Minimize(case.lam * size + loss), [width >= mu * (1 + mu) / 2])
    return problem.solve(solver=cp.CLARABEL)


def global_minimum(case):
    """The optimum of the l1 problem by a mixed-integer program: one binary variable for each ramp."""
    n, mu, y = len(case.y), case.mu, case.y
    outer, inner = case.heights
    most = (1 + mu) * max(case.costs.fp, case.costs.fn) / case.lam  # no better point has a larger sum of alpha
    reach = most * np.abs(case.gram).max()
    far, big = 2 * reach + 5, 4 * reach + 20
    G = y[:, None] * y * case.gram
    eye, none, one, label = np.eye(n), np.zeros((n, n)), np.ones((n, 1)), y[:, None]
    # Variables: alpha, b, rho, value of both ramps, whether each is at its top.
    rising = [[G, label, -one, eye, none, big * eye, none], [G, label, one, none, eye, none, big * eye]]
    flat = np.zeros((n, n + 2))
    width = mu + mu**2
    topped = [[flat, eye, none, -width * eye, none], [flat, none, eye, none, -width * eye]]
    lower = np.zeros(5 * n + 2)
    lower[n : n + 2] = -far, mu * (1 + mu) / 2
    upper = np.concatenate([np.full(n, most), [far, far], np.full(2 * n, np.inf), np.ones(2 * n)])
    cost = np.concatenate([np.full(n, case.lam), [0, 0], outer / mu, inner / mu, np.zeros(2 * n)])
    done = milp(
        cost,
        constraints=[LinearConstraint(np.block(rising), mu, np.inf), LinearConstraint(np.block(topped), 0, np.inf)],
        bounds=Bounds(lower, upper),
        integrality=np.concatenate([np.zeros(3 * n + 2), np.ones(2 * n)]),
    )
    assert done.success, done.message
    return done.fun
