"""What rounding must not decide: sums in an order of their own, and scores that are on a threshold.

A product of matrices adds in an order that depends on how many rows there are, where a row stands among them, and on
the processor. The last digits of a case's score would then depend on the batch it comes in, and so would its answer
where the score lies within rounding of a threshold.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .arrays import Flags, Floats

EPS = float(np.finfo(np.float64).eps)
# Scores of other libraries within this share of a threshold are on it: more than their rounding, less than matters.
SAME = 1e-10
# Where they round more, those within this share are computed again, each case by itself; also in single precision.
NEAR = 1e-4
# NumPy sums up to 8192 numbers of a row in one stretch, and where it splits longer ones depends on the other rows.
_WIDTH = 4096


def row_sums(X: Any, coef: Floats) -> Floats:
    """``X @ coef`` in an order of additions that depends on the length of a row only, not on the other rows.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
        In any memory order.
    coef : ndarray of shape (p,) or (p, k)
        Weights of the columns of X; several columns of weights are used one after the other.
    """
    if coef.ndim == 2:
        return np.column_stack([row_sums(X, column) for column in coef.T])
    if not isinstance(X, np.ndarray):
        return np.asarray(X @ coef, dtype=np.float64).ravel()  # SciPy goes through a sparse matrix row by row
    X, coef = np.ascontiguousarray(X, dtype=np.float64), np.ascontiguousarray(coef)
    total = np.zeros(len(X))
    for start in range(0, X.shape[1], _WIDTH):
        part = slice(start, start + _WIDTH)
        total += np.einsum("ij,j->i", X[:, part], coef[part])  # without BLAS
    return total


def on_threshold(scores: Floats, thresholds: Iterable[float]) -> Floats:
    """The scores, those within rounding of a threshold moved onto it; infinite thresholds have none."""
    finite, size = _finite(thresholds)
    for threshold in finite:
        scores = np.where(np.abs(scores - threshold) <= SAME * size, threshold, scores)
    return scores


def near_threshold(scores: Floats, thresholds: Iterable[float]) -> Flags:
    """Which scores are so near a threshold that those of a model with rough scores may be on either side."""
    finite, size = _finite(thresholds)
    near = np.zeros(len(scores), dtype=bool)
    for threshold in finite:
        near |= np.abs(scores - threshold) <= NEAR * size
    return near


def differs(scores: Floats, others: Floats, thresholds: Iterable[float]) -> bool:
    """Whether two ways to compute the same scores differ by more than a small part of what counts as on a threshold."""
    _, size = _finite(thresholds)
    with np.errstate(invalid="ignore"):  # infinite in both: no difference
        return bool((np.abs(scores - others) > SAME / 100 * size).any())


def _finite(thresholds: Iterable[float]) -> tuple[list[float], float]:
    """The finite thresholds, and the size of scores that they tell of: those at 0 say nothing, and count as 1."""
    finite = [float(threshold) for threshold in thresholds if np.isfinite(threshold)]
    return finite, max(map(abs, finite), default=0.0) or 1.0
