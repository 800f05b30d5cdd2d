"""The training cases of an ensemble: those that weigh something, weights free of units, and the folds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays import Flags, Floats, Indices
from ..folds import DEFAULT_FOLDS, Fold, check_groups, make_folds, named_cv
from ..parameters import check_weights
from .features import take_rows


class Outcomes(NamedTuple):
    """Class numbers and weights of cases, and how many classes there are."""

    codes: Indices
    weights: Floats
    n_classes: int = 2

    @property
    def positive(self) -> Flags:
        """Which cases are of the second class."""
        return self.codes == 1

    @property
    def complete(self) -> bool:
        """Whether a blend can be set by them: two classes are among them."""
        return bool(np.count_nonzero(np.bincount(self.codes)) > 1)

    def take(self, rows: Indices) -> Outcomes:
        """Those of some cases."""
        return Outcomes(self.codes[rows], self.weights[rows], self.n_classes)


class TrainingCases(NamedTuple):
    """What the members are fitted to.

    Attributes
    ----------
    X : frame or ndarray
        The cases; none of weight 0.
    outcomes : Outcomes
        Their classes, and weights with a mean of 1: how much is known is told by the number of cases.
    groups : ndarray of int or None
        Cases that belong together.
    folds : list of (train, test)
        No case is tested twice, no test part is empty, and every class is in every training part.
    """

    X: Any
    outcomes: Outcomes
    groups: Indices | None
    folds: list[Fold]


def settle_cases(X: Any, codes: Indices, sample_weight: Any, groups: Any, cv: Any, seed: int) -> TrainingCases:
    """Leave out cases of weight 0, as if they were not there, and make the folds.

    A number of folds is that of the cases that are left; a splitter, or a list of folds, is about all cases.
    """
    n = len(codes)
    n_classes = int(codes.max()) + 1
    weights, together = check_weights(sample_weight, n), check_groups(groups, n)
    rows = np.flatnonzero(weights > 0)
    present = len(np.unique(codes[rows]))
    if present < 2:
        raise ValueError("Only cases of one class have a positive sample_weight: a classifier needs cases of both.")
    if present < n_classes:
        raise ValueError("A class has no case with a positive sample_weight: leave its cases out.")
    kept = codes[rows]
    kept_groups = None if together is None else together[rows]
    if cv is None or isinstance(cv, int | np.integer):
        folds = _number_folds(None if cv is None else int(cv), kept, kept_groups, seed)
    else:
        folds = _renumber(make_folds(cv, codes, X=X, groups=together, random_state=seed), rows, n)
    folds = [fold for fold in folds if len(fold[1])]
    _check_folds(folds, kept, cv, n_classes)
    outcomes = Outcomes(kept, weights[rows] / weights[rows].mean(), n_classes)
    return TrainingCases(X if len(rows) == n else take_rows(X, rows), outcomes, kept_groups, folds)


def _number_folds(cv: int | None, codes: Indices, groups: Indices | None, seed: int) -> list[Fold]:
    """Stratified folds; of three or more classes, one with a single case only trains."""
    alone = (np.bincount(codes)[codes] < 2) & (codes.max() > 1)
    lone, others = np.flatnonzero(alone), np.flatnonzero(~alone)
    of_others = None if groups is None else groups[others]
    folds = make_folds(_number_of_folds(cv, codes[others]), codes[others], groups=of_others, random_state=seed)
    return [(np.union1d(others[train], lone), others[test]) for train, test in folds]


def _number_of_folds(cv: int | None, codes: Indices) -> int:
    """As given, or five, or as many as the rarer class has cases."""
    if cv is not None:
        return cv
    counts = np.bincount(codes, minlength=2)
    rarer = int(counts[(counts > 0) | (np.arange(len(counts)) < 2)].min())
    if rarer < 2:
        raise ValueError("y holds one case of a class only: an ensemble needs two cases of each class or more.")
    return min(DEFAULT_FOLDS, rarer)


def _renumber(folds: list[Fold], rows: Indices, n: int) -> list[Fold]:
    """Folds of all cases as folds of some of them."""
    place = np.full(n, -1)
    place[rows] = np.arange(len(rows))
    moved = [(place[train], place[test]) for train, test in folds]
    return [(train[train >= 0], test[test >= 0]) for train, test in moved]


def _check_folds(folds: list[Fold], codes: Indices, cv: Any, n_classes: int) -> None:
    if any(len(np.unique(codes[train])) < n_classes for train, _ in folds):
        raise ValueError(f"{named_cv(cv)} leaves a fold without one of the classes: use fewer or stratified folds.")
    tested = np.concatenate([np.empty(0, dtype=np.intp), *(test for _, test in folds)])
    if len(np.unique(tested)) < len(tested):
        raise ValueError(f"{named_cv(cv)} must put no case into more than one test fold.")
    known = [np.intersect1d(train, tested) for train, _ in folds]
    if not any(len(np.unique(codes[part])) > 1 for part in known):
        raise ValueError(
            f"{named_cv(cv)} holds out too little: what is learned from one held-out part, of both classes, must be "
            "judged on another. Use two folds or more."
        )
