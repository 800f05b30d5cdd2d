"""Stages of ExactBoost: the mean of the first runs, for staged predictions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Flags, Floats, Indices
from ..binning import Bins, bin_codes
from .mean import add_stumps
from .runs import Run


@dataclass(frozen=True, eq=False)
class StagedMean:
    """What is needed to average some of the runs as `mean_of` averages all.

    Attributes
    ----------
    cuts : list of ndarray
        Cuts of each feature.
    cells : dict of int to ndarray
        For categories the cell of each level.
    shares : ndarray
        Share of the training cases in every cell of every feature.
    has_missing : ndarray of bool
        Whether training had missing values of a feature.
    """

    cuts: list[Floats]
    cells: dict[int, Indices]
    shares: Floats
    has_missing: Flags

    def scores(self, runs: list[Run], X: NDArray[Any], start: Floats | None) -> Iterator[Floats]:
        """Score of each case by the first run, the first two, and so on; `start` holds initial scores in units."""
        bins = self._code(X)
        table, constant, per_start = np.zeros(bins.n_cells), 0.0, 0.0
        for e, run in enumerate(runs, start=1):
            add_stumps(run, bins, table)
            constant -= run.low * run.scale
            per_start += run.scale
            total = np.full(len(X), constant) if start is None else constant + per_start * start
            for f, codes in enumerate(bins.codes):
                values = table[bins.offsets[f] : bins.offsets[f + 1]]
                if not self.has_missing[f]:  # nothing is known of missing values: what an average case gets
                    values = values.copy()
                    values[-1] = self.shares[bins.offsets[f] : bins.offsets[f + 1] - 1] @ values[:-1]
                total = total + values[codes]
            yield total / e

    def _code(self, X: NDArray[Any]) -> Bins:
        """The cases in the bins of the fit."""
        n_bins = np.array([len(cut) + 1 for cut in self.cuts], dtype=np.int64)
        codes = np.empty((len(self.cuts), len(X)), dtype=np.int64)
        for f, cut in enumerate(self.cuts):
            column = np.asarray(X[:, f], dtype=np.float64)
            if f in self.cells:
                cell = np.append(self.cells[f], n_bins[f])
                codes[f] = cell[np.where(np.isnan(column), -1, column).astype(np.intp)]
            else:
                codes[f] = bin_codes(column, cut)
        offsets = np.concatenate([[0], np.cumsum(n_bins + 1)]).astype(np.int64)
        return Bins(codes, self.cuts, n_bins, offsets, self.has_missing)
