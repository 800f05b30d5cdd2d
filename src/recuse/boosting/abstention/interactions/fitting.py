"""Pair terms for a boosted model: how many turns, and of how many pairs, is decided on held-out cases.

Main effects and pairs are found anew on the training cases of each fold. The number of turns is the one of least
held-out loss, the loss that is boosted: the price is a step function and hardly moves from turn to turn. What the
model would cost is read off with the choice made for each part on the other parts, as everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ....arrays import Floats, Indices
from ....workers import in_threads
from ..candidates import Boosted, OptionChoice
from ..data import TrainingSet
from ..engine.problem import Problem
from ..engine.settings import Settings
from ..selection import tune_threshold
from .coarse import coarsen
from .forms import purified_form
from .screen import Pairs, rank_pairs
from .slopes import Slopes
from .terms import TERM_CODES, PairBooster, PairTables, boost_pairs
from .wanted import Wanted, pairs_to_boost, sizes_to_try

_MOST_TURNS = 400
_PATIENCE = 25  # turns without a lower held-out loss after which a fit on a fold ends
_TRIED = 20  # numbers of turns to choose from

Scores = tuple[Floats, Floats]


@dataclass(frozen=True)
class TurnPlan:
    """How many pairs to boost, and for how many turns."""

    n_pairs: int
    n_turns: int


def add_interactions(
    training: TrainingSet, main: Boosted, wanted: Wanted, settle: Callable[[Floats, Floats], Scores]
) -> Boosted:
    """Return the main effects with pair terms beside them.

    Parameters
    ----------
    training : TrainingSet
        The cases, with folds.
    main : Boosted
        The main effects, fitted to all cases.
    wanted : int, tuple of pairs or "auto"
        Which pairs.
    settle : callable
        Takes boosted scores h and r to those of which answers are made.
    """
    problem, settings = main.problem, _choice(main).settings
    plans, held_out = _held_out(training, main, wanted)
    best, judged = _choose(plans, held_out, training, main)
    judged, threshold = np.stack(settle(*judged)), 0.0
    if settings.tune_threshold:
        judged, threshold = tune_threshold(judged[None], 0, training.price, training)
    model = main.solution.model
    scores = model.scores(problem)
    pairs = _pairs(problem, scores, settings, wanted, best.n_pairs)
    terms, loss = _boosted(main, scores, pairs, best.n_turns, with_r=settings.free_r)
    objective = loss + main.beta * float(np.sum(model.weights))
    return replace(
        main,
        solution=replace(main.solution, objective=objective),
        form=purified_form(model, terms, problem.bins, training.weight),
        threshold=threshold,
        judged=judged,
    )


def _boosted(main: Boosted, scores: Scores, pairs: Pairs, n_turns: int, *, with_r: bool) -> tuple[PairTables, float]:
    """Pair terms beside the main effects, and the objective with both; of bags the average of what each calls for."""
    problem = main.problem
    if not main.bags:
        return boost_pairs(problem, scores, pairs, n_turns, with_r=with_r)
    terms = PairTables.empty(pairs, coarsen(problem.bins, problem.s, TERM_CODES))
    for bag in main.bags:
        own = PairBooster(bag.problem, bag.model.scores(bag.problem), pairs, terms.coarse, with_r=with_r)
        terms.tables[:] += own.boost(n_turns).tables / len(main.bags)
    h, r = scores[0].copy(), scores[1].copy()
    terms.add_to(terms.cells(problem.bins), h, r)
    return terms, Slopes(problem, with_r=with_r).objective(h, r)


def _choice(main: Boosted) -> OptionChoice:
    """How penalty and rounds of the main effects were chosen; known of every fit that held cases out."""
    assert main.choice is not None
    return main.choice


def _pairs(problem: Problem, scores: Scores, settings: Settings, wanted: Wanted, size: int) -> Pairs:
    """The pairs that were given, or the strongest ones at the scores of main effects."""
    ranked = np.zeros((0, 2), dtype=np.int64)
    if not isinstance(wanted, tuple):
        ranked, _ = rank_pairs(problem, scores, with_r=settings.free_r)
    return pairs_to_boost(wanted, ranked, size)


def _held_out(training: TrainingSet, main: Boosted, wanted: Wanted) -> tuple[list[TurnPlan], list[Floats]]:
    """All plans, and for each fold the held-out scores (plans, 2, n) of its test cases."""
    grid = np.unique(np.geomspace(1, _MOST_TURNS, _TRIED).astype(np.int64))
    sizes = sizes_to_try(wanted, int((main.problem.bins.monotonic == 0).sum()))
    plans, settings = [TurnPlan(size, turns) for size in sizes for turns in grid.tolist()], _choice(main).settings

    def fit(n_threads: int, fold: int) -> Floats:
        train, test = training.folds[fold]
        others = np.setdiff1d(training.tested, test)
        part, rest = main.problem.split(train, test)
        model = _choice(main).fitted(fold, others if len(others) else test, part, n_threads)
        scores, start = model.scores(part), model.scores(rest)
        largest = _pairs(part, scores, settings, wanted, sizes[-1])
        found = [_follow(part, rest, scores, start, largest[:size], grid, with_r=settings.free_r) for size in sizes]
        return np.concatenate(found)

    return plans, in_threads(fit, [(fold,) for fold in range(len(training.folds))], settings.n_threads)


def _follow(
    part: Problem, rest: Problem, scores: Scores, start: Scores, pairs: Pairs, grid: Indices, *, with_r: bool
) -> Floats:
    """Scores of held-out cases after each number of turns of a grid: shape (n, 2, m)."""
    booster, loss = PairBooster(part, scores, pairs, with_r=with_r), Slopes(rest, with_r=with_r)
    cells = booster.terms.cells(rest.bins)
    out = np.empty((len(grid), 2, rest.n_cases))
    least, least_at = np.inf, 0
    for turn in range(1, int(grid[-1]) + 1):
        moved = booster.turn()
        h, r = start[0].copy(), start[1].copy()
        booster.terms.add_to(cells, h, r)
        out[grid >= turn] = h, r
        value = loss.objective(h, r)
        if value < least:
            least, least_at = value, turn
        if not moved or turn - least_at >= _PATIENCE:
            break
    return out


def _choose(
    plans: list[TurnPlan], held_out: list[Floats], training: TrainingSet, main: Boosted
) -> tuple[TurnPlan, Floats]:
    """The plan of least held-out loss, and the scores (2, m) of each case by the plan that the other parts choose."""
    with_r, m = _choice(main).settings.free_r, main.problem.n_cases
    scores = np.full((len(plans), 2, m), np.nan)
    for (_, test), values in zip(training.folds, held_out, strict=True):
        scores[:, :, test] = values
    surrogate, y, s = main.problem.surrogate, main.problem.y, main.problem.s
    tested = training.tested
    losses = np.full((len(plans), m), np.nan)
    for i, (h, r) in enumerate(scores[:, :, tested]):
        if with_r:
            k = surrogate.k if np.ndim(surrogate.k) == 0 else np.asarray(surrogate.k)[tested]
            losses[i, tested] = s[tested] * replace(surrogate, k=k).values(r - y[tested] * h, -surrogate.b * r)
        else:
            losses[i, tested] = s[tested] * surrogate.phi.value(-y[tested] * h)
    judged = np.full((2, m), np.nan)
    for part in training.parts:
        others = np.setdiff1d(tested, part)
        judged[:, part] = scores[int(np.argmin(losses[:, others if len(others) else part].sum(axis=1)))][:, part]
    return plans[int(np.argmin(losses[:, tested].sum(axis=1)))], judged
