"""Folds of a table, and the models that choose by them: sorted rows must not matter, and groups stay together."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, ShuffleSplit, StratifiedKFold, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from recuse import (
    AbstentionBoostingClassifier,
    Costs,
    EnsembleRejectClassifier,
    ExactBoostClassifier,
    ThresholdRejectClassifier,
    cross_val_decide,
)
from recuse.baselines import TwoStepBoostingClassifier
from recuse.boosting.abstention import data
from recuse.boosting.exactboost.problem import RankingProblem, RunSettings
from recuse.boosting.exactboost.runs import split_cases
from recuse.folds import TimeFolds, check_groups, make_folds, time_folds
from recuse.metrics import expected_cost
from tests.marks import may_reject_all

COSTS = Costs(fp=1, fn=2, reject=0.25)


def noisy_cases(n=600, seed=0):
    """Two features that matter; the outcome is noisy, so that rejecting pays."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (rng.random(n) < 1 / (1 + np.exp(-2 * X[:, 0] - X[:, 1]))).astype(int)


def sorted_by(key, X, y):
    order = np.argsort(X[:, 0] if key == "feature" else y, kind="stable")
    return X[order], y[order]


FOREST = RandomForestClassifier(30, min_samples_leaf=3, random_state=0)

# Every estimator that holds cases out while it is fitted, to set thresholds or to choose between models.
INNER_FOLDS = {
    "tuned": ThresholdRejectClassifier(FOREST, costs=COSTS, rule="tuned"),
    "tuned in 3 folds": ThresholdRejectClassifier(LogisticRegression(), costs=COSTS, rule="tuned", cv=3),
    "symmetric": ThresholdRejectClassifier(FOREST, costs=COSTS, rule="symmetric"),
    "coverage": ThresholdRejectClassifier(FOREST, costs=COSTS, rule="tuned", coverage=0.6),
    "abstention": AbstentionBoostingClassifier(costs=COSTS, n_rounds=40, family="chow", max_bins=32),
    "abstention in 3 folds": AbstentionBoostingClassifier(
        costs=COSTS, n_rounds=40, family="decoupled", beta=0.001, max_bins=32, cv=3
    ),
    "two-step": TwoStepBoostingClassifier(costs=COSTS, n_rounds=40, max_bins=32),
    "two-step in 3 folds": TwoStepBoostingClassifier(costs=COSTS, n_rounds=40, max_bins=32, cv=3),
    "ensemble": EnsembleRejectClassifier(["logistic", "extra-trees"], costs=COSTS),
    "exactboost": ExactBoostClassifier(metric="reject_cost", costs=COSTS, n_estimators=10, n_rounds=30, random_state=0),
}


@pytest.mark.parametrize("name", INNER_FOLDS)
def test_the_order_of_the_rows_does_not_matter(name):
    X, y = noisy_cases(1500)
    new, truth = noisy_cases(4000, seed=1)
    shuffled, *ordered = (
        clone(INNER_FOLDS[name]).fit(*rows).decide(new, reasons=False)
        for rows in ((X, y), sorted_by("feature", X, y), sorted_by("outcome", X, y))
    )
    costs = [expected_cost(truth, answers, costs=COSTS) for answers in (shuffled, *ordered)]
    assert costs == pytest.approx([costs[0]] * 3, abs=0.02)
    assert max(costs) < 0.235  # sending every case costs 0.25
    for answers in ordered:  # the cost is flat about its minimum: the coverage says less
        assert answers.accepted.mean() == pytest.approx(shuffled.accepted.mean(), abs=0.3)


@may_reject_all
@pytest.mark.parametrize("key", ["feature", "outcome"])
def test_thresholds_of_sorted_rows(key):
    X, y = sorted_by(key, *noisy_cases())
    new, truth = noisy_cases(4000, seed=1)
    covering = ThresholdRejectClassifier(FOREST, costs=COSTS, coverage=0.8).fit(X, y)
    assert covering.decide(new).accepted.mean() == pytest.approx(0.8, abs=0.06)
    promised = ThresholdRejectClassifier(LogisticRegression(), guarantee=0.3).fit(X, y).decide(new)
    assert (promised.label != truth)[promised.accepted].mean() <= 0.3
    tuned = ThresholdRejectClassifier(FOREST, costs=COSTS, rule="tuned").fit(X, y)
    assert tuned.decide(new).accepted.mean() > 0.25
    if key == "feature":  # what shuffling is for: with folds of neighbouring rows the same rule rejects everything
        neighbours = clone(tuned).set_params(cv=StratifiedKFold(5)).fit(X, y)
        assert neighbours.decide(new).accepted.mean() < 0.1


def test_the_same_cases_give_the_same_model():
    X, y = noisy_cases(200)
    for estimator in (
        ThresholdRejectClassifier(LogisticRegression(), rule="tuned"),
        AbstentionBoostingClassifier(n_rounds=10),
        TwoStepBoostingClassifier(n_rounds=10),
    ):
        assert np.array_equal(estimator.fit(X, y).score_samples(X), estimator.fit(X, y).score_samples(X))


def test_cross_val_decide_shuffles():
    X, y = sorted_by("feature", *noisy_cases())
    model = ThresholdRejectClassifier(LogisticRegression(), costs=COSTS)
    found = cross_val_decide(model, X, y, cv=4)
    by_hand = cross_val_decide(model, X, y, cv=make_folds(4, y))
    assert np.array_equal(found.h, by_hand.h)
    assert not np.array_equal(found.h, cross_val_decide(model, X, y, cv=4, random_state=1).h)


@given(
    labels=st.lists(st.integers(0, 9), min_size=40, max_size=80),
    n_folds=st.integers(2, 4),
    seed=st.integers(0, 9),
)
def test_every_case_is_tested_once_and_no_group_is_on_both_sides(labels, n_folds, seed):
    groups = check_groups(np.array(labels), len(labels))
    y = np.arange(len(labels)) % 2
    for together in (None, groups):
        if together is not None and len(np.unique(groups)) < n_folds:
            with pytest.raises(ValueError, match=f"too few for {n_folds} folds"):
                make_folds(n_folds, y, groups=together)
            continue
        folds = make_folds(n_folds, y, groups=together, random_state=seed)
        assert len(folds) == n_folds
        assert sorted(np.concatenate([test for _, test in folds])) == list(range(len(y)))
        for train, test in folds:
            assert len(test) > 0
            assert sorted([*train, *test]) == list(range(len(y)))
            if together is not None:
                assert not set(together[train]) & set(together[test])


@pytest.mark.parametrize(
    "labels",
    [["b", "a", "b"], np.array(["b", "a", "b"], dtype=object), [2.5, 1.0, 2.5], [False, True, False]],
    ids=["text", "objects", "numbers", "flags"],
)
def test_groups_of_any_kind_become_numbers(labels):
    codes = check_groups(labels, 3)
    assert codes[0] == codes[2] != codes[1]


def test_groups_that_cannot_be_used_are_refused():
    assert check_groups(None, 3) is None
    with pytest.raises(ValueError, match="one label per case, 3 in all; got shape"):
        check_groups([1, 2], 3)
    for missing in ([1.0, np.nan, 2.0], ["a", None, "b"]):
        with pytest.raises(ValueError, match="groups holds missing values"):
            check_groups(missing, 3)
    X, y = noisy_cases(60)
    for estimator in (
        ThresholdRejectClassifier(LogisticRegression(), rule="tuned"),
        AbstentionBoostingClassifier(n_rounds=5, cv=5),
        TwoStepBoostingClassifier(n_rounds=5, cv=5),
    ):
        with pytest.raises(ValueError, match=r"4 different groups, too few for 5 folds .* 4 folds or fewer"):
            estimator.fit(X, y, groups=np.arange(60) % 4)
    with pytest.raises(ValueError, match="all cases of class 1 in one group"):
        ExactBoostClassifier(costs=COSTS, n_estimators=2).fit(X, y, groups=np.where(y == 1, 0, np.arange(60) + 1))


class Notes(LogisticRegression):
    """Notes which cases it was fitted on, and which it was asked about: the first column is their number."""

    fitted, asked = [], []

    def fit(self, X, y, sample_weight=None):
        Notes.fitted.append(X[:, 0].astype(int))
        return super().fit(X, y)

    def predict_proba(self, X):
        Notes.asked.append(X[:, 0].astype(int))
        return super().predict_proba(X)


def numbered_cases(n=120):
    X, y = noisy_cases(n)
    X[:, 0] = np.arange(n)
    return X, y, np.arange(n) // 4


@may_reject_all
def test_thresholds_are_set_on_groups_that_the_model_has_not_seen():
    X, y, groups = numbered_cases()
    Notes.fitted, Notes.asked = [], []
    ThresholdRejectClassifier(Notes(), rule="tuned", cv=3).fit(X, y, groups=groups.astype(str))
    # Last, the model itself is asked whether it answers any of its training cases, and whether it answers them alike
    # alone and in a batch; no threshold depends on it.
    tests, looks = Notes.asked[:3], Notes.asked[3:]
    assert looks
    assert all(set(look) <= set(Notes.fitted[0]) for look in looks)
    for train, test in zip(Notes.fitted[1:], tests, strict=True):
        assert not set(groups[train]) & set(groups[test])


@may_reject_all
def test_cross_val_decide_keeps_groups_together_outside_and_inside():
    X, y, groups = numbered_cases()
    Notes.fitted, Notes.asked = [], []
    model = make_pipeline(FunctionTransformer(), ThresholdRejectClassifier(Notes(), rule="tuned", cv=2))
    cross_val_decide(model, X, y, groups=groups, cv=3, reasons=False)
    # Each outer fold: a fit on its training part, two inner fits with their scores, looks at how training cases are
    # answered, the answers.
    asked = len(Notes.asked) // 3
    for fold in range(3):
        whole, *inner = Notes.fitted[3 * fold : 3 * fold + 3]
        *inner_tests, test = (Notes.asked[asked * fold + call] for call in (0, 1, asked - 1))
        assert all(set(look) <= set(whole) for look in Notes.asked[asked * fold + 2 : asked * (fold + 1) - 1])
        assert len(whole) + len(test) == len(y)
        for train, held_out in ((whole, test), *zip(inner, inner_tests, strict=True)):
            assert not set(groups[train]) & set(groups[held_out])


@pytest.mark.parametrize("cv", [None, 3, GroupKFold(3)], ids=str)
@pytest.mark.parametrize("rows", [5, 20_000], ids=["one split", "folds"])
def test_boosting_holds_out_whole_groups(cv, rows, monkeypatch):
    monkeypatch.setattr(data, "FOLDED_ROWS", rows)
    X, y, groups = numbered_cases()
    weights = np.where(np.arange(120) % 7 == 0, 0.0, 1.0)
    model = AbstentionBoostingClassifier(cv=cv)
    training = data.prepare(model, data.check_cases(model, X, y, weights), groups=groups, with_folds=True)
    together = training.groups
    assert np.array_equal(together, groups[training.order])
    for train, test in [*training.folds, *training.partition]:
        assert len(test) > 0
        assert not set(together[train]) & set(together[test])
    for part in training.parts:
        others = np.setdiff1d(training.tested, part)
        assert len(others) > 0
        assert not set(together[part]) & set(together[others])


@given(n_groups=st.integers(4, 12), seed=st.integers(0, 50), run=st.integers(0, 9))
def test_runs_of_exactboost_keep_out_whole_groups_and_leave_both_classes(n_groups, seed, run):
    rng = np.random.default_rng(seed)
    n, n_pos = 60, 20
    groups = rng.integers(0, n_groups, n)
    groups[:2], groups[-2:] = [0, 1], [2, 3]  # two groups of each class at least
    problem = RankingProblem(None, n_pos, np.ones(n), np.zeros(n, dtype=np.int32), None, None, groups)
    bag, out = split_cases(problem, RunSettings(hold_out=True), seed, run)
    assert sorted([*bag, *out]) == list(range(n))
    assert not set(groups[bag]) & set(groups[out])
    assert (bag < n_pos).any()
    assert (bag >= n_pos).any()
    held_out = np.concatenate([split_cases(problem, RunSettings(hold_out=True), seed, e)[1] for e in range(5)])
    assert sorted(held_out) == list(range(n))  # five runs keep every case out once


@given(n=st.integers(12, 60), n_splits=st.integers(2, 5))
def test_folds_over_time_are_those_of_scikit_learn(n, n_splits):
    y = np.arange(n) % 2
    expected = list(TimeSeriesSplit(n_splits).split(y))
    assume(len(expected[0][0]) >= 4)  # two cases of each class
    for (train, test), (past, future) in zip(TimeFolds(n_splits).split(y, y), expected, strict=True):
        assert np.array_equal(train, past)
        assert np.array_equal(test, future)


@given(drawn=st.data(), n=st.integers(20, 60), n_splits=st.integers(2, 4))
def test_folds_over_time_train_on_the_past_only(drawn, n, n_splits):
    times = np.array(drawn.draw(st.lists(st.integers(0, 30), min_size=n, max_size=n)))
    y = np.array(drawn.draw(st.permutations((np.arange(n) % 2).tolist())))
    try:
        folds = time_folds(times, y, n_splits, least=3)
    except ValueError:  # too many cases at one time, or a class that comes late
        assume(False)
    tested = np.concatenate([test for _, test in folds])
    assert len(np.unique(tested)) == len(tested)
    assert np.bincount(y[folds[0][0]], minlength=2).min() >= 3
    for train, test in folds:
        assert times[train].max() < times[test].min()
        assert (np.diff(times[train]) >= 0).all()
    # What is never tested is the past of the first block.
    assert set(range(n)) - set(tested.tolist()) == set(folds[0][0].tolist())


def test_thresholds_over_time_are_set_on_tested_cases_only():
    X, y = noisy_cases(300)
    splitter = TimeFolds(3)
    model = ThresholdRejectClassifier(LogisticRegression(), costs=COSTS, rule="tuned", cv=splitter).fit(X, y)
    scores, truth = [], []
    for train, test in splitter.split(X, y):
        scores.append(LogisticRegression().fit(X[train], y[train]).predict_proba(X[test])[:, 1])
        truth.append(y[test])
    scores, truth = np.concatenate(scores), np.concatenate(truth)
    low, high = model.thresholds_
    answers = np.where(scores > high, 1, np.where(scores < low, 0, -1))
    assert model.objective_ == pytest.approx(expected_cost(truth, answers, costs=COSTS, reject_label=-1))
    with pytest.raises(ValueError, match="no case into more than one test fold"):
        ThresholdRejectClassifier(LogisticRegression(), rule="tuned", cv=ShuffleSplit(3)).fit(X, y)
