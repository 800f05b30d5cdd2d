"""The command that fits a method of a comparison alone, on the same table with the same options, ready to be run."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..costs import Costs
from ..parameters import unmistakable
from ..tables import TableFile
from ..tables.columns import RANGE
from .result import Comparison


def fit_command(result: Comparison, out: Path, data: TableFile | None) -> str:
    """How to fit the best of the models, which was not chosen.

    Parameters
    ----------
    result : Comparison
        A finished run.
    out : Path
        Its folder; the model goes beside the one that is there.
    data : TableFile or None
        The file of the table. Without one, or with prices of more than two outcomes, only the method can be named.
    """
    best = result.verdict.best_model
    if data is None or result.cases.several:
        return f"recuse fit with --method {best}"
    options = [*_of_file(data), *_of_table(result), *_of_prices(result.costs), *_of_model(result)]
    words = ["recuse", "fit", os.fspath(data.path), *(word for option in options for word in option)]
    return shlex.join([*words, "--method", best, "--out", os.fspath(out / f"{best}.skops")])


def _of_file(data: TableFile) -> Iterator[tuple[str, str]]:
    """How the file is read."""
    for name in ("table", "encoding", "separator", "decimal", "dates"):
        if (value := getattr(data, name)) is not None:
            yield f"--{name}", value
    if data.missing:
        yield "--missing", ",".join(data.missing)


def _of_table(result: Comparison) -> Iterator[tuple[str, str]]:
    """Which column is what; today's policy is among those left out."""
    arguments, cases = result.arguments, result.cases
    yield "--target", cases.target
    if cases.positive is not None:
        yield "--positive", str(cases.positive)
    if arguments.drop:
        yield "--drop", ",".join(arguments.drop)
    for name in ("groups", "time"):
        if (column := getattr(arguments, name)) is not None:
            yield f"--{name}", column


def _of_prices(costs: Costs) -> Iterator[tuple[str, str]]:
    prices: dict[str, Any] = costs.as_dict()
    negative, positive = prices["reject_negative"], prices["reject_positive"]
    yield "--fp", unmistakable(costs.fp)
    yield "--fn", unmistakable(costs.fn)
    yield "--reject", unmistakable(negative)
    if positive != negative:
        yield "--reject-positive", unmistakable(positive)


def _of_model(result: Comparison) -> Iterator[tuple[str, str]]:
    """What the fit itself is asked for, where it is not the default."""
    arguments = result.arguments
    if arguments.novelty != RANGE:
        yield "--novelty", arguments.novelty
    for name in ("promise", "confidence", "promise_groups"):
        if (value := getattr(arguments, name)) is not None:
            yield f"--{name.replace('_', '-')}", str(value)
    if arguments.seed:
        yield "--seed", str(arguments.seed)
