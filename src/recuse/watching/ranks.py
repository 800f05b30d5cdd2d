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


class FlagRanks:
    """The same for values that are true or false: counts are all that has to be remembered.

    Parameters
    ----------
    random : numpy.random.Generator
        Breaks ties.
    """

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random
        self._counts: dict[int, tuple[int, int]] = {}  # false and true ones seen, by group

    def start(self, values: Flags, groups: Indices) -> None:
        """Take in the reference."""
        for group in np.unique(groups):
            n_true = int(np.count_nonzero(values[groups == group]))
            self._counts[int(group)] = int(np.count_nonzero(groups == group)) - n_true, n_true

    def add(self, values: Flags, groups: Indices) -> Floats:
        """Rank each value in [0, 1] among those of its group before it, and itself."""
        ranks = self._random.uniform(size=len(values))
        for group in np.unique(groups):
            rows = groups == group
            n_false, n_true = self._counts.get(int(group), (0, 0))
            chosen = values[rows]
            true_before = n_true + np.cumsum(chosen) - chosen
            before = n_false + n_true + np.arange(len(chosen))
            alike = np.where(chosen, true_before, before - true_before)
            larger = np.where(chosen, 0, true_before)
            ranks[rows] = (larger + ranks[rows] * (alike + 1)) / (before + 1)
            added = int(np.count_nonzero(chosen))
            self._counts[int(group)] = n_false + len(chosen) - added, n_true + added
        return ranks
