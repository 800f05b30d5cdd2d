"""What a comparison concludes: the one place that decides it; terminal, JSON and report put it into words.

The conclusion answers separate questions, each about the method that was chosen (`choice`):

- does answering pay: does it save anything against the manual review of every case?
- does rejecting pay: does it save anything against itself when it must answer every case?
- does it beat the constants: is it cheaper than the cheapest answer that is the same for every case? If not, that
  answer is kept, and the questions above are about a method that was not chosen;
- is there a signal: is any method that must answer every case cheaper than always no and always yes? A method may tell
  cases apart and still not be worth its errors where reviews are cheap.

Costs and savings are corrected for the choice, by as much as it is expected to have flattered them. Being chosen makes
no cost look too high and no saving too small, so a correction never lowers a cost and never raises a saving, even if
the methods that were chosen on the resampled cases would do worse than this one when they must answer every case: that
is how these methods differ, not luck.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Floats, Indices
from .choice import CONVINCING, MORE_ERRORS, MUCH, TOLERANCE, Choice, choose
from .intervals import EXACTLY_ZERO, Interval
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

    @property
    def exceeds_error(self) -> bool:
        """Whether it saves more than one standard error.

        The lower limit allows for expensive errors that were not seen; a standard error of what was seen does not.
        """
        return _exceeds(self.saved, TOLERANCE)


@dataclass(frozen=True)
class Verdict:
    """The method chosen, what it costs, and the questions.

    Attributes
    ----------
    chosen : str
        Name of the method to use: a model, or a constant answer if no model is convincingly cheaper.
    best_model : str
        The model chosen among the models; the same, unless a constant answer was kept.
    cost : Interval
        Expected cost per case of `chosen`, corrected for the choice.
    model_cost, forced_cost : Interval
        The same of `best_model`, as it answers and when it must answer every case; they differ by what rejecting saves.
    answering, rejecting : Saving
        What `best_model` saves against the manual review of every case, and against itself when it must answer every
        case. A model that answers every case saves nothing by rejecting: there, `rejecting` is about the cheapest model
        that does reject, against it.
    constant : Saving
        What `best_model` saves against the cheapest constant answer.
    signal : Saving
        What the model chosen among those that must answer every case saves against the cheaper of always no and yes.
    shares : dict of str to float
        In which share of the resamples of the cases each model is chosen among the models.
    """

    chosen: str
    best_model: str
    cost: Interval
    model_cost: Interval
    forced_cost: Interval
    answering: Saving
    rejecting: Saving
    constant: Saving
    signal: Saving
    shares: dict[str, float]

    @property
    def model_chosen(self) -> bool:
        """Whether a model was chosen rather than a constant answer."""
        return self.chosen == self.best_model

    @property
    def found_signal(self) -> bool:
        """Whether some model tells the cases apart, be it worth its price or not."""
        return self.model_chosen or self.signal.exceeds_error


@dataclass(frozen=True, eq=False)
class Candidates:
    """Everything there is to choose from.

    Attributes
    ----------
    models, forced : mapping of str to Payments
        Each model, in the order of preference, as it answers, and when it must answer every case.
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
    """Choose a method and answer the questions.

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
    prices, forced = _table(candidates.models, names), _table(candidates.forced, names)
    choice = choose([candidates.models[name].repeated for name in names], seed=seed, units=units)
    best, constant = names[choice.chosen], _cheapest(constants)
    own, flattered = candidates.models[best], _flattered(choice, prices)
    model_cost, constant_cost = own.possible(moved(own.cost(units), flattered)), constants[constant].cost(units)
    taken = convincing(own, constants[constant], units)
    less_saved = _less_saved(choice, forced, flattered)
    return Verdict(
        chosen=best if taken else constant,
        best_model=best,
        cost=model_cost if taken else constant_cost,
        model_cost=model_cost,
        forced_cost=own.possible(moved(candidates.forced[best].cost(units), flattered + less_saved)),
        answering=_saving(best, own, candidates.send_all, constants[candidates.send_all], flattered, units),
        rejecting=_rejecting(candidates, best, less_saved, units),
        constant=_saving(best, own, constant, constants[constant], flattered, units),
        signal=_signal(candidates, forced, seed, units),
        shares=dict(zip(names, choice.shares(len(names)), strict=True)),
    )


def _table(rules: Mapping[str, Payments], names: Sequence[str]) -> Floats:
    """Price of each case by each rule."""
    return np.array([rules[name].prices for name in names])


def _cheapest(rules: Mapping[str, Payments]) -> str:
    return min(rules, key=lambda name: rules[name].prices.mean())


def _flattered(choice: Choice, prices: Floats) -> float:
    """How much too cheap the chosen method is expected to look: being chosen makes no method look too expensive."""
    return max(choice.correction(prices), 0.0)


def _less_saved(choice: Choice, forced: Floats, flattered: float) -> float:
    """What to add to the chosen method's saving over itself when it must answer every case: at most nothing.

    Methods that are poor when they must answer every case save much by rejecting. Where such ones are chosen on the
    resampled cases, they save more on the cases left out than the method chosen does here, which is no reason to show
    a larger saving for it.
    """
    return min(choice.correction(forced) - flattered, 0.0)


def convincing(own: Payments, constant: Payments, units: Indices | None = None) -> bool:
    """Whether a rule saves enough against a constant answer to give that up; see `choice`."""
    saved = own.saved_against(constant, units)
    much = max(MUCH * float(constant.prices.mean()), MORE_ERRORS * own.one_more_error(constant, units))
    return _exceeds(saved, TOLERANCE) or (saved.value > much and _exceeds(saved, CONVINCING))


def _exceeds(saved: Interval, errors: float) -> bool:
    return saved.value > errors * saved.standard_error_below


def moved(interval: Interval, shift: float) -> Interval:
    """An interval around a corrected estimate: one end moves with it, the other stays where it was.

    The correction is itself uncertain, so it lengthens the interval and never shortens it.
    """
    low, high = interval.low + min(shift, 0.0), interval.high + max(shift, 0.0)
    return Interval(interval.value + shift, low, high)


def _saving(rule: str, own: Payments, against: str, other: Payments, flattered: float, units: Indices | None) -> Saving:
    if (own.columns == other.columns).all():  # the same answers cost the same, whatever else might have been chosen
        return Saving(rule, against, EXACTLY_ZERO)
    return Saving(rule, against, moved(own.saved_against(other, units), -flattered))


def _rejecting(candidates: Candidates, best: str, correction: float, units: Indices | None) -> Saving:
    own = candidates.models[best]
    if _rejects(own):
        against_itself = own.saved_against(candidates.forced[best], units)
        return Saving(best, f"{best} without rejecting", moved(against_itself, correction))
    rejecting = {name: payments for name, payments in candidates.models.items() if _rejects(payments)}
    if not rejecting:
        return Saving(best, best, EXACTLY_ZERO)
    cheapest = _cheapest(rejecting)
    return Saving(cheapest, best, rejecting[cheapest].saved_against(own, units))


def _signal(candidates: Candidates, forced: Floats, seed: int, units: Indices | None) -> Saving:
    choice = choose([candidates.forced[name].repeated for name in candidates.models], seed=seed, units=units)
    best = list(candidates.models)[choice.chosen]
    answers = {name: payments for name, payments in candidates.constants.items() if name != candidates.send_all}
    constant = _cheapest(answers)
    return _saving(best, candidates.forced[best], constant, answers[constant], _flattered(choice, forced), units)


def _rejects(payments: Payments) -> bool:
    return bool(payments.reviews.any())
