"""Answers from two class regions, eq. (12): inside one of them, inside both, outside both.

``F`` are the scores of a batch in the two machines, one column per class in the order of the classes; a case is inside
the region of a class where ``f = F - rho > 0``, or on its edge. The paper has both: (12) puts the edge outside, its
section 3.1 inside. In theory only support vectors lie there, often more than a share nu of a class: if they counted as
outside, they would break the promise that nu makes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...arrays import Flags, Floats, Indices
from ...decisions import Evaluation
from ...rounding import EPS

Nearest = Callable[[Indices], Sequence[str]]

# The three scenarios of the paper's experiments.
REJECTIONS = ("both", "ambiguity", "none")
_LEAST = float(np.finfo(np.float64).tiny)
_ROUNDING = 1e-9


def evaluate_regions(
    F: Floats, rho: Sequence[float] | Floats, rejection: str, X: Any = None, *, error: float | Floats = 0.0
) -> Evaluation:
    """Class score, acceptance score and kind of a batch.

    Parameters
    ----------
    F : ndarray of shape (n, 2)
        Scores in the machines of the two classes.
    rho : sequence of two floats
        Thresholds of the two regions.
    rejection : {"both", "ambiguity", "none"}
        Which rejections there are. With "ambiguity" a case outside both regions has the class with the higher score F,
        with "none" every case has, as in the paper.
    X : array-like, optional
        The cases, for the reasons.
    error : float or array of two floats, default=0.0
        How far the scores may be off: a case so near the threshold of a region is on its edge.
    """
    # Rounding must not decide about those on the edge.
    rounding = _ROUNDING * float(np.abs(rho).max())
    f = _within(F - np.asarray(rho), np.maximum(rounding, error), _LEAST)
    low, high = f.min(axis=1), f.max(axis=1)
    # Of two equal scores the one above the lower threshold is higher: a rule that does not know the classes' names.
    a_little = _LEAST if rho[1] < rho[0] - rounding else -_LEAST
    if rejection == "both":
        h = _within(f[:, 1] - f[:, 0], 0.0, a_little)
        return Evaluation(h, np.minimum(high, -low), novel=high < 0, detail=(f, X))
    h = _within(F[:, 1] - F[:, 0], rounding, a_little)
    if rejection == "none":
        return Evaluation(h, np.abs(h) + _LEAST, detail=(f, X))
    inside_one = (high > 0) & (low < 0)
    return Evaluation(np.where(inside_one, f[:, 1] - f[:, 0], h), -low, detail=(f, X))


def evaluate_several_regions(
    F: Floats, rho: Floats, rejection: str, X: Any = None, *, error: float | Floats = 0.0
) -> Evaluation:
    """The same for three or more classes: inside one region, inside several, outside all.

    Parameters
    ----------
    F : ndarray of shape (n, n_classes)
        Scores in the machines of the classes.
    rho : ndarray of shape (n_classes,)
        Thresholds of their regions.
    rejection, X, error
        As in `evaluate_regions`.
    """
    rounding = _ROUNDING * float(np.abs(rho).max())
    f = _within(F - rho, np.maximum(rounding, error), _LEAST)
    first, second = _two_highest(f)
    if rejection == "both":
        return Evaluation(f, np.minimum(first, -second), novel=first < 0, detail=(f, X), class_scores=f)
    if rejection == "none":
        best, next_best = _two_highest(F)
        return Evaluation(F, best - next_best + _LEAST, detail=(f, X), class_scores=f)
    inside_one = (first > 0) & (second < 0)
    return Evaluation(np.where(inside_one[:, None], f, F), -second, detail=(f, X), class_scores=f)


def _two_highest(values: Floats) -> tuple[Floats, Floats]:
    """The highest and the next of each row."""
    highest = np.partition(values, -2, axis=1)
    return highest[:, -1], highest[:, -2]


def near_an_edge_of_several(F: Floats, rho: Floats, rounding: Floats) -> Flags:
    """Which cases are within rounding of where `evaluate_several_regions` changes an answer."""
    edge = _ROUNDING * float(np.abs(rho).max())
    rounding = rounding.sum(axis=1) + 4 * EPS * float(np.abs(rho).max())
    changes = [(np.abs(np.abs(F - rho) - edge) <= rounding[:, None]).any(axis=1)]
    for values in (F - rho, F):
        first, second = _two_highest(values)
        changes.append(first - second <= rounding)
    return np.any(changes, axis=0)


def near_an_edge(F: Floats, rho: Sequence[float] | Floats, rounding: Floats) -> Flags:
    """Which cases are within rounding of where `evaluate_regions`, without further errors, changes an answer."""
    rho = np.asarray(rho)
    edge = _ROUNDING * float(np.abs(rho).max())
    rounding = rounding.sum(axis=1) + 4 * EPS * float(np.abs(rho).max())
    changes = [F[:, 0] - rho[0], F[:, 1] - rho[1], F[:, 1] - F[:, 0]]
    at_edges = [np.abs(np.abs(values) - edge) <= rounding for values in changes]
    equally_inside = np.abs(changes[1] - changes[0]) <= rounding
    return np.any([*at_edges, equally_inside], axis=0)


def _within(values: Floats, edge: float | Floats, replacement: float) -> Floats:
    """The values, those within `edge` of 0 replaced."""
    return np.where(np.abs(values) <= edge, replacement, values)


def region_reasons(evaluation: Evaluation, names: Sequence[Any], nearest: Nearest) -> list[str]:
    """One sentence per case; `nearest` describes the training cases nearest to the given rows of the batch."""
    f, _ = evaluation.detail
    kinds, forced = evaluation.kinds(), evaluation.forced()
    texts = [
        _reason(values, kind, answer, names)
        for values, kind, answer in zip(f.tolist(), kinds.tolist(), forced.tolist(), strict=True)
    ]
    novel = np.flatnonzero(kinds == 2)
    for row, neighbours in zip(novel, nearest(novel), strict=True):
        texts[row] += f"; nearest training cases: {neighbours}"
    return texts


def _reason(f: Sequence[float], kind: int, answer: int, names: Sequence[Any]) -> str:
    inside = [value > 0 for value in f]
    f = [0.0 if value == _LEAST else value for value in f]
    if all(inside):
        where = f"inside both class regions: {f[0]:.3g} within that of {names[0]!r}, {f[1]:.3g} within {names[1]!r}"
    elif not any(inside):
        where = f"outside both class regions: {-f[0]:.3g} from that of {names[0]!r}, {-f[1]:.3g} from {names[1]!r}"
    else:
        own = int(inside[1])
        where = (
            f"inside the region of {names[own]!r} by {f[own]:.3g}, outside that of {names[1 - own]!r} "
            f"by {-f[1 - own]:.3g}"
        )
        if kind == 0 and answer == own:
            return where
    return where if kind else f"{where}; the score of {names[answer]!r} is higher"


def several_region_reasons(evaluation: Evaluation, names: Sequence[Any], matrix: Floats, nearest: Nearest) -> list[str]:
    """The same for three or more classes; `matrix` holds the prices of confusing them, see `Costs.matrix`."""
    f, _ = evaluation.detail
    kinds, best = evaluation.kinds(), evaluation.two_best()
    rows = zip(f.tolist(), kinds.tolist(), best.first.tolist(), strict=True)
    texts = [_several_reason(values, kind, answer, names, matrix) for values, kind, answer in rows]
    novel = np.flatnonzero(kinds == 2)
    for row, neighbours in zip(novel, nearest(novel), strict=True):
        texts[row] += f"; nearest training cases: {neighbours}"
    return texts


def _several_reason(f: Sequence[float], kind: int, answer: int, names: Sequence[Any], matrix: Floats) -> str:
    f = [0.0 if value == _LEAST else value for value in f]
    order = sorted(range(len(f)), key=lambda k: -f[k])
    inside, outside = [k for k in order if f[k] >= 0], [k for k in order if f[k] < 0]
    if not inside:
        where = (
            f"outside all class regions: {-f[order[0]]:.3g} from that of {names[order[0]]!r}, {-f[order[1]]:.3g} from "
            f"{names[order[1]]!r}"
        )
    elif len(inside) == 1:
        where = (
            f"inside the region of {names[inside[0]]!r} by {f[inside[0]]:.3g}, outside all others; the nearest is that "
            f"of {names[outside[0]]!r}, {-f[outside[0]]:.3g} away"
        )
        if kind == 0 and answer == inside[0]:
            return where
    else:
        one, other = inside[:2]
        price = max(matrix[one, other], matrix[other, one])
        upto = "" if matrix[one, other] == matrix[other, one] else "up to "
        where = (
            f"inside {len(inside)} class regions: {f[one]:.3g} within that of {names[one]!r}, {f[other]:.3g} within "
            f"{names[other]!r}; confusing them costs {upto}{price:.6g}"
        )
    return where if kind else f"{where}; the score of {names[answer]!r} is higher"


def closest(similarity: Floats, rows: Indices, labels: Sequence[Any], count: int = 3) -> list[str]:
    """The most similar training cases of each row of a matrix of similarities, by row number and class."""
    count = min(count, similarity.shape[1])
    best = np.argsort(-similarity, axis=1, kind="stable")[:, :count]
    return [", ".join(f"{rows[j]} ({labels[j]!r})" for j in order) for order in best.tolist()]
