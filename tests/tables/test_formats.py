"""Formats: every one is read to the same table, in chunks and whole; what is damaged is refused in one sentence."""

import gzip
import io
import json
import sqlite3
import struct
import sys
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from recuse.tables import TableFile, dataset_parts, read_chunks, read_table, table_format
from recuse.tables.formats import sniffed_format
from tests.tables.files import FORMATS, loans, write

NAMES = [f"t.{kind}{packed}" for kind in FORMATS for packed in ("", ".gz")]


def as_loans(read):
    """What a format without dates or yes/no, or with other types for them, holds."""
    return read.assign(since=pd.to_datetime(pd.to_datetime(read["since"]).dt.date), member=read["member"].astype(bool))


@pytest.mark.parametrize("name", NAMES)
def test_every_format_is_read_alike(tmp_path, name):
    frame = loans()
    write(frame, tmp_path / name)
    pd.testing.assert_frame_equal(as_loans(read_table(tmp_path / name)), frame, check_dtype=False)
    chunks = list(read_chunks(tmp_path / name, size=7))
    assert pd.concat(chunks).index.tolist() == list(range(len(frame)))
    pd.testing.assert_frame_equal(as_loans(pd.concat(chunks)), frame, check_dtype=False)
    if "duckdb" not in name:  # it has vectors of its own size
        assert {len(chunk) for chunk in chunks} <= {7, len(frame) % 7}


@pytest.mark.parametrize("kind", FORMATS)
def test_standard_input(tmp_path, kind, monkeypatch):
    frame = loans()
    for name in (f"plain.{kind}", f"packed.{kind}.gz"):
        content = write(frame, tmp_path / name).read_bytes()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert read_table("-")["town"].tolist() == frame["town"].tolist()


def test_tables_of_databases_and_sheets(tmp_path):
    frame = loans()
    with sqlite3.connect(tmp_path / "t.db") as database:
        frame.to_sql("loans", database, index=False)
        frame[:3].to_sql("few", database, index=False)
        database.execute("CREATE VIEW old AS SELECT * FROM loans WHERE age > 40")
    database.close()
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        frame.to_excel(book, sheet_name="loans", index=False)
        frame[:3].to_excel(book, sheet_name="few", index=False)
    assert len(read_table(f"{tmp_path / 't.db'}::few")) == 3
    assert len(read_table(TableFile(tmp_path / "t.db", table="old"))) == (frame["age"] > 40).sum()
    assert len(read_table(f"{tmp_path / 't.xlsx'}::few")) == 3
    assert len(read_table(tmp_path / "t.xlsx")) == len(frame)  # the first sheet
    for name, message in {
        "t.db": r"it holds 3 tables, .*: name one with --table, or as t.db::loans",
        "t.db::none": "it has no table 'none': there are",
        "t.xlsx::none": "it has no sheet 'none': there are",
    }.items():
        with pytest.raises(ValueError, match=message):
            read_table(f"{tmp_path}/{name}")


@pytest.mark.parametrize(
    ("name", "what"),
    [("t.xlsx", "an Excel workbook"), ("t.parquet", "a Parquet file"), ("t.sqlite", "a SQLite database")],
)
def test_another_format_by_the_name_of_csv_is_called_by_its_own(tmp_path, name, what):
    write(loans(), tmp_path / name).rename(tmp_path / "t.csv")
    with pytest.raises(ValueError, match=rf"t\.csv cannot be read as csv: it is {what}.*: name it {name}\.$"):
        read_table(tmp_path / "t.csv")
    with pytest.raises(ValueError, match=f"it is {what}"):
        list(read_chunks(tmp_path / "t.csv"))


def test_text_by_the_name_of_a_workbook(tmp_path):
    (tmp_path / "t.xlsx").write_text("a;b\n1;2\n")
    with pytest.raises(
        ValueError, match=r"cannot be read as xlsx: it is no \.xlsx workbook: if it is text, name it \.csv"
    ):
        read_table(tmp_path / "t.xlsx")


def test_a_folder_is_read_without_virtual_environments_in_it(tmp_path):
    packages = tmp_path / "env" / "lib" / "pyarrow"
    packages.mkdir(parents=True)
    write(loans(), packages / "t.parquet")
    (tmp_path / "env" / "pyvenv.cfg").touch()
    with pytest.raises(FileNotFoundError, match="is a folder without Parquet files"):
        read_table(tmp_path)
    (tmp_path / "year=2024").mkdir()
    write(loans(), tmp_path / "year=2024" / "t.parquet")
    assert [part.name for part in dataset_parts(tmp_path)] == ["year=2024/t.parquet"]


def test_a_database_is_told_by_its_first_bytes(tmp_path):
    write(loans(), tmp_path / "t.duckdb").rename(tmp_path / "t.db")
    assert table_format(tmp_path / "t.db") == "duckdb"
    assert len(read_table(tmp_path / "t.db")) == 40


def test_a_view_of_a_database_cannot_read_other_files(tmp_path):
    import duckdb

    (tmp_path / "secret.csv").write_text("a\n1\n")
    with duckdb.connect(str(tmp_path / "t.duckdb")) as database:
        database.execute(f"CREATE VIEW v AS SELECT * FROM read_csv('{tmp_path / 'secret.csv'}')")
    with pytest.raises(ValueError, match="cannot be read as duckdb"):
        read_table(tmp_path / "t.duckdb")


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_view_without_an_end(tmp_path, kind, monkeypatch):
    endless = "CREATE VIEW v AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r WHERE x < 1e15) "
    endless += "SELECT x FROM r WHERE x < 0"
    path = tmp_path / f"t.{kind}"
    if kind == "sqlite":
        with sqlite3.connect(path) as database:
            database.execute(endless)
        database.close()
    else:
        import duckdb

        with duckdb.connect(str(path)) as database:
            database.execute(endless)
    monkeypatch.setenv("RECUSE_MAX_SECONDS", "1")
    with pytest.raises(ValueError, match="it gave no rows within 1 seconds, as a view without an end does"):
        read_table(path)


def test_rows_of_json_may_lack_columns(tmp_path):
    rows = [{"a": 1, "b": "x"}, {"b": None}, {"a": 2.5, "c": True}]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    for parts in ([read_table(tmp_path / "t.jsonl")], list(read_chunks(tmp_path / "t.jsonl", size=1))):
        assert {tuple(part.columns) for part in parts} == {("a", "b", "c")}
        assert [missing for part in parts for missing in part["a"].isna().tolist()] == [False, True, False]


def bomb(rows):
    """A Feather file that unpacks to far more than its size."""
    buffer = io.BytesIO()
    table = pa.table({"a": np.zeros(rows)})
    with pa.ipc.new_file(buffer, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    return buffer.getvalue()


def workbook(**parts):
    """A workbook with some of its parts replaced."""
    buffer, changed = io.BytesIO(), io.BytesIO()
    loans().to_excel(buffer, index=False)
    with zipfile.ZipFile(buffer) as old, zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, parts.get(name.rpartition("/")[2].partition(".")[0], old.read(name)))
    return changed.getvalue()


SHEET = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{}</sheetData></worksheet>'
)
FAR = '<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c></row>'
FAR += '<row r="90000000"><c r="A90000000"><v>1</v></c></row>'
WIDE = '<row r="1"><c r="ZZZ1" t="inlineStr"><is><t>a</t></is></c></row>'
HOSTILE = {
    "zeros.feather": (lambda: bomb(12_000_000), "it holds more than 200 times its size"),
    "cut.feather": (lambda: bomb(1_000)[:-20], "cannot be read as feather"),
    "text.feather": (lambda: b"ARROW1\0\0" + struct.pack("<ii", -1, 2**30), "cannot be read as feather"),
    "zip.xlsx": (lambda: workbook(sheet1="0" * 90_000_000), "it holds more than 200 times its size"),
    "xml.xlsx": (lambda: workbook(sheet1="<a"), "cannot be read as xlsx"),
    "far.xlsx": (lambda: workbook(sheet1=SHEET.format(FAR)), "its sheet has more than 1,048,576 rows"),
    "wide.xlsx": (lambda: workbook(sheet1=SHEET.format(WIDE)), "it has 18,278 columns, and more than 2,000"),
    "none.xlsx": (lambda: workbook(sheet1=SHEET.format("")), "its sheet is empty"),
    "deep.jsonl": (lambda: b'{"a": ' + b"[" * 90_000, "line 1 is n"),
    "list.jsonl": (lambda: b"[1]\n", "line 1 is no object"),
    "nested.jsonl": (lambda: b'{"a": {"b": 1}}\n', "line 1: 'a' holds an object or a list"),
    "wide.jsonl": (lambda: json.dumps(dict.fromkeys(map(str, range(3_000)), 1)).encode(), "it has 3,000 columns"),
    "field.jsonl": (lambda: json.dumps({"a": "x" * 200_000}).encode(), "a field of more than 100,000 bytes"),
    "line.jsonl": (lambda: b'{"a": "' + b"x" * 20_000_000, "a field of more than 100,000 bytes"),
    "digits.jsonl": (lambda: b'{"a": ' + b"9" * 50_000 + b"}", "line 1 is not JSON"),
    "empty.jsonl": (lambda: b"\n\n", "it holds no objects"),
    "text.sqlite": (lambda: b"SQLite format 3\0" + b"x" * 4_000, "cannot be read as sqlite"),
    "empty.sqlite": (lambda: b"", "it holds no table"),
    "text.duckdb": (lambda: b"x" * 12_288, "cannot be read as duckdb"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_damaged_and_hostile_files_are_refused_in_one_sentence(tmp_path, name):
    content, message = HOSTILE[name]
    (tmp_path / name).write_bytes(content())
    for read in (read_table, lambda path: list(read_chunks(path, size=10))):
        with pytest.raises(ValueError, match=message) as refusal:
            read(tmp_path / name)
        assert "\n" not in str(refusal.value)


def test_a_long_cell_of_a_database(tmp_path):
    for length in (200_000, 3_000_000):
        path = tmp_path / f"{length}.sqlite"
        with sqlite3.connect(path) as database:
            pd.DataFrame({"a": ["x" * length]}).to_sql("t", database, index=False)
        database.close()
        with pytest.raises(ValueError, match="it has a field of more than 100,000 bytes"):
            read_table(path)


def test_errors_of_cells_are_missing_values(tmp_path):
    pd.DataFrame({"a": [1, "#N/A", 3], "b": ["#DIV/0!", 2.5, None]}).to_excel(tmp_path / "t.xlsx", index=False)
    read = read_table(tmp_path / "t.xlsx")
    assert read["a"].isna().tolist() == [False, True, False]
    assert read["b"].isna().tolist() == [True, False, True]


@pytest.mark.parametrize("kind", FORMATS)
def test_what_means_unknown_is_missing(tmp_path, kind):
    """A word among numbers, where the format has mixed columns, and a number among numbers."""
    frame = loans()[["income", "age", "y"]]
    frame["age"] = frame["age"].where(frame.index % 9 > 0, -99)
    mixed = kind not in ("parquet", "feather", "sqlite", "duckdb")  # of columns with one type
    if mixed:
        frame["income"] = frame["income"].astype(object).where(frame.index % 7 > 0, "n.k.")
    source = TableFile(write(frame, tmp_path / f"t.{kind}"), missing=["n.k.", "-99"])
    whole, chunks = read_table(source), pd.concat(read_chunks(source, size=11))
    for read in (whole, chunks):
        assert (read["age"].isna() == (frame.index % 9 == 0)).all()
        assert (read["income"].isna() == (frame.index % 7 == 0) & mixed).all()
        assert [read[name].dtype.kind for name in ("income", "age")] == ["f", "f"]
        known = read["income"].notna()
        np.testing.assert_allclose(read["income"][known], frame["income"][known].astype(float))


def test_what_means_unknown_is_a_list():
    with pytest.raises(ValueError, match=r"missing='n\.k\.' must be a list of texts, such as \['n\.k\.'\]"):
        TableFile("t.csv", missing="n.k.")


def test_a_gzipped_table_that_is_damaged_where_it_begins_is_refused_in_a_sentence(tmp_path):
    packed = gzip.compress(b"a,b\n" * 100, mtime=0)
    path = tmp_path / "t.csv.gz"
    path.write_bytes(packed[:10] + b"\xff" * 10 + packed[20:])  # the header is sound, the first block is not
    assert sniffed_format(path) == "csv"
    with pytest.raises(ValueError, match=r"t\.csv\.gz"):
        read_table(path)
