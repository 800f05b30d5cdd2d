"""Cases with what either answer to them costs: what a plan is made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Flags, Floats, Indices
from ..class_costs import ClassCosts
from ..costs import Costs, answer_columns


@dataclass(frozen=True, eq=False)
class PricedCases:
    """A sample of the cases that will come.

    Attributes
    ----------
    rejected : ndarray of bool
        Which of them the model leaves to manual review.
    r : ndarray
        Acceptance scores: where not all can be reviewed, the lowest come first.
    answered, reviewed : ndarray
        What each costs if the model's class is taken, and if it is reviewed.
    largest : float
        The most that one wrong answer costs.
    """

    rejected: Flags
    r: Floats
    answered: Floats
    reviewed: Floats
    largest: float

    @classmethod
    def of(cls, kinds: Indices, r: Floats, forced: Indices, probability: Floats, costs: Costs) -> PricedCases:
        """Price answers to cases for two classes.

        Parameters
        ----------
        kinds : ndarray of int
            Position in `KINDS` of each answer.
        r : ndarray
            Acceptance scores.
        forced : ndarray of int
            1 where the model's class is the positive one.
        probability : ndarray
            Probability that each case is positive: 0 or 1 where the outcome is known.
        costs : Costs
            The prices.
        """
        matrix = costs.matrix()

        def priced(columns: Indices) -> Floats:
            prices: Floats = probability * matrix[1, columns] + (1 - probability) * matrix[0, columns]
            return prices

        reviewed = priced(answer_columns(forced, np.maximum(kinds, 1)))  # of an accepted case, as an ambiguous one
        return cls(kinds > 0, r, priced(forced), reviewed, costs.largest_error)

    @classmethod
    def of_classes(cls, kinds: Indices, r: Floats, forced: Indices, truth: Indices, costs: ClassCosts) -> PricedCases:
        """Price answers to cases of three classes or more.

        Parameters
        ----------
        kinds, r
            As in `of`.
        forced, truth : ndarray of int
            Position of the model's class, and of the true one, in the prices.
        costs : ClassCosts
            The prices.
        """
        n = costs.n_classes
        reviewed = costs.prices(truth, answer_columns(forced, np.maximum(kinds, 1), n), n)
        return cls(kinds > 0, r, costs.prices(truth, forced, n), reviewed, costs.largest_error)

    def __len__(self) -> int:
        return len(self.r)
