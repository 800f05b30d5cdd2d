"""Boosting pair terms: given the main effects, step functions of pairs of features that lower the same objective.

The pairs are visited in turn. A visit fits a tree of two levels to the slopes of the loss, a cut of one feature and on
either side a cut of the other, exactly the best one in the second-order model; its leaves hold values (dh, dr), of
which a small share is added to the table of the pair. A turn that does not lower the objective is taken back and
repeated with half the share. There is no penalty: the share and the number of turns regularise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....arrays import Floats
from ...binning import Bins
from ..engine.problem import Problem
from .coarse import CoarseMap, coarsen
from .screen import Pairs
from .slopes import Slopes

TERM_CODES = 32  # coarse codes of a feature
_RATE = 0.05  # share of a tree that is added
_RATE_OF_ALL = 2.0  # the shares of all pairs together: pairs that say the same must not overshoot
_RIDGE = 1e-3  # share of the curvature added to that of a leaf
_LEAST = 2e-3  # share of the curvature that a leaf must hold
_LONGEST = 4.0  # largest |dh| or |dr| of a leaf
_SMALLEST_RATE = 1e-4  # below this share no turn lowers the objective


@dataclass(frozen=True, eq=False)
class PairTables:
    """What the cells of some pairs add to h and r.

    Attributes
    ----------
    pairs : ndarray of shape (n, 2)
        Columns of each pair.
    coarse : CoarseMap
        Codes of the features.
    offsets : ndarray of shape (n + 1,)
        Where the cells of each pair start.
    tables : ndarray of shape (n_cells, 2)
        What each cell adds to h and r; changes while it is boosted.
    """

    pairs: Pairs
    coarse: CoarseMap
    offsets: NDArray[np.int64]
    tables: Floats

    @classmethod
    def empty(cls, pairs: Pairs, coarse: CoarseMap) -> PairTables:
        """Return tables of zeros."""
        sizes = coarse.n_codes[pairs]
        offsets = np.concatenate([[0], np.cumsum(sizes[:, 0] * sizes[:, 1])]).astype(np.int64)
        return cls(pairs, coarse, offsets, np.zeros((int(offsets[-1]), 2)))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Numbers of codes of both features of each pair."""
        return self.coarse.n_codes[self.pairs]

    def table(self, k: int) -> Floats:
        """Table of one pair: shape (n, k, 2)."""
        rows, columns = self.sizes[k]
        return self.tables[self.offsets[k] : self.offsets[k + 1]].reshape(rows, columns, 2)

    def cells(self, bins: Bins) -> NDArray[np.uint16]:
        """Cell of each coded case in the table of each pair: shape (n, m)."""
        from . import loops

        used, position = np.unique(self.pairs, return_inverse=True)
        codes = self.coarse.code(bins, used)
        out = np.empty((len(self.pairs), bins.codes.shape[1]), dtype=np.uint16)
        n_codes = self.coarse.n_codes[used]
        for k, (first, second) in enumerate(position.reshape(-1, 2).tolist()):
            loops.pair_cells(codes[first], codes[second], n_codes[second], out[k])
        return out

    def add_to(self, cells: NDArray[np.uint16], h: Floats, r: Floats) -> None:
        """Add to scores what the cells say, in place."""
        from . import loops

        loops.add_surfaces(cells, self.offsets, self.tables, h, r)


class PairBooster:
    """Pair terms on their way: tables, and the scores of the training cases with them.

    Parameters
    ----------
    problem : Problem
        Training cases.
    scores : tuple of ndarray
        Their scores h and r by the main effects.
    pairs : ndarray of shape (n, 2)
        Which features act together.
    coarse : CoarseMap, optional
        Codes of the features; by default such that each holds about as many of the cases.
    with_r : bool
        Whether there is an acceptance score to learn.
    """

    def __init__(
        self,
        problem: Problem,
        scores: tuple[Floats, Floats],
        pairs: Pairs,
        coarse: CoarseMap | None = None,
        *,
        with_r: bool,
    ) -> None:
        from . import loops

        self._loops = loops
        self.terms = PairTables.empty(pairs, coarse or coarsen(problem.bins, problem.s, TERM_CODES))
        cells = self.terms.cells(problem.bins)
        self._slopes = Slopes(problem, with_r=with_r)
        self.h, self.r = (score.copy() for score in scores)
        self.objective = self._slopes.objective(self.h, self.r)
        curvature = float(self._slopes.at(self.h, self.r)[:, 2].sum())
        self._limits = loops.LeafLimits(_RIDGE * curvature, _LEAST * curvature, _LONGEST)
        self._layout = loops.PairLayout(cells, self.terms.sizes, self.terms.offsets)
        self.rate = min(_RATE, _RATE_OF_ALL / max(1, len(pairs)))

    def turn(self) -> bool:
        """Visit every pair once; say whether that lowered the objective."""
        while self.rate >= _SMALLEST_RATE:
            before = self.terms.tables.copy(), self.h.copy(), self.r.copy()
            self._loops.visit_pairs(
                self._layout, self.terms.tables, self._slopes.cases, self._slopes.form, self._limits,
                self.rate, self.h, self.r,
            )  # fmt: skip
            objective = self._slopes.objective(self.h, self.r)
            if objective < self.objective:
                self.objective = objective
                return True
            self.terms.tables[:], self.h, self.r = before
            self.rate /= 2
        return False

    def boost(self, n_turns: int) -> PairTables:
        """Take some turns, or fewer where nothing is left to do."""
        for _ in range(n_turns):
            if not self.turn():
                break
        return self.terms


def boost_pairs(
    problem: Problem, scores: tuple[Floats, Floats], pairs: Pairs, n_turns: int, *, with_r: bool
) -> tuple[PairTables, float]:
    """Boost pair terms for a number of turns; return them and the objective without the penalty of main effects."""
    booster = PairBooster(problem, scores, pairs, with_r=with_r)
    return booster.boost(n_turns), booster.objective
