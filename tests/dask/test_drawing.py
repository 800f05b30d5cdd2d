"""Rows drawn by their numbers: as many as wanted, the same ones however the table is partitioned."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.dask.drawing import BLOCK, ClassSizes, drawn_rows


@given(
    st.integers(1, 3 * BLOCK), st.floats(0, 1), st.lists(st.integers(0, 3 * BLOCK), max_size=5), st.integers(0, 2**31)
)
def test_partitions_draw_what_the_whole_draws(n, share, ends, seed):
    size = int(share * n)
    whole = drawn_rows((seed, 1), n, size)
    assert len(whole) == size
    assert (np.diff(whole) > 0).all()
    at = np.unique(np.clip([0, *ends, n], 0, n))
    parts = [drawn_rows((seed, 1), n, size, a, b) for a, b in pairwise(at)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_every_row_is_drawn_as_often_and_seeds_differ():
    n, size, times = 1000, 100, 2000
    counts = np.zeros(n)
    for seed in range(times):
        counts[drawn_rows((seed,), n, size)] += 1
    expected = times * size / n
    assert np.abs(counts - expected).max() < 6 * np.sqrt(expected)
    assert not np.array_equal(drawn_rows((0, 1), n, size), drawn_rows((1, 0), n, size))


@pytest.mark.parametrize(
    ("sizes", "total", "drawn"),
    [((10, 90), 200, (10, 90)), ((10, 90), 100, (10, 90)), ((10, 90), 50, (5, 45)), ((1, 10_000), 100, (1, 99))],
)
def test_a_sample_is_stratified(sizes, total, drawn):
    assert ClassSizes(*sizes).at_most(total) == drawn
