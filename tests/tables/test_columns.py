"""Columns in the form the model was fitted with."""

import numpy as np
import pandas as pd
import pytest

from recuse.tables import TableColumns, as_frame, check_cases, identifier_hints, read_with_writings
from tests.tables.conftest import with_outcomes


def test_columns_come_back_as_they_were(frame):
    frame = frame.drop(columns="y")
    columns = TableColumns().fit(frame)
    assert columns.kinds_ == ["number", "text", "yes/no", "date"]
    assert columns.text_columns == ("code",)
    shuffled = frame.assign(age=["31", None, "54", "20"], member=["True", "False", "1", None], extra=1)[
        ["extra", "since", "member", "code", "age"]
    ]
    back = columns.transform(shuffled)
    assert list(back.columns) == ["age", "code", "member", "since"]
    np.testing.assert_array_equal(back["age"], frame["age"])
    np.testing.assert_array_equal(back["member"], [1.0, 0.0, 1.0, np.nan])
    assert back["since"].equals(frame["since"])
    assert columns.transform(frame.assign(code=[7, 10, 100, 1]))["code"].tolist() == ["7", "10", "100", "1"]


def test_missing_text_stays_missing(frame):
    columns = TableColumns().fit(frame[["code"]])
    assert columns.transform(pd.DataFrame({"code": [None, "7"]}))["code"].isna().tolist() == [True, False]


def test_kinds_from_parquet_objects():
    import datetime
    import decimal

    frame = pd.DataFrame(
        {
            "price": [decimal.Decimal("1.5"), None],
            "day": [datetime.date(2020, 1, 1), None],
            "flag": pd.Series([True, None], dtype=object),
            "town": pd.Categorical(["Ulm", None]),
            "mixed": pd.Series(["a", 1], dtype=object),
        }
    )
    columns = TableColumns().fit(frame)
    assert columns.kinds_ == ["number", "date", "yes/no", "text", "text"]
    back = columns.transform(frame)
    assert back["price"][0] == 1.5
    assert back["mixed"].tolist() == ["a", "1"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"age": ["old", 1, 2, 3]}, "The column 'age' holds 'old' in row 1, where the model was fitted with numbers"),
        ({"since": ["x", None, None, None]}, "The column 'since' holds 'x' in row 1, where .* with dates"),
        ({"member": [0, 1, 7, 1]}, "The column 'member' holds .*7.* in row 3, where .* with True and False"),
        ({"age": [1, np.inf, 2, 3]}, "The column 'age' holds an infinite number"),
    ],
)
def test_columns_of_another_kind(frame, change, message):
    columns = TableColumns().fit(frame.drop(columns="y"))
    with pytest.raises(ValueError, match=message):
        columns.transform(frame.assign(**change))


def test_lacking_columns(frame):
    columns = TableColumns().fit(frame)
    with pytest.raises(ValueError, match=r"lacks the columns 'age' and 'code' that the model was fitted with; it has"):
        columns.transform(frame.drop(columns=["age", "code"]))
    with pytest.raises(ValueError, match=r"did you mean 'Age' for 'age' and 'codes' for 'code'\? Rename them in the"):
        columns.transform(frame.rename(columns={"age": "Age", "code": "codes"}))


@pytest.mark.parametrize(
    ("cells", "new", "advice"),
    [
        (["1.234,5", "2,5", "3,5"], "1234.5", r"decimal points, say so with --decimal \. \(TableFile"),
        (["1.5", "2.5", "3.5"], "1.234,5", r"decimal commas, say so with --decimal , \(TableFile"),
        (["7,5 %", "2,5 %", "3,5 %"], "7,45", "a percent sign is expected, as in 7,45 %: write it into the cells"),
        (["7,5 %", "2,5 %", "3,5 %"], "7.45", r"--decimal \. .* and a percent sign is expected"),
        (["7,5", "2,5", "3,5"], "7,45 %", "no percent sign is expected: take it off"),
        (["7,5", "2,5", "3,5"], "n.k.", "leave the cell empty if nothing is known"),
    ],
)
def test_numbers_in_another_writing_get_the_advice_that_helps(cells, new, advice, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x;note\n" + "".join(f"{cell};a\n" for cell in cells))
    table, writings = read_with_writings(path)
    columns = TableColumns().fit(table)
    columns.remember_writings(writings)
    with pytest.raises(ValueError, match=advice):
        columns.transform(pd.DataFrame({"x": [new], "note": ["a"]}))


def test_other_kinds_of_tables(frame):
    import polars as pl

    assert as_frame(pl.DataFrame({"a": [1, 2]}))["a"].tolist() == [1, 2]
    assert list(as_frame(np.zeros((2, 2))).columns) == ["x0", "x1"]
    with pytest.raises(ValueError, match="two columns have the name"):
        as_frame(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(ValueError, match="two dimensions"):
        as_frame(np.zeros(3))


def test_text_that_is_iso_dates_throughout_is_dates():
    days = [f"2020-02-{1 + i % 28:02d}" for i in range(60)]
    stamps = [f"{day}T12:30:0{i % 10}" if i % 2 else day for i, day in enumerate(days)]
    gaps = [None if i % 7 == 0 else day for i, day in enumerate(days)]
    frame = with_outcomes(
        opened=days, stamp=stamps, closed=gaps, spoiled=["unknown", *days[1:]], impossible=["2020-02-31", *days[1:]],
        late=[*days[:-1], "never"], year=["2020"] * 60,
    )  # fmt: skip
    cases = check_cases(frame, "y")
    kinds = TableColumns().fit(cases.features)
    assert dict(zip(kinds.columns_, kinds.kinds_, strict=True)) == {
        "opened": "date", "stamp": "date", "closed": "date",
        "spoiled": "text", "impossible": "text", "late": "text", "year": "text",
    }  # fmt: skip
    assert cases.features["opened"][3] == pd.Timestamp("2020-02-04")
    assert cases.features["stamp"][3] == pd.Timestamp("2020-02-04 12:30:03")
    assert cases.features["closed"].isna().sum() == 9
    again = kinds.transform(frame[::-1].reset_index(drop=True))  # new cases come as text, dates alone and with times
    assert again["stamp"].tolist() == cases.features["stamp"][::-1].tolist()
    with pytest.raises(ValueError, match="'opened' holds 'soon' in row 1, where the model was fitted with dates"):
        kinds.transform(frame.assign(opened="soon"))
    with pytest.raises(ValueError, match="'opened' holds '03/02/2020' in row 1"):  # the third of which month?
        kinds.transform(frame.assign(opened="03/02/2020"))


def test_times_with_a_zone_are_dates_in_universal_time():
    stamps = [f"2020-02-08T10:{i:02d}:00{zone}" for i, zone in enumerate(["Z", "+02:00", "-0130", ""] * 15)]
    frame = with_outcomes(at=stamps, broken=["2020-02-08T99:00:00Z", *stamps[1:]])
    cases = check_cases(frame, "y")
    assert cases.features["at"][:4].tolist() == [
        pd.Timestamp(text) for text in ("2020-02-08 10:00", "2020-02-08 08:01", "2020-02-08 11:32", "2020-02-08 10:03")
    ]
    again = TableColumns().fit(cases.features).transform(frame)
    assert again["at"].tolist() == cases.features["at"].tolist()
    assert identifier_hints(cases.features[["broken"]]) == []  # times, if not all well written
