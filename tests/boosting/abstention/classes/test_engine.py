"""The engine for several classes: optimum against a conic solver, certificates, the scan against brute force."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar
from scipy.special import logsumexp

from recuse.boosting.abstention.classes import loops
from recuse.boosting.abstention.classes.options import ClassGiven, ClassPenalties, ClassRoundNumbers
from recuse.boosting.abstention.classes.problem import ClassProblem, order_levels, savings, softmax
from recuse.boosting.abstention.classes.rounds import ClassSettings, beta_max, boost_classes
from recuse.boosting.abstention.classes.rules import log_chances, stakes
from recuse.boosting.abstention.classes.state import ClassState
from recuse.boosting.binning import LevelCells, bin_features

from .problems import PRICES, conic_optimum, indicators, small_problem


@pytest.mark.parametrize("started", [False, True], ids=["from constants", "from scores"])
@pytest.mark.parametrize("learned", [False, True], ids=["probabilities", "with a rejector"])
def test_the_optimum_is_that_of_a_conic_solver(learned, started):
    pytest.importorskip("cvxpy")
    problem = small_problem(learned=learned, started=started)
    for beta in (0.02, 0.006):
        found = boost_classes(problem, ClassSettings(n_rounds=20_000, beta=beta, tol=1e-7))
        assert found.converged
        assert found.objective == pytest.approx(conic_optimum(problem, beta), abs=1e-6)
        assert 0 <= found.history["dual_gap"][-1] < 1e-4


@settings(max_examples=12, deadline=None)
@example(seed=538528, learned=True, started=True, n_rounds=3)  # no case of the third class
@given(seed=st.integers(0, 10**6), learned=st.booleans(), started=st.booleans(), n_rounds=st.integers(0, 40))
def test_the_certificate_bounds_the_distance_to_the_optimum(seed, learned, started, n_rounds):
    problem = small_problem(seed, 30, learned=learned, started=started)
    best = boost_classes(problem, ClassSettings(n_rounds=3000, beta=0.01, tol=1e-8)).objective
    early = boost_classes(problem, ClassSettings(n_rounds=n_rounds, beta=0.01, tol=0.0))
    assert early.objective - best <= early.history["dual_gap"][-1] + 1e-9


def test_without_a_penalty_the_gap_is_that_to_models_of_the_same_size():
    problem = small_problem(3)
    columns, cells = indicators(problem.bins)
    for n_rounds in (1, 5, 20):
        found = boost_classes(problem, ClassSettings(n_rounds=n_rounds, tol=0.0))
        size = np.abs(found.model.jumps).sum()
        # The best model of this size is at most the gap better: so is any that is scaled down from a longer fit.
        longer = boost_classes(problem, ClassSettings(n_rounds=400, tol=0.0)).model
        share = min(1.0, size / np.abs(longer.jumps).sum())
        scores = columns @ (share * longer.jumps[:, cells]).T
        least = minimize(lambda a, z=scores: problem.loss(z + a), np.zeros(3)).fun
        assert found.objective - least <= found.history["dual_gap"][-1] + 1e-9


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), learned=st.booleans(), rate=st.sampled_from([1.0, 0.3]))
def test_the_objective_falls_in_every_round_by_what_was_promised(seed, learned, rate):
    problem = small_problem(seed, 40, learned=learned)
    state, beta = ClassState(problem), 0.004
    before = state.objective(beta)
    for _ in range(30):
        cut = state.sweep(beta)
        state.move(cut, beta, rate)
        after = state.objective(beta)
        assert after <= before - (cut.gain if rate == 1.0 else 0.0) + 1e-12
        before = after


def test_a_sweep_finds_the_best_of_all_cuts():
    for seed in range(4):
        problem, beta = small_problem(seed, learned=seed % 2 == 1), 0.003
        state = ClassState(problem)
        for _ in range(seed):
            state.move(state.sweep(beta), beta, 1.0)
        cut, masses = state.sweep(beta), state.masses
        columns, cells = indicators(problem.bins)
        wanted = problem.wanted
        gains, violation = [], 0.0
        for column, cell in zip(columns.T, cells, strict=True):
            right, share = column @ masses, column @ wanted
            left, whole = masses.sum(axis=0) - right, wanted.sum(axis=0)
            gain = 0.0
            for j, v in enumerate(state.jumps[:, cell]):
                steps = np.append(np.linspace(-6, 6, 6001), [0.0, -v])
                bound = whole[j] * np.log(left[j] + right[j] * np.exp(steps)) - share[j] * steps
                bound += beta * np.abs(v + steps)
                gain += bound[-2] - bound.min()
                slope = whole[j] * right[j] / (left[j] + right[j]) - share[j]
                violation = max(violation, abs(slope) - beta if v == 0 else abs(slope + beta * np.sign(v)))
            gains.append(gain)
        assert cut.gain == pytest.approx(max(gains), abs=5e-5)
        assert gains[
            int(np.flatnonzero(cells == problem.bins.offsets[cut.feature] + cut.position)[0])
        ] == pytest.approx(max(gains), abs=1e-4)
        assert cut.violation == pytest.approx(violation, abs=1e-9)


def test_masses_follow_the_scores():
    problem = small_problem(1, learned=True)
    state = ClassState(problem)
    for _ in range(60):
        state.move(state.sweep(0.001), 0.001, 1.0)
    expected = softmax(state.model.scores(problem)) * problem.weight[:, None]
    np.testing.assert_allclose(state.masses, expected, rtol=1e-9, atol=1e-15)
    state.settle()
    np.testing.assert_allclose(state.masses.sum(axis=0), state.asked, atol=1e-12)


@pytest.mark.parametrize("n_classes", [3, 4, 5, 6, 9, 10])
def test_any_number_of_outputs_fits_the_blocks_of_four(n_classes):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(200, 3))
    y = np.digitize(X[:, 0], np.quantile(X[:, 0], np.linspace(0, 1, n_classes + 1)[1:-1]))
    problem = ClassProblem(bin_features(X, np.arange(200), 32), y, np.full(200, 1 / 200), np.eye(n_classes)[y])
    state = ClassState(problem)
    before = state.objective(0.001)
    assert before == pytest.approx(-np.log(np.bincount(y) / 200) @ np.bincount(y) / 200)
    found = boost_classes(problem, ClassSettings(n_rounds=150, beta=0.001))
    assert found.objective < before / 2
    assert np.mean(found.model.scores(problem).argmax(axis=1) == y) > 0.9


def test_a_class_without_cases_gets_little():
    problem = small_problem(2)
    rows = np.flatnonzero(problem.codes != 2)
    found = boost_classes(problem.take(rows), ClassSettings(n_rounds=30, beta=0.005))
    p = softmax(found.model.scores(problem))
    assert (p[:, 2] < 0.02).all()
    assert np.isfinite(np.log(p)).all()
    assert np.isfinite(found.objective)


@pytest.mark.parametrize("learned", [False, True])
def test_weights_count_as_repeated_cases(learned):
    problem = small_problem(4, learned=learned)
    times = np.random.default_rng(0).integers(0, 3, problem.n_cases)
    repeated = np.repeat(np.arange(problem.n_cases), times)
    settings = ClassSettings(n_rounds=25, beta=0.004)
    weighed = replace(problem, s=times / times.sum())
    kept = np.flatnonzero(times)
    as_rows = replace(problem, s=np.full(problem.n_cases, 1.0)).take(repeated)
    one, two = boost_classes(weighed.take(kept), settings), boost_classes(as_rows, settings)
    np.testing.assert_allclose(one.model.jumps, two.model.jumps, atol=1e-9)
    assert one.objective == pytest.approx(two.objective)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_surrogate_is_calibrated_for_any_prices(seed):
    """Its least expected value has shares proportional to what is expected to be saved: the Bayes answer is largest."""
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 6))
    matrix = np.zeros((K + 1, K + 2))
    matrix[:K, : K + 1] = rng.uniform(0.1, 5, (K, K + 1))
    np.fill_diagonal(matrix[:K, :K], 0.0)
    p, worth = rng.dirichlet(np.ones(K)), savings(matrix)
    assert (worth >= 0).all()

    def risk(scores):
        return float(p @ (worth.sum(axis=1) * logsumexp(scores) - worth @ scores))

    found = minimize(risk, np.zeros(K + 1), method="BFGS", options={"gtol": 1e-10}).x
    share = p @ worth
    np.testing.assert_allclose(softmax(found[None])[0], share / share.sum(), atol=1e-4)
    assert share.argmax() == (p @ matrix[:K, : K + 1]).argmin()


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_rejector_is_calibrated_for_any_prices(seed):
    """The least expected loss accepts an answer exactly where it is cheaper than a rejection; so does its start."""
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 6))
    matrix = np.zeros((K + 1, K + 2))
    matrix[:K, : K + 1] = rng.uniform(0.1, 5, (K, K + 1))
    np.fill_diagonal(matrix[:K, :K], 0.0)
    p, answer = rng.dirichlet(np.ones(K)), int(rng.integers(K))
    saved, lost = (amounts[0] for amounts in stakes(np.array([answer]), matrix))
    worth = np.column_stack([saved, lost])

    def risk(r):
        return float(p @ (worth.sum(axis=1) * np.logaddexp(0.0, r) - worth[:, 0] * r))

    least = minimize_scalar(risk, bounds=(-15, 15), method="bounded", options={"xatol": 1e-9}).x
    start = log_chances(p[None], np.array([answer]), matrix)[0]
    if abs(least) < 14:
        assert least == pytest.approx(start[0] - start[1], abs=1e-4)
    cheaper = p @ matrix[:K, answer] < p @ matrix[:K, K]
    assert (start[0] - start[1] > 0) == cheaper


def test_the_rejector_of_a_table_is_that_of_a_conic_solver():
    pytest.importorskip("cvxpy")
    problem = small_problem(7)
    answers, matrix = np.random.default_rng(0).integers(0, 3, problem.n_cases), PRICES.matrix()
    rows = np.arange(problem.n_cases)
    worth = np.column_stack([amounts[rows, problem.codes] for amounts in stakes(answers, matrix)])
    p = np.random.default_rng(1).dirichlet(np.ones(3), problem.n_cases)
    for offset in (None, log_chances(p, answers, matrix)):
        rejector = replace(problem, worth=worth, offset=offset, fixed_last=True)
        found = boost_classes(rejector, ClassSettings(n_rounds=10_000, beta=0.05, tol=1e-7))
        assert found.objective == pytest.approx(conic_optimum(rejector, 0.05), abs=1e-6)
        assert 0 <= found.history["dual_gap"][-1] < 1e-4
        assert not found.model.jumps[1].any()
        early = boost_classes(rejector, ClassSettings(n_rounds=4, beta=0.05, tol=0.0))
        assert early.objective - found.objective <= early.history["dual_gap"][-1]


def test_compiled_loops_do_what_they_say_in_python(monkeypatch):
    problem = small_problem(8, 30, learned=True)
    settings = ClassSettings(n_rounds=12, beta=0.003)
    compiled = boost_classes(problem, settings).model
    for name, item in vars(loops).items():
        if hasattr(item, "py_func"):
            monkeypatch.setattr(loops, name, item.py_func)
    plain = boost_classes(problem, settings).model
    np.testing.assert_allclose(compiled.jumps, plain.jumps, atol=1e-9)
    np.testing.assert_allclose(compiled.intercept, plain.intercept, atol=1e-9)


def test_the_worth_does_not_depend_on_the_currency():
    matrix = PRICES.matrix()
    np.testing.assert_allclose(savings(100 * matrix), savings(matrix))
    assert savings(matrix).sum(axis=1).mean() == pytest.approx(1)


def test_the_largest_penalty_is_the_first_at_which_nothing_jumps():
    problem = small_problem(5)
    highest = beta_max(ClassState(problem))
    assert boost_classes(problem, ClassSettings(beta=highest * 1.0001)).model.n_jumps == 0
    assert boost_classes(problem, ClassSettings(beta=highest * 0.99)).model.n_jumps > 0


def test_what_is_chosen_on_held_out_cases_is_what_is_fitted():
    problem = small_problem(6, 80)
    part, rest = problem.split(np.arange(60), np.arange(60, 80))
    for options in (
        ClassPenalties(ClassSettings(n_rounds=64)),
        ClassRoundNumbers(ClassSettings(n_rounds=20, beta=0.001)),
        ClassGiven(ClassSettings(n_rounds=20, beta=0.001)),
    ):
        scores = options.held_out(part, rest)
        for option in range(len(scores)):
            model = boost_classes(part, options.settle(option, part)).model
            np.testing.assert_allclose(scores[option], model.scores(rest).T, atol=1e-7)
            np.testing.assert_array_equal(options.held_out(part, rest, option)[0], scores[option])


def test_levels_lie_along_the_classes():
    cell = np.repeat(np.arange(6), 30)
    y = np.array([2, 0, 1, 0, 2, 1])[cell]
    bins = bin_features(
        cell[:, None].astype(float), np.arange(180), 255, None, {0: LevelCells(tuple("abcdef"), np.arange(6))}
    )
    (place,) = order_levels(bins, y, np.ones(180)).values()
    order = [int(k) for k in np.argsort(place)]
    assert sorted(order) == list(range(6))
    of_class = [[2, 0, 1, 0, 2, 1][k] for k in order]
    assert sum(a != b for a, b in pairwise(of_class)) == 2  # levels of one class are neighbours
