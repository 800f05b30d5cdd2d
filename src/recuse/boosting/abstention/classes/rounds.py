"""The boosting loop for several classes: sweep, step, stop.

Every round sums the predicted masses by cell, and takes the cut at which the objective falls most when all J scores
jump there at once. The bound ln u <= u - 1 of the loss is what a step minimises, exactly and in closed form: it
depends on the masses on either side only, so that no step needs the cases, and none can raise the objective.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ....solution import Solution
from .problem import ClassProblem
from .state import ClassModel, ClassState

_NEAR = 0.1  # share of a penalty by which optimality may be violated before a path goes on to the next one
_REFRESH = 200  # rounds between recomputations of the masses from the scores, against rounding drift
_SAY_EVERY = 50  # rounds between two lines of progress
_log = logging.getLogger("recuse")

PenaltyPath = Sequence[tuple[float, int]]  # falling penalties, each with the round at which it ends at the latest
Monitor = Callable[[ClassState], bool]  # called after every round; a true answer ends the fit


@dataclass(frozen=True)
class ClassSettings:
    """How to boost: names as in the estimator.

    Attributes
    ----------
    n_rounds : int
        Rounds at most.
    beta : float
        Penalty.
    learning_rate : float
        Share of each step taken.
    tol : float
        Violation of optimality at which a fit ends.
    path : tuple of (float, int)
        Falling penalties to go through, the last of them `beta`, each with the round at which it ends at the latest.
    """

    n_rounds: int = 200
    beta: float = 0.0
    learning_rate: float = 1.0
    tol: float = 1e-6
    path: tuple[tuple[float, int], ...] = ()


def boost_classes(problem: ClassProblem, settings: ClassSettings, monitor: Monitor | None = None) -> Solution:
    """Minimise the objective; the `Solution` holds a `ClassModel`, and the final objective, gap and violation."""
    state, n_iter = ClassState(problem), 0
    for beta, limit in settings.path or ((settings.beta, settings.n_rounds),):
        near = max(_NEAR * beta, settings.tol) if settings.path else settings.tol
        n_iter = _approach(state, settings, (beta, limit, near), n_iter, monitor)
    return read_off(state, settings, n_iter)


def path_of_models(problem: ClassProblem, settings: ClassSettings, path: PenaltyPath) -> Iterator[ClassModel]:
    """Models at falling penalties, each boosted from the one before.

    Penalties are shares of the smallest at which nothing jumps, each with the round at which it ends at most.
    """
    state, n_iter = ClassState(problem), 0
    highest = beta_max(state)
    for share, limit in path:
        beta = share * highest
        n_iter = _approach(state, settings, (beta, limit, max(_NEAR * beta, settings.tol)), n_iter, None)
        yield state.model


def beta_max(state: ClassState) -> float:
    """Smallest penalty at which nothing jumps, of a fit that has not begun."""
    state.sweep(0.0)
    return state.steepest()


def read_off(state: ClassState, settings: ClassSettings, n_iter: int) -> Solution:
    """What was reached, with its certificate."""
    state.refresh()
    violation = state.sweep(settings.beta).violation
    gap = state.dual_gap(settings.beta, state.steepest())
    objective = state.objective(settings.beta)
    history = {"round": [n_iter], "objective": [objective], "dual_gap": [gap], "violation": [violation]}
    return Solution(state.model, objective, violation, n_iter, violation <= settings.tol, history)


def _approach(
    state: ClassState, settings: ClassSettings, penalty: tuple[float, int, float], n_iter: int, monitor: Monitor | None
) -> int:
    """Boost at a penalty until no jump violates optimality by more than `near`; return the rounds so far."""
    beta, limit, near = penalty
    while n_iter < limit:
        if n_iter % _REFRESH == _REFRESH - 1:
            state.refresh()
        cut = state.sweep(beta)
        if cut.violation <= near:
            state.settle()  # the violation counts at settled intercepts
            cut = state.sweep(beta)
        if cut.violation <= near or cut.gain <= 0.0:
            break
        state.move(cut, beta, settings.learning_rate)
        n_iter += 1
        if n_iter % _SAY_EVERY == 0:
            _log.info("AbstentionBoosting: %d rounds, %d cuts", n_iter, state.model.n_jumps)
        if monitor is not None and monitor(state):
            break
    state.settle()
    return n_iter
