"""Small problems of several classes, and what solves them by other means."""

import numpy as np

from recuse import Costs
from recuse.boosting.abstention.classes.problem import ClassProblem, savings
from recuse.boosting.binning import bin_features

PRICES = Costs(errors=[[0, 1, 2], [1, 0, 2], [12, 8, 0]], reject=[0.4, 0.4, 0.6])


def small_problem(seed=0, m=50, *, learned=False, started=False, max_bins=6):
    """Three classes in three features, some values missing, with weights."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(m, 3)), 1)
    y = (X[:, 0] + rng.normal(size=m) > 0).astype(int) + (X[:, 1] > 0.6)
    X[rng.random(X.shape) < 0.1] = np.nan
    s = rng.random(m) + 0.1
    worth = (savings(PRICES.matrix()) if learned else np.eye(3))[y]
    offset = rng.normal(size=(m, worth.shape[1])) if started else None
    return ClassProblem(bin_features(X, np.arange(m), max_bins), y, s / s.sum(), worth, offset)


def indicators(bins):
    """What lies right of every cut, and what is missing: a column for each jump, and the cell that it is stored at."""
    columns, cells = [], []
    for f, n in enumerate(bins.n_bins.tolist()):
        for k in range(n - 1):
            columns.append((bins.codes[f] > k) & (bins.codes[f] < n))
            cells.append(int(bins.offsets[f]) + k)
        if bins.has_missing[f]:
            columns.append(bins.codes[f] == n)
            cells.append(int(bins.offsets[f]) + n)
    return np.column_stack(columns).astype(float), np.array(cells)


def conic_optimum(problem, beta):
    """The least objective, by an interior-point solver for cones."""
    import cvxpy as cp

    columns, _ = indicators(problem.bins)
    jumps, intercept = cp.Variable((columns.shape[1], problem.n_outputs)), cp.Variable((1, problem.n_outputs))
    scores = columns @ jumps + np.ones((problem.n_cases, 1)) @ intercept
    if problem.offset is not None:
        scores = scores + problem.offset
    loss = problem.weight @ cp.log_sum_exp(scores, axis=1) - cp.sum(cp.multiply(problem.wanted, scores))
    fixed = [jumps[:, -1] == 0, intercept[:, -1] == 0] if problem.fixed_last else []
    found = cp.Problem(cp.Minimize(loss + beta * cp.sum(cp.abs(jumps))), fixed)
    found.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return float(found.value)
