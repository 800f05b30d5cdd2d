"""Probabilities of the draw are the true ones, and weighing by them gives the truth on average."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.reviews.drawing import Sampling, draw


@st.composite
def batches(draw_from):
    n = draw_from(st.integers(1, 60))
    rejected = np.array(draw_from(st.lists(st.booleans(), min_size=n, max_size=n)))
    r = np.array(draw_from(st.lists(st.sampled_from([-0.5, -0.2, 0.0, 0.1]), min_size=n, max_size=n)))
    capacity = draw_from(st.none() | st.integers(1, 40))
    sampling = Sampling(
        draw_from(st.sampled_from([0.0, 0.1, 1.0])), capacity, draw_from(st.sampled_from([0.1, 0.5, 1.0]))
    )
    return rejected, r, sampling, draw_from(st.integers(0, 2**32))


@given(batches())
def test_a_draw_holds_each_case_once_with_a_probability_that_could_draw_it(batch):
    rejected, r, sampling, seed = batch
    drawn = draw(rejected, r, sampling, np.random.default_rng(seed))
    assert len(set(drawn.rows)) == len(drawn.rows)
    assert [stratum == "rejected" for stratum in drawn.strata] == rejected[drawn.rows].tolist()
    assert ((drawn.probabilities > 0) & (drawn.probabilities <= 1)).all()
    n_rejected = drawn.strata.count("rejected")
    wanted = rejected.sum() if sampling.capacity is None else min(sampling.capacity, rejected.sum())
    assert n_rejected == wanted
    # The weights of rejected cases add up to their number, in every draw.
    is_rejected = rejected[drawn.rows]
    assert np.isclose((1 / drawn.probabilities[is_rejected]).sum(), rejected.sum())


def test_each_case_is_drawn_as_often_as_its_probability_says():
    rng = np.random.default_rng(5)
    rejected, r = rng.random(60) < 0.5, rng.normal(size=60)
    sampling, times = Sampling(0.2, 12, 0.5), 4000
    counts, stated = np.zeros(60), np.zeros(60)
    for _ in range(times):
        drawn = draw(rejected, r, sampling, rng)
        counts[drawn.rows] += 1
        stated[drawn.rows] = drawn.probabilities
    assert (stated > 0).all()  # nobody is without a chance
    error = np.sqrt(stated * (1 - stated) / times)
    assert (np.abs(counts / times - stated) <= 4.5 * error).all()


def test_weighted_verdicts_estimate_the_errors_of_all_cases():
    rng = np.random.default_rng(6)
    n, times = 400, 2000
    rejected, r = rng.random(n) < 0.3, rng.normal(size=n)
    wrong = rng.random(n) < np.where(rejected, 1 / (1 + np.exp(-r)), 0.08)  # depends on what decides who is drawn
    estimates = np.empty((times, 2))
    for k in range(times):
        drawn = draw(rejected, r, Sampling(0.1, 40, 0.25), rng)
        weighted, audited = wrong[drawn.rows] / drawn.probabilities, ~rejected[drawn.rows]
        estimates[k] = weighted[audited].sum(), weighted[~audited].sum()
    truth = np.array([(wrong & ~rejected).sum(), (wrong & rejected).sum()])
    assert (np.abs(estimates.mean(axis=0) - truth) <= 4 * estimates.std(axis=0) / np.sqrt(times)).all()


def test_most_of_the_capacity_goes_to_those_whose_review_saves_most():
    r = -np.arange(100.0)
    drawn = draw(np.ones(100, dtype=bool), r, Sampling(0.0, 20, 0.25), np.random.default_rng(0))
    certain = drawn.rows[drawn.probabilities == 1]
    assert sorted(certain) == list(range(85, 100))
    assert np.allclose(drawn.probabilities[drawn.probabilities < 1], 5 / 85)


def test_the_order_tells_nothing():
    """Over many draws each place holds an audited case equally often."""
    rejected = np.arange(40) < 20
    rng, times = np.random.default_rng(8), 3000
    places = np.zeros(40)
    for _ in range(times):
        places += ~rejected[draw(rejected, np.zeros(40), Sampling(1.0, None, 0.5), rng).rows]
    assert (np.abs(places / times - 0.5) <= 4.5 * 0.5 / np.sqrt(times)).all()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"audit": 1.5}, "audit must be a finite number at least 0 and at most 1"),
        ({"capacity": 0}, "capacity must be 1 or more"),
        ({"at_random": 0.0}, r"at_random must be a number in \(0, 1\]"),
    ],
)
def test_samplings_that_leave_cases_without_a_chance_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        Sampling(**({"audit": 0.1, "capacity": None, "at_random": 0.5} | wrong))
