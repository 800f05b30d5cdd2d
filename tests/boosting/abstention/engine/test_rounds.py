"""The loop: optimum against a conic solver, descent, certificates, limits and invariances."""

import os
import subprocess
import sys
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

from recuse import AbstentionBoostingClassifier
from recuse.boosting.abstention.engine.losses import LOSSES
from recuse.boosting.abstention.engine.problem import Problem
from recuse.boosting.abstention.engine.rounds import beta_max, boost, boost_path
from recuse.boosting.abstention.engine.settings import Settings
from recuse.boosting.abstention.engine.state import State
from recuse.boosting.abstention.engine.stumps import cell_labels
from recuse.boosting.abstention.engine.surrogates import Surrogate, calibrated_k
from tests.marks import may_reject_all

from ..helpers import every_stump, make_problem, random_data


def conic_optimum(X, y, family, c, loss, beta, signs=None):
    """Minimum of F with every stump enumerated, by an exponential-cone solver; value, h and r of each row."""
    h, r = every_stump(X, family, signs)
    problem, order = make_problem(X, y, c, loss)
    surrogate = problem.surrogate
    alpha, h0, r0 = cp.Variable(h.shape[1], nonneg=True), cp.Variable(), cp.Variable()
    score_h, score_r = h @ alpha + h0, r @ alpha + r0
    u, v = score_r - cp.multiply(y, score_h), -surrogate.b * score_r
    if loss == "exponential":
        terms = cp.sum(cp.exp(u)) + surrogate.k * cp.sum(cp.exp(v))
    else:
        terms = (cp.sum(cp.logistic(u)) + surrogate.k * cp.sum(cp.logistic(v))) / np.log(2)
    program = cp.Problem(cp.Minimize(terms / len(y) + beta * cp.sum(alpha)))
    tight = dict.fromkeys(["tol_gap_abs", "tol_gap_rel", "tol_feas"], 1e-10)
    program.solve(solver="CLARABEL", **tight)
    return program.value, score_h.value[order], score_r.value[order]


@pytest.mark.parametrize("family", ["coupled", "decoupled"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("seed", "beta", "missing"), [(0, 0.01, 0.0), (1, 0.05, 0.0), (2, 0.02, 0.1)])
def test_corrective_boosting_reaches_the_conic_optimum(seed, beta, missing, loss, family):
    X, y = random_data(seed, m=40, p=2, levels=5, missing=missing)
    value, h, r = conic_optimum(X, y, family, 0.2, loss, beta)
    problem, _ = make_problem(X, y, 0.2, loss)
    settings = Settings(family=family, beta=beta, corrective=True, tol=1e-9, n_rounds=300)
    solution = boost(problem, settings)
    assert solution.converged
    assert abs(solution.objective - value) < 1e-8
    state = State(problem, settings)
    ensemble = solution.model
    state.set_weights(ensemble.stumps, ensemble.weights, ensemble.h0, ensemble.r0)
    found_h, found_r = state.scores()
    np.testing.assert_allclose(found_h, h, atol=1e-4)
    np.testing.assert_allclose(found_r, r, atol=1e-4)
    gaps = solution.history["dual_gap"]
    assert (gaps >= solution.history["objective"] - value - 1e-9).all()
    assert gaps[-1] <= 1e-6 * solution.objective


@pytest.mark.parametrize("family", ["coupled", "decoupled"])
@pytest.mark.parametrize(
    ("seed", "signs", "missing"), [(0, (-1, 0), 0.0), (1, (1, -1), 0.0), (2, (-1, -1), 0.1), (3, (0, 1), 0.1)]
)
def test_the_optimum_with_monotone_features_is_the_conic_one(seed, signs, missing, family):
    """Every stump of the family whose h obeys is enumerated, whatever its type: none that counts is left out."""
    X, y = random_data(seed, m=40, p=2, levels=5, missing=missing)
    value, h, r = conic_optimum(X, y, family, 0.2, "logistic", 0.01, signs)
    problem, _ = make_problem(X, y, 0.2)
    free = boost(problem, Settings(family=family, beta=0.01, corrective=True, tol=1e-9, n_rounds=300))
    problem = replace(problem, bins=replace(problem.bins, monotonic=np.array(signs, dtype=np.int8)))
    settings = Settings(family=family, beta=0.01, corrective=True, tol=1e-9, n_rounds=300)
    solution = boost(problem, settings)
    assert solution.converged
    assert abs(solution.objective - value) < 1e-8
    assert solution.objective > free.objective - 1e-12
    found = solution.model.scores(problem)
    np.testing.assert_allclose(found[0], h, atol=1e-4)
    np.testing.assert_allclose(found[1], r, atol=1e-4)
    assert solution.history["dual_gap"][-1] <= 1e-6 * solution.objective


def test_a_decoupled_pair_reaches_every_monotone_score():
    """Any h that rises along the levels, and any r: the best of them, by a solver that knows of no stumps."""
    X, y = random_data(4, m=40, p=1, levels=5)
    problem, order = make_problem(X, y, 0.2)
    h, r, rank = cp.Variable(5), cp.Variable(5), X[order, 0].astype(int)
    signs, surrogate = y[order], problem.surrogate
    u, v = r[rank] - cp.multiply(signs, h[rank]), -surrogate.b * r[rank]
    total = (cp.sum(cp.logistic(u)) + surrogate.k * cp.sum(cp.logistic(v))) / np.log(2) / 40
    for sign in (1, -1):
        program = cp.Problem(cp.Minimize(total), [sign * cp.diff(h) >= 0, cp.abs(h) <= 50, cp.abs(r) <= 50])
        program.solve(solver="CLARABEL")
        signed = replace(problem, bins=replace(problem.bins, monotonic=np.array([sign], dtype=np.int8)))
        solution = boost(signed, Settings(family="decoupled", corrective=True, tol=1e-9, n_rounds=300))
        assert solution.objective == pytest.approx(program.value, abs=1e-6)


@pytest.mark.parametrize("family", ["coupled", "decoupled", "score"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    "change", [{}, {"learning_rate": 0.3}, {"step": "line"}, {"corrective": True}], ids=lambda change: str(change)
)
@pytest.mark.parametrize("beta", [0.0, 0.02])
def test_objective_never_increases_and_gap_bounds_the_optimum(beta, change, loss, family):
    X, y = random_data(5, m=60, p=3, levels=9)
    problem, _ = make_problem(X, y, 0.15, loss)
    settings = Settings(family=family, beta=beta, n_rounds=80, tol=1e-12, **change)
    history = boost(problem, settings).history
    assert (np.diff(history["objective"]) <= 1e-13).all()
    assert (history["dual_gap"] >= -1e-12).all()
    if beta > 0:
        best = boost(problem, Settings(family=family, beta=beta, corrective=True, tol=1e-10)).objective
        assert (history["dual_gap"] >= history["objective"] - best - 1e-10).all()
        assert (history["objective"] >= best - 1e-10).all()


@pytest.mark.parametrize("p", [2.0, 8.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_smoothed_maximum_descends(loss, p):
    X, y = random_data(6, m=50)
    problem, _ = make_problem(X, y, 0.2, loss, p=p)
    history = boost(problem, Settings(beta=0.01, n_rounds=60)).history
    assert (np.diff(history["objective"]) <= 1e-13).all()
    assert history["objective"][-1] < history["objective"][0] - 1e-3


@pytest.mark.parametrize("loss", LOSSES)
def test_sharpening_approaches_the_maximum(loss):
    X, y = random_data(7, m=30, p=2, levels=4)
    beta, c = 0.02, 0.2
    k = calibrated_k(loss, c, 2.0, np.inf)
    order = make_problem(X, y, c, loss)[1]
    bins = make_problem(X, y, c, loss)[0].bins
    h, r = (columns[order] for columns in every_stump(X, "coupled"))
    signs = y[order]
    alpha, h0, r0 = cp.Variable(h.shape[1], nonneg=True), cp.Variable(), cp.Variable()
    score_r = r @ alpha + r0
    u, v = score_r - cp.multiply(signs, h @ alpha + h0), -2.0 * score_r
    phi = cp.exp if loss == "exponential" else (lambda t: cp.logistic(t) / np.log(2))
    exact = cp.Problem(cp.Minimize(cp.sum(cp.maximum(phi(u), k * phi(v))) / len(y) + beta * cp.sum(alpha)))
    exact.solve(solver="CLARABEL", **dict.fromkeys(["tol_gap_abs", "tol_gap_rel", "tol_feas"], 1e-6))
    distance = []
    for schedule in [(1.0,), (1.0, 2.0, 4.0), (1.0, 2.0, 4.0, 8.0, 16.0)]:
        problem = Problem(bins, int((y > 0).sum()), np.full(30, 1 / 30), Surrogate(loss, 2.0, k, schedule[-1]))
        settings = Settings(beta=beta, n_rounds=400, exponents=schedule)
        ensemble = boost(problem, settings).model
        state = State(problem, settings)
        state.set_weights(ensemble.stumps, ensemble.weights, ensemble.h0, ensemble.r0)
        score_h, score = state.scores()
        sharp = Surrogate(loss, 2.0, k, 4096.0).objective(signs, problem.s, score_h, score)
        distance.append(sharp + beta * ensemble.weights.sum() - exact.value)
    assert distance[0] > 2 * distance[1] > 2 * distance[2] > -1e-3


def test_gradient_matches_finite_differences():
    X, y = random_data(8, m=30)
    for loss in LOSSES:
        problem, _ = make_problem(X, y, 0.2, loss)
        state = State(problem, Settings(beta=0.03))
        state.shift(0.2, -0.1)
        state.search.sweep(state.w)
        stump, derivative = state.search.best()
        eps = 1e-6
        before = state.objective()
        state.apply(stump, eps, 0.0, 0.0)
        assert abs((state.objective() - before) / eps - (derivative + 0.03)) < 1e-5


def test_without_rejector_the_exponential_step_is_adaboosts():
    X, y = random_data(9, m=50, levels=8)
    problem, order = make_problem(X, y, 0.2, "exponential")
    settings = Settings(family="score", intercepts=False, n_rounds=1, tol=0.0)
    ensemble = boost(problem, settings).model
    (stump,), (weight,) = ensemble.stumps, ensemble.weights
    h = ensemble.values[cell_labels(stump, int(problem.bins.n_bins[stump[0]]))[problem.bins.codes[stump[0]]], 0]
    error = np.mean(h != y[order])
    assert np.isclose(weight, 0.5 * np.log((1 - error) / error))
    state = State(problem, settings)
    state.apply(stump, weight, 0.0, 0.0)
    share = state.w[:, 0] / state.w[:, 0].sum()
    np.testing.assert_allclose(share, np.where(h == y[order], 0.5 / (1 - error), 0.5 / error) / len(y))


def scores_of(problem, settings):
    ensemble = boost(problem, settings).model
    state = State(problem, settings)
    state.set_weights(ensemble.stumps, ensemble.weights, ensemble.h0, ensemble.r0)
    return state.scores()


@pytest.mark.parametrize("loss", LOSSES)
def test_the_learning_rate_is_a_share_of_the_step(loss):
    X, y = random_data(7)
    problem, _ = make_problem(X, y, loss=loss)
    whole, part = (boost(problem, Settings(n_rounds=1, learning_rate=rate)).model for rate in (1.0, 0.25))
    assert part.stumps == whole.stumps
    np.testing.assert_allclose(part.weights, 0.25 * whole.weights)


@pytest.mark.parametrize("loss", LOSSES)
def test_gamma_changes_nothing_with_free_intercepts(loss):
    X, y = random_data(10, m=50)
    problem, _ = make_problem(X, y, 0.2, loss)
    base = {"beta": 0.02, "corrective": True, "tol": 1e-9}
    np.testing.assert_allclose(
        scores_of(problem, Settings(**base)), scores_of(problem, Settings(gamma=0.4, **base)), atol=1e-5
    )


def test_one_exponential_model_serves_every_price():
    X, y = random_data(11, m=50)
    b, c1, c2 = 1.0, 0.1, 0.3
    problem1, _ = make_problem(X, y, c1, "exponential", b=b)
    problem2, _ = make_problem(X, y, c2, "exponential", b=b)
    k1, k2 = problem1.surrogate.k, problem2.surrogate.k
    ratio = (k2 / k1) ** (1 / (1 + b))
    h1, r1 = scores_of(problem1, Settings(beta=0.02, n_rounds=60))
    h2, r2 = scores_of(problem2, Settings(beta=0.02 * ratio, n_rounds=60))
    np.testing.assert_allclose(h1, h2, atol=1e-8)
    np.testing.assert_allclose(r2 - r1, np.log(k2 / k1) / (1 + b), atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_invariances(loss):
    X, y = random_data(12, m=80, levels=30)
    settings = Settings(beta=0.005, n_rounds=40)
    problem, order = make_problem(X, y, 0.2, loss)
    h, r = np.empty(80), np.empty(80)
    h[order], r[order] = scores_of(problem, settings)
    # A monotone map of the features.
    warped, _ = make_problem(np.exp(X / 5) - 3, y, 0.2, loss)
    np.testing.assert_allclose(scores_of(warped, settings)[0], h[order], atol=1e-10)
    # The order of the rows.
    shuffle = np.random.default_rng(0).permutation(80)
    shuffled, again = make_problem(X[shuffle], y[shuffle], 0.2, loss)
    np.testing.assert_allclose(scores_of(shuffled, settings)[1], r[shuffle][again], atol=1e-8)
    # A weight of three and three rows.
    weights = np.where(np.arange(80) < 20, 3.0, 1.0)
    heavy, order = make_problem(X, y, 0.2, loss, weights=weights)
    rows = np.repeat(np.arange(80), weights.astype(int))
    repeated, again = make_problem(X[rows], y[rows], 0.2, loss)
    h[order] = scores_of(heavy, settings)[0]
    np.testing.assert_allclose(scores_of(repeated, settings)[0], h[rows][again], atol=1e-8)
    # The names of the classes, in the certified optimum (ties between stumps may fall either way before).
    certified = Settings(beta=0.02, corrective=True, tol=1e-9)
    one, order = make_problem(X, y, 0.2, loss)
    other, swapped = make_problem(X, -y, 0.2, loss)
    h[order], r[order] = scores_of(one, certified)
    h2, r2 = scores_of(other, certified)
    np.testing.assert_allclose(h2, -h[swapped], atol=1e-5)
    np.testing.assert_allclose(r2, r[swapped], atol=1e-5)


def test_bins_that_hold_every_value_give_the_exact_model():
    X, y = random_data(13, m=300, levels=200)
    exact, _ = make_problem(X, y, 0.2)
    binned, _ = make_problem(X, y, 0.2, max_bins=255)
    settings = Settings(beta=0.002, n_rounds=50)
    np.testing.assert_array_equal(scores_of(exact, settings), scores_of(binned, settings))


def test_threads_change_nothing():
    X, y = random_data(14, m=500, levels=50, p=5)
    problem, _ = make_problem(X, y, 0.2)
    one, two = Settings(beta=0.002, n_rounds=60), Settings(beta=0.002, n_rounds=60, n_threads=2)
    np.testing.assert_array_equal(scores_of(problem, one), scores_of(problem, two))


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_kept_by_multiplication_do_not_drift(loss):
    X, y = random_data(15, m=200, levels=40)
    problem, _ = make_problem(X, y, 0.2, loss)
    state = State(problem, Settings())
    state.settle_intercepts()
    for _ in range(49):
        state.search.sweep(state.w)
        stump, _ = state.search.best()
        sums = state.search.label_sums(stump)
        eta, dh, dr = state.loops.joint_step(sums, state.family.values, state.surrogate.b, 1.0, 0.0, 0.0, True, True)
        state.apply(stump, eta, dh, dr)
    kept = state.w.copy()
    state.refresh()
    np.testing.assert_allclose(kept, state.w, rtol=1e-10)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("c", [0.1, 0.3])
@pytest.mark.parametrize("b", [None, 1.0])
def test_one_constant_feature_rejects_exactly_the_uncertain_share(loss, c, b):
    for eta in (c - 0.02, c + 0.02, 0.5, 1 - c - 0.02, 1 - c + 0.02):
        y = np.where(np.arange(1000) < round(1000 * eta), 1, -1)
        problem, _ = make_problem(np.zeros((1000, 1)), y, c, loss, b=b)
        h, r = scores_of(problem, Settings(beta=0.01))
        assert (r[0] <= 0) == (c <= eta <= 1 - c)
        assert eta == 0.5 or (h[0] > 0) == (eta > 0.5)


def test_beta_max_is_the_smallest_penalty_without_stumps():
    X, y = random_data(16)
    problem, _ = make_problem(X, y)
    limit = beta_max(problem, Settings())
    assert boost(problem, Settings(beta=1.001 * limit)).model.stumps == []
    assert boost(problem, Settings(beta=0.99 * limit)).model.stumps != []


def test_separable_data_without_penalty_stop():
    X = np.arange(20.0)[:, None]
    y = np.where(X[:, 0] < 9, -1, 1)
    for loss in LOSSES:
        problem, _order = make_problem(X, y, 0.2, loss)
        solution = boost(problem, Settings(n_rounds=1000))
        assert solution.n_iter < 1000
        assert np.isfinite(solution.model.weights).all()


@pytest.mark.parametrize("gamma", [0.08, 0.48, 0.96])
@pytest.mark.parametrize("c", [0.05, 0.3])
def test_the_papers_step_is_guarded(c, gamma):
    X, y = random_data(17, m=60, levels=12)
    problem, _ = make_problem(X, y, c, "exponential")
    settings = Settings(step="paper", gamma=gamma, beta=0.05, n_rounds=100)
    solution = boost(problem, settings)
    assert np.isfinite(solution.model.weights).all()
    assert np.isfinite(solution.objective)


def test_the_kernels_mean_the_same_without_the_compiler(tmp_path):
    X, y = random_data(18, m=30, levels=6, missing=0.1)
    code = f"""
import numpy as np
from recuse import AbstentionBoostingClassifier
X, y = np.load({str(tmp_path / "X.npy")!r}), np.load({str(tmp_path / "y.npy")!r})
shared = dict(family="coupled", beta=0.01, n_rounds=6)
for options in (dict(), dict(loss="exponential"), dict(max_depth=2, cv=2, random_state=0)):
    model = AbstentionBoostingClassifier(**{{**shared, "threshold": "calibrated", **options}}).fit(X, y)
    print(*model.decision_function(X), *model.score_samples(X))
"""
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    outputs = []
    for switch in ("0", "1"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": switch}
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
        assert result.returncode == 0, result.stderr
        outputs.append(np.array([line.split() for line in result.stdout.splitlines()], dtype=float))
    np.testing.assert_allclose(outputs[0], outputs[1], atol=1e-9)


@may_reject_all
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("c", [0.1, 0.2, 0.3, 0.4])
def test_the_smoothed_maximum_decides_as_bayes_does(loss, c):
    # Found out in an early stage already that no stump helps, it still has to go through all of them.
    for eta in (0.5, 0.55, 0.62, 0.68, 0.72, 0.78, 0.82, 0.88, 0.92, 0.97):
        if abs(1 - eta - c) < 0.005:
            continue
        y = (np.arange(200) < round(200 * eta)).astype(int)
        model = AbstentionBoostingClassifier(
            costs=c, loss=loss, surrogate="max", family="coupled", beta=0.05, threshold="calibrated"
        ).fit(np.zeros((200, 1)), y)
        assert (model.predict([[0.0]])[0] == -1) == (1 - eta >= c)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_smoothed_maximum_is_at_its_optimum_in_the_intercepts(loss):
    X, y = random_data(19, m=60)
    problem, _ = make_problem(X, y, 0.2, loss, b=3.0, p=32.0)
    settings = Settings(beta=0.02, n_rounds=20, exponents=(1.0, 4.0, 32.0))
    solution = boost(problem, settings)
    state = State(problem, Settings(beta=0.02))
    state.set_weights(solution.model.stumps, solution.model.weights, solution.model.h0, solution.model.r0)
    assert np.isclose(solution.objective, state.objective(), rtol=1e-12)  # that of the last exponent
    assert abs(problem.y @ state.w[:, 0]) < 1e-7
    assert abs(state.w[:, 0].sum() - state.w[:, 1].sum()) < 1e-7
    limit = beta_max(problem, settings)
    assert boost(problem, Settings(beta=1.001 * limit)).model.stumps == []


@pytest.mark.parametrize("loss", LOSSES)
def test_curvatures_match_finite_differences(loss):
    u, v = np.random.default_rng(0).normal(size=(2, 20))
    surrogate, eps = Surrogate(loss, 2.0, 0.3, 8.0), 1e-6
    uu, uv, vv = surrogate.curvatures(u, v)
    by_u = np.subtract(surrogate.slopes(u + eps, v), surrogate.slopes(u - eps, v)) / (2 * eps)
    by_v = np.subtract(surrogate.slopes(u, v + eps), surrogate.slopes(u, v - eps)) / (2 * eps)
    np.testing.assert_allclose([uu, uv, 2.0 * uv, 2.0 * vv], [by_u[0], by_v[0], by_u[1], by_v[1]], atol=1e-7)


@pytest.mark.parametrize("family", ["coupled", "decoupled", "score"])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_path_ends_near_the_optimum_of_each_penalty(loss, family):
    X, y = random_data(23, m=80, levels=8)
    problem, _ = make_problem(X, y, 0.2, loss)
    settings = Settings(family=family, n_rounds=400)
    shares = (0.6, 0.3, 0.1)
    models = list(boost_path(problem, settings, [(share, 2000) for share in shares]))
    highest = beta_max(problem, settings)
    for share, model in zip(shares, models, strict=True):
        beta = share * highest
        cold = boost(problem, replace(settings, beta=beta, n_rounds=2000, tol=1e-9, certify_every=100))
        surrogate = problem.surrogate
        value = surrogate.objective(problem.y, problem.s, *model.scores(problem)) + beta * model.weights.sum()
        assert cold.objective - 1e-9 <= value <= cold.objective * 1.02


@pytest.mark.parametrize("family", ["coupled", "decoupled", "score"])
@pytest.mark.parametrize("limits", [(2000, 2000, 2000), (4, 8, 12)], ids=["near the optimum", "out of rounds"])
def test_a_fit_along_a_path_ends_with_the_model_of_the_path_and_its_certificate(family, limits):
    X, y = random_data(24, m=60)
    problem, _ = make_problem(X, y)
    settings, shares = Settings(family=family, n_rounds=2000), (0.5, 0.2, 0.1)
    highest = beta_max(problem, settings)
    path = tuple((share * highest, limit) for share, limit in zip(shares, limits, strict=True))
    beta = path[-1][0]
    *_, last = boost_path(problem, settings, list(zip(shares, limits, strict=True)))
    solution = boost(problem, replace(settings, beta=beta, path=path))
    assert solution.model.stumps == last.stumps
    np.testing.assert_allclose(solution.model.weights, last.weights, rtol=1e-12)
    assert (solution.model.h0, solution.model.r0) == pytest.approx((last.h0, last.r0), rel=1e-12)
    # What is said of the model is true of it: an independent count of its objective, and a fit that goes on to the end.
    state = State(problem, replace(settings, beta=beta))
    state.set_weights(last.stumps, last.weights, last.h0, last.r0)
    assert solution.objective == pytest.approx(state.objective(), rel=1e-12)
    optimum = boost(problem, replace(settings, beta=beta, n_rounds=20_000, tol=1e-9, certify_every=100))
    gap = solution.history["dual_gap"][-1]
    assert 0 < solution.objective - optimum.objective <= gap + 1e-9
    assert not solution.converged
    assert solution.residual > settings.tol
    assert (solution.residual <= 0.11 * beta) == (limits[-1] == 2000)
    assert solution.n_iter <= limits[-1]
    assert solution.history["round"].tolist() == [solution.n_iter]


def test_a_path_uses_no_more_rounds_than_allowed():
    X, y = random_data(25, m=60)
    problem, _ = make_problem(X, y)
    limits = (3, 7, 9)
    models = list(boost_path(problem, Settings(), list(zip((0.5, 0.1, 0.01), limits, strict=True))))
    assert all(len(model.stumps) <= limit for model, limit in zip(models, limits, strict=True))
