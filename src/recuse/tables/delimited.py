"""Tables as text with a separator between the columns: CSV and the like, in any encoding and with any separator."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .encodings import Encoding, detect_encoding
from .limits import open_limited, require_columns, require_header, require_unpackable
from .names import require_distinct
from .sources import TableFile

_CANDIDATES = (",", ";", "\t", "|")
_SAMPLE = 2**16
_LINES = 50
_STEADY = 0.9  # share of the rows that have as many cells as the header
_WORDS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars", " ": "spaces"}


@dataclass(frozen=True)
class Dialect:
    """How a text file holds a table.

    Attributes
    ----------
    encoding : Encoding
        Of its bytes.
    separator : str
        Between its columns.
    skipped : int
        Lines before the header, such as the ``sep=;`` that spreadsheets write.
    missing : tuple of str
        Cells, besides empty ones, of which nothing is known.
    """

    encoding: Encoding
    separator: str
    skipped: int = 0
    missing: tuple[str, ...] = ()

    def sentences(self, usual: str, source: TableFile) -> list[str]:
        """Say what was found out and is not as usual."""
        said = []
        name = self.encoding.name
        if not self.encoding.surely:
            said.append(f"it is not UTF-8, and read as {name}: name another encoding with --encoding")
        elif name not in ("utf-8",) and source.encoding is None:
            mark = " with a byte-order mark" if name in ("utf-8-sig", "utf-16", "utf-32") else ""
            said.append(f"it is read as {name.removesuffix('-sig')}{mark}")
        if self.separator != usual and source.column_separator is None:
            said.append(f"its columns are separated by {_WORDS[self.separator]}")
        return said


def detect_dialect(path: str, source: TableFile, usual: str) -> Dialect:
    """Find out the encoding and the separator of a text file, unless they are given."""
    require_unpackable(path)
    encoding = detect_encoding(path) if source.encoding is None else Encoding(source.encoding, True)
    with open_limited(path, encoding=encoding.name) as file:
        text = file.read(_SAMPLE).decode("utf-8", "replace")
    if not text.strip():
        raise ValueError("it is empty: a table has a row with the names of its columns, and one for each case.")
    first, _, rest = text.lstrip("\r\n").partition("\n")
    if first.strip().lower().startswith("sep=") and len(first.strip("\r")) == len("sep=;"):
        skipped = text[: len(text) - len(rest)].count("\n")
        return Dialect(encoding, source.column_separator or first.strip("\r")[-1], skipped, tuple(source.missing))
    return Dialect(encoding, source.column_separator or _separator(text, usual), missing=tuple(source.missing))


def _separator(text: str, usual: str) -> str:
    """The separator that cuts most rows into as many cells as the header, and the header into most."""
    lines = [line for line in text.splitlines() if line.strip()]
    sample = "\n".join(lines[:_LINES] if len(lines) > _LINES or len(text) < _SAMPLE else lines[:-1])
    widths = {separator: _widths(sample, separator) for separator in dict.fromkeys((usual, *_CANDIDATES))}
    steady = {
        separator: found[0]
        for separator, found in widths.items()
        if found and found[0] > 1 and sum(width == found[0] for width in found) >= _STEADY * len(found)
    }
    headers = steady or {separator: found[0] for separator, found in widths.items() if found and found[0] > 1}
    if usual in headers and not steady:
        return usual
    return max(headers, key=lambda separator: (headers[separator], separator == usual), default=usual)


def _widths(sample: str, separator: str) -> list[int]:
    """Number of cells of each row; a separator at the end of a row begins no cell."""
    try:
        rows = list(csv.reader(io.StringIO(sample), delimiter=separator))
    except csv.Error:
        return []
    return [len(row) - (number > 0 and len(row) > 1 and row[-1] == "") for number, row in enumerate(rows) if row]


def text_chunks(
    path: str,
    dialect: Dialect,
    text_columns: tuple[str, ...] | None,
    size: int | None,
    only: list[str] | None = None,
) -> Iterator[Any]:
    """Read a text file in chunks; `text_columns` are not turned into numbers, None for no column at all.

    Of the columns `only` some are read, if they are given.
    """
    import pandas as pd

    separator, encoding = dialect.separator, dialect.encoding.name
    with open_limited(path, separator, encoding) as file:
        _skip_lines(file, dialect.skipped)
        require_header(file, separator)
    with open_limited(path, separator, encoding) as file:
        _skip_lines(file, dialect.skipped)
        header = pd.read_csv(file, sep=separator, header=None, nrows=1, dtype=str, keep_default_na=False)
    names = header.iloc[0].tolist()
    require_columns(len(names))
    require_distinct(names)
    # Without index_col=False, rows that are longer than the header would lose their first cells to an index.
    options: dict[str, Any] = {"sep": separator, "index_col": False, "low_memory": size is not None}
    options["na_values"], options["usecols"] = list(dialect.missing), only
    options["dtype"] = str if text_columns is None else {name: str for name in text_columns if name in names}
    with open_limited(path, separator, encoding) as file:
        _skip_lines(file, dialect.skipped)
        if size is None:
            yield _without_longer_rows(lambda: pd.read_csv(file, **options))
            return
        with pd.read_csv(file, chunksize=size, **options) as chunks:
            while (chunk := _without_longer_rows(lambda: next(chunks, None))) is not None:
                yield chunk


def _skip_lines(file: Any, count: int) -> None:
    for _ in range(count):
        file.readline()


def _without_longer_rows(read: Callable[[], Any]) -> Any:
    """Read rows; refuse those with more cells than the header, which pandas would cut off with a warning."""
    from pandas.errors import ParserWarning

    with warnings.catch_warnings():
        warnings.simplefilter("error", ParserWarning)
        try:
            return read()
        except ParserWarning:
            raise ValueError("its rows have more cells than its header has names.") from None
