"""Where the score is cut: at the largest gap between the classes or, where prices are given, at the least cost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Floats
from ...costs import Costs
from .histogram import ScoreHistogram


class Thresholds(NamedTuple):
    """Thresholds of the score.

    Attributes
    ----------
    low, high : float
        The answer is no up to the first and yes above the second; cases between them are rejected.
    middle : float
        The threshold between the classes when nothing is rejected.
    """

    low: float
    middle: float
    high: float

    def within(self, reach: tuple[float, float]) -> Thresholds:
        """The same with finite numbers, given the least and the largest score that a case can have.

        A threshold beyond every score decides nothing; a finite one keeps h and its reasons finite.
        """
        return Thresholds(*(float(np.clip(t, reach[0] - 1.0, reach[1] + 1.0)) for t in self))


def at_largest_gap(histogram: ScoreHistogram) -> Thresholds:
    """One threshold, at the largest gap; all cases go to the larger class where the score tells nothing."""
    threshold = best_gap(histogram)
    if not np.isfinite(threshold):
        threshold = -np.inf if histogram.pos.sum() > histogram.neg.sum() else np.inf
    return Thresholds(threshold, threshold, threshold)


def at_least_cost(histogram: ScoreHistogram, costs: Costs, rejects: bool) -> Thresholds:
    """Two thresholds of least mean cost and one between them, or a single one where nothing is to be rejected."""
    low, high = best_thresholds(histogram, costs)[:2] if rejects else (-np.inf, np.inf)
    middle = best_single_threshold(histogram, costs, low, high)
    return Thresholds(low, middle, high) if rejects else Thresholds(middle, middle, middle)


def best_thresholds(histogram: ScoreHistogram, costs: Costs) -> tuple[float, float, float]:
    """Two thresholds t_N <= t_P of least mean cost, halfway between scores, and that cost.

    With P and N the weights at or below a threshold, the cost is a sum of one term for each,

        fp N_all + [(fn - r_pos) P(t_N) - r_neg N(t_N)] + [r_pos P(t_P) - (fp - r_neg) N(t_P)],

    so that the best t_N for every t_P is a running minimum.
    """
    P, N = histogram.weights_below()
    below = (costs.fn - costs.reject_positive) * P - costs.reject_negative * N
    above = costs.reject_positive * P - (costs.fp - costs.reject_negative) * N
    total = np.minimum.accumulate(below) + above
    upper = int(np.argmin(total))
    lower = int(np.argmin(below[: upper + 1]))
    cost = (costs.fp * N[-1] + total[upper]) / (P[-1] + N[-1])
    return histogram.threshold(lower), histogram.threshold(upper), float(cost)


def best_single_threshold(histogram: ScoreHistogram, costs: Costs, low: float, high: float) -> float:
    """The threshold in [low, high] at which answering without rejection costs least."""
    P, N = histogram.weights_below()
    cost = costs.fn * P - costs.fp * N
    tried = np.array([histogram.threshold(i) for i in range(len(P))])
    allowed = (tried >= low) & (tried <= high)
    return float(tried[allowed][np.argmin(cost[allowed])])


def best_gap(histogram: ScoreHistogram) -> float:
    """The threshold of the largest gap between the two distributions."""
    return histogram.threshold(int(np.argmax(histogram.gaps())) + 1)


def acceptance(score: Floats, thresholds: tuple[float, float], middle: float) -> Floats:
    """Acceptance scores, greater than 0 beyond the thresholds; `score` is given less the middle threshold."""
    if thresholds[0] == thresholds[1]:
        return np.ones(len(score))
    below, above = (t - middle for t in thresholds)
    accepted: Floats = np.maximum(score - above, below - score)
    return accepted
