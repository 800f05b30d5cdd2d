"""Columns cut into segments."""

import numpy as np
import pandas as pd
import pytest

from recuse.tables.segmenting import EMPTY, LEAST_CASES, MOST_SEGMENTS, RARE, cut_into_segments

RNG = np.random.default_rng(0)


def sizes(found):
    return dict(zip(found.labels, np.bincount(found.codes).tolist(), strict=True))


def test_numbers_are_cut_into_bands_that_hold_the_values_they_name():
    ages = pd.Series(RNG.integers(18, 90, 1000), name="age")
    found = cut_into_segments(ages)
    assert len(found.labels) == 5
    for position, label in enumerate(found.labels):
        low, high = (int(part) for part in label.split(" to "))
        inside = ages[found.codes == position]
        assert (inside.min(), inside.max()) == (low, high)
        assert 150 < len(inside) < 250
    assert found.of_cases[0] == found.labels[found.codes[0]]


@pytest.mark.parametrize("dtype", ["float64", "Int64", "int32"])
def test_few_numbers_are_taken_as_they_are(dtype):
    column = pd.Series([3, 1, 2] * 40, name="k").astype(dtype)
    assert sizes(cut_into_segments(column)) == {"1": 40, "2": 40, "3": 40}


def test_flags_dates_and_empty_cells():
    flags = pd.Series(RNG.random(200) < 0.4, name="member")
    assert set(sizes(cut_into_segments(flags))) == {"True", "False"}
    days = pd.Series(pd.to_datetime("2020-01-01") + pd.to_timedelta(np.arange(500), unit="D"), name="day")
    found = cut_into_segments(days)
    assert found.labels[0] == "2020-01-01 to 2020-04-09"
    towns = pd.Series(["Ulm", None] * 60, name="town")
    assert sizes(cut_into_segments(towns)) == {"Ulm": 60, EMPTY: 60}
    missing = pd.Series(np.where(np.arange(200) % 4 == 0, np.nan, np.arange(200)), name="x")
    assert sizes(cut_into_segments(missing))[EMPTY] == 50


def test_rare_values_are_put_together_with_a_few_empty_cells():
    column = pd.Series(["a"] * 80 + ["b"] * 30 + ["c"] * 10 + ["d"] * 9 + [None] * 3, name="kind")
    assert sizes(cut_into_segments(column)) == {"a": 80, "b": 30, RARE: 22}
    many = pd.Series([f"town {i % 60}" for i in range(60 * LEAST_CASES)], name="town")
    with pytest.raises(ValueError, match="does not fall into segments"):
        cut_into_segments(pd.concat([many, many.add("x")]).rename("town"))
    found = cut_into_segments(many)
    assert len(found.labels) == MOST_SEGMENTS + 1


def test_a_small_table_has_fewer_bands():
    assert len(cut_into_segments(pd.Series(RNG.normal(size=60), name="x")).labels) == 3


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([f"person {i}" for i in range(10_000)], name="who"),
        pd.Series(["same"] * 100, name="one"),
        pd.Series([None] * 100, name="nothing", dtype=object),
        pd.Series(RNG.normal(size=30), name="short"),
    ],
)
def test_a_column_that_does_not_fall_into_segments(column):
    with pytest.raises(ValueError, match=f"by='{column.name}' does not fall into segments: it has .*different values"):
        cut_into_segments(column)
