"""Calibration maps against general optimisers, their invariances, and the choice among them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from recuse import ThresholdRejectClassifier
from recuse.calibration import CALIBRATIONS, Beta, Isotonic, Sigmoid, Temperature, calibrate, log_loss, log_odds


def draw(n, seed, map_=lambda z: 0.4 * z + 0.7):
    """Scores whose true log-odds are `map_` of them."""
    rng = np.random.default_rng(seed)
    z = rng.normal(0, 2.5, n)
    return z, rng.random(n) < expit(map_(z)), np.ones(n)


def loss(p, positive, weights, *slopes):
    """What is minimised: the mean log loss, and a small price for slopes."""
    return -float(weights @ np.where(positive, np.log(p), np.log1p(-p))) / weights.sum() + 1e-4 * sum(
        slope**2 for slope in slopes
    )


@pytest.mark.parametrize("seed", range(5))
def test_sigmoid_is_the_optimum_that_a_general_solver_finds(seed):
    z, positive, weights = draw(300, seed)
    found = Sigmoid.fit(z, positive, weights)
    peer = minimize(
        lambda c: loss(expit(c[0] * z + c[1]), positive, weights, c[0] * z.std()), [0.5, 0.0], method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000},
    )  # fmt: skip
    assert (found.slope, found.intercept) == pytest.approx(tuple(peer.x), abs=1e-4)


def test_sigmoid_is_logistic_regression():
    z, positive, weights = draw(20_000, 0)
    found, peer = Sigmoid.fit(z, positive, weights), LogisticRegression(C=1e9).fit(z[:, None], positive)
    assert found.slope == pytest.approx(peer.coef_[0, 0], abs=2e-3)
    assert found.intercept == pytest.approx(peer.intercept_[0], abs=2e-3)


@pytest.mark.parametrize("seed", range(3))
def test_beta_and_temperature_are_optimal(seed):
    z, positive, weights = draw(400, seed)
    q = expit(z)
    beta, temperature = Beta.fit(z, positive, weights), Temperature.fit(z, positive, weights)

    def beta_loss(c):
        return loss(expit(c[0] * np.log(q) - c[1] * np.log1p(-q) + c[2]), positive, weights, c[0], c[1])

    least = beta_loss([beta.a, beta.b, beta.c])
    rng = np.random.default_rng(seed)
    for _ in range(50):  # no step nearby is better, within the bounds
        step = rng.normal(0, 0.02, 3)
        moved = np.array([beta.a, beta.b, beta.c]) + step
        if moved[:2].min() >= 0:
            assert beta_loss(moved) >= least - 1e-9
    grid = np.linspace(0.01, 2, 2_000)
    rms = np.sqrt((z**2).mean())
    losses = [loss(expit(t * z), positive, weights, t * rms) for t in grid]
    assert temperature.slope == pytest.approx(grid[int(np.argmin(losses))], abs=2e-3)


def test_isotonic_is_the_curve_of_scikit_learn_kept_off_the_ends():
    z, positive, weights = draw(200, 1)
    found = CALIBRATIONS["isotonic"](z, positive, weights)(z)
    peer = IsotonicRegression().fit(z, positive).predict(z)
    inside = (peer > 0.01) & (peer < 0.99)
    assert np.allclose(found[inside], peer[inside])
    assert found.min() > 0
    assert found.max() < 1


@pytest.mark.parametrize("name", CALIBRATIONS)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(12, 80), unit=st.sampled_from([1e-6, 0.1, 30.0]))
def test_maps_are_monotone_bounded_and_free_of_the_unit_of_weights(name, seed, n, unit):
    z, positive, weights = draw(n, seed)
    positive[:2] = True, False
    weights = np.random.default_rng(seed).uniform(0.5, 2, n)
    found = CALIBRATIONS[name](z, positive, weights)
    grid = np.linspace(-20, 20, 400)
    p = found(grid)
    assert (np.diff(p) >= 0).all()
    assert (p >= 0).all()
    assert (p <= 1).all()
    rescaled = CALIBRATIONS[name](z, positive, weights * unit)
    assert np.allclose(rescaled(grid), p, atol=1e-4)


@pytest.mark.parametrize("name", CALIBRATIONS)
def test_separated_classes_leave_the_map_finite(name):
    z, weights = np.linspace(-3, 3, 40), np.ones(40)
    p = CALIBRATIONS[name](z, z > 0, weights)(np.array([-3.0, 3.0]))
    assert 0 < p[0] < 0.2
    assert 0.8 < p[1] < 1


def test_a_score_that_points_the_wrong_way_gives_the_share_of_positives():
    z, positive, weights = draw(300, 0, lambda z: -2 * z)
    found = Sigmoid.fit(z, positive, weights)
    assert found.slope == 0
    assert found(z) == pytest.approx(positive.mean(), abs=0.01)
    assert found.score_at(0.99) == np.inf
    assert found.score_at(0.01) == -np.inf


def test_score_at_is_the_inverse():
    found = Sigmoid(0.7, -1.2)
    assert found(np.array([found.score_at(0.3)]))[0] == pytest.approx(0.3)


def test_calibration_recovers_known_probabilities():
    """On data with a known posterior every map that can express it comes close to it."""
    z, positive, weights = draw(20_000, 3, lambda z: 0.4 * z)
    truth = expit(0.4 * z)
    for name in CALIBRATIONS:
        found = calibrate(name, z, positive, weights)(z)
        assert np.abs(found - truth).mean() < 0.03, name  # isotonic converges slowly: as n to the -1/3
    assert np.abs(expit(z) - truth).mean() > 0.1


def visits(n_groups=60, visits=20, seed=0):
    """Groups with a score and an outcome of their own: a map that bends to single groups knows their outcomes."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n_groups)
    positive = rng.random(n_groups) < expit(z)
    return (*(np.repeat(column, visits) for column in (z, positive)), np.repeat(np.arange(n_groups), visits))


def test_auto_judges_a_map_by_groups_it_has_not_seen():
    z, positive, groups = visits()
    weights = np.ones(len(z))
    assert isinstance(calibrate("auto", z, positive, weights), Isotonic)
    assert not isinstance(calibrate("auto", z, positive, weights, groups), Isotonic)
    few = groups < 12  # of which at most eleven can be positive, and as many negative: too few to tell maps apart
    assert isinstance(calibrate("auto", z[few], positive[few], weights[few], groups[few]), Sigmoid)


@pytest.mark.filterwarnings("ignore:.*reject")
def test_the_classifier_hands_its_groups_on():
    z, positive, groups = visits()
    model = ThresholdRejectClassifier(LogisticRegression(), costs=0.45, calibration="auto")
    assert isinstance(model.fit(z[:, None], positive).calibrator_, Isotonic)
    assert not isinstance(model.fit(z[:, None], positive, groups=groups).calibrator_, Isotonic)


def test_auto_takes_the_map_of_least_held_out_log_loss():
    z, positive, weights = draw(4_000, 5, lambda z: 0.4 * z + 1.5)  # a temperature cannot shift
    assert isinstance(calibrate("auto", z, positive, weights), Sigmoid | Beta)
    step, wavy, _ = draw(20_000, 6, lambda z: 4.0 * (z > 1) - 2.0)
    chosen = calibrate("auto", step, wavy, np.ones(20_000))
    assert log_loss(chosen(step), wavy, np.ones(20_000)) < log_loss(
        Sigmoid.fit(step, wavy, np.ones(20_000))(step), wavy, np.ones(20_000)
    )


def test_log_odds_are_finite_at_the_ends():
    assert np.isfinite(log_odds(np.array([0.0, 1.0]))).all()
    assert log_odds(np.array([0.25]))[0] == pytest.approx(logit(0.25))
