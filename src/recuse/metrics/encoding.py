"""From labels to class numbers: what every metric does first.

A metric never guesses what a label means: each value must be a class, the reject label, or the novelty label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Indices
from ..costs import answer_columns
from ..decisions import KINDS, Decisions
from ..labels import as_labels, distinct_labels, encode, preview, require_known, require_label, to_python
from ..parameters import check_weights


@dataclass(frozen=True)
class PlacedAnswers:
    """Outcomes and answers as rows and columns of the price matrix.

    Attributes
    ----------
    labels : ndarray of shape (n_classes,)
        The classes.
    truth : ndarray of int
        Class number of each case; n_classes for a novelty.
    answer : ndarray of int
        Class number answered; n_classes for a rejection as ambiguous, n_classes + 1 for one as a novelty.
    weights : ndarray of float
        Weight of each case.
    """

    labels: NDArray[Any]
    truth: Indices
    answer: Indices
    weights: Floats

    @property
    def rejected(self) -> Flags:
        """Which cases were rejected, for either reason."""
        return self.answer >= len(self.labels)


@dataclass(frozen=True)
class RankedAnswers(PlacedAnswers):
    """Forced answers, the score by which the cases are accepted, and the column each case would have if rejected."""

    score: Floats
    rejection: Indices


def place_answers(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    reject_label: Any = None,
    kind: Any = None,
    novelty_label: Any = None,
    sample_weight: Any = None,
) -> PlacedAnswers:
    """Place outcomes and answers, which may be a `Decisions` table or an array with a reject label."""
    if isinstance(y_true, Decisions):
        raise TypeError("y_true is a Decisions table: the outcomes come first, then the answers.")
    if isinstance(y_pred, Decisions):
        labels = y_pred.classes if labels is None else labels
        if reject_label is not None and to_python(reject_label) != to_python(y_pred.reject_label):
            raise ValueError(
                f"reject_label={to_python(reject_label)!r} contradicts the Decisions table, which has "
                f"{to_python(y_pred.reject_label)!r}: leave it out."
            )
        reject_label, kind, y_pred = y_pred.reject_label, y_pred.kind, y_pred.label
    y_true, y_pred = _columns(y_true=y_true, y_pred=y_pred)
    labels = _check_labels(y_true, labels, novelty_label)
    _check_marker("reject_label", reject_label, labels)
    truth = _place("y_true", y_true, labels, novelty_label, "novelty_label")
    answer = _place("y_pred", y_pred, labels, reject_label, "reject_label")
    if kind is not None:
        rejected = answer == len(labels)
        kinds = np.where(rejected, 1 + _rejected_as_novelty(kind, rejected), 0)
        answer = answer_columns(answer, kinds, len(labels))
    return PlacedAnswers(labels, truth, answer, check_weights(sample_weight, len(truth)))


def place_ranked(
    y_true: Any, y_pred: Any, score: Any = None, *, labels: Any = None, sample_weight: Any = None
) -> RankedAnswers:
    """Place outcomes and forced answers, and check the acceptance score that ranks them."""
    novel: Any = False
    if isinstance(y_pred, Decisions):
        labels = y_pred.classes if labels is None else labels
        score = y_pred.r if score is None else score
        novel, y_pred = y_pred.kind == KINDS[2], y_pred.forced
    if score is None:
        raise ValueError("score is missing: pass the acceptance score of each case, or a Decisions table as y_pred.")
    placed = place_answers(y_true, y_pred, labels=labels, sample_weight=sample_weight)
    score = check_score(score, len(placed.truth))
    kinds = np.where(novel, 2, np.ones(len(score), dtype=np.intp))
    rejection = answer_columns(placed.answer, kinds, len(placed.labels))
    return RankedAnswers(placed.labels, placed.truth, placed.answer, placed.weights, score, rejection)


def check_score(score: Any, n: int, name: str = "score") -> Floats:
    """Return a score as finite floats, one per case."""
    try:
        score = np.asarray(score, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers, one per case; got {preview(np.asarray(score))}.") from None
    if score.shape != (n,):
        raise ValueError(f"{name} must have one value per case: expected shape ({n},), got {score.shape}.")
    if not np.isfinite(score).all():
        raise ValueError(f"{name} holds NaN or infinite values: every case needs a finite score.")
    return score


def by_falling_score(score: Floats) -> tuple[Indices, Indices]:
    """Order of the cases from the highest score to the lowest, and the last position of each group of equal scores."""
    order = np.argsort(score)[::-1]
    return order, np.append(np.flatnonzero(np.diff(score[order])), len(order) - 1)


def place_positive(y_true: Any, pos_label: Any = None) -> Flags:
    """Mark the positive cases of a problem with two classes."""
    (y_true,) = _columns(y_true=y_true)
    labels = _check_labels(y_true, None, None)
    if pos_label is None:
        if len(labels) != 2:
            raise ValueError(f"y_true must hold two classes, else pass pos_label=; got {labels.tolist()}.")
        pos_label = labels[1]
    positive = encode(y_true, np.asarray([pos_label])) == 0
    if positive.all() or not positive.any():
        raise ValueError(f"y_true must hold positive (pos_label={to_python(pos_label)!r}) and negative cases.")
    return positive


def _columns(**columns: Any) -> tuple[NDArray[Any], ...]:
    """The named columns as arrays of labels, all of the same length."""
    arrays = {name: as_labels(column) for name, column in columns.items()}
    for name, array in arrays.items():
        if array.ndim != 1:
            raise ValueError(f"{name} must be one-dimensional; got shape {array.shape}.")
        if array.size == 0:
            raise ValueError(f"{name} is empty: a metric needs at least one case.")
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"{' and '.join(lengths)} must have the same length; got {list(lengths.values())}.")
    return tuple(arrays.values())


def _check_labels(y_true: NDArray[Any], labels: Any, novelty_label: Any) -> NDArray[Any]:
    """The classes: those given, else all that `y_true` holds."""
    require_known(y_true, "y_true")
    if labels is None:
        labels = distinct_labels(y_true)
        if novelty_label is not None:
            labels = labels[labels != novelty_label]
    return as_labels(labels)


def _check_marker(name: str, marker: Any, labels: NDArray[Any]) -> None:
    """Refuse a reject label that is no label, or a class."""
    if marker is None:
        return
    require_label(marker, name)
    if encode(np.asarray([marker]), labels)[0] >= 0:
        raise ValueError(f"{name}={to_python(marker)!r} is one of the classes {labels.tolist()}.")


def _place(name: str, y: NDArray[Any], labels: NDArray[Any], marker: Any, marker_name: str) -> Indices:
    """Class numbers; the marker becomes the number after the last class."""
    codes = encode(y, labels)
    if (codes >= 0).all():
        return codes
    if marker is not None:
        codes[(codes < 0) & (encode(y, np.asarray([marker])) == 0)] = len(labels)
    if (codes < 0).any():
        raise ValueError(
            f"{name} holds {preview(y[codes < 0])}, not among the classes {preview(labels)}: "
            f"pass {marker_name}= if it marks such cases, or labels= if it is a class."
        )
    return codes


def _rejected_as_novelty(kind: Any, rejected: Flags) -> Flags:
    """Which cases are rejected as novelties; the kinds must agree with the rejections."""
    kind = np.asarray(kind)
    if kind.shape != rejected.shape or not np.isin(kind, KINDS).all():
        raise ValueError(f"kind must hold one of {', '.join(map(repr, KINDS))} for each of the {len(rejected)} cases.")
    if ((kind == KINDS[0]) == rejected).any():
        raise ValueError("kind and y_pred disagree on which cases are rejected.")
    return kind == KINDS[2]
