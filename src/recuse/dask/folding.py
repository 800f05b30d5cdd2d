"""Which rows are held out: by a rule that knows the number of a row, or its group, and nothing of partitions.

A row's fold is a hash of the seed and of its number in the whole table, or of its group: the same table in other
partitions, or on one machine, has the same folds.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, time
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Indices
from ..labels import to_python

_ODD = np.uint64(0x9E3779B97F4A7C15)  # the golden ratio in 64 bits: neighbouring numbers end up far apart


def hashed(keys: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    """64 well-mixed bits of each key."""
    with np.errstate(over="ignore"):
        x = keys * _ODD + np.uint64(seed % 2**64) * np.uint64(0xD1B54A32D192ED03) + _ODD
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return x ^ (x >> np.uint64(31))


def group_keys(groups: Any) -> NDArray[np.uint64]:
    """A number for each row that depends on the label of its group alone, not on the other labels or their type.

    A partition with text among its numbers comes in another type than the next one of the same table: 1, 1.0 and True
    are one group in all of them, and "1" is another. Two groups may get the same number, which keeps them together and
    tears none apart.
    """
    labels = np.asarray(groups)
    labels = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if labels.ndim != 1:
        raise ValueError(f"groups must have one label per case; got the shape {labels.shape}.")
    if labels.dtype.kind in "biuf":
        _require_groups(np.isnan(labels))
        return _number_keys(labels)
    return _label_keys(labels)


def _require_groups(missing: NDArray[np.bool_]) -> None:
    """Refuse rows without a group."""
    if missing.any():
        raise ValueError(
            f"groups holds {int(missing.sum())} missing values (NaN, NA or None): every case needs a group. Give those "
            "without one labels of their own."
        )


def _number_keys(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Whole numbers as 64 bits, others as those of a float: a number has one key in every type that holds it."""
    if values.dtype.kind in "bi":
        return values.astype(np.int64).view(np.uint64)
    keys = values.astype(np.float64).view(np.uint64)
    whole = (np.floor(values) == values) & (values >= -(2.0**63)) & (values < 2.0**63)
    if values.dtype.kind == "u":
        whole = values <= np.iinfo(np.int64).max
    keys[whole] = values[whole].astype(np.int64).view(np.uint64)
    return keys


def _label_keys(labels: NDArray[Any]) -> NDArray[np.uint64]:
    """Keys of labels that are not all numbers, each by its own type."""
    import pandas as pd
    from pandas.util import hash_array

    codes, distinct = pd.factorize(pd.Series(labels).astype(object))
    _require_groups(codes < 0)
    plain = np.empty(len(distinct), dtype=object)
    plain[:] = [_plain(label) for label in distinct]
    is_text = np.array([isinstance(label, str) for label in plain], dtype=bool)
    keys = np.zeros(len(plain), dtype=np.uint64)
    keys[is_text] = hash_array(plain[is_text], categorize=False)
    for at in np.flatnonzero(~is_text):
        keys[at] = _number_keys(np.array([plain[at]]))[0]
    return keys[codes]


def _plain(label: Any) -> str | int | float:
    """A label as text or as a number that NumPy has."""
    label = to_python(label)
    if isinstance(label, Decimal):
        label = int(label) if label == label.to_integral_value() else float(label)
    if isinstance(label, float):
        return label
    if isinstance(label, int):
        in_64_bits = -(2**63) <= label < 2**64
        return label if in_64_bits else float(label) if abs(label) < 2**1023 else str(label)
    if isinstance(label, date | time):  # pandas' timestamps are dates
        return label.isoformat()
    if isinstance(label, str | bytes):
        return label if isinstance(label, str) else repr(label)
    raise ValueError(f"groups holds {label!r} ({type(label).__name__}): use numbers, text or dates as labels.")


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
