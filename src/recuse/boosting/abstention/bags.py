"""Bags: the same settings boosted on several parts of the cases, and averaged into one model.

The average of sums over features is a sum over features with the same cells: it is predicted, drawn and explained like
a single fit, but depends less on which cases happened to be drawn. Every bag leaves out one fold of the cases.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Indices
from ...solution import Solution
from ...workers import in_threads
from .engine.problem import Problem
from .engine.rounds import boost, read_off
from .engine.settings import Settings
from .engine.state import Ensemble
from .engine.stumps import Coded
from .stages import StageRecorder, Stages, average_stages


@dataclass(frozen=True, eq=False)
class BaggedFit:
    """A part of the cases, and the model of main effects that was boosted on it."""

    problem: Problem
    model: Ensemble


def boost_bags(
    problem: Problem, parts: Sequence[Indices], settle: Callable[[Problem], Settings]
) -> tuple[list[BaggedFit], Solution, Stages]:
    """Boost every part of the cases; return the bags, their average as a solution for all cases, and its stages.

    Parameters
    ----------
    problem : Problem
        All cases.
    parts : sequence of ndarray
        Positions of the cases of each bag.
    settle : callable
        Settings for a problem: penalties are shares of the largest useful one, which differs from part to part.
    """
    settings = settle(problem)

    def fit(n_threads: int, rows: Indices) -> tuple[BaggedFit, StageRecorder, int]:
        part, recorder = problem.take(rows), StageRecorder()
        fitted = boost(part, replace(settle(part), n_threads=n_threads), recorder)
        return BaggedFit(part, fitted.model), recorder, fitted.n_iter

    fitted = in_threads(fit, [(rows,) for rows in parts], settings.n_threads)
    bags, recorders, n_iter = zip(*fitted, strict=True)
    models = [bag.model for bag in bags]
    solution = read_off(problem, settings, average(models), max(n_iter))
    stages = average_stages(recorders, models, solution.model, problem.bins, settings.gamma)
    return list(bags), solution, stages


def average(models: Sequence[Ensemble]) -> Ensemble:
    """The average of some models, as one: stumps that several have add up."""
    weights: dict[Coded, float] = {}
    for model in models:
        for stump, weight in zip(model.stumps, (model.weights / len(models)).tolist(), strict=True):
            weights[stump] = weights.get(stump, 0.0) + weight
    return Ensemble(
        list(weights),
        np.array(list(weights.values()), dtype=float),
        float(np.mean([model.h0 for model in models])),
        float(np.mean([model.r0 for model in models])),
        models[0].values,
    )
