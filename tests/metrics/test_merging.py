"""Sketches of parts, merged, are the sketch of the whole; the exact curve lies within what they promise."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.metrics import RiskCoverageSketch
from recuse.metrics.curves import OperatingPoints
from recuse.metrics.encoding import by_falling_score
from recuse.metrics.merging import bin_numbers

scores = st.one_of(
    st.floats(-2, 2),
    st.sampled_from([0.0, -0.0, 0.5, 0.5000001, 1e-300, -1e-300, 1e300]),
    st.integers(-3, 3).map(float),
)
cases = st.lists(
    st.tuples(scores, st.sampled_from([0.0, 0.0, 1.0, 5.0]), st.sampled_from([0.0, 0.5, 1.0, 3.0])),
    min_size=1,
    max_size=60,
).filter(lambda rows: any(weight > 0 for _, _, weight in rows))


def exact(rows):
    """The operating points of all cases, sorted."""
    score, loss, weight = np.array(rows).T
    present = weight > 0
    score, loss, weight = score[present] + 0.0, loss[present], weight[present]
    order, ends = by_falling_score(score)
    return OperatingPoints(
        score[order[ends]], np.cumsum(weight[order])[ends], np.cumsum((loss * weight)[order])[ends], np.zeros(len(ends))
    )


def sketch(rows, bits=3, price=0.3):
    score, loss, weight = np.array(rows).T if rows else np.empty((3, 0))
    return RiskCoverageSketch.of(score, loss, weight, price, bits)


@given(rows=cases, cuts=st.lists(st.integers(0, 60), max_size=4), bits=st.integers(1, 12))
@settings(max_examples=60, deadline=None)
def test_merged_parts_are_the_whole(rows, cuts, bits):
    edges = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    parts = [sketch(rows[start:end], bits) for start, end in pairwise(edges)]
    whole, forward, backward = (
        sketch(rows, bits),
        RiskCoverageSketch.merged(parts),
        RiskCoverageSketch.merged(parts[::-1]),
    )
    for merged in (forward, backward):
        for name in ("keys", "low", "high", "largest"):
            np.testing.assert_array_equal(getattr(merged, name), getattr(whole, name))
        for name in ("weight", "loss", "reject_price"):
            np.testing.assert_allclose(getattr(merged, name), getattr(whole, name), rtol=1e-12)


@given(rows=cases, bits=st.integers(1, 12), coverage=st.floats(0.01, 1))
@settings(max_examples=200, deadline=None)
def test_the_exact_curve_is_within_the_limits(rows, bits, coverage):
    found, truth = sketch(rows, bits), exact(rows)
    low, high = found.area_bounds()
    assert low - 1e-9 <= truth.area() <= high + 1e-9
    assert low - 1e-9 <= found.area() <= high + 1e-9
    low, high = found.risk_at(coverage)
    assert low - 1e-9 <= truth.risk_at(coverage) <= high + 1e-9
    # Every point of the sketch is one of the exact curve.
    where = np.searchsorted(-truth.thresholds, -found.low)
    np.testing.assert_array_equal(truth.thresholds[where], found.low)
    np.testing.assert_allclose(found.points().weight, truth.weight[where], rtol=1e-12)
    np.testing.assert_allclose(found.points().loss, truth.loss[where], rtol=1e-12, atol=1e-12)


@given(
    rows=st.lists(
        st.tuples(st.integers(-4, 4).map(float), st.sampled_from([0.0, 1.0]), st.sampled_from([1.0, 2.0])), min_size=1
    )
)
@settings(max_examples=60, deadline=None)
def test_ties_are_exact(rows):
    """Scores of which no two different ones share a bin give the curve and its area without error."""
    found, truth = sketch(rows, 12), exact(rows)
    coverage, risk, thresholds = found.curve()
    np.testing.assert_allclose(coverage, truth.coverage)
    np.testing.assert_allclose(risk, truth.risk)
    np.testing.assert_array_equal(thresholds, truth.thresholds)
    np.testing.assert_allclose([*found.area_bounds(), found.area()], truth.area())


@given(rows=cases)
@settings(max_examples=40, deadline=None)
def test_a_weight_counts_as_so_many_cases(rows):
    doubled = [(score, loss, 2.0) for score, loss, _ in rows]
    twice = [(score, loss, 1.0) for score, loss, _ in rows] * 2
    np.testing.assert_allclose(sketch(doubled).area_bounds(), sketch(twice).area_bounds())


@given(values=st.lists(scores, min_size=2), bits=st.integers(1, 12))
@settings(max_examples=100, deadline=None)
def test_bins_are_in_order_and_narrow(values, bits):
    values = np.sort(np.array(values) + 0.0)
    keys = bin_numbers(values, bits)
    assert (np.diff(keys) >= 0).all()
    same = np.diff(keys) == 0
    # Denormal floats have no leading bit: their bins have a fixed width.
    widest = 2.0**-bits * np.minimum(np.abs(values[1:]), np.abs(values[:-1])) + 2.0**-1022
    assert (np.diff(values)[same] <= widest[same]).all()


def test_the_limits_close_as_bits_grow():
    """The stated bound is worth something: at ten bits it is below a thousandth of the area on ordinary scores."""
    rng = np.random.default_rng(0)
    score = rng.normal(size=20_000)
    loss = (rng.random(20_000) < 1 / (2 + 20 * (score > 0))).astype(float)
    gaps = []
    for bits in (4, 6, 8, 10):
        low, high = RiskCoverageSketch.of(score, loss, bits=bits).area_bounds()
        gaps.append((high - low) / high)
    assert all(late < 0.6 * early for early, late in pairwise(gaps))
    assert gaps[-1] < 2e-3


def test_what_a_sketch_refuses():
    one = RiskCoverageSketch.of(np.ones(1), np.ones(1), bits=4)
    with pytest.raises(ValueError, match=r"same bits; got \[4, 5\]"):
        one + RiskCoverageSketch.of(np.ones(1), np.ones(1), bits=5)
    with pytest.raises(ValueError, match="bits must be at most 52"):
        RiskCoverageSketch.of(np.ones(1), np.ones(1), bits=53)
    with pytest.raises(ValueError, match="holds no case"):
        RiskCoverageSketch.of(np.ones(1), np.ones(1), weight=np.zeros(1)).curve()
