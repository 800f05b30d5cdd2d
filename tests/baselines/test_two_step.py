"""The baselines of the boosting paper."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from recuse import AbstentionBoostingClassifier, Costs
from recuse.baselines import TwoStepBoostingClassifier
from tests.marks import may_reject_all


@pytest.fixture(scope="module")
def data():
    return make_classification(300, n_features=5, n_informative=3, n_redundant=0, flip_y=0.1, random_state=1)


def adaboost(X, y, weights, n_rounds):
    """Confidence of AdaBoost with the stump of least weighted error in every round, as in the textbook."""
    stumps = [np.ones(len(y))]
    for column in X.T:
        values = np.sort(column)
        stumps += [np.where(column <= cut, -1, 1) for cut in (values[1:] + values[:-1]) / 2]
    stumps = np.array(stumps + [-stump for stump in stumps])
    weights, score, total = weights / weights.sum(), np.zeros(len(y)), 0.0
    for _ in range(n_rounds):
        errors = (stumps != y) @ weights
        best = errors.argmin()
        alpha = 0.5 * np.log((1 - errors[best]) / errors[best])
        score, total = score + alpha * stumps[best], total + alpha
        weights = weights * np.exp(-alpha * y * stumps[best])
        weights /= weights.sum()
    return score / total


def test_two_step_is_adaboost_with_a_threshold(data):
    X, y = data
    weights = np.random.default_rng(0).uniform(
        0.5, 1.5, len(y)
    )  # no two stumps err alike, and rounding decides nothing
    model = TwoStepBoostingClassifier(n_rounds=20, tune_rounds=False, random_state=0).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.decision_function(X), adaboost(X, 2 * y - 1, weights, 20), atol=1e-9)
    np.testing.assert_allclose(model.score_samples(X), np.abs(model.decision_function(X)) - model.threshold_)
    assert model.n_iter_ == 20


@may_reject_all
def test_shares_are_those_of_the_cases_whatever_the_prices(data):
    X, y = data
    model = TwoStepBoostingClassifier(costs=Costs(1, 20, 0.5), n_rounds=20, random_state=0).fit(X, y)
    assert model.shape_functions_
    for shape in model.shape_functions_:
        counts = np.bincount(shape.cells(X[:, shape.feature]), minlength=len(shape.share))
        np.testing.assert_allclose(shape.share, counts / len(X), atol=1e-12)


def test_tuned_rounds_never_cost_more_on_held_out_cases(data):
    X, y = data
    fixed = TwoStepBoostingClassifier(n_rounds=50, tune_rounds=False, random_state=0).fit(X, y)
    tuned = TwoStepBoostingClassifier(n_rounds=50, random_state=0).fit(X, y)
    assert tuned.objective_ <= fixed.objective_
    assert 0 < tuned.objective_ <= 0.2
    assert all(tuned.decide(X).reason)


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_chows_rule_on_boosted_stumps(data, loss):
    """A score and nothing else: r is what is left of its size above Chow's level, at the prices as they are reduced."""
    X, y = data
    costs = Costs(fp=1, fn=3, reject=0.3)
    model = AbstentionBoostingClassifier(family="chow", costs=costs, loss=loss, n_rounds=30, random_state=0).fit(X, y)
    h = model.intercept_[0] + sum(shape.evaluate(X[:, shape.feature])[0] for shape in model.shape_functions_)
    odds = np.sqrt(0.3 * 0.3 / ((1 - 0.3) * (3 - 0.3)))  # of the reduced reject price: c / (1 - c)
    per_score = {"logistic": 1, "exponential": 2}[loss]
    np.testing.assert_allclose(model.score_samples(X), np.abs(h) + np.log(odds) / per_score)
    shift = h - model.decision_function(X)
    np.testing.assert_allclose(shift, np.log(1 / 3 * np.sqrt(0.3 * 2.7 / (0.3 * 0.7))) / per_score)
    assert not any(shape.r.any() for shape in model.shape_functions_)
    assert all(model.decide(X).reason)


def test_bad_parameters(data):
    X, y = data
    with pytest.raises(ValueError, match="n_rounds must be 1 or more"):
        TwoStepBoostingClassifier(n_rounds=0).fit(X, y)
    with pytest.raises(ValueError, match="beta must be"):
        AbstentionBoostingClassifier(family="chow", beta=-1).fit(X, y)
    with pytest.raises(ValueError, match="loss must be"):
        AbstentionBoostingClassifier(family="chow", loss="hinge").fit(X, y)


@may_reject_all
@pytest.mark.parametrize("costs", [Costs(fp=1, fn=5, reject=0.4), Costs(fp=3, fn=1, reject=0.3)])
@pytest.mark.parametrize("eta", [0.09, 0.2, 0.35, 0.62, 0.8, 0.95])
def test_two_step_forces_the_cheaper_class(costs, eta):
    y = (np.arange(200) < round(200 * eta)).astype(int)
    model = TwoStepBoostingClassifier(costs=costs, n_rounds=5, random_state=0).fit(np.zeros((200, 1)), y)
    decision = model.decide([[0.0]])[0]
    cheaper = int((1 - eta) * costs.fp < eta * costs.fn)
    assert decision.forced == cheaper == (model.decision_function([[0.0]])[0] > 0)
    assert decision.accepted == (min((1 - eta) * costs.fp, eta * costs.fn) < costs.reject_negative)
    assert not decision.accepted or f"towards 1 is {'above' if cheaper else 'not above'}" in decision.reason
