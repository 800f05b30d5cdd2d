"""Bins and shares against a plain loop, limits against the exact test of SciPy, coverage against known truth."""

import numpy as np
import pytest
from scipy.stats import binomtest

from recuse.metrics import reliability_curve


@pytest.fixture
def cases():
    rng = np.random.default_rng(0)
    p = rng.beta(0.5, 1.5, 500).round(2)
    return (rng.random(500) < p).astype(int), p


def test_bins_hold_every_case_once_and_share_what_is_equal(cases):
    y, p = cases
    curve = reliability_curve(y, p, n_bins=7)
    assert curve.counts.sum() == len(p)
    assert (np.diff(curve.edges) > 0).all()
    last = len(curve.counts) - 1
    for k in range(last + 1):
        inside = (p >= curve.edges[k]) & ((p < curve.edges[k + 1]) | (k == last))
        assert curve.counts[k] == inside.sum()
        assert curve.predicted[k] == pytest.approx(p[inside].mean())
        assert curve.observed[k] == pytest.approx(y[inside].mean())
        exact = binomtest(int(y[inside].sum()), int(inside.sum())).proportion_ci(0.95)
        assert (curve.low[k], curve.high[k]) == pytest.approx((exact.low, exact.high), abs=1e-6)
    off = np.abs(curve.predicted - curve.observed)
    assert curve.error == pytest.approx((off * curve.counts).sum() / 500)


def test_weights_count_as_repeated_cases_for_the_shares(cases):
    y, p = cases
    weights = np.where(y == 1, 3, 1)
    weighted = reliability_curve(y, p, n_bins=1, sample_weight=weights)
    repeated = reliability_curve(np.repeat(y, weights), np.repeat(p, weights), n_bins=1)
    assert weighted.observed == pytest.approx(repeated.observed)
    assert weighted.predicted == pytest.approx(repeated.predicted)
    assert weighted.high - weighted.low > repeated.high - repeated.low


def test_limits_hold_the_truth_as_often_as_they_say():
    rng, held = np.random.default_rng(1), []
    for _ in range(200):
        p = rng.choice([0.03, 0.2, 0.7], 90)
        curve = reliability_curve(rng.random(90) < p, p, n_bins=3)
        held += list((curve.low <= curve.predicted) & (curve.predicted <= curve.high))
    assert np.mean(held) > 0.94


def test_labels_one_bin_and_what_is_refused(cases):
    y, p = cases
    named = np.where(y == 1, "bad", "good")
    assert reliability_curve(named, p, pos_label="bad").observed == pytest.approx(reliability_curve(y, p).observed)
    assert reliability_curve(y, np.full(500, 0.3)).counts.tolist() == [500]
    with pytest.raises(ValueError, match=r"probabilities must lie between 0 and 1; got 0 to 2"):
        reliability_curve([0, 1], [0, 2])
    with pytest.raises(ValueError, match="n_bins"):
        reliability_curve(y, p, n_bins=0)
