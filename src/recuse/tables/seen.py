"""What a model remembers of the table it was fitted on: the values of categories, and digests of a few rows.

So a value that it never saw can be named, and a table of cases that it was fitted on can be recognised: what it costs
on these says little. The rows themselves cannot be read from their digests.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_CATEGORIES = 40  # different values of a column; more are text, of which new ones are expected
_ROWS = 256  # of which digests are kept
_SHOWN = 5
_MINUS_SIGNS = ("-", "\u2212")
_FEWEST, _LEAST_SHARE, _TIMES_CHANCE = 5, 0.05, 3.0  # found again, before a table is called known

Digests = NDArray[np.uint64]


def sampled_rows(n: int) -> Any:
    """Positions of the rows that are remembered: spread over the whole table."""
    return np.unique(np.linspace(0, n - 1, min(n, _ROWS)).astype(np.intp))


def row_digests(transformed: Any) -> Digests:
    """A digest of each row of a table as `TableColumns.transform` returns it."""
    import pandas as pd

    plain = {}
    for name in transformed.columns:
        column = transformed[name]
        is_date = pd.api.types.is_datetime64_any_dtype(column)  # in seconds: the unit depends on where it came from
        plain[name] = column.to_numpy(dtype="datetime64[s]").astype(np.int64) if is_date else column
    digests: Digests = pd.util.hash_pandas_object(pd.DataFrame(plain), index=False).to_numpy()
    return digests


def share_found(remembered: Digests, rows: Digests) -> float:
    """Share of the remembered rows that are in a table; 0 where no more are than would be by chance.

    By chance a row is found as often as rows of the table have a twin in it.
    """
    if len(remembered) == 0 or len(rows) == 0:
        return 0.0
    values, counts = np.unique(rows, return_counts=True)
    twins = float(counts[counts > 1].sum()) / len(rows)
    found = np.isin(remembered, values)
    share = float(found.mean())
    return share if found.sum() >= _FEWEST and share >= max(_LEAST_SHARE, _TIMES_CHANCE * twins) else 0.0


def categories_of(column: Any) -> list[str] | None:
    """The values of a column of text; None where there are too many to be categories."""
    values = column.dropna().unique()
    return sorted(map(str, values)) if len(values) <= MOST_CATEGORIES else None


class UnseenValues:
    """Values such as the training table never had, over all chunks of a table: other categories, and negative numbers.

    Parameters
    ----------
    known : dict of str to list of str
        The values of each column of categories.
    never_negative : list of str
        Columns of numbers none of which was below 0.
    """

    def __init__(self, known: dict[str, list[str]], never_negative: Sequence[str] = ()) -> None:
        self._known = {name: set(values) for name, values in known.items()}
        self._never_negative = list(never_negative)
        self._found: dict[str, tuple[int, int]] = {}  # what -> first row, number of cases

    def look_at(self, chunk: Any, done: int) -> None:
        """Look at the next rows of the table, as they are written, of which `done` come before."""
        for name, known in self._known.items():
            if name in chunk.columns:
                if known.issuperset(map(str, chunk[name].dropna().unique().tolist())):
                    continue
                values = chunk[name].reset_index(drop=True).dropna().map(str)
                for value in values.unique().tolist():
                    if value not in known:
                        self._add(f"{name} = {value!r}", values.index[(values == value).to_numpy()], done)
        for name in self._never_negative:
            if name in chunk.columns:
                below = _is_negative(chunk[name].reset_index(drop=True))
                if below.any():
                    self._add(f"{name} below 0", np.flatnonzero(below), done)

    def _add(self, what: str, rows: Any, done: int) -> None:
        first, count = self._found.get(what, (done + int(rows[0]) + 1, 0))
        self._found[what] = first, count + len(rows)

    def sentence(self, first: str = "the first in row") -> str | None:
        """What was found, each with the number of its first case; None for nothing."""
        if not self._found:
            return None
        shown = [
            f"{what} ({count:,} {'case' if count == 1 else 'cases'}, {first} {row:,})"
            for what, (row, count) in list(self._found.items())[:_SHOWN]
        ]
        more = f" and {len(self._found) - _SHOWN} more" if len(self._found) > _SHOWN else ""
        return (
            f"values that the training table never had: {', '.join(shown)}{more}: the model has learnt nothing about "
            "them. Check these values, and look at the cases."
        )


def _is_negative(column: Any) -> Any:
    """Which cells are negative numbers, also where numbers are text in some writing."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column):
        return (column < 0).fillna(False).to_numpy(dtype=bool)
    return column.map(lambda cell: str(cell).lstrip().startswith(_MINUS_SIGNS), na_action="ignore").eq(True).to_numpy()
