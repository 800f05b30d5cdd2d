"""The additive form for several classes: for every feature one step function per class score, and one for acceptance.

    h_k(x) = h0_k + sum_f g_kf(x_f),    q(x) = r0 + sum_f q_f(x_f)

The class scores of every cell sum to 0, and all functions have the mean 0 over the training cases: so both are unique.
Prediction is one binary search per feature, with NumPy only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....arrays import Floats, Indices
from ...binning import Bins

_BLOCK = 4_096  # rows worked on at once: their scores stay in the cache


@dataclass(frozen=True, eq=False)
class ClassShapeFunction:
    """What one feature adds to the score of each class, and to the acceptance of a case.

    Attributes
    ----------
    feature : int
        Column.
    cuts : ndarray of shape (n,)
        Increasing; cell j holds the values above cut j - 1 and not above cut j.
    h : ndarray of shape (n + 1, n_classes)
        What the value adds to the score of each class, by cell.
    r : ndarray of shape (n + 1,)
        What it adds to the acceptance score, beyond what it adds to the best class; 0 where no rejector was learned.
    missing : tuple of (ndarray of shape (n_classes,), float)
        The same two when the value is missing.
    levels : tuple
        For a category its levels, one per cell; the cuts lie between their numbers. Empty for other features.
    share : ndarray of shape (n + 2,)
        Share of the training cases, by weight, in each cell and, last, of those with a missing value.
    """

    feature: int
    cuts: Floats
    h: Floats
    r: Floats
    missing: tuple[Floats, float]
    levels: tuple[Any, ...]
    share: Floats

    def cells(self, column: NDArray[Any]) -> Indices:
        """Cell of each value; the one after the last for missing values."""
        # NaN sorts behind the infinity at the end.
        return np.searchsorted(np.append(self.cuts, np.inf), column, side="left")

    @property
    def table(self) -> Floats:
        """All by cell, missing values last: the class scores, and behind them acceptance."""
        return np.column_stack([np.vstack([self.h, self.missing[0]]), np.append(self.r, self.missing[1])])


@dataclass(frozen=True, eq=False)
class ClassForm:
    """Intercepts, and the shape functions of the features that matter.

    Attributes
    ----------
    h0 : ndarray of shape (n_classes,)
        Intercepts of the class scores.
    r0 : float
        Intercept of acceptance.
    shapes : list of ClassShapeFunction
        One for each feature the model uses.
    """

    h0: Floats
    r0: float
    shapes: list[ClassShapeFunction]

    def evaluate(self, X: NDArray[Any]) -> tuple[Floats, Floats]:
        """Class scores h, shape (m, n_classes), and what is added to the best of them for acceptance."""
        scores = np.empty((len(X), len(self.h0) + 1))
        scores[:] = np.append(self.h0, self.r0)
        tables = [(shape, shape.table) for shape in self.shapes]
        for start in range(0, len(X), _BLOCK):
            block, out = X[start : start + _BLOCK], scores[start : start + _BLOCK]
            for shape, table in tables:
                out += table[shape.cells(np.ascontiguousarray(block[:, shape.feature], dtype=np.float64))]
        return scores[:, :-1], scores[:, -1]

    def contributions(self, X: NDArray[Any]) -> Floats:
        """What each feature adds to every class score and, last, to acceptance: shape (m, p, n_classes + 1)."""
        added = np.zeros((len(X), X.shape[1], len(self.h0) + 1))
        for shape in self.shapes:
            added[:, shape.feature] = shape.table[shape.cells(X[:, shape.feature])]
        return added

    def spreads(self, n_features: int) -> tuple[Floats, Floats]:
        """Mean distance from 0 of what each feature adds to the class scores, and to acceptance."""
        h, r = np.zeros(n_features), np.zeros(n_features)
        for shape in self.shapes:
            size = np.abs(shape.table)
            h[shape.feature] += shape.share @ size[:, :-1].sum(axis=1)
            r[shape.feature] += shape.share @ size[:, -1]
        return h, r


def class_form(tables: Floats, intercept: Floats, n_classes: int, bins: Bins, weight: Floats) -> ClassForm:
    """The form of full tables of J outputs, of which the first are the classes and one more may be a rejection.

    Parameters
    ----------
    tables : ndarray of shape (cells, J)
        What every cell of every feature adds to each output.
    intercept : ndarray of shape (J,)
        Intercepts.
    n_classes : int
        Number of classes: J, or J - 1 where a rejection is the last output.
    bins : Bins
        The cells.
    weight : ndarray
        Weights of the coded cases.
    """
    shares, tables, constant = bins.shares(weight), _centred(tables, n_classes), _centred(intercept[None], n_classes)[0]
    shapes = []
    for f in range(len(bins.cuts)):
        here = slice(int(bins.offsets[f]), int(bins.offsets[f + 1]))
        table, share = tables[here].copy(), shares[here]
        if not bins.has_missing[f]:
            table[-1] = share @ table  # nothing is known of missing values: they add what an average case does
        if table.any():
            mean = share @ table
            constant = constant + mean
            shapes.append(_shape(f, table - mean, share, bins))
    return ClassForm(constant[:-1], float(constant[-1]), shapes)


def _centred(scores: Floats, n_classes: int) -> Floats:
    """Class scores that sum to 0, and behind them minus that of a rejection: the softmax stays what it is."""
    mean = scores[:, :n_classes].mean(axis=1, keepdims=True)
    rejection = scores[:, n_classes:] - mean if scores.shape[1] > n_classes else np.zeros_like(mean)
    return np.column_stack([scores[:, :n_classes] - mean, -rejection])


def _shape(f: int, table: Floats, share: Floats, bins: Bins) -> ClassShapeFunction:
    """The shape function of a feature: neighbouring cells that are equal become one, levels of a category stay."""
    missing = table[-1, :-1].copy(), float(table[-1, -1])
    if f in bins.levels:
        cell, names = bins.levels[f].cell, bins.levels[f].names
        per_level = share[cell] / np.bincount(cell, minlength=len(table))[cell]
        cuts = np.arange(0.5, len(cell) - 1)
        return ClassShapeFunction(
            f, cuts, table[cell, :-1], table[cell, -1], missing, names, np.append(per_level, share[-1])
        )
    change = np.flatnonzero((table[1:-1] != table[:-2]).any(axis=1))
    keep = np.append(change, len(table) - 2)
    merged = np.add.reduceat(share[:-1], np.append(0, change + 1))
    return ClassShapeFunction(
        f, bins.cuts[f][change], table[keep, :-1], table[keep, -1], missing, (), np.append(merged, share[-1])
    )
