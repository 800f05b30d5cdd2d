"""A guarantee on the error of accepted cases: exact binomial tests along a fixed sequence of thresholds.

Accepting the cases with confidence above t has an unknown error rate R(t). Given the n calibration cases above t,
their number of errors e is binomial (n, R(t)), so ``P(Bin(n, level) <= e)`` is a p-value of "R(t) > level". The
thresholds are put in order, from few accepted cases to many, before the errors are looked at. They are tested in that
order until the first failure: the last one passed has R(t) <= level with the wanted confidence, with no price for the
number of tests.

References
----------
Bates, Angelopoulos, Lei, Malik and Jordan, "Distribution-free, risk-controlling prediction sets", 2021, and
Angelopoulos et al., "Learn then test", 2021, for fixed-sequence testing; Clopper and Pearson, 1934, for the bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, binom

_N_THRESHOLDS = 50


@dataclass(frozen=True)
class Certificate:
    """What a calibration sample shows of the accepted cases.

    Attributes
    ----------
    level, confidence : float
        With this confidence the error rate of accepted cases is at most this level.
    threshold : float
        Cases with a greater confidence are accepted.
    n_calibration, n_accepted, n_errors : int
        Calibration cases tested, those accepted, and the errors among these.
    error_bound : float
        Upper Clopper-Pearson bound of the error rate at this confidence; at most `level`.
    """

    level: float
    confidence: float
    threshold: float
    n_calibration: int
    n_accepted: int
    n_errors: int
    error_bound: float


def smallest_sample(level: float, confidence: float) -> int:
    """Accepted cases needed to show an error rate of at most `level` when none of them is wrong."""
    return math.ceil(math.log1p(-confidence) / math.log1p(-level))


def rows_needed(level: float, confidence: float, error_rate: float) -> float:
    """Accepted cases needed when a share `error_rate` of them is wrong; infinite at `level` and above."""
    if error_rate >= level:
        return math.inf

    def enough(n: int) -> bool:
        return bool(binom.cdf(math.floor(n * error_rate), n, level) <= 1 - confidence)

    high = smallest_sample(level, confidence)
    while not enough(high) and high < 2**40:
        high *= 2
    low = high // 2
    while high - low > 1:  # the condition wavers by a case or two; bisection finds one of its edges
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def comfortable_sample(level: float, confidence: float) -> int:
    """Accepted cases with which a classifier four times better than `level` passes nine times in ten."""

    def passes_often(n: int) -> bool:
        most_errors = binom.ppf(1 - confidence, n, level) - 1  # the most that still show the level
        if binom.cdf(most_errors + 1, n, level) <= 1 - confidence:
            most_errors += 1
        return bool(binom.cdf(most_errors, n, level / 4) >= 0.9)

    n = smallest_sample(level, confidence)
    while not passes_often(n):
        n = math.ceil(1.1 * n)
    return n


def candidate_thresholds(
    placing: NDArray[np.float64], n_calibration: int, level: float, confidence: float
) -> NDArray[np.float64]:
    """Thresholds to test, in order, placed by the confidence in cases that take no part in the test.

    The first is meant to accept enough cases for the test to have power, and no more than half of them unless the
    sample is small; the last accepts all.
    """
    fewest = smallest_sample(level, confidence)
    comfortable = comfortable_sample(level, confidence)
    # Few placing cases put the first threshold only roughly: half as many again keeps the first test from starving.
    start = min(comfortable, max(1.5 * fewest, n_calibration / 2))
    shares = np.linspace(min(1.0, start / n_calibration), 1.0, _N_THRESHOLDS)
    ordered = np.sort(placing)[::-1]
    # A novelty has confidence -inf: no threshold reaches it, yet it counts in the share.
    finite = ordered[np.isfinite(ordered)]
    if len(finite) == 0:
        return np.empty(0)
    accepted = (shares * len(ordered)).astype(int)
    all_of_them = finite[-1] - max(1.0, float(np.ptp(finite)))
    # From strict to lax; equal thresholds would be the same test again.
    return np.unique(np.append(finite[accepted[accepted < len(finite)]], all_of_them))[::-1]


def certify(
    sure: NDArray[np.float64],
    wrong: NDArray[np.bool_],
    thresholds: NDArray[np.float64],
    level: float,
    confidence: float,
) -> tuple[Certificate | None, Certificate | None]:
    """Test the thresholds in order on calibration cases.

    Returns
    -------
    passed : Certificate or None
        Of the last threshold passed before the first failure.
    failed : Certificate or None
        Of that first failure; its `error_bound` exceeds `level`.
    """
    passed = None
    for threshold in thresholds:
        accepted = sure > threshold
        n, errors = int(accepted.sum()), int(wrong[accepted].sum())
        bound = 1.0 if errors == n else float(beta.ppf(confidence, errors + 1, n - errors))
        tried = Certificate(level, confidence, float(threshold), len(sure), n, errors, bound)
        # The Clopper-Pearson bound is at most the level exactly when the binomial test rejects "R > level".
        if bound > level:
            return passed, tried
        passed = tried
    return passed, None
