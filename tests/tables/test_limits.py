"""Limits of tables: each is stated in one line, is reached within bounded time and memory, and can be moved."""

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.tables import TableColumns, read_chunks, read_table
from recuse.tables.limits import LIMITS, _Fields, open_limited
from tests.processes import LIMIT

ROOT = Path(__file__).parents[2]


def wide(columns):
    return ",".join(f"c{i}" for i in range(columns)) + "\n" + ",".join("1" * columns) + "\n"


def long_field(length, letter="x"):
    return f'a,b\n1,"{letter * length}"\n2,y\n'


def zeros(path, mebibytes):
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(b"a,b\n")
        for _ in range(mebibytes):
            file.write(b"0,0\n" * 2**18)


def make(folder, name):
    """The table of a case."""
    path = folder / name
    if name == "bomb.csv.gz":
        zeros(path, 400)
    elif name == "bomb.parquet.gz":
        with gzip.open(path, "wb") as file:
            for _ in range(400):
                file.write(bytes(2**20))
    elif name == "bomb.parquet":
        pd.DataFrame({"a": np.zeros(20_000_000, dtype=np.int8)}).to_parquet(path)
    elif name == "wide.parquet":
        pd.DataFrame(np.zeros((1, 3_000)), columns=[f"c{i}" for i in range(3_000)]).to_parquet(path)
    elif name == "field.parquet":
        pd.DataFrame({"a": ["x" * 200_000]}).to_parquet(path)
    else:
        path.write_text(TEXTS[name]())
    return path


TEXTS = {
    "wide.csv": lambda: wide(20_000),
    "wider.tsv": lambda: wide(100_000).replace(",", "\t"),
    "one line.csv": lambda: "," * 30_000_000,
    "quoted.csv": lambda: ",".join(f'"c,{i}"' for i in range(3_000)) + "\n",
    "long row.csv": lambda: "a,b\n" + "1," * 100_000 + "\n",
    "header.csv": lambda: "x" * 30_000_000,
    "name.csv": lambda: "a," + "x" * 200_000 + "\n1,2\n",
    "field.csv": lambda: long_field(50_000_000),
    "field with separators.csv": lambda: long_field(5_000_000, "x,\n"),
    "open quote.csv": lambda: 'a,b\n1,"' + "2,3\n" * 10_000_000,
}
FIELD = (
    "it has a field of more than 100,000 bytes, as a table with a missing quote or line break has; if it is meant to, "
)
FIELD += "raise RECUSE_MAX_FIELD in the environment."
COLUMNS = "columns, and more than 2,000 are not read: choose those that matter, or raise RECUSE_MAX_COLUMNS in the "
EXPANSION = "it holds more than 200 times its size, as only a damaged or hostile file does"
REFUSED = {
    "wide.csv": f"it has 20,000 {COLUMNS}",
    "wider.tsv": f"it has 100,000 {COLUMNS}",
    "one line.csv": COLUMNS,
    "quoted.csv": f"it has 3,000 {COLUMNS}",
    "long row.csv": "its rows have more cells than its header has names",
    "header.csv": FIELD,
    "name.csv": FIELD,
    "field.csv": FIELD,
    "field with separators.csv": FIELD,
    "open quote.csv": FIELD,
    "wide.parquet": f"it has 3,000 {COLUMNS}",
    "field.parquet": FIELD,
    "bomb.csv.gz": EXPANSION,
    "bomb.parquet.gz": EXPANSION,
    "bomb.parquet": EXPANSION,
}

READ = """
import sys, time
from benchmarks.memory import peak
from recuse.tables import read_chunks, read_table
for read in (read_table, lambda path: list(read_chunks(path))):
    try:
        read(sys.argv[1])
    except ValueError as error:
        print(str(error))
    else:
        print("was read")
print(peak(), time.process_time())
"""


@pytest.mark.parametrize("name", REFUSED)
def test_a_table_beyond_a_limit_is_refused_in_one_line(tmp_path, name):
    path = make(tmp_path, name)
    command = [sys.executable, "-c", READ, path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, cwd=ROOT)
    *messages, used = done.stdout.splitlines()
    assert len(messages) == 2, done.stderr
    for message in messages:
        assert message.startswith(f"{path} cannot be read as ")
        assert REFUSED[name] in message
    mebibytes, seconds = map(float, used.split())
    assert mebibytes < 512  # the libraries take a third of it
    assert seconds < 20  # of computing, twice read, whatever else the machine does


@pytest.mark.parametrize(
    ("variable", "name"),
    [("RECUSE_MAX_COLUMNS", "quoted.csv"), ("RECUSE_MAX_FIELD", "name.csv"), ("RECUSE_MAX_EXPANSION", "t.csv.gz")],
)
def test_limits_can_be_moved(tmp_path, monkeypatch, variable, name):
    if name == "t.csv.gz":
        zeros(tmp_path / name, 70)
    else:
        make(tmp_path, name)
    with pytest.raises(ValueError, match=variable):
        read_table(tmp_path / name)
    monkeypatch.setenv(variable, "1000000")
    if name == "quoted.csv":
        with pytest.raises(ValueError, match="holds no rows"):
            read_table(tmp_path / name)
    else:
        assert len(read_table(tmp_path / name)) > 0
    monkeypatch.setenv(variable, "many")
    with pytest.raises(ValueError, match=rf"{variable}='many' in the environment must be a whole number of 1 or more"):
        read_table(tmp_path / name)


def test_nothing_is_read_of_a_bomb_that_begins_like_a_table(tmp_path):
    """Its rows are sound, so that a model would answer them for minutes before the limit is reached."""
    rng = np.random.default_rng(0)
    sound = pd.DataFrame(rng.random((20_000, 2)), columns=["a", "b"]).to_csv(index=False).encode()
    with gzip.open(tmp_path / "t.csv.gz", "wb", compresslevel=9) as file:
        file.write(sound)
        for _ in range(200):
            file.write(b"0,0\n" * 2**18)
    chunks = read_chunks(tmp_path / "t.csv.gz", size=1000)
    with pytest.raises(ValueError, match="it holds more than 200 times its size"):
        next(chunks)


@pytest.mark.parametrize("name", ["field.csv", "field with separators.csv", "open quote.csv"])
def test_a_field_is_refused_as_soon_as_it_is_too_long(tmp_path, name):
    """In quotes, too: what follows it is not read, however much there is."""
    with open_limited(make(tmp_path, name), ",") as file:
        with pytest.raises(ValueError, match="RECUSE_MAX_FIELD"):
            file.read()
        assert file.raw._file.read_so_far < 3 * LIMITS["RECUSE_MAX_FIELD"]


def field_at_the_end(text):
    """How the field at the end of a text begins the next block, and its length: byte by byte."""
    before, length = b"", 0
    for letter in text:
        if before == b'"':
            before = b"" if letter == '"' else before
        elif letter in ",\n\r":
            before, length = b"", -1
        else:
            before = b'"' if (letter, before) == ('"', b"") else b"x"
        length += 1
    return before, length


@given(st.lists(st.text('ab",\n\r', min_size=1, max_size=6), max_size=12))
def test_fields_are_followed_through_blocks_of_any_size(blocks):
    fields, text = _Fields(b","), ""
    for block in blocks:
        fields.watch(block.encode())
        text += block
        assert (fields._before, fields._length) == field_at_the_end(text)


def test_quoted_fields_may_hold_anything(tmp_path):
    """Separators, line breaks and doubled quotes, on whichever side of a block's end they fall; after a BOM, too."""
    text = ['a, "b"', "line\nbreak, and\r\nanother", '"', '""', '5" pipe', "x" * 90_000, ",", "\n"]
    frame = pd.DataFrame({"name, with a separator": np.resize(text, 3_000), "number": np.arange(3_000)})
    for encoding in ("utf-8", "utf-8-sig"):
        frame.to_csv(tmp_path / "t.csv", index=False, encoding=encoding)
        pd.testing.assert_frame_equal(read_table(tmp_path / "t.csv"), frame, check_dtype=False)


def test_ordinary_tables_are_below_the_limits(tmp_path):
    """Quotes within text, long text in quotes, and columns that compress well."""
    text = 'a 5" pipe, ' + "and more, " * 5_000
    frame = pd.DataFrame({"inches": ['5"', "x", '6"'] * 200, "text": [text] * 600, "flag": 0})
    frame.to_csv(tmp_path / "t.csv.gz", index=False)
    (tmp_path / "raw.csv").write_text("a,b\n" + '5",x\n' * 50_001)
    assert read_table(tmp_path / "t.csv.gz")["text"].tolist() == [text] * 600
    assert len(read_table(tmp_path / "raw.csv")) == 50_001
    frame = pd.DataFrame({f"c{i}": np.arange(3.0) for i in range(LIMITS["RECUSE_MAX_COLUMNS"])})
    frame.to_csv(tmp_path / "wide.csv", index=False)
    assert read_table(tmp_path / "wide.csv").shape == (3, LIMITS["RECUSE_MAX_COLUMNS"])
    assert [len(chunk) for chunk in read_chunks(tmp_path / "wide.csv", size=2)] == [2, 1]


@pytest.mark.parametrize("value", [10**400, -(10**400), 2**70])
def test_whole_numbers_beyond_floats(value):
    columns = TableColumns().fit(pd.DataFrame({"a": [1, 2], "b": [1, 2]}))
    table = pd.DataFrame({"a": pd.Series([1, value], dtype=object), "b": [1, 2]})
    if abs(value) < 10**300:
        assert columns.transform(table)["a"].tolist() == [1.0, float(value)]
        return
    for fitted in (columns, TableColumns().fit(table)):
        with pytest.raises(ValueError, match="The column 'a' holds an infinite number; leave the cell empty"):
            fitted.transform(table)


def test_a_long_cell_is_not_repeated_whole():
    columns = TableColumns().fit(pd.DataFrame({"a": [1, 2]}))
    with pytest.raises(
        ValueError, match=r"The column 'a' holds 'x{76}\.\.\. in row 1, where the model was fitted with"
    ):
        columns.transform(pd.DataFrame({"a": ["x" * 90_000]}))
