"""Intervals of mean prices: by hand, against other formulas, and by simulation with known truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, chi2

from recuse import Costs
from recuse.comparison.intervals import Interval, combined, frequent_mean, rare_mean
from recuse.comparison.payments import Payments


def test_equal_weights_give_the_exact_poisson_interval():
    """Garwood's interval for a count, which the gamma interval is when all events weigh the same."""
    amounts = np.zeros(200)
    amounts[:7] = 5.0
    found = rare_mean(amounts, 5.0)
    assert found.value == pytest.approx(7 * 5 / 200)
    assert found.low == pytest.approx(5 / 200 * chi2.ppf(0.025, 14) / 2)
    assert found.high == pytest.approx(5 / 200 * chi2.ppf(0.975, 16) / 2)


def test_nothing_seen_is_not_nothing():
    found = rare_mean(np.zeros(300), 5.0)
    assert found.low == found.value == 0.0
    assert found.high == pytest.approx(5 * 3.689 / 300, rel=1e-3)  # 3.689: exact upper limit of a count of 0


def test_wilson_against_the_exact_binomial_interval():
    amounts = np.zeros(100)
    amounts[:30] = 0.3
    found = frequent_mean(amounts, 0.3)
    exact = 0.3 * beta.ppf(0.025, 30, 71), 0.3 * beta.ppf(0.975, 31, 70)
    assert found.value == pytest.approx(0.09)
    assert (found.low, found.high) == pytest.approx(exact, abs=0.003)


def test_limits_at_the_ends():
    assert frequent_mean(np.zeros(50), 0.3).low == 0.0
    everything = frequent_mean(np.full(50, 0.3), 0.3)
    assert everything.value == everything.high == pytest.approx(0.3)
    assert everything.low < 0.3


def test_parts_are_put_together_by_their_distances():
    found = combined(Interval(1.0, 0.7, 1.6), Interval(2.0, 1.6, 2.8))
    assert found == pytest.approx((3.0, 2.5, 4.0))
    assert combined(-Interval(1.0, 0.7, 1.6)) == pytest.approx((-1.0, -1.6, -0.7))


@given(st.lists(st.sampled_from([0.0, 0.0, 0.0, 1.0, 5.0]), min_size=5, max_size=60), st.floats(0.01, 100))
def test_prices_scale(amounts, factor):
    amounts = np.array(amounts)
    for mean in (rare_mean, frequent_mean):
        small, large = mean(amounts, 5.0), mean(factor * amounts, factor * 5.0)
        assert large == pytest.approx(tuple(factor * value for value in small), rel=1e-9, abs=1e-12)
        assert small.low <= small.value + 1e-12 <= small.high + 2e-12


@given(st.lists(st.sampled_from([0.0, 0.3]), min_size=8, max_size=40), st.integers(2, 5))
def test_repeated_rows_tell_nothing_new(amounts, times):
    """Every case entered several times, as one unit each, is what every case entered once is."""
    once, units = np.array(amounts), np.repeat(np.arange(len(amounts)), times)
    for mean in (rare_mean, frequent_mean):
        repeated = mean(np.repeat(once, times), 0.3, units)
        assert repeated == pytest.approx(mean(once, 0.3), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("rate", "n"), [(0.01, 300), (0.03, 300), (0.002, 2_000)])
def test_rare_expensive_errors_are_covered(rate, n):
    """False alarms at 1, misses at 50: the case in which the percentile bootstrap covers .73."""
    rng, truth, covered = np.random.default_rng(0), 0.05 * 1 + rate * 50, 0
    for _ in range(400):
        drawn = rng.random(n)
        amounts = np.where(drawn < rate, 50.0, np.where(drawn < rate + 0.05, 1.0, 0.0))
        found = rare_mean(amounts, 50.0)
        covered += found.low <= truth <= found.high
    assert covered >= 0.93 * 400


def test_shares_that_differ_by_rounding_are_the_same():
    """Thirty units of five cases that pay the same: thirty independent cases, whatever the last digit."""
    units = np.repeat(np.arange(30), 5)
    exact = frequent_mean(np.zeros(150), 1.0, units)
    rounded = frequent_mean(np.where(units == 3, 1e-17, 0.0), 1.0, units)
    assert rounded == pytest.approx(exact)


@pytest.mark.parametrize("n", [1, 3, 57])
def test_no_cost_is_below_0_or_above_the_dearest_price_however_much_other_folds_change(n):
    """One miss in one of two repetitions of a small segment: its reach about the mean would end below 0."""
    costs = Costs(fp=1, fn=20, reject=0.5)
    columns, everything = np.zeros((2, n), dtype=int), np.ones(n, dtype=bool)
    columns[0, :] = 1  # right in the first repetition, and one miss in the second
    columns[1, 1:] = 1
    for truth in (everything, ~everything):
        payments = Payments.of(columns, truth, costs)
        for units in (None, np.arange(n) // 2):
            cost = payments.cost(units)
            assert 0 <= cost.low <= cost.value <= cost.high <= 20
    missed = Payments.of(columns, everything, costs)
    assert missed.cost().low == 0
    assert missed.cost().value == pytest.approx(10 / n)
    assert Payments.of(np.zeros((2, n), dtype=int), everything, costs).cost().high == 20
