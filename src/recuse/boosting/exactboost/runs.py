"""Runs of ExactBoost: each boosts stumps on the loss itself; their mean is one step function a feature.

Within a run scores are whole numbers, `UNITS` of them the longest shift of a stump. They are never rescaled on the
way, so that a later stump can move a case by an ever smaller share of the range; at the end a run is rescaled to
[0, 1].
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Flags, Floats, Indices
from ..binning import Bins
from ..shapes import ShapeFunction
from .objectives import Objective, ScoreHistogram, Terms

UNITS = 32  # the longest shift
START_SPAN = 8 * UNITS  # initial scores are spread over as much: a stump can move a case by an eighth of it
FOLDS = 5  # one case in so many is kept out of a run where thresholds have to be chosen
_LARGEST_COUNT = 2**31 - 1
_log = logging.getLogger("recuse")


@dataclass(frozen=True, eq=False)
class RankingProblem:
    """Coded cases, positives first.

    Attributes
    ----------
    bins : Bins
        Coded features.
    n_pos : int
        Number of positives.
    weight : ndarray of shape (n,)
        Sample weights.
    start : ndarray of int32 of shape (n,)
        Initial scores in units.
    objective : Objective
        What is minimised.
    terms : Terms
        Prices and k.
    """

    bins: Bins
    n_pos: int
    weight: Floats
    start: NDArray[np.int32]
    objective: Objective
    terms: Terms

    @property
    def positive(self) -> Flags:
        """Which cases are positive."""
        return np.arange(len(self.weight)) < self.n_pos

    def terms_of(self, share: float) -> Terms:
        """Prices and k for a part of the cases, which counts its share of k."""
        return self.terms if share == 1.0 else replace(self.terms, k=max(1.0, float(np.ceil(share * self.terms.k))))


@dataclass(frozen=True)
class RunSettings:
    """How a run goes.

    Attributes
    ----------
    n_rounds : int
        Stumps tried.
    subsample, max_features : float
        Shares of the cases of each class and of the features drawn for each.
    margin : float
        Theta, relative to the range of the score.
    exact : bool
        Search all cuts and shifts, or bisect as the poster does.
    patience : int
        Rounds without improvement after which the run ends; 0 for never.
    hold_out : bool
        Whether each run keeps one case in `FOLDS` out.
    """

    n_rounds: int = 50
    subsample: float = 0.2
    max_features: float = 0.2
    margin: float = 0.05
    exact: bool = True
    patience: int = 0
    hold_out: bool = False


@dataclass(frozen=True, eq=False)
class Run:
    """The outcome of one run.

    Attributes
    ----------
    stumps : ndarray of int of shape (n, 4)
        Feature, cut, shift and whether missing values go left, of each stump taken, those of a run before it included.
    low, high : int
        Range of the final scores.
    trace : ndarray
        Loss before the first round for the objective itself, and after each.
    """

    stumps: NDArray[np.int64]
    low: int
    high: int
    trace: Floats

    @property
    def scale(self) -> float:
        """What a unit of the score is worth after rescaling to [0, 1]."""
        return 1.0 / (self.high - self.low) if self.high > self.low else 0.0


def play(
    problem: RankingProblem, settings: RunSettings, seed: int, runs: range, n_threads: int = 1
) -> Iterator[tuple[Run, Indices, Floats]]:
    """Yield the runs asked for, in order: each with the cases kept out of it and their scores in [0, 1].

    Run e depends on the seed and on e alone, not on the number of threads.
    """

    def one(e: int) -> tuple[Run, Indices, Floats]:
        bag, out = _bag(problem, settings, seed, e)
        run, score = _boost(problem, settings, bag, np.random.SeedSequence([seed, e]).generate_state(2, np.uint64))
        return run, out, (score[out] - run.low) * run.scale

    # A few at a time, so that finished runs do not pile up.
    with ThreadPoolExecutor(n_threads) as threads:
        for first in range(runs.start, runs.stop, 4 * n_threads):
            some = range(first, min(first + 4 * n_threads, runs.stop))
            yield from threads.map(one, some) if n_threads > 1 else map(one, some)
            _log.info("ExactBoost: %d of %d runs", some.stop, runs.stop)


def _bag(problem: RankingProblem, settings: RunSettings, seed: int, e: int) -> tuple[Any, Any]:
    """Cases a run works on, and those kept out: of each class one fold, every `FOLDS` runs in turn."""
    n, n_pos = len(problem.weight), problem.n_pos
    if not settings.hold_out:
        return np.arange(n), np.zeros(0, dtype=np.intp)
    random = np.random.default_rng(np.random.SeedSequence([seed, e // FOLDS, 1]))
    out = np.concatenate(
        [np.sort(random.permutation(rows)[e % FOLDS :: FOLDS]) for rows in (np.arange(n_pos), np.arange(n_pos, n))]
    )
    return np.setdiff1d(np.arange(n), out, assume_unique=True), out


def _boost(
    problem: RankingProblem, settings: RunSettings, bag: Indices, seeds: NDArray[Any]
) -> tuple[Run, NDArray[np.int32]]:
    """A run for the objective, and before it, where all cases start equal, one for what it comes after."""
    boost, first = _interpreted if problem.objective.compiled is None else _compiled, problem.objective.after
    if first is None or np.ptp(problem.start) > 0:
        return boost(problem, settings, bag, seeds[0])
    before, score = _boost(replace(problem, objective=first), settings, bag, seeds)
    run, score = boost(replace(problem, start=score), settings, bag, seeds[1])
    return replace(run, stumps=np.concatenate([before.stumps, run.stumps])), score


def sizes(problem: RankingProblem, settings: RunSettings, bag: Indices) -> NDArray[np.int64]:
    """Positives, negatives and features drawn in each round."""
    in_bag = int(np.searchsorted(bag, problem.n_pos))
    drawn = [max(1, round(settings.subsample * n)) for n in (in_bag, len(bag) - in_bag)]
    return np.array([*drawn, max(1, round(settings.max_features * len(problem.bins.n_bins)))])


def _compiled(
    problem: RankingProblem, settings: RunSettings, bag: Indices, seed: np.uint64
) -> tuple[Run, NDArray[np.int32]]:
    """A run by the compiled loops."""
    from . import loops

    n_pos, n_neg, n_features = sizes(problem, settings, bag).tolist()
    # Pairs are counted in whole numbers while they fit. All else is summed in floats, weighted or not: one compilation.
    whole = problem.objective.counts_pairs and n_pos * n_neg < _LARGEST_COUNT and not np.ptp(problem.weight)
    units = np.ones(len(problem.weight), dtype=np.int32) if whole else problem.weight
    score, b = problem.start.copy(), problem.bins
    split = int(np.searchsorted(bag, problem.n_pos))
    low, high = int(score[bag].min()), int(score[bag].max())
    # The widest the scores can become, and the widest margin: a later round shifts by UNITS at most.
    widest = high - low + (settings.n_rounds + 2) * UNITS + 4
    room = loops.make_room(n_pos, n_neg, widest, int(settings.margin * widest) + 3, int(b.n_bins.max()), units, b.codes)
    room.span[:] = low, high
    outcome = loops.Outcome(score, np.zeros((settings.n_rounds, 4), dtype=np.int64), np.zeros(settings.n_rounds + 1))
    taken = loops.run(
        *(compiled_objective(problem.objective, terms) for terms in _both_terms(problem, settings, bag)),
        None if settings.exact else True,
        loops.Features(b.codes, b.n_bins),
        loops.Bag(bag, split, problem.weight, units),
        loops.Plan(n_features, UNITS, float(settings.margin), settings.patience),
        loops.Draws(bag[:split].copy(), bag[split:].copy(), np.arange(len(b.n_bins)), _random_states(seed)),
        room,
        outcome,
    )
    return Run(outcome.stumps[:taken].copy(), int(score[bag].min()), int(score[bag].max()), outcome.trace), score


def compiled_objective(objective: Objective, terms: Terms) -> Any:
    """The objective as the compiled loops take it: a class of theirs, with the numbers it needs."""
    from . import loops

    assert objective.compiled is not None
    return objective.compiled(loops, terms)


def _random_states(seed: np.uint64) -> NDArray[np.uint64]:
    """States of the two random streams of a run: one draws cases, the other features."""
    return np.array([[seed], [~seed]], dtype=np.uint64)


def _both_terms(problem: RankingProblem, settings: RunSettings, bag: Indices) -> tuple[Terms, Terms]:
    """Of all cases of a run, and of a subsample."""
    share = len(bag) / len(problem.weight)
    return problem.terms_of(share), problem.terms_of(settings.subsample * share)


def _interpreted(
    problem: RankingProblem, settings: RunSettings, bag: Indices, seed: np.uint64
) -> tuple[Run, NDArray[np.int32]]:
    """The same run for an objective without a compiled search: every cut at a few shifts, one by one."""
    from . import loops

    m1, m0, n_features = sizes(problem, settings, bag).tolist()
    state, other_state = _random_states(seed)
    positives, features = problem.positive, np.arange(len(problem.bins.n_bins))
    pos_rows, neg_rows = bag[positives[bag]].copy(), bag[~positives[bag]].copy()
    score, stumps = problem.start.copy(), []
    of_bag, of_sample = _both_terms(problem, settings, bag)
    margin = _margin(settings, score[bag])
    loss = _loss(problem, of_bag, score, bag, margin)
    trace, idle = [loss], 0
    for _ in range(settings.n_rounds):
        if not settings.patience or idle < settings.patience:
            loops.draw(state, pos_rows, m1)
            loops.draw(state, neg_rows, m0)
            loops.draw(other_state, features, n_features)
            idle += 1
            rows = np.concatenate([pos_rows[:m1], neg_rows[:m0]])
            stump = _best_by_trial(problem, of_sample, score, rows, features[:n_features], margin)
            if stump is not None:
                new = score + _shifted(problem.bins, stump)
                new_margin = _margin(settings, new[bag])
                new_loss = _loss(problem, of_bag, new, bag, new_margin)
                if new_loss <= loss:
                    idle = 0 if new_loss < loss else idle
                    score, loss, margin = new, new_loss, new_margin
                    stumps.append(stump)
        trace.append(loss)
    table = np.array(stumps, dtype=np.int64).reshape(-1, 4)
    return Run(table, int(score[bag].min()), int(score[bag].max()), np.array(trace)), score


_TRIED = tuple(s * UNITS // 2**i for i in range(6) for s in (1, -1))


def _best_by_trial(
    problem: RankingProblem, terms: Terms, score: Any, rows: Any, features: Any, margin: int
) -> tuple[int, int, int, int] | None:
    """The best stump among all cuts of the features and the shifts `_TRIED`, if it is better than none."""
    best, found = _loss(problem, terms, score, rows, margin), None
    bins = problem.bins
    for f in features.tolist():
        codes = bins.codes[f][rows]
        used = np.unique(codes)
        for low, high in zip(used[:-1].tolist(), used[1:].tolist(), strict=True):
            cut = low if high == bins.n_bins[f] else (low + high - 1) // 2
            for d in _TRIED:
                for missing_left in (0, 1) if bins.n_bins[f] in used else (0,):
                    stump = (f, cut, d, missing_left)
                    loss = _loss(problem, terms, score + _shifted(bins, stump), rows, margin)
                    if loss < best:
                        best, found = loss, stump
    return found


def _shifted(bins: Bins, stump: tuple[int, int, int, int]) -> NDArray[np.int32]:
    """What a stump adds to each case."""
    f, cut, d, missing_left = stump
    codes = bins.codes[f]
    right = np.where(codes == bins.n_bins[f], not missing_left, codes > cut)
    return (d * right).astype(np.int32)


def _margin(settings: RunSettings, score: Any) -> int:
    """The margin in units, as in the compiled loops."""
    theta = settings.margin
    return max(1, round(theta * max(int(np.ptp(score)), UNITS))) if theta > 0 else 0


def _loss(problem: RankingProblem, terms: Terms, score: Any, rows: Any, margin: int) -> float:
    histogram = ScoreHistogram.of(score[rows].astype(float), problem.positive[rows], problem.weight[rows], margin)
    return problem.objective.loss(histogram, terms)


class Mean:
    """The mean of runs, one table of all cells."""

    def __init__(self, bins: Bins) -> None:
        self.table = np.zeros(bins.n_cells)
        self.intercept = self.per_start = 0.0
        self.n_runs = 0
        self._offsets, self._n_bins = bins.offsets, bins.n_bins

    def add(self, run: Run) -> None:
        """Add a run, rescaled to [0, 1]."""
        for f, cut, d, missing_left in run.stumps.tolist():
            base, n = self._offsets[f], self._n_bins[f]
            self.table[base + cut + 1 : base + n] += d * run.scale
            if not missing_left:
                self.table[base + n] += d * run.scale
        self.intercept -= run.low * run.scale
        self.per_start += run.scale
        self.n_runs += 1

    def shapes(self, bins: Bins, weight: Floats) -> tuple[float, list[ShapeFunction]]:
        """The intercept, and what each feature adds: in the mean over the training cases nothing."""
        intercept, shapes = self.intercept / self.n_runs, []
        for f, cuts in enumerate(bins.cuts):
            values = self.table[bins.offsets[f] : bins.offsets[f + 1]] / self.n_runs
            if not values.any():
                continue
            share = np.bincount(bins.codes[f], weight, minlength=len(values)) / weight.sum()
            middle = float(share @ values)
            values, intercept = values - middle, intercept + middle
            if not bins.has_missing[f]:
                values[-1] = 0.0  # nothing is known of missing values: neither for nor against
            change = np.flatnonzero(values[1:-1] != values[:-2])
            keep = np.append(change, len(cuts))
            h = values[keep]
            shapes.append(ShapeFunction(f, cuts[change], h, np.zeros(len(h)), (float(values[-1]), 0.0)))
        return float(intercept), shapes
