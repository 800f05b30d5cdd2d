"""Problems on which pairs are slow: the interior point method on the variables in doubt, for any kernel."""

import numpy as np
import pytest

from recuse import Costs, DoubleHingeSVC
from recuse.svm import losses
from recuse.svm.kernels import Kernel
from recuse.svm.qp import in_doubt, smo
from recuse.svm.qp import problem as qp
from recuse.svm.qp.active_set import solve_active_set
from recuse.svm.qp.in_doubt import by_interior_point_in_doubt
from recuse.svm.qp.interior_point import solve_in, solve_linear
from recuse.svm.qp.spaces import CaseSpace, FeatureSpace
from recuse.svm.rows import MatrixRows, VectorRows

from .conic import PRICES, conic_solution
from .problems import KernelProblem

CACHE = 2**26


def problem_of(n=300, d=4, C=1.0, seed=0, costs=None):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], n)
    X = rng.normal(size=(n, d))
    X[:, 0] += 0.8 * y
    return X, y, qp.from_hinges(losses.double_hinge(costs or Costs(fp=1, fn=3, reject=0.3)), y, np.full(n, C))


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e4, 1e6])
@pytest.mark.parametrize("kernel", [Kernel("rbf", 0.5), Kernel("rbf", 5.0), Kernel("linear")], ids=str)
def test_among_the_cases_the_optimum_is_that_of_the_active_set(C, kernel):
    X, _, problem = problem_of(C=C)
    K = np.ascontiguousarray(kernel(X, X))
    solution = solve_in(problem, CaseSpace(K), tol=1e-3)
    best = solve_active_set(problem, MatrixRows(K), tol=1e-8, max_iter=-1)
    facts = qp.certify(problem, solution.model.beta, K @ solution.model.beta)
    assert solution.converged
    assert facts.violation <= 1.001e-3
    assert facts.gap == pytest.approx(solution.model.gap, rel=1e-4, abs=1e-9 * facts.primal)
    assert abs(solution.model.beta.sum()) <= 1e-9 * np.abs(solution.model.beta).sum()
    assert abs(solution.objective - best.objective) <= facts.gap + 1e-8 * facts.primal


@pytest.mark.parametrize("seed", range(8))
def test_full_rank_at_a_large_c_against_a_conic_solver(seed):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], 60)
    X = rng.normal(size=(60, 3))
    case = KernelProblem("rbf", X, y, PRICES[seed], 1e4, np.ones(60))
    problem = qp.from_hinges(losses.double_hinge(case.costs), y, case.C * case.weights)
    solution = solve_in(problem, CaseSpace(case.gram), tol=1e-5)
    minimum, _, _ = conic_solution(case)
    assert solution.objective == pytest.approx(minimum, rel=2e-5)


@pytest.mark.parametrize("space", [CaseSpace, FeatureSpace])
def test_with_the_other_variables_held_at_the_optimum_a_part_stays_there(space):
    X, _, problem = problem_of(C=10.0)
    Z = X - X.mean(axis=0)
    K = Z @ Z.T
    best = solve_linear(problem, Z, tol=1e-6)
    beta, g = best.model.beta, best.model.g
    free = (beta != problem.lower) & (beta != problem.kink) & (beta != problem.upper)
    part = np.flatnonzero(free | (np.arange(len(beta)) % 3 == 0))
    others = np.setdiff1d(np.arange(len(beta)), part)
    gain = float(problem.gain(beta)[others].sum())
    if space is CaseSpace:
        inner = 0.5 * float(beta[others] @ K[np.ix_(others, others)] @ beta[others])
        held = qp.Held(K[np.ix_(part, others)] @ beta[others], float(beta[others].sum()), gain, inner)
        inside = solve_in(problem.take(part), CaseSpace(K[np.ix_(part, part)], held), tol=1e-6)
    else:
        held = qp.Held(Z[others].T @ beta[others], float(beta[others].sum()), gain)
        inside = solve_in(problem.take(part), FeatureSpace(Z[part], held), tol=1e-6)
    assert inside.converged
    assert inside.objective == pytest.approx(best.objective, rel=1e-6)
    np.testing.assert_allclose(inside.model.g, g[part], atol=1e-4)


@pytest.mark.parametrize("matrix", [True, False])
def test_from_a_rough_point_to_the_optimum(matrix, monkeypatch):
    monkeypatch.setattr(in_doubt, "_SPARE", (5, 1.1))  # so that held variables turn out to be wrong
    X, _, problem = problem_of(n=400, C=1e4)
    kernel = Kernel("rbf", 0.5)
    K = np.ascontiguousarray(kernel(X, X))
    rows = MatrixRows(K) if matrix else VectorRows(X, kernel, budget=2**20)
    beta, g, _ = smo._by_pairs(problem, MatrixRows(K), np.zeros(400), np.zeros(400), 1e-3, 3000)
    after, scores, steps = by_interior_point_in_doubt(problem, rows, beta, g, 1e-3, 500)
    np.testing.assert_allclose(scores, K @ after, atol=1e-6)
    low, high = problem.intercept_interval(after, scores)
    assert steps > 0
    assert low - high <= 1e-3
    assert ((after >= problem.lower) & (after <= problem.upper)).all()
    assert abs(after.sum()) <= 1e-9 * np.abs(after).sum()


def test_too_many_in_doubt_are_left_alone(monkeypatch):
    monkeypatch.setattr(in_doubt, "_MOST", 3)
    X, _, problem = problem_of(C=100.0)
    K = np.ascontiguousarray(Kernel("rbf", 0.5)(X, X))
    beta, g, _ = smo._by_pairs(problem, MatrixRows(K), np.zeros(300), np.zeros(300), 1e-3, 100)
    after, _, steps = by_interior_point_in_doubt(problem, MatrixRows(K), beta, g, 1e-3, 500)
    assert steps == 0
    np.testing.assert_array_equal(after, beta)


def test_a_machine_of_full_rank_and_large_c_converges_without_a_warning():
    X, y, _ = problem_of(n=2100, d=5)
    model = DoubleHingeSVC(0.2, C=1e4, gamma=0.3).fit(X, y)
    assert model.residual_ <= 1e-3
    assert model.dual_gap_ <= 1e-3 * model.objective_
