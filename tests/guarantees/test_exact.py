"""P-values and bounds against enumeration, scipy and simulation."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom, multinomial

from recuse.guarantees.exact import (
    chance,
    likely_bound,
    most_bad,
    p_value,
    rows_needed,
    smallest_sample,
    upper_bound,
    upper_share,
)
from recuse.guarantees.risks import Tally

sizes = st.integers(1, 400)


@given(sizes, st.integers(0, 400), st.floats(0.01, 0.9))
def test_shares_have_the_p_value_of_scipy(n, count, level):
    count = min(count, n)
    assert p_value(Tally(n, (count,)), level, 0.05) == pytest.approx(binom.cdf(count, n, level), rel=1e-9, abs=1e-300)
    in_money = Tally(n, (count,), (7.0,))
    assert p_value(in_money, 7 * level, 0.05) == pytest.approx(binom.cdf(count, n, level), rel=1e-9, abs=1e-300)


@given(sizes, st.integers(0, 400), st.floats(0.5, 0.999))
def test_upper_share_is_the_bound_of_clopper_and_pearson(n, count, confidence):
    count = min(count, n)
    expected = 1.0 if count == n else beta.ppf(confidence, count + 1, n - count)
    assert upper_share(count, n, confidence) == pytest.approx(expected, rel=1e-8)


def test_a_price_that_no_case_reaches_is_shown_without_cases():
    assert p_value(Tally(0, (0,)), 1.0, 0.05) == 0.0
    assert p_value(Tally(0, (0,)), 0.5, 0.05) == 1.0
    assert p_value(Tally(3, (1, 2), (1.0, 4.0)), 4.0, 0.05) == 0.0


def largest_probability(tally, level, most_dear=1.0):
    """By enumeration of all outcomes, over a fine grid of the line where the mean is the level."""
    n, (cheap, dear) = tally.n, tally.prices
    outcomes = [(a, b) for a, b in product(range(n + 1), repeat=2) if a + b <= n]
    small = [(n - a - b, a, b) for a, b in outcomes if a * cheap + b * dear <= tally.total + 1e-9]
    best = 0.0
    for p_dear in np.linspace(0, min(most_dear, level / dear), 400):
        p_cheap = (level - dear * p_dear) / cheap
        if p_cheap + p_dear <= 1:
            best = max(best, multinomial.pmf(small, n, [1 - p_cheap - p_dear, p_cheap, p_dear]).sum())
    return best


@pytest.mark.parametrize(("n", "counts"), [(8, (0, 0)), (10, (1, 0)), (12, (2, 1)), (12, (0, 1)), (9, (4, 3))])
@pytest.mark.parametrize("prices", [(1.0, 5.0), (2.0, 3.0)])
def test_two_prices_have_the_largest_probability_over_all_shares(n, counts, prices):
    tally = Tally(n, counts, prices)
    for level in (0.3, 0.8, 1.5):
        found = p_value(tally, level, 0.05)
        most = upper_share(counts[1], n, 1 - 0.005)
        exact = min(1.0, largest_probability(tally, level, most) + 0.005)
        assert found >= exact - 1e-9  # an upper bound of it
        assert found <= 1.1 * exact + 1e-9  # and hardly more


def test_p_values_of_costs_are_rarely_small_where_the_mean_is_at_the_level():
    """At the level itself, whatever the shares of the two errors, P(p <= alpha) <= alpha."""
    rng = np.random.default_rng(0)
    level, alpha, n, draws = 0.2, 0.1, 150, 1500
    for p_dear in (0.0, 0.01, 0.02, 0.05):
        p_cheap = level - 4 * p_dear
        counts = rng.multinomial(n, [1 - p_cheap - p_dear, p_cheap, p_dear], size=draws)[:, 1:]
        seen, times = np.unique(counts, axis=0, return_counts=True)
        small = [p_value(Tally(n, tuple(pair), (1.0, 4.0)), level, alpha) <= alpha for pair in seen.tolist()]
        share = times[small].sum() / draws
        assert share <= alpha + 2 * math.sqrt(alpha * (1 - alpha) / draws)
        # A test that leaves the dear errors out of account would not pass: its p-values are far too small.
        naive = [binom.cdf(a + 4 * b, n, level) <= alpha for a, b in seen.tolist()]
        if p_dear == 0.05:
            assert times[naive].sum() / draws > 1.5 * alpha


@pytest.mark.parametrize("prices", [(1.0,), (1.0, 3.0)])
def test_the_bound_is_the_level_at_which_the_test_turns(prices):
    for n, counts in ((50, (2, 1)), (200, (0, 0)), (400, (9, 12))):
        tally = Tally(n, counts[: len(prices)], prices)
        bound = upper_bound(tally, 0.05)
        assert p_value(tally, bound * 1.001, 0.05) <= 0.05
        assert p_value(tally, bound * 0.97, 0.05) > 0.05
    assert upper_bound(Tally(0, (0,) * len(prices), prices), 0.05) == prices[-1]


def test_where_dear_errors_are_rare_costs_are_shown_by_fewer_cases_than_their_worst_case_needs():
    """With a bound on the share of dear errors; without it they would have to be feared to be all there are."""
    tally = Tally(600, (30, 0), (1.0, 10.0))
    assert upper_bound(tally, 0.05) < 0.9 * 10 * upper_share(3, 600, 0.95)


def test_smallest_sample_by_hand():
    assert smallest_sample(0.05, 0.05) == 59
    assert smallest_sample(0.01, 0.05) == 299
    assert 0.95**59 <= 0.05 < 0.95**58


@pytest.mark.parametrize("n", [0, 10, 58, 59, 92, 93, 500])
def test_most_bad_is_the_last_that_shows_the_level(n):
    most = most_bad(n, 0.05, 0.05)
    assert most == -1 or binom.cdf(most, n, 0.05) <= 0.05
    assert n == 0 or binom.cdf(most + 1, n, 0.05) > 0.05
    assert (most >= 0) == (n >= smallest_sample(0.05, 0.05))


@given(sizes, st.floats(0.01, 0.5), st.floats(0.01, 0.3))
def test_most_bad_for_any_level(n, level, alpha):
    most = most_bad(n, level, alpha)
    assert most == -1 or binom.cdf(most, n, level) <= alpha * (1 + 1e-9)
    assert binom.cdf(most + 1, n, level) > alpha * (1 - 1e-9)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.03])
def test_rows_needed_are_enough_and_hardly_too_many(share):
    n = rows_needed(Tally(1000, (round(1000 * share),)), 0.05, 0.05)
    assert binom.cdf(math.ceil(n * share), n, 0.05) <= 0.05
    assert binom.cdf(math.ceil((n - 1) * share), n - 1, 0.05) > 0.05
    assert rows_needed(Tally(100, (5,)), 0.05, 0.05) == math.inf


def test_the_chance_to_pass_is_about_the_share_of_samples_that_pass():
    rng = np.random.default_rng(0)
    seen = Tally(10_000, (200, 50), (1.0, 4.0))
    draws = rng.multinomial(300, [0.975, 0.02, 0.005], size=400)[:, 1:]
    passed = np.mean([p_value(Tally(300, tuple(pair), (1.0, 4.0)), 0.09, 0.1) <= 0.1 for pair in draws.tolist()])
    assert chance(seen, 300, 0.09, 0.1) == pytest.approx(passed, abs=0.25)  # a guess, for the order of thresholds only
    assert chance(Tally(0, (0,)), 0, 0.05, 0.05) == 0.0
    assert likely_bound(Tally(100, (0,)), 59, 0.05) == pytest.approx(0.0495, abs=1e-4)


@pytest.mark.parametrize("shares", [(0.02, 0.02, 0.02), (0.0, 0.05, 0.01), (0.1, 0.0, 0.0)])
def test_three_prices_are_wrong_no_more_often_than_they_may(shares):
    prices, n, alpha = (1.0, 2.0, 5.0), 400, 0.1
    level = sum(share * price for share, price in zip(shares, prices, strict=True))
    rng = np.random.default_rng(0)
    draws = rng.multinomial(n, [*shares, 1 - sum(shares)], size=2000)[:, :3]
    wrong = [
        p_value(Tally(n, tuple(map(int, counts)), prices), level * (1 - 1e-12), alpha) <= alpha for counts in draws
    ]
    assert np.mean(wrong) <= alpha + 2 * np.sqrt(alpha * (1 - alpha) / 2000)


def test_three_prices_show_what_is_clear():
    tally = Tally(1000, (10, 2, 0), (1.0, 2.0, 5.0))
    assert p_value(tally, 0.1, 0.05) < 0.01
    assert p_value(tally, 0.014, 0.05) == 1.0
    assert 0.014 < upper_bound(tally, 0.05) < 0.1
