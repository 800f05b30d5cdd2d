"""The additive form: cells, missing values, blocks."""

import numpy as np

from recuse.boosting.binning import code_features
from recuse.boosting.shapes import AdditiveForm, ShapeFunction, additive_form


def example():
    first = ShapeFunction(0, np.array([1.0, 2.0]), np.array([-1.0, 0.0, 1.0]), np.array([0.0, -0.5, 0.0]), (0.25, -2.0))
    second = ShapeFunction(2, np.zeros(0), np.array([0.5]), np.array([0.1]), (0.0, -1.0))
    return AdditiveForm(10.0, 20.0, [first, second])


def test_values_at_a_cut_lie_left_of_it_and_nan_has_its_own_cell():
    X = np.array([[1.0, 9, 0], [1.5, 9, 0], [2.0, 9, 0], [np.inf, 9, 0], [-np.inf, 9, 0], [np.nan, 9, np.nan]])
    h, r = example().evaluate(X)
    np.testing.assert_allclose(h, [9.5, 10.5, 10.5, 11.5, 9.5, 10.25])
    np.testing.assert_allclose(r, [20.1, 19.6, 19.6, 20.1, 20.1, 17.0])


def test_blocks_threads_and_contributions_agree():
    X = np.random.default_rng(0).normal(size=(40_000, 3)) + 1.5
    h, r = example().evaluate(X)
    np.testing.assert_array_equal(example().evaluate(X, n_threads=2), (h, r))
    parts_h, parts_r = example().contributions(X)
    np.testing.assert_allclose(parts_h.sum(axis=1) + 10, h)
    np.testing.assert_allclose(parts_r.sum(axis=1) + 20, r)


def test_equal_cells_merge_and_idle_features_go():
    X = np.array([[0.5, 4.0], [1.5, 6.0], [2.5, 6.0], [3.5, 6.0], [np.nan, np.nan]])
    bins = code_features(X, np.arange(5), [np.array([1.0, 2.0, 3.0]), np.array([5.0])])
    h = np.array([1.0, 1.0, 2.0, 2.0, 7.0, 0.0, 0.0, 0.0])
    form = additive_form(0.0, 0.0, (h, np.zeros(8)), bins, np.array([1.0, 2.0, 3.0, 4.0, 10.0]))
    (shape,) = form.shapes
    assert shape.cuts.tolist() == [2.0]
    assert shape.h.tolist() == [1.0, 2.0]
    assert shape.missing == (7.0, 0.0)
    assert form.n_cells == 3
    np.testing.assert_allclose(shape.share, [0.15, 0.35, 0.5])
