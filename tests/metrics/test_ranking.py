from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp

from recuse.metrics import ks_score, precision_at_k_score


@st.composite
def scored(draw):
    n = draw(st.integers(2, 14))
    truth = np.array(draw(st.lists(st.sampled_from([0, 1]), min_size=n, max_size=n)))
    truth[:2] = [0, 1]
    score = np.array(draw(st.lists(st.sampled_from([-1.0, 0.0, 0.25, 0.5, 2.0]), min_size=n, max_size=n)))
    weights = np.array(draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=n, max_size=n)))
    weights[:2] = 1.0
    return truth, score, weights


@given(scored())
def test_ks_is_scipys_one_sided_statistic(case):
    truth, score, _ = case
    # Positives must score higher: their distribution function lies below that of the negatives.
    expected = ks_2samp(score[truth == 0], score[truth == 1], alternative="greater", method="asymp").statistic
    assert ks_score(truth, score) == pytest.approx(expected)


def test_ks_by_hand():
    assert ks_score([0, 0, 1, 1], [1, 2, 3, 4]) == 1
    assert ks_score([0, 0, 1, 1], [3, 4, 1, 2]) == 0
    assert ks_score([0, 1, 0, 1], [1, 1, 1, 1]) == 0
    assert ks_score(["b", "a"], [0, 1], pos_label="a") == 1


@given(scored(), st.integers(1, 4))
def test_precision_is_the_mean_over_all_ways_to_break_ties(case, k):
    truth, score, _ = case
    k = min(k, len(truth))
    last = np.sort(score)[-k]  # the k-th score: the cases above it are taken, of those that share it some
    taken, tied = truth[score > last], truth[score == last]
    ways = [(taken.sum() + sum(chosen)) / k for chosen in combinations(tied.tolist(), k - len(taken))]
    assert precision_at_k_score(truth, score, k=k) == pytest.approx(np.mean(ways))


def test_precision_by_hand():
    assert precision_at_k_score([0, 1, 1, 0], [4, 3, 2, 1], k=1) == 0
    assert precision_at_k_score([0, 1, 1, 0], [4, 3, 2, 1], k=3) == pytest.approx(2 / 3)
    assert precision_at_k_score([0, 1, 1, 0], [1, 1, 1, 1], k=2) == 0.5
    assert precision_at_k_score([0, 1], [1, 0], k=2, sample_weight=[1, 3]) == 0.5


@pytest.mark.parametrize("metric", [ks_score, lambda *a, **k: precision_at_k_score(*a, k=1, **k)])
@given(case=scored())
def test_weights_order_and_monotone_maps(metric, case):
    truth, score, weights = case
    value = metric(truth, score, sample_weight=weights)
    assert metric(truth[::-1], score[::-1], sample_weight=weights[::-1]) == pytest.approx(value)
    assert metric(truth, np.exp(score), sample_weight=weights) == pytest.approx(value)
    present = weights > 0
    assert metric(truth[present], score[present], sample_weight=weights[present]) == pytest.approx(value)
    assert 0 <= value <= 1


@given(scored())
def test_ks_weight_two_is_a_repeated_case(case):
    truth, score, weights = case
    repeated = np.repeat(np.arange(len(truth)), (2 * weights).astype(int))
    assert ks_score(truth[repeated], score[repeated]) == pytest.approx(ks_score(truth, score, sample_weight=weights))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ks_score([1, 1], [0, 1]), "y_true must hold two classes"),
        (lambda: ks_score([0, 1, 2], [0, 1, 2]), "y_true must hold two classes, else pass pos_label="),
        (lambda: ks_score([0, 1], [0, 1], pos_label=3), r"must hold positive \(pos_label=3\)"),
        (lambda: ks_score([0, 1], [0, 1], sample_weight=[1, 0]), "sample_weight is zero for a whole class"),
        (lambda: ks_score([0, 1], [0, np.inf]), "y_score holds NaN or infinite"),
        (lambda: precision_at_k_score([0, 1], [0, 1], k=3), "k must be between 1 and the number of cases, 2; got 3"),
        (lambda: precision_at_k_score([0, 1], [0, 1], k=0), "k must be between 1"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
