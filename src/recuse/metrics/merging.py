"""A summary of a part of a table that can be merged with those of other parts: a histogram of acceptance scores.

The bins are the same for every part, since they are read off the bits of a score: a bin holds the scores with the same
sign, exponent and leading bits, so that it is never wider than 2**-bits of the scores in it. Equal scores are in one
bin. At the edges of bins all sums are those of the whole table; only the order within a bin is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Floats, Indices
from ..parameters import check_count
from .curves import OperatingPoints

BITS = 10
_MANTISSA = 52
_EDGE = 1e-12  # sums of weights round


@dataclass(frozen=True, eq=False)
class RiskCoverageSketch:
    """Sums over the cases by bins of the acceptance score, from high scores to low ones.

    Two sketches of different cases with the same `bits` are merged by adding them: the result is that of all cases
    together, whatever the order. The sums of weights and losses are exact up to rounding, so that the curve's points at
    the ends of bins are points of the exact curve. What is not known is the order within a bin of different scores:
    `area_bounds` and `risk_at` say what that can amount to.

    Attributes
    ----------
    bits : int
        The scores of a bin differ by less than 2**-bits of the smaller one.
    keys : ndarray of int
        Number of each bin, falling.
    low, high : ndarray
        Lowest and highest score in each bin.
    weight, loss, reject_price : ndarray
        Weight of the cases of each bin, their weighted loss when accepted, and their weighted price when rejected.
    largest : ndarray
        The largest loss of a case, without its weight, in each bin.

    Examples
    --------
    >>> import numpy as np
    >>> from recuse.metrics import RiskCoverageSketch
    >>> first = RiskCoverageSketch.of(np.array([0.9, 0.5]), loss=np.array([0.0, 1.0]))
    >>> second = RiskCoverageSketch.of(np.array([0.7, 0.5]), loss=np.array([0.0, 0.0]))
    >>> coverage, risk, thresholds = (first + second).curve()
    >>> coverage, risk, thresholds
    (array([0.25, 0.5 , 1.  ]), array([0.  , 0.  , 0.25]), array([0.9, 0.7, 0.5]))
    >>> (first + second).area_bounds()
    (0.125, 0.125)
    """

    bits: int
    keys: Indices
    low: Floats
    high: Floats
    weight: Floats
    loss: Floats
    reject_price: Floats
    largest: Floats

    @classmethod
    def of(
        cls, score: Floats, loss: Floats, weight: Floats | None = None, reject_price: Any = 0.0, bits: int = BITS
    ) -> RiskCoverageSketch:
        """Summarise cases.

        Parameters
        ----------
        score : ndarray of shape (n_cases,)
            Acceptance scores, finite.
        loss : ndarray of shape (n_cases,)
            Loss of each case when it is accepted, 0 or more.
        weight : ndarray of shape (n_cases,), optional
            Weights; a case of weight 0 is absent.
        reject_price : float or ndarray, default=0
            Price of each case when it is rejected.
        bits : int, default=10
            Bins are narrower than 2**-bits of their scores.

        Returns
        -------
        RiskCoverageSketch
        """
        check_count("bits", bits)
        if bits > _MANTISSA:
            raise ValueError(f"bits must be at most {_MANTISSA}, the bits of a float; got {bits}.")
        score = np.asarray(score, dtype=np.float64) + 0.0  # -0.0 and 0.0 are one score
        weight = np.ones(len(score)) if weight is None else np.asarray(weight, dtype=np.float64)
        present = weight > 0
        price = np.broadcast_to(np.asarray(reject_price, dtype=np.float64), score.shape)[present]
        score, loss, weight = score[present], np.asarray(loss, dtype=np.float64)[present], weight[present]
        columns = (bin_numbers(score, bits), score, score, weight, loss * weight, price * weight, loss)
        return cls(bits, *_summed(*columns))

    def __add__(self, other: RiskCoverageSketch) -> RiskCoverageSketch:
        return RiskCoverageSketch.merged([self, other])

    @classmethod
    def merged(cls, sketches: Sequence[RiskCoverageSketch]) -> RiskCoverageSketch:
        """The sketch of all cases of several.

        Parameters
        ----------
        sketches : sequence of RiskCoverageSketch
            At least one, all with the same bits.

        Returns
        -------
        RiskCoverageSketch
        """
        bits = {sketch.bits for sketch in sketches}
        if len(bits) != 1:
            raise ValueError(f"Sketches are merged if they have the same bits; got {sorted(bits)}.")
        columns = [np.concatenate([sketch._columns()[i] for sketch in sketches]) for i in range(7)]
        return cls(bits.pop(), *_summed(*columns))

    def _columns(self) -> tuple[Any, ...]:
        return self.keys, self.low, self.high, self.weight, self.loss, self.reject_price, self.largest

    def points(self) -> OperatingPoints:
        """The operating points at the ends of bins, which are points of the exact curve."""
        if len(self.keys) == 0:
            raise ValueError("The sketch holds no case: a curve needs at least one with a weight.")
        return OperatingPoints(self.low, np.cumsum(self.weight), np.cumsum(self.loss), np.cumsum(self.reject_price))

    def curve(self) -> tuple[Floats, Floats, Floats]:
        """Coverage, risk and thresholds at the ends of bins, as from `risk_coverage_curve`."""
        points = self.points()
        return points.coverage, points.risk, points.thresholds

    def cost_curve(self) -> tuple[Floats, Floats, Floats]:
        """Coverage, expected cost and thresholds, as from `recuse.metrics.cost_curve`."""
        points = self.points()
        return np.append(0.0, points.coverage), points.cost(), np.append(np.inf, points.thresholds)

    def area(self) -> float:
        """Area under the risk-coverage curve, as if the losses of a bin were spread evenly over it."""
        low, high = self._risk_ranges()
        points = self.points()
        before, lost = points.weight - self.weight, points.loss - self.loss
        slope = self.loss / self.weight
        with np.errstate(divide="ignore", invalid="ignore"):
            # The integral of (lost + slope t) / (before + t) over the bin.
            spread = slope * self.weight + (lost - slope * before) * np.log1p(self.weight / before)
        # Two nearly equal terms may cancel: the estimate stays within what is possible.
        mean = np.where(before > 0, spread, self.loss) / self.weight
        return float(np.sum(self.weight * np.clip(mean, low, high)) / points.weight[-1])

    def area_bounds(self) -> tuple[float, float]:
        """Limits of the area under the exact curve: it lies between them whatever the order within bins is."""
        low, high = self._risk_ranges()
        total = self.weight.sum()
        return float(np.sum(self.weight * low) / total), float(np.sum(self.weight * high) / total)

    def risk_at(self, coverage: float) -> tuple[float, float]:
        """Limits of the exact risk at the highest threshold that accepts at least a share `coverage`."""
        reached = int(np.searchsorted(self.points().coverage, coverage - _EDGE))
        reached = min(reached, len(self.keys) - 1)
        low, high = self._risk_ranges()
        return float(low[reached]), float(high[reached])

    def _risk_ranges(self) -> tuple[Floats, Floats]:
        """Lowest and highest risk that any operating point within a bin can have.

        Before the bin, weight W and loss L are accepted; the bin has weight w and loss l, and no case of it loses more
        than m. After weight t of it the loss is at least L + max(0, l - (w - t) m) and at most L + min(l, t m). Divided
        by W + t, the one is lowest at t = w - l / m or at t = w, and the other highest at t = 0 or at t = l / m.
        """
        points = self.points()
        before, lost = points.weight - self.weight, points.loss - self.loss
        needed = np.divide(self.loss, self.largest, out=np.zeros_like(self.loss), where=self.largest > 0)
        needed = np.minimum(needed, self.weight)  # rounding

        def risk(loss: Floats, weight: Floats) -> Floats:
            return np.divide(loss, weight, out=np.zeros_like(loss), where=weight > 0)

        after = points.risk
        rest = before + self.weight - needed
        low = np.where(rest > 0, np.minimum(risk(lost, rest), after), after)
        high = np.maximum(np.maximum(risk(lost, before), risk(lost + self.loss, before + needed)), after)
        known = self.low == self.high  # one score: its cases are accepted together
        return np.where(known, after, low), np.where(known, after, high)


def bin_numbers(score: Floats, bits: int) -> Indices:
    """Number of the bin of each score: it never falls as the score grows."""
    pattern = np.ascontiguousarray(score, dtype=np.float64).view(np.int64)
    # The bits of a negative float grow with its size: turned round, they are in order below those of positive ones.
    ordered = np.where(pattern < 0, pattern ^ np.int64(0x7FFFFFFFFFFFFFFF), pattern)
    return ordered >> np.int64(_MANTISSA - bits)


def _summed(
    keys: Indices, low: Floats, high: Floats, weight: Floats, loss: Floats, reject_price: Floats, largest: Floats
) -> tuple[Any, ...]:
    """One row for each key, from the highest to the lowest."""
    order = np.argsort(-keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.diff(keys, prepend=keys[0] + 1)) if len(keys) else np.empty(0, dtype=np.intp)
    if len(keys) == 0:
        return keys, low, high, weight, loss, reject_price, largest
    return (
        keys[starts],
        np.minimum.reduceat(low[order], starts),
        np.maximum.reduceat(high[order], starts),
        np.add.reduceat(weight[order], starts),
        np.add.reduceat(loss[order], starts),
        np.add.reduceat(reject_price[order], starts),
        np.maximum.reduceat(largest[order], starts),
    )
