"""The runs of a fit taken together: their mean, its thresholds, and what is known of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Floats
from ...base import warn_not_converged
from ..shapes import AdditiveForm
from .data import START_SPAN, SettledCases
from .histogram import ScoreHistogram
from .margin_bound import BoundTerms, rademacher
from .mean import MeanScore, mean_of
from .problem import RankingProblem, RunSettings
from .runs import Outcomes, Run
from .thresholds import Thresholds, at_largest_gap, at_least_cost


class BoostedRuns(NamedTuple):
    """The runs of a fit, and what more runs would have to go on from: the seed, and sums of held-out scores."""

    seed: int
    runs: list[Run]
    held_out: Floats

    def joined_by(self, outcomes: Outcomes) -> BoostedRuns:
        """Add runs and the scores of the cases kept out of each, in place."""
        for run, out, score in outcomes:
            self.runs.append(run)
            self.held_out[:, out] += score, np.ones(len(out))
        return self


class AveragedRuns(NamedTuple):
    """The mean of the runs, and what is known of it.

    `range` is that of the score on the training cases, 1 where it is the same for all, and then `constant`; `objective`
    is the loss with margin; `form` is the class score h; `bound` is None where no theorem holds.
    """

    mean: MeanScore
    constant: bool
    range: float
    objective: float
    thresholds: Thresholds
    form: AdditiveForm
    bound: BoundTerms | None

    def warn_if_constant(self, metric: Any, margin: float) -> None:
        """Warn of a score that is the same for every case."""
        if self.constant:
            warn_not_converged(
                f"No stump improves metric={metric!r} at margin={margin!r} on these cases: every case gets the same "
                "score",
                "Lower margin, or look for features that tell the classes apart.",
            )


def average(given: SettledCases, settings: RunSettings, boosted: BoostedRuns, metric: Any) -> AveragedRuns:
    """The mean of the runs, its thresholds and what is known of it."""
    problem = given.problem
    mean = mean_of(boosted.runs, problem)
    score = mean.of_training_cases(problem)
    score_range = float(np.ptp(score)) or 1.0
    histogram = ScoreHistogram.of(score, problem.positive, problem.weight, settings.margin * score_range)
    objective = problem.objective.loss(histogram, problem.terms)
    thresholds = _choose_thresholds(problem, score, boosted.held_out if settings.hold_out else None)
    thresholds = thresholds.within(mean.reach(0.0 if given.span is None else START_SPAN))
    form = _additive_form(mean, given.sign, thresholds.middle)
    bound = _bound_terms(given, settings, boosted, metric, objective, score_range)
    return AveragedRuns(mean, bool(np.ptp(score) == 0.0), score_range, objective, thresholds, form, bound)


def _choose_thresholds(problem: RankingProblem, score: Floats, held_out: Floats | None) -> Thresholds:
    """By the cost on held-out cases where prices are given, else at the largest gap in training."""
    if held_out is None:
        return at_largest_gap(ScoreHistogram.of(score, problem.positive, problem.weight))
    seen = held_out[1] > 0
    histogram = ScoreHistogram.of(held_out[0, seen] / held_out[1, seen], problem.positive[seen], problem.weight[seen])
    return at_least_cost(histogram, problem.terms.costs, problem.objective.rejects)


def _additive_form(mean: MeanScore, sign: float, threshold: float) -> AdditiveForm:
    """The class score h: the score less the threshold, with its sign changed where the positive class comes first."""
    shapes = [replace(shape, h=sign * shape.h, missing=(sign * shape.missing[0], 0.0)) for shape in mean.shapes]
    return AdditiveForm(sign * (mean.intercept - threshold), 0.0, shapes)


def _bound_terms(
    given: SettledCases, settings: RunSettings, boosted: BoostedRuns, metric: Any, objective: float, score_range: float
) -> BoundTerms | None:
    """What `generalization_bound` has to remember of the training cases; None where it does not hold."""
    problem = given.problem
    theorem, equal = problem.objective.theorem, bool(np.ptp(problem.weight) == 0.0)
    if theorem is None or settings.margin == 0.0 or not equal or given.span is not None:
        return None
    if problem.bins.levels:  # their order is chosen by the cases
        return None
    n_pos, n = problem.n_pos, problem.n_cases
    sizes, rows = (n - n_pos, n_pos), (np.arange(n_pos, n), np.arange(n_pos))
    random = np.random.default_rng(boosted.seed)
    negatives, positives = (
        rademacher(problem.bins, part, size, random)
        for part, size in zip(rows, theorem.complexity_sizes(sizes), strict=True)
    )
    # Weight of the stumps, each half its shift: divided by it the score is a convex combination of them.
    total = np.mean([np.abs(run.stumps[:, 2]).sum() * run.scale / 2 for run in boosted.runs])
    theta = settings.margin * score_range / float(total) if total > 0 else 1.0
    return BoundTerms(metric, objective, theta, (negatives, positives), sizes)
