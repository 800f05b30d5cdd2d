"""The search for several classes: every candidate boosted with its options on folds, fitted, and compared.

Candidates: probabilities with the answer of least expected cost; scores of the classes and of a rejection learned
together; and the same added to what the probabilities call for.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ....arrays import Floats, Indices
from ....decisions import least_cost
from ....solution import Solution
from ....workers import in_threads
from ...binning import Bins
from ..selection import best_option, first_folds, judge
from .data import ClassTraining, Parts
from .forms import ClassForm, class_form
from .options import ClassOptions
from .problem import ClassProblem, log_sum, savings
from .rounds import ClassSettings, boost_classes, read_off
from .rules import ClassChow, ClassLearned, ClassRule, ClassStarted, answers_of, log_expected_savings
from .state import ClassModel, ClassState

_log = logging.getLogger("recuse")
CHOW, COUPLED, START = "chow", "coupled", "start"

# Options' scores of shape (n_options, rows, m), and some cases -> loss.
ScoreLoss = Callable[[Floats, Indices], float]
Split = Callable[[Indices, Indices], tuple[ClassProblem, ClassProblem]]


@dataclass(frozen=True, eq=False)
class ClassCandidate:
    """A fitted rule, how it was found, and the answers (class number, r) to cases it had not seen."""

    name: str
    rule: ClassRule
    solution: Solution
    beta: float
    judged: Floats | None

    def held_out_cost(self, training: ClassTraining) -> Floats | None:
        """Price of each held-out case."""
        return None if self.judged is None else training.held_out_prices(self.judged)


@dataclass(frozen=True, eq=False)
class Fitted:
    """An option fitted to all cases."""

    form: ClassForm
    solution: Solution
    beta: float


class ClassSearch:
    """Training cases in bins, and how to boost them; what candidates share is computed once."""

    def __init__(
        self,
        training: ClassTraining,
        options: ClassOptions,
        *,
        max_bins: int | None,
        tune_threshold: bool,
        n_threads: int,
    ) -> None:
        self.training, self.options, self.max_bins = training, options, max_bins
        self.tune_threshold, self.n_threads = tune_threshold, n_threads

    @cached_property
    def bins(self) -> Bins:
        """The features in bins."""
        return self.training.bins(self.max_bins)

    # Probabilities

    @cached_property
    def probability(self) -> ClassProblem:
        """The problem whose softmax is the probability of each class."""
        training = self.training
        return ClassProblem(self.bins, training.codes, training.s, np.eye(training.n_classes))

    @cached_property
    def log_probabilities(self) -> Floats | None:
        """Held-out log-probabilities of every option: shape (n_options, n_classes, m); None where none are held out."""
        if not self.training.folds:
            return None
        return _normalised(self.held_out(self.probability.split, self.training.folds, self.probability.n_cases))

    def log_loss(self, scores: Floats, rows: Indices) -> float:
        """Log loss of log-probabilities (n_classes, m) of some cases."""
        return -float(self.training.s[rows] @ scores[self.training.codes[rows], rows])

    def probability_option(self, rows: Indices) -> int:
        """The option of least log loss on some held-out cases: the best probabilities, whatever the prices."""
        if self.log_probabilities is None or not len(rows):
            return 0
        return best_option(self.log_probabilities, self.log_loss, rows)

    @cached_property
    def fitted_probability(self) -> Fitted:
        """The best option fitted to all cases."""
        return self.fit(self.probability, self.probability_option(self.training.tested))

    @cached_property
    def judged_chow(self) -> Floats | None:
        """Answers of least expected cost by held-out probabilities, the option chosen on the other parts."""
        return None if self.log_probabilities is None else self._chow_on(self.training)

    def _chow_on(self, seen: ClassTraining) -> Floats:
        assert self.log_probabilities is not None
        judged, _ = judge(self.log_probabilities, self.log_loss, seen, with_threshold=False)
        answers, rows = np.full((2, judged.shape[1]), np.nan), seen.tested
        h, r = least_cost(np.exp(judged[:, rows]).T, seen.matrix)
        answers[:, rows] = [h.argmax(axis=1), r]
        return answers

    def fit_chow(self) -> ClassCandidate:
        """Probabilities, and the answer of least expected cost."""
        fitted = self.fitted_probability
        rule = ClassChow(fitted.form, self.training.matrix)
        return ClassCandidate(CHOW, rule, fitted.solution, fitted.beta, self.judged_chow)

    # A learned rejector

    @cached_property
    def worth(self) -> Floats:
        """What each answer saves."""
        return savings(self.training.matrix)

    def fit_learned(self, *, started: bool, whatever_it_costs: bool) -> Iterator[ClassCandidate]:
        """Scores with a rejector; none where the first folds hold out no hope that it is cheaper than probabilities."""
        training, name = self.training, f"{COUPLED}+{START}" if started else COUPLED
        problem = ClassProblem(self.bins, training.codes, training.s, self.worth)
        split = self._split_from_start(problem) if started else problem.split
        first = training.folds if whatever_it_costs else first_folds(training.folds)
        answers = self._held_out_answers(split, first) if first else None
        if answers is not None and len(first) < len(training.folds):
            if not self._may_pay(answers, first):
                _log.info("AbstentionBoosting: %s given up, not cheaper on the first folds", name)
                return
            later = self._held_out_answers(split, training.folds[len(first) :])
            answers = np.where(np.isnan(later), answers, later)
        option, threshold, judged = 0, 0.0, None
        if answers is not None:
            option = best_option(answers, training.price, training.tested)
            judged, threshold = judge(answers, training.price, training, with_threshold=self.tune_threshold)
        if not started:
            fitted = self.fit(problem, option)
            yield ClassCandidate(name, ClassLearned(fitted.form, threshold), fitted.solution, fitted.beta, judged)
            return
        fitted = self.fit(replace(problem, offset=self._start(self._out_of_fold)), option)
        rule = ClassStarted(self.fitted_probability.form, fitted.form, self.worth, threshold)
        yield ClassCandidate(name, rule, fitted.solution, fitted.beta, judged)

    def _held_out_answers(self, split: Split, folds: Parts) -> Floats:
        """Answers (class number, r) of every option: shape (n_options, 2, m)."""
        return np.stack([answers_of(scores) for scores in self.held_out(split, folds, len(self.training.codes))])

    def _may_pay(self, answers: Floats, folds: Parts) -> bool:
        """Whether a rejector is cheaper than probabilities on the folds so far, both judged by these alone."""
        seen = replace(self.training, folds=folds)
        judged, _ = judge(answers, self.training.price, seen, with_threshold=self.tune_threshold)
        difference = seen.held_out_prices(judged) - seen.held_out_prices(self._chow_on(seen))
        return float(seen.weight[seen.tested] @ difference) < 0.0

    def _start(self, log_probabilities: Floats) -> Floats:
        """Scores that answer as the probabilities do: shape (m, J)."""
        return log_expected_savings(np.exp(log_probabilities).T, self.worth)

    @cached_property
    def _out_of_fold(self) -> Floats:
        """Log-probabilities (n_classes, m) of every case by a model that has not seen it."""
        training, best = self.training, self.probability_option(self.training.tested)
        if self.log_probabilities is not None and training.partition is training.folds:
            found: Floats = self.log_probabilities[best]
            return found
        return self._log_probabilities_of(self.probability, training.partition, best)

    def _log_probabilities_of(self, problem: ClassProblem, parts: Parts, option: int) -> Floats:
        """Held-out log-probabilities of a problem's cases with one of the options."""
        return _normalised(self.held_out(problem.split, parts, problem.n_cases, option))[0]

    def _split_from_start(self, problem: ClassProblem) -> Split:
        """How a problem splits whose cases start from probabilities by models that have seen neither side of the fold.

        Without this, the rejector would have learned from probabilities that know the cases it is judged on.
        """
        training, out_of_fold = self.training, self._out_of_fold  # once, before threads ask for it

        def split(train: Indices, test: Indices) -> tuple[ClassProblem, ClassProblem]:
            known = out_of_fold.copy()
            others = np.setdiff1d(training.tested, test)
            option = self.probability_option(others if len(others) else test)
            parts = training.inner_parts(train)
            if parts:
                known[:, train] = self._log_probabilities_of(self.probability.take(train), parts, option)
            if self.log_probabilities is not None:
                known[:, test] = self.log_probabilities[option][:, test]  # by the model of this very fold
            return replace(problem, offset=self._start(known)).split(train, test)

        return split

    # What all share

    def held_out(self, split: Split, folds: Parts, n_cases: int, least: int = 0) -> Floats:
        """Held-out scores (n_options, J, m) of the options from `least` on; NaN for cases in no test part."""

        def fit(n_threads: int, train: Indices, test: Indices) -> Floats:
            part, rest = split(train, test)
            return self.options.held_out(part, rest, least)

        found = in_threads(fit, folds, self.n_threads)
        out = np.full((*found[0].shape[:2], n_cases), np.nan)
        for (_, test), scores in zip(folds, found, strict=True):
            out[:, :, test] = scores
        return out

    def fit(self, problem: ClassProblem, option: int) -> Fitted:
        """An option fitted to all cases, or to several parts of them and averaged."""
        training, settings = self.training, self.options.settle(option, problem)
        solution = self._average(problem, option, settings) if training.bags else boost_classes(problem, settings)
        model = solution.model
        tables = model.tables(problem.bins)
        form = class_form(tables, model.intercept, training.n_classes, problem.bins, training.weight)
        return Fitted(form, solution, settings.beta)

    def _average(self, problem: ClassProblem, option: int, settings: ClassSettings) -> Solution:
        def fit(n_threads: int, rows: Indices) -> tuple[ClassModel, int]:
            part = problem.take(rows)
            solution = boost_classes(part, self.options.settle(option, part))
            return solution.model, solution.n_iter

        fitted = in_threads(fit, [(rows,) for rows in self.training.bags], self.n_threads)
        state = ClassState(problem)
        state.jumps[:] = np.mean([model.jumps for model, _ in fitted], axis=0)
        state.intercept = np.mean([model.intercept for model, _ in fitted], axis=0)
        return read_off(state, settings, max(n_iter for _, n_iter in fitted))


def _normalised(scores: Floats) -> Floats:
    """Log-probabilities of scores of shape (n_options, n_classes, m)."""
    return np.stack([of_option - log_sum(of_option.T) for of_option in scores])


def search_classes(search: ClassSearch, family: str, stack: str | None) -> Iterator[ClassCandidate]:
    """Fit every candidate of a family; the first is kept unless another is clearly better."""
    if family in (CHOW, "auto"):
        yield search.fit_chow()
    if family == COUPLED:
        yield from search.fit_learned(started=stack is not None, whatever_it_costs=True)
    if family == "auto":
        if stack is None:
            yield from search.fit_learned(started=False, whatever_it_costs=False)
        if search.training.partition:
            yield from search.fit_learned(started=True, whatever_it_costs=False)
