"""Means over data sets and repetitions (folds or partitions), and paired differences between methods."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..arrays import Floats

# Method -> data set -> one value per repetition.
Table = dict[str, dict[str, Floats]]


def tabulate(values: Iterable[tuple[str, str, int, float]]) -> Table:
    """Values of (method, data set, repetition) as a table; several values of the same three are averaged."""
    cells: dict[str, dict[str, dict[int, list[float]]]] = {}
    for method, data, repetition, value in values:
        cells.setdefault(method, {}).setdefault(data, {}).setdefault(repetition, []).append(value)
    return {
        method: {data: np.array([np.mean(v) for v in repetitions.values()]) for data, repetitions in sets.items()}
        for method, sets in cells.items()
    }


def standard_error(values: Floats) -> float:
    """Standard error of the mean; NaN for a single value."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def paired_difference(table: Table, one: str, other: str) -> tuple[float, float]:
    """Mean difference one - other over data sets and repetitions, and its standard error."""
    differences = [table[one][name] - table[other][name] for name in table[one]]
    errors = [standard_error(values) for values in differences]
    mean = float(np.mean([values.mean() for values in differences]))
    return mean, float(np.sqrt(np.sum(np.square(errors))) / len(errors))
