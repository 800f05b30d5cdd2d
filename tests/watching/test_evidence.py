"""Evidence that may be looked at at any time: bets are fair, ranks uniform, and evidence has mean 1 before a change."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import hypergeom, kstest

from recuse.watching.evidence import (
    MEAN_PARTS,
    RANK_PARTS,
    Evidence,
    bets_on_counts,
    bets_on_mean,
    bets_on_ranks,
    mean_stakes,
    start_share,
)
from recuse.watching.ranks import CountRanks, ValueRanks

SIZES = (2, 1, 3)  # cases in each of three batches


@pytest.mark.parametrize("promised", [0.05, 0.4])
@pytest.mark.parametrize("rate", [1.0, 0.5])
def test_evidence_has_mean_one_at_the_promise_and_less_below_it(promised, rate):
    """Over all outcomes of six cases, each with its probability."""
    chance, mean, weights = promised * rate, 0.0, np.ones(1)
    for outcome in product([0.0, 1.0], repeat=sum(SIZES)):
        evidence, seen = Evidence(MEAN_PARTS), 0
        for size in SIZES:
            losses = np.array(outcome[seen : seen + size])
            evidence.add(bets_on_mean(losses, np.repeat(weights, size), promised))
            seen += size
        mean += evidence.value * chance ** sum(outcome) * (1 - chance) ** (len(outcome) - sum(outcome))
    assert mean == pytest.approx(1.0, abs=1e-12) if rate == 1 else mean < 1


def test_evidence_is_the_sum_over_bets_and_starts_that_the_formula_says():
    rng = np.random.default_rng(0)
    factors = [rng.uniform(0.5, 2, (size, 4)) for size in (3, 1, 4, 2)]
    evidence = Evidence(np.array([0.1, 0.2, 0.3, 0.4]))
    share = {k: (1 + (k - 1) / 5) ** -0.5 - (1 + k / 5) ** -0.5 for k in range(1, 5)}
    for number, batch in enumerate(factors, 1):
        started = [
            sum((j + 1) / 10 * np.prod(np.vstack(factors[k - 1 : number])[:, j]) for j in range(4)) * share[k]
            for k in range(1, number + 1)
        ]
        waiting = 1 - sum(share[k] for k in range(1, number + 1))
        assert evidence.add(batch) == pytest.approx(sum(started) + waiting, rel=1e-10)


def test_evidence_is_a_number_however_strong():
    evidence = Evidence(np.array([0.5, 0.5]))
    assert np.isfinite(evidence.add(np.full((5000, 2), 3.0)))


@given(st.floats(0, 1), st.floats(0.001, 0.999), st.floats(0, 50))
def test_bets_never_lose_more_than_the_stake(p, share, spread):
    assert (bets_on_ranks(np.array([p])) >= 0).all()
    assert (bets_on_counts(np.array([p]), np.array([spread]), np.array([-0.8, 0.8])) >= 0).all()
    assert (bets_on_mean(np.array([0.0, 1.0]), np.array([0.3, 1.0]), share) >= 0).all()


@pytest.mark.parametrize("bet", range(len(RANK_PARTS)))
def test_bets_on_ranks_are_fair(bet):
    mean = quad(lambda p: bets_on_ranks(np.array([p]))[0, bet], 0, 1, points=[1e-6, 1 - 1e-6], limit=200)[0]
    assert mean == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("spread", [0.0, 0.3, 2.0, 40.0])
def test_bets_on_counts_are_fair(spread):
    changes = np.array([-0.8, -0.35, 0.35, 0.8])
    for bet in range(len(changes)):
        bounds = np.append(np.logspace(-12, -1, 23), 0.5)
        bounds = np.concatenate([[0], bounds, 1 - bounds[-2::-1], [1]])
        parts = (
            quad(lambda u, b=bet: bets_on_counts(np.array([u]), np.array([spread]), changes)[0, b], low, high)[0]
            for low, high in pairwise(bounds)
        )
        assert 1 - 2e-5 < sum(parts) < 1 + 1e-8  # beyond the ranks that are clipped a little is lost


def test_parts_of_the_stake_are_all_of_it():
    assert MEAN_PARTS.sum() == pytest.approx(1.0)
    assert len(MEAN_PARTS) == len(mean_stakes(0.1))
    assert RANK_PARTS.sum() == pytest.approx(1.0)
    assert sum(start_share(k) for k in range(1, 200_000)) == pytest.approx(1.0, abs=0.006)


def test_ranks_count_larger_values_and_break_ties_at_random():
    values, groups = np.array([3.0, 1.0, 2.0, 2.0, 9.0, 2.0]), np.array([0, 0, 0, 0, 1, 0])
    shares = np.random.default_rng(5).uniform(size=6)
    found = ValueRanks(np.random.default_rng(5)).add(values, groups)
    for i in range(6):
        before = [values[j] for j in range(i) if groups[j] == groups[i]]
        larger, alike = sum(b > values[i] for b in before), 1 + sum(b == values[i] for b in before)
        assert found[i] == pytest.approx((larger + shares[i] * alike) / (len(before) + 1))


def test_ranks_of_counts_are_those_of_the_hypergeometric_law():
    """Seven true values of twelve, four of them in the block of five: by repeated sampling, and by the exact law."""
    before, block = np.arange(7) < 3, np.arange(5) < 4

    def rank(seed):
        ranks = CountRanks(np.ones((1, 1)), np.random.default_rng(seed))
        ranks.start(before, np.zeros(7, dtype=int))
        return ranks.add(block, np.zeros(5, dtype=int), np.array([0.5]))

    law = hypergeom(12, 7, 5)
    found = np.array([rank(seed)[0][0, 0] for seed in range(200)])
    assert found.mean() == pytest.approx(law.sf(4) + law.pmf(4) / 2, abs=4 * law.pmf(4) / np.sqrt(12 * 200))
    assert law.sf(4) - 0.06 < found.min() < found.max() < law.sf(3) + 0.08
    assert rank(0)[1][0, 0] == pytest.approx(np.sqrt(0.25 * 5 * 7 / 12))


WEIGHTS = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.1, 0.3, 0.0]])


@pytest.fixture(scope="module")
def ranked():
    """Ranks of three blocks of six cases, in three groups with chances of their own; 3000 times."""
    rng = np.random.default_rng(4)
    found = np.empty((3000, 3, len(WEIGHTS)))
    for i in range(len(found)):
        ranks = CountRanks(WEIGHTS, rng)
        groups = rng.permutation(np.repeat([0, 1, 2], 8))
        values = rng.random(24) < np.array([0.05, 0.3, 0.7])[groups]
        ranks.start(values[:6], groups[:6])
        for block in range(3):
            rows = slice(6 + 6 * block, 12 + 6 * block)
            found[i, block] = ranks.add(values[rows], groups[rows], np.full(3, 0.5))[0][0]
    return found


def test_ranks_of_counts_are_uniform(ranked):
    assert min(kstest(ranked[:, block, count], "uniform").pvalue for block in range(3) for count in range(3)) > 1e-4


def test_ranks_of_counts_are_independent_of_earlier_ones_and_of_other_groups(ranked):
    """Also as bets see them: a product of fair factors has mean 1, over blocks and over counts of other groups."""
    high = (ranked < 0.3) - 0.3
    for first, second in [((0, 0), (1, 0)), ((1, 2), (2, 2)), ((0, 0), (2, 0)), ((1, 0), (1, 1)), ((0, 1), (1, 0))]:
        product = high[:, *first] * high[:, *second]
        assert abs(product.mean()) < 4 * product.std() / np.sqrt(len(product))
    spreads, changes = np.full(len(ranked), 0.5), np.array([-0.8, 0.8])
    for counts in ([0], [2], [0, 1]):
        factors = [bets_on_counts(ranked[:, block, count], spreads, changes) for block in range(3) for count in counts]
        wealth = np.prod(factors, axis=0)
        assert (np.abs(wealth.mean(axis=0) - 1) < 4 * wealth.std(axis=0) / np.sqrt(len(wealth))).all()


def test_many_cases_are_many_blocks_and_their_change_is_seen_at_once():
    rng = np.random.default_rng(0)
    ranks, groups = CountRanks(np.ones((1, 1)), rng), np.zeros(1000, dtype=int)
    ranks.start(rng.random(1000) < 0.1, groups)
    found, spreads = ranks.add(rng.random(1000) < 0.3, groups, np.array([0.1]))
    assert found.shape == spreads.shape == (10, 1)
    assert np.median(found) < 0.05


@pytest.mark.parametrize("values", ["continuous", "tied"])
def test_ranks_of_exchangeable_values_are_uniform_and_independent(values):
    rng = np.random.default_rng(3)
    drawn = rng.standard_normal(4000) if values == "continuous" else rng.integers(0, 3, 4000).astype(float)
    ranks = ValueRanks(rng)
    ranks.start(drawn[:200], np.zeros(200, dtype=int))
    found = ranks.add(drawn[200:], np.zeros(3800, dtype=int))
    assert kstest(found, "uniform").pvalue > 0.001
    assert abs(np.corrcoef(found[1:], found[:-1])[0, 1]) < 4 / np.sqrt(3800)
