"""No case has a part in the model that answers it, and intervals cover as often as they say."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from recuse import Costs
from recuse.comparison import METHODS
from recuse.comparison.folds import run_fold
from recuse.comparison.leaderboard import Row, bootstrap_mean, rank
from recuse.comparison.methods import Task
from recuse.comparison.result import Answers
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


def test_paired_differences_cover_the_truth_and_use_the_pairing():
    """Two methods that agree on most cases: their difference is far surer than either cost."""
    rng = np.random.default_rng(5)
    prices, n, rounds, hits, width, unpaired = np.array([0.0, 0.3, 1.0, 5.0]), 250, 300, 0, 0.0, 0.0
    shares = np.array([0.55, 0.25, 0.15, 0.05])
    truth = 0.1 * ((prices * np.array([0.25, 0.25, 0.25, 0.25])).sum() - (prices * shares).sum())
    for _ in range(rounds):
        first = rng.choice(prices, p=shares, size=n)
        second = np.where(rng.random(n) < 0.1, rng.choice(prices, size=n), first)
        found = bootstrap_mean(second - first)
        hits += found.low <= truth <= found.high
        width += found.high - found.low
        both = [bootstrap_mean(column) for column in (first, second)]
        unpaired += np.hypot(*(interval.high - interval.low for interval in both))
    assert 0.90 <= hits / rounds <= 0.985
    assert width < 0.6 * unpaired


def test_the_leaderboard_s_differences_are_these():
    rng = np.random.default_rng(6)
    first = rng.choice([0.0, 0.3, 1.0], p=[0.7, 0.2, 0.1], size=200)
    second = np.where(rng.random(200) < 0.2, 1.0, first)
    ranked = rank([Row("a", "A"), Row("b", "B")], {"a": first, "b": second}, seed=3)
    assert [row.name for row in ranked] == ["a", "b"]
    assert ranked[1].difference == bootstrap_mean(second - first, 3)


def test_repetitions_do_not_make_intervals_narrower_than_the_cases_allow():
    """Ten answers to one case are nearly one answer: taking them for ten cases would cover far too seldom."""
    rng = np.random.default_rng(7)
    n, repeats, rounds, costs = 80, 10, 250, Costs(fp=1, fn=1, reject=0.2)
    truth, hits, naive_hits = 0.3 * 0.95 + 0.7 * 0.05, 0, 0
    for _ in range(rounds):
        hard = rng.random(n) < 0.3
        wrong = np.where(rng.random((repeats, n)) < 0.05, ~hard, hard)
        none = np.zeros((repeats, n))
        found = Answers(wrong.astype(np.int8), none.astype(np.int8), none.astype(np.int16), none, none, none, [], [])
        prices = found.prices(np.zeros(n, dtype=bool), costs)
        interval, naive = bootstrap_mean(prices), bootstrap_mean(wrong.ravel().astype(float))
        hits += interval.low <= truth <= interval.high
        naive_hits += naive.low <= truth <= naive.high
    assert 0.90 <= hits / rounds <= 0.985
    assert naive_hits / rounds < 0.6
