"""Newton's method for the two intercepts: the constants added to h and r that minimise a convex objective.

All that is asked of the cases is a handful of sums at a trial point, `ShiftTerms`: sums over parts of the cases add up
to those over all, wherever the parts lie. The objective itself, with a logarithm per case, is never needed: along a
line a convex function falls where its slope is negative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ....arrays import Floats

N_TERMS = 6
_LINE_SEARCH = 30  # trial points along one direction


class NewtonLimits(NamedTuple):
    """When to stop, and how far a step may go.

    `longest` limits a step in either variable. Newton squares the error: after a step shorter than `last` nothing is
    left that a double can hold, and the pass over the cases that would show it is saved.
    """

    max_iter: int
    longest: float
    last: float


class ShiftTerms(NamedTuple):
    """Sums over cases at a trial point (dh, dr): gradient, Hessian, and the weights that rounding goes by."""

    g_h: float
    g_r: float
    hh: float
    hr: float
    rr: float
    mass: float


def minimise_shift(
    terms: Callable[[float, float], Floats], free_h: bool, free_r: bool, limits: NewtonLimits
) -> tuple[float, float]:
    """Minimise over the free ones of (dh, dr), from (0, 0); `terms` returns the six sums of `ShiftTerms` at a point."""
    h = r = 0.0
    here = ShiftTerms(*terms(h, r).tolist())
    for _ in range(limits.max_iter):
        dh, dr = _direction(here, free_h, free_r)
        longest = max(abs(dh), abs(dr))
        slope = here.g_h * dh + here.g_r * dr
        # Written so that a NaN ends it too; a gradient of rounding errors has no direction.
        if not (slope < 0.0 and _is_felt(here, free_h, free_r)):
            break
        if longest <= limits.last:
            return h + dh, r + dr
        step = min(1.0, limits.longest / longest)
        for _ in range(_LINE_SEARCH):
            there = ShiftTerms(*terms(h + step * dh, r + step * dr).tolist())
            beyond = there.g_h * dh + there.g_r * dr
            if beyond <= -0.5 * slope:  # short of the minimum along the line, or not far behind it
                break
            # The slope has changed its sign: the minimum lies between, near where a straight line puts it.
            step *= max(0.1, slope / (slope - beyond)) if np.isfinite(beyond) else 0.1
        else:
            break
        h, r, here = h + step * dh, r + step * dr, there
    return h, r


def _direction(at: ShiftTerms, free_h: bool, free_r: bool) -> tuple[float, float]:
    """Newton direction of the free variables; downhill where the Hessian is no more than rounding."""
    if free_h and free_r:
        # A little more curvature in both directions settles the one in which nothing changes.
        extra = 1e-14 * (at.hh + at.rr)
        hh, rr = at.hh + extra, at.rr + extra
        determinant = hh * rr - at.hr * at.hr
        if determinant > 0.0:
            return (at.hr * at.g_r - rr * at.g_h) / determinant, (at.hr * at.g_h - hh * at.g_r) / determinant
    dh = -at.g_h / at.hh if free_h and at.hh > 0.0 else 0.0
    dr = -at.g_r / at.rr if free_r and at.rr > 0.0 else 0.0
    return dh, dr


def _is_felt(at: ShiftTerms, free_h: bool, free_r: bool) -> bool:
    """Whether the gradient is more than the rounding error of its sums."""
    return max(abs(at.g_h) * free_h, abs(at.g_r) * free_r) > 1e-16 * at.mass
