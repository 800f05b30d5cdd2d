"""Do probabilities mean what they say: the bins of each method that has them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..labels import to_python
from ..metrics import reliability_curve
from .inputs import ReportedComparison

_COLUMNS = ("predicted", "observed", "low", "high", "counts")


def reliability_section(comparison: ReportedComparison) -> dict[str, Any]:
    """How often cases of a probability are positive, by method; methods without probabilities are not there.

    With three classes or more: how often the class that would be answered is right, by its probability.
    """
    return {name: _bins(comparison, name) for name in comparison.answers if comparison.method(name).cuts_probabilities}


def _bins(comparison: ReportedComparison, name: str) -> dict[str, Any]:
    answers = comparison.answers[name]
    happened, scores = comparison.positive, answers.score[0]  # of the first repetition: each case once
    if comparison.cases.several:
        happened = answers.forced[0] == comparison.truth
        scores = scores[np.arange(len(scores)), answers.forced[0]]
    curve = reliability_curve(happened, scores)
    rows = zip(*curve[: len(_COLUMNS)], strict=True)
    return {
        "bins": [dict(zip(_COLUMNS, map(_jsonable, row), strict=True)) for row in rows],
        "error": curve.error,
    }


def _jsonable(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else to_python(value)
