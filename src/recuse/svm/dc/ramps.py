"""The double ramp loss of a batch, and the convex functions that lie on top of it.

Symbols of Shah and Manwani (2019): margin ``m = y f``, half-width ``rho`` of the reject band, ``mu`` of the slopes. One
case costs, with r the price of its rejection and c that of its error,

    L(m, rho) = r/mu ramp(m - rho) + (c - r)/mu ramp(m + rho),   ramp(t) = (mu - t)_+ - (-mu^2 - t)_+ ,

which is eq. (4) for c = 1, r = d. Each ramp is a difference of hinges. For any ``turned`` in [0, 1],

    ramp(t) <= (mu - t)_+ + turned (t + mu^2),   with equality where turned is a slope of (-mu^2 - t)_+ :

the majoriser of a DC step, convex in the margin and in rho.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Floats
from ...costs import Costs

_TIE = 1e-7  # margins so close to a kink count as on it


@dataclass(frozen=True, eq=False)
class Turned:
    """Which cases have the second hinge of their outer (``m - rho``) and inner (``m + rho``) ramp turned on."""

    outer: Floats
    inner: Floats

    def same(self, other: Turned) -> bool:
        """Whether both name the same majoriser."""
        return np.array_equal(self.outer, other.outer) and np.array_equal(self.inner, other.inner)


@dataclass(frozen=True, eq=False)
class RampLoss:
    """Mean double ramp loss of some cases.

    Attributes
    ----------
    y : ndarray of shape (n,)
        Labels -1, +1.
    outer, inner : ndarray of shape (n,)
        Heights of the two ramps over ``1 + mu``: ``w_i r_i / sum w`` and ``w_i (c_i - r_i) / sum w``.
    mu : float
        In (0, 1]; a ramp is ``mu + mu^2`` wide.
    price : float
        The largest price of an error, the unit of tolerances.
    """

    y: Floats
    outer: Floats
    inner: Floats
    mu: float
    price: float

    @property
    def rho_min(self) -> float:
        """Smallest half-width at which the loss has a plateau: ``mu (1 + mu) / 2``."""
        return self.mu * (1 + self.mu) / 2

    def value(self, f: Floats, rho: float) -> float:
        """Mean loss at scores f."""
        m, width = self.y * f, self.mu + self.mu**2
        outer = self.outer @ np.clip(self.mu + rho - m, 0.0, width)
        inner = self.inner @ np.clip(self.mu - rho - m, 0.0, width)
        return float(outer + inner) / self.mu

    def majoriser(self, f: Floats, rho: float, turned: Turned) -> float:
        """Value of the majoriser for `turned` at scores f."""
        m, total = self.y * f, 0.0
        for height, t, on in ((self.outer, m - rho, turned.outer), (self.inner, m + rho, turned.inner)):
            total += float(height @ (np.maximum(self.mu - t, 0.0) + on * (t + self.mu**2)))
        return total / self.mu

    def constant(self, turned: Turned) -> float:
        """What the dual of the majoriser adds to its terms in the dual variables."""
        return float(self.outer @ turned.outer + self.inner @ turned.inner) * (1 + self.mu)

    def turned(self, f: Floats, rho: float, side: int) -> Turned:
        """Slopes at scores f; at a kink the steeper one for ``side = 1``, the other for ``side = -1``.

        Solutions of linear programs have many margins exactly on a kink. Without a tolerance rounding would choose.
        """
        m, tie = self.y * f, side * _TIE * max(1.0, rho)
        edge = tie - self.mu**2
        return Turned((m - rho <= edge).astype(np.float64), (m + rho <= edge).astype(np.float64))

    def none_turned(self) -> Turned:
        """The convex start: the second hinges left out."""
        return Turned(np.zeros(len(self.y)), np.zeros(len(self.y)))

    def random_turned(self, rng: Any) -> Turned:
        """A random start: up to half of the cases, at random, are taken for lost."""
        outer = rng.uniform(size=len(self.y)) < rng.uniform(0.0, 0.5)
        inner = outer & (rng.uniform(size=len(self.y)) < 0.5)
        return Turned(outer.astype(np.float64), inner.astype(np.float64))

    def constants(self) -> list[tuple[float, float]]:
        """Intercept and rho of the constant scores: reject all, all positive, all negative."""
        rho = max(self.mu, self.rho_min)
        # Far enough that no case is on a slope, nor on a kink.
        far = 2 * (rho + self.mu + self.mu**2)
        return [(0.0, 2 * rho), (far, rho), (-far, rho)]


def ramp_loss(costs: Costs, y: Floats, weights: Floats, mu: float) -> RampLoss:
    """The loss for prices (of errors and rejections, by class), labels and weights of cases."""
    costs.require_rejecting_pays()
    share = weights / weights.sum()
    positive = y > 0
    reject = np.where(positive, costs.reject_positive, costs.reject_negative)
    error = np.where(positive, costs.fn, costs.fp)
    return RampLoss(y, share * reject, share * (error - reject), mu, costs.largest_error)
