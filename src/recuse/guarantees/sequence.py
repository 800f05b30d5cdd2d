"""Which thresholds are tested, and in which order: placed where a test is likely to pass, by cases that do not test.

The thresholds accept more and more cases. They are tested in that order until the first failure, so that none of the
tests needs a correction for the others (fixed-sequence testing). The first one decides whether anything is promised:
it is the threshold that is most likely to pass, by the answers to the placing cases. Too few accepted cases prove
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
    return certify(accepts, Claims.of(promises, testing.answers, testing.groups), thresholds, confidence, n_rows)


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
    above = sure[sure > last]
    if len(above) == 0:
        return np.array([last])
    cuts = Cuts.of(above)
    spread = np.unique(np.linspace(1, len(cuts.values), _N_THRESHOLDS).astype(int))[:-1]
    thresholds = np.array([*(cuts.above(int(k)) for k in spread[::-1]), last])
    chances = [claims.chance(sure > threshold, share, alpha) for threshold in thresholds]
    if not max(chances):  # too few cases for any: then at least say what could be promised
        chances = [-claims.expected_excess(sure > threshold, share, alpha) for threshold in thresholds]
    return thresholds[int(np.argmax(chances)) :]


def certify(
    accepts: Callable[[float], Flags], claims: Claims, thresholds: Floats, confidence: float, n_rows: int
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
    said = hint(shown, n_rows * claims.times_needed(accepted, alpha), int(accepted.sum()))
    return Guarantee(confidence, float("inf"), n, 0, shown, said)
