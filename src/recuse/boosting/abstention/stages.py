"""Stages of a fit: the scores after each round, for staged predictions."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats, Indices
from ..binning import Bins
from .engine.state import Ensemble, State
from .engine.stumps import Coded, Stump, describe
from .engine.trees import TreeForm
from .pairs import ChowPair, LearnedPair, Pair, StackedPair, StartedPair

_SAY_EVERY = 50  # rounds between two lines of progress
_log = logging.getLogger("recuse")

Scores = tuple[Floats, Floats]


@dataclass(frozen=True, eq=False)
class Stages:
    """How the weights of the stumps changed from round to round.

    Attributes
    ----------
    stumps : list of Stump
        Every stump that ever had a weight.
    stage, stump : ndarray of int
        For each change of a weight its round, from 0, and which stump.
    change : ndarray
        What was added to the weight.
    h0, r0 : ndarray of shape (n_stages,)
        Intercepts after each round.
    """

    stumps: list[Stump]
    stage: Indices
    stump: Indices
    change: Floats
    h0: Floats
    r0: Floats

    def evaluate(self, X: NDArray[Any]) -> Iterator[Scores]:
        """Boosted scores h and r of each case after each round."""
        h, r = np.zeros(len(X)), np.zeros(len(X))
        ends = np.searchsorted(self.stage, np.arange(len(self.h0)), side="right").tolist()
        start = 0
        for t, end in enumerate(ends):
            for at in range(start, end):
                of_h, of_r = self.stumps[int(self.stump[at])].evaluate(X)
                h, r = h + self.change[at] * of_h, r + self.change[at] * of_r
            start = end
            yield h + self.h0[t], r + self.r0[t]


class StageRecorder:
    """A monitor of `boost` that notes what changed in each round, and says now and then how far the fit is."""

    def __init__(self) -> None:
        self._weights: dict[Coded, float] = {}
        self._changes: list[tuple[int, Coded, float]] = []
        self._intercepts: list[tuple[float, float]] = []

    def __call__(self, state: State, stump: Coded | None, eta: float) -> bool:
        """Note a round; never ends the fit."""
        now, t = dict(state.alpha), len(self._intercepts)
        for key in self._weights.keys() | now.keys():
            change = now.get(key, 0.0) - self._weights.get(key, 0.0)
            if change:
                self._changes.append((t, key, change))
        self._weights = now
        self._intercepts.append((state.h0, state.r0))
        if (t + 1) % _SAY_EVERY == 0:
            _log.info("AbstentionBoosting: %d rounds, %d stumps", t + 1, len(now))
        return False

    def stages(self, model: Ensemble, bins: Bins, gamma: float) -> Stages:
        """The stages of a fit that ended with this model."""
        # The intercepts are settled once more after the last round.
        intercepts = np.array([*self._intercepts[:-1], (model.h0, model.r0)])
        number = {key: i for i, key in enumerate(dict.fromkeys(key for _, key, _ in self._changes))}
        return Stages(
            [describe(key, bins, gamma) for key in number],
            np.array([t for t, _, _ in self._changes], dtype=np.intp),
            np.array([number[key] for _, key, _ in self._changes], dtype=np.intp),
            np.array([change for _, _, change in self._changes], dtype=float),
            intercepts[:, 0],
            intercepts[:, 1],
        )


def average_stages(
    recorders: Sequence[StageRecorder], models: Sequence[Ensemble], average: Ensemble, bins: Bins, gamma: float
) -> Stages:
    """The stages of an average: after each round the average of all fits, of those that have ended as they are.

    Parameters
    ----------
    recorders : sequence of StageRecorder
        Of each fit.
    models : sequence of Ensemble
        What each ended with.
    average : Ensemble
        The average, with its own intercepts.
    bins : Bins
        The cells.
    gamma : float
        Of the paper's stumps.
    """
    whole, n_stages = StageRecorder(), max(1, *(len(recorder._intercepts) for recorder in recorders))
    changes = [(t, key, change / len(recorders)) for recorder in recorders for t, key, change in recorder._changes]
    whole._changes = sorted(changes, key=lambda change: change[0])
    padded = []
    for recorder, model in zip(recorders, models, strict=True):
        last = (model.h0, model.r0)  # settled once more after the last round
        padded.append([*recorder._intercepts[:-1], *[last] * (n_stages - max(0, len(recorder._intercepts) - 1))])
    whole._intercepts = [(float(h0), float(r0)) for h0, r0 in np.mean(padded, axis=0)]
    return whole.stages(average, bins, gamma)


def tree_stages(form: TreeForm, X: NDArray[Any]) -> Iterator[Scores]:
    """Boosted scores after each tree."""
    X = np.asarray(X, dtype=np.float64)
    scores = np.tile([form.h0, form.r0], (len(X), 1))
    for tree in form.trees:
        scores = scores + tree.evaluate(X)
        yield scores[:, 0], scores[:, 1]


def published_stages(pair: Pair, stages: Stages | None, X: NDArray[Any]) -> Iterator[Scores]:
    """Published scores of each case after each round; the start, the threshold and the boundary are the final ones."""
    start = pair._start(X) if isinstance(pair, StartedPair) else (np.zeros(len(X)), np.zeros(len(X)))
    X = pair._with_score(X) if isinstance(pair, StackedPair) else X
    form = pair.form
    raw = tree_stages(form, X) if isinstance(form, TreeForm) else iter(()) if stages is None else stages.evaluate(X)
    for h, r in raw:
        if isinstance(pair, ChowPair):
            yield h - pair.boundary, np.abs(h) - pair.level
        else:
            learned = pair if isinstance(pair, LearnedPair) else pair.learned
            yield learned.settle(h + start[0], r + start[1])
