"""The weights of a fixed set of stumps at their optimum: projected Newton on the restricted problem."""

from __future__ import annotations

import numpy as np

from ....arrays import Flags, Floats
from .losses import CLIP
from .problem import Problem
from .state import State
from .stumps import Coded, Family, cell_labels

_MAX_ITER = 100


def correct(state: State) -> None:
    """Add the best stump of every feature and minimise F over all stumps so far."""
    beta = state.settings.beta
    new = [state.search.best_of(f) for f in np.flatnonzero(state.search.found + beta < 0).tolist()]
    stumps = list(dict.fromkeys([*state.alpha, *new]))
    start = np.array([state.alpha.get(stump, 0.0) for stump in stumps])
    state.set_weights(stumps, *solve_restricted(state, stumps, start))


def solve_restricted(state: State, stumps: list[Coded], start: Floats) -> tuple[Floats, float, float]:
    """Minimise F over the weights of `stumps` (not negative) and the free intercepts; returns weights, h0 and r0."""
    problem, settings, intercepts = state.problem, state.settings, (state.h0, state.r0)
    h, r = columns(problem, stumps, state.family)
    free = np.array([settings.free_h, settings.free_r])
    constants = np.array([[1.0, 0.0], [0.0, 1.0]])[:, free]
    h = np.hstack([h, np.broadcast_to(constants[0], (len(h), free.sum()))])
    r = np.hstack([r, np.broadcast_to(constants[1], (len(r), free.sum()))])
    n = len(stumps)
    bounded = np.arange(h.shape[1]) < n
    x = np.concatenate([start, np.array(intercepts)[free]])
    x = _projected_newton(_Restricted(problem, h, r, np.where(bounded, settings.beta, 0.0)), x, bounded)
    settled = np.array(intercepts)
    settled[free] = x[n:]
    return x[:n], float(settled[0]), float(settled[1])


def columns(problem: Problem, stumps: list[Coded], family: Family) -> tuple[Floats, Floats]:
    """Values of (h, r) of every row under every stump, one column per stump."""
    bins = problem.bins
    labels = np.empty((len(problem.s), len(stumps)), dtype=np.int64)
    for a, stump in enumerate(stumps):
        labels[:, a] = cell_labels(stump, int(bins.n_bins[stump[0]]))[bins.codes[stump[0]]]
    return family.values[labels, 0], family.values[labels, 1]


class _Restricted:
    """F as a function of the weights, with gradient and Hessian."""

    def __init__(self, problem: Problem, h: Floats, r: Floats, beta: Floats) -> None:
        self.loss, self.b = problem.surrogate.phi, problem.surrogate.b
        self.s, self.sk = problem.s, problem.s * problem.surrogate.k
        self.u, self.v, self.beta = r - problem.y[:, None] * h, -self.b * r, beta
        self.u0 = self.v0 = np.zeros(len(problem.s))
        if problem.offset is not None:
            self.u0 = problem.offset[:, 1] - problem.y * problem.offset[:, 0]
            self.v0 = -self.b * problem.offset[:, 1]

    def value(self, x: Floats) -> float:
        """F at x."""
        u, v = self._arguments(x)
        return float(self.s @ self.loss.value(u) + self.sk @ self.loss.value(v) + self.beta @ x)

    def derivatives(self, x: Floats) -> tuple[Floats, Floats]:
        """Gradient and Hessian at x."""
        u, v = self._arguments(x)
        gradient = (self.s * self.loss.slope(u)) @ self.u + (self.sk * self.loss.slope(v)) @ self.v + self.beta
        hessian = (self.u.T * (self.s * self.loss.curvature(u))) @ self.u
        hessian = hessian + (self.v.T * (self.sk * self.loss.curvature(v))) @ self.v
        return gradient, hessian

    def _arguments(self, x: Floats) -> tuple[Floats, Floats]:
        """Arguments u and v of every case."""
        return np.clip(self.u0 + self.u @ x, -CLIP, CLIP), np.clip(self.v0 + self.v @ x, -CLIP, CLIP)


def _projected_newton(problem: _Restricted, x: Floats, bounded: Flags) -> Floats:
    """Newton on the variables off their bound, projected back onto x >= 0, with a backtracking search."""
    value = problem.value(x)
    gradient, hessian = problem.derivatives(x)
    residual = _residual(x, gradient, bounded)
    for _ in range(_MAX_ITER):
        if residual <= 1e-13:
            break
        step = _direction(x, gradient, hessian, bounded)
        length, rounding = 1.0, 4e-16 * abs(value)
        while length > 1e-8:
            trial = np.where(bounded, np.maximum(x + length * step, 0.0), x + length * step)
            new = problem.value(trial)
            if new < value + rounding:
                break
            length *= 0.5
        gradient, hessian = problem.derivatives(trial)
        new_residual = _residual(trial, gradient, bounded)
        # At the limit of the objective's precision only the gradient still tells better from worse.
        if not (new < value - rounding or new_residual < 0.9 * residual):
            break
        x, value, residual = trial, min(new, value), new_residual
    return x


def _residual(x: Floats, gradient: Floats, bounded: Flags) -> float:
    """Largest violation of optimality."""
    return float(np.abs(np.where(bounded, x - np.maximum(x - gradient, 0.0), gradient)).max())


def _direction(x: Floats, gradient: Floats, hessian: Floats, bounded: Flags) -> Floats:
    """Newton direction of the variables that are off their bound, or would leave it; of limited length."""
    free = ~(bounded & (x <= 1e-12) & (gradient > 0))
    H = hessian[np.ix_(free, free)]
    step = np.zeros_like(x)
    # The ridge settles directions in which nothing changes (sums of stumps that are equal on all rows).
    step[free] = -np.linalg.solve(H + 1e-10 * max(H.trace(), 1e-300) * np.eye(len(H)), gradient[free])
    longest = np.abs(step).max()
    return step * min(1.0, 10.0 / longest) if longest > 0 else step
