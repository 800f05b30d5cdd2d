"""Files of answers: CSV and workbooks for people, JSON Lines and Parquet for programs; columns of the table kept."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

from .answering import DIGITS
from .tables import TableColumns, to_csv
from .tables.columns import NUMBER
from .tables.names import no_column
from .tables.spreadsheet import neutralised
from .tables.workbooks import Percentage, Workbook
from .tables.writings import POINT, to_values

CSV, JSON_LINES, PARQUET, EXCEL = "csv", "jsonl", "parquet", "xlsx"
ALL = "all"
SCORES = ("probability", "h", "r")
ALL_SCORES = (*SCORES, "score", "second_score")  # with three classes or more
_ENDINGS = {".parquet": PARQUET, ".pq": PARQUET, ".jsonl": JSON_LINES, ".ndjson": JSON_LINES, ".xlsx": EXCEL}
_LEADING_ZERO = re.compile(r"\s*[+-]?0\d")
_LARGEST_WHOLE = 2.0**53  # beyond, floats are no longer all whole numbers
_NOT_WRITTEN = (".xls", ".xlsm", ".xlsb", ".ods", ".gz", ".zip", ".feather", ".arrow", ".sqlite", ".duckdb", ".db")


def answer_format(out: Any, given: str | None) -> str:
    """The format of a file of answers: as given, or as its name tells; CSV otherwise."""
    ending = Path(out).suffix.lower() if isinstance(out, str | os.PathLike) else ""
    if given is not None and given not in _WRITERS:
        raise ValueError(
            f"format={given!r} is not known: give {CSV!r}, {JSON_LINES!r}, {PARQUET!r} or {EXCEL!r} (a workbook)."
        )
    if ending in _NOT_WRITTEN:
        raise ValueError(
            f"out={os.fspath(out)!r}: answers are written as .csv, .jsonl, .parquet or .xlsx, and a file whose name "
            "says something else could not be opened. Give another name."
        )
    return given or _ENDINGS.get(ending, CSV)


def as_kept(keep: str | Sequence[str] | None) -> list[str] | None:
    """Names of the columns to keep; None for all."""
    if keep == ALL or keep == [ALL]:
        return None
    return [keep] if isinstance(keep, str) else list(keep or ())


def with_kept(answers: Any, chunk: Any, keep: list[str] | None) -> Any:
    """The answers with columns of the table after the number of the case; one called like an answer is renamed."""
    names = list(chunk.columns) if keep is None else keep
    lacking = [name for name in names if name not in chunk.columns]
    if lacking:
        raise ValueError(f"keep={lacking[0]!r} is not a column of the table: {no_column(lacking[0], chunk.columns)}")
    kept = chunk[names].reset_index(drop=True)
    kept.columns = [f"{name} (table)" if name in answers.columns else str(name) for name in names]
    return answers.iloc[:, :1].join(kept).join(answers.iloc[:, 1:])


class AnswerFile:
    """Writes answers, frame by frame, in one of the formats.

    Parameters
    ----------
    file : binary file
        Where they go.
    kind : str
        "csv", "jsonl", "parquet" or "xlsx".
    raw : bool or None
        Whether text that a spreadsheet would run stays as it is. None: not in CSV, which people open; else yes.
    numbers : mapping of str to str
        Columns of the table that hold numbers, with their writing: in a workbook they are numbers too, unless some have
        leading zeros, as postcodes do.
    """

    def __init__(
        self,
        file: BinaryIO,
        kind: str = CSV,
        raw: bool | None = None,
        numbers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._file, self._begun = file, False
        self._raw = kind != CSV if raw is None else raw
        self._write: Callable[[AnswerFile, Any], None] = _WRITERS[kind]
        self._parquet: Any = None
        self._book: Workbook | None = None
        self._numbers = dict(numbers)

    def write(self, frame: Any) -> None:
        """Write some answers."""
        self._write(self, frame if self._raw else neutralised(frame))
        self._begun = True

    def close(self) -> None:
        """Write the end, where the format has one."""
        if self._parquet is not None:
            self._parquet.close()
        if self._book is not None:
            self._book.save()

    def _write_csv(self, frame: Any) -> None:
        names = list(frame.columns)
        first = names.index("decision")  # what is kept of the table stands before, whatever it is called
        scores = {
            name: [f"{value:.{DIGITS}g}" for value in frame[name]] for name in names[first:] if name in ALL_SCORES
        }
        frame = _with_whole_numbers(frame, names[:first])
        self._file.write(to_csv(frame.assign(**scores), header=not self._begun, raw=True))

    def _write_json(self, frame: Any) -> None:
        frame = _with_whole_numbers(frame, list(frame.columns[: frame.columns.get_loc("decision")]))
        text = frame.to_json(orient="records", lines=True, force_ascii=False, date_format="iso", double_precision=15)
        self._file.write(text.rstrip("\n").encode() + b"\n")

    def _write_parquet(self, frame: Any) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        # Answers of numbers have a text among them, for rejected cases: a column has one type.
        frame = frame.assign(decision=frame["decision"].map(str))
        table = pa.Table.from_pandas(frame, preserve_index=False)
        if self._parquet is None:
            # A column without a value so far may hold text later.
            fields = [field.with_type(pa.string()) if pa.types.is_null(field.type) else field for field in table.schema]
            self._parquet = pq.ParquetWriter(self._file, pa.schema(fields))
        try:
            self._parquet.write_table(table.cast(self._parquet.schema))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
            raise ValueError(f"A column does not keep its type throughout the table ({error}): write CSV.") from error

    def _write_excel(self, frame: Any) -> None:
        import pandas as pd

        if self._book is None:
            self._book = Workbook(self._file)
            self._book.add(list(frame.columns))
            kept = {name: frame[name] for name in self._numbers if name in frame}
            # Decided once, by the first rows: a column must not be numbers in one part and text in another.
            self._numbers = {
                name: self._numbers[name] for name, column in kept.items() if _are_numbers(column, self._numbers[name])
            }
        frame = frame.astype(object).where(frame.notna(), None)
        for name, writing in self._numbers.items():
            frame[name] = pd.Series(_number_cells(frame[name], writing), index=frame.index, dtype=object)
        for row in zip(*(frame[name].tolist() for name in frame.columns), strict=True):
            self._book.add(row)


def kept_numbers(columns: TableColumns | None) -> dict[str, str]:
    """The columns of a model that hold numbers, by the names they may have among answers, with their writing."""
    if columns is None:
        return {}
    return {
        called: columns._writings().get(name, POINT)
        for name, kind in columns._kinds()
        if kind == NUMBER
        for called in (name, f"{name} (table)")
    }


def _with_whole_numbers(frame: Any, names: Sequence[str]) -> Any:
    """The frame with whole numbers in these columns where only empty cells have made floats of them: 88, not 88.0."""
    whole = {}
    for name in names:
        column = frame[name]
        if column.dtype.kind == "f" and column.isna().any():
            known = column.dropna()
            if ((known == known.round()) & (known.abs() <= _LARGEST_WHOLE)).all():
                whole[name] = column.astype("Int64")
    return frame.assign(**whole) if whole else frame


def _are_numbers(column: Any, writing: str) -> bool:
    """Whether all cells that are not empty are numbers in a writing, none with leading zeros."""
    texts = column.dropna()
    if texts.empty or not all(isinstance(text, str) for text in texts):
        return False
    return bool(to_values(texts, writing).notna().all()) and not texts.str.match(_LEADING_ZERO).any()


def _number_cells(column: Any, writing: str) -> list[Any]:
    """Cells of a workbook: numbers, percentages as such; what is none stays as it is."""
    as_cell = Percentage if writing.endswith("%") else float
    values = to_values(column, writing)
    return [as_cell(value) if value == value else text for value, text in zip(values, column, strict=True)]


_WRITERS: dict[str, Callable[[AnswerFile, Any], None]] = {
    CSV: AnswerFile._write_csv,
    JSON_LINES: AnswerFile._write_json,
    PARQUET: AnswerFile._write_parquet,
    EXCEL: AnswerFile._write_excel,
}
