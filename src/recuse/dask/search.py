"""The search on a cluster: penalties, rounds, thresholds and families chosen on held-out rows, as on one machine.

The stages are those of `recuse.boosting.abstention` (`options`, `selection`, `stacking`, `search`), where held-out
scores are arrays. Here an option is the list of its models, one per fold, and what is chosen depends on sums that the
workers make of them: prices and losses by part, counts for the quantiles that thresholds are tried at, moments of the
difference between two candidates.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Floats
from ..boosting.abstention.candidates import Boosted
from ..boosting.abstention.chow import CHOW_FAMILY, score_surrogate
from ..boosting.abstention.early_stopping import round_grid
from ..boosting.abstention.engine.losses import LOSSES
from ..boosting.abstention.engine.rounds import boost
from ..boosting.abstention.engine.settings import PAPER, Settings
from ..boosting.abstention.engine.stumps import SCORE, describe
from ..boosting.abstention.engine.surrogates import Surrogate, make_surrogate
from ..boosting.abstention.options import BETA_PATH, NoChoice, Options, Penalties, RoundNumbers, penalised_models
from ..boosting.abstention.pairs import ChowPair, StartedPair
from ..boosting.abstention.search import log_candidate
from ..boosting.abstention.selection import SURE, TRIED_THRESHOLDS
from ..boosting.abstention.stages import StageRecorder, Stages
from ..boosting.binning import Bins
from ..boosting.shapes import additive_form
from ..solution import Solution
from .boosting import ClusterProblem, cluster_problem
from .candidates import ClusterCandidate, PartChoices
from .coded import CodedPartition
from .folding import FoldRule
from .partitions import Partitions
from .quantiles import quantiles
from .recording import models_at_rounds
from .scoring import ScoreRule, Start, Tables


@dataclass(frozen=True, eq=False)
class ClusterTraining:
    """Training rows with the workers, and what was settled about them.

    Attributes
    ----------
    partitions : Partitions
        Of `CodedPartition`.
    bins : Bins
        The layout of the features, without rows.
    c : float
        Reject price of the reduced problem.
    log_odds : float
        Log-odds of the reduced problem above which the positive class is the cheaper answer.
    folds : FoldRule or None
        Which rows are held out; None where nothing is chosen.
    """

    partitions: Partitions
    bins: Bins
    c: float
    log_odds: float
    folds: FoldRule | None

    def problem(self, surrogate: Surrogate, out: tuple[int, ...] = (), start: Start | None = None) -> ClusterProblem:
        """The problem of the rows outside some folds."""
        facts = self.facts(out)
        if not 0 < facts[1] < facts[0]:
            raise ValueError(
                "Holding out rows leaves rows of one class only to train on. Use fewer folds (cv), other groups, or "
                "give beta, family and threshold explicitly."
            )
        return cluster_problem(self.partitions, self.bins, surrogate, out, facts, start)

    def facts(self, out: tuple[int, ...] = ()) -> Floats:
        """Numbers, weights and missing values of the rows outside some folds; asked once."""
        out = tuple(sorted(out))
        if out not in self._facts:
            self._facts[out] = self.partitions.ask(CodedPartition.facts, out)
        return self._facts[out]

    @cached_property
    def _facts(self) -> dict[tuple[int, ...], Floats]:
        return {}

    @cached_property
    def part_weights(self) -> Floats:
        """Weight of the rows that are judged together."""
        return np.asarray(self.partitions.ask(CodedPartition.part_weights))

    @cached_property
    def cell_shares(self) -> Floats:
        """Share of the sample weight of all rows in every cell of every feature."""
        weights = np.asarray(self.partitions.ask(CodedPartition.cell_weights))
        return np.asarray(weights / weights[: self.bins.offsets[1]].sum())  # the cells of one feature hold every row

    @property
    def is_monotone(self) -> bool:
        """Whether h is to be monotone along some feature."""
        return bool(self.bins.monotonic.any())

    @property
    def rule(self) -> FoldRule:
        """Which rows are held out."""
        assert self.folds is not None
        return self.folds


class ClusterSearch:
    """Training rows with the workers, and the settings to boost them with."""

    def __init__(self, training: ClusterTraining, settings: Settings) -> None:
        self.training, self.settings = training, settings

    # Candidates.

    def candidates(self, family: str, stack: str | None) -> list[ClusterCandidate]:
        """Fit every candidate of a family, the one to prefer first."""
        found = []
        for candidate in self._each_candidate(family, stack):
            found.append(candidate)
            log_candidate(candidate)
        return found

    def _each_candidate(self, family: str, stack: str | None) -> Iterator[ClusterCandidate]:
        if family in (CHOW_FAMILY, "auto"):
            yield self.with_chows_rule()
        if family != CHOW_FAMILY:
            yield self.fit_pair("decoupled" if family == "auto" else family, stack)
        # Of two folds nothing is left for a score that knows neither.
        settings, auto = self.settings, family == "auto" and stack is None
        if auto and not settings.exponents and settings.step != PAPER and self.training.rule.n_folds > 2:
            yield self.fit_pair("decoupled", "start")

    def choose(self, candidates: Sequence[ClusterCandidate]) -> ClusterCandidate:
        """The candidate of least held-out cost; to replace the first it must be clearly cheaper."""
        first, *others = candidates
        best, least = first, 0.0
        for other in others:
            if first.judgement is None or other.judgement is None:
                continue
            sums = self._ask(CodedPartition.differences, other.judgement.choices, first.judgement.choices)
            weight, difference, squared, once, twice = sums.tolist()
            mean = difference / weight
            error = np.sqrt(max(0.0, twice - 2 * mean * once + mean**2 * squared)) / weight
            if mean < least and mean < -SURE * error:
                best, least = other, mean
        return best

    @cached_property
    def score(self) -> _Boostable:
        """The score h alone."""
        return _Boostable(self, score_surrogate(self.settings.loss), self.settings.of_score())

    def with_chows_rule(self) -> ClusterCandidate:
        """The score of least loss on held-out rows, with Chow's rule as its rejector."""
        training, loss = self.training, self.settings.loss
        level = LOSSES[loss].chow_level(training.c)
        boosted, judgement = self.score.fit_best(self._score_losses)
        if judgement is not None:
            judgement = PartChoices([(rule.with_level(level), tau) for rule, tau in judgement.choices])
        pair = ChowPair.at_price(boosted.form, loss, training.c, training.log_odds)
        rule = self._whole_rule(boosted, None).with_level(level)
        return self._candidate(CHOW_FAMILY, pair, boosted, judgement, rule)

    def fit_pair(self, family: str, stack: str | None) -> ClusterCandidate:
        """Boost a pair of a family of stumps; with `stack` added to what Chow's rule makes of the score h alone."""
        training, settings = self.training, replace(self.settings, family=family)
        surrogate = make_surrogate(settings.loss, settings.b, settings.exponents, training.c)
        stacked = None if stack is None else _Stacked(self, surrogate)
        boosted, judgement = _Boostable(self, surrogate, settings, stacked).fit_best(self._costs)
        learned = boosted.learned_pair(training.log_odds)
        if stacked is None:
            return self._candidate(family, learned, boosted, judgement, self._whole_rule(boosted, None))
        pair = StartedPair(stacked.form, learned, training.c)
        whole = Start(self._everywhere(stacked.tables), surrogate, training.c)
        return self._candidate(f"{family}+{stack}", pair, boosted, judgement, self._whole_rule(boosted, whole))

    def _candidate(
        self, name: str, pair: Any, boosted: Boosted, judgement: PartChoices | None, rule: ScoreRule
    ) -> ClusterCandidate:
        """A candidate with what all rows say of it."""
        total, threshold = float(self.training.facts()[2]), pair.threshold
        sums = self._ask(CodedPartition.outcome, rule, threshold, boosted.problem.surrogate, total)
        accepted, unsure, worst = sums.tolist()
        mean = None if judgement is None else self._mean_cost(judgement)
        return ClusterCandidate(name, pair, boosted, None, judgement, mean, int(accepted), int(unsure), worst)

    def _mean_cost(self, judgement: PartChoices) -> float:
        paid = sum(
            float(self._ask(CodedPartition.costs_at, rule, [part], np.array([tau]))[0])
            for part, (rule, tau) in enumerate(judgement.choices)
        )
        return paid / float(self.training.part_weights.sum())

    def _whole_rule(self, boosted: Boosted, start: Start | None) -> ScoreRule:
        """The finished model, for the rows of every fold."""
        tables = Tables.of(boosted.solution.model, self.training.bins)
        surrogate, training = boosted.problem.surrogate, self.training
        return ScoreRule(self._everywhere(tables), start, surrogate, training.log_odds, training.is_monotone)

    def _everywhere(self, tables: Tables) -> dict[int, Tables]:
        n_folds = 1 if self.training.folds is None else self.training.folds.n_folds
        return dict.fromkeys(range(n_folds), tables)

    def _costs(self, rules: Sequence[ScoreRule]) -> Floats:
        """Weighted prices by rule and part."""
        return np.asarray(self._ask(CodedPartition.costs, list(rules)))

    def _score_losses(self, rules: Sequence[ScoreRule]) -> Floats:
        """What is boosted where h is alone, by rule and part."""
        return np.asarray(self._ask(CodedPartition.losses, list(rules), self.settings.loss))

    def _ask(self, function: Any, *args: Any) -> Any:
        return self.training.partitions.ask(function, *args)


class _Stacked:
    """The score h alone, as what a pair starts from: held-out values for the rows it is boosted on."""

    def __init__(self, search: ClusterSearch, surrogate: Surrogate) -> None:
        self._search, self._surrogate, self._score = search, surrogate, search.score
        self._losses = search._score_losses(self._score.rules)
        self._best = int(np.argmin(self._losses.sum(axis=1)))
        boosted, _ = self._score.fit_best(lambda rules: self._losses)
        self.form, self.tables = boosted.form, Tables.of(boosted.solution.model, search.training.bins)

    def whole(self) -> Start:
        """Each row's score by the model of the fold that holds it out."""
        return self._start(self._held_out((), self._best))

    def inside(self, fold: int) -> Start:
        """Scores as the training rows of a fold have them: by models that have seen neither them nor the fold."""
        rule = self._search.training.rule
        others = [part for part in range(rule.n_parts) if rule.single or part != fold]
        if rule.single:  # the parts are halves of the one fold, which leaves no others
            others = list(range(rule.n_parts))
        option = int(np.argmin(self._losses[:, others].sum(axis=1)))
        models = self._held_out((fold,), option)
        models[fold] = self._score.rules[option].models[fold]
        return self._start(models)

    def _held_out(self, out: tuple[int, ...], option: int) -> dict[int, Tables]:
        """For every fold but those left out, the model of an option fitted without it."""
        known = self._score.rules[option].models
        folds = [fold for fold in range(self._search.training.rule.n_folds) if fold not in out]
        return {k: known[k] if not out and k in known else self._score.held_out((*out, k), option) for k in folds}

    def _start(self, models: dict[int, Tables]) -> Start:
        return Start(models, self._surrogate, self._search.training.c)


class _Boostable:
    """What can be boosted on all rows or without some folds: the score alone, or a pair; with its options."""

    def __init__(
        self, search: ClusterSearch, surrogate: Surrogate, settings: Settings, stacked: _Stacked | None = None
    ) -> None:
        self._search, self._training = search, search.training
        self._surrogate, self.settings, self._stacked = surrogate, settings, stacked
        self.rules: list[ScoreRule] = []
        self._options: Options = NoChoice(None)
        self._solved: dict[Settings, tuple[Solution, Stages | None]] = {}
        if self._training.folds is not None:
            self._search_options()

    def _problem(self, out: tuple[int, ...], start: Start | None) -> ClusterProblem:
        return self._training.problem(self._surrogate, out, start)

    # Options: every penalty, or number of rounds, on every fold.

    def _search_options(self) -> None:
        starts = {fold: None if self._stacked is None else self._stacked.inside(fold) for fold in self._held_out_folds}
        found = {fold: self._models_without((fold,), starts[fold], fold) for fold in self._held_out_folds}
        log_odds, surrogate = self._training.log_odds, self._surrogate
        for i in range(min(len(models) for models in found.values())):
            models = {fold: found[fold][i] for fold in found}
            # Each fold's rows start from the scores of that fold.
            start = None
            if self._stacked is not None:
                start = Start({f: s.models[f] for f, s in starts.items() if s}, surrogate, self._training.c)
            boundary = 0.0 if self.settings.family == SCORE else log_odds
            self.rules.append(ScoreRule(models, start, surrogate, boundary, self._training.is_monotone))
        if self.settings.tune_rounds:
            self._options = RoundNumbers(None, self._rounds)
        elif self.settings.tune_beta:
            self._options = Penalties(None, BETA_PATH)

    @property
    def _held_out_folds(self) -> list[int]:
        return self._training.rule.held_out

    @property
    def _rounds(self) -> list[int]:
        grid = round_grid(self.settings.n_rounds)
        return grid[grid >= self.settings.first_comparable_round].tolist()

    def _models_without(self, out: tuple[int, ...], start: Start | None, held_out: int) -> list[Tables]:
        """The models of every option, fitted without some folds."""
        problem, quick = self._problem(out, start), replace(self.settings, certify_every=50)
        if self.settings.tune_rounds:
            return self._models_by_round(problem, quick, held_out, start)
        shares = BETA_PATH if self.settings.tune_beta else None
        return [self._tables(model) for model in penalised_models(problem, quick, shares)]

    def held_out(self, out: tuple[int, ...], option: int) -> Tables:
        """The model of one option, fitted without some folds, of which the last is scored."""
        problem, quick = self._problem(out, None), replace(self.settings, certify_every=50)
        if self.settings.tune_rounds:
            settled = self._options.settle(option, problem, quick)
            return models_at_rounds(problem, settled, [settled.n_rounds], out[-1], None, self._tables)[-1]
        shares = None
        if isinstance(self._options, Penalties):
            shares = self._options.shares_up_to(option, quick)
        return self._tables(penalised_models(problem, quick, shares)[0])

    def _models_by_round(
        self, problem: ClusterProblem, settings: Settings, held_out: int, start: Start | None
    ) -> list[Tables]:
        return models_at_rounds(problem, settings, self._rounds, held_out, start, self._tables)

    def _tables(self, model: Any) -> Tables:
        return Tables.of(model, self._training.bins)

    # The best of them, on all rows.

    def fit_best(self, measure: Callable[[Sequence[ScoreRule]], Floats]) -> tuple[Boosted, PartChoices | None]:
        """Fit all rows with the option of least held-out loss, which `measure` gives by option and part."""
        start = None if self._stacked is None else self._stacked.whole()
        problem, settings = self._problem((), start), self.settings
        judgement, threshold = None, 0.0
        if self.rules:
            losses = measure(self.rules)
            best = int(np.argmin(losses.sum(axis=1)))
            judgement = self._judge(losses)
            if settings.tune_threshold:
                judgement, threshold = self._tune_threshold(judgement, best)
            settings = self._options.settle(best, problem, settings)
        solution, stages = self._solve(problem, settings)
        model, bins = solution.model, problem.bins
        shares = self._training.cell_shares
        form = additive_form(model.h0, model.r0, model.tables(bins), bins, shares=shares)
        stumps = [describe(stump, bins, settings.gamma) for stump in model.stumps]
        return Boosted(solution, problem, form, stumps, settings.beta, threshold, None, stages=stages), judgement

    def _solve(self, problem: ClusterProblem, settings: Settings) -> tuple[Solution, Stages | None]:
        """Boost all rows; once for the same settings, since the same option may serve two purposes."""
        if settings not in self._solved:
            recorder = StageRecorder()
            solution = boost(problem, settings, recorder)
            self._solved[settings] = solution, recorder.stages(solution.model, problem.bins, settings.gamma)
        return self._solved[settings]

    def _judge(self, losses: Floats) -> PartChoices:
        """For each part the option that the others choose."""
        chosen = [int(np.argmin(losses[:, self._others(part)].sum(axis=1))) for part in range(losses.shape[1])]
        return PartChoices([(self.rules[option], 0.0) for option in chosen])

    def _others(self, part: int) -> list[int]:
        """The parts that choose for one."""
        n = self._training.rule.n_parts
        return [other for other in range(n) if other != part] or [part]

    def _tune_threshold(self, judgement: PartChoices, best: int) -> tuple[PartChoices, float]:
        """A threshold set on held-out rows, if it pays on rows it was not set on, else 0."""
        parts = range(self._training.rule.n_parts)
        moved = PartChoices(
            [(rule, self._best_threshold(rule, self._others(part))) for part, (rule, _) in enumerate(judgement.choices)]
        )
        if self._search._mean_cost(moved) >= self._search._mean_cost(judgement):
            return judgement, 0.0
        return moved, self._best_threshold(self.rules[best], list(parts))

    def _best_threshold(self, rule: ScoreRule, parts: list[int]) -> float:
        """Threshold of r of least price on the rows of some parts; 0 unless another is better."""
        key, ask = uuid.uuid4().hex, self._training.partitions.ask

        def count_up_to(probes: Floats) -> Floats:
            return np.asarray(ask(CodedPartition.count_up_to, key, rule, parts, probes))

        n = int(count_up_to(np.array([np.inf]))[0])
        if n == 0:
            return 0.0
        found = quantiles(count_up_to, n, np.linspace(0.0, 1.0, TRIED_THRESHOLDS))
        tried = np.concatenate([[0.0], np.unique(found), [found.min() - 1.0]])
        return float(tried[int(np.argmin(ask(CodedPartition.costs_at, rule, parts, tried)))])
