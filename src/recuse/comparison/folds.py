"""One fold of one method: choose hyper-parameters and fit on the training part, then answer the test part."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from ..arrays import Floats, Indices
from ..decisions import KINDS, Decisions
from ..explaining import ShownColumns
from ..labels import encode, to_python
from ..locating import mark_novelties, shown_columns, steps_before, trace
from ..tables import Cases
from ..workers import one_thread
from .class_answers import Rivals, score_of_classes
from .methods import Method
from .plans import Task
from .sharing import FitShelf, PreparedFold, PreparedTable, Shared


@dataclass(frozen=True, eq=False)
class FoldResult:
    """Answers to the cases of one fold by a model that never saw them.

    Attributes
    ----------
    test : ndarray of int
        Positions of the cases.
    forced, kind : ndarray of int8
        Class without the reject option (0 negative, 1 positive; of three or more its position in `Cases.classes`), and
        position in `KINDS`.
    h, r : ndarray of float
        Class and acceptance score, as in `Decisions`: h is greater than 0 towards the second of the sorted classes.
    score : ndarray of float
        Probability of the positive class where the model has one, else h with its sign such that it grows towards that
        class. With three classes or more a column for each: its probability, else its h.
    reason : list of str
        One sentence per case.
    fit_seconds, predict_seconds : float
        Search and fit; answers.
    params : dict
        Hyper-parameters chosen.
    fitted_on, trained_on : int
        Training cases used, and all that there were.
    warnings : list of str
        Warnings raised while fitting and answering.
    error : str or None
        Why there are no answers.
    rivals : Rivals or None
        With three classes or more, the second best class of each case.
    """

    test: Indices
    forced: NDArray[np.int8]
    kind: NDArray[np.int8]
    h: Floats
    r: Floats
    score: Floats
    reason: list[str]
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    params: dict[str, Any] = field(default_factory=dict)
    fitted_on: int = 0
    trained_on: int = 0
    warnings: list[str] = field(default_factory=list)
    error: str | None = None
    rivals: Rivals | None = None

    @classmethod
    def failed(cls, test: Indices, error: str) -> FoldResult:
        """A fold without answers."""
        none = np.empty(0)
        return cls(test, none.astype(np.int8), none.astype(np.int8), none, none, none, [], error=error)


def run_fold(
    method: Method,
    task: Task,
    cases: Cases,
    train: Indices,
    test: Indices,
    shared: Shared | None = None,
    reasons: bool = True,
) -> FoldResult:
    """Fit a method on `train` and answer `test`; a failure is part of the result, not raised.

    `shared` holds what other methods have left on the same fold. Without `reasons` the answers come without them.
    Numerical libraries get one thread: several fits share the cores, and threads that wait for each other do not.
    """
    with warnings.catch_warnings(record=True) as caught, one_thread():
        warnings.simplefilter("always")
        try:
            result = _fit_and_answer(method, task, cases, train, test, shared or Shared(), reasons)
        except Exception as error:
            return FoldResult.failed(test, _one_line(error))
    return replace(result, warnings=sorted({_one_line(warning.message) for warning in caught}))


def _fit_and_answer(
    method: Method, task: Task, cases: Cases, train: Indices, test: Indices, shared: Shared, reasons: bool
) -> FoldResult:
    fold, shelf = shared.table(method, task, cases, train, test), shared.shelf(method)
    started, spared = time.perf_counter(), shelf.spared
    fitted_model, params = fit_prepared(method, task, fold.training, shelf)
    fitted = time.perf_counter()
    classifier, prepared, names = trace(fitted_model, fold.test)
    if reasons and hasattr(classifier, "_decide_shown"):
        columns = _shown(fitted_model, fold, prepared, names)
        decisions = classifier._decide_shown(prepared, reasons, names, columns)
    else:
        decisions = classifier.decide(prepared, reasons=reasons)
    decisions = mark_novelties(decisions, fold.novelties)
    answered = time.perf_counter()
    return FoldResult(
        test=test,
        forced=_forced(decisions, cases),
        kind=encode(decisions.kind, np.array(KINDS)).astype(np.int8),
        h=decisions.h,
        r=decisions.r,
        score=_scores(classifier, prepared, decisions.h, cases),
        rivals=Rivals.of(decisions, cases.classes) if cases.several else None,
        reason=decisions.reason.tolist(),
        # What the method takes alone, also of the parts that it shares with others.
        fit_seconds=fold.training.seconds + fitted - started + shelf.spared - spared,
        predict_seconds=fold.test_seconds + answered - fitted,
        params=params,
        fitted_on=min(len(train), method.fit_rows or len(train)),
        trained_on=len(train),
    )


def _shown(fitted_model: Any, fold: PreparedFold, prepared: Any, names: NDArray[Any] | None) -> ShownColumns:
    """The columns that reasons name: those of the table, not what preparation and scaling made of them."""
    inner = shown_columns(fitted_model, fold.test, prepared, names)
    if inner.sources is None:  # nothing comes before the classifier, or nobody knows what that makes of a column
        return inner if steps_before(fitted_model) else fold.shown
    made_from = inner.sources if fold.shown.sources is None else fold.shown.sources[inner.sources]
    return fold.shown._replace(sources=made_from)


def fit_prepared(
    method: Method, task: Task, table: PreparedTable, shelf: FitShelf | None = None
) -> tuple[Any, dict[str, Any]]:
    """Fit the classifier on a prepared table; return it and the hyper-parameters it chose."""
    return method.build(task).fit(table.numbers, table.outcomes, task, table.groups, shelf, table.weights)


def fit_model(
    method: Method,
    task: Task,
    X: Any,
    y: NDArray[Any],
    groups: Indices | None = None,
    weights: Floats | None = None,
) -> tuple[Pipeline, dict[str, Any]]:
    """Fit columns, preparation and classifier; return the model and the hyper-parameters it chose."""
    table = PreparedTable.of(method, task, X, y, groups, weights)
    classifier, params = fit_prepared(method, task, table)
    steps = [("columns", table.columns), ("vectorizer", table.vectorizer), ("classifier", classifier)]
    return Pipeline(steps), params


def _forced(decisions: Decisions, cases: Cases) -> NDArray[np.int8]:
    """The class of each case without the reject option."""
    if cases.several:
        return encode(decisions.forced, np.array(cases.classes)).astype(np.int8)
    return (encode(decisions.forced, np.array([cases.positive])) == 0).astype(np.int8)


def _scores(classifier: Any, X: Any, h: Floats, cases: Cases) -> Floats:
    """The score towards the positive class, or a column for each of three classes or more."""
    if cases.several:
        return score_of_classes(classifier, X, cases.classes)
    return _class_score(classifier, X, h, cases.positive)


def _class_score(classifier: Any, X: Any, h: Floats, positive: Any) -> Floats:
    """Probability of the positive class where there is one, else the class score towards it."""
    column = int(to_python(classifier.classes_[1]) == positive)
    if not hasattr(classifier, "predict_proba"):
        return h if column == 1 else -h
    probabilities: Floats = np.asarray(classifier.predict_proba(X))[:, column]
    return probabilities


def _one_line(message: Any) -> str:
    text = " ".join(str(message).split()) or type(message).__name__
    return text if len(text) <= 300 else text[:297] + "..."
