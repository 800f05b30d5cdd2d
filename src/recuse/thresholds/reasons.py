"""One sentence per case: the score and the threshold it was compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from ..arrays import Flags, Floats
from ..costs import Costs
from ..decisions import Evaluation, StatedThresholds, two_best_reasons
from ..labels import to_python
from .bands import Band, LeastCost, LowestProbability


def stated_band(band: Band, classes: NDArray[Any], positive: Any, what: str) -> StatedThresholds:
    """Two thresholds on a "probability" or a "score", from the side of the positive class."""
    lower, upper = band.lower, band.upper
    if positive == classes[0]:
        lower, upper = _turned(upper, what), _turned(lower, what)
    if what == "probability":  # thresholds beyond every probability are not worth showing
        lower, upper = max(lower, 0.0), min(upper, 1.0)
    link = "of" if what == "probability" else "towards"
    return StatedThresholds(f"{what} {link} {to_python(positive)!r}", float(lower), float(upper))


def _turned(score: Any, what: str) -> Any:
    """A probability, or score, of the second class as that of the first."""
    return (1.0 if what == "probability" else 0.0) - score


def band_reasons(
    scores: Floats, accepted: Flags, band: Band, classes: NDArray[Any], positive: Any, what: str
) -> list[str]:
    """Reasons of a rule with two thresholds on a "probability" or a "score" of the positive class."""
    stated, lower, upper = stated_band(band, classes, positive, what)
    name, centre = stated.removeprefix(f"{what} "), band.centre
    if positive == classes[0]:  # scores point towards the second class
        scores, centre = _turned(scores, what), _turned(centre, what)
    above, below = f"{name} is above {upper:.3g}", f"{name} is below {lower:.3g}"
    between = f"{name} lies between {lower:.3g} and {upper:.3g}"
    if np.isinf(lower) and np.isinf(upper):
        between = f"{name} is not sure enough, and no score would be"
    elif np.isinf(lower):
        between = f"{name} is not above {upper:.3g}"
    elif np.isinf(upper):
        between = f"{name} is not below {lower:.3g}"
    return [
        f"{what} {score:.3g} {(above if score > centre else below) if is_accepted else between}"
        for score, is_accepted in zip(scores.tolist(), accepted.tolist(), strict=True)
    ]


def stated_region(region: LowestProbability | LeastCost, costs: Costs) -> StatedThresholds:
    """The threshold of a rule for three or more classes."""
    if isinstance(region, LeastCost):
        least = region.least * costs.cheaper_error
        return StatedThresholds("expected saving over manual review", least, least)
    return StatedThresholds("highest probability", region.lowest, region.lowest)


def multiclass_reasons(
    evaluation: Evaluation, region: LowestProbability | LeastCost, classes: NDArray[Any], costs: Costs
) -> list[str]:
    """Reasons of the rules for three or more classes: the two answers it was between, and what confusing them costs."""
    matrix, best = costs.matrix(len(classes)), evaluation.two_best()
    if isinstance(region, LowestProbability):
        sure, unsure = f"probability above {region.lowest:.3g}", f"no probability above {region.lowest:.3g}"
        return two_best_reasons(best, evaluation.accepted, classes, matrix, sure, unsure)
    sure, unsure = "expected to cost less than a review", "a review is expected to cost less"
    return two_best_reasons(best, evaluation.accepted, classes, matrix, sure, unsure, evaluation.class_scores)


def detector_name(novelty: Any) -> str:
    """Class of an outlier detector, looked for inside a Pipeline or a FrozenEstimator."""
    if isinstance(novelty, Pipeline):
        return detector_name(novelty.steps[-1][1])
    if isinstance(novelty, FrozenEstimator):
        return detector_name(novelty.estimator)
    return type(novelty).__name__
