"""Folds of a table: which cases a model is fitted on, and which cases it is judged by.

Tables come sorted: by date, by site, by outcome, by the very feature that matters. Folds of neighbouring rows would
then fit models on one kind of case and judge them by another, and thresholds set on such folds are wrong. So a number
of folds always means shuffled folds. A splitter or a list of folds says itself which rows go where, and is used as it
is.

Shuffled folds are right for cases that have nothing to do with each other. Where cases belong together (visits of one
patient), `groups` keeps them on one side; where the world changes, `TimeFolds` tests on what came after.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv

from .arrays import Indices
from .labels import as_labels, is_missing, to_python

Fold = tuple[Indices, Indices]  # rows to train on, rows to test

DEFAULT_FOLDS = 5


def make_folds(cv: Any, y: Any, *, X: Any = None, groups: Indices | None = None, random_state: Any = 0) -> list[Fold]:
    """Training and test rows of every fold.

    Parameters
    ----------
    cv : int, splitter, iterable or None
        A number of folds (5 for None): stratified and shuffled; with `groups` no group is on both sides. A splitter of
        scikit-learn or a list of folds is used as it is.
    y : array-like of shape (n_samples,)
        Classes.
    X : array-like, optional
        Cases, for a splitter that looks at them.
    groups : ndarray of int of shape (n_samples,), optional
        Cases that belong together; see `check_groups`.
    random_state : int, RandomState or None, default=0
        Shuffles the cases.
    """
    if not (cv is None or isinstance(cv, numbers.Integral)):
        return list(check_cv(cv, y, classifier=True).split(y if X is None else X, y, groups))
    n_folds = DEFAULT_FOLDS if cv is None else int(cv)
    if groups is None:
        return list(StratifiedKFold(n_folds, shuffle=True, random_state=random_state).split(y, y))
    require_groups(groups, n_folds)
    return list(StratifiedGroupKFold(n_folds, shuffle=True, random_state=random_state).split(y, y, groups))


def named_cv(cv: Any) -> str:
    """The argument `cv` for a message: folds that are given row by row are counted, not shown."""
    if cv is None or isinstance(cv, numbers.Integral) or hasattr(cv, "split"):
        return f"cv={cv!r}"
    return f"cv, a list of {len(cv)} folds," if hasattr(cv, "__len__") else "cv, folds row by row,"


ALONE = "one that belongs to no other case gets a label of its own."  # what to do where a label is missing


def check_groups(groups: Any, n: int, name: str = "groups", *, remedy: str = ALONE) -> Indices | None:
    """Number the groups of `n` cases, by any labels; refuse missing labels, and not one per case."""
    if groups is None:
        return None
    labels = as_labels(groups)
    if labels.shape != (n,):
        raise ValueError(f"{name} must hold one label per case, {n} in all; got shape {labels.shape}.")
    if any(is_missing(label) for label in labels.tolist()):
        raise ValueError(f"{name} holds missing values (NaN, NA or None): every case needs a group; {remedy}")
    if labels.dtype.kind == "O":  # text of variable length, or labels that have no order
        numbers_of = {label: number for number, label in enumerate(dict.fromkeys(labels.tolist()))}
        return np.array([numbers_of[label] for label in labels.tolist()], dtype=np.intp)
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def require_groups(groups: Indices, n_folds: int, name: str = "groups") -> None:
    """Refuse fewer groups than folds."""
    found = len(np.unique(groups))
    if found < n_folds:
        raise ValueError(
            f"{name} holds {found} different group{'' if found == 1 else 's'}, too few for {n_folds} folds that keep "
            f"each group on one side: use {f'{found} folds or fewer' if found > 1 else 'more groups'}."
        )


@dataclass(frozen=True)
class TimeFolds:
    """A splitter for rows in the order of time: train on the past, test on the block that follows.

    As `sklearn.model_selection.TimeSeriesSplit`, except that the first block, which is never tested, is as long as it
    must be to hold some cases of each class.

    Attributes
    ----------
    n_splits : int
        Number of blocks tested.
    least : int
        Cases of each class that the first block must hold.
    """

    n_splits: int = DEFAULT_FOLDS
    least: int = 2

    def split(self, X: Any, y: Any, groups: Any = None) -> list[Fold]:
        """Training and test rows of every block."""
        return time_folds(np.arange(len(y)), y, self.n_splits, self.least)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of blocks tested."""
        return self.n_splits


def time_folds(times: Any, y: Any, n_splits: int, least: int = 2) -> list[Fold]:
    """Training and test rows of expanding windows, each in the order of time.

    Parameters
    ----------
    times : ndarray of shape (n_samples,)
        When each case was; cases of one time are on one side.
    y : ndarray of shape (n_samples,)
        Classes.
    n_splits, least : int
        As in `TimeFolds`.
    """
    order = np.argsort(times, kind="stable")
    sorted_times, n = np.asarray(times)[order], len(order)
    first = max(n - n_splits * (n // (n_splits + 1)), _rows_with_both(np.asarray(y)[order], least))
    starts = np.linspace(first, n, n_splits + 1).astype(np.intp)[:-1]
    # The rest of a time goes to the past, so that the first block keeps the cases it needs.
    starts = np.searchsorted(sorted_times, sorted_times[starts - 1], side="right")
    ends = np.append(starts[1:], n)
    if (starts >= ends).any():
        raise ValueError(
            f"{n} cases at {len(np.unique(sorted_times))} different times cannot be split into {n_splits} blocks after "
            f"a first one with {least} cases of each class: use fewer folds."
        )
    return [(order[:start], order[start:end]) for start, end in zip(starts, ends, strict=True)]


def check_times(time: Any, n: int) -> NDArray[Any]:
    """Times of `n` cases that can be put in order: numbers or dates; refuse others, and not one per case."""
    times = np.asarray(time)
    if times.shape != (n,):
        raise ValueError(f"time must hold one number or date per case, {n} in all; got shape {times.shape}.")
    if times.dtype.kind in "OUS":  # dates as text or as objects
        try:
            times = times.astype("datetime64[us]")
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"time holds {to_python(times[0])!r}; dates such as 2024-03-31, or numbers, can be put in order."
            ) from error
    if any(is_missing(value) for value in times.tolist()):
        raise ValueError("time holds missing values (NaN, NaT or None): every case needs a time; leave out the others.")
    return times


def _rows_with_both(y: Any, least: int) -> int:
    """How many of the first rows hold `least` cases of each class; all where a class has fewer."""
    places = [np.flatnonzero(y == label) for label in np.unique(y)]
    return max((int(rows[least - 1]) + 1 if len(rows) >= least else len(y)) for rows in places)
