"""Steps in all free variables of the coupled program at once, for problems on which pairs are slow.

The variables strictly inside their boxes are moved together to the minimum of Q over them, with the three sums kept:
one linear system. A variable that reaches an end on the way stays there, and the others go on without it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ...arrays import Flags, Floats
from .problem import CoupledPoint, CoupledQP

_MOST_FREE = 1500
_MOST_STEPS = 20
_RIDGE = 1e-11  # share of the diagonal: duplicates and linear kernels leave directions without curvature


def free_steps(problem: CoupledQP, K: NDArray[Any], point: CoupledPoint, F: Floats, m: Floats) -> int:
    """Move the free variables on a square kernel matrix, with F and m; returns the number of steps."""
    for step in range(_MOST_STEPS):
        free = _Free(problem, point)
        if not 1 < len(free.cases) <= _MOST_FREE:
            return step
        H = free.curvature(K)
        slope = np.where(free.is_alpha, F[free.cases], m[free.cases])
        direction = _direction(H, free.sums, slope)
        descent, bend = -float(slope @ direction), float(direction @ H @ direction)
        if not (np.isfinite(descent) and descent > 0):
            return step
        length, blocked = free.longest(direction, descent / bend if bend > 0 else np.inf)
        if not np.isfinite(length):
            return step
        change = free.move(point, direction, length, blocked)
        _add(problem, K, change, F, m)
        if not blocked.any():
            return step + 1
    return _MOST_STEPS


class _Free:
    """The free variables, one after the other: alphas, gammas, mus."""

    def __init__(self, problem: CoupledQP, point: CoupledPoint) -> None:
        inside = [
            np.flatnonzero((value > 0) & (value < cap))
            for value, cap in zip(point.values(), problem.caps(), strict=True)
        ]
        self.cases = np.concatenate(inside)
        kind = np.repeat([0, 1, 2], [len(cases) for cases in inside])
        self._ends = np.cumsum([len(cases) for cases in inside])[:-1]
        self.is_alpha = kind == 0
        y = problem.y[self.cases]
        # Q = 1/4 |w+ + w-|^2 + 1/4 |w+ - w-|^2: how each variable enters the sum and the difference.
        self._total, self._difference = np.where(self.is_alpha, 1.0, 0.0), np.where(self.is_alpha, y, 2.0 * y)
        self.sums = np.array(
            [self.is_alpha & (y > 0), self.is_alpha & (y < 0), (kind == 1).astype(int) - (kind == 2)], dtype=np.float64
        )
        self.sums = self.sums[self.sums.any(axis=1)]
        self._value = np.concatenate([v[cases] for v, cases in zip(point.values(), inside, strict=True)])
        self._cap = np.concatenate([cap[cases] for cap, cases in zip(problem.caps(), inside, strict=True)])

    def curvature(self, K: NDArray[Any]) -> Floats:
        """Second derivatives of Q."""
        part = K[np.ix_(self.cases, self.cases)].astype(np.float64)
        part *= 0.5 * (np.outer(self._total, self._total) + np.outer(self._difference, self._difference))
        return part

    def longest(self, direction: Floats, limit: float) -> tuple[float, Flags]:
        """The largest step up to a limit within the boxes, and which variables stop it."""
        room = np.full(len(direction), np.inf)
        moving = direction != 0
        end = np.where(direction > 0, self._cap - self._value, -self._value)
        room[moving] = end[moving] / direction[moving]
        length = min(limit, float(room.min()))
        return length, room <= length * (1.0 + 1e-12)

    def move(self, point: CoupledPoint, direction: Floats, length: float, blocked: Flags) -> CoupledPoint:
        """Write the new values, those that are stopped exactly at their ends; returns the change of all variables."""
        after = np.clip(self._value + length * direction, 0.0, self._cap)
        after[blocked] = np.where(direction > 0, self._cap, 0.0)[blocked]
        change = CoupledPoint(*(np.zeros(len(point.alpha)) for _ in range(3)))
        parts = (np.split(values, self._ends) for values in (self.cases, after, after - self._value))
        for cases, new, moved, value, delta in zip(*parts, point.values(), change.values(), strict=True):
            value[cases], delta[cases] = new, moved
        return change


def _direction(H: Floats, sums: Floats, slope: Floats) -> Floats:
    """Newton's direction among those that keep the sums."""
    ridge = H.copy()
    ridge[np.diag_indices_from(ridge)] += _RIDGE * max(float(H.diagonal().mean()), 1e-300)
    try:
        factor = cho_factor(ridge, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return np.zeros(len(slope))
    solved = cho_solve(factor, np.column_stack([slope, sums.T]), check_finite=False)
    to_slope, to_sums = solved[:, 0], solved[:, 1:]
    multipliers = np.linalg.lstsq(sums @ to_sums, sums @ to_slope, rcond=None)[0]
    direction = to_sums @ multipliers - to_slope
    # A near singular system leaves sums that are not quite 0.
    norms = (sums * sums).sum(axis=1)
    return direction - sums.T @ ((sums @ direction) / norms)


def _add(problem: CoupledQP, K: NDArray[Any], change: CoupledPoint, F: Floats, m: Floats) -> None:
    difference = change.difference(problem.y)
    moved = np.flatnonzero((change.alpha != 0) | (difference != 0))
    both = K[:, moved] @ np.column_stack([change.alpha, difference])[moved]
    dm = problem.y * both[:, 1]
    m += dm
    F += (both[:, 0] + dm) / 2.0
