"""What the members see of a table: codes for trees, complete numbers on one scale for all others.

Both views are fitted to all training cases, without their outcomes: nothing of an outcome can leak through them.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from ..arrays import Flags, Floats, Indices
from ..labels import is_missing, to_python

CODES, SCALED = "codes", "scaled"
_MOST_CODES = 250  # libraries of trees hold a category in eight bits
_MOST_COLUMNS = 30  # one per frequent category, where numbers are needed
_DAY = 86_400e6  # microseconds
_LARGEST = 1e150  # sums of squares of such numbers are finite
_FARTHEST = 20.0  # standard deviations: a value far outside of what was seen must not carry a linear score anywhere


class Table(NamedTuple):
    """Columns of a table: numbers with NaN where they are missing, dates in days, and categories as text."""

    numbers: Floats
    text: NDArray[Any]
    categorical: Flags

    @classmethod
    def of(cls, X: Any, categorical: Flags) -> Table:
        """Take the columns of a pandas or polars frame, or of an array."""
        columns = list_columns(X) or list(np.asarray(X).T)
        numbers = [_finite(_to_numbers(columns[i], int(i)), columns[i], int(i)) for i in np.flatnonzero(~categorical)]
        text = [_to_text(columns[i]) for i in np.flatnonzero(categorical)]
        none = np.empty((len(columns[0]), 0))
        return cls(
            np.column_stack(numbers) if numbers else none,
            np.column_stack(text) if text else none.astype(object),
            categorical,
        )


class View(NamedTuple):
    """One view of some cases: a matrix, and which of its columns are codes of categories."""

    matrix: Floats
    categorical: Indices

    def take(self, rows: Indices) -> Floats:
        """Some of the cases."""
        part: Floats = self.matrix[rows]
        return part


class TableViews(BaseEstimator):
    """The two views of a table, as the training cases make them."""

    _empty: Flags = np.zeros(1, dtype=bool)  # of views saved before it was known

    def fit(self, table: Table) -> TableViews:
        """Learn categories, medians and scales."""
        if table.text.shape[1]:
            self._ordinal = OrdinalEncoder(
                handle_unknown="use_encoded_value", unknown_value=np.nan, max_categories=_MOST_CODES
            ).fit(table.text)
            self._one_hot = OneHotEncoder(
                handle_unknown="infrequent_if_exist", max_categories=_MOST_COLUMNS, sparse_output=False
            ).fit(table.text)
        numbers = table.numbers
        known = ~np.isnan(numbers)
        has_values = known.any(axis=0)
        self._median = np.zeros(numbers.shape[1])
        self._median[has_values] = np.nanmedian(numbers[:, has_values], axis=0) if has_values.any() else 0.0
        self._flagged = has_values & ~known.all(axis=0)
        self._empty = np.asarray(~has_values)
        filled = np.where(known, numbers, self._median)
        self._mean, spread = filled.mean(axis=0), filled.std(axis=0)
        self._scale = np.where(spread > 1e-12 * (1 + np.abs(self._mean)), spread, 1.0)
        return self

    def view(self, kind: str, table: Table) -> View:
        """The view of this kind, of any table with the same columns."""
        return self._codes(table) if kind == CODES else self._scaled(table)

    def sources(self, kind: str, categorical: Flags) -> Indices:
        """Position in the table of what each column of a view comes from."""
        numbers, text = np.flatnonzero(~categorical), np.flatnonzero(categorical)
        if kind == CODES:
            return np.concatenate([numbers, text])
        one_hot = np.repeat(text, _widths(self._one_hot)) if len(text) else text
        return np.concatenate([numbers, numbers[self._flagged], one_hot])

    def _codes(self, table: Table) -> View:
        """Numbers as they are, NaN where they are missing, and a code for each category."""
        # A column without a value in training says nothing: some members refuse it.
        numbers = np.where(self._empty, 0.0, table.numbers) if self._empty.any() else table.numbers
        if not table.text.shape[1]:
            return View(numbers, np.zeros(0, dtype=np.intp))
        codes = self._ordinal.transform(table.text)
        first = numbers.shape[1]
        return View(np.hstack([numbers, codes]), np.arange(first, first + codes.shape[1]))

    def _scaled(self, table: Table) -> View:
        """Numbers in standard units, medians for missing values, a column that says so, and one per category."""
        missing = np.isnan(table.numbers)
        units = (np.where(missing, self._median, table.numbers) - self._mean) / self._scale
        parts = [np.clip(units, -_FARTHEST, _FARTHEST), missing[:, self._flagged].astype(np.float64)]
        if table.text.shape[1]:
            parts.append(self._one_hot.transform(table.text))
        return View(np.hstack(parts), np.zeros(0, dtype=np.intp))


def _widths(encoder: OneHotEncoder) -> list[int]:
    """Columns that an encoder makes of each of its own; rare categories share one."""
    return [
        len(known) - (0 if rare is None else len(rare) - 1)
        for known, rare in zip(encoder.categories_, encoder.infrequent_categories_, strict=True)
    ]


def find_categories(X: Any) -> Flags:
    """Which columns of a frame hold text, categories or truth values; none of an array."""
    columns = list_columns(X)
    return np.array([_is_categorical(column) for column in columns] or [False] * np.shape(X)[1], dtype=bool)


def categories_by_name(X: Any, wanted: Any) -> Flags:
    """Which columns hold categories, given their names or positions, or a truth value for each."""
    names = [to_python(name) for name in getattr(X, "columns", range(np.shape(X)[1]))]
    said = [to_python(name) for name in (() if wanted is None else wanted)]
    if said and all(isinstance(name, bool) for name in said):
        if len(said) != len(names):
            raise ValueError(f"categorical_features must hold {len(names)} truth values, one per column; got {said!r}.")
        return np.array(said, dtype=bool)
    unknown = [name for name in said if name not in names]
    if unknown:
        raise ValueError(f"categorical_features names {unknown[0]!r}, which is no column of X.")
    return np.array([name in said for name in names], dtype=bool)


def take_rows(X: Any, rows: Indices) -> Any:
    """Some rows of a pandas or polars frame, or of an array."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def list_columns(X: Any) -> list[Any]:
    """Columns of a pandas or polars frame; none of anything else."""
    if hasattr(X, "iloc") and hasattr(X, "items") and getattr(X, "ndim", 0) == 2:
        return [column for _, column in X.items()]
    return list(X.iter_columns()) if hasattr(X, "iter_columns") else []


def _is_categorical(column: Any) -> bool:
    if str(column.dtype).startswith(("category", "Categorical", "Enum")):  # of pandas, and of polars
        return True
    values = np.asarray(column)
    if values.dtype.kind in "biufmM":
        return values.dtype.kind == "b"
    return any(isinstance(value, str | bool | np.bool_) for value in values.tolist())


def _to_numbers(column: Any, position: int) -> Floats:
    """Numbers as they are; times and durations in days."""
    values = np.asarray(column)
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    if values.dtype.kind in "mM":
        days: Floats = values.astype(f"{values.dtype.kind}8[us]").astype(np.float64) / _DAY
        return np.where(np.isnat(values), np.nan, days)
    return np.array([_to_number(value, column, position) for value in values.tolist()])


def _to_number(value: Any, column: Any, position: int) -> float:
    if is_missing(value):
        return np.nan
    if isinstance(value, datetime):  # with a time zone, which no array has
        return value.timestamp() * 1e6 / _DAY
    if isinstance(value, timedelta):
        return value.total_seconds() * 1e6 / _DAY
    try:
        return float(value)
    except (TypeError, ValueError):
        name = getattr(column, "name", position)
        raise ValueError(
            f"The column {name!r} holds {value!r}, where a model that was fitted to it needs numbers or dates."
        ) from None


def _finite(numbers: Floats, column: Any, position: int) -> Floats:
    """The numbers of a column, NaN among them; refuse what has no finite mean and spread."""
    largest = np.nanmax(np.abs(numbers), initial=0.0, where=~np.isnan(numbers))
    if largest > _LARGEST:
        name = getattr(column, "name", position)
        raise ValueError(f"The column {name!r} holds {largest:g}: numbers must be finite and at most {_LARGEST:g}.")
    return numbers


def _to_text(column: Any) -> NDArray[Any]:
    """Categories as text; a missing value is a category of its own."""
    return np.array([_category(value) for value in np.asarray(column).tolist()], dtype=object)


def _category(value: Any) -> str:
    """A number is called the same in a column that holds decimal places: a missing value makes one of integers."""
    if is_missing(value):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
