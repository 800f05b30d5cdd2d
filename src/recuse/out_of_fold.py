"""Answers out of cross-validation: every case by a model that was fitted without it."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing  # documented in scikit-learn's reference, despite the underscore
from sklearn.utils.validation import indexable

from .arrays import Indices
from .decisions import Decisions
from .folds import DEFAULT_FOLDS, Fold, check_groups, check_times, make_folds, named_cv, time_folds
from .locating import decide
from .routing import group_params, take_params
from .validation import check_labels


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
        raise ValueError(f"{named_cv(cv)} puts cases into several test folds: a case can have one answer only.")
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
