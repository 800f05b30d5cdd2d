from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, roc_auc_score

from recuse import Costs, ThresholdRejectClassifier
from recuse.metrics import (
    accuracy_rejection_curve,
    augrc_score,
    aurc_score,
    cost_curve,
    coverage_at_risk,
    eaurc_score,
    expected_cost,
    pareto_front,
    risk_at_coverage,
    risk_coverage_curve,
)
from tests import reference

# Five cases, two of them tied: right 0.9, wrong 0.8 (tied with right 0.8), right 0.5, wrong 0.1.
TRUTH = np.array([0, 1, 0, 1, 1])
FORCED = np.array([0, 0, 0, 1, 0])
SCORE = np.array([0.9, 0.8, 0.8, 0.5, 0.1])


@st.composite
def ranked(draw):
    n = draw(st.integers(2, 14))
    truth = np.array(draw(st.lists(st.sampled_from([0, 1]), min_size=n, max_size=n)))
    forced = np.array(draw(st.lists(st.sampled_from([0, 1]), min_size=n, max_size=n)))
    truth[:2] = [0, 1]
    score = np.array(draw(st.lists(st.sampled_from([-1.0, 0.0, 0.25, 0.5, 2.0]), min_size=n, max_size=n)))
    weights = np.array(draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=n, max_size=n)))
    weights[:2] = 1.0
    return truth, forced, score, weights


def test_by_hand_on_shuffled_rows_with_ties():
    order = np.array([3, 1, 4, 0, 2])
    for rows in (np.arange(5), order, order[::-1]):
        coverage, risk, thresholds = risk_coverage_curve(TRUTH[rows], FORCED[rows], SCORE[rows])
        assert coverage == pytest.approx([0.2, 0.6, 0.8, 1.0])
        assert risk == pytest.approx([0, 1 / 3, 1 / 4, 2 / 5])
        assert thresholds.tolist() == [0.9, 0.8, 0.5, 0.1]
        assert aurc_score(TRUTH[rows], FORCED[rows], SCORE[rows]) == pytest.approx(
            (0 + 1 / 3 + 1 / 3 + 1 / 4 + 2 / 5) / 5
        )
        # Ideal: three right answers, then errors at coverage 0.8 and 1.
        assert eaurc_score(TRUTH[rows], FORCED[rows], SCORE[rows]) == pytest.approx(
            (0 + 1 / 3 + 1 / 3 + 1 / 4 + 2 / 5) / 5 - (1 / 4 + 2 / 5) / 5
        )


def test_cost_curve_by_hand():
    prices = Costs(fp=1, fn=3, reject_negative=0.1, reject_positive=0.5)
    coverage, cost, thresholds = cost_curve(TRUTH, FORCED, SCORE, costs=prices)
    assert coverage == pytest.approx([0, 0.2, 0.6, 0.8, 1])
    # rejecting all: two negatives 0.1, three positives 0.5
    assert cost == pytest.approx(np.array([1.7, 1.6, 3 + 1.0, 3 + 0.5, 6]) / 5)
    assert thresholds[0] == np.inf


@given(ranked())
def test_equals_the_definition(case):
    truth, forced, score, weights = case
    wrong = (truth != forced).astype(float)
    fast = risk_coverage_curve(truth, forced, score, sample_weight=weights)
    slow = reference.risk_coverage(wrong, score, weights)
    for a, b in zip(fast, slow, strict=True):
        assert a == pytest.approx(b)
    assert aurc_score(truth, forced, score, sample_weight=weights) == pytest.approx(
        reference.aurc(wrong, score, weights)
    )


@given(ranked())
def test_cost_curve_is_the_cost_of_each_operating_point(case):
    truth, forced, score, weights = case
    prices = Costs(fp=1, fn=3, reject_negative=0.1, reject_positive=0.5)
    _, cost, thresholds = cost_curve(truth, forced, score, costs=prices, sample_weight=weights)
    for threshold, value in zip(thresholds, cost, strict=True):
        answers = np.where(score >= threshold, forced, -1)
        assert value == pytest.approx(
            expected_cost(truth, answers, costs=prices, reject_label=-1, sample_weight=weights)
        )


SUMMARIES = [aurc_score, eaurc_score, augrc_score, risk_at_coverage, coverage_at_risk]


@pytest.mark.parametrize("summary", SUMMARIES)
@given(case=ranked(), seed=st.integers(0, 100))
def test_order_weights_and_monotone_maps(summary, case, seed):
    truth, forced, score, weights = case
    value = summary(truth, forced, score, sample_weight=weights)
    order = np.random.default_rng(seed).permutation(len(truth))
    assert summary(truth[order], forced[order], score[order], sample_weight=weights[order]) == pytest.approx(value)
    assert summary(truth, forced, np.exp(score), sample_weight=weights) == pytest.approx(value)
    if summary is eaurc_score:  # the best ranking can tell repeated cases apart, but not the halves of one case
        return
    repeated = np.repeat(np.arange(len(truth)), (2 * weights).astype(int))
    assert summary(truth[repeated], forced[repeated], score[repeated]) == pytest.approx(value)


@settings(max_examples=30, deadline=None)
@given(ranked())
def test_excess_is_over_the_best_of_all_rankings(case):
    truth, forced, score, weights = (column[:5] for column in case)
    best = min(
        aurc_score(truth, forced, np.array(order), sample_weight=weights) for order in permutations(range(len(truth)))
    )
    value = eaurc_score(truth, forced, score, sample_weight=weights)
    assert value == pytest.approx(aurc_score(truth, forced, score, sample_weight=weights) - best)


@given(ranked())
def test_bounds_and_full_coverage(case):
    truth, forced, score, weights = case
    coverage, risk, _ = risk_coverage_curve(truth, forced, score, sample_weight=weights)
    assert coverage[-1] == pytest.approx(1)
    assert risk[-1] == pytest.approx(1 - accuracy_score(truth, forced, sample_weight=weights))
    assert (np.diff(coverage) > 0).all()
    assert ((risk >= 0) & (risk <= 1)).all()
    assert eaurc_score(truth, forced, score, sample_weight=weights) >= -1e-12
    assert -1e-12 <= augrc_score(truth, forced, score, sample_weight=weights) <= 0.5 + 1e-12


@given(ranked())
def test_augrc_is_the_ranking_of_errors(case):
    """AUGRC = (1 - AUROC of errors) acc (1 - acc) + (1 - acc)^2 / 2."""
    truth, forced, score, _ = case
    wrong = truth != forced
    if wrong.all() or not wrong.any():
        return
    accuracy = 1 - wrong.mean()
    expected = (1 - roc_auc_score(~wrong, score)) * accuracy * (1 - accuracy) + (1 - accuracy) ** 2 / 2
    assert augrc_score(truth, forced, score) == pytest.approx(expected)


@given(ranked())
def test_perfect_ranking_has_no_excess(case):
    truth, forced = case[:2]
    right_first = np.arange(len(truth)) + 100.0 * (truth == forced)
    assert eaurc_score(truth, forced, right_first) == pytest.approx(0, abs=1e-12)


def test_points_on_the_curve():
    assert risk_at_coverage(TRUTH, FORCED, SCORE, coverage=0.6) == pytest.approx(1 / 3)
    assert risk_at_coverage(TRUTH, FORCED, SCORE, coverage=0.61) == pytest.approx(1 / 4)
    assert coverage_at_risk(TRUTH, FORCED, SCORE, risk=0.3) == pytest.approx(0.8)
    assert coverage_at_risk(TRUTH, FORCED, SCORE, risk=0.0) == pytest.approx(0.2)
    assert coverage_at_risk(TRUTH, FORCED[::-1], SCORE, risk=0.0) == pytest.approx(0.6)
    assert coverage_at_risk(TRUTH, 1 - FORCED, SCORE, risk=0.1) == 0
    assert risk_at_coverage([0, 1], [0, 0], [1, 0], coverage=1, costs=Costs(fn=4, reject=0.2)) == 2


def test_pareto_front_of_the_operating_points():
    rejection, accuracy, thresholds = accuracy_rejection_curve(TRUTH, FORCED, SCORE)
    assert rejection == pytest.approx([0, 0.2, 0.8])
    assert accuracy == pytest.approx([0.6, 0.75, 1])
    assert thresholds.tolist() == [0.1, 0.5, 0.9]


@given(st.lists(st.tuples(st.sampled_from([0, 0.2, 0.5]), st.sampled_from([0.5, 0.7, 0.9])), min_size=1, max_size=8))
def test_pareto_front_is_what_nothing_beats(points):
    rejection, accuracy = np.array(points).T
    front = pareto_front(rejection, accuracy)
    for i in range(len(points)):
        beaten = ((rejection <= rejection[i]) & (accuracy >= accuracy[i])) & (
            (rejection < rejection[i]) | (accuracy > accuracy[i])
        )
        on_front = any(points[i] == points[j] for j in front)
        assert on_front == (not beaten.any())
    assert len({points[i] for i in front}) == len(front)


def test_rejecting_a_novelty_has_its_own_price_on_the_curve(overlapping):
    X, y = overlapping
    prices = Costs(reject=0.2, reject_novelty=0.05)
    model = ThresholdRejectClassifier(LogisticRegression(), costs=prices, novelty=IsolationForest(random_state=0))
    decisions = model.fit(X, y).decide(X)
    assert decisions.counts()["novelty"] > 0
    coverage, cost, thresholds = cost_curve(y, decisions, costs=prices)
    at = np.count_nonzero(thresholds > 0) - 1
    assert coverage[at] == pytest.approx(decisions.accepted.mean())
    assert cost[at] == pytest.approx(expected_cost(y, decisions, costs=prices))


def test_decisions_provide_score_and_forced_answers(overlapping):
    X, y = overlapping
    decisions = ThresholdRejectClassifier(LogisticRegression(), costs=0.2).fit(X, y).decide(X)
    direct = risk_coverage_curve(y, decisions.forced, decisions.r)
    for a, b in zip(risk_coverage_curve(y, decisions), direct, strict=True):
        assert np.array_equal(a, b)
    # At the chosen operating point the curve gives the cost of the decisions themselves.
    coverage, cost, thresholds = cost_curve(y, decisions, costs=0.2)
    at = np.searchsorted(-thresholds, 0.0) - 1
    assert coverage[at] == pytest.approx(decisions.accepted.mean())
    assert cost[at] == pytest.approx(expected_cost(y, decisions, costs=0.2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: risk_coverage_curve([0, 1], [0, 1]), "score is missing"),
        (lambda: aurc_score([0, 1], [0, 1], [0.1, float("nan")]), "score holds NaN or infinite values"),
        (lambda: aurc_score([0, 1], [0, 1], [0.1]), r"score must have one value per case: expected shape \(2,\)"),
        (lambda: aurc_score([0, 1], [0, -1], [0.1, 0.2]), r"y_pred holds \[-1\]"),
        (lambda: risk_at_coverage([0, 1], [0, 1], [0, 1], coverage=0), r"coverage must be a number in \(0, 1\]; got 0"),
        (lambda: coverage_at_risk([0, 1], [0, 1], [0, 1], risk=-1), "risk must be 0 or more; got -1"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
