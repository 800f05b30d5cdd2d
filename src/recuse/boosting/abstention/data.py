"""The training set: cases checked, labels and prices settled, folds chosen; positives first.

Nothing is stored on the estimator here, so that a fit that fails leaves it as it was; `Inputs.store` does so at the
end of a fit that succeeds.
"""

from __future__ import annotations

import numbers
import reprlib
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv, train_test_split
from sklearn.utils import check_random_state

from ...arrays import Flags, Floats, Indices
from ...base import RejectOptionMixin, SettledCosts, require_two_classes
from ...costs import Costs, relative_price
from ...folds import DEFAULT_FOLDS, check_groups, make_folds
from ...labels import LabelSpace, preview
from ...parameters import check_weights
from ...validation import require_known_columns, validate_data
from ..categories import Categories, find_categories, refuse_monotone_categories
from ..constraints import Signs, resolve_monotonic
from .engine.problem import Parts
from .prices import Prices, forced_log_odds, reduce_prices

FOLDED_ROWS = 20_000  # up to here cases are held out in folds, above once
DEFAULT_BAGS = 10  # fits that are averaged, up to the same number of cases
_HELD_OUT = 0.2  # share of the cases held out once, where folds would take too long


@dataclass(frozen=True, eq=False)
class Inputs:
    """What a fit learns of its input: columns, labels and prices."""

    n_features: int
    feature_names: NDArray[Any] | None
    labels: LabelSpace
    costs: SettledCosts
    categories: Categories

    def store(self, estimator: Any) -> None:
        """Publish it on an estimator."""
        estimator.n_features_in_ = self.n_features
        if self.feature_names is not None:
            estimator.feature_names_in_ = self.feature_names
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_  # of an earlier fit
        estimator._categories = self.categories
        estimator._store_labels(self.labels)
        estimator._store_costs(self.costs)


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Training cases; `order` puts the positives first, and all columns but X are in that order.

    Attributes
    ----------
    X : ndarray of shape (m, p)
        As given.
    order : ndarray of int of shape (m,)
        Indices of X, positives first.
    n_pos : int
        Number of positives.
    s : ndarray of shape (m,)
        Weights of the reduced symmetric problem, summing to 1.
    c : float or ndarray of shape (m,)
        Reject price of the reduced problem.
    prices : Prices
        What answers really cost, in units of the cheaper error.
    folds : list of (train, test)
        Positions in the order, each increasing.
    partition : list of (train, test)
        Parts that hold out every case exactly once, for a stacked score; empty where there are none.
    weight : ndarray of shape (m,)
        Sample weights as given.
    log_odds : float
        Log-odds of the reduced problem above which the positive class is the cheaper answer.
    groups : ndarray of int of shape (m,) or None
        Cases that belong together.
    bags : list of ndarray
        Positions of the cases of each fit that is averaged; empty where all cases are fitted at once.
    monotonic : ndarray of int8 of shape (p,) or None
        Signs of the features along which h is monotone: see `constraints`.
    categories : Categories
        Which columns of X hold numbers of levels.
    """

    X: NDArray[Any]
    order: Indices
    n_pos: int
    s: Floats
    c: float | Floats
    prices: Prices
    folds: Parts
    partition: Parts = field(default_factory=list)
    weight: Floats = field(default_factory=lambda: np.ones(1))
    log_odds: float = 0.0
    groups: Indices | None = None
    bags: list[Indices] = field(default_factory=list)
    monotonic: Signs | None = None
    categories: Categories = field(default_factory=Categories)

    @property
    def is_monotone(self) -> bool:
        """Whether h is to be monotone along some feature."""
        return self.monotonic is not None and bool(self.monotonic.any())

    @property
    def highest_price(self) -> float:
        """The reject price of the reduced problem, the highest where it differs by case."""
        return float(np.max(self.c))

    @property
    def y(self) -> Floats:
        """Labels, -1 or +1."""
        return np.where(np.arange(len(self.s)) < self.n_pos, 1.0, -1.0)

    @property
    def tested(self) -> Indices:
        """Positions that some fold holds out."""
        return np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *(test for _, test in self.folds)]))

    @property
    def parts(self) -> list[Indices]:
        """Held-out cases in parts, each judged by what the others choose: if held out once, halves of each class."""
        if len(self.folds) > 1:
            return [test for _, test in self.folds]
        rows = self.tested
        second = self.second_half(rows)
        return [rows[~second], rows[second]]

    def second_half(self, rows: Indices) -> Flags:
        """Which of some increasing positions are in the second of two halves: every other case, or every other group.

        Cases are in the order of their classes: every other one is half of each class.
        """
        if self.groups is None:
            return np.arange(len(rows)) % 2 == 1
        return np.unique(self.groups[rows], return_inverse=True)[1] % 2 == 1

    def price(self, scores: Floats, rows: Indices) -> float:
        """Mean price of the answers that scores (h, r) give to some cases."""
        return self.prices.take(rows).mean(self.y[rows], scores[0, rows], scores[1, rows])

    def held_out_prices(self, scores: Floats) -> Floats:
        """Price of the answer that scores (h, r) give to each case that some fold holds out."""
        rows = self.tested
        return self.prices.take(rows).of(self.y[rows], *scores[:, rows])


@dataclass(frozen=True, eq=False)
class Checked:
    """Checked cases of a fit, before folds.

    Attributes
    ----------
    inputs : Inputs
        Columns, labels and prices.
    X : ndarray of shape (m, p)
        Cases, categories by the number of their level.
    codes : ndarray of int of shape (m,)
        Class numbers.
    weights : ndarray of shape (m,)
        Sample weights, the largest 1.
    """

    inputs: Inputs
    X: NDArray[Any]
    codes: Indices
    weights: Floats


def check_cases(estimator: RejectOptionMixin, X: Any, y: Any, sample_weight: Any, *, several: bool = False) -> Checked:
    """Check the cases, and settle labels and prices; refuse three or more classes unless `several` may be."""
    draft = copy(estimator)  # scikit-learn stores the columns on what it checks
    categories = find_categories(getattr(estimator, "categorical_features", None), X)
    X, y = validate_data(
        draft,
        categories.encode(X),
        y,
        dtype=[np.float64, np.float32],
        ensure_all_finite="allow-nan",
        ensure_min_samples=2,
    )
    labels, codes = draft._settle_labels(y)
    if not several:
        require_two_classes(labels.classes)
    settled = draft._settle_costs(labels.classes)
    weights = check_weights(sample_weight, len(codes))
    weights = weights / weights.max()  # the sum of the largest floats is infinite
    require_known_columns(draft, X, weights)
    names = getattr(draft, "feature_names_in_", None)
    return Checked(Inputs(X.shape[1], names, labels, settled, categories), X, codes, weights)


def prepare(
    estimator: RejectOptionMixin,
    checked: Checked,
    reject_cost: Any = None,
    *,
    groups: Any = None,
    with_folds: bool,
    n_bags: int | str = 1,
) -> TrainingSet:
    """Put the positives of two classes first, reduce the prices, and hold cases out."""
    inputs, X, codes, weights = checked.inputs, checked.X, checked.codes, checked.weights
    order, n_pos = _positives_first(codes, weights, inputs.labels.classes)
    reject = _check_reject_cost(reject_cost, len(codes), inputs.costs.unit)
    together = check_groups(groups, len(codes))
    cases = _Cases(
        X,
        order,
        n_pos,
        weights[order],
        None if reject is None else reject[order],
        None if together is None else together[order],
    )
    monotonic = resolve_monotonic(getattr(estimator, "monotonic_cst", None), X.shape[1], inputs.feature_names)
    refuse_monotone_categories(monotonic, inputs.categories)
    training = _priced(cases, inputs.costs.oriented, *_make_folds(estimator, cases, with_folds))
    bags = _bags(estimator, cases, n_bags)
    return replace(training, bags=bags, monotonic=monotonic, categories=inputs.categories)


def arrange(X: Floats, codes: Indices, weights: Floats, costs: Costs, folds: Parts) -> TrainingSet:
    """Training set of checked cases of classes 0 and 1, with given folds."""
    weights = weights / weights.max()
    order, n_pos = _positives_first(codes, weights, np.unique(codes))
    cases = _Cases(X, order, n_pos, weights[order], None, None)
    position = np.full(len(codes), -1)
    position[order] = np.arange(len(order))
    moved = [(np.sort(position[train]), np.sort(position[test])) for train, test in folds]
    return _priced(cases, costs, [(train[train >= 0], test[test >= 0]) for train, test in moved], [])


@dataclass(frozen=True, eq=False)
class _Cases:
    """Checked cases before prices and folds; weights, reject prices by case and groups, if any, positives first."""

    X: NDArray[Any]
    order: Indices
    n_pos: int
    weight: Floats
    reject_cost: Floats | None
    groups: Indices | None

    @property
    def positive(self) -> Flags:
        """Which cases are positive."""
        return np.arange(len(self.order)) < self.n_pos


def _positives_first(codes: Indices, weights: Floats, classes: NDArray[Any]) -> tuple[Indices, int]:
    """Order of the cases of positive weight, and the number of positives among them."""
    present = weights > 0
    order = np.concatenate([np.flatnonzero(present & (codes == 1)), np.flatnonzero(present & (codes == 0))])
    n_pos = int((present & (codes == 1)).sum())
    if n_pos in (0, len(order)):
        raise ValueError(
            f"Only cases of one class have a positive sample_weight: a classifier needs cases of both classes "
            f"{preview(classes)}."
        )
    return order, n_pos


def _priced(cases: _Cases, costs: Costs, folds: Parts, partition: Parts) -> TrainingSet:
    """Reduce the prices to a symmetric problem."""
    if cases.reject_cost is None:
        reject = np.where(cases.positive, costs.reject_positive, costs.reject_negative)
        reduction = reduce_prices(costs.fp, costs.fn, costs.reject_negative, costs.reject_positive)
    else:
        reject = cases.reject_cost
        reduction = reduce_prices(costs.fp, costs.fn, reject, reject)
    s = cases.weight * np.where(cases.positive, reduction.weight_positive, reduction.weight_negative)
    prices = Prices(*np.zeros((3, 0)))  # without folds nothing is chosen by price
    if folds:
        prices = Prices(np.where(cases.positive, costs.fn, costs.fp), reject, cases.weight)
    return TrainingSet(
        X=cases.X,
        order=cases.order,
        n_pos=cases.n_pos,
        s=s / s.sum(),
        c=reduction.c if isinstance(reduction.c, np.ndarray) else float(reduction.c),
        prices=prices,
        folds=folds,
        partition=partition,
        weight=cases.weight,
        log_odds=forced_log_odds(costs.fp, costs.fn, reduction),
        groups=cases.groups,
    )


def _make_folds(estimator: Any, cases: _Cases, wanted: bool) -> tuple[Parts, Parts]:
    """Held-out parts, and parts that hold out every case exactly once."""
    if not wanted:
        return [], []
    cv, random_state = getattr(estimator, "cv", None), estimator.random_state
    folds = _folds(cases, cv, random_state)
    return folds, _partition(cases, folds, cv, random_state)


def _bags(estimator: Any, cases: _Cases, n_bags: int | str) -> list[Indices]:
    """Positions of the cases of each bag: all but one of five shuffled folds, which are shuffled anew for every five.

    "auto" is ten bags where cases are held out in folds, and none above.
    """
    if n_bags == "auto":
        n_bags = 1 if len(cases.order) > FOLDED_ROWS else DEFAULT_BAGS
    if n_bags == 1:
        return []
    random, bags = check_random_state(estimator.random_state), list[Indices]()
    while len(bags) < int(n_bags):
        bags += [np.sort(train) for train, _ in _shuffled(cases, _default_number(cases), random)]
    return bags[: int(n_bags)]


def _folds(cases: _Cases, cv: Any, random_state: Any) -> Parts:
    """Held-out parts, as positions in the order: `cv` of the estimator, else five folds, or one split if large.

    A splitter splits the rows as they were given; cases of weight 0 are in no part.
    """
    order, positive = cases.order, cases.positive
    rare = min(cases.n_pos, len(order) - cases.n_pos)
    if rare < 2:
        raise ValueError(
            f"Choosing by held-out cost needs two cases of each class at least; the rarer has {rare}. Give beta, "
            "family and threshold explicitly, or more cases."
        )
    random = check_random_state(random_state)
    if cv is None and len(order) > FOLDED_ROWS:
        parts = [_single_split(cases, random)]
    elif cv is None or isinstance(cv, numbers.Integral):
        parts = _shuffled(cases, _default_number(cases) if cv is None else int(cv), random)
    else:
        parts = _given_parts(cases, cv)
    folds = [(np.sort(train[train >= 0]), np.sort(test[test >= 0])) for train, test in parts]
    for i, (train, test) in enumerate(folds):
        if len(test) == 0 or len(set(positive[train].tolist())) < 2:
            raise ValueError(
                f"cv leaves part {i} without cases to hold out, or with cases of one class only to train on. "
                "Use stratified folds, or fewer of them."
            )
    return folds


def _default_number(cases: _Cases) -> int:
    """Five folds, or as many as there are cases of the rarer class, or groups."""
    limits = [DEFAULT_FOLDS, cases.n_pos, len(cases.order) - cases.n_pos]
    if cases.groups is not None:
        limits.append(max(2, len(np.unique(cases.groups))))  # a single group is refused where folds are made
    return min(limits)


def _single_split(cases: _Cases, random: Any) -> tuple[Any, Any]:
    """A fifth of the cases, or of the groups, to hold out."""
    if cases.groups is not None:
        return _shuffled(cases, _default_number(cases), random)[0]
    rows = np.arange(len(cases.order))
    train, test = train_test_split(rows, test_size=_HELD_OUT, stratify=cases.positive, random_state=random)
    return train, test


def _given_parts(cases: _Cases, cv: Any) -> list[tuple[Any, Any]]:
    """The user's split of the rows as given, as positions in the order; -1 for cases of weight 0."""
    order, n_rows = cases.order, len(cases.X)
    position = np.full(n_rows, -1)
    position[order] = np.arange(len(order))
    truth = np.zeros(n_rows, dtype=bool)
    truth[order] = cases.positive
    groups = None
    if cases.groups is not None:
        groups = np.full(n_rows, -1)  # rows of weight 0 are in no part, whatever their group
        groups[order] = cases.groups
    return [(position[a], position[b]) for a, b in check_cv(cv, truth, classifier=True).split(truth, truth, groups)]


def _partition(cases: _Cases, folds: Parts, cv: Any, random_state: Any) -> Parts:
    """Parts that hold out every case exactly once, as a stacked score needs: the folds themselves where they do so.

    Where the folds are ours but a single split, five others; where they are the user's, none.
    """
    if (np.bincount(np.concatenate([test for _, test in folds]), minlength=len(cases.order)) == 1).all():
        return folds
    if cv is not None:
        return []
    parts = _shuffled(cases, _default_number(cases), check_random_state(random_state))
    return [(np.sort(train), np.sort(test)) for train, test in parts]


def _shuffled(cases: _Cases, n: int, random: Any) -> list[tuple[Any, Any]]:
    """Shuffled folds as positions in the order."""
    # Rows in the order they came, so that a shuffle of the classes does not change the folds.
    rank = np.argsort(cases.order)
    groups = None if cases.groups is None else cases.groups[rank]
    folds = make_folds(n, cases.positive[rank], groups=groups, random_state=random)
    return [(rank[train], rank[test]) for train, test in folds]


def _check_reject_cost(reject_cost: Any, n: int, unit: float) -> Floats | None:
    """Return the reject prices by case in the unit of the others; refuse what is not a price."""
    if reject_cost is None:
        return None
    try:
        prices = np.asarray(reject_cost, dtype=np.float64)
    except (TypeError, ValueError):
        prices = np.full(0, np.nan)
    if prices.shape != (n,) or not (np.isfinite(prices) & (prices > 0)).all():
        raise ValueError(
            f"reject_cost must hold {n} finite prices greater than 0, one per case; got {reprlib.repr(reject_cost)}."
        )
    return np.array([relative_price(price, unit) for price in prices.tolist()])
