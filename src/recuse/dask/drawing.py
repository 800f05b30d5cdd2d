"""Drawing rows of a partitioned table by their numbers, so that it does not matter in which partition they are.

The rows of a class are numbered through all partitions, and the numbers divided into blocks of `BLOCK`. Of each block
a share is drawn by a random stream of its own, without replacement: a worker finds out which of its rows are drawn
without a word from the others, and draws the same ones however the table is partitioned.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Indices

BLOCK = 2**16


def drawn_rows(seed: tuple[int, ...], n: int, size: int, start: int = 0, stop: int | None = None) -> Indices:
    """Which of the rows from `start` to `stop` are among `size` drawn of 0, ..., n - 1; increasing.

    Parameters
    ----------
    seed : tuple of int
        What the draw depends on besides the sizes.
    n, size : int
        Rows there are, and how many of them are drawn: exactly so many.
    start, stop : int, optional
        Only these are returned; all by default.
    """
    stop = n if stop is None else stop
    if size >= n or start >= stop:
        return np.arange(start, stop)
    found = []
    for block in range(start // BLOCK, -(-stop // BLOCK)):
        low, high = block * BLOCK, min(n, (block + 1) * BLOCK)
        # Shares of blocks are rounded so that they add up to `size`: Python's integers do not overflow.
        wanted = high * size // n - low * size // n
        random = np.random.default_rng(np.random.SeedSequence([*seed, block]))
        found.append(low + np.sort(random.choice(high - low, wanted, replace=False, shuffle=False)))
    rows = np.concatenate(found)
    return rows[(rows >= start) & (rows < stop)]


class ClassSizes(NamedTuple):
    """Numbers of positives and of negatives."""

    positives: int
    negatives: int

    @property
    def total(self) -> int:
        """Of both."""
        return self.positives + self.negatives

    def at_most(self, total: int) -> ClassSizes:
        """The sizes of a stratified sample: of each class the same share, and at least one case."""
        if self.total <= total:
            return self
        positives = min(max(1, round(self.positives * total / self.total)), total - 1)
        return ClassSizes(positives, total - positives)
