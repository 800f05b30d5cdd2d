"""Finding the reject-option classifier inside a Pipeline or a search, and deciding cases with it.

`decide` and `cross_val_decide` work on any estimator that ends in a reject-option classifier. `locate` finds that
classifier; it refuses, and says why, an estimator that would lose the rejections.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing  # documented in scikit-learn's reference, despite the underscore
from sklearn.utils.validation import check_is_fitted, indexable

from .arrays import Flags, Floats, Indices
from .decisions import KINDS, Decisions
from .explaining import ShownColumns, column_names_of, column_sources
from .folds import DEFAULT_FOLDS, Fold, check_groups, check_times, make_folds, time_folds
from .labels import REJECT_TEXT, as_labels, automatic_label, encode, require_label, to_python
from .remembering import with_neighbours
from .routing import group_params, is_search, take_params
from .validation import check_labels, is_dask


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
    return decide_with_probability(estimator, X, reasons=reasons, neighbours=neighbours, probability=False)[0]


def decide_with_probability(
    estimator: Any, X: Any, *, reasons: bool | str = True, neighbours: int | None = None, probability: bool = True
) -> tuple[Decisions, Floats | None]:
    """Decide as `decide` does; return the probability of the positive class, too, of classifiers that have one."""
    classifier, transformed, names = trace(estimator, X)
    if reasons and hasattr(classifier, "_decide_shown"):
        columns = shown_columns(estimator, X, transformed, names)
        decisions: Decisions = classifier._decide_shown(transformed, reasons, names, columns)
    else:
        decisions = classifier.decide(transformed, reasons=reasons)
    decisions = with_novelties(estimator, X, decisions)
    decisions = with_neighbours(estimator, classifier, X, decisions, neighbours if reasons else None)
    found = None
    if probability and len(classifier.classes_) == 2 and hasattr(classifier, "predict_proba"):
        column = int(to_python(classifier.classes_[1]) == to_python(classifier.pos_label_))
        found = np.asarray(classifier.predict_proba(transformed))[:, column]
    decisions = _with_index(decisions, X)
    return decisions, found


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


def with_novelties(estimator: Any, X: Any, decisions: Decisions) -> Decisions:
    """Reject the cases that the first step of a Pipeline on tables finds far outside what it was fitted on."""
    first: Any = estimator.steps[0][1] if isinstance(estimator, Pipeline) else None
    return mark_novelties(decisions, first.novelties(first.transform(X)) if hasattr(first, "novelties") else {})


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
    )


def cross_val_decide(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    time: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    params: Mapping[str, Any] | None = None,
    reasons: bool = True,
    random_state: Any = 0,
) -> Decisions:
    """Answer every case by a model that was fitted without it: `cross_val_predict` for the whole table.

    Parameters
    ----------
    estimator : reject-option classifier, or a Pipeline or search that ends in one
        Cloned for every fold; never fitted in place.
    X, y : array-like
        Cases and outcomes.
    groups : array-like, optional
        Cases that belong together, such as the visits of one patient: no group is on both sides of a fold. They also go
        to the `fit` of a search, and of a classifier that takes them, at the end of a Pipeline too, so that inner folds
        keep them together as well; with metadata routing enabled, to what has requested them.
    time : array-like, optional
        When each case was, numbers or dates, for a world that changes: models train on the past and answer the block
        that follows, `cv` blocks in turn; the first block is never answered. Training cases are in the order of time,
        so that ``cv=TimeFolds()`` of an estimator inside makes its inner folds likewise.
    cv : int, splitter or iterable, optional
        5 folds by default. Folds given by their number are stratified and shuffled, since tables come sorted; a
        splitter is used as it is. No case may be in two test folds.
    n_jobs : int, optional
        Number of folds fitted in parallel.
    params : mapping, optional
        Passed to `fit`; arrays as long as `X` (``sample_weight``) are split with it.
    reasons : bool, default=True
        As in `decide`.
    random_state : int, RandomState or None, default=0
        Shuffles the folds.

    Returns
    -------
    Decisions
        In the row order of `X`. If some cases are in no test fold, as with `time` or ``cv=TimeFolds()``, it holds the
        others only, and its `index` says which: their positions, or their row names if `X` is a frame.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> import recuse
    >>> X, y = make_classification(120, random_state=0)
    >>> model = recuse.ThresholdRejectClassifier(LogisticRegression(), costs=0.2)
    >>> later = recuse.cross_val_decide(model, X, y, time=range(120), cv=3)
    >>> len(later), y[later.index].shape
    (90, (90,))
    """
    labels = check_labels(y)
    X, y, groups = indexable(X, labels, groups)
    codes = check_groups(groups, len(y))
    if time is None:
        folds = make_folds(cv, y, X=X, groups=codes, random_state=random_state)
    else:
        folds = _folds_over_time(time, y, cv, codes)
    tested = np.concatenate([test for _, test in folds])
    if len(np.unique(tested)) < len(tested):
        raise ValueError(f"cv={cv!r} puts cases into several test folds: a case can have one answer only.")
    params = {**group_params(estimator, codes), **(params or {})}
    parts = Parallel(n_jobs=n_jobs)(
        delayed(_fit_and_decide)(estimator, X, y, train, test, params, reasons) for train, test in folds
    )
    restored = Decisions.concatenate(parts)[np.argsort(tested)]
    assert isinstance(restored, Decisions)
    if len(tested) < len(y) and restored.index is None:
        return replace(restored, index=np.sort(tested))
    return restored


def _folds_over_time(time: Any, y: NDArray[Any], cv: Any, groups: Indices | None) -> list[Fold]:
    """Folds that test on what came after."""
    if groups is not None:
        raise ValueError("groups and time do not go together: give one of the two.")
    if not (cv is None or isinstance(cv, numbers.Integral)):
        raise ValueError(f"cv must be a number of blocks where time is given; got {cv!r}. Leave one of the two out.")
    return time_folds(check_times(time, len(y)), y, DEFAULT_FOLDS if cv is None else int(cv))


def _fit_and_decide(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    train: Indices,
    test: Indices,
    params: Mapping[str, Any],
    reasons: bool,
) -> Decisions:
    fit_params = take_params(params, train, len(y))
    fitted = clone(estimator).fit(_safe_indexing(X, train), y[train], **fit_params)
    return decide(fitted, _safe_indexing(X, test), reasons=reasons)


def is_rejected(answers: Any, reject_label: Any = None, *, estimator: Any = None) -> Flags:
    """Mark the rejected cases among predictions.

    Parameters
    ----------
    answers : Decisions or array-like
        A decisions table, which records its rejections, or the array from `predict`.
    reject_label : label, fitted estimator or Decisions, optional
        The label that marks a rejected case in an array, or what knows it: a reject-option classifier, a Pipeline or
        search that ends in one, or a table of its decisions.
    estimator : fitted estimator or Decisions, optional
        The same by name, for code that says what it passes.

    Returns
    -------
    ndarray of bool

    Examples
    --------
    >>> import recuse
    >>> recuse.is_rejected(["yes", "[abstain]", "no"], "[abstain]")
    array([False,  True, False])
    """
    source = reject_label if estimator is None else estimator
    if isinstance(answers, Decisions):
        _require_own_label(source, answers)
        return ~answers.accepted
    if (reject_label is None) == (estimator is None):
        raise ValueError("Which label marks a rejected case? Pass either reject_label= or estimator=.")
    reject_label = _reject_label_of(source)
    answers = as_labels(answers)
    if (answers.dtype.kind == "U" and not isinstance(reject_label, str)) or (
        answers.dtype.kind in "biuf" and isinstance(reject_label, str)
    ):
        raise ValueError(
            f"reject_label={to_python(reject_label)!r} cannot occur among answers such as {answers[:1].tolist()}."
        )
    if answers.ndim != 1:
        raise ValueError(f"answers must be one-dimensional, one per case; got shape {answers.shape}.")
    rejected: Flags = encode(answers, np.array([reject_label])) == 0
    if reject_label is source and not rejected.any():  # a batch may hold no rejection
        _require_plausible(to_python(reject_label), answers)
    return rejected


def _require_own_label(source: Any, decisions: Decisions) -> None:
    """Refuse a label, or what knows one, that is not the label of a table of decisions."""
    if source is not None and to_python(_reject_label_of(source)) != to_python(decisions.reject_label):
        raise ValueError(
            f"reject_label={to_python(_reject_label_of(source))!r} is not the label of these decisions, "
            f"{to_python(decisions.reject_label)!r}: leave it out."
        )


def _require_plausible(label: Any, answers: NDArray[Any]) -> None:
    """Refuse a label that does not occur although the answers hold a usual one.

    -1 may be one of three classes, but then the label that goes with them is another.
    """
    distinct = np.array(list(dict.fromkeys(answers.tolist())), dtype=answers.dtype)
    usual = REJECT_TEXT if REJECT_TEXT in distinct.tolist() else -1
    if distinct.dtype.kind in "iuf" and len(distinct) > 2:
        plausible = -1 not in distinct or label == automatic_label(distinct)
    else:
        plausible = usual != REJECT_TEXT
    if not plausible:
        raise ValueError(
            f"reject_label={label!r} does not occur among the answers, but {usual!r} does, the usual label of a "
            "rejected case: pass the model in place of the label."
        )


def _reject_label_of(source: Any) -> Any:
    """The label itself, or that of a table of decisions or of a fitted estimator."""
    if isinstance(source, Decisions):
        return source.reject_label
    if hasattr(source, "fit"):
        return locate(source)[0].reject_label_
    require_label(source)
    return source


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
