"""Comparison: what a run found. It is data only; `writing` puts it on disk and `printing` on the terminal."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats
from ..costs import Costs, answer_columns
from ..decisions import KINDS
from ..labels import REJECT_TEXT
from ..tables import Cases
from .checkpoints import versions
from .folds import FoldResult, fit_model
from .leaderboard import Row, rank
from .methods import SEND_ALL, SEND_ALL_TITLE, Method, Task
from .verdict import Verdict, judge

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

    def prices(self, positive: Flags, costs: Costs) -> Floats:
        """Mean price of each case over the repetitions."""
        mean: Floats = costs.prices(positive.astype(np.intp), self.columns).mean(axis=0)
        return mean


@dataclass(frozen=True)
class RunArguments:
    """How a comparison was run.

    Attributes
    ----------
    cv, repeats : int
        Folds, and repetitions with other folds.
    seed : int
        Random state of folds, methods and intervals.
    drop : list of str
        Columns left out.
    groups : str or None
        Column with the groups, `ARRAY` if they were not a column.
    time : str or None
        Column with the time, if folds test on what came after.
    """

    cv: int
    repeats: int
    seed: int
    drop: list[str]
    groups: str | None = None
    time: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The arguments by name, as in run.json."""
        return asdict(self)


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
    seconds : float
        Time the run took.
    left_out : dict of Method to str
        Methods not meant for a table of this size, with the reason.
    table : Cases or None
        The whole table, if some of its cases were never answered: over time, the first only train. All figures are
        about `cases`; models are fitted on the whole table.

    Examples
    --------
    >>> import recuse
    >>> from recuse.datasets import load
    >>> table = load("breast_cancer", as_frame=True).frame.iloc[:200, 20:]
    >>> result = recuse.compare(
    ...     table, "target", positive=0, costs=recuse.Costs(fp=1, fn=5, reject=0.3), methods=["logistic-chow"], cv=3
    ... )
    >>> [row.name for row in result.rows]
    ['logistic-chow', 'send-all']
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
    seconds: float = 0.0
    left_out: dict[Method, str] = field(default_factory=dict)
    table: Cases | None = None

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

    @property
    def task(self) -> Task:
        """What the methods were built for."""
        return Task.of(self.table or self.cases, self.costs, self.arguments.seed)

    @cached_property
    def prices(self) -> dict[str, Floats]:
        """Mean price of each case, for each method and for the manual review of every case."""
        positive = self.positive
        prices = {name: answers.prices(positive, self.costs) for name, answers in self.answers.items()}
        ambiguous = answer_columns(0, KINDS.index("ambiguity"))
        return prices | {SEND_ALL: self.costs.prices(positive.astype(np.intp), ambiguous)}

    @cached_property
    def rows(self) -> list[Row]:
        """The leaderboard, cheapest first."""
        rows = [self._row(method) for method in self.methods]
        rows.append(
            Row(
                SEND_ALL,
                SEND_ALL_TITLE,
                reference=True,
                coverage=0.0,
                ambiguity=1.0,
                novelty=0.0,
                fit_seconds=0.0,
                predict_seconds=0.0,
            )
        )
        rows += [Row(m.name, m.title, m.reference, note=f"left out: {why}") for m, why in self.left_out.items()]
        return rank(rows, self.prices, self.arguments.seed)

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

    @property
    def winner(self) -> Row:
        """The cheapest row that is a model."""
        models = [row for row in self.rows if row.cost is not None and row.name != SEND_ALL]
        if not models:
            by_error: dict[str, list[str]] = {}
            for name, error in self.errors.items():
                by_error.setdefault(error, []).append(name)
            reasons = " ".join(f"{', '.join(names)}: {error.rstrip('.')}." for error, names in by_error.items())
            raise ValueError(f"Every method failed. {reasons}")
        return models[0]

    @cached_property
    def verdict(self) -> Verdict | None:
        """Whether rejecting pays; None with nothing to compare."""
        return judge(self.rows, self.prices, self.arguments.seed)

    @property
    def versions(self) -> dict[str, str]:
        """Versions of the packages that the figures depend on."""
        return versions()

    def method(self, name: str) -> Method:
        """Return a method by its name."""
        return next(method for method in self.methods if method.name == name)

    def model(self, name: str | None = None) -> Any:
        """Fit a method, the winner by default, on all cases; return it with its preparation of the table."""
        method = self.method(name or self.winner.name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the folds gave the same ones, and they are in the report
            cases = (self.table or self.cases).in_time()
            model, _ = fit_model(method, self.task, cases.features, cases.outcomes, cases.groups)
        return model

    def decisions(self, name: str | None = None) -> Any:
        """Return out-of-fold decisions of a method, the winner by default, as a pandas DataFrame.

        One row per case that was answered, in the order of the table: its number there, outcome, decision, kind, forced
        class, h, r, reason and fold. With several repetitions, those of the first.
        """
        import pandas as pd

        answers = self.answers[name or self.winner.name]
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
            }
        )

    def __repr__(self) -> str:
        return f"Comparison({len(self.methods)} methods on {len(self.cases.outcomes)} cases of {self.cases.name})"


def _count_params(folds: list[FoldResult]) -> dict[str, dict[str, int]]:
    names = dict.fromkeys(name for fold in folds for name in fold.params)
    return {name: dict(Counter(str(fold.params.get(name)) for fold in folds).most_common()) for name in names}
