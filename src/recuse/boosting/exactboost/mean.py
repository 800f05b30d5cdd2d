"""The mean of the runs: whatever their number, one step function per feature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Floats
from ..binning import Bins
from ..shapes import ShapeFunction, merged_shape, shape_of_levels
from .problem import RankingProblem
from .runs import Run


@dataclass(frozen=True, eq=False)
class MeanScore:
    """The mean of runs, each rescaled to [0, 1]; higher towards the positive class.

    Attributes
    ----------
    intercept : float
        Mean score of the training cases.
    shapes : list of ShapeFunction
        What each feature adds; on average over the training cases nothing.
    per_start : float
        What a unit of the initial score adds.
    mean_start : float
        Mean initial score of the training cases, in units.
    """

    intercept: float
    shapes: list[ShapeFunction]
    per_start: float
    mean_start: float

    def of_training_cases(self, problem: RankingProblem) -> Floats:
        """Score of each training case, looked up by its codes."""
        score = self.intercept + self.per_start * (problem.start.astype(np.float64) - self.mean_start)
        for shape in self.shapes:
            bins, f = problem.bins, shape.feature
            if f in bins.levels:
                table = np.zeros(int(bins.n_bins[f]))
                table[bins.levels[f].cell] = shape.h
            else:
                table = np.append(shape.h[np.searchsorted(shape.cuts, bins.cuts[f])], shape.h[-1])
            score = score + np.append(table[: bins.n_bins[f]], shape.missing[0])[bins.codes[f]]
        return score

    def reach(self, start_span: float) -> tuple[float, float]:
        """Least and largest score that any case can have, its initial score from 0 to `start_span` units."""
        low = self.intercept - self.per_start * self.mean_start
        high = low + self.per_start * start_span
        for shape in self.shapes:
            low += min(shape.h.min(), shape.missing[0])
            high += max(shape.h.max(), shape.missing[0])
        return float(low), float(high)


def mean_of(runs: list[Run], problem: RankingProblem) -> MeanScore:
    """Average runs, and centre what the features and the initial scores add on the training cases."""
    bins, table, intercept, per_start = problem.bins, np.zeros(problem.bins.n_cells), 0.0, 0.0
    for run in runs:
        add_stumps(run, bins, table)
        intercept -= run.low * run.scale
        per_start += run.scale
    intercept, shapes = _centred_shapes(table / len(runs), intercept / len(runs), bins, problem.weight)
    per_start /= len(runs)
    mean_start = float(np.average(problem.start, weights=problem.weight))
    return MeanScore(intercept + per_start * mean_start, shapes, per_start, mean_start)


def add_stumps(run: Run, bins: Bins, table: Floats) -> None:
    """Add the stumps of a run, rescaled to [0, 1], to the table of all cells."""
    places = dict(run.places)
    for f, cut, d, missing_left in run.stumps.tolist():
        base, n = bins.offsets[f], bins.n_bins[f]
        if f in places:
            table[base : base + n][places[f] > cut] += d * run.scale
        else:
            table[base + cut + 1 : base + n] += d * run.scale
        if not missing_left:
            table[base + n] += d * run.scale


def _centred_shapes(table: Floats, intercept: float, bins: Bins, weight: Floats) -> tuple[float, list[ShapeFunction]]:
    """The intercept, and what each feature adds: on average over the training cases nothing."""
    shapes = []
    for f, cuts in enumerate(bins.cuts):
        values = table[bins.offsets[f] : bins.offsets[f + 1]]
        if not values.any():
            continue
        share = np.bincount(bins.codes[f], weight, minlength=len(values)) / weight.sum()
        middle = float(share @ values)
        values, intercept = values - middle, intercept + middle
        if not bins.has_missing[f]:
            values[-1] = 0.0  # nothing is known of missing values: neither for nor against
        none = np.zeros(len(values))
        if f in bins.levels:
            shapes.append(shape_of_levels(f, bins.levels[f], values, none, share))
        else:
            shapes.append(merged_shape(f, cuts, values, none, share))
    return float(intercept), shapes
