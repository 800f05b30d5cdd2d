from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, confusion_matrix

from recuse import Costs, Decisions, ThresholdRejectClassifier
from recuse.metrics import (
    cost_curve,
    coverage_score,
    expected_cost,
    reject_confusion_matrix,
    rejection_rate,
    selective_accuracy_score,
)
from recuse.plot import CostCurveDisplay
from tests import reference

TRUTH = ["no", "no", "yes", "yes", "no", "yes"]
ANSWERS = ["no", "yes", "[abstain]", "no", "[abstain]", "yes"]
PRICES = Costs(fp=1, fn=5, reject_negative=0.2, reject_positive=0.6)


@st.composite
def answered(draw):
    n = draw(st.integers(2, 15))
    truth = np.array(draw(st.lists(st.sampled_from([0, 1]), min_size=n, max_size=n)))
    truth[:2] = [0, 1]
    answers = np.array(draw(st.lists(st.sampled_from([0, 1, -1]), min_size=n, max_size=n)))
    weights = np.array(draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n)))
    weights[:2] = 1.0
    return truth, answers, weights


def test_by_hand():
    # right, false alarm 1, positive rejected 0.6, miss 5, negative rejected 0.2, right
    assert expected_cost(TRUTH, ANSWERS, costs=PRICES, reject_label="[abstain]") == pytest.approx(6.8 / 6)
    assert coverage_score(TRUTH, ANSWERS, reject_label="[abstain]") == pytest.approx(4 / 6)
    assert rejection_rate(TRUTH, ANSWERS, reject_label="[abstain]") == pytest.approx(2 / 6)
    assert selective_accuracy_score(TRUTH, ANSWERS, reject_label="[abstain]") == pytest.approx(2 / 4)
    matrix = reject_confusion_matrix(TRUTH, ANSWERS, reject_label="[abstain]")
    assert matrix.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_positive_class_can_be_named():
    cost = expected_cost(TRUTH, ANSWERS, costs=PRICES, reject_label="[abstain]", pos_label="no")
    # right, miss 5, negative rejected 0.2, false alarm 1, positive rejected 0.6, right
    assert cost == pytest.approx(6.8 / 6)
    assert expected_cost([0, 1], [1, 1], costs=PRICES, pos_label=0) == 2.5
    assert expected_cost([0, 1], [1, 1], costs=PRICES) == 0.5


def test_kinds_of_rejection_and_novelties_have_their_own_prices():
    prices = Costs(fp=1, fn=5, reject=0.2, novelty_error=7, reject_novelty=0.4)
    cost = expected_cost(
        [0, 0, 1, 9, 9, 9],
        [-1, -1, 1, 1, -1, -1],
        kind=["ambiguity", "novelty", "accept", "accept", "ambiguity", "novelty"],
        costs=prices,
        reject_label=-1,
        novelty_label=9,
    )
    assert cost == pytest.approx((0.2 + 0.4 + 0 + 7 + 0 + 0) / 6)


def test_three_classes():
    assert expected_cost([0, 1, 2, 2], [0, 2, -1, 2], costs=0.3, reject_label=-1) == pytest.approx(1.3 / 4)
    assert reject_confusion_matrix([0, 1, 2, 2], [0, 2, -1, 2], reject_label=-1).shape == (3, 4)


@given(answered())
def test_equals_the_definition(case):
    truth, answers, weights = case
    words = np.where(answers == -1, "reject", np.where(answers == 1, "yes", "no"))
    slow = reference.expected_cost(truth == 1, words, PRICES, weights)
    fast = expected_cost(truth, answers, costs=PRICES, reject_label=-1, sample_weight=weights)
    assert fast == pytest.approx(slow)


@given(answered())
def test_invariances(case):
    truth, answers, weights = case
    repeated = np.repeat(np.arange(len(truth)), (2 * weights).astype(int))
    for metric in (coverage_score, rejection_rate, partial(expected_cost, costs=PRICES)):
        value = metric(truth, answers, reject_label=-1, sample_weight=weights)
        assert metric(truth[::-1], answers[::-1], reject_label=-1, sample_weight=weights[::-1]) == pytest.approx(value)
        assert metric(truth[repeated], answers[repeated], reject_label=-1) == pytest.approx(value)
    matrix = reject_confusion_matrix(truth, answers, reject_label=-1, sample_weight=weights)
    assert matrix.sum() == pytest.approx(weights.sum())
    assert matrix[:, -1].sum() / matrix.sum() == pytest.approx(
        rejection_rate(truth, answers, reject_label=-1, sample_weight=weights)
    )


@given(answered())
def test_nothing_rejected_is_the_usual_metric(case):
    truth, answers, weights = case
    answers = np.abs(answers)
    assert selective_accuracy_score(truth, answers, sample_weight=weights) == pytest.approx(
        accuracy_score(truth, answers, sample_weight=weights)
    )
    assert 1 - expected_cost(truth, answers, costs=Costs(), sample_weight=weights) == pytest.approx(
        accuracy_score(truth, answers, sample_weight=weights)
    )
    plain = confusion_matrix(truth, answers, sample_weight=weights)
    assert np.allclose(reject_confusion_matrix(truth, answers, sample_weight=weights)[:, :-1], plain)


def test_everything_rejected():
    truth, answers = [0, 1, 1], [-1, -1, -1]
    assert coverage_score(truth, answers, reject_label=-1) == 0
    assert expected_cost(truth, answers, costs=0.3, reject_label=-1) == pytest.approx(0.3)
    with pytest.warns(UndefinedMetricWarning, match="Every case is rejected"):
        assert np.isnan(selective_accuracy_score(truth, answers, reject_label=-1))
    assert selective_accuracy_score(truth, answers, reject_label=-1, all_rejected=0.0) == 0


def test_decisions_provide_their_labels(overlapping):
    X, y = overlapping
    names = np.array(["repaid", "default"])[y]
    decisions = ThresholdRejectClassifier(LogisticRegression(), costs=0.1).fit(X, names).decide(X)
    kept = decisions[decisions.label != "default"]  # one class is answered no more
    assert coverage_score(names, decisions) == pytest.approx(decisions.accepted.mean())
    assert expected_cost(names[decisions.label != "default"], kept, costs=0.1) >= 0


def test_decisions_provide_prices_and_positive_class(overlapping):
    X, y = overlapping
    names = np.array(["bad", "good"])[y]
    model = ThresholdRejectClassifier(LogisticRegression(), costs=PRICES, pos_label="bad").fit(X, names)
    decisions = model.decide(X)
    right = expected_cost(names, decisions.label, costs=PRICES, pos_label="bad", reject_label="[abstain]")
    assert expected_cost(names, decisions) == right
    assert 1 - right / 5 == pytest.approx(model.score(X, names))
    assert expected_cost(names, decisions, costs=0.2) != right
    assert expected_cost(names, decisions, pos_label="good") != right
    with pytest.raises(ValueError, match=r"reject_label='no' contradicts the Decisions table, which has '\[abstain\]'"):
        expected_cost(names, decisions, reject_label="no")
    with pytest.raises(TypeError, match="the outcomes come first"):
        coverage_score(decisions, names)


def test_normalized_matrix():
    matrix = reject_confusion_matrix(TRUTH, ANSWERS, reject_label="[abstain]", normalize="true")
    assert np.allclose(matrix.sum(axis=1), 1)
    assert reject_confusion_matrix(TRUTH, ANSWERS, reject_label="[abstain]", normalize="all").sum() == pytest.approx(1)


@pytest.mark.parametrize("metric", [expected_cost, coverage_score, rejection_rate, reject_confusion_matrix])
@pytest.mark.parametrize(
    ("truth", "answers", "options", "message"),
    [
        ([0, 1], [0, -1], {}, r"y_pred holds \[-1\], not among the classes \[0, 1\]: pass reject_label="),
        ([0, 1, 2], [0, 1, -1], {}, r"y_pred holds \[-1\]"),
        (["a", "b"], ["a", "c"], {"reject_label": "d"}, r"y_pred holds \['c'\]"),
        ([0, 1], [0, 1], {"reject_label": 1}, r"reject_label=1 is one of the classes"),
        ([0, 1], [0], {}, r"y_true and y_pred must have the same length; got \[2, 1\]"),
        ([], [], {}, "y_true is empty"),
        ([[0, 1]], [0, 1], {}, r"y_true must be one-dimensional; got shape \(1, 2\)"),
        ([0.0, float("nan")], [0, 1], {}, "y_true holds missing values"),
        ([0, 1], [0.0, float("nan")], {}, r"y_pred holds \[nan\]"),
        ([0, 1], [0, 1], {"sample_weight": [1, -1]}, "sample_weight must be finite and not negative"),
        ([0, 1], [0, 1], {"sample_weight": [1, float("nan")]}, "sample_weight must be finite and not negative"),
        ([0, 1], [0, 1], {"sample_weight": [0, 0]}, "sample_weight is zero for every case"),
        ([0, 1], [0, 1], {"sample_weight": [1]}, r"expected shape \(2,\), got \(1,\)"),
        (np.array([0, "a"], dtype=object), [0, 0], {}, "Labels must be all numbers or all text"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(metric, truth, answers, options, message):
    with pytest.raises(ValueError, match=message):
        metric(truth, answers, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": ["accept", "accept"]}, "kind and y_pred disagree"),
        ({"kind": ["accept", "outlier"]}, "kind must hold one of 'accept', 'ambiguity', 'novelty'"),
        ({"pos_label": 7}, "pos_label=7 must be one of two classes"),
        ({"costs": -1.0}, "costs must be a finite price greater than 0; got -1"),
    ],
)
def test_bad_options_of_the_cost(options, message):
    with pytest.raises(ValueError, match=message):
        expected_cost([0, 1], [0, -1], reject_label=-1, **{"costs": 0.2, **options})


@pytest.mark.parametrize(
    "metric",
    [
        lambda y, answers: expected_cost(y, answers, reject_label=-1),
        lambda y, answers: cost_curve(y, np.abs(answers), [0.1, 0.2]),
        lambda y, answers: CostCurveDisplay.from_predictions(y, np.abs(answers), [0.1, 0.2]),
    ],
    ids=["expected_cost", "cost_curve", "CostCurveDisplay"],
)
def test_prices_are_never_guessed(metric):
    with pytest.raises(ValueError, match=r"costs is missing, and y_pred has no prices of its own: pass costs=Costs"):
        metric([0, 1], np.array([0, -1]))


def test_tables_of_models_with_different_prices_have_none(overlapping):
    X, y = overlapping
    tables = [ThresholdRejectClassifier(LogisticRegression(), costs=c).fit(X, y).decide(X) for c in (0.1, 0.2)]
    assert expected_cost(np.tile(y, 2), Decisions.concatenate([tables[0], tables[0]])) == expected_cost(y, tables[0])
    mixed = Decisions.concatenate(tables)
    with pytest.raises(ValueError, match="costs is missing"):
        expected_cost(np.tile(y, 2), mixed)
    assert 0 < expected_cost(np.tile(y, 2), mixed, costs=0.1) < 1


@pytest.mark.parametrize("label", [LogisticRegression(), [-1], float("nan")])
def test_a_reject_label_must_be_a_label(label):
    with pytest.raises(ValueError, match="reject_label must be a number or a text; got"):
        coverage_score([0, 1], [0, 1], reject_label=label)


def test_counts_are_whole_numbers(overlapping):
    counts = reject_confusion_matrix(TRUTH, ANSWERS, reject_label="[abstain]")
    assert counts.dtype.kind == "i"
    assert counts.sum() == len(TRUTH)
    twice = reject_confusion_matrix(TRUTH, ANSWERS, reject_label="[abstain]", sample_weight=[2] * len(TRUTH))
    np.testing.assert_array_equal(twice, 2 * counts)
    assert twice.dtype.kind == "i"
    halves = reject_confusion_matrix(TRUTH, ANSWERS, reject_label="[abstain]", sample_weight=[0.5] * len(TRUTH))
    np.testing.assert_array_equal(halves, counts / 2)


def test_one_class_needs_labels():
    with pytest.raises(ValueError, match="pass labels= with both classes"):
        expected_cost([1, 1], [1, 1], costs=PRICES)
    assert expected_cost([1, 1], [1, 0], labels=[0, 1], costs=PRICES) == 2.5
    with pytest.raises(ValueError, match="normalize must be None, 'true' or 'all'; got 'rows'"):
        reject_confusion_matrix([0, 1], [0, 1], normalize="rows")
