"""Intervals against a plain bootstrap, and the order of the rows."""

import numpy as np
import pytest

from recuse.comparison.leaderboard import Row, bootstrap_mean, rank


def test_interval_is_the_bootstrap_of_the_cases():
    rng = np.random.default_rng(0)
    prices = rng.choice([0.0, 0.3, 1.0, 5.0], p=[0.7, 0.2, 0.07, 0.03], size=300)
    found = bootstrap_mean(prices, seed=1)
    drawn = rng.choice(prices, size=(4000, 300)).mean(axis=1)
    assert found.value == pytest.approx(prices.mean())
    assert [found.low, found.high] == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.02)


def test_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(2)
    truth = 0.1 * 1 + 0.2 * 0.3
    hits = 0
    for _ in range(300):
        prices = rng.choice([0.0, 0.3, 1.0], p=[0.7, 0.2, 0.1], size=200)
        found = bootstrap_mean(prices)
        hits += found.low <= truth <= found.high
    assert 0.90 <= hits / 300 <= 0.985


def test_constant_prices_have_no_width():
    found = bootstrap_mean(np.full(10, 0.3))
    assert (found.low, found.high) == pytest.approx((0.3, 0.3))


def test_order_ties_and_failures():
    rows = [Row("a", "A"), Row("b", "B"), Row("c", "C", error="x"), Row("d", "D", reference=True)]
    same = np.array([0.0, 1.0])
    ranked = rank(rows, {"a": same, "b": same.copy(), "d": np.zeros(2)}, seed=0)
    assert [row.name for row in ranked] == ["d", "a", "b", "c"]
    assert ranked[-1].cost is None
    paired = rank(rows, {"a": np.array([0.0, 1.0]), "b": np.array([1.0, 1.0])}, seed=0)
    assert paired[1].difference.value == 0.5
