"""What can be promised: the risks of answered cases, each a mean of what single cases cost.

A risk says which cases count for it and what an answer to each of them costs. Both are known without a threshold: a
threshold only chooses which of these cases are accepted. A new risk is a class of a few lines and a row of `RISKS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Indices
from ..costs import Costs


@dataclass(frozen=True, eq=False)
class ForcedAnswers:
    """Cases with their true class, and the class each would be given without a reject option.

    Attributes
    ----------
    truth, forced : ndarray of int of shape (n,)
        Class numbers.
    costs : Costs
        Prices, for the positive class.
    positive : int
        Number of the positive class.
    n_classes : int
        Number of classes.
    """

    truth: Indices
    forced: Indices
    costs: Costs
    positive: int = 1
    n_classes: int = 2

    @property
    def wrong(self) -> Flags:
        """Which cases are given another class than their own."""
        return self.forced != self.truth

    @property
    def of_positives(self) -> Flags:
        """Which cases belong to the positive class."""
        return self.truth == self.positive


@dataclass(frozen=True, eq=False)
class TrueOutcomes:
    """What is known of all cases: their classes, and what errors cost.

    Attributes
    ----------
    truth : ndarray of int of shape (n,)
        Class numbers.
    costs, pos_label, classes
        Prices for the positive class, its label, and the labels of all classes.
    """

    truth: Indices
    costs: Costs
    pos_label: Any
    classes: NDArray[Any]

    def answered(self, rows: Indices, forced: Indices) -> ForcedAnswers:
        """Some of the cases, with the classes they would be given."""
        positive = int(self.pos_label == self.classes[-1])
        return ForcedAnswers(self.truth[rows], forced, self.costs, positive, len(self.classes))


@dataclass(frozen=True, eq=False)
class Losses:
    """What each case adds to a risk.

    Attributes
    ----------
    relevant : ndarray of bool of shape (n,)
        Which cases count, if they are accepted.
    amounts : ndarray of shape (n,)
        What the answer to each costs: 0 or one of `prices`.
    prices : tuple of float
        What an answer can cost besides 0, in ascending order.
    """

    relevant: Flags
    amounts: Floats
    prices: tuple[float, ...]

    def among(self, accepted: Flags) -> Tally:
        """What the accepted cases that count have cost."""
        counted = accepted & self.relevant
        amounts = self.amounts[counted]
        return Tally(len(amounts), tuple(int(np.count_nonzero(amounts == price)) for price in self.prices), self.prices)

    def of(self, cases: Flags) -> Losses:
        """The same risk on some of the cases only, such as those of a group."""
        return Losses(self.relevant & cases, self.amounts, self.prices)


@dataclass(frozen=True)
class Tally:
    """Accepted cases that count for a risk, and how many of them cost each price.

    Attributes
    ----------
    n : int
        Cases.
    counts : tuple of int
        Of these, the cases that cost each of the prices; the others cost nothing.
    prices : tuple of float
        In ascending order.
    """

    n: int
    counts: tuple[int, ...]
    prices: tuple[float, ...] = (1.0,)

    @property
    def total(self) -> float:
        """What they cost together."""
        return float(sum(count * price for count, price in zip(self.counts, self.prices, strict=True)))

    @property
    def mean(self) -> float:
        """What one of them costs; 0 where there is none."""
        return self.total / self.n if self.n else 0.0


class Risk(Protocol):
    """What a risk has.

    Attributes
    ----------
    words : str
        What is promised to be small, for sentences.
    counted, faults : str
        The cases that count, and what is bad about some of them.
    is_share : bool
        Whether it is a share of cases, between 0 and 1, rather than an amount of money.
    """

    words: ClassVar[str]
    counted: ClassVar[str]
    faults: ClassVar[str]
    is_share: ClassVar[bool]

    def losses(self, answers: ForcedAnswers) -> Losses:
        """What each case adds to the risk if it is accepted."""


def _shares(relevant: Flags, wrong: Flags) -> Losses:
    return Losses(relevant, wrong.astype(np.float64), (1.0,))


class ErrorRate:
    """Share of the accepted cases whose answer is wrong."""

    words: ClassVar[str] = "the error rate on accepted cases"
    counted: ClassVar[str] = "accepted"
    faults: ClassVar[str] = "wrong"
    is_share: ClassVar[bool] = True

    def losses(self, answers: ForcedAnswers) -> Losses:
        """One for every wrong answer."""
        return _shares(np.ones(len(answers.truth), dtype=bool), answers.wrong)


class MissRate:
    """Share of the accepted cases of the positive class that are given another class."""

    words: ClassVar[str] = "the share of misses among accepted positive cases"
    counted: ClassVar[str] = "accepted positive cases"
    faults: ClassVar[str] = "missed"
    is_share: ClassVar[bool] = True

    def losses(self, answers: ForcedAnswers) -> Losses:
        """One for every miss."""
        return _shares(answers.of_positives, answers.wrong)


class FalseAlarmRate:
    """Share of the accepted cases of the negative class that are given the positive class."""

    words: ClassVar[str] = "the share of false alarms among accepted negative cases"
    counted: ClassVar[str] = "accepted negative cases"
    faults: ClassVar[str] = "false alarms"
    is_share: ClassVar[bool] = True

    def losses(self, answers: ForcedAnswers) -> Losses:
        """One for every false alarm."""
        return _shares(~answers.of_positives, answers.wrong)


class CostPerCase:
    """Mean price of the errors among the accepted cases, in the currency of the prices."""

    words: ClassVar[str] = "the cost of errors per accepted case"
    counted: ClassVar[str] = "accepted"
    faults: ClassVar[str] = "paid for errors"
    is_share: ClassVar[bool] = False

    def losses(self, answers: ForcedAnswers) -> Losses:
        """The price of every wrong answer."""
        everyone = np.ones(len(answers.truth), dtype=bool)
        costs, n = answers.costs, answers.n_classes
        if n > 2:
            errors = costs.matrix(n)[:n, :n]
            return Losses(
                everyone, errors[answers.truth, answers.forced], tuple(np.unique(errors[errors > 0]).tolist())
            )
        amounts = np.where(answers.wrong, np.where(answers.of_positives, costs.fn, costs.fp), 0.0)
        return Losses(everyone, amounts, tuple(sorted({costs.fp, costs.fn})))


RISKS: dict[str, Risk] = {
    "error": ErrorRate(),
    "cost": CostPerCase(),
    "misses": MissRate(),
    "false_alarms": FalseAlarmRate(),
}
# Risks that know a positive class.
TWO_CLASSES = ("misses", "false_alarms")
