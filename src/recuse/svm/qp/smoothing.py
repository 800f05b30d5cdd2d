"""Newton's method on the kinked program of a linear kernel with its kinks rounded off: scores that are nearly right.

In the primal each loss has a bend where the score passes one of two values. Replaced by a parabola over a window of
half-width `delta` around it, the loss has a second derivative, which only the cases inside the window have: a Newton
step in the weights of the features costs two products with all cases and one weighted product of those few. The window
is made narrower from step to step. The exact solution is for others to find; this one says where to look.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from ...arrays import Flags, Floats
from .problem import KinkedQP
from .spaces import curvature, transposed

_SHARES = (0.2, 0.2, 0.08, 0.08, 0.03, 0.03)  # of the cases that the windows hold, step by step
_LEAST = 20  # cases in a window for each weight: with fewer the second derivative says little
_MOST_HALVINGS = 12
_FLAT = 0.3  # share of the slope at the start of a line that may be left at the end of a step


def refined_scores(problem: KinkedQP, Z: Any, w: Floats, b: float) -> Floats:
    """Scores close to the best, from weights and an intercept that are not far from it."""
    f = np.asarray(Z @ w).ravel() + b
    for share in _SHARES:
        count = int(share * len(f))
        if count < _LEAST * (len(w) + 1):
            break
        delta = float(np.partition(distances(problem, f), count)[count])
        if not 0 < delta < np.inf:
            break
        step = _newton_step(problem, Z, w, f, delta)
        if step is None:
            break
        dw, db, df = step
        length = _line_search(problem, w, f, dw, df, delta)
        w, b, f = w + length * dw, b + length * db, f + length * df
    return f


def distances(problem: KinkedQP, f: Floats) -> Floats:
    """How far the score of each case is from the nearer of its two bends."""
    return np.minimum(np.abs(f - problem.above), np.abs(f - problem.below))


def _coefficients(problem: KinkedQP, f: Floats, delta: float) -> Floats:
    """Minus the slope of each loss, rounded off: between the ends of its variable."""
    # Each of the two parts rises from nothing to its full width while the score falls through its window.
    beta = np.clip((problem.below - f) * (0.5 / delta) + 0.5, 0.0, 1.0)
    beta *= problem.kink - problem.lower
    beta += problem.lower
    second = np.clip((problem.above - f) * (0.5 / delta) + 0.5, 0.0, 1.0)
    second *= problem.upper - problem.kink
    beta += second
    return beta


def _newton_step(problem: KinkedQP, Z: Any, w: Floats, f: Floats, delta: float) -> tuple[Floats, float, Floats] | None:
    """Newton's change of the weights, the intercept and the scores; None where there is none."""
    beta = _coefficients(problem, f, delta)
    slope = np.append(w - transposed(Z, beta), -beta.sum())
    inside: Flags = distances(problem, f) < delta
    weight = np.zeros(np.count_nonzero(inside))
    part, at = problem.take(inside), f[inside]
    for bend, width in ((part.below, part.kink - part.lower), (part.above, part.upper - part.kink)):
        weight += np.where(np.abs(at - bend) < delta, width * (0.5 / delta), 0.0)
    try:
        factor = linalg.cho_factor(curvature(Z[inside], weight), check_finite=False)
        step = linalg.cho_solve(factor, -slope, check_finite=False)
    except linalg.LinAlgError:
        return None
    if not np.isfinite(step).all():
        return None
    return step[:-1], float(step[-1]), np.asarray(Z @ step[:-1]).ravel() + step[-1]


def _line_search(problem: KinkedQP, w: Floats, f: Floats, dw: Floats, df: Floats, delta: float) -> float:
    """How far to go: all the way, unless the objective rises again before; then about where it is least."""

    def slope(length: float) -> float:
        beta = _coefficients(problem, f + length * df, delta)
        return float((w + length * dw) @ dw) - float(beta @ df)

    allowed = -_FLAT * slope(0.0)
    if slope(1.0) <= allowed:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_MOST_HALVINGS):
        middle = 0.5 * (low + high)
        here = slope(middle)
        if abs(here) <= allowed:
            return middle
        low, high = (low, middle) if here > 0 else (middle, high)
    return low
