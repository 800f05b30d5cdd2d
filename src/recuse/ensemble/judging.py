"""Which rule answers: Chow's thresholds, tuned ones, or a learned rejector; and what each member adds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit

from ..arrays import Flags, Floats, Indices
from ..calibration import log_loss, log_odds
from ..costs import Costs
from ..thresholds.bands import Band
from ..thresholds.rules import Sample, chow_band, shrunk_band
from .blending import Blend
from .cases import Outcomes
from .held_out import Combine, UnseenCases

if TYPE_CHECKING:
    from ..boosting.abstention.pairs import StartedPair

AUTO, CHOW, TUNED, LEARNED = RULES = ("auto", "chow", "tuned", "learned")
BLEND = "blend"

_MARGIN = 2.0  # standard errors by which another rule must be cheaper on held-out cases than Chow's
CHOW_CASES = 1000.0  # tuned thresholds are shrunk towards those of the prices as if these had been seen as often


class Judgement(NamedTuple):
    """The rule, and what it costs on held-out cases.

    Attributes
    ----------
    rule : str
        "chow", "tuned" or "learned".
    band : Band
        The thresholds; of a learned rejector, those it starts from.
    rejector : StartedPair or None
        The learned rejector.
    cost, error : float
        Mean price, in units of the cheaper error, and its standard error.
    constant : float
        What the cheapest of the constant answers costs: one class, the other, or a rejection for every case.
    coverage : float
        Share of the cases that are answered.
    """

    rule: str
    band: Band
    rejector: StartedPair | None
    cost: float
    error: float
    constant: float
    coverage: float


def judge(p: Floats, held_out: UnseenCases, costs: Costs, rule: str, features: Floats | None = None) -> Judgement:
    """Chow's thresholds, or another rule where it is wanted, or cheaper beyond doubt on cases it was not set on.

    Parameters
    ----------
    p : ndarray of shape (n,)
        Probabilities of held-out cases.
    held_out : UnseenCases
        What the cases turned out to be, and by which others a rule for them may be set.
    costs : Costs
        Prices.
    rule : str
        One of `RULES`.
    features : ndarray of shape (n, n_columns), optional
        What a learned rejector is learned from; without it, "auto" does not try one.
    """
    rows = held_out.judged
    wanted = {CHOW, TUNED, LEARNED} if rule == AUTO else {CHOW, rule}
    if len(rows) == 0:
        if rule in (TUNED, LEARNED):
            raise ValueError(
                f"rule={rule!r} is set on some held-out parts and judged on others, over time on later ones: use three "
                "folds or more."
            )
        rows, wanted = np.arange(len(p)), {CHOW}
    found = [_by_chow(p, held_out, costs)]
    if TUNED in wanted:
        found.append(_by_tuning(p, held_out, costs))
    if LEARNED in wanted and features is not None:
        found.append(_by_learning(p, held_out, costs, features))
    cases = held_out.take(rows)
    best = _choose([ruled.take(rows) for ruled in found], rule, cases)
    cost, error = mean_over_cases(best.paid, cases)
    coverage = float(np.average(best.accepted, weights=cases.outcomes.weights))
    return Judgement(best.rule, best.band, best.rejector, cost, error, _constant_cost(cases, costs), coverage)


class _Ruled(NamedTuple):
    """A rule, and what it did with each held-out case that it was not set on."""

    rule: str
    band: Band
    paid: Floats
    accepted: Flags
    rejector: StartedPair | None = None

    def take(self, rows: Indices) -> _Ruled:
        """What it did with some of the cases."""
        return self._replace(paid=self.paid[rows], accepted=self.accepted[rows])


def _by_chow(p: Floats, held_out: UnseenCases, costs: Costs) -> _Ruled:
    band = chow_band(costs)
    return _Ruled(CHOW, band, _prices(band, p, held_out.outcomes, costs), band.evaluate(p).accepted)


def _by_tuning(p: Floats, held_out: UnseenCases, costs: Costs) -> _Ruled:
    """Thresholds tuned on all cases; a case pays between thresholds that were tuned on the others of its part."""
    outcomes = held_out.outcomes
    paid, accepted = np.zeros(len(p)), np.zeros(len(p), dtype=bool)
    for others, test in held_out.parts:
        band = _tuned(p[others], outcomes.take(others), costs)
        paid[test] = _prices(band, p[test], outcomes.take(test), costs)
        accepted[test] = band.evaluate(p[test]).accepted
    return _Ruled(TUNED, _tuned(p, outcomes, costs), paid, accepted)


def _by_learning(p: Floats, held_out: UnseenCases, costs: Costs, features: Floats) -> _Ruled:
    """A rejector boosted on top of the blend; its band is where it starts from."""
    from ..boosting.abstention.on_top import boost_on_top

    codes, weights, _ = held_out.outcomes
    found = boost_on_top(features, log_odds(p), codes, weights, costs, held_out.parts)
    return _Ruled(LEARNED, chow_band(costs), found.paid, found.accepted, found.pair)


def _choose(found: list[_Ruled], rule: str, held_out: UnseenCases) -> _Ruled:
    """The rule that is wanted; with "auto" the first, or the cheapest of those that are cheaper beyond doubt."""
    first, *others = found
    if rule == AUTO:
        others = [other for other in others if cheaper_beyond_doubt(other.paid, first.paid, held_out)]
    return min(others or [first], key=lambda ruled: float(held_out.outcomes.weights @ ruled.paid))


def cheaper_beyond_doubt(one: Floats, other: Floats, held_out: UnseenCases) -> bool:
    """Whether one rule saves more than the margin against another."""
    saved, error = mean_over_cases(other - one, held_out)
    return saved > _MARGIN * error


def mean_over_cases(values: Floats, held_out: UnseenCases) -> tuple[float, float]:
    """Weighted mean over the cases, and its standard error; cases of a group are one case."""
    share = held_out.outcomes.weights / held_out.outcomes.weights.sum()
    mean = float(share @ values)
    excess = share * (values - mean)
    if held_out.groups is not None:
        excess = np.bincount(held_out.groups, excess)
    return mean, float(np.sqrt(excess @ excess))


def _constant_cost(held_out: UnseenCases, costs: Costs) -> float:
    """What the cheapest constant answer costs."""
    codes, weights, _ = held_out.outcomes
    return min(
        float(np.average(costs.prices(codes, np.full(len(codes), answer)), weights=weights)) for answer in range(3)
    )


def log_loss_of_outcomes(p: Floats, outcomes: Outcomes) -> float:
    """Mean negative log-likelihood of cases."""
    return log_loss(p, outcomes.positive, outcomes.weights)


def chow_cost(p: Floats, outcomes: Outcomes, costs: Costs) -> float:
    """Mean price of cases under Chow's rule."""
    return float(np.average(_prices(chow_band(costs), p, outcomes, costs), weights=outcomes.weights))


def gains(members: Floats, outcomes: Outcomes, blend: Blend, combine: Combine) -> list[float]:
    """How much greater the log loss is without each member, the others blended anew.

    Of the cases that the weights are set on, before and after: what the members add to each other, and not what to
    expect of new cases.
    """

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
    return shrunk_band(sample, costs, probabilities=True, shrinkage=CHOW_CASES)


def _prices(band: Band, p: Floats, outcomes: Outcomes, costs: Costs) -> Floats:
    prices: Floats = costs.prices(outcomes.codes, band.evaluate(p).answers())
    return prices
