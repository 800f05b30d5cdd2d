"""Cases with known outcomes: a table split into features and the outcome column, checked."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Indices
from ..folds import check_groups
from ..labels import preview, to_python
from .columns import with_dates
from .names import closest, no_column
from .outcomes import rare_class_sentence, require_few_classes, several_sentence
from .writings import are_codes

_logger = logging.getLogger("recuse.tables")


@dataclass(frozen=True, eq=False)
class Cases:
    """Cases with known outcomes, checked.

    Attributes
    ----------
    features : DataFrame
        Everything but the outcome.
    outcomes : ndarray
        The class of each case.
    positive : object
        The positive class: the one a false alarm wrongly predicts. None with three classes or more.
    target : str
        Name of the outcome column.
    name : str
        Where the cases come from.
    groups : ndarray of int or None
        Number of the group of each case: cases of one group, such as the visits of one patient, belong together.
    times : ndarray of int or None
        When each case was, from the first time to the last.
    rows : ndarray of int or None
        Row of the table, from 0, of each case; None if all rows are there, in their order.
    writings : dict of str to str
        How the columns of the file are written that are not written plainly; see `TableColumns`.
    beside : DataFrame or None
        Columns that say something about the cases for the report, be they features or not.
    """

    features: Any
    outcomes: NDArray[Any]
    positive: Any
    target: str
    name: str
    groups: Indices | None = None
    times: Indices | None = None
    rows: Indices | None = None
    writings: dict[str, str] = field(default_factory=dict)
    beside: Any = None

    @property
    def classes(self) -> list[Any]:
        """The two classes, negative first; three or more as they are sorted."""
        labels = [to_python(label) for label in np.unique(self.outcomes)]
        return labels if self.positive is None else sorted(labels, key=lambda label: label == self.positive)

    @property
    def several(self) -> bool:
        """Whether there are three classes or more."""
        return self.positive is None

    @property
    def codes(self) -> Indices:
        """Position of each outcome in `classes`: of two, 1 for the positive one."""
        if self.positive is not None:
            return (self.outcomes == self.positive).astype(np.intp)
        codes: Indices = np.unique(self.outcomes, return_inverse=True)[1]
        return codes

    @property
    def outcome_sentence(self) -> str:
        """Which outcome is positive, and how often it occurs; of three or more, how often each does."""
        if self.positive is None:
            return several_sentence(self.outcomes, self.target)
        return self.positive_sentence

    @property
    def positive_sentence(self) -> str:
        """Which outcome is positive, and how often it occurs."""
        count, n = int(np.count_nonzero(self.outcomes == self.positive)), len(self.outcomes)
        return f"the positive outcome is {self.target} = {self.positive!r}, {count:,} of {n:,} cases ({count / n:.1%})"

    @property
    def case_numbers(self) -> Indices:
        """Row of the table, from 1, of each case."""
        return (np.arange(len(self.outcomes)) if self.rows is None else self.rows) + 1

    def take(self, rows: Indices) -> Cases:
        """Some of the cases."""
        return replace(
            self,
            features=self.features.iloc[rows].reset_index(drop=True),
            outcomes=self.outcomes[rows],
            groups=None if self.groups is None else self.groups[rows],
            times=None if self.times is None else self.times[rows],
            rows=self.case_numbers[rows] - 1,
            beside=None if self.beside is None else self.beside.iloc[rows].reset_index(drop=True),
        )

    def in_time(self) -> Cases:
        """The cases from the first to the last; as they are without times."""
        return self if self.times is None else self.take(np.argsort(self.times, kind="stable"))


def check_cases(
    frame: Any,
    target: str,
    positive: Any = None,
    *,
    drop: Iterable[str] = (),
    groups: Any = None,
    time: str | None = None,
    beside: Iterable[str] = (),
    name: str = "table",
    least: int = 6,
    several: bool = False,
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
    groups : str or array-like, optional
        Column that says which cases belong together, or a label for each case. The column is not a feature.
    time : str, optional
        Column that says when each case was: dates or numbers. It is not a feature.
    beside : iterable of str
        Columns to keep for the report, whether or not they are features.
    name : str
        Name of the table in messages.
    least : int
        Smallest number of cases of each class.
    several : bool, default=False
        Whether three classes or more are taken as they are, unless a positive one is named.
    """
    require_column(frame, target, "to predict", name)
    frame, groups, rows = _with_known_outcomes(frame, target, groups, name)
    dropped = list(dict.fromkeys(drop))
    for column in dropped:
        require_column(frame, column, "to leave out", name)
        if column == target:
            raise ValueError(f"drop={column!r} is the column to predict: leave out others only.")
    distinct = _as_labels(frame[target].drop_duplicates())
    if len(distinct) == 1:  # before every cell becomes a label: millions of equal cells fit into a small file
        _require_two_classes(distinct, target, name)
    outcomes, positive = _one_against_the_rest(_as_labels(frame[target]), positive, target, name)
    classes, counts = np.unique(outcomes, return_counts=True)
    if several and len(classes) > 2:
        require_few_classes(classes, target, name)
    else:
        _require_two_classes(classes, target, name)
    _require_frequent(classes, counts, least, target, name)
    codes = _group_codes(frame, groups, target, name)
    times = None if time is None else _time_codes(frame, time, target, name)
    no_features = {target, *dropped, *(column for column in (groups, time) if isinstance(column, str))}
    features = frame.drop(columns=list(no_features)).reset_index(drop=True)
    _check_features(features, name)
    features = with_dates(features)
    positive = None if len(classes) > 2 else _find_positive(positive, classes, target)
    kept = _beside(frame, beside, target, name)
    return Cases(features, outcomes, positive, str(target), name, codes, times, rows, beside=kept)


def _beside(frame: Any, columns: Iterable[str], target: str, name: str) -> Any:
    """The columns asked for, dates as dates; None if there are none."""
    wanted = list(dict.fromkeys(columns))
    for column in wanted:
        require_column(frame, column, "to look at", name)
        if column == target:
            raise ValueError(f"{column!r} is the column to predict: its outcomes are no segments of cases.")
    return with_dates(frame[wanted].reset_index(drop=True)) if wanted else None


def _group_codes(frame: Any, groups: Any, target: str, name: str) -> Indices | None:
    """Number the groups, from a column or from labels of the cases."""
    if not isinstance(groups, str):
        return check_groups(groups, len(frame))
    _require_known_column(frame, groups, "groups", target, name)
    return check_groups(frame[groups], len(frame))


def _time_codes(frame: Any, time: str, target: str, name: str) -> Indices:
    """Number the times of the cases, the first being 0."""
    import pandas as pd

    _require_known_column(frame, time, "time", target, name)
    column = with_dates(frame[[time]])[time]
    ordered = pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column)
    if not (ordered or are_codes(column.tolist())):  # 01, 02 ... are in the order of their numbers
        raise ValueError(
            f"{name}: the column {time!r} with the time holds {to_python(column.iloc[0])!r}; dates such as 2024-03-31, "
            "or numbers, are needed to put the cases in order."
        )
    return np.unique(column.to_numpy(), return_inverse=True)[1].astype(np.intp)


def _require_known_column(frame: Any, wanted: str, use: str, target: str, name: str) -> None:
    """Refuse a column with groups or times that is missing, to be predicted, or has empty cells."""
    require_column(frame, wanted, f"with the {use}", name)
    if wanted == target:
        raise ValueError(f"{use}={wanted!r} is the column to predict: name another.")
    missing = int(frame[wanted].isna().sum())
    if missing:
        raise ValueError(f"{name}: {missing} cases have no {wanted}, the column with the {use}: fill it, or drop them.")


def require_column(frame: Any, wanted: str, use: str, name: str) -> None:
    """Refuse a table without a column."""
    if wanted not in frame.columns:
        raise ValueError(f"{name} has no column {wanted!r} {use}: {no_column(wanted, frame.columns)}")


def _with_known_outcomes(frame: Any, target: str, groups: Any, name: str) -> tuple[Any, Any, Indices | None]:
    """The rows with an outcome, their groups, and their positions; None for these if every row has one."""
    known = frame[target].notna().to_numpy()
    if known.all():
        return frame, groups, None
    if not known.any():
        raise ValueError(f"{name}: the column {target!r} to predict is empty.")
    missing, rows = int((~known).sum()), np.flatnonzero(known)
    _logger.info("%s: %s of %s rows have no %s and are set aside.", name, f"{missing:,}", f"{len(frame):,}", target)
    if groups is not None and not isinstance(groups, str):
        check_groups(groups, len(frame))
        groups = np.asarray(groups)[rows]
    return frame.iloc[rows].reset_index(drop=True), groups, rows


def _one_against_the_rest(outcomes: NDArray[Any], positive: Any, target: str, name: str) -> tuple[NDArray[Any], Any]:
    """Outcomes of two classes: of three or more, the positive one and all others together."""
    classes = np.unique(outcomes)
    if len(classes) < 3 or positive is None:
        return outcomes, positive
    label = _find_positive(positive, classes, target)
    text, rest = str(label), f"not {label}"
    _logger.info("%s: %s = %r is positive, the other %d outcomes together are %r.", name, target, label,
                 len(classes) - 1, rest)  # fmt: skip
    return np.where(outcomes == label, text, rest), text


def _as_labels(column: Any) -> NDArray[Any]:
    import pandas as pd

    if isinstance(column.dtype, pd.StringDtype):  # an object for each of millions of cells would take the memory
        codes, distinct = pd.factorize(column)
        return np.array(distinct.tolist())[codes]
    values: NDArray[Any] = column.to_numpy()
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
            f"{name}: the column {target!r} holds {len(classes)} different outcomes {preview(classes)}: name the "
            f"positive one, as in --positive {shlex.quote(str(to_python(classes[-1])))} (in Python, positive=), and "
            "the others are taken together; or give a price for every error, --costs prices.csv (in Python, costs=)."
        )


def _require_frequent(classes: NDArray[Any], counts: Indices, least: int, target: str, name: str) -> None:
    """Refuse a class of too few cases."""
    rare = int(np.argmin(counts))
    if counts[rare] >= least:
        return
    if len(classes) > 2:
        raise ValueError(rare_class_sentence(classes[rare], int(counts[rare]), least, target, name))
    raise ValueError(
        f"{name} has only {counts[rare]} cases with {target} = {to_python(classes[rare])!r}; at least {least} are "
        "needed."
    )


def _find_positive(positive: Any, classes: NDArray[Any], target: str) -> Any:
    if positive is None:
        return to_python(classes[1])
    for label in classes:
        if to_python(label) == positive or str(to_python(label)) == str(positive):
            return to_python(label)
    close = closest(positive, [str(to_python(label)) for label in classes], cutoff=0.6)
    meant = f"did you mean {close!r}? " if close else ""
    raise ValueError(f"positive={positive!r} does not occur in {target}: {meant}it holds {preview(classes)}.")


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
