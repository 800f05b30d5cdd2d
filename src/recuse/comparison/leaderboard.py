"""From what each case pays to a ranking by expected cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Indices
from ..report.html import as_count
from .intervals import EXACTLY_ZERO, Interval, rare_mean
from .payments import Payments

FEW_ERRORS = 10  # of one kind: below, a row's cost rests on a handful of cases
_UNKNOWN = Interval(float("nan"), float("nan"), float("nan"))


class AnyCounts(Protocol):
    """What counts of two classes and of more have in common."""

    @property
    def answered(self) -> float:
        """Cases that were answered."""

    @property
    def rejected(self) -> float:
        """Cases sent to manual review."""

    @property
    def right(self) -> float:
        """Cases that were answered correctly."""

    @property
    def few(self) -> str | None:
        """Which errors are too few for a steady figure."""


@dataclass(frozen=True)
class Counts:
    """How often each thing happened; means over the repetitions.

    Attributes
    ----------
    negatives, positives : float
        Cases of either class that were answered.
    false_alarms, misses : Interval
        Errors among them, with the limits of their expected number in as many cases.
    rejected : float
        Cases sent to manual review.
    """

    negatives: float
    positives: float
    false_alarms: Interval
    misses: Interval
    rejected: float

    @classmethod
    def of(
        cls, columns: NDArray[Any], positive: Flags, units: Indices | None = None, *, constant: bool = False
    ) -> Counts:
        """Count answers of shape (repeats, n); a constant answer makes one kind of error at most."""
        columns, n = np.atleast_2d(columns), columns.shape[-1]
        answered = (columns < 2).mean(axis=0)
        wrong = ((columns < 2) & (columns != positive)).mean(axis=0)
        possible = wrong if constant else answered
        return cls(
            negatives=float(answered[~positive].sum()),
            positives=float(answered[positive].sum()),
            false_alarms=expected_number(wrong * ~positive, float(possible[~positive].any()), units),
            misses=expected_number(wrong * positive, float(possible[positive].any()), units),
            rejected=float(n - answered.sum()),
        )

    @property
    def answered(self) -> float:
        """Cases that were answered."""
        return self.negatives + self.positives

    @property
    def right(self) -> float:
        """Cases that were answered correctly."""
        return self.answered - self.false_alarms.value - self.misses.value

    @property
    def recall(self) -> float:
        """Share of the answered positives that were answered yes."""
        return 1 - self.misses.value / self.positives if self.positives else float("nan")

    @property
    def few(self) -> str | None:
        """Which errors are too few for a steady figure."""
        kinds = {"false alarms": self.false_alarms, "misses": self.misses}
        return (
            " and ".join(f"{as_count(found.value)} {kind}" for kind, found in kinds.items() if too_few(found)) or None
        )


def too_few(errors: Interval) -> bool:
    """Whether a row rests on a handful of errors of a kind that it can make."""
    return errors.value < FEW_ERRORS and errors.high > 0


def expected_number(happened: Any, possible: float, units: Indices | None) -> Interval:
    """How many errors happened, with the limits of their expected number."""
    n = len(happened)
    return Interval(*(n * limit for limit in rare_mean(happened, possible, units)))


@dataclass(frozen=True)
class Row:  # of three classes or more: see `class_rows.ClassRow`
    """One method in the leaderboard.

    Attributes
    ----------
    name, title : str
        The method.
    reference : bool
        Whether it stands for doing without the reject option.
    cost : Interval
        Expected cost per case.
    difference : Interval
        How much more it costs per case than the cheapest row, paired case by case.
    coverage : float
        Share of the cases answered.
    accuracy : float
        Share of right answers among them; NaN when there is none.
    ambiguity, novelty : float
        Shares of the cases rejected, by kind.
    counts : Counts or ClassCounts
        What these shares are shares of.
    repeats : int
        How often each case was answered, each time with other folds; the figures are means.
    fit_seconds, predict_seconds : float
        Mean over the folds.
    params : dict
        Hyper-parameters chosen, and in how many folds.
    note : str or None
        What else the reader must know: fitted on a sample, or why the method was left out.
    error : str or None
        Why the method failed.
    """

    name: str
    title: str
    reference: bool = False
    cost: Interval | None = None
    difference: Interval | None = None
    coverage: float = float("nan")
    accuracy: float = float("nan")
    ambiguity: float = float("nan")
    novelty: float = float("nan")
    counts: AnyCounts | None = None
    repeats: int = 1
    fit_seconds: float = float("nan")
    predict_seconds: float = float("nan")
    params: dict[str, dict[str, int]] = field(default_factory=dict)
    note: str | None = None
    error: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The figures by name, as in leaderboard.csv."""
        counts = self.counts if isinstance(self.counts, Counts) else None
        return {
            **self._paid(),
            "recall": counts.recall if counts else float("nan"),
            "ambiguity": self.ambiguity,
            "novelty": self.novelty,
            "answered_negatives": counts.negatives if counts else float("nan"),
            "answered_positives": counts.positives if counts else float("nan"),
            **flat("false_alarms", counts.false_alarms if counts else None),
            **flat("misses", counts.misses if counts else None),
            **self._run(),
            "few_false_alarms": counts is not None and too_few(counts.false_alarms),
            "few_misses": counts is not None and too_few(counts.misses),
            **self._remarks(),
        }

    def _paid(self) -> dict[str, Any]:
        """The method, its cost, and how often it answers."""
        return {
            "method": self.name,
            "title": self.title,
            "reference": self.reference,
            **flat("cost", self.cost),
            **flat("difference", self.difference),
            "coverage": self.coverage,
            "accuracy": self.accuracy,
        }

    def _run(self) -> dict[str, Any]:
        """How it was run."""
        return {
            "repeats": self.repeats,
            "fit_seconds": round(self.fit_seconds, 4),
            "predict_seconds": round(self.predict_seconds, 4),
            "params": "; ".join(
                f"{name}={value} ({count})" for name, values in self.params.items() for value, count in values.items()
            ),
        }

    def _remarks(self) -> dict[str, Any]:
        """What else is to be said."""
        return {
            "few_errors": (self.counts.few or "") if self.counts else "",
            "note": self.note or "",
            "error": self.error or "",
        }


def flat(name: str, interval: Interval | None) -> dict[str, float]:
    """An interval as three figures."""
    value, low, high = interval or _UNKNOWN
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def rank(rows: list[Row], payments: Mapping[str, Payments], units: Indices | None = None) -> list[Row]:
    """Sort by expected cost, references among the methods, failures last; fill in costs and differences.

    Parameters
    ----------
    rows : list of Row
        Without costs.
    payments : mapping of str to Payments
        What each case pays under each method that has answers.
    units : ndarray of int of shape (n_cases,), optional
        Unit of each case, if cases belong together.
    """
    position = {row.name: number for number, row in enumerate(rows)}
    # Methods of equal cost stay in the order of the list, which begins with the simple ones.
    order = sorted(payments, key=lambda name: (payments[name].rounded_mean, position[name]))
    if not order:
        return rows
    cheapest = payments[order[0]]
    ranked = [
        replace(
            rows[position[name]],
            cost=payments[name].cost(units),
            difference=EXACTLY_ZERO if name == order[0] else cheapest.saved_against(payments[name], units),
        )
        for name in order
    ]
    return [*ranked, *(row for row in rows if row.name not in payments)]
