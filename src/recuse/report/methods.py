"""What the page needs to move a method to other prices: its operating points, and their answers in each segment."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

from .inputs import ReportedAnswers, ReportedComparison
from .operating_points import PAIR, TUNED, OperatingPoint, columns_at, forced_columns, forced_points, operating_points
from .segments import point_segments

_CUTS = {PAIR: "acceptance score", TUNED: "class score"}  # what thresholds cut that is no probability


def followed(comparison: ReportedComparison, name: str) -> dict[str, Any]:
    """How a method of a comparison follows the prices, and the points where it can stand."""
    answers, method = comparison.answers[name], comparison.method(name)
    moves = method.moves
    points = operating_points(answers, comparison.positive, moves, comparison.costs)
    forced = forced_points(answers, comparison.positive, moves, comparison.costs)
    told = [_as_lists(point) for point in points]
    if comparison.arguments.by:
        cut, positive = comparison.cut_columns, comparison.positive
        columns = (_columns_of(answers, position, point, moves) for position, point in enumerate(points))
        told = [one | point_segments(here, positive, cut) for one, here in zip(told, columns, strict=True)]
    return {
        "moves": moves,
        "cuts": _CUTS[moves] if not method.cuts_probabilities else "probability",
        "widen": comparison.widening(name),
        "repeats": len(answers.columns),
        "points": told,
        "forced": [_as_lists(point) for point in forced],
    }


def _as_lists(point: OperatingPoint) -> dict[str, Any]:
    return {"matrix": point.matrix.tolist(), "thresholds": written_thresholds(point.thresholds)}


def written_thresholds(thresholds: tuple[float, float] | None) -> list[float | str | None] | None:
    """Thresholds as the page has them: infinity is no number in JSON.

    None stands for a threshold that no score passes, "always" for one that every score passes: the answer no below a
    first threshold of infinity, the answer yes above a second one of minus infinity.
    """
    if thresholds is None:
        return None
    lower, upper = thresholds
    return [_written(lower, never=-math.inf), _written(upper, never=math.inf)]


def _written(threshold: float, never: float) -> float | str | None:
    return threshold if math.isfinite(threshold) else None if threshold == never else "always"


def _columns_of(answers: ReportedAnswers, position: int, point: OperatingPoint, moves: str) -> NDArray[Any]:
    """Answers of an operating point; the first is the method's own, whose thresholds may differ between the folds."""
    if point.forced:
        return forced_columns(answers)
    if position == 0 or point.thresholds is None:
        return answers.columns
    return columns_at(answers, point.thresholds, moves)
