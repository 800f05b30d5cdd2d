"""A boosting problem: coded cases, their weights and the surrogate to minimise."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ....arrays import Floats, Indices
from ...cases import CodedCases
from ...categories import order_levels
from .surrogates import Surrogate

if TYPE_CHECKING:
    from .settings import Settings
    from .state import State

Parts = list[tuple[Indices, Indices]]  # training and test positions of each fold


@dataclass(frozen=True, eq=False)
class Problem(CodedCases):
    """Data of one fit, positives first.

    Attributes
    ----------
    s : ndarray of shape (m,)
        Sample weights that sum to 1.
    surrogate : Surrogate
        The loss; its k may differ by case.
    offset : ndarray of shape (m, 2), optional
        Scores (h, r) to start from; the stumps are added to them.
    """

    s: Floats
    surrogate: Surrogate
    offset: Floats | None = None

    def start(self, settings: Settings, threads: ThreadPoolExecutor | None = None) -> State:
        """The state of a fit before its first round; a problem whose cases lie elsewhere has another."""
        from .state import State

        return State(self, settings, threads)

    def take(self, rows: Indices) -> Problem:
        """Return the problem of some of the rows, given in increasing order."""
        k = self.surrogate.k
        surrogate = self.surrogate if np.ndim(k) == 0 else replace(self.surrogate, k=np.asarray(k)[rows])
        s = self.s[rows]
        offset = None if self.offset is None else self.offset[rows]
        return Problem(self.bins.take(rows), int((rows < self.n_pos).sum()), s / s.sum(), surrogate, offset)

    def split(self, train: Indices, test: Indices) -> tuple[Problem, Problem]:
        """Return the problems of training and of test cases."""
        part, rest = self.take(train), self.take(test)
        if not self.bins.levels:
            return part, rest
        # The order of categories tells of outcomes: the test cases have no say in it.
        places = order_levels(part.bins, part.n_pos, part.s)
        return replace(part, bins=part.bins.moved(places)), replace(rest, bins=rest.bins.moved(places))

    @property
    def y(self) -> Floats:
        """Labels, -1 or +1."""
        return np.where(self.positive, 1.0, -1.0)


class Splittable(Protocol):
    """Cases that can be split into a training and a test problem."""

    @property
    def n_cases(self) -> int:
        """Number of cases."""

    def split(self, train: Indices, test: Indices) -> tuple[Problem, Problem]:
        """Problems of the training and of the test cases."""
