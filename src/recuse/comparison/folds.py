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
from ..decisions import KINDS
from ..labels import encode, to_python
from ..locating import locate, with_novelties
from ..tables import Cases, TableColumns
from .methods import Method, Task


@dataclass(frozen=True, eq=False)
class FoldResult:
    """Answers to the cases of one fold by a model that never saw them.

    Attributes
    ----------
    test : ndarray of int
        Positions of the cases.
    forced, kind : ndarray of int8
        Class without the reject option (0 negative, 1 positive), and position in `KINDS`.
    h, r : ndarray of float
        Class and acceptance score, as in `Decisions`: h is greater than 0 towards the second of the sorted classes.
    score : ndarray of float
        Probability of the positive class where the model has one, else h with its sign such that it grows towards that
        class.
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

    @classmethod
    def failed(cls, test: Indices, error: str) -> FoldResult:
        """A fold without answers."""
        none = np.empty(0)
        return cls(test, none.astype(np.int8), none.astype(np.int8), none, none, none, [], error=error)


def run_fold(method: Method, task: Task, cases: Cases, train: Indices, test: Indices) -> FoldResult:
    """Fit a method on `train` and answer `test`; a failure is part of the result, not raised."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = _fit_and_answer(method, task, cases, train, test)
        except Exception as error:
            return FoldResult.failed(test, _one_line(error))
    return replace(result, warnings=sorted({_one_line(warning.message) for warning in caught}))


def _fit_and_answer(method: Method, task: Task, cases: Cases, train: Indices, test: Indices) -> FoldResult:
    started = time.perf_counter()
    groups = None if cases.groups is None else cases.groups[train]
    model, params = fit_model(method, task, cases.features.iloc[train], cases.outcomes[train], groups)
    fitted = time.perf_counter()
    classifier, prepared = locate(model, cases.features.iloc[test])
    decisions = with_novelties(model, cases.features.iloc[test], classifier.decide(prepared))
    answered = time.perf_counter()
    return FoldResult(
        test=test,
        forced=(encode(decisions.forced, np.array([cases.positive])) == 0).astype(np.int8),
        kind=encode(decisions.kind, np.array(KINDS)).astype(np.int8),
        h=decisions.h,
        r=decisions.r,
        score=_class_score(classifier, prepared, decisions.h, cases.positive),
        reason=decisions.reason.tolist(),
        fit_seconds=fitted - started,
        predict_seconds=answered - fitted,
        params=params,
        fitted_on=min(len(train), method.fit_rows or len(train)),
        trained_on=len(train),
    )


def fit_model(
    method: Method, task: Task, X: Any, y: NDArray[Any], groups: Indices | None = None
) -> tuple[Pipeline, dict[str, Any]]:
    """Fit columns, preparation and classifier; return the model and the hyper-parameters it chose."""
    rows = method.training_rows(y, task.seed)
    X, y, groups = X.iloc[rows], y[rows], None if groups is None else groups[rows]
    columns = TableColumns(task.novelty).fit(X)
    vectorizer = table_vectorizer(task.seed, method.takes_categories)
    # The vectorizer does not see the outcomes: fitting it before the search leaks nothing into the search.
    numbers = vectorizer.fit_transform(columns.transform(X))
    classifier, params = method.build(task).fit(numbers, y, task, groups)
    return Pipeline([("columns", columns), ("vectorizer", vectorizer), ("classifier", classifier)]), params


def table_vectorizer(seed: int, keep_categories: bool = False) -> Any:
    """Return skrub's preparation of mixed columns: dates, text and, unless they are kept, categories become numbers.

    Kept, a column of few categories gets a categorical type; unseen categories are the classifier's affair.
    """
    from skrub import StringEncoder, TableVectorizer, ToCategorical

    kept = {"low_cardinality": ToCategorical()} if keep_categories else {}
    return TableVectorizer(high_cardinality=StringEncoder(random_state=seed), **kept)


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
