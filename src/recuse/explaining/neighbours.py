"""The training cases nearest to a case, of either class.

Columns of numbers and dates are compared in standard deviations of the training cases, and a category counts as 1 where
it differs from that of the other case; so does a value that is missing in one of the two. The distance is the square
root of the sum of squares over the columns, divided by their number: 1 is about what two cases differ by in a column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Indices
from ..labels import is_missing, to_python

_CELLS = 4_000_000  # distances worked out at once
_DAY = 86_400e6  # microseconds
_FARTHEST = 10.0  # standard deviations: one wild value must not hide what is alike in all other columns


class Nearest(NamedTuple):
    """The nearest training cases of one class.

    Attributes
    ----------
    cases : ndarray of shape (n, k)
        What identifies them.
    distances : ndarray of shape (n, k)
        How far they are; infinite where a class has fewer than k cases.
    """

    cases: NDArray[Any]
    distances: Floats


@dataclass(frozen=True, eq=False)
class RememberedCases:
    """Training cases in a compact form.

    Attributes
    ----------
    columns : list of str
        Names, or positions as text.
    numeric : ndarray of bool
        Which columns hold numbers or dates.
    mean, spread : ndarray of float
        Of each column of numbers.
    numbers : ndarray of float32 of shape (n, n_numbers)
        In standard deviations; NaN where one is missing.
    levels : list of ndarray of str
        Categories of each other column.
    codes : ndarray of int32 of shape (n, n_categories)
        Number of the category, -1 where it is missing.
    outcome : ndarray of int
        Number of the class.
    identity : ndarray
        What identifies each case.
    """

    columns: list[str]
    numeric: Flags
    mean: Floats
    spread: Floats
    numbers: NDArray[np.float32]
    levels: list[NDArray[Any]]
    codes: NDArray[np.int32]
    outcome: Indices
    identity: NDArray[Any]

    @classmethod
    def of(cls, X: Any, outcome: Indices, identity: NDArray[Any]) -> RememberedCases:
        """Cases of a frame or an array."""
        columns = _columns_of(X)
        numeric = np.array([_is_number(values) for values in columns.values()], dtype=bool)
        parts = list(columns.values())
        figures = [_to_floats(values) for values, is_in in zip(parts, numeric, strict=True) if is_in]
        texts = [_to_text(values) for values, is_in in zip(parts, numeric, strict=True) if not is_in]
        matrix = np.column_stack(figures) if figures else np.empty((len(outcome), 0))
        known = ~np.isnan(matrix)
        count = np.maximum(known.sum(axis=0), 1)
        mean = np.where(known, matrix, 0.0).sum(axis=0) / count
        spread = np.sqrt(np.where(known, (matrix - mean) ** 2, 0.0).sum(axis=0) / count)
        spread = np.where(spread > 1e-12 * (1 + np.abs(mean)), spread, 1.0)
        levels = [np.array(sorted(set(text.tolist()) - {""}), dtype=str) for text in texts]
        return cls(
            list(columns),
            numeric,
            mean,
            spread,
            _standardised(matrix, mean, spread),
            levels,
            _coded(texts, levels, len(outcome)),
            np.asarray(outcome),
            identity,
        )

    def nearest(self, X: Any, k: int) -> list[Nearest]:
        """The k nearest cases of each class, the nearest first."""
        numbers, codes = self._prepared(X)
        found = []
        for code in range(int(self.outcome.max()) + 1):
            members = np.flatnonzero(self.outcome == code)
            best = [
                self._nearest_among(members, numbers[rows], codes[rows], k)
                for rows in _blocks(len(numbers), len(members))
            ]
            cases, distances = (np.concatenate(part) for part in zip(*best, strict=True))
            found.append(Nearest(self.identity[cases], distances))
        return found

    def _prepared(self, X: Any) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        given = _columns_of(X)
        lacking = [name for name in self.columns if name not in given]
        if lacking:
            raise ValueError(f"The table lacks the column {lacking[0]!r} that the remembered cases have.")
        parts = [given[name] for name in self.columns]
        n = len(parts[0])
        figures = [_to_floats(values) for values, is_in in zip(parts, self.numeric, strict=True) if is_in]
        texts = [_to_text(values) for values, is_in in zip(parts, self.numeric, strict=True) if not is_in]
        matrix = np.column_stack(figures) if figures else np.empty((n, 0))
        return _standardised(matrix, self.mean, self.spread), _coded(texts, self.levels, n)

    def _nearest_among(
        self, members: Indices, numbers: NDArray[np.float32], codes: NDArray[np.int32], k: int
    ) -> tuple[Indices, Floats]:
        """Positions and distances of the k nearest of these members; the first again where there are fewer."""
        squares = np.zeros((len(numbers), len(members)))
        for column, other in zip(numbers.T, self.numbers[members].T, strict=True):
            difference = np.clip(column[:, None] - other, -_FARTHEST, _FARTHEST)
            one, both = np.isnan(column)[:, None] ^ np.isnan(other), np.isnan(column)[:, None] & np.isnan(other)
            squares += np.where(one, 1.0, np.where(both, 0.0, difference**2))
        for column, other in zip(codes.T, self.codes[members].T, strict=True):
            squares += column[:, None] != other
        taken = min(k, len(members))
        rows = np.arange(len(numbers))[:, None]
        part = np.argpartition(squares, taken - 1, axis=1)[:, :taken]
        # Equal distances in the order of the cases: nothing else would be the same on every processor.
        order = np.lexsort((part, squares[rows, part]), axis=1)
        part = part[rows, order]
        distances = np.sqrt(squares[rows, part] / max(len(self.columns), 1))
        positions = members[part]
        if taken < k:
            positions = np.hstack([positions, np.repeat(positions[:, :1], k - taken, axis=1)])
            distances = np.hstack([distances, np.full((len(rows), k - taken), np.inf)])
        return positions, distances


def neighbours_in_words(found: list[Nearest], row: int, classes: list[Any]) -> str:
    """The nearest cases of a row: "; nearest 'no': case 7 (0.31), case 12 (0.44); nearest 'yes': case 3 (0.52)"."""
    said = []
    for nearest, label in zip(found, classes, strict=True):
        pairs = zip(nearest.cases[row].tolist(), nearest.distances[row].tolist(), strict=True)
        shown = ", ".join(f"case {case} ({distance:.2f})" for case, distance in pairs if np.isfinite(distance))
        said.append(f"; nearest {to_python(label)!r}: {shown}")
    return "".join(said)


def _blocks(n: int, n_members: int) -> list[slice]:
    step = max(1, _CELLS // max(n_members, 1))
    return [slice(start, start + step) for start in range(0, max(n, 1), step)]


def _columns_of(X: Any) -> dict[str, NDArray[Any]]:
    """Columns by name; those of an array by position."""
    if hasattr(X, "iloc"):
        return {str(name): np.asarray(X.iloc[:, i]) for i, name in enumerate(X.columns)}
    if hasattr(X, "iter_columns"):
        return {str(name): np.asarray(column) for name, column in zip(X.columns, X.iter_columns(), strict=True)}
    return {str(i): column for i, column in enumerate(np.asarray(X).T)}


def _is_number(values: NDArray[Any]) -> bool:
    """Whether a column holds numbers or dates; truth values are two categories."""
    if values.dtype.kind in "iufmM":
        return True
    known = [value for value in values.tolist() if not is_missing(value)]
    return values.dtype.kind == "O" and all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in known
    )


def _to_floats(values: NDArray[Any]) -> Floats:
    """Numbers, dates in days; NaN where one is missing."""
    if values.dtype.kind in "mM":
        days: Floats = values.astype(f"{values.dtype.kind}8[us]").astype(np.float64) / _DAY
        return np.where(np.isnat(values), np.nan, days)
    if values.dtype.kind == "O":
        return np.array([np.nan if is_missing(value) else float(value) for value in values.tolist()])
    return values.astype(np.float64)


def _to_text(values: NDArray[Any]) -> NDArray[Any]:
    """Categories as text; nothing where one is missing."""
    return np.array(["" if is_missing(value) else str(value) for value in values.tolist()], dtype=object)


def _standardised(matrix: Floats, mean: Floats, spread: Floats) -> NDArray[np.float32]:
    standard: NDArray[np.float32] = ((matrix - mean) / spread).astype(np.float32)
    return standard


def _coded(texts: list[NDArray[Any]], levels: list[NDArray[Any]], n: int) -> NDArray[np.int32]:
    """Number of each category; -1 where it is missing, -2 where it was not seen before."""
    codes = np.empty((n, len(texts)), dtype=np.int32)
    for j, (text, known) in enumerate(zip(texts, levels, strict=True)):
        numbers = {level: i for i, level in enumerate(known.tolist())} | {"": -1}
        codes[:, j] = [numbers.get(value, -2) for value in text.tolist()]
    return codes
