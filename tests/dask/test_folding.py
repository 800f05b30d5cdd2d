"""Folds by group: a group has one key whatever else its partition holds."""

from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.dask.faults import PartitionError
from recuse.dask.folding import group_keys
from recuse.dask.tables import check_piece

ONE = {
    "integers": pd.Series([1, 2]),
    "short integers": np.array([1, 2], dtype=np.uint8),
    "unsigned": np.array([1, 2**64 - 1], dtype=np.uint64),
    "floats": np.array([1.0, 2.5]),
    "half floats": np.array([1.0, 2.5], dtype=np.float32),
    "booleans": np.array([True, False]),
    "nullable": pd.Series([1, 2], dtype="Int64"),
    "objects": pd.Series([1, 2], dtype=object),
    "NumPy objects": pd.Series([np.int8(1), np.float32(3.5)], dtype=object),
    "with text": pd.Series([1, "x"], dtype=object),
    "with a float": pd.Series([1, 1.5], dtype=object),
    "with a huge number": pd.Series([1, 10**30, 10**400], dtype=object),
    "decimals": pd.Series([Decimal("1.00"), Decimal("2.5")]),
    "categories": pd.Categorical([1, 2]),
    "one column": np.array([[1], [2]]),
}


@pytest.mark.parametrize("labels", ONE.values(), ids=ONE)
def test_the_number_one_has_one_key_in_every_type(labels):
    assert group_keys(labels)[0] == group_keys(np.array([1]))[0]
    assert len(set(group_keys(labels).tolist())) == len(labels)


def test_text_and_dates_have_one_key_in_every_type():
    text = group_keys(np.array(["a", "1"]))
    assert set(text.tolist()).isdisjoint(group_keys(np.array([1])).tolist())
    for other in (pd.Series(["a", "1"]), pd.Categorical(["a", "1"]), pd.Series(["a", "1", 1], dtype=object)):
        np.testing.assert_array_equal(group_keys(other)[:2], text)
    days = pd.Series(pd.to_datetime(["2020-01-01", "2021-05-06"]))
    for other in (days.astype("datetime64[s]"), days.astype("datetime64[ns]"), days.astype(object)):
        np.testing.assert_array_equal(group_keys(other), group_keys(days))
    assert group_keys(np.array([date(2020, 1, 1)], dtype=object)).dtype == np.uint64
    assert group_keys(np.array([], dtype=object)).shape == (0,)


NUMBERS = st.one_of(
    st.integers(-(2**70), 2**70), st.sampled_from([2**63, -(2**63), 2**63 - 1, 2**53 + 1]), st.booleans(),
    st.floats(allow_nan=False),
)  # fmt: skip


@given(st.lists(st.one_of(NUMBERS, st.text(max_size=3)), min_size=1, max_size=8), st.data())
def test_equal_labels_have_equal_keys_in_all_partitions(labels, data):
    """Any labels, cut into two partitions anywhere, each in the type that NumPy or pandas gives it."""
    cut = data.draw(st.integers(0, len(labels)))
    whole = group_keys(pd.Series(labels, dtype=object))
    parts = np.concatenate([group_keys(_typed(part)) for part in (labels[:cut], labels[cut:])])
    np.testing.assert_array_equal(parts, whole)
    for i, label in enumerate(labels):
        assert all(whole[i] == whole[k] for k, other in enumerate(labels) if other == label)


def _typed(labels):
    """Labels in the narrowest type that holds each of them as it is."""
    kinds = {type(label) for label in labels}
    fits = kinds == {int} and all(-(2**63) <= label < 2**63 for label in labels)
    return np.array(labels) if fits or kinds in ({bool}, {float}) else pd.Series(labels, dtype=object)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([1.0, np.nan]),
        pd.Series([1, None], dtype="Int64"),
        pd.Series(["a", None]),
        pd.Series([1, np.nan], dtype=object),
        pd.Series(pd.to_datetime(["2020-01-01", None])),
    ],
    ids=str,
)
def test_a_case_without_a_group_is_refused(labels):
    X, y = np.zeros((2, 1)), np.array([0, 1])
    with pytest.raises(PartitionError, match=r"^groups holds 1 missing values .*: every case needs a group\. Give"):
        check_piece(X, y, None, labels, None, 1, "Fit")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"groups": np.zeros(3)}, "it has 2 rows in X and 3 in groups: take both from the same table"),
        ({"groups": np.zeros((2, 2))}, r"groups must have one label per case; got the shape \(2, 2\)"),
        ({"groups": pd.Series([(1, 2), "x"])}, r"groups holds \(1, 2\) \(tuple\): use numbers, text or dates"),
        ({"weight": np.ones(1)}, "it has 2 rows in X and 1 in sample_weight"),
        ({"weight": np.array([1.0, np.nan])}, "sample_weight holds 1 missing values: give every case a weight, 0 to"),
        ({"weight": pd.Series([None, 1.0], dtype="Float64")}, "sample_weight holds 1 missing values"),
        ({"weight": np.array([1.0, -1.0])}, "sample_weight must be finite and not negative"),
        ({"y": np.array([1])}, "it has 2 rows in X and 1 in y"),
        ({"y": pd.Series([1, None], dtype="Int64")}, r"y holds missing values \(NaN, NA or None\)"),
    ],
    ids=str,
)
def test_what_is_wrong_with_a_column_of_a_partition_is_told(change, message):
    columns = {"X": np.zeros((2, 1)), "y": np.array([0, 1]), "weight": None, "groups": None, **change}
    with pytest.raises(PartitionError, match=f"^{message}"):
        check_piece(**columns, names=None, n_columns=1, needed_by="Fit")
