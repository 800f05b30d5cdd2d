"""Hinge losses as small tables of numbers: weights and offsets.

A loss of the margin ``m = y f`` is ``sum_k weight[k] * max(0, offset[k] - m)``, with one row of the tables for each
class. Symbols of Grandvalet et al. (2008): ``p_-``, ``p_+`` are Chow's two probabilities, ``f_-``, ``f_+`` their
logits, ``H`` the entropy; ``f_1 < f_- < f_2 < f_+ < f_3`` are the scores at which the double hinge bends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..costs import Costs


@dataclass(frozen=True, eq=False)
class Hinges:
    """A convex loss made of hinges in the margin.

    Attributes
    ----------
    weights, offsets : ndarray of shape (2, 2)
        First row: the negative class; second row: the positive. First column: the outer hinge (the larger offset);
        second column: the inner one. A single hinge has inner weight 0.
    """

    weights: Floats
    offsets: Floats

    def value(self, y: NDArray[Any], f: Floats) -> Floats:
        """Loss of each case with labels -1, +1 and scores f."""
        row = (np.asarray(y) > 0).astype(np.intp)
        gaps = self.offsets[row] - (np.asarray(y) * f)[:, None]
        loss: Floats = (self.weights[row] * np.maximum(gaps, 0.0)).sum(axis=1)
        return loss


def double_hinge(costs: Costs) -> Hinges:
    """The double hinge loss, eq. (7) and (8), for any prices at which rejecting pays."""
    costs.require_rejecting_pays()
    p_minus, _ = costs.thresholds
    q_plus = _one_minus_p_plus(costs)
    f_1, f_2, f_3 = bends(costs)
    width = _band(costs)
    weights = np.array([[p_minus, width], [q_plus, width]])
    offsets = np.array([[-f_1, -f_2], [f_3, f_2]])
    return Hinges(weights, offsets)


def bartlett_wegkamp(costs: Costs) -> Hinges:
    """The generalised hinge of Bartlett and Wegkamp (2008), in their own units: d = reject / error price."""
    d = reject_share(costs)
    return Hinges(np.tile([1.0, (1 - d) / d - 1], (2, 1)), np.tile([1.0, 0.0], (2, 1)))


def hinge(costs: Costs) -> Hinges:
    """The hinge of the ordinary SVM with error prices as weights; reject prices play no part."""
    return Hinges(np.array([[costs.fp, 0.0], [costs.fn, 0.0]]), np.tile([1.0, 0.0], (2, 1)))


LOSSES = {"double_hinge": double_hinge, "bartlett_wegkamp": bartlett_wegkamp, "hinge": hinge}


def bends(costs: Costs) -> tuple[float, float, float]:
    """Scores ``(f_1, f_2, f_3)`` at which the double hinge bends."""
    p_minus, p_plus = costs.thresholds
    q_plus, width = _one_minus_p_plus(costs), _band(costs)
    # The divided difference of the entropy is 0/0 in the limit; the logit's error is of second order in the width.
    narrow = width < 1e-6
    f_2 = _logit((p_plus + p_minus) / 2) if narrow else -(_entropy(q_plus) - _entropy(p_minus)) / width
    return -_entropy(p_minus) / p_minus, f_2, _entropy(q_plus) / q_plus


def score_thresholds(costs: Costs) -> tuple[float, float]:
    """Scores ``(f_-, f_+)`` of rule (9): no below the first, yes above the second, else reject."""
    f_minus = math.log(costs.reject_negative) - math.log(costs.fn - costs.reject_positive)
    f_plus = math.log(costs.fp - costs.reject_negative) - math.log(costs.reject_positive)
    return f_minus, f_plus


def bartlett_wegkamp_threshold(costs: Costs) -> float:
    """Bartlett and Wegkamp's threshold 1/2, in the units of the double hinge: ``H(d) / (2 d)``."""
    d = reject_share(costs)
    return _entropy(d) / (2 * d)


def break_even_score(costs: Costs) -> float:
    """Logit of the probability at which yes and no cost the same; it lies between the two thresholds."""
    return math.log(costs.fp) - math.log(costs.fn)


def reject_share(costs: Costs) -> float:
    """The single price d = reject / error of symmetric costs."""
    if not costs.symmetric:
        raise ValueError(
            f"Bartlett and Wegkamp's rule is defined for equal prices of both classes only; got {costs!r}. "
            "Use fp = fn and one reject price, or rule='plugin'."
        )
    return costs.reject_negative / costs.fp


def _one_minus_p_plus(costs: Costs) -> float:
    # From the prices, not by subtraction: p_plus may be 1 to the last digit.
    return costs.reject_positive / (costs.fp - costs.reject_negative + costs.reject_positive)


def _band(costs: Costs) -> float:
    """``p_+ - p_-`` without cancellation when the two are close."""
    spare = costs.fp * costs.fn - costs.fp * costs.reject_positive - costs.fn * costs.reject_negative
    yes = costs.fp - costs.reject_negative + costs.reject_positive
    no = costs.fn - costs.reject_positive + costs.reject_negative
    return spare / (yes * no)


def _entropy(p: float) -> float:
    return -p * math.log(p) - (1 - p) * math.log1p(-p)


def _logit(p: float) -> float:
    return math.log(p) - math.log1p(-p)
