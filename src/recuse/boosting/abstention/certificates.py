"""How far from the optimum a boosted model can be: a duality gap from the weights at hand."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from ...arrays import Floats
from .state import State

_ROUNDING = 1e-12


def dual_gap(state: State, objective: float, descent: float) -> float:
    """Upper bound of F - min F; NaN for the smoothed maximum, or where an intercept is held fixed.

    Shrinking the weights by tau = beta / (beta + descent) makes them feasible for the dual problem, whose value
    bounds F from below. Without a penalty no such scaling exists; then the bound is against every model whose total
    weight is no larger than the present one.

    Parameters
    ----------
    state : State
        With intercepts at their optimum.
    objective : float
        F there.
    descent : float
        Steepest rate of descent over the whole family, 0 or more.
    """
    settings = state.settings
    # With the family "score" r is no variable at all.
    if not (state.multiplicative and settings.free_h and (settings.free_r or settings.family == "score")):
        return float("nan")
    beta = settings.beta
    if beta == 0.0:
        gap = _gap_unpenalised(state, descent)
    else:
        tau = beta / (beta + descent)
        gap = _gap_logistic(state, objective, tau) if state.logistic else _gap_exponential(state, objective, tau)
    # At the optimum the terms cancel up to rounding.
    return 0.0 if -_ROUNDING * max(objective, 1.0) < gap < 0.0 else gap


def _of_the_start(state: State) -> float:
    """What the scores that the stumps are added to contribute to the dual: their arguments u, v weighted by w."""
    start = state.problem.offset
    if start is None:
        return 0.0
    return float(state.w[:, 0] @ (start[:, 1] - state.problem.y * start[:, 0]) - state.w[:, 1] @ start[:, 1])


def _gap_unpenalised(state: State, descent: float) -> float:
    stumps = list(state.alpha)
    if not stumps:
        return float("inf") if descent > 0 else 0.0
    weights = np.array([state.alpha[stump] for stump in stumps])
    return float(weights @ state.search.derivatives(stumps) + weights.sum() * descent)


def _gap_logistic(state: State, objective: float, tau: float) -> float:
    share = np.array([1.0, 1.0 / state.surrogate.b])
    total = 0.0
    for rows in state.blocks():
        probability = tau * state.growth[rows] / (1.0 + state.growth[rows])
        entropy = xlogy(probability, probability) + xlogy(1.0 - probability, 1.0 - probability)
        total += float((state.scale(rows) * entropy).sum(axis=0) @ share)
    return objective + total - tau * _of_the_start(state)


def _gap_exponential(state: State, objective: float, tau: float) -> float:
    share = np.array([1.0, 1.0 / state.surrogate.b])
    total = float(state.w.sum(axis=0) @ share)
    moment = sum(float(_times_log(state.w[rows], state.scale(rows)).sum(axis=0) @ share) for rows in state.blocks())
    moment -= _of_the_start(state)
    # Any smaller factor is feasible as well; this one maximises the dual value.
    tau = min(tau, float(np.exp(-moment / total)))
    return objective - tau * ((1.0 - np.log(tau)) * total - moment)


def _times_log(w: Floats, scale: Floats) -> Floats:
    """Return w log(w / scale), which is e^u u up to the scale."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(w > 0, xlogy(w, w / scale), 0.0)
