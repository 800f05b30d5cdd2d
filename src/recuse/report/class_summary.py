"""What the page of three classes or more shows, beside what it shares with that of two."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..class_costs import ClassCosts
from .class_points import ClassPoint, class_points, count_class_answers, forced_class_points
from .inputs import ReportedAnswers, ReportedComparison

CLASSES = "classes"  # the kind of page


def shared_of_classes(comparison: ReportedComparison) -> dict[str, Any]:
    """What several sections share: prices, classes, number of cases, winner."""
    costs, cases = comparison.costs, comparison.cases
    matrix, n = costs.matrix(), len(cases.classes)
    return {
        "kind": CLASSES,
        "name": cases.name,
        "target": cases.target,
        "classes": [str(label) for label in cases.classes],
        "n_cases": len(cases.outcomes),
        "counts": np.bincount(comparison.truth, minlength=n).tolist(),
        "prices": {
            "errors": matrix[:-1, :-2].tolist(),
            "reject": matrix[:-1, -2].tolist(),
            "novel": matrix[:-1, -1].tolist(),
        },
        "constants": [constant.name for constant in comparison.constants],
        "reliability_axis": "share right",
        "winner": comparison.verdict.chosen,
        "novelties": any((answers.kind == 2).any() for answers in comparison.answers.values()),
    }


def methods_of_classes(comparison: ReportedComparison) -> list[dict[str, Any]]:
    """The methods with the points where each can stand."""
    costs = comparison.costs
    assert isinstance(costs, ClassCosts)
    found = []
    for row in comparison.rows:
        if row.name not in comparison.answers:
            continue
        answers, moves = comparison.answers[row.name], comparison.method(row.name).moves
        found.append(
            {
                "name": row.name,
                "title": row.title,
                "reference": row.reference,
                "moves": moves,
                "widen": comparison.widening(row.name),
                "repeats": len(answers.kind),
                "points": _sparse(class_points(answers, comparison.truth, moves, costs)),
                "forced": _sparse(forced_class_points(answers, comparison.truth, moves, costs)),
            }
        )
    return found


def _sparse(points: list[ClassPoint]) -> list[list[list[float]]]:
    """The cells that are not 0: number of the cell, row by row, and count."""
    found = []
    for point in points:
        cells = np.flatnonzero(point.matrix)
        found.append([cells.tolist(), point.matrix.ravel()[cells].tolist()])
    return found


def policy_matrix(comparison: ReportedComparison) -> list[list[float]]:
    """Today's answers by class."""
    assert comparison.today is not None
    n = len(comparison.cases.classes)
    return count_class_answers(comparison.today.columns, comparison.truth, n).tolist()


def guess_heads(comparison: ReportedComparison) -> list[str]:
    """Columns of the cases for manual review that say what they may be."""
    return ["Best guess", "Second best"] if comparison.cases.several else ["Best guess"]


def guesses(comparison: ReportedComparison, answers: ReportedAnswers, case: int) -> list[str]:
    """The class that a case would be given, and with three or more the one that competes."""
    classes = [str(label) for label in comparison.cases.classes]
    forced = int(answers.forced[0][case])
    if not comparison.cases.several:
        return [classes[forced]]
    scores = answers.score[0][case].copy()
    shown = [f"{classes[forced]} ({scores[forced]:.3g})"]
    scores[forced] = -np.inf
    second = int(scores.argmax())
    return [*shown, f"{classes[second]} ({scores[second]:.3g})"]
