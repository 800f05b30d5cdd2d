"""How far from the optimum a boosted model can be: a duality gap from the weights at hand."""

from __future__ import annotations

import numpy as np

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
    # The bound takes every intercept to be free: that of h, and that of r where there is an r.
    if not (state.weights.certified and settings.free_h):
        return float("nan")
    if settings.beta == 0.0:
        gap = _gap_unpenalised(state, descent)
    else:
        tau = settings.beta / (settings.beta + descent)
        gap = state.weights.gap(state.gap_sums(tau), objective, tau, state.start_sum())
    # At the optimum the terms cancel up to rounding.
    return 0.0 if -_ROUNDING * max(objective, 1.0) < gap < 0.0 else gap


def _gap_unpenalised(state: State, descent: float) -> float:
    """Bound against every model of no larger total weight."""
    stumps = list(state.alpha)
    if not stumps:
        return float("inf") if descent > 0 else 0.0
    weights = np.array([state.alpha[stump] for stump in stumps])
    return float(weights @ state.search.derivatives(stumps) + weights.sum() * descent)
