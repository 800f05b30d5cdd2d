"""The linear machine on very many cases: held variables, rounded kinks, and the certificate of the whole program."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from recuse import Costs, DoubleHingeSVC
from recuse.svm import losses
from recuse.svm.qp import narrowing, smoothing
from recuse.svm.qp import problem as qp
from recuse.svm.qp.interior_point import solve_linear
from recuse.svm.qp.narrowing import solve_narrowed
from recuse.svm.qp.solvers import SOLVERS

from .conic import PRICES, conic_solution, primal
from .problems import KernelProblem


def problem_of(n=3000, d=5, C=1.0, costs=None, seed=0, positive=0.5, separation=0.8, offset=0.0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < positive, 1.0, -1.0)
    X = rng.normal(size=(n, d)) + offset
    X[:, 0] += separation * y
    hinges = losses.double_hinge(costs or Costs(fp=1, fn=3, reject=0.3))
    return X, qp.from_hinges(hinges, y, C * rng.choice([0.5, 1.0, 2.0], n))


def check(problem, X, solution, tol):
    """Feasible, its facts true when they are computed again, and as good as the interior point method on all cases."""
    beta = solution.model.beta
    assert ((beta >= problem.lower) & (beta <= problem.upper)).all()
    assert abs(beta.sum()) <= 1e-9 * np.abs(beta).sum()
    Z = X - X.mean(axis=0)
    facts = qp.certify(problem, beta, Z @ (Z.T @ beta))
    assert solution.converged
    assert facts.violation <= tol * 1.001
    assert facts.gap <= tol * facts.primal
    assert facts.primal == pytest.approx(solution.objective, rel=1e-9)
    other = solve_linear(problem, X, tol=tol)
    # Neither is further above the minimum than its gap.
    slack = max(facts.gap, other.model.gap) + 1e-9 * facts.primal
    assert abs(solution.objective - other.objective) <= slack


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
def test_the_same_optimum_as_on_all_cases(form, C):
    X, problem = problem_of(C=C)
    solution = solve_narrowed(problem, form(X), tol=1e-3)
    check(problem, X, solution, 1e-3)
    free = (solution.model.beta != problem.lower) & (solution.model.beta != problem.kink)
    assert (free & (solution.model.beta != problem.upper)).sum() <= 40


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    positive=st.sampled_from([0.01, 0.3, 0.9]),
    separation=st.sampled_from([0.0, 0.5, 5.0]),
    log_c=st.floats(-4, 3),
    fn=st.sampled_from([1.0, 30.0]),
    offset=st.sampled_from([0.0, 1e4]),
    size=st.sampled_from([20, 200, 2500]),
)
def test_random_problems_from_samples_of_any_size(seed, positive, separation, log_c, fn, offset, size):
    costs = Costs(fp=1, fn=fn, reject=0.3)
    X, problem = problem_of(1500, 4, 10**log_c, costs, seed, positive, separation, offset)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(narrowing, "_SAMPLE", (size, 0.0))
        check(problem, X, solve_narrowed(problem, X, tol=1e-3), 1e-3)


@pytest.mark.parametrize("seed", range(8))
def test_against_a_conic_solver(seed, monkeypatch):
    monkeypatch.setattr(narrowing, "_SAMPLE", (20, 0.0))
    monkeypatch.setattr(narrowing, "_IN_DOUBT", 0.2)
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(250) < 0.4, 1.0, -1.0)
    X = rng.normal(size=(250, 3))
    X[:, 0] += 0.8 * y
    case = KernelProblem("linear", X, y, PRICES[seed], 10 ** rng.uniform(-2, 2), rng.uniform(0.5, 2.0, 250))
    problem = qp.from_hinges(losses.double_hinge(case.costs), y, case.C * case.weights)
    solution = solve_narrowed(problem, X, tol=1e-6)
    assert solution.converged
    minimum, _, _ = conic_solution(case)
    assert solution.objective == pytest.approx(minimum, rel=2e-6)
    w = X.T @ solution.model.beta
    assert primal(case, X @ w, 0.5 * float(w @ w), solution.model.intercept) == pytest.approx(minimum, rel=2e-6)


def test_narrowing_works_on_a_small_part_of_the_cases(monkeypatch):
    seen, original = [], narrowing._round
    monkeypatch.setattr(narrowing, "_round", lambda *of: seen.append(len(of[3])) or original(*of))
    X, problem = problem_of(20_000, 4)
    solution = solve_narrowed(problem, X, tol=1e-3)
    check(problem, X, solution, 1e-3)
    assert 0 < max(seen) < 2000


def test_a_sample_far_off_is_made_good(monkeypatch):
    monkeypatch.setattr(narrowing, "refined_scores", lambda problem, Z, w, b: np.asarray(Z @ (-w)) - b)
    X, problem = problem_of()
    check(problem, X, solve_narrowed(problem, X, tol=1e-3), 1e-3)


def test_newton_steps_on_rounded_kinks_end_near_the_optimum():
    X, problem = problem_of(20_000, 4)
    Z = X - X.mean(axis=0)
    best = solve_linear(problem, Z, tol=1e-6)
    w = Z.T @ best.model.beta
    f = smoothing.refined_scores(problem, Z, w + 0.3, best.model.intercept - 0.3)
    assert np.abs(f - best.model.g - best.model.intercept).max() < 0.05


@pytest.mark.parametrize("delta", [0.01, 0.5, 3.0])
def test_rounded_coefficients_are_slopes_between_the_ends(delta):
    _, problem = problem_of(200)
    f = np.random.default_rng(0).normal(size=200, scale=2.0)
    beta = smoothing._coefficients(problem, f, delta)
    assert ((beta >= problem.lower - 1e-12) & (beta <= problem.upper + 1e-12)).all()
    far = smoothing.distances(problem, f) > delta
    np.testing.assert_allclose(beta[far], problem.ends(f)[far], atol=1e-12)


def test_the_machine_uses_it_from_many_cases_on(monkeypatch):
    from recuse.svm.qp import solvers

    monkeypatch.setattr(solvers, "MANY", 2500)
    called = []
    monkeypatch.setattr(solvers, "solve_narrowed", lambda *of, **how: called.append(1) or solve_narrowed(*of, **how))
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2500, 5)), rng.integers(0, 2, 2500)
    X[:, 0] += 2 * y
    fast = DoubleHingeSVC(0.2, kernel="linear", C=0.1).fit(X, y)
    exact = DoubleHingeSVC(0.2, kernel="linear", C=0.1, solver="active_set", tol=1e-6).fit(X, y)
    assert called
    assert SOLVERS["smo"].in_features is not None
    assert fast.objective_ == pytest.approx(exact.objective_, rel=1e-6)
    np.testing.assert_allclose(fast.coef_, exact.coef_, atol=2e-3)


@pytest.mark.parametrize("seed", range(5))
def test_the_best_shift_of_many_bends_is_that_of_all_sorted(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    bends, jumps = np.round(rng.normal(size=4001), 2), rng.choice([0.0, 1.0, 3.0], 4001)
    for slope in (-jumps.sum() * 0.9999, -jumps.sum() / 2, -jumps.sum() / 3, -1.0, 0.0, -jumps.sum()):
        with monkeypatch.context() as patch:
            patch.setattr(qp, "_SORTED", 10**9)
            expected = qp.best_shift(bends, jumps, slope)
            patch.setattr(qp, "_SORTED", 200)
            assert qp.best_shift(bends, jumps, slope) == expected
