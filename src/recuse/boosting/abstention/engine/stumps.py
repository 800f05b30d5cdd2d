"""Stumps that answer or reject: the families, how the best one is found, and what one says of a case.

A stump looks at one feature, cuts it at low <= high into x <= low, low < x <= high and x > high, and gives each
segment (and missing values) a label. A label is a pair of values of (h, r):

    "-" (-1, 0)   "+" (+1, 0)   "x" (0, -1) rejects   "0" (0, 0)   "a" (0, +1) accepts

Equal cuts leave the middle out, an infinite cut leaves an end out, so ordinary stumps and constants are members too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....arrays import Flags, Floats
from ...binning import Bins

LABELS = "-+x0a"
SCORE = "score"  # the family of ordinary stumps, for h alone
_WORTH_THREADS = 500_000  # from this many codes and cells on a sweep is faster in threads
_H = np.array([-1.0, 1.0, 0.0, 0.0, 0.0])
_RHO = np.array([0.0, 0.0, -1.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class Family:
    """The base functions a round may choose from.

    Attributes
    ----------
    types : ndarray of int of shape (T, 4)
        Labels of the three segments, and of missing values where training has none.
    missing : ndarray of bool of shape (T, 5)
        Labels each type may give to missing values that training has.
    values : ndarray of shape (5, 2)
        The (h, r) of each label.
    """

    types: NDArray[np.int64]
    missing: Flags
    values: Floats

    def monotone(self, sign: int) -> Family:
        """The types whose h never falls (sign 1) or never rises (-1) along the feature; all of them for 0.

        Their cuts may coincide or lie at an end: what other types become then is among the types kept.
        """
        if sign == 0:
            return self
        steps = sign * np.diff(self.values[self.types[:, :3], 0], axis=1)
        kept = np.flatnonzero((steps >= 0).all(axis=1))
        kept = np.append(kept, kept[: len(kept) % 2])  # the scan takes types two by two
        return Family(self.types[kept], self.missing[kept], self.values)


class StumpFamily(NamedTuple):
    """A family as it is written down.

    Attributes
    ----------
    types : tuple of (str, str, str)
        Types of stumps: the labels of the three segments, the label of missing values where training has none, and the
        labels that missing values may have where training has some.
    """

    types: tuple[tuple[str, str, str], ...]

    @property
    def has_r(self) -> bool:
        """Whether stumps reject, so that there is an acceptance score to learn."""
        return any("x" in segments for segments, _, _ in self.types)

    @property
    def accepts(self) -> bool:
        """Whether stumps accept, too: the opposite of a stump that rejects is then a stump."""
        return any("a" in segments for segments, _, _ in self.types)


STUMP_FAMILIES = {
    "coupled": StumpFamily(tuple((t, "x", "-+x") for t in ("-x+", "+x-", "x-+", "x+-", "-+x", "+-x"))),
    "decoupled": StumpFamily((("-++", "0", "-+0"), ("+--", "0", "-+0"), ("0x0", "x", "x0"), ("0a0", "0", "a0"))),
    SCORE: StumpFamily((("-++", "0", "-+0"), ("+--", "0", "-+0"))),
}


def make_family(name: str, gamma: float = 0.0) -> Family:
    """Build a family by name; `gamma` is added to r of the labels "-", "+" and "x", as in the paper."""
    listed = STUMP_FAMILIES[name].types
    types = np.array([[LABELS.index(a) for a in segments + unseen] for segments, unseen, _ in listed], dtype=np.int64)
    missing = np.array([[a in seen for a in LABELS] for _, _, seen in listed])
    return Family(types, missing, np.column_stack([_H, _rho(gamma)]))


def _rho(gamma: float) -> Floats:
    """The r of each label."""
    return _RHO + gamma * np.isin(list(LABELS), list("-+x"))


class Stump(NamedTuple):
    """One stump as the fitted model shows it.

    Attributes
    ----------
    feature : int
        Column.
    low, high : float
        Cuts; the segments are x <= low, low < x <= high and x > high.
    labels : str
        Labels of the three segments, such as ``"-x+"``.
    missing : str
        Label of missing values.
    gamma : float
        Added to r of the labels "-", "+" and "x".
    places : tuple of int
        For a category the place of each level; the cuts then lie between places. Empty for other features.
    """

    feature: int
    low: float
    high: float
    labels: str
    missing: str
    gamma: float = 0.0
    places: tuple[int, ...] = ()

    def evaluate(self, X: NDArray[Any]) -> tuple[Floats, Floats]:
        """Values of (h, r) of each case; a category by the number of its level."""
        x = np.asarray(X[:, self.feature], dtype=np.float64)  # cuts are not rounded to a narrower type
        if self.places:
            x = np.append(np.array(self.places, dtype=float), np.nan)[np.where(np.isnan(x), -1, x).astype(np.intp)]
        segment = np.where(x <= self.low, 0, np.where(x <= self.high, 1, 2))
        labels = np.array([LABELS.index(a) for a in self.labels + self.missing])
        label = labels[np.where(np.isnan(x), 3, segment)]
        return _H[label], _rho(self.gamma)[label]


# A stump in terms of bins: feature, bins before the first and before the second cut, three labels, missing label.
Coded = tuple[int, int, int, int, int, int, int]


def canonical(stump: Coded, n_bins: int) -> Coded:
    """Return the one spelling of a stump: an empty segment takes its neighbour's label, equal neighbours merge."""
    f, j, k, one, two, three, missing = stump
    segments = [(one, j), (two, k - j), (three, n_bins - k)]
    merged: list[list[int]] = []
    for label, size in segments:
        if size == 0:
            continue
        if merged and merged[-1][0] == label:
            merged[-1][1] += size
        else:
            merged.append([label, size])
    while len(merged) < 3:
        merged.append([merged[-1][0], 0])
    first, second, third = merged
    return (f, first[1], first[1] + second[1], first[0], second[0], third[0], missing)


def cell_labels(stump: Coded, n_bins: int) -> NDArray[np.int64]:
    """Label of each bin of the stump's feature, and last of missing values."""
    _, j, k, one, two, three, missing = stump
    labels = np.empty(n_bins + 1, dtype=np.int64)  # `full` takes longer, and this is in every round
    labels[:j], labels[j:k], labels[k:], labels[-1] = one, two, three, missing
    return labels


def describe(stump: Coded, bins: Bins, gamma: float = 0.0) -> Stump:
    """Return a coded stump with cut values in place of bin numbers."""
    f, j, k, one, two, three, missing = stump
    ends = np.concatenate([[-np.inf], bins.cuts[f], [np.inf]])
    places = tuple(bins.levels[f].cell.tolist()) if f in bins.levels else ()
    labels = LABELS[one] + LABELS[two] + LABELS[three]
    return Stump(f, float(ends[j]), float(ends[k]), labels, LABELS[missing], gamma, places)


def pairs(array: Floats) -> NDArray[np.complex128]:
    """See the two numbers along the last axis as one complex number, without a copy."""
    return array.view(np.complex128)[..., 0]


class StumpSearch:
    """The weak learner: buffers for the histograms of one data set, and the sweeps over them.

    Parameters
    ----------
    bins : Bins
        Coded features, positives first.
    family : Family
        What to choose from.
    n_pos : int
        Number of positives.
    spread : callable
        ``spread(function, n)`` calls ``function(first, last)`` so that 0 .. n is covered, perhaps in threads.

    Attributes
    ----------
    hist, prefix : ndarray
        Weights by cell, and their running sums: see `loops`.
    found : ndarray of shape (p,)
        Derivative along the best stump of each feature.
    where : ndarray of int of shape (p, 2)
        Its type, and its label of missing values.
    """

    def __init__(self, bins: Bins, family: Family, n_pos: int, spread: Callable[..., None]) -> None:
        from . import loops

        self._loops = loops
        self.bins, self.family, self.n_pos, self._spread = bins, family, n_pos, spread
        p = len(bins.n_bins)
        signs = bins.monotonic
        self._by_sign = {sign: family.monotone(sign) for sign in np.unique(signs).tolist()}
        self._of_feature = [self._by_sign[sign] for sign in signs.tolist()]
        # Neighbours with one sign are scanned together: without monotone features all of them at once.
        self._runs = np.concatenate([[0], np.flatnonzero(np.diff(signs)) + 1, [p]]).tolist()
        self.hist = np.empty((2, bins.n_cells, 2))
        self.prefix = np.empty((bins.n_cells, 2))
        self._hist, self._prefix = pairs(self.hist), pairs(self.prefix)  # once: each round has several uses
        self.found = np.empty(p)
        self.where = np.zeros((p, 2), dtype=np.int64)
        self._in_threads = bins.codes.size + 6 * bins.n_cells >= _WORTH_THREADS

    def sweep(self, w: Floats) -> None:
        """Find the best stump of every feature for these weights."""

        def work(first: int, last: int) -> None:
            self._sum(w, first, last)
            self._scan(first, last)

        self._over_features(work)

    def histograms(self, w: Floats) -> Floats:
        """The weights by cell alone: what cases in several places add up to, for `scan`."""
        self._over_features(lambda first, last: self._sum(w, first, last))
        return self.hist

    def scan(self, hist: Floats) -> None:
        """Find the best stump of every feature for weights by cell."""
        self.hist[:] = hist
        self._scan(0, len(self.bins.n_bins))

    def _over_features(self, work: Callable[[int, int], None]) -> None:
        """Do something with all features, in threads where it is worth it."""
        if self._in_threads:
            self._spread(work, len(self.found))
        else:
            work(0, len(self.found))

    def _sum(self, w: Floats, first: int, last: int) -> None:
        """Add up the weights by cell, for the features first <= f < last."""
        b = self.bins
        self._loops.histograms(b.codes, pairs(w), self.n_pos, self._hist, b.offsets, first, last)

    def _scan(self, first: int, last: int) -> None:
        """Find the best stump of each feature first <= f < last."""
        b, hist, prefix = self.bins, self._hist, self._prefix
        for start, stop in pairwise(self._runs):
            start, stop = max(start, first), min(stop, last)
            if start < stop:
                family = self._of_feature[start]
                self._loops.scan(
                    hist, prefix, b.offsets, b.n_bins, b.has_missing,
                    family.types, family.missing, family.values, self.found, self.where, start, stop,
                )  # fmt: skip

    def best(self) -> tuple[Coded, float]:
        """Return the stump of steepest descent, and its derivative."""
        f = int(self.found.argmin())
        return self.best_of(f), float(self.found[f])

    def best_of(self, f: int) -> Coded:
        """Return the best stump of one feature."""
        t, missing = self.where[f].tolist()
        labels = self._of_feature[f].types[t]
        cells, n_bins = self.bins.cells[f]
        j, k = self._loops.cuts(self._prefix[cells], labels, self.family.values)
        one, two, three, _ = labels.tolist()
        return canonical((f, j, k, one, two, three, missing), n_bins)

    def steepest(self) -> float:
        """The least derivative along any stump; `best` finds the cuts of that stump as well."""
        return float(self.found[self.found.argmin()])  # quicker than `min`, in every round

    def derivatives(self, stumps: list[Coded] | NDArray[np.int64]) -> Floats:
        """Derivatives along known stumps, each from a handful of prefix sums; as a list, or as a table by row."""
        out = np.empty(len(stumps))
        if len(stumps):
            table = np.asarray(stumps, dtype=np.int64)
            b = self.bins
            self._loops.derivatives(self.hist, self.prefix, b.offsets, b.n_bins, table, self.family.values, out)
        return out

    def label_sums(self, stump: Coded) -> Floats:
        """Weights by label of a stump: w1 of positives, w1 of negatives, w2."""
        f = stump[0]
        base, n = self.bins.offsets[f], self.bins.n_bins[f]
        sums = np.zeros((len(LABELS), 3))
        self._loops.label_sums(self.hist, base, n, np.array(stump), sums)
        return sums
