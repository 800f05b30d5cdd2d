"""Tables from files of every format, whole or in chunks, and from the data frames of any library."""

from __future__ import annotations

import logging
import os
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .arrow_files import feather_chunks, parquet_chunks
from .databases import duckdb_chunks, sqlite_chunks
from .delimited import Dialect, detect_dialect, text_chunks
from .folders import is_dataset, read_dataset
from .formats import (
    DUCKDB,
    EXCEL,
    FEATHER,
    JSON_LINES,
    PARQUET,
    SEPARATORS,
    SQLITE,
    other_format,
    sniffed_format,
    table_format,
)
from .json_lines import json_chunks
from .limits import require_fields
from .names import require_distinct
from .sources import STANDARD_INPUT, TableFile, on_disk, unpacked
from .workbooks import workbook_chunks
from .writings import COMMA, Writings, are_codes, describe, detect_writings, is_number_writing, to_values

Source = str | os.PathLike[str] | TableFile
_logger = logging.getLogger("recuse.tables")
_FIRST_ROWS = 2_000
_YES_NO = {"True": True, "TRUE": True, "true": True, "False": False, "FALSE": False, "false": False}


def read_table(source: Source, *, text_columns: tuple[str, ...] = ()) -> Any:
    r"""Read a table file of any format into a pandas DataFrame.

    Numbers with decimal commas, separated thousands or percent signs, and dates that are not ISO dates, are numbers and
    dates where a whole column is written so; what was found out is logged, to ``recuse.tables``.

    Parameters
    ----------
    source : path-like or TableFile
        The file's name tells the format: CSV, TSV, Parquet, Feather, Excel, JSON Lines, SQLite or DuckDB, also gzipped.
        A folder is read as a Parquet dataset.
    text_columns : tuple of str
        Columns to read as text even if they look like numbers.

    Returns
    -------
    DataFrame

    Raises
    ------
    FileNotFoundError, ValueError
        There is no such file; it is empty, unreadable, beyond a limit, or has two columns of the same name.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from recuse.tables import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "loans.csv"
    ...     _ = path.write_text("amount;rate\n1.234,50;13,1%\n80,00;5%\n")
    ...     read_table(path)
       amount   rate
    0  1234.5  0.131
    1    80.0  0.050
    """
    return read_with_writings(source, text_columns=text_columns)[0]


def read_with_writings(source: Source, *, text_columns: tuple[str, ...] = ()) -> tuple[Any, dict[str, str]]:
    """Read a table as `read_table` does; return how its columns are written, too, for tables to be read later."""
    frame, found = read_as_found(source, text_columns=text_columns)
    return frame, found.columns


def read_as_found(source: Source, *, text_columns: tuple[str, ...] = ()) -> tuple[Any, Writings]:
    """Read a table as `read_table` does; return all that was found out about how it is written, too."""
    source = TableFile.of(source)
    if is_dataset(source):
        frame = _whole(without_marks(chunk, source.missing) for chunk in read_dataset(source.path))
        found = detect_writings(frame, decimal=source.decimal_writing, dates=source.dates)
        return _told(frame, found, source, text_columns)
    with on_disk(source) as path, _Refusing(source, kind := _format(source, path)):
        if kind in SEPARATORS:
            frame, found = _read_text(path, source, kind, text_columns)
        else:
            frame = _whole(_chunks(path, source, kind, None))
            found = detect_writings(frame, decimal=source.decimal_writing, dates=source.dates)
    return _told(frame, found, source, text_columns)


def _told(frame: Any, found: Writings, source: TableFile, text_columns: tuple[str, ...]) -> tuple[Any, Writings]:
    """The table as it is meant, and how it is written, which is logged."""
    if len(frame) == 0:
        raise ValueError(f"{source.shown} holds no rows: a header alone is not a table of cases.")
    for sentence in describe(found):
        _logger.info("%s: %s.", source.name, sentence)
    kept = replace(found, columns={name: found.columns[name] for name in found.columns if name not in text_columns})
    return _as_written(frame, kept.columns), kept


def read_chunks(
    source: Source,
    *,
    text_columns: tuple[str, ...] | None = (),
    size: int | None = 50_000,
) -> Iterator[Any]:
    """Read a table chunk by chunk, as it is written; row numbers continue from one chunk to the next.

    Parameters are those of `read_table`, and `size`: rows per chunk, None for all at once; `text_columns` may be None,
    for every column of a text file. Whether text is numbers or dates is not decided on parts of a table: the model that
    answers it knows.
    """
    source = TableFile.of(source)
    if is_dataset(source):
        for chunk in read_dataset(source.path, size):
            yield without_marks(chunk, source.missing)
        return
    with on_disk(source) as path, _Refusing(source, kind := _format(source, path)):
        if kind in SEPARATORS:
            dialect = _told_dialect(path, source, kind)
            chunks = text_chunks(path, dialect, text_columns, size)
        else:
            chunks = _chunks(path, source, kind, size)
        for chunk in chunks:
            require_fields(chunk)
            yield chunk


def detected_decimal(source: Source) -> str | None:
    """How a text file writes numbers, as far as its first rows tell; None for other formats, and where they do not."""
    source = TableFile.of(source)
    if source.path == STANDARD_INPUT or not Path(source.path).is_file() or table_format(source.path) not in SEPARATORS:
        return None
    path, kind = os.fspath(source.path), table_format(source.path)
    with _Refusing(source, kind):
        dialect = detect_dialect(path, source, SEPARATORS[kind])
        for chunk in text_chunks(path, dialect, None, _FIRST_ROWS):
            return detect_writings(chunk, separator=dialect.separator, every=True).decimal
    return None


def _format(source: TableFile, path: str) -> str:
    """The format of a file that is there."""
    if source.path == STANDARD_INPUT:
        return sniffed_format(path)
    kind = table_format(path)
    if not Path(path).is_file():
        raise FileNotFoundError(f"{path} does not exist: give the file that holds the table.")
    return kind


class _Refusing:
    """Turns what readers raise for files that are not in the expected format into one sentence."""

    def __init__(self, source: TableFile, kind: str) -> None:
        self._source, self._kind = source, kind

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, ModuleNotFoundError) or not isinstance(error, _refusals(self._kind)):
            return
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        if isinstance(error, UnicodeError):
            reason = f"it is not written in {self._source.encoding or 'UTF-8'}; name its encoding with --encoding."
        if self._source.path != STANDARD_INPUT and Path(self._source.path).is_file():
            reason = other_format(self._source.path) or reason
        raise ValueError(f"{self._source.shown} cannot be read as {self._kind}: {reason}") from error


def _refusals(kind: str) -> tuple[type[BaseException], ...]:
    """What the readers raise for files that are not in the expected format."""
    import sqlite3
    import struct
    import sys
    import zlib
    from xml.etree.ElementTree import ParseError

    import pyarrow as pa

    known: list[type[BaseException]] = [pa.ArrowException, ValueError, EOFError, OSError, MemoryError]
    known += [zlib.error, zipfile.BadZipFile, sqlite3.Error, ParseError]
    if kind in (EXCEL, FEATHER):  # their parts are taken at their word
        known += [struct.error, KeyError, IndexError, AttributeError, TypeError, OverflowError, AssertionError]
    if "duckdb" in sys.modules:
        known.append(sys.modules["duckdb"].Error)
    return tuple(known)


def _chunks(path: str, source: TableFile, kind: str, size: int | None) -> Iterator[Any]:
    """Chunks of a file that is no text with separators."""
    for chunk in _chunks_as_written(path, source, kind, size):
        yield without_marks(chunk, source.missing)


def _chunks_as_written(path: str, source: TableFile, kind: str, size: int | None) -> Iterator[Any]:
    if kind == PARQUET:
        yield from parquet_chunks(path, size)
    elif kind == FEATHER:
        yield from feather_chunks(path, size)
    elif kind == JSON_LINES:
        yield from json_chunks(path, source, size)
    else:
        readers = {EXCEL: workbook_chunks, SQLITE: sqlite_chunks, DUCKDB: duckdb_chunks}
        with unpacked(path) as copy:
            yield from readers[kind](copy, source, size)


def without_marks(frame: Any, missing: Sequence[str]) -> Any:
    """The frame with empty cells in place of what says that nothing is known; columns of numbers become such."""
    if not missing:
        return frame
    marks = {*missing, *(number for mark in missing if (number := _as_number(mark)) is not None)}
    return frame.assign(**{name: frame[name].mask(frame[name].isin(marks)).infer_objects() for name in frame.columns})


def _as_number(mark: str) -> float | None:
    try:
        return float(mark)
    except ValueError:
        return None


def _whole(chunks: Iterable[Any]) -> Any:
    """All chunks as one frame, each column with a type of its own."""
    import pandas as pd

    parts = []
    for chunk in chunks:
        require_fields(chunk)
        parts.append(chunk)
    if not parts:
        return pd.DataFrame()
    return parts[0] if len(parts) == 1 else pd.concat(parts)


def _told_dialect(path: str, source: TableFile, kind: str) -> Dialect:
    """The dialect of a text file; what is unusual about it is said."""
    dialect = detect_dialect(path, source, SEPARATORS[kind])
    for sentence in dialect.sentences(SEPARATORS[kind], source):
        _logger.info("%s: %s.", source.name, sentence)
    return dialect


def _read_text(path: str, source: TableFile, kind: str, text_columns: tuple[str, ...]) -> tuple[Any, Writings]:
    """A text file, and how its columns are written.

    With decimal commas somewhere it is read as text throughout: pandas would read the 1.234 of another column as a
    little more than one.
    """
    dialect = _told_dialect(path, source, kind)
    options: dict[str, Any] = {"decimal": source.decimal_writing, "dates": source.dates, "separator": dialect.separator}
    if source.decimal_writing != COMMA:
        frame = _whole(text_chunks(path, dialect, text_columns, None))
        frame = frame.assign(**_codes(frame, path, dialect))
        found = detect_writings(frame.drop(columns=[name for name in text_columns if name in frame]), **options)
        if found.decimal != COMMA:
            return frame, found
    frame = _whole(text_chunks(path, dialect, None, None))
    others = frame.drop(columns=[name for name in text_columns if name in frame])
    found = detect_writings(others, every=True, **options)
    yes_no = {name: others[name].map(_YES_NO) for name in others if _holds_yes_no(others[name])}
    return frame.assign(**yes_no), found


def _codes(frame: Any, path: str, dialect: Dialect) -> dict[str, Any]:
    """The columns of codes, such as 01587, that pandas has read as numbers, as they are written.

    The first rows tell which these may be, so that hardly ever more than these are read again.
    """
    import pandas as pd

    numeric = [name for name in frame if pd.api.types.is_numeric_dtype(frame[name]) and frame[name].notna().any()]
    if not numeric:
        return {}
    first = next(text_chunks(path, dialect, None, _FIRST_ROWS, numeric))
    widths = {name: first[name].dropna().str.strip().str.len().unique() for name in numeric}
    shorter = [name for name, width in widths.items()
               if len(width) == 1 and 0 <= frame[name].min() < 10.0 ** (width[0] - 1)]  # fmt: skip
    if not shorter:
        return {}
    texts = _whole(text_chunks(path, dialect, None, None, shorter))
    return {name: texts[name] for name in shorter if are_codes(texts[name].dropna().unique().tolist())}


def _holds_yes_no(column: Any) -> bool:
    return bool(len(column)) and bool(column.isin(list(_YES_NO)).all())


def _as_written(frame: Any, writings: Mapping[str, str]) -> Any:
    """The frame with numbers and dates where text was, of columns that are written in another way."""
    if not writings:
        return frame
    return frame.assign(**{name: _values(frame[name], writing) for name, writing in writings.items()})


def _values(text: Any, writing: str) -> Any:
    """Numbers or dates; integers where pandas would have read integers: all there, and none with a decimal sign."""
    column = to_values(text, writing)
    if not is_number_writing(writing) or writing.endswith("%") or column.isna().any() or (column.abs() >= 2**53).any():
        return column
    sign = "," if writing == COMMA else "."
    return column if text.str.contains(sign, regex=False).any() else column.astype(np.int64)


def as_frame(X: Any) -> Any:
    """Return a table of any kind as a pandas DataFrame with text column names and rows numbered from 0."""
    import pandas as pd

    if hasattr(X, "to_pandas"):  # polars, pyarrow
        X = X.to_pandas()
    if not isinstance(X, pd.DataFrame):
        X = _frame_of_values(X)
    frame = X.reset_index(drop=True)
    frame.columns = [str(name) for name in frame.columns]
    require_distinct(list(frame.columns))
    return frame


def _frame_of_values(values: Any) -> Any:
    """Name the columns of an array or a list of rows; each column gets a type of its own."""
    import pandas as pd

    if issparse(values):
        raise TypeError("X is sparse, and a table has a value in every cell: give X.toarray().")
    shape = np.shape(values if hasattr(values, "shape") else np.asarray(values, dtype=object))
    if len(shape) != 2:
        raise ValueError(f"X must be a table of two dimensions; got shape {shape}.")
    # NumPy would turn a list of mixed rows into text, and keeps numbers in an array of objects as objects.
    return pd.DataFrame(values, columns=[f"x{i}" for i in range(shape[1])]).infer_objects()


def with_outcomes(X: Any, y: Any) -> tuple[Any, str]:
    """Return a table of features with the outcome of each case as a further column, and the name of that column.

    It is the name of `y` where it has one, else "outcome".
    """
    import pandas as pd

    frame = as_frame(X)
    y = y.to_pandas() if hasattr(y, "to_pandas") else y
    values = y if hasattr(y, "shape") else pd.Series(y)
    if len(values.shape) == 2 and values.shape[1] == 1:
        values = values.iloc[:, 0] if hasattr(values, "iloc") else values[:, 0]
    if len(values.shape) != 1:
        raise ValueError(f"y must hold one outcome per case; got shape {values.shape}.")
    if len(values) != len(frame):
        raise ValueError(f"y holds {len(values)} outcomes for {len(frame)} cases in X: give one for each.")
    column = pd.Series(values).reset_index(drop=True)
    name = str(getattr(values, "name", None) or "outcome")
    while name in frame.columns:
        name += "_"
    return frame.assign(**{name: column}), name
