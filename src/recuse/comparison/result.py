"""Comparison: what a run found, and how it is written down."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats
from ..costs import Costs
from ..decisions import KINDS
from ..labels import REJECT_TEXT, to_python
from ..persistence import save, write_whole
from ..tables import Cases
from .checkpoints import versions
from .folds import FoldResult, fit_model
from .leaderboard import Interval, Row, bootstrap_mean, rank
from .methods import SEND_ALL, SEND_ALL_TITLE, Method, Setting


@dataclass(frozen=True, eq=False)
class Answers:
    """Out-of-fold answers of one method, in the order of the cases, one row a repetition.

    Attributes
    ----------
    forced, kind, fold : ndarray of int of shape (repeats, n)
        Class without the reject option (1 positive), position in `KINDS`, fold.
    h, r, score : ndarray of float of shape (repeats, n)
        Scores.
    reason : list of str
        Of the first repetition.
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

    def prices(self, positive: Flags, costs: Costs) -> Floats:
        """Mean price of each case over the repetitions."""
        columns = np.where(self.accepted, self.forced, 1 + self.kind)
        mean: Floats = costs.matrix()[positive.astype(np.intp), columns].mean(axis=0)
        return mean


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Methods cross-validated on one table at one price list.

    Attributes
    ----------
    cases : Cases
        The table.
    costs : Costs
        The prices.
    methods : list of Method
        What was compared, besides sending every case to a person.
    answers : dict of Answers
        Out-of-fold answers of each method that did not fail.
    errors : dict of str
        Why the others failed.
    left_out : dict of Method to str
        Methods not meant for a table of this size, with the reason.
    arguments : dict
        cv, repeats, seed, methods.
    fingerprint : str
        Digest of the data.

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
    arguments: dict[str, Any]
    fingerprint: str
    seconds: float = 0.0
    left_out: dict[Method, str] = field(default_factory=dict)
    _models: dict[str, Any] = field(default_factory=dict)

    @property
    def positive(self) -> Flags:
        """Which cases are positive."""
        return np.asarray(self.cases.outcomes == self.cases.positive)

    @property
    def setting(self) -> Setting:
        """What methods are built with."""
        return Setting(self.costs, self.cases.positive, self.arguments["seed"], len(self.cases.outcomes))

    @cached_property
    def prices(self) -> dict[str, Floats]:
        """Mean price of each case, for each method and for sending every case to a person."""
        positive = self.positive
        matrix = self.costs.matrix()
        prices = {name: answers.prices(positive, self.costs) for name, answers in self.answers.items()}
        return prices | {SEND_ALL: matrix[positive.astype(np.intp), 2]}

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
        return rank(rows, self.prices, self.arguments["seed"])

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
            note=self._sample_note(answers.folds[0]),
        )

    def _sample_note(self, fold: FoldResult) -> str | None:
        trained = len(self.cases.outcomes) - len(fold.test)
        if fold.fitted_on >= trained:
            return None
        return f"fitted on a sample of {fold.fitted_on:,} of the {trained:,} training cases"

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

    @property
    def gain(self) -> tuple[Row, Row, Interval] | None:
        """The cheapest rejecting method, the cheapest reference, and what the first saves per case."""
        ranked = [row for row in self.rows if row.cost is not None]
        rejecting = next((row for row in ranked if not row.reference), None)
        reference = next((row for row in ranked if row.reference), None)
        if rejecting is None or reference is None:
            return None
        saved = bootstrap_mean(self.prices[reference.name] - self.prices[rejecting.name], self.arguments["seed"])
        return rejecting, reference, saved

    @property
    def versions(self) -> dict[str, str]:
        """Versions of the packages the figures depend on."""
        return versions()

    def method(self, name: str) -> Method:
        """Return a method by name."""
        return next(method for method in self.methods if method.name == name)

    def model(self, name: str | None = None) -> Any:
        """Return a method, the winner by default, fitted on all cases with its preparation of the table."""
        name = name or self.winner.name
        if name not in self._models:
            import warnings

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the folds gave the same ones, and they are in the report
                model, _ = fit_model(self.method(name), self.setting, self.cases.features, self.cases.outcomes)
            self._models[name] = model
        return self._models[name]

    def decisions(self, name: str | None = None) -> Any:
        """Return out-of-fold decisions of a method, the winner by default, as a pandas DataFrame.

        One row a case, in the order of the table: outcome, decision, kind, forced class, h, r, reason and fold. Of
        several repetitions the first.
        """
        import pandas as pd

        answers = self.answers[name or self.winner.name]
        negative, positive = self.cases.classes
        forced = np.where(answers.forced[0] == 1, positive, negative)
        decision = np.where(answers.accepted[0], forced.astype(object), REJECT_TEXT)
        return pd.DataFrame(
            {
                "case": np.arange(1, len(forced) + 1),
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

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the report, one HTML file that needs nothing else."""
        from ..report import render, summarize

        write_whole(path, render(summarize(self)).encode())

    def save(self, out: str | os.PathLike[str]) -> None:
        """Write everything into a folder: leaderboard, decisions, model, run, report."""
        from ..report import render, summarize

        out = Path(out)
        out.mkdir(parents=True, exist_ok=True)
        write_whole(out / "leaderboard.csv", self.leaderboard.to_csv(index=False).encode())
        write_whole(out / "decisions.csv", self.decisions().to_csv(index=False).encode())
        save(self.model(), out / "model.skops")
        summary = summarize(self)
        write_whole(out / "summary.json", json.dumps(summary, allow_nan=False).encode())
        write_whole(out / "report.html", render(summary).encode())
        run = {
            "arguments": self.arguments | {"costs": prices_of(self.costs)},
            "winner": self.winner.name,
            "versions": self.versions,
            "data": {
                "name": self.cases.name,
                "fingerprint": self.fingerprint,
                "rows": len(self.cases.outcomes),
                "columns": list(self.cases.features.columns),
                "target": self.cases.target,
                "classes": [to_python(label) for label in self.cases.classes],
                "positive": to_python(self.cases.positive),
            },
        }
        write_whole(out / "run.json", (json.dumps(run, indent=2, default=str) + "\n").encode())

    def __repr__(self) -> str:
        return f"Comparison({len(self.methods)} methods on {len(self.cases.outcomes)} cases of {self.cases.name})"


def prices_of(costs: Costs) -> dict[str, float]:
    """The prices as plain numbers."""
    return {name: price for name, price in asdict(costs).items() if price is not None}


def _count_params(folds: list[FoldResult]) -> dict[str, dict[str, int]]:
    names = dict.fromkeys(name for fold in folds for name in fold.params)
    return {name: dict(Counter(str(fold.params.get(name)) for fold in folds).most_common()) for name in names}
