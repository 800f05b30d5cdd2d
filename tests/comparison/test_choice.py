"""The choice among methods: simplest first, and its cost corrected, against brute force and by simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.comparison.choice import choose, standard_error


def test_standard_error_against_the_formula_and_for_units():
    values = np.random.default_rng(0).exponential(size=50)
    assert standard_error(values) == pytest.approx(values.std() / np.sqrt(50))
    repeated, units = np.repeat(values, 3), np.repeat(np.arange(50), 3)
    assert standard_error(repeated, units) == pytest.approx(standard_error(values))
    counts = np.random.default_rng(1).integers(0, 4, 50).astype(float)
    drawn = np.repeat(values, counts.astype(int))
    assert standard_error(values, counts=counts) == pytest.approx(standard_error(drawn))
    assert standard_error(values, np.arange(50), counts) == pytest.approx(standard_error(drawn))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_the_first_within_one_standard_error_of_the_cheapest(seed, m):
    prices = np.random.default_rng(seed).choice([0.0, 0.3, 1.0, 5.0], p=[0.6, 0.25, 0.1, 0.05], size=(m, 80))
    chosen = choose(prices, seed=0).chosen
    cheapest = prices.mean(axis=1).argmin()
    near = [
        j
        for j in range(m)
        if (prices[j] - prices[cheapest]).mean() <= (prices[j] - prices[cheapest]).std() / np.sqrt(80) + 1e-12
    ]
    assert chosen == near[0]


@pytest.mark.parametrize(("moved", "chosen"), [(0.0, 1), (0.12, 0)])
def test_what_folds_move_counts_as_error(moved, chosen):
    """One method is two standard errors behind, as far as cases go; other folds move the difference by more."""
    rng = np.random.default_rng(0)
    cases = rng.normal(size=400)
    behind = 2 / np.sqrt(400) + (cases - cases.mean()) / cases.std()
    folds = moved * np.array([-2.0, 2.0, -1.0, 1.0])[:, None]
    nothing = np.zeros((4, 400))
    assert choose([5 + behind + folds, 5 + nothing], seed=0).chosen == chosen
    assert choose([5 + behind + folds[:2], 5 + nothing], seed=0).chosen == chosen  # repeated less often
    assert choose([5 + behind, 5 + nothing[0]], seed=0).chosen == 1


def test_rounding_decides_between_no_equals():
    """Two methods that cost the same in every resample, but for the order in which prices are added."""
    rng = np.random.default_rng(0)
    one = rng.choice([0.0, 0.3, 1.0, 3.0], size=90)
    simple = np.where(rng.random(90) < 0.2, one + 0.7, one)
    tables = [[simple, one, one], [simple, one, one * (1 - 1e-15)]]
    tables += [[factor * prices for prices in tables[0]] for factor in (0.01, 0.7, 100)]
    chosen = [[position for position, _ in choose(table, seed=0).resampled] for table in tables]
    assert all(found == chosen[0] for found in chosen)
    assert 2 not in chosen[0]


def test_one_method_needs_no_correction():
    prices = np.random.default_rng(0).exponential(size=(1, 60))
    assert choose(prices, seed=0).correction(prices) == 0.0


def test_the_correction_is_three_fifths_of_what_left_out_cases_pay_more():
    prices = np.random.default_rng(1).exponential(size=(4, 60))
    choice = choose(prices, seed=0)
    left_out = np.mean([prices[position, rest].mean() for position, rest in choice.resampled])
    assert choice.correction(prices) == pytest.approx(0.6 * (left_out - prices[choice.chosen].mean()))


def test_what_left_out_cases_pay_is_the_common_cost_of_equals():
    """Fifteen rules that are all equally good: the cheapest looks better than it is, left-out cases do not flatter."""
    rng, shown, left_out = np.random.default_rng(3), [], []
    for run in range(60):
        prices = rng.choice([0.0, 0.3, 1.0], p=[0.55, 0.3, 0.15], size=(15, 150))
        choice = choose(prices, seed=run)
        shown.append(prices.mean(axis=1).min())
        left_out.append(prices[choice.chosen].mean() + choice.correction(prices) / 0.6)
    truth = 0.3 * 0.3 + 0.15
    spread = np.std(shown)
    assert np.mean(shown) < truth - spread
    assert abs(np.mean(left_out) - truth) < 0.35 * spread


def test_units_are_resampled_whole():
    units = np.repeat(np.arange(20), 5)
    prices = np.random.default_rng(0).exponential(size=(3, 100))
    for _, rest in choose(prices, seed=0, units=units).resampled:
        left_out = np.unique(units[rest])
        np.testing.assert_array_equal(rest, np.flatnonzero(np.isin(units, left_out)))


def test_rounding_does_not_decide_which_is_the_cheapest():
    """The last two cost the same; only against the third is the first, within its standard error, as cheap."""
    steady, varying = np.full(4, 0.9), np.array([0.0, 1.8, 0.0, 1.8])
    for rounding in (1 - 4e-16, 1.0, 1 + 4e-16):
        assert choose(np.array([np.ones(4), steady, rounding * varying]), seed=0).chosen == 1
