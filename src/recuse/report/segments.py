"""The section of segments: who costs how much, and who is served worse."""

from __future__ import annotations

from typing import Any

from ..labels import preview
from .inputs import ReportedComparison


def segments_section(comparison: ReportedComparison, chosen: str) -> dict[str, Any] | None:
    """What the page shows of the segments; None if none were asked for."""
    if not comparison.arguments.by:
        return None
    found = comparison.segments
    return {
        "method": chosen,
        "rate": comparison.served_worse_rate,
        "columns": {
            name: [_finite(segment.as_dict()) for segment in found if segment.column == name]
            for name in comparison.arguments.by
        },
        "warnings": [{"column": item.column, "text": item.sentence} for item in found if item.sentence],
    }


def _finite(figures: dict[str, Any]) -> dict[str, Any]:
    return {name: None if value != value else value for name, value in figures.items()}


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
