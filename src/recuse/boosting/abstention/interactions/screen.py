"""The screen: which pairs of features act together, judged by what the main effects leave over.

At given scores every case has a slope and a curvature of the loss. For two features and a cut of each, four quadrants
have best values of their own in the second-order model; main effects of the two cuts match all of them but one
contrast. What giving up the contrast would cost is the strength of the pair at these cuts, and its strength is the
largest over all cuts. Main effects that are not at their optimum therefore do not look like an interaction.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....arrays import Floats, Indices
from ..engine.problem import Problem
from .coarse import coarsen
from .slopes import Slopes

SCREEN_CODES = 16  # coarse codes of a feature
_WORK = 500_000_000  # rows times pairs at most, so that the screen takes a few seconds; fewer rows for more pairs
_FEWEST_ROWS = 1_000
_MOST_FEATURES = 1_000  # of more features those that move the scores most by themselves are screened
_RIDGE = 1e-6  # share of the curvature added to that of a quadrant
_LEAST = 0.02  # share of the curvature that a quadrant must hold

Pairs = NDArray[np.int64]  # (n, 2): the columns of each pair, the smaller first


def rank_pairs(problem: Problem, scores: tuple[Floats, Floats], *, with_r: bool) -> tuple[Pairs, Floats]:
    """All pairs of features and their strengths, the strongest first.

    Parameters
    ----------
    problem : Problem
        Coded cases and the loss.
    scores : tuple of ndarray
        Scores h and r of the cases by the main effects.
    with_r : bool
        Whether there is an acceptance score to learn.
    """
    from . import loops

    bins = problem.bins
    features = _features(problem, with_r=with_r)
    first, second = np.triu_indices(len(features), k=1)
    pairs = np.stack([first, second], axis=1).astype(np.int64)
    gains = np.zeros(len(pairs))
    if len(pairs) == 0:
        return pairs, gains
    rows = _rows(problem.n_cases, len(pairs))
    slopes = Slopes(problem, with_r=with_r, rows=rows)
    stats = slopes.at(*(score[rows] for score in scores))
    coarse = coarsen(bins, problem.s, SCREEN_CODES)
    codes = coarse.code(bins, features, rows)
    curvature = float(stats[:, 2].sum())
    n_codes = coarse.n_codes[features]
    limits = loops.LeafLimits(_RIDGE * curvature, _LEAST * curvature, np.inf)
    loops.screen(codes, n_codes, stats, pairs, limits, with_r, gains)
    order = np.argsort(-gains, kind="stable")
    return features[pairs[order]], gains[order]


def _rows(m: int, n_pairs: int) -> Indices:
    """Rows to look at: all, or evenly spaced ones, which keeps the share of each class."""
    wanted = max(_FEWEST_ROWS, _WORK // n_pairs)
    return np.arange(m) if m <= wanted else np.linspace(0, m - 1, wanted).astype(np.intp)


def _features(problem: Problem, *, with_r: bool) -> NDArray[np.int64]:
    """Features to pair, without monotone ones; of very many those whose bins differ most in the slopes at the start."""
    free = np.flatnonzero(problem.bins.monotonic == 0)
    p = len(free)
    if p <= _MOST_FEATURES:
        return free
    rows = _rows(problem.n_cases, p)
    start = np.zeros(len(rows)), np.zeros(len(rows))
    stats = Slopes(problem, with_r=with_r, rows=rows).at(*start)
    coarse = coarsen(problem.bins, problem.s, SCREEN_CODES)
    codes = coarse.code(problem.bins, free, rows)
    strength = np.array([_strength(code, stats) for code in codes])
    return free[np.sort(np.argsort(-strength, kind="stable")[:_MOST_FEATURES])]


def _strength(codes: NDArray[np.uint8], stats: Floats) -> float:
    """What the main effect of one feature is worth in the second-order model of h."""
    slopes, curvatures = np.bincount(codes, stats[:, 0]), np.bincount(codes, stats[:, 2])
    used = curvatures > 0
    return float((slopes[used] ** 2 / curvatures[used]).sum())
