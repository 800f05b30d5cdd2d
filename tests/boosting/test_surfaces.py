"""Pair terms: cells, missing values, and the purification that makes them unique."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.boosting.shapes import AdditiveForm, ShapeFunction
from recuse.boosting.surfaces import SurfaceFunction, purify


def example():
    shape = ShapeFunction(1, np.array([0.5]), np.array([-1.0, 1.0]), np.array([0.0, -0.5]), (0.25, -2.0))
    table = np.arange(12.0).reshape(4, 3)  # two cuts and one cut, and missing values
    surface = SurfaceFunction((0, 2), (np.array([1.0, 2.0]), np.array([0.0])), table, -table)
    return AdditiveForm(10.0, 20.0, [shape], [surface])


def test_cells_of_both_features_and_of_missing_values():
    X = np.array([[1.0, 0, 0.0], [1.5, 0, 0.1], [np.inf, 0, -np.inf], [np.nan, 0, 5.0], [0.0, 0, np.nan]])
    h, r = example().surfaces[0].evaluate(X)
    assert h.tolist() == [0.0, 4.0, 6.0, 10.0, 2.0]
    assert (r == -h).all()


def test_the_form_adds_surfaces_and_lists_them_behind_the_features():
    X = np.random.default_rng(0).normal(size=(20_000, 3)) + 1
    X[::7, 0] = np.nan
    form = example()
    h, r = form.evaluate(X)
    np.testing.assert_array_equal(form.evaluate(X, n_threads=2), (h, r))
    parts_h, parts_r = form.contributions(X)
    assert parts_h.shape == (20_000, 4)
    np.testing.assert_allclose(parts_h.sum(axis=1) + 10, h)
    np.testing.assert_allclose(parts_r.sum(axis=1) + 20, r)
    np.testing.assert_array_equal(parts_h[:, 3], form.surfaces[0].evaluate(X)[0])
    assert form.n_cells == 3 + 12


def test_float32_cases_fall_into_the_cells_of_their_values():
    X = np.random.default_rng(1).normal(size=(100, 3)).astype(np.float32)
    np.testing.assert_array_equal(example().evaluate(X), example().evaluate(X.astype(np.float64)))


def test_a_name_joins_the_columns():
    assert example().surfaces[0].name(["age", "height", "smoking"]) == "age x smoking"


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 6), st.booleans())
def test_purified_tables_have_no_main_effects_and_add_up(seed, n, k, sparse):
    rng = np.random.default_rng(seed)
    table, mass = rng.normal(size=(n, k)) * 10, rng.random((n, k))
    if sparse:
        mass *= rng.random((n, k)) < 0.5
        mass[0, 0] = 1.0
    part = purify(table, mass)
    np.testing.assert_allclose(part.pure + part.rows[:, None] + part.columns + part.constant, table, atol=1e-11)
    np.testing.assert_allclose((mass * part.pure).sum(axis=0), 0.0, atol=1e-10)
    np.testing.assert_allclose((mass * part.pure).sum(axis=1), 0.0, atol=1e-10)
    assert mass.sum(axis=1) @ part.rows == pytest.approx(0.0, abs=1e-10)
    assert mass.sum(axis=0) @ part.columns == pytest.approx(0.0, abs=1e-10)


@given(st.integers(0, 10_000))
def test_purification_does_not_depend_on_where_main_effects_are(seed):
    """Unique: moving a main effect into the table changes the main effect alone."""
    rng = np.random.default_rng(seed)
    table, mass = rng.normal(size=(4, 5)), rng.random((4, 5)) + 0.01
    rows, columns = rng.normal(size=4), rng.normal(size=5)
    one, two = purify(table, mass), purify(table + rows[:, None] + columns, mass)
    np.testing.assert_allclose(one.pure, two.pure, atol=1e-10)
    moved = rows - mass.sum(axis=1) @ rows / mass.sum()
    np.testing.assert_allclose(two.rows - one.rows, moved, atol=1e-10)


def test_correlated_features_are_purified_at_once():
    """Nearly all mass on the diagonal: taking means out in turn would take thousands of passes."""
    mass = np.eye(20) + 1e-6
    table = np.random.default_rng(3).normal(size=(20, 20))
    part = purify(table, mass)
    np.testing.assert_allclose((mass * part.pure).sum(axis=0), 0.0, atol=1e-10)
    np.testing.assert_allclose((mass * part.pure).sum(axis=1), 0.0, atol=1e-10)
