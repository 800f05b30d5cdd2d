"""What the records of a review log say: which kinds there are, what each must have, and the table of reviews they make.

A draw gives cases to reviewers. Its tasks come first, one record per case; the record of the draw closes them, so that
tasks after which no such record comes are those of a writer that was killed: nobody was given them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from ..extras import require

LOG, TASK, DRAW, VERDICT = "log", "task", "draw", "verdict"
REJECTED, AUDIT = "rejected", "audit"  # strata: why a case was drawn

ANSWER = ("decision", "kind", "forced", "probability", "h", "r", "reason")

# Kind of record -> what it must have. Kinds that are not listed are free.
REQUIRED = {
    TASK: ("draw", "task", "case", "packet", "stratum", "sampling_probability", "answer", "shown"),
    DRAW: ("draw", "tasks", "model", "classes", "positive", "prices", "answers", "counts", "audit", "seed", "blind"),
    VERDICT: ("draw", "task", "verdict", "reviewer", "reviewed_at"),
}

REVIEW_COLUMNS = (
    "task",
    "draw",
    "drawn_at",
    "model",
    "case",
    "packet",
    "stratum",
    "sampling_probability",
    *ANSWER,
    "shown",
    "blind",
    "verdict",
    "reviewer",
    "reviewed_at",
    "received_at",
    "note",
    "changed",
)


def in_utc(time: datetime) -> str:
    """A moment as records write it."""
    return time.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def tasks_given(records: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The tasks of finished draws, by their identity, in the order of the log; each with its "drawing" record."""
    waiting: list[Mapping[str, Any]] = []
    given: dict[str, dict[str, Any]] = {}
    for record in records:
        if record["kind"] == TASK:
            waiting.append(record)
        elif record["kind"] == DRAW:
            given |= {task["task"]: {**task, "drawing": record} for task in waiting if task["draw"] == record["draw"]}
            waiting = []
    return given


def verdicts_in_force(records: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The verdict of each task that has one: the last, where it was revised."""
    return {record["task"]: record for record in records if record["kind"] == VERDICT}


def as_table(records: list[dict[str, Any]]) -> Any:
    """One row per task: what the model answered, how the case was drawn, and the verdict in force."""
    pd = require("pandas", "ReviewLog.to_pandas")
    verdicts = verdicts_in_force(records)
    rows = [_row(task, verdicts.get(name, {})) for name, task in tasks_given(records).items()]
    table = pd.DataFrame(rows, columns=list(REVIEW_COLUMNS))
    times = {name: pd.to_datetime(table[name], utc=True) for name in ("drawn_at", "reviewed_at", "received_at")}
    numbers = {name: table[name].astype(float) for name in ("sampling_probability", "probability", "h", "r")}
    # Classes stay what they are: None marks a case without a verdict, also among numbers.
    return table.assign(**times, **numbers).astype({"verdict": object, "forced": object, "decision": object})


def _row(task: Mapping[str, Any], verdict: Mapping[str, Any]) -> dict[str, Any]:
    drawing = task["drawing"]
    facts = {name: task[name] for name in ("task", "draw", "case", "packet", "stratum", "sampling_probability")}
    answer = {name: task["answer"].get(name) for name in ANSWER}
    reviewed = {name: verdict.get(name) for name in ("verdict", "reviewer", "reviewed_at", "note", "changed")}
    return {
        **facts,
        **answer,
        **reviewed,
        "drawn_at": drawing["at"],
        "model": drawing["model"]["digest"],
        "shown": task["shown"],
        "blind": drawing["blind"],
        "received_at": verdict.get("at"),
    }
