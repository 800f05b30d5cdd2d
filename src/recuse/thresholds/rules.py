"""Where to cut a score: how each rule places the band of scores in which a case is rejected.

A score s grows towards the positive class. A case is called negative below the band, positive above it. The price of
a band ``[lower, upper]`` on a sample is

    fn P(s < lower) + fp N(s > upper) + r_pos P(lower <= s <= upper) + r_neg N(lower <= s <= upper),

P and N the weights of the positives and negatives there. Only the cuts between distinct scores matter; they are
numbered 0 (below every score) to m (above every score), so that k counts the distinct scores below cut k.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from ..arrays import Flags, Floats
from ..calibration import Sigmoid, log_odds
from ..costs import Costs
from ..cuts import Cuts
from .bands import Band

# Amounts closer than this, relative to their size, are equal: sums of weights round differently.
_SAME = 1e-12
# A confidence is never negative, so every case, seen or new, lies above this threshold.
EVERYTHING = -1.0


@dataclass(frozen=True)
class Sample:
    """Scored cases with known outcome, and the weight of each class below each cut of the score."""

    scores: Floats
    positive: Flags
    weights: Floats
    cuts: Cuts
    positives: Floats
    negatives: Floats

    @classmethod
    def of(cls, scores: Floats, positive: Flags, weights: Floats) -> Sample:
        """Sort and sum a sample; a case of weight 0 is absent, its score makes no cut."""
        present = weights > 0
        scores, positive, weights = scores[present], positive[present], weights[present]
        cuts = Cuts.of(scores)
        positives = cuts.total_below(np.where(positive, weights, 0.0))
        negatives = cuts.total_below(np.where(positive, 0.0, weights))
        return cls(scores, positive, weights, cuts, positives, negatives)


def chow_band(costs: Costs) -> Band:
    """Chow's rule on the probability of the positive class.

    In the units of the band the acceptance is what accepting a case saves over rejecting it, at these prices and
    probabilities; the two sides save the same at the centre.
    """
    if not costs.rejecting_pays:
        return neutral_band(costs)
    left = 1 / (costs.fn - costs.reject_positive + costs.reject_negative)
    right = 1 / (costs.fp - costs.reject_negative + costs.reject_positive)
    return Band(*costs.thresholds, costs.break_even, left, right)


def neutral_band(costs: Costs) -> Band:
    """The empty band; its units compare the two sides by the price of their errors, whatever rejecting costs."""
    return Band(costs.break_even, costs.break_even, costs.break_even, 1 / costs.fn, 1 / costs.fp)


def tuned_band(sample: Sample, costs: Costs, coverage: float | None = None) -> tuple[Band, float]:
    """The cheapest band over all pairs of cuts, found in one sweep, and its price per unit of weight.

    Of equally cheap bands the narrowest is taken. With `coverage`, the band with the least price of errors among
    those that accept at least this share of the weight.
    """
    if coverage is None:
        lower, upper = _cheapest_pair(sample, costs)
    else:
        lower, upper = _cheapest_covering_pair(sample, costs, coverage)
    cuts = sample.cuts
    lowest, highest = _beyond(cuts)
    # An edge is infinite if its side is never answered. If its side is always answered, it is finite and lies a whole
    # range beyond the scores seen. So does the centre, which must separate the classes somewhere.
    lower_edge, upper_edge = min(cuts.below(lower), highest), max(cuts.above(upper), lowest)
    centre = float(np.clip(cuts.above(_cheapest_single(sample, costs, lower, upper)), lowest, highest))
    units = _half_widths(lower_edge, upper_edge, centre)
    price = _pair_price(sample, costs, lower, upper) / sample.weights.sum()
    return Band(lower_edge, upper_edge, centre, *units), price


def shrunk_band(sample: Sample, costs: Costs, *, probabilities: bool, shrinkage: float) -> Band:
    """The cheapest band, moved towards the one that calibrated probabilities imply; the further, the fewer cases.

    The cheapest of all pairs of cuts owes part of its low price to luck, on small samples most of it. Chow's thresholds
    on probabilities, made of the scores by a sigmoid, have two numbers to learn from all cases instead of from those
    around a cut. The band is a mean of the two in log-odds, where the sigmoid is a straight line: the cheapest one
    counts n / (n + shrinkage).

    Parameters
    ----------
    sample : Sample
        Scored cases.
    costs : Costs
        Prices.
    probabilities : bool
        Whether the scores are probabilities.
    shrinkage : float
        Number of cases at which both count the same; 0 gives the cheapest band.
    """
    cheapest, _ = tuned_band(sample, costs)
    if shrinkage == 0:
        return cheapest
    scores = log_odds(sample.scores) if probabilities else sample.scores
    sigmoid = Sigmoid.fit(scores, sample.positive, sample.weights)
    lowest, highest = _limits(scores, sigmoid)
    implied = np.array([sigmoid.score_at(p) for p in (*costs.thresholds, costs.break_even)])
    tuned = np.array([cheapest.lower, cheapest.upper, cheapest.centre])
    tuned = log_odds(tuned) if probabilities else tuned
    n = float(sample.weights.sum())
    tuned, implied = np.clip(tuned, lowest, highest), np.clip(implied, lowest, highest)
    edges = (n * tuned + shrinkage * implied) / (n + shrinkage)
    lower, upper, centre = (float(edge) for edge in (expit(edges) if probabilities else edges))
    centre = min(max(centre, lower), upper)
    return Band(lower, upper, centre, *_half_widths(lower, upper, centre))


def _limits(scores: Floats, sigmoid: Sigmoid) -> tuple[float, float]:
    """How far out a threshold is taken to lie that no case is beyond: half a unit of log-odds."""
    lowest, highest = float(scores.min()), float(scores.max())
    reach = highest - lowest or 1.0
    if sigmoid.slope > 0:
        reach = min(reach, 0.5 / sigmoid.slope)
    return lowest - reach, highest + reach


def _beyond(cuts: Cuts) -> tuple[float, float]:
    reach = max(1.0, float(np.ptp(cuts.values)))
    return float(cuts.values[0]) - reach, float(cuts.values[-1]) + reach


def _half_widths(lower: float, upper: float, centre: float) -> tuple[float, float]:
    """Units of a band that has no others: its half-widths. A side without a finite width takes that of the other."""
    left, right = (width if 0 < width < np.inf else 0.0 for width in (centre - lower, upper - centre))
    return left or right or 1.0, right or left or 1.0


def _cheapest_pair(sample: Sample, costs: Costs) -> tuple[int, int]:
    # The price splits into a term of the lower cut and a term of the upper cut, coupled only by lower <= upper:
    # for each upper cut the best lower cut is a running minimum.
    as_rejected = costs.reject_positive * sample.positives + costs.reject_negative * sample.negatives
    lower_term = costs.fn * sample.positives - as_rejected
    upper_term = as_rejected + costs.fp * (sample.negatives[-1] - sample.negatives)
    best_lower = np.minimum.accumulate(lower_term)
    upper = _first_minimum(best_lower + upper_term, sample, costs)
    # The last of the best lower cuts: the narrowest band.
    lower = upper - _first_minimum(lower_term[upper::-1], sample, costs)
    return lower, upper


def _cheapest_covering_pair(sample: Sample, costs: Costs, coverage: float) -> tuple[int, int]:
    weight, negatives = sample.positives + sample.negatives, sample.negatives
    # For each lower cut: the highest upper cut that leaves no more than 1 - coverage in between.
    limit = weight + (1 - coverage + _SAME) * weight[-1]
    uppers = np.searchsorted(weight, limit, side="right") - 1
    # A lower one that spares no further false alarm rejects fewer cases at the same price of errors.
    uppers = np.maximum(np.searchsorted(negatives, negatives[uppers], side="left"), np.arange(len(weight)))
    price = costs.fn * sample.positives + costs.fp * (negatives[-1] - negatives[uppers])
    lower = _first_minimum(price, sample, costs)
    return lower, int(uppers[lower])


def _cheapest_single(sample: Sample, costs: Costs, lower: int, upper: int) -> int:
    """The cut, within the band, at which a forced classifier is cheapest."""
    price = costs.fn * sample.positives + costs.fp * (sample.negatives[-1] - sample.negatives)
    return lower + _first_minimum(price[lower : upper + 1], sample, costs)


def _pair_price(sample: Sample, costs: Costs, lower: int, upper: int) -> float:
    positives, negatives = sample.positives, sample.negatives
    rejected = costs.reject_positive * (positives[upper] - positives[lower])
    rejected += costs.reject_negative * (negatives[upper] - negatives[lower])
    return float(costs.fn * positives[lower] + rejected + costs.fp * (negatives[-1] - negatives[upper]))


def symmetric_band(sample: Sample, costs: Costs, centre: float, coverage: float | None = None) -> tuple[Band, float]:
    """The cheapest half-width around a fixed centre, over all distinct distances, and its price per unit of weight.

    Of equally cheap bands the narrowest is taken; with `coverage`, the widest that accepts at least this share.
    """
    positive, weights = sample.positive, sample.weights
    wrong = positive != (sample.scores > centre)
    cuts = Cuts.of(np.abs(sample.scores - centre))
    errors = cuts.total_below(np.where(wrong, np.where(positive, costs.fn, costs.fp), 0.0) * weights)
    rejected = cuts.total_below(np.where(positive, costs.reject_positive, costs.reject_negative) * weights)
    price = rejected + (errors[-1] - errors)
    k = _first_minimum(price, sample, costs) if coverage is None else _covering_cut(cuts, weights, coverage)
    half_width = _half_width(cuts, k)
    return Band(centre - half_width, centre + half_width, centre), float(price[k] / weights.sum())


def _half_width(cuts: Cuts, k: int) -> float:
    """A half-width that rejects exactly the k smallest distances."""
    if k > 0:
        return cuts.above(k)
    # Reject nothing: 0 will do unless a case sits on the centre itself, which only a negative width accepts.
    farther = cuts.values[cuts.values > 0]
    return 0.0 if cuts.values[0] > 0 else -float(farther[0] if len(farther) else 1.0) / 2


def covering_threshold(confidence: Floats, weights: Floats, coverage: float) -> float:
    """The confidence above which at least a share `coverage` of the weight lies."""
    cuts = Cuts.of(confidence)
    k = _covering_cut(cuts, weights, coverage)
    return cuts.above(k) if k > 0 else EVERYTHING


def _covering_cut(cuts: Cuts, weights: Floats, coverage: float) -> int:
    """The highest cut with at least a share `coverage` of the weight above it."""
    below = cuts.total_below(weights)
    return int(np.searchsorted(below, (1 - coverage + _SAME) * below[-1], side="right")) - 1


def _first_minimum(price: Floats, sample: Sample, costs: Costs) -> int:
    """The first of the lowest prices, taking prices that differ by rounding as equal."""
    lowest = price.min()
    rounding = _SAME * ((costs.reject_positive + costs.reject_negative) * sample.weights.sum() + abs(lowest))
    return int(np.argmax(price <= lowest + rounding))


class Aim(NamedTuple):
    """What thresholds are placed for.

    Attributes
    ----------
    costs : Costs
        Prices, the class that scores point to being the positive one.
    coverage : float or None
        Share of the cases to accept, instead of minimising the cost.
    probabilities : bool
        Whether the scores are probabilities.
    shrinkage : float
        Number of cases at which tuned and implied thresholds count the same.
    """

    costs: Costs
    coverage: float | None
    probabilities: bool
    shrinkage: float

    @property
    def neutral(self) -> float:
        """The score that favours neither of two classes."""
        return 0.5 if self.probabilities else 0.0


def _place_chow(sample: Sample, aim: Aim) -> Band:
    if aim.coverage is None:
        return chow_band(aim.costs)
    band = neutral_band(aim.costs)
    threshold = covering_threshold(band.confidence(sample.scores), sample.weights, aim.coverage)
    return band.moved_to(threshold)


def _place_tuned(sample: Sample, aim: Aim) -> Band:
    if aim.coverage is None:
        return shrunk_band(sample, aim.costs, probabilities=aim.probabilities, shrinkage=aim.shrinkage)
    return tuned_band(sample, aim.costs, aim.coverage)[0]


def _place_symmetric(sample: Sample, aim: Aim) -> Band:
    return symmetric_band(sample, aim.costs, aim.neutral, aim.coverage)[0]


class Rule(NamedTuple):
    """A rule of `ThresholdRejectClassifier`.

    Attributes
    ----------
    place : callable
        Scored cases and what the thresholds are for -> Band.
    needs_probabilities : bool
        Whether the score must be a probability.
    learns : bool
        Whether the thresholds depend on the cases even where no coverage is asked for.
    """

    place: Callable[[Sample, Aim], Band]
    needs_probabilities: bool = False
    learns: bool = True


RULES = {
    "chow": Rule(_place_chow, needs_probabilities=True, learns=False),
    "tuned": Rule(_place_tuned),
    "symmetric": Rule(_place_symmetric),
}
