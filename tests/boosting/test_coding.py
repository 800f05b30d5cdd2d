"""Features in codes: the compiled loop of long columns gives the codes of NumPy's search."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from recuse.boosting import binning
from recuse.boosting.binning import bin_codes, code_features

pytestmark = pytest.mark.numerical


@given(
    column=hnp.arrays(np.float64, st.integers(0, 600), elements=st.floats(-20, 20, width=16) | st.just(np.nan)),
    cuts=hnp.arrays(np.float64, st.integers(0, 300), elements=st.floats(-20, 20, width=16), unique=True),
    single=st.booleans(),
    seed=st.integers(0, 100),
)
def test_long_columns_get_the_codes_of_short_ones(column, cuts, single, seed):
    cuts = np.sort(cuts)
    column = column.astype(np.float32 if single else np.float64)
    order = np.random.default_rng(seed).permutation(len(column))[: len(column) * 3 // 4]
    codes = np.empty(len(order), dtype=np.uint8 if len(cuts) < 255 else np.int32)
    binning._code_long(column, order, cuts, codes)
    assert codes.tolist() == bin_codes(column[order], cuts).tolist()


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.finfo(float).max, -0.0])
def test_values_at_the_ends(value):
    codes = np.empty(3, dtype=np.uint8)
    cuts = np.array([-1.0, 0.0, 1.0])
    binning._code_long(np.array([value, np.nan, 0.5]), np.arange(3), cuts, codes)
    assert codes.tolist() == bin_codes(np.array([value, np.nan, 0.5]), cuts).tolist()


def test_a_long_table_is_coded_as_its_parts_are():
    n = binning._WORTH_COMPILING
    X = np.random.default_rng(0).normal(size=(n, 2)).astype(np.float32)
    cuts = [np.linspace(-2, 2, 254), np.array([0.1])]
    whole = code_features(X, np.arange(n), cuts)
    parts = [code_features(X[rows], np.arange(len(rows)), cuts).codes for rows in np.array_split(np.arange(n), 4)]
    np.testing.assert_array_equal(whole.codes, np.concatenate(parts, axis=1))
    assert not whole.has_missing.any()
