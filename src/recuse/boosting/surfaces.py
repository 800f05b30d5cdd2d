"""Pair terms of the additive form: step functions of two features.

    h(x) = h0 + sum_f g_f(x_f) + sum_(f,e) g_fe(x_f, x_e),   and the same for r

A pair term is pure: its mean over the training cases of every row and of every column is 0, so that what one feature
says by itself is in its shape function and nowhere else. That makes the terms unique (a functional analysis of
variance). Prediction is a table look-up, with NumPy only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Indices


@dataclass(frozen=True, eq=False)
class SurfaceFunction:
    """What two features together add to the two scores, beyond what each adds by itself.

    Attributes
    ----------
    features : tuple of int
        The two columns.
    cuts : tuple of ndarray
        Increasing cut values of the first and of the second; n and k of them.
    h, r : ndarray of shape (n + 2, k + 2)
        What the two values add to the class score and to the acceptance score, by cell: rows for the first feature and
        columns for the second, the last of each for missing values.
    share : ndarray of shape (n + 2, k + 2), optional
        Share of the training cases, by weight, in each cell.
    """

    features: tuple[int, int]
    cuts: tuple[Floats, Floats]
    h: Floats
    r: Floats
    share: Floats | None = None

    def cells(self, X: NDArray[Any]) -> tuple[Indices, Indices]:
        """Row and column of each case in the tables."""
        first, second = (codes(X[:, f], cuts) for f, cuts in zip(self.features, self.cuts, strict=True))
        return first, second

    def evaluate(self, X: NDArray[Any]) -> tuple[Floats, Floats]:
        """What each case gets added to h and r."""
        cells = self.cells(X)
        return self.h[cells], self.r[cells]

    @property
    def means(self) -> tuple[float, float]:
        """What the pair adds to h and r on average over the training cases; 0 where their shares are not known."""
        if self.share is None:
            return 0.0, 0.0
        return float((self.share * self.h).sum()), float((self.share * self.r).sum())

    def name(self, names: list[str]) -> str:
        """The two columns, such as "age x smoking"."""
        return f"{names[self.features[0]]} x {names[self.features[1]]}"


def codes(column: NDArray[Any], cuts: Floats) -> Indices:
    """Cell of each value of a column; the one after the last for missing values."""
    # NaN sorts behind the infinity at the end.
    return np.searchsorted(np.append(cuts, np.inf), np.asarray(column, dtype=np.float64), side="left")


class SurfaceTables:
    """The tables of many pair terms, ready to be looked up; columns that several terms cut alike are coded once."""

    def __init__(self, surfaces: Sequence[SurfaceFunction]) -> None:
        self._columns: dict[tuple[int, bytes], int] = {}
        self._cuts: list[tuple[int, Floats]] = []
        # h and r side by side as one complex number: one look-up for both.
        self._tables = [
            (self._column(s.features[0], s.cuts[0]), self._column(s.features[1], s.cuts[1]), s.h + 1j * s.r)
            for s in surfaces
        ]

    def _column(self, feature: int, cuts: Floats) -> int:
        """Number of a coded column."""
        key = (feature, cuts.tobytes())
        if key not in self._columns:
            self._columns[key] = len(self._cuts)
            self._cuts.append((feature, cuts))
        return self._columns[key]

    def add(self, block: NDArray[Any], out: NDArray[np.complex128]) -> None:
        """Add to each case what its cells say, h as the real part and r as the imaginary one."""
        coded = [codes(block[:, feature], cuts) for feature, cuts in self._cuts]
        for first, second, table in self._tables:
            out += table[coded[first], coded[second]]


class Purified(NamedTuple):
    """A table, and the additive part taken out of it: table = pure + rows + columns + constant."""

    pure: Floats
    rows: Floats
    columns: Floats
    constant: float


def purify(table: Floats, mass: Floats) -> Purified:
    """Take the main effects and the constant out of a table of two features.

    What is left has the mean 0 in every row and every column, and so have the two main effects, all weighted by `mass`.
    The additive part is the weighted least-squares fit of a row and a column effect, found at once from its normal
    equations: taking out row and column means in turn needs many passes where the two features are correlated.

    Parameters
    ----------
    table : ndarray of shape (n, k)
        What each cell adds to a score.
    mass : ndarray of shape (n, k)
        Weight of the training cases in each cell.
    """
    n = len(table)
    by_row, by_column = mass.sum(axis=1), mass.sum(axis=0)
    normal = np.block([[np.diag(by_row), mass], [mass.T, np.diag(by_column)]])
    weighted = mass * table
    right = np.concatenate([weighted.sum(axis=1), weighted.sum(axis=0)])
    # Constants can move between rows and columns, and cells without mass say nothing: of all solutions the smallest.
    effects = np.linalg.lstsq(normal, right, rcond=None)[0]
    # One step of refinement removes what rounding in the first solution left.
    effects += np.linalg.lstsq(normal, right - normal @ effects, rcond=None)[0]
    rows, columns = effects[:n], effects[n:]
    total = mass.sum()
    row_mean, column_mean = float(by_row @ rows / total), float(by_column @ columns / total)
    # Rows and columns that no training case is in have no effect of their own.
    rows = np.where(by_row > 0, rows - row_mean, 0.0)
    columns = np.where(by_column > 0, columns - column_mean, 0.0)
    constant = row_mean + column_mean
    return Purified(table - rows[:, None] - columns - constant, rows, columns, constant)
