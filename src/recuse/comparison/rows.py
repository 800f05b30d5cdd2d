"""Rows of the leaderboard: of a method, of one that failed, and of an answer that is the same for every case."""

from __future__ import annotations

from collections import Counter

import numpy as np

from ..arrays import Flags, Indices
from .answers import Answers
from .class_rows import counts_of, row_type
from .constants import SEND_ALL, Constant
from .folds import FoldResult
from .leaderboard import Row
from .methods import Method


def method_row(
    method: Method, answers: Answers, truth: Flags | Indices, units: Indices | None, n_classes: int = 2
) -> Row:
    """The row of a method, without its place and price."""
    accepted, repeats = answers.accepted, len(answers.kind)
    right = accepted & (answers.forced == truth)
    explained = answers.folds[: len(answers.folds) // repeats]  # further repetitions give no reasons
    return row_type(n_classes)(
        method.name,
        method.title,
        method.reference,
        coverage=float(accepted.mean()),
        accuracy=float(right.sum() / accepted.sum()) if accepted.any() else float("nan"),
        ambiguity=float((answers.kind == 1).mean()),
        novelty=float((answers.kind == 2).mean()),
        counts=counts_of(answers.columns, truth, n_classes, units),
        repeats=repeats,
        fit_seconds=float(np.mean([fold.fit_seconds for fold in answers.folds])),
        predict_seconds=float(np.mean([fold.predict_seconds for fold in explained])),
        params=_count_params(answers.folds),
        note=_sample_note(answers.folds[-1]),
    )


def failed_row(method: Method, error: str, n_classes: int = 2) -> Row:
    """The row of a method without answers."""
    return row_type(n_classes)(method.name, method.title, method.reference, error=error)


def left_out_row(method: Method, why: str, n_classes: int = 2) -> Row:
    """The row of a method that was not run."""
    return row_type(n_classes)(method.name, method.title, method.reference, note=f"left out: {why}")


def constant_row(
    constant: Constant, truth: Flags | Indices, units: Indices | None, repeats: int, n_classes: int = 2
) -> Row:
    """The row of a constant answer, which is the same in every repetition."""
    columns = np.full(len(truth), constant.column)
    rejects = constant.name == SEND_ALL
    return row_type(n_classes)(
        constant.name,
        constant.title,
        reference=True,
        coverage=float(not rejects),
        accuracy=float("nan") if rejects else float((columns == truth).mean()),
        ambiguity=float(rejects),
        novelty=0.0,
        counts=counts_of(columns, truth, n_classes, units, constant=True),
        repeats=repeats,
        fit_seconds=0.0,
        predict_seconds=0.0,
    )


def _sample_note(fold: FoldResult) -> str | None:
    if fold.fitted_on >= fold.trained_on:
        return None
    return f"fitted on a sample of {fold.fitted_on:,} of the {fold.trained_on:,} training cases"


def _count_params(folds: list[FoldResult]) -> dict[str, dict[str, int]]:
    names = dict.fromkeys(name for fold in folds for name in fold.params)
    return {name: dict(Counter(str(fold.params.get(name)) for fold in folds).most_common()) for name in names}
