"""Sheets of Excel workbooks: the first row that is not empty names the columns. A workbook written has one."""

from __future__ import annotations

import logging
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from ..extras import require
from ..labels import preview
from .limits import require_columns, require_expansion, require_field
from .names import require_distinct
from .sources import TableFile

_MOST_ROWS = 1_048_576  # of a sheet; a file that says more makes openpyxl invent empty rows
_ERRORS = {"#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!"}
_logger = logging.getLogger("recuse.tables")


def workbook_chunks(path: str, source: TableFile, size: int | None) -> Iterator[Any]:
    """Read a sheet of a workbook in chunks."""
    import pandas as pd

    require("openpyxl", "An Excel workbook")
    _require_honest_archive(path)
    rows = _rows(path, source)
    names = _header(rows)
    start = 0
    while block := list(islice(rows, size)):
        filled = [_padded(row, len(names)) for row in block]
        yield pd.DataFrame(
            {name: [row[place] for row in filled] for place, name in enumerate(names)},
            index=pd.RangeIndex(start, start + len(filled)),
        )
        start += len(filled)


def _require_honest_archive(path: str) -> None:
    """Refuse a workbook, which is a zip archive, that unpacks to far more than its size."""
    with zipfile.ZipFile(path) as archive:
        require_expansion(sum(part.file_size for part in archive.infolist()), Path(path).stat().st_size)


def _rows(path: str, source: TableFile) -> Iterator[tuple[Any, ...]]:
    """Rows that are not empty, of the sheet that is meant."""
    import openpyxl

    # Opened here: openpyxl leaves a file open that it cannot read, and refuses one by its name.
    with open(path, "rb") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about styles and validations, which a table does not need
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        try:
            sheet = _sheet(book, source)
            sheet.reset_dimensions()  # what a file says about its size, openpyxl would fill with empty cells
            for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
                if number > _MOST_ROWS:
                    raise ValueError(f"its sheet has more than {_MOST_ROWS:,} rows, which no spreadsheet has.")
                if any(value is not None for value in row):
                    yield row
        finally:
            book.close()


def _sheet(book: Any, source: TableFile) -> Any:
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    if not sheets:
        raise ValueError("it has no sheet with cells.")
    if source.table is not None:
        if source.table not in sheets:
            raise ValueError(f"it has no sheet {source.table!r}: there are {preview(list(sheets))}.")
        return sheets[source.table]
    first = next(iter(sheets))
    if len(sheets) > 1:
        _logger.info(
            "%s: the first of %d sheets is read, %r; name another with --table, or as %s::SHEET.",
            source.name, len(sheets), first, source.name,
        )  # fmt: skip
    return sheets[first]


def _header(rows: Iterator[tuple[Any, ...]]) -> list[str]:
    """Names of the columns, without empty cells at the end."""
    cells = list(next(rows, ()))
    while cells and cells[-1] is None:
        cells.pop()
    require_columns(len(cells))
    empty = [place for place, cell in enumerate(cells) if cell is None]
    names = [f"column {place + 1}" if place in empty else str(cell) for place, cell in enumerate(cells)]
    if not names:
        raise ValueError("its sheet is empty.")
    require_distinct(names)
    return names


def _padded(row: tuple[Any, ...], width: int) -> list[Any]:
    """The cells of a row, one for each column."""
    if any(value is not None for value in row[width:]):
        raise ValueError("its rows have more cells than its header has names.")
    cells = [None if isinstance(value, str) and value in _ERRORS else value for value in row[:width]]
    for value in cells:
        if isinstance(value, str):
            require_field(len(value))
    return cells + [None] * (width - len(cells))


class Percentage(float):
    """A number that a workbook shows as a percentage."""


class Workbook:
    """A workbook of one sheet, written row by row; text is text there, whatever it looks like.

    Parameters
    ----------
    file : binary file
        Where it goes, once it is saved.
    """

    def __init__(self, file: BinaryIO) -> None:
        openpyxl = require("openpyxl", "An Excel workbook")
        self._file, self._rows = file, 0
        self._book = openpyxl.Workbook(write_only=True)
        self._sheet = self._book.create_sheet("answers")
        self._sheet.freeze_panes = "A2"  # the names of the columns stay in sight

    def add(self, row: Iterable[Any]) -> None:
        """Add a row of numbers, truth values, text and None."""
        self._rows += 1
        if self._rows > _MOST_ROWS:
            raise ValueError(f"a sheet has {_MOST_ROWS:,} rows at most, and there are more: write CSV or Parquet.")
        self._sheet.append([self._cell(value) for value in row])

    def save(self) -> None:
        """Write the workbook."""
        self._book.save(self._file)

    def _cell(self, value: Any) -> Any:
        """A cell: text is marked as such, since a spreadsheet would run =1+1; a label of another type is text, too."""
        from openpyxl.cell import WriteOnlyCell
        from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

        if isinstance(value, Percentage):
            cell = WriteOnlyCell(self._sheet, value=float(value))
            cell.number_format = "0.0##%"
            return cell
        if value is None or isinstance(value, bool | int | float):
            return value
        cell = WriteOnlyCell(self._sheet, value=ILLEGAL_CHARACTERS_RE.sub("", str(value)))
        cell.data_type = "s"
        return cell
