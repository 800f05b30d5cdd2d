"""Many random coupled problems against an independent solver, and every certificate recomputed."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.svm import OneClassSVM

from recuse import Costs, CoupledOneClassSVC
from recuse.svm.coupled import solver
from recuse.svm.coupled.problem import coupled_qp, start_point
from recuse.svm.coupled.solver import solve_coupled
from recuse.svm.kernels import Kernel
from recuse.svm.rows import MatrixRows, VectorRows

from .coupled_conic import conic_solution, primal, random_case

SEEDS = range(150)
# With a linear kernel w = 0 may be optimal, and the conic solver is 1e-12 off: the unit is then the kernel's diagonal.
LEAST = 1e-4


def fitted(case, tol=1e-8, **options):
    model = CoupledOneClassSVC(
        case.costs,
        C=case.C,
        nu_negative=case.nu_negative,
        nu_positive=case.nu_positive,
        kernel=case.kernel,
        gamma=0.5,
        tol=tol,
        **options,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tol is beyond rounding for some; what is reached is asserted below
        return model.fit(case.X, case.y, case.weights)


def scores(case, model):
    coef = np.zeros((2, len(case.y)))
    coef[:, model.support_] = model.dual_coef_
    F = (coef @ case.gram).T
    return F, 0.5 * float(np.einsum("ij,ji->", coef, F))


def kinds(f):
    """Decision (12): 0 and 1 the classes, 2 ambiguous, 3 novelty."""
    inside = f > 0
    return np.where(inside.all(axis=1), 2, np.where(~inside.any(axis=1), 3, inside[:, 1].astype(int)))


@pytest.fixture(scope="module")
def reference():
    """The conic solutions, computed once for all tests of this file."""
    with warnings.catch_warnings():
        # The conic solver stops short of its tight tolerance on some; how short is measured below.
        warnings.simplefilter("ignore")
        return {seed: conic_solution(random_case(seed)) for seed in SEEDS}


def test_reaches_the_minimum_and_says_so(reference):
    shares = []
    for seed in SEEDS:
        case = random_case(seed)
        model = fitted(case)
        minimum, F_conic = reference[seed]
        F, half_norm = scores(case, model)
        mine = primal(case, F, half_norm, model.rho_negative_, model.rho_positive_, model.rho_)
        scale = max(abs(mine), LEAST * case.gram.diagonal().mean())

        assert abs(mine - minimum) <= 1e-6 * scale, seed
        assert model.objective_ == pytest.approx(mine, rel=1e-8, abs=1e-8 * scale)
        gap = mine + half_norm  # the dual objective is -Q
        assert abs(gap - model.dual_gap_) <= 1e-8 * scale, seed
        assert -1e-9 * scale <= model.dual_gap_ <= 1e-6 * scale, seed

        # Both objectives are strongly convex in w: the scores differ by this at most.
        slack = np.sqrt(2 * max(abs(minimum - mine) + model.dual_gap_, 0.0) * case.gram.diagonal().max())
        assert np.abs(F - F_conic).max() <= 2 * slack + 1e-9, seed
        f, f_conic = F + model.intercept_, F_conic + model.intercept_
        clear = (np.abs(f) > 1e-5 + 2 * slack).all(axis=1)
        np.testing.assert_array_equal(kinds(f)[clear], kinds(f_conic)[clear])
        if half_norm > LEAST * case.gram.diagonal().mean():  # otherwise w = 0 and every score is 0
            shares.append(clear.mean())
    assert len(shares) > 100
    assert np.mean(shares) > 0.5  # support vectors on the edge of their region are not clear, all others are


def test_a_band_that_must_not_be_negative():
    """Where rho would be negative, the minimum among rho >= 0."""
    tried = 0
    # Rejecting a negative costs nearly as much as an error.
    costs = Costs(fp=1, fn=10, reject_negative=0.95, reject_positive=0.4)
    for seed in range(60):
        case = replace(random_case(seed), costs=costs, C=3.0)
        free = fitted(case)
        model = fitted(case, nonnegative_rho=True)
        if free.rho_ >= 0:
            assert model.objective_ == free.objective_
            assert model.rho_ == free.rho_
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            minimum, _ = conic_solution(case, nonnegative=True)
        F, half_norm = scores(case, model)
        mine = primal(case, F, half_norm, model.rho_negative_, model.rho_positive_, 0.0)
        scale = max(abs(mine), LEAST * case.gram.diagonal().mean())
        assert model.rho_ == 0
        assert abs(mine - minimum) <= 1e-6 * scale, seed
        assert model.objective_ == pytest.approx(mine, rel=1e-8, abs=1e-8 * scale)
        assert model.objective_ >= free.objective_ - 1e-8 * scale
        assert model.n_iter_ > free.n_iter_
        tried += free.rho_ < -1e-6
    assert tried >= 5


def program(case):
    """The dual program, its kernel matrix and its cases, positive ones first."""
    used = np.flatnonzero(case.weights)
    used = used[np.argsort(-case.y[used], kind="stable")]
    problem = coupled_qp(
        case.y[used], case.weights[used], nu=(case.nu_negative, case.nu_positive), C=case.C, costs=case.costs
    )
    return problem, case.gram[np.ix_(used, used)], used


def assert_feasible(problem, point):
    """Constraints (6)-(8)."""
    for value, cap in zip(point.values(), problem.caps(), strict=True):
        assert (value >= 0).all()
        assert (value <= cap * (1 + 1e-15)).all()
    assert point.alpha[problem.y > 0].sum() == pytest.approx(1, abs=1e-9)
    assert point.alpha[problem.y < 0].sum() == pytest.approx(1, abs=1e-9)
    assert abs(point.gamma.sum() - point.mu.sum()) <= 1e-9 * max(1.0, problem.cap_g.sum())


def test_solutions_satisfy_the_constraints_and_the_optimality_conditions():
    for seed in SEEDS:
        problem, K, _ = program(random_case(seed))
        assert_feasible(problem, start_point(problem))
        solution = solve_coupled(problem, MatrixRows(K), tol=1e-8, max_iter=-1)
        point, facts = solution.model.point, solution.model.certificate
        assert_feasible(problem, point)
        # Complementary slackness, summed, is the gap: no variable is at a bound it should not be at.
        coef = point.coefficients(problem.y)
        F = (coef @ K).T
        own = np.where(problem.y > 0, F[:, 1] - facts.rho_positive, F[:, 0] - facts.rho_negative)
        m = problem.y * (F[:, 1] - F[:, 0])
        slackness = 0.0
        for excess, value, cap in zip((own, m - facts.rho, m + facts.rho), point.values(), problem.caps(), strict=True):
            slackness += value @ np.maximum(excess, 0) + (cap - value) @ np.maximum(-excess, 0)
        # The three sums hold to rounding only, which the thresholds multiply.
        assert slackness == pytest.approx(facts.gap, rel=1e-5, abs=1e-8 * max(facts.unit, LEAST * K.diagonal().mean()))


def test_share_of_cases_outside_their_region():
    """At most a share nu of a class has F < rho, at least that share is a support vector of its own region."""
    for seed in SEEDS:
        case = random_case(seed)
        if (case.weights != 1).any():
            continue
        problem, K, _ = program(case)
        solution = solve_coupled(problem, MatrixRows(K), tol=1e-9, max_iter=-1)
        point, facts = solution.model.point, solution.model.certificate
        if solution.model.certificate.unit < 1e-3 * K.diagonal().mean():
            continue  # w = 0: every score is rounding
        F = (point.coefficients(problem.y) @ K).T
        for side, nu, rho in ((0, case.nu_negative, facts.rho_negative), (1, case.nu_positive, facts.rho_positive)):
            of = problem.y == (1 if side else -1)
            assert (F[of, side] < rho - 1e-4 * np.sqrt(K.diagonal().max())).mean() <= nu + 1e-9, seed
            assert (point.alpha[of] > 0).mean() >= nu - 1e-9, seed


def test_without_coupling_it_is_two_one_class_machines():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 2)), rng.normal(1.0, 1.5, size=(90, 2))])
    y = np.repeat([0, 1], [60, 90])
    model = CoupledOneClassSVC(C=0, nu_negative=0.1, nu_positive=0.23, gamma=0.4, tol=1e-10).fit(X, y)
    F = model._scores(X)
    for code, nu in ((0, 0.1), (1, 0.23)):
        own = X[y == code]
        machine = OneClassSVM(nu=nu, gamma=0.4, tol=1e-9).fit(own)
        np.testing.assert_allclose(F[:, code], machine.score_samples(X) / (nu * len(own)), atol=1e-6)
        np.testing.assert_allclose(
            F[:, code] + model.intercept_[code], machine.decision_function(X) / (nu * len(own)), atol=1e-6
        )


@pytest.mark.parametrize("C", [0.0, 1.0, 300.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_reach_the_minimum_of_the_whole(C, dtype, monkeypatch):
    """Small blocks, shrinking and rows on demand against one block with the whole matrix."""

    rng = np.random.default_rng(3)
    y = np.repeat([1.0, -1.0], [350, 250])
    X = rng.normal(size=(600, 3)) + 0.6 * y[:, None]
    problem = coupled_qp(y, np.ones(600), nu=(0.1, 0.05), C=C, costs=Costs(fp=4, fn=4, reject=1))
    kernel = Kernel("rbf", 0.3)
    whole = solve_coupled(problem, MatrixRows(kernel(X, X)), tol=1e-9, max_iter=-1)
    assert whole.converged
    monkeypatch.setattr(solver, "_BLOCK", 60)
    rows = VectorRows(X, kernel, budget=200 * 600 * 4, dtype=dtype)
    parts = solve_coupled(problem, rows, tol=1e-7, max_iter=-1)
    assert parts.converged
    assert_feasible(problem, parts.model.point)
    assert parts.objective == pytest.approx(whole.objective, rel=1e-6)
    assert 0 <= parts.residual <= 1e-7
