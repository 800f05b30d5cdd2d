"""Exact tests of "the mean exceeds the level", and the bounds that belong to them.

Given the number n of accepted cases that count, they are independent draws from the accepted ones of the population.
Where an answer costs 0 or one price c, the number k of costly ones is binomial, and ``P(Bin(n, level / c) <= k)`` is
the p-value (Clopper and Pearson).

Where it costs 0, a or b, with shares p_a and p_b that nobody knows, the p-value is the largest probability of a total
as small as the one seen, over all shares with ``a p_a + b p_b >= level``. The total grows with both shares, so that
this maximum lies on the line where equality holds. The line is cut into cells; in each, the probability is at most the
one at the smallest p_a and the smallest p_b of the cell, so that the maximum over the cells is an upper bound. Shares
p_b that the data contradict are left out, and the confidence that this costs is added to the p-value (Berger and Boos):
where dear errors were not seen, they need not be feared to be the only ones.

Where errors have more prices (three or more classes), with b the dearest and m the mean seen, the p-value is the
smaller of two bounds on the probability of so small a mean: ``exp(-n KL(m / b, level / b))`` (Hoeffding) and
``e P(Bin(n, level / b) <= ceil(n m / b))`` (Bentkus).

References
----------
Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial", 1934; Buehler,
"Confidence intervals for the product of two binomial parameters", 1957, for bounds by the worst case at a given
statistic; Berger and Boos, "P values maximized over a confidence set for the nuisance parameter", 1994; Hoeffding,
"Probability inequalities for sums of bounded random variables", 1963; Bentkus, "On Hoeffding's inequalities", 2004.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import bdtr, bdtrik, betaincinv, gammaln, rel_entr, xlog1py, xlogy

from ..arrays import Floats
from .risks import Tally

_CELLS = 100
# Share of the error probability that goes into leaving out shares of the dearer error.
_SPENT = 0.1
# Totals that differ by rounding are the same.
_SAME = 1e-9


def at_most(count: int, n: int, share: float) -> float:
    """Probability that at most so many of n cases are bad."""
    return 0.0 if count < 0 else 1.0 if count >= n else float(bdtr(count, n, share))


def _exactly(counts: Any, n: int, shares: Any) -> Floats:
    """Probability that exactly so many of n cases are bad."""
    ways = gammaln(n + 1.0) - gammaln(counts + 1.0) - gammaln(n - counts + 1.0)
    chances: Floats = np.exp(ways + xlogy(counts, shares) + xlog1py(n - counts, -shares))
    return chances


def p_value(tally: Tally, level: float, alpha: float) -> float:
    """Largest probability, where the mean is above the level, of a total as small as this one.

    `alpha` is what it will be compared with; it says how much may be spent on the unknown share of dear errors.
    """
    if level >= tally.prices[-1]:
        return 0.0  # no case can cost more
    if tally.n == 0:
        return 1.0
    if len(tally.prices) == 1:
        return at_most(tally.counts[0], tally.n, level / tally.prices[0])
    if len(tally.prices) > 2:
        return _with_many_prices(tally, level)
    return _with_two_prices(tally, level, alpha * _SPENT)


def _with_many_prices(tally: Tally, level: float) -> float:
    """The p-value where errors have three prices or more."""
    dearest, n = tally.prices[-1], tally.n
    share, limit = tally.mean / dearest, level / dearest
    if share >= limit:
        return 1.0
    distance = float(rel_entr(share, limit) + rel_entr(1 - share, 1 - limit))
    few = math.e * at_most(math.ceil(n * share - _SAME), n, limit)
    return min(1.0, math.exp(-n * distance), few)


def _with_two_prices(tally: Tally, level: float, spent: float) -> float:
    """The p-value where errors have two prices."""
    n, (cheap, dear) = tally.n, tally.prices
    most = min(upper_share(tally.counts[1], n, 1 - spent), level / dear)
    edges = np.linspace(0.0, most, _CELLS + 1)
    p_dear = edges[:-1, None]
    p_cheap = np.clip((level - dear * edges[1:, None]) / cheap, 0.0, 1.0 - p_dear)
    n_dear = np.arange(min(n, math.floor(tally.total / dear + _SAME)) + 1)
    n_left = n - n_dear
    n_cheap = np.minimum(np.floor((tally.total - dear * n_dear) / cheap + _SAME), n_left)
    chances = _exactly(n_dear, n, p_dear) * bdtr(n_cheap, n_left, np.minimum(p_cheap / (1 - p_dear), 1.0))
    return min(1.0, float(chances.sum(axis=1).max()) + spent)


def upper_share(count: int, n: int, confidence: float) -> float:
    """Upper Clopper-Pearson bound of a share."""
    return 1.0 if count >= n else float(betaincinv(count + 1, n - count, confidence))


def upper_bound(tally: Tally, alpha: float) -> float:
    """The smallest level that these cases show: with confidence ``1 - alpha`` the mean is at most this."""
    dearest = tally.prices[-1]
    if len(tally.prices) == 1:
        return dearest * (upper_share(tally.counts[0], tally.n, 1 - alpha) if tally.n else 1.0)
    low, high = tally.mean, dearest * (1 - 1e-12)
    if tally.n == 0 or p_value(tally, high, alpha) > alpha:
        return dearest
    # The p-value falls as the level rises; above the mean by so little it is still great.
    low = max(low, dearest * 1e-12)
    if p_value(tally, low, alpha) <= alpha:
        return low
    edge = float(brentq(lambda level: p_value(tally, level, alpha) - alpha, low, high, xtol=1e-9 * dearest, rtol=1e-9))
    return edge + 2e-9 * dearest


# Planning: how likely a test is to pass, and how many cases it would need. With two prices the test is nearly that of
# an error that always has the dearer one.


def smallest_sample(level: float, alpha: float) -> int:
    """Cases needed to show a share of at most `level` when none of them is bad."""
    return 0 if level >= 1 else math.ceil(math.log(alpha) / math.log1p(-level))


def most_bad(n: int, level: float, alpha: float) -> int:
    """The most bad ones among n cases that still show `level`; -1 when even none would not."""
    if level >= 1:
        return n
    if n == 0 or at_most(0, n, level) > alpha:
        return -1
    count = int(bdtrik(alpha, n, level))  # where the distribution function, made continuous, reaches alpha
    while at_most(count, n, level) > alpha:
        count -= 1
    while at_most(count + 1, n, level) <= alpha:
        count += 1
    return count


def usual_price(tally: Tally) -> float:
    """One price at which the total would vary as much; the dearest where no case cost anything."""
    if not tally.total:
        return tally.prices[-1]
    return sum(count * price**2 for count, price in zip(tally.counts, tally.prices, strict=True)) / tally.total


def chance(seen: Tally, n: int, level: float, alpha: float) -> float:
    """Estimated probability that n cases like those seen pass the test."""
    price, dearest = usual_price(seen), seen.prices[-1]
    share = min(1.0, (seen.total / price + 0.5) / (seen.n + 1))
    most = most_bad(n, level / dearest, alpha)
    return at_most(most if most < 0 else math.floor(most * dearest / price), n, share)


def likely_bound(seen: Tally, n: int, alpha: float) -> float:
    """The level that n cases like those seen would show if as many of them were bad."""
    dearest = seen.prices[-1]
    return dearest * upper_share(math.ceil(n * seen.mean / dearest), n, 1 - alpha)


def rows_needed(seen: Tally, level: float, alpha: float) -> float:
    """Cases needed if what was seen is the truth; infinite where their mean is no less than the level."""
    dearest = seen.prices[-1]
    level, share = level / dearest, seen.mean / dearest
    if level >= 1:
        return 1
    if share >= level:
        return math.inf

    def enough(n: int) -> bool:
        return at_most(math.ceil(n * share), n, level) <= alpha

    high = max(1, smallest_sample(level, alpha))
    while not enough(high) and high < 2**40:
        high *= 2
    low = high // 2
    while high - low > 1:  # not quite monotone: it flips back and forth for a case or two; any of these edges will do
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
