"""What is chosen on held-out cases is judged on others, and a learned rejector must be better beyond chance."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from recuse.boosting.abstention.data import TrainingSet
from recuse.boosting.abstention.early_stopping import held_out_rounds
from recuse.boosting.abstention.engine.rounds import boost
from recuse.boosting.abstention.engine.settings import Settings
from recuse.boosting.abstention.engine.surrogates import SURROGATES
from recuse.boosting.abstention.options import BETA_PATH, Penalties, RoundNumbers, penalised_models, search_options
from recuse.boosting.abstention.prices import Prices
from recuse.boosting.abstention.selection import (
    best_option,
    best_threshold,
    choose,
    judged_scores,
    standard_error,
    tune_threshold,
)

from .helpers import make_problem, random_data


@pytest.mark.parametrize("family", ["coupled", "decoupled", "score"])
@pytest.mark.parametrize("n_rounds", [16, 200])
def test_the_model_that_is_fitted_is_the_model_that_was_judged(family, n_rounds):
    X, y = random_data(5, m=150, p=4, levels=20)
    problem, _ = make_problem(X, y)
    settings = Settings(family=family, n_rounds=n_rounds, tune_beta=True)
    judged = penalised_models(problem, replace(settings, certify_every=50), BETA_PATH)
    n_iter = []
    for option, model in enumerate(judged):
        settled = Penalties(None, BETA_PATH).settle(option, problem, settings)
        solution = boost(problem, settled)
        assert solution.model.stumps == model.stumps
        np.testing.assert_allclose(solution.model.scores(problem), model.scores(problem), atol=1e-12)
        assert solution.n_iter <= n_rounds * (len(BETA_PATH) - option) // len(BETA_PATH)
        n_iter.append(solution.n_iter)
    assert n_iter == sorted(n_iter, reverse=True)
    assert n_iter[0] > n_iter[-1]


@pytest.mark.parametrize("surrogate", ["sum", "max"])
@pytest.mark.parametrize("step", ["joint", "line", "paper"])
def test_rounds_and_a_given_penalty_are_shipped_as_they_were_judged(surrogate, step):
    X, y = random_data(5, m=150, p=4, levels=20)
    problem, _ = make_problem(X, y)
    settings = Settings(exponents=SURROGATES[surrogate], step=step, beta=0.002, n_rounds=73, tune_rounds=True)
    # All cases are trained on and held out, so that what is judged and what is shipped have the same cases.
    rows = np.arange(150)
    rounds, judged = held_out_rounds(problem, settings, [(rows, rows)])
    assert rounds[-1] == 73
    for option in range(0, len(rounds), 3):
        solution = boost(problem, RoundNumbers(judged, rounds).settle(option, problem, settings))
        assert solution.n_iter == rounds[option]
        np.testing.assert_allclose(solution.model.scores(problem), judged[option], atol=1e-6)
    for tuned, given in ((False, 0.01), (True, 0.0)):  # a penalty that was given, and those that were tried
        settings = replace(settings, tune_rounds=False, tune_beta=tuned, beta=given)
        options = search_options(problem, settings, [(rows, rows)])
        for option in range(len(options.scores)):
            model = boost(problem, options.settle(option, problem, settings)).model
            np.testing.assert_allclose(model.scores(problem), options.scores[option], atol=1e-6)


def make_data(n, reject, folds=None, weight=None):
    """The first half positive, wrong answers at 1."""
    rows = np.arange(n)
    prices = Prices(np.ones(n), np.full(n, reject), np.ones(n) if weight is None else weight)
    parts = (
        [(rows, rows)]
        if folds is None
        else [(np.setdiff1d(rows, rows[k::folds]), rows[k::folds]) for k in range(folds)]
    )
    return TrainingSet(np.zeros((n, 1)), rows, n // 2, np.full(n, 1 / n), reject, prices, parts)


@pytest.mark.parametrize("folds", [None, 4])
def test_an_option_is_judged_on_cases_it_was_not_chosen_on(folds):
    """Fifty answers drawn by lot: the best of them seems to pay, and does not."""
    data = make_data(400, 0.49, folds)
    costs, seeming = [], []
    for seed in range(20):
        options = np.ones((50, 2, 400))
        options[:, 0] = np.random.default_rng(seed).choice([-1.0, 1.0], size=(50, 400))
        best = best_option(options, data.price, data.tested)
        seeming.append(data.price(options[best], data.tested))
        costs.append(data.price(judged_scores(options, data.price, data), data.tested))
    assert np.mean(seeming) < 0.46
    assert abs(np.mean(costs) - 0.5) < 3 * 0.5 / np.sqrt(400 * 20)


def test_a_case_held_out_twice_counts_once():
    data = make_data(40, 0.4, 2)
    again = replace(data, folds=data.folds * 3)
    np.testing.assert_array_equal(again.tested, data.tested)


def test_each_part_gets_the_option_that_is_best_on_the_others():
    data = make_data(40, 0.4, 2)
    right, wrong = data.y, -data.y
    even = data.tested % 2 == 0
    # The first option is right on even cases (the first part), the second on odd ones.
    options = np.ones((2, 2, 40))
    options[:, 0] = np.where(even, right, wrong), np.where(even, wrong, right)
    np.testing.assert_array_equal(judged_scores(options, data.price, data)[0], wrong)
    np.testing.assert_array_equal(judged_scores(options[:1], data.price, data), options[0])


def test_a_threshold_is_judged_on_cases_it_was_not_set_on():
    # One held-out part, scores that say nothing: a threshold set and judged on the same cases would seem to pay.
    rng = np.random.default_rng(0)
    scores, data = rng.normal(size=(2, 400)), make_data(400, 0.49)
    judged = data.price(judged_scores(scores[None], data.price, data, tuned=True), data.tested)
    tau = best_threshold(data.y, *scores, data.prices)
    assert data.prices.mean(data.y, scores[0], scores[1] - tau) < judged


def test_the_threshold_of_a_part_is_that_of_the_option_it_gets():
    data = make_data(40, 0.4, 2)
    # Right where r > 5, else wrong: the others call for a threshold of about 5, not for that of the other option.
    r = np.tile(np.arange(20.0), 2)
    options = np.stack([np.stack([np.where(r > at, data.y, -data.y), r]) for at in (5, 15)])
    judged = judged_scores(options, data.price, data, tuned=True)
    assert data.price(judged, data.tested) < 0.45 * 0.4
    assert ((judged[1] > 0) == (r > 5)).mean() > 0.9


def test_a_threshold_that_does_not_pay_elsewhere_stays_where_it_was():
    """The first part calls for accepting all of its rejected cases, the second shows that this is expensive."""
    data = make_data(40, 0.4, 2)
    rows, r = data.tested, np.full(40, -1.0)
    scores = np.stack([np.where(rows % 2 == 0, data.y, -data.y), r])
    assert [data.price(scores + np.array([[0], [2]]), test) for _, test in data.folds] == [0.0, 1.0]
    judged = judged_scores(scores[None], data.price, data)
    after, tau = tune_threshold(scores[None], 0, data.price, data)
    assert tau == 0.0
    np.testing.assert_array_equal(after, judged)
    # Where both parts call for it, it is moved.
    right = np.stack([data.y, r])
    after, tau = tune_threshold(right[None], 0, data.price, data)
    assert tau < -1.0
    assert data.price(after, rows) == 0.0


def test_another_candidate_than_the_first_must_be_better_by_a_standard_error():
    weight = np.where(np.arange(100) < 50, 2.0, 1.0)
    data = make_data(100, 0.4, weight=weight)

    def candidate(*wrong):
        cost = np.isin(np.arange(100), wrong).astype(float)
        return SimpleNamespace(held_out_cost=lambda training: cost)

    first = candidate(*range(20))
    chance, clear, clearer = candidate(*range(6, 24)), candidate(*range(9, 21)), candidate(*range(15, 21))
    assert choose([first, chance], data) is first  # 6 cases put right, 4 spoilt
    assert choose([first, clear, chance], data) is clear  # 9 and 1
    assert choose([first, clear, clearer], data) is clearer
    # Weights count: 6 put right that weigh 2 each, 4 spoilt that weigh 1; were they equal, it would be chance.
    assert choose([first, candidate(*range(6, 20), 60, 61, 62, 63)], data) is not first
    assert choose([first, candidate(*range(6, 20), 20, 21, 22, 23)], data) is first
    saved = np.where(np.arange(100) < 5, 1.0, 0.0)
    mean = 10 / 150
    assert standard_error(saved, weight) == pytest.approx(np.sqrt(weight**2 @ (saved - mean) ** 2) / 150)
