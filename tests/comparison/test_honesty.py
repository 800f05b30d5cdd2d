"""No case has a part in the model that answers it, and intervals cover as often as they say."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from recuse import Costs
from recuse.comparison import METHODS
from recuse.comparison.folds import run_fold
from recuse.comparison.leaderboard import Row, rank
from recuse.comparison.payments import Payments
from recuse.comparison.plans import Task
from recuse.tables import check_cases
from tests.comparison.conftest import COSTS, mixed_table

NAMES = [method.name for method in METHODS]


@pytest.fixture(scope="module")
def cases():
    return check_cases(mixed_table(120), "default", "bad")


def disturbed(cases, rows):
    """The same cases, with other outcomes and features far away in some rows."""
    features = cases.features.copy()
    features.loc[rows, "score"] = 1e6
    features.loc[rows, "town"] = [f"town {row}" for row in rows]
    features.loc[rows, "since"] = pd.Timestamp("1950-01-01")
    outcomes = cases.outcomes.copy()
    outcomes[rows] = np.where(outcomes[rows] == "bad", "good", "bad")
    return replace(cases, features=features, outcomes=outcomes)


def answers(name, cases, train, test):
    (method,) = (method for method in METHODS if method.name == name)
    result = run_fold(method, Task(COSTS, "bad", 0, len(cases.outcomes)), cases, train, test)
    assert result.error is None
    return result


@pytest.mark.parametrize("name", NAMES)
def test_the_cases_of_a_fold_have_no_part_in_its_model(cases, name):
    """Neither in the search, nor in the fit, nor in the preparation of the table: answers to a case stay the same
    whatever the outcomes of the fold and the other cases in it are."""
    train, test = np.arange(80), np.arange(80, 120)
    kept, moved = test[:20], test[20:]
    before = answers(name, cases, train, test)
    outcomes_of_kept = replace(cases, outcomes=disturbed(cases, kept).outcomes)
    after = answers(name, disturbed(outcomes_of_kept, moved), train, test)
    assert before.params == after.params
    for column in ("h", "r", "score", "forced", "kind"):
        np.testing.assert_array_equal(getattr(before, column)[:20], getattr(after, column)[:20])
    assert before.reason[:20] == after.reason[:20]


def test_the_probe_would_notice_a_leak(cases):
    """Control: with the disturbed cases in the training part, in any way, the answers to the others do change."""
    test = np.arange(80, 120)
    before = answers("logistic-chow", cases, np.arange(120), test)
    only_features = replace(disturbed(cases, test[20:]), outcomes=cases.outcomes)
    only_outcomes = replace(cases, outcomes=disturbed(cases, test[20:]).outcomes)
    for changed in (only_features, only_outcomes):
        after = answers("logistic-chow", changed, np.arange(120), test)
        assert np.abs(before.h[:20] - after.h[:20]).max() > 1e-3


def price_columns(rng, shares, shape):
    """Answers to negative cases: right, reviewed or a false alarm, with these shares."""
    return rng.choice([0, 2, 1], p=shares, size=shape)


def test_paired_differences_cover_the_truth_and_use_the_pairing():
    """Two methods that agree on most cases: their difference is far surer than either cost."""
    rng, costs = np.random.default_rng(5), Costs(fp=1, fn=1, reject=0.3)
    n, rounds, hits, width, unpaired = 250, 300, 0, 0.0, 0.0
    shares, others, positive = [0.65, 0.25, 0.10], [1 / 3] * 3, np.zeros(250, dtype=bool)
    truth = 0.1 * ((0.3 + 1) / 3 - (0.25 * 0.3 + 0.1))
    for _ in range(rounds):
        first = price_columns(rng, shares, n)
        second = np.where(rng.random(n) < 0.1, price_columns(rng, others, n), first)
        one, other = (Payments.of(columns, positive, costs) for columns in (first, second))
        found = one.saved_against(other)
        hits += found.low <= truth <= found.high
        width += found.high - found.low
        unpaired += np.hypot(*(cost.high - cost.low for cost in (one.cost(), other.cost())))
    assert hits / rounds >= 0.93
    assert width < 0.7 * unpaired


def test_the_leaderboard_s_differences_are_these():
    rng = np.random.default_rng(6)
    positive = rng.random(200) < 0.3
    first = np.where(rng.random(200) < 0.2, 2, positive)
    second = np.where(rng.random(200) < 0.2, 1 - positive, first)
    payments = {name: Payments.of(columns, positive, COSTS) for name, columns in {"a": first, "b": second}.items()}
    ranked = rank([Row("a", "A"), Row("b", "B")], payments)
    assert [row.name for row in ranked] == ["a", "b"]
    assert ranked[1].difference == payments["a"].saved_against(payments["b"])


def test_repetitions_do_not_make_intervals_narrower_than_the_cases_allow():
    """Ten answers to one case are nearly one answer: taking them for ten cases would cover far too seldom."""
    rng = np.random.default_rng(7)
    n, repeats, rounds, costs = 80, 10, 250, Costs(fp=1, fn=1, reject=0.2)
    truth, hits, naive_hits = 0.3 * 0.95 + 0.7 * 0.05, 0, 0
    for _ in range(rounds):
        hard = rng.random(n) < 0.3
        wrong = np.where(rng.random((repeats, n)) < 0.05, ~hard, hard).astype(int)
        interval = Payments.of(wrong, np.zeros(n, dtype=bool), costs).cost()
        naive = Payments.of(wrong.ravel(), np.zeros(n * repeats, dtype=bool), costs).cost()
        hits += interval.low <= truth <= interval.high
        naive_hits += naive.low <= truth <= naive.high
    assert hits / rounds >= 0.93
    assert naive_hits / rounds < 0.7


def test_intervals_include_what_other_folds_change():
    """A method whose errors come and go with the folds: where few repetitions were made, intervals must know it."""
    rng, costs, n = np.random.default_rng(8), Costs(fp=1, fn=1, reject=0.2), 400
    positive, truth, hits, without = np.zeros(n, dtype=bool), 0.2, 0, 0
    rounds, repeats = 200, 3
    for _ in range(rounds):
        shares = np.clip(rng.normal(truth, 0.08, size=repeats), 0, 1)  # of errors, which depend on the folds
        wrong = (rng.random((repeats, n)) < shares[:, None]).astype(int)
        payments, nothing = (Payments.of(columns, positive, costs) for columns in (wrong, np.zeros_like(wrong)))
        found = nothing.saved_against(payments)
        hits += found.low <= truth <= found.high
        blind = replace(payments, repeated=payments.repeated.mean(axis=0, keepdims=True)).cost()
        without += blind.low <= truth <= blind.high
        assert payments.cost().high - payments.cost().low >= blind.high - blind.low
    assert hits / rounds > 0.8  # three repetitions tell little about how much folds matter
    assert without / rounds < 0.65


def test_a_rule_that_was_repeated_less_often_is_compared_in_the_repetitions_of_both():
    columns = np.zeros((4, 50), dtype=int)
    columns[2:] = 1
    positive = np.zeros(50, dtype=bool)
    often, twice = (Payments.of(answers, positive, COSTS) for answers in (columns, columns[:2]))
    always = Payments.of(np.zeros(50, dtype=int), positive, COSTS, constant=True)
    assert often.saved_against(twice).low == pytest.approx(replaced_folds(often, twice).low)
    assert often.saved_against(always).low < replaced_folds(often, always).low


def replaced_folds(one, other):
    """The saving as if there had been one repetition."""
    first, second = (replace(rule, repeated=rule.repeated[:1]) for rule in (one, other))
    return first.saved_against(second)
