"""The additive form: whatever the number of rounds, one step function per feature for h and one for r.

    h(x) = h0 + sum_f g_f(x_f),    r(x) = r0 + sum_f q_f(x_f)

and, where pairs of features act together, step functions of two features beside them: see `surfaces`. Prediction is
one binary search per feature, with NumPy only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Indices
from .binning import Bins, LevelCells
from .surfaces import SurfaceFunction, SurfaceTables

_BLOCK = 16_384  # rows worked on at once: their scores stay in the cache


@dataclass(frozen=True, eq=False)
class ShapeFunction:
    """What one feature adds to the two scores.

    Attributes
    ----------
    feature : int
        Column.
    cuts : ndarray of shape (n,)
        Increasing; cell j holds the values above cut j - 1 and not above cut j.
    h, r : ndarray of shape (n + 1,)
        What the value adds to the class score and to the acceptance score, by cell.
    missing : tuple of float
        The same two when the value is missing.
    levels : tuple
        For a category its levels, one per cell; the cuts lie between their numbers. Empty for other features.
    share : ndarray of shape (n + 2,), optional
        Share of the training cases, by weight, in each cell and, last, of those with a missing value.
    """

    feature: int
    cuts: Floats
    h: Floats
    r: Floats
    missing: tuple[float, float]
    levels: tuple[Any, ...] = ()
    share: Floats | None = None

    def cells(self, column: NDArray[Any]) -> Indices:
        """Cell of each value; the one after the last for missing values."""
        # NaN sorts behind the infinity at the end.
        return np.searchsorted(np.append(self.cuts, np.inf), column, side="left")

    def evaluate(self, column: NDArray[Any]) -> tuple[Floats, Floats]:
        """What each value adds to h and r."""
        cells = self.cells(column)
        return np.append(self.h, self.missing[0])[cells], np.append(self.r, self.missing[1])[cells]

    @property
    def means(self) -> tuple[float, float]:
        """What the feature adds to h and r on average over the training cases; 0 where their shares are not known."""
        if self.share is None:
            return 0.0, 0.0
        h, r = np.append(self.h, self.missing[0]), np.append(self.r, self.missing[1])
        return float(self.share @ h), float(self.share @ r)


@dataclass(frozen=True, eq=False)
class AdditiveForm:
    """Two intercepts, and the shape functions of the features that matter.

    Attributes
    ----------
    h0, r0 : float
        Intercepts.
    shapes : list of ShapeFunction
        One for each feature the model uses.
    surfaces : sequence of SurfaceFunction
        One for each pair of features that act together.
    """

    h0: float
    r0: float
    shapes: list[ShapeFunction]
    surfaces: Sequence[SurfaceFunction] = ()

    @property
    def n_cells(self) -> int:
        """Cells of all features and pairs: the size of the model."""
        return sum(len(shape.h) + 1 for shape in self.shapes) + sum(surface.h.size for surface in self.surfaces)

    def evaluate(self, X: NDArray[Any], n_threads: int = 1) -> tuple[Floats, Floats]:
        """Scores h and r of each case."""
        scores = np.empty(len(X), dtype=np.complex128)
        # h and r side by side as one complex number: one table look-up for both.
        tables = [
            (s.feature, np.append(s.cuts, np.inf), np.append(s.h, s.missing[0]) + 1j * np.append(s.r, s.missing[1]))
            for s in self.shapes
        ]
        pairs = SurfaceTables(self.surfaces)

        def work(start: int) -> None:
            block, out = X[start : start + _BLOCK], scores[start : start + _BLOCK]
            out[:] = complex(self.h0, self.r0)
            for feature, cuts, table in tables:
                column = np.ascontiguousarray(block[:, feature], dtype=np.float64)
                out += table[cuts.searchsorted(column)]
            pairs.add(block, out)

        starts = range(0, len(X), _BLOCK)
        if n_threads > 1 and len(starts) > 1:
            # A plain pool of threads: joblib polls for results every 10 ms, about the time a block takes.
            with ThreadPoolExecutor(n_threads) as threads:
                list(threads.map(work, starts))
        else:
            for start in starts:
                work(start)
        return scores.real.copy(), scores.imag.copy()

    def contributions(self, X: NDArray[Any]) -> tuple[Floats, Floats]:
        """What each feature adds to h and to r: one row per case, one column per feature, then one per pair."""
        p = X.shape[1]
        h, r = np.zeros((2, len(X), p + len(self.surfaces)))
        for shape in self.shapes:
            h[:, shape.feature], r[:, shape.feature] = shape.evaluate(X[:, shape.feature])
        for j, surface in enumerate(self.surfaces, start=p):
            h[:, j], r[:, j] = surface.evaluate(X)
        return h, r

    def deviations(self, X: NDArray[Any]) -> tuple[Floats, Floats]:
        """The contributions, each less its mean over the training cases: what sets a case apart from the others.

        A constant in a shape function is worth as much in the intercept; the deviations do not depend on where it is.
        """
        h, r = self.contributions(X)
        for shape in self.shapes:
            of_h, of_r = shape.means
            h[:, shape.feature] -= of_h
            r[:, shape.feature] -= of_r
        for j, surface in enumerate(self.surfaces, start=X.shape[1]):
            of_h, of_r = surface.means
            h[:, j] -= of_h
            r[:, j] -= of_r
        return h, r


def additive_form(
    h0: float,
    r0: float,
    tables: tuple[Floats, Floats],
    bins: Bins,
    weight: Floats | None = None,
    surfaces: Sequence[SurfaceFunction] = (),
    shares: Floats | None = None,
) -> AdditiveForm:
    """Merge equal neighbouring cells of full tables, and drop the features that add nothing.

    Parameters
    ----------
    h0, r0 : float
        Intercepts.
    tables : tuple of ndarray
        What every cell of every feature adds to h and to r.
    bins : Bins
        The cells.
    weight : ndarray, optional
        Weights of the coded cases: how many of them lie in each cell is then known.
    surfaces : sequence of SurfaceFunction
        Pair terms beside them.
    shares : ndarray, optional
        The share of the weight in each cell, where the cases are elsewhere.
    """
    if shares is None:
        shares = np.full(bins.n_cells, np.nan) if weight is None else bins.shares(weight)
    return AdditiveForm(h0, r0, list(_shapes(tables, bins, shares)), surfaces)


def _shapes(tables: tuple[Floats, Floats], bins: Bins, shares: Floats) -> Iterator[ShapeFunction]:
    """The shape functions of the features that add anything."""
    for f, cut in enumerate(bins.cuts):
        h, r, share = (table[bins.offsets[f] : bins.offsets[f + 1]] for table in (*tables, shares))
        if h.any() or r.any():
            yield (
                shape_of_levels(f, bins.levels[f], h, r, share)
                if f in bins.levels
                else merged_shape(f, cut, h, r, share)
            )


def merged_shape(f: int, cuts: Floats, h: Floats, r: Floats, share: Floats) -> ShapeFunction:
    """The shape function of full tables, with equal neighbours merged; missing values come last."""
    change = np.flatnonzero((h[1:-1] != h[:-2]) | (r[1:-1] != r[:-2]))
    keep = np.append(change, len(cuts))
    missing = float(h[-1]), float(r[-1])
    return ShapeFunction(f, cuts[change], h[keep], r[keep], missing, share=_merged(share, change))


def shape_of_levels(f: int, levels: LevelCells, h: Floats, r: Floats, share: Floats) -> ShapeFunction:
    """The shape function of a category, level by level in the order of their codes; levels of one cell share alike."""
    cell, missing = levels.cell, (float(h[-1]), float(r[-1]))
    per_level = np.append(share[cell] / np.bincount(cell, minlength=len(h))[cell], share[-1])
    known = None if np.isnan(share).any() else per_level
    return ShapeFunction(f, np.arange(0.5, len(cell) - 1), h[cell], r[cell], missing, levels.names, known)


def _merged(share: Floats, change: Indices) -> Floats | None:
    """Shares of merged cells, None where they are not known."""
    if np.isnan(share).any():
        return None
    starts = np.concatenate([[0], change + 1]).astype(np.intp)
    return np.append(np.add.reduceat(share[:-1], starts), share[-1])
