"""Early stopping: held-out scores followed round by round, and the rounds after which a fit ends."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats, Indices
from ...workers import in_threads
from ..binning import Bins
from .engine.problem import Parts, Problem, Splittable
from .engine.rounds import boost, settles_after
from .engine.settings import Settings
from .engine.state import State
from .engine.stumps import Coded, cell_labels
from .engine.trees import boost_trees

PATIENCE = 30  # rounds without a lower held-out loss after which a fit stops
_TRIED = 25  # numbers of rounds to choose from, at most


class Patience(NamedTuple):
    """From round `first` on, end a fit whose held-out loss has not fallen for `rounds` rounds."""

    first: int
    rounds: int


def held_out_rounds(cases: Splittable, settings: Settings, folds: Parts) -> tuple[list[int], Floats]:
    """Numbers of rounds to choose from, and the held-out scores after each: shape (n, 2, m)."""
    first = settings.first_comparable_round
    grid = round_grid(settings.n_rounds)
    grid = grid[grid >= first]

    def fit(n_threads: int, train: Indices, test: Indices) -> Floats:
        quick = replace(settings, certify_every=50, n_threads=n_threads)
        part, rest = cases.split(train, test)
        recorder = Recorder(rest, grid, Patience(first, PATIENCE))
        if settings.max_depth > 1:
            model = boost_trees(part, quick, recorder.after_tree).model
        else:
            model = boost(part, quick, recorder).model
        recorder.finish(model.h0, model.r0)
        return recorder.scores

    scores = np.full((len(grid), 2, cases.n_cases), np.nan)
    for (_, test), found in zip(folds, in_threads(fit, folds, settings.n_threads), strict=True):
        scores[:, :, test] = found
    return grid.tolist(), scores


def round_grid(n_rounds: int) -> NDArray[np.int64]:
    """Numbers of rounds to try, up to a limit, with growing distances; the intercepts are settled after each."""
    if n_rounds == 0:
        return np.zeros(1, dtype=np.int64)
    wanted = np.unique(np.geomspace(1, n_rounds, _TRIED).astype(np.int64))
    settled = np.array([n for n in range(1, n_rounds + 1) if settles_after(n) or n == n_rounds])
    return np.unique(settled[np.searchsorted(settled, wanted)])


class HeldOutScores(ABC):
    """Scores of held-out cases, kept up to date round by round: the monitor that the others build on."""

    def __init__(self, held_out: Problem) -> None:
        self.problem, self.n_rounds = held_out, 0
        start = np.zeros((len(held_out.s), 2)) if held_out.offset is None else held_out.offset
        self._added = start.copy()  # by stumps or trees, without intercepts

    def __call__(self, state: State, stump: Coded | None, eta: float) -> bool:
        """Follow a round of stumps."""
        constants = np.array([state.h0, state.r0])
        bins = self.problem.bins
        if stump is None:
            self._added = np.transpose(state.ensemble().scores(self.problem)) - constants
        else:
            labels = cell_labels(stump, int(bins.n_bins[stump[0]]))[bins.codes[stump[0]]]
            self._added += eta * state.family.values[labels]
        return self._follow(constants)

    def after_tree(self, apply: Callable[[Bins], Floats], h0: float, r0: float) -> bool:
        """Follow a round of trees."""
        self._added += apply(self.problem.bins)
        return self._follow(np.array([h0, r0]))

    def _follow(self, constants: Floats) -> bool:
        """Count the round and look at its scores."""
        self.n_rounds += 1
        h, r = np.transpose(self._added + constants)
        return self.note(h, r)

    @abstractmethod
    def note(self, h: Floats, r: Floats) -> bool:
        """Look at the scores after a round; a true answer ends the fit."""


class Recorder(HeldOutScores):
    """Keeps the held-out scores, and the total weight of the stumps, after the rounds asked for.

    `patience` watches the loss that is boosted: the price is a step function and can stay the same for many rounds.
    """

    def __init__(self, held_out: Problem, rounds: NDArray[np.int64], patience: Patience | None = None) -> None:
        super().__init__(held_out)
        self._patience, self._least, self._least_at, self._y = patience, np.inf, 0, held_out.y
        self.rounds = rounds
        self.scores = np.tile(self._added.T, (len(rounds), 1, 1))
        self.totals = np.ones(len(rounds))
        self._total = 1.0

    def __call__(self, state: State, stump: Coded | None, eta: float) -> bool:
        """Follow a round of stumps."""
        self._total = state.total_weight
        return super().__call__(state, stump, eta)

    def finish(self, h0: float, r0: float) -> None:
        """Keep the intercepts of a fit that found nothing to do from the start."""
        if self.n_rounds == 0:
            self.scores += np.array([h0, r0])[:, None]

    def note(self, h: Floats, r: Floats) -> bool:
        """Keep the scores; a fit that ends early keeps its last ones for the later rounds."""
        later = self.rounds >= self.n_rounds
        self.scores[later] = [h, r]
        self.totals[later] = max(self._total, 1e-300)
        return self.n_rounds >= self.rounds[-1] or self._is_out_of_patience(h, r)

    def _is_out_of_patience(self, h: Floats, r: Floats) -> bool:
        """Whether the held-out loss has not fallen for too long."""
        if self._patience is None or self.n_rounds < self._patience.first:
            return False
        loss = self.problem.surrogate.objective(self._y, self.problem.s, h, r)
        if loss < self._least:
            self._least, self._least_at = loss, self.n_rounds
        return self.n_rounds - self._least_at >= self._patience.rounds
