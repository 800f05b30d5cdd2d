"""What a watch found: evidence, alarms and series, as lines for a terminal and as plain numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ..comparison.intervals import Interval
from .series import Point


@dataclass(frozen=True)
class Found:
    """One thing that is watched.

    Attributes
    ----------
    kind, name : str
        What an alarm means, and of what it speaks: the promise, the rate, the column.
    threshold : float
        Evidence that makes an alarm.
    evidence : tuple of float or None
        After each batch; None where nothing had been seen.
    alarm : int or None
        Number of the batch that made the alarm, from 0; None while there is none.
    """

    kind: str
    name: str
    threshold: float
    evidence: tuple[float | None, ...]
    alarm: int | None

    @property
    def strongest(self) -> float:
        """The strongest evidence at any time; 1 before anything was seen."""
        return max((value for value in self.evidence if value is not None), default=1.0)


@dataclass(frozen=True)
class WatchResult:
    """What a log of reviews says about a model.

    Attributes
    ----------
    model : str
        Digest of the model.
    points : list of Point
        The batches, in the order in which they began to count; those that do not yet come last.
    found : list of Found
        What was watched, with the evidence after each batch.
    alpha : float
        The probability of any false alarm, ever.
    error : Interval or None
        Error rate among accepted cases after the reference, from all audits; of the reference where nothing came after.
    not_watched : list of str
        What could not be watched, and why.
    audits_needed : dict of str to int
        Promise -> about how many audited cases show, from now on, that twice as much goes wrong; none of broken ones.
    """

    model: str
    points: list[Point]
    found: list[Found]
    alpha: float
    error: Interval | None
    not_watched: list[str] = field(default_factory=list)
    audits_needed: dict[str, int] = field(default_factory=dict)

    @property
    def alarms(self) -> list[Found]:
        """What made an alarm."""
        return [found for found in self.found if found.alarm is not None]

    @property
    def error_of(self) -> str:
        """Which cases `error` speaks of."""
        after = any(point.counted and not point.reference for point in self.points)
        return "since the reference" if after and self.points[0].reference else "so far"

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return {
            "model": self.model,
            "alpha": self.alpha,
            "alarms": [self._alarm(found) for found in self.alarms],
            "error": None if self.error is None else self.error._asdict(),
            "error_of": self.error_of,
            "not_watched": self.not_watched,
            "audits_needed": self.audits_needed,
            "found": [asdict(found) for found in self.found],
            "batches": [point.as_dict() for point in self.points],
        }

    def _alarm(self, found: Found) -> dict[str, Any]:
        assert found.alarm is not None
        point = self.points[found.alarm]
        facts = {"kind": found.kind, "name": found.name, "batch": found.alarm, "draw": point.draw, "at": point.at}
        return facts | {"sentence": sentence(found, self.points)}

    def lines(self) -> Iterator[str]:
        """The result for a terminal."""
        compared = sum(point.reference for point in self.points)
        reviewed = sum(point.reviewed for point in self.points)
        first = {0: "no reference yet", 1: "the first is the reference"}
        reference = first.get(compared, f"the first {compared} are the reference")
        yield f"{batches_said(len(self.points))}, {reviewed:,} reviewed cases; {reference}"
        waiting = [point for point in self.points if not point.counted]
        if waiting:
            n_open = sum(point.open for point in waiting)
            yield f"waiting: {n_open:,} cases without a verdict keep {batches_said(len(waiting))} from being counted"
        if self.error is not None:
            value, low, high = self.error
            yield f"error among accepted cases {self.error_of}: {value:.1%} ({low:.1%} to {high:.1%}), from the audit"
        yield from self._expected()
        for promise, audits in self.audits_needed.items():
            yield f"{promise}: twice as much would be found after about {audits:,} audited cases"
        for reason in self.not_watched:
            yield f"not watched: {reason}"
        if not self.found:
            yield "nothing is watched yet"
        elif not self.alarms:
            yield f"no alarm (any false alarm, ever, has probability {self.alpha:g} at most)"
        for found in self.alarms:
            yield f"ALARM {sentence(found, self.points)}"

    def _expected(self) -> Iterator[str]:
        """What the model expects of itself, called what it is."""
        known = [point for point in self.points if point.expected_error is not None]
        after = [point for point in known if not point.reference] or known
        later = [point.expected_error for point in after if point.expected_error is not None]
        if later:
            mean = sum(later) / len(later)
            yield f"the model expects {mean:.1%}, without any verdict: that does not see whether outcomes have changed"


def batches_said(n: int) -> str:
    """So many batches, in words."""
    return f"{n:,} batch" if n == 1 else f"{n:,} batches"


def sentence(found: Found, points: Sequence[Point]) -> str:
    """What an alarm means, in words."""
    assert found.alarm is not None
    since = f"by batch {found.alarm + 1} ({points[found.alarm].at[:10]})"
    words = {
        "promise": f"promise broken: {found.name} no longer holds among accepted cases, {since}",
        "concept": f"concept: {found.name} differ from the reference, {since}; the model should be updated",
        "difficulty": f"difficulty: the {found.name} is not that of the reference, {since}",
        "novelty": f"novelty: the {found.name} is not that of the reference, {since}",
        "columns": f"column {found.name!r} has other values among reviewed cases than in the reference, {since}",
    }
    return words[found.kind]
