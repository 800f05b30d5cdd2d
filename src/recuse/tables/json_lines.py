"""JSON Lines: one object per line, a row each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from .encodings import detect_encoding
from .limits import limit, open_limited, require_columns, require_field, require_unpackable
from .sources import TableFile


def json_chunks(path: str, source: TableFile, size: int | None) -> Iterator[Any]:
    """Read a file of JSON Lines in chunks; every row has every column, empty where its object lacks it."""
    import pandas as pd

    require_unpackable(path)
    encoding = source.encoding or detect_encoding(path).name
    names: dict[str, None] = {}
    with open_limited(path, encoding=encoding) as file:
        for _, row in _objects(file):
            if not names.keys() >= row.keys():
                names.update(dict.fromkeys(row))
                require_columns(len(names))
    columns = list(names)
    if not columns:
        raise ValueError("it holds no objects.")
    with open_limited(path, encoding=encoding) as file:
        rows: list[dict[str, Any]] = []
        start = 0
        for _, row in _objects(file):
            rows.append(row)
            if size is not None and len(rows) == size:
                yield _frame(rows, columns, pd.RangeIndex(start, start + len(rows)))
                start, rows = start + len(rows), []
        if rows:
            yield _frame(rows, columns, pd.RangeIndex(start, start + len(rows)))


def _frame(rows: list[dict[str, Any]], columns: list[str], index: Any) -> Any:
    import pandas as pd

    return pd.DataFrame({name: [row.get(name) for row in rows] for name in columns}, index=index)


def _objects(file: BinaryIO) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number of the line and its object."""
    most = limit("RECUSE_MAX_FIELD")
    longest = most * 4  # a row has several fields; a line without an end is one that is too long
    number = 0
    while line := file.readline(longest * 16 + 1):
        number += 1
        if len(line) > longest * 16:
            require_field(len(line))
        if line.strip():
            yield number, _parsed(line, number)


def _parsed(line: bytes, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except RecursionError:
        raise ValueError(f"line {number} is nested too deeply: each line holds one object of plain values.") from None
    except ValueError as error:
        raise ValueError(f"line {number} is not JSON ({error}): each line holds one object.") from error
    if not isinstance(row, dict):
        raise ValueError(f'line {number} is no object: each line looks like {{"age": 31, "town": "Ulm"}}.')
    for name, value in row.items():
        if isinstance(value, dict | list):
            raise ValueError(f"line {number}: {name!r} holds an object or a list; a table has one value in each cell.")
    return row
