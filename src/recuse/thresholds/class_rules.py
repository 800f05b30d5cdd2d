"""How each rule rejects with three or more classes: one number, above which the confidence in an answer must lie.

The price of a threshold t on a sample is that of the errors of cases with a confidence above t, and of rejecting the
others. Only the cuts between distinct confidences matter, so that one sweep finds the cheapest of all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Indices
from ..costs import Costs
from ..cuts import Cuts
from ..rounding import SAME
from .bands import LeastCost, LowestProbability
from .rules import Aim, covering_threshold

ClassRegion = LowestProbability | LeastCost
_SAME = 1e-12  # prices closer than this, relative to their size, are equal


@dataclass(frozen=True)
class ClassSample:
    """Cases with the probabilities of their classes, their true class, and their weight."""

    probabilities: Floats
    codes: Indices
    weights: Floats


def least_cost_region(costs: Costs, n_classes: int) -> ClassRegion:
    """What the prices alone imply: Chow's rule, and its form for prices that differ by class."""
    if costs.symmetric:
        # Rejecting is cheaper than the likeliest class p when reject price < (1 - p) error price.
        matrix = costs.matrix(n_classes)
        return LowestProbability(1 - float(matrix[0, -2]) / costs.largest_error, costs.largest_error)
    return LeastCost(costs.matrix(n_classes))


def class_region(rule: str, sample: ClassSample, aim: Aim) -> ClassRegion:
    """The region of a rule on a sample.

    "symmetric" takes the most probable class, whatever errors cost; the others take the answer of least expected cost.
    """
    n_classes = sample.probabilities.shape[1]
    region = least_cost_region(aim.costs, n_classes)
    if rule == "symmetric":
        region = LowestProbability(0.0, aim.costs.largest_error)
    if aim.coverage is not None:
        return region.moved_to(
            covering_threshold(region.confidence(sample.probabilities), sample.weights, aim.coverage)
        )
    if rule == "chow":
        return region
    return tuned_region(region, sample, aim.costs, aim.shrinkage if rule == "tuned" else 0.0)


def tuned_region(region: ClassRegion, sample: ClassSample, costs: Costs, shrinkage: float) -> ClassRegion:
    """The region moved to the confidence of least cost, shrunk towards where it was; the further, the fewer cases.

    Of equally cheap thresholds the one that rejects least is taken. The threshold that is found counts
    n / (n + shrinkage), that of the region as it was shrinkage / (n + shrinkage).
    """
    present = sample.weights > 0
    scores, codes, weights = sample.probabilities[present], sample.codes[present], sample.weights[present]
    matrix = costs.matrix(scores.shape[1])
    confidence = region.confidence(scores)
    cuts = Cuts.of(_tied(confidence, costs.largest_error))
    forced = region.evaluate(scores).forced()
    errors = cuts.total_below(weights * matrix[codes, forced])
    price = cuts.total_below(weights * matrix[codes, -2]) + (errors[-1] - errors)
    lowest = price.min()
    k = int(np.argmax(price <= lowest + _SAME * (abs(lowest) + weights.sum())))
    if shrinkage == 0 and k == len(cuts.values):
        return region.rejecting_everything()
    n = float(weights.sum())
    return region.moved_to((n * _at_cut(cuts, k) + shrinkage * region.threshold) / (n + shrinkage))


def _tied(confidence: Floats, size: float) -> Floats:
    """The confidences, those that differ by rounding made equal: no threshold may lie between them."""
    order = np.argsort(confidence)
    ordered = confidence[order]
    first = np.append(True, np.diff(ordered) > SAME * size)
    tied = np.empty(len(confidence))
    tied[order] = ordered[np.flatnonzero(first)[np.cumsum(first) - 1]]
    return tied


def _at_cut(cuts: Cuts, k: int) -> float:
    """A finite threshold above which exactly the confidences above cut k lie."""
    if k == 0:
        lowest = float(cuts.values[0])
        return lowest - max(1e-6, abs(lowest) * 1e-6)
    return float(cuts.values[-1]) if k == len(cuts.values) else cuts.above(k)
