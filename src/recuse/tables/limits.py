"""Limits on table files: a damaged or hostile one ends in one line within seconds, not after hours or without memory.

They are far above what tables of cases hold, and environment variables move them.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

# Environment variable -> its default, and what it limits.
LIMITS = {
    "RECUSE_MAX_COLUMNS": 2_000,  # columns of a table
    "RECUSE_MAX_FIELD": 100_000,  # bytes of one field, or of a column's name
    "RECUSE_MAX_EXPANSION": 200,  # how many times larger than the file what it holds may be
    "RECUSE_MAX_SECONDS": 60,  # until a database gives its next rows
}
GZIP_BEGINNING = b"\x1f\x8b"
_SMALL = 2**26  # bytes that any file may unpack to
_BLOCK = 2**16
_BYTES_PER_NAME = 2**10  # a header may have this much for each column
_CELL = 8  # bytes of a number in memory


def limit(variable: str) -> int:
    """The value of a limit: that of its environment variable, or the default."""
    text = os.environ.get(variable)
    if text is None:
        return LIMITS[variable]
    if not re.fullmatch("[0-9]+", text.strip()) or int(text) == 0:
        raise ValueError(f"{variable}={text!r} in the environment must be a whole number of 1 or more.")
    return int(text)


@contextmanager
def open_limited(
    path: str | os.PathLike[str], separator: str | None = None, encoding: str | None = None
) -> Iterator[BinaryIO]:
    """Open a file, gzipped or not, to be read once from its beginning; reading beyond a limit raises ValueError.

    With an `encoding`, what is read is UTF-8 without a byte-order mark, whatever the file is written in.
    """
    with open(path, "rb") as packed:
        file: Any = gzip.GzipFile(fileobj=packed) if is_gzipped(path) else packed
        limited: Any = _Limited(file, packed)
        if encoding is not None:
            limited = _Transcoded(limited, encoding)
        if separator is not None:
            limited = _Watched(limited, separator)
        with io.BufferedReader(limited) as buffered:
            yield buffered


def is_gzipped(path: str | os.PathLike[str]) -> bool:
    """Whether a file is gzipped, by its name."""
    return str(path).lower().endswith(".gz")


def require_unpackable(path: str | os.PathLike[str]) -> None:
    """Refuse a gzipped file that unpacks to too much, before the first of its rows is answered."""
    if is_gzipped(path):
        with open_limited(path) as file:
            while file.read(_BLOCK):
                pass


class _Limited(io.RawIOBase):
    """A file that is watched while it is read: how much it unpacks to."""

    def __init__(self, file: BinaryIO, packed: BinaryIO) -> None:
        self._file, self._packed, self.read_so_far = file, packed, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        block = self._file.read(min(len(buffer), _BLOCK))
        buffer[: len(block)] = block
        self.read_so_far += len(block)
        require_expansion(self.read_so_far, self._packed.tell())
        return len(block)


class _Transcoded(io.RawIOBase):
    """A text file in any encoding, read as UTF-8."""

    def __init__(self, file: io.RawIOBase, encoding: str) -> None:
        self._file, self._decoder = file, codecs.getincrementaldecoder(encoding)()
        self._rest, self._began, self._ended = b"", False, False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest and not self._ended:
            block = self._file.read(_BLOCK) or b""
            self._ended = not block
            text = self._decoder.decode(block, self._ended)
            # A mark that the encoding does not take off by itself, such as one of UTF-16 that is named with its order.
            text, self._began = (text if self._began else text.removeprefix("\ufeff")), self._began or bool(text)
            self._rest = text.encode("utf-8", "surrogatepass")
        block, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(block)] = block
        return len(block)


class _Watched(io.RawIOBase):
    """A text file whose fields are measured while it is read."""

    def __init__(self, file: io.RawIOBase, separator: str) -> None:
        self._file, self._fields = file, _Fields(separator.encode())

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        block = self._file.read(min(len(buffer), _BLOCK)) or b""
        buffer[: len(block)] = block
        if block:
            self._fields.watch(block.removeprefix(codecs.BOM_UTF8))
        return len(block)


class _Fields:
    """Measures the fields of a text that comes in blocks; those within one block are not looked at.

    A quote opens where a field begins, or right after one that closed: a doubled quote closes and opens again. So what
    came before a block matters in three ways only, and a beginning of one byte stands for it.
    """

    _CLOSED, _OPEN, _PLAIN = b"", b'"', b"x"  # a quote would open; within quotes; a quote would be a letter

    def __init__(self, separator: bytes) -> None:
        end = b"[" + re.escape(separator) + b"\\n\\r]"
        quoted = b'(?:"[^"]*+")*+'
        field = quoted + b'(?!")[^' + end[1:] + b"*+" + end
        self._field, self._whole_fields = re.compile(field), re.compile(b"(?:" + field + b")*+")
        self._closed, self._open = re.compile(quoted), re.compile(quoted + b'"[^"]*+')
        self._before, self._length = self._CLOSED, 0

    def watch(self, block: bytes) -> None:
        """Refuse a field that is too long, as soon as that much of it has come."""
        text = self._before + block
        first = self._field.match(text)
        ended = len(block) if first is None else first.end() - len(self._before)
        require_field(self._length + ended)
        start = 0 if b'"' in text else text.rfind(b"\n") + 1  # without quotes every line begins a field
        rest = text[self._whole_fields.match(text, start).end() :]  # type: ignore[union-attr]  # it matches nothing, too
        self._length = self._length + len(block) if first is None else len(rest)
        if self._closed.fullmatch(rest):
            self._before = self._CLOSED
        else:
            self._before = self._OPEN if self._open.fullmatch(rest) else self._PLAIN


def require_expansion(unpacked: int, packed: int) -> None:
    """Refuse a file that holds far more than its size."""
    most = limit("RECUSE_MAX_EXPANSION")
    if unpacked > max(_SMALL, most * packed):
        raise ValueError(
            f"it holds more than {most} times its size, as only a damaged or hostile file does; if it is meant to, "
            "unpack it, or raise RECUSE_MAX_EXPANSION in the environment."
        )


def require_cells(rows: int, columns: int, packed: int) -> None:
    """Refuse a file that says it has far more cells than its size can hold."""
    require_expansion(rows * columns * _CELL, packed)


def require_columns(count: int) -> None:
    """Refuse a table of too many columns."""
    most = limit("RECUSE_MAX_COLUMNS")
    if count > most:
        raise ValueError(
            f"it has {count:,} columns, and more than {most:,} are not read: choose those that matter, or raise "
            "RECUSE_MAX_COLUMNS in the environment."
        )


def require_header(file: BinaryIO, separator: str) -> None:
    """Refuse a header of too many columns before it is taken apart."""
    most = limit("RECUSE_MAX_COLUMNS") * _BYTES_PER_NAME
    line = file.readline(most + 1)
    while line in (b"\n", b"\r\n"):  # which are passed over in the table, too
        line = file.readline(most + 1)
    # Every other part is in quotes.
    require_columns(1 + sum(part.count(separator.encode()) for part in line.split(b'"')[::2]))
    if len(line) > most:
        raise ValueError(f"its header has more than {most:,} bytes: is it a table with one row of column names?")


def require_field(length: int) -> None:
    """Refuse a field that is too long."""
    most = limit("RECUSE_MAX_FIELD")
    if length > most:
        raise ValueError(
            f"it has a field of more than {most:,} bytes, as a table with a missing quote or line break has; if it is "
            "meant to, raise RECUSE_MAX_FIELD in the environment."
        )


def require_fields(frame: Any) -> None:
    """Refuse text that is too long, in the names and cells of a data frame."""
    require_field(max((len(str(name)) for name in frame.columns), default=0))
    for column in (frame[name] for name in frame.columns):
        if column.dtype == object:
            require_field(max((len(value) for value in column if isinstance(value, str | bytes)), default=0))
        elif column.dtype in ("str", "string"):
            require_field(int(column.str.len().max()) if column.notna().any() else 0)
