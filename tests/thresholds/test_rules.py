import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from recuse import Costs
from recuse.calibration import Sigmoid
from recuse.cuts import Cuts
from recuse.thresholds.bands import Band
from recuse.thresholds.rules import (
    Sample,
    chow_band,
    covering_threshold,
    shrunk_band,
    symmetric_band,
    tuned_band,
)
from tests import reference

price = st.floats(0.05, 5)


@st.composite
def samples(draw, max_size=12):
    """Few cases with many ties, some of weight 0."""
    n = draw(st.integers(1, max_size))
    scores = np.array(draw(st.lists(st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n)))
    positive = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    weights = np.array(draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=n, max_size=n)))
    weights[0] = max(weights[0], 1.0)
    return scores, positive, weights


@st.composite
def price_lists(draw):
    return Costs(fp=draw(price), fn=draw(price), reject_negative=draw(price) / 4, reject_positive=draw(price) / 4)


def answers(band, scores):
    accepted = band.acceptance(scores) > 0
    return ["reject" if not a else "yes" if s > band.centre else "no" for s, a in zip(scores, accepted, strict=True)]


@given(samples(), price_lists())
def test_tuned_band_is_the_cheapest_of_all_pairs(sample, costs):
    scores, positive, weights = sample
    band, price = tuned_band(Sample.of(*sample), costs)
    present = weights > 0
    best = reference.cheapest_band_price(scores[present], positive[present], costs, weights[present])
    assert price == pytest.approx(best, abs=1e-9)
    assert reference.expected_cost(positive, answers(band, scores), costs, weights) == pytest.approx(price, abs=1e-9)


@settings(max_examples=60)
@given(samples(), price_lists(), st.sampled_from([0.1, 0.25, 0.5, 0.75, 0.9, 1.0]))
def test_tuned_band_with_coverage_has_the_cheapest_errors(sample, costs, coverage):
    scores, positive, weights = (column[sample[2] > 0] for column in sample)
    band, _ = tuned_band(Sample.of(*sample), costs, coverage)
    given_answers = np.array(answers(band, scores))
    accepted = given_answers != "reject"
    assert weights[accepted].sum() >= coverage * weights.sum() - 1e-9
    errors = weights * (
        (positive & (given_answers == "no")) * costs.fn + (~positive & (given_answers == "yes")) * costs.fp
    )
    best = reference.cheapest_band_price(scores, positive, costs, weights, min_coverage=coverage)
    assert errors.sum() / weights.sum() == pytest.approx(best, abs=1e-9)


@given(samples(), price_lists(), st.sampled_from([0.0, 0.25]))
def test_symmetric_band_is_the_cheapest_half_width(sample, costs, centre):
    scores, positive, weights = sample
    band, price = symmetric_band(Sample.of(*sample), costs, centre)
    present = weights > 0
    best = reference.cheapest_symmetric_price(scores[present], positive[present], costs, centre, weights[present])
    assert price == pytest.approx(best, abs=1e-9)
    assert reference.expected_cost(positive, answers(band, scores), costs, weights) == pytest.approx(price, abs=1e-9)
    assert band.upper - centre == pytest.approx(centre - band.lower)


@given(samples(), price_lists(), st.randoms(use_true_random=False))
def test_order_of_the_cases_does_not_matter(sample, costs, random):
    order = random.sample(range(len(sample[0])), len(sample[0]))
    shuffled = tuple(column[order] for column in sample)
    assert tuned_band(Sample.of(*sample), costs)[0] == tuned_band(Sample.of(*shuffled), costs)[0]


@given(samples(), price_lists())
def test_weight_two_is_a_repeated_case_and_weight_zero_an_absent_one(sample, costs):
    scores, positive, weights = sample
    counts = (2 * weights).astype(int)
    repeated = tuple(np.repeat(column, counts) for column in (scores, positive, np.ones(len(scores))))
    for rule in (tuned_band, lambda s, c: symmetric_band(s, c, 0.0)):
        band, price = rule(Sample.of(*sample), costs)
        other, other_price = rule(Sample.of(*repeated), costs)
        assert band == other
        assert price == pytest.approx(other_price)


@given(samples(), price_lists())
def test_swapping_the_classes_mirrors_the_cost(sample, costs):
    scores, positive, weights = sample
    _, price = tuned_band(Sample.of(*sample), costs)
    _, mirrored = tuned_band(Sample.of(-scores, ~positive, weights), costs.swapped())
    assert price == pytest.approx(mirrored, abs=1e-9)


def test_neighbouring_floats_are_still_told_apart():
    a = 1.0
    b = np.nextafter(a, 2)
    sample = Sample.of(np.array([a, b]), np.array([False, True]), np.ones(2))
    band, price = tuned_band(sample, Costs())
    assert price == 0
    assert answers(band, np.array([a, b])) == ["no", "yes"]


def test_a_hopeless_class_is_never_answered():
    sample = Sample.of(np.linspace(0, 1, 50), np.tile([True, False], 25), np.ones(50))
    band, price = tuned_band(sample, Costs(reject=0.1))
    assert price == pytest.approx(0.1)
    assert answers(band, np.array([0.0, 0.5, 1.0])) == ["reject"] * 3
    assert (band.lower, band.upper) == (-np.inf, np.inf)
    assert np.isfinite(band.centre)
    far = band.acceptance(np.array([-1e9, 0.2, 0.5, 1e9]))  # never accepted, however far, yet ordered by confidence
    assert (far < 0).all()
    assert np.isfinite(far).all()
    assert far[0] > far[1]


def test_a_side_that_is_always_answered_stays_answered():
    sample = Sample.of(np.linspace(0, 1, 20), np.zeros(20, dtype=bool), np.ones(20))
    band, price = tuned_band(sample, Costs())
    assert price == 0
    assert answers(band, np.array([-100.0, 0.0, 1.0])) == ["no"] * 3


def test_dear_errors_do_not_drown_small_prices():
    sample = Sample.of(np.arange(2000.0), np.arange(2000) >= 1000, np.ones(2000))
    assert tuned_band(sample, Costs(fp=1, fn=1e9, reject=0.2))[1] == 0


def test_of_equally_cheap_bands_the_narrowest_is_taken():
    # Rejecting the two middle scores costs 4 x 0.25, as much as the one error of cutting between them.
    scores, positive = np.repeat([0.0, 1.0, 2.0, 3.0], 2), np.array([0, 0, 0, 1, 0, 1, 1, 1], dtype=bool)
    band, price = tuned_band(Sample.of(scores, positive, np.ones(8)), Costs(reject=0.5 - 1e-15))
    assert price == pytest.approx(2 / 8)
    assert band.lower == band.upper


@given(price_lists(), st.floats(0, 1))
def test_chows_acceptance_is_what_accepting_saves(costs, p):
    if not costs.rejecting_pays:
        return
    band = chow_band(costs)
    assert (band.lower, band.upper, band.centre) == (*costs.thresholds, costs.break_even)
    rejecting = p * costs.reject_positive + (1 - p) * costs.reject_negative
    answering = min((1 - p) * costs.fp, p * costs.fn)
    assert band.acceptance(np.array([p]))[0] == pytest.approx(rejecting - answering, abs=1e-9)


@given(samples(), st.sampled_from([0.1, 0.3, 0.5, 0.8, 1.0]))
def test_covering_threshold_covers_and_no_higher_one_does(sample, coverage):
    scores, _, weights = (column[sample[2] > 0] for column in sample)
    scores = scores + 2  # a confidence is never negative
    threshold = covering_threshold(scores, weights, coverage)
    assert weights[scores > threshold].sum() >= coverage * weights.sum() - 1e-9
    accepted = scores[scores > threshold]
    stricter = weights[scores > accepted.min()].sum()
    assert stricter < coverage * weights.sum() + 1e-9


@given(st.floats(-3, 3), st.floats(0.1, 2), st.floats(0.1, 2), st.floats(0.01, 3))
def test_moved_band_rejects_up_to_its_confidence(centre, left, right, factor):
    band = Band(centre - left, centre + right, centre, left, right)
    assert band.moved_to(1.0).lower == pytest.approx(band.lower)
    scores = np.linspace(centre - 8, centre + 8, 401)
    sure = band.confidence(scores)
    clear = np.abs(sure - factor) > 1e-9
    assert ((band.moved_to(factor).acceptance(scores) > 0) == (sure > factor))[clear].all()
    assert (band.moved_to(-1e-6).acceptance(scores) > 0).all()


def test_a_side_without_width_takes_the_others_unit():
    scores, positive = np.array([0.0, 1.0, 2.0, 3.0]), np.array([False, True, False, True])
    band, _ = tuned_band(Sample.of(scores, positive, np.ones(4)), Costs(fp=1, fn=1, reject=0.45))
    assert band.left > 0
    assert band.right > 0


def test_cuts_group_ties():
    cuts = Cuts.of(np.array([2.0, 1.0, 2.0, 3.0]))
    assert cuts.values.tolist() == [1, 2, 3]
    assert cuts.total_below(np.array([10.0, 1.0, 20.0, 5.0])).tolist() == [0, 1, 31, 36]


def overlapping_scores(n, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n)
    return Sample.of(scores, rng.random(n) < expit(1.5 * scores - 0.5), np.ones(n))


def test_shrunk_band_lies_between_the_cheapest_and_the_implied_one():
    costs = Costs(fp=1, fn=5, reject=0.3)
    for n in (40, 400, 4_000):
        sample = overlapping_scores(n)
        cheapest = np.array(tuned_band(sample, costs)[0].thresholds)
        sigmoid = Sigmoid.fit(sample.scores, sample.positive, sample.weights)
        implied = np.array([sigmoid.score_at(p) for p in costs.thresholds])
        found = np.array(shrunk_band(sample, costs, probabilities=False, shrinkage=1_000).thresholds)
        assert found == pytest.approx((n * cheapest + 1_000 * implied) / (n + 1_000))


def test_shrinkage_of_probabilities_is_the_shrinkage_of_their_log_odds():
    costs, line = Costs(fp=1, fn=5, reject=0.3), overlapping_scores(300)
    shares = Sample.of(expit(line.scores), line.positive, line.weights)
    on_line = shrunk_band(line, costs, probabilities=False, shrinkage=500)
    on_shares = shrunk_band(shares, costs, probabilities=True, shrinkage=500)
    # The cuts lie half-way between two scores, on either scale.
    assert on_shares.thresholds == pytest.approx(tuple(expit(on_line.thresholds)), abs=2e-3)


def test_shrinkage_of_nothing_is_the_cheapest_band():
    sample, costs = overlapping_scores(60), Costs(fp=2, fn=1, reject=0.3)
    assert shrunk_band(sample, costs, probabilities=False, shrinkage=0.0) == tuned_band(sample, costs)[0]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(4, 60), factor=st.sampled_from([0.01, 3.0, 1e4]))
def test_shrunk_band_is_ordered_finite_and_free_of_units(seed, n, factor):
    rng = np.random.default_rng(seed)
    scores, positive = rng.normal(size=n).round(1), rng.random(n) < 0.5
    positive[:2] = True, False
    sample, costs = Sample.of(scores, positive, np.ones(n)), Costs(fp=1, fn=4, reject=0.3)
    band = shrunk_band(sample, costs, probabilities=False, shrinkage=1_000)
    assert np.isfinite([band.lower, band.upper, band.centre]).all()
    assert band.lower <= band.centre <= band.upper
    twice = Sample.of(scores, positive, np.full(n, 2.0))
    repeated = Sample.of(np.tile(scores, 2), np.tile(positive, 2), np.ones(2 * n))
    both = [shrunk_band(part, costs, probabilities=False, shrinkage=1_000).thresholds for part in (twice, repeated)]
    assert both[0] == pytest.approx(both[1], abs=1e-6)
    moved = Sample.of(factor * scores, positive, np.ones(n))
    rescaled = shrunk_band(moved, costs, probabilities=False, shrinkage=1_000)
    assert np.array(rescaled.thresholds) / factor == pytest.approx(np.array(band.thresholds), abs=1e-3)


def test_shrunk_thresholds_cost_less_than_tuned_ones_on_small_tables():
    """Known truth: mean cost over 60 draws of 150 cases, on 4,000 further ones."""
    costs, mean = Costs(fp=1, fn=5, reject=0.3), {0.0: 0.0, 1_000.0: 0.0}
    for seed in range(60):
        sample, new = overlapping_scores(150, seed), overlapping_scores(4_000, 10_000 + seed)
        for shrinkage in mean:
            answers = (
                shrunk_band(sample, costs, probabilities=False, shrinkage=shrinkage).evaluate(new.scores).answers()
            )
            mean[shrinkage] += costs.prices(new.positive.astype(int), answers).mean() / 60
    assert mean[1_000.0] < 0.99 * mean[0.0]
