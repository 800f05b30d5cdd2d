"""Answers to one piece of a table: the decisions, checked, and the columns that a file gets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from ..arrays import Floats
from ..decisions import KINDS, Decisions
from ..labels import REJECT_TEXT, encode, to_python
from ..locating import decide_with_probability
from ..tables import TableColumns
from ..tables.names import lacking_columns

ROWS_AT_ONCE = 50_000
MODEL_DIGEST = "model_digest"  # the column that says which model file gave the answers
# Digits of a score in a file. The last digits of a matrix product depend on how many rows it has, so that they would
# differ between a chunk and the whole table, and between processors.
DIGITS = 6
_EXACT_POWERS = 22  # powers of ten up to here are exact floats


def decide_chunk(
    model: Any, chunk: Any, done: int, reasons: bool | str = True, neighbours: int | None = None
) -> tuple[Decisions, Floats | None]:
    """The decisions on a chunk, and probabilities where there are any.

    A sentence if the model's parts do not fit together, or it answers NaN.

    Parameters
    ----------
    model : estimator
        A fitted reject-option classifier, or a Pipeline that ends in one.
    chunk : DataFrame
        Some rows of a table.
    done : int
        Rows before them, for messages.
    reasons : bool or "all", default=True
        Whether to write a sentence for each case.
    neighbours : int, optional
        How many training cases of each class the sentences of rejected cases name.
    """
    require_columns_of(model, chunk.columns)
    try:
        chunk = columns_for(model, chunk)
        decisions, probability = decide_with_probability(model, chunk, reasons=reasons, neighbours=neighbours)
    except (ValueError, TypeError, OSError):  # these say what is wrong with the table
        raise
    except Exception as error:
        raise ValueError(
            f"The model fails on the cases from {done + 1} on ({type(error).__name__}: {error}): its parts do not fit "
            "together, or not with the installed versions. Fit it again."
        ) from error
    unknown = np.flatnonzero(np.isnan(decisions.h) | np.isnan(decisions.r))
    if len(unknown):
        raise ValueError(
            f"The model's score of case {done + 1 + unknown[0]} is not a number: the model is broken, or the case is "
            "far beyond those it was fitted with. Look at the case, or fit the model again."
        )
    return decisions, probability


def six_digits(scores: Floats) -> Floats:
    """Scores with six significant digits, each the float that its decimal text stands for.

    Examples
    --------
    >>> import numpy as np
    >>> from recuse.answering import six_digits
    >>> six_digits(np.array([0.12345678, -1234567.8, 0.0]))
    array([ 1.23457e-01, -1.23457e+06,  0.00000e+00])
    """
    scores = np.asarray(scores, dtype=np.float64)
    rounded = scores.copy()
    size = np.abs(scores)
    shown = np.isfinite(scores) & (size > 0)
    shift = np.zeros(len(scores), dtype=np.intp)
    shift[shown] = DIGITS - 1 - np.floor(np.log10(size[shown])).astype(np.intp)
    down, up = shown & (shift >= 0) & (shift <= _EXACT_POWERS), shown & (shift < 0) & (shift >= -_EXACT_POWERS)
    # A whole number times or divided by an exact power of ten is rounded once, to the float nearest to the decimal.
    rounded[down] = np.rint(scores[down] * 10.0 ** shift[down]) / 10.0 ** shift[down]
    rounded[up] = np.rint(scores[up] / 10.0 ** -shift[up]) * 10.0 ** -shift[up]
    for i in np.flatnonzero(shown & ~down & ~up):
        rounded[i] = float(f"{scores[i]:.{DIGITS}g}")
    return rounded


def answer_table(
    decisions: Decisions, probability: Floats | None, start: int | None, reasons: bool | str = True
) -> Any:
    """Return decisions as an Arrow table: case, decision, kind, forced, probability, h, r, reason.

    Parameters
    ----------
    decisions : Decisions
        The answers.
    probability : ndarray or None
        Probability of the positive class; None for a model that has none.
    start : int or None
        Cases before them. None: no `case` column; the row names, if there are any, are kept in their place.
    reasons : bool, default=True
        Whether there is a column with the reasons.
    """
    import pyarrow as pa

    # A reject label of text makes text of all answers, whatever the classes were.
    is_text = decisions.forced.dtype.kind == "U"
    classes = [str(to_python(label)) if is_text else to_python(label) for label in decisions.classes]
    forced = encode(decisions.forced, np.array(classes, dtype=decisions.forced.dtype))
    texts = [*map(str, classes), REJECT_TEXT]
    columns: dict[str, Any] = {} if start is None else {"case": pa.array(np.arange(start + 1, start + 1 + len(forced)))}
    columns |= {
        "decision": _taken(texts, np.where(decisions.accepted, forced, len(classes))),
        "kind": _taken(list(KINDS), encode(decisions.kind, np.array(KINDS))),
        "forced": _taken(classes, forced),
        **({} if probability is None else {"probability": pa.array(six_digits(probability))}),
        **_rival_columns(decisions, classes),
        "h": pa.array(six_digits(decisions.h)),
        "r": pa.array(six_digits(decisions.r)),
    }
    if reasons:
        columns["reason"] = pa.array(decisions.reason, pa.string())
    if start is None and decisions.index is not None:
        return _with_index(columns, decisions.index)
    return pa.table(columns)


def _rival_columns(decisions: Decisions, classes: list[Any]) -> dict[str, Any]:
    """With three classes or more: the second best one, and what a person is shown for the two."""
    import pyarrow as pa

    if decisions.second is None or decisions.score is None or decisions.second_score is None:
        return {}
    second = encode(decisions.second, np.array(classes, dtype=decisions.second.dtype))
    return {
        "second": _taken(classes, second),
        "score": pa.array(six_digits(decisions.score)),
        "second_score": pa.array(six_digits(decisions.second_score)),
    }


def _taken(values: list[Any], codes: Any) -> Any:
    import pyarrow as pa

    return pa.array(values).take(pa.array(codes))


def _with_index(columns: dict[str, Any], index: Any) -> Any:
    """A table with row names, which pandas and dask find again."""
    import pandas as pd
    import pyarrow as pa

    named = pd.DataFrame(index=index, columns=pd.Index([], dtype=object))  # columns have names, not numbers
    table = pa.Table.from_pandas(named, preserve_index=True)
    for name, values in columns.items():
        table = table.append_column(name, values)
    return table


def needed_columns(model: Any) -> tuple[str, ...] | None:
    """Columns that a model reads; None if it does not say, or takes what it needs from the table itself."""
    first = _first_step(model)
    if isinstance(first, TableColumns):
        return tuple(first.columns_)
    if isinstance(first, ColumnTransformer):
        return None  # of the columns it was fitted with, some may be dropped: these need not be there
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else tuple(names)


def _first_step(model: Any) -> Any:
    """What sees the columns of the table first, within Pipelines, searches and classifiers around others."""
    while True:
        if isinstance(model, Pipeline):
            inner = model.steps[0][1]
        else:
            inner = getattr(model, "best_estimator_", None) or getattr(model, "estimator_", None)
        if inner is None:
            return model
        model = inner


def require_columns_of(model: Any, columns: Iterable[Any], where: str = "") -> None:
    """Refuse a table that lacks columns which a model reads."""
    given = {str(name): None for name in columns}
    needed = [str(name) for name in needed_columns(model) or ()]
    lacking = [name for name in needed if name not in given]
    if lacking:
        raise ValueError(where + lacking_columns(lacking, given, needed))


def columns_for(model: Any, frame: Any) -> Any:
    """The columns of a frame that a model reads, in its order; a model that does not say gets all of them.

    Takes frames of pandas and of Dask.
    """
    needed = needed_columns(model)
    if needed is None or isinstance(_first_step(model), TableColumns):  # that takes its columns itself, by their text
        return frame
    return frame[list(needed)]


def text_columns(model: Any) -> tuple[str, ...]:
    """Columns to be read as text, whatever they look like."""
    first = model.steps[0][1] if isinstance(model, Pipeline) else model
    return first.text_columns if isinstance(first, TableColumns) else ()
