"""Contributions: what each column adds to the score of a case, above or below the score of a typical one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Floats, Indices

LOG_ODDS, PROBABILITY, SCORE = "log-odds", "probability", "score"
_ADDS_UP = 1e-5  # relative: models of numbers in single precision are off by about this much


@dataclass(frozen=True, eq=False)
class Contributions:
    """What each column adds to the score of each case: score = base + the sum over the columns.

    Attributes
    ----------
    amounts : ndarray of shape (n_cases, n_columns)
        Greater than 0 towards the second class.
    base : ndarray of shape (n_cases,)
        Score of a typical case.
    scale : str
        What the score is: "log-odds" or "probability" of the second class, or a "score" of another kind.
    error : ndarray of shape (n_cases, n_columns), optional
        Standard errors, where the amounts are estimated; None where they are exact.
    note : str
        What a sentence has to add about them.
    pairs : tuple of (int, int)
        Columns of each pair whose joint effect has an amount of its own; these stand behind those of the columns.
    between : ndarray of int of shape (n_cases, 2), optional
        With three or more classes: numbers of the two that the amounts of each case tell apart.
    """

    amounts: Floats
    base: Floats
    scale: str
    error: Floats | None = None
    note: str = ""
    pairs: tuple[tuple[int, int], ...] = ()
    between: Indices | None = None

    @property
    def score(self) -> Floats:
        """The score of each case."""
        total: Floats = self.base + self.amounts.sum(axis=1)
        return total

    def by_source(self, sources: Indices, n_columns: int) -> Contributions:
        """Add up the columns that were made from one and the same column, and the pairs of such columns.

        Parameters
        ----------
        sources : ndarray of int of shape (n_columns of these,)
            Column that each is made from.
        n_columns : int
            How many columns there are to come from.
        """
        made_from = sources.tolist()
        of_pairs = [tuple(sorted((made_from[a], made_from[b]))) for a, b in self.pairs]
        pairs = tuple(dict.fromkeys((a, b) for a, b in of_pairs if a != b))  # others are a column's own
        places = {pair: n_columns + k for k, pair in enumerate(pairs)} | {(j, j): j for j in range(n_columns)}
        sources = np.array([*made_from, *(places[a, b] for a, b in of_pairs)], dtype=np.intp)
        amounts = add_up(self.amounts, sources, n_columns + len(pairs))
        # Errors of parts of one column are not independent: the sum of them bounds that of the whole.
        error = None if self.error is None else add_up(self.error, sources, n_columns + len(pairs))
        return replace(self, amounts=amounts, error=error, pairs=pairs)

    def without_pairs(self) -> Contributions:
        """Those of the columns alone: half of what a pair adds counts for either of its columns."""
        n_columns = self.amounts.shape[1] - len(self.pairs)
        amounts = self.amounts[:, :n_columns].copy()
        for k, pair in enumerate(self.pairs, start=n_columns):
            for column in pair:
                amounts[:, column] += self.amounts[:, k] / 2
        return replace(self, amounts=amounts, pairs=())

    def rescaled(self, score: Floats, base: Floats, scale: str) -> Contributions:
        """The same shares of the way from another base to another score, of which this one is a monotone function."""
        before, after = self.score - self.base, score - base
        known = np.abs(before) > 1e-12
        factor = np.divide(after, before, out=np.zeros_like(before), where=known)[:, None]
        error = None if self.error is None else self.error * np.abs(factor)
        amounts = self.amounts * factor
        return Contributions(amounts, np.where(known, base, score), scale, error)

    def adds_up_to(self, score: Floats) -> bool:
        """Whether base and amounts make this score, up to rounding."""
        size = np.maximum(np.abs(self.base) + np.abs(self.amounts).sum(axis=1), 1.0)
        return bool(np.all(np.abs(self.score - score) <= _ADDS_UP * size))

    @staticmethod
    def mean(parts: list[Contributions]) -> Contributions:
        """The contributions to the mean of several scores."""
        return weighted_sum(parts, [1 / len(parts)] * len(parts))

    @staticmethod
    def concatenate(parts: list[Contributions]) -> Contributions:
        """Those of some cases, then those of others."""
        first = parts[0]
        error = (
            None if first.error is None else np.concatenate([part.error for part in parts if part.error is not None])
        )
        amounts = np.concatenate([part.amounts for part in parts])
        return Contributions(amounts, np.concatenate([part.base for part in parts]), first.scale, error, first.note)


def add_up(amounts: Floats, sources: Indices, n_columns: int) -> Floats:
    """Sum the columns of each source."""
    out = np.zeros((len(amounts), n_columns))
    for amount, column in zip(amounts.T, sources.tolist(), strict=True):
        out[:, column] += amount
    return out


def weighted_sum(parts: list[Contributions], weights: Any) -> Contributions:
    """The contributions to a weighted sum of scores; estimates of different scores are independent."""
    total = Contributions(parts[0].amounts * 0.0, parts[0].base * 0.0, parts[0].scale)
    amounts, base, squared = total.amounts, total.base, None
    for part, weight in zip(parts, weights, strict=True):
        amounts = amounts + weight * part.amounts
        base = base + weight * part.base
        if part.error is not None:
            squared = (0.0 if squared is None else squared) + (weight * part.error) ** 2
    return Contributions(amounts, base, total.scale, None if squared is None else np.sqrt(squared))
