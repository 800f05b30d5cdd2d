"""The runs as they are published: stumps with features, cuts and shifts instead of codes and units; losses by round."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats, Indices
from .runs import Run


class RankingStump(NamedTuple):
    """One stump of a run.

    Attributes
    ----------
    run : int
        Which run it belongs to.
    feature : int
        Column.
    cut : float
        Cases above it are shifted.
    shift : float
        By how much, when the run's scores span [0, 1].
    missing_left : bool
        Whether cases with a missing value stay where they are.
    places : tuple of int
        For a category the place of each level in the order of the run; the cut lies between places. Empty for other
        features.
    """

    run: int
    feature: int
    cut: float
    shift: float
    missing_left: bool
    places: tuple[int, ...] = ()


def stumps_of(runs: list[Run], cuts: list[Floats], cells: dict[int, Indices], sign: float) -> list[RankingStump]:
    """Every stump of every run; `cells` holds the cell of each level of the categories."""
    return [
        RankingStump(e, f, _cut(cuts[f], cut), sign * d * run.scale, bool(missing_left), _places(run, f, cells))
        for e, run in enumerate(runs)
        for f, cut, d, missing_left in run.stumps.tolist()
    ]


def _cut(cuts: Floats, cut: int) -> float:
    """The cut of a number; infinite between all known values and the missing ones."""
    return float(cuts[cut]) if cut < len(cuts) else np.inf


def _places(run: Run, f: int, cells: dict[int, Indices]) -> tuple[int, ...]:
    """Places of the levels of a category in a run."""
    places = dict(run.places)
    return tuple(places[f][cells[f]].tolist()) if f in places else ()


def history_of(runs: list[Run], unit_of_loss: float) -> dict[str, NDArray[Any]]:
    """The loss by run and round, and how many stumps each run took."""
    return {
        "objective": np.array([run.trace for run in runs]) * unit_of_loss,
        "accepted": np.array([len(run.stumps) for run in runs]),
    }
