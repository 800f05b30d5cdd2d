"""The stacked score, held out for every case whatever the split, and the certificate of a model that starts from it."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import ShuffleSplit

from recuse import AbstentionBoostingClassifier
from recuse.boosting import binning
from recuse.boosting.abstention import data as preparation
from recuse.boosting.abstention.chow import BoostedScore
from recuse.boosting.abstention.data import TrainingSet
from recuse.boosting.abstention.engine.losses import LOSSES
from recuse.boosting.abstention.engine.rounds import boost
from recuse.boosting.abstention.engine.settings import Settings
from recuse.boosting.abstention.stacking import held_out_score, inner_parts, stack_score
from recuse.boosting.binning import bin_features, code_features

from .helpers import make_problem, random_data


def linear_data(m, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 2))
    return X, (X[:, 0] + rng.normal(size=m) > 0).astype(int)


@pytest.mark.parametrize(
    "options",
    [{"beta": 0.01}, {"beta": "auto"}, {"beta": 0.01, "early_stopping": True}, {"max_depth": 2}],
    ids=lambda options: str(options),
)
@pytest.mark.parametrize("stack", ["start", "oof"])
def test_one_split_of_large_data_leaves_no_case_without_a_score(monkeypatch, stack, options):
    monkeypatch.setattr(preparation, "FOLDED_ROWS", 200)
    monkeypatch.setattr(binning, "EXACT_ROWS", 200)
    X, y = linear_data(300)
    shared = {"family": "decoupled", "stack": stack, "n_rounds": 10, "random_state": 0}
    model = AbstentionBoostingClassifier(**shared, **options).fit(X, y)
    assert np.isfinite(model.objective_)
    assert 0.05 < (model.predict(X) == -1).mean() < 0.9
    assert model.score(X, y) > 0.8


def test_auto_considers_the_stacked_pair_on_large_data(monkeypatch):
    monkeypatch.setattr(preparation, "FOLDED_ROWS", 200)
    monkeypatch.setattr(binning, "EXACT_ROWS", 200)
    X, y = linear_data(300)
    costs = AbstentionBoostingClassifier(n_rounds=10, beta=0.01, random_state=0).fit(X, y).held_out_costs_
    assert costs["decoupled+start"] < 0.2  # what rejecting everything costs
    assert abs(costs["decoupled+start"] - costs["chow"]) < 0.03


@pytest.mark.parametrize(
    ("rows", "cv", "folds"),
    [(10_000, None, 5), (50, None, 1), (10_000, 2, 2)],
    ids=["five folds", "one split", "two folds"],
)
@pytest.mark.parametrize(
    "options", [{"beta": 0.01}, {"beta": "auto"}, {"beta": 0.01, "early_stopping": True}], ids=lambda o: str(o)
)
def test_a_fold_learns_from_scores_that_do_not_know_its_test_cases(monkeypatch, rows, cv, folds, options):
    """Whatever the test cases are, the scores of the training cases are the same (at the same penalty)."""
    monkeypatch.setattr(preparation, "FOLDED_ROWS", rows)
    monkeypatch.setattr(binning, "EXACT_ROWS", rows)
    monkeypatch.setattr(BoostedScore, "best_option", lambda score, rows: 0)
    X, y = linear_data(100)
    model = AbstentionBoostingClassifier(family="decoupled", stack="oof", n_rounds=10, cv=cv, random_state=0, **options)
    data = preparation.prepare(model, preparation.check_cases(model, X, y, None), with_folds=True)
    assert len(data.folds) == folds
    train, test = data.folds[0]
    bins = bin_features(X, data.order, None)
    X_other = X.copy()
    X_other[data.order[test]] = X[np.random.default_rng(1).permutation(data.order[test])]
    scores = []
    for features in (X, X_other):
        other = replace(data, X=features)
        boosted = BoostedScore(other, code_features(features, data.order, bins.cuts), model._settings(len(y)))
        scores.append(stack_score(boosted))
    first, second = (score.inside(train, test) for score in scores)
    np.testing.assert_array_equal(first[train], second[train])
    assert not np.array_equal(scores[0].z[train], scores[1].z[train])  # the scores of the whole do know them
    # The test cases have the score of a model of all training cases.
    boosted = scores[0].boosted
    np.testing.assert_array_equal(first[test], held_out_score(boosted, boosted.problem, [(train, test)], 0)[test])


def test_the_penalty_of_a_score_inside_is_chosen_on_other_parts(monkeypatch):
    X, y = linear_data(100)
    model = AbstentionBoostingClassifier(family="decoupled", stack="start", n_rounds=10, random_state=0)
    data = preparation.prepare(model, preparation.check_cases(model, X, y, None), with_folds=True)
    score = stack_score(BoostedScore(data, bin_features(X, data.order, None), model._settings(100)))
    asked = []
    monkeypatch.setattr(BoostedScore, "best_option", lambda score, rows: asked.append(rows) or 0)
    train, test = data.folds[1]
    score.inside(train, test)
    np.testing.assert_array_equal(asked[0], np.setdiff1d(np.arange(100), test))


@pytest.mark.parametrize("positives", [1, 2, 3, 4, 5])
def test_inner_parts_hold_out_every_case_and_leave_both_classes(positives):
    n_pos, m = positives, 30
    parts = [np.arange(k, m, 3) for k in range(3)]
    partition = [(np.setdiff1d(np.arange(m), part), part) for part in parts]
    data = TrainingSet(np.zeros((m, 1)), np.arange(m), n_pos, np.ones(m) / m, 0.2, None, partition, partition)
    for train, _ in partition:
        inner = inner_parts(data, train)
        if (train < n_pos).sum() < 2:
            assert inner == []
            continue
        np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in inner])), np.arange(len(train)))
        for learned, test in inner:
            assert not np.intersect1d(learned, test).size
            assert set((train[learned] < n_pos).tolist()) == {True, False}


def test_a_split_that_leaves_cases_out_is_refused_where_it_would_be_stacked():
    X, y = linear_data(120)
    for cv in (ShuffleSplit(1, random_state=0), [(np.arange(60), np.arange(60, 100))]):
        shared = {"cv": cv, "beta": 0.01, "n_rounds": 5}
        for stack in ("start", "oof"):
            with pytest.raises(ValueError, match="do not hold out every case exactly once"):
                AbstentionBoostingClassifier(family="decoupled", stack=stack, **shared).fit(X, y)
        model = AbstentionBoostingClassifier(**shared).fit(X, y)
        assert set(model.candidates_) == {"chow", "decoupled"}


def test_a_part_without_both_classes_to_train_on_is_refused():
    X, y = linear_data(80)
    negatives, positives = np.flatnonzero(y == 0), np.flatnonzero(y == 1)
    model = AbstentionBoostingClassifier(family="decoupled", beta=0.01, cv=[(negatives, positives)])
    with pytest.raises(ValueError, match="cases of one class only to train on"):
        model.fit(X, y)


def test_scores_that_are_no_numbers_end_the_fit():
    X, y = random_data(0)
    problem, _ = make_problem(X, y)
    start = np.zeros((len(y), 2))
    start[3] = np.nan
    with pytest.raises(FloatingPointError, match="The objective of boosting is nan"):
        boost(type(problem)(problem.bins, problem.n_pos, problem.s, problem.surrogate, start), Settings(beta=0.01))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("beta", [0.005, 0.05])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_gap_of_a_started_pair_bounds_the_optimum(seed, beta, loss):
    X, y = random_data(seed, m=60)
    plain, order = make_problem(X, y, 0.2, loss)
    start = np.random.default_rng(seed).normal(size=(60, 2)) + np.column_stack([y[order], np.zeros(60)])
    problem = type(plain)(plain.bins, plain.n_pos, plain.s, plain.surrogate, start)
    shared = {"family": "decoupled", "beta": beta}
    best = boost(problem, Settings(**shared, corrective=True, tol=1e-10, n_rounds=300))
    assert best.converged
    assert 0 <= best.history["dual_gap"][-1] < 1e-6
    history = boost(problem, Settings(**shared, n_rounds=30)).history
    assert (history["dual_gap"] >= history["objective"] - best.objective - 1e-9).all()
