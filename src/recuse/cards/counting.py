"""Counts of cases given to reviewers. Their sources say which cases were counted, so that anybody can count again.

``reviews.jsonl#tasks[stratum=audit][verdict=differs]`` are the tasks of the log that fulfil all conditions in brackets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..reviews.records import tasks_given, verdicts_in_force
from .figures import NUMBER, SHARE, Cell, Figure

AGREES, DIFFERS, OPEN = "agrees", "differs", "open"  # verdicts beside the class that the model gives or would give


@dataclass(frozen=True)
class Tasks:
    """Cases given to reviewers, all or those that fulfil conditions.

    Attributes
    ----------
    name : str
        Name of the log.
    rows : sequence of dict
        Of each task its model, draw, stratum, kind, blind, reviewer, and as verdict whether it agrees with the model.
    conditions : str
        Which tasks they are.
    """

    name: str
    rows: Sequence[dict[str, str]]
    conditions: str = ""

    @classmethod
    def of(cls, name: str, records: list[dict[str, Any]]) -> Tasks:
        """All tasks of a log."""
        verdicts = verdicts_in_force(records)
        return cls(name, [_row(task, verdicts.get(name)) for name, task in tasks_given(records).items()])

    def where(self, **wanted: str) -> Tasks:
        """Those that have these values."""
        chosen = [row for row in self.rows if all(row[name] == value for name, value in wanted.items())]
        return Tasks(self.name, chosen, self.conditions + _brackets("=", wanted))

    def but(self, **unwanted: str) -> Tasks:
        """Those that do not have these values."""
        chosen = [row for row in self.rows if all(row[name] != value for name, value in unwanted.items())]
        return Tasks(self.name, chosen, self.conditions + _brackets("!=", unwanted))

    def named(self, known: str, public: str) -> Tasks:
        """The same, with another name for a value in what is said of their source."""
        return Tasks(self.name, self.rows, self.conditions.replace(f"[reviewer={known}]", f"[reviewer={public}]"))

    @property
    def count(self) -> Figure:
        """How many."""
        return Figure(len(self.rows), f"{self.name}#tasks{self.conditions}", NUMBER)

    def share(self, verdict: str) -> Cell:
        """The share with such a verdict, among those that have one, with both counts."""
        whole, part = self.but(verdict=OPEN), self.where(verdict=verdict)
        if not whole.rows:
            return Cell((part.count, whole.count), "{} of {}")
        quotient = f"{self.name}#tasks{part.conditions} / tasks{whole.conditions}"
        share = Figure(len(part.rows) / len(whole.rows), quotient, SHARE)
        return Cell((share, part.count, whole.count), "{} ({} of {})")


def short(digest: str) -> str:
    """The first digits of a digest, which are enough to tell models apart."""
    return str(digest)[:12]


def _brackets(sign: str, conditions: dict[str, str]) -> str:
    return "".join(f"[{name}{sign}{value}]" for name, value in conditions.items())


def _row(task: dict[str, Any], verdict: Any) -> dict[str, str]:
    answer, drawing = task["answer"], task["drawing"]
    return {
        "model": short(drawing["model"]["digest"]),
        "draw": str(task["draw"]),
        "stratum": str(task["stratum"]),
        "kind": str(answer.get("kind")),
        "blind": "yes" if drawing["blind"] else "no",
        "reviewer": "" if verdict is None else str(verdict["reviewer"] or ""),
        "verdict": OPEN if verdict is None else _agreement(answer, verdict),
    }


def _agreement(answer: dict[str, Any], verdict: Any) -> str:
    return AGREES if str(verdict["verdict"]) == str(answer.get("forced")) else DIFFERS
