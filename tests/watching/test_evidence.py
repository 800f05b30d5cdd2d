"""Evidence that may be looked at at any time: bets are fair, ranks uniform, and evidence has mean 1 before a change."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import binom, kstest

from recuse.watching.evidence import (
    N_FLAG_BETS,
    N_MEAN_BETS,
    N_RANK_BETS,
    Evidence,
    bets_on_flags,
    bets_on_mean,
    bets_on_ranks,
)
from recuse.watching.ranks import FlagRanks, ValueRanks

SIZES = (2, 1, 3)  # cases in each of three batches


@pytest.mark.parametrize("promised", [0.05, 0.4])
@pytest.mark.parametrize("rate", [1.0, 0.5])
def test_evidence_has_mean_one_at_the_promise_and_less_below_it(promised, rate):
    """Over all outcomes of six cases, each with its probability."""
    chance, mean, weights = promised * rate, 0.0, np.ones(1)
    for outcome in product([0.0, 1.0], repeat=sum(SIZES)):
        evidence, seen = Evidence(N_MEAN_BETS), 0
        for size in SIZES:
            losses = np.array(outcome[seen : seen + size])
            evidence.add(bets_on_mean(losses, np.repeat(weights, size), promised))
            seen += size
        mean += evidence.value * chance ** sum(outcome) * (1 - chance) ** (len(outcome) - sum(outcome))
    assert mean == pytest.approx(1.0, abs=1e-12) if rate == 1 else mean < 1


def test_evidence_is_the_sum_over_bets_and_starts_that_the_formula_says():
    rng = np.random.default_rng(0)
    factors = [rng.uniform(0.5, 2, (size, 4)) for size in (3, 1, 4, 2)]
    evidence = Evidence(4)
    share = {k: k**-0.5 - (k + 1) ** -0.5 for k in range(1, 5)}
    for number, batch in enumerate(factors, 1):
        started = [
            np.mean([np.prod(np.vstack(factors[k - 1 : number])[:, j]) for j in range(4)]) * share[k]
            for k in range(1, number + 1)
        ]
        waiting = 1 - sum(share[k] for k in range(1, number + 1))
        assert evidence.add(batch) == pytest.approx(sum(started) + waiting, rel=1e-10)


def test_evidence_is_a_number_however_strong():
    evidence = Evidence(2)
    assert np.isfinite(evidence.add(np.full((5000, 2), 3.0)))


@given(st.floats(0.001, 0.999), st.floats(0.001, 0.999), st.sampled_from([1.0, -1.0]))
def test_bets_never_lose_more_than_the_stake(p, share, direction):
    assert (bets_on_ranks(np.array([p])) >= 0).all()
    assert (bets_on_flags(np.array([p]), np.array([share]), np.array([direction])) >= 0).all()
    assert (bets_on_mean(np.array([0.0, 1.0]), np.array([0.3, 1.0]), share) >= 0).all()


@pytest.mark.parametrize("bet", range(N_RANK_BETS))
def test_bets_on_ranks_are_fair(bet):
    mean = quad(lambda p: bets_on_ranks(np.array([p]))[0, bet], 0, 1, points=[1e-6, 1 - 1e-6], limit=200)[0]
    assert mean == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("bet", range(N_FLAG_BETS))
@pytest.mark.parametrize("share", [0.02, 0.5, 0.9])
def test_bets_on_flags_are_fair(bet, share):
    mean = quad(lambda p: bets_on_flags(np.array([p]), np.array([share]))[0, bet], 0, 1, points=[share])[0]
    assert mean == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("share", [0.02, 0.3])
def test_bets_on_flags_have_mean_one_over_all_references(share):
    """Exactly, over a reference of ten cases and 40 later ones, by the number of true values: 1 for a fixed step."""
    step, n_reference, wealth = 0.1, 10, np.zeros((N_FLAG_BETS, 51))
    at = bets_on_flags(np.array([step / 2, (1 + step) / 2]), np.array([step, step]))
    wealth[:, : n_reference + 1] = binom.pmf(np.arange(n_reference + 1), n_reference, share)
    for before in range(n_reference, 50):
        new = np.zeros_like(wealth)
        for n_true in range(before + 1):
            border = ((n_true + 1) / (before + 1), n_true / (before + 1))
            true_below = min(step, border[0]) / border[0]
            false_below = max(0.0, step - border[1]) / (1 - border[1])
            for is_true, chance, below in ((1, share, true_below), (0, 1 - share, false_below)):
                new[:, n_true + is_true] += wealth[:, n_true] * chance * (below * at[0] + (1 - below) * at[1])
        wealth = new
    np.testing.assert_allclose(wealth.sum(axis=1), 1.0, rtol=1e-9)


def test_ranks_count_larger_values_and_break_ties_at_random():
    values, groups = np.array([3.0, 1.0, 2.0, 2.0, 9.0, 2.0]), np.array([0, 0, 0, 0, 1, 0])
    shares = np.random.default_rng(5).uniform(size=6)
    found = ValueRanks(np.random.default_rng(5)).add(values, groups)
    for i in range(6):
        before = [values[j] for j in range(i) if groups[j] == groups[i]]
        larger, alike = sum(b > values[i] for b in before), 1 + sum(b == values[i] for b in before)
        assert found[i] == pytest.approx((larger + shares[i] * alike) / (len(before) + 1))


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 2)), min_size=1, max_size=40), st.integers(1, 39))
def test_ranks_of_flags_are_those_of_numbers(cases, n_reference):
    flags, groups = (np.array(part) for part in zip(*cases, strict=True))
    n_reference = min(n_reference, len(cases) - 1)
    by_count, by_order = FlagRanks(np.random.default_rng(1)), ValueRanks(np.random.default_rng(1))
    by_count.start(flags[:n_reference], groups[:n_reference])
    by_order.start(flags[:n_reference].astype(float), groups[:n_reference])
    ranks = by_count.add(flags[n_reference:], groups[n_reference:])
    np.testing.assert_allclose(ranks, by_order.add(flags[n_reference:].astype(float), groups[n_reference:]))


@pytest.mark.parametrize("values", ["continuous", "tied"])
def test_ranks_of_exchangeable_values_are_uniform_and_independent(values):
    rng = np.random.default_rng(3)
    drawn = rng.standard_normal(4000) if values == "continuous" else rng.integers(0, 3, 4000).astype(float)
    ranks = ValueRanks(rng)
    ranks.start(drawn[:200], np.zeros(200, dtype=int))
    found = ranks.add(drawn[200:], np.zeros(3800, dtype=int))
    assert kstest(found, "uniform").pvalue > 0.001
    assert abs(np.corrcoef(found[1:], found[:-1])[0, 1]) < 4 / np.sqrt(3800)
