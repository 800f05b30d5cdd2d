"""Contributions of a fitted classifier, each kind in the way that is exact for it, and otherwise by sampling.

Linear models are sums over their columns; the libraries of boosted trees know their Shapley values; those of
scikit-learn's trees are worked out here. What else there is, kernel machines and networks among it, is compared with
background cases. A Pipeline is explained by its last step, as long as its other steps keep columns apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.special import expit
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing  # documented in scikit-learn's reference, despite the underscore

from ..arrays import Floats, Indices
from .boosters import explain_booster, is_booster
from .contributions import LOG_ODDS, PROBABILITY, SCORE, Contributions
from .linear import coefficients, explain_linear
from .sampling import Background, explain_by_sampling
from .sources import column_sources
from .trees import as_tree_sum, explain_trees

_BACKGROUND = 64  # cases to compare with, where that is needed


@dataclass(frozen=True, eq=False)
class TypicalCases:
    """What a model must remember of its training cases, so that others can be told from them.

    Attributes
    ----------
    mean : ndarray of shape (n_columns,) or None
        Mean of what a linear model is given.
    cases : ndarray of shape (n, n_columns) or None
        Some training cases, for a model that has to be compared with them.
    """

    mean: Floats | None = None
    cases: NDArray[Any] | None = None

    @classmethod
    def of(cls, model: Any, X: Any, weights: Floats | None = None, seed: int = 0) -> TypicalCases | None:
        """What is needed for this fitted classifier; None where nothing of it can be explained."""
        if issparse(X) or len(getattr(model, "classes_", ())) != 2 or len(np.shape(X)) != 2:
            return None
        way = _find_way(model, column_names_of(X))
        if way is not None and way.linear:
            matrix = np.asarray(way.matrix(X), dtype=np.float64)
            return cls(mean=np.average(matrix, axis=0, weights=weights))
        return cls() if way is not None else cls(cases=background_cases(X, weights, seed))


def background_cases(X: Any, weights: Floats | None = None, seed: int = 0) -> NDArray[Any]:
    """Some cases, drawn by their weights, as an array: of numbers if all columns are numbers."""
    n = int(np.shape(X)[0])
    chance = None if weights is None else weights / weights.sum()
    rows = (
        np.random.default_rng(seed).choice(n, size=min(n, _BACKGROUND), replace=False, p=chance)
        if (chance is None or np.count_nonzero(chance) >= min(n, _BACKGROUND))
        else np.flatnonzero(chance)
    )
    taken = _safe_indexing(X, np.sort(rows))
    if hasattr(taken, "iloc") and not all(dtype.kind in "biuf" for dtype in taken.dtypes):
        return taken.to_numpy(dtype=object)
    return np.asarray(taken)


def column_names_of(X: Any) -> list[Any]:
    """Names of the columns of a table, or their positions."""
    return list(X.columns) if hasattr(X, "columns") else list(range(np.shape(X)[1]))


@dataclass(frozen=True, eq=False)
class _Way:
    """How a classifier is explained exactly: its last step, the steps before it, and where their columns come from."""

    steps: list[Any]
    last: Any
    sources: Indices

    @property
    def linear(self) -> bool:
        return not hasattr(self.last, "_contributions") and coefficients(self.last) is not None

    def matrix(self, X: Any) -> Any:
        """What the last step is given."""
        for step in self.steps:
            X = X if step is None or isinstance(step, str) else step.transform(X)
        return X

    def explain(self, X: Any, typical: TypicalCases | None) -> Contributions | None:
        """Contributions of the columns that the classifier is given."""
        matrix, n = self.matrix(X), np.shape(X)[1]
        found = _explain_last(self.last, matrix, typical)
        if found is None or not _is_right(found, self.last, matrix):
            return None
        return found.by_source(self.sources, n)


def _find_way(model: Any, names: list[Any]) -> _Way | None:
    """The exact way to explain a classifier; None if there is none."""
    steps: list[Any] = []
    model = inside(model)
    while isinstance(model, Pipeline):
        steps += [step for _, step in model.steps[:-1]]
        model = inside(model.steps[-1][1])
    if not (
        hasattr(model, "_contributions") or coefficients(model) is not None or is_booster(model) or as_tree_sum(model)
    ):
        return None
    sources = column_sources(Pipeline([(str(i), step) for i, step in enumerate(steps)]), names) if steps else None
    if steps and sources is None:
        return None
    return _Way(steps, model, np.arange(len(names)) if sources is None else sources)


def inside(model: Any) -> Any:
    """The fitted classifier in a search, a frozen model or one with another threshold."""
    while True:
        if isinstance(model, FrozenEstimator):
            model = model.estimator
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif type(model).__name__ in ("FixedThresholdClassifier", "TunedThresholdClassifierCV"):
            model = model.estimator_
        else:
            return model


def is_linear(model: Any) -> bool:
    """Whether the score of a fitted classifier, or of the last step of a Pipeline, is a weighted sum of columns."""
    model = inside(model)
    while isinstance(model, Pipeline):
        model = inside(model.steps[-1][1])
    return coefficients(model) is not None


def _explain_last(model: Any, X: Any, typical: TypicalCases | None) -> Contributions | None:
    if hasattr(model, "_contributions"):
        own: Contributions | None = model._contributions(X)
        return own
    if coefficients(model) is not None:
        mean = None if typical is None else typical.mean
        return None if mean is None or issparse(X) else explain_linear(model, X, mean)
    if is_booster(model):
        return explain_booster(model, X)
    trees = as_tree_sum(model)
    return None if trees is None else explain_trees(trees, X)


def _is_right(found: Contributions, model: Any, X: Any) -> bool:
    """Whether the contributions add up to what the model answers: what is read of other libraries may change."""
    if found.scale == SCORE or not hasattr(model, "predict_proba"):
        return found.adds_up_to(np.asarray(model.decision_function(X), dtype=np.float64))
    p = np.asarray(model.predict_proba(X))[:, 1]
    said = expit(found.score) if found.scale == LOG_ODDS else found.score
    return bool(np.all(np.abs(said - p) <= 1e-5))


def explain(model: Any, X: Any, typical: TypicalCases | None) -> Contributions | None:
    """Contributions of the columns of X to the score of a fitted classifier for two classes.

    Parameters
    ----------
    model : classifier
        Fitted; a Pipeline or a search too.
    X : array-like or DataFrame of shape (n_cases, n_columns)
        What it is given.
    typical : TypicalCases or None
        What was remembered of its training cases; None where that is not known.

    Returns
    -------
    Contributions or None
        None where they cannot be told: for sparse cases, more than two classes, or without typical cases.
    """
    if issparse(X) or len(getattr(model, "classes_", ())) != 2 or typical is None:
        return None
    way = _find_way(model, column_names_of(X))
    found = None if way is None else way.explain(X, typical)
    if found is not None or typical.cases is None:
        return found
    background = Background(typical.cases, np.arange(np.shape(X)[1]))
    X = _with_rows(X)
    if hasattr(model, "predict_proba"):
        return explain_by_sampling(lambda cases: model.predict_proba(cases)[:, 1], X, background, PROBABILITY)
    return explain_by_sampling(lambda cases: np.asarray(model.decision_function(cases)), X, background, SCORE)


def _with_rows(X: Any) -> Any:
    """Cases whose columns can be replaced: an array, or a pandas frame with the names of another kind of frame."""
    if not hasattr(X, "iter_columns"):
        return X if hasattr(X, "iloc") else np.asarray(X)
    import pandas as pd

    return pd.DataFrame({name: X[name].to_numpy() for name in X.columns})
