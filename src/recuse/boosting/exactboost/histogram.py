"""ScoreHistogram: the scores of two classes grouped by value, which is all that an objective sees of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Flags, Floats


@dataclass(frozen=True, eq=False)
class ScoreHistogram:
    """Scores of two classes, grouped by value.

    Attributes
    ----------
    values : ndarray of shape (n,)
        Distinct judged scores, increasing.
    pos, neg : ndarray of shape (n,)
        Weight of the positives and of the negatives at each.
    """

    values: Floats
    pos: Floats
    neg: Floats

    @classmethod
    def of(cls, score: Floats, positive: Flags, weight: Floats | None = None, margin: float = 0.0) -> ScoreHistogram:
        """Group scores; those of positives are judged at `margin` less."""
        weight = np.ones(len(score)) if weight is None else weight
        values, at = np.unique(np.where(positive, score - margin, score), return_inverse=True)
        n = len(values)
        pos, neg = np.zeros(n), np.zeros(n)
        pos += np.bincount(at, np.where(positive, weight, 0.0), minlength=n)
        neg += np.bincount(at, np.where(positive, 0.0, weight), minlength=n)
        return cls(values, pos, neg)

    def gaps(self) -> Floats:
        """Gap between the distributions of the score in the two classes, at each value."""
        gaps: Floats = np.cumsum(self.neg) / self.neg.sum() - np.cumsum(self.pos) / self.pos.sum()
        return gaps

    def weights_below(self) -> tuple[Floats, Floats]:
        """Weights of the positives and of the negatives below each of the n + 1 places for a threshold."""
        return np.append(0.0, np.cumsum(self.pos)), np.append(0.0, np.cumsum(self.neg))

    def threshold(self, i: int) -> float:
        """A threshold above the first i of the values: halfway to the next, infinite at the ends."""
        if i == 0:
            return -np.inf
        if i == len(self.values):
            return np.inf
        return float(self.values[i - 1] + (self.values[i] - self.values[i - 1]) / 2)
