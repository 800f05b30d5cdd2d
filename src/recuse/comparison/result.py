"""Comparison: what a run found. It is data only; `writing` puts it on disk and `printing` on the terminal."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Flags, Floats, Indices
from ..costs import Costs
from ..decisions import KINDS
from ..guarantees.record import warn_of_no_guarantee
from ..labels import REJECT_TEXT
from ..report import Volume
from ..tables import Cases, Segmented, cut_into_segments
from .answers import Answers
from .arguments import RunArguments
from .checkpoints import versions
from .class_answers import class_decisions
from .conclusions import conclude
from .constants import SEND_ALL, Constant, constant_method, constants_of
from .intervals import EXACTLY_ZERO, Interval
from .leaderboard import Row, rank
from .methods import Method
from .payments import Payments
from .plans import Task
from .policy import TODAY, policy_answers, policy_row, policy_sentence, saved_against_today
from .promising import fit_at_the_end
from .repetitions import Repetitions
from .rows import constant_row, failed_row, left_out_row, method_row
from .segments import Segment, segments_of
from .served_worse import RATE
from .staffed import hours_sentence
from .verdict import Candidates, Saving, Verdict, judge


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Methods cross-validated on one table at one price list.

    Attributes
    ----------
    cases : Cases
        The cases that were answered: the table.
    costs : Costs
        The prices.
    methods : list of Method
        What was compared, besides the manual review of every case.
    answers : dict of Answers
        Out-of-fold answers of each method that did not fail.
    errors : dict of str
        Why the others failed.
    arguments : RunArguments
        Folds, repetitions, seed and columns left out.
    fingerprint : str
        Digest of the data.
    repetitions : Repetitions
        How often the cross-validation was done, each time with other folds, and why no more.
    seconds : float
        Time the run took.
    left_out : dict of Method to str
        Methods not meant for a table of this size, with the reason.
    table : Cases or None
        The whole table, if some of its cases were never answered: over time, the first only train. All figures are
        about `cases`; models are fitted on the whole table.
    source : str
        Digest of the table as it was given, with the columns that were left out.

    Examples
    --------
    >>> import recuse
    >>> from recuse.datasets import load
    >>> table = load("breast_cancer", as_frame=True).frame.iloc[:200, 20:]
    >>> result = recuse.compare(
    ...     table, "target", positive=0, costs=recuse.Costs(fp=1, fn=5, reject=0.3), methods=["logistic-chow"], cv=3
    ... )
    >>> [row.name for row in result.rows]
    ['logistic-chow', 'send-all', 'always-yes', 'always-no']
    >>> result.winner.name
    'logistic-chow'
    """

    cases: Cases
    costs: Costs
    methods: list[Method]
    answers: dict[str, Answers]
    errors: dict[str, str]
    arguments: RunArguments
    fingerprint: str
    repetitions: Repetitions
    seconds: float = 0.0
    left_out: dict[Method, str] = field(default_factory=dict)
    table: Cases | None = None
    source: str = ""

    @property
    def n_repeats(self) -> int:
        """How often the method chosen was cross-validated."""
        return self.repetitions.done

    @property
    def how_often_repeated(self) -> str:
        """How often the cross-validation was done, why no more, and which methods have fewer repetitions."""
        sentences = [f"{self.repetitions}"]
        fewer = {name: len(found.kind) for name, found in self.answers.items() if len(found.kind) < self.n_repeats}
        once = " of methods that were repeated" if 1 in fewer.values() else ""
        if self.arguments.time is None:
            known = "include" if self.n_repeats > 1 else "do not include"
            sentences.append(f"Intervals{once} {known} how much other folds would change.")
        if fewer:
            counts = ", ".join(f"{name} {count}" for name, count in fewer.items())
            sentences.append(
                "Not repeated further were methods that other folds were not expected to make matter to the choice; "
                f"so there are fewer of {counts}."
            )
        return " ".join(sentences)

    @cached_property
    def cut_columns(self) -> list[Segmented]:
        """The columns of `by`, cut into segments."""
        return [cut_into_segments(self.cases.beside[name]) for name in self.arguments.by]

    @cached_property
    def segments(self) -> list[Segment]:
        """Figures of the method chosen for each segment of the columns of `by`; beside them those of today's policy."""
        return self.segments_by(self.verdict.chosen)

    def segments_by(self, name: str) -> list[Segment]:
        """Figures of a method, or of a constant answer, for each segment of the columns of `by`."""
        truth = self.truth if self.cases.several else self.positive
        seed, units, today = self.arguments.seed, self.units, self.today
        return segments_of(self.cut_columns, self.payments[name], truth, seed=seed, units=units, today=today)

    @property
    def served_worse_rate(self) -> float:
        """How often any segment is called served worse where all are served alike."""
        return RATE

    @property
    def how_folds_were_made(self) -> str | None:
        """One sentence about folds that were not simply shuffled."""
        arguments = self.arguments
        if self.cases.groups is not None:
            n_groups = len(np.unique(self.cases.groups))
            return f"Cases of one group ({arguments.groups}: {n_groups:,}) were never on both sides of a fold."
        if arguments.time is None or self.table is None:
            return None
        n, answered = len(self.table.outcomes), len(self.cases.outcomes)
        return (
            f"Every case was answered by models of earlier cases (by {arguments.time}): all figures are about the last "
            f"{answered:,} of {n:,} cases; the first {n - answered:,} only train."
        )

    @property
    def positive(self) -> Flags:
        """Which cases are positive; with three classes or more none is."""
        return np.asarray(self.cases.outcomes == self.cases.positive)

    @cached_property
    def truth(self) -> Indices:
        """The class of each case: of two 1 for the positive one, else its position in `cases.classes`."""
        return self.cases.codes

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.cases.classes)

    @cached_property
    def constants(self) -> tuple[Constant, ...]:
        """The answers that are the same for every case."""
        return constants_of(self.cases.classes)

    @cached_property
    def units(self) -> Indices | None:
        """Number of each case's group, if cases belong together; numbered without gaps."""
        if self.cases.groups is None:
            return None
        units: Indices = np.unique(self.cases.groups, return_inverse=True)[1]
        return units

    @property
    def task(self) -> Task:
        """What the methods were built for."""
        return Task.of(self.table or self.cases, self.costs, self.arguments.seed, self.arguments.novelty)

    @cached_property
    def payments(self) -> dict[str, Payments]:
        """What each case pays: under each method, in the order of the list, and under each constant answer."""
        models = {
            method.name: Payments.of(self.answers[method.name].columns, self.truth, self.costs)
            for method in self.methods
            if method.name in self.answers
        }
        n = len(self.cases.outcomes)
        return models | {
            constant.name: Payments.of(np.full(n, constant.column), self.truth, self.costs, constant=True)
            for constant in self.constants
        }

    @property
    def prices(self) -> dict[str, Floats]:
        """Mean price of each case under each method and each constant answer."""
        return {name: payments.prices for name, payments in self.payments.items()}

    @property
    def repeated_prices(self) -> dict[str, Floats]:
        """Price of each case in each repetition, under each method and each constant answer."""
        return {name: payments.repeated for name, payments in self.payments.items()}

    @cached_property
    def rows(self) -> list[Row]:
        """The leaderboard, cheapest first."""
        truth, units, n = self.truth, self.units, self.n_classes
        rows = [
            failed_row(method, self.errors[method.name], n)
            if method.name in self.errors
            else method_row(method, self.answers[method.name], truth, units, n)
            for method in self.methods
        ]
        rows += [constant_row(constant, truth, units, self.n_repeats, n) for constant in self.constants]
        rows += [left_out_row(method, why, n) for method, why in self.left_out.items()]
        ranked = rank(rows, self.payments, self.units)
        return ranked if self.today is None else self._with_today(ranked, self.today)

    @cached_property
    def today(self) -> Payments | None:
        """What each case pays under today's policy, if a column holds it."""
        if self.arguments.policy is None:
            return None
        values = self.cases.beside[self.arguments.policy]
        answers = policy_answers(values, self.cases.classes, self.arguments.policy_words)
        return Payments.of(answers, self.truth, self.costs)

    @property
    def today_saving(self) -> Saving | None:
        """What the method chosen saves against today's policy, corrected for the choice."""
        return self._saved_against_today(self.verdict.chosen, self.verdict.cost)

    @property
    def model_saved_against_today(self) -> Saving | None:
        """The same of the model chosen among the models, which is another one where a constant answer is kept."""
        return self._saved_against_today(self.verdict.best_model, self.verdict.model_cost)

    def _saved_against_today(self, name: str, cost: Interval) -> Saving | None:
        """What a method with this corrected cost saves against today's policy."""
        if self.today is None:
            return None
        return saved_against_today(name, cost, self.payments[name], self.today, self.units)

    def _with_today(self, ranked: list[Row], today: Payments) -> list[Row]:
        """Today's policy among the rows, by its cost; it is no candidate, and no row is compared with it."""
        column, repeats = str(self.arguments.policy), self.n_repeats
        row = policy_row(column, today.columns[0], self.truth, self.units, repeats, self.n_classes)
        cheapest = self.payments[ranked[0].name]
        row = replace(row, cost=today.cost(self.units), difference=cheapest.saved_against(today, self.units))
        before = [other for other in ranked if other.cost is not None and other.cost.value <= today.prices.mean()]
        return [*before, row, *ranked[len(before) :]]

    @property
    def leaderboard(self) -> Any:
        """The leaderboard as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame([row.as_dict() for row in self.rows])

    @cached_property
    def verdict(self) -> Verdict:
        """The method chosen, its cost corrected for the choice, and whether answering and rejecting pay."""
        models = {name: self.payments[name] for name in self.payments if name in self.answers}
        forced = {name: Payments.of(self.answers[name].forced, self.truth, self.costs) for name in models}
        constants = {constant.name: self.payments[constant.name] for constant in self.constants}
        found = judge(Candidates(models, forced, constants, SEND_ALL), seed=self.arguments.seed, units=self.units)
        if found is None:
            by_error: dict[str, list[str]] = {}
            for name, error in self.errors.items():
                by_error.setdefault(error, []).append(name)
            reasons = " ".join(f"{', '.join(names)}: {error.rstrip('.')}." for error, names in by_error.items())
            raise ValueError(f"Every method failed. {reasons}")
        return found

    @property
    def conclusions(self) -> dict[str, str]:
        """The verdict in sentences: which method, does answering pay, does rejecting pay; then policy and volume."""
        rows = {row.name: row for row in self.rows if row.name != TODAY}
        sentences = conclude(self.verdict, rows, len(self.answers))
        if self.today_saving is not None:
            sentences["today"] = policy_sentence(self.today_saving, str(self.arguments.policy), self.winner.title)
        if self.arguments.volume is not None:
            volume = Volume(**self.arguments.volume)
            sentences["volume"] = volume.sentences(self.verdict.cost, self.reviewing_saved, 1 - self.winner.coverage)
            if self._hours is not None:
                sentences["hours"] = self._hours
        return sentences

    @cached_property
    def _hours(self) -> str | None:
        """What reviewers' hours are worth; None where nobody said how long a review takes, or no model was chosen.

        Nor where cases belong together: the replays take each for itself.
        """
        told = self.arguments.volume
        if told is None or told["minutes_per_case"] is None or not self.verdict.model_chosen or self.units is not None:
            return None
        answers = self.answers[self.verdict.chosen]
        return hours_sentence(answers, self.truth, self.costs, Volume(**told), self.arguments.seed)

    @property
    def reviewing_saved(self) -> Interval:
        """What the method chosen saves per case against the manual review of every case, corrected for the choice."""
        if self.verdict.model_chosen:
            return self.verdict.answering.saved
        if self.verdict.chosen == SEND_ALL:
            return EXACTLY_ZERO
        return self.payments[self.verdict.chosen].saved_against(self.payments[SEND_ALL], self.units)

    @property
    def winner(self) -> Row:
        """The row of the method chosen: a model, or a constant answer if no model is shown to be better."""
        return self.row(self.verdict.chosen)

    @property
    def choice(self) -> Row:
        """The method chosen as a row of its own: its cost is corrected for having been chosen, and has an interval."""
        return replace(self.winner, cost=self.verdict.cost, difference=None)

    def widening(self, name: str) -> float:
        """How much wider the intervals of a method are because cases belong together; 1 if they do not."""
        return 1.0 if self.units is None else self.payments[name].widening(self.units)

    def answers_of(self, name: str) -> Answers:
        """Return the answers of a method, or of a constant answer, by its name."""
        if name in self.answers:
            return self.answers[name]
        constant = next(constant for constant in self.constants if constant.name == name)
        like, share = self.answers[self.verdict.best_model], float(self.positive.mean())
        if self.cases.several:
            shares = np.bincount(self.truth) / len(self.truth)
            return Answers.constant_class(constant, like, shares, self.costs)
        second = bool(np.unique(self.cases.outcomes)[-1] == self.cases.positive)
        return Answers.constant(constant, like, share, self.costs, second=second)

    def row(self, name: str) -> Row:
        """Return a row of the leaderboard by the name of its method."""
        return next(row for row in self.rows if row.name == name)

    @property
    def versions(self) -> dict[str, str]:
        """Versions of the packages that the figures depend on."""
        return versions()

    def method(self, name: str) -> Method:
        """Return a method by its name; a constant answer is one too."""
        constants = (constant_method(constant) for constant in self.constants)
        return next(method for method in (*self.methods, *constants) if method.name == name)

    def model(self, name: str | None = None) -> Any:
        """Fit a method, the winner by default, on all cases; return it with its preparation of the table."""
        method = self.method(name or self.verdict.chosen)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the folds gave the same ones, and they are in the report
            cases = (self.table or self.cases).in_time()
            model = fit_at_the_end(method, self.task, cases, self.arguments.pledge)
            model[0].remember_writings(cases.writings)
            model[0].remember_table(cases.features)
        guarantee = getattr(model[-1], "guarantee_", None)
        if guarantee is not None and not guarantee.holds:  # that is no matter of the folds
            warn_of_no_guarantee(model[-1], guarantee)
        return model

    def decisions(self, name: str | None = None) -> Any:
        """Return out-of-fold decisions of a method, the winner by default, as a pandas DataFrame.

        One row per case that was answered, in the order of the table: its number there, outcome, decision, kind, forced
        class, h, r, reason and fold, with several repetitions those of the first; then means over the repetitions:
        how often it was answered, how often wrongly, and what it cost. The columns mean what they mean in `Decisions`:
        h is greater than 0 towards the second of the sorted classes, whichever is positive. Then, for each column whose
        segments were asked for, the segment of the case. With three classes or more there are also the second best
        class, the probabilities (or scores) of the two, and those of every class.
        """
        import pandas as pd

        name = name or self.verdict.chosen
        answers = self.answers_of(name)
        segments = {f"segment of {column.column}": column.of_cases for column in self.cut_columns}
        if self.cases.several:
            return pd.DataFrame(class_decisions(self.cases, answers, self.payments[name].prices) | segments)
        wrong = answers.accepted & (answers.forced != self.positive)
        negative, positive = self.cases.classes
        forced = np.where(answers.forced[0] == 1, positive, negative)
        decision = np.where(answers.accepted[0], forced.astype(object), REJECT_TEXT)
        return pd.DataFrame(
            {
                "case": self.cases.case_numbers,
                "outcome": self.cases.outcomes,
                "decision": decision,
                "kind": np.array(KINDS)[answers.kind[0]],
                "forced": forced,
                "h": answers.h[0],
                "r": answers.r[0],
                "reason": answers.reason,
                "fold": answers.fold[0] + 1,
                "answered": answers.accepted.mean(axis=0),
                "wrong": wrong.mean(axis=0),
                "cost": self.payments[name].prices,
            }
            | segments
        )

    def __repr__(self) -> str:
        methods = "1 method" if len(self.methods) == 1 else f"{len(self.methods)} methods"
        return f"Comparison({methods} on {self.cases.name}; {self.cases.outcome_sentence})"
