"""The fitted rules for several classes: least expected cost by probabilities, or a learned score for rejecting.

All have `evaluate` and `explain`; NumPy only, so that an answer never loads the compiler.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....arrays import Floats
from ....decisions import Evaluation, least_cost, two_best_reasons
from .forms import ClassForm
from .problem import softmax

_LEAST = 1e-12  # an expected price below this, in units of the cheapest error, is as good as 0


class ClassAnswers(NamedTuple):
    """Class scores, acceptance scores, and what a person is shown for each class."""

    h: Floats
    r: Floats
    shown: Floats


@dataclass(frozen=True, eq=False)
class ClassChow:
    """Probabilities of the classes, and the answer of least expected cost.

    Attributes
    ----------
    form : ClassForm
        Log-probabilities, up to a constant for each case.
    matrix : ndarray
        Prices in units of the cheapest error: see `Costs.matrix`.
    """

    form: ClassForm
    matrix: Floats
    threshold: ClassVar[float] = 0.0
    learned: ClassVar[bool] = False

    def probabilities(self, X: NDArray[Any]) -> Floats:
        """Probability of each class."""
        return softmax(self.form.evaluate(X)[0])

    def evaluate(self, X: NDArray[Any]) -> ClassAnswers:
        """Scores of each case."""
        p = self.probabilities(X)
        return ClassAnswers(*least_cost(p, self.matrix), p)

    def explain(self, model: Any, evaluation: Evaluation) -> list[str]:
        """One sentence per case: the two best answers, and what confusing them costs."""
        sure, unsure = "expected to cost less than a review", "a review is expected to cost less"
        if model.costs_.symmetric:
            lowest = 1.0 - self.matrix[0, -2]
            sure, unsure = f"probability above {lowest:.3g}", f"no probability above {lowest:.3g}"
        return _explained(model, evaluation, sure, unsure, evaluation.class_scores)


@dataclass(frozen=True, eq=False)
class ClassLearned:
    """Scores of the classes and of a rejection, boosted together: the largest is the answer.

    Attributes
    ----------
    form : ClassForm
        Scores; acceptance is the best of them and what the form adds.
    threshold : float
        Taken off the acceptance score.
    """

    form: ClassForm
    threshold: float = 0.0
    learned: ClassVar[bool] = True

    def evaluate(self, X: NDArray[Any]) -> ClassAnswers:
        """Scores of each case."""
        h, q = self.form.evaluate(X)
        return ClassAnswers(h, h.max(axis=1) + q - self.threshold, softmax(h))

    def explain(self, model: Any, evaluation: Evaluation) -> list[str]:
        """One sentence per case: the two best answers, and the acceptance score."""
        return _explained_by_acceptance(model, evaluation)


@dataclass(frozen=True, eq=False)
class ClassRejector:
    """Probabilities of the classes, and a score of its own for accepting the answer of least expected cost.

    Attributes
    ----------
    form : ClassForm
        Log-probabilities, up to a constant for each case, and the acceptance score.
    matrix : ndarray
        Prices in units of the cheapest error: see `Costs.matrix`.
    started : bool
        Whether the acceptance score is added to what the probabilities call for.
    threshold : float
        Taken off the acceptance score.
    """

    form: ClassForm
    matrix: Floats
    started: bool
    threshold: float = 0.0
    learned: ClassVar[bool] = True

    def probabilities(self, X: NDArray[Any]) -> Floats:
        """Probability of each class."""
        return softmax(self.form.evaluate(X)[0])

    def evaluate(self, X: NDArray[Any]) -> ClassAnswers:
        """Scores of each case."""
        scores, r = self.form.evaluate(X)
        p = softmax(scores)
        h, _ = least_cost(p, self.matrix)
        if self.started:
            start = log_chances(p, h.argmax(axis=1), self.matrix)
            r = r + start[:, 0] - start[:, 1]
        return ClassAnswers(h, r - self.threshold, p)

    def explain(self, model: Any, evaluation: Evaluation) -> list[str]:
        """One sentence per case: the two best answers, and the acceptance score."""
        return _explained_by_acceptance(model, evaluation, evaluation.class_scores)


ClassRule = ClassChow | ClassLearned | ClassRejector


def stakes(answers: NDArray[Any], matrix: Floats) -> tuple[Floats, Floats]:
    """What an answer saves every class over a rejection, and what it costs more: two arrays (m, n_classes)."""
    more = (matrix[:-1, :-2] - matrix[:-1, -2:-1]).T[answers]
    return np.maximum(-more, 0.0), np.maximum(more, 0.0)


def log_chances(probabilities: Floats, answers: NDArray[Any], matrix: Floats) -> Floats:
    """Logarithms of what an answer is expected to save over a rejection, and to cost more: shape (m, 2)."""
    found = []
    for at_stake in stakes(answers, matrix):
        expected = np.zeros(len(probabilities))
        for p, amount in zip(probabilities.T, at_stake.T, strict=True):  # no case depends on the others of a batch
            expected += p * amount
        found.append(np.log(np.maximum(expected, _LEAST)))
    return np.column_stack(found)


def answers_of(scores: Floats) -> Floats:
    """Number of the best class and acceptance score of cases, shape (2, m), from scores (J, m) with a rejection."""
    classes = scores[:-1]
    return np.stack([classes.argmax(axis=0).astype(np.float64), classes.max(axis=0) - scores[-1]])


def _explained_by_acceptance(model: Any, evaluation: Evaluation, probabilities: Floats | None = None) -> list[str]:
    sentences = _explained(model, evaluation, "", "", probabilities)
    scores = zip(sentences, evaluation.r.tolist(), strict=True)
    return [f"{text}acceptance score {r:.2f} is {'above' if r > 0 else 'not above'} 0" for text, r in scores]


def _explained(
    model: Any, evaluation: Evaluation, sure: str, unsure: str, probabilities: Floats | None = None
) -> list[str]:
    """One sentence per case: the two best answers, and why the case is answered or not."""
    matrix = model.costs_.matrix(len(model.classes_))
    best = evaluation.two_best()
    return two_best_reasons(best, evaluation.accepted, model.classes_, matrix, sure, unsure, probabilities)
