"""Coarse codes: the bins of a feature joined to a few of about equal weight, so that pairs have few cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....arrays import Floats
from ...binning import Bins


@dataclass(frozen=True, eq=False)
class CoarseMap:
    """How the bins of each feature are joined.

    Attributes
    ----------
    groups : list of ndarray of uint8
        For each feature the coarse code of each bin, and last that of missing values, which have a code of their own.
    """

    groups: list[NDArray[np.uint8]]

    @property
    def n_codes(self) -> NDArray[np.int64]:
        """Number of coarse codes of each feature, with the one for missing values."""
        return np.array([int(group[-1]) + 1 for group in self.groups], dtype=np.int64)

    def code(self, bins: Bins, features: NDArray[Any] | None = None, rows: Any = slice(None)) -> NDArray[np.uint8]:
        """Coarse codes of coded cases, feature-major; of some features and rows only, where these are given."""
        chosen = range(len(self.groups)) if features is None else features.tolist()
        return np.stack([self.groups[f][bins.codes[f, rows]] for f in chosen])

    def cuts(self, bins: Bins, feature: int) -> Floats:
        """Cut values between the coarse codes of a feature."""
        group = self.groups[feature][:-1]
        return np.asarray(bins.cuts[feature][np.flatnonzero(group[1:] != group[:-1])], dtype=np.float64)


def coarsen(bins: Bins, weight: Floats, max_codes: int) -> CoarseMap:
    """Join the bins of each feature to at most `max_codes` of about equal weight."""
    return CoarseMap([_group(bins, f, weight, max_codes) for f in range(len(bins.n_bins))])


def _group(bins: Bins, feature: int, weight: Floats, max_codes: int) -> NDArray[np.uint8]:
    """Coarse code of each bin of a feature, and last of missing values."""
    n = int(bins.n_bins[feature])
    mass = np.bincount(bins.codes[feature], weight, minlength=n + 1)[:n]
    if n <= max_codes or not mass.sum() > 0:
        wanted = np.arange(n) * min(1.0, max_codes / n)
    else:  # the middle of each bin decides, so that a bin of large weight has a code to itself
        wanted = max_codes * (np.cumsum(mass) - mass / 2) / mass.sum()
    _, codes = np.unique(np.minimum(wanted.astype(np.int64), max_codes - 1), return_inverse=True)
    return np.append(codes, codes[-1] + 1).astype(np.uint8)
