"""Categories: columns whose values are names without an order.

Each such column has levels; a case holds the number of its level, and a missing value or a level that training did not
have is NaN. In bins, levels lie in cells along the share of positives in the training cases. That is the order of the
gradients of the first round; it is not chosen anew in later rounds, for three reasons. Steps along any order of the
cells add up to every function of the level, so that no function is out of reach; what is minimised stays one convex
problem with a certificate; and one order serves both scores, since levels that are hard to tell lie in its middle,
where an interval rejects them. The order is that of the training cases alone: a fold has its own.
"""

from __future__ import annotations

import reprlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from ..arrays import Floats, Indices
from ..labels import is_missing, preview, to_python
from ..parameters import is_integer
from .binning import MAX_UINT8_BINS, Bins, LevelCells

FROM_DTYPE = "from_dtype"
_SMOOTHING = 10.0  # cases of the mean that are added to a level before its share of positives is compared
_RARE = 10  # levels of fewer cases share a cell; in tables of less than 1,000, of fewer than one in a hundred


@dataclass(frozen=True, eq=False)
class Categories:
    """The columns with categories, and the levels of each.

    Attributes
    ----------
    columns : list of int
        Which columns.
    levels : list of list
        Levels of each, text or numbers, in the order of their codes.
    """

    columns: list[int] = field(default_factory=list)
    levels: list[list[Any]] = field(default_factory=list)

    def by_column(self) -> dict[int, tuple[Any, ...]]:
        """Levels by column."""
        return {column: tuple(levels) for column, levels in zip(self.columns, self.levels, strict=True)}

    def encode(self, X: Any) -> Any:
        """The table with numbers of levels in place of levels; NaN for a missing or unknown one.

        A table that is not of the columns of fit is handed on as it is, to be refused where columns are checked.
        """
        if not self.columns or issparse(X):
            return X
        X = X if hasattr(X, "shape") else np.asarray(X, dtype=object)
        if len(X.shape) != 2 or X.shape[1] <= max(self.columns):
            return X
        coded = {f: _codes(_column(X, f), levels) for f, levels in self.by_column().items()}
        return _with_columns(X, coded)


def find_categories(categorical_features: Any, X: Any) -> Categories:
    """The categories of a table for training; refuse what names no columns."""
    if categorical_features is None or issparse(X):
        return Categories()
    if isinstance(categorical_features, str) and categorical_features == FROM_DTYPE:
        columns = _declared(X)
    else:
        X = X if hasattr(X, "shape") else np.asarray(X, dtype=object)
        columns = _named(categorical_features, X)
    return Categories(columns, [_levels_of(_column(X, f), f) for f in columns])


def in_cells(X: NDArray[Any], order: Indices, categories: Categories) -> tuple[NDArray[Any], dict[int, LevelCells]]:
    """Cases with numbers of cells in place of numbers of levels, and which level lies where.

    Every level has a cell; rare ones of the cases in `order`, and all beyond 254, share one. Outcomes do not count.
    """
    if not categories.columns:
        return X, {}
    X, cells = X.copy(), {}
    for f, names in categories.by_column().items():
        known = ~np.isnan(X[:, f])
        cell = _cells(X[order, f], len(names))
        X[known, f] = cell[X[known, f].astype(np.intp)]
        cells[f] = LevelCells(names, cell)
    return X, cells


def order_levels(bins: Bins, n_pos: int, weight: Floats, rows: Indices | None = None) -> dict[int, Indices]:
    """New place of every cell of every category: along the share of positives, cells of few cases near the mean.

    Of all coded cases, or of some `rows`, whose first `n_pos` are positives and whose weights are given.
    """
    places = {}
    for f in bins.levels:
        n, codes = int(bins.n_bins[f]), bins.codes[f] if rows is None else bins.codes[f][rows]
        total = np.bincount(codes, weight, minlength=n + 1)[:n]
        positive = np.bincount(codes[:n_pos], weight[:n_pos], minlength=n + 1)[:n]
        added = _SMOOTHING * float(weight.mean())
        mean = positive.sum() / max(total.sum(), 1e-300)
        share = (positive + added * mean) / (total + added)
        places[f] = np.empty(n, dtype=np.intp)
        places[f][np.argsort(share, kind="stable")] = np.arange(n)
    return places


def ordered(bins: Bins, n_pos: int, weight: Floats) -> Bins:
    """The bins with every category in the order of these cases."""
    return bins.moved(order_levels(bins, n_pos, weight))


def refuse_monotone_categories(signs: NDArray[Any], categories: Categories) -> None:
    """Refuse a sign for a column without an order."""
    both = [f for f in categories.columns if signs[f]]
    if both:
        raise ValueError(
            f"monotonic_cst asks for an order of column {both[0]}, whose values are categories: set its sign to 0, or "
            "leave it out of categorical_features."
        )


def _cells(codes: Floats, n_levels: int) -> Indices:
    """Cell of each level: its own, or one for all that are rare."""
    counts = np.bincount(codes[~np.isnan(codes)].astype(np.intp), minlength=n_levels)
    often = counts >= max(1, min(_RARE, len(codes) // 100))
    if often.sum() >= MAX_UINT8_BINS:
        often[np.argsort(-counts, kind="stable")[MAX_UINT8_BINS - 1 :]] = False
    if (~often).sum() <= 1:  # a rare level by itself keeps its cell
        often[:] = True
    cell = np.full(n_levels, int(often.sum()), dtype=np.intp)
    cell[often] = np.arange(often.sum())
    return cell


def _declared(X: Any) -> list[int]:
    """Columns of a frame that have a categorical type."""
    if hasattr(X, "iloc") and getattr(X, "ndim", 0) == 2:
        return [f for f, dtype in enumerate(X.dtypes) if dtype.name == "category"]
    if hasattr(X, "iter_columns"):
        return [f for f, column in enumerate(X.iter_columns()) if str(column.dtype).startswith(("Categorical", "Enum"))]
    return []


def _named(given: Any, X: Any) -> list[int]:
    """Columns by mask, numbers or names."""
    n = X.shape[1] if len(X.shape) == 2 else 0
    try:
        wanted = (
            [] if isinstance(given, str) else [to_python(value) for value in np.asarray(given, dtype=object).ravel()]
        )
    except (TypeError, ValueError):
        wanted = []
    if isinstance(given, str) or (not wanted and np.size(given) > 0):
        raise ValueError(
            f"categorical_features must be 'from_dtype', None, or a list of columns; got {reprlib.repr(given)}."
        )
    if wanted and all(isinstance(value, bool) for value in wanted):
        if len(wanted) != n:
            raise ValueError(f"categorical_features must hold {n} flags, one per column; got {len(wanted)}.")
        return [f for f, flag in enumerate(wanted) if flag]
    if all(is_integer(value) for value in wanted):
        beyond = [value for value in wanted if not 0 <= value < n]
        if beyond:
            raise ValueError(f"categorical_features names column {beyond[0]}, but X has the columns 0 to {n - 1}.")
        return sorted(set(wanted))
    names = [to_python(name) for name in getattr(X, "columns", ())]
    unknown = [value for value in wanted if value not in names]
    if unknown:
        known = f"it is not among the columns {preview(names)}" if names else "X has no names: fit a data frame"
        raise ValueError(f"categorical_features names {unknown[0]!r}, but {known}.")
    return sorted({names.index(value) for value in wanted})


def _column(X: Any, f: int) -> Any:
    """One column of a table of any kind."""
    if hasattr(X, "iloc"):
        return X.iloc[:, f]
    return X.to_series(f) if hasattr(X, "to_series") else np.asarray(X)[:, f]


def _distinct(column: Any) -> tuple[Indices, list[Any]]:
    """Which of its distinct values each case has, -1 where it is missing; and those values."""
    if hasattr(column, "factorize"):  # pandas
        codes, values = column.factorize()
        return np.asarray(codes), [to_python(value) for value in values]
    values, found, codes = [], {}, np.empty(len(column), dtype=np.intp)
    for i, value in enumerate(column.to_list() if hasattr(column, "to_list") else column.tolist()):
        if value not in found:
            found[value] = -1 if is_missing(value) else len(values)
            if found[value] >= 0:
                values.append(to_python(value))
        codes[i] = found[value]
    return codes, values


def _levels_of(column: Any, f: int) -> list[Any]:
    """Levels in the order of a categorical type, else sorted."""
    levels = _distinct(column)[1]
    if not all(isinstance(level, str | bool | int | float) for level in levels):
        odd = next(level for level in levels if not isinstance(level, str | bool | int | float))
        raise ValueError(f"Column {f} of categorical_features holds {odd!r}: categories are text or numbers.")
    declared = getattr(getattr(column, "cat", None), "categories", None) if hasattr(column, "iloc") else None
    if declared is not None:
        return [level for level in map(to_python, declared) if level in set(levels)]
    return sorted(levels, key=lambda level: (isinstance(level, str), level))


def _codes(column: Any, levels: tuple[Any, ...]) -> Floats:
    """Number of the level of each case; NaN for a missing or unknown one."""
    number = {level: float(i) for i, level in enumerate(levels)}
    codes, values = _distinct(column)
    return np.array([*(number.get(value, np.nan) for value in values), np.nan])[codes]


def _with_columns(X: Any, coded: dict[int, Floats]) -> Any:
    """A copy of a table with other columns in some places."""
    if hasattr(X, "isetitem"):
        X = X.copy()
        for f, codes in coded.items():
            X.isetitem(f, codes)
        return X
    if hasattr(X, "replace_column"):
        X = X.clone()
        for f, codes in coded.items():
            series = X.to_series(f)
            X.replace_column(f, type(series)(series.name, codes))
        return X
    X = np.array(X, dtype=object if np.asarray(X).dtype.kind in "OUST" else np.float64)
    for f, codes in coded.items():
        X[:, f] = codes
    return X
