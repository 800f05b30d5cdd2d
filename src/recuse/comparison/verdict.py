"""What a comparison concludes: the one place that decides it; terminal, JSON and report put it into words.

The conclusion answers separate questions, each about the method that was chosen (`choice`):

- does answering pay: does it save anything against the manual review of every case?
- does rejecting pay: does it save anything against itself when it must answer every case?
- is there a signal: is it cheaper than the cheapest constant answer?

Savings are corrected for the choice: they are means over cases that had no part in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Floats, Indices
from .choice import TOLERANCE, Choice, choose
from .intervals import Interval
from .payments import Payments

YES, NO, UNCLEAR = "yes", "no", "unclear"


class Saving(NamedTuple):
    """What one rule saves per case against another, and whether it saves anything."""

    rule: str
    against: str
    saved: Interval

    @property
    def pays(self) -> str:
        """Whether the saving is above 0, at most 0, or neither for certain."""
        if self.saved.low > 0:
            return YES
        return NO if self.saved.high <= 0 else UNCLEAR


@dataclass(frozen=True)
class Verdict:
    """The method chosen, what it costs, and the three questions.

    Attributes
    ----------
    chosen : str
        Name of the method to use: a model, or a constant answer if no model is better by more than one standard error.
    best_model : str
        The model chosen among the models; the same, unless a constant answer was kept.
    cost : Interval
        Expected cost per case of `chosen`, corrected for the choice.
    answering, rejecting, signal : Saving
        The three questions, about `best_model`. A model that answers every case saves nothing by rejecting: there,
        `rejecting` is about the cheapest model that does reject, against it.
    """

    chosen: str
    best_model: str
    cost: Interval
    answering: Saving
    rejecting: Saving
    signal: Saving

    @property
    def found_signal(self) -> bool:
        """Whether a model was chosen rather than a constant answer."""
        return self.chosen == self.best_model


@dataclass(frozen=True, eq=False)
class Candidates:
    """Everything there is to choose from.

    Attributes
    ----------
    models, forced : mapping of str to Payments
        Each model, the simplest first, as it answers, and when it must answer every case.
    constants : mapping of str to Payments
        The constant answers, with the manual review of every case among them.
    send_all : str
        Name of that one.
    """

    models: Mapping[str, Payments]
    forced: Mapping[str, Payments]
    constants: Mapping[str, Payments]
    send_all: str


def judge(candidates: Candidates, *, seed: int, units: Indices | None = None) -> Verdict | None:
    """Choose a method and answer the three questions.

    Parameters
    ----------
    candidates : Candidates
        What there is to choose from.
    seed : int
        Random state of the resampling.
    units : ndarray of int of shape (n_cases,), optional
        Unit of each case, if cases belong together.

    Returns
    -------
    Verdict or None
        None if there is no model.
    """
    if not candidates.models:
        return None
    names, constants = list(candidates.models), candidates.constants
    prices = np.array([payments.prices for payments in candidates.models.values()])
    choice = choose(prices, seed=seed, units=units)
    best = names[choice.chosen]
    own, constant = candidates.models[best], min(constants, key=lambda name: constants[name].prices.mean())
    answering = _saving(choice, prices, best, own, candidates.send_all, constants[candidates.send_all], units)
    signal = _saving(choice, prices, best, own, constant, constants[constant], units)
    # The lower limit allows for expensive errors that were not seen; a standard error of what was seen does not.
    keep_model = signal.saved.value > TOLERANCE * signal.saved.standard_error_below
    return Verdict(
        chosen=best if keep_model else constant,
        best_model=best,
        cost=moved(own.cost(units), choice.corrected(prices)) if keep_model else constants[constant].cost(units),
        answering=answering,
        rejecting=_rejecting(choice, candidates, best, prices, units),
        signal=signal,
    )


def moved(interval: Interval, value: float) -> Interval:
    """An interval around a corrected estimate: one end moves with it, the other stays where it was.

    The correction is itself uncertain, so it lengthens the interval and never shortens it.
    """
    shift = value - interval.value
    return Interval(value, min(interval.low, interval.low + shift), max(interval.high, interval.high + shift))


def _saving(
    choice: Choice,
    prices: Floats,
    best: str,
    own: Payments,
    against: str,
    other: Payments,
    units: Indices | None,
) -> Saving:
    saved = moved(own.saved_against(other, units), choice.corrected(other.prices - prices))
    return Saving(best, against, saved)


def _rejecting(choice: Choice, candidates: Candidates, best: str, prices: Floats, units: Indices | None) -> Saving:
    own, forced = candidates.models[best], candidates.forced
    if _rejects(own):
        together = np.array([forced[name].prices for name in candidates.models])
        saved = own.saved_against(forced[best], units)
        return Saving(best, f"{best} without rejecting", moved(saved, choice.corrected(together - prices)))
    rejecting = [name for name, payments in candidates.models.items() if _rejects(payments)]
    if not rejecting:
        return Saving(best, best, Interval(0.0, 0.0, 0.0))
    cheapest = min(rejecting, key=lambda name: candidates.models[name].prices.mean())
    return Saving(cheapest, best, candidates.models[cheapest].saved_against(own, units))


def _rejects(payments: Payments) -> bool:
    return bool(payments.reviews.any())
