"""The losses of the kernel machines, made of hinges: the double hinge and the double ramp.

**Double hinge.** A loss of the margin ``m = y f`` is ``sum_k weight[k] * max(0, offset[k] - m)``, with one row of
weights and offsets for each class. Symbols of Grandvalet et al. (2008): ``p_-``, ``p_+`` are Chow's two probabilities,
``f_-``, ``f_+`` their logits, ``H`` the entropy; ``f_1 < f_- < f_2 < f_+ < f_3`` are the scores at which it bends.

**Double ramp.** Symbols of Shah and Manwani (2019): half-width ``rho`` of the reject band, ``mu`` of the slopes. One
case costs, with r the price of its rejection and c that of its error,

    L(m, rho) = r/mu ramp(m - rho) + (c - r)/mu ramp(m + rho),   ramp(t) = (mu - t)_+ - (-mu^2 - t)_+ ,

which is eq. (4) for c = 1, r = d. Each ramp is a difference of two hinges, so that it is not convex. For any number a
in [0, 1],

    ramp(t) <= (mu - t)_+ + a (t + mu^2),   with equality where -a is a slope of (-mu^2 - t)_+ :

the convex majoriser of a DC step. Where a = 1 the second hinge counts as active, where a = 0 as inactive.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..costs import Costs

_TIE = 1e-7  # margins this close to a kink count as on it


@dataclass(frozen=True, eq=False)
class Hinges:
    """A convex loss made of hinges in the margin.

    Attributes
    ----------
    weights, offsets : ndarray of shape (2, 2)
        First row: the negative class; second row: the positive. First column: the outer hinge (the larger offset);
        second column: the inner one. A single hinge has inner weight 0.
    """

    weights: Floats
    offsets: Floats

    def value(self, y: NDArray[Any], f: Floats) -> Floats:
        """Loss of each case with labels -1, +1 and scores f."""
        row = (np.asarray(y) > 0).astype(np.intp)
        gaps = self.offsets[row] - (np.asarray(y) * f)[:, None]
        loss: Floats = (self.weights[row] * np.maximum(gaps, 0.0)).sum(axis=1)
        return loss


def double_hinge(costs: Costs) -> Hinges:
    """The double hinge loss, eq. (7) and (8), for any prices at which rejecting pays."""
    costs.require_rejecting_pays()
    p_minus, _ = costs.thresholds
    q_plus = _one_minus_p_plus(costs)
    f_1, f_2, f_3 = bends(costs)
    width = _band(costs)
    weights = np.array([[p_minus, width], [q_plus, width]])
    offsets = np.array([[-f_1, -f_2], [f_3, f_2]])
    return Hinges(weights, offsets)


def bends(costs: Costs) -> tuple[float, float, float]:
    """Scores ``(f_1, f_2, f_3)`` at which the double hinge bends."""
    p_minus, p_plus = costs.thresholds
    q_plus, width = _one_minus_p_plus(costs), _band(costs)
    # The divided difference of the entropy is 0/0 in the limit; the logit's error is of second order in the width.
    narrow = width < 1e-6
    f_2 = _logit((p_plus + p_minus) / 2) if narrow else -(_entropy(q_plus) - _entropy(p_minus)) / width
    return -_entropy(p_minus) / p_minus, f_2, _entropy(q_plus) / q_plus


def score_thresholds(costs: Costs) -> tuple[float, float]:
    """Scores ``(f_-, f_+)`` of rule (9): no below the first, yes above the second, else reject."""
    f_minus = math.log(costs.reject_negative) - math.log(costs.fn - costs.reject_positive)
    f_plus = math.log(costs.fp - costs.reject_negative) - math.log(costs.reject_positive)
    return f_minus, f_plus


def bartlett_wegkamp_threshold(costs: Costs) -> float:
    """Bartlett and Wegkamp's threshold 1/2, in the units of the double hinge: ``H(d) / (2 d)``."""
    d = reject_share(costs)
    return _entropy(d) / (2 * d)


def _bartlett_wegkamp_thresholds(costs: Costs) -> tuple[float, float]:
    threshold = bartlett_wegkamp_threshold(costs)
    return -threshold, threshold


# Where a score of the double hinge is rejected: between the two thresholds of the rule.
SCORE_RULES: dict[str, Callable[[Costs], tuple[float, float]]] = {
    "plugin": score_thresholds,
    "bartlett_wegkamp": _bartlett_wegkamp_thresholds,
}


def break_even_score(costs: Costs) -> float:
    """Logit of the probability at which yes and no cost the same; it lies between the two thresholds."""
    return math.log(costs.fp) - math.log(costs.fn)


def reject_share(costs: Costs) -> float:
    """The single price d = reject / error of symmetric costs."""
    if not costs.symmetric:
        raise ValueError(
            f"Bartlett and Wegkamp's rule is defined for equal prices of both classes only; got {costs!r}. "
            "Use fp = fn and one reject price, or rule='plugin'."
        )
    return costs.reject_negative / costs.fp


@dataclass(frozen=True, eq=False)
class ActiveHinges:
    """Which cases have the second hinge of their outer (``m - rho``) and inner (``m + rho``) ramp active: 0 or 1."""

    outer: Floats
    inner: Floats

    def same(self, other: ActiveHinges) -> bool:
        """Whether both name the same majoriser."""
        return np.array_equal(self.outer, other.outer) and np.array_equal(self.inner, other.inner)


@dataclass(frozen=True, eq=False)
class RampLoss:
    """Mean double ramp loss of a training set.

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

    def majoriser(self, f: Floats, rho: float, active: ActiveHinges) -> float:
        """Value of the majoriser with these hinges active, at scores f."""
        m, total = self.y * f, 0.0
        for height, t, on in ((self.outer, m - rho, active.outer), (self.inner, m + rho, active.inner)):
            total += float(height @ (np.maximum(self.mu - t, 0.0) + on * (t + self.mu**2)))
        return total / self.mu

    def constant(self, active: ActiveHinges) -> float:
        """What the dual of the majoriser adds to its terms in the dual variables."""
        return float(self.outer @ active.outer + self.inner @ active.inner) * (1 + self.mu)

    def active_hinges(self, f: Floats, rho: float, side: int) -> ActiveHinges:
        """The majoriser that touches the loss at scores f; at a kink the hinge is active for ``side = 1`` only.

        Solutions of linear programs have many margins exactly on a kink. Without a tolerance rounding would choose.
        """
        m, tie = self.y * f, side * _TIE * max(1.0, rho)
        edge = tie - self.mu**2
        return ActiveHinges((m - rho <= edge).astype(np.float64), (m + rho <= edge).astype(np.float64))

    def no_active_hinges(self) -> ActiveHinges:
        """The convex start: the second hinges left out."""
        return ActiveHinges(np.zeros(len(self.y)), np.zeros(len(self.y)))

    def random_active_hinges(self, rng: Any) -> ActiveHinges:
        """A random start: up to half of the cases, at random, are given up."""
        outer = rng.uniform(size=len(self.y)) < rng.uniform(0.0, 0.5)
        inner = outer & (rng.uniform(size=len(self.y)) < 0.5)
        return ActiveHinges(outer.astype(np.float64), inner.astype(np.float64))

    def constants(self) -> list[tuple[float, float]]:
        """Intercept and rho of the constant scores: reject all, all positive, all negative."""
        rho = max(self.mu, self.rho_min)
        # Far enough that no case is on a slope, nor on a kink.
        far = 2 * (rho + self.mu + self.mu**2)
        return [(0.0, 2 * rho), (far, rho), (-far, rho)]


def double_ramp(costs: Costs, y: Floats, weights: Floats, mu: float) -> RampLoss:
    """The loss for prices (of errors and rejections, by class), labels and weights of cases."""
    costs.require_rejecting_pays()
    share = weights / weights.sum()
    positive = y > 0
    reject = np.where(positive, costs.reject_positive, costs.reject_negative)
    error = np.where(positive, costs.fn, costs.fp)
    return RampLoss(y, share * reject, share * (error - reject), mu, costs.largest_error)


def _one_minus_p_plus(costs: Costs) -> float:
    # From the prices, not by subtraction: p_plus may be 1 to the last digit.
    return costs.reject_positive / (costs.fp - costs.reject_negative + costs.reject_positive)


def _band(costs: Costs) -> float:
    """``p_+ - p_-`` without cancellation when the two are close."""
    spare = costs.fp * costs.fn - costs.fp * costs.reject_positive - costs.fn * costs.reject_negative
    yes = costs.fp - costs.reject_negative + costs.reject_positive
    no = costs.fn - costs.reject_positive + costs.reject_negative
    return spare / (yes * no)


def _entropy(p: float) -> float:
    return -p * math.log(p) - (1 - p) * math.log1p(-p)


def _logit(p: float) -> float:
    return math.log(p) - math.log1p(-p)
