"""Damaged tables of every format: each must end in an answer, or in one line, within 60 s and 2 GiB.

The tables of `hostile_files` (text and Parquet) and tables in Excel, JSON Lines, Feather, SQLite and DuckDB files, in
many encodings and dialects, with odd cells and changed bytes, are answered by a sound model, fitted, or checked by
`recuse check`. "Ours" counts the runs that broke the rule, of the number in `size`; "peer's" is the number allowed.
Seconds are of the processor; a command that takes three minutes by the clock is ended, and counts as a traceback.
"""

import io
import json
import sqlite3
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from .hostile_files import CELLS, FUZZES, _frame, cut_out, cut_short, flip_bits, insert, overwrite, table_rows

_EDITS = (flip_bits, overwrite, cut_out, cut_short, insert)


def run(quick=False):
    """Yield one row per rule."""
    yield from table_rows(4 * len(ALL) if quick else 400, seed=2, fuzzes=ALL)


def _odd_frame(rng):
    """A table with odd cells, or with none."""
    frame = _frame(rng).astype(object)
    for _ in range(int(rng.integers(0, 6))):
        frame.iat[int(rng.integers(len(frame))), int(rng.integers(7))] = CELLS[int(rng.integers(len(CELLS)))]
    return frame


def _damaged(content, rng, share=0.4):
    return _EDITS[int(rng.integers(len(_EDITS)))](content, rng) if rng.random() < share else content


def _writing(write, name):
    """The bytes of a file that only a path can be written to."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / name)
        return (Path(folder) / name).read_bytes()


def excel(rng):
    frame = _odd_frame(rng).map(lambda cell: cell.replace("\0", "") if isinstance(cell, str) else cell)
    frame = frame.map(lambda cell: cell[:32_000] if isinstance(cell, str) else cell)
    buffer = io.BytesIO()
    frame.to_excel(buffer, index=False)
    return "t.xlsx", _damaged(buffer.getvalue(), rng)


def excel_parts(rng):
    """A workbook, a part of which was edited."""
    buffer, changed = io.BytesIO(), io.BytesIO()
    _frame(rng).to_excel(buffer, index=False)
    with zipfile.ZipFile(buffer) as old, zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as new:
        names = old.namelist()
        victim = names[int(rng.integers(len(names)))]
        for name in names:
            content = old.read(name)
            if name == victim:
                content = [overwrite(content, rng), cut_short(content, rng), b"", b"0" * 70_000_000][
                    int(rng.integers(4))
                ]
            new.writestr(name, content)
    return "t.xlsx", changed.getvalue()


def json_lines(rng):
    rows = json.loads(_odd_frame(rng).to_json(orient="records"))
    lines = [json.dumps(row) for row in rows]
    odd = (
        "",
        "{",
        "[]",
        '{"x": [1]}',
        '{"x": {"a": 1}}',
        '{"x": NaN}',
        '{"x": 1e999}',
        '{"y": "no"}',
        "[" * 5_000,
        "null",
    )
    for _ in range(int(rng.integers(0, 3))):
        lines[int(rng.integers(len(lines)))] = odd[int(rng.integers(len(odd)))]
    return "t.jsonl", _damaged("\n".join(lines).encode(), rng, 0.2)


def feather(rng):
    buffer = io.BytesIO()
    compression = ("lz4", "zstd", "uncompressed")[int(rng.integers(3))]
    _frame(rng).to_feather(buffer, compression=compression)
    return "t.feather", _damaged(buffer.getvalue(), rng, 0.7)


def feather_bomb(rng):
    import pandas as pd

    buffer = io.BytesIO()
    pd.DataFrame({"x": np.zeros(int(rng.choice([1_000_000, 20_000_000]))), "y": "yes"}).to_feather(
        buffer, compression="zstd"
    )
    return "t.feather", buffer.getvalue()


def sqlite(rng):
    def write(path):
        database = sqlite3.connect(path)
        _odd_frame(rng).to_sql("t", database, index=False)
        if rng.random() < 0.2:
            database.execute("CREATE TABLE other (a)")
        database.commit()
        database.close()

    return ("t.sqlite", "t.db")[int(rng.integers(2))], _damaged(_writing(write, "t.sqlite"), rng)


def duckdb_file(rng):
    import duckdb

    frame = _frame(rng)

    def write(path):
        with duckdb.connect(str(path)) as database:
            database.register("given", frame)
            database.execute("CREATE TABLE t AS SELECT * FROM given")

    return "t.duckdb", _damaged(_writing(write, "t.duckdb"), rng)


def dialects(rng):
    """Decimal commas, percent signs, day-first dates and odd cells, in any encoding and with any separator."""
    frame = _frame(rng).astype(object)
    frame["x"] = [f"{value:.3f}".replace(".", ",") for value in frame["x"]]
    frame["count"] = [f"{value}%" for value in frame["count"]]
    frame["since"] = [f"{text[8:]}.{text[5:7]}.{text[:4]}" for text in frame["since"]]
    for _ in range(int(rng.integers(0, 4))):
        frame.iat[int(rng.integers(len(frame))), int(rng.integers(7))] = CELLS[int(rng.integers(len(CELLS)))]
    text = frame.to_csv(index=False, sep=(";", "\t", "|", ",")[int(rng.integers(4))])
    encoding = ("utf-8", "utf-16", "cp1252", "utf-8-sig", "utf-16-be", "latin-1", "utf-32")[int(rng.integers(7))]
    return "t.csv", _damaged(text.encode(encoding, "replace"), rng, 0.3)


NEW = (excel, excel_parts, json_lines, feather, feather_bomb, sqlite, duckdb_file, dialects, dialects)
ALL = FUZZES + NEW + NEW
