"""Cases with known outcomes: a table split into features and the outcome column, checked."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..labels import preview, to_python
from .columns import ISO_DAY, with_dates

_FEW_ROWS = 50  # up to this number of rows, values that are all different may be chance


@dataclass(frozen=True, eq=False)
class Cases:
    """Cases with known outcomes, checked.

    Attributes
    ----------
    features : DataFrame
        Everything but the outcome.
    outcomes : ndarray
        One of two classes for each case.
    positive : object
        The positive class: the one a false alarm wrongly predicts.
    target : str
        Name of the outcome column.
    name : str
        Where the cases come from.
    """

    features: Any
    outcomes: NDArray[Any]
    positive: Any
    target: str
    name: str

    @property
    def classes(self) -> list[Any]:
        """The two classes, negative first."""
        return sorted(
            (to_python(label) for label in np.unique(self.outcomes)), key=lambda label: label == self.positive
        )


def check_cases(
    frame: Any, target: str, positive: Any = None, *, drop: Iterable[str] = (), name: str = "table", least: int = 6
) -> Cases:
    """Split a table into features and outcomes, or raise an error that says what is wrong with it.

    Parameters
    ----------
    frame : DataFrame
        The whole table.
    target : str
        Name of the outcome column.
    positive : object, optional
        The positive class, or its name as text; the second of the sorted classes by default.
    drop : iterable of str
        Columns to leave out.
    name : str
        Name of the table in messages.
    least : int
        Smallest number of cases of each class.
    """
    _require_column(frame, target, "to predict", name)
    dropped = list(dict.fromkeys(drop))
    for column in dropped:
        _require_column(frame, column, "to leave out", name)
        if column == target:
            raise ValueError(f"drop={column!r} is the column to predict: leave out others only.")
    outcomes = _as_labels(frame[target], target, name)
    classes, counts = np.unique(outcomes, return_counts=True)
    _require_two_classes(classes, target, name)
    rare = int(np.argmin(counts))
    if counts[rare] < least:
        raise ValueError(
            f"{name} has only {counts[rare]} cases with {target} = {to_python(classes[rare])!r}; at least {least} are "
            "needed."
        )
    features = frame.drop(columns=[target, *dropped]).reset_index(drop=True)
    _check_features(features, name)
    features = with_dates(features)
    return Cases(features, outcomes, _find_positive(positive, classes, target), str(target), name)


def _require_column(frame: Any, wanted: str, use: str, name: str) -> None:
    if wanted not in frame.columns:
        close = difflib.get_close_matches(str(wanted), list(frame.columns), n=1, cutoff=0.5)
        hint = f"did you mean {close[0]!r}?" if close else f"it has {preview(frame.columns)}."
        raise ValueError(f"{name} has no column {wanted!r} {use}: {hint}")


def identifier_hints(features: Any) -> list[str]:
    """For each column that looks like an identifier, say how to leave it out.

    Its values are text or whole numbers, all different; whole numbers must also be consecutive, or the column be named
    like an identifier. Small tables get no hints.
    """
    return [
        f"column {name!r} holds a different value in every row and looks like an identifier: leave it out with "
        + (f"--drop {shlex.quote(name)} (in Python, drop=[{name!r}])" if _can_be_listed(name) else f"drop=[{name!r}]")
        for name in features.columns
        if len(features) > _FEW_ROWS and _is_identifier(name, features[name])
    ]


def _can_be_listed(name: str) -> bool:
    """Whether the command line, which takes names separated by commas, can name a column."""
    return "," not in name and name == name.strip()


def _is_identifier(name: str, column: Any) -> bool:
    import pandas as pd

    kind = pd.api.types.infer_dtype(column, skipna=False)
    if kind not in ("string", "integer") or not column.is_unique or column.isna().any():
        return False
    if kind == "string" and ISO_DAY.match(column.iloc[0]):
        return False  # times, though not all written in the same form
    named = re.fullmatch(r"(.*_)?(id|index)", name.lower()) is not None
    return kind == "string" or named or int(column.max()) - int(column.min()) == len(column) - 1


def _as_labels(column: Any, target: str, name: str) -> NDArray[Any]:
    missing = int(column.isna().sum())
    if missing == len(column):
        raise ValueError(f"{name}: the column {target!r} to predict is empty.")
    if missing:
        raise ValueError(f"{name}: {missing} cases have no {target}; every case needs a known outcome.")
    values = column.to_numpy()
    if values.dtype.kind == "f" and (values == np.round(values)).all():
        return values.astype(np.int64)
    if values.dtype.kind in "iuf":
        return values
    return np.array([str(value) for value in values.tolist()])


def _require_two_classes(classes: NDArray[Any], target: str, name: str) -> None:
    if len(classes) == 1:
        raise ValueError(
            f"{name}: the column {target!r} holds {to_python(classes[0])!r} only; two outcomes are needed."
        )
    if len(classes) > 2:
        raise ValueError(
            f"{name}: the column {target!r} holds {len(classes)} different outcomes {preview(classes)}; exactly "
            "two are needed. Compare two of them, or one with the rest."
        )


def _find_positive(positive: Any, classes: NDArray[Any], target: str) -> Any:
    if positive is None:
        return to_python(classes[1])
    for label in classes:
        if to_python(label) == positive or str(to_python(label)) == str(positive):
            return to_python(label)
    raise ValueError(f"positive={positive!r} does not occur in {target}: it holds {preview(classes)}.")


def _check_features(features: Any, name: str) -> None:
    if features.shape[1] == 0:
        raise ValueError(f"{name} has no column besides the one to predict.")
    empty = [column for column in features.columns if features[column].isna().all()]
    if empty:
        raise ValueError(f"{name}: the column {empty[0]!r} is empty in every row; remove it or fill it.")
    for column in features.select_dtypes("floating").columns:
        if np.isinf(features[column].to_numpy(dtype=np.float64, na_value=np.nan)).any():
            raise ValueError(
                f"{name}: the column {column!r} holds an infinite number; leave the cell empty where nothing is known."
            )
