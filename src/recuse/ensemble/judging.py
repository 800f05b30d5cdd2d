"""What a blend costs on held-out cases, where its thresholds stand, and what each member adds."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from ..arrays import Floats, Indices
from ..calibration import log_loss, log_odds
from ..costs import Costs
from ..thresholds.bands import Band
from ..thresholds.rules import Sample, chow_band, shrunk_band
from .bagging import Outcomes
from .blending import Blend

AUTO, CHOW, TUNED = RULES = ("auto", "chow", "tuned")
BLEND = "blend"
Combine = Callable[[Floats, Outcomes], Blend]

_MARGIN = 2.0  # standard errors by which tuned thresholds must be cheaper on held-out cases
_CHOW_CASES = 1000.0  # tuned thresholds are shrunk towards those of the prices as if these had been seen as often


class Unseen(NamedTuple):
    """Log-odds of held-out cases, one column per member, what they turned out to be, and the folds they were in."""

    members: Floats
    outcomes: Outcomes
    tests: list[Indices]


class Judgement(NamedTuple):
    """Where the thresholds stand, and what the blend costs on held-out cases."""

    rule: str
    band: Band
    cost: float
    log_loss: float
    coverage: float


def blend_honestly(held_out: Unseen, combine: Combine) -> Floats:
    """Probability of each case by a blend whose weights did not see the fold it is in."""
    blended = np.empty(len(held_out.members))
    for test in held_out.tests:
        others = np.setdiff1d(np.arange(len(blended)), test)
        blend = combine(held_out.members[others], held_out.outcomes.take(others))
        blended[test] = blend.log_odds(held_out.members[test])
    p: Floats = expit(blended)
    return p


def judge(p: Floats, held_out: Unseen, costs: Costs, rule: str) -> Judgement:
    """Chow's thresholds, or tuned ones where they are wanted, or cheaper beyond doubt on cases they were not set on."""
    outcomes = held_out.outcomes
    by_chow = _prices(chow_band(costs), p, outcomes, costs)
    tuned = np.empty(len(p))
    for test in held_out.tests:
        others = np.setdiff1d(np.arange(len(p)), test)
        band = _tuned(p[others], outcomes.take(others), costs)
        tuned[test] = _prices(band, p[test], outcomes.take(test), costs)
    if rule == AUTO:
        saved, share = by_chow - tuned, outcomes.weights / outcomes.weights.sum()
        mean = float(share @ saved)
        error = float(np.sqrt(share**2 @ (saved - mean) ** 2))
        rule = TUNED if mean > _MARGIN * error else CHOW
    band = chow_band(costs) if rule == CHOW else _tuned(p, outcomes, costs)
    cost = float(np.average(by_chow if rule == CHOW else tuned, weights=outcomes.weights))
    coverage = float(np.average(band.evaluate(p).accepted, weights=outcomes.weights))
    return Judgement(rule, band, cost, log_loss(p, outcomes.positive, outcomes.weights), coverage)


def chow_cost(p: Floats, outcomes: Outcomes, costs: Costs) -> float:
    """Mean price of cases under Chow's rule."""
    return float(np.average(_prices(chow_band(costs), p, outcomes, costs), weights=outcomes.weights))


def gains(held_out: Unseen, blend: Blend, combine: Combine) -> list[float]:
    """How much greater the log loss is without each member, the others blended anew."""
    members, outcomes = held_out.members, held_out.outcomes

    def loss(odds: Floats) -> float:
        return log_loss(expit(odds), outcomes.positive, outcomes.weights)

    def loss_without(k: int) -> float:
        others = np.delete(members, k, axis=1)
        if others.shape[1] == 0:
            share = np.average(outcomes.positive, weights=outcomes.weights)
            return loss(log_odds(np.full(len(members), share)))
        return loss(combine(others, outcomes).log_odds(others))

    with_all = loss(blend.log_odds(members))
    return [loss_without(k) - with_all if blend.weights[k] > 0 else 0.0 for k in range(members.shape[1])]


def _tuned(p: Floats, outcomes: Outcomes, costs: Costs) -> Band:
    sample = Sample.of(p, outcomes.positive, outcomes.weights)
    return shrunk_band(sample, costs, probabilities=True, shrinkage=_CHOW_CASES)


def _prices(band: Band, p: Floats, outcomes: Outcomes, costs: Costs) -> Floats:
    prices: Floats = costs.prices(outcomes.codes, band.evaluate(p).answers())
    return prices
