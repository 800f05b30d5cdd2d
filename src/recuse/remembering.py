"""Training cases that a model keeps, and what reasons say of those nearest to a case."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing  # documented in scikit-learn's reference, despite the underscore

from .decisions import Decisions
from .explaining import RememberedCases, neighbours_in_words
from .parameters import check_count

KEPT = "_remembered_cases"  # of the classifier: it is what stays when a Pipeline is put together anew


def remembered_cases(classifier: Any) -> RememberedCases:
    """The training cases that a classifier keeps."""
    kept: RememberedCases | None = getattr(classifier, KEPT, None)
    if kept is None:
        raise ValueError(
            "neighbours needs training cases in the model, and it keeps none: fit it with remember=True (fit "
            "--remember on the command line), or call recuse.remember_cases(model, X, y)."
        )
    return kept


def as_remembered_table(estimator: Any, X: Any) -> Any:
    """Cases in the form in which training cases are kept: columns of a table in their types, or as they are."""
    first: Any = estimator.steps[0][1] if isinstance(estimator, Pipeline) else None
    if hasattr(first, "novelties"):  # it reads tables
        return first.transform(X)
    return X if hasattr(X, "shape") else np.asarray(X)


def with_neighbours(estimator: Any, classifier: Any, X: Any, decisions: Decisions, k: int | None) -> Decisions:
    """The decisions, the reasons of rejected cases with the k nearest training cases of each class."""
    if k is None:
        return decisions
    check_count("neighbours", k, least=1)
    kept, rows = remembered_cases(classifier), np.flatnonzero(~decisions.accepted)
    reason = decisions.reason.astype(object)
    if len(rows):
        found = kept.nearest(_safe_indexing(as_remembered_table(estimator, X), rows), k)
        classes = decisions.classes.tolist()
        reason[rows] = [f"{reason[row]}{neighbours_in_words(found, i, classes)}" for i, row in enumerate(rows)]
    return replace(decisions, reason=reason)
