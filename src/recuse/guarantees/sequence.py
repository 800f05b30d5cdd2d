"""Which thresholds are tested, and in which order: placed where a test is likely to pass, by cases that do not test.

The thresholds accept more and more cases. They are tested in that order until the first failure, so that none of the
tests needs a correction for the others (fixed-sequence testing). The first one decides whether anything is promised:
it is in the middle of those that are likely to pass, by the answers to the placing cases. Too few accepted cases prove
nothing, too many contain too many errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..arrays import Flags, Floats
from ..cuts import Cuts
from .claims import Claims, PromiseGroups
from .promises import Promise
from .record import Guarantee, Shown, hint
from .risks import ForcedAnswers

_N_THRESHOLDS = 50
_SURE = 1e-3  # chances nearer to 1 than this are alike
_KNOWN = 20  # cases whose rate of bad ones says anything


class Seen(NamedTuple):
    """Cases whose outcome is known.

    Attributes
    ----------
    answers : ForcedAnswers
        What they are, and what they would be called.
    sure : ndarray of shape (n,)
        How sure the model is of each; minus infinity where no threshold accepts it.
    groups : PromiseGroups or None
        Their groups.
    """

    answers: ForcedAnswers
    sure: Floats
    groups: PromiseGroups | None


def promise(
    promises: tuple[Promise, ...],
    confidence: float,
    placing: Seen,
    testing: Seen,
    accepts: Callable[[float], Flags],
    last: float,
    n_rows: int,
) -> Guarantee:
    """Place thresholds by some cases and test them on others.

    Parameters
    ----------
    promises, confidence
        What is to hold, and with what probability.
    placing, testing : Seen
        The cases that choose which thresholds are tested, and those that test them.
    accepts : callable
        Threshold -> which of the testing cases the model accepts: exactly the rule that will be used.
    last : float
        The threshold that accepts most.
    n_rows : int
        How many rows `fit` was given, for the hint where nothing is shown.
    """
    share = len(testing.sure) / max(1, len(placing.sure))
    tried = Claims.of(promises, placing.answers, placing.groups)
    thresholds = place(placing.sure, tried, share, 1 - confidence, last)
    claims = Claims.of(promises, testing.answers, testing.groups)
    return certify(accepts, claims, thresholds, confidence, n_rows, _possible(placing.sure, last))


def place(sure: Floats, claims: Claims, share: float, alpha: float, last: float) -> Floats:
    """Thresholds to test, in order, chosen on cases that take no part in the tests.

    Parameters
    ----------
    sure : ndarray of shape (n,)
        How sure the model is of each placing case; minus infinity where no threshold accepts it.
    claims : Claims
        What is to be shown, with what is known of these cases.
    share : float
        How many cases there are to test, for each of these.
    alpha : float
        One minus the confidence.
    last : float
        The threshold that accepts most, and ends the sequence.
    """
    thresholds = _possible(sure, last)
    if len(thresholds) == 1:
        return thresholds
    chances = np.array([claims.chance(sure > threshold, share, alpha) for threshold in thresholds])
    if chances.any():
        return thresholds[_middle(chances / (1 - chances + _SURE)) :]
    # Too few cases for any: then at least say what could be promised.
    excess = [claims.expected_excess(sure > threshold, share, alpha) for threshold in thresholds]
    return thresholds[int(np.argmin(excess)) :]


def _middle(weights: Floats) -> int:
    """The number at which half of the weight is reached.

    The greatest chance of all stands where the placing cases had luck, or at the edge of a plateau, from which the
    scores of the model itself, which differ from those of the fits for the placing, may fall. The middle of the great
    ones keeps away from both. Weights are odds: chances of .3 and .25 are about as good, those of .99 and .9 are not.
    """
    reached = np.cumsum(weights)
    return int(np.searchsorted(reached, reached[-1] / 2))


def _possible(sure: Floats, last: float) -> Floats:
    """Thresholds spread over the cases, the strictest first."""
    above = sure[sure > last]
    if len(above) == 0:
        return np.array([last])
    cuts = Cuts.of(above)
    spread = np.unique(np.linspace(1, len(cuts.values), _N_THRESHOLDS).astype(int))[:-1]
    return np.array([*(cuts.above(int(k)) for k in spread[::-1]), last])


def certify(
    accepts: Callable[[float], Flags],
    claims: Claims,
    thresholds: Floats,
    confidence: float,
    n_rows: int,
    possible: Floats | None = None,
) -> Guarantee:
    """Test the thresholds in order on calibration cases.

    Parameters
    ----------
    accepts : callable
        Threshold -> which calibration cases the model accepts: exactly the rule that will be used.
    claims : Claims
        What is to be shown, with what is known of these cases.
    thresholds : ndarray
        As from `place`.
    confidence : float
        Of all claims together.
    n_rows : int
        As above.
    possible : ndarray, optional
        Thresholds that more rows could begin with, for the hint; by default those that are tested.

    Returns
    -------
    Guarantee
        At the last threshold that passed before the first failure; if the first one failed, of a model that rejects
        every case, with what could have been promised.
    """
    alpha, passed = 1 - confidence, None
    for threshold in thresholds:
        accepted = accepts(float(threshold))
        if claims.p_value(accepted, alpha) > alpha:
            break
        passed = float(threshold), accepted
    n = len(claims.each[0].losses.relevant)
    if passed is not None:
        threshold, accepted = passed
        shown = tuple(Shown.of(claim, accepted, alpha) for claim in claims)
        return Guarantee(confidence, threshold, n, int(accepted.sum()), shown)
    # Bounds that hold together, at a threshold that was chosen without these cases.
    accepted = accepts(float(thresholds[0]))
    shown = tuple(Shown.of(claim, accepted, alpha / len(claims)) for claim in claims)
    times, at = _fewest_rows(accepts, claims, thresholds if possible is None else possible, alpha)
    instead = tuple(Shown.of(claim, at, alpha / len(claims)) for claim in claims)
    said = hint(shown, n_rows * times, int(accepted.sum()), instead)
    return Guarantee(confidence, float("inf"), n, 0, shown, said)


def _fewest_rows(
    accepts: Callable[[float], Flags], claims: Claims, thresholds: Floats, alpha: float
) -> tuple[float, Flags]:
    """How many times the rows would do if what was seen is the truth, at the threshold where that is least."""
    tried = [accepts(float(threshold)) for threshold in thresholds]
    least = [min(claim.losses.among(accepted).n for claim in claims) for accepted in tried]
    known = [accepted for accepted, n in zip(tried, least, strict=True) if n >= _KNOWN] or tried[-1:]
    times = [claims.times_needed(accepted, alpha) for accepted in known]
    best = int(np.argmin(times))
    return times[best], known[best]
