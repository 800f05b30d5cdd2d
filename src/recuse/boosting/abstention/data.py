"""Checks and preparation that the boosting classifiers share: from what the user gives to `Data`."""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, check_cv, train_test_split
from sklearn.utils import check_random_state

from ...arrays import Flags, Floats, Indices
from ...base import RejectOptionMixin
from ...costs import Costs
from ...labels import preview
from ...parameters import check_weights
from ...validation import require_known_columns, validate_data
from .losses import forced_log_odds, reduce_prices
from .selection import Data
from .tuning import Prices

FOLDED_ROWS = 20_000  # up to here cases are held out in folds, above once
_FOLDS = 5
_HELD_OUT = 0.2  # share of the cases held out once, where folds would take too long


def prepare(
    estimator: RejectOptionMixin, X: Any, y: Any, sample_weight: Any, reject_cost: Any = None, *, with_folds: bool
) -> Data:
    """Check the cases, settle labels and prices, and put the positives first."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    X, y = validate_data(
        estimator, X, y, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan", ensure_min_samples=2
    )
    codes = estimator._fit_labels(y)
    estimator._require_two_classes()
    costs = estimator._fit_costs()
    weights = check_weights(sample_weight, len(codes))
    weights = weights / weights.max()  # the sum of the largest floats is infinite
    require_known_columns(estimator, X, weights)
    present = weights > 0
    order = np.concatenate([np.flatnonzero(present & (codes == 1)), np.flatnonzero(present & (codes == 0))])
    n_pos = int((present & (codes == 1)).sum())
    if n_pos in (0, len(order)):
        raise ValueError(
            f"Only cases of one class have a positive sample_weight: a classifier needs cases of both classes "
            f"{preview(estimator.classes_)}."
        )
    return _priced(
        estimator, X, order, n_pos, weights[order], costs, _by_case(reject_cost, len(codes), order), with_folds
    )


def _priced(
    estimator: Any,
    X: NDArray[Any],
    order: Indices,
    n_pos: int,
    weight: Floats,
    costs: Costs,
    reject_cost: Floats | None,
    with_folds: bool,
) -> Data:
    """Reduce the prices to a symmetric problem, and choose the folds."""
    positive = np.arange(len(order)) < n_pos
    if reject_cost is None:
        reject = np.where(positive, costs.reject_positive, costs.reject_negative)
        reduction = reduce_prices(costs.fp, costs.fn, costs.reject_negative, costs.reject_positive)
    else:
        reject = reject_cost
        reduction = reduce_prices(costs.fp, costs.fn, reject, reject)
    log_odds = forced_log_odds(costs.fp, costs.fn, reduction)
    s = weight * np.where(positive, reduction.weight_positive, reduction.weight_negative)
    folds, partition, prices = [], [], Prices(*np.zeros((3, 0)))
    if with_folds:  # else nothing is chosen by price
        folds = make_folds(estimator, order, n_pos, len(X))
        partition = make_partition(estimator, order, n_pos, folds)
        prices = Prices(np.where(positive, costs.fn, costs.fp), reject, weight)
    c = reduction.c if isinstance(reduction.c, np.ndarray) else float(reduction.c)
    return Data(X, order, n_pos, s / s.sum(), c, prices, folds, partition, weight, log_odds)


def make_folds(estimator: Any, order: Indices, n_pos: int, n_rows: int) -> list[tuple[Indices, Indices]]:
    """Held-out parts, as positions in the order: `cv` of the estimator, else five folds, or one split if large.

    `cv` splits the rows as they were given; cases of weight 0 are in no part.
    """
    rare = min(n_pos, len(order) - n_pos)
    if rare < 2:
        raise ValueError(
            f"Choosing by held-out cost needs two cases of each class at least; the rarer has {rare}. Give beta, "
            "family and threshold explicitly, or more cases."
        )
    random = check_random_state(estimator.random_state)
    positive = np.arange(len(order)) < n_pos
    cv = getattr(estimator, "cv", None)
    if cv is None and len(order) > FOLDED_ROWS:
        parts = [train_test_split(np.arange(len(order)), test_size=_HELD_OUT, stratify=positive, random_state=random)]
    elif cv is None:
        parts = _stratified(order, positive, min(_FOLDS, rare), random)
    else:
        position = np.full(n_rows, -1)
        position[order] = np.arange(len(order))
        truth = np.zeros(n_rows, dtype=bool)
        truth[order] = positive
        parts = [(position[a], position[b]) for a, b in check_cv(cv, truth, classifier=True).split(truth, truth)]
    folds = [(np.sort(train[train >= 0]), np.sort(test[test >= 0])) for train, test in parts]
    for i, (train, test) in enumerate(folds):
        if len(test) == 0 or len(set(positive[train].tolist())) < 2:
            raise ValueError(
                f"cv leaves part {i} without cases to hold out, or with cases of one class only to train on. "
                "Use stratified folds, or fewer of them."
            )
    return folds


def make_partition(
    estimator: Any, order: Indices, n_pos: int, folds: list[tuple[Indices, Indices]]
) -> list[tuple[Indices, Indices]]:
    """Parts that hold out every case exactly once, as a stacked score needs: the folds themselves where they do so.

    Where the folds are ours but a single split, five others; where they are the user's, none.
    """
    if (np.bincount(np.concatenate([test for _, test in folds]), minlength=len(order)) == 1).all():
        return folds
    if getattr(estimator, "cv", None) is not None:
        return []
    positive = np.arange(len(order)) < n_pos
    n = min(_FOLDS, n_pos, len(order) - n_pos)
    parts = _stratified(order, positive, n, check_random_state(estimator.random_state))
    return [(np.sort(train), np.sort(test)) for train, test in parts]


def _stratified(order: Indices, positive: Flags, n: int, random: Any) -> list[tuple[Any, Any]]:
    # Rows in the order they came, so that a shuffle of the classes does not change the folds.
    rank = np.argsort(order)
    folds = StratifiedKFold(n, shuffle=True, random_state=random)
    return [(rank[train], rank[test]) for train, test in folds.split(rank, positive[rank])]


def _by_case(reject_cost: Any, n: int, order: Indices) -> Floats | None:
    if reject_cost is None:
        return None
    try:
        prices = np.asarray(reject_cost, dtype=np.float64)
    except (TypeError, ValueError):
        prices = np.full(0, np.nan)
    if prices.shape != (n,) or not (np.isfinite(prices) & (prices > 0)).all():
        raise ValueError(
            f"reject_cost must hold {n} finite prices greater than 0, one a case; got {reprlib.repr(reject_cost)}."
        )
    return prices[order]
