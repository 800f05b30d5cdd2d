"""What reviewers' hours are worth to the method chosen: a sentence beside the verdict."""

from __future__ import annotations

from ..arrays import Indices
from ..class_costs import ClassCosts
from ..costs import Costs
from ..report import Volume
from ..report.inputs import ReportedAnswers
from ..staffing import PricedCases, plan_capacity


def hours_sentence(answers: ReportedAnswers, truth: Indices, costs: Costs, volume: Volume, seed: int) -> str:
    """How many hours all reviews take, and what one more hour saves where there are fewer.

    Parameters
    ----------
    answers : ReportedAnswers
        Out-of-fold answers of the method; those of the first repetition count.
    truth : ndarray of int
        The class of each case; of two, 1 is the positive one.
    costs : Costs
        The prices.
    volume : Volume
        Cases in a period and minutes per case.
    seed : int
        Of the replays.
    """
    kinds, r, forced = answers.kind[0], answers.r[0], answers.forced[0]
    if isinstance(costs, ClassCosts):
        cases = PricedCases.of_classes(kinds, r, forced, truth, costs)
    else:
        cases = PricedCases.of(kinds, r, forced, truth.astype(float), costs)
    return plan_capacity(cases, volume, days=1, seed=seed).sentence()
