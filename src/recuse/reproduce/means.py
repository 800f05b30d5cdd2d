"""Means over data sets and repetitions (folds or partitions), paired differences, and the sign test over data sets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest

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
    return mean_over_sets(table[one][name] - table[other][name] for name in table[one])


def mean_over_sets(values: Iterable[Floats]) -> tuple[float, float]:
    """Mean over data sets of the means over repetitions, and its standard error, which speaks of these sets only."""
    sets = list(values)
    errors = [standard_error(repetitions) for repetitions in sets]
    mean = float(np.mean([repetitions.mean() for repetitions in sets]))
    return mean, float(np.sqrt(np.sum(np.square(errors))) / len(errors))


def sign_test(better: int, worse: int) -> float:
    """Two-sided p-value of the sign test: how often a fair coin is at least as far from half; ties do not take part."""
    n = better + worse
    return float(binomtest(better, n).pvalue) if n else 1.0


@dataclass(frozen=True)
class Tally:
    """On how many data sets a claim holds, fails, and neither (a tie)."""

    held: int
    failed: int
    tied: int = 0

    @property
    def total(self) -> int:
        """All data sets."""
        return self.held + self.failed + self.tied

    @property
    def p_value(self) -> float:
        """Sign test of the data sets on which the claim holds against those on which it fails."""
        return sign_test(self.held, self.failed)

    @staticmethod
    def of(differences: Iterable[float]) -> Tally:
        """Of differences to a rival, one per data set: below 0 the claim holds; rounding errors are ties."""
        values = np.array(list(differences))
        held, failed = int((values < -1e-12).sum()), int((values > 1e-12).sum())
        return Tally(held, failed, len(values) - held - failed)


def tally_lower(table: Table, one: str, other: str) -> Tally:
    """On how many data sets the mean of one method is below that of another."""
    return Tally.of(values.mean() - table[other][name].mean() for name, values in table[one].items())
