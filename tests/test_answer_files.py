"""Files of answers: formats, kept columns, probabilities, and text that a spreadsheet would run."""

import numpy as np
import pandas as pd
import pytest

import recuse
from recuse import Costs
from recuse.predicting import predict_table
from recuse.tables import restored
from tests.comparison.conftest import mixed_table

COSTS = Costs(fp=1, fn=3, reject=0.3)


@pytest.fixture(scope="module")
def model():
    return recuse.fit(mixed_table(), "default", COSTS, method="logistic-chow", positive="bad")


def table(n=90):
    frame = mixed_table(n, seed=4)
    frame.insert(0, "id", [f"{number:05d}" for number in range(n)])
    frame["name"] = np.resize(["=HYPERLINK(1)", "Ann, Lee", "Köln", None], n)
    frame["reason"] = "of the table"
    return frame


def read(path):
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    if path.suffix == ".jsonl":
        return pd.read_json(path, orient="records", lines=True, dtype={"id": str})
    if path.suffix == ".xlsx":
        return pd.read_excel(path, dtype={"id": str})
    return pd.read_csv(path, dtype={"id": str})


@pytest.mark.parametrize("capacity", [None, 7])
@pytest.mark.parametrize("out", ["out.csv", "out.jsonl", "out.parquet", "out.xlsx"])
@pytest.mark.parametrize("data", ["t.csv", "t.parquet"])
def test_answers_can_be_joined_back(model, tmp_path, data, out, capacity):
    frame = table()
    frame.to_csv(tmp_path / data, index=False) if data == "t.csv" else frame.to_parquet(tmp_path / data)
    answered = predict_table(
        model, tmp_path / data, tmp_path / out, keep=["id", "name", "reason"], capacity=capacity, rows_at_once=32
    )
    written, decisions = read(tmp_path / out), recuse.decide(model, frame)
    assert list(written.columns[:4]) == ["case", "id", "name", "reason (table)"]
    assert written["id"].tolist() == frame["id"].tolist()
    assert answered.cases == len(written) == len(frame)
    np.testing.assert_allclose(written["h"], decisions.h, rtol=5e-6)
    probability = model.predict_proba(frame)[:, list(model.classes_).index("bad")]
    np.testing.assert_allclose(written["probability"], probability, rtol=5e-6, atol=1e-12)
    assert written["decision"].tolist() == np.where(decisions.accepted, decisions.forced, "[abstain]").tolist()
    assert written["reason"].tolist() == decisions.reason.tolist()
    names = written["name"].where(written["name"].notna(), None).tolist()
    marked = restored(written)["name"] if out == "out.csv" else written["name"]
    assert (names[0] == "'=HYPERLINK(1)") == (out == "out.csv")
    assert marked.dropna().tolist() == frame["name"].dropna().tolist()
    if capacity is not None:
        assert sorted(written["review"].dropna()) == list(range(1, 8))


def test_everything_is_kept_as_it_is_written(model, tmp_path):
    frame = table()
    frame.to_csv(tmp_path / "t.csv", index=False)
    predict_table(model, tmp_path / "t.csv", tmp_path / "out.csv", keep="all")
    written, given = (pd.read_csv(tmp_path / name, dtype=str) for name in ("out.csv", "t.csv"))
    for name in given.columns:
        kept = written[f"{name} (table)" if name == "reason" else name]
        assert restored(kept.to_frame()).iloc[:, 0].fillna("").tolist() == given[name].fillna("").tolist()
    predict_table(model, tmp_path / "t.csv", tmp_path / "none.csv")
    pd.testing.assert_frame_equal(
        pd.read_csv(tmp_path / "none.csv", dtype=str)[["decision", "h", "r"]], written[["decision", "h", "r"]]
    )


@pytest.mark.parametrize("out", ["out.csv", "out.jsonl"])
def test_whole_numbers_stay_whole_beside_empty_cells(model, tmp_path, out):
    """A workbook, too, has one column of floats where a cell is empty; what is no whole number stays as it is."""
    cases = table(6).assign(
        age=[88, 7, None, 12, 3, -4], share=[1, 0.5, None, 1, 1, 2], large=[1e300, None, 1, 1, 1, 1]
    )
    cases.to_excel(tmp_path / "new.xlsx", index=False)
    predict_table(model, tmp_path / "new.xlsx", tmp_path / out, keep=["age", "share", "large"])
    text = (tmp_path / out).read_text()
    first = {"out.csv": "1,88,1.0,1e+300,", "out.jsonl": '{"case":1,"age":88,"share":1.0,"large":1e+300,'}[out]
    assert text.splitlines()[-6].startswith(first)
    assert {"out.csv": "3,,,1.0,", "out.jsonl": '"age":null'}[out] in text.splitlines()[-4]


def test_neutralised_on_request_and_raw_on_request(model, tmp_path):
    table().to_csv(tmp_path / "t.csv", index=False)
    for format, raw, first in [
        ("csv", None, "'=HYPERLINK(1)"), ("csv", True, "=HYPERLINK(1)"),
        ("jsonl", None, "=HYPERLINK(1)"), ("jsonl", False, "'=HYPERLINK(1)"),
        ("parquet", None, "=HYPERLINK(1)"), ("parquet", False, "'=HYPERLINK(1)"),
        ("xlsx", None, "=HYPERLINK(1)"), ("xlsx", False, "'=HYPERLINK(1)"),
    ]:  # fmt: skip
        path = tmp_path / f"out.{format}"
        predict_table(model, tmp_path / "t.csv", path, keep="name", raw=raw, format=format)
        assert read(path)["name"][0] == first


def test_a_workbook_runs_no_text_and_keeps_numbers(model, tmp_path):
    """Read as a spreadsheet reads it: formulas would be formulas."""
    import openpyxl

    frame = table().assign(name="=1+1\x07")
    frame.to_parquet(tmp_path / "t.parquet")
    predict_table(model, tmp_path / "t.parquet", tmp_path / "out.xlsx", keep=["id", "name"], capacity=3)
    header, *rows = openpyxl.load_workbook(tmp_path / "out.xlsx").active.iter_rows()
    columns = {cell.value: place for place, cell in enumerate(header)}
    assert {row[columns["name"]].data_type for row in rows} == {"s"}
    assert {row[columns["name"]].value for row in rows} == {"=1+1"}
    assert {row[columns["id"]].value for row in rows} == set(frame["id"])
    assert all(
        row[columns[name]].data_type == "n" for row in rows for name in ("case", "probability", "h", "r", "review")
    )
    assert len(rows) == len(frame)


def test_numbers_as_outcomes_go_into_every_format(tmp_path):
    frame = mixed_table().assign(default=lambda t: (t["default"] == "bad").astype(int))
    model = recuse.fit(frame, "default", COSTS, method="logistic-chow")
    frame.to_csv(tmp_path / "t.csv", index=False)
    for format in ("csv", "jsonl", "parquet"):
        predict_table(model, tmp_path / "t.csv", tmp_path / f"out.{format}", rows_at_once=50)
        assert set(read(tmp_path / f"out.{format}")["decision"].map(str)) == {"0", "1", "[abstain]"}


def test_what_cannot_be_kept_or_written(model, tmp_path):
    table().to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(ValueError, match=r"keep='ids' is not a column of the table: did you mean 'id'\?"):
        predict_table(model, tmp_path / "t.csv", tmp_path / "out.csv", keep="ids")
    with pytest.raises(ValueError, match="format='xml' is not known: give 'csv', 'jsonl', 'parquet' or 'xlsx'"):
        predict_table(model, tmp_path / "t.csv", tmp_path / "out.csv", format="xml")
    for name in ("out.xls", "out.ods", "out.csv.gz"):
        with pytest.raises(ValueError, match=r"answers are written as \.csv, \.jsonl, \.parquet or \.xlsx"):
            predict_table(model, tmp_path / "t.csv", tmp_path / name)
        assert not (tmp_path / name).exists()
    assert not (tmp_path / "out.csv").exists()
