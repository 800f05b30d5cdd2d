"""The section of segments: who costs how much, and who is served worse.

At the prices of the run the page shows the figures of the comparison. At other prices, or with another method, it
counts again: every operating point says how its answers are spread over the segments (`segment_counts`) and, for the
test of who is served worse, how often each case was answered how (`answer_kinds`): all that exchanging cases needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags
from ..labels import preview
from ..tables import Segmented
from .inputs import ReportedComparison

_ANSWERS = 4  # no, yes, ambiguous, novel


def segments_section(comparison: ReportedComparison, method: str) -> dict[str, Any] | None:
    """What the page shows of the segments of a method; None if none were asked for."""
    if not comparison.arguments.by:
        return None
    found = comparison.segments_by(method)
    return {
        "method": method,
        "rate": comparison.served_worse_rate,
        # Where cases belong together, the page cannot exchange them: it keeps the warnings of the run, and says so.
        "together": comparison.units is not None,
        "columns": {
            name: [_finite(segment.as_dict()) for segment in found if segment.column == name]
            for name in comparison.arguments.by
        },
        "warnings": [{"column": item.column, "text": item.sentence} for item in found if item.sentence],
        "today": _today(comparison),
    }


def _today(comparison: ReportedComparison) -> dict[str, list[int]] | None:
    """Answers of today's policy in each segment; with three classes or more these do not follow the prices."""
    if comparison.today is None or comparison.cases.several:
        return None
    columns, positive = comparison.today.columns, comparison.positive
    return {cut.column: segment_counts(columns, positive, cut) for cut in comparison.cut_columns}


def _finite(figures: dict[str, Any]) -> dict[str, Any]:
    return {name: None if value != value else value for name, value in figures.items()}


def segment_counts(columns: NDArray[Any], positive: Flags, segmented: Segmented) -> list[int]:
    """Answers in each segment, summed over the repetitions: of each the negative cases by answer, then the positive.

    Parameters
    ----------
    columns : ndarray of int of shape (repeats, n)
        Column of the price matrix of each answer.
    positive : ndarray of bool of shape (n,)
        Which cases are positive.
    segmented : Segmented
        The segment of each case.
    """
    cells = _ANSWERS * (2 * segmented.codes + positive) + columns
    found: list[int] = np.bincount(cells.ravel(), minlength=2 * _ANSWERS * len(segmented.labels)).tolist()
    return found


def answer_kinds(columns: NDArray[Any], positive: Flags) -> list[list[int]] | None:
    """How the repetitions answered the cases: outcome, how often no, yes, ambiguous and novel, and in how many cases.

    None with one repetition, where the counts say it.
    """
    if len(columns) == 1:
        return None
    often = [(columns == answer).sum(axis=0) for answer in range(_ANSWERS)]
    kinds, counts = np.unique(np.column_stack([positive, *often]), axis=0, return_counts=True)
    found: list[list[int]] = np.column_stack([kinds, counts]).tolist()
    return found


def point_segments(columns: NDArray[Any], positive: Flags, cut: Sequence[Segmented]) -> dict[str, Any]:
    """What the page needs of an operating point to show the segments of some columns."""
    counts = {column.column: segment_counts(columns, positive, column) for column in cut}
    return {"segments": counts, "kinds": answer_kinds(columns, positive)}


def select_segments(summary: dict[str, Any], by: list[str]) -> dict[str, Any]:
    """A summary with the segments of some columns only, in this order; refuse columns that the run has not kept."""
    kept = summary["segments"]
    known = list(kept["columns"]) if kept else []
    for name in by:
        if name not in known:
            held = preview(known) if known else "none"
            raise ValueError(
                f"by={name!r} is not among the segments of this run, which holds {held}: give the command of the run "
                f"again with --by {','.join([*known, name])}; finished folds are kept."
            )
    columns = {name: kept["columns"][name] for name in by}
    warnings = [item for item in kept["warnings"] if item["column"] in columns]
    return summary | {"segments": kept | {"columns": columns, "warnings": warnings}}
