"""Scores of the wrapped classifier: of a fitted one, and cross-validated, each case by a model fitted without it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing  # documented in scikit-learn's reference, despite the underscore

from ..arrays import Flags, Floats, Indices
from ..base import n_rows
from ..explaining import is_linear
from ..folds import Fold, named_cv
from ..guarantees.terms import PromiseTerms
from ..labels import preview
from ..rounding import differs
from ..routing import take_params

PROBABILITIES, DECISIONS = "predict_proba", "decision_function"
_ROUNDED = 1e-6  # models in single precision miss 0 and 1 by less
# How many cases are scored in a batch, and how many of them alone, to see how rough the scores are.
_BATCH, _ALONE = 100, 8

Score = Callable[[Any], Floats]


class GivenCases(NamedTuple):
    """The cases given to `fit`, checked.

    Attributes
    ----------
    X, y, weights
        The cases as they came, their labels and their weights.
    groups : ndarray of int, optional
        Cases that belong together in the folds.
    params, novelty_params : dict
        What else goes to the `fit` of the classifier and of the outlier detector.
    terms : PromiseTerms
        For whom a guarantee is to hold.
    """

    X: Any
    y: NDArray[Any]
    weights: Floats
    groups: Indices | None
    params: Mapping[str, Any]
    novelty_params: Mapping[str, Any]
    terms: PromiseTerms = PromiseTerms()

    def take(self, rows: Indices) -> GivenCases:
        """Some of the cases."""
        n = len(self.y)
        return GivenCases(
            take_rows(self.X, rows),
            self.y[rows],
            self.weights[rows],
            None if self.groups is None else self.groups[rows],
            take_params(self.params, rows, n),
            take_params(self.novelty_params, rows, n),
            self.terms.take(rows),
        )


FitRows = Callable[[Any, GivenCases, Indices], Any]  # an estimator, the cases, and which of them to fit it on


def fit_rows(estimator: Any, cases: GivenCases, rows: Indices) -> Any:
    """A clone of an estimator, fitted on some of the cases."""
    seen = cases.take(rows)
    return clone(estimator).fit(seen.X, seen.y, **seen.params)


def take_rows(X: Any, rows: Indices) -> Any:
    """Rows of a table of any kind; the table itself when all of them are wanted."""
    return X if len(rows) == n_rows(X) else _safe_indexing(X, rows)


def find_response(estimator: Any) -> str:
    """Method of a classifier that gives its score: probabilities where it has them."""
    for name in (PROBABILITIES, DECISIONS):
        if hasattr(estimator, name):
            return name
    raise TypeError(
        f"estimator={type(estimator).__name__} has neither predict_proba nor decision_function: no score to cut."
    )


def score(model: Any, X: Any, response: str) -> Floats:
    """Scores of a fitted model: with two classes one number per case, for the second class."""
    scores = np.asarray(getattr(model, response)(in_double(model, X)), dtype=np.float64)
    require_scores(scores, f"{type(model).__name__}.{response}", probabilities=response == PROBABILITIES)
    return scores[:, 1] if scores.ndim == 2 and scores.shape[1] == 2 else scores


def in_double(model: Any, X: Any) -> Any:
    """The cases in double precision where a linear model is given them in single precision; else as they are.

    A sum in single precision depends in its seventh digit on how many cases are scored at once, and nothing outside
    this process, such as a database, could repeat it.
    """
    if not is_linear(model) or not hasattr(X, "astype"):
        return X
    types = [X.dtype] if isinstance(X, np.ndarray) else list(getattr(X, "dtypes", []))
    return X.astype(np.float64) if types and all(dtype == np.float32 for dtype in types) else X


def is_rough(score: Score, X: Any, thresholds: Iterable[float]) -> bool:
    """Whether the scores of cases in a batch, and each alone, differ by more than rounding usually does."""
    batch = take_rows(X, np.arange(min(n_rows(X), _BATCH)))
    scores = score(batch)
    looks = np.linspace(0, len(scores) - 1, _ALONE).astype(np.intp)
    alone = np.concatenate([score(_alone(batch, row)) for row in looks])
    return differs(scores[looks], alone, thresholds)


def rescored(score: Score, X: Any, scores: Floats, rows: Flags) -> Floats:
    """The scores, those marked computed again, each case by itself, so that they depend on nothing else."""
    scores = scores.copy()
    for row in np.flatnonzero(rows):
        scores[row] = score(_alone(X, row))[0]
    return scores


def _alone(X: Any, row: np.intp) -> Any:
    """A case by itself, as a copy: how it lies in memory may matter, too."""
    return _safe_indexing(X, np.array([row]))


def require_scores(scores: Floats, source: str, *, probabilities: bool = False) -> None:
    """Refuse scores of another library's model that no threshold can cut: NaN, or probabilities outside [0, 1]."""
    if np.isnan(scores).any():
        raise ValueError(
            f"{source} gives NaN for {np.isnan(scores).reshape(len(scores), -1).any(axis=1).sum()} of {len(scores)} "
            "cases: look at how it was fitted, or leave these cases out."
        )
    if probabilities and len(scores) and not (scores.min() >= -_ROUNDED and scores.max() <= 1 + _ROUNDED):
        wrong = scores.min() if scores.min() < -_ROUNDED else scores.max()
        raise ValueError(
            f"{source} gives {wrong:g}, which is no probability: probabilities lie in [0, 1]. Wrap the model in "
            "CalibratedClassifierCV, or name its scores decision_function and use rule='tuned'."
        )


class HeldOut(NamedTuple):
    """Scores of cases by models that did not see them.

    Attributes
    ----------
    scores : ndarray of shape (n,)
        In the order of the cases.
    rows : ndarray of int of shape (n,)
        The cases: all of them, but for folds over time, which never test the first ones.
    tests : list of ndarray of int
        Positions, among these, of each fold's cases.
    """

    scores: Floats
    rows: Indices
    tests: list[Indices]


class CrossValidation(NamedTuple):
    """How scores are cross-validated.

    Attributes
    ----------
    estimator : classifier
        Cloned for every fold.
    response : str
        Method that gives the score.
    classes : ndarray
        The classes that every training part must hold.
    folds : list
        Rows to train on and rows to test.
    cv : object
        The parameter as the user gave it, for messages.
    fit_rows : callable
        What fits the estimator: `fit_rows`, or one that remembers what it has fitted.
    """

    estimator: Any
    response: str
    classes: NDArray[Any]
    folds: list[Fold]
    cv: Any
    fit_rows: FitRows

    def run(self, cases: GivenCases, n_jobs: int | None) -> HeldOut:
        """Score each tested case by a model that was fitted without it."""
        tested = np.concatenate([test for _, test in self.folds])
        if len(np.unique(tested)) < len(tested):
            raise ValueError(f"{named_cv(self.cv)} must put no case into more than one test fold.")
        scored = Parallel(n_jobs=n_jobs)(delayed(self._fold_scores)(cases, fold) for fold in self.folds)
        order = np.argsort(tested)
        rows = tested[order]
        return HeldOut(np.concatenate(scored)[order], rows, [np.searchsorted(rows, test) for _, test in self.folds])

    def _fold_scores(self, cases: GivenCases, fold: Fold) -> Floats:
        train, test = fold
        model = self.fit_rows(self.estimator, cases, train)
        if not np.array_equal(getattr(model, "classes_", self.classes), self.classes):
            missing = preview(label for label in self.classes.tolist() if label not in set(model.classes_.tolist()))
            raise ValueError(
                f"{named_cv(self.cv)} leaves a fold to train on without one of the classes, {missing}: use fewer or "
                "stratified folds."
            )
        return score(model, take_rows(cases.X, test), self.response)
