"""Whether a cell of a packet still says what it said: spreadsheets write numbers, dates and truth values their own way.

What was given out is read as its column is written (3,81 % in a column of percentages with decimal commas), in the same
way as a table that a model reads. What comes back may be that value in any writing: 3,81%, 3.81%, or the number
0.0381 of a workbook.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from ..extras import require
from ..tables.writings import COMMA, POINT, detect_writings, is_number_writing, to_values
from .classes import same_number

_PLAIN = "plain"
_NUMBERS = [sign + percent for sign in (COMMA, POINT) for percent in ("", "%")]
_DATES = ["%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%Y"]


class GivenCells:
    """The columns that reviewers were shown, and how each is written in the packets of its draw.

    Parameters
    ----------
    tasks : iterable of dict
        The tasks that were given out.
    """

    def __init__(self, tasks: Iterable[Mapping[str, Any]]) -> None:
        self._tasks = list(tasks)
        self._writings: dict[str, dict[str, str]] = {}

    def changed(self, task: Mapping[str, Any], seen: Mapping[str, str]) -> dict[str, str | None]:
        """Columns of a task that came back with another value, or not at all."""
        given = task["shown"]
        return {name: seen.get(name) for name, value in given.items() if not self._same(task, name, value, seen)}

    def _same(self, task: Mapping[str, Any], name: str, given: str, seen: Mapping[str, str]) -> bool:
        now = seen.get(name)
        if now is None:
            return False
        if given == now or given.casefold() == now.casefold():
            return True
        return bool(given and now) and is_same_value(given, self._writing(task["draw"], name), now)

    def _writing(self, draw: str, name: str) -> str:
        """How a column of a draw is written; found out where a cell differs, once."""
        if draw not in self._writings:
            pd = require("pandas", "read_verdicts")
            frame = pd.DataFrame([task["shown"] for task in self._tasks if task["draw"] == draw], dtype=object)
            # What holds no digit, such as n.k., stands for a value that nobody knows.
            known = frame.apply(lambda column: column.str.contains(r"\d", na=False))
            self._writings[draw] = detect_writings(frame.where(known), every=True).columns
        return self._writings[draw].get(name, _PLAIN)


def is_same_value(given: str, writing: str, now: str) -> bool:
    """Whether a cell of a column in a writing is the same number or date as another text in any writing.

    Examples
    --------
    >>> from recuse.reviews.cells import is_same_value
    >>> [is_same_value("16.579,46", "1.234,5", now) for now in ("16579,46", "16,579.46", "16579.46", "16579,47")]
    [True, True, True, False]
    >>> is_same_value("1.000", "1.234,5", "1"), is_same_value("31.12.2024", "%d.%m.%Y", "2024-12-31 00:00:00")
    (False, True)
    """
    if writing != _PLAIN and is_number_writing(writing):
        value = _read(given, writing)
        return value is not None and any(math.isclose(value, other, rel_tol=1e-9) for other in _numbers(now))
    if same_number(given, now):
        return True
    day = _iso_day(given) if writing == _PLAIN else _read(given, writing)
    return day is not None and day in _days(now)


def _numbers(text: str) -> list[float]:
    """The numbers that a text may be."""
    found = [_read(text, writing) for writing in _NUMBERS]
    with suppress(ValueError):
        found.append(float(text))
    return [number for number in found if number is not None]


def _days(text: str) -> list[Any]:
    """The days and times that a text may be."""
    return [day for day in (_iso_day(text), *(_read(text, writing) for writing in _DATES)) if day is not None]


def _iso_day(text: str) -> Any:
    pd = require("pandas", "read_verdicts")
    with suppress(ValueError):
        return pd.Timestamp(datetime.fromisoformat(text))
    return None


def _read(text: str, writing: str) -> Any:
    """A number or a date in a writing; None for what is none."""
    pd = require("pandas", "read_verdicts")
    value = to_values(pd.Series([text], dtype=object), writing).iloc[0]
    return None if pd.isna(value) else value
