"""Merged quantile sketches: exact while few values are distinct, within the stated error beyond."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from recuse.boosting.binning import MAX_UINT8_BINS, find_cuts
from recuse.dask.sketches import (
    FAN_IN,
    LARGEST_LIMIT,
    SMALLEST_LIMIT,
    ColumnSketch,
    default_limit,
    error_bound,
    merge_in_tree,
    merge_tables,
    merged_cuts,
    sketch_column,
    sketch_table,
)

ORDERS = ("sorted", "reversed", "shuffled", "interleaved", "outside in")


@st.composite
def columns(draw, most=300):
    """A column with ties, infinities and missing values, and weights or none."""
    n = draw(st.integers(0, most))
    kind = draw(st.sampled_from(["few values", "floats", "one heavy value", "distinct"]))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    column = {
        "few values": lambda: random.integers(0, 5, n).astype(float),
        "floats": lambda: draw(hnp.arrays(float, n, elements=st.floats(allow_nan=True, allow_infinity=True))),
        "one heavy value": lambda: np.where(random.random(n) < 0.9, 0.0, random.normal(size=n)),
        "distinct": lambda: random.permutation(n).astype(float),
    }[kind]()
    special = random.random(n)
    column = np.where(
        special < 0.05, np.nan, np.where(special < 0.08, np.inf, np.where(special < 0.1, -np.inf, column))
    )
    weight = draw(st.sampled_from([None, "whole", "uneven"]))
    if weight is not None:
        whole = random.integers(0, 4, n).astype(float)
        weight = whole if weight == "whole" else whole * np.exp(3 * random.normal(size=n))
    return column, weight


def partitions(column, weight, ends):
    """Parts of the rows, empty ones among them."""
    at = np.sort(np.array([*ends, 0, len(column)]).clip(0, len(column)))
    return [(column[a:b, np.newaxis], None if weight is None else weight[a:b]) for a, b in pairwise(at)]


def rank(column, weight, t):
    """Weight at or below t, from the rows themselves."""
    return (np.ones(len(column)) if weight is None else weight)[column <= t].sum()


def assert_within_error(sketch, column, weight):
    """The sketch never says too much, and too little by at most its error."""
    total = rank(column, weight, np.inf)
    values = np.unique(column[~np.isnan(column)])
    with np.errstate(over="ignore"):
        probes = np.concatenate([values, np.nextafter(values, -np.inf), np.nextafter(values, np.inf)])
    true = np.array([rank(column, weight, t) for t in probes])
    said = sketch.weight_up_to(probes)
    assert (said <= true + 1e-9 * total).all()
    assert (true <= said + sketch.error + 1e-9 * total).all()


@given(columns(), st.lists(st.integers(0, 300), max_size=8), st.integers(2, MAX_UINT8_BINS) | st.none())
@settings(deadline=None, max_examples=200)
def test_exact_below_the_limit_as_on_one_machine(case, ends, max_bins):
    column, weight = case
    counted = slice(None) if weight is None else weight > 0
    expected = find_cuts(column[counted], max_bins, None if weight is None else weight[counted])
    [cuts] = merged_cuts(partitions(column, weight, ends), max_bins)
    np.testing.assert_allclose(cuts, expected, rtol=1e-12)


@given(columns(), st.lists(st.integers(0, 300), max_size=20), st.integers(4, 40))
@settings(deadline=None, max_examples=200)
def test_error_is_within_the_bound_for_ties_weights_and_any_partitions(case, ends, limit):
    column, weight = case
    parts = partitions(column, weight, ends)
    [sketch] = merge_in_tree(sketch_table(*part, limit) for part in parts).columns
    total = rank(column, weight, np.inf)
    assert len(sketch.values) <= limit
    assert sketch.error <= error_bound(len(parts), limit) * total * (1 + 1e-9)
    assert sketch.total == pytest.approx(total)
    assert sketch.missing == pytest.approx(np.isnan(column).sum() if weight is None else weight[np.isnan(column)].sum())
    assert_within_error(sketch, column, weight)


@given(columns(most=120), columns(most=120), columns(most=120), st.integers(4, 30))
@settings(deadline=None, max_examples=100)
def test_merging_is_associative_and_commutative_within_the_error(first, second, third, limit):
    cases = [(column, np.ones(len(column)) if weight is None else weight) for column, weight in (first, second, third)]
    a, b, c = (sketch_table(column[:, np.newaxis], weight, limit) for column, weight in cases)
    whole = tuple(np.concatenate(part) for part in zip(*cases, strict=True))
    for merged in (
        merge_tables(merge_tables(a, b), c),
        merge_tables(a, merge_tables(b, c)),
        merge_tables(c, merge_tables(b, a)),
        merge_tables(a, b, c),
    ):
        # One shortening of its own and at most two on the way: each adds at most a share of 1 / b.
        assert merged.columns[0].error <= 3 / ((limit - 2) // 2) * rank(*whole, np.inf) * (1 + 1e-9)
        assert_within_error(merged.columns[0], *whole)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("ties", [False, True])
def test_cuts_of_adversarial_orders_are_within_the_bound(order, ties):
    n, n_parts, limit, max_bins = 40_000, 17, 1024, 64
    column = np.exp(np.random.default_rng(0).normal(size=n) * 3)
    if ties:
        column = np.where(np.arange(n) % 3 == 0, 1.0, np.round(column, 3))
    column = np.sort(column)
    column = {
        "sorted": lambda: column,
        "reversed": lambda: column[::-1],
        "shuffled": lambda: np.random.default_rng(1).permutation(column),
        "interleaved": lambda: np.concatenate([column[i::n_parts] for i in range(n_parts)]),
        "outside in": lambda: np.where(np.arange(n) % 2, column[::-1], column),
    }[order]()
    parts = [(part[:, np.newaxis], None) for part in np.array_split(column, n_parts)]
    table = merge_in_tree(sketch_table(*part, limit) for part in parts)
    assert 0 < table.columns[0].error <= error_bound(n_parts, limit) * n
    heaviest = np.unique(column, return_counts=True)[1].max()
    # A quantile may land in an entry of the sketch that holds the error, or one heavy value, or both.
    allowed = heaviest + 2 * error_bound(n_parts, limit) * n
    ranks = np.array([rank(column, None, t) for t in table.cuts(max_bins)[0]])
    wanted = np.arange(1, max_bins) * n / max_bins
    after = ranks[np.minimum(np.searchsorted(ranks, wanted), len(ranks) - 1)]
    assert (np.abs(after - wanted) <= allowed).all()
    exact = np.array([rank(column, None, t) for t in find_cuts(column, max_bins)])
    assert all(np.abs(exact - r).min() <= allowed for r in ranks)


def test_partitions_do_not_matter_beyond_the_error():
    random = np.random.default_rng(2)
    column, weight = random.normal(size=30_000), random.exponential(size=30_000)
    many = [(x[:, np.newaxis], w) for x, w in zip(np.array_split(column, 23), np.array_split(weight, 23), strict=True)]
    one, several = (
        merge_in_tree(sketch_table(*part, 2048) for part in parts).columns[0]
        for parts in ([(column[:, np.newaxis], weight)], many)
    )
    probes = random.normal(size=200)
    far = np.abs(one.weight_up_to(probes) - several.weight_up_to(probes))
    assert (far <= max(one.error, several.error)).all()


def test_a_heavy_value_among_many_keeps_its_own_bin():
    random = np.random.default_rng(3)
    column = np.where(random.random(200_000) < 0.5, 0.0, random.normal(size=200_000))
    parts = [(part[:, np.newaxis], None) for part in np.array_split(column, 5)]
    table = merge_in_tree(sketch_table(*part, SMALLEST_LIMIT) for part in parts)
    [cuts] = table.cuts(16)
    below, above = cuts[cuts < 0].max(), cuts[cuts >= 0].min()
    assert table.columns[0].error > 0
    inside = (column > below) & (column <= above)
    assert (column[inside] == 0).mean() > 0.99


def test_columns_of_other_kinds():
    table = sketch_table(np.array([[1, 5], [2, 5], [2, 5]], dtype=np.int32))
    assert [sketch.values.tolist() for sketch in table.columns] == [[1.0, 2.0], [5.0]]
    assert [cuts.tolist() for cuts in table.cuts(None)] == [[1.5], []]
    nothing_known = sketch_table(np.full((3, 1), np.nan), np.array([1.0, 2.0, 0.0]))
    assert nothing_known.columns[0].missing == 3.0
    assert nothing_known.cuts(8)[0].tolist() == []
    values = np.random.default_rng(0).normal(size=(500, 1)).astype(np.float32)
    [cuts] = merged_cuts([(values[:100], None), (values[100:], None)], 16)
    np.testing.assert_array_equal(cuts, find_cuts(values[:, 0], 16))


def test_limit_grows_smaller_with_the_columns():
    assert default_limit(1) == default_limit(32) == LARGEST_LIMIT
    assert default_limit(64) == LARGEST_LIMIT // 2
    assert default_limit(100_000) == SMALLEST_LIMIT
    wide = sketch_table(np.random.default_rng(0).normal(size=(20_000, 64)))
    assert wide.nbytes <= 16 * 2**20 + 64 * 16


def test_bound_counts_the_levels_of_the_tree():
    b = (LARGEST_LIMIT - 2) // 2
    for n, levels in ((1, 0), (2, 1), (FAN_IN, 1), (FAN_IN + 1, 2), (FAN_IN**3, 3), (FAN_IN**3 + 1, 4)):
        assert error_bound(n, LARGEST_LIMIT) == (1 + levels) / b


def test_errors_are_one_sentence():
    with pytest.raises(ValueError, match=r"All partitions must have the same columns; some have 2 and some 3\."):
        merge_tables(sketch_table(np.zeros((1, 2))), sketch_table(np.zeros((1, 3))))
    with pytest.raises(ValueError, match="no partition to take quantiles of: the table has no rows"):
        merged_cuts([], 8)
    sketch = ColumnSketch(np.arange(10.0), np.ones(10)).shortened(4)
    with pytest.raises(ValueError, match=r"max_bins=None looks at every distinct value.*use max_bins='auto'"):
        sketch.cuts(None)


@given(columns(), st.integers(4, 60))
def test_rows_that_count_1_are_sketched_as_by_their_weights(drawn, limit):
    column, _ = drawn
    known, weighed = sketch_column(column, None, limit), sketch_column(column, np.ones(len(column)), limit)
    np.testing.assert_array_equal(known.values, weighed.values)
    np.testing.assert_array_equal(known.weights, weighed.weights)
    assert (known.error, known.missing) == (weighed.error, weighed.missing)
