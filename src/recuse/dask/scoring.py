"""Scores of rows that lie with the workers, by models that travel as tables: what a cell of a feature adds.

Held-out scores are never stored: a fold's model is a small table, and scores are computed where the rows are, whenever
a sum of them is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..arrays import Floats, Indices
from ..boosting.abstention.engine.state import Ensemble
from ..boosting.abstention.engine.surrogates import Surrogate, forced_boundary, plug_in_pair
from ..boosting.binning import Bins


class Tables(NamedTuple):
    """A model as what each cell of each used feature adds to h and r.

    Attributes
    ----------
    h0, r0 : float
        Intercepts.
    cells : dict
        For each feature used, its cells' values of h and of r.
    """

    h0: float
    r0: float
    cells: dict[int, tuple[Floats, Floats]]

    @classmethod
    def of(cls, model: Ensemble, bins: Bins) -> Tables:
        """The tables of boosted stumps."""
        h, r = model.tables(bins)
        used = sorted({stump[0] for stump in model.stumps})
        spans = {f: slice(bins.offsets[f], bins.offsets[f + 1]) for f in used}
        return cls(model.h0, model.r0, {f: (h[span].copy(), r[span].copy()) for f, span in spans.items()})

    def scores(self, bins: Bins, rows: Indices) -> tuple[Floats, Floats]:
        """Scores h and r of some rows."""
        h, r = np.full(len(rows), self.h0), np.full(len(rows), self.r0)
        for f, (of_h, of_r) in self.cells.items():
            codes = bins.codes[f][rows]
            h += of_h[codes]
            r += of_r[codes]
        return h, r


Models = Mapping[int, Tables]  # by the fold whose rows they score


@dataclass(frozen=True, eq=False)
class Start:
    """The pair that stumps are added to: what Chow's rule makes of a score, given by the models of each fold."""

    models: Models
    surrogate: Surrogate
    c: float

    def scores(self, bins: Bins, rows: Indices, fold: int) -> tuple[Floats, Floats]:
        """Scores of rows of a fold."""
        return plug_in_pair(self.surrogate, self.c, self.models[fold].scores(bins, rows)[0])


@dataclass(frozen=True, eq=False)
class ScoreRule:
    """How rows get the scores (h, r) they are judged by.

    Attributes
    ----------
    models : dict
        The model of each fold whose rows are scored.
    start : Start, optional
        What the models are added to.
    surrogate : Surrogate, optional
        What the pair minimises; with `log_odds`, h is then 0 where both classes cost the same.
    fixed : bool
        Whether that place is the one at r = 0 for every row, as where h is monotone.
    level : float, optional
        Chow's rule: r = |h| - level.
    """

    models: Models
    start: Start | None = None
    surrogate: Surrogate | None = None
    log_odds: float = 0.0
    fixed: bool = False
    level: float | None = None

    def scores(self, bins: Bins, rows: Indices, fold: int) -> tuple[Floats, Floats]:
        """Scores of rows of a fold."""
        h, r = self.models[fold].scores(bins, rows)
        if self.start is not None:
            of_start = self.start.scores(bins, rows, fold)
            h, r = h + of_start[0], r + of_start[1]
        if self.level is not None:
            return h, np.abs(h) - self.level
        if self.surrogate is not None and self.log_odds != 0.0:
            h = h - forced_boundary(self.surrogate, self.log_odds, np.zeros_like(r) if self.fixed else r)
        return h, r

    def with_level(self, level: float) -> ScoreRule:
        """The same score under Chow's rule."""
        return replace(self, level=level)
