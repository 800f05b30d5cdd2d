"""The training cases of several classes: prices, the folds that hold cases out, and the parts that are averaged."""

from __future__ import annotations

import numbers
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ....arrays import Flags, Floats, Indices
from ....folds import DEFAULT_FOLDS, check_groups, make_folds
from ....labels import preview
from ...binning import Bins, bin_features
from ...categories import Categories, in_cells
from ..data import DEFAULT_BAGS, FOLDED_ROWS, Checked
from .problem import order_levels

Parts = list[tuple[Indices, Indices]]


@dataclass(frozen=True, eq=False)
class ClassPrices:
    """What answers cost, case by case.

    Attributes
    ----------
    matrix : ndarray of shape (n_classes, n_classes + 1)
        Price of each answer and, last, of a rejection, in units of the cheapest error.
    weight : ndarray of shape (m,)
        Sample weights.
    """

    matrix: Floats
    weight: Floats

    def of(self, y: Floats, h: Floats, r: Floats) -> Floats:
        """Price of the answers: class numbers h where r is greater than 0."""
        answer = np.where(r > 0, h, self.matrix.shape[1] - 1).astype(np.intp)
        return self.matrix[y.astype(np.intp), answer]

    def mean(self, y: Floats, h: Floats, r: Floats) -> float:
        """Mean price."""
        return float(self.weight @ self.of(y, h, r) / self.weight.sum())

    def take(self, rows: Indices) -> ClassPrices:
        """Return the prices of some cases."""
        return ClassPrices(self.matrix, self.weight[rows])


@dataclass(frozen=True, eq=False)
class ClassTraining:
    """Training cases of positive weight.

    Attributes
    ----------
    X : ndarray
        All cases as given.
    rows : ndarray of int of shape (m,)
        Those of positive weight; all below are in this order.
    codes : ndarray of int of shape (m,)
        Classes.
    weight : ndarray of shape (m,)
        Sample weights.
    matrix : ndarray
        Prices in units of the cheapest error: see `Costs.matrix`.
    folds : list of (train, test)
        Held-out parts.
    partition : list of (train, test)
        Parts that hold out every case exactly once, for a score to start from; empty where there are none.
    bags : list of ndarray
        Cases of each fit that is averaged; empty where all cases are fitted at once.
    groups : ndarray of int, optional
        Cases that belong together.
    categories : Categories
        Which columns of X hold numbers of levels.
    """

    X: NDArray[Any]
    rows: Indices
    codes: Indices
    weight: Floats
    matrix: Floats
    folds: Parts = field(default_factory=list)
    partition: Parts = field(default_factory=list)
    bags: list[Indices] = field(default_factory=list)
    groups: Indices | None = None
    categories: Categories = field(default_factory=Categories)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.matrix) - 1

    @cached_property
    def prices(self) -> ClassPrices:
        """What answers cost."""
        return ClassPrices(self.matrix[:-1, :-1], self.weight)

    @cached_property
    def y(self) -> Floats:
        """Class numbers."""
        return self.codes.astype(np.float64)

    @cached_property
    def s(self) -> Floats:
        """Weights that sum to 1."""
        return self.weight / self.weight.sum()

    @cached_property
    def tested(self) -> Indices:
        """Cases that some fold holds out."""
        return np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *(test for _, test in self.folds)]))

    @property
    def parts(self) -> list[Indices]:
        """Held-out cases in parts, each judged by what the others choose: if held out once, halves of each class."""
        if len(self.folds) > 1:
            return [test for _, test in self.folds]
        second = self.second_half(self.tested)
        return [self.tested[~second], self.tested[second]]

    def second_half(self, rows: Indices) -> Flags:
        """Which of some cases are in the second of two halves: every other case of each class, or every other group."""
        if self.groups is not None:
            return np.unique(self.groups[rows], return_inverse=True)[1] % 2 == 1
        second = np.zeros(len(rows), dtype=bool)
        second[np.argsort(self.codes[rows], kind="stable")[1::2]] = True
        return second

    def inner_parts(self, train: Indices) -> Parts:
        """The partition among the training cases of a fold; halves where it would leave a single class to learn from.

        Nothing where groups cannot be halved.
        """
        at, codes = np.arange(len(train)), self.codes[train]
        held = [np.isin(train, test) for _, test in self.partition]
        if any(part.any() and len(set(codes[~part].tolist())) < 2 for part in held):
            second = self.second_half(train)
            held = [second, ~second]
            if any(len(set(codes[~part].tolist())) < 2 for part in held):
                return []
        return [(at[~part], at[part]) for part in held if part.any()]

    def price(self, scores: Floats, rows: Indices) -> float:
        """Mean price of the answers (class number, acceptance score) to some cases."""
        return self.prices.take(rows).mean(self.y[rows], scores[0, rows], scores[1, rows])

    def held_out_prices(self, scores: Floats) -> Floats:
        """Price of the answer to each case that some fold holds out."""
        rows = self.tested
        return self.prices.of(self.y[rows], *scores[:, rows])

    def bins(self, max_bins: int | None) -> Bins:
        """The features in bins, the levels of every category in an order along which the classes change."""
        X, levels = in_cells(self.X, self.rows, self.categories)
        bins = bin_features(X, self.rows, max_bins, self.weight, levels)
        return bins.moved(order_levels(bins, self.codes, self.s))


def make_class_folds(
    codes: Indices, rows: Indices, n_given: int, cv: Any, groups: Indices | None, random_state: Any
) -> tuple[Parts, Parts]:
    """Held-out parts, and parts that hold out every case exactly once; positions among `rows`.

    By default five folds, or one split of a large table. A splitter splits the rows as they were given.
    """
    if cv is None or isinstance(cv, numbers.Integral):
        found = shuffled_folds(codes, DEFAULT_FOLDS if cv is None else int(cv), groups, random_state)
        return (found[:1] if cv is None and len(codes) > FOLDED_ROWS else found), found
    position = np.full(n_given, -1)
    position[rows] = np.arange(len(rows))
    truth, together = np.zeros(n_given, dtype=np.intp), None
    truth[rows] = codes
    if groups is not None:
        together = np.full(n_given, -1)  # rows of weight 0 are in no part, whatever their group
        together[rows] = groups
    parts = [(position[a], position[b]) for a, b in make_folds(cv, truth, groups=together)]
    folds = [(np.sort(train[train >= 0]), np.sort(test[test >= 0])) for train, test in parts]
    for i, (train, test) in enumerate(folds):
        if len(test) == 0 or len(set(codes[train].tolist())) < 2:
            raise ValueError(
                f"cv leaves part {i} without cases to hold out, or with cases of one class only to train on. "
                "Use stratified folds, or fewer of them."
            )
    once = np.bincount(np.concatenate([test for _, test in folds]), minlength=len(codes)) == 1
    return folds, folds if once.all() else []


def shuffled_folds(codes: Indices, n: int, groups: Indices | None, random_state: Any) -> Parts:
    """Stratified folds; a class of fewer cases than folds is in as many of them as it has cases."""
    largest = int(np.bincount(codes).max())
    if largest < 2:
        raise ValueError(
            "Choosing by held-out cost needs a class with two cases at least; every class has one. Give beta, family "
            "and threshold explicitly, or more cases."
        )
    n = min(n, largest)
    if groups is not None:
        n = min(n, max(2, len(np.unique(groups))))  # a single group is refused where folds are made
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")  # it is meant to be so
        found = make_folds(n, codes, groups=groups, random_state=random_state)
    return [(np.sort(train), np.sort(test)) for train, test in found]


def prepare_classes(
    estimator: Any, checked: Checked, groups: Any, *, with_folds: bool, n_bags: int | str
) -> ClassTraining:
    """Hold out cases of three or more classes, and draw the parts that are averaged."""
    rows = np.flatnonzero(checked.weights > 0)
    codes, weight, classes = checked.codes[rows], checked.weights[rows], checked.inputs.labels.classes
    if len(np.unique(codes)) < 2:
        raise ValueError(
            "Only cases of one class have a positive sample_weight: a classifier needs cases of several classes "
            f"{preview(classes)}."
        )
    together = check_groups(groups, len(checked.codes))
    together = None if together is None else together[rows]
    folds: Parts = []
    partition: Parts = []
    if with_folds:
        folds, partition = make_class_folds(
            codes, rows, len(checked.codes), estimator.cv, together, check_random_state(estimator.random_state)
        )
    return ClassTraining(
        X=checked.X,
        rows=rows,
        codes=codes,
        weight=weight,
        matrix=checked.inputs.costs.oriented.matrix(len(classes)),
        folds=folds,
        partition=partition,
        bags=_bags(codes, together, n_bags, check_random_state(estimator.random_state)),
        groups=together,
        categories=checked.inputs.categories,
    )


def _bags(codes: Indices, groups: Indices | None, n_bags: int | str, random: Any) -> list[Indices]:
    """Cases of each bag: all but one of five shuffled folds, which are shuffled anew for every five."""
    if n_bags == "auto":
        n_bags = 1 if len(codes) > FOLDED_ROWS else DEFAULT_BAGS
    bags: list[Indices] = []
    while len(bags) < int(n_bags) != 1:
        bags += [train for train, _ in shuffled_folds(codes, DEFAULT_FOLDS, groups, random)]
    return bags[: int(n_bags)]
