"""Surrogates: bounds, derivatives, calibration."""

import numpy as np
import pytest
from scipy.optimize import minimize

from recuse.boosting.abstention.engine.losses import LOSSES
from recuse.boosting.abstention.engine.surrogates import Surrogate, calibrated_k
from recuse.boosting.abstention.margin_bound import MarginBound, complexity, massart
from recuse.boosting.abstention.prices import reduce_prices

GRID = np.linspace(-4, 4, 41)
PRICES = [0.05, 0.2, 0.35, 0.45]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("p", [1.0, 4.0, 32.0])
def test_slopes_match_finite_differences(loss, p):
    surrogate = Surrogate(loss, 1.7, 0.3, p)
    u, v = (grid.ravel() for grid in np.meshgrid(GRID, GRID))
    w1, w2 = surrogate.slopes(u, v)
    eps = 1e-6
    by_u = (surrogate.values(u + eps, v) - surrogate.values(u - eps, v)) / (2 * eps)
    by_v = (surrogate.values(u, v + eps) - surrogate.values(u, v - eps)) / (2 * eps)
    np.testing.assert_allclose(w1, by_u, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(w2, surrogate.b * by_v, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("c", PRICES)
def test_surrogates_dominate_the_abstention_loss(loss, c):
    b = LOSSES[loss].tight_b(c)
    assert np.isclose(calibrated_k(loss, c, b), c)
    y_h, r = (grid.ravel() for grid in np.meshgrid(GRID, GRID))
    abstention = np.where(r > 0, y_h <= 0, c)
    for p in (1.0, 8.0, np.inf):
        wide = max(b, 2.1 * c / (1 - 2 * c)) if np.isinf(p) else b
        k = calibrated_k(loss, c, wide, p)
        assert k >= c - 1e-12
        if np.isinf(p):
            phi = LOSSES[loss].value
            values = np.maximum(phi(r - y_h), k * phi(-wide * r))
        else:
            values = Surrogate(loss, wide, k, p).values(r - y_h, -wide * r)
        assert (values >= abstention - 1e-12).all()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("p", "b_factor"), [(1.0, 1.0), (1.0, 0.3), (4.0, 1.0)])
@pytest.mark.parametrize("c", [0.1, 0.3])
def test_sign_of_the_minimiser_is_the_bayes_decision(loss, p, b_factor, c):
    b = b_factor * LOSSES[loss].tight_b(c)
    surrogate = Surrogate(loss, b, calibrated_k(loss, c, b, p), p)
    for eta in (c - 0.03, c + 0.03, 0.5, 1 - c - 0.03, 1 - c + 0.03):

        def risk(z, eta=eta):
            h, r = z
            values = surrogate.values(np.array([r - h, r + h]), np.array([-b * r, -b * r]))
            return values @ [eta, 1 - eta]

        h, r = minimize(risk, [0.1, 0.1], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14}).x
        assert (r <= 0) == (c <= eta <= 1 - c)
        if r > 0:
            assert (h > 0) == (eta > 0.5)


def test_the_papers_constant_is_not_calibrated_for_the_logistic_loss():
    c = 0.1
    paper = Surrogate("logistic", LOSSES["exponential"].tight_b(c), c)
    h = np.linspace(0, 6, 601)[:, None]
    r = np.linspace(-1, 1, 401)[None, :]
    eta = 0.85  # between c and 1 - c: must be rejected
    phi = LOSSES["logistic"].value
    right, wrong, reject = phi(r - h), phi(r + h), phi(-paper.b * r)
    risk = eta * right + (1 - eta) * wrong + c * reject
    assert r[0, np.unravel_index(risk.argmin(), risk.shape)[1]] > 0


@pytest.mark.parametrize("loss", LOSSES)
def test_smooth_constant_runs_to_the_repaired_one(loss):
    c, b = 0.2, 2.0
    ks = [calibrated_k(loss, c, b, p) for p in (1.0, 2.0, 8.0, 64.0, 256.0)]
    assert (np.diff(ks) > 0).all()
    assert abs(ks[-1] / calibrated_k(loss, c, b, np.inf) - 1) < 0.01


def test_maximum_needs_a_wide_b():
    with pytest.raises(ValueError, match=r"b must be greater than 2c/\(1 - 2c\)"):
        calibrated_k("exponential", 0.4, 1.0, np.inf)


def test_reduction_moves_the_reject_interval_to_a_symmetric_one():
    rng = np.random.default_rng(0)
    checked = 0
    for _ in range(500):
        (fp, fn), (neg, pos) = rng.uniform(0.05, 5, size=2), rng.uniform(0.05, 2, size=2)
        if neg / fp + pos / fn >= 1:
            with pytest.raises(ValueError, match="never pays"):
                reduce_prices(fp, fn, neg, pos)
            continue
        checked += 1
        reduction = reduce_prices(fp, fn, neg, pos)
        eta = rng.random(200)
        reject = eta * pos + (1 - eta) * neg
        best = np.minimum(eta * fn, (1 - eta) * fp)
        weighted = eta * reduction.weight_positive
        weighted /= weighted + (1 - eta) * reduction.weight_negative
        clear = np.abs(reject - best) > 1e-9
        inside = (weighted >= reduction.c) & (weighted <= 1 - reduction.c)
        np.testing.assert_array_equal(inside[clear], (reject < best)[clear])
        accepted = ~inside & clear
        np.testing.assert_array_equal((weighted > 0.5)[accepted], (eta * fn > (1 - eta) * fp)[accepted])
    assert checked > 100


@pytest.mark.parametrize("c", [0.1, 0.4])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_bound_has_twice_the_steepest_slopes_of_the_loss_cut_at_one(loss, c):
    """Symmetrisation doubles the slopes by u and by r; a margin chosen afterwards doubles them again."""
    phi = LOSSES[loss]
    surrogate = Surrogate(loss, phi.tight_b(c), c)
    t = np.linspace(-40, 40, 800_001)
    wrong, reject = phi.value(t), c * phi.value(-surrogate.b * t)
    by_u = (np.diff(wrong)[wrong[1:] <= 1] / np.diff(t)[0]).max()
    by_r = (-np.diff(reject)[reject[:-1] <= 1] / np.diff(t)[0]).max()
    values, lost, m, delta = np.array([7, 30]), np.array([False, True]), 500, 0.05
    of_h, of_r = massart("coupled", values, lost, m)
    for weight, counted in ((0.2, 1.0), (6.0, 6.0)):
        bound = MarginBound(0.3, complexity(surrogate, weight, of_h, of_r), weight, m).at(delta)
        expected = 4 * counted * (by_u * (of_h + of_r) + by_r * of_r)
        assert bound.complexity == pytest.approx(expected, rel=1e-3)
        chance = np.sqrt(np.log(np.log2(2 * counted)) / m) + np.sqrt(np.log(2 / delta) / (2 * m))
        assert bound.confidence == pytest.approx(chance)
        assert bound.total == pytest.approx(0.3 + expected + chance, rel=1e-3)
