"""Candidates: what was boosted with the best option, as a fitted pair that held-out cases have judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Floats, Indices
from ...solution import Solution
from ..shapes import AdditiveForm, additive_form
from .bags import BaggedFit, boost_bags
from .data import TrainingSet
from .engine.problem import Problem
from .engine.rounds import boost
from .engine.settings import Settings
from .engine.state import Ensemble
from .engine.stumps import Stump, describe
from .engine.trees import boost_trees
from .options import Options
from .pairs import ChowPair, Form, LearnedPair, Pair
from .selection import ScoreLoss, best_option, judge
from .stages import StageRecorder, Stages


@dataclass(frozen=True, eq=False)
class OptionChoice:
    """How the option was chosen, so that it can be chosen again on fewer cases.

    Attributes
    ----------
    settings : Settings
        Settings before the choice.
    options : Options
        What was left to choose.
    loss : callable
        What the choice minimised.
    """

    settings: Settings
    options: Options
    loss: ScoreLoss

    def fitted(self, fold: int, rows: Indices, problem: Problem, n_threads: int) -> Ensemble:
        """The option of least loss on some held-out cases, fitted to the training cases of a fold."""
        assert self.options.scores is not None
        option = best_option(self.options.scores, self.loss, rows)
        if self.options.models:
            return self.options.models[fold][option]
        settings = replace(self.settings, certify_every=50, n_threads=n_threads)
        return boost(problem, self.options.settle(option, problem, settings)).model


@dataclass(frozen=True, eq=False)
class Boosted:
    """The best option fitted on all cases.

    Attributes
    ----------
    solution : Solution
        What the boosting loop handed back.
    problem : Problem
        What it solved.
    form : AdditiveForm or TreeForm
        The scores as functions of the features.
    stumps : list of Stump
        The stumps with cut values; empty for trees.
    beta : float
        Penalty used.
    threshold : float
        Threshold of r that held-out cases call for.
    judged : ndarray of shape (2, m), optional
        Scores of each case by models that have not seen it, with penalty, rounds and threshold chosen on the other
        parts, so that what it costs can be compared with what another rule costs.
    choice : OptionChoice, optional
        How penalty and rounds were chosen; pair terms choose them again on every fold.
    stages : Stages, optional
        How the weights changed from round to round; None for trees, which hold their stages themselves.
    bags : sequence of BaggedFit
        The models that were averaged; empty for a single fit to all cases.
    """

    solution: Solution
    problem: Problem
    form: Form
    stumps: list[Stump]
    beta: float
    threshold: float
    judged: Floats | None
    choice: OptionChoice | None = None
    stages: Stages | None = None
    bags: Sequence[BaggedFit] = ()

    def learned_pair(self, log_odds: float) -> LearnedPair:
        """Return the two scores as a pair."""
        surrogate = self.problem.surrogate
        # Reject prices that differ by case leave no boundary to compute, and equal ones the same k for all.
        surrogate = replace(surrogate, k=float(np.max(surrogate.k)))
        monotone = bool(self.problem.bins.monotonic.any())
        return LearnedPair(self.form, surrogate, self.threshold, log_odds, fixed_boundary=monotone)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A fitted pair, how it was found, and the scores (h, r) of cases it had not seen."""

    name: str
    pair: Pair
    boosted: Boosted
    judged: Floats | None

    def held_out_cost(self, training: TrainingSet) -> Floats | None:
        """Price of each held-out case."""
        return None if self.judged is None else training.held_out_prices(self.judged)

    @property
    def separates(self) -> bool:
        """Whether larger weights alone would bring the loss of stumps to 0: every case is right, and accepted."""
        if not isinstance(self.pair.form, AdditiveForm):
            return False
        problem = self.boosted.problem
        h, r = self.boosted.solution.model.scores(problem)
        accepted = isinstance(self.pair, ChowPair) or bool((r > 0).all())
        return accepted and bool((problem.y * h > r).all())

    def measured_by(self, loss: Callable[[Problem, Floats, Floats], float]) -> float:
        """A loss of the scores of the training cases, with the threshold taken off r."""
        problem = self.boosted.problem
        h, r = self.boosted.solution.model.scores(problem)
        return loss(problem, h, r - self.pair.threshold)


def fit_best_option(
    training: TrainingSet, problem: Problem, settings: Settings, options: Options, loss: ScoreLoss
) -> Boosted:
    """Fit all cases with the option of least held-out loss."""
    judged, threshold, choice, given, best = None, 0.0, OptionChoice(settings, options, loss), settings, 0
    if options.scores is not None:
        best = best_option(options.scores, loss, training.tested)
        judged, threshold = judge(options.scores, loss, training, with_threshold=settings.tune_threshold)
        settings = options.settle(best, problem, settings)
    if settings.max_depth > 1:
        solution = boost_trees(problem, settings)
        return Boosted(solution, problem, solution.model, [], settings.beta, threshold, judged, choice)
    bags: list[BaggedFit] = []
    if training.bags:
        bags, solution, stages = boost_bags(problem, training.bags, lambda part: options.settle(best, part, given))
    else:
        recorder = StageRecorder()
        solution = boost(problem, settings, recorder)
        stages = recorder.stages(solution.model, problem.bins, settings.gamma)
    model, bins = solution.model, problem.bins
    form = additive_form(model.h0, model.r0, model.tables(bins), bins, training.weight)
    stumps = [describe(stump, bins, settings.gamma) for stump in model.stumps]
    return Boosted(solution, problem, form, stumps, settings.beta, threshold, judged, choice, stages, bags)
