"""Watching a model by what its reviewers find: whether a promise is broken, and what has changed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..costs import Costs
from ..guarantees.promises import Promise, as_promises
from ..labels import preview
from ..parameters import check_count, check_share
from ..reviews import ReviewLog
from .alarms import (
    CONCEPT,
    DIFFICULTY,
    NOVELTY,
    PROMISE,
    Alarm,
    ColumnAlarm,
    ConceptAlarm,
    PromiseAlarm,
    RateAlarm,
    is_identifier,
)
from .batches import Batch, Reviewed, batches_of
from .result import Found, WatchResult
from .series import audited_error, point_of


def watch(
    log: ReviewLog | str | os.PathLike[str],
    *,
    model: str | None = None,
    promises: Any = None,
    columns: Sequence[str] | None = None,
    alpha: float = 0.05,
    reference: int = 500,
    seed: int = 0,
) -> WatchResult:
    """Say by the reviews of a model whether a promise about accepted cases is broken, and what has changed.

    It may be called after every batch: the probability that it ever gives an alarm while nothing has changed and all
    promises hold is `alpha` at most, however often one looks. What changed is found by evidence that grows batch by
    batch: promises have one half of `alpha`, in equal parts, the concept a quarter, and the other kinds of change the
    rest.

    Parameters
    ----------
    log : ReviewLog or path-like
        The log that `recuse review` keeps.
    model : str, optional
        Digest of the model to watch; by default that of the last batch. Batches of other models are passed over.
    promises : str, float, Promise or list of these, optional
        What was promised about accepted cases, such as "error<=0.02": tested on the audited cases, from the first
        batch on.
    columns : sequence of str, optional
        Columns to watch, of those that reviewers were shown; all by default.
    alpha : float, default=0.05
        Probability of any false alarm.
    reference : int, default=500
        The first batches that count, with so many reviewed cases together, are what later ones are compared with.
        Until they are there, promises alone are watched, or nothing.
    seed : int, default=0
        Of the order of ties. Keep it: looking with several seeds and believing the worst is no longer one look.

    Returns
    -------
    WatchResult

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from recuse.reviews import ReviewLog
    >>> from recuse.watching import World, watch
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = ReviewLog(pathlib.Path(folder) / "reviews.jsonl")
    ...     _ = log.append(World(cases=800, audit=0.2).records(12, random_state=0))
    ...     changed = World(cases=800, audit=0.2, turned=1.0)
    ...     _ = log.append(changed.records(8, random_state=1, first=12))
    ...     result = watch(log, promises="error<=0.1")
    >>> [(found.kind, found.alarm >= 12) for found in result.alarms]
    [('promise', True), ('concept', True)]
    """
    check_share("alpha", alpha)
    check_count("reference", reference, least=20)
    log = ReviewLog(log) if isinstance(log, str | os.PathLike) else log
    batches = _of_model(batches_of(log.records()), model, log)
    wanted = () if promises is None else as_promises(promises)
    n_reference = _reference_batches(batches, reference)
    watched = _Watched(batches, n_reference, seed)
    watched.add_promises(wanted, Costs(**batches[-1].drawing["prices"]))
    watched.add_changes(columns, reference)
    found = watched.follow(alpha)
    points = [point_of(batch, number < n_reference) for number, batch in enumerate(batches)]
    complete = [batch for batch in batches if batch.complete]
    since = complete[n_reference:] or complete  # the reference comes first, and is complete
    error = audited_error(_audited(since)) if since else None
    needed = watched.audits_needed(found)
    return WatchResult(batches[-1].model, points, found, alpha, error, watched.not_watched(found), needed)


def _of_model(batches: list[Batch], model: str | None, log: ReviewLog) -> list[Batch]:
    if not batches:
        raise ValueError(f"The log {log.path} holds no cases given to reviewers: begin with `recuse review out`.")
    wanted = batches[-1].model if model is None else model
    found = [batch for batch in batches if batch.model == wanted]
    if not found:
        raise ValueError(
            f"The log {log.path} holds no batch of the model {wanted}: its last is of {batches[-1].model}. Give the "
            "file whose answers were reviewed."
        )
    classes = found[-1].drawing["classes"]
    if len(classes) != 2:
        raise ValueError(f"watch is for two classes; the model of the log {log.path} has {preview(classes)}.")
    return found


def _n_counted(batches: list[Batch]) -> int:
    return sum(len(batch.reviewed) for batch in batches if batch.complete)


def _reference_batches(batches: list[Batch], wanted: int) -> int:
    """How many batches make the reference; 0 if there are not enough yet."""
    reviewed = 0
    for number, batch in enumerate(batches, 1):
        if not batch.complete:
            return 0
        reviewed += len(batch.reviewed)
        if reviewed >= wanted:
            return number
    return 0


def _audited(batches: Sequence[Batch]) -> Reviewed:
    reviewed = Reviewed.together(batch.reviewed for batch in batches)
    return reviewed.among(reviewed.audit)


class _Watched:
    """What is watched, each with random numbers of its own, so that one more changes nothing about the others."""

    def __init__(self, batches: list[Batch], n_reference: int, seed: int) -> None:
        self.batches, self.n_reference, self.seed = batches, n_reference, seed
        self.promises: list[PromiseAlarm] = []
        self.changes: list[Alarm] = []
        self._reasons: list[str] = []

    def add_promises(self, promises: Sequence[Promise], costs: Costs) -> None:
        """Watch promises, but for those that cannot be broken."""
        for promise in promises:
            alarm = PromiseAlarm(promise, costs)
            if alarm.level < 1:
                self.promises.append(alarm)
            else:
                self._reasons.append(f"{promise}: no answer costs more than that, so it cannot be broken")

    def add_changes(self, columns: Sequence[str] | None, wanted: int) -> None:
        """Watch concept, difficulty, novelty and columns against the reference."""
        if self.n_reference == 0:
            counted = _n_counted(self.batches)
            hint = "" if self.promises else "; a promise needs none (--promise)"
            text = f"changes: compared with the first {wanted} reviewed cases, of which {counted} count{hint}"
            self._reasons.append(text)
            return
        batches = self.batches[: self.n_reference]
        reference = Reviewed.together(batch.reviewed for batch in batches)
        if np.isfinite(reference.scores).any():
            concept = ConceptAlarm(np.random.default_rng([self.seed, 0]))
            concept.start(reference)
            self.changes.append(concept)
        else:
            self._reasons.append("concept: the reviewed answers have neither probability nor h")
        for n, kind in enumerate((DIFFICULTY, NOVELTY)):
            rate = RateAlarm(kind, np.random.default_rng([self.seed, 1, n]))
            rate.start(batches)
            self.changes.append(rate)
        self._add_columns(reference, columns)

    def _add_columns(self, reference: Reviewed, columns: Sequence[str] | None) -> None:
        shown = sorted({name for case in reference.shown for name in case})
        unknown = [name for name in columns or () if name not in shown]
        if unknown:
            raise ValueError(f"columns={unknown[0]!r} was not shown to reviewers: there are {', '.join(shown)}.")
        for n, name in enumerate(shown):
            if columns is not None and name not in columns:
                continue
            if is_identifier(reference, name):
                self._reasons.append(f"column {name!r}: it has another value in nearly every row")
                continue
            alarm = ColumnAlarm(name, np.random.default_rng([self.seed, 2, n]))
            alarm.start(reference)
            self.changes.append(alarm)

    def follow(self, alpha: float) -> list[Found]:
        """Evidence after each batch, and how strong it must be."""
        parts, found = self._parts(), []
        for alarm in [*self.promises, *self.changes]:
            first = 0 if isinstance(alarm, PromiseAlarm) else self.n_reference  # the reference keeps its promise or not
            threshold = parts[alarm.kind] / alpha
            evidence = [None] * first + [alarm.add(batch) for batch in self.batches[first:]]
            over = (number for number, value in enumerate(evidence) if value is not None and value >= threshold)
            found.append(Found(alarm.kind, alarm.name, threshold, tuple(evidence), next(over, None)))
        return found

    def _parts(self) -> dict[str, int]:
        """In how many parts alpha is cut for an alarm of each kind; the sum of their inverses over all alarms is 1.

        Promises and changes have one half each, where there are both. Of the changes the concept has one half, and the
        other kinds share the rest; columns share that of their kind.
        """
        alarms = Counter(alarm.kind for alarm in self.changes)
        halves = 2 if self.promises and self.changes else 1
        others = [kind for kind in alarms if kind != CONCEPT]
        left = 2 * halves if CONCEPT in alarms else halves
        parts = {kind: left * len(others) * alarms[kind] for kind in others}
        return parts | {CONCEPT: 2 * halves, PROMISE: halves * len(self.promises)}

    def not_watched(self, found: Sequence[Found]) -> list[str]:
        """What could not be watched, and why."""
        silent = [f.name for f in found[: len(self.promises)] if all(value is None for value in f.evidence)]
        return [
            *self._reasons,
            *(f"{name}: no accepted case that it speaks of has a verdict that counts yet" for name in silent),
        ]

    def audits_needed(self, found: Sequence[Found]) -> dict[str, int]:
        """About how many audited cases show that twice as much goes wrong as was promised."""
        n = len(self.batches)
        pairs = zip(self.promises, found, strict=False)
        still_kept = [(alarm, f) for alarm, f in pairs if f.alarm is None]
        return {alarm.name: int(np.ceil(alarm.audits_to_find(2.0, f.threshold, n))) for alarm, f in still_kept}
