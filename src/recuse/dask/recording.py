"""Models on the way of a fit on a cluster: after several numbers of rounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..boosting.abstention.early_stopping import PATIENCE
from ..boosting.abstention.engine.rounds import boost
from ..boosting.abstention.engine.settings import Settings
from ..boosting.abstention.engine.state import State
from ..boosting.abstention.engine.stumps import Coded
from .boosting import ClusterProblem, ClusterState
from .coded import CodedPartition
from .scoring import Start, Tables


def models_at_rounds(
    problem: ClusterProblem,
    settings: Settings,
    rounds: list[int],
    held_out: int,
    start: Start | None,
    tables: Callable[[Any], Tables],
) -> list[Tables]:
    """The models after some rounds; a fit ends early when the loss of a held-out fold no longer falls."""
    recorder = ModelRecorder(problem, settings.first_comparable_round, rounds, held_out, start, tables)
    model = boost(problem, settings, recorder).model
    return recorder.models_or(tables(model))


class ModelRecorder:
    """Keeps the models after the rounds asked for, and follows the loss of a held-out fold."""

    def __init__(
        self,
        problem: ClusterProblem,
        first: int,
        rounds: list[int],
        fold: int,
        start: Start | None,
        tables: Callable[[Any], Tables],
    ) -> None:
        self._problem, self._first, self._rounds, self._fold, self._start = problem, first, rounds, fold, start
        self._tables, self._n, self._follows = tables, 0, False
        self._kept: dict[int, Tables] = {}
        self._last: Any = None
        self._least, self._least_at = np.inf, 0

    def __call__(self, state: State, stump: Coded | None, eta: float) -> bool:
        """Follow a round."""
        assert isinstance(state, ClusterState)
        assert stump is not None
        if not self._follows:
            self._follows = True
            state.tell(CodedPartition.follow, self._fold, self._start)
        state.tell(CodedPartition.follow_stump, stump, eta)
        self._n += 1
        self._last = state.ensemble()
        if self._n in self._rounds:
            self._kept[self._n] = self._tables(self._last)
        return self._n >= self._rounds[-1] or self._is_out_of_patience(state)

    def _is_out_of_patience(self, state: ClusterState) -> bool:
        """Whether the held-out loss has not fallen for too long."""
        if self._n < self._first:
            return False
        total, weight = state.ask(CodedPartition.followed_loss, self._problem.surrogate, state.h0, state.r0).tolist()
        loss = total / weight if weight > 0 else 0.0
        if loss < self._least:
            self._least, self._least_at = loss, self._n
        return self._n - self._least_at >= PATIENCE

    def models_or(self, final: Tables) -> list[Tables]:
        """The models by round; a fit that ended early has its last one for the later rounds."""
        last = final if self._last is None else self._tables(self._last)
        return [self._kept.get(n, last) if n <= self._n else last for n in self._rounds]
