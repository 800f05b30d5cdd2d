"""Tables: every format, every kind of column, and a clear word on what is wrong."""

import gzip

import numpy as np
import pandas as pd
import pytest

from recuse.tables import TableColumns, as_frame, check_cases, identifier_hints, read_chunks, read_table


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "age": [31.0, np.nan, 54.0, 20.0],
            "code": ["007", "010", "100", "1"],
            "member": [True, False, True, True],
            "since": pd.to_datetime(["2020-01-01", "2021-05-02", None, "2019-12-31"]),
            "y": ["no", "yes", "no", "yes"],
        }
    )


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.tsv.gz", "t.parquet", "t.parquet.gz"])
def test_every_format_is_read_alike(tmp_path, frame, name):
    path = tmp_path / name
    if ".parquet" in name:
        frame.to_parquet(tmp_path / "t.parquet")
        if name.endswith(".gz"):
            path.write_bytes(gzip.compress((tmp_path / "t.parquet").read_bytes()))
    else:
        frame.to_csv(path, index=False, sep="\t" if "tsv" in name else ",")
    read = read_table(path, text_columns=("code",))
    assert list(read.columns) == list(frame.columns)
    assert read["code"].tolist() == frame["code"].tolist()
    np.testing.assert_array_equal(read["age"], frame["age"])


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_chunks_number_the_rows_through(tmp_path, frame, name):
    path = tmp_path / name
    frame.to_csv(path, index=False) if name.endswith("csv") else frame.to_parquet(path)
    chunks = list(read_chunks(path, size=3))
    assert [len(chunk) for chunk in chunks] == [3, 1]
    assert pd.concat(chunks).index.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.csv", None, "none.csv does not exist"),
        ("t.xlsx", b"x", r"t.xlsx: not a table format; give a .csv, .tsv or .parquet file"),
        ("t.csv", b"", "t.csv cannot be read as csv: No columns to parse from file"),
        ("t.csv", b"a,b\n", "t.csv holds no rows"),
        ("t.csv", b"a,b\n1,2,3\n1,2\n1,2,3,4,5\n", "t.csv cannot be read as csv: Error tokenizing data"),
        ("t.csv", b"a,b\n\xff\xfe\x00,1\n", "t.csv cannot be read as csv: it is not written in UTF-8"),
        ("t.csv.gz", b"not gzip", "t.csv.gz cannot be read as csv: Not a gzipped file"),
        ("t.csv", b"a,b,a\n1,2,3\n", "two columns have the name 'a'"),
        ("t.parquet", b"not parquet", "t.parquet cannot be read as parquet"),
    ],
)
def test_files_that_are_no_tables(tmp_path, name, content, message):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        read_table(path)


def table(**columns):
    return pd.DataFrame({"x": np.arange(20.0), "y": ["no", "yes"] * 10, **columns})


def test_cases():
    cases = check_cases(table(), "y", "no")
    assert cases.classes == ["yes", "no"]
    assert list(cases.features.columns) == ["x"]
    assert check_cases(table(y=[1.0, 0.0] * 10), "y", "1").positive == 1
    assert check_cases(table(y=[True, False] * 10), "y").classes == ["False", "True"]


@pytest.mark.parametrize(
    ("frame", "target", "positive", "message"),
    [
        (table(), "z", None, r"table has no column 'z' to predict: it has \['x', 'y'\]"),
        (table(outcome=1), "outcom", None, "did you mean 'outcome'"),
        (table(y="no"), "y", None, "the column 'y' holds 'no' only"),
        (table(y=["a", "b", "c", "d"] * 5), "y", None, "the column 'y' holds 4 different outcomes"),
        (table(y=["a", None] * 10), "y", None, "10 cases have no y"),
        (table(y=[None] * 20), "y", None, "to predict is empty"),
        (table(), "y", "maybe", r"positive='maybe' does not occur in y: it holds \['no', 'yes'\]"),
        (table(e=[np.nan] * 20), "y", None, "the column 'e' is empty in every row"),
        (table(y=["a"] * 19 + ["b"]), "y", None, "only 1 cases with y = 'b'; at least 6"),
        (table().drop(columns="x"), "y", None, "no column besides the one to predict"),
    ],
)
def test_tables_that_cannot_be_used(frame, target, positive, message):
    with pytest.raises(ValueError, match=message):
        check_cases(frame, target, positive)


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
    with pytest.raises(ValueError, match=r"lacks the column 'age' and 1 more that the model was fitted with"):
        columns.transform(frame.drop(columns=["age", "code"]))


def test_other_kinds_of_tables(frame):
    import polars as pl

    assert as_frame(pl.DataFrame({"a": [1, 2]}))["a"].tolist() == [1, 2]
    assert list(as_frame(np.zeros((2, 2))).columns) == ["x0", "x1"]
    with pytest.raises(ValueError, match="two columns have the name"):
        as_frame(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(ValueError, match="two dimensions"):
        as_frame(np.zeros(3))


def _numbered(n=60, **columns):
    return pd.DataFrame({**columns, "y": ["no", "yes"] * (n // 2)})


def test_text_that_is_iso_dates_throughout_is_dates():
    days = [f"2020-02-{1 + i % 28:02d}" for i in range(60)]
    stamps = [f"{day}T12:30:0{i % 10}" if i % 2 else day for i, day in enumerate(days)]
    gaps = [None if i % 7 == 0 else day for i, day in enumerate(days)]
    frame = _numbered(
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
    frame = _numbered(at=stamps, broken=["2020-02-08T99:00:00Z", *stamps[1:]])
    cases = check_cases(frame, "y")
    assert cases.features["at"][:4].tolist() == [
        pd.Timestamp(text) for text in ("2020-02-08 10:00", "2020-02-08 08:01", "2020-02-08 11:32", "2020-02-08 10:03")
    ]
    again = TableColumns().fit(cases.features).transform(frame)
    assert again["at"].tolist() == cases.features["at"].tolist()
    assert identifier_hints(cases.features[["broken"]]) == []  # times, if not all well written


def test_a_hint_names_a_way_that_works():
    frame = pd.DataFrame({"id, old": [f"c{i}" for i in range(60)]})
    (hint,) = identifier_hints(frame)
    assert hint.endswith("leave it out with drop=['id, old']")


def test_columns_are_left_out_by_name():
    frame = _numbered(id=range(60), age=[1.5] * 60)
    assert list(check_cases(frame, "y", drop=["id", "id"]).features.columns) == ["age"]
    for drop, message in [
        (["agee"], "loans has no column 'agee' to leave out: did you mean 'age'?"),
        (["y"], "drop='y' is the column to predict: leave out others only."),
        (["id", "age"], "loans has no column besides the one to predict"),
    ]:
        with pytest.raises(ValueError, match=message):
            check_cases(frame, "y", drop=drop, name="loans")


def test_what_looks_like_an_identifier_is_told():
    rng = np.random.default_rng(0)
    scattered = rng.permutation(10_000)[:60]
    frame = pd.DataFrame(
        {
            "customer": [f"C{i}" for i in range(60)],
            "row number": rng.permutation(60) + 7,
            "loan_id": scattered,
            "id": scattered.astype(str),
            "index": scattered,
            "amount": scattered,
            "price": scattered + 0.5,
            "paid": rng.integers(0, 5, 60),
            "valid": range(3, 63, 1),
            "day": pd.date_range("2020-01-01", periods=60),
            "gaps": [None, *map(str, range(59))],
        }
    )
    told = {hint.split("'")[1]: hint for hint in identifier_hints(frame)}
    assert list(told) == ["customer", "row number", "loan_id", "id", "index", "valid"]
    assert told["id"] == (
        "column 'id' holds a different value in every row and looks like an identifier: leave it out with --drop id "
        "(in Python, drop=['id'])"
    )
    assert "--drop 'row number'" in told["row number"]
    assert identifier_hints(frame[:50]) == []
