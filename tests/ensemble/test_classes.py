"""The ensemble with three or more classes."""

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from scipy.special import log_softmax
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from recuse import Costs, EnsembleRejectClassifier, load, save
from recuse.ensemble.blending import RIDGE
from recuse.ensemble.cases import Outcomes
from recuse.ensemble.class_blending import greedy_classes, log_loss_of_classes, stack_classes
from recuse.metrics import expected_cost

PRICES = Costs(errors=[[0, 1, 2], [1, 0, 2], [6, 4, 0]], reject=[0.4, 0.4, 0.6])
OWN = [("linear", LogisticRegression()), ("normal", GaussianNB())]


@pytest.fixture(scope="module")
def cases():
    X, y = make_classification(700, 8, n_informative=5, n_classes=3, class_sep=1.3, flip_y=0.03, random_state=3)
    return X[:450], y[:450], X[450:], y[450:]


@pytest.fixture(scope="module")
def fitted(cases):
    X, y, *_ = cases
    return EnsembleRejectClassifier(["logistic", "extra-trees", "lightgbm"], costs=PRICES, cv=3).fit(X, y)


def drawn(seed, n=60, n_members=3, n_classes=4):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_classes, n)
    truth = np.eye(n_classes)[codes]
    strength = np.array([1.5, 0.7, 0.0])[:n_members]
    scores = strength[:, None] * truth[:, None, :] + rng.normal(size=(n, n_members, n_classes))
    return log_softmax(scores, axis=2), Outcomes(codes, rng.uniform(0.5, 2, n), n_classes)


@pytest.mark.parametrize("strength", [0.0, 0.05])
def test_the_weights_are_those_of_a_general_solver(strength):
    members, outcomes = drawn(0)
    found = stack_classes(members, outcomes, strength=strength)
    w, b = cp.Variable(3, nonneg=True), cp.Variable(4)
    shares = outcomes.weights / outcomes.weights.sum()
    loss = 0
    for i, (z, code) in enumerate(zip(members, outcomes.codes, strict=True)):
        scores = z.T @ w + b
        loss += shares[i] * (cp.log_sum_exp(scores) - scores[int(code)])
    penalty = strength * cp.sum_squares(w - cp.sum(w) / 3) + RIDGE * (cp.square(cp.sum(w)) + cp.sum_squares(b))
    problem = cp.Problem(cp.Minimize(loss + penalty))
    problem.solve(solver="CLARABEL")
    assert found.objective == pytest.approx(problem.value, abs=1e-7)
    assert found.weights == pytest.approx(w.value, abs=2e-4)
    assert found.residual < 1e-5


def test_greedy_selection_takes_the_better_members():
    members, outcomes = drawn(1, n=400)
    found = greedy_classes(members, outcomes)
    assert found.weights.sum() == pytest.approx(1)
    assert found.weights[0] > found.weights[2]
    alone = min(log_loss_of_classes(members[:, m], outcomes) for m in range(3))
    assert log_loss_of_classes(found.log_odds(members), outcomes) <= alone + 1e-12


def test_it_decides_at_the_prices(cases, fitted):
    _, _, new, truth = cases
    p = fitted.predict_proba(new)
    assert p.sum(axis=1) == pytest.approx(1)
    decisions = fitted.decide(new)
    errors, reject = np.array(PRICES.errors), np.array(PRICES.reject)
    if fitted.rule_ == "chow":
        cheaper = (p @ errors).min(axis=1) < p @ reject
        assert np.array_equal(decisions.accepted, cheaper)
        assert np.array_equal(decisions.forced, (p @ errors).argmin(axis=1))
    cost = expected_cost(truth, decisions)
    assert cost < fitted.constant_cost_
    assert cost == pytest.approx(fitted.held_out_costs_["blend"], abs=5 * fitted.held_out_error_)
    assert set(fitted.held_out_costs_) == {"logistic", "extra-trees", "lightgbm", "blend"} == {*fitted.gains_, "blend"}
    assert "confusing them costs" in decisions.reason[decisions.rejected][0]


def test_named_classes_tuned_and_greedy(cases):
    X, y, new, _ = cases
    names = np.array(["ear", "nose", "throat"])[y]
    for options in ({"rule": "tuned"}, {"blend": "greedy"}):
        model = EnsembleRejectClassifier(OWN, costs=0.3, cv=3, **options).fit(pd.DataFrame(X), names)
        assert set(model.predict(pd.DataFrame(new))) <= {"ear", "nose", "throat", "[abstain]"}
    with pytest.raises(ValueError, match="rule='learned' takes two classes; y has 3"):
        EnsembleRejectClassifier(OWN, rule="learned").fit(X, y)


def test_saved_and_loaded(cases, fitted, tmp_path):
    _, _, new, _ = cases
    save(fitted, tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops")
    assert np.array_equal(loaded.predict(new), fitted.predict(new))
    assert loaded.predict_proba(new) == pytest.approx(fitted.predict_proba(new), abs=1e-9)


@pytest.mark.parametrize("library", ["lightgbm", "catboost", "xgboost"])
def test_boosters_have_a_probability_for_each_class(cases, library):
    pytest.importorskip(library)
    X, y, new, truth = cases
    model = EnsembleRejectClassifier([library], costs=0.3, cv=2).fit(X, y)
    p = model.predict_proba(new)
    assert p.shape == (250, 3)
    assert (p.argmax(axis=1) == truth).mean() > 0.7


def test_a_class_with_one_case_only_trains(cases):
    X, y, new, _ = cases
    rare = np.append(y[:100] % 2, 2)
    model = EnsembleRejectClassifier(OWN, costs=0.3).fit(X[:101], rare)
    assert model.predict_proba(new).shape == (250, 3)
    assert set(model.predict(new)) <= {-1, 0, 1, 2}
    with pytest.raises(ValueError, match="y holds one case of a class only: an ensemble needs two cases of each class"):
        EnsembleRejectClassifier(OWN).fit(X[:50], np.append(np.zeros(49, dtype=int), 1))
