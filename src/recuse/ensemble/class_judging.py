"""Which rule answers with three or more classes, and what it costs on held-out cases."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from ..arrays import Flags, Floats
from ..costs import Costs
from ..thresholds.class_rules import ClassRegion, ClassSample, least_cost_region, tuned_region
from .bagging import calibration_of
from .blending import Blend
from .cases import Outcomes
from .class_blending import log_loss_of_classes
from .held_out import Combine, UnseenCases
from .judging import AUTO, CHOW, CHOW_CASES, TUNED, cheaper_beyond_doubt, mean_over_cases


class ClassJudgement(NamedTuple):
    """The rule, and what it costs on held-out cases.

    Attributes
    ----------
    rule : str
        "chow" or "tuned".
    region : LowestProbability or LeastCost
        What is answered.
    cost, error : float
        Mean price, in units of the cheapest error, and its standard error.
    constant : float
        What the cheapest of the constant answers costs: one of the classes, or a rejection, for every case.
    coverage : float
        Share of the cases that are answered.
    """

    rule: str
    region: ClassRegion
    cost: float
    error: float
    constant: float
    coverage: float


class ClassProbabilities(NamedTuple):
    """Log-probabilities of the cases in `UnseenCases.judged`: by the blend, and by each member, set on others."""

    blend: Floats
    members: Floats


def judge_class_blend(held_out: UnseenCases, combine: Combine) -> ClassProbabilities:
    """Log-probabilities of each judged case, with temperatures and weights set on the others of its part."""
    n, n_members, n_classes = held_out.scores.shape
    blend, members = np.empty((n, n_classes)), np.empty(held_out.scores.shape)
    for others, test in held_out.parts:
        outcomes = held_out.outcomes.take(others)
        found = np.empty(held_out.scores.shape)
        for m in range(n_members):
            scores = held_out.scores[:, m]
            found[:, m] = calibration_of(scores[others], outcomes).slope * scores
        members[test] = found[test]
        blend[test] = combine(found[others], outcomes).log_odds(found[test])
    rows = held_out.judged
    return ClassProbabilities(blend[rows], members[rows])


def judge_classes(log_p: Floats, cases: UnseenCases, costs: Costs, rule: str) -> ClassJudgement:
    """Chow's rule, or tuned thresholds where they are wanted, or cheaper beyond doubt on cases they were not set on.

    Parameters
    ----------
    log_p : ndarray of shape (n, n_classes)
        Log-probabilities of held-out cases.
    cases : UnseenCases
        What they turned out to be, and by which others a threshold for them may be set.
    costs : Costs
        Prices.
    rule : str
        "auto", "chow" or "tuned".
    """
    p, outcomes = softmax(log_p, axis=1), cases.outcomes
    rows = cases.judged
    if len(rows) == 0:
        if rule == TUNED:
            raise ValueError(
                "rule='tuned' is set on some held-out parts and judged on others, over time on later ones: use three "
                "folds or more."
            )
        rows, rule = np.arange(len(p)), CHOW
    chow = least_cost_region(costs, outcomes.n_classes)
    paid, accepted = _answered(chow, p, outcomes, costs)
    judged = cases.take(rows)
    chosen, region = CHOW, chow
    if rule in (AUTO, TUNED):
        tuned_paid, tuned_accepted = np.zeros(len(p)), np.zeros(len(p), dtype=bool)
        for others, test in cases.parts:
            found = _tuned(chow, p[others], outcomes.take(others), costs)
            tuned_paid[test], tuned_accepted[test] = _answered(found, p[test], outcomes.take(test), costs)
        if rule == TUNED or cheaper_beyond_doubt(tuned_paid[rows], paid[rows], judged):
            chosen, region = TUNED, _tuned(chow, p, outcomes, costs)
            paid, accepted = tuned_paid, tuned_accepted
    cost, error = mean_over_cases(paid[rows], judged)
    coverage = float(np.average(accepted[rows], weights=judged.outcomes.weights))
    return ClassJudgement(chosen, region, cost, error, _constant_cost(judged.outcomes, costs), coverage)


def chow_cost_of_classes(log_p: Floats, outcomes: Outcomes, costs: Costs) -> float:
    """Mean price of cases under Chow's rule."""
    region = least_cost_region(costs, outcomes.n_classes)
    paid, _ = _answered(region, softmax(log_p, axis=1), outcomes, costs)
    return float(np.average(paid, weights=outcomes.weights))


def class_gains(members: Floats, outcomes: Outcomes, blend: Blend, combine: Combine) -> list[float]:
    """How much greater the log loss is without each member, the others blended anew; see `judging.gains`."""
    with_all = log_loss_of_classes(blend.log_odds(members), outcomes)

    def loss_without(m: int) -> float:
        others = np.delete(members, m, axis=1)
        if others.shape[1] == 0:
            shares = np.bincount(outcomes.codes, outcomes.weights, minlength=outcomes.n_classes)
            return log_loss_of_classes(np.tile(np.log(shares / shares.sum()), (len(members), 1)), outcomes)
        return log_loss_of_classes(combine(others, outcomes).log_odds(others), outcomes)

    return [loss_without(m) - with_all if weight > 0 else 0.0 for m, weight in enumerate(blend.weights.tolist())]


def _answered(region: ClassRegion, p: Floats, outcomes: Outcomes, costs: Costs) -> tuple[Floats, Flags]:
    evaluation = region.evaluate(p)
    return costs.prices(outcomes.codes, evaluation.answers(), outcomes.n_classes), evaluation.accepted


def _tuned(region: ClassRegion, p: Floats, outcomes: Outcomes, costs: Costs) -> ClassRegion:
    return tuned_region(region, ClassSample(p, outcomes.codes, outcomes.weights), costs, CHOW_CASES)


def _constant_cost(outcomes: Outcomes, costs: Costs) -> float:
    n, codes = outcomes.n_classes, outcomes.codes
    answers = (np.full(len(codes), answer) for answer in range(n + 1))
    return min(float(np.average(costs.prices(codes, given, n), weights=outcomes.weights)) for given in answers)
