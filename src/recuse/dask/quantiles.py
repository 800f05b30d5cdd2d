"""Exact quantiles of numbers that lie in several places: the order of floats is that of integers, and counts add up."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats

_PROBES = 63  # by which each interval is divided at once: ten questions in all


def quantiles(count_up_to: Callable[[Floats], Floats], n: int, shares: Floats) -> Floats:
    """Quantiles of `n` numbers, between neighbours where a share falls between them, as `numpy.quantile`.

    Parameters
    ----------
    count_up_to : callable
        How many numbers are at most each of some values.
    n : int
        How many there are, 1 or more.
    shares : ndarray
        From 0 to 1.
    """
    position = shares * (n - 1)
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, n - 1)
    ranks = np.unique(np.concatenate([below, above]))
    values = dict(zip(ranks.tolist(), order_statistics(count_up_to, ranks).tolist(), strict=True))
    low, high = (np.array([values[rank] for rank in at.tolist()]) for at in (below, above))
    return low + (high - low) * (position - below)


def order_statistics(count_up_to: Callable[[Floats], Floats], ranks: NDArray[np.int64]) -> Floats:
    """The numbers of some ranks, counted from 0 in increasing order."""
    low = np.full(len(ranks), _to_integer(np.array(-np.inf)), dtype=object)
    high = np.full(len(ranks), _to_integer(np.array(np.inf)), dtype=object)
    while (high - low > 0).any():
        # Python's integers: the distance between the ends does not fit into 64 bits.
        probes = low[:, None] + (high - low)[:, None] * np.arange(1, _PROBES + 1) // (_PROBES + 1)
        counts = count_up_to(_to_float(probes.ravel())).reshape(probes.shape)
        enough = counts > ranks[:, None]
        first = np.where(enough.any(axis=1), enough.argmax(axis=1), _PROBES)
        at = np.arange(len(ranks))
        high = np.where(first < _PROBES, probes[at, np.minimum(first, _PROBES - 1)], high)
        low = np.where(first > 0, np.minimum(probes[at, np.maximum(first - 1, 0)] + 1, high), low)
    return _to_float(high)


def _to_integer(value: Floats) -> int:
    """The place of a float among all floats."""
    bits = int(value.view(np.int64))
    return bits if bits >= 0 else -(bits & (2**63 - 1))


def _to_float(places: NDArray[np.object_]) -> Floats:
    """The floats at some places."""
    bits = np.array([place if place >= 0 else (-place) - 2**63 for place in places.tolist()], dtype=np.int64)
    return bits.view(np.float64)
