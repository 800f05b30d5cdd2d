"""Runs of ExactBoost on coded rows that come from many partitions: what is drawn for a run, and the run itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Indices
from ..boosting.binning import Bins
from ..boosting.exactboost.objectives import Terms, find_objective
from ..boosting.exactboost.problem import RankingProblem, RunSettings
from ..boosting.exactboost.runs import Run, boost_run, split_cases
from .drawing import ClassSizes, drawn_rows

_RUN, _PANEL = 2, 3  # which draw, in its seed: beside those of `recuse.boosting.exactboost.runs`
PANEL_SHARE = 4  # the panel has a quarter of the cases of a run: on one machine a run keeps out one case for four


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Rows of some neighbouring partitions, or those drawn of them, in their order, positives first.

    Attributes
    ----------
    codes : ndarray of uint8 or int32 of shape (p, n)
        Coded features.
    n_pos : int
        Number of positives.
    weight : ndarray of shape (n,) or None
        Weights in units of the smallest; None where all rows of the table weigh the same.
    start : ndarray of int32 of shape (n,) or None
        Initial scores in units; None where there are none.
    """

    codes: NDArray[Any]
    n_pos: int
    weight: Floats | None = None
    start: NDArray[np.int32] | None = None

    @property
    def sizes(self) -> ClassSizes:
        """Rows of each class."""
        return ClassSizes(self.n_pos, self.codes.shape[1] - self.n_pos)

    @property
    def nbytes(self) -> int:
        """What travels when they are sent."""
        return sum(array.nbytes for array in (self.codes, self.weight, self.start) if array is not None)

    def take(self, positives: Indices, negatives: Indices) -> CodedRows:
        """Some of the rows of each class, by increasing position among these."""
        rows = np.concatenate([positives, negatives + self.n_pos])
        return CodedRows(
            np.ascontiguousarray(self.codes[:, rows]),
            len(positives),
            None if self.weight is None else self.weight[rows],
            None if self.start is None else self.start[rows],
        )


def join_rows(*parts: CodedRows) -> CodedRows:
    """The rows of several, in the order of the partitions they come from."""
    return CodedRows(
        _joined(parts, lambda part: part.codes),
        sum(part.n_pos for part in parts),
        None if parts[0].weight is None else _joined(parts, lambda part: part.weight),
        None if parts[0].start is None else _joined(parts, lambda part: part.start),
    )


def _joined(parts: Sequence[CodedRows], array_of: Callable[[CodedRows], Any]) -> NDArray[Any]:
    """The positives of all parts, then the negatives; rows are along the last axis."""
    positives = [array_of(part)[..., : part.n_pos] for part in parts]
    negatives = [array_of(part)[..., part.n_pos :] for part in parts]
    return np.concatenate(positives + negatives, axis=-1)


class RowDraws(NamedTuple):
    """Which rows a run works on, and by which rows the mean of the runs is judged: the panel.

    Attributes
    ----------
    seed : int
        Of the fit: draws the rows of the runs. The panel is the same for all seeds.
    sizes : ClassSizes
        Rows of the table.
    of_run, of_panel : ClassSizes
        Rows drawn for each run, and once for the panel: all of them where a run may work on as many.
    held_out : bool
        Whether each run says how it scores the rows of the panel that it has not seen.
    """

    seed: int
    sizes: ClassSizes
    of_run: ClassSizes
    of_panel: ClassSizes
    held_out: bool

    @classmethod
    def plan(cls, sizes: ClassSizes, run_cases: int | None, held_out: bool) -> RowDraws:
        """At most `run_cases` rows for a run, and a quarter of it for the panel; None for all. The seed comes later."""
        if run_cases is None or sizes.total <= run_cases:
            return cls(0, sizes, sizes, sizes, held_out)
        return cls(0, sizes, sizes.at_most(run_cases), sizes.at_most(max(2, run_cases // PANEL_SHARE)), held_out)

    @property
    def all_rows(self) -> bool:
        """Whether every run works on all rows, as on one machine."""
        return self.of_run == self.sizes

    def panel(self, side: int, start: int = 0, stop: int | None = None) -> Indices:
        """Rows of a class that are in the panel, between two numbers."""
        return drawn_rows((_PANEL, side), self.sizes[side], self.of_panel[side], start, stop)

    def run(self, e: int, side: int, start: int = 0, stop: int | None = None) -> Indices:
        """Rows of a class that run e works on, between two numbers."""
        return drawn_rows((self.seed, _RUN, e, side), self.sizes[side], self.of_run[side], start, stop)

    def needed(self, e: int, side: int, start: int = 0, stop: int | None = None) -> Indices:
        """Rows of a class that run e needs: those it works on and, where it scores them, those of the panel."""
        drawn = self.run(e, side, start, stop)
        return np.union1d(drawn, self.panel(side, start, stop)) if self.held_out else drawn


def take_panel(rows: CodedRows, first: ClassSizes, draws: RowDraws) -> CodedRows:
    """The rows of the panel among those of a partition, whose first rows have the numbers given."""
    return _take(rows, first, draws.panel)


def take_run(rows: CodedRows, first: ClassSizes, draws: RowDraws, e: int) -> CodedRows:
    """The rows that run e needs among those of a partition, whose first rows have the numbers given."""
    return _take(rows, first, lambda side, start, stop: draws.needed(e, side, start, stop))


def _take(rows: CodedRows, first: ClassSizes, wanted: Callable[[int, int, int], Indices]) -> CodedRows:
    positives, negatives = (wanted(side, first[side], first[side] + rows.sizes[side]) - first[side] for side in (0, 1))
    return rows.take(positives, negatives)


class RunTask(NamedTuple):
    """What every run is told: the cuts, the metric and how it is to go."""

    cuts: list[Floats]
    has_missing: Flags
    monotonic: NDArray[np.int8]
    metric: Any
    terms: Terms
    settings: RunSettings
    draws: RowDraws

    def problem(self, rows: CodedRows) -> RankingProblem:
        """Some rows as cases of a problem; k, a number of rows of the table, becomes their share of it."""
        n = rows.codes.shape[1]
        n_bins = np.array([len(cuts) + 1 for cuts in self.cuts], dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum(n_bins + 1)]).astype(np.int64)
        share = n / self.draws.sizes.total
        return RankingProblem(
            Bins(rows.codes, self.cuts, n_bins, offsets, self.has_missing, self.monotonic),
            rows.n_pos,
            np.ones(n) if rows.weight is None else rows.weight,
            np.zeros(n, dtype=np.int32) if rows.start is None else rows.start,
            find_objective(self.metric),
            self.terms if share == 1.0 else replace(self.terms, k=max(1.0, share * self.terms.k)),
        )


def boost_drawn(task: RunTask, e: int, *parts: CodedRows) -> tuple[Run, Indices, Floats]:
    """Run e on rows of all partitions; with it the places in the panel of cases it has not seen, and their scores."""
    rows = parts[0] if len(parts) == 1 else join_rows(*parts)
    problem, draws = task.problem(rows), task.draws
    if draws.all_rows:
        bag, out = split_cases(problem, task.settings, draws.seed, e)
        at = out
    else:
        bag, out, at = _sides(draws, e, rows.n_pos)
    run, score = boost_run(problem, task.settings, draws.seed, e, bag, out)
    return run, at, score


def _sides(draws: RowDraws, e: int, n_pos: int) -> tuple[Indices, Indices, Indices]:
    """Positions of the cases a run works on and of those of the panel it has not seen, and where the panel has them."""
    bag, out, at = [], [], []
    for side in (0, 1):
        needed = draws.needed(e, side)
        seen = np.isin(needed, draws.run(e, side), assume_unique=True)
        bag.append(np.flatnonzero(seen) + side * n_pos)
        out.append(np.flatnonzero(~seen) + side * n_pos)
        at.append(np.searchsorted(draws.panel(side), needed[~seen]) + side * draws.of_panel.positives)
    return np.concatenate(bag), np.concatenate(out), np.concatenate(at)


def run_bytes(draws: RowDraws, n_features: int, code_size: int, subsample: float) -> int:
    """Memory that one run needs: its rows as they arrive and joined, and the room of the search."""
    n = draws.of_run.total + (draws.of_panel.total if draws.held_out and not draws.all_rows else 0)
    arrive = n * (n_features * code_size + 12)  # codes, weights and initial scores
    # Joined once more; weights, units, scores before and after, numbers, and the positions that are shuffled to draw.
    joined = arrive + n * (8 + 8 + 3 * 4 + 5 * 8)
    searched = round(subsample * draws.of_run.total) * (4 * 16 + code_size + 4)
    return arrive + joined + searched
