"""Sections from the log of reviews: what people decided beside the model, and what is watched."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..guarantees.promises import as_promises
from ..parameters import check_count, check_share
from ..reviews import LogState, ReviewLog
from ..reviews.records import AUDIT, DRAW, REJECTED
from ..watching import watch_model
from .counting import DIFFERS, OPEN, Tasks, short
from .figures import INTERVAL, NUMBER, SHARE, Cell, Document, FactTable, Figure, Section, facts, words
from .model_file import FittedModel
from .running import RunFiles

_TRIGGERS = {
    "promise": "stop relying on the promise; accept fewer cases or none until a new model has shown it",
    "concept": "the model answers by what no longer holds: review more, fit it again with the reviewed cases",
    "difficulty": "look which cases have become ambiguous; see that reviewers can keep up",
    "novelty": "look at the novelties: a new kind of case, or a broken source; fit again if they stay",
    "columns": "look at the source of that column first; a value that moves need not harm",
}
_WAYS = {
    "verified": "recuse review verify {log} --json",
    "watched": "recuse watch {model} --log {log} --json",
}


@dataclass(frozen=True)
class Oversight:
    """The log of reviews, checked.

    Attributes
    ----------
    log : ReviewLog
        The log.
    state : LogState
        What checking it found.
    tasks : Tasks
        Cases of this model that were given to reviewers.
    others : Tasks
        Those of other models.
    head_kept : bool
        Whether the log was compared with a head that was kept elsewhere.
    name_reviewers : bool
        Whether reviewers are named.
    """

    log: ReviewLog
    state: LogState
    tasks: Tasks
    others: Tasks
    head_kept: bool
    name_reviewers: bool = False

    @classmethod
    def of(
        cls, path: str | os.PathLike[str], files: RunFiles | FittedModel, *, head: str | None, name_reviewers: bool
    ) -> Oversight:
        """Read and check a log; refuse one that says nothing of the model of the run."""
        if not Path(path).is_file():
            raise FileNotFoundError(f"The log {os.fspath(path)} does not exist: `recuse review out` begins one.")
        if files.model is None:
            raise ValueError(
                f"log={os.fspath(path)!r}: the run holds no {os.fspath(files.model_path)}, so that nobody can say "
                "which cases of the log are its model's: leave out log."
            )
        log = ReviewLog(path, head=head)
        digest = files.model.at("digest")
        every = Tasks.of(log.path.name, log.records())
        tasks = every.where(model=short(digest))
        if not tasks.rows:
            raise ValueError(
                f"The log {os.fspath(path)} holds no cases of the model {os.fspath(files.model_path)}, whose digest is "
                f"{digest}: give the log that belongs to it, or make the card of the model whose answers were reviewed "
                f"(recuse card MODEL), whose digest begins with {every.rows[-1]['model'] if every.rows else 'another'}."
            )
        return cls(log, log.verify(head=head), tasks, every.but(model=short(digest)), head is not None, name_reviewers)

    @property
    def head(self) -> Figure:
        """The head of the log, for which all counts hold."""
        return Figure(self.state.head, f"{self.log.path.name}#head")

    def section(self) -> Section:
        """What reviewers were given and what they found."""
        notes = (
            "Accepted cases are overridden by a verdict of another class than the model's. In a rejected case it "
            "decided nothing: another class is one that it would not have given, had it been made to answer.",
            "Tasks that the model accepted are the audit: a random share of its answers, mixed in unmarked.",
            "Rejected cases may be chosen by urgency, so their share is one of reviewed cases, not of all.",
            "Agreement among cases shown with the model's suggestion says less than among blind ones: people follow.",
        )
        kept = (
            "The log holds the head that was kept elsewhere: what it said up to there is what it says now."
            if self.head_kept
            else "No head that was kept elsewhere was given: whoever may write the log could have written it anew."
        )
        tables = (facts(self._log_facts()), self._agreement(), self._reviewers())
        return Section("oversight", "Human oversight", tables, tuple(map(words, (kept, *notes))))

    def _log_facts(self) -> dict[str, Cell]:
        records = Document(self.log.path.name, self.log.records())
        drawn = {row["draw"] for row in self.tasks.rows}
        draws = [
            number
            for number, record in enumerate(records.content)
            if record["kind"] == DRAW and record["draw"] in drawn
        ]
        last, end = draws[-1], len(records.content) - 1
        verified = Document(_WAYS["verified"].format(log=self.log.path.name), _plain_state(self.state))
        return {
            "Records of the log, checked": verified.cell("records", form=NUMBER),
            "Head of the log": Cell((self.head,)),
            "Records at its end that its head file does not know": verified.cell("after_head", form=NUMBER),
            "First cases given to reviewers": records.cell(draws[0], "at"),
            "Last cases given to reviewers": records.cell(last, "at"),
            "Last record": records.cell(end, "at"),
            "Cases given to reviewers": Cell((self.tasks.count,)),
            "Cases of other models in the log": Cell((self.others.count,)),
            "Cases with a verdict": Cell((self.tasks.but(verdict=OPEN).count,)),
            "Share of accepted cases that was audited last": records.cell(last, "audit", form=SHARE),
            "Limit to the rejected cases reviewed last": records.cell(last, "capacity", form=NUMBER),
            "Cases answered last": records.cell(last, "counts", "cases", form=NUMBER),
            "Of them accepted, ambiguous and novel": Cell(
                tuple(
                    records.figure(last, "counts", name, form=NUMBER) for name in ("accepted", "ambiguity", "novelty")
                ),
                "{}, {} and {}",
            ),
        }

    def _agreement(self) -> FactTable:
        parts = {
            "rejected, as ambiguous": {"stratum": REJECTED, "kind": "ambiguity"},
            "rejected, as novel": {"stratum": REJECTED, "kind": "novelty"},
            "accepted (audit)": {"stratum": AUDIT},
        }
        rows = []
        for name, conditions in parts.items():
            for blind, shown in (("yes", "blind"), ("no", "with the model's suggestion")):
                part = self.tasks.where(**conditions, blind=blind)
                if part.rows:
                    rows.append((words(f"{name}, {shown}"), Cell((part.count,)), part.share(DIFFERS)))
        return FactTable(("cases", "given to reviewers", "verdict of another class"), tuple(rows))

    def _reviewers(self) -> FactTable:
        """What each reviewer found, in the order in which they first had a case."""
        reviewed = self.tasks.but(verdict=OPEN)
        rows = []
        for number, name in enumerate(dict.fromkeys(row["reviewer"] for row in reviewed.rows), 1):
            public = name if self.name_reviewers else f"#{number}"
            found = {stratum: reviewed.where(reviewer=name, stratum=stratum) for stratum in (REJECTED, AUDIT)}
            cells = (part.named(name, public).share(DIFFERS) for part in found.values())
            rows.append((_who(name, number, self.name_reviewers), *cells))
        return FactTable(("reviewer", "another class among rejected cases", "overridden in the audit"), tuple(rows))


def _who(name: str, number: int, named: bool) -> Cell:
    return words((name or "(not named)") if named else f"reviewer {number}")


def _plain_state(state: LogState) -> dict[str, Any]:
    return {"records": state.records, "head": state.head, "after_head": state.after_head}


def monitoring(
    oversight: Oversight, files: RunFiles | FittedModel, **settings: Any
) -> tuple[Section, tuple[Cell, ...]]:
    """What is watched, what was found and what to do then; and the alarms, which a card begins with."""
    title = "Monitoring"
    check_share("alpha", settings["alpha"])
    check_count("reference", settings["reference"], least=20)
    if settings["promises"] is not None:
        settings["promises"] = as_promises(settings["promises"])
    try:
        result = watch_model(files.model_path, oversight.log.path, **settings)
    except ValueError as error:
        # A model that cannot be watched is no reason to write no card.
        return Section("monitoring", title, (_triggers(),), (words(f"Nothing can be watched. {error}"),)), ()
    way = _WAYS["watched"].format(model=files.model_path.name, log=oversight.log.path.name) + _options(settings)
    found = Document(way, result.as_dict())
    rows = {"Probability of any false alarm, ever": found.cell("alpha", form=SHARE)}
    if result.error is not None:
        limits = tuple(found.figure("error", name, form=SHARE) for name in ("value", "low", "high"))
        rows[f"Error among accepted cases {result.error_of}, from the audit"] = Cell(limits, INTERVAL)
    alarms = tuple(found.cell("alarms", number, "sentence", text="ALARM {}") for number in range(len(result.alarms)))
    said = [] if alarms else [words("There is no alarm." if result.found else "Nothing can be watched yet.")]
    said += [found.cell("not_watched", number, text="Not watched: {}") for number in range(len(result.not_watched))]
    if settings["promises"] is not None:
        said.append(words("The promise watched is the one given for this card, whatever the model was fitted to keep."))
    if all(thing.kind != "promise" for thing in result.found):
        said.append(words("No promise is watched: none was given, and the model was fitted to keep none."))
    return Section("monitoring", title, (facts(rows), _watched(found), _triggers()), (*alarms, *said)), alarms


def _watched(found: Document) -> FactTable:
    """Each thing that is watched: the evidence that makes an alarm, and the latest."""
    rows = []
    for number, thing in enumerate(found.at("found")):
        seen = [place for place, value in enumerate(thing["evidence"]) if value is not None]
        latest = found.cell("found", number, "evidence", seen[-1], form=NUMBER) if seen else words("none yet")
        alarm = found.at("found", number, "alarm")
        rows.append(
            (
                found.cell("found", number, "kind"),
                found.cell("found", number, "name"),
                found.cell("found", number, "threshold", form=NUMBER),
                latest,
                words("no") if alarm is None else found.cell("batches", alarm, "at", text="since {}"),
            )
        )
    return FactTable(("kind", "what", "evidence for an alarm", "latest evidence", "alarm"), tuple(rows))


def _triggers() -> FactTable:
    return FactTable(("alarm", "what to do"), tuple((words(kind), words(text)) for kind, text in _TRIGGERS.items()))


def _options(settings: dict[str, Any]) -> str:
    """The options of `recuse watch` that give the same."""
    promises = settings.get("promises") or ()
    return "".join(f' --promise "{promise}"' for promise in promises) + "".join(
        f" --{name} {settings[name]:g}" for name in ("alpha", "reference")
    )


def without_log() -> tuple[Section, Section]:
    """The two sections where no log was given."""
    none = words("No log of reviews was given: recuse card RUN --log reviews.jsonl.")
    planned = words("This is what can be watched as soon as there is one.")
    return (
        Section("oversight", "Human oversight", notes=(none,)),
        Section("monitoring", "Monitoring", (_triggers(),), (none, planned)),
    )
