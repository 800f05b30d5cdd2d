"""TableFile: a file that holds a table, which table of it is meant, and how it is to be read where that is known."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .encodings import check_encoding
from .limits import GZIP_BEGINNING, is_gzipped, open_limited
from .writings import COMMA, DAY_FIRST, MONTH_FIRST, POINT

STANDARD_INPUT = "-"
_PART = "::"  # between a file and the table in it: loans.db::applications
_SEPARATOR_NAMES = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|", "space": " "}
_DECIMALS = {",": COMMA, "comma": COMMA, ".": POINT, "point": POINT}


@dataclass(frozen=True)
class TableFile:
    """A table in a file, and how it is to be read. What is None is found out.

    Parameters
    ----------
    path : path-like
        The file; ``-`` for standard input. ``loans.db::applications`` names the table of a database, or the sheet of a
        workbook, as well.
    table : str, optional
        Table of a database, or sheet of a workbook.
    encoding : str, optional
        Of a text file, such as "cp1252".
    separator : str, optional
        Between the columns of a text file: one character, or "tab".
    decimal : {",", "."}, optional
        Decimal sign.
    dates : {"day-first", "month-first"}, optional
        How dates such as 03/02/2024 are written.
    missing : sequence of str
        What stands in a cell, besides nothing, where nothing is known, such as "unknown" or "-99".

    Examples
    --------
    >>> from recuse.tables import TableFile
    >>> TableFile("loans.db::applications").table
    'applications'
    >>> TableFile("loans.csv", decimal=";")
    Traceback (most recent call last):
    ValueError: decimal=';' is no decimal sign: give ',' or '.'.
    """

    path: str | os.PathLike[str]
    table: str | None = None
    encoding: str | None = None
    separator: str | None = None
    decimal: str | None = None
    dates: str | None = None
    missing: Sequence[str] = ()

    def __post_init__(self) -> None:
        path = os.fspath(self.path)
        if self.table is None and _PART in path and not os.path.exists(path):
            path, _, table = path.partition(_PART)
            object.__setattr__(self, "table", table or None)
        object.__setattr__(self, "path", path)
        if self.encoding is not None:
            check_encoding(self.encoding)
        if self.decimal not in (None, *_DECIMALS):
            raise ValueError(f"decimal={self.decimal!r} is no decimal sign: give ',' or '.'.")
        if self.dates not in (None, DAY_FIRST, MONTH_FIRST):
            raise ValueError(f"dates={self.dates!r} must be {DAY_FIRST!r} or {MONTH_FIRST!r}.")
        if isinstance(self.missing, str):
            raise ValueError(f"missing={self.missing!r} must be a list of texts, such as [{self.missing!r}].")
        object.__setattr__(self, "missing", tuple(map(str, self.missing)))
        if self.column_separator is not None and len(self.column_separator) != 1:
            raise ValueError(f"separator={self.separator!r} must be one character, such as ';', or 'tab'.")

    @classmethod
    def of(cls, source: str | os.PathLike[str] | TableFile) -> TableFile:
        """The table of a path, or what is one already."""
        return source if isinstance(source, TableFile) else cls(source)

    @property
    def column_separator(self) -> str | None:
        """The character between columns, where it is given."""
        return None if self.separator is None else _SEPARATOR_NAMES.get(self.separator, self.separator)

    @property
    def decimal_writing(self) -> str | None:
        """The writing of numbers, where the decimal sign is given."""
        return None if self.decimal is None else _DECIMALS[self.decimal]

    def options(self) -> dict[str, Any]:
        """What was said of how to read it, by name."""
        names = ("table", "encoding", "separator", "decimal", "dates")
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return given | ({"missing": list(self.missing)} if self.missing else {})

    @property
    def name(self) -> str:
        """The name of the table in messages."""
        if self.path == STANDARD_INPUT:
            return "standard input"
        return Path(self.path).name + (f"{_PART}{self.table}" if self.table else "")

    @property
    def shown(self) -> str:
        """The path as it was given."""
        if self.path == STANDARD_INPUT:
            return "standard input"
        return os.fspath(self.path) + (f"{_PART}{self.table}" if self.table else "")


def is_table_file(data: Any) -> bool:
    """Whether data are to be read from a file."""
    return isinstance(data, str | os.PathLike | TableFile)


@contextmanager
def on_disk(source: TableFile) -> Iterator[str]:
    """Where the file is: standard input is copied into one, since most formats are not read from their beginning."""
    if source.path != STANDARD_INPUT:
        yield os.fspath(source.path)
        return
    # Windows does not delete a copy that some reader still holds open: then it stays among the temporary files.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = os.path.join(folder, "table")
        with open(path, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        with open(path, "rb") as file:
            is_packed = file.read(2) == GZIP_BEGINNING
        if is_packed:  # by its name it is told below
            os.rename(path, f"{path}.gz")
        yield f"{path}.gz" if is_packed else path


@contextmanager
def unpacked(path: str) -> Iterator[str]:
    """A file as it is, or a copy of what is in a gzipped one, for formats that are not read from their beginning."""
    if not is_gzipped(path):
        yield path
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, open_limited(path) as packed:
        copy = os.path.join(folder, "table")
        with open(copy, "wb") as file:
            shutil.copyfileobj(packed, file)
        yield copy
