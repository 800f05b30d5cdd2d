"""Weights of the blend against a conic solver, brute force and known truth."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, log_expit

from recuse.ensemble.blending import greedy, stack, stack_few


def draw(n, n_members, seed, noise=1.0):
    """Members that see the true log-odds through noise, and one that sees nothing."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 1.5, n)
    members = truth[:, None] + noise * rng.normal(size=(n, n_members))
    members[:, -1] = rng.normal(size=n)
    return members, rng.random(n) < expit(truth), rng.uniform(0.5, 2.0, n)


@pytest.mark.parametrize("strength", [0.0, 0.01, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_stacking_is_the_optimum_of_a_conic_solver(seed, strength):
    members, positive, weights = draw(120, 4, seed)
    found = stack(members, positive, weights, strength=strength)
    w, b = cp.Variable(4, nonneg=True), cp.Variable()
    signs = np.where(positive, 1.0, -1.0)
    loss = (weights / weights.sum()) @ cp.logistic(cp.multiply(-signs, members @ w + b))
    problem = cp.Problem(cp.Minimize(loss + strength * cp.sum_squares(w - cp.sum(w) / 4) + 3e-4 * cp.sum(w) ** 2))
    problem.solve(solver=cp.CLARABEL)
    assert found.objective == pytest.approx(problem.value, abs=1e-7)
    assert found.weights == pytest.approx(w.value, abs=2e-3)
    assert found.residual < 1e-6


def test_the_residual_is_the_largest_violation_of_the_optimality_conditions():
    members, positive, weights = draw(200, 3, 0)
    found = stack(members, positive, weights, strength=0.1)

    def violation(blend):
        z = blend.log_odds(members)
        share, sign = weights / weights.sum(), np.where(positive, 1.0, -1.0)
        slope = -(share * sign * expit(-sign * z)) @ members + 0.2 * (blend.weights - blend.weights.mean())
        slope += 6e-4 * blend.weights.sum()
        return np.abs(np.where(blend.weights <= 0, np.minimum(slope, 0), slope)).max()

    assert violation(found) <= found.residual + 1e-12 <= 1e-4
    assert violation(found._replace(weights=found.weights + 0.1)) > 100 * violation(found)


def test_members_that_hardly_count_leave_the_blend_and_the_others_are_weighted_anew():
    rng = np.random.default_rng(0)
    truth = rng.normal(0, 1.5, 3_000)
    members = truth[:, None] + np.array([0.3, 0.4, 3.0, 4.0]) * rng.normal(size=(3_000, 4))
    positive, weights = rng.random(3_000) < expit(truth), np.ones(3_000)
    every, few = (each(members, positive, weights, strength=1e-5) for each in (stack, stack_few))
    left = few.weights > 0
    assert (every.weights[~left] < 0.25 * every.weights.mean()).all()
    assert 0 < left.sum() < 4
    again = stack(members[:, left], positive, weights, strength=1e-5)
    assert few.weights[left] == pytest.approx(again.weights)
    assert few.residual == again.residual


def test_most_of_equally_good_members_stay_however_many_they_are():
    """A share of the weight that is small because there are many members is not negligible."""
    rng = np.random.default_rng(1)
    truth = rng.normal(0, 1.5, 4_000)
    members = truth[:, None] + rng.normal(size=(4_000, 24))
    found = stack_few(members, rng.random(4_000) < expit(truth), np.ones(4_000), strength=10 / 4_000)
    assert (found.weights > 0).sum() >= 18


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(10, 60), factor=st.sampled_from([1e-3, 7.0]))
def test_weights_are_never_negative_and_free_of_units_and_order(seed, n, factor):
    members, positive, weights = draw(n, 3, seed)
    positive[:2] = True, False
    found = stack(members, positive, weights, strength=0.05)
    assert (found.weights >= 0).all()
    assert stack(members, positive, factor * weights, strength=0.05).weights == pytest.approx(found.weights, abs=1e-3)
    order = np.random.default_rng(seed).permutation(3)
    assert stack(members[:, order], positive, weights, strength=0.05).weights == pytest.approx(
        found.weights[order], abs=1e-3
    )


def test_strong_shrinkage_gives_equal_weights_and_none_drops_the_blind_member():
    members, positive, weights = draw(5_000, 4, 1)
    equal = stack(members, positive, weights, strength=1e3).weights
    assert np.ptp(equal) < 1e-3
    free = stack(members, positive, weights, strength=0.0).weights
    assert free[-1] < 0.1 * free[:-1].min()


def test_the_blend_is_calibrated_and_better_than_its_members():
    members, positive, weights = draw(4_000, 5, 2, noise=1.5)
    half = slice(None, 2_000), slice(2_000, None)
    found = stack(members[half[0]], positive[half[0]], weights[half[0]], strength=10 / 2_000)

    def loss(z):
        sign = np.where(positive[half[1]], 1.0, -1.0)
        return -log_expit(sign * z).mean()

    assert loss(found.log_odds(members[half[1]])) < 0.95 * min(loss(member) for member in members[half[1]].T)


def test_greedy_selection_is_what_it_says():
    members, positive, weights = draw(60, 3, 3)
    found = greedy(members, positive, weights, steps=5)
    share, sign = weights / weights.sum(), np.where(positive, 1.0, -1.0)

    def loss(picked):
        return -(share @ log_expit(sign * members[:, picked].mean(axis=1)))

    picked, best = [], (np.inf, [])
    for _ in range(5):
        picked = min(([*picked, k] for k in range(3)), key=loss)
        best = min(best, (loss(picked), picked))
    assert found.objective == pytest.approx(best[0])
    assert found.weights == pytest.approx(np.bincount(best[1], minlength=3) / len(best[1]))
