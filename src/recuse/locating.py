"""Finding the reject-option classifier inside a Pipeline or a search, and deciding cases with it.

`decide` works on any estimator that ends in a reject-option classifier. `locate` finds that classifier; it refuses, and
says why, an estimator that would lose the rejections.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .arrays import Floats
from .decisions import KINDS, Decisions
from .explaining import ShownColumns, column_names_of, column_sources
from .labels import to_python
from .remembering import with_neighbours
from .routing import is_search
from .validation import is_dask
from .warning import warn_user


def decide(estimator: Any, X: Any, *, reasons: bool | str = True, neighbours: int | None = None) -> Any:
    """Answer or reject every case of `X`, as the classifier inside `estimator` does.

    Parameters
    ----------
    estimator : fitted reject-option classifier, or a Pipeline or search that ends in one
        The earlier steps of a Pipeline are applied to `X`; of a search the best estimator is used.
    X : array-like of shape (n_samples, n_features), or a dask DataFrame or array
        The cases.
    reasons : bool or "all", default=True
        Whether to write a sentence for each case; large tables are faster without. The sentences of rejected cases name
        the columns that speak for either class, with their values in `X`; "all" names those of answered cases, too.
    neighbours : int, optional
        So many training cases of each class, those nearest to it, are named in the reason of a rejected case. The model
        must keep training cases: see `recuse.remember_cases`.

    Returns
    -------
    Decisions
        For a dask collection a dask DataFrame with the columns of `Decisions.to_pandas`, which answers a partition
        when it is computed.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from recuse import ThresholdRejectClassifier, decide
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), ThresholdRejectClassifier(LogisticRegression(), costs=0.1)).fit(X, y)
    >>> decisions = decide(model, X[:100])
    >>> len(decisions), sorted(set(decisions.kind.tolist()))
    (100, ['accept', 'ambiguity'])
    """
    if is_dask(X):
        # By name: what stands on this module is not a part of it, and is there only for those who have dask.
        if neighbours is not None:
            raise ValueError(f"neighbours={neighbours!r} is for tables in memory, not for dask collections.")
        return import_module("recuse.dask.answering").decide_partitions(estimator, X, reasons)
    return decide_and_warn(estimator, X, reasons=reasons, neighbours=neighbours, probability=False)[0]


def decide_and_warn(
    estimator: Any, X: Any, *, reasons: bool | str = True, neighbours: int | None = None, probability: bool = True
) -> tuple[Decisions, Floats | None]:
    """Decide as `decide_with_probability` does, and name the values that the model's training table never had.

    The encoders warn of these, too, but name neither column nor value, so they are not heard.
    """
    first, rest, read = read_once(estimator, X)
    told = None if first is None else first.told_of_unseen(read)
    if told is None:
        return _decided(estimator, X, (first, rest, read), reasons, neighbours, probability)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Found unknown categories", UserWarning)
        found = _decided(estimator, X, (first, rest, read), reasons, neighbours, probability)
    warn_user(told)
    return found


def decide_with_probability(
    estimator: Any, X: Any, *, reasons: bool | str = True, neighbours: int | None = None, probability: bool = True
) -> tuple[Decisions, Floats | None]:
    """Decide as `decide` does; return the probability of the positive class, too, of classifiers that have one."""
    return _decided(estimator, X, read_once(estimator, X), reasons, neighbours, probability)


def _decided(
    estimator: Any,
    X: Any,
    parts: tuple[Any, Any, Any],
    reasons: bool | str,
    neighbours: int | None,
    probability: bool,
) -> tuple[Decisions, Floats | None]:
    """The decisions of an estimator whose parts, and the table as it reads it, `read_once` gave."""
    first, rest, read = parts
    classifier, transformed, names = trace(rest, read)
    if reasons and hasattr(classifier, "_decide_shown"):
        columns = shown_columns(rest, read, transformed, names)._replace(writings=getattr(first, "writings_", {}))
        decisions: Decisions = classifier._decide_shown(transformed, reasons, names, columns)
    else:
        decisions = classifier.decide(transformed, reasons=reasons)
    decisions = mark_novelties(decisions, {} if first is None else first.novelties(read))
    decisions = with_neighbours(estimator, classifier, X, decisions, neighbours if reasons else None)
    found = None
    if probability and len(classifier.classes_) == 2 and hasattr(classifier, "predict_proba"):
        column = int(to_python(classifier.classes_[1]) == to_python(classifier.pos_label_))
        found = np.asarray(classifier.predict_proba(transformed))[:, column]
    decisions = _with_index(decisions, X)
    return decisions, found


def read_once(estimator: Any, X: Any) -> tuple[Any, Any, Any]:
    """The step of a Pipeline that reads tables, what follows it, and the table as it reads it.

    Reading takes a good part of the time where columns are text. An estimator that does not begin with such a step is
    returned whole, behind None.
    """
    first: Any = estimator.steps[0][1] if isinstance(estimator, Pipeline) and len(estimator) > 1 else None
    if not hasattr(first, "novelties"):
        return None, estimator, X
    check_is_fitted(estimator)
    return first, estimator[1:], first.transform(X)


def shown_columns(estimator: Any, X: Any, transformed: Any, names: NDArray[Any] | None) -> ShownColumns:
    """The columns of `X`, and which of them each column that the classifier inside `estimator` sees is made from.

    Where that is not known, these columns themselves, with `names` if they have none.
    """
    steps = steps_before(estimator)
    if not steps:
        return ShownColumns.of(transformed, None if names is None else list(names))
    if hasattr(steps[0], "novelties"):  # reads tables: its values are shown as it reads them, however they are written
        X, steps = steps[0].transform(X), steps[1:]
    given = column_names_of(X)
    sources = column_sources(Pipeline([(str(i), step) for i, step in enumerate(steps)]), given)
    if sources is None or len(sources) != np.shape(transformed)[1]:
        return ShownColumns.of(transformed, None if names is None else list(names))
    return ShownColumns.of(X, sources=sources)


def _with_index(decisions: Decisions, X: Any) -> Decisions:
    return replace(decisions, index=getattr(X, "index", None))  # a transformer may have dropped the row names


def novelties_found(estimator: Any, X: Any) -> Mapping[int, tuple[float, str]]:
    """Positions of the cases that the first step of a Pipeline on tables finds far outside, their distance and why."""
    first, _, read = read_once(estimator, X)
    return {} if first is None else first.novelties(read)


def mark_novelties(decisions: Decisions, found: Mapping[int, tuple[float, str]]) -> Decisions:
    """Reject the cases at these positions as novelties, each with its distance and reason."""
    if not found:
        return decisions
    rows = np.array(list(found), dtype=np.intp)
    changed = {name: getattr(decisions, name).copy() for name in ("label", "accepted", "kind", "r", "reason")}
    changed["label"][rows] = decisions.reject_label
    changed["accepted"][rows] = False
    changed["kind"][rows] = "novelty"
    changed["r"][rows] = np.minimum(decisions.r[rows], [-distance for distance, _ in found.values()])
    if any(decisions.reason):  # none were asked for
        changed["reason"] = changed["reason"].astype(object)
        changed["reason"][rows] = [reason for _, reason in found.values()]
    return replace(decisions, **changed)


def no_decisions(estimator: Any, index: Any = None) -> Decisions:
    """The decisions of a fitted estimator on no case at all: every column with its type."""
    classifier, _ = locate(estimator)
    labels, none = classifier._labels.decode(np.empty(0, dtype=np.intp)), np.empty(0)
    several = len(classifier.classes_) > 2
    return Decisions(
        label=labels,
        forced=labels.copy(),
        accepted=none.astype(bool),
        kind=none.astype(np.array(KINDS).dtype),
        h=none,
        r=none.copy(),
        reason=none.astype(object),
        classes=classifier.classes_,
        reject_label=classifier.reject_label_,
        costs=classifier.costs_,
        pos_label=classifier.pos_label_,
        index=index,
        second=labels.copy() if several else None,
        score=none.copy() if several else None,
        second_score=none.copy() if several else None,
    )


def locate(estimator: Any, X: Any = None) -> tuple[Any, Any]:
    """Find the fitted reject-option classifier inside `estimator`, and what it would be given for `X`.

    Raises TypeError where there is none, or where it is buried under an estimator that would lose rejections.
    """
    classifier, X, _ = trace(estimator, X)
    return classifier, X


def column_names(estimator: Any) -> NDArray[Any] | None:
    """Names of the columns that the fitted reject-option classifier inside `estimator` sees, if they are known.

    These are its own names or, if it was fitted to an array, those from the earlier steps of its Pipeline.
    """
    classifier, _, names = trace(estimator)
    return getattr(classifier, "feature_names_in_", names)


def trace(estimator: Any, X: Any = None) -> tuple[Any, Any, NDArray[Any] | None]:
    """Find the classifier, what it would be given for `X`, and names of the columns that it does not know itself."""
    outer, names = estimator, None
    while not has_reject_option(estimator):
        if isinstance(estimator, Pipeline):
            check_is_fitted(estimator)
            if len(estimator) > 1:
                names = _names_out(estimator[:-1], names)
                X = None if X is None else estimator[:-1].transform(X)
            estimator = estimator.steps[-1][1]
        elif isinstance(estimator, FrozenEstimator):
            estimator = estimator.estimator
        elif hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif is_search(estimator):
            if getattr(estimator, "refit", True) is False:
                raise TypeError(
                    f"{type(estimator).__name__} has refit=False, so it holds no fitted model: set refit=True."
                )
            check_is_fitted(estimator, "best_estimator_")
        else:
            raise TypeError(_no_reject_option(outer, estimator))
    check_is_fitted(estimator)
    fits = names is not None and len(names) == getattr(estimator, "n_features_in_", None)
    return estimator, X, names if fits and not hasattr(estimator, "feature_names_in_") else None


def steps_before(estimator: Any) -> list[Any]:
    """The fitted steps before the reject-option classifier inside a Pipeline or a search."""
    found: list[Any] = []
    while not has_reject_option(estimator):
        if isinstance(estimator, Pipeline):
            found += [step for _, step in estimator.steps[:-1]]
            estimator = estimator.steps[-1][1]
        else:
            estimator = estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator.best_estimator_
    return found


def _names_out(steps: Pipeline, names: NDArray[Any] | None) -> NDArray[Any] | None:
    """Names of the columns that fitted steps return; None if a step does not know them."""
    try:
        found = steps.get_feature_names_out(names)
    except (AttributeError, ValueError):
        return None
    return None if found is None else np.asarray(found, dtype=object)  # "passthrough" hands on what it is given


def has_reject_option(estimator: Any) -> bool:
    """Whether an estimator is itself a reject-option classifier."""
    return callable(getattr(estimator, "decide", None)) and callable(getattr(estimator, "score_samples", None))


def stated_pos_label(estimator: Any) -> Any:
    """Return the positive class named by the reject-option classifier inside an estimator, fitted or not; else None."""
    named = getattr(estimator, "pos_label", None) if has_reject_option(estimator) else None
    if named is not None:
        return named
    if isinstance(estimator, Pipeline):
        return stated_pos_label(estimator.steps[-1][1])
    return stated_pos_label(estimator.estimator) if _keeps_labels(estimator) else None


def _keeps_labels(estimator: Any) -> bool:
    """Whether an estimator fits the one inside it to the labels as they are; bagging and others number them first."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

    wrappers = (CalibratedClassifierCV, FixedThresholdClassifier, FrozenEstimator, TunedThresholdClassifierCV)
    known = isinstance(estimator, wrappers) or is_search(estimator) or has_reject_option(estimator)
    return known and getattr(estimator, "estimator", None) is not None


def _no_reject_option(outer: Any, inner: Any) -> str:
    """Say why no reject-option classifier can be reached."""
    name = type(inner).__name__
    if isinstance(inner, type):
        return f"Expected a fitted estimator; got the class {inner.__name__}."
    if not hasattr(inner, "fit"):
        return f"Expected a fitted estimator first, then the cases; got {name}."
    nested = inner.get_params(deep=True).values() if hasattr(inner, "get_params") else ()
    buried = [type(value).__name__ for value in nested if has_reject_option(value)]
    if buried:
        return (
            f"{name} combines the answers of {buried[0]} as if it had no reject option, so its rejections are lost. "
            f"Put the reject option outermost: ThresholdRejectClassifier({name}(...))."
        )
    return f"{type(outer).__name__} has no reject option: wrap it, ThresholdRejectClassifier({name}(...))."
