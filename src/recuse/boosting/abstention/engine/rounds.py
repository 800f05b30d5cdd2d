"""The boosting loop: choose, weigh, stop.

Minimises over alpha >= 0 and the free intercepts h0, r0

    F = sum_i s_i L_p(u_i, v_i) + beta sum_j alpha_j,    h = h0 + sum_j alpha_j h_j,    r = r0 + sum_j alpha_j r_j

by projected coordinate descent: the direction is the stump that violates optimality most (a new one by its descent,
one already weighted by its slope either way), the step moves its weight and both intercepts at once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....arrays import Floats
from ....solution import Solution
from .certificates import dual_gap
from .corrective import correct
from .problem import Problem
from .settings import PAPER, Settings
from .state import Ensemble, State
from .stumps import Coded

_REFRESH = 50  # rounds between recomputations of the weights from the scores, against rounding drift
_EMPTY = 1e-10  # below this objective the data are separated and the weights would grow without end
_SMALL = 20_000  # rows up to which objective and certificate are read whenever the intercepts are settled
_ALWAYS, _EVERY = 20, 10  # the intercepts are settled after each of the first rounds, then after every tenth
_NEAR = 0.1  # share of a penalty by which optimality may be violated before a path goes on to the next one
logger = logging.getLogger(__name__)

# Called after every round with the state, and the stump whose weight changed and by how much, or None when all may
# have changed; a true answer ends the fit.
Monitor = Callable[[State, Coded | None, float], bool]
PenaltyPath = Sequence[tuple[float, int]]  # falling penalties, each with the round at which it ends at the latest


def boost(problem: Problem, settings: Settings, monitor: Monitor | None = None) -> Solution:
    """Minimise F; the `Solution` holds an `Ensemble`, and histories of objective, gap and violation.

    Parameters
    ----------
    problem : Problem
        Data and loss.
    settings : Settings
        Family, penalty, step and limits.
    monitor : callable, optional
        Called after every change of the scores; a true answer ends the fit.
    """
    with _threads(settings) as threads:
        return _boost(problem.start(settings, threads), monitor)


def settles_after(n_rounds: int) -> bool:
    """Whether the intercepts are settled after this many rounds.

    The schedule is the same for every fit, on a fold and on all cases, whatever is read off on the way: so the model
    after some number of rounds is the one that held-out cases have judged. Between, the steps move the intercepts.
    """
    return n_rounds <= _ALWAYS or n_rounds % _EVERY == 0


def boost_path(problem: Problem, settings: Settings, path: PenaltyPath) -> Iterator[Ensemble]:
    """Models at falling penalties, each boosted from the one before.

    Parameters
    ----------
    problem : Problem
        Data and loss.
    settings : Settings
        Family, step and limits.
    path : sequence of (float, int)
        Penalties as shares of the smallest at which no stump is used, each with the round at which it ends at most.
    """
    with _threads(settings) as threads:
        state = problem.start(settings, threads)
        state.settle_intercepts()
        state.sweep()
        highest, n_iter = max(0.0, -state.search.steepest()), 0
        for share, limit in path:
            n_iter = _approach(state, (share * highest, limit), n_iter)
            yield state.ensemble()


def beta_max(problem: Problem, settings: Settings) -> float:
    """Smallest penalty at which no stump is used."""
    state = problem.start(settings)
    state.settle_intercepts()
    state.sweep()
    return max(0.0, -state.search.steepest())


def _threads(settings: Settings) -> AbstractContextManager[ThreadPoolExecutor | None]:
    """Threads for the sweeps of a fit, if there are to be several."""
    return ThreadPoolExecutor(settings.n_threads) if settings.n_threads > 1 else nullcontext()


def _approach(state: State, penalty: tuple[float, int], n_iter: int, monitor: Monitor | None = None) -> int:
    """Boost at a penalty until no stump violates optimality by more than a share of it; return the rounds so far.

    A monitor is told of every round, but cannot end the fit.
    """
    beta, limit = penalty
    state.settings = replace(state.settings, beta=beta)
    while n_iter < limit:
        if n_iter % _REFRESH == _REFRESH - 1:
            state.refresh()
        state.sweep()
        stump, violation, _ = _select(state)
        if violation <= max(_NEAR * beta, state.settings.tol):
            break
        change = _move(state, stump)
        if monitor is not None:
            monitor(state, *change)
        n_iter += 1
    state.settle_intercepts()
    return n_iter


def _follow_path(state: State, monitor: Monitor | None) -> Solution:
    """Go through the penalties of the settings, and end with the last of them.

    Nothing is done after it, so that the model is what `boost_path` gives there: held-out cases have judged that. The
    certificate is read at this model, whose violation may be as large as a share of the penalty, or larger where the
    rounds were used up.
    """
    settings, n_iter = state.settings, 0
    for penalty in settings.path:
        n_iter = _approach(state, penalty, n_iter, monitor)
    state.settings = settings
    state.sweep()
    _, violation, descent = _select(state)
    history = _History()
    history.record(state, violation, descent, n_iter)
    return _solution(state, history, violation, n_iter)


def read_off(problem: Problem, settings: Settings, model: Ensemble, n_iter: int) -> Solution:
    """A model that was found elsewhere as a solution: its intercepts are settled, objective and certificate read."""
    with _threads(settings) as threads:
        state = problem.start(settings, threads)
        state.set_weights(model.stumps, model.weights, model.h0, model.r0)
        state.settle_intercepts()
        history = _History()
        _, violation = _look(state, history, n_iter, full=True)
        return _solution(state, history, violation, n_iter)


def _boost(state: State, monitor: Monitor | None) -> Solution:
    settings, history = state.settings, _History()
    every = settings.certify_every or (1 if state.n_cases <= _SMALL else 10)
    stages, separated = len(settings.exponents), False
    stage = _sharpen(state, 0)
    state.settle_intercepts()
    if settings.path:
        return _follow_path(state, monitor)
    for n_iter in range(settings.n_rounds + 1):
        last = n_iter == settings.n_rounds
        # Towards the maximum in equal shares of the rounds, or sooner where nothing is left to do.
        due = stages - 1 if last else min(n_iter * stages // settings.sharpening_rounds, stages - 1)
        if due > stage:
            stage = _sharpen(state, due)
        if n_iter % _REFRESH == _REFRESH - 1:
            state.refresh()
        full = last or (settles_after(n_iter) and n_iter % every == 0)
        stump, violation = _look(state, history, n_iter, full=full)
        while stage < stages - 1 and (separated or violation <= settings.tol):
            stage = _sharpen(state, stage + 1)
            separated = state.objective() < _EMPTY
            stump, violation = _look(state, history, n_iter, full=True)
        if last or separated or violation <= settings.tol:
            break
        change = _move(state, stump)
        if settles_after(n_iter + 1) or n_iter + 1 == settings.n_rounds:
            state.settle_intercepts()
            separated = state.objective() < _EMPTY
        if monitor is not None and monitor(state, *change):
            n_iter += 1
            break
    if not history.rounds or history.rounds[-1] != n_iter:
        if not settles_after(n_iter):
            state.settle_intercepts()
        _, violation = _look(state, history, n_iter, full=True)
    return _solution(state, history, violation, n_iter)


def _solution(state: State, history: _History, violation: float, n_iter: int) -> Solution:
    """What a fit hands back."""
    logger.debug("%d rounds, objective %.6g, violation %.3g", n_iter, history.objective[-1], violation)
    done = violation <= state.settings.tol
    return Solution(state.ensemble(), history.objective[-1], violation, n_iter, done, history.arrays())


def _look(state: State, history: _History, n_iter: int, *, full: bool) -> tuple[Coded, float]:
    """Sweep all features; return the stump to move along and its violation.

    If `full`, note the certificate: for settled intercepts only.
    """
    state.sweep()
    stump, violation, descent = _select(state)
    if full:
        history.record(state, violation, descent, n_iter)
    return stump, violation


def _move(state: State, stump: Coded) -> tuple[Coded | None, float]:
    """Change the model; return what to tell a monitor."""
    if state.settings.corrective:
        correct(state)
        return None, 0.0
    return stump, STEPS[state.settings.step](state, stump)


def _sharpen(state: State, stage: int) -> int:
    """Bring the surrogate to a stage on its way to the maximum; return the stage."""
    if state.settings.exponents:
        state.sharpen(state.settings.exponents[stage])
    return stage


def _select(state: State) -> tuple[Coded, float, float]:
    """Projected Gauss-Southwell: the stump that violates optimality most, how much, and the steepest descent."""
    beta = state.settings.beta
    descent = -(state.search.steepest() + beta)
    if state.alpha and state.settings.step != PAPER:
        slopes = np.abs(state.search.derivatives(state.active) + beta)
        worst = int(slopes.argmax())
        if slopes[worst] > descent:
            return list(state.alpha)[worst], float(slopes[worst]), descent
    return state.search.best()[0], descent, descent


def _joint_step(state: State, stump: Coded) -> float:
    """Move a stump's weight and both intercepts at once."""
    settings = state.settings
    return _take_step(state, stump, state.search.label_sums(stump), settings.free_h, settings.free_r)


def _line_step(state: State, stump: Coded) -> float:
    """Move a stump's weight alone, then settle the intercepts."""
    eta = _take_step(state, stump, state.search.label_sums(stump), False, False)
    state.settle_intercepts()
    return eta


def _paper_step(state: State, stump: Coded) -> float:
    """Move a stump's weight by the printed formula; along the line where that is undefined."""
    sums = state.search.label_sums(stump)
    eta = _printed_eta(sums, state.family.values, state.settings.beta, state.alpha.get(stump, 0.0))
    if eta is None:
        return _take_step(state, stump, sums, False, False)
    state.apply(stump, eta, 0.0, 0.0)
    return eta


# Values of the parameter `step` -> what changes the model, given the stump to move along; returns the weight added.
STEPS: dict[str, Callable[[State, Coded], float]] = {"joint": _joint_step, "line": _line_step, PAPER: _paper_step}


def _take_step(state: State, stump: Coded, sums: Floats, free_h: bool, free_r: bool) -> float:
    """Minimise the step's objective over the weight and the free intercepts, and take the learning rate's share."""
    settings, surrogate = state.settings, state.surrogate
    alpha = state.alpha.get(stump, 0.0)
    eta, dh, dr = state.loops.joint_step(
        sums, state.family.values, surrogate.b, surrogate.p, settings.beta, alpha, free_h, free_r
    )
    shrink = settings.learning_rate if eta > 0 else 1.0  # taking weight back is never slowed down
    eta = float(shrink * eta)
    state.apply(stump, eta, float(shrink * dh), float(shrink * dr))
    return eta


def _printed_eta(sums: Floats, values: Floats, beta: float, alpha: float) -> float | None:
    """The step printed in Figure 3: minimise Z e^eta + (W1 - Z) e^-eta + beta eta; None where it is undefined."""
    first = sums[:, :2]
    slope = float((first[:, 0] * (values[:, 1] - values[:, 0]) + first[:, 1] * (values[:, 1] + values[:, 0])).sum())
    slope -= float(sums[:, 2] @ values[:, 1])
    total = float(first.sum())
    z = (total + slope) / 2
    if z <= 0.0 or total - z <= 0.0:
        return None
    eta = np.log((-beta + np.sqrt(beta**2 + 4 * z * (total - z))) / (2 * z))
    return float(np.clip(eta, -alpha, 30.0))


def require_finite(objective: float) -> float:
    """Refuse to go on from an objective that is not a number: every answer after it would be a rejection."""
    if not np.isfinite(objective):
        raise FloatingPointError(f"The objective of boosting is {objective}: the scores it starts from are not finite.")
    return objective


@dataclass
class _History:
    """Traces of a fit."""

    objective: list[float] = field(default_factory=list)
    gap: list[float] = field(default_factory=list)
    violation: list[float] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)

    def record(self, state: State, violation: float, descent: float, n_iter: int) -> None:
        """Append a reading; one of the same round at an earlier stage gives way to it."""
        if self.rounds and self.rounds[-1] == n_iter:
            for trace in (self.rounds, self.objective, self.violation, self.gap):
                trace.pop()
        self.rounds.append(n_iter)
        self.objective.append(require_finite(state.objective()))
        self.violation.append(violation)
        self.gap.append(dual_gap(state, self.objective[-1], max(0.0, descent)))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The traces by name."""
        traces = {"round": self.rounds, "objective": self.objective, "dual_gap": self.gap, "violation": self.violation}
        return {name: np.array(trace) for name, trace in traces.items()}
