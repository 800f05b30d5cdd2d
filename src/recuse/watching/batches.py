"""What a log of reviews says, batch by batch: one for each time cases were drawn from the answers of a model.

A batch counts from the record on that brought the last of its verdicts: if one looked at those that came first, easy
cases would speak before difficult ones. When that is past `PATIENCE`, it counts with the verdicts it has by then. The
batches come in the order in which they began to count, with the verdicts of that moment: since a log is only ever
appended to, a later look sees what an earlier one saw, and more. Those that do not count yet come last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Indices
from ..reviews.records import AUDIT, DRAW, VERDICT, tasks_given

PATIENCE = timedelta(days=30)


@dataclass(frozen=True, eq=False)
class Reviewed:
    """Cases of a batch that have a verdict.

    Attributes
    ----------
    audit : ndarray of bool of shape (n,)
        Which of them the model had accepted; the others it had rejected.
    positive, forced_positive : ndarray of bool of shape (n,)
        The verdicts, and the classes without the reject option.
    scores : ndarray of shape (n,)
        Probability of the positive class; the class score of models without.
    sampling : ndarray of shape (n,)
        Probability with which each case was drawn.
    drawn_as : ndarray of int of shape (n,)
        How: `ALL_REJECTED`, `URGENT`, `AT_RANDOM` or `AUDITED`.
    shown : ndarray of dict of shape (n,)
        The columns the reviewer saw, as text.
    case : ndarray of int of shape (n,)
        Their numbers in the table that was answered, from 1.
    """

    audit: Flags
    positive: Flags
    forced_positive: Flags
    scores: Floats
    sampling: Floats
    drawn_as: NDArray[np.intp]
    shown: NDArray[Any]
    case: Indices

    def __len__(self) -> int:
        return len(self.audit)

    def among(self, rows: Any) -> Reviewed:
        """Some of them."""
        return Reviewed(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))

    @staticmethod
    def together(parts: Iterable[Reviewed]) -> Reviewed:
        """All of several batches, of which there is at least one."""
        listed = list(parts)
        names = Reviewed.__dataclass_fields__
        return Reviewed(*(np.concatenate([getattr(part, name) for part in listed]) for name in names))


ALL_REJECTED, URGENT, AT_RANDOM, AUDITED = range(4)


@dataclass(frozen=True, eq=False)
class Batch:
    """Answers that were drawn from at one time.

    Attributes
    ----------
    draw, at, model : str
        Identity and time of the draw, and the digest of the model.
    cases, ambiguity, novelty : int
        All answers, and those rejected for either reason.
    again : bool
        Whether the same answers were drawn from before: then its counts are known, and only further cases are new.
    open : int
        Cases given to reviewers that have no verdict yet.
    complete : bool
        Whether it counts.
    reviewed : Reviewed
        Those with a verdict.
    drawing : mapping
        The record of the draw.
    """

    draw: str
    at: str
    model: str
    cases: int
    ambiguity: int
    novelty: int
    again: bool
    open: int
    complete: bool
    reviewed: Reviewed
    drawing: Mapping[str, Any]

    @property
    def accepted(self) -> int:
        """Cases that the model answered."""
        return self.cases - self.ambiguity - self.novelty


def batches_of(records: list[dict[str, Any]]) -> list[Batch]:
    """The batches of a log: those that count, in the order in which they began to, and then the others."""
    draws = _draws(records)
    closed = _closed(records, draws)
    waiting = [draw for draw in draws.values() if draw.name not in {name for name, _ in closed}]
    latest = _verdicts(records)
    counted = [_batch(draws[name], verdicts, complete=True) for name, verdicts in closed]
    return counted + [_batch(draw, latest, complete=False) for draw in waiting]


@dataclass(frozen=True, eq=False)
class _Draw:
    """A draw with its tasks; those of cases that were given out before are left out."""

    name: str
    record: Mapping[str, Any]
    tasks: list[dict[str, Any]]
    again: bool


def _draws(records: list[dict[str, Any]]) -> dict[str, _Draw]:
    """The finished draws, in the order of the log. The same case of the same answers is one case."""
    by_draw: dict[str, list[dict[str, Any]]] = {}
    for task in tasks_given(records).values():
        by_draw.setdefault(task["draw"], []).append(task)
    draws: dict[str, _Draw] = {}
    seen: dict[str, set[int]] = {}
    for record in records:
        if record["kind"] == DRAW:
            name = record["draw"]
            answers = record["answers"].get("digest", f"draw {name}")
            known = seen.setdefault(answers, set())
            tasks = [task for task in by_draw.get(name, []) if task["case"] not in known]
            draws[name] = _Draw(name, record, tasks, again=bool(known))
            known |= {task["case"] for task in tasks}
    return draws


def _closed(records: list[dict[str, Any]], draws: dict[str, _Draw]) -> list[tuple[str, dict[str, Any]]]:
    """Draws that count, in the order in which they began to, each with the verdicts there were at that record."""
    waiting: dict[str, set[str]] = {}
    begun: dict[str, datetime] = {}
    given_by = {task["task"]: name for name, draw in draws.items() for task in draw.tasks}
    verdicts: dict[str, dict[str, Any]] = {name: {} for name in draws}
    closed = []

    def close(name: str) -> None:
        waiting.pop(name)
        closed.append((name, dict(verdicts[name])))

    for record in records:
        now = datetime.fromisoformat(record["at"])
        for name in [name for name in waiting if now - begun[name] > PATIENCE]:
            close(name)
        if record["kind"] == DRAW:
            name = record["draw"]
            waiting[name], begun[name] = {task["task"] for task in draws[name].tasks}, now
            if not waiting[name]:
                close(name)
        elif record["kind"] == VERDICT:
            if record["task"] in given_by:  # else one of a case that was given out before
                verdicts[given_by[record["task"]]][record["task"]] = record["verdict"]
            if record["draw"] in waiting:
                waiting[record["draw"]].discard(record["task"])
                if not waiting[record["draw"]]:
                    close(record["draw"])
    return closed


def _verdicts(records: list[dict[str, Any]]) -> dict[str, Any]:
    return {record["task"]: record["verdict"] for record in records if record["kind"] == VERDICT}


def _batch(draw: _Draw, verdicts: Mapping[str, Any], complete: bool) -> Batch:
    record, done = draw.record, [task for task in draw.tasks if task["task"] in verdicts]
    counts = record["counts"]
    return Batch(
        draw.name,
        record["at"],
        record["model"]["digest"],
        counts["cases"],
        counts["ambiguity"],
        counts["novelty"],
        draw.again,
        len(draw.tasks) - len(done),
        complete,
        _reviewed(done, verdicts, str(record["positive"])),
        record,
    )


def _reviewed(tasks: list[dict[str, Any]], verdicts: Mapping[str, Any], positive: str) -> Reviewed:
    answers = [task["answer"] for task in tasks]
    probabilities = np.array([_number(answer.get("probability")) for answer in answers], dtype=np.float64)
    scores = np.array([_number(answer.get("h")) for answer in answers], dtype=np.float64)
    audit = np.array([task["stratum"] == AUDIT for task in tasks], dtype=bool)
    sampling = np.array([task["sampling_probability"] for task in tasks], dtype=np.float64)
    shown = np.empty(len(tasks), dtype=object)
    shown[:] = [task["shown"] for task in tasks]
    return Reviewed(
        audit,
        np.array([str(verdicts[task["task"]]) == positive for task in tasks], dtype=bool),
        np.array([str(answer.get("forced")) == positive for answer in answers], dtype=bool),
        np.where(np.isnan(probabilities), scores, probabilities),
        sampling,
        _drawn_as(audit, sampling),
        shown,
        np.array([task["case"] for task in tasks], dtype=np.intp),
    )


def _drawn_as(audit: Flags, sampling: Floats) -> NDArray[np.intp]:
    """How each case was drawn: where not all rejected cases are reviewed, urgent ones are not like the others."""
    at_random = ~audit & (sampling < 1)
    rejected = np.where(at_random, AT_RANDOM, URGENT if at_random.any() else ALL_REJECTED)
    return np.where(audit, AUDITED, rejected).astype(np.intp)


def _number(value: Any) -> float:
    return np.nan if value is None else float(value)
