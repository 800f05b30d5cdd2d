"""The old model and its update on reviewed cases that the update did not see, each counted as its weight says."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Flags, Floats, Indices
from ..comparison.intervals import Interval, combined, rare_mean
from ..costs import Costs, answer_columns
from ..decisions import KINDS
from ..evaluating import forced_positive
from ..folds import make_folds
from ..labels import encode
from ..locating import decide, locate
from .refitting import Maker, WeightedCases


@dataclass(frozen=True)
class JudgedUpdate:
    """What the old model and its update cost per case, in the batches that the reviewed cases stand for.

    Attributes
    ----------
    old, new : Interval
        Expected cost per case.
    dearer : Interval
        By how much the new one is dearer, paired case by case; below 0 it is cheaper.
    """

    old: Interval
    new: Interval
    dearer: Interval

    @property
    def replaces(self) -> bool:
        """Whether the new model is not shown to be dearer: the interval of the difference does not lie above 0."""
        return self.dearer.low <= 0

    @property
    def cheaper(self) -> bool:
        """Whether the new model is shown to be cheaper: the interval of the difference lies below 0."""
        return self.dearer.high < 0

    @property
    def sentence(self) -> str:
        """What may be said of the two."""
        if self.cheaper:
            return "the new model is cheaper"
        return "the two cannot be told apart" if self.replaces else "the new model is dearer"


def judge_update(
    model: Any, make: Maker, reviewed: WeightedCases, twins: Indices, folds: int, seed: int, done: Callable[[], None]
) -> JudgedUpdate:
    """Compare by cross-fitting: each reviewed case is answered by an update that was made without it.

    A case that was drawn twice is on one side of every fold.
    """
    new = np.empty(len(reviewed))
    distinct = len(np.unique(twins)) == len(twins)
    rows = make_folds(folds, reviewed.positive, groups=None if distinct else twins, random_state=seed)
    with warnings.catch_warnings(action="ignore"):  # what is wrong with a fit, the final one says too
        for train, test in rows:
            other = make(reviewed.take(train))
            new[test] = _paid(other, reviewed.features.iloc[test], reviewed.positive[test])
            done()
        old = _paid(model, reviewed.features, reviewed.positive)
    return compare_paid(old, new, reviewed.weights, locate(model)[0].costs_)


def compare_paid(old: Floats, new: Floats, weights: Floats, costs: Costs) -> JudgedUpdate:
    """Weighted means of what two models pay on the same cases, and of the difference."""
    differs, largest = old != new, max(costs.fp, costs.fn)
    everywhere = np.ones(len(old), dtype=bool)
    return JudgedUpdate(
        _mean(old, weights, everywhere, largest),
        _mean(new, weights, everywhere, largest),
        combined(
            _mean(np.maximum(new - old, 0.0), weights, differs, largest),
            -_mean(np.maximum(old - new, 0.0), weights, differs, largest),
        ),
    )


def _mean(amounts: Floats, weights: Floats, where: Flags, largest: float) -> Interval:
    """Weighted mean of amounts that are 0 or more; `where` says which cases could pay at all."""
    shares = weights * (len(weights) / weights.sum())
    return rare_mean(amounts * shares, largest * float(shares[where].max(initial=0.0)))


def _paid(model: Any, features: Any, positive: Flags) -> Floats:
    """What each case pays."""
    classifier, decisions = locate(model)[0], decide(model, features, reasons=False)
    kinds = encode(decisions.kind, np.array(KINDS))
    answers = answer_columns(forced_positive(decisions, classifier), kinds)
    paid: Floats = classifier.costs_.prices(positive.astype(np.intp), answers)
    return paid
