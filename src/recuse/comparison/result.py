"""Comparison: what a run found. It is data only; `writing` puts it on disk and `printing` on the terminal."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Indices
from ..costs import Costs, answer_columns
from ..decisions import KINDS
from ..labels import REJECT_TEXT
from ..report import Volume
from ..tables import Cases, Segmented, cut_into_segments
from .checkpoints import versions
from .conclusions import conclude
from .folds import FoldResult, fit_model
from .intervals import EXACTLY_ZERO, Interval
from .leaderboard import Counts, Row, rank
from .methods import CONSTANTS, SEND_ALL, Constant, Method, Task, constant_method
from .payments import Payments
from .policy import TODAY, policy_answers, policy_row, policy_sentence, saved_against_today
from .repetitions import Repetitions, margin
from .segments import Segment, segments_of
from .served_worse import RATE
from .verdict import Candidates, Saving, Verdict, judge

_LOOKED_AT = ("repeats", "by", "policy", "volume")
ARRAY = "(array)"  # the name of groups that are not a column of the table


@dataclass(frozen=True, eq=False)
class Answers:
    """Out-of-fold answers of one method: arrays with a row per repetition and a column per case.

    Attributes
    ----------
    forced, kind, fold : ndarray of int of shape (repeats, n)
        Class without the reject option (1 positive), position in `KINDS`, fold.
    h, r, score : ndarray of float of shape (repeats, n)
        Class score, acceptance score, and the probability of the positive class where there is one, else h.
    reason : list of str
        One sentence per case, of the first repetition.
    folds : list of FoldResult
        What the answers were put together from.
    """

    forced: NDArray[np.int8]
    kind: NDArray[np.int8]
    fold: NDArray[np.int16]
    h: Floats
    r: Floats
    score: Floats
    reason: list[str]
    folds: list[FoldResult]

    @classmethod
    def of(cls, folds: list[FoldResult], n_cases: int, n_folds: int) -> Answers:
        """Put the folds together."""
        repeats = len(folds) // n_folds
        shape = (repeats, n_cases)
        columns: dict[str, Any] = {
            name: np.empty(shape, dtype=getattr(folds[0], name).dtype) for name in ("forced", "kind", "h", "r", "score")
        }
        fold_number = np.empty(shape, dtype=np.int16)
        reason = [""] * n_cases
        for number, result in enumerate(folds):
            repeat, fold = divmod(number, n_folds)
            fold_number[repeat, result.test] = fold
            for name, column in columns.items():
                column[repeat, result.test] = getattr(result, name)
            if repeat == 0:
                for position, text in zip(result.test.tolist(), result.reason, strict=True):
                    reason[position] = text
        return cls(**columns, fold=fold_number, reason=reason, folds=folds)

    @classmethod
    def constant(cls, constant: Constant, like: Answers, share: float, costs: Costs, *, second: bool) -> Answers:
        """The same answer to every case, in the folds of the answers of a method; `share` of the cases are positive.

        `second` says whether the positive class is the second of the sorted ones, towards which h points.
        """
        shape = like.forced.shape
        rejects = constant.name == SEND_ALL
        forced = int(share > costs.break_even) if rejects else constant.column
        return cls(
            forced=np.full(shape, forced, dtype=np.int8),
            kind=np.full(shape, int(rejects), dtype=np.int8),
            fold=like.fold,
            h=np.full(shape, 1.0 if bool(forced) == second else -1.0),
            r=np.full(shape, -1.0 if rejects else 1.0),
            score=np.full(shape, share),
            reason=[f"every case gets the same answer: no method was chosen against {constant.title!r}"] * shape[1],
            folds=[],
        )

    @property
    def accepted(self) -> Flags:
        """Which cases the method answers itself."""
        return self.kind == 0

    @property
    def columns(self) -> NDArray[Any]:
        """Column of the price matrix of each answer."""
        return answer_columns(self.forced, self.kind)

    @property
    def warnings(self) -> list[str]:
        """Distinct warnings raised in the folds."""
        return sorted({text for fold in self.folds for text in fold.warnings})


@dataclass(frozen=True)
class RunArguments:
    """How a comparison was run.

    Attributes
    ----------
    cv : int
        Folds.
    repeats : int or "auto"
        Repetitions with other folds that were asked for.
    seed : int
        Random state of folds, methods and intervals.
    drop : list of str
        Columns left out.
    groups : str or None
        Column with the groups, `ARRAY` if they were not a column.
    time : str or None
        Column with the time, if folds test on what came after.
    novelty : str
        Whether cases far outside the training range are rejected.
    by : list of str
        Columns whose segments are looked at.
    policy : str or None
        Column with what is decided today.
    volume : dict or None
        How many cases there are in a period, and what reviewing them takes.
    """

    cv: int
    repeats: int | str
    seed: int
    drop: list[str]
    groups: str | None = None
    time: str | None = None
    novelty: str = "range"
    by: list[str] = field(default_factory=list)
    policy: str | None = None
    volume: dict[str, Any] | None = None

    def as_dict(self) -> dict[str, Any]:
        """The arguments by name, as in run.json."""
        return asdict(self)

    def of_folds(self) -> dict[str, Any]:
        """What the answers of a fold depend on: not how often folds are drawn again, nor what is looked at after."""
        return {name: value for name, value in self.as_dict().items() if name not in _LOOKED_AT}


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
        """How often the leaders were cross-validated."""
        return self.repetitions.done

    @property
    def how_often_repeated(self) -> str:
        """How often the cross-validation was done, why no more, and which methods have fewer repetitions."""
        sentences = [f"{self.repetitions}"]
        if self.arguments.time is None:
            known = "include" if self.n_repeats > 1 else "do not include"
            sentences.append(f"Intervals {known} how much other folds would change.")
        behind = [name for name, answers in self.answers.items() if len(answers.kind) < self.n_repeats]
        if behind:
            counts = ", ".join(f"{name} {len(self.answers[name].kind)}" for name in behind)
            sentences.append(
                "Not repeated were methods that were behind the cheapest by more than about "
                f"{margin(1):.1f} standard errors after the first repetition, {margin(self.n_repeats):.1f} after "
                f"{self.n_repeats}; so there are fewer of {counts}."
            )
        return " ".join(sentences)

    @cached_property
    def cut_columns(self) -> list[Segmented]:
        """The columns of `by`, cut into segments."""
        return [cut_into_segments(self.cases.beside[name]) for name in self.arguments.by]

    @cached_property
    def segments(self) -> list[Segment]:
        """Figures of the method chosen for each segment of the columns of `by`."""
        payments = self.payments[self.verdict.chosen]
        return segments_of(self.cut_columns, payments, self.positive, seed=self.arguments.seed, units=self.units)

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
        """Which cases are positive."""
        return np.asarray(self.cases.outcomes == self.cases.positive)

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
            method.name: Payments.of(self.answers[method.name].columns, self.positive, self.costs)
            for method in self.methods
            if method.name in self.answers
        }
        n = len(self.cases.outcomes)
        return models | {
            constant.name: Payments.of(np.full(n, constant.column), self.positive, self.costs, constant=True)
            for constant in CONSTANTS
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
        rows = [self._row(method) for method in self.methods]
        rows += [self._constant_row(constant) for constant in CONSTANTS]
        rows += [Row(m.name, m.title, m.reference, note=f"left out: {why}") for m, why in self.left_out.items()]
        ranked = rank(rows, self.payments, self.units)
        return ranked if self.today is None else self._with_today(ranked, self.today)

    @cached_property
    def today(self) -> Payments | None:
        """What each case pays under today's policy, if a column holds it."""
        if self.arguments.policy is None:
            return None
        answers = policy_answers(self.cases.beside[self.arguments.policy], self.cases.classes)
        return Payments.of(answers, self.positive, self.costs)

    @property
    def today_saving(self) -> Saving | None:
        """What the method chosen saves against today's policy, corrected for the choice."""
        if self.today is None:
            return None
        return saved_against_today(self.verdict, self.payments[self.verdict.chosen], self.today, self.units)

    def _with_today(self, ranked: list[Row], today: Payments) -> list[Row]:
        """Today's policy among the rows, by its cost; it is no candidate, and no row is compared with it."""
        row = policy_row(str(self.arguments.policy), today.columns[0], self.positive, self.units, self.n_repeats)
        cheapest = self.payments[ranked[0].name]
        row = replace(row, cost=today.cost(self.units), difference=cheapest.saved_against(today, self.units))
        before = [other for other in ranked if other.cost is not None and other.cost.value <= today.prices.mean()]
        return [*before, row, *ranked[len(before) :]]

    def _constant_row(self, constant: Constant) -> Row:
        columns = np.full(len(self.cases.outcomes), constant.column)
        rejects = constant.name == SEND_ALL
        return Row(
            constant.name,
            constant.title,
            reference=True,
            coverage=float(not rejects),
            accuracy=float("nan") if rejects else float((columns == self.positive).mean()),
            ambiguity=float(rejects),
            novelty=0.0,
            counts=Counts.of(columns, self.positive, self.units, constant=True),
            repeats=self.n_repeats,  # it is the same in every repetition
            fit_seconds=0.0,
            predict_seconds=0.0,
        )

    def _row(self, method: Method) -> Row:
        if method.name in self.errors:
            return Row(method.name, method.title, method.reference, error=self.errors[method.name])
        answers = self.answers[method.name]
        accepted = answers.accepted
        right = accepted & (answers.forced == self.positive)
        return Row(
            method.name,
            method.title,
            method.reference,
            coverage=float(accepted.mean()),
            accuracy=float(right.sum() / accepted.sum()) if accepted.any() else float("nan"),
            ambiguity=float((answers.kind == 1).mean()),
            novelty=float((answers.kind == 2).mean()),
            counts=Counts.of(answers.columns, self.positive, self.units),
            repeats=len(answers.kind),
            fit_seconds=float(np.mean([fold.fit_seconds for fold in answers.folds])),
            predict_seconds=float(np.mean([fold.predict_seconds for fold in answers.folds])),
            params=_count_params(answers.folds),
            note=self._sample_note(answers.folds[-1]),
        )

    def _sample_note(self, fold: FoldResult) -> str | None:
        if fold.fitted_on >= fold.trained_on:
            return None
        return f"fitted on a sample of {fold.fitted_on:,} of the {fold.trained_on:,} training cases"

    @property
    def leaderboard(self) -> Any:
        """The leaderboard as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame([row.as_dict() for row in self.rows])

    @cached_property
    def verdict(self) -> Verdict:
        """The method chosen, its cost corrected for the choice, and whether answering and rejecting pay."""
        models = {name: self.payments[name] for name in self.payments if name in self.answers}
        forced = {name: Payments.of(self.answers[name].forced, self.positive, self.costs) for name in models}
        constants = {constant.name: self.payments[constant.name] for constant in CONSTANTS}
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
            sentences["today"] = policy_sentence(self.today_saving, str(self.arguments.policy))
        if self.arguments.volume is not None:
            volume = Volume(**self.arguments.volume)
            sentences["volume"] = volume.sentences(self.verdict.cost, self.reviewing_saved, 1 - self.winner.coverage)
        return sentences

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
        if self.units is None:
            return 1.0
        together, apart = (self.payments[name].cost(units) for units in (self.units, None))
        return max(1.0, (together.high - together.low) / max(apart.high - apart.low, 1e-12))

    def answers_of(self, name: str) -> Answers:
        """Return the answers of a method, or of a constant answer, by its name."""
        if name in self.answers:
            return self.answers[name]
        constant = next(constant for constant in CONSTANTS if constant.name == name)
        like, share = self.answers[self.verdict.best_model], float(self.positive.mean())
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
        constants = (constant_method(constant) for constant in CONSTANTS)
        return next(method for method in (*self.methods, *constants) if method.name == name)

    def model(self, name: str | None = None) -> Any:
        """Fit a method, the winner by default, on all cases; return it with its preparation of the table."""
        method = self.method(name or self.verdict.chosen)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the folds gave the same ones, and they are in the report
            cases = (self.table or self.cases).in_time()
            model, _ = fit_model(method, self.task, cases.features, cases.outcomes, cases.groups)
            model[0].remember_writings(cases.writings)
        return model

    def decisions(self, name: str | None = None) -> Any:
        """Return out-of-fold decisions of a method, the winner by default, as a pandas DataFrame.

        One row per case that was answered, in the order of the table: its number there, outcome, decision, kind, forced
        class, h, r, reason and fold, with several repetitions those of the first; then means over the repetitions:
        how often it was answered, how often wrongly, and what it cost. The columns mean what they mean in `Decisions`:
        h is greater than 0 towards the second of the sorted classes, whichever is positive. Then, for each column whose
        segments were asked for, the segment of the case.
        """
        import pandas as pd

        name = name or self.verdict.chosen
        answers = self.answers_of(name)
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
            | {f"segment of {column.column}": column.of_cases for column in self.cut_columns}
        )

    def __repr__(self) -> str:
        return f"Comparison({len(self.methods)} methods on {self.cases.name}; {self.cases.positive_sentence})"


def _count_params(folds: list[FoldResult]) -> dict[str, dict[str, int]]:
    names = dict.fromkeys(name for fold in folds for name in fold.params)
    return {name: dict(Counter(str(fold.params.get(name)) for fold in folds).most_common()) for name in names}
