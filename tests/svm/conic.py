"""The same problems by an independent conic solver, and random problems to compare on."""

import cvxpy as cp
import numpy as np

from recuse import Costs

from .problems import TIGHT, KernelProblem, random_cases, random_gram

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


def random_case(seed):
    rng = np.random.default_rng(seed)
    X, y, weights = random_cases(rng, seed, most=40, smallest_class=0.2)
    kernel = ("rbf", "linear", "precomputed")[seed % 3]
    if kernel == "precomputed":
        X = random_gram(rng, X)
    return KernelProblem(kernel, X, y, PRICES[seed % len(PRICES)], 10 ** rng.uniform(-3, 4), weights)


def loss_lines(costs, y):
    """The double hinge as the maximum of three lines, eq. (7) and (8): slopes and constants, one row per case."""

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
    root = case.root
    u, b = cp.Variable(root.shape[1]), cp.Variable()
    xi = cp.Variable(len(case.y), nonneg=True)
    slopes, constants = loss_lines(case.costs, case.y)
    f = root @ u + b
    constraints = [xi >= cp.multiply(slopes[:, k], f) + constants[:, k] for k in range(2)]
    objective = 0.5 * cp.sum_squares(u) + case.C * (case.weights @ xi)
    problem = cp.Problem(cp.Minimize(objective), constraints)
    problem.solve(solver=cp.CLARABEL, **TIGHT)
    g = root @ u.value
    return primal(case, g, 0.5 * float(u.value @ u.value), float(b.value)), g, float(b.value)
