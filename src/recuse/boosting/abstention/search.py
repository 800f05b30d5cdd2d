"""The search: what the parameter `family` asks for, every candidate boosted with its options and fitted."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..binning import MAX_UINT8_BINS, Bins, bin_features
from ..categories import in_cells, ordered
from .candidates import Candidate, fit_best_option
from .chow import CHOW_FAMILY, BoostedScore
from .data import TrainingSet
from .engine.problem import Parts, Problem
from .engine.settings import PAPER, Settings
from .engine.surrogates import Surrogate, forced_boundary, make_surrogate
from .interactions.fitting import add_interactions
from .interactions.wanted import AUTO
from .options import Options, search_options
from .pairs import LearnedPair
from .selection import first_folds, judge
from .stacking import STACKS, StackedScore, stack_score

_log = logging.getLogger("recuse")
INTERACTING = "+interactions"  # behind the name of a family: with pair terms


class Searched:
    """Training cases in bins, and the settings to boost them with; what candidates share is computed once."""

    def __init__(self, training: TrainingSet, settings: Settings) -> None:
        self.training, self.settings = training, settings

    @cached_property
    def bins(self) -> Bins:
        """The features in bins."""
        # Trees take bins only: every distinct value of every feature would be a histogram of its own in each node.
        settings, training = self.settings, self.training
        max_bins = settings.max_bins if settings.max_depth == 1 else settings.max_bins or MAX_UINT8_BINS
        X, levels = in_cells(training.X, training.order, training.categories)
        bins = bin_features(X, training.order, max_bins, training.weight, levels)
        if training.monotonic is not None:
            bins = replace(bins, monotonic=training.monotonic)
        return ordered(bins, training.n_pos, training.s)

    @cached_property
    def score(self) -> BoostedScore:
        """The score h alone."""
        return BoostedScore(self.training, self.bins, self.settings)

    @cached_property
    def stacked_score(self) -> StackedScore:
        """The score to be stacked."""
        return stack_score(self.score)

    def fit_pair(self, family: str, stack: str | None) -> Candidate:
        """Boost a pair of a family of stumps; with `stack` the score h alone joins as a feature or as the start."""
        pair = self._try_pair(family, stack, whatever_it_costs=True)
        assert pair is not None
        return pair

    def fit_rival(self, family: str, stack: str | None) -> Iterator[Candidate]:
        """The same, unless the first folds hold out no hope that the pair is cheaper than the score by Chow's rule."""
        pair = self._try_pair(family, stack, whatever_it_costs=False)
        if pair is not None:
            yield pair
        else:
            _log.info("AbstentionBoosting: %s given up, not cheaper on the first folds", name_of(family, stack))

    def _try_pair(self, family: str, stack: str | None, *, whatever_it_costs: bool) -> Candidate | None:
        training, settings = self.training, replace(self.settings, family=family)
        surrogate = make_surrogate(settings.loss, settings.b, settings.exponents, training.c)
        problem = Problem(self.bins, training.n_pos, training.s, surrogate)
        stacking = None if stack is None else STACKS[stack](problem, self.stacked_score)

        def searched(folds: Parts) -> Options:
            options = search_options(stacking or problem, settings, folds)
            return with_boundary(options, surrogate, training.log_odds, fixed=training.is_monotone)

        first = training.folds if whatever_it_costs else first_folds(training.folds)
        options = searched(first)
        if len(first) < len(training.folds):
            if not self._may_pay(options, settings, first):
                return None
            options = options.joined(searched(training.folds[len(first) :]))
        if stacking is None:
            boosted = fit_best_option(training, problem, settings, options, training.price)
            return Candidate(family, boosted.learned_pair(training.log_odds), boosted, boosted.judged)
        boosted = fit_best_option(training, stacking.whole(), settings, options, training.price)
        return Candidate(name_of(family, stack), stacking.pair(boosted), boosted, boosted.judged)

    def _may_pay(self, options: Options, settings: Settings, folds: Parts) -> bool:
        """Whether a pair is cheaper than the score by Chow's rule on the folds so far, both judged by these alone.

        In the end it has to be cheaper by a standard error, which one that is not cheaper by now hardly ever is.
        """
        assert options.scores is not None
        seen = replace(self.training, folds=folds)
        judged, _ = judge(options.scores, self.training.price, seen, with_threshold=settings.tune_threshold)
        difference = seen.held_out_prices(judged) - self.score.held_out_prices(seen)
        return float(seen.prices.weight[seen.tested] @ difference) < 0.0

    def with_interactions(self, main: Candidate) -> Iterator[Candidate]:
        """The candidate with main effects only, unless pair terms are wanted whatever they cost, and with pair terms.

        `choose` takes the second of the two only where it is clearly cheaper.
        """
        wanted, name, training = self.settings.interactions, main.name + INTERACTING, self.training
        if wanted is None or wanted == AUTO:
            yield main
        if wanted is None:
            return
        if isinstance(main.pair, LearnedPair):
            settle = replace(main.pair, threshold=0.0).settle
            boosted = add_interactions(training, main.boosted, wanted, settle)
            yield Candidate(name, boosted.learned_pair(training.log_odds), boosted, boosted.judged)
        else:
            yield self.score.ruled(name, add_interactions(training, main.boosted, wanted, lambda h, r: (h, r)))


def name_of(family: str, stack: str | None) -> str:
    """What a pair of a family is called."""
    return family if stack is None else f"{family}+{stack}"


def with_boundary(options: Options, surrogate: Surrogate, log_odds: float, *, fixed: bool = False) -> Options:
    """The held-out scores with h = 0 where both classes cost the same; if `fixed`, as at r = 0 for every case."""
    if options.scores is None or log_odds == 0.0:
        return options
    h, r = options.scores[:, 0], options.scores[:, 1]
    boundary = forced_boundary(surrogate, log_odds, np.zeros_like(r) if fixed else r)
    return replace(options, scores=np.stack([h - boundary, r], axis=1))


def _chow(searched: Searched, stack: str | None) -> Iterator[Candidate]:
    """Boosted stumps with Chow's rule; there is no rejector that a score could be stacked for."""
    yield from searched.with_interactions(searched.score.with_chows_rule())


def _coupled(searched: Searched, stack: str | None) -> Iterator[Candidate]:
    """The paper's stumps."""
    yield from searched.with_interactions(searched.fit_pair("coupled", stack))


def _decoupled(searched: Searched, stack: str | None) -> Iterator[Candidate]:
    """Stumps that answer, and intervals that only reject or only accept."""
    yield from searched.with_interactions(searched.fit_pair("decoupled", stack))


def _auto(searched: Searched, stack: str | None) -> Iterator[Candidate]:
    """Boosted stumps with Chow's rule, and pairs that may be better."""
    yield from searched.with_interactions(searched.score.with_chows_rule())
    for pair in searched.fit_rival("decoupled", stack):
        yield from searched.with_interactions(pair)
    settings = searched.settings
    can_start = not settings.exponents and settings.step != PAPER and bool(searched.training.partition)
    if stack is None and can_start:
        yield from searched.fit_rival("decoupled", "start")


@dataclass(frozen=True)
class FamilyChoice:
    """A value of the parameter `family`.

    Attributes
    ----------
    candidates : callable
        What to choose from; the first is kept unless another is clearly better.
    learns_pair : bool
        Whether some candidate learns when to reject; stacked scores, corrective steps and tuned thresholds are for it.
    uses_chow : bool
        Whether some candidate rejects by Chow's rule, which takes one price for all cases.
    several : bool
        Whether there may be more than one candidate, to be judged on held-out cases.
    takes_gamma : bool
        Whether the stumps are the paper's, which the parameter `gamma` is for.
    """

    candidates: Callable[[Searched, str | None], Iterator[Candidate]]
    learns_pair: bool = True
    uses_chow: bool = False
    several: bool = False
    takes_gamma: bool = False


FAMILIES = {
    "auto": FamilyChoice(_auto, uses_chow=True, several=True),
    "coupled": FamilyChoice(_coupled, takes_gamma=True),
    "decoupled": FamilyChoice(_decoupled),
    CHOW_FAMILY: FamilyChoice(_chow, learns_pair=False, uses_chow=True),
}


def search(training: TrainingSet, settings: Settings, family: str, stack: str | None) -> list[Candidate]:
    """Fit every candidate of a family."""
    candidates = []
    for candidate in FAMILIES[family].candidates(Searched(training, settings), stack):
        candidates.append(candidate)
        log_candidate(candidate)
    return candidates


def log_candidate(candidate: Candidate) -> None:
    """Tell those who follow the progress of a fit."""
    n_iter, beta = candidate.boosted.solution.n_iter, candidate.boosted.beta
    _log.info("AbstentionBoosting: %s fitted, %d rounds, penalty %.3g", candidate.name, n_iter, beta)
