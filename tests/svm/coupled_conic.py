"""The coupled problem by an independent conic solver, straight from eq. (2)-(3), and random problems to compare on."""

from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from recuse import Costs

from .problems import TIGHT, KernelProblem, random_cases, random_gram

PRICES = [
    Costs(fp=4, fn=4, reject=1),
    Costs(reject=0.45),
    Costs(reject=0.05),
    Costs(fp=1, fn=5, reject=0.3),
    Costs(fp=8, fn=2, reject_negative=1.0, reject_positive=0.4),
    Costs(fp=1, fn=10, reject_negative=0.6, reject_positive=1.0),  # rejecting a negative costs more than half an error
]


@dataclass
class CoupledProblem(KernelProblem):
    """A kernel problem with the largest shares of both classes outside their regions."""

    nu_negative: float
    nu_positive: float

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
    X, y, weights = random_cases(rng, seed, most=45, smallest_class=0.1)
    kernel = ("rbf", "rbf", "linear", "precomputed")[int(rng.integers(4))]
    if kernel == "precomputed":
        X = random_gram(rng, X)
    C = 0.0 if seed % 6 == 0 else 10 ** rng.uniform(-2, 4)
    nu = rng.choice([0.01, 0.05, 0.2, 0.5, 0.9, 1.0], size=2)
    return CoupledProblem(kernel, X, y, PRICES[seed % len(PRICES)], C, weights, float(nu[0]), float(nu[1]))


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
    root = case.root
    w = [cp.Variable(root.shape[1]) for _ in range(2)]
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
    problem.solve(solver=cp.CLARABEL, **TIGHT)
    F = np.column_stack([root @ side.value for side in w])
    half_norm = 0.5 * sum(float(side.value @ side.value) for side in w)
    width = float(rho.value) if case.C > 0 else 0.0
    return primal(case, F, half_norm, float(thresholds[0].value), float(thresholds[1].value), width), F
