"""A guarantee on the error of accepted cases: exact binomial tests along a fixed sequence of thresholds.

Accepting the cases with confidence above t has an unknown error rate R(t). Given the n calibration cases above t,
their number of errors e is binomial (n, R(t)), so ``P(Bin(n, level) <= e)`` is a p-value of "R(t) > level". The
thresholds are put in order, from few accepted cases to many, before the errors are seen. They are tested in that order
until the first failure: the last one that passed has R(t) <= level with the wanted confidence, and the number of tests
needs no correction.

References
----------
Bates, Angelopoulos, Lei, Malik and Jordan, "Distribution-free, risk-controlling prediction sets", 2021, and
Angelopoulos et al., "Learn then test", 2021, for fixed-sequence testing; Clopper and Pearson, 1934, for the bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import beta, binom
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state

from ..arrays import Flags, Floats, Indices
from .rules import EVERYTHING, Cuts

_N_THRESHOLDS = 50
# Share of the calibration cases that only choose which thresholds are tested, and in which order.
_PLACING_SHARE = 0.25


class Split(NamedTuple):
    """Rows that fit models and rule, that choose the candidate thresholds, and that test them."""

    fitting: Indices
    placing: Indices
    testing: Indices


@dataclass(frozen=True)
class Guarantee:
    """What the calibration cases show about the errors among accepted cases.

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

    def __str__(self) -> str:
        return (
            f"With confidence {self.confidence:g} the error rate on accepted cases is at most {self.level:g}: "
            f"{self.n_errors} wrong among {self.n_accepted} accepted of {self.n_calibration} test cases "
            f"(bound {self.error_bound:.3g})."
        )


def smallest_sample(level: float, confidence: float) -> int:
    """Accepted cases needed to show an error rate of at most `level` when none of them is wrong."""
    return math.ceil(math.log1p(-confidence) / math.log1p(-level))


def rows_needed(level: float, confidence: float, error_rate: float) -> float:
    """Accepted cases needed when a share `error_rate` of them is wrong; infinite at `level` and above."""
    if error_rate >= level:
        return math.inf

    def enough(n: int) -> bool:
        return bool(binom.cdf(math.ceil(n * error_rate), n, level) <= 1 - confidence)

    high = smallest_sample(level, confidence)
    while not enough(high) and high < 2**40:
        high *= 2
    low = high // 2
    while high - low > 1:  # not quite monotone: it flips back and forth for a case or two; any of these edges will do
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def most_errors(n: int, level: float, confidence: float) -> int:
    """The most errors among n cases that still show `level`; -1 when even none would not."""
    errors = int(binom.ppf(1 - confidence, n, level))  # the smallest with P(Bin <= errors) >= 1 - confidence
    return errors if binom.cdf(errors, n, level) <= 1 - confidence else errors - 1


def split_rows(
    n: int, level: float, confidence: float, *, calibration_size: float, fitted: bool, random_state: Any
) -> Split:
    """Split `n` rows for a guarantee; `fitted` says that the model is fitted already, so that all rows calibrate."""
    rows = np.arange(n)
    calibration_share = 1.0 if fitted else calibration_size
    fewest = smallest_sample(level, confidence)
    n_testing = int(n * calibration_share * (1 - _PLACING_SHARE))
    if n_testing < fewest:
        enough = math.ceil(fewest / (calibration_share * (1 - _PLACING_SHARE))) + 1
        raise ValueError(
            f"guarantee={level:g} at confidence={confidence:g} needs {fewest} accepted test cases "
            f"even if none is wrong, and {n} rows leave {n_testing}. At least {enough} rows would be enough; "
            "or raise guarantee, lower confidence, or raise calibration_size."
        )
    random = check_random_state(random_state)
    if fitted:
        fitting, calibration = rows[:0], rows
    else:
        # Not stratified: the test assumes cases drawn independently of each other.
        fitting, calibration = train_test_split(rows, test_size=calibration_size, random_state=random)
    testing, placing = train_test_split(calibration, test_size=_PLACING_SHARE, random_state=random)
    return Split(placing if fitted else fitting, placing, testing)


def candidate_thresholds(sure: Floats, wrong: Flags, n_calibration: int, level: float, confidence: float) -> Floats:
    """Thresholds to test, in order, chosen on cases that take no part in the test.

    Each accepts more cases than the one before. The first is the one most likely to pass, judging by the errors on
    these cases: too few cases prove nothing, too many contain too many errors. The last accepts all.
    """
    finite = sure[np.isfinite(sure)]  # a novelty has confidence -inf: no threshold reaches it
    if len(finite) == 0:
        return np.empty(0)
    cuts = Cuts.of(finite)
    spread = np.unique(np.linspace(1, len(cuts.values), _N_THRESHOLDS).astype(int))[:-1]
    # Between distinct values, never on one: whether a tie is accepted must not depend on rounding.
    thresholds = np.array([*(cuts.above(int(k)) for k in spread[::-1]), EVERYTHING])
    chances = [_chance(sure > t, wrong, n_calibration, level, confidence) for t in thresholds]
    return thresholds[int(np.argmax(chances)) :]


def _chance(accepted: Flags, wrong: Flags, n_calibration: int, level: float, confidence: float) -> float:
    """Estimated probability that accepting such cases passes the test."""
    n_seen, n_wrong = int(accepted.sum()), int(wrong[accepted].sum())
    rate = (n_wrong + 0.5) / (n_seen + 1)
    n = n_seen * n_calibration // len(accepted)
    return float(binom.cdf(most_errors(n, level, confidence), n, rate))


def certify(
    accepts: Callable[[float], Flags],
    wrong: Flags,
    thresholds: Floats,
    level: float,
    confidence: float,
) -> tuple[Guarantee | None, Guarantee | None]:
    """Test the thresholds in order on calibration cases.

    Parameters
    ----------
    accepts : callable
        Threshold -> which calibration cases the model accepts: exactly the rule that will be used.
    wrong : ndarray of bool
        Which calibration cases the model gets wrong.
    thresholds, level, confidence
        As above.

    Returns
    -------
    passed : Guarantee or None
        At the last threshold that passed before the first failure.
    failed : Guarantee or None
        At that first failure; its `error_bound` exceeds `level`.
    """
    passed = None
    for threshold in thresholds:
        accepted = accepts(float(threshold))
        n, errors = int(accepted.sum()), int(wrong[accepted].sum())
        bound = 1.0 if errors == n else float(beta.ppf(confidence, errors + 1, n - errors))
        tried = Guarantee(level, confidence, float(threshold), len(wrong), n, errors, bound)
        # The Clopper-Pearson bound is at most the level exactly when the binomial test rejects "R > level".
        if bound > level:
            return passed, tried
        passed = tried
    return passed, None


def not_shown(level: float, confidence: float, failed: Guarantee | None, n_rows: int) -> str:
    """Why a guarantee cannot be given, and how many rows would be enough."""
    start = f"guarantee={level:g} at confidence={confidence:g} cannot be shown"
    if failed is None or failed.n_accepted == 0:
        return f"{start}: every calibration case is rejected as a novelty."
    shown = f"{failed.n_errors} wrong among the {failed.n_accepted} most certain test cases"
    needed = rows_needed(level, confidence, failed.n_errors / failed.n_accepted)
    if math.isinf(needed):
        return f"{start}: {shown}. Raise guarantee, or use a better classifier: more cases would not help."
    rows = float(f"{n_rows * needed / failed.n_accepted:.1e}")
    return f"{start}: {shown}. If that rate is right, about {rows:.0f} rows would be enough; or raise guarantee."
