"""The search over candidates: folds in threads, models of the folds kept, hopeless pairs given up."""

from dataclasses import replace

import numpy as np
import pytest

from recuse import AbstentionBoostingClassifier
from recuse.boosting.abstention.candidates import OptionChoice
from recuse.boosting.abstention.data import check_cases, prepare
from recuse.boosting.abstention.options import search_options
from recuse.boosting.abstention.search import Searched
from recuse.boosting.abstention.selection import FIRST_LOOK, first_folds
from recuse.datasets import make_noise_by_feature

QUICK = {"n_rounds": 24, "bags": 2, "random_state": 0}


def table(m=240, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    return X, (rng.random(m) < 1 / (1 + np.exp(-2 * X[:, 0] - X[:, 1]))).astype(int)


@pytest.mark.parametrize(("n", "expected"), [(2, 2), (3, 2), (4, 2), (5, 2), (6, 3), (10, 4)])
def test_the_first_look_takes_two_of_five_folds(n, expected):
    folds = [(np.arange(0), part) for part in np.array_split(np.arange(n * 57 - 1), n)]
    assert first_folds(folds) == folds[:expected]


def test_the_first_look_at_folds_of_single_cases_takes_many_of_them():
    folds = [(np.arange(0), np.array([i])) for i in range(100)]
    assert len(first_folds(folds)) == pytest.approx(100 * FIRST_LOOK, abs=1)


def test_a_pair_that_is_kept_is_the_one_that_is_found_by_itself():
    X, y = make_noise_by_feature(300, random_state=0)
    model = AbstentionBoostingClassifier(costs=0.2, **QUICK).fit(X, y)
    assert set(model.candidates_) >= {"chow", model.family_} > {"chow"}  # a learned rejector is much cheaper here
    for name in set(model.candidates_) - {"chow"}:
        family, _, stack = name.partition("+")
        alone = AbstentionBoostingClassifier(costs=0.2, family=family, stack=stack or None, **QUICK).fit(X, y)
        assert alone.held_out_costs_[name] == pytest.approx(model.held_out_costs_[name])
        np.testing.assert_allclose(alone.candidates_[name].evaluate(X), model.candidates_[name].evaluate(X), atol=1e-9)


def test_a_pair_is_given_up_where_the_first_folds_are_no_cheaper():
    X, y = table()
    model = AbstentionBoostingClassifier(costs=0.2, **QUICK)
    training = prepare(model, check_cases(model, X, y, None), with_folds=True)
    searched = Searched(training, model._settings(len(y)))
    seen = replace(training, folds=first_folds(training.folds))
    for stack in (None, "start"):
        pair = searched.fit_pair("decoupled", stack)
        # Judged by the first folds alone, as a table that has no others would judge it.
        first = Searched(seen, searched.settings)
        first.stacked_score = searched.stacked_score
        judged = first.fit_pair("decoupled", stack).held_out_cost(seen)
        cheaper = judged.mean() < searched.score.held_out_prices(seen).mean()
        assert [rival.name for rival in searched.fit_rival("decoupled", stack)] == [pair.name] * bool(cheaper)


@pytest.mark.parametrize(
    "options",
    [{}, {"interactions": 2, "family": "chow"}, {"family": "coupled", "beta": 0.0, "early_stopping": True}],
    ids=str,
)
def test_the_model_is_the_same_with_any_number_of_threads(options):
    X, y = table()
    one, *others = (
        AbstentionBoostingClassifier(costs=0.2, n_jobs=n_jobs, **QUICK | options).fit(X, y) for n_jobs in (1, 2, 7)
    )
    for other in others:
        assert other.held_out_costs_ == pytest.approx(one.held_out_costs_)
        np.testing.assert_allclose(other.decision_function(X), one.decision_function(X), atol=1e-12)
        np.testing.assert_allclose(other.score_samples(X), one.score_samples(X), atol=1e-12)


@pytest.mark.parametrize("beta", ["auto", 0.01])
def test_the_models_that_are_kept_are_those_of_a_new_fit(beta):
    X, y = table()
    model = AbstentionBoostingClassifier(beta=beta, **QUICK)
    training = prepare(model, check_cases(model, X, y, None), with_folds=True)
    score = Searched(training, model._settings(len(y))).score
    options = search_options(score.problem, score.settings, training.folds)
    kept = OptionChoice(score.settings, options, score.loss)
    anew = OptionChoice(score.settings, replace(options, models=[]), score.loss)
    for fold, (train, test) in enumerate(training.folds):
        part, rest = score.problem.split(train, test)
        others = np.setdiff1d(training.tested, test)
        found = [choice.fitted(fold, others, part, 1).scores(rest) for choice in (kept, anew)]
        np.testing.assert_allclose(found[0], found[1], atol=1e-9)
