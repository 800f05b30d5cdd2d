"""Answers to cases of three classes or more: the second best class, scores by class, and constant answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..decisions import KINDS, Decisions
from ..labels import REJECT_TEXT, encode
from ..tables import Cases
from .class_plans import in_columns_of

if TYPE_CHECKING:
    from .answers import Answers


class Rivals(NamedTuple):
    """The second best class of each case, and what a person is shown for the two best.

    Attributes
    ----------
    second : ndarray of int8
        Position of the class.
    first_score, second_score : ndarray of float
        Probability, or score, of the best class and of the second.
    """

    second: NDArray[np.int8]
    first_score: Floats
    second_score: Floats

    @classmethod
    def of(cls, decisions: Decisions, classes: Sequence[Any]) -> Rivals:
        """What the answers of a model say."""
        assert decisions.second is not None
        assert decisions.score is not None
        assert decisions.second_score is not None
        second = encode(decisions.second, np.array(classes)).astype(np.int8)
        return cls(second, decisions.score, decisions.second_score)

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Rivals | None:
        """From a file of arrays; None where it holds none."""
        return cls(*(stored[name] for name in cls._fields)) if cls._fields[0] in stored else None


def score_of_classes(classifier: Any, X: Any, classes: Sequence[Any]) -> Floats:
    """Probability of each class where there is one, else its class score; the rows sum to 1, or have no unit."""
    if hasattr(classifier, "predict_proba"):
        return in_columns_of(classifier.predict_proba(X), classifier.classes_, tuple(classes), 0.0)
    found: Floats = np.asarray(classifier.decision_function(X), dtype=np.float64)
    return in_columns_of(found, classifier.classes_, tuple(classes), float(found.min()))


def class_decisions(cases: Cases, answers: Answers, prices: Floats) -> dict[str, Any]:
    """The columns of decisions.csv with three classes or more."""
    classes, truth = np.array(cases.classes), cases.codes
    forced, rivals = classes[answers.forced[0]], rivals_of(answers)
    wrong = answers.accepted & (answers.forced != truth)
    return {
        "case": cases.case_numbers,
        "outcome": cases.outcomes,
        "decision": np.where(answers.accepted[0], forced.astype(object), REJECT_TEXT),
        "kind": np.array(KINDS)[answers.kind[0]],
        "forced": forced,
        "second": classes[rivals.second],
        "score": rivals.first_score,
        "second_score": rivals.second_score,
        "h": answers.h[0],
        "r": answers.r[0],
        "reason": answers.reason,
        "fold": answers.fold[0] + 1,
        "answered": answers.accepted.mean(axis=0),
        "wrong": wrong.mean(axis=0),
        "cost": prices,
    } | {f"score of {label}": answers.score[0, :, column] for column, label in enumerate(cases.classes)}


def rivals_of(answers: Answers) -> Rivals:
    """The second best classes of the first repetition."""
    n = answers.kind.shape[1]
    second, scores = np.zeros(n, dtype=np.int8), np.zeros((2, n))
    if not answers.folds:  # a constant answer: before it, or behind it, comes the most frequent of the others
        return _constant_rivals(answers)
    repeats = len(answers.kind)
    for fold in answers.folds[: len(answers.folds) // repeats]:
        assert fold.rivals is not None
        second[fold.test] = fold.rivals.second
        scores[:, fold.test] = fold.rivals.first_score, fold.rivals.second_score
    return Rivals(second, *scores)


def _constant_rivals(answers: Answers) -> Rivals:
    shares, forced = answers.score[0], answers.forced[0].astype(np.intp)
    rows, others = np.arange(len(forced)), shares.copy()
    others[rows, forced] = -np.inf
    second = others.argmax(axis=1)
    return Rivals(second.astype(np.int8), shares[rows, forced], shares[rows, second])
