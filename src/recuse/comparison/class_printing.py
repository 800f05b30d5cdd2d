"""Three classes or more on the terminal and in JSON: errors of all kinds together, and each class of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..arrays import Floats
from ..report.html import as_count
from .class_rows import ClassCounts
from .intervals import Interval
from .leaderboard import Row, too_few
from .result import Comparison

CLASS_ERRORS = ("wrong",)


def shown_rows(result: Comparison) -> list[Row]:
    """The rows to print: with three classes or more, of the answers that are the same for every case the cheapest."""
    if not result.cases.several:
        return result.rows
    answers = {constant.name for constant in result.constants[1:]}
    kept = next(row.name for row in result.rows if row.name in answers)
    return [row for row in result.rows if row.name not in answers - {kept, result.verdict.chosen}]


def errors_of(errors: Interval, cases: float) -> str:
    """Errors of the number of cases in which they could have happened; behind a zero, what it allows for."""
    mark = "*" if too_few(errors) else ""
    bound = f" (up to {errors.high:.1f})" if errors.value == 0 and errors.high > 0 else ""
    return f"{as_count(errors.value)}{mark} of {as_count(cases)}{bound}"


def class_error_cells(counts: ClassCounts) -> list[str]:
    """The wrong answers of a method."""
    return [errors_of(counts.errors, counts.answered)]


def class_lines(result: Comparison) -> Iterator[str]:
    """What the method chosen does with the cases of each class, and which of its errors cost most."""
    counts = result.winner.counts
    assert isinstance(counts, ClassCounts)
    yield f"{result.winner.title}, by true class:"
    names = [str(label) for label in result.cases.classes]
    width = max(map(len, names))
    for name, row, right in zip(names, counts.matrix, np.diag(counts.matrix), strict=True):
        answered = row[:-2].sum()
        wrong = f", {(answered - right) / answered:.1%} of these wrong" if answered else ""
        yield f"  {name:<{width}}  {as_count(row.sum())} cases, {answered / row.sum():.1%} answered{wrong}"
    dearest = dearest_confusion(result, counts.matrix)
    if dearest is not None:
        yield f"its errors that cost most: {dearest}"


def dearest_confusion(result: Comparison, matrix: Floats) -> str | None:
    """The error that costs most in all; None without errors."""
    paid = matrix[:, :-2] * result.costs.matrix(result.n_classes)[:-1, :-2]
    if not paid.any():
        return None
    truth, answer = np.unravel_index(int(paid.argmax()), paid.shape)
    classes = result.cases.classes
    return (
        f"{classes[answer]!r} in place of {classes[truth]!r}, {as_count(matrix[truth, answer])} times, "
        f"{paid[truth, answer] / paid.sum():.0%} of what errors cost"
    )


def outcome_facts(result: Comparison) -> dict[str, Any]:
    """Which outcomes there are, for JSON."""
    if not result.cases.several:
        positive = result.positive
        outcome = {"outcome": result.cases.positive, "cases": int(positive.sum()), "of": len(positive)}
        return {"positive": outcome}
    counts = np.bincount(result.truth).tolist()
    found = result.winner.counts
    assert isinstance(found, ClassCounts)
    return {
        "outcomes": [
            {"outcome": label, "cases": count} for label, count in zip(result.cases.classes, counts, strict=True)
        ],
        "matrix": found.matrix.tolist(),
    }
