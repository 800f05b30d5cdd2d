"""Intervals of mean prices, for small tables and rare, expensive errors.

What a rule costs per case has two parts that behave differently. Errors are rare and expensive: a handful of misses may
carry most of the cost, and an interval from their spread alone, like the bootstrap's, is too narrow exactly when few
were seen. Their part gets the gamma interval of Fay and Feuer (1997), which allows for the largest error that was not
seen. Reviews are frequent and have one price: their part gets Wilson's interval. The parts are put together by the
distances of their limits from their estimates (Zou and Donner, 2008).

Rows that belong together (visits of one patient) count as one unit: `units` numbers the unit of each case.

Where a table was cross-validated several times, a figure also varies with the folds; that is a part of its own
(`from_folds`). With one repetition this part is not known, and not in the interval.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaincinv, ndtri

from ..arrays import Floats, Indices

LEVEL = 0.95
_ROUNDING = 1e-12  # of shares


def decimals_of(*prices: float) -> int:
    """How many decimals prices are shown with in a sentence: four, of prices of 10 and more two, of large ones none."""
    largest = max(map(abs, prices))
    return 4 if largest < 10 else 2 if largest < 10_000 else 0


class Interval(NamedTuple):
    """An estimate with its limits."""

    value: float
    low: float
    high: float

    def __neg__(self) -> Interval:
        return Interval(-self.value, -self.high, -self.low)

    def __str__(self) -> str:
        """The estimate with its limits, as a sentence has them: prices in cents need no ten-thousandths."""
        decimals = decimals_of(*self)
        value, low, high = (f"{part:,.{decimals}f}" for part in self)
        return f"{value} [{low}, {high}]"

    def within(self, least: float, largest: float) -> Interval:
        """The same, where nothing below the least or above the largest value is possible."""
        return Interval(*(min(max(part, least), largest) for part in self))

    @property
    def standard_error_below(self) -> float:
        """The standard error that the distance to the lower limit stands for."""
        return float((self.value - self.low) / ndtri((1 + LEVEL) / 2))


EXACTLY_ZERO = Interval(0.0, 0.0, 0.0)


def rare_mean(amounts: Floats, largest: float, units: Indices | None = None, level: float = LEVEL) -> Interval:
    """Mean of amounts that are mostly 0, with the gamma interval.

    Parameters
    ----------
    amounts : ndarray of shape (n,)
        What each case pays, 0 or more.
    largest : float
        The largest amount one case could pay: what an event that did not happen might have cost.
    units : ndarray of int of shape (n,), optional
        Unit of each case, if cases belong together.
    level : float, default=0.95
        Coverage.
    """
    n = len(amounts)
    weights = amounts if units is None else np.bincount(units, amounts)
    event = largest if units is None else largest * float(np.bincount(units).max())
    total, squares, tail = float(weights.sum()), float(weights @ weights), (1 - level) / 2
    low = squares / (2 * total) * _chi2_quantile(tail, 2 * total**2 / squares) if total > 0 else 0.0
    total_, squares_ = total + event, squares + event**2
    high = squares_ / (2 * total_) * _chi2_quantile(1 - tail, 2 * total_**2 / squares_) if total_ > 0 else 0.0
    # No more than every case can pay the largest amount.
    return Interval(total / n, float(low) / n, min(float(high), n * largest) / n)


def _chi2_quantile(share: float, df: float) -> float:
    """Quantile of the chi-squared distribution: that of scipy.stats, which takes a hundred times as long to call."""
    return float(2 * gammaincinv(df / 2, share))


def frequent_mean(amounts: Floats, largest: float, units: Indices | None = None, level: float = LEVEL) -> Interval:
    """Mean of amounts between 0 and `largest`, with Wilson's interval for the share of the largest."""
    if largest == 0.0:
        return EXACTLY_ZERO
    shares = amounts / largest
    share, low, high = wilson(float(shares.mean()), _effective_size(shares, units), level)
    return Interval(share * largest, low * largest, high * largest)


def wilson(share: float, n: float, level: float = LEVEL) -> Interval:
    """Wilson's interval of a share of so many independent cases."""
    z = ndtri((1 + level) / 2)
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    # Rounding must not push a limit past the estimate: at a share of 0 or 1 they are equal.
    low, high = min(middle - reach, share), max(middle + reach, share)
    return Interval(share, max(float(low), 0.0), min(float(high), 1.0))


def _effective_size(shares: Floats, units: Indices | None) -> float:
    """How many independent cases would tell as much as these."""
    n = len(shares)
    if units is None:
        return float(n)
    mean, n_units = float(shares.mean()), int(units.max()) + 1
    spread = float((np.bincount(units, shares - mean) ** 2).sum()) / n**2
    if spread < _ROUNDING**2:  # all the same, but for rounding
        return float(n_units)
    return float(np.clip(mean * (1 - mean) / spread, 1.0, n))


def fold_error(repeated: Floats) -> float:
    """Standard error, from folds alone, of the mean of values of shape (repeats, n); 0 with one repetition."""
    means = repeated.mean(axis=1)
    return float(means.std(ddof=1) / np.sqrt(len(means))) if len(means) > 1 else 0.0


def from_folds(repeated: Floats, level: float = LEVEL) -> Interval:
    """How far other folds may move the mean of values of shape (repeats, n), about 0."""
    reach = float(ndtri((1 + level) / 2)) * fold_error(repeated)
    return Interval(0.0, -reach, reach)


def combined(*parts: Interval) -> Interval:
    """Sum of estimates: the distances of the limits add up like standard errors."""
    value = sum(part.value for part in parts)
    below = np.sqrt(sum((part.value - part.low) ** 2 for part in parts))
    above = np.sqrt(sum((part.high - part.value) ** 2 for part in parts))
    return Interval(float(value), float(value - below), float(value + above))
