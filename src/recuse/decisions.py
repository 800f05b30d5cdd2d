"""The table behind every answer, and how to get one from any fitted estimator.

A reject-option classifier is a pair (h, r): h chooses the class, r accepts the case when it is greater than 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing  # documented in scikit-learn's reference, despite the underscore
from sklearn.utils.validation import check_is_fitted, indexable

from .costs import Costs
from .labels import as_labels, encode, plain, require_known

KINDS = ("accept", "ambiguity", "novelty")


class Decision(NamedTuple):
    """One row of a `Decisions` table."""

    label: Any
    forced: Any
    accepted: bool
    kind: str
    h: float
    r: float
    reason: str


@dataclass(frozen=True, eq=False, repr=False)
class Decisions:
    """Answers to a batch of cases, one row each.

    Attributes
    ----------
    label : ndarray
        The answer: a class, or `reject_label`.
    forced : ndarray
        The class the model would give if it had no reject option; same type as `label`.
    accepted : ndarray of bool
        Whether the model answers the case itself.
    kind : ndarray of str
        ``"accept"``, ``"ambiguity"`` (close to several classes) or ``"novelty"`` (far from all of them).
    h : ndarray of float
        Class score, greater than 0 towards the second class (with three or more classes: the highest
        probability).
    r : ndarray of float
        Acceptance score: the case is accepted when it is greater than 0.
    reason : ndarray of str
        One sentence a case.
    classes : ndarray
        The classes of the model, without the reject label.
    reject_label : object
        What `label` holds for a rejected case.
    costs, pos_label
        The model's prices and its positive class, for metrics.
    index : pandas index, optional
        Row names of the cases, where they came as a pandas frame.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import recuse
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(
    ...     StandardScaler(), recuse.ThresholdRejectClassifier(LogisticRegression(), costs=0.1)
    ... ).fit(X, y)
    >>> recuse.decide(model, X[:100])
    Decisions(100 cases: 87 accepted, 13 ambiguity, 0 novelty)
    """

    label: NDArray[Any]
    forced: NDArray[Any]
    accepted: NDArray[np.bool_]
    kind: NDArray[np.str_]
    h: NDArray[np.float64]
    r: NDArray[np.float64]
    reason: NDArray[Any]
    classes: NDArray[Any]
    reject_label: Any
    costs: Costs | None = None
    pos_label: Any = None
    index: Any = None

    def __post_init__(self) -> None:
        lengths = {name: len(column) for name, column in self._columns().items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"The columns of a Decisions table must have one length; got {lengths}.")

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {name: getattr(self, name) for name in Decision._fields}

    @property
    def rejected(self) -> NDArray[np.bool_]:
        """Which cases the model leaves to a person."""
        return ~self.accepted

    def __len__(self) -> int:
        return len(self.label)

    def __eq__(self, other: object) -> bool:
        """Whether two tables have the same labels and hold the same answers, scores and reasons."""
        if not isinstance(other, Decisions):
            return NotImplemented
        return self._same_labels(other) and all(
            np.array_equal(mine, theirs)
            for mine, theirs in zip(self._columns().values(), other._columns().values(), strict=True)
        )

    __hash__ = None  # type: ignore[assignment]  # tables compare by content, and their arrays can change

    def _same_labels(self, other: Decisions) -> bool:
        return np.array_equal(self.classes, other.classes) and bool(
            plain(self.reject_label) == plain(other.reject_label)
        )

    def __bool__(self) -> bool:
        raise TypeError("A Decisions table has no truth value: use len(decisions) or decisions.accepted.all().")

    def __getitem__(self, rows: Any) -> Decisions | Decision:
        """Return one row for an integer, a table for a slice, a mask or a list of positions."""
        if isinstance(rows, str):
            raise TypeError(f"Columns are attributes: use decisions.{rows}, or decisions.to_pandas()[{rows!r}].")
        if not isinstance(rows, slice):
            rows = np.asarray(rows)
            rows = rows.astype(np.intp) if rows.size == 0 else rows  # an empty list has no type of its own
            if rows.ndim == 0:
                return Decision(*(plain(column[rows]) for column in self._columns().values()))
        columns = {name: column[rows] for name, column in self._columns().items()}
        return replace(self, **columns, index=None if self.index is None else self.index[rows])

    def __iter__(self) -> Iterator[Decision]:
        return (Decision(*row) for row in zip(*(column.tolist() for column in self._columns().values()), strict=True))

    def counts(self) -> dict[str, int]:
        """Return the number of cases of each kind."""
        return {kind: int(np.count_nonzero(self.kind == kind)) for kind in KINDS}

    def to_pandas(self, index: Any = None) -> Any:
        """Return the table as a pandas DataFrame, one column each.

        Rows are named as in the frame the cases came in, so that the table can be joined to it; `index` names them
        otherwise.
        """
        import pandas as pd

        return pd.DataFrame(self._columns(), index=self.index if index is None else index)

    @staticmethod
    def concatenate(parts: Sequence[Decisions]) -> Decisions:
        """Stack tables of the same model, or of models fitted to the same classes."""
        if len(parts) == 0:
            raise ValueError("Nothing to stack: give at least one Decisions table.")
        first, *rest = parts
        for other in rest:
            if not first._same_labels(other):
                raise ValueError(
                    "Cannot stack Decisions of different labels: classes "
                    f"{first.classes.tolist()} with reject label {first.reject_label!r}, and "
                    f"{other.classes.tolist()} with {other.reject_label!r}."
                )
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in Decision._fields
        }
        index = first.index
        if index is not None:
            index = index.append([part.index for part in rest]) if all(p.index is not None for p in rest) else None
        return replace(first, **columns, index=index)

    def __repr__(self) -> str:
        accepted, *rejected = self.counts().items()
        shown = ", ".join(f"{count} {kind}" for kind, count in rejected)
        return f"Decisions({len(self)} cases: {accepted[1]} accepted, {shown})"


def decide(estimator: Any, X: Any, *, reasons: bool = True) -> Decisions:
    """Answer every case of `X`, with the reject option of the classifier inside `estimator`.

    Parameters
    ----------
    estimator : fitted reject-option classifier, or a Pipeline or search that ends in one
        The earlier steps of a Pipeline are applied to `X`; of a search the best estimator is used.
    X : array-like of shape (n_samples, n_features)
        The cases.
    reasons : bool, default=True
        Whether to write a sentence for each case; without them large tables are faster.

    Returns
    -------
    Decisions
    """
    classifier, transformed, names = _trace(estimator, X)
    if reasons and names is not None and hasattr(classifier, "_decide_named"):
        decisions: Decisions = classifier._decide_named(transformed, names)
    else:
        decisions = classifier.decide(transformed, reasons=reasons)
    return replace(decisions, index=getattr(X, "index", None))  # a transformer may have dropped the row names


def cross_val_decide(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    params: Mapping[str, Any] | None = None,
    reasons: bool = True,
) -> Decisions:
    """Answer every case by a model that was fitted without it: `cross_val_predict` for the whole table.

    Parameters
    ----------
    estimator : reject-option classifier, or a Pipeline or search that ends in one
        Cloned for every fold; never fitted in place.
    X, y : array-like
        Cases and outcomes.
    groups : array-like, optional
        Passed to the splitter.
    cv : int, splitter or iterable, optional
        As in scikit-learn; every case must be in exactly one test fold.
    n_jobs : int, optional
        Number of folds worked on at once.
    params : mapping, optional
        Passed to `fit`; arrays as long as `X` (``sample_weight``) are split with it.
    reasons : bool, default=True
        As in `decide`.

    Returns
    -------
    Decisions
        In the row order of `X`.
    """
    X, y, groups = indexable(X, y, groups)
    require_known(as_labels(y))
    folds = list(check_cv(cv, y, classifier=True).split(X, y, groups))
    tested = np.concatenate([test for _, test in folds])
    if not np.array_equal(np.sort(tested), np.arange(len(y))):
        raise ValueError(f"cv={cv!r} must put every case into exactly one test fold.")
    parts = Parallel(n_jobs=n_jobs)(
        delayed(_fit_and_decide)(estimator, X, y, train, test, params or {}, reasons) for train, test in folds
    )
    restored = Decisions.concatenate(parts)[np.argsort(tested)]
    assert isinstance(restored, Decisions)
    return restored


def _fit_and_decide(
    estimator: Any,
    X: Any,
    y: Any,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    params: Mapping[str, Any],
    reasons: bool,
) -> Decisions:
    n = len(train) + len(test)
    split = {name: _safe_indexing(value, train) if _is_column(value, n) else value for name, value in params.items()}
    fitted = clone(estimator).fit(_safe_indexing(X, train), _safe_indexing(y, train), **split)
    return decide(fitted, _safe_indexing(X, test), reasons=reasons)


def _is_column(value: Any, n: int) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str) and len(value) == n


def is_rejected(answers: Any, reject_label: Any = None, *, estimator: Any = None) -> NDArray[np.bool_]:
    """Mark the rejected cases among predictions.

    Parameters
    ----------
    answers : Decisions or array-like
        A decisions table, which knows its own rejections, or the array from `predict`.
    reject_label : object, optional
        The label that marks a rejected case in an array.
    estimator : fitted estimator, optional
        Where to look the label up instead: a reject-option classifier, or a Pipeline or search that ends in one.

    Returns
    -------
    ndarray of bool

    Examples
    --------
    >>> import recuse
    >>> recuse.is_rejected(["yes", "[abstain]", "no"], "[abstain]")
    array([False,  True, False])
    """
    if isinstance(answers, Decisions):
        return ~answers.accepted
    if (reject_label is None) == (estimator is None):
        raise ValueError("Which label marks a rejected case? Pass either reject_label= or estimator=.")
    if estimator is not None:
        reject_label = locate(estimator)[0].reject_label_
    answers = as_labels(answers)
    if (answers.dtype.kind == "U" and not isinstance(reject_label, str)) or (
        answers.dtype.kind in "biuf" and isinstance(reject_label, str)
    ):
        raise ValueError(
            f"reject_label={plain(reject_label)!r} cannot occur among answers such as {answers[:1].tolist()}."
        )
    if answers.ndim != 1:
        raise ValueError(f"answers must be one-dimensional, one a case; got shape {answers.shape}.")
    return encode(answers, np.array([reject_label])) == 0


def locate(estimator: Any, X: Any = None) -> tuple[Any, Any]:
    """Find the fitted reject-option classifier inside `estimator`, and what it would be given for `X`.

    Raises TypeError where there is none, or where it is buried under an estimator that would lose rejections.
    """
    classifier, X, _ = _trace(estimator, X)
    return classifier, X


def column_names(estimator: Any) -> NDArray[Any] | None:
    """Names of the columns that the fitted reject-option classifier inside `estimator` is given, where they are known.

    They are its own or, where it was fitted to an array, those that the earlier steps of its Pipeline give.
    """
    classifier, _, names = _trace(estimator)
    return getattr(classifier, "feature_names_in_", names)


def _trace(estimator: Any, X: Any = None) -> tuple[Any, Any, NDArray[Any] | None]:
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


def _names_out(steps: Pipeline, names: NDArray[Any] | None) -> NDArray[Any] | None:
    """Names of the columns that come out of fitted steps; None where a step cannot tell."""
    try:
        found = steps.get_feature_names_out(names)
    except (AttributeError, ValueError):
        return None
    return None if found is None else np.asarray(found, dtype=object)  # "passthrough" hands on what it is given


def is_search(estimator: Any) -> bool:
    """Whether an estimator searches hyper-parameters of another."""
    return hasattr(estimator, "param_grid") or hasattr(estimator, "param_distributions")


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
