"""The columns of training and reviewed cases, in the form that a model was fitted with."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ..evaluating import read_for
from ..labels import preview
from ..tables import TableColumns
from ..tables.columns import YES_NO
from .reviewed import ReviewedCases, answered_tables


def table_columns(model: Any) -> TableColumns:
    """The first step of a model on tables; a sentence for another model."""
    first = model.steps[0][1] if isinstance(model, Pipeline) else None
    if not isinstance(first, TableColumns):
        raise TypeError(
            f"model={type(model).__name__} reads no tables, so that what reviewers were shown cannot be given to it: "
            "give a model of `recuse.fit` or `recuse.compare`."
        )
    return first


def in_form(columns: TableColumns, features: Any) -> Any:
    """The columns of the model, in its order and types, such that columns fitted anew get the same types."""
    frame = columns.transform(features)
    yes_no = [name for name, kind in zip(columns.columns_, columns.kinds_, strict=True) if kind == YES_NO]
    return frame.astype(dict.fromkeys(yes_no, "boolean"))


def features_of(model: Any, reviewed: ReviewedCases, cases: Any = None) -> Any:
    """The columns of reviewed cases: as the reviewers saw them, or from the table that was answered."""
    columns = table_columns(model)
    frame = _as_shown(columns, reviewed) if cases is None else _from_table(model, reviewed, cases)
    return in_form(columns, frame)


def _as_shown(columns: TableColumns, reviewed: ReviewedCases) -> Any:
    import pandas as pd

    shown = list(reviewed.found.shown)
    lacking = [name for name in columns.columns_ if any(name not in case for case in shown)]
    if lacking:
        raise ValueError(
            f"Reviewers were not shown {preview(lacking)}, which the model needs: give the table that was answered "
            "with --cases (in Python cases=)."
        )
    # What a packet shows of an empty cell is an empty text.
    rows = [[case[name] or None for name in columns.columns_] for case in shown]
    return pd.DataFrame(rows, columns=columns.columns_, dtype=object)


def _from_table(model: Any, reviewed: ReviewedCases, cases: Any) -> Any:
    """The rows of the table that was answered, by the numbers of the cases."""
    if len(answered_tables(reviewed)) > 1:
        raise ValueError(
            f"cases is one table, and the reviewed cases come from {len(answered_tables(reviewed))} files of answers: "
            "name the day from which on they come from one with --since (in Python since=), or show reviewers every "
            "column of the model."
        )
    frame, name = read_for(model, cases)
    last = int(reviewed.found.case.max())
    if last > len(frame):
        raise ValueError(f"{name} has {len(frame):,} rows, and case {last:,} was reviewed: give the table answered.")
    return frame.iloc[np.asarray(reviewed.found.case) - 1].reset_index(drop=True)
