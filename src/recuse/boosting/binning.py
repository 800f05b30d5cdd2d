"""Features as small integers: one code per distinct value (exact), or one per quantile bin.

Codes of feature f run from 0 to n_bins[f] - 1 in the order of the values; a missing value has the code n_bins[f].
A value x has the code j when cuts[j - 1] < x <= cuts[j]: values with a code of at most j lie left of cut j, at or below
it, and those with a larger code lie right of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Indices
from ..parameters import is_integer

EXACT_ROWS = 20_000  # up to this many rows max_bins="auto" looks at every distinct value
MAX_UINT8_BINS = 255  # leaves one code for missing values
_SAMPLE = 200_000  # quantiles of larger columns are taken from that many evenly spaced rows
_WORTH_COMPILING = 100_000  # rows from which on a column is coded by a compiled loop


@dataclass(frozen=True, eq=False)
class LevelCells:
    """Where the levels of a category lie.

    Attributes
    ----------
    names : tuple
        The levels, in the order of their codes.
    cell : ndarray of int
        Cell of each; rare levels share one.
    """

    names: tuple[Any, ...]
    cell: Indices

    @property
    def cuts(self) -> Floats:
        """Cuts between the numbers of the cells."""
        return np.arange(0.5, self.cell.max(initial=0))


@dataclass(frozen=True, eq=False)
class Bins:
    """Coded features.

    Attributes
    ----------
    codes : ndarray of uint8 or int32 of shape (p, m)
        Feature-major.
    cuts : list of ndarray
        For each feature its n_bins[f] - 1 increasing cut values.
    n_bins : ndarray of int of shape (p,)
        Number of bins without the one for missing values.
    offsets : ndarray of int of shape (p + 1,)
        Where the n_bins[f] + 1 cells of feature f start in a flat table of all cells.
    has_missing : ndarray of bool of shape (p,)
        Whether the coded rows hold missing values.
    monotonic : ndarray of int8 of shape (p,)
        1 where the class score must not fall along the feature, -1 where it must not rise, 0 where it is free.
    levels : dict of int to LevelCells
        For each feature that is a category, where its levels lie; its codes are cells in that order.
    """

    codes: NDArray[Any]
    cuts: list[Floats]
    n_bins: NDArray[np.int64]
    offsets: NDArray[np.int64]
    has_missing: Flags
    monotonic: NDArray[np.int8] = field(default_factory=lambda: np.zeros(0, dtype=np.int8))
    levels: dict[int, LevelCells] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.monotonic) != len(self.n_bins):
            object.__setattr__(self, "monotonic", np.zeros(len(self.n_bins), dtype=np.int8))

    @cached_property
    def cells(self) -> list[tuple[slice, int]]:
        """Where the cells of each feature lie in a table of all cells, and its number of bins: quick to look up."""
        return [(slice(a, b), b - a - 1) for a, b in pairwise(self.offsets.tolist())]

    def take(self, rows: NDArray[Any]) -> Bins:
        """Return some of the rows, with the same cuts."""
        codes = np.ascontiguousarray(self.codes[:, rows])
        has_missing = self.has_missing.copy()
        for f in np.flatnonzero(has_missing):
            has_missing[f] = (codes[f] == self.n_bins[f]).any()
        return replace(self, codes=codes, has_missing=has_missing)

    def join(self, other: Bins) -> Bins:
        """Return the features of both, for the same rows."""
        wide = np.promote_types(self.codes.dtype, other.codes.dtype)
        codes = np.concatenate([self.codes.astype(wide, copy=False), other.codes.astype(wide, copy=False)])
        n_bins = np.concatenate([self.n_bins, other.n_bins])
        offsets = np.concatenate([self.offsets, self.offsets[-1] + other.offsets[1:]])
        missing = np.concatenate([self.has_missing, other.has_missing])
        monotonic = np.concatenate([self.monotonic, other.monotonic])
        p = len(self.n_bins)
        levels = self.levels | {p + f: cells for f, cells in other.levels.items()}
        return Bins(codes, [*self.cuts, *other.cuts], n_bins, offsets, missing, monotonic, levels)

    def moved(self, places: dict[int, Indices]) -> Bins:
        """Return the same with the cells of categories in other places."""
        if not places:
            return self
        codes, levels = self.codes.copy(), dict(self.levels)
        for f, place in places.items():
            codes[f] = np.append(place, len(place))[codes[f]]
            levels[f] = replace(levels[f], cell=place[levels[f].cell])
        return replace(self, codes=codes, levels=levels)

    def shares(self, weight: Floats) -> Floats:
        """Share of the weight of all rows in every cell of every feature."""
        return self.cell_weights(weight) / weight.sum()

    def cell_weights(self, weight: Floats) -> Floats:
        """Weight of the rows in every cell of every feature."""
        counts = [
            np.bincount(codes, weight, minlength=n + 1)
            for codes, n in zip(self.codes, self.n_bins.tolist(), strict=True)
        ]
        return np.concatenate([np.zeros(0), *counts])

    @property
    def n_cells(self) -> int:
        """Cells of all features together."""
        return int(self.offsets[-1])


def find_cuts(column: NDArray[Any], max_bins: int | None, weight: Floats | None = None) -> Floats:
    """Cut values of one feature: between all distinct values, or at most `max_bins` - 1 (weighted) quantiles."""
    known = np.flatnonzero(~np.isnan(column))
    if max_bins is not None and len(known) > _SAMPLE:
        known = known[:: len(known) // _SAMPLE + 1]
    if max_bins is None:
        weight = None  # only quantiles depend on it
    if weight is not None:
        known = known[np.argsort(column[known], kind="stable")]
    values = np.sort(column[known]) if weight is None else column[known]
    last = np.flatnonzero(np.append(values[1:] != values[:-1], True)[: len(values)])  # of each run of equal values
    sums: Floats = (last + 1).astype(np.float64) if weight is None else np.cumsum(weight[known])[last]
    return cuts_between(values[last].astype(np.float64), sums, max_bins)


def cuts_between(values: Floats, sums: Floats, max_bins: int | None) -> Floats:
    """Cut values between increasing distinct values, given the weight at or below each: all, or at quantiles."""
    starts = np.arange(1, len(values))
    if max_bins is not None and len(starts) >= max_bins:
        # The first distinct value at or after each quantile starts a bin; equal values share theirs.
        before, total = sums[:-1], float(sums[-1])
        # A sum that should equal a quantile may miss it by rounding.
        wanted = np.arange(1, max_bins) * (total / max_bins) - 1e-12 * total
        starts = np.unique(starts[np.minimum(np.searchsorted(before, wanted), len(starts) - 1)])
    return midpoints(values[starts - 1], values[starts])


def midpoints(low: Floats, high: Floats) -> Floats:
    """Values t with low <= t < high, halfway where floats allow it."""
    with np.errstate(over="ignore", invalid="ignore"):
        middle = low + (high - low) / 2
        # An infinite end or an overflow leaves no midpoint: the sum of halves, else the lower end itself.
        middle = np.where(np.isfinite(middle), middle, low / 2 + high / 2)
    middle = np.where(np.isfinite(middle), middle, np.clip(low, -np.finfo(float).max, np.finfo(float).max))
    return np.where((middle >= low) & (middle < high), middle, low)


def bin_codes(column: NDArray[Any], cuts: Floats) -> Indices:
    """Codes of values; missing values get the code after the last bin."""
    codes = np.searchsorted(cuts, column, side="left")
    missing = np.isnan(column)
    if missing.any():
        codes[missing] = len(cuts) + 1
    return codes


def bin_features(
    X: NDArray[Any],
    order: Indices,
    max_bins: int | None,
    weight: Floats | None = None,
    levels: dict[int, LevelCells] | None = None,
) -> Bins:
    """Find cuts and code the columns of `X`, rows taken in the given order.

    Parameters
    ----------
    X : ndarray of shape (m, p)
        Values; NaN is missing.
    order : ndarray of int
        Rows in the order wanted (positives first).
    max_bins : int or None
        At most 255 quantile bins, or None for one bin per distinct value.
    weight : ndarray, optional
        Weights of the rows in that order: the bins then have equal weights, not equal numbers of rows.
    levels : dict, optional
        For columns that hold numbers of cells of a category, where its levels lie; see `categories`.
    """
    levels = levels or {}
    if weight is not None and (weight == weight[0]).all():
        weight = None
    used: Any = order  # only these rows make cuts
    if weight is None:  # then their order does not matter: read them in memory order
        used = slice(None) if len(order) == len(X) else np.sort(order)
    cuts = [levels[f].cuts if f in levels else find_cuts(X[used, f], max_bins, weight) for f in range(X.shape[1])]
    return replace(code_features(X, order, cuts), levels=levels)


def code_features(X: NDArray[Any], order: Indices, cuts: list[Floats]) -> Bins:
    """Code the columns of `X` by known cuts."""
    n_bins = np.array([len(c) + 1 for c in cuts], dtype=np.int64)
    small = n_bins.max(initial=0) <= MAX_UINT8_BINS
    codes = np.empty((len(cuts), len(order)), dtype=np.uint8 if small else np.int32)
    code = _code_long if len(order) >= _WORTH_COMPILING else _code_short
    for f, cut in enumerate(cuts):
        code(np.ascontiguousarray(X[:, f]), order, cut, codes[f])
    offsets = np.concatenate([[0], np.cumsum(n_bins + 1)]).astype(np.int64)
    has_missing = np.array([bool((codes[f] == n_bins[f]).any()) for f in range(len(cuts))], dtype=bool)
    return Bins(codes, cuts, n_bins, offsets, has_missing)


def _code_short(column: NDArray[Any], order: Indices, cuts: Floats, codes: NDArray[Any]) -> None:
    """Code a column by NumPy alone."""
    codes[:] = bin_codes(column[order], cuts)


def _code_long(column: NDArray[Any], order: Indices, cuts: Floats, codes: NDArray[Any]) -> None:
    """The same codes by a compiled loop."""
    from .loops import code_column

    half = 1 << (len(cuts).bit_length() - 1) if len(cuts) else 0
    filled = np.full(max(0, 2 * half - 1), np.inf)
    filled[: len(cuts)] = cuts
    code_column(column, order, filled, half, len(cuts) + 1, codes)


def resolve_bins(max_bins: Any, n_rows: int, exact_rows: int | None = None) -> int | None:
    """Return the number of bins, None for one per distinct value, as "auto" has it up to `exact_rows` rows."""
    if isinstance(max_bins, str) and max_bins == "auto":
        return None if n_rows <= (EXACT_ROWS if exact_rows is None else exact_rows) else MAX_UINT8_BINS
    if max_bins is None:
        return None
    if not is_integer(max_bins) or not 2 <= max_bins <= MAX_UINT8_BINS:
        raise ValueError(
            f"max_bins must be 'auto', None (one bin per distinct value) or an integer from 2 to {MAX_UINT8_BINS}; "
            f"got {max_bins!r}."
        )
    return int(max_bins)
