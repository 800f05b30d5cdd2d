"""Which scores are rejected: a band of scores for two classes; for three or more a lowest probability or saving.

All have the same methods, so that nothing else needs to know how many classes there are: `evaluate`, `confidence`,
`moved_to`, which gives the rule that rejects every case up to a confidence, and `near`, which marks the scores that
rounding could put on either side of one of the `cuts`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Flags, Floats
from ..decisions import Evaluation, least_cost
from ..rounding import NEAR, SAME, near_threshold, on_threshold


@dataclass(frozen=True)
class Band:
    """Scores from `lower` to `upper` are rejected; without the reject option the classes are separated at `centre`.

    Attributes
    ----------
    lower, upper, centre : float
        Scores.
    left, right : float
        Units of distance on either side of the centre, so that the two sides can be compared.
    """

    lower: float
    upper: float
    centre: float
    left: float = 1.0
    right: float = 1.0

    def acceptance(self, scores: Floats) -> Floats:
        """How far a score lies outside the band, in the units of its side: greater than 0 when accepted.

        On a side that is never accepted, whose edge is infinite, a negative number that grows with the confidence.
        """
        above, below = (scores - self.upper) / self.right, (self.lower - scores) / self.left
        outside = np.where(scores > self.centre, above, below)
        return np.where(np.isinf(outside), -1 / (1 + self.confidence(scores)), outside)

    def confidence(self, scores: Floats) -> Floats:
        """How far a score lies from the centre, in the units of its side."""
        distance = scores - self.centre
        return np.where(distance > 0, distance / self.right, -distance / self.left)

    def moved_to(self, confidence: float) -> Band:
        """The band that rejects the cases up to this confidence."""
        lower, upper = self.centre - confidence * self.left, self.centre + confidence * self.right
        return replace(self, lower=lower, upper=upper)

    def rejecting_everything(self) -> Band:
        """The band that rejects every case, whatever its score."""
        return self.moved_to(np.inf)

    def evaluate(self, scores: Floats) -> Evaluation:
        """Class and acceptance score of each case; one within rounding of a threshold is on it."""
        scores = on_threshold(scores, self.cuts)
        return Evaluation(scores - self.centre, self.acceptance(scores), detail=scores)

    def near(self, scores: Floats) -> Flags:
        """Which scores are near a cut."""
        return near_threshold(scores, self.cuts)

    @property
    def cuts(self) -> tuple[float, ...]:
        """The scores at which an answer changes."""
        return self.centre, self.lower, self.upper

    @property
    def thresholds(self) -> tuple[float, float]:
        """The two scores between which a case is rejected."""
        return self.lower, self.upper


@dataclass(frozen=True)
class LowestProbability:
    """With three or more classes, a case is accepted if its highest probability is above `lowest`.

    Attributes
    ----------
    lowest : float
        The probability.
    price : float
        Unit of the acceptance score: the price of an error.
    """

    lowest: float
    price: float

    def evaluate(self, scores: Floats) -> Evaluation:
        """Probabilities and acceptance score of each case; what differs by rounding is equal."""
        highest, probabilities = self.confidence(scores), scores
        scores = np.where(scores >= highest[:, None] - SAME, highest[:, None], scores)
        sure = on_threshold(highest, self.cuts)
        return Evaluation(scores, self.price * (sure - self.lowest), detail=scores, class_scores=probabilities)

    def near(self, scores: Floats) -> Flags:
        """Which cases have a highest probability near the lowest, or another class as probable."""
        second, highest = np.partition(scores, -2, axis=1)[:, -2:].T
        return near_threshold(highest, self.cuts) | (highest - second <= NEAR)

    @property
    def cuts(self) -> tuple[float, ...]:
        """The probability at which an answer changes."""
        return (self.lowest,)

    def confidence(self, scores: Floats) -> Floats:
        """The highest probability of each case."""
        highest: Floats = scores.max(axis=1)
        return highest

    @property
    def threshold(self) -> float:
        """The confidence that an answer must exceed."""
        return self.lowest

    def moved_to(self, confidence: float) -> LowestProbability:
        """The rule that rejects the cases up to this confidence."""
        return replace(self, lowest=confidence)

    def rejecting_everything(self) -> LowestProbability:
        """The rule that rejects every case: no probability is above 1."""
        return self.moved_to(1.0)


@dataclass(frozen=True, eq=False)
class LeastCost:
    """With three or more classes, the answer of least expected cost is given if it saves more than `least`.

    Attributes
    ----------
    matrix : ndarray of shape (n_classes + 1, n_classes + 2)
        Prices, see `Costs.matrix`.
    least : float
        What an answer must save over a rejection, on average, to be given: 0 by the prices alone.
    """

    matrix: Floats
    least: float = 0.0

    def evaluate(self, scores: Floats) -> Evaluation:
        """Answers to cases with these probabilities, and how much more than `least` each saves."""
        h, saved = least_cost(scores, self.matrix)
        return Evaluation(h, on_threshold(saved, self.cuts) - self.least, detail=scores, class_scores=scores)

    def near(self, scores: Floats) -> Flags:
        """Which cases save about `least`, or have another answer that costs about the same."""
        h, saved = least_cost(scores, self.matrix)
        second, best = np.partition(h, -2, axis=1)[:, -2:].T
        return near_threshold(saved, self.cuts) | (best - second <= NEAR)

    @property
    def cuts(self) -> tuple[float, ...]:
        """The saving at which an answer changes."""
        return (self.least,)

    def confidence(self, scores: Floats) -> Floats:
        """What the best answer to each case saves, above the worst that it could cost: never negative."""
        return least_cost(scores, self.matrix)[1] + self._worst

    @property
    def _worst(self) -> float:
        return float(self.matrix[:-1, :-2].max())

    @property
    def threshold(self) -> float:
        """The confidence that an answer must exceed."""
        return self.least + self._worst

    def moved_to(self, confidence: float) -> LeastCost:
        """The rule that rejects the cases up to this confidence."""
        return replace(self, least=confidence - self._worst)

    def rejecting_everything(self) -> LeastCost:
        """The rule that rejects every case: no answer saves more than the dearest rejection."""
        return replace(self, least=float(self.matrix[:-1, -2].max()))


RejectRegion = Band | LowestProbability | LeastCost
