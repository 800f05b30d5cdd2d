"""Abstention surrogates: value, derivative, sample weights, and the constants that calibrate them.

Symbols: y in {-1, +1}, h the class score, r the acceptance score (a case is rejected when r <= 0), c the price of a
rejection in units of an error, s the sample weights (they sum to 1), u = r - y h and v = -b r. With Phi(t) = e^t
("exponential") or log2(1 + e^t) ("logistic") the surrogate of the abstention loss is

    L_p = ( Phi(u)^p + (k Phi(v))^p )^(1/p)

whose case p = 1 is the paper's L_SB (a sum) and whose limit p -> infinity is its L_MB (a maximum). The sign of the
minimising r is the Bayes decision exactly when k and b are matched: `calibrated_k`. The weights
w1 = s dL/du and w2 = -s dL/dr |_u = s b dL/dv are all that the rest of the package sees of a loss.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from ...arrays import Floats

LOSSES = ("logistic", "exponential")
_LN2 = np.log(2.0)
# Scores are clipped here before the exponential: e^300 squared is still finite.
CLIP = 300.0


def log_phi(loss: str, t: Floats) -> Floats:
    """Logarithm of Phi."""
    t = np.minimum(t, CLIP)
    if loss == "exponential":
        return t
    # log(log(1 + e^t)), without losing the small values of log(1 + e^t) at t << 0.
    return np.log(np.logaddexp(0.0, np.maximum(t, -CLIP)) / _LN2)


def log_slope(loss: str, t: Floats) -> Floats:
    """Phi'(t) / Phi(t)."""
    if loss == "exponential":
        return np.ones_like(t)
    t = np.clip(t, -CLIP, CLIP)
    return _sigmoid(t) / np.logaddexp(0.0, t)


def log_bend(loss: str, t: Floats) -> Floats:
    """Second derivative of log Phi."""
    if loss == "exponential":
        return np.zeros_like(t)
    slope = log_slope(loss, t)
    return slope * (1.0 - _sigmoid(np.clip(t, -CLIP, CLIP)) - slope)


def phi(loss: str, t: Floats) -> Floats:
    """Phi(t)."""
    return np.exp(log_phi(loss, t))


@dataclass(frozen=True, eq=False)
class Surrogate:
    """One calibrated surrogate.

    Attributes
    ----------
    loss : {"logistic", "exponential"}
        Phi.
    b : float
        Factor of r in the rejection term.
    k : float or ndarray of shape (m,)
        Weight of the rejection term; one value a case when rejecting them costs differently.
    p : float
        1 for the sum, large for (nearly) the maximum.
    """

    loss: str
    b: float
    k: float | Floats
    p: float = 1.0

    def values(self, u: Floats, v: Floats) -> Floats:
        """Surrogate loss of each case."""
        first, second = log_phi(self.loss, u), log_phi(self.loss, v) + np.log(self.k)
        if self.p == 1.0:
            return np.exp(first) + np.exp(second)
        return np.exp(np.logaddexp(self.p * first, self.p * second) / self.p)

    def slopes(self, u: Floats, v: Floats) -> tuple[Floats, Floats]:
        """Derivatives of the loss of each case by u, and b times the one by v: the weights w1 and w2 over s."""
        first, second = log_phi(self.loss, u), log_phi(self.loss, v) + np.log(self.k)
        value = self.values(u, v)
        share = _sigmoid(self.p * (first - second))
        w1 = value * share * log_slope(self.loss, u)
        w2 = self.b * value * _sigmoid(self.p * (second - first)) * log_slope(self.loss, v)
        return w1, w2

    def log_slope_u(self, u: Floats, r: Floats) -> Floats:
        """Logarithm of the derivative by u, also where that is too small for a float."""
        first, second = log_phi(self.loss, u), log_phi(self.loss, -self.b * r) + np.log(self.k)
        total = np.logaddexp(self.p * first, self.p * second)
        return (1.0 / self.p - 1.0) * total + self.p * first + np.log(log_slope(self.loss, u))

    def curvatures(self, u: Floats, v: Floats) -> tuple[Floats, Floats, Floats]:
        """Second derivatives of the loss of each case: by u twice, by u and v, by v twice."""
        first, second = log_phi(self.loss, u), log_phi(self.loss, v) + np.log(self.k)
        value, p = self.values(u, v), self.p
        a, b = _sigmoid(p * (first - second)), _sigmoid(p * (second - first))
        du, dv = log_slope(self.loss, u), log_slope(self.loss, v)
        bend_u, bend_v = log_bend(self.loss, u), log_bend(self.loss, v)
        of_u = value * a * ((a + p * b) * du**2 + bend_u)
        of_v = value * b * ((b + p * a) * dv**2 + bend_v)
        return of_u, (1.0 - p) * value * a * b * du * dv, of_v

    def objective(self, y: Floats, s: Floats, h: Floats, r: Floats) -> float:
        """Weighted mean surrogate of scores: the paper's F without its penalty."""
        return float(s @ self.values(r - y * h, -self.b * r))


def tight_b(loss: str, c: float) -> float:
    """Largest b whose calibrated L_SB is an upper bound of the abstention loss; k = c there."""
    return float(4.0 * (1.0 - c) if loss == "logistic" else 2.0 * np.sqrt((1.0 - c) / c))


def calibrated_k(loss: str, c: float | Floats, b: float, p: float = 1.0) -> float | Floats:
    """Weight k of the rejection term for which the sign of the minimising r is the Bayes decision.

    Parameters
    ----------
    loss : {"logistic", "exponential"}
        Phi.
    c : float or ndarray
        Price of a rejection, below 1/2; an array for prices that differ by case.
    b : float
        Factor of r in the rejection term.
    p : float, default=1
        Exponent of the surrogate; ``inf`` for L_MB itself.
    """
    if p == 1.0:
        balance = 4.0 * c * (1.0 - c)
        return balance / b if loss == "logistic" else np.sqrt(balance) / b
    if isinstance(c, np.ndarray):
        distinct, inverse = np.unique(c, return_inverse=True)
        return np.array([calibrated_k(loss, value, b, p) for value in distinct.tolist()])[inverse]
    if np.isinf(p):
        return _repaired_k(loss, float(c), b)
    return _root_k(loss, float(c), b, p)


def _repaired_k(loss: str, c: float, b: float) -> float:
    """K of the maximum L_MB: with k = c, as printed in the paper, it is calibrated for no b."""
    _require_wide_b(c, b)
    if loss == "exponential":
        return float(np.sqrt((1.0 + 2.0 / b) * c / (1.0 - c)))

    def excess(k: float) -> float:
        return float(2.0**-k * (4.0 / (k * b) + 1.0 / (1.0 - 2.0**-k)) - (1.0 - c) / c)

    return float(brentq(excess, 1e-12, 1e3, xtol=1e-14))


def _require_wide_b(c: float, b: float) -> None:
    if b <= 2.0 * c / (1.0 - 2.0 * c):
        raise ValueError(
            f"b must be greater than 2c/(1 - 2c) = {2 * c / (1 - 2 * c):.6g} for surrogate='max' at reject price "
            f"c = {c:g}; got b={b:g}. Use surrogate='sum', or a larger b."
        )


def _root_k(loss: str, c: float, b: float, p: float) -> float:
    """K for which r = 0 minimises the conditional risk at P(y = 1) = 1 - c: two stationarity equations."""

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
    if surrogate.loss == "exponential":
        # ln cosh z without overflow
        log_cosh = np.logaddexp(z, -z) - _LN2
        return z, (np.log(surrogate.k * surrogate.b) + log_cosh) / (1.0 + surrogate.b)
    level = np.log((1.0 - c) / c)
    grid = np.union1d(np.linspace(0.0, _FAR, 601), [level])
    h, r = _conditional_minimum(surrogate, grid)
    r[grid == level] = 0.0
    size = np.abs(z)
    return np.sign(z) * (np.interp(size, grid, h) + np.maximum(size - _FAR, 0.0)), np.interp(size, grid, r)


def forced_boundary(surrogate: Surrogate, log_odds: float, r: Floats) -> Floats:
    """Score h at which the odds of the positive class are e^log_odds, given the acceptance score r.

    At the minimum the odds are Phi'(r + h) / Phi'(r - h). Where r is greater than 0 the boundary is that of r = 0,
    inside the scores that are rejected there.
    """
    r = np.minimum(r, 0.0)
    if log_odds == 0.0:
        return np.zeros_like(r)
    if surrogate.p == 1.0 and surrogate.loss == "exponential":
        return np.full_like(r, log_odds / 2)
    if surrogate.p == 1.0:  # x = e^h solves x^2 + (1 - t) e^r x = t
        t = np.exp(log_odds)
        half = (1.0 - t) * np.exp(r) / 2
        return np.log(np.sqrt(half**2 + t) - half)
    low, high = np.full_like(r, -_FAR), np.full_like(r, _FAR)
    for _ in range(60):
        h = (low + high) / 2
        above = surrogate.log_slope_u(r + h, r) - surrogate.log_slope_u(r - h, r) > log_odds
        low, high = np.where(above, low, h), np.where(above, h, high)
    return (low + high) / 2


_FAR = 20.0  # score beyond which the pair is extended by straight lines


def _conditional_minimum(surrogate: Surrogate, z: Floats) -> tuple[Floats, Floats]:
    """Minimise eta Phi(r - h) + (1 - eta) Phi(r + h) + k Phi(-b r), eta = sigma(z), for the logistic loss: Newton."""
    b, k, eta = surrogate.b, surrogate.k, _sigmoid(z)
    h, r = z.copy(), np.zeros_like(z)
    for _ in range(100):
        p, q, t = _sigmoid(r - h), _sigmoid(r + h), _sigmoid(-b * r)
        right, wrong, reject = eta * p, (1.0 - eta) * q, k * b * t
        g_h, g_r = wrong - right, right + wrong - reject
        c_right, c_wrong = right * (1.0 - p), wrong * (1.0 - q)
        hh, hr, rr = c_right + c_wrong, c_wrong - c_right, c_right + c_wrong + b * reject * (1.0 - t)
        determinant = hh * rr - hr * hr
        h = h - np.clip((rr * g_h - hr * g_r) / determinant, -1.0, 1.0)
        r = r - np.clip((hh * g_r - hr * g_h) / determinant, -1.0, 1.0)
    return h, r


def _sigmoid(t: Floats) -> Floats:
    return 0.5 * (1.0 + np.tanh(0.5 * t))


@dataclass(frozen=True, eq=False)
class Reduction:
    """Prices that differ by class, or by case, as one symmetric problem.

    Attributes
    ----------
    weight_negative, weight_positive : float or ndarray
        Factors of the sample weights by class; they multiply both terms of the surrogate.
    c : float or ndarray
        Price of a rejection in the weighted problem, in units of an error.
    """

    weight_negative: float | Floats
    weight_positive: float | Floats
    c: float | Floats


def forced_log_odds(fp: float, fn: float, reduction: Reduction) -> float:
    """Log-odds in the weighted problem above which the positive class is the cheaper answer.

    With prices by case that shift the classes differently there is no such number: 0.
    """
    ratio = np.unique(np.asarray(reduction.weight_positive) / np.asarray(reduction.weight_negative))
    log_odds = float(np.log(fp / fn * ratio[0])) if len(ratio) == 1 else 0.0
    return log_odds if abs(log_odds) > 1e-12 else 0.0


def reduce_prices(fp: float, fn: float, reject_negative: float | Floats, reject_positive: float | Floats) -> Reduction:
    """Weights and price under which the symmetric problem rejects exactly where these prices say.

    Bayes rejects where o_- <= P(+)/P(-) <= o_+. Weights w_y = sqrt(c_y (kappa_y - c_y)) divide the odds by
    sqrt(o_- o_+), which makes that interval symmetric, and its half-width fixes c.
    """
    spared_fn, spared_fp = fn - reject_positive, fp - reject_negative
    never = (np.minimum(spared_fn, spared_fp) <= 0) | (reject_positive * reject_negative >= spared_fn * spared_fp)
    if np.any(never):
        raise ValueError(
            f"Rejecting never pays at fp={fp:g}, fn={fn:g}, reject_negative={np.max(reject_negative):g}, "
            f"reject_positive={np.max(reject_positive):g}: guessing is always at most as dear. Lower the reject prices."
        )
    odds = np.sqrt(reject_positive * reject_negative / (spared_fn * spared_fp))
    return Reduction(
        weight_negative=np.sqrt(reject_negative * spared_fp),
        weight_positive=np.sqrt(reject_positive * spared_fn),
        c=odds / (1.0 + odds),
    )
