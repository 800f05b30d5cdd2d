"""Packets as tables: one row per task, with empty columns for the verdict and a note."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..extras import require
from ..tables import read_chunks, restored, to_csv
from ..tables.writings import COMMA, detect_writings
from .classes import as_text
from .tasks import MODEL_ANSWER, GivenTask, ReturnedTask

SUFFIX = ".csv"
_RETURNED = ("verdict", "note", "reviewer", "reviewed_at")
_OWN = {"task", *MODEL_ANSWER, *_RETURNED}


def usual_separator(shown: Sequence[Mapping[str, str]]) -> str:
    """What spreadsheets expect between columns where numbers are written as in these cases."""
    pd = require("pandas", "A packet")
    frame = pd.DataFrame(list(shown), dtype=object)
    return ";" if detect_writings(frame.where(frame != "")).decimal == COMMA else ","


def packet(tasks: Sequence[GivenTask], separator: str = ",") -> bytes:
    """A CSV file for a reviewer; text that a spreadsheet would run is marked as text.

    It begins with a byte-order mark, without which spreadsheets take UTF-8 for another encoding.
    """
    pd = require("pandas", "A packet")
    names = list(tasks[0].shown) if tasks else []
    columns: dict[str, list[Any]] = {"task": [task.task for task in tasks]}
    columns |= {_column(name): [task.shown[name] for task in tasks] for name in names}
    answers = [task.answer for task in tasks if task.answer is not None]
    for name in MODEL_ANSWER:
        if any(name in answer for answer in answers):
            columns[name] = [answer.get(name, "") for answer in answers]
    columns |= {"verdict": [""] * len(tasks), "note": [""] * len(tasks)}
    return codecs.BOM_UTF8 + to_csv(pd.DataFrame(columns), separator=separator)


def returned(path: Path, shown: dict[str, Sequence[str]]) -> list[ReturnedTask]:
    """The rows of a packet that comes back, in any format of tables.

    Parameters
    ----------
    path : Path
        The file.
    shown : dict of str to sequence of str
        For each task, the names of the columns that its reviewer was shown.
    """
    tasks = []
    for chunk in read_chunks(path, text_columns=None):
        for name in ("task", "verdict"):
            if name not in chunk.columns:
                raise ValueError(
                    f"{path} lacks the column {name!r}: give the packet as it was written, with its verdicts."
                )
        for number, values in zip(chunk.index, restored(chunk).to_dict("records"), strict=True):
            cells = {str(name): as_text(value) for name, value in values.items()}
            own = {name: cells.get(name, "") for name in _RETURNED}
            names = shown.get(cells["task"], ())
            seen = {name: cells[_column(name)] for name in names if _column(name) in cells}
            if any(cells.values()):  # spreadsheets leave empty rows at the end
                tasks.append(ReturnedTask(f"{path} row {number + 1}", cells["task"], shown=seen, **own))
    return tasks


def _column(name: str) -> str:
    """The column of a packet that shows a column of the table."""
    return f"{name} (table)" if name in _OWN else name
