"""The result of a comparison on the terminal, or as JSON for another program."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from .folder import REPORT_FILE, RESULTS
from .leaderboard import Interval, Row
from .result import Comparison


def print_leaderboard(result: Comparison, out: Path | None = None) -> None:
    """Print the leaderboard, the verdict, and where the report is."""
    header = [
        "method",
        "cost",
        "95% interval",
        "above the cheapest",
        "answers",
        "right",
        "misses",
        "false alarms",
        "ambiguous",
        "novel",
        "fit s",
        "answer s",
    ]
    rows = [header, *(_cells(row) for row in result.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    for name, *figures in rows:
        print(f"{name:<{widths[0]}}", *(f"{text:>{width}}" for text, width in zip(figures, widths[1:], strict=True)))
    for row in result.rows:
        if row.error or row.note:
            print(f"{row.name}: {f'failed: {row.error}' if row.error else row.note}")
    if result.how_folds_were_made is not None:
        print(result.how_folds_were_made)
    print()
    for sentence in result.conclusions.values():
        print(sentence)
    if out is not None:
        print(f"Report: {out / REPORT_FILE}")
        others = [name for name in RESULTS if name != REPORT_FILE and (out / name).is_file()]
        print(f"Also in {out}: {', '.join(others)}")


def _cells(row: Row) -> list[str]:
    if row.cost is None:
        return [row.name, "failed" if row.error else "left out", *[""] * 10]
    difference = row.difference or Interval(math.nan, math.nan, math.nan)
    return [
        row.name,
        f"{row.cost.value:.4f}",
        f"{row.cost.low:.4f} - {row.cost.high:.4f}",
        "" if difference.value == 0 else f"{difference.value:.4f} [{difference.low:.4f}, {difference.high:.4f}]",
        f"{row.coverage:.1%}",
        "-" if math.isnan(row.accuracy) else f"{row.accuracy:.1%}",
        *_errors(row),
        f"{row.ambiguity:.1%}",
        f"{row.novelty:.1%}",
        f"{row.fit_seconds:.2f}",
        f"{row.predict_seconds:.2f}",
    ]


def _errors(row: Row) -> list[str]:
    """Misses and false alarms, each of the number of cases in which it could have happened."""
    if row.counts is None:
        return ["", ""]
    counts = row.counts
    pairs = ((counts.misses, counts.positives), (counts.false_alarms, counts.negatives))
    return [f"{errors.value:.3g} of {cases:.4g}" for errors, cases in pairs]


def leaderboard_json(result: Comparison, out: Path | None = None) -> str:
    """One JSON object: what was concluded, the rows, and the folder written to."""
    rows = [{key: _jsonable(value) for key, value in row.as_dict().items()} for row in result.rows]
    verdict = result.verdict
    facts = {
        "verdict": " ".join(result.conclusions.values()),
        "conclusions": result.conclusions,
        "winner": verdict.chosen,
        "cost": list(verdict.cost),
        "answering": {"pays": verdict.answering.pays, "saved": list(verdict.answering.saved)},
        "rejecting": {"pays": verdict.rejecting.pays, "saved": list(verdict.rejecting.saved)},
        "leaderboard": rows,
        "positive": {
            "outcome": result.cases.positive,
            "cases": int(result.positive.sum()),
            "of": len(result.positive),
        },
    }
    return json.dumps(facts | {"out": None if out is None else str(out)})


def _jsonable(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
