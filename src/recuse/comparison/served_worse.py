"""Which segments of a column are served worse than the others, with few false alarms over all of them together.

Three figures are looked at: what a case costs, how often it is sent to manual review, and how often it is wrong when it
is answered. A segment with more positives costs more under any rule, which is no fault of the rule. So a segment is
compared with what its outcomes explain: each case with the mean over all cases of the same outcome. The null hypothesis
is that, given its outcome, a case is treated alike whatever its segment.

Under it the cases of one outcome may be exchanged between the segments. The sums of all segments and figures are drawn
again in this way (as random tables with the same margins, which takes no longer for 100,000 cases than for 100), each
divided by its standard deviation, and a segment stands out if its sum exceeds nearly all of the *largest* of these sums
(Westfall and Young's single-step max-T): exact for one column, whatever the size of its segments. Several columns share
the promised rate (Bonferroni).

Cases that belong together are no cases of their own: each unit counts once, with the sum of its deviations, in the
segment of most of its cases.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import random_table

from ..arrays import Flags, Floats, Indices

RATE = 0.05  # promised: how often, where all segments are served alike, any of them is called served worse
FIGURES = ("cost", "review", "error")
DRAWS = 1999
_CELLS = 2_000_000  # of the random tables in memory at a time
_DIGITS = 10  # of the largest deviation; what differs by less is rounding
_SAME = 1e-9


def deviations(cost: Floats, answered: Floats, wrong: Floats, positive: Flags | Indices) -> Floats:
    """How much more each case pays, is reviewed and is wrong than the mean of its outcome, of shape (n, 3).

    Parameters
    ----------
    cost, answered, wrong : ndarray of shape (n,)
        Price of each case, and how often it was answered, and answered wrongly: means over the repetitions.
    positive : ndarray of bool or int of shape (n,)
        Outcome of each case; of three classes or more its number.
    """
    found = np.zeros((len(cost), len(FIGURES)))
    for label in np.unique(positive):
        outcome = positive == label
        accepted = answered[outcome].sum()
        error = wrong[outcome].sum() / accepted if accepted else 0.0
        found[outcome, 0] = cost[outcome] - cost[outcome].mean()
        found[outcome, 1] = answered[outcome].mean() - answered[outcome]
        found[outcome, 2] = wrong[outcome] - error * answered[outcome]
    return found


def served_worse(
    deviating: Floats,
    positive: Flags | Indices,
    codes: Indices,
    *,
    n_columns: int,
    seed: int,
    units: Indices | None = None,
) -> Floats:
    """Adjusted p-values of shape (segments, figures): one that is at most `RATE` is an alarm.

    Parameters
    ----------
    deviating : ndarray of shape (n, figures)
        From `deviations`.
    positive : ndarray of bool or int of shape (n,)
        Outcome of each case; of three classes or more its number.
    codes : ndarray of int of shape (n,)
        Segment of each case, numbered without gaps.
    n_columns : int
        How many columns share the rate.
    seed : int
        Random state of the draws.
    units : ndarray of int of shape (n,), optional
        Unit of each case, if cases belong together.
    """
    strata = positive.astype(np.intp)
    if units is not None:
        deviating, codes, strata = _by_unit(deviating, codes, units)
    n_segments = int(codes.max()) + 1
    found = np.array([np.bincount(codes, part, n_segments) for part in deviating.T]).T
    rng = np.random.default_rng(seed)
    parts = [(deviating[strata == part], codes[strata == part]) for part in range(int(strata.max()) + 1)]
    drawn = sum(_drawn_sums(*part, n_segments, rng) for part in parts)
    spread = np.sqrt(sum(_variances(*part, n_segments) for part in parts))
    # A figure that is the same for all cases has no spread but rounding, and no segment stands out in it.
    known = spread > _SAME * max(float(np.abs(deviating).max()), np.finfo(float).tiny)
    scaled = np.where(known, drawn / np.where(known, spread, 1.0), -np.inf)
    largest = scaled.reshape(DRAWS, -1).max(axis=1)
    stands = np.where(known, found / np.where(known, spread, 1.0), -np.inf)
    above = (largest[:, None, None] >= stands - _SAME).sum(axis=0)
    adjusted: Floats = np.minimum(n_columns * (1 + above) / (1 + DRAWS), 1.0)
    return np.where(known, adjusted, 1.0)


def _variances(deviating: Floats, codes: Indices, n_segments: int) -> Floats:
    """Variance of the sum of each segment, when cases are exchanged between the segments."""
    if len(codes) < 2:
        return np.zeros((n_segments, deviating.shape[1]))
    sizes = np.bincount(codes, minlength=n_segments)
    found: Floats = np.outer(sizes * (1 - sizes / len(codes)), deviating.var(axis=0, ddof=1))
    return found


def _by_unit(deviating: Floats, codes: Indices, units: Indices) -> tuple[Floats, Indices, Indices]:
    """Each unit once: the sum of its deviations, the segment of most of its cases, and one stratum for all."""
    n_units, n_segments = int(units.max()) + 1, int(codes.max()) + 1
    sums = np.array([np.bincount(units, part, n_units) for part in deviating.T]).T
    members = np.bincount(units * n_segments + codes, minlength=n_units * n_segments).reshape(n_units, n_segments)
    return sums, members.argmax(axis=1), np.zeros(n_units, dtype=np.intp)


def _drawn_sums(deviating: Floats, codes: Indices, n_segments: int, rng: np.random.Generator) -> Floats:
    """Sums of each segment, of shape (draws, segments, figures), when cases are exchanged between the segments."""
    if len(codes) == 0:
        return np.zeros((DRAWS, n_segments, deviating.shape[1]))
    scale = max(float(np.abs(deviating).max()), np.finfo(float).tiny)
    kinds, counts = np.unique(np.round(deviating / scale, _DIGITS), axis=0, return_counts=True)
    tables = random_table(np.bincount(codes, minlength=n_segments), counts)
    step = max(1, _CELLS // (n_segments * len(counts)))
    parts = [
        tables.rvs(size=min(step, DRAWS - begin), random_state=rng) @ (scale * kinds) for begin in range(0, DRAWS, step)
    ]
    sums: Floats = np.concatenate(parts)
    return sums
