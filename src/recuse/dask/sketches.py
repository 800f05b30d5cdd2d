"""Quantile sketches of the columns of a partitioned table: mergeable, of all rows, with a bound of their error.

A sketch is an increasing list of values of a column, each with the weight of the rows above the value before it, up to
and including itself. While a column has at most `limit` distinct values the list holds all of them, and the cuts are
those that `recuse.boosting.binning.find_cuts` makes of the rows in one place. Beyond, neighbouring values share an
entry, which stands at the highest of them: the weight at or below a value t is then underestimated, and never by more
than `error`, a sum that each sketch carries. Rows are ranked by value before anything is dropped, so that their order
within a partition does not matter.

The bound. To shorten a sketch of total weight W its weights are summed up, and with b = (limit - 2) // 2 only those
values are kept where the sum reaches or passes a multiple of W / b, the ones before these, the first and the last: at
most 2 b + 2. Rows between them share an entry of less than W / b, so one shortening adds at most W / b to the error; a
value with at least W / b of the weight keeps an entry of its own. Merging adds the errors, as it adds the weights. A
tree in which each of n partitions goes through one shortening of its own and one on each of ceil(log_4 n) levels is
thus wrong by a share of at most (1 + ceil(log_4 n)) / b of all weight: by 0.03 % for 64 partitions at the largest
limit, where a bin of 255 holds 0.39 %. `error` is what really happened, and a little less.

A sketch needs 16 bytes per entry: at the default limit at most 16 MiB for all columns of a partition together, whatever
its number of rows, unless there are more than 256 columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..boosting.binning import cuts_between

FAN_IN = 4  # sketches that are merged at once: as many are in the memory of one worker together
LARGEST_LIMIT = 2**15  # more than `binning.EXACT_ROWS`, up to which one machine looks at every distinct value
SMALLEST_LIMIT = 2**12
_ENTRIES = 2**20  # of all columns of a partition together


def default_limit(n_columns: int) -> int:
    """Distinct values of a column up to which its sketch is exact: the more columns, the fewer."""
    return int(np.clip(_ENTRIES // max(1, n_columns), SMALLEST_LIMIT, LARGEST_LIMIT))


def error_bound(n_partitions: int, limit: int) -> float:
    """Share of all weight by which the weight at or below a value is underestimated, at most."""
    levels = 0
    while FAN_IN**levels < n_partitions:
        levels += 1
    return (1 + levels) / ((limit - 2) // 2)


@dataclass(frozen=True, eq=False)
class ColumnSketch:
    """What is kept of one column.

    Attributes
    ----------
    values : ndarray of shape (n,)
        Some of the values, or all: distinct, increasing, infinite ones among them.
    weights : ndarray of shape (n,)
        Weight of the rows above the value before, up to and including this one.
    error : float
        By how much `weight_up_to` may be too small; never too large.
    missing : float
        Weight of the rows without a value.
    """

    values: Floats
    weights: Floats
    error: float = 0.0
    missing: float = 0.0

    @property
    def total(self) -> float:
        """Weight of the rows with a value."""
        return float(self.weights.sum())

    def weight_up_to(self, t: Floats) -> Floats:
        """Weight of the rows at or below each of some values: what is known of it for sure."""
        return np.append(0.0, np.cumsum(self.weights))[np.searchsorted(self.values, t, side="right")]

    def shortened(self, limit: int) -> ColumnSketch:
        """A sketch of at most `limit` values, with its larger error; this one where it is short enough."""
        if len(self.values) <= limit:
            return self
        sums = np.cumsum(self.weights)
        step = np.floor(sums / (sums[-1] / ((limit - 2) // 2)))
        passes = np.append(True, step[1:] != step[:-1])
        ends = np.flatnonzero(passes | np.append(passes[1:], True))
        weights = np.add.reduceat(self.weights, np.append(0, ends[:-1] + 1))
        # An entry holds the weight of its value, which is where it belongs, and what has been moved up to it.
        moved = float((weights - self.weights[ends]).max())
        return ColumnSketch(self.values[ends], weights, self.error + max(0.0, moved), self.missing)

    def cuts(self, max_bins: int | None) -> Floats:
        """Cut values: between all distinct values, or at most `max_bins` - 1 quantiles."""
        if max_bins is None and self.error > 0:
            raise ValueError(
                "max_bins=None looks at every distinct value, and a column of this partitioned table has more than "
                f"can be kept ({len(self.values)} are, for many more): use max_bins='auto', or a number of bins."
            )
        return cuts_between(self.values, np.cumsum(self.weights), max_bins)


@dataclass(frozen=True, eq=False)
class TableSketch:
    """The sketches of all columns of some rows, and the number of values up to which each is exact."""

    columns: tuple[ColumnSketch, ...]
    limit: int

    def cuts(self, max_bins: int | None) -> list[Floats]:
        """Cut values of every column, as `recuse.boosting.binning.code_features` takes them."""
        return [column.cuts(max_bins) for column in self.columns]

    @property
    def nbytes(self) -> int:
        """What travels when it is sent."""
        return sum(column.values.nbytes + column.weights.nbytes + 16 for column in self.columns)


def sketch_column(column: NDArray[Any], weight: Floats | None, limit: int) -> ColumnSketch:
    """Sketch one column; rows without weight do not count, rows without a value only as missing."""
    if weight is None:
        return _sketch_of_equal_rows(np.sort(column), limit)
    missing = np.isnan(column)
    rows = np.flatnonzero(~missing & (weight > 0))
    rows = rows[np.argsort(column[rows], kind="stable")]
    values = column[rows]
    first = _starts(values)
    weights = np.add.reduceat(weight[rows], first) if len(rows) else np.zeros(0)
    left_out = float(weight[missing].sum())
    return ColumnSketch(values[first].astype(np.float64), weights, missing=left_out).shortened(limit)


def _sketch_of_equal_rows(column: NDArray[Any], limit: int) -> ColumnSketch:
    """The same of sorted rows, missing values last, that all count 1.

    What `shortened` would keep is looked up by rank: nothing but the sorted rows themselves is as long as the column,
    since on a worker, where Dask has memory given back at once, every long array has to be fetched anew.
    """
    values = column[: np.searchsorted(column, np.nan)]
    n, missing = len(values), float(len(column) - np.searchsorted(column, np.nan))
    if n <= limit or np.count_nonzero(values[1:] != values[:-1]) < limit:
        first = _starts(values)
        return ColumnSketch(
            values[first].astype(np.float64), np.diff(np.append(first, n)).astype(np.float64), 0.0, missing
        )
    n_steps = (limit - 2) // 2
    reached = np.ceil(np.arange(1, n_steps + 1) * (n / n_steps) - 1e-9).astype(np.intp) - 1
    passing = values[np.minimum(reached, n - 1)]
    before = values[np.maximum(np.searchsorted(values, passing) - 1, 0)]
    kept = np.unique(np.concatenate([values[:1], before, passing, values[-1:]]))
    ends = np.searchsorted(values, kept, side="right")
    own = ends - np.searchsorted(values, kept)
    weights = np.diff(ends, prepend=0)
    return ColumnSketch(kept.astype(np.float64), weights.astype(np.float64), float((weights - own).max()), missing)


def _starts(values: NDArray[Any]) -> NDArray[np.intp]:
    """Where runs of equal values start, in sorted ones."""
    return np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])


def sketch_table(X: NDArray[Any], weight: Floats | None = None, limit: int | None = None) -> TableSketch:
    """Sketch every column of one partition.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Values; NaN is missing. There may be no rows.
    weight : ndarray of shape (n,), optional
        Weights of the rows, at least 0.
    limit : int, optional
        Distinct values up to which a column is kept exactly; `default_limit` by default. The same for all partitions.
    """
    limit = default_limit(X.shape[1]) if limit is None else limit
    return TableSketch(tuple(sketch_column(X[:, f], weight, limit) for f in range(X.shape[1])), limit)


def merge_columns(sketches: Sequence[ColumnSketch], limit: int) -> ColumnSketch:
    """The sketch of the rows of several."""
    values = np.concatenate([sketch.values for sketch in sketches])
    weights = np.concatenate([sketch.weights for sketch in sketches])
    order = np.argsort(values, kind="stable")  # which finds that the parts are sorted
    values, weights = values[order], weights[order]
    first = _starts(values)
    if len(first) < len(values):
        values, weights = values[first], np.add.reduceat(weights, first)
    error, missing = (float(sum(part)) for part in zip(*((s.error, s.missing) for s in sketches), strict=True))
    return ColumnSketch(values, weights, error, missing).shortened(limit)


def merge_tables(*sketches: TableSketch) -> TableSketch:
    """The sketch of the rows of several partitions."""
    widths = sorted({len(sketch.columns) for sketch in sketches})
    if len(widths) > 1:
        raise ValueError(f"All partitions must have the same columns; some have {widths[0]} and some {widths[-1]}.")
    limit = min(sketch.limit for sketch in sketches)
    columns = zip(*(sketch.columns for sketch in sketches), strict=True)
    return TableSketch(tuple(merge_columns(column, limit) for column in columns), limit)


def merge_in_tree(sketches: Iterable[Any], call: Callable[..., Any] | None = None) -> Any:
    """Merge sketches of partitions, `FAN_IN` at a time.

    Parameters
    ----------
    sketches : iterable of TableSketch, or of futures of them
        At least one, in the order of the partitions.
    call : callable, optional
        Calls a function with arguments, and may return a future of the result: ``client.submit``, or ``lambda
        function, *args: dask.delayed(function)(*args)``. By default it is called here.

    Returns
    -------
    TableSketch, or what `call` returns for it
    """
    layer = list(sketches)
    if not layer:
        raise ValueError("There is no partition to take quantiles of: the table has no rows.")
    while len(layer) > 1:
        groups = [layer[i : i + FAN_IN] for i in range(0, len(layer), FAN_IN)]
        layer = [(call or _call)(merge_tables, *group) if len(group) > 1 else group[0] for group in groups]
    return layer[0]


def merged_cuts(
    partitions: Iterable[tuple[NDArray[Any], Floats | None]], max_bins: int | None, *, limit: int | None = None
) -> list[Floats]:
    """Cut values of every column of a table whose rows are in several places.

    Parameters
    ----------
    partitions : iterable of (X, weight)
        Rows of each partition and their weights, or None; read one by one.
    max_bins : int or None
        At most 255 quantile bins, or None for one bin per distinct value.
    limit : int, optional
        As in `sketch_table`.

    Returns
    -------
    list of ndarray

    Examples
    --------
    >>> import numpy as np
    >>> from recuse.dask.sketches import merged_cuts
    >>> X = np.arange(12.0).reshape(-1, 1)
    >>> merged_cuts([(X[::2], None), (X[1::2], None)], max_bins=3)
    [array([3.5, 7.5])]
    """
    cuts: list[Floats] = merge_in_tree(sketch_table(X, weight, limit) for X, weight in partitions).cuts(max_bins)
    return cuts


def _call(function: Callable[..., Any], *args: Any) -> Any:
    return function(*args)
