"""Writing a comparison to disk: the page alone, or the folder with everything."""

from __future__ import annotations

import json
import logging
import os
import warnings
from pathlib import Path
from typing import Any

from ..labels import to_python
from ..persistence import save, write_whole
from ..report import render, summarize
from ..tables import to_csv
from .folder import MODEL_FILE, REPORT_FILE, RUN_FILE, SEGMENTS_FILE, SUMMARY_FILE, read_json
from .result import Comparison

_logger = logging.getLogger("recuse.comparison")


def write_report(comparison: Comparison, path: str | os.PathLike[str]) -> None:
    """Write the report: one HTML file that needs nothing else.

    Parameters
    ----------
    comparison : Comparison
        A finished run. Its winner is fitted on all cases, to show what each column adds.
    path : path-like
        The file.

    Examples
    --------
    >>> import recuse
    >>> from recuse.comparison import write_report
    >>> result = recuse.compare("loans.csv", "default", positive="bad")  # doctest: +SKIP
    >>> write_report(result, "report.html")  # doctest: +SKIP
    """
    write_whole(path, render(summarize(comparison, comparison.model())).encode())


def write_run(comparison: Comparison, folder: str | os.PathLike[str]) -> None:
    """Write everything into a folder: leaderboard, decisions, model, run, summary and report.

    Parameters
    ----------
    comparison : Comparison
        A finished run.
    folder : path-like
        Where to write; it is created if it does not exist.

    Examples
    --------
    >>> import recuse
    >>> from recuse.comparison import write_run
    >>> result = recuse.compare("loans.csv", "default", positive="bad")  # doctest: +SKIP
    >>> write_run(result, "run")  # doctest: +SKIP
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "leaderboard.csv", to_csv(comparison.leaderboard))
    write_whole(folder / "decisions.csv", to_csv(comparison.decisions()))
    _write_segments(comparison, folder / SEGMENTS_FILE)
    model = comparison.model()
    _save_model(model, folder / MODEL_FILE)
    summary = summarize(comparison, model)
    write_whole(folder / SUMMARY_FILE, json.dumps(summary, allow_nan=False).encode())
    write_whole(folder / REPORT_FILE, render(summary).encode())
    write_whole(folder / RUN_FILE, (json.dumps(_run_facts(comparison), indent=2, default=str) + "\n").encode())


def _write_segments(comparison: Comparison, path: Path) -> None:
    """Write the figures of the segments; without segments, none of an earlier run stay."""
    import pandas as pd

    if comparison.arguments.by:
        write_whole(path, to_csv(pd.DataFrame([segment.as_dict() for segment in comparison.segments])))
    else:
        path.unlink(missing_ok=True)


def _save_model(model: Any, path: Path) -> None:
    """Save a model, unless it holds classes of the user's own, which a model file can hold only if they are trusted."""
    try:
        save(model, path)
    except ValueError as error:
        path.unlink(missing_ok=True)  # the model of an earlier run
        warnings.warn(f"{path.name} was not written: {error}", UserWarning, stacklevel=4)


def tell_of_replaced(comparison: Comparison, folder: Path | None) -> None:
    """Say before the work that a finished run of the same table with other settings is replaced, and which these are.

    A run that goes on with further methods, as after a time limit, replaces nothing that it does not hold itself.
    """
    if folder is None or not (folder / RUN_FILE).is_file():
        return
    before, now = (
        read_json(folder / RUN_FILE).get("arguments"),
        json.loads(json.dumps(_arguments(comparison), default=str)),
    )
    if not isinstance(before, dict):
        return
    other = [name for name, value in now.items() if before.get(name) != value and name != "methods"]
    if not set(before.get("methods", [])) <= set(now["methods"]):
        other.append("methods")
    if other:
        _logger.warning(
            "%s holds a finished run with other settings (%s): its report and its model are replaced at the end of "
            "this one. To keep them, give another folder with --out (in Python, out=).",
            os.fspath(folder), ", ".join(name.replace("_", "-") for name in other),
        )  # fmt: skip


def _arguments(comparison: Comparison) -> dict[str, Any]:
    """How a run was asked for."""
    return {
        **comparison.arguments.as_dict(),
        "methods": [method.name for method in comparison.methods],
        "costs": comparison.costs.as_dict(),
    }


def _run_facts(comparison: Comparison) -> dict[str, Any]:
    """What is needed to repeat the run, and to recognise its data."""
    cases = comparison.table or comparison.cases
    return {
        "arguments": _arguments(comparison),
        "repetitions": comparison.repetitions.as_dict(),
        "winner": comparison.winner.name,
        "versions": comparison.versions,
        "data": {
            "name": cases.name,
            "fingerprint": comparison.fingerprint,
            "table": comparison.source,
            "rows": len(cases.outcomes),
            "answered": len(comparison.cases.outcomes),
            "columns": list(cases.features.columns),
            "target": cases.target,
            "classes": [to_python(label) for label in cases.classes],
            "positive": to_python(cases.positive),  # null with three classes or more
        },
    }
