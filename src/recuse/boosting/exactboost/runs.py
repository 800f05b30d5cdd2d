"""Runs of ExactBoost: each boosts stumps on the loss itself.

Within a run scores are whole numbers, `UNITS` of them the longest shift of a stump. They are never rescaled on the
way, so that a later stump can move a case by an ever smaller share of the range; at the end a run is rescaled to
[0, 1].
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats, Indices
from ...compiling import without_collector
from ..categories import order_levels
from .objectives import Objective, Terms
from .problem import UNITS, RankingProblem, RunSettings, bag_and_sample_terms, random_states, sample_sizes
from .trial import boost_by_trial

FOLDS = 5  # where thresholds have to be chosen each run keeps one of that many parts of the cases out
_LARGEST_COUNT = 2**31 - 1
_log = logging.getLogger("recuse")


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
    places : tuple of (int, ndarray)
        Features that are categories, and the place of each of their cells in the order of the cases of this run.
    """

    stumps: NDArray[np.int64]
    low: int
    high: int
    trace: Floats
    places: tuple[tuple[int, Indices], ...] = ()

    @property
    def scale(self) -> float:
        """What a unit of the score is worth after rescaling to [0, 1]."""
        return 1.0 / (self.high - self.low) if self.high > self.low else 0.0


# What comes of each run: the run, the cases kept out of it, and their scores in [0, 1].
Outcomes = Iterator[tuple[Run, Indices, Floats]]
# Boosts the runs with the numbers asked for, given the seed: in threads (`boost_runs`), or on a cluster.
Booster = Callable[[RankingProblem, RunSettings, int, range], Outcomes]


def boost_runs(problem: RankingProblem, settings: RunSettings, seed: int, runs: range, n_threads: int = 1) -> Outcomes:
    """Yield the runs asked for, in order: each with the cases kept out of it and their scores in [0, 1].

    Run e depends on the seed and on e alone, not on the number of threads.
    """

    def work(e: int) -> tuple[Run, Indices, Floats]:
        bag, out = split_cases(problem, settings, seed, e)
        run, score = boost_run(problem, settings, seed, e, bag, out)
        return run, out, score

    # A few at a time, so that finished runs do not pile up.
    with ThreadPoolExecutor(n_threads) as threads:
        for first in range(runs.start, runs.stop, 4 * n_threads):
            batch = range(first, min(first + 4 * n_threads, runs.stop))
            yield from threads.map(work, batch) if n_threads > 1 else map(work, batch)
            _log.info("ExactBoost: %d of %d runs", batch.stop, runs.stop)


def boost_run(
    problem: RankingProblem, settings: RunSettings, seed: int, e: int, bag: Indices, out: Indices
) -> tuple[Run, Floats]:
    """Run e on the cases in `bag`, and the scores in [0, 1] of those in `out`."""
    # The order of categories tells of outcomes: cases kept out have no say in it.
    n_pos = int(np.searchsorted(bag, problem.n_pos))
    places = order_levels(problem.bins, n_pos, problem.weight[bag], bag)
    problem = replace(problem, bins=problem.bins.moved(places))
    run, score = _boost(problem, settings, bag, np.random.SeedSequence([seed, e]).generate_state(2, np.uint64))
    run = replace(run, places=tuple(places.items()))
    return run, (score[out] - run.low).astype(np.float64) * run.scale


def split_cases(problem: RankingProblem, settings: RunSettings, seed: int, e: int) -> tuple[Any, Any]:
    """Cases a run works on, and those kept out: of each class one fold, every `FOLDS` runs in turn."""
    n, n_pos = len(problem.weight), problem.n_pos
    if not settings.hold_out:
        return np.arange(n), np.zeros(0, dtype=np.intp)
    random = np.random.default_rng(np.random.SeedSequence([seed, e // FOLDS, 1]))
    if problem.groups is None:
        both = np.arange(n_pos), np.arange(n_pos, n)
        out = np.concatenate([np.sort(random.permutation(rows)[e % FOLDS :: FOLDS]) for rows in both])
    else:
        kept_out = _shuffled_groups(problem.groups, n_pos, random)[e % FOLDS :: FOLDS]
        out = np.flatnonzero(np.isin(problem.groups, kept_out))
    return np.setdiff1d(np.arange(n), out, assume_unique=True), out


def _shuffled_groups(groups: Indices, n_pos: int, random: np.random.Generator) -> Indices:
    """Groups with positives only, then with both classes, then with negatives only, each shuffled.

    The groups of either class are neighbours, so that every fifth of all is about a fifth of those of each class, and
    never all of them where there are two.
    """
    positives, negatives = np.unique(groups[:n_pos]), np.unique(groups[n_pos:])
    kinds = np.setdiff1d(positives, negatives), np.intersect1d(positives, negatives), np.setdiff1d(negatives, positives)
    return np.concatenate([random.permutation(kind) for kind in kinds])


def _boost(
    problem: RankingProblem, settings: RunSettings, bag: Indices, seeds: NDArray[Any]
) -> tuple[Run, NDArray[np.int32]]:
    """A run for the objective, and before it, where all cases start equal, one for what it comes after."""
    first = problem.objective.after
    if first is None or np.ptp(problem.start) > 0:
        return _boost_once(problem, settings, bag, seeds[0])
    before, score = _boost(replace(problem, objective=first), settings, bag, seeds)
    run, score = _boost_once(replace(problem, start=score), settings, bag, seeds[1])
    return replace(run, stumps=np.concatenate([before.stumps, run.stumps])), score


def _boost_once(
    problem: RankingProblem, settings: RunSettings, bag: Indices, seed: np.uint64
) -> tuple[Run, NDArray[np.int32]]:
    """A run for one objective, and the final scores of all cases."""
    boost = boost_by_trial if problem.objective.compiled is None else _boost_compiled
    stumps, score, trace = boost(problem, settings, bag, seed)
    return Run(stumps, int(score[bag].min()), int(score[bag].max()), trace), score


def _boost_compiled(
    problem: RankingProblem, settings: RunSettings, bag: Indices, seed: np.uint64
) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats]:
    """Stumps taken, final scores of all cases, and the loss by round."""
    from . import loops

    without_collector(loops)
    sizes, bins, score = sample_sizes(problem, settings, bag), problem.bins, problem.start.copy()
    n_pairs = sizes.positives * sizes.negatives
    # Pairs are counted in whole numbers while they fit. All else is summed in floats, weighted or not: one compilation.
    whole = problem.objective.counts_pairs and n_pairs < _LARGEST_COUNT and not np.ptp(problem.weight)
    units = np.ones(len(problem.weight), dtype=np.int32) if whole else problem.weight
    split = int(np.searchsorted(bag, problem.n_pos))
    low, high = int(score[bag].min()), int(score[bag].max())
    # The widest the scores can become, and the widest margin: a later round shifts by UNITS at most.
    widest = high - low + (settings.n_rounds + 2) * UNITS + 4
    margin = int(settings.margin * widest) + 3
    objectives = tuple(compiled_objective(problem.objective, t) for t in bag_and_sample_terms(problem, settings, bag))
    most_bins = int(bins.n_bins.max())
    room = loops.make_room(
        objectives[0], sizes.positives, sizes.negatives, widest, margin, most_bins, units, bins.codes
    )
    outcome = loops.RunOutcome(score, np.zeros((settings.n_rounds, 4), dtype=np.int64), np.zeros(settings.n_rounds + 1))
    taken = loops.run(
        objectives,
        None if settings.exact else True,
        loops.Features(bins.codes, bins.n_bins, bins.monotonic),
        loops.Bag(bag, split, problem.weight, units),
        loops.RunPlan(sizes.features, UNITS, float(settings.margin), settings.patience, low, high),
        loops.Draws(bag[:split].copy(), bag[split:].copy(), np.arange(len(bins.n_bins)), random_states(seed)),
        room,
        outcome,
    )
    return outcome.stumps[:taken].copy(), score, outcome.trace


def compiled_objective(objective: Objective, terms: Terms) -> Any:
    """The objective as the compiled loops take it: a class of theirs, with the numbers it needs."""
    from . import loops

    assert objective.compiled is not None
    return objective.compiled(loops, terms)
