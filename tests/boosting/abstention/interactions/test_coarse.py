"""Coarse codes."""

import numpy as np

from recuse.boosting.abstention.interactions.coarse import coarsen
from recuse.boosting.binning import bin_features


def test_codes_are_those_of_the_coarse_cuts_and_weigh_about_the_same():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=1000), rng.integers(0, 3, 1000), np.zeros(1000)]).astype(float)
    X[::10, 0] = np.nan
    bins = bin_features(X, np.arange(1000), None)
    weight = rng.random(1000) + 0.1
    coarse = coarsen(bins, weight, 8)
    codes = coarse.code(bins)
    assert coarse.n_codes.tolist() == [9, 4, 2]
    for f in range(3):
        cuts = coarse.cuts(bins, f)
        expected = np.searchsorted(np.append(cuts, np.inf), X[:, f])
        np.testing.assert_array_equal(codes[f], expected)
    known = ~np.isnan(X[:, 0])
    mass = np.bincount(codes[0][known], weight[known])
    assert mass.max() < 1.1 * mass.min()


def test_a_value_of_large_weight_has_a_code_to_itself():
    column = np.concatenate([np.zeros(900), np.arange(1, 101)])[:, None]
    bins = bin_features(column, np.arange(1000), None)
    coarse = coarsen(bins, np.ones(1000), 8)
    assert 0.0 < coarse.cuts(bins, 0)[0] < 101.0
    assert (coarse.code(bins)[0][:900] == 0).all()


def test_some_features_and_rows():
    X = np.random.default_rng(2).normal(size=(50, 4))
    bins = bin_features(X, np.arange(50), None)
    coarse = coarsen(bins, np.ones(50), 5)
    rows = np.array([3, 8, 20])
    np.testing.assert_array_equal(coarse.code(bins, np.array([2, 0]), rows), coarse.code(bins)[[2, 0]][:, rows])
