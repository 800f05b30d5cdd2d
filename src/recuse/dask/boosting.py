"""A boosting problem whose cases lie with the workers, and the state of a fit that asks them for sums.

The rounds are those of one machine (`recuse.boosting.abstention.engine.rounds`): they drive a `State`. This one has no
rows of its own, and adds up what the partitions answer. In a round the stump of the round before travels to each worker
and its histograms come back.
"""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any
from weakref import finalize

import numpy as np

from ..arrays import Floats
from ..boosting.abstention.engine.problem import Problem
from ..boosting.abstention.engine.settings import Settings
from ..boosting.abstention.engine.state import State
from ..boosting.abstention.engine.stumps import Coded
from ..boosting.abstention.engine.surrogates import Surrogate
from ..boosting.binning import Bins
from .coded import CodedPartition, missing_flags
from .partitions import Partitions
from .scoring import Start


@dataclass(frozen=True, eq=False)
class ClusterProblem(Problem):
    """A problem without rows here: those outside some folds are with the workers.

    Attributes
    ----------
    partitions : Partitions
        Of `CodedPartition`.
    out : tuple of int
        Folds whose rows are left out.
    n_rows, total : int, float
        Number of rows, and their weight.
    begins : Start, optional
        Scores that the stumps are added to.
    """

    partitions: Any = None
    out: tuple[int, ...] = ()
    n_rows: int = 0
    total: float = 1.0
    begins: Start | None = None

    @property
    def n_cases(self) -> int:
        """Number of cases, wherever they are."""
        return self.n_rows

    def start(self, settings: Settings, threads: ThreadPoolExecutor | None = None) -> State:
        """The state of a fit before its first round."""
        return ClusterState(self, settings)


def cluster_problem(
    partitions: Partitions, bins: Bins, surrogate: Surrogate, out: tuple[int, ...], facts: Floats, start: Start | None
) -> ClusterProblem:
    """The problem of the rows outside some folds; `facts` are the sums of `CodedPartition.facts` over them."""
    empty = replace(bins, codes=bins.codes[:, :0], has_missing=missing_flags(facts))
    n_rows, _, total = facts[:3].tolist()
    return ClusterProblem(empty, 0, np.zeros(0), surrogate, None, partitions, out, int(n_rows), total, start)


class ClusterState(State):
    """The state of a fit whose cases are with the workers; what it asks of them are sums."""

    problem: ClusterProblem

    def __init__(self, problem: ClusterProblem, settings: Settings) -> None:
        here = Problem(problem.bins, 0, problem.s, problem.surrogate)  # no rows
        super().__init__(here, replace(settings, n_threads=1))
        self.problem, self.settings = problem, settings
        self.name = uuid.uuid4().hex
        self._partitions: Partitions = problem.partitions
        spec = problem.out, problem.surrogate, settings, problem.total, problem.begins
        self._partitions.tell(CodedPartition.start, self.name, *spec, about=self.name)
        # The workers' part goes with this object.
        finalize(self, self._partitions.forget, self.name, CodedPartition.end, self.name)

    @property
    def n_cases(self) -> int:
        """Number of cases, wherever they are."""
        return self.problem.n_rows

    def sweep(self) -> None:
        """Find the best stump of every feature, by the weights of all cases."""
        self.search.scan(self.ask(CodedPartition.histograms))

    def loss_sum(self) -> float:
        """The objective without its penalty."""
        return float(self.ask(CodedPartition.loss_sum))

    def shift_sums(self, dh: float, dr: float) -> Floats:
        """What the best intercepts depend on."""
        return np.asarray(self.ask(CodedPartition.shift_sums, dh, dr))

    def gap_sums(self, tau: float) -> Floats:
        """What the certificate depends on."""
        sums = self.ask(CodedPartition.gap_sums, tau)
        self._start_sum = float(sums[-1])
        return np.asarray(sums[:-1])

    def start_sum(self) -> float:
        """What the scores that the stumps are added to contribute to the dual; it came with `gap_sums`."""
        return self._start_sum

    def refresh(self) -> None:
        """Have the weights computed from the scores."""
        super().refresh()
        self.tell(CodedPartition.refresh)

    def sharpen(self, p: float) -> None:
        """Take another exponent of the surrogate, with the intercepts at their optimum."""
        if self.weights.sharpen(p):
            self.tell(CodedPartition.take_exponent, p)
            self.settle_intercepts()

    def shift(self, dh: float, dr: float) -> None:
        """Add constants to h and r."""
        super().shift(dh, dr)
        self.tell(CodedPartition.shift, dh, dr)

    def apply(self, stump: Coded, eta: float, dh: float, dr: float) -> None:
        """Add eta to a stump's weight and (dh, dr) to the intercepts."""
        super().apply(stump, eta, dh, dr)
        self.tell(CodedPartition.apply, stump, eta, dh, dr)

    def tell(self, function: Any, *args: Any) -> None:
        """Have the workers change their part of this fit."""
        self._partitions.tell(function, self.name, *args, about=self.name)

    def ask(self, function: Any, *args: Any) -> Any:
        """What the workers' parts of this fit add up to."""
        return self._partitions.ask(function, self.name, *args)
