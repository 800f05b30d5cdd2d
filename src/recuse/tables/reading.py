"""Tables from files (CSV, TSV and Parquet, whole or in chunks) and from the data frames of any library."""

from __future__ import annotations

import io
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from scipy.sparse import issparse

from .limits import (
    is_gzipped,
    open_limited,
    require_cells,
    require_columns,
    require_fields,
    require_header,
    require_unpackable,
)

_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
_PARQUET = (".parquet", ".pq")


def table_format(path: str | os.PathLike[str]) -> str:
    """Return the file extension that tells the format: ".csv", ".tsv" or ".parquet", also before ".gz"."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    ending = suffixes[-1] if suffixes else ""
    if ending in _PARQUET:
        return ".parquet"
    if ending in _SEPARATORS:
        return ending
    raise ValueError(f"{os.fspath(path)}: not a table format; give a .csv, .tsv or .parquet file, or one of them .gz.")


def read_table(path: str | os.PathLike[str], *, text_columns: tuple[str, ...] = ()) -> Any:
    """Read a CSV, TSV or Parquet file, gzipped or not, into a pandas DataFrame.

    Parameters
    ----------
    path : str or path-like
        The file extension tells the format.
    text_columns : tuple of str
        Columns to read as text even if they look like numbers.

    Raises
    ------
    FileNotFoundError, ValueError
        There is no such file; it is empty, unreadable, beyond a limit, or has two columns of the same name.
    """
    import pandas as pd

    chunks = list(read_chunks(path, text_columns=text_columns, size=None))
    frame = chunks[0] if len(chunks) == 1 else pd.concat(chunks)
    if len(frame) == 0:
        raise ValueError(f"{os.fspath(path)} holds no rows: a header alone is not a table of cases.")
    return frame


def read_chunks(
    path: str | os.PathLike[str], *, text_columns: tuple[str, ...] = (), size: int | None = 50_000
) -> Iterator[Any]:
    """Read a table chunk by chunk; row numbers continue from one chunk to the next.

    Parameters are those of `read_table`, and `size`: rows per chunk, None for all at once.
    """
    kind = table_format(path)
    if not Path(path).is_file():
        state = "is a folder" if Path(path).is_dir() else "does not exist"
        raise FileNotFoundError(f"{os.fspath(path)} {state}: give the file that holds the table.")
    try:
        reader = _parquet_chunks(path, size) if kind == ".parquet" else _text_chunks(path, kind, text_columns, size)
        for chunk in reader:
            require_fields(chunk)
            yield chunk
    except _refusals() as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        if isinstance(error, UnicodeDecodeError):
            reason = "it is not written in UTF-8; save it as UTF-8 and try again."
        raise ValueError(f"{os.fspath(path)} cannot be read as {kind[1:]}: {reason}") from error


class _DuplicateError(ValueError):
    """Two columns have the same name."""


def _refusals() -> tuple[type[Exception], ...]:
    """What pandas and pyarrow raise for files that are not in the expected format."""
    import zlib

    import pyarrow as pa

    return (pa.ArrowException, ValueError, EOFError, OSError, zlib.error)


def _text_chunks(path: Any, kind: str, text_columns: tuple[str, ...], size: int | None) -> Iterator[Any]:
    import pandas as pd

    separator = _SEPARATORS[kind]
    require_unpackable(path)
    with open_limited(path, separator) as file:
        require_header(file, separator)
    with open_limited(path, separator) as file:
        header = pd.read_csv(file, sep=separator, header=None, nrows=1, dtype=str, keep_default_na=False)
    names = header.iloc[0].tolist()
    require_columns(len(names))
    _require_distinct(names)
    _require_separated(names, separator)
    # Without index_col=False, rows that are longer than the header would lose their first cells to an index.
    options: dict[str, Any] = {"sep": separator, "index_col": False, "low_memory": size is not None}
    dtype = {name: str for name in text_columns if name in names}
    with open_limited(path, separator) as file:
        if size is None:
            yield _without_longer_rows(lambda: pd.read_csv(file, dtype=dtype, **options))
            return
        with pd.read_csv(file, dtype=dtype, chunksize=size, **options) as chunks:
            while (chunk := _without_longer_rows(lambda: next(chunks, None))) is not None:
                yield chunk


def _parquet_chunks(path: Any, size: int | None) -> Iterator[Any]:
    import pandas as pd
    import pyarrow.parquet as pq

    with _opened_parquet(path) as file:
        parquet = pq.ParquetFile(file)
        names = parquet.schema_arrow.names
        require_columns(len(names))
        _require_distinct(names)
        require_cells(parquet.metadata.num_rows, len(names), Path(path).stat().st_size)
        if size is None:
            yield parquet.read().to_pandas().reset_index(drop=True)
            return
        start = 0
        for batch in parquet.iter_batches(batch_size=size):
            frame = batch.to_pandas().reset_index(drop=True)
            frame.index = pd.RangeIndex(start, start + len(frame))
            start += len(frame)
            yield frame


@contextmanager
def _opened_parquet(path: Any) -> Iterator[BinaryIO]:
    """Open a Parquet file, which is read from its end: one that is gzipped is unpacked first."""
    with open_limited(path) if is_gzipped(path) else open(path, "rb") as file:
        yield io.BytesIO(file.read()) if is_gzipped(path) else file


def _without_longer_rows(read: Callable[[], Any]) -> Any:
    """Read rows; refuse those with more cells than the header, which pandas would cut off with a warning."""
    from pandas.errors import ParserWarning

    with warnings.catch_warnings():
        warnings.simplefilter("error", ParserWarning)
        try:
            return read()
        except ParserWarning:
            raise ValueError("its rows have more cells than its header has names.") from None


def _require_distinct(names: list[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise _DuplicateError(f"two columns have the name {twice[0]!r}; give every column its own.")


def _require_separated(names: list[str], separator: str) -> None:
    """Refuse a header without this separator but with another one: it is not a table of one column."""
    for other in {",", ";", "\t"} - {separator}:
        if len(names) == 1 and other in names[0]:
            shown = {",": "commas", ";": "semicolons", "\t": "tabs"}
            raise ValueError(
                f"its header has {shown[other]} and no {shown[separator]}; save it with {shown[separator]} between the "
                f"columns{', or name it .tsv' if other == chr(9) else ''}."
            )


def as_frame(X: Any) -> Any:
    """Return a table of any kind as a pandas DataFrame with text column names and rows numbered from 0."""
    import pandas as pd

    if hasattr(X, "to_pandas"):  # polars, pyarrow
        X = X.to_pandas()
    if not isinstance(X, pd.DataFrame):
        X = _frame_of_values(X)
    frame = X.reset_index(drop=True)
    frame.columns = [str(name) for name in frame.columns]
    _require_distinct(list(frame.columns))
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
