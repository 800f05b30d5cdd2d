"""What the data decide: the penalty, the rejection threshold, the number of rounds. Held-out cost decides.

Prices are those of the user, by case: `error` what a wrong answer costs, `reject` what a rejection costs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats, Indices
from ..binning import Bins
from .rounds import beta_max, boost
from .state import Ensemble, Problem, Settings, State
from .stumps import Coded, cell_labels
from .trees import boost_trees

# Penalties tried, as shares of the smallest penalty that uses no stump.
BETA_PATH = tuple((10.0 ** np.linspace(-3.0, -0.2, 8)).tolist())
PATIENCE = 30  # rounds without a lower held-out loss after which a fit stops
_QUANTILES = 41  # thresholds tried


@dataclass(frozen=True, eq=False)
class Prices:
    """What answers cost, case by case, positives first.

    Attributes
    ----------
    error, reject : ndarray of shape (m,)
        Price of a wrong answer and of a rejection.
    weight : ndarray of shape (m,)
        Sample weights.
    """

    error: Floats
    reject: Floats
    weight: Floats

    def of(self, y: Floats, h: Floats, r: Floats) -> Floats:
        """Price of the answers that scores give."""
        return np.where(r > 0, np.where(y * h > 0, 0.0, self.error), self.reject)

    def mean(self, y: Floats, h: Floats, r: Floats) -> float:
        """Mean price."""
        return float(self.weight @ self.of(y, h, r) / self.weight.sum())

    def take(self, rows: Indices) -> Prices:
        """Return the prices of some cases."""
        return Prices(self.error[rows], self.reject[rows], self.weight[rows])


def scores_on(model: Ensemble, problem: Problem) -> tuple[Floats, Floats]:
    """Scores of coded rows."""
    bins = problem.bins
    h, r = np.full(len(problem.s), model.h0), np.full(len(problem.s), model.r0)
    if problem.offset is not None:
        h, r = h + problem.offset[:, 0], r + problem.offset[:, 1]
    h_table, r_table = model.tables(bins)
    for f in sorted({stump[0] for stump in model.stumps}):
        cells = slice(bins.offsets[f], bins.offsets[f + 1])
        h += h_table[cells][bins.codes[f]]
        r += r_table[cells][bins.codes[f]]
    return h, r


class Cases(Protocol):
    """What can be split into training and test cases."""

    @property
    def n_cases(self) -> int:
        """Number of cases."""

    def split(self, train: Indices, test: Indices) -> tuple[Problem, Problem]:
        """Problems of the training and of the test cases."""


def held_out_path(
    cases: Cases, settings: Settings, folds: list[tuple[Indices, Indices]], path: Floats | None
) -> Floats:
    """Scores of every case by models that have not seen it, for each penalty: shape (n_penalties, 2, m).

    `path` holds penalties as shares of each fold's largest useful one; None takes the one in `settings`. Cases in no
    test fold stay NaN.
    """
    out = np.full((1 if path is None else len(path), 2, cases.n_cases), np.nan)
    quick = replace(settings, certify_every=50)
    for train, test in folds:
        part, rest = cases.split(train, test)
        betas = [settings.beta] if path is None else (path * beta_max(part, quick)).tolist()
        for i, beta in enumerate(betas):
            model = boost(part, replace(quick, beta=beta)).model
            out[i, :, test] = np.transpose(scores_on(model, rest))
    return out


def held_out_rounds(
    cases: Cases, settings: Settings, folds: list[tuple[Indices, Indices]], max_depth: int
) -> tuple[list[int], Floats]:
    """Numbers of rounds to choose from, and the held-out scores after each: shape (n, 2, m)."""
    quick = replace(settings, certify_every=50)
    most = settings.n_rounds
    grid = np.unique(np.geomspace(1, most, 25).astype(np.int64)) if most else np.zeros(1, dtype=np.int64)
    # On its way to the maximum the loss is another one in every stage: only rounds after the last can be compared.
    first = settings.p_rounds or 0
    grid = grid[grid >= first]
    scores = np.full((len(grid), 2, cases.n_cases), np.nan)
    for train, test in folds:
        part, rest = cases.split(train, test)
        recorder = Recorder(rest, grid, patience=(first, PATIENCE))
        if max_depth > 1:
            model = boost_trees(part, quick, max_depth, recorder.after_tree).model
        else:
            model = boost(part, quick, recorder).model
        recorder.finish(model.h0, model.r0)
        scores[:, :, test] = recorder.scores
    return grid.tolist(), scores


def best_threshold(y: Floats, h: Floats, r: Floats, prices: Prices) -> float:
    """Rejection threshold tau (reject when r <= tau) of least mean price; 0 unless another is better.

    Tried are quantiles of r, always rejecting and never rejecting.
    """
    tried = np.concatenate([[0.0], np.unique(np.quantile(r, np.linspace(0.0, 1.0, _QUANTILES))), [r.min() - 1.0]])
    means = [prices.mean(y, h, r - tau) for tau in tried]
    return float(tried[int(np.argmin(means))])


def standard_error(differences: Floats, weight: Floats) -> float:
    """Standard error of the weighted mean of paired differences."""
    share = weight / weight.sum()
    mean = share @ differences
    return float(np.sqrt((share**2) @ (differences - mean) ** 2))


class HeldOut(ABC):
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
            self._added = np.transpose(scores_on(state.ensemble(), self.problem)) - constants
        else:
            labels = cell_labels(stump, int(bins.n_bins[stump[0]]))[bins.codes[stump[0]]]
            self._added += eta * state.family.values[labels]
        return self._follow(constants)

    def after_tree(self, apply: Callable[[Bins], Floats], h0: float, r0: float) -> bool:
        """Follow a round of trees."""
        self._added += apply(self.problem.bins)
        return self._follow(np.array([h0, r0]))

    def _follow(self, constants: Floats) -> bool:
        self.n_rounds += 1
        h, r = np.transpose(self._added + constants)
        return self.note(h, r)

    @abstractmethod
    def note(self, h: Floats, r: Floats) -> bool:
        """Look at the scores after a round; a true answer ends the fit."""


class Recorder(HeldOut):
    """Keeps the held-out scores, and the total weight of the stumps, after the rounds asked for.

    With `patience` (first, n) it ends the fit when after round `first` the held-out loss has not fallen for n rounds:
    the loss that is boosted, since the price is a step function that stands still by itself.
    """

    def __init__(self, held_out: Problem, rounds: NDArray[np.int64], patience: tuple[int, int] | None = None) -> None:
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
        if self._patience is None or self.n_rounds < self._patience[0]:
            return False
        loss = self.problem.surrogate.objective(self._y, self.problem.s, h, r)
        if loss < self._least:
            self._least, self._least_at = loss, self.n_rounds
        return self.n_rounds - self._least_at >= self._patience[1]
