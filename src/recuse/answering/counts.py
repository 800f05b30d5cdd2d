"""Counts of answers, and the queue of manual review over all parts of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Flags, Floats, Indices
from ..labels import REJECT_TEXT


@dataclass(frozen=True)
class Answered:
    """Counts of the answers to a table.

    Attributes
    ----------
    cases, ambiguity, novelty : int
        All cases; those rejected, by kind.
    capacity : int or None
        How many rejected cases can be reviewed.
    limit : float or None
        Acceptance score of the last case within the capacity; None when all rejected cases fit.
    ordered : bool
        False where the capacity is not enough and all rejected cases have the same acceptance score: no case then has a
        place in the queue.
    """

    cases: int
    ambiguity: int
    novelty: int
    capacity: int | None = None
    limit: float | None = None
    ordered: bool = True

    @property
    def rejected(self) -> int:
        """Cases for manual review."""
        return self.ambiguity + self.novelty

    def __str__(self) -> str:
        share = f" ({self.rejected / self.cases:.1%})" if self.cases else ""
        text = f"{self.cases} cases: {self.cases - self.rejected} answered, {self.rejected}{share} {REJECT_TEXT}"
        if self.novelty:
            text += f", {self.novelty} of them unlike any seen"
        if self.capacity is None:
            return text
        if self.limit is None:
            return f"{text}; the capacity of {self.capacity} is enough for all of them"
        if self.capacity == 0:
            return f"{text}; the capacity of 0 leaves all of them out"
        if not self.ordered:
            return f"{text}; the capacity of {self.capacity} is not enough, and there is no order among them"
        return (
            f"{text}; the capacity of {self.capacity} ends at acceptance score {self.limit:.4g}, "
            f"{self.rejected - self.capacity} cases are beyond it"
        )


def no_order(answered: Answered) -> str:
    """Why no rejected case has a place in the queue."""
    return (
        f"the model knows no order among the {answered.rejected:,} rejected cases (all have the acceptance score "
        f"{answered.limit:.4g}), and the capacity of {answered.capacity} is not enough for them: the column review is "
        "empty, and which of them to review is yours to choose."
    )


class PartAnswers(NamedTuple):
    """What is known of the answers to one part of a table: counts, and the head of its queue.

    Attributes
    ----------
    cases, ambiguity, novelty : int
        As in `Answered`.
    lowest, highest : float
        The lowest and the highest acceptance score of a rejected case; infinite without one.
    scores, rows : ndarray
        Acceptance score and row, within the part, of the rejected cases to review first: as many as the capacity.
    """

    cases: int
    ambiguity: int
    novelty: int
    lowest: float
    highest: float
    scores: Floats
    rows: Indices

    @classmethod
    def of(cls, kind: Any, scores: Floats, capacity: int | None) -> PartAnswers:
        """Count the kinds of a part, and take what may be within the capacity.

        Parameters
        ----------
        kind : array of str
            "accept", "ambiguity" or "novelty".
        scores : ndarray
            Acceptance scores, as they are written.
        capacity : int or None
            How many rejected cases of the whole table can be reviewed.
        """
        kind = np.asarray(kind)
        rejected = np.flatnonzero(kind != "accept")
        novelty = int(np.count_nonzero(kind == "novelty"))
        # Stable: of cases with equal scores, the first of the table comes first.
        first = rejected[np.argsort(scores[rejected], kind="stable")[: capacity or 0]]
        lowest, highest = (
            (float(scores[rejected].min()), float(scores[rejected].max())) if len(rejected) else (np.inf, -np.inf)
        )
        return cls(len(kind), len(rejected) - novelty, novelty, lowest, highest, scores[first], first)


class ReviewQueue:
    """The rejected cases of all parts that can be reviewed: never more than the capacity is kept.

    Parts may come in any order. Of cases with equal scores, those of the earlier part, and there those of the earlier
    row, come first: so the queue does not depend on where a table was cut. Where all have the same score and not all
    can be reviewed, there is no order, and no case has a place.

    Parameters
    ----------
    capacity : int or None
        How many cases can be reviewed; None for no queue.

    Examples
    --------
    >>> import numpy as np
    >>> from recuse.answering import PartAnswers, ReviewQueue
    >>> queue = ReviewQueue(2)
    >>> queue.add(1, PartAnswers.of(["ambiguity", "accept"], np.array([-0.5, 0.2]), 2))
    >>> queue.add(0, PartAnswers.of(["ambiguity", "ambiguity"], np.array([-0.1, -0.5]), 2))
    >>> queue.places(0), queue.places(1)
    ((array([1]), array([1])), (array([0]), array([2])))
    """

    def __init__(self, capacity: int | None) -> None:
        self.capacity = capacity
        self._counts = np.zeros(3, dtype=np.int64)
        self._lowest, self._highest = np.inf, -np.inf
        self._scores = np.empty(0)
        self._parts = self._rows = np.empty(0, dtype=np.intp)

    def add(self, part: int, answers: PartAnswers) -> None:
        """Take in what is known of a part, by its number."""
        self._counts += answers[:3]
        self._lowest, self._highest = min(self._lowest, answers.lowest), max(self._highest, answers.highest)
        scores = np.concatenate([self._scores, answers.scores])
        parts = np.concatenate([self._parts, np.full(len(answers.rows), part)])
        rows = np.concatenate([self._rows, answers.rows])
        order = np.lexsort((rows, parts, scores))[: self.capacity or 0]
        self._scores, self._parts, self._rows = scores[order], parts[order], rows[order]

    def places(self, part: int) -> tuple[Indices, Indices]:
        """Rows of a part that can be reviewed, and their places in the queue, from 1."""
        mine: Flags = (self._parts == part) & self.ordered
        return self._rows[mine], np.flatnonzero(mine) + 1

    @property
    def cases(self) -> int:
        """Cases of all parts so far."""
        return int(self._counts[0])

    @property
    def ordered(self) -> bool:
        """Whether the scores tell which cases to review, where not all can be."""
        rejected = int(self._counts[1] + self._counts[2])
        return self.capacity is None or rejected <= max(self.capacity, 1) or self._lowest < self._highest

    def answered(self) -> Answered:
        """The counts of all parts, and where the capacity ends."""
        cases, ambiguity, novelty = (int(count) for count in self._counts)
        limit = None
        if self.capacity is not None and ambiguity + novelty > self.capacity:
            limit = float(self._scores[-1]) if self.capacity else self._lowest
        return Answered(cases, ambiguity, novelty, self.capacity, limit, self.ordered)
