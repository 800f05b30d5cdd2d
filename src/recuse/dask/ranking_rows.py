"""What a distributed fit of ExactBoost asks of each partition: what is in it, and its rows in codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..boosting.binning import code_features
from ..boosting.exactboost.data import check_scores, in_units, positives_first, start_units
from ..labels import distinct_labels, encode
from .drawing import ClassSizes
from .faults import PartitionError
from .ranking_runs import CodedRows
from .sketches import TableSketch, sketch_table
from .tables import Piece, check_piece, require_same_rows

_NO_RANGE = (np.inf, -np.inf)  # of no numbers


@dataclass(frozen=True, eq=False)
class Contents:
    """What is in some partitions, rows without weight aside.

    Attributes
    ----------
    labels : ndarray
        Sorted distinct labels, those of rows without weight included.
    counts, weights : ndarray
        Rows of each, and their weight.
    weight_range, score_range : pair of float
        Least and largest weight and initial score.
    """

    labels: NDArray[Any]
    counts: NDArray[np.int64]
    weights: Floats
    weight_range: tuple[float, float]
    score_range: tuple[float, float]

    def sizes(self, labels: NDArray[Any]) -> ClassSizes:
        """Rows of two labels."""
        positives, negatives = (int(self.counts[self.labels == label].sum()) for label in labels)
        return ClassSizes(positives, negatives)


def look_at_rows(
    X: Any, y: Any, weight: Any, score: Any, columns: Columns, groups: Any = None
) -> tuple[Contents, TableSketch]:
    """A task: what is in a partition, and the sketch of its columns."""
    piece = columns.check(X, y, weight, groups)
    if score is not None and len(score) == len(X):  # another number is refused with the scores
        require_same_rows(X, score, "init_score")
    return contents_of(piece, score), sketch_table(piece.X, None if weight is None else piece.weight)


def contents_of(piece: Piece, score: Any = None) -> Contents:
    """What is in the checked rows of a partition; `score` are initial scores."""
    counted = piece.weight > 0
    scores = np.zeros(0) if score is None else _scores(score, len(counted))[counted]
    labels = distinct_labels(piece.y) if len(counted) else piece.y[:0]
    codes = encode(piece.y, labels)[counted]
    return Contents(
        labels,
        np.bincount(codes, minlength=len(labels)),
        np.bincount(codes, piece.weight[counted], minlength=len(labels)).astype(np.float64),
        _range(piece.weight[counted]),
        _range(scores),
    )


def merge_contents(parts: Sequence[Contents]) -> Contents:
    """What is in all partitions; there must be rows that count."""
    if not any(len(part.labels) for part in parts):
        raise ValueError("The table has no rows: every partition is empty.")
    if not any(part.counts.any() for part in parts):
        raise ValueError("sample_weight is zero for every case: at least one must be positive.")
    labels = distinct_labels(np.concatenate([part.labels for part in parts if len(part.labels)]))
    counts, weights = np.zeros(len(labels), dtype=np.int64), np.zeros(len(labels))
    for part in parts:
        at = encode(part.labels, labels)
        counts[at] += part.counts
        weights[at] += part.weights
    ranges = (_joint_range([getattr(part, name) for part in parts]) for name in ("weight_range", "score_range"))
    return Contents(labels, counts, weights, *ranges)


class Columns(NamedTuple):
    """The schema that every partition must have, and who needs it."""

    names: list[Any] | None
    number: int
    needed_by: str

    def check(self, X: Any, y: Any, weight: Any, groups: Any = None) -> Piece:
        """The rows of a partition."""
        return check_piece(X, y, weight, groups, self.names, self.number, self.needed_by)


class Coding(NamedTuple):
    """How rows are coded.

    Attributes
    ----------
    cuts : list of ndarray
        Of each feature.
    positive : label
        The positive class.
    unit : float or None
        The smallest weight; None where all are equal.
    sign : float
        Of the initial scores.
    span : pair of float or None
        Range of the initial scores; None where there are none.
    """

    cuts: list[Floats]
    positive: Any
    unit: float | None
    sign: float
    span: tuple[float, float] | None


def code_rows(X: Any, y: Any, weight: Any, score: Any, columns: Columns, coding: Coding) -> CodedRows:
    """A task: the rows of a partition in codes, positives first."""
    piece = columns.check(X, y, weight)
    order, n_pos = positives_first(encode(piece.y, np.array([coding.positive])) == 0, piece.weight)
    codes = code_features(piece.X, order, coding.cuts).codes
    weights = None if coding.unit is None else np.round(piece.weight[order] / coding.unit, 9)
    start = None
    if coding.span is not None:
        scores = _scores(score, len(piece.y))[order] * coding.sign
        start = np.rint(start_units(scores, coding.span)).astype(np.int32)
    return CodedRows(codes, n_pos, weights, start)


def settle_unit(contents: Contents) -> float | None:
    """The unit of the weights; None where all are equal. Refuses weights that are too far apart."""
    low, high = contents.weight_range
    in_units(np.array([low, high]))
    return None if low == high else low


def _scores(score: Any, n: int) -> Floats:
    try:
        return check_scores(score, n)
    except ValueError as error:
        raise PartitionError(str(error)) from None


def _range(values: Floats) -> tuple[float, float]:
    return (float(values.min()), float(values.max())) if len(values) else _NO_RANGE


def _joint_range(ranges: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return min(low for low, _ in ranges), max(high for _, high in ranges)
