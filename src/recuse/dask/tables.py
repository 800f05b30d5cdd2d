"""A table in partitions: Dask's collections as pieces of partitions, and the checked arrays of one partition.

A collection is a dask DataFrame or a dask array of features, with labels, weights and the like in collections with
the same partitions. Nothing is computed here: `PartitionedTable` has the delayed pieces of each partition, and
`check_piece` is what a worker makes of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from ..arrays import Floats
from ..labels import preview, to_python
from ..parameters import check_weights
from ..validation import check_labels, validate_data
from .faults import PartitionError, first_line
from .folding import group_keys


@dataclass(frozen=True, eq=False)
class PartitionedTable:
    """Collections with the same partitions.

    Attributes
    ----------
    pieces : list of tuple of Delayed
        For each partition its features and, for each of the other collections, its part; None where none was given.
    columns : ndarray or pandas.DataFrame of no rows
        The columns of the features, as scikit-learn's checks store them.
    """

    pieces: list[tuple[Any, ...]]
    columns: Any

    @property
    def names(self) -> list[Any] | None:
        """Names of the columns, if they have names."""
        return list(self.columns.columns) if is_frame(self.columns) else None


def partitioned(X: Any, **others: Any) -> PartitionedTable:
    """Collections of features and, by name, of other things of the same rows as one table.

    Parameters
    ----------
    X : dask DataFrame or dask array of shape (n_samples, n_features)
        Features.
    **others : dask Series, dask array, or None
        Labels, weights, ..., partitioned as X is.
    """
    if not is_collection(X):
        raise TypeError(
            f"X must be a dask DataFrame or a dask array; got {type(X).__name__}. A table in memory needs no cluster: "
            "use the classifier of the same name without Dask."
        )
    if not is_frame(X) and not (hasattr(X, "chunks") and X.ndim == 2):
        raise ValueError("X must have rows and columns: a dask DataFrame, or a dask array of two dimensions.")
    if is_frame(X):
        _require_numbers(X._meta)
    if hasattr(X, "chunks"):
        X = X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
    features = _delayed(X)
    pieces = [_pieces_of(name, column, X, len(features)) for name, column in others.items()]
    columns = X._meta if is_frame(X) else np.empty((0, X.shape[1]))
    return PartitionedTable([(x, *rest) for x, *rest in zip(features, *pieces, strict=True)], columns)


def is_collection(X: Any) -> bool:
    """Whether something is a collection of Dask with partitions; needs no Dask to be installed."""
    return hasattr(X, "dask") and hasattr(X, "to_delayed") and hasattr(X, "__dask_graph__")


def is_frame(table: Any) -> bool:
    """Whether a table has named columns; a Series of Dask has the attribute as well, with its own name in it."""
    return hasattr(table, "columns") and getattr(table, "ndim", 0) == 2


def _require_numbers(columns: Any) -> None:
    """Refuse columns whose type says that they hold no numbers, before anything is read.

    Columns of objects may hold numbers: what they hold, a worker finds out.
    """
    for name, dtype in columns.dtypes.items():
        if kind := _kind_of(dtype):
            raise ValueError(
                f"The column {to_python(name)!r} of X holds {kind} (type {dtype}), and a fit on a cluster needs "
                "numbers: encode it partition by partition, X.map_partitions(encoder.transform) of a fitted encoder "
                "(docs: Past one machine, Text and categories), or leave it out."
            )


def _kind_of(dtype: Any) -> str | None:
    """What a column holds whose type is not one of numbers; None where it may hold numbers."""
    import pandas as pd

    if isinstance(dtype, pd.CategoricalDtype):
        return "categories"
    if isinstance(dtype, pd.StringDtype) or str(dtype) in ("string[pyarrow]", "large_string[pyarrow]"):
        return "text"
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return "dates"
    return None


def _delayed(collection: Any) -> list[Any]:
    """The partitions of a collection, along its rows."""
    if hasattr(collection, "simplify"):
        # Of files only the columns wanted are read. A full optimisation would also read several small files at once,
        # of labels more than of features: their partitions would no longer be the same.
        return list(collection.simplify().to_delayed(optimize_graph=False))
    return list(np.asarray(collection.to_delayed(), dtype=object).ravel())


def _pieces_of(name: str, column: Any, X: Any, n: int) -> Sequence[Any]:
    """The partitions of a column of the table."""
    if column is None:
        return [None] * n
    if not is_collection(column):
        raise TypeError(
            f"{name} must be a dask Series or a dask array, partitioned as X is; got {type(column).__name__}: take it "
            "from the same table as X."
        )
    if hasattr(column, "chunks") and hasattr(X, "chunks") and column.ndim == 1:
        sizes = X.chunks[0]
        if not np.isnan(sizes).any() and column.chunks[0] != sizes and column.shape[0] == X.shape[0]:
            column = column.rechunk((sizes,))
    pieces = _delayed(column)
    if len(pieces) != n:
        raise ValueError(
            f"{name} has {len(pieces)} partitions, and X has {n}: take both from the same table, or repartition one."
            + (_ARRAYS if hasattr(column, "chunks") or hasattr(X, "chunks") else "")
        )
    return pieces


# Dask reads several files at once where few of their columns are wanted.
_ARRAYS = (
    " Arrays of one dask DataFrame may have other partitions than it has: give the columns themselves, X=ddf[features] "
    "and y=ddf[label], or make both arrays of a table that has been read, ddf = ddf.persist()."
)


class Piece(NamedTuple):
    """The checked rows of one partition.

    Attributes
    ----------
    X : ndarray of float64 or float32 of shape (n, p)
        Features; NaN is missing.
    y : ndarray of shape (n,)
        Labels.
    weight : ndarray of shape (n,)
        Weights; ones where none were given.
    group : ndarray of uint64 of shape (n,) or None
        The key of each row's group, where groups were given.
    """

    X: NDArray[Any]
    y: NDArray[Any]
    weight: Floats
    group: NDArray[np.uint64] | None = None


def check_piece(
    X: Any, y: Any, weight: Any, groups: Any, names: Sequence[Any] | None, n_columns: int, needed_by: str
) -> Piece:
    """The rows of one partition as arrays; what is wrong with them is a `PartitionError`.

    Parameters
    ----------
    X, y, weight, groups : as Dask gives them
        Features, labels and, or None, weights and groups. There may be no rows.
    names : sequence or None
        Names of the columns in the order wanted, from the schema of the collection.
    n_columns : int
        Their number.
    needed_by : str
        Name of the estimator, for messages.
    """
    _check_schema(X, names, n_columns)
    n = len(X)
    for what, column in (("y", y), ("sample_weight", weight), ("groups", groups)):
        if column is not None and len(column) != n:
            raise PartitionError(f"it has {n} rows in X and {len(column)} in {what}: take both from the same table.")
        require_same_rows(X, column, what)
    try:
        values = _numbers(X, needed_by)
        labels = check_labels(y) if n else np.asarray(y)
        weights = _weights(weight, n)
        group = None if groups is None else group_keys(groups)
    except (TypeError, ValueError) as error:
        raise PartitionError(first_line(error)) from None
    return Piece(values, labels, weights, group)


def require_same_rows(X: Any, column: Any, what: str) -> None:
    """Refuse labels or weights whose rows have other names than those of the features, or another order."""
    names: Any = getattr(X, "index", None)
    others: Any = getattr(column, "index", None)
    if not hasattr(names, "equals") or not hasattr(others, "equals") or names.equals(others):
        return
    unlike = (row for row in range(len(names)) if not names[row : row + 1].equals(others[row : row + 1]))
    row = next(unlike, None)
    if row is None:
        return  # of another type only
    raise PartitionError(
        f"its row {row + 1} has the index {to_python(names[row])!r} in X and {to_python(others[row])!r} in {what}: "
        "take both from the same table, and sort neither alone; where their order is the same, reset_index(drop=True) "
        "on both."
    )


def _weights(weight: Any, n: int) -> Floats:
    """Weights of a partition, which may hold nothing but rows that do not count."""
    if weight is None:
        return check_weights(None, n)
    import pandas as pd

    if missing := int(np.sum(pd.isna(weight))):
        raise ValueError(
            f"sample_weight holds {missing} missing values: give every case a weight, 0 to one that is not to count."
        )
    weight = np.asarray(weight)
    return check_weights(weight, n) if np.any(weight) else np.zeros(n)


def _check_schema(X: Any, names: Sequence[Any] | None, n_columns: int) -> None:
    """Refuse a partition whose columns are not those of the collection."""
    found = list(X.columns) if is_frame(X) else None
    if names is not None and found is not None and found != list(names):
        missing, unknown = (preview(a) for a in (_without(names, found), _without(found, names)))
        told = [f"lacks the columns {missing}"] if missing != "[]" else []
        told += [f"has the columns {unknown}, which the others do not have"] if unknown != "[]" else []
        raise PartitionError(
            f"it {' and '.join(told) or 'has the columns in another order'}: give all files one schema."
        )
    if X.ndim != 2 or X.shape[1] != n_columns:
        raise PartitionError(f"it has the shape {X.shape}, and {n_columns} columns are expected: give all one schema.")


def _without(names: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    return [to_python(name) for name in names if name not in set(others)]


def _numbers(X: Any, needed_by: str) -> NDArray[Any]:
    """Features as floats, missing values as NaN; the error names the column that holds something else."""
    options = {"dtype": [np.float64, np.float32], "ensure_all_finite": "allow-nan", "ensure_min_samples": 0}
    values: NDArray[Any] = validate_data(type(needed_by, (BaseEstimator,), {})(), X, **options)
    return values
