"""The table of a comparison: read, checked, and what there is to say about it before anything is fitted."""

from __future__ import annotations

import logging
import shlex
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..extras import require
from ..tables import (
    Cases,
    TableFile,
    as_frame,
    check_cases,
    is_table_file,
    positive_hints,
    read_with_writings,
    table_hints,
    with_outcomes,
)
from ..tables.outcomes import other_way
from .prices import DEFAULT_COSTS as DEFAULT_COSTS
from .prices import RunPrices

LEAST_CASES = 6  # of each class: three inner folds of the smallest training part
_logger = logging.getLogger("recuse.comparison")


def check_folding(groups: Any, time: Any) -> None:
    """Refuse what cannot say how to split a table."""
    if time is not None and not isinstance(time, str):
        raise TypeError(f"time must be the name of a column; got {type(time).__name__}.")
    if groups is not None and time is not None:
        raise ValueError(
            "groups and time do not go together: a group with cases before and after a point in time would be on both "
            "sides of it. Give one of the two: time if models will answer people they know, groups if new ones."
        )


def as_names(drop: Iterable[str] | None) -> list[str]:
    """Names of columns, of which one may stand alone."""
    return [drop] if isinstance(drop, str) else [str(name) for name in drop or ()]


class LoadedTable(NamedTuple):
    """A table, the name of its outcome column, and its own name in messages."""

    frame: Any
    target: str
    name: str
    positive: Any = None  # known of the table that comes with scikit-learn only
    writings: Mapping[str, str] = MappingProxyType({})  # of its columns, where they are not written plainly


def load_table(data: Any, target: Any) -> LoadedTable:
    """Read a table: a frame or an array, a file, or scikit-learn's breast-cancer table when none is given."""
    if data is None:
        return _breast_cancer(target)
    if target is None:
        raise ValueError("target is missing: name the column to predict, or give the outcome of each case.")
    frame, name = data, "table"
    writings: dict[str, str] = {}
    if is_table_file(data):
        (frame, writings), name = read_with_writings(data), TableFile.of(data).name
    if isinstance(target, str):
        return LoadedTable(as_frame(frame), target, name, writings=writings)
    return LoadedTable(*with_outcomes(frame, target), name, writings=writings)


def _breast_cancer(target: Any) -> LoadedTable:
    from ..datasets import load

    if not isinstance(target, str | None):
        raise ValueError("data is missing: give the table of cases to which these outcomes belong.")
    bunch = load("breast_cancer", as_frame=True)
    frame = bunch.data.assign(diagnosis=np.where(bunch.target == 1, "benign", "malignant"))
    return LoadedTable(frame, target or "diagnosis", "breast cancer (scikit-learn)", "malignant")


def load_cases(
    table: LoadedTable,
    positive: Any = None,
    *,
    drop: Iterable[str] = (),
    groups: Any = None,
    time: str | None = None,
    beside: Iterable[str] = (),
    least: int = LEAST_CASES,
    prices: RunPrices | None = None,
) -> Cases:
    """Check a table and split it into features and outcomes; say how the outcomes are taken.

    What does not go with the prices is refused before anything is said. Warns of a positive outcome that was guessed,
    and of what would make a comparison look better than it is: identifiers, people in several rows, copies of rows.
    """
    positive = table.positive if positive is None else positive
    cases = check_cases(
        table.frame,
        table.target,
        positive,
        drop=drop,
        groups=groups,
        time=time,
        beside=beside,
        name=table.name,
        least=least,
        several=prices is None or prices.several is not None,
    )
    cases = replace(cases, writings=dict(table.writings))
    costs = None if prices is None else prices.settled(cases)
    _logger.info("%s: %s%s.", table.name, cases.outcome_sentence, _otherwise(cases, positive))
    if prices is not None and costs is not None:
        prices.say(cases, costs)
    guessed = positive is None and not cases.several
    for hint in (positive_hints(cases) if guessed else []) + table_hints(cases):
        warnings.warn(f"{table.name}: {hint}.", UserWarning, stacklevel=3)
    return cases


def _otherwise(cases: Cases, positive: Any) -> str:
    """How the outcomes could be taken otherwise; nothing where somebody has said how."""
    if positive is not None:
        return ""
    if cases.several:
        return f"; {other_way(cases.classes[0])}"
    return f"; --positive {shlex.quote(str(cases.classes[0]))} would exchange the two prices"


def require_packages(needed_by: str, writes: bool = False) -> None:
    """Refuse to begin what cannot be finished: pandas and skrub prepare every table, the others write the report."""
    for package in ("pandas", "skrub", *(("jinja2", "vl_convert") if writes else ())):
        require(package, needed_by)
