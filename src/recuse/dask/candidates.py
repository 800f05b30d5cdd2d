"""Candidates of a search on a cluster: fitted pairs with the sums over all rows that describe them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats
from ..boosting.abstention.candidates import Candidate
from ..boosting.abstention.data import TrainingSet
from ..boosting.abstention.prices import Prices
from .scoring import ScoreRule


@dataclass(frozen=True, eq=False)
class PartChoices:
    """What was chosen for each part by the others: a rule, and a threshold of r."""

    choices: list[tuple[ScoreRule, float]]


@dataclass(frozen=True, eq=False)
class ClusterCandidate(Candidate):
    """A fitted pair, what was chosen for it, and sums over all rows that describe it.

    Attributes
    ----------
    judgement : PartChoices or None
        How held-out rows judge it.
    held_out_mean : float or None
        Its mean price on them.
    n_accepted, n_unsure : int
        Training rows that it accepts, and that are not both right and accepted.
    worst : float
        Mean of L_MB on the training rows.
    """

    judgement: PartChoices | None = None
    held_out_mean: float | None = None
    n_accepted: int = 0
    n_unsure: int = 1
    worst: float = float("nan")

    @property
    def separates(self) -> bool:
        """Whether larger weights alone would bring the loss to 0."""
        return self.n_unsure == 0

    def measured_by(self, loss: Callable[..., float]) -> float:
        """Mean of L_MB on the training rows, which the margin bound asks for: the workers have computed it."""
        return self.worst

    def held_out_cost(self, training: TrainingSet) -> Floats | None:
        """The mean price on held-out rows, as that of a single case: see `as_training_set`."""
        return None if self.held_out_mean is None else np.array([self.held_out_mean])


def as_training_set() -> TrainingSet:
    """A training set of one held-out case, to publish means with that the workers have computed."""
    one, first = np.ones(1), np.zeros(1, dtype=np.intp)
    folds = [(first, first)]
    return TrainingSet(np.zeros((1, 0)), first, 1, one, 0.0, Prices(one, one, one), folds)
