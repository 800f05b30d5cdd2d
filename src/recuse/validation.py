"""scikit-learn's check of X and y, with messages that name the column at fault and say what to do."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d
from sklearn.utils.validation import validate_data as sklearn_validate_data

from .arrays import Floats, Indices
from .labels import as_labels, encode, is_missing, preview, require_known, require_numbers_or_text, to_python

_NOT_GIVEN: Any = object()
_ENCODE = "skrub's TableVectorizer or a ColumnTransformer before the classifier (docs: Your own table)"


def validate_data(estimator: Any, X: Any, y: Any = _NOT_GIVEN, **options: Any) -> Any:
    """Check X, and y if it is given, as `sklearn.utils.validation.validate_data` does.

    The labels are taken as they are, see `check_labels`. If X is a frame and is refused, the message names the column.
    """
    if y is _NOT_GIVEN:
        return _validate_cases(estimator, X, **options)
    require_given(estimator, y)
    X = _validate_cases(estimator, X, **options)
    y = check_labels(y)
    check_consistent_length(X, y)
    return X, y


def _validate_cases(estimator: Any, X: Any, **options: Any) -> Any:
    """scikit-learn's check of X, with a message that names the column of a frame."""
    require_in_memory(estimator, X)
    try:
        return sklearn_validate_data(estimator, X, **options)
    except (TypeError, ValueError) as error:
        if not options.get("reset", True) and not _has_known_columns(estimator, X):
            raise  # a table with other columns than in fit: what they hold does not matter
        fault = _fault(X, type(estimator).__name__, allow_nan=options.get("ensure_all_finite", True) == "allow-nan")
        if fault is None:
            raise
        raise ValueError(fault) from error


def is_dask(X: Any) -> bool:
    """Whether a table is a dask collection; dask is not imported for that."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def require_in_memory(estimator: Any, X: Any) -> None:
    """Refuse a dask collection: scikit-learn would collect it, and pass over the names of its columns."""
    if is_dask(X):
        raise TypeError(
            f"X is a dask {type(X).__name__}, and this method of {type(estimator).__name__} takes tables in memory: "
            "recuse.decide(model, X) answers it partition by partition, recuse.dask.metrics measures these answers, "
            "recuse.dask has classifiers that are fitted to it, and X.compute() brings it into memory."
        )


def require_given(estimator: Any, y: Any) -> None:
    """Refuse a fit without labels."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")


def check_labels(y: Any) -> NDArray[Any]:
    """Return the labels of training cases in the type they have; refuse what cannot be a class.

    scikit-learn's own conversion does not see them: it turns nullable columns into floats, in which large integers
    collapse, and does not know NumPy's variable-width text.
    """
    labels = column_or_1d(as_labels(y), warn=True)
    require_known(labels)
    require_numbers_or_text(labels)
    check_classification_targets(labels)
    return labels


def check_outcomes(X: Any, y: Any, classes: NDArray[Any]) -> Indices:
    """Class numbers of the true labels of cases; refuse another number of labels than of cases, and unknown ones."""
    y = column_or_1d(as_labels(y))
    check_consistent_length(X, y)
    truth = encode(y, classes)
    if (truth < 0).any():
        raise ValueError(f"y holds labels that are not among the classes {preview(classes)}: {preview(y[truth < 0])}.")
    return truth


def check_training_data(estimator: Any, X: Any, y: Any, **options: Any) -> Any:
    """`validate_data` for a fit that stores nothing before it has succeeded; see `store_columns`."""
    return validate_data(copy(estimator), X, y, **options)


def store_columns(estimator: Any, X: Any) -> None:
    """Store number and names of the columns of checked cases, as given, in the estimator."""
    sklearn_validate_data(estimator, X, skip_check_array=True)


def _has_known_columns(estimator: Any, X: Any) -> bool:
    """Whether a frame has the columns that a fitted estimator knows."""
    columns = [to_python(name) for name in getattr(X, "columns", ())]
    known = [to_python(name) for name in getattr(estimator, "feature_names_in_", columns)]
    return columns == known and len(columns) == getattr(estimator, "n_features_in_", len(columns))


def _fault(X: Any, needs: str, *, allow_nan: bool) -> str | None:
    """What is wrong with the first column that holds anything but finite numbers; None if X has no named columns."""
    for name, values in _named_columns(X):
        where = f"The column {name!r}"
        if values.dtype.kind in "mM" or any(isinstance(value, datetime.date) for value in _objects(values)):
            return f"{where} holds dates, and {needs} needs numbers: turn them into numbers with {_ENCODE}."
        text = next((value for value in _objects(values) if not _is_number(value)), None)
        if text is not None:
            return f"{where} holds {to_python(text)!r}, and {needs} needs numbers: encode it with {_ENCODE}."
        numbers = _as_floats(values)
        if np.isinf(numbers).any():
            return f"{where} holds an infinite number: put a missing value (NaN) where the value is unknown."
        if not allow_nan and np.isnan(numbers).any():
            return f"{where} has missing values, and {needs} takes none: fill them, with SimpleImputer before it."
    return None


def _named_columns(X: Any) -> Iterator[tuple[Any, NDArray[Any]]]:
    """Columns of a pandas or polars frame."""
    if hasattr(X, "iloc") and hasattr(X, "items") and getattr(X, "ndim", 0) == 2:
        yield from ((to_python(name), np.asarray(column)) for name, column in X.items())
    elif hasattr(X, "iter_columns"):
        yield from ((column.name, np.asarray(column)) for column in X.iter_columns())


def _objects(values: NDArray[Any]) -> list[Any]:
    """The values of a column that is not numeric for NumPy, without the missing ones."""
    return [value for value in values.tolist() if not is_missing(value)] if values.dtype.kind in "OSTU" else []


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _as_floats(values: NDArray[Any]) -> Floats:
    if values.dtype.kind in "OSTU":
        return np.array([np.nan if is_missing(value) else float(value) for value in values.tolist()])
    return values.astype(np.float64) if values.dtype.kind in "biuf" else np.zeros(0)


def require_known_columns(estimator: Any, X: NDArray[Any], weights: Floats) -> None:
    """Refuse a column in which every value is missing."""
    empty = np.flatnonzero(np.isnan(X[weights > 0]).all(axis=0)) if np.isnan(X.sum()) else np.zeros(0, dtype=int)
    if len(empty):
        names = getattr(estimator, "feature_names_in_", np.arange(X.shape[1]))[empty]
        raise ValueError(f"Every value is missing in the columns {preview(names)}: leave them out.")
