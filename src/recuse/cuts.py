"""The places where a sample of scores can be cut: between its distinct values, never on one of them.

Cuts are numbered 0 (below every score) to m (above every score), so that k counts the distinct scores below cut k.
Whether a tie is on one side or the other must not depend on rounding: a threshold lies between two distinct values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Floats, Indices


@dataclass(frozen=True)
class Cuts:
    """A sample of scores sorted and grouped by distinct value.

    Attributes
    ----------
    values : ndarray of shape (m,)
        Distinct scores, ascending.
    order : ndarray of int of shape (n,)
        Positions of the cases in order of their score.
    ends : ndarray of int of shape (m,)
        Last position in `order` of each distinct score.
    """

    values: Floats
    order: Indices
    ends: Indices

    @classmethod
    def of(cls, scores: Floats) -> Cuts:
        """Sort and group a sample."""
        order = np.argsort(scores)
        ordered = scores[order]
        ends = np.append(np.flatnonzero(np.diff(ordered)), len(ordered) - 1)
        return cls(ordered[ends], order, ends)

    def total_below(self, amounts: Floats) -> Floats:
        """Sum of the cases' `amounts` below each of the m + 1 cuts."""
        return np.append(0.0, np.cumsum(amounts[self.order])[self.ends])

    def above(self, k: int) -> float:
        """A threshold t such that exactly the scores above cut k are greater than t; infinite at either end."""
        if k in (0, len(self.values)):
            return -np.inf if k == 0 else np.inf
        left, middle, right = self._around(k)
        return left if middle >= right else middle  # neighbouring floats have no middle

    def below(self, k: int) -> float:
        """A threshold t such that exactly the scores below cut k are less than t; infinite at either end."""
        if k in (0, len(self.values)):
            return -np.inf if k == 0 else np.inf
        left, middle, right = self._around(k)
        return right if middle <= left else middle

    def _around(self, k: int) -> tuple[float, float, float]:
        """Distinct scores on either side of an inner cut, and the middle between them."""
        left, right = float(self.values[k - 1]), float(self.values[k])
        return left, left + (right - left) / 2, right
