"""The result of a comparison on the terminal, or as JSON for another program."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from ..class_costs import ClassCosts
from ..costs import Costs
from ..ensemble import EnsembleRejectClassifier
from ..guarantees import Guarantee
from ..guarantees.record import rejects_everything
from ..report.html import as_count
from ..tables import TableFile
from .class_printing import CLASS_ERRORS, class_error_cells, class_lines, errors_of, outcome_facts, shown_rows
from .class_rows import ClassCounts
from .fit_commands import fit_command
from .folder import MODEL_FILE, REPORT_FILE, RESULTS, SUMMARY_FILE
from .leaderboard import AnyCounts, Counts, Interval, Row
from .result import Comparison

_PAID = ("method", "cost", "95% interval", "above the cheapest", "answers", "right")
_ERRORS = ("misses", "recall", "false alarms")
_REST = ("ambiguous", "novel", "fit s", "answer s")


def print_leaderboard(result: Comparison, out: Path | None = None, data: TableFile | None = None) -> None:
    """Print the leaderboard, the verdict, and where the report is; `data` is the file of the table."""
    columns = [*_PAID, *(CLASS_ERRORS if result.cases.several else _ERRORS), *_REST]
    shown = shown_rows(result)
    rows = [columns, *(_cells(row, len(columns)) for row in shown), _choice_cells(result, len(columns))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(columns))]
    for name, *figures in rows:
        print(f"{name:<{widths[0]}}", *(f"{text:>{width}}" for text, width in zip(figures, widths[1:], strict=True)))
    if any(row.counts is not None and row.counts.few for row in result.rows):
        print("* fewer than ten errors of this kind: a few cases more or less would change the row")
    if result.n_repeats > 1:
        print("counts are means over the repetitions, rounded")
    if result.cases.several and result.verdict.model_chosen:
        print(*class_lines(result), sep="\n")
    for row in result.rows:
        if row.error or row.note:
            print(f"{row.name}: {f'failed: {row.error}' if row.error else row.note}")
    print(result.how_often_repeated)
    if result.how_folds_were_made is not None:
        print(result.how_folds_were_made)
    print()
    for sentence in result.conclusions.values():
        print(sentence)
    for sentence in filter(None, (segment.sentence for segment in result.segments)):
        print(f"Served worse: {sentence}")
    promise = _promise_in(out)
    if promise is not None and promise["holds"]:
        print(f"Promise: {promise['words']}")
    if out is not None:
        print(f"Report: {out / REPORT_FILE}")
        others = [name for name in RESULTS if name != REPORT_FILE and (out / name).is_file()]
        print(f"Also in {out}: {', '.join(others)}")
        if not result.verdict.model_chosen and MODEL_FILE in others:
            print(
                f"{MODEL_FILE} gives every case the same answer, {result.choice.title!r}, and knows no order among "
                f"them; a model that does, though it may not pay: {fit_command(result, out, data)}"
            )
    if promise is not None and not promise["holds"]:  # the last line, for nobody may miss it
        print(promise["then"])


def _promise_in(out: Path | None) -> dict[str, Any] | None:
    """What is promised of the model in the folder of a run, as its summary says it; None where nothing was to be."""
    if out is None:
        return None
    found: dict[str, Any] | None = json.loads((out / SUMMARY_FILE).read_bytes()).get("promise")
    return found


def fitted_sentences(model: Any) -> list[str]:
    """What to say of a fitted model: what it promises; of the ensemble, what it costs and who its members are."""
    last = model[-1]
    guarantee = getattr(last, "guarantee_", None)
    promised = [] if guarantee is None else [_promise_sentence(guarantee, "The model")]
    return [*_ensemble_sentences(getattr(last, "classifier_", last)), *promised]


def _promise_sentence(guarantee: Guarantee, what: str) -> str:
    """What is promised of a model; of one that promises nothing, what it does."""
    return str(guarantee) if guarantee.holds else rejects_everything(guarantee, what)


def _ensemble_sentences(classifier: Any) -> list[str]:
    """What the ensemble costs on held-out cases, and who its members are."""
    if not isinstance(classifier, EnsembleRejectClassifier):
        return []
    members = ", ".join(f"{title} {share:.0%}" for title, share in classifier.shares_.items())
    unused = [name for name, weight in classifier.weights_.items() if weight == 0]
    missing = [f"{name} is left out: {why}." for name, why in classifier.left_out_.items()]
    return [
        f"On cases that its parts had not seen it costs {classifier.held_out_costs_['blend']:.4g} +- "
        f"{classifier.held_out_error_:.2g} (one standard error) per case and answers "
        f"{classifier.held_out_coverage_:.1%} of them, at {_in_words(classifier.costs_)}; one answer for every case "
        f"would cost {classifier.constant_cost_:.4g} or more. `recuse compare` judges it beside other methods.",
        f"Members, by weight: {members}." + (f" Fitted, but of no use here: {', '.join(unused)}." if unused else ""),
        *missing,
    ]


def _in_words(costs: Costs) -> str:
    return f"the prices of {costs.n_classes} outcomes" if isinstance(costs, ClassCosts) else repr(costs)


def _cells(row: Row, width: int) -> list[str]:
    if row.cost is None or row.counts is None:
        return [row.name, "failed" if row.error else "left out", *[""] * (width - 2)]
    difference, counts = row.difference or Interval(math.nan, math.nan, math.nan), row.counts
    n = counts.answered + counts.rejected
    return [
        row.name,
        *_cost_cells(row.cost),
        "" if difference.value == 0 else f"{difference.value:.4f} [{difference.low:.4f}, {difference.high:.4f}]",
        _share(counts.answered, row.coverage),
        _share(counts.right, row.accuracy),
        *_error_cells(counts),
        _share(row.ambiguity * n, row.ambiguity),
        _share(row.novelty * n, row.novelty),
        f"{row.fit_seconds:.2f}",
        f"{row.predict_seconds:.2f}",
    ]


def _error_cells(counts: AnyCounts) -> list[str]:
    if isinstance(counts, ClassCounts):
        return class_error_cells(counts)
    assert isinstance(counts, Counts)
    return [
        errors_of(counts.misses, counts.positives),
        _percent(counts.recall),
        errors_of(counts.false_alarms, counts.negatives),
    ]


def _choice_cells(result: Comparison, width: int) -> list[str]:
    """The method chosen once more, with its cost corrected for the choice."""
    assert result.choice.cost is not None
    return [
        f"chosen: {result.choice.name}",
        *_cost_cells(result.choice.cost),
        "corrected for the choice" if result.verdict.model_chosen else "the same for every case",
        *[""] * (width - 4),
    ]


def _cost_cells(cost: Interval) -> list[str]:
    return [f"{cost.value:.4f}", f"{cost.low:.4f} - {cost.high:.4f}"]


def _share(count: float, share: float) -> str:
    return f"{as_count(count)} ({_percent(share)})"


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{share:.1%}"


def leaderboard_json(result: Comparison, out: Path | None = None) -> str:
    """One JSON object: what was concluded, the rows, and the folder written to."""
    rows = [_row_facts(row) for row in result.rows]
    verdict = result.verdict
    facts = {
        "verdict": " ".join(result.conclusions.values()),
        "conclusions": result.conclusions,
        "winner": verdict.chosen,
        "cost": list(verdict.cost),
        "answering": {"pays": verdict.answering.pays, "saved": list(verdict.answering.saved)},
        "rejecting": {"pays": verdict.rejecting.pays, "saved": list(verdict.rejecting.saved)},
        "constant": {"kept": not verdict.model_chosen, "saved": list(verdict.constant.saved)},
        "signal": {"found": verdict.found_signal, "saved": list(verdict.signal.saved)},
        "repetitions": result.repetitions.as_dict(),
        "choice": _row_facts(result.choice),
        "segments": [_finite_facts(segment.as_dict()) for segment in result.segments],
        "leaderboard": rows,
        **outcome_facts(result),
    }
    return json.dumps(facts | {"promise": _promise_in(out), "out": None if out is None else str(out)})


def _row_facts(row: Row) -> dict[str, Any]:
    return _finite_facts(row.as_dict())


def _finite_facts(facts: dict[str, Any]) -> dict[str, Any]:
    return {key: _jsonable(value) for key, value in facts.items()}


def _jsonable(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
