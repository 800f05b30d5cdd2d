import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from recuse import Costs
from recuse.svm import losses

from .conic import PRICES, loss_lines
from .hinges import bartlett_wegkamp, hinge


@pytest.mark.parametrize("costs", PRICES)
def test_double_hinge_is_the_largest_of_the_papers_lines(costs):
    f = np.linspace(-12, 12, 4001)
    for sign in (-1.0, 1.0):
        y = np.full(len(f), sign)
        slopes, constants = loss_lines(costs, y)
        expected = (slopes * f[:, None] + constants).max(axis=1)
        np.testing.assert_allclose(losses.double_hinge(costs).value(y, f), expected, atol=1e-9)


@pytest.mark.parametrize("costs", PRICES)
def test_bends_and_thresholds_alternate(costs):
    f_1, f_2, f_3 = losses.bends(costs)
    f_minus, f_plus = losses.score_thresholds(costs)
    assert f_1 < f_minus < f_2 < f_plus < f_3
    assert f_minus < losses.break_even_score(costs) < f_plus
    p_minus, p_plus = costs.thresholds
    np.testing.assert_allclose([f_minus, f_plus], [np.log(p / (1 - p)) for p in (p_minus, p_plus)], rtol=1e-9)


@pytest.mark.parametrize("costs", PRICES)
def test_tangent_to_the_log_loss_at_the_two_thresholds(costs):
    """Where the method needs probabilities right, the loss touches the logistic loss, and elsewhere stays below it."""
    hinges = losses.double_hinge(costs)
    for f in losses.score_thresholds(costs):
        for sign in (-1.0, 1.0):
            np.testing.assert_allclose(hinges.value(np.array([sign]), np.array([f])), np.log1p(np.exp(-sign * f)))
    f = np.linspace(-9, 9, 999)
    for sign in (-1.0, 1.0):
        assert (hinges.value(np.full(999, sign), f) <= np.logaddexp(0, -sign * f) + 1e-12).all()


@pytest.mark.parametrize("costs", PRICES)
def test_minimiser_of_the_expected_loss_makes_the_right_decision(costs):
    """Theorem 1: f_1 below p_-, f_2 between, f_3 above."""
    p_minus, p_plus = costs.thresholds
    hinges = losses.double_hinge(costs)
    for p, expected in zip([p_minus / 2, (p_minus + p_plus) / 2, (1 + p_plus) / 2], losses.bends(costs), strict=True):

        def risk(f, p=p):
            return p * hinges.value(np.ones(1), f)[0] + (1 - p) * hinges.value(-np.ones(1), f)[0]

        best = minimize_scalar(risk, bounds=(-60, 60), method="bounded", options={"xatol": 1e-9})
        assert risk(expected) <= best.fun + 1e-9


def test_no_digits_are_lost_when_the_band_is_narrow_or_the_price_tiny():
    narrow = Costs(reject=0.5 - 1e-12)
    f_1, f_2, f_3 = losses.bends(narrow)
    assert f_2 == pytest.approx(0.0, abs=1e-9)
    assert f_3 == pytest.approx(2 * np.log(2), rel=1e-9)
    assert f_1 == pytest.approx(-f_3)
    tiny = Costs(reject=1e-13)
    assert losses.score_thresholds(tiny)[1] == pytest.approx(np.log(1e13), rel=1e-12)
    assert losses.bends(tiny)[2] == pytest.approx(np.log(1e13) + 1, rel=1e-9)
    assert np.isfinite(losses.double_hinge(tiny).offsets).all()


def test_divided_difference_and_its_limit_agree_where_they_meet():
    at = [losses.bends(Costs(fp=1, fn=3, reject=0.75 - width))[1] for width in (2.6e-6, 2.8e-6)]
    assert at[0] == pytest.approx(at[1], abs=1e-5)


@pytest.mark.parametrize("d", [0.05, 0.24149, 0.45])
def test_bartlett_and_wegkamps_loss_is_the_double_hinge_rescaled(d):
    costs = Costs(reject=d)
    entropy = -d * np.log(d) - (1 - d) * np.log(1 - d)
    f, y = np.linspace(-8, 8, 801), np.ones(801)
    theirs = bartlett_wegkamp(costs).value(y, d * f / entropy)
    np.testing.assert_allclose(losses.double_hinge(costs).value(y, f), entropy * theirs, atol=1e-12)
    assert losses.bartlett_wegkamp_threshold(costs) == pytest.approx(entropy / (2 * d))


def test_the_two_rules_are_one_at_the_price_the_paper_names():
    costs = Costs(reject=0.24149)
    assert losses.bartlett_wegkamp_threshold(costs) == pytest.approx(losses.score_thresholds(costs)[1], abs=1e-4)


@pytest.mark.parametrize("rule", losses.SCORE_RULES)
def test_every_rule_gives_two_thresholds_in_order(rule):
    low, high = losses.SCORE_RULES[rule](Costs(reject=0.2))
    assert low < 0 < high


def test_bartlett_and_wegkamp_need_equal_prices():
    with pytest.raises(ValueError, match="equal prices"):
        losses.bartlett_wegkamp_threshold(Costs(fn=2, reject=0.1))


def test_every_hinge_loss_is_convex_and_falls_with_the_margin():
    m = np.linspace(-5, 5, 201)
    for make in (losses.double_hinge, bartlett_wegkamp, hinge):
        hinges = make(Costs(reject=0.3))
        for sign in (-1.0, 1.0):
            value = hinges.value(np.full(201, sign), sign * m)
            assert (np.diff(value) <= 1e-12).all()
            assert (np.diff(value, 2) >= -1e-9).all()


def test_costs_at_which_rejecting_never_pays_are_refused():
    with pytest.raises(ValueError, match="Rejecting never pays"):
        losses.double_hinge(Costs(reject=0.5))
    with pytest.raises(ValueError, match="Rejecting never pays"):
        losses.double_hinge(Costs(reject_positive=3, reject_negative=0.5))
