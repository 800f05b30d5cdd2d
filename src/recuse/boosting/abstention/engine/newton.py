"""Newton's method for the two intercepts: the constants added to h and r that minimise a convex objective."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ....arrays import Flags, Floats


class NewtonLimits(NamedTuple):
    """When to stop, and how far a step may go.

    `ridge` is added to the Hessian as a share of its trace, `longest` limits a step in either variable, and a
    decrease below the share `least` of the objective ends the iteration.
    """

    max_iter: int
    ridge: float
    longest: float
    least: float


def minimise_shift(
    value: Callable[[Floats], float],
    derivatives: Callable[[Floats], tuple[Floats, Floats]],
    free: Flags,
    limits: NewtonLimits,
) -> tuple[float, float]:
    """Minimise over the free ones of (dh, dr), from (0, 0), by Newton steps with backtracking.

    `derivatives` is only asked for the point that `value` was asked for last.
    """
    z = np.zeros(2)
    current = value(z)
    for _ in range(limits.max_iter):
        g, H = derivatives(z)
        d = np.zeros(2)
        regular = H[np.ix_(free, free)] + limits.ridge * H.trace() * np.eye(free.sum())
        d[free] = -np.linalg.solve(regular, g[free])
        decrement = -float(g[free] @ d[free])
        if not decrement > limits.least * current:
            break
        step = min(1.0, limits.longest / np.abs(d).max())
        new = value(z + step * d)
        while not new <= current - 1e-4 * step * decrement and step > 1e-10:
            step *= 0.5
            new = value(z + step * d)
        if not new < current:
            break
        z, current = z + step * d, new
    return float(z[0]), float(z[1])
