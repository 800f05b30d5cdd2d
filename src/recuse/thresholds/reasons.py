"""One sentence for each case: the score and the threshold it was compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from ..labels import plain
from .rules import Band

Floats = NDArray[np.float64]


def band_reasons(scores: Floats, accepted: NDArray[np.bool_], band: Band, positive: Any, what: str) -> list[str]:
    """Reasons of a rule with two thresholds, on a "probability" or a "score"."""
    lower, upper = band.lower, band.upper
    if what == "probability":  # thresholds beyond every probability are not worth showing
        lower, upper = max(lower, 0.0), min(upper, 1.0)
    link = "of" if what == "probability" else "towards"
    name = f"{link} {plain(positive)!r}"
    above, below = f"{name} is above {upper:.3g}", f"{name} is below {lower:.3g}"
    between = f"{name} lies between {lower:.3g} and {upper:.3g}"
    return [
        f"{what} {score:.3g} {(above if score > band.centre else below) if is_accepted else between}"
        for score, is_accepted in zip(scores.tolist(), accepted.tolist(), strict=True)
    ]


def multiclass_reasons(scores: Floats, accepted: NDArray[np.bool_], classes: NDArray[Any], bar: float) -> list[str]:
    """Reasons of the rule for three or more classes."""
    names = [repr(plain(label)) for label in classes]
    return [
        f"highest probability {highest:.3g}, of {names[best]}, is {'above' if is_accepted else 'not above'} {bar:.3g}"
        for highest, best, is_accepted in zip(
            scores.max(axis=1).tolist(), scores.argmax(axis=1).tolist(), accepted.tolist(), strict=True
        )
    ]


def detector_name(novelty: Any) -> str:
    """Class of an outlier detector, looked for inside a Pipeline or a FrozenEstimator."""
    if isinstance(novelty, Pipeline):
        return detector_name(novelty.steps[-1][1])
    if isinstance(novelty, FrozenEstimator):
        return detector_name(novelty.estimator)
    return type(novelty).__name__
