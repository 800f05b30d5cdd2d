"""What each case pays under a rule, and the intervals of means and differences that follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Indices
from ..class_costs import ClassCosts
from ..costs import Costs
from .intervals import Interval, combined, frequent_mean, from_folds, rare_mean


def number_of_classes(costs: Costs) -> int:
    """How many classes the prices of a comparison are for."""
    return costs.n_classes if isinstance(costs, ClassCosts) else 2


@dataclass(frozen=True, eq=False)
class Payments:
    """Error and review prices of each case under one rule, means over the repetitions.

    Attributes
    ----------
    columns : ndarray of int of shape (repeats, n)
        Column of the price matrix of each answer.
    repeated : ndarray of shape (repeats, n)
        What the case pays in each repetition.
    errors, reviews : ndarray of shape (n,)
        What the case pays on average for wrong answers, and for reviews.
    costs : Costs
        The prices.
    constant : bool
        Whether the rule gives every case the same answer, whatever the case.
    """

    columns: Indices
    repeated: Floats
    errors: Floats
    reviews: Floats
    costs: Costs
    constant: bool = False

    @classmethod
    def of(cls, columns: NDArray[Any], truth: Flags | Indices, costs: Costs, *, constant: bool = False) -> Payments:
        """Price answers of shape (repeats, n) to cases of these classes; of two, 1 or true is the positive one."""
        columns, n_classes = np.atleast_2d(columns), number_of_classes(costs)
        prices, rejected = costs.prices(truth.astype(np.intp), columns, n_classes), columns >= n_classes
        errors, reviews = (prices * ~rejected).mean(axis=0), (prices * rejected).mean(axis=0)
        return cls(columns, prices, errors, reviews, costs, constant)

    @property
    def n_classes(self) -> int:
        """How many classes there are: columns of the price matrix from there on are rejections."""
        return number_of_classes(self.costs)

    @property
    def prices(self) -> Floats:
        """What each case pays in all."""
        return self.errors + self.reviews

    @property
    def rounded_mean(self) -> float:
        """Mean price in units of the cheaper error, alike for rules that pay the same up to rounding."""
        return round(float(self.prices.mean()) / self.costs.cheaper_error, 12)

    def cost(self, units: Indices | None = None) -> Interval:
        """Expected cost per case."""
        return self.possible(self._cost(units))

    def possible(self, cost: Interval) -> Interval:
        """A cost per case no lower than if every answer were right, and no higher than if every case paid the most."""
        return cost.within(0.0, float(self.costs.matrix(self.n_classes)[:-1].max()))

    def widening(self, units: Indices) -> float:
        """How much wider the interval of the cost is because cases belong together; 1 if it is not."""
        together, apart = self._cost(units), self._cost(None)
        return max(1.0, (together.high - together.low) / max(apart.high - apart.low, 1e-12))

    def _cost(self, units: Indices | None) -> Interval:
        """The estimate with the distances of its parts, which may reach beyond what is possible where cases are few."""
        return combined(
            rare_mean(self.errors, self._largest_error(np.ones(1, dtype=bool)), units),
            self._review_cost(units),
            from_folds(self.repeated),
        )

    def _review_cost(self, units: Indices | None) -> Interval:
        everywhere = np.ones(1, dtype=bool)
        if self.constant and np.ptp(self.reviews) == 0.0:  # every case is reviewed at one price, for certain
            price = float(self.reviews[0])
            return Interval(price, price, price)
        return frequent_mean(self.reviews, self._largest_review(everywhere), units)

    def saved_against(self, other: Payments, units: Indices | None = None) -> Interval:
        """What this rule saves per case against another one, paired case by case.

        Only where the two answer differently does the difference vary: elsewhere they pay the same.
        """
        errors, reviews = other.errors - self.errors, other.reviews - self.reviews
        differs = _aligned_differences(self.columns, other.columns)
        return combined(
            rare_mean(np.maximum(errors, 0.0), other._largest_error(differs), units),
            -rare_mean(np.maximum(-errors, 0.0), self._largest_error(differs), units),
            frequent_mean(np.maximum(reviews, 0.0), other._largest_review(differs), units),
            -frequent_mean(np.maximum(-reviews, 0.0), self._largest_review(differs), units),
            from_folds(repeated_difference(other.repeated, self.repeated)),
        )

    def one_more_error(self, other: Payments, units: Indices | None = None) -> float:
        """What the most expensive error would add per case, where the rule answers differently from another one.

        Where cases belong together, a whole unit errs.
        """
        price = self._largest_error(_aligned_differences(self.columns, other.columns))
        return price * (1.0 if units is None else float(np.bincount(units).max())) / len(self.errors)

    def _largest_error(self, where: Flags) -> float:
        """The most expensive error that the answers given `where` can make."""
        n = self.n_classes
        given = self.columns[(self.columns < n) & where]
        return float(self.costs.matrix(n)[:-1, np.unique(given)].max()) if len(given) else 0.0

    def _largest_review(self, where: Flags) -> float:
        """The most expensive review of the rejections made `where`."""
        n = self.n_classes
        rejected = self.columns[(self.columns >= n) & where]
        return float(self.costs.matrix(n)[:-1, np.unique(rejected)].max()) if len(rejected) else 0.0


def repeated_difference(prices: Floats, others: Floats) -> Floats:
    """Differences in the repetitions, which have the same folds, that both rules have; one row stands for all."""
    repeats = max(len(prices), len(others)) if 1 in (len(prices), len(others)) else min(len(prices), len(others))
    return prices[:repeats] - others[:repeats]


def _aligned_differences(columns: Indices, others: Indices) -> Flags:
    """Which cases are ever answered differently; a rule with fewer repetitions is compared with all of the other's."""
    if columns.shape == others.shape:
        return (columns != others).any(axis=0)
    return (columns.min(axis=0) != others.max(axis=0)) | (columns.max(axis=0) != others.min(axis=0))
