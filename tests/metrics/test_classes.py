"""Metrics of three or more classes at prices by class."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse import Costs
from recuse.metrics import (
    cost_curve,
    coverage_score,
    expected_cost,
    get_scorer,
    per_class_scores,
    reject_confusion_matrix,
    risk_coverage_curve,
)

NAMES = np.array(["a", "b", "c"])
PRICES = Costs(
    errors={"a": {"b": 1, "c": 2}, "b": {"a": 3, "c": 1}, "c": {"a": 9, "b": 5}},
    reject={"a": 0.3, "b": 0.4, "c": 0.5},
    reject_novelty=0.7,
    novelty_error=4,
)
MATRIX = PRICES.matrix(3)


def drawn(seed, n=40):
    rng = np.random.default_rng(seed)
    truth, answer = rng.integers(0, 3, n), rng.integers(0, 5, n)
    kind = np.array(["accept"] * 3 + ["ambiguity", "novelty"])[answer]
    return truth, answer, kind, rng.integers(1, 4, n).astype(float)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_costs_and_matrices_by_hand(seed):
    truth, answer, kind, weights = drawn(seed)
    y, labels = NAMES[truth], np.append(NAMES, ["?", "?"])[answer]
    given_answers = {"labels": NAMES, "reject_label": "?", "kind": kind, "sample_weight": weights}
    cost = expected_cost(y, labels, costs=PRICES, **given_answers)
    assert cost == pytest.approx(np.average(MATRIX[truth, answer], weights=weights))
    counted = np.zeros((3, 5))
    for t, a, w in zip(truth, answer, weights, strict=True):
        counted[t, a] += w
    assert np.array_equal(reject_confusion_matrix(y, labels, by_kind=True, **given_answers), counted)
    assert cost == pytest.approx((counted * MATRIX[:3]).sum() / counted.sum())
    for i, scores in enumerate(per_class_scores(y, labels, **given_answers)):
        mine, answered = truth == i, (truth == i) & (answer < 3)
        assert scores.label == NAMES[i]
        if mine.any():
            assert scores.coverage == pytest.approx(weights[answered].sum() / weights[mine].sum())
            assert scores.novelty == pytest.approx(weights[mine & (answer == 4)].sum() / weights[mine].sum())
        if answered.any():
            wrong = answered & (answer != i)
            assert scores.error == pytest.approx(weights[wrong].sum() / weights[answered].sum())


def test_the_cost_curve_passes_through_all_thresholds():
    rng = np.random.default_rng(0)
    truth, forced, score = rng.integers(0, 3, 50), rng.integers(0, 3, 50), np.round(rng.normal(size=50), 1)
    coverage, cost, thresholds = cost_curve(NAMES[truth], NAMES[forced], score, costs=PRICES)
    for c, price, threshold in zip(coverage, cost, thresholds, strict=True):
        accepted = score >= threshold
        assert c == pytest.approx(accepted.mean())
        paid = np.where(accepted, MATRIX[truth, forced], MATRIX[truth, 3])
        assert price == pytest.approx(paid.mean())
    curve = risk_coverage_curve(NAMES[truth], NAMES[forced], score, costs=PRICES)
    assert curve[1][np.argmax(curve[0])] == pytest.approx(MATRIX[truth, forced].mean())


def test_prices_that_lack_a_class_are_refused():
    with pytest.raises(ValueError, match=r"has no prices of \['d'\]"):
        expected_cost(["a", "d"], ["a", "d"], costs=PRICES)
    assert coverage_score(["a", "d"], ["a", "d"]) == 1


def test_a_class_without_cases_has_no_scores():
    *_, none = per_class_scores(["a", "b"], ["a", "?"], labels=NAMES, reject_label="?")
    assert none.weight == 0
    assert np.isnan(none.coverage)


def test_a_scorer_has_prices_by_class():
    from sklearn.datasets import load_iris
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score

    from recuse import ThresholdRejectClassifier

    X, y = load_iris(return_X_y=True)
    prices = Costs(errors=[[0, 1, 1], [1, 0, 5], [1, 2, 0]], reject=0.3)
    model = ThresholdRejectClassifier(LogisticRegression(max_iter=300), costs=prices)
    scores = cross_val_score(model, X, y, cv=3, scoring=get_scorer("neg_expected_cost", costs=prices))
    assert (scores < 0).all()
    assert (scores > -0.3).all()
