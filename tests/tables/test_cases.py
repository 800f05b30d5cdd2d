"""Cases with known outcomes: what is accepted, what is refused, and which columns look like identifiers."""

import numpy as np
import pandas as pd
import pytest

from recuse.tables import check_cases, identifier_hints
from tests.tables.conftest import with_outcomes


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
        (table(y=["a", "b", "c", "d"] * 5), "y", None, r"holds 4 different outcomes .*: name the positive one, as in"),
        (table(y=["a", "b", "c", "d"] * 5), "y", "e", "positive='e' does not occur in y"),
        (table(y=["a", None] * 10), "y", None, "holds 'a' only"),
        (table(y=[None] * 20), "y", None, "to predict is empty"),
        (table(), "y", "yess", r"positive='yess' does not occur in y: did you mean 'yes'\? it holds \['no', 'yes'\]"),
        (table(), "y", "maybe", r"positive='maybe' does not occur in y: it holds \['no', 'yes'\]"),
        (table(e=[np.nan] * 20), "y", None, "the column 'e' is empty in every row"),
        (table(y=["a"] * 19 + ["b"]), "y", None, "only 1 cases with y = 'b'; at least 6"),
        (table().drop(columns="x"), "y", None, "no column besides the one to predict"),
    ],
)
def test_tables_that_cannot_be_used(frame, target, positive, message):
    with pytest.raises(ValueError, match=message):
        check_cases(frame, target, positive)


def test_rows_without_an_outcome_are_set_aside_and_counted(caplog):
    frame = table(y=["a", "b", None, "b"] * 5, g=list("abcde") * 4)
    with caplog.at_level("INFO", "recuse.tables"):
        cases = check_cases(frame, "y", groups="g", least=1)
    assert [record.getMessage() for record in caplog.records] == ["table: 5 of 20 rows have no y and are set aside."]
    assert cases.outcomes.tolist() == ["a", "b", "b"] * 5
    assert cases.case_numbers.tolist() == [number for number in range(1, 21) if number % 4 != 3]
    assert cases.features["x"].tolist() == [number - 1 for number in cases.case_numbers]
    assert len(cases.groups) == 15
    assert cases.take(np.array([2])).case_numbers.tolist() == [4]
    by_array = check_cases(frame, "y", groups=frame["g"].to_numpy(), drop=["g"], least=1)
    assert by_array.groups.tolist() == cases.groups.tolist()


@pytest.mark.parametrize(("labels", "positive"), [("abc", "b"), ([0, 1, 2], 2), ([0, 1, 2], "2")])
def test_one_outcome_against_the_rest(labels, positive):
    frame = table(y=np.resize(list(labels), 20))
    cases = check_cases(frame, "y", positive, least=1)
    assert cases.classes == [f"not {positive}", str(positive)]
    assert (cases.outcomes == cases.positive).tolist() == (frame["y"].astype(str) == str(positive)).tolist()


def test_a_hint_names_a_way_that_works():
    frame = pd.DataFrame({"id, old": [f"c{i}" for i in range(60)]})
    (hint,) = identifier_hints(frame)
    assert hint.endswith("leave it out with drop=['id, old']")


def test_columns_are_left_out_by_name():
    frame = with_outcomes(id=range(60), age=[1.5] * 60)
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
