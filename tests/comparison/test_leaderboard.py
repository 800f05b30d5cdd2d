"""The order of the rows, and the counts behind every share."""

import numpy as np
import pytest

from recuse import Costs
from recuse.comparison.leaderboard import Counts, Row, rank
from recuse.comparison.payments import Payments

COSTS = Costs(1, 5, 0.3)


def paid(columns, positive, costs=COSTS):
    return Payments.of(np.array(columns), np.array(positive, dtype=bool), costs)


def test_order_ties_and_failures():
    rows = [Row("a", "A"), Row("b", "B"), Row("c", "C", error="x"), Row("d", "D", reference=True)]
    positive = [0, 1]
    ranked = rank(rows, {"a": paid([0, 0], positive), "b": paid([0, 0], positive), "d": paid([0, 1], positive)})
    assert [row.name for row in ranked] == ["d", "a", "b", "c"]
    assert ranked[-1].cost is None
    assert ranked[0].difference == (0, 0, 0)  # the cheapest differs from itself by nothing, for certain
    assert ranked[1].difference.value == 2.5
    assert ranked[1].cost.value == 2.5


def test_a_difference_is_paired():
    """Two rules that agree on most cases: their difference is far surer than either cost."""
    rng = np.random.default_rng(5)
    positive = rng.random(400) < 0.3
    first = rng.integers(0, 3, 400)
    second = np.where(rng.random(400) < 0.05, rng.integers(0, 3, 400), first)
    one, other = paid(first, positive), paid(second, positive)
    saved, costs = one.saved_against(other), [one.cost(), other.cost()]
    assert saved.value == pytest.approx(costs[1].value - costs[0].value)
    assert saved.high - saved.low < 0.6 * np.hypot(*(cost.high - cost.low for cost in costs))


def test_the_same_answers_differ_by_nothing():
    positive = np.arange(50) % 3 == 0
    columns = np.arange(50) % 4 % 3
    saved = paid(columns, positive).saved_against(paid(columns, positive))
    assert saved.value == 0
    # Wilson's interval allows for a review that differs though none did; errors cannot differ where answers do not.
    assert -0.3 * 0.08 <= saved.low <= 0 <= saved.high <= 0.3 * 0.08


def test_counts_and_bounds():
    positive = np.array([0, 0, 0, 0, 1, 1, 1, 1], dtype=bool)
    counts = Counts.of(np.array([0, 1, 2, 0, 1, 1, 2, 1]), positive)
    assert (counts.negatives, counts.positives, counts.rejected) == (3, 3, 2)
    assert counts.false_alarms.value == pytest.approx(1)
    assert counts.misses.value == 0
    assert counts.misses.high == pytest.approx(3.689, rel=1e-3)  # what no miss in so few cases allows for
    assert counts.recall == 1
    assert counts.few == "1 false alarms and 0 misses"
    assert (counts.answered, counts.right) == (6, 5)
    nothing = Counts.of(np.full(8, 2), positive)
    assert nothing.misses == pytest.approx((0, 0, 0))
    assert np.isnan(nothing.recall)


def test_a_constant_answer_makes_one_kind_of_error_only():
    positive = np.array([0, 0, 0, 0, 1, 1, 1, 1], dtype=bool)
    always_no = Counts.of(np.zeros(8, dtype=int), positive, constant=True)
    assert always_no.false_alarms == (0, 0, 0)
    assert always_no.few == "4 misses"
    assert Counts.of(np.full(8, 2), positive, constant=True).few is None
    # A model that happened to answer no throughout may answer yes next time.
    assert Counts.of(np.zeros(8, dtype=int), positive).false_alarms.high > 3


def test_repetitions_are_averaged():
    positive = np.array([0, 1], dtype=bool)
    counts = Counts.of(np.array([[0, 0], [1, 1]]), positive)
    assert (counts.false_alarms.value, counts.misses.value) == pytest.approx((0.5, 0.5))
    assert paid([[0, 0], [1, 1]], positive).cost().value == pytest.approx((5 + 1) / 4)


def test_reviewing_everything_costs_its_price_for_certain():
    positive = np.arange(30) % 3 == 0
    everything = Payments.of(np.full(30, 2), positive, COSTS, constant=True)
    assert everything.cost() == pytest.approx((0.3, 0.3, 0.3))
    assert paid(np.full(30, 2), positive).cost().low < 0.3  # a model that happened to reject all cases seen
