"""The losses Phi: value, slope, curvature, calibration and duality gap, one object each.

Symbols: y in {-1, +1}, h the class score, r the acceptance score (a case is rejected when r <= 0), c the price of a
rejection in units of an error, s the sample weights (they sum to 1), u = r - y h and v = -b r. The surrogate of the
abstention loss, Phi(u) + k Phi(v), is in `surrogates`; a loss knows Phi alone.

During a fit Phi' is needed of every case in every round. Adding a stump adds constants to u and v, so e^u and e^v are
kept and multiplied, and a loss says what Phi and Phi' are in terms of them (`CaseWeights`).

To add a loss: write a subclass of `Loss` below and list it in `LOSSES`. A loss whose slope is proportional to e^t
multiplies its weights with the compiled `grow_exponential`; any other writes its own line of arithmetic as one more
loop beside `grow_logistic` in `loops`, and nothing else there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import xlogy

from ....arrays import Floats
from .newton import N_TERMS, NewtonLimits, minimise_shift

# Scores are clipped here before the exponential: e^300 squared is still finite.
CLIP = 300.0
# Score beyond which the pair that minimises the logistic surrogate is extended by straight lines.
FAR = 20.0
_LN2 = np.log(2.0)
_ROWS = 2_048  # rows of which copies are made at once: they stay in the cache, and need no fresh pages of memory
Factors = tuple[Floats, Floats]  # of e^u and of e^v, by cell
ShiftSums = Callable[[float, float], Floats]  # sums over all cases when (dh, dr) are added to (h, r)


@dataclass(eq=False)
class CaseWeights:
    """The weights w1 = s Phi'(u) and w2 = s k b Phi'(v) of every case, positives first; arrays change in place.

    Attributes
    ----------
    s : ndarray of shape (m,)
        Sample weights that sum to 1.
    kb : ndarray of shape (m,)
        The product k b of each case.
    n_pos : int
        Number of positives.
    b : float
        Factor of r in the rejection term.
    unit : float
        The loss's constant factor: 1 / ln 2 for the logistic loss.
    w : ndarray of shape (m, 2)
        The weights.
    growth : ndarray of shape (m, 2)
        e^u and e^v. For a loss whose slope is proportional to e^t this is `w` itself: its weights grow by the same
        factors.
    """

    s: Floats
    kb: Floats
    n_pos: int
    b: float
    unit: float
    w: Floats
    growth: Floats

    def scale(self, rows: slice = slice(None)) -> Floats:
        """What Phi'(u) / unit and Phi'(v) / unit are multiplied by to give the weights."""
        first = self.unit * self.s[rows]
        return np.column_stack([first, first * self.kb[rows]])

    @property
    def shares(self) -> Floats:
        """What the two columns of `scale` count in the objective: w2 has the factor b of its derivative."""
        return np.array([1.0, 1.0 / self.b])

    def blocks(self) -> Iterator[slice]:
        """Rows in parts small enough to make copies of."""
        m = len(self.s)
        return (slice(start, min(start + _ROWS, m)) for start in range(0, m, _ROWS))


class Loss(ABC):
    """Phi: increasing, convex, Phi(0) = 1.

    Attributes
    ----------
    name : str
        What the estimator's parameter `loss` calls it.
    unit : float
        Constant factor of the slope in terms of e^t.
    keeps_growth : bool
        Whether e^u and e^v are kept beside the weights; False where the slope is proportional to e^t.
    log_odds_per_score : float
        A score that minimises E Phi(-y h) is the log-odds divided by this.
    price_only_shifts_r : bool
        Whether another reject price changes the minimising pair by a constant in r only, at a fixed b.
    """

    name: str
    unit: float = 1.0
    keeps_growth: bool = True
    log_odds_per_score: float = 1.0
    price_only_shifts_r: bool = False

    # Value, slope and curvature; the arguments are clipped, or lie within +- CLIP.

    @abstractmethod
    def value(self, t: Floats) -> Floats:
        """Phi(t)."""

    @abstractmethod
    def slope(self, t: Floats) -> Floats:
        """Phi'(t)."""

    @abstractmethod
    def curvature(self, t: Floats) -> Floats:
        """Phi''(t)."""

    @abstractmethod
    def relative_curvature(self, t: Floats) -> Floats:
        """Phi''(t) / Phi'(t)."""

    # The same of log Phi, where the two terms of the surrogate are blended by a power.

    @abstractmethod
    def log_value(self, t: Floats) -> Floats:
        """Logarithm of Phi."""

    @abstractmethod
    def log_slope(self, t: Floats) -> Floats:
        """First derivative of log Phi."""

    @abstractmethod
    def log_curvature(self, t: Floats) -> Floats:
        """Second derivative of log Phi."""

    # Calibration: constants under which the minimiser is the cheapest decision.

    @abstractmethod
    def tight_b(self, c: float) -> float:
        """Largest b for which the calibrated sum is an upper bound of the abstention loss; k = c there."""

    @abstractmethod
    def sum_k(self, c: float | Floats, b: float) -> float | Floats:
        """Weight k of the rejection term for which the minimiser of Phi(u) + k Phi(v) is the Bayes decision."""

    @abstractmethod
    def maximum_k(self, c: float, b: float) -> float:
        """The same for max(Phi(u), k Phi(v)); with k = c, as printed in the paper, it is calibrated for no b."""

    def chow_level(self, c: float) -> float:
        """|h| at which the best answer and a rejection cost the same, for a score that minimises E Phi(-y h)."""
        return float(np.log((1.0 - c) / c)) / self.log_odds_per_score

    @abstractmethod
    def sum_pair(self, b: float, k: float, c: float, z: Floats) -> tuple[Floats, Floats]:
        """Pair (h, r) that minimises the sum where P(y = 1) is what the score z says; r = 0 at Chow's level."""

    @abstractmethod
    def sum_boundary(self, log_odds: float, r: Floats) -> Floats:
        """Score h at which the odds Phi'(r + h) / Phi'(r - h) are e^log_odds."""

    @abstractmethod
    def steepest(self, b: float, k: float) -> tuple[float, float]:
        """Steepest slopes of Phi(u) by u and of k Phi(-b r) by r where they are at most 1, twice each."""

    # A fit: everything from e^u and e^v.

    @abstractmethod
    def fill(self, weights: CaseWeights, rows: slice) -> None:
        """Compute the weights of some rows from e^u and e^v, which `growth` holds."""

    @abstractmethod
    def total(self, weights: CaseWeights) -> float:
        """The objective without its penalty."""

    @abstractmethod
    def multiply(
        self, loops: Any, weights: CaseWeights, rows: slice, codes: Any, factors: tuple[Floats, Floats]
    ) -> None:
        """Multiply e^u and e^v of some rows by the factors of their cells, and bring the weights up to date."""

    # Intercepts and certificate from sums over the cases, which may lie in several places.

    @abstractmethod
    def shift_sums(self, loops: Any, weights: CaseWeights, dh: float, dr: float) -> Floats:
        """What `best_shift` asks of the cases at a trial point."""

    @abstractmethod
    def best_shift(self, sums: ShiftSums, b: float, free_h: bool, free_r: bool) -> tuple[float, float]:
        """Constants to be added to h and r that minimise the objective; ``sums(dh, dr)`` is `shift_sums` of all."""

    @abstractmethod
    def gap_sums(self, weights: CaseWeights, tau: float) -> Floats:
        """What `gap` asks of the cases."""

    @abstractmethod
    def gap(self, sums: Floats, objective: float, tau: float, start: float) -> float:
        """Objective less the value of the dual problem at the weights times tau; `sums` is `gap_sums` of all cases.

        `start` is what the scores that the stumps are added to contribute to the dual.
        """


class Logistic(Loss):
    """Phi(t) = log2(1 + e^t)."""

    name = "logistic"
    unit = 1.0 / _LN2

    def value(self, t: Floats) -> Floats:
        """Phi(t)."""
        return np.logaddexp(0.0, np.minimum(t, CLIP)) / _LN2

    def slope(self, t: Floats) -> Floats:
        """Phi'(t)."""
        return _share(t) / _LN2

    def curvature(self, t: Floats) -> Floats:
        """Phi''(t)."""
        share = _share(t)
        return share * (1.0 - share) / _LN2

    def relative_curvature(self, t: Floats) -> Floats:
        """Phi''(t) / Phi'(t)."""
        return 1 - sigmoid(t)

    def log_value(self, t: Floats) -> Floats:
        """Logarithm of Phi, without losing the small values of log(1 + e^t) at t << 0."""
        return np.log(np.logaddexp(0.0, np.clip(t, -CLIP, CLIP)) / _LN2)

    def log_slope(self, t: Floats) -> Floats:
        """First derivative of log Phi."""
        t = np.clip(t, -CLIP, CLIP)
        return sigmoid(t) / np.logaddexp(0.0, t)

    def log_curvature(self, t: Floats) -> Floats:
        """Second derivative of log Phi."""
        slope = self.log_slope(t)
        return slope * (1.0 - sigmoid(np.clip(t, -CLIP, CLIP)) - slope)

    def tight_b(self, c: float) -> float:
        """Largest b for which the calibrated sum is an upper bound of the abstention loss."""
        return float(4.0 * (1.0 - c))

    def sum_k(self, c: float | Floats, b: float) -> float | Floats:
        """Calibrated k of the sum."""
        return 4.0 * c * (1.0 - c) / b

    def maximum_k(self, c: float, b: float) -> float:
        """Calibrated k of the maximum."""

        def excess(k: float) -> float:
            return float(2.0**-k * (4.0 / (k * b) + 1.0 / (1.0 - 2.0**-k)) - (1.0 - c) / c)

        return float(brentq(excess, 1e-12, 1e3, xtol=1e-14))

    def sum_pair(self, b: float, k: float, c: float, z: Floats) -> tuple[Floats, Floats]:
        """Pair that minimises the sum where the log-odds are z: interpolated between exact minima."""
        level = np.log((1.0 - c) / c)
        grid = np.union1d(np.linspace(0.0, FAR, 601), [level])
        h, r = _conditional_minimum(b, k, grid)
        r[grid == level] = 0.0
        size = np.abs(z)
        return np.sign(z) * (np.interp(size, grid, h) + np.maximum(size - FAR, 0.0)), np.interp(size, grid, r)

    def sum_boundary(self, log_odds: float, r: Floats) -> Floats:
        """Score h of the given odds: x = e^h solves x^2 + (1 - t) e^r x = t with t = e^log_odds."""
        t = np.exp(log_odds)
        half = (1.0 - t) * np.exp(r) / 2
        return np.log(np.sqrt(half**2 + t) - half)

    def steepest(self, b: float, k: float) -> tuple[float, float]:
        """Steepest slopes of the two terms where they are at most 1, twice each."""
        return 1.0 / np.log(2.0), 2.0 * k * b * (1.0 - 2.0 ** (-1.0 / k)) / np.log(2.0)

    def fill(self, weights: CaseWeights, rows: slice) -> None:
        """Compute the weights of some rows: e / (1 + e) times the scale."""
        np.divide(weights.growth[rows], 1.0 + weights.growth[rows], out=weights.w[rows])
        weights.w[rows] *= weights.scale(rows)

    def total(self, weights: CaseWeights) -> float:
        """The objective without its penalty: ln(1 + e) times the scale."""
        return sum(
            float((weights.scale(rows) * np.log1p(weights.growth[rows])).sum(axis=0) @ weights.shares)
            for rows in weights.blocks()
        )

    def multiply(
        self, loops: Any, weights: CaseWeights, rows: slice, codes: Any, factors: tuple[Floats, Floats]
    ) -> None:
        """Multiply e^u and e^v of some rows by the factors of their cells, and bring the weights up to date."""
        scale = weights.s[rows], weights.kb[rows], weights.unit
        loops.grow_logistic(codes, weights.w[rows], *factors, weights.growth[rows], *scale)

    def shift_sums(self, loops: Any, weights: CaseWeights, dh: float, dr: float) -> Floats:
        """The six sums of `newton.ShiftTerms`, in one pass over the cases."""
        sums = np.empty(N_TERMS)
        loops.shift_terms(weights.growth, weights.s, weights.kb, weights.unit, weights.n_pos, weights.b, (dh, dr), sums)
        return sums

    def best_shift(self, sums: ShiftSums, b: float, free_h: bool, free_r: bool) -> tuple[float, float]:
        """Constants to be added to h and r that minimise the objective: Newton, one pass per trial point."""
        return minimise_shift(sums, free_h, free_r, NewtonLimits(max_iter=50, longest=5.0, last=1e-7))

    def gap_sums(self, weights: CaseWeights, tau: float) -> Floats:
        """The conjugate: the entropy of e / (1 + e)."""
        total = 0.0
        for rows in weights.blocks():
            share = tau * weights.growth[rows] / (1.0 + weights.growth[rows])
            entropy = xlogy(share, share) + xlogy(1.0 - share, 1.0 - share)
            total += float((weights.scale(rows) * entropy).sum(axis=0) @ weights.shares)
        return np.array([total])

    def gap(self, sums: Floats, objective: float, tau: float, start: float) -> float:
        """Objective less the value of the dual problem."""
        return objective + float(sums[0]) - tau * start


class Exponential(Loss):
    """Phi(t) = e^t."""

    name = "exponential"
    keeps_growth = False
    log_odds_per_score = 2.0
    price_only_shifts_r = True

    def value(self, t: Floats) -> Floats:
        """Phi(t)."""
        return np.exp(np.minimum(t, CLIP))

    slope = curvature = value

    def relative_curvature(self, t: Floats) -> Floats:
        """Phi''(t) / Phi'(t)."""
        return np.ones_like(t)

    def log_value(self, t: Floats) -> Floats:
        """Logarithm of Phi."""
        return np.minimum(t, CLIP)

    def log_slope(self, t: Floats) -> Floats:
        """First derivative of log Phi."""
        return np.ones_like(t)

    def log_curvature(self, t: Floats) -> Floats:
        """Second derivative of log Phi."""
        return np.zeros_like(t)

    def tight_b(self, c: float) -> float:
        """Largest b for which the calibrated sum is an upper bound of the abstention loss."""
        return float(2.0 * np.sqrt((1.0 - c) / c))

    def sum_k(self, c: float | Floats, b: float) -> float | Floats:
        """Calibrated k of the sum."""
        return np.sqrt(4.0 * c * (1.0 - c)) / b

    def maximum_k(self, c: float, b: float) -> float:
        """Calibrated k of the maximum."""
        return float(np.sqrt((1.0 + 2.0 / b) * c / (1.0 - c)))

    def sum_pair(self, b: float, k: float, c: float, z: Floats) -> tuple[Floats, Floats]:
        """Pair that minimises the sum where the log-odds are 2 z."""
        log_cosh = np.logaddexp(z, -z) - _LN2  # ln cosh z without overflow
        return z, (np.log(k * b) + log_cosh) / (1.0 + b)

    def sum_boundary(self, log_odds: float, r: Floats) -> Floats:
        """Score h of the given odds: half their logarithm, whatever r."""
        return np.full_like(r, log_odds / 2)

    def steepest(self, b: float, k: float) -> tuple[float, float]:
        """Steepest slopes of the two terms where they are at most 1, twice each."""
        return 2.0, 2.0 * b

    def fill(self, weights: CaseWeights, rows: slice) -> None:
        """Compute the weights of some rows: e times the scale, in the same array."""
        weights.w[rows] *= weights.scale(rows)

    def total(self, weights: CaseWeights) -> float:
        """The objective without its penalty: the weights themselves."""
        return float(weights.w.sum(axis=0) @ weights.shares)

    def multiply(
        self, loops: Any, weights: CaseWeights, rows: slice, codes: Any, factors: tuple[Floats, Floats]
    ) -> None:
        """Multiply the weights of some rows by the factors of their cells."""
        loops.grow_exponential(codes, weights.w[rows], *factors)

    def shift_sums(self, loops: Any, weights: CaseWeights, dh: float, dr: float) -> Floats:
        """The weights as they are: w1 of positives and of negatives, and w2."""
        w, n_pos = weights.w, weights.n_pos
        return np.array([w[:n_pos, 0].sum(), w[n_pos:, 0].sum(), w[:, 1].sum()])

    def best_shift(self, sums: ShiftSums, b: float, free_h: bool, free_r: bool) -> tuple[float, float]:
        """Constants to be added to h and r that minimise the objective, in closed form."""
        positive, negative, reject = sums(0.0, 0.0).tolist()
        dh = 0.5 * np.log(positive / negative) if free_h else 0.0
        mass = positive * np.exp(-dh) + negative * np.exp(dh)
        dr = np.log(reject / mass) / (1.0 + b) if free_r else 0.0
        return float(dh), float(dr)

    def gap_sums(self, weights: CaseWeights, tau: float) -> Floats:
        """The two parts of the conjugate w ln w - w."""
        shares = weights.shares
        total = float(weights.w.sum(axis=0) @ shares)
        moment = sum(
            float(_times_log(weights.w[rows], weights.scale(rows)).sum(axis=0) @ shares) for rows in weights.blocks()
        )
        return np.array([total, moment])

    def gap(self, sums: Floats, objective: float, tau: float, start: float) -> float:
        """Objective less the value of the dual problem."""
        total, moment = sums.tolist()
        moment -= start
        # Any smaller factor is feasible as well; this one maximises the dual value.
        tau = min(tau, float(np.exp(-moment / total)))
        return objective - tau * ((1.0 - np.log(tau)) * total - moment)


LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Logistic(), Exponential())}


def sigmoid(t: Floats) -> Floats:
    """1 / (1 + e^-t), without overflow."""
    return 0.5 * (1.0 + np.tanh(0.5 * t))


def _share(t: Floats) -> Floats:
    """e^t / (1 + e^t) for arguments within +- CLIP."""
    e = np.exp(t)
    return e / (1.0 + e)


def _times_log(w: Floats, scale: Floats) -> Floats:
    """Returns w ln(w / scale), which is e^u u up to the scale."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(w > 0, xlogy(w, w / scale), 0.0)


def _conditional_minimum(b: float, k: float, z: Floats) -> tuple[Floats, Floats]:
    """Minimise eta Phi(r - h) + (1 - eta) Phi(r + h) + k Phi(-b r), eta = sigma(z), for the logistic loss: Newton."""
    eta = sigmoid(z)
    h, r = z.copy(), np.zeros_like(z)
    for _ in range(100):
        p, q, t = sigmoid(r - h), sigmoid(r + h), sigmoid(-b * r)
        right, wrong, reject = eta * p, (1.0 - eta) * q, k * b * t
        g_h, g_r = wrong - right, right + wrong - reject
        c_right, c_wrong = right * (1.0 - p), wrong * (1.0 - q)
        hh, hr, rr = c_right + c_wrong, c_wrong - c_right, c_right + c_wrong + b * reject * (1.0 - t)
        determinant = hh * rr - hr * hr
        h = h - np.clip((rr * g_h - hr * g_r) / determinant, -1.0, 1.0)
        r = r - np.clip((hh * g_r - hr * g_h) / determinant, -1.0, 1.0)
    return h, r
