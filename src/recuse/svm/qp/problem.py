"""The quadratic program behind the kernel machines, with one kink and one equality.

    minimise  1/2 beta' K beta - sum_i phi_i(beta_i)   subject to   sum_i beta_i = 0,  l_i <= beta_i <= h_i

where phi_i is concave and piecewise linear: slope ``below_i`` up to the kink ``k_i``, slope ``above_i <= below_i``
after it, and phi_i(0) = 0. The score is ``f = K beta + b``; ``g`` stands for ``K beta``. The primal problem it is
dual to is

    minimise  1/2 beta' K beta + sum_i L_i(g_i + b),    L_i(f) = max_{l_i <= u <= h_i} phi_i(u) - u f,

so primal minus dual is available in closed form at any feasible point.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Flags, Floats
from ..losses import Hinges

_SORTED = 10_000  # from twice as many bends on, only those near the minimum are sorted


@dataclass(frozen=True, eq=False)
class KinkedQP:
    """Data of the quadratic program, all of shape (n,)."""

    lower: Floats
    kink: Floats
    upper: Floats
    below: Floats
    above: Floats

    def __len__(self) -> int:
        return len(self.kink)

    def take(self, rows: NDArray[Any]) -> KinkedQP:
        """The program on a part of the variables."""
        return KinkedQP(self.lower[rows], self.kink[rows], self.upper[rows], self.below[rows], self.above[rows])

    def scaled(self, factor: float | Floats) -> KinkedQP:
        """The program with all weights, hence all boxes, multiplied by a factor, or each by its own."""
        return replace(self, lower=self.lower * factor, kink=self.kink * factor, upper=self.upper * factor)

    def arrays(self) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """The five arrays, in the order the compiled loops take them."""
        return self.lower, self.kink, self.upper, self.below, self.above

    def loss(self, f: Floats) -> Floats:
        """Primal loss L_i of each case at scores f."""
        u = self.ends(f)
        return self.gain(u) - u * f

    def ends(self, f: Floats) -> Floats:
        """The bound or kink that is best for each case at scores f."""
        return np.where(f < self.above, self.upper, np.where(f < self.below, self.kink, self.lower))

    def bends(self, g: Floats) -> tuple[Floats, Floats]:
        """The intercepts at which the slope of the primal changes, and by how much."""
        at = np.concatenate([self.above - g, self.below - g])
        return at, np.concatenate([self.upper - self.kink, self.kink - self.lower])

    def gain(self, beta: Floats) -> Floats:
        """phi_i of each case."""
        at_kink = np.where(self.kink >= 0, self.below, self.above) * self.kink  # so that phi(0) = 0
        return at_kink + np.where(beta < self.kink, self.below, self.above) * (beta - self.kink)

    def moves(self, beta: Floats) -> tuple[Floats, Floats]:
        """Slope of phi when beta grows (-inf where it may not) and when it shrinks (+inf where it may not)."""
        up = np.where(beta < self.kink, self.below, self.above)
        down = np.where(beta > self.kink, self.above, self.below)
        return np.where(beta < self.upper, up, -np.inf), np.where(beta > self.lower, down, np.inf)

    def intercept_interval(self, beta: Floats, g: Floats) -> tuple[float, float]:
        """``(B_lo, B_hi)``: beta is optimal when ``B_lo <= B_hi``, and these are then the optimal intercepts."""
        up, down = self.moves(beta)
        return float((up - g).max()), float((down - g).min())


@dataclass(frozen=True, eq=False)
class Held:
    """What variables outside a part of the program add to it.

    Attributes
    ----------
    scores : ndarray or float
        Their part of the scores, or of the weights of the features where the kernel is linear.
    total : float
        The sum of their beta: the others sum to its opposite.
    gain : float
        The sum of their phi.
    half_norm : float
        Half of ``beta' K beta`` among them; for a linear kernel it follows from the weights.
    """

    scores: Floats | float = 0.0
    total: float = 0.0
    gain: float = 0.0
    half_norm: float = 0.0


NOTHING_HELD = Held()


@dataclass(frozen=True, eq=False)
class KinkedCertificate:
    """What is known about a point: the intercept that is best for it, both objectives, and the violation."""

    intercept: float
    primal: float
    dual: float
    violation: float

    @property
    def gap(self) -> float:
        """Primal minus dual: the objective is at most this far from its minimum."""
        return self.primal - self.dual


def from_hinges(loss: Hinges, y: Floats, weight: Floats) -> KinkedQP:
    """The dual of ``1/2 |f|^2 + sum_i weight_i loss(y_i f(x_i))``, section 4.1, with one variable per case.

    Since the outer offset exceeds the inner one, the paper's alpha is ``min(gamma, A)`` and beta = y gamma is all
    that is left.
    """
    row = (y > 0).astype(np.intp)
    first = weight * loss.weights[row, 0]
    both = first + weight * loss.weights[row, 1]
    outer, inner = loss.offsets[row, 0], loss.offsets[row, 1]
    positive = y > 0
    return KinkedQP(
        lower=np.where(positive, 0.0, -both),
        kink=np.where(positive, first, -first),
        upper=np.where(positive, both, 0.0),
        below=np.where(positive, outer, -inner),
        above=np.where(positive, inner, -outer),
    )


def feasible(problem: KinkedQP, beta: Floats) -> Floats:
    """A feasible point close by: within the boxes, exactly on the ends it nearly touches, and summing to 0.

    For warm starts: a solution scaled by ``C_new / C_old`` is returned unchanged, up to rounding.
    """
    beta = np.clip(beta, problem.lower, problem.upper)
    near = 1e-12 * (problem.upper - problem.lower)
    for end in (problem.lower, problem.kink, problem.upper):
        beta = np.where(np.abs(beta - end) <= near, end, beta)
    excess = float(beta.sum())
    # Take the excess from variables of its sign, those inside a piece first; towards 0 they stay in their boxes.
    inside = (beta != problem.lower) & (beta != problem.kink) & (beta != problem.upper)
    givers = np.argsort(~inside, kind="stable")
    givers = givers[beta[givers] * excess > 0]
    before = np.cumsum(np.abs(beta[givers])) - np.abs(beta[givers])
    taken = np.clip(abs(excess) - before, 0.0, np.abs(beta[givers]))
    beta[givers] -= np.sign(excess) * taken
    return beta


def best_intercept(problem: KinkedQP, g: Floats) -> float:
    """Intercept that minimises the primal at scores g: exact, and the middle where it is not unique."""
    return best_shift(*problem.bends(g), -float(problem.upper.sum()))


def best_shift(bends: Floats, jumps: Floats, slope: float) -> float:
    """Minimiser of a convex piecewise linear function of one variable.

    Parameters
    ----------
    bends, jumps : ndarray
        Where the slope changes, and by how much (not negative).
    slope : float
        Slope to the left of every bend.

    Returns
    -------
    float
        The middle of the interval of minimisers; its finite end if the other is infinite.
    """
    # Slopes that are zero up to rounding count as zero.
    slack = 1e-10 * (abs(slope) + float(jumps.sum()))
    before, used = _around_minimum(bends, jumps, slope, slack)
    order = np.argsort(bends[used], kind="stable")
    at = bends[used][order]
    slopes = slope + before + np.cumsum(jumps[used][order])
    left = int(np.searchsorted(slopes, -slack))
    right = int(np.searchsorted(slopes, slack, side="right"))
    if right == len(at):  # flat to the right of the last bend
        right = left
    if slope >= -slack:  # flat or rising from the start
        left = right
    return float(at[left] + at[right]) / 2


def _around_minimum(bends: Floats, jumps: Floats, slope: float, slack: float) -> tuple[float, Flags]:
    """Which bends must be sorted to find the minimum, and the jumps of all that lie to their left.

    Of many bends a sample says about where the minimum is; sorting all of them would take most of the time.
    """
    every = jumps > 0
    step = len(bends) // _SORTED
    if step < 2:
        return 0.0, every
    order = np.argsort(bends[::step], kind="stable")
    middle = int(np.searchsorted(np.cumsum(jumps[::step][order]) * step, -slope))
    low, high = max(middle - _SORTED // 20, 0), min(middle + _SORTED // 20, len(order) - 1)
    first, last = bends[::step][order[low]], bends[::step][order[high]]
    left = float(jumps[bends < first].sum())
    near = every & (bends >= first) & (bends <= last)
    if slope + left < -slack and slope + left + float(jumps[near].sum()) > slack:
        return left, near
    return 0.0, every


def certify(problem: KinkedQP, beta: Floats, g: Floats) -> KinkedCertificate:
    """Evaluate a feasible beta with its exact ``g = K beta``."""
    b = best_intercept(problem, g)
    half_norm = 0.5 * float(beta @ g)
    low, high = problem.intercept_interval(beta, g)
    return KinkedCertificate(
        intercept=b,
        primal=half_norm + float(problem.loss(g + b).sum()),
        dual=float(problem.gain(beta).sum()) - half_norm,
        violation=max(low - high, 0.0),
    )


@dataclass(frozen=True, eq=False)
class Expansion:
    """Where a solver ended: the expansion ``f = K beta + intercept`` and how far it is from the optimum.

    Attributes
    ----------
    beta : ndarray of shape (n,)
        Signed coefficients.
    g : ndarray of shape (n,)
        ``K beta``.
    intercept : float
    gap : float
        Primal minus dual objective.
    """

    beta: Floats
    g: Floats
    intercept: float
    gap: float
