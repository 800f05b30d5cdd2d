"""Which rows are held out: by a rule that knows the number of a row, or its group, and nothing of partitions.

A row's fold is a hash of the seed and of its number in the whole table, or of its group: the same table in other
partitions, or on one machine, has the same folds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Indices

_ODD = np.uint64(0x9E3779B97F4A7C15)  # the golden ratio in 64 bits: neighbouring numbers end up far apart


def hashed(keys: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    """64 well-mixed bits of each key."""
    with np.errstate(over="ignore"):
        x = keys * _ODD + np.uint64(seed % 2**64) * np.uint64(0xD1B54A32D192ED03) + _ODD
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return x ^ (x >> np.uint64(31))


def group_keys(groups: Any) -> NDArray[np.uint64]:
    """A number for each row that depends on the label of its group alone."""
    from pandas.util import hash_array

    from ..labels import as_labels

    labels = as_labels(groups)
    if labels.dtype.kind in "SUT":
        labels = labels.astype(object)
    return np.asarray(hash_array(labels, categorize=False), dtype=np.uint64)


@dataclass(frozen=True)
class FoldRule:
    """How rows are shared out.

    Attributes
    ----------
    n_folds : int
        Number of folds.
    single : bool
        Whether only the first is held out, as it is in large tables; the held-out rows are then judged in two halves.
    seed : int
        Shuffles them.
    """

    n_folds: int
    single: bool
    seed: int

    @property
    def held_out(self) -> list[int]:
        """The folds that are held out, one after the other."""
        return [0] if self.single else list(range(self.n_folds))

    @property
    def n_parts(self) -> int:
        """Number of parts that held-out rows are judged in, each by what the others choose."""
        return 2 if self.single else self.n_folds

    def folds_of(self, keys: NDArray[np.uint64]) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
        """The fold of each row, and the part it is judged in: -1 for rows that are never held out."""
        bits = hashed(keys, self.seed)
        fold = (bits % np.uint64(self.n_folds)).astype(np.int16)
        if not self.single:
            return fold, fold
        half = (bits // np.uint64(self.n_folds) % np.uint64(2)).astype(np.int16)
        return fold, np.where(fold == 0, half, -1).astype(np.int16)

    def splits(self, keys: NDArray[np.uint64]) -> list[tuple[Indices, Indices]]:
        """The same folds as lists of training and test rows, for the parameter `cv` on one machine."""
        fold, _ = self.folds_of(keys)
        return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in self.held_out]
