"""Do probabilities mean what they say: the bins of each method that has them."""

from __future__ import annotations

import math
from typing import Any

from ..labels import to_python
from ..metrics import reliability_curve
from .inputs import ReportedComparison
from .operating_points import CHOW, NEVER_REJECTS

_COLUMNS = ("predicted", "observed", "low", "high", "counts")


def reliability_section(comparison: ReportedComparison) -> dict[str, Any]:
    """How often cases of a probability are positive, by method; methods without probabilities are not there."""
    return {
        name: _bins(comparison, name)
        for name in comparison.answers
        if comparison.method(name).moves in (CHOW, NEVER_REJECTS)
    }


def _bins(comparison: ReportedComparison, name: str) -> dict[str, Any]:
    scores = comparison.answers[name].score[0]  # of the first repetition: each case once
    curve = reliability_curve(comparison.positive, scores)
    rows = zip(*curve[: len(_COLUMNS)], strict=True)
    return {
        "bins": [dict(zip(_COLUMNS, map(_jsonable, row), strict=True)) for row in rows],
        "error": curve.error,
    }


def _jsonable(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else to_python(value)
