"""The weak learner against brute force over feature x type x cuts x missing label."""

import numpy as np
import pytest

from recuse.boosting.abstention.engine.settings import Settings
from recuse.boosting.abstention.engine.state import State
from recuse.boosting.abstention.engine.stumps import STUMP_FAMILIES, canonical, cell_labels, describe
from recuse.boosting.abstention.margin_bound import massart
from recuse.boosting.binning import bin_features, find_cuts, midpoints

from ..helpers import every_stump, make_problem, random_data


def search_for(X, y, w, family, max_bins=None):
    problem, order = make_problem(X, y, max_bins=max_bins)
    state = State(problem, Settings(family=family))
    state.search.sweep(np.ascontiguousarray(w[order]))
    return state, order


@pytest.mark.parametrize("family", STUMP_FAMILIES)
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("seed", range(15))
def test_best_stump_equals_brute_force(seed, missing, family):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 25))
    X, y = random_data(seed, m=m, p=2, levels=int(rng.integers(1, 8)), missing=missing)
    X[0] = 0.0  # no feature wholly missing
    w = rng.random((m, 2))
    h, r = every_stump(X, family)
    brute = (w[:, 0] @ (r - y[:, None] * h) - w[:, 1] @ r).min()
    state, _order = search_for(X, y, w, family)
    stump, derivative = state.search.best()
    np.testing.assert_allclose(derivative, brute, atol=1e-12)
    # The stump found has that derivative, as a stump of cut values and from the prefix sums.
    h1, r1 = describe(stump, state.problem.bins).evaluate(X)
    np.testing.assert_allclose(w[:, 0] @ (r1 - y * h1) - w[:, 1] @ r1, brute, atol=1e-12)
    np.testing.assert_allclose(state.search.derivatives([stump]), [brute], atol=1e-12)


def test_two_rows_and_constant_feature():
    X, y = np.array([[1.0, 5.0], [2.0, 5.0]]), np.array([1, -1])
    state, _ = search_for(X, y, np.ones((2, 2)), "coupled")
    stump, derivative = state.search.best()
    assert derivative == -2.0
    assert describe(stump, state.problem.bins)[:3] == (0, 1.5, np.inf)


def test_label_sums_split_the_weights():
    X, y = random_data(3, m=30, missing=0.1)
    w = np.random.default_rng(3).random((30, 2))
    state, _order = search_for(X, y, w, "coupled")
    stump, _ = state.search.best()
    h, r = describe(stump, state.problem.bins).evaluate(X)
    sums = state.search.label_sums(stump)
    for label, (value_h, value_r) in enumerate(state.family.values[:3]):
        rows = (h == value_h) & (r == value_r)
        expected = [w[rows & (y > 0), 0].sum(), w[rows & (y < 0), 0].sum(), w[rows, 1].sum()]
        np.testing.assert_allclose(sums[label], expected, atol=1e-12)


def test_canonical_keeps_the_function_and_removes_synonyms():
    rng = np.random.default_rng(0)
    spellings = {}
    for _ in range(300):
        j, k = np.sort(rng.integers(0, 5, size=2)).tolist()
        labels = rng.integers(0, 3, size=4).tolist()
        stump = (0, j, k, *labels)
        short = canonical(stump, 4)
        np.testing.assert_array_equal(cell_labels(stump, 4), cell_labels(short, 4))
        spellings.setdefault(cell_labels(stump, 4).tobytes(), set()).add(short)
    assert {len(found) for found in spellings.values()} == {1}


def test_cuts_lie_between_neighbours_even_where_floats_run_out():
    low = np.array([1.0, 1.0, -np.finfo(float).max, -np.inf, 0.0])
    high = np.array([2.0, np.nextafter(1.0, 2), np.finfo(float).max, 0.0, np.inf])
    cuts = midpoints(low, high)
    assert (low <= cuts).all()
    assert (cuts < high).all()


def test_quantile_bins_are_even_and_exact_below_the_limit():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=5000), rng.integers(0, 50, size=5000)])
    bins = bin_features(X, np.arange(5000), 64)
    counts = np.bincount(bins.codes[0], minlength=64)
    assert bins.n_bins.tolist() == [64, 50]
    assert counts[:64].min() > 60
    assert bins.codes.dtype == np.uint8
    exact = bin_features(X, np.arange(5000), None)
    assert exact.n_bins.tolist() == [5000, 50]
    np.testing.assert_array_equal(np.argsort(X[:, 0]), np.argsort(exact.codes[0]))


def test_rows_without_missing_values_say_so():
    X = np.array([[0.0, np.nan], [1.0, 0.0], [2.0, 1.0], [np.nan, 2.0]])
    bins = bin_features(X, np.arange(4), None)
    assert bins.has_missing.tolist() == [True, True]
    assert bins.take(np.array([0, 1])).has_missing.tolist() == [False, True]
    assert bins.take(np.array([1, 2])).has_missing.tolist() == [False, False]


def test_quantile_bins_hold_equal_weights():
    rng = np.random.default_rng(3)
    X, times = rng.normal(size=(400, 1)), rng.integers(1, 6, 400)
    weighted = bin_features(X, np.arange(400), 16, times / 7.0)
    repeated = bin_features(np.repeat(X, times, axis=0), np.arange(times.sum()), 16)
    np.testing.assert_array_equal(weighted.cuts[0], repeated.cuts[0])
    assert np.ptp(np.bincount(weighted.codes[0], times)) <= 2 * times.max()
    assert len(bin_features(X, np.arange(400), 16).cuts[0]) == 15


def test_the_unit_of_the_weights_moves_no_bin():
    """Tenths do not add up exactly: a sum that equals a quantile may come out just below it."""
    weight = np.array([1.0, 1, 1, 3, 2, 3, 1, 2, 1, 1, 3, 3, 1, 2, 3, 2, 3, 1, 1, 1, 2, 1, 1, 2, 2])
    column = np.arange(25.0)
    np.testing.assert_array_equal(find_cuts(column, 4, weight / 10), find_cuts(column, 4, weight))


@pytest.mark.parametrize("family", ["coupled", "decoupled"])
def test_the_counted_complexity_is_above_the_one_of_random_signs(family):
    X, _ = random_data(5, m=60, levels=8, missing=0.1)
    bins = bin_features(X, np.arange(60), None)
    h, r = every_stump(X, family)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(2000, 60))
    of_h, of_r = ((signs @ part / 60).max(axis=1).mean() for part in (h, r))
    bound_h, bound_r = massart(family, bins.n_bins, bins.has_missing, 60)
    assert of_h < bound_h - 1 / np.sqrt(60)  # the intercepts' share
    assert of_r < bound_r - 1 / np.sqrt(60)
