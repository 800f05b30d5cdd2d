"""Verdicts back: read from packets, checked against what was given out, appended to the log; all of them or none."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..extras import require
from ..labels import preview
from . import csv_packets, label_studio
from .cells import GivenCells
from .classes import as_class
from .log import ReviewLog
from .records import VERDICT, in_utc, tasks_given, verdicts_in_force
from .tasks import ReturnedTask

_SHOWN_PROBLEMS = 3


@dataclass(frozen=True)
class VerdictsTaken:
    """What came back.

    Attributes
    ----------
    taken : int
        Verdicts that were appended to the log.
    known : int
        Verdicts that the log held already.
    revised : int
        How many of `taken` replace an earlier one.
    open : int
        Tasks in these packets without a verdict yet.
    outstanding : int
        Tasks of all draws in the log without a verdict.
    head : str
        Head of the log after them, to be kept elsewhere.
    """

    taken: int
    known: int
    revised: int
    open: int
    outstanding: int
    head: str

    def __str__(self) -> str:
        text = f"{self.taken} verdicts taken in"
        if self.revised:
            text += f", {self.revised} of them in place of an earlier one"
        if self.known:
            text += f"; {self.known} were in the log already"
        if self.open:
            text += f"; {self.open} tasks of these packets have none yet"
        return f"{text}; {self.outstanding} tasks of the log are open; head of the log {self.head}"


def read_verdicts(
    packets: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    log: str | os.PathLike[str] | ReviewLog,
    reviewer: str | None = None,
    revise: bool = False,
    accept_changed: bool = False,
) -> VerdictsTaken:
    r"""Check the verdicts in packets that come back and append them to the log; none of them if one is wrong.

    Parameters
    ----------
    packets : path-like or iterable of path-like
        Packets with a verdict in each row that was reviewed: tables of any format with the columns `task` and
        `verdict`, and perhaps `note`, `reviewer` and `reviewed_at`; or exports of Label Studio (JSON or JSON-MIN).
    log : path-like or ReviewLog
        The log that the packets were written with.
    reviewer : str, optional
        Who reviewed. By default what the rows say; else the reviewer that the packet was written for.
    revise : bool, default=False
        Whether a verdict may replace another one of the same task. Both stay in the log.
    accept_changed : bool, default=False
        Whether rows may show other values than those that were given out. What they show is kept with the verdict.

    Returns
    -------
    VerdictsTaken

    Raises
    ------
    ValueError
        A task is not in the log, comes twice, has a verdict that is no class or another one than before, shows other
        values than were given out, or nobody knows who reviewed it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from recuse.reviews import ReviewLog, read_verdicts
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "packet.csv").write_text("task,age,verdict\n12ab,54,bad\n")
    >>> read_verdicts(folder / "packet.csv", log=folder / "reviews.jsonl")
    Traceback (most recent call last):
        ...
    ValueError: 1 row cannot be taken in, so that none was: ...packet.csv row 1: the log ... knows no task '12ab'.
    """
    files = [Path(packets)] if isinstance(packets, str | os.PathLike) else [Path(packet) for packet in packets]
    log = log if isinstance(log, ReviewLog) else ReviewLog(log)
    with log.locked():
        intake = _Intake(log, reviewer, revise, accept_changed)
        for file in files:
            intake.read(file)
        intake.require_no_problems()
        if intake.entries:
            log.append_locked(intake.entries)
    outstanding = len(tasks_given(log.records())) - len(verdicts_in_force(log.records()))
    return VerdictsTaken(len(intake.entries), intake.known, intake.revised, intake.open, outstanding, log.head)


class _Intake:
    """Verdicts on their way into the log, and what is wrong with them."""

    def __init__(self, log: ReviewLog, reviewer: str | None, revise: bool, accept_changed: bool) -> None:
        self._path, self._reviewer, self._revise, self._accept_changed = log.path, reviewer, revise, accept_changed
        self._given, self._before = tasks_given(log.records()), verdicts_in_force(log.records())
        self._columns = GivenCells(self._given.values())
        self._seen: dict[str, str] = {}
        self._problems: list[str] = []
        self.entries: list[dict[str, Any]] = []
        self.known = self.revised = self.open = 0

    def read(self, file: Path) -> None:
        """Take in the rows of a file."""
        content = _content(file)
        shown = {name: list(task["shown"]) for name, task in self._given.items()}
        source = {"file": file.name, "digest": sha256(content).hexdigest()}
        exported = content.lstrip()[:1] in (b"[", b"{")
        for row in (label_studio if exported else csv_packets).returned(file, shown):
            try:
                self._take(row, source)
            except ValueError as error:
                self._problems.append(f"{row.where}: {error}")

    def require_no_problems(self) -> None:
        """Refuse everything if anything is wrong."""
        if not self._problems:
            return
        n = len(self._problems)
        more = f"; and {n - _SHOWN_PROBLEMS} more" if n > _SHOWN_PROBLEMS else ""
        raise ValueError(
            f"{n} row{'s' if n > 1 else ''} cannot be taken in, so that none was: "
            f"{'; '.join(self._problems[:_SHOWN_PROBLEMS])}{more}."
        )

    def _take(self, row: ReturnedTask, source: Mapping[str, str]) -> None:
        task = self._given.get(row.task)
        if task is None:
            raise ValueError(f"the log {self._path} knows no task {row.task!r}")
        if row.task in self._seen:
            raise ValueError(f"the task {row.task!r} was in {self._seen[row.task]} already: leave one of the two")
        self._seen[row.task] = row.where
        changed = self._columns.changed(task, row.shown)
        if changed and not self._accept_changed:
            name, value = next(iter(changed.items()))
            now = "is gone" if value is None else f"is {value!r} now"
            raise ValueError(
                f"the column {name!r} of task {row.task!r} was {task['shown'][name]!r} and {now}: put it back, or "
                "take the row as it is (--accept-changed)"
            )
        if not row.verdict:
            self.open += 1
            return
        self._add(row, task, changed, source)

    def _add(
        self, row: ReturnedTask, task: Mapping[str, Any], changed: Mapping[str, Any], source: Mapping[str, str]
    ) -> None:
        drawing = task["drawing"]
        verdict = as_class(row.verdict, drawing["classes"])
        if verdict is None:
            raise ValueError(f"the verdict {row.verdict!r} is no class: there are {preview(drawing['classes'])}")
        before = self._before.get(row.task)
        if before is not None and before["verdict"] == verdict:
            self.known += 1
            return
        if before is not None and not self._revise:
            raise ValueError(
                f"the task {row.task!r} has the verdict {before['verdict']!r} of {before['reviewer']} in the log and "
                f"{verdict!r} here: leave the row out, or replace that verdict (--revise)"
            )
        self.revised += before is not None
        entry = {
            "kind": VERDICT,
            "draw": task["draw"],
            "task": row.task,
            "verdict": verdict,
            "reviewer": self._who(row, task),
            "reviewed_at": _as_time(row.reviewed_at),
            "note": row.note or None,
            "changed": dict(changed) or None,
            "packet": dict(source),
        }
        self.entries.append(entry)

    def _who(self, row: ReturnedTask, task: Mapping[str, Any]) -> str:
        written_for = {packet["file"]: packet["for"] for packet in task["drawing"].get("packets", ())}
        who = self._reviewer or row.reviewer or written_for.get(task["packet"])
        if not who:
            raise ValueError("nobody knows who reviewed it: give the name (--reviewer), or a column 'reviewer'")
        return who


def _content(file: Path) -> bytes:
    """The bytes of a packet; a sentence where there is none."""
    if not file.is_file():
        raise FileNotFoundError(f"The packet {file} does not exist: give the files that came back.")
    return file.read_bytes()


def _as_time(text: str) -> str:
    """A time in UTC, as the log writes it; now, where there is none."""
    if not text:
        return in_utc(datetime.now(UTC))
    pd = require("pandas", "read_verdicts")
    try:
        return in_utc(pd.to_datetime(text, utc=True).to_pydatetime())
    except ValueError:
        raise ValueError(f"reviewed_at={text!r} is no time: write it as 2026-03-02 or 2026-03-02T08:15:00Z") from None
