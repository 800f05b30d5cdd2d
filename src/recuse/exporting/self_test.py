"""The self-test of an export: cases at the edges of a model, and what the model itself answers to them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from ..labels import to_python
from ..locating import decide, steps_before
from ..tables import TableColumns
from .program import DATE, NUMBER, REFUSED, TEXT, YES_NO, DecisionProgram, Expr, Grid, Ref, Steps

_MOST_CUTS = 6  # of one column
_MOST_LEVELS = 8
_BELOW_8 = float(np.nextafter(8.0, 0.0))  # where rounding to single precision is hardest: just below a power of two
_FAR = 1e300
_DECISIVE = ("novelty", REFUSED)
_EARLIEST, _LATEST = datetime(1700, 1, 1, tzinfo=UTC), datetime(2250, 1, 1, tzinfo=UTC)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class TestCase:
    """One case and what the model answers.

    Attributes
    ----------
    values : tuple
        Of the columns of the program: numbers, texts, ISO dates, or None.
    expected : tuple
        Answer, kind, h and r; the scores are None where the model refuses the case.
    """

    __test__ = False  # no test of pytest's

    values: tuple[Any, ...]
    expected: tuple[Any, str, float | None, float | None]


def draw_cases(estimator: Any, program: DecisionProgram, n: int = 160, seed: int = 0) -> list[TestCase]:
    """Cases that stand on the cuts and ranges of a program, with what the model says to each."""
    random = np.random.default_rng(seed)
    choices = [_choices(estimator, program, i) for i in range(len(program.columns))]
    typical = [values[0] for values in choices]
    alone = [(i, value) for i, values in enumerate(choices) for value in values[1:]]
    if len(alone) >= n:  # of a wide table some of the columns
        alone = [alone[number] for number in sorted(random.choice(len(alone), n - 1, replace=False))]
    alone.sort(key=lambda at: _may_be_refused(at[1]))
    rows = [tuple(typical), *((*typical[:i], value, *typical[i + 1 :]) for i, value in alone)]
    said_to = _answers(estimator, program, as_table(estimator, program, rows))
    usual = [[value] for value in typical]
    for (i, value), said in zip(alone, said_to[1:], strict=True):
        if said[1] not in _DECISIVE:  # a value that alone makes a novelty, or is refused, hides what the others do
            usual[i].append(value)
    mixed = [
        tuple(values[random.integers(len(values))] for values in usual) for _ in range(max(0, n + n // 2 - len(rows)))
    ]
    said_to += _answers(estimator, program, as_table(estimator, program, mixed)) if mixed else []
    return [TestCase(row, said) for row, said in zip(rows + mixed, said_to, strict=True)]


def _may_be_refused(value: Any) -> int:
    """An order that puts together what a model may refuse: halving then finds it in few batches."""
    if value is None:
        return 2
    return int(isinstance(value, float) and not abs(value) < _FAR)


def _choices(estimator: Any, program: DecisionProgram, i: int) -> list[Any]:
    """Values to try in a column; the first is the typical one."""
    column = program.columns[i]
    if column.kind == YES_NO:
        return [True, False, None]
    if column.kind == DATE:
        return _dates(*(_limits(estimator, column.name) or ()))
    known = list(column.levels[:_MOST_LEVELS])
    if column.kind == TEXT:
        return [*(known or ["a"]), None, "(not seen before)", *(["NA", " "] if column.nulls else [])]
    if known:
        return [*map(float, known), None, 1e6]
    return _numbers(program, i, _limits(estimator, column.name))


def _numbers(program: DecisionProgram, i: int, limits: tuple[float, float, float] | None) -> list[float | None]:
    """Numbers at the cuts and the ends of the range, just above them, and far away."""
    cuts = sorted({cut for expr in _walk(program) for cut in _cuts(expr, i)})
    some = [cuts[j] for j in np.unique(np.linspace(0, len(cuts) - 1, min(len(cuts), _MOST_CUTS)).astype(int))]
    edges = [] if limits is None else [limits[0], limits[1], limits[0] - limits[2], limits[1] + limits[2]]
    middle = [some[len(some) // 2]] if some else [sum(edges[:2]) / 2] if edges else [0.5]
    above = [float(np.nextafter(edge, math.inf)) for edge in (*some, *edges)]
    far = [math.inf, -math.inf, _FAR]
    return [*middle, *some, *edges, *above, 0.1, 1.0, -3.0, 16777217.0, _BELOW_8, None, *far]


def _dates(low: float = 18000.0, high: float = 19000.0, length: float = 3653.0) -> list[str | None]:
    """Dates inside the range, at the ends of months, and far outside."""
    days = [(low + high) / 2, low, high, high + length, high + length + 1, low - length - 1, 11016.0, 12053.99999]
    return [*(_iso(day) for day in days), "2024-12-31 23:59:59", "1969-12-31 23:00:00", None]


def _iso(day: float) -> str:
    at = min(max(_EPOCH + timedelta(seconds=round(day * 86400)), _EARLIEST), _LATEST)
    return at.strftime("%Y-%m-%d %H:%M:%S")


def _limits(estimator: Any, name: str) -> tuple[float, float, float] | None:
    steps = steps_before(estimator)
    found = steps[0].limits() if steps and isinstance(steps[0], TableColumns) else {}
    return found.get(name)


def _walk(program: DecisionProgram) -> Iterator[Expr]:
    waiting: list[Expr] = [let.value for let in program.lets]
    while waiting:
        expr = waiting.pop()
        yield expr
        waiting += expr.parts()


def _reads(x: Ref, i: int) -> bool:
    return x.name == f"c{i}"


def _cuts(expr: Expr, i: int) -> tuple[float, ...]:
    if isinstance(expr, Steps) and _reads(expr.x, i):
        return expr.cuts
    if isinstance(expr, Grid):
        return (*(expr.x_cuts if _reads(expr.x, i) else ()), *(expr.y_cuts if _reads(expr.y, i) else ()))
    return ()


def _answers(estimator: Any, program: DecisionProgram, table: Any) -> list[Any]:
    """What the model says to each case; those it refuses are found by halving, for one of them ends a whole batch."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numbers that are too large and unknown categories are meant
            said = decide(estimator, table, reasons=False)
    except (ValueError, TypeError, OverflowError):
        if len(table) == 1:
            return [(program.reject_label, REFUSED, None, None)]
        half = len(table) // 2
        return _answers(estimator, program, table[:half]) + _answers(estimator, program, table[half:])
    return [(to_python(case.label), str(case.kind), float(case.h), float(case.r)) for case in said]


def as_table(estimator: Any, program: DecisionProgram, rows: Sequence[tuple[Any, ...]]) -> Any:
    """Cases as the model takes them: a frame, or an array for one that was fitted to an array."""
    first = (steps_before(estimator) or [estimator])[0]
    if not hasattr(first, "feature_names_in_"):
        texts = any(column.kind == TEXT for column in program.columns)
        return np.array(rows, dtype=object if texts else np.float64)
    import pandas as pd

    columns = {}
    for column, values in zip(program.columns, zip(*rows, strict=True), strict=True):
        if column.kind == DATE:
            columns[column.name] = pd.Series(pd.to_datetime(list(values)))
        elif column.kind == NUMBER:
            columns[column.name] = pd.Series(list(values), dtype=np.float64)
        else:
            columns[column.name] = pd.Series(list(values))  # missing text is what pandas makes of it elsewhere
    return pd.DataFrame(columns)
