"""Tables of SQLite and DuckDB files, opened for reading only."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..extras import require
from ..labels import preview
from .limits import limit, require_cells, require_columns, require_field
from .names import require_distinct
from .sources import TableFile

_ROWS = 50_000
_MEMORY = "1GB"  # of DuckDB's own


def sqlite_chunks(path: str, source: TableFile, size: int | None) -> Iterator[Any]:
    """Read a table or view of a SQLite file in chunks."""
    import pandas as pd

    with closing(sqlite3.connect(f"file:{quote(path)}?mode=ro&immutable=1", uri=True)) as database:
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(limit("RECUSE_MAX_FIELD"), 10**6))
        database.execute("PRAGMA trusted_schema = OFF")  # a view may then call harmless functions only
        database.execute("PRAGMA query_only = ON")
        found = database.execute(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite~_%' ESCAPE '~'"
        )
        table = _chosen([name for (name,) in found.fetchall()], source)
        with _interrupted_in_time(database):  # it looks for the first row at once
            cursor = database.execute(f"SELECT * FROM {_quoted(table)}")
        names = [column[0] for column in cursor.description]
        _check_names(names)
        yield from _frames(
            database, lambda: pd.DataFrame.from_records(cursor.fetchmany(size or _ROWS), columns=names), path
        )


def duckdb_chunks(path: str, source: TableFile, size: int | None) -> Iterator[Any]:
    """Read a table or view of a DuckDB file in chunks."""
    duckdb = require("duckdb", "A DuckDB file")
    # Without access to other files: a view could read any of them.
    settings = {"enable_external_access": "false", "memory_limit": _MEMORY, "threads": "1"}
    with closing(duckdb.connect(path, read_only=True, config=settings)) as database:
        found = database.execute(
            "SELECT table_schema, table_name FROM information_schema.tables ORDER BY ALL"
        ).fetchall()
        tables = {name if schema == "main" else f"{schema}.{name}": (schema, name) for schema, name in found}
        schema, name = tables[_chosen(list(tables), source)]
        with _interrupted_in_time(database):
            cursor = database.execute(f"SELECT * FROM {_quoted(schema)}.{_quoted(name)}")
        _check_names([column[0] for column in cursor.description])
        # DuckDB fetches vectors of 2,048 rows.
        vectors = max(1, (size or _ROWS) // 2048)
        yield from _frames(database, lambda: cursor.fetch_df_chunk(vectors), path)


def _check_names(names: list[str]) -> None:
    require_columns(len(names))
    require_distinct(names)


def _frames(database: Any, fetch: Any, path: str) -> Iterator[Any]:
    """Data frames whose rows are numbered through, as long as there are any."""
    import pandas as pd

    packed, start = Path(path).stat().st_size, 0
    while True:
        with _interrupted_in_time(database):
            frame = fetch()
        if len(frame) == 0:
            if start == 0:
                yield frame
            return
        require_cells(start + len(frame), frame.shape[1], packed)  # a view can hold more than any file
        frame.index = pd.RangeIndex(start, start + len(frame))
        start += len(frame)
        yield frame


@contextmanager
def _interrupted_in_time(database: Any) -> Iterator[None]:
    """End a query that takes too long, as a view without an end does."""
    seconds = limit("RECUSE_MAX_SECONDS")
    timer = threading.Timer(seconds, database.interrupt)
    timer.start()
    try:
        yield
    except Exception as error:
        if isinstance(error, sqlite3.DataError) and "too big" in str(error):
            require_field(2**31)
        if timer.is_alive():
            raise
        raise ValueError(
            f"it gave no rows within {seconds} seconds, as a view without an end does; if it is meant to, raise "
            "RECUSE_MAX_SECONDS in the environment."
        ) from error
    finally:
        timer.cancel()


def _chosen(tables: list[str], source: TableFile) -> str:
    """The table that is meant: the one that is named, or the only one."""
    if not tables:
        raise ValueError("it holds no table.")
    if source.table is None:
        if len(tables) > 1:
            raise ValueError(
                f"it holds {len(tables)} tables, {preview(tables)}: name one with --table, or as "
                f"{source.name}::{tables[0]}."
            )
        return tables[0]
    if source.table not in tables:
        raise ValueError(f"it has no table {source.table!r}: there are {preview(tables)}.")
    return source.table


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
