"""Surrogates of the abstention loss: the sum and the smoothed maximum of two terms, and what calibrates them.

With the symbols of `losses` the surrogate is

    L_p = ( Phi(u)^p + (k Phi(v))^p )^(1/p)

whose case p = 1 is the paper's L_SB (a sum) and whose limit p -> infinity is its L_MB (a maximum). The sign of the
minimising r is the Bayes decision exactly when k and b are matched: `calibrated_k`. The weights
w1 = s dL/du and w2 = -s dL/dr |_u = s b dL/dv are all that the stumps see of a loss.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from ....arrays import Floats
from .losses import FAR, LOSSES, Loss, sigmoid

# Exponents on the way from the sum to the maximum; the last stands for the maximum.
TOWARDS_MAXIMUM = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
# Values of the parameter `surrogate` -> the exponents a fit goes through; none for the sum itself.
SURROGATES: dict[str, tuple[float, ...]] = {"sum": (), "max": TOWARDS_MAXIMUM}


@dataclass(frozen=True, eq=False)
class Surrogate:
    """One calibrated surrogate.

    Attributes
    ----------
    loss : str
        Name of Phi in `LOSSES`.
    b : float
        Factor of r in the rejection term.
    k : float or ndarray of shape (m,)
        Weight of the rejection term; one value per case where rejecting them costs differently.
    p : float
        1 for the sum, large for (nearly) the maximum.
    """

    loss: str
    b: float
    k: float | Floats
    p: float = 1.0

    @property
    def phi(self) -> Loss:
        """The loss itself."""
        return LOSSES[self.loss]

    def values(self, u: Floats, v: Floats) -> Floats:
        """Surrogate loss of each case."""
        first, second = self._log_terms(u, v)
        if self.p == 1.0:
            return np.exp(first) + np.exp(second)
        return np.exp(np.logaddexp(self.p * first, self.p * second) / self.p)

    def slopes(self, u: Floats, v: Floats) -> tuple[Floats, Floats]:
        """Derivatives of the loss of each case by u, and b times the one by v: the weights w1 and w2 over s."""
        first, second = self._log_terms(u, v)
        value = self.values(u, v)
        share = sigmoid(self.p * (first - second))
        w1 = value * share * self.phi.log_slope(u)
        w2 = self.b * value * sigmoid(self.p * (second - first)) * self.phi.log_slope(v)
        return w1, w2

    def log_slope_u(self, u: Floats, r: Floats) -> Floats:
        """Logarithm of the derivative by u, also where that is too small for a float."""
        first, second = self._log_terms(u, -self.b * r)
        total = np.logaddexp(self.p * first, self.p * second)
        return (1.0 / self.p - 1.0) * total + self.p * first + np.log(self.phi.log_slope(u))

    def curvatures(self, u: Floats, v: Floats) -> tuple[Floats, Floats, Floats]:
        """Second derivatives of the loss of each case: by u twice, by u and v, by v twice."""
        first, second = self._log_terms(u, v)
        value, p = self.values(u, v), self.p
        a, b = sigmoid(p * (first - second)), sigmoid(p * (second - first))
        du, dv = self.phi.log_slope(u), self.phi.log_slope(v)
        of_u = value * a * ((a + p * b) * du**2 + self.phi.log_curvature(u))
        of_v = value * b * ((b + p * a) * dv**2 + self.phi.log_curvature(v))
        return of_u, (1.0 - p) * value * a * b * du * dv, of_v

    def objective(self, y: Floats, s: Floats, h: Floats, r: Floats) -> float:
        """Weighted mean surrogate of scores: the paper's F without its penalty."""
        return float(s @ self.values(r - y * h, -self.b * r))

    def _log_terms(self, u: Floats, v: Floats) -> tuple[Floats, Floats]:
        """Logarithms of Phi(u) and k Phi(v)."""
        return self.phi.log_value(u), self.phi.log_value(v) + np.log(self.k)


def make_surrogate(loss: str, b: float | None, exponents: tuple[float, ...], c: float | Floats) -> Surrogate:
    """Return the calibrated surrogate at reject price c, of the last of the exponents a fit goes through.

    Parameters
    ----------
    loss : str
        Name of Phi.
    b : float or None
        Factor of r; None takes the largest that keeps the sum an upper bound of the cost.
    exponents : tuple of float
        Empty for the sum.
    c : float or ndarray of shape (m,)
        Price of a rejection in units of an error.
    """
    highest = float(np.max(c))
    used = LOSSES[loss].tight_b(highest) if b is None else b
    if not exponents:
        return Surrogate(loss, used, calibrated_k(loss, c, used))
    # The maximum is calibrated only for b > 2c/(1 - 2c).
    if b is None:
        used = max(used, 4.0 * highest / (1.0 - 2.0 * highest))
    calibrated_k(loss, highest, used, np.inf)
    return Surrogate(loss, used, calibrated_k(loss, c, used, exponents[-1]), exponents[-1])


def calibrated_k(loss: str, c: float | Floats, b: float, p: float = 1.0) -> float | Floats:
    """Weight k of the rejection term for which the sign of the minimising r is the Bayes decision.

    Parameters
    ----------
    loss : str
        Name of Phi.
    c : float or ndarray
        Price of a rejection, below 1/2; an array for prices that differ by case.
    b : float
        Factor of r in the rejection term.
    p : float, default=1
        Exponent of the surrogate; ``inf`` for L_MB itself.
    """
    if p == 1.0:
        return LOSSES[loss].sum_k(c, b)
    if isinstance(c, np.ndarray):
        distinct, inverse = np.unique(c, return_inverse=True)
        return np.array([calibrated_k(loss, value, b, p) for value in distinct.tolist()])[inverse]
    if np.isinf(p):
        _require_wide_b(float(c), b)
        return LOSSES[loss].maximum_k(float(c), b)
    return _root_k(loss, float(c), b, p)


def _require_wide_b(c: float, b: float) -> None:
    """Refuse a factor of r at which the maximum is calibrated for no k."""
    if b <= 2.0 * c / (1.0 - 2.0 * c):
        raise ValueError(
            f"b must be greater than 2c/(1 - 2c) = {2 * c / (1 - 2 * c):.6g} for surrogate='max' at reject price "
            f"c = {c:g}; got b={b:g}. Use surrogate='sum', or a larger b."
        )


def _root_k(loss: str, c: float, b: float, p: float) -> float:
    """The k for which r = 0 minimises the conditional risk at P(y = 1) = 1 - c: two stationarity equations."""

    def slope_in_r(log_k: float) -> float:
        surrogate = Surrogate(loss, b, float(np.exp(log_k)), p)
        right, wrong = 1.0 - c, c

        def slope_in_h(h: float) -> float:
            w1, _ = surrogate.slopes(np.array([-h, h]), np.zeros(2))
            return float(wrong * w1[1] - right * w1[0])

        h = brentq(slope_in_h, 0.0, 200.0, xtol=1e-14)
        w1, w2 = surrogate.slopes(np.array([-h, h]), np.zeros(2))
        return float(right * (w1[0] - w2[0]) + wrong * (w1[1] - w2[1]))

    return float(np.exp(brentq(slope_in_r, -30.0, 10.0, xtol=1e-13)))


def plug_in_pair(surrogate: Surrogate, c: float, z: Floats) -> tuple[Floats, Floats]:
    """Pair (h, r) that minimises the surrogate where P(y = 1) is what the score z of the same loss says.

    r changes its sign at Chow's threshold: |z| = ln((1 - c)/c), or half of it for the exponential loss.
    """
    return surrogate.phi.sum_pair(surrogate.b, float(np.max(surrogate.k)), c, z)


def forced_boundary(surrogate: Surrogate, log_odds: float, r: Floats) -> Floats:
    """Score h at which the odds of the positive class are e^log_odds, given the acceptance score r.

    At the minimum the odds are Phi'(r + h) / Phi'(r - h). Where r is greater than 0 the boundary is that of r = 0,
    inside the scores that are rejected there.
    """
    r = np.minimum(r, 0.0)
    if log_odds == 0.0:
        return np.zeros_like(r)
    if surrogate.p == 1.0:
        return surrogate.phi.sum_boundary(log_odds, r)
    low, high = np.full_like(r, -FAR), np.full_like(r, FAR)
    for _ in range(60):
        h = (low + high) / 2
        above = surrogate.log_slope_u(r + h, r) - surrogate.log_slope_u(r - h, r) > log_odds
        low, high = np.where(above, low, h), np.where(above, h, high)
    return (low + high) / 2
