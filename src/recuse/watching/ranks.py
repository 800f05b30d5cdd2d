"""Where a new value stands among those before it: uniform as long as all are alike, whatever their distribution.

While the cases are exchangeable, the rank of each value among all values up to it, with ties broken at random, is
uniform and independent of the ranks before (conformal p-values). This also holds within groups of cases that are known
beforehand, such as those of about the same probability: then the ranks tell of changes within the groups only, and not
of how many cases fall into each.

The reference takes part like everything that came before, so its size needs no correction; what comes after a change
becomes part of what later values are compared with, so that a change is seen best soon after it.

References
----------
Vovk, Gammerman and Shafer, "Algorithmic learning in a random world", 2022: conformal p-values, within groups, and bets
on them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort

import numpy as np

from ..arrays import Flags, Floats, Indices

_BLOCK = 100  # cases; a few hundred are enough to find a large change within one batch
_SAMPLES = 299
_EQUAL = 1e-9  # sums of the same weights in another order


class ValueRanks:
    """Ranks of new values among those before them, group by group; small ranks are those of large values.

    Parameters
    ----------
    random : numpy.random.Generator
        Breaks ties.
    """

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random
        self._seen: dict[int, list[float]] = {}

    def start(self, values: Floats, groups: Indices) -> None:
        """Take in the reference."""
        for group in np.unique(groups):
            self._seen[int(group)] = sorted(values[groups == group].tolist())

    def add(self, values: Floats, groups: Indices) -> Floats:
        """Rank each value in [0, 1] among those of its group before it, and itself."""
        ranks = np.empty(len(values))
        shares = self._random.uniform(size=len(values))
        for i, (value, group) in enumerate(zip(values.tolist(), groups.tolist(), strict=True)):
            seen = self._seen.setdefault(group, [])
            low, high = bisect_left(seen, value), bisect_right(seen, value)
            ranks[i] = (len(seen) - high + shares[i] * (high - low + 1)) / (len(seen) + 1)
            insort(seen, value)
        return ranks


class CountRanks:
    """Ranks of counts of true values, block by block, among those that chance would make of the same totals.

    While the values of each group are exchangeable, the number of true ones in a block is hypergeometric given the
    totals T of the group after the block: they could as well have come in any other order. So the rank of the block's
    weighted count among `_SAMPLES` counts drawn from that law, with ties broken at random, is uniform whatever T is.
    Earlier ranks follow from the order of the values before the block, which is as arbitrary whatever T and the count
    of the block are; from the last block backwards this makes ranks of different blocks independent. It takes weights,
    and bets, that depend on no value: what looks at the totals before the block knows more than T.

    Counts with weights on different groups have ranks that are independent of each other as well. Those of counts of
    the same groups are not, and how they depend on each other says something about T. So evidence from such ranks is
    valid for each, but must not be added up.

    Parameters
    ----------
    weights : ndarray of shape (n_counts, n_groups)
        Of the groups in each count.
    random : numpy.random.Generator
        Samples, and breaks ties.
    """

    def __init__(self, weights: Floats, random: np.random.Generator) -> None:
        self._weights, self._random = weights, random
        self._cases = self._true = np.zeros(weights.shape[1], dtype=np.intp)

    def start(self, values: Flags, groups: Indices) -> None:
        """Take in the reference."""
        self._cases, self._true = self._counted(values, groups)

    def add(self, values: Flags, groups: Indices, shares: Floats) -> tuple[Floats, Floats]:
        """Ranks of each count in blocks of these cases, (n_blocks, n_counts), and spreads of the counts beside them.

        The spreads are those that counts would have if true values were as frequent as `shares`, (n_groups,), says.
        """
        order = self._random.permutation(len(values))
        blocks = np.array_split(order, max(1, round(len(order) / _BLOCK)))
        ranks, spreads = zip(*(self._block(values[rows], groups[rows], shares) for rows in blocks), strict=True)
        return np.array(ranks), np.array(spreads)

    def _block(self, values: Flags, groups: Indices, shares: Floats) -> tuple[Floats, Floats]:
        before = self._cases
        cases, true = self._counted(values, groups)
        self._cases, self._true = before + cases, self._true + true
        drawn = self._random.hypergeometric(self._true, self._cases - self._true, cases, size=(_SAMPLES, len(cases)))
        found, by_chance = self._weights @ true, drawn @ self._weights.T
        tied = np.abs(by_chance - found) <= _EQUAL * np.abs(self._weights).max()
        n_larger = ((by_chance > found) & ~tied).sum(axis=0)
        ranks = (n_larger + self._random.uniform(size=len(found)) * (tied.sum(axis=0) + 1)) / (_SAMPLES + 1)
        variances = shares * (1 - shares) * cases * before / np.maximum(self._cases, 1)
        return ranks, np.sqrt(self._weights**2 @ variances)

    def _counted(self, values: Flags, groups: Indices) -> tuple[Indices, Indices]:
        n_groups = self._weights.shape[1]
        return np.bincount(groups, minlength=n_groups), np.bincount(groups[values], minlength=n_groups)
