"""Segments of a table: the values of a column, or bands of its numbers and dates, with at least a few cases each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Indices

LEAST_CASES = 20  # of a segment: fewer say nothing about a group
MOST_SEGMENTS = 30  # of a column
_BANDS = 5
_FEW_VALUES = 8  # numbers with no more different values are taken as they are
_MOST_RARE = 0.5  # share of the cases that may be in rarer values
EMPTY, RARE = "(empty)", "(rarer values)"


@dataclass(frozen=True, eq=False)
class Segmented:
    """A column cut into segments.

    Attributes
    ----------
    column : str
        Its name.
    labels : list of str
        Names of the segments: bands in rising order, values from the most frequent; then the rarer values and the
        empty cells.
    codes : ndarray of int of shape (n,)
        Position of each case's segment.
    """

    column: str
    labels: list[str]
    codes: Indices

    @property
    def of_cases(self) -> Any:
        """Name of each case's segment."""
        return np.array(self.labels, dtype=object)[self.codes]


def cut_into_segments(column: Any) -> Segmented:
    """Cut a column into segments of at least `LEAST_CASES` cases.

    Numbers and dates of more than a few different values are cut into five bands of about as many cases each; of
    other columns each value is a segment. Rarer values are put together, and so are empty cells.

    Parameters
    ----------
    column : Series
        A column of the table; its name occurs in messages.

    Examples
    --------
    >>> import pandas as pd
    >>> from recuse.tables.segmenting import cut_into_segments
    >>> town = pd.Series(["Ulm"] * 40 + ["Bonn"] * 30 + ["Hof"] * 12 + ["Suhl"] * 11, name="town")
    >>> cut_into_segments(town).labels
    ['Ulm', 'Bonn', '(rarer values)']
    """
    import pandas as pd

    types = pd.api.types
    numbers = types.is_numeric_dtype(column) and not types.is_bool_dtype(column)
    if numbers:
        column = pd.Series(column.to_numpy(dtype=np.float64, na_value=np.nan), name=column.name)
    banded = (numbers or types.is_datetime64_any_dtype(column)) and column.nunique() > _FEW_VALUES
    names = _bands(column) if banded else _values(column)
    return _pooled(str(column.name), names, in_order=banded or numbers, distinct=int(column.nunique()))


def _values(column: Any) -> Any:
    """Each case's value as a text; whole numbers without a decimal point."""
    import pandas as pd

    if column.dtype == np.float64:
        found = pd.Categorical(column)
        return found.rename_categories([f"{value:.12g}" for value in found.categories])
    texts = column.astype(object).where(column.notna(), None).map(lambda value: None if value is None else str(value))
    return pd.Categorical(texts, categories=list(texts.value_counts().index))


def _bands(column: Any) -> Any:
    """Bands of about as many cases each; a band is named by the smallest and the largest value in it."""
    import pandas as pd

    known = column.dropna()
    count = max(1, min(_BANDS, len(known) // LEAST_CASES))
    edges = known.quantile(np.arange(1, count) / count, interpolation="lower").unique()
    position = np.searchsorted(edges, known.to_numpy(dtype=edges.dtype), side="left")
    name = _day if pd.api.types.is_datetime64_any_dtype(column) else _number
    grouped = known.groupby(position)
    labels = [_between(name(low), name(high)) for low, high in zip(grouped.min(), grouped.max(), strict=True)]
    labels = _distinct(labels)
    codes = np.full(len(column), -1)
    codes[column.notna().to_numpy()] = np.unique(position, return_inverse=True)[1]
    return pd.Categorical.from_codes(codes, categories=labels, ordered=True)


def _distinct(labels: list[str]) -> list[str]:
    """Names that rounding made alike are told apart by their position."""
    return [label if labels.count(label) == 1 else f"{label} (band {k + 1})" for k, label in enumerate(labels)]


def _between(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def _number(value: Any) -> str:
    return f"{value:,.0f}" if abs(value) < 1e15 and value == int(value) else f"{value:.4g}"


def _day(value: Any) -> str:
    return str(value.date())


def _pooled(column: str, names: Any, in_order: bool, distinct: int) -> Segmented:
    """Put rare segments together; refuse a column that falls into nothing but rare ones."""
    counts = np.bincount(names.codes[names.codes >= 0], minlength=len(names.categories))
    order = range(len(counts)) if in_order else np.argsort(-counts, kind="stable")
    large = set(np.argsort(-counts, kind="stable")[:MOST_SEGMENTS].tolist())
    kept = [position for position in order if counts[position] >= LEAST_CASES and position in large]
    target = np.full(len(counts) + 1, len(kept))  # the last entry is for empty cells, whose code is -1
    target[kept] = np.arange(len(kept))
    target[-1] = len(kept) + 1
    codes = target[names.codes]
    labels = [*(str(names.categories[position]) for position in kept), RARE, EMPTY]
    sizes = np.bincount(codes, minlength=len(labels))
    if sizes[-1] < LEAST_CASES and sizes[-2] > 0:  # a few empty cells are no segment of their own
        codes[codes == len(kept) + 1] = len(kept)
        sizes[-2:] = sizes[-2:].sum(), 0
    used = np.flatnonzero(sizes)
    if len(used) < 2 or sizes[-2] > _MOST_RARE * len(codes):
        raise ValueError(_refusal(column, distinct, counts, len(codes)))
    found: Indices = np.searchsorted(used, codes).astype(np.intp)
    return Segmented(column, [labels[position] for position in used], found)


def _refusal(column: str, distinct: int, counts: Any, n_cases: int) -> str:
    largest = int(counts.max()) if len(counts) else 0
    held = f"{distinct:,} different values, the most frequent in {largest:,} of {n_cases:,} cases"
    return (
        f"by={column!r} does not fall into segments: it has {held}, and a segment needs {LEAST_CASES} cases of "
        "one value with at most half of all cases outside. Name a column whose values repeat, or one of numbers, "
        "which is cut into bands."
    )
