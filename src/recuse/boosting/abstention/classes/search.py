"""The search for several classes: every candidate boosted with its options on folds, fitted, and compared.

Candidates: probabilities with the answer of least expected cost ("chow"); the same with a rejector of its own, which
learns where that answer is not worth its price ("decoupled"), or what the probabilities miss of it
("decoupled+start"); and scores of the classes and of a rejection learned together ("coupled").
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
from .forms import class_form
from .options import ClassOptions
from .problem import ClassProblem, log_sum, savings
from .rounds import ClassSettings, boost_classes, read_off
from .rules import ClassChow, ClassLearned, ClassRejector, ClassRule, answers_of, log_chances, stakes
from .state import ClassModel, ClassState

_log = logging.getLogger("recuse")
CHOW, COUPLED, DECOUPLED, START = "chow", "coupled", "decoupled", "start"

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

    tables: Floats
    intercept: Floats
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
        self._known: dict[bytes, Floats] = {}

    @cached_property
    def bins(self) -> Bins:
        """The features in bins."""
        return self.training.bins(self.max_bins)

    # Probabilities

    @cached_property
    def probability(self) -> ClassProblem:
        """The problem whose softmax is the probability of each class."""
        training = self.training
        return ClassProblem(self.bins, training.codes, training.s, np.eye(training.n_classes)[training.codes])

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
        training = self.training
        form = class_form(fitted.tables, fitted.intercept, training.n_classes, self.bins, training.weight)
        rule = ClassChow(form, training.matrix)
        return ClassCandidate(CHOW, rule, fitted.solution, fitted.beta, self.judged_chow)

    # A learned rejector

    def fit_coupled(self) -> ClassCandidate:
        """Scores of the classes and of a rejection, learned together."""
        training = self.training
        worth = savings(training.matrix)[training.codes]
        problem = ClassProblem(self.bins, training.codes, training.s, worth)
        answers = None
        if training.folds:
            scores = self.held_out(problem.split, training.folds, problem.n_cases)
            answers = np.stack([answers_of(of_option) for of_option in scores])
        option, threshold, judged = self._judged(answers)
        fitted = self.fit(problem, option)
        form = class_form(fitted.tables, fitted.intercept, training.n_classes, self.bins, training.weight)
        return ClassCandidate(COUPLED, ClassLearned(form, threshold), fitted.solution, fitted.beta, judged)

    def fit_decoupled(self, *, started: bool, whatever_it_costs: bool) -> Iterator[ClassCandidate]:
        """A rejector beside probabilities; none where the first folds hold out no hope that it is cheaper."""
        training, name = self.training, f"{DECOUPLED}+{START}" if started else DECOUPLED
        first = training.folds if whatever_it_costs else first_folds(training.folds)
        answers = self._held_out_rejections(first, started)
        if len(first) < len(training.folds):
            if not self._may_pay(answers, first):
                _log.info("AbstentionBoosting: %s given up, not cheaper on the first folds", name)
                return
            later = self._held_out_rejections(training.folds[len(first) :], started)
            answers = np.where(np.isnan(later), answers, later)
        option, threshold, judged = self._judged(answers)
        problem = self._rejection(self._out_of_fold, started)
        rejector, score = self.fit(problem, option), self.fitted_probability
        # One form for both: the rejector's only score is that of a rejection, less that of an answer.
        tables = np.column_stack([_centred(score.tables), rejector.tables[:, 1] - rejector.tables[:, 0]])
        intercept = np.append(_centred(score.intercept), rejector.intercept[1] - rejector.intercept[0])
        form = class_form(tables, intercept, training.n_classes, self.bins, training.weight)
        rule = ClassRejector(form, training.matrix, started, threshold)
        yield ClassCandidate(name, rule, rejector.solution, rejector.beta, judged)

    def _judged(self, answers: Floats | None) -> tuple[int, float, Floats | None]:
        """The option of least held-out price, its threshold, and the answers judged on the other parts."""
        if answers is None:
            return 0, 0.0, None
        training = self.training
        judged, threshold = judge(answers, training.price, training, with_threshold=self.tune_threshold)
        return best_option(answers, training.price, training.tested), threshold, judged

    def _may_pay(self, answers: Floats, folds: Parts) -> bool:
        """Whether a rejector is cheaper than probabilities on the folds so far, both judged by these alone."""
        seen = replace(self.training, folds=folds)
        judged, _ = judge(answers, self.training.price, seen, with_threshold=self.tune_threshold)
        difference = seen.held_out_prices(judged) - seen.held_out_prices(self._chow_on(seen))
        return float(seen.weight[seen.tested] @ difference) < 0.0

    def _rejection(self, log_probabilities: Floats, started: bool) -> ClassProblem:
        """The problem of answering or rejecting, with the answers of least expected cost by some probabilities."""
        training, p = self.training, np.exp(log_probabilities).T
        answers = least_cost(p, training.matrix)[0].argmax(axis=1)
        rows = np.arange(len(p))
        worth = np.column_stack([amounts[rows, training.codes] for amounts in stakes(answers, training.matrix)])
        offset = log_chances(p, answers, training.matrix) if started else None
        return ClassProblem(self.bins, training.codes, training.s, worth, offset, fixed_last=True)

    def _held_out_rejections(self, folds: Parts, started: bool) -> Floats:
        """Answers (class number, r) of every option: shape (n_options, 2, m)."""
        training = self.training
        for fold in folds:
            self._known_in(*fold)  # once, before threads ask for it

        def split(train: Indices, test: Indices) -> tuple[ClassProblem, ClassProblem]:
            problem = self._rejection(self._known_in(train, test), started)
            return problem.split(train[problem.weight[train] > 0.0], test)

        scores = self.held_out(split, folds, len(training.codes))
        answers = np.full((len(scores), 2, len(training.codes)), np.nan)
        answers[:, 1] = scores[:, 0] - scores[:, 1]
        for train, test in folds:
            p = np.exp(self._known_in(train, test)[:, test]).T
            answers[:, 0, test] = least_cost(p, training.matrix)[0].argmax(axis=1)
        return answers

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

    def _known_in(self, train: Indices, test: Indices) -> Floats:
        """Log-probabilities (n_classes, m) by models that have seen neither the case nor the test cases of a fold.

        Without this, the rejector would have learned from probabilities that know the cases it is judged on.
        """
        key = test.tobytes()
        if key not in self._known:
            training, known = self.training, self._out_of_fold.copy()
            others = np.setdiff1d(training.tested, test)
            option = self.probability_option(others if len(others) else test)
            parts = training.inner_parts(train)
            if parts:
                known[:, train] = self._log_probabilities_of(self.probability.take(train), parts, option)
            if self.log_probabilities is not None:
                known[:, test] = self.log_probabilities[option][:, test]  # by the model of this very fold
            self._known[key] = known
        return self._known[key]

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
        """An option fitted to all cases of any weight in the loss, or to several parts of them and averaged."""
        counts = problem.weight > 0.0
        whole = problem if counts.all() else problem.take(np.flatnonzero(counts))
        settings = self.options.settle(option, whole)
        if self.training.bags:
            parts = [problem.take(rows[counts[rows]]) for rows in self.training.bags]
            solution = self._average(whole, parts, option, settings)
        else:
            solution = boost_classes(whole, settings)
        model = solution.model
        return Fitted(model.tables(problem.bins), model.intercept, solution, settings.beta)

    def _average(
        self, whole: ClassProblem, parts: list[ClassProblem], option: int, settings: ClassSettings
    ) -> Solution:
        def fit(n_threads: int, part: ClassProblem) -> tuple[ClassModel, int]:
            solution = boost_classes(part, self.options.settle(option, part))
            return solution.model, solution.n_iter

        fitted = in_threads(fit, [(part,) for part in parts], self.n_threads)
        state = ClassState(whole)
        state.jumps[:] = np.mean([model.jumps for model, _ in fitted], axis=0)
        state.intercept = np.mean([model.intercept for model, _ in fitted], axis=0)
        return read_off(state, settings, max(n_iter for _, n_iter in fitted))


def _normalised(scores: Floats) -> Floats:
    """Log-probabilities of scores of shape (n_options, n_classes, m)."""
    return np.stack([of_option - log_sum(of_option.T) for of_option in scores])


def _centred(scores: Floats) -> Floats:
    """Scores of the classes that sum to 0."""
    return scores - scores.mean(axis=-1, keepdims=True)


def search_classes(search: ClassSearch, family: str, stack: str | None) -> Iterator[ClassCandidate]:
    """Fit every candidate of a family; the first is kept unless another is clearly better."""
    if family in (CHOW, "auto"):
        yield search.fit_chow()
    if family == COUPLED:
        yield search.fit_coupled()
    if family == DECOUPLED:
        yield from search.fit_decoupled(started=stack is not None, whatever_it_costs=True)
    if family == "auto" and search.training.partition:
        if stack is None:
            yield from search.fit_decoupled(started=False, whatever_it_costs=False)
        yield from search.fit_decoupled(started=True, whatever_it_costs=False)
