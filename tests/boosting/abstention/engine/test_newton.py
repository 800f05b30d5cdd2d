"""The intercepts: their optimum against a general solver, in a few passes over the cases, from sums that add up."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from recuse.boosting.abstention.engine.losses import LOSSES
from recuse.boosting.abstention.engine.newton import NewtonLimits, ShiftTerms, minimise_shift
from recuse.boosting.abstention.engine.problem import Problem
from recuse.boosting.abstention.engine.settings import Settings
from recuse.boosting.abstention.engine.state import State
from recuse.boosting.abstention.engine.surrogates import Surrogate, calibrated_k
from recuse.boosting.binning import bin_features


def started(seed, m=80, spread=1.0, loss="logistic", p=1.0, c=0.2, **options):
    """State whose cases start from random scores, the intercepts at 0."""
    rng = np.random.default_rng(seed)
    b = 3.0
    n_pos = int(rng.integers(1, m))
    offset = spread * rng.normal(size=(m, 2)) + 2.0 * rng.normal(size=2)
    s = rng.random(m) + 0.01
    surrogate = Surrogate(loss, b, calibrated_k(loss, c, b, p), p)
    bins = bin_features(np.zeros((m, 1)), np.arange(m), None)
    return State(Problem(bins, n_pos, s / s.sum(), surrogate, offset), Settings(**options))


def shifted_loss(state):
    """The objective as a function of what is added to h and r."""
    h, r = state.scores()
    problem = state.problem
    return lambda z: problem.surrogate.objective(problem.y, problem.s, h + z[0], r + z[1])


@pytest.mark.parametrize(("loss", "p"), [("logistic", 1.0), ("exponential", 1.0), ("logistic", 16.0)])
@given(seed=st.integers(0, 10_000), spread=st.sampled_from([0.0, 0.3, 2.0, 8.0]))
@settings(max_examples=25, deadline=None)
def test_no_other_intercepts_are_better(loss, p, seed, spread):
    state = started(seed, spread=spread, loss=loss, p=p)
    value = shifted_loss(state)
    found = state.weights.best_shift(True, True)
    other = minimize(value, found, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14, "maxiter": 500})
    assert value(found) <= other.fun + 1e-11 * max(1.0, other.fun)
    cold = minimize(value, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 2000})
    assert value(found) <= cold.fun + 1e-9 * max(1.0, cold.fun)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(5))
def test_the_gradient_vanishes_at_the_settled_intercepts(loss, seed):
    state = started(seed, spread=2.0, loss=loss)
    state.settle_intercepts()
    state.refresh()
    mass = state.w.sum()
    assert abs(state.problem.y @ state.w[:, 0]) < 1e-12 * mass
    assert abs(state.w[:, 0].sum() - state.w[:, 1].sum()) < 1e-12 * mass


def test_a_fixed_intercept_stays_and_the_other_is_at_its_optimum():
    state = started(3, spread=1.5)
    value = shifted_loss(state)
    for free in (0, 1):
        found = np.array(state.weights.best_shift(free == 0, free == 1))
        assert found[1 - free] == 0.0
        for change in (-1e-4, 1e-4):
            assert value(found) <= value(found + change * np.eye(2)[free]) + 1e-15


def counted(state):
    """Trial points that the intercepts of a state take: each is a pass over the cases."""
    loops, asked = state.loops, []

    class Counting:
        @staticmethod
        def shift_terms(*args):
            asked.append(args[-2])
            loops.shift_terms(*args)

    state.weights._loops = Counting
    return asked


@pytest.mark.parametrize("seed", range(10))
def test_intercepts_take_a_few_passes(seed):
    state = started(seed, m=500, spread=1.0)
    asked = counted(state)
    state.settle_intercepts()
    assert len(asked) <= 12  # from anywhere
    asked.clear()
    state.shift(0.01, -0.02)
    state.settle_intercepts()
    assert len(asked) <= 3  # from nearby, as after a round
    asked.clear()
    state.settle_intercepts()
    assert len(asked) == 1  # to see that nothing is left to do


def test_sums_over_parts_add_up():
    state = started(4, m=60)
    cases, loops, n_pos = state.weights._cases, state.loops, state.problem.n_pos

    def terms(rows, of_class, dh, dr):
        sums = np.empty(6)
        positives = int(rows.sum()) if of_class else 0
        loops.shift_terms(
            cases.growth[rows], cases.s[rows], cases.kb[rows], cases.unit, positives, cases.b, (dh, dr), sums
        )
        return sums

    at, whole = np.arange(60), np.empty(6)
    parts = [(at < n_pos, True), ((at >= n_pos) & (at % 2 == 0), False), ((at >= n_pos) & (at % 2 == 1), False)]
    loops.shift_terms(cases.growth, cases.s, cases.kb, cases.unit, n_pos, cases.b, (0.3, -0.2), whole)
    np.testing.assert_allclose(sum(terms(*part, 0.3, -0.2) for part in parts), whole, rtol=1e-12, atol=1e-15)
    limits = NewtonLimits(max_iter=50, longest=5.0, last=1e-7)
    summed = minimise_shift(lambda dh, dr: sum(terms(*part, dh, dr) for part in parts), True, True, limits)
    np.testing.assert_allclose(summed, state.weights.best_shift(True, True), atol=1e-10)


def test_terms_match_finite_differences():
    state = started(5)
    value, sums, eps = shifted_loss(state), np.empty(6), 1e-5
    cases = state.weights._cases
    at = np.array([0.2, -0.4])

    def terms(z):
        state.loops.shift_terms(
            cases.growth, cases.s, cases.kb, cases.unit, state.problem.n_pos, cases.b, (z[0], z[1]), sums
        )
        return ShiftTerms(*sums)

    here = terms(at)
    for i, (slope, row) in enumerate(((here.g_h, (here.hh, here.hr)), (here.g_r, (here.hr, here.rr)))):
        step = eps * np.eye(2)[i]
        assert slope == pytest.approx((value(at + step) - value(at - step)) / (2 * eps), abs=1e-9)
        up, down = terms(at + step), terms(at - step)
        change = np.array([up.g_h - down.g_h, up.g_r - down.g_r]) / (2 * eps)
        np.testing.assert_allclose(row, change, atol=1e-8)


def test_flat_directions_and_no_numbers_end():
    limits = NewtonLimits(max_iter=50, longest=5.0, last=1e-7)
    assert minimise_shift(lambda *_: np.zeros(6), True, True, limits) == (0.0, 0.0)
    assert minimise_shift(lambda *_: np.full(6, np.nan), True, True, limits) == (0.0, 0.0)
