"""Three or more classes: every rule, prices by class, calibration, guarantees, saving."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import IsolationForest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from recuse import Costs, ThresholdRejectClassifier, cross_val_decide, load, save
from recuse.metrics import expected_cost
from recuse.thresholds.bands import LeastCost
from recuse.thresholds.class_rules import ClassSample, least_cost_region, tuned_region

LACKS = r"cv=\S* leaves a fold to train on without one of the classes, \[2\]: use fewer or stratified"
PRICES = Costs(errors=[[0, 1, 2], [1, 0, 2], [12, 8, 0]], reject=[0.4, 0.4, 0.6])


@pytest.fixture(scope="module")
def cases():
    X, y = make_classification(900, 8, n_informative=5, n_classes=3, class_sep=1.6, flip_y=0.03, random_state=3)
    return X[:600], y[:600], X[600:], y[600:]


def test_chow_gives_the_answer_of_least_expected_cost(cases):
    X, y, new, truth = cases
    model = ThresholdRejectClassifier(LogisticRegression(), costs=PRICES).fit(X, y)
    p = LogisticRegression().fit(X, y).predict_proba(new)
    errors, reject = np.array(PRICES.errors), np.array(PRICES.reject)
    best, review = (p @ errors).argmin(axis=1), p @ reject
    expected = np.where((p @ errors).min(axis=1) < review, best, -1)
    assert np.array_equal(model.predict(new), expected)
    decisions = model.decide(new)
    cost = np.mean([errors[t, a] if a >= 0 else reject[t] for t, a in zip(truth, expected, strict=True)])
    assert expected_cost(truth, decisions) == pytest.approx(cost)
    assert expected_cost(truth, expected, costs=PRICES, reject_label=-1) == pytest.approx(cost)
    assert model.score(new, truth) == pytest.approx(1 - cost / 12)
    assert model.decision_function(new).argmax(axis=1).tolist() == best.tolist()


def test_the_table_names_the_two_best_answers(cases):
    X, y, new, _ = cases
    names = np.array(["ear", "nose", "throat"])
    errors = {a: {b: PRICES.errors[i][j] for j, b in enumerate(names)} for i, a in enumerate(names)}
    model = ThresholdRejectClassifier(LogisticRegression(), costs=Costs(errors=errors, reject=0.4)).fit(X, names[y])
    decisions = model.decide(new)
    p = model.predict_proba(new)
    frame = decisions.to_pandas()
    assert {"forced", "second", "score", "second_score"} <= set(frame.columns)
    assert (decisions.forced != decisions.second).all()
    row = int(np.flatnonzero(decisions.rejected)[0])
    first, second = (list(names).index(label) for label in (decisions.forced[row], decisions.second[row]))
    assert decisions.score[row] == pytest.approx(p[row, first])
    assert decisions.second_score[row] == pytest.approx(p[row, second])
    price = {PRICES.errors[first][second], PRICES.errors[second][first]}
    shown = f"{'up to ' if len(price) > 1 else ''}{max(price):g}"
    assert decisions.reason[row].startswith(
        f"either {str(names[first])!r} ({p[row, first]:.3g}) or {str(names[second])!r} ({p[row, second]:.3g}); "
        f"confusing them costs {shown}; a review is expected to cost less"
    )
    assert "expected to cost less than a review" in decisions.reason[decisions.accepted][0]
    assert decisions[row].second == decisions.second[row]
    assert decisions[:5] == decisions[np.arange(5)]
    assert len(type(decisions).concatenate([decisions[:5], decisions[5:9]])) == 9


class Sure(ClassifierMixin, BaseEstimator):
    """Says of every case what its columns are: the probabilities of three classes."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.asarray(X)


@pytest.mark.parametrize(
    ("probabilities", "said"),
    [
        # Two likely classes that cost little to confuse, and an unlikely one whose cases must not be missed.
        (
            [0.7, 0.2, 0.1],
            "either 'a' (0.7) or 'b' (0.2); confusing them costs 1; 'c' (0.1) answered with 'a' would cost 12; a",
        ),
        ([0.5, 0.49, 0.01], "either 'b' (0.49) or 'a' (0.5); confusing them costs 1; a review"),
    ],
)
def test_a_third_class_that_makes_the_answer_expensive_is_named(probabilities, said):
    p = np.array([probabilities])
    errors = {a: {b: PRICES.errors[i][j] for j, b in enumerate("abc")} for i, a in enumerate("abc")}
    model = ThresholdRejectClassifier(Sure(), costs=Costs(errors=errors, reject=0.4)).fit(np.eye(3), ["a", "b", "c"])
    decision = model.decide(p)[0]
    assert decision.kind == "ambiguity"
    assert decision.reason.startswith(said)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), symmetric=st.booleans())
def test_the_tuned_threshold_is_the_cheapest_of_all_cuts(seed, symmetric):
    rng = np.random.default_rng(seed)
    p = np.round(rng.dirichlet(np.ones(3), size=25), 2)  # with ties
    p = (p + 1e-3) / (p + 1e-3).sum(axis=1, keepdims=True)
    codes, weights = rng.integers(0, 3, 25), rng.integers(0, 3, 25).astype(float)
    weights[0] = 1
    costs = Costs(reject=0.3) if symmetric else PRICES
    region = least_cost_region(costs, 3)
    found = tuned_region(region, ClassSample(p, codes, weights), costs, shrinkage=0)
    matrix = costs.matrix(3)

    def cost(evaluated):
        return (weights * matrix[codes, evaluated.answers()]).sum()

    confidence = np.unique(region.confidence(p))
    cuts = [confidence[0] - 1, *(confidence[:-1] + confidence[1:]) / 2, confidence[-1] + 1]
    assert cost(found.evaluate(p)) == pytest.approx(min(cost(region.moved_to(cut).evaluate(p)) for cut in cuts))


def test_a_large_shrinkage_leaves_the_threshold_where_prices_put_it(cases):
    X, y, *_ = cases
    tuned = ThresholdRejectClassifier(GaussianNB(), costs=PRICES, rule="tuned", shrinkage=1e12).fit(X, y)
    assert isinstance(tuned._region, LeastCost)
    assert tuned._region.least == pytest.approx(0, abs=1e-6)


def test_tuned_is_cheaper_than_chow_where_probabilities_are_wrong(cases):
    X, y, new, truth = cases
    doubled = np.hstack([X, X, X])  # naive Bayes takes copies for evidence
    costs = {}
    for rule in ("chow", "tuned"):
        model = ThresholdRejectClassifier(GaussianNB(), costs=0.3, rule=rule).fit(doubled, y)
        costs[rule] = expected_cost(truth, model.decide(np.hstack([new] * 3), reasons=False))
    assert costs["tuned"] < costs["chow"]


@pytest.mark.parametrize("how", ["temperature", "sigmoid", "beta", "isotonic", "auto"])
def test_calibrated_probabilities_are_right_on_average(cases, how):
    X, y, new, truth = cases
    X, new = np.hstack([X, X, X]), np.hstack([new] * 3)
    model = ThresholdRejectClassifier(GaussianNB(), costs=0.3, calibration=how).fit(X, y)
    p = model.predict_proba(new)
    assert p.sum(axis=1) == pytest.approx(1)
    raw = model.estimator_.predict_proba(new)
    rows = np.arange(len(truth))
    log_loss, before = (-np.log(np.maximum(q[rows, truth], 1e-9)).mean() for q in (p, raw))
    assert log_loss < before


def test_a_classifier_without_probabilities_gets_them(cases):
    X, y, new, _ = cases
    for rule in ("tuned", "symmetric"):
        model = ThresholdRejectClassifier(LinearSVC(), rule=rule).fit(X, y)
        assert model.predict_proba(new).sum(axis=1) == pytest.approx(1)
        assert 0 < model.decide(new, reasons=False).accepted.mean() <= 1
    with pytest.raises(TypeError, match="needs probabilities"):
        ThresholdRejectClassifier(LinearSVC()).fit(X, y)


@pytest.mark.parametrize("rule", ["chow", "tuned", "symmetric"])
@pytest.mark.parametrize("costs", [0.3, PRICES])
def test_a_coverage_is_kept(cases, rule, costs):
    X, y, new, _ = cases
    model = ThresholdRejectClassifier(LogisticRegression(), costs=costs, rule=rule, coverage=0.7).fit(X, y)
    assert model.decide(new, reasons=False).accepted.mean() == pytest.approx(0.7, abs=0.08)


def test_promises_of_error_and_cost(cases):
    X, y, new, _ = cases
    model = ThresholdRejectClassifier(LogisticRegression(), costs=PRICES, guarantee="error<=0.25, cost<=2").fit(X, y)
    assert model.guarantee_.holds
    assert model.decide(new, reasons=False).accepted.any()
    with pytest.raises(ValueError, match=r"guarantee='misses<=0.1' knows a positive class"):
        ThresholdRejectClassifier(LogisticRegression(), costs=PRICES, guarantee="misses<=0.1").fit(X, y)


def test_novelties_are_rejected_as_such(cases):
    X, y, new, _ = cases
    model = ThresholdRejectClassifier(LogisticRegression(), costs=PRICES, novelty=IsolationForest(random_state=0))
    decisions = model.fit(X, y).decide(np.vstack([new[:5], np.full((1, 8), 50.0)]))
    assert decisions.kind[-1] == "novelty"
    assert "unlike the training cases" in decisions.reason[-1]


@pytest.mark.parametrize("rule", ["chow", "tuned"])
def test_saved_and_loaded(cases, rule, tmp_path):
    X, y, new, _ = cases
    model = ThresholdRejectClassifier(GaussianNB(), costs=PRICES, rule=rule).fit(X, y)
    save(model, tmp_path / "model.skops")
    assert load(tmp_path / "model.skops").decide(new) == model.decide(new)
    assert load(tmp_path / "model.skops").costs_ == model.costs_


def test_answers_do_not_depend_on_the_batch(cases):
    X, y, new, _ = cases
    model = ThresholdRejectClassifier(LogisticRegression(), costs=PRICES, rule="tuned").fit(X, y)
    together = model.predict(new)
    assert np.array_equal(np.concatenate([model.predict(new[i : i + 1]) for i in range(len(new))]), together)
    assert np.array_equal(model.predict(new[::-1]), together[::-1])


def test_order_of_named_prices_and_currency_change_nothing(cases):
    X, y, new, _ = cases
    model = ThresholdRejectClassifier(LogisticRegression(), costs=PRICES).fit(X, y)
    scaled = Costs(errors=3 * np.array(PRICES.errors), reject=[3 * price for price in PRICES.reject])
    named = {i: {j: PRICES.errors[i][j] for j in (2, 0, 1)} for i in (2, 0, 1)}
    reordered = Costs(errors=named, reject=dict(enumerate(PRICES.reject)))
    for other in (scaled, reordered):
        same = ThresholdRejectClassifier(LogisticRegression(), costs=other).fit(X, y)
        assert np.array_equal(same.predict(new), model.predict(new))


def test_a_class_that_folds_do_not_hold():
    X, y = load_iris(return_X_y=True)
    keep = np.flatnonzero((y < 2) | (np.arange(150) == 149))
    with pytest.warns(UserWarning, match="The least populated class"), pytest.raises(ValueError, match=LACKS):
        ThresholdRejectClassifier(LogisticRegression(), rule="tuned").fit(X[keep], y[keep])
    chow = ThresholdRejectClassifier(LogisticRegression(), costs=PRICES).fit(X[keep], y[keep])
    assert chow.predict(X[:1]) == [0]


def test_two_hundred_classes():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(200, 5)) * 20
    X = np.repeat(centres, 6, axis=0) + rng.normal(size=(1200, 5)) * 0.1
    y = np.repeat(np.arange(200), 6)
    frozen = FrozenEstimator(GaussianNB().fit(X, y))
    errors = 1 + rng.random((200, 200))
    np.fill_diagonal(errors, 0)
    model = ThresholdRejectClassifier(frozen, costs=Costs(errors=errors, reject=0.2)).fit(X, y)
    assert np.array_equal(model.predict(X), y)
    assert len(model.costs_.table().splitlines()) == 201  # no pairs


def test_cross_validated_decisions(cases):
    X, y, *_ = cases
    decisions = cross_val_decide(ThresholdRejectClassifier(LogisticRegression(), costs=PRICES), X, y, cv=3)
    assert decisions.second is not None
    assert expected_cost(y, decisions) < 0.5
