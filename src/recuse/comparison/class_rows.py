"""Rows of the leaderboard of three classes or more: errors of all kinds together, and the confusion that costs most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Indices
from ..report.class_points import count_class_answers
from ..report.html import as_count
from .intervals import Interval
from .leaderboard import AnyCounts, Counts, Row, expected_number, flat, too_few


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """How often each thing happened; means over the repetitions.

    Attributes
    ----------
    matrix : ndarray of shape (n_classes, n_classes + 2)
        Cases by class and answer: a class, ambiguous, novel.
    errors : Interval
        Wrong answers, with the limits of their expected number in as many cases.
    """

    matrix: Floats
    errors: Interval

    @classmethod
    def of(
        cls,
        columns: NDArray[Any],
        truth: Indices,
        n_classes: int,
        units: Indices | None = None,
        *,
        constant: bool = False,
    ) -> ClassCounts:
        """Count answers of shape (repeats, n) to cases of these classes."""
        columns = np.atleast_2d(columns)
        answered = columns < n_classes
        wrong = (answered & (columns != truth)).mean(axis=0)
        possible = bool(wrong.any()) if constant else bool(answered.any())
        return cls(count_class_answers(columns, truth, n_classes), expected_number(wrong, float(possible), units))

    @property
    def answered(self) -> float:
        """Cases that were answered."""
        return float(self.matrix[:, :-2].sum())

    @property
    def rejected(self) -> float:
        """Cases sent to manual review."""
        return float(self.matrix[:, -2:].sum())

    @property
    def right(self) -> float:
        """Cases that were answered correctly."""
        return float(np.trace(self.matrix))

    @property
    def few(self) -> str | None:
        """Whether errors are too few for a steady figure."""
        return f"{as_count(self.errors.value)} errors" if too_few(self.errors) else None


class ClassRow(Row):
    """One method in the leaderboard of three classes or more."""

    def as_dict(self) -> dict[str, Any]:
        """The figures by name, as in leaderboard.csv."""
        counts = self.counts if isinstance(self.counts, ClassCounts) else None
        return {
            **self._paid(),
            "ambiguity": self.ambiguity,
            "novelty": self.novelty,
            "answered": counts.answered if counts else float("nan"),
            **flat("errors", counts.errors if counts else None),
            **self._run(),
            **self._remarks(),
        }


def row_type(n_classes: int) -> type[Row]:
    """The rows of so many classes."""
    return ClassRow if n_classes > 2 else Row


def counts_of(
    columns: NDArray[Any],
    truth: Flags | Indices,
    n_classes: int,
    units: Indices | None = None,
    *,
    constant: bool = False,
) -> AnyCounts:
    """Count answers to cases of so many classes."""
    if n_classes == 2:
        return Counts.of(columns, truth.astype(bool), units, constant=constant)
    return ClassCounts.of(columns, truth.astype(np.intp), n_classes, units, constant=constant)
