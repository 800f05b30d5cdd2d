"""Parquet datasets: a folder of files, which may be partitioned by columns (``year=2024/part.0.parquet``)."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from .limits import require_cells, require_columns, require_fields
from .sources import TableFile

PARQUET = (".parquet", ".pq")
_ENVIRONMENT = "pyvenv.cfg"  # a file in the folder of every virtual environment of Python
_MISSING = "__HIVE_DEFAULT_PARTITION__"  # what writers name the folder of rows without a value


@dataclass(frozen=True)
class ParquetPart:
    """One file of a dataset.

    Attributes
    ----------
    path : Path
        Where it is.
    name : str
        Its path within the folder, with forward slashes.
    keys : dict
        Value of each column that is in the names of its folders.
    rows, start : int
        Its rows, and those of all files before it.
    columns : tuple of str
        Names of its columns, those of `keys` included.
    """

    path: Path
    name: str
    keys: dict[str, Any] = field(default_factory=dict)
    rows: int = 0
    start: int = 0
    columns: tuple[str, ...] = ()


def is_dataset(path: Any) -> bool:
    """Whether a path is a folder; whether Parquet files are in it, `dataset_parts` says."""
    path = path.path if isinstance(path, TableFile) else path
    return isinstance(path, str | os.PathLike) and Path(path).is_dir()


def dataset_parts(folder: str | os.PathLike[str]) -> list[ParquetPart]:
    """List the files of a dataset with their sizes, in the order of their names; numbers in names count as numbers.

    Names that begin with a dot or an underscore are passed over, as everywhere in Parquet datasets; so are folders of
    virtual environments.

    Raises
    ------
    FileNotFoundError, ValueError
        There is no Parquet file; one cannot be read, or has a column that is also the name of a folder.
    """
    root = Path(folder)
    paths = sorted(_parquet_files(root), key=lambda path: _natural(path.relative_to(root).as_posix()))
    if not paths:
        raise FileNotFoundError(
            f"{os.fspath(folder)} is a folder without Parquet files: give the file that holds the table, or a folder "
            "of .parquet files."
        )
    keys = _partition_keys([path.relative_to(root).as_posix() for path in paths])
    parts: list[ParquetPart] = []
    start = 0
    for path, found_keys in zip(paths, keys, strict=True):
        found = _with_size(path, root, found_keys, start)
        parts.append(found)
        start += found.rows
    return parts


def _parquet_files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        if _ENVIRONMENT in names:
            folders.clear()  # its packages bring Parquet files of their own
            continue
        folders[:] = [name for name in folders if name[0] not in "._"]
        for path in (Path(folder, name) for name in names if name[0] not in "._"):
            if path.suffix.lower() in PARQUET and path.is_file():
                yield path


def _natural(name: str) -> list[tuple[int, int | str]]:
    """A key by which part.2 comes before part.10."""
    return [(0, int(piece)) if piece.isdecimal() else (1, piece) for piece in re.split(r"(\d+)", name) if piece]


def _partition_keys(names: list[str]) -> list[dict[str, Any]]:
    """Columns and values in the names of each file's folders; a column holds whole numbers if all its values do."""
    found = [_named_values(name) for name in names]
    texts = {key: {keys[key] for keys in found if key in keys} - {_MISSING} for key in found[0]}
    whole = {key for key, values in texts.items() if all(re.fullmatch(r"-?\d{1,18}", value) for value in values)}
    return [{key: _typed(value, key in whole) for key, value in keys.items()} for keys in found]


def _named_values(name: str) -> dict[str, str]:
    pairs = (folder.partition("=") for folder in name.split("/")[:-1])
    return {unquote(key): unquote(value) for key, equals, value in pairs if equals}


def _typed(value: str, whole: bool) -> int | str | None:
    if value == _MISSING:
        return None
    return int(value) if whole else value


def _with_size(path: Path, root: Path, keys: dict[str, Any], start: int) -> ParquetPart:
    """A file with what its footer says."""
    import pyarrow.parquet as pq

    with _naming(path):
        if path.stat().st_size == 0:
            raise ValueError("it is empty, as a file whose writer was interrupted is.")
        file = pq.ParquetFile(path)
        names = [name for name in file.schema_arrow.names if name not in _index_columns(file.schema_arrow)]
        doubled = [name for name in names if names.count(name) > 1 or name in keys]
        if doubled:
            raise ValueError(f"two columns have the name {doubled[0]!r}; give every column its own.")
        require_columns(len(names) + len(keys))
        require_cells(file.metadata.num_rows, len(names), path.stat().st_size)
        columns = (*names, *keys)
        return ParquetPart(path, path.relative_to(root).as_posix(), keys, file.metadata.num_rows, start, columns)


def _index_columns(schema: Any) -> list[str]:
    """Columns that hold row names of a pandas frame: as in a single file, they are not part of the table."""
    stored = (schema.pandas_metadata or {}).get("index_columns", [])
    return [name for name in stored if isinstance(name, str)]  # a range is stored as its limits


def read_part(part: ParquetPart, columns: Collection[str] | None = None, size: int | None = None) -> Iterator[Any]:
    """Read a file of a dataset chunk by chunk; rows are numbered as in the whole dataset.

    Parameters
    ----------
    part : ParquetPart
        The file.
    columns : collection of str, optional
        Read no others; those that the file does not have are passed over.
    size : int, optional
        Rows per chunk; all at once by default.
    """
    import pandas as pd
    import pyarrow.parquet as pq

    wanted = [name for name in part.columns if columns is None or name in columns]
    stored = [name for name in wanted if name not in part.keys]
    done = part.start
    with _naming(part.path):
        batches = pq.ParquetFile(part.path).iter_batches(size or max(part.rows, 1), columns=stored)
    while True:
        with _naming(part.path):
            batch = next(batches, None)
            if batch is None:
                return
            frame = batch.to_pandas().reset_index(drop=True)
            frame = frame.assign(**{name: part.keys[name] for name in wanted if name in part.keys})[wanted]
            require_fields(frame)
        frame.index = pd.RangeIndex(done, done + len(frame))
        done += len(frame)
        yield frame


def read_dataset(folder: str | os.PathLike[str], size: int | None = None) -> Iterator[Any]:
    """Read a dataset chunk by chunk, or file by file; a file with other columns than the first is refused."""
    parts = dataset_parts(folder)
    for part in parts:
        require_same_columns(part, parts[0])
        yield from read_part(part, size=size)


def require_same_columns(part: ParquetPart, first: ParquetPart) -> None:
    """Refuse a file whose columns are not those of the first."""
    differing = sorted({*part.columns} ^ {*first.columns})
    if differing:
        name = differing[0]
        has, lacks = (part.name, first.name) if name in part.columns else (first.name, part.name)
        raise ValueError(
            f"{has} has a column {name!r} and {lacks} has not: all files of a table need the same columns."
        )


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Say which file cannot be read."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, ValueError, OSError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ValueError(f"{path} cannot be read as parquet: {reason}") from error
