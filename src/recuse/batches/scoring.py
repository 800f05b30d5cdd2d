"""`score_batch`: answers to a batch as a frame whose columns and types depend on the model only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..base import n_rows
from ..extras import require
from ..labels import to_python
from ..locating import decide_and_warn, locate, no_decisions, steps_before
from ..tables import TableColumns

TEXT, WHOLE, NUMBER, FLAG, TIME = "string", "int64", "float64", "bool", "datetime64[us]"
_READ = {"number": NUMBER, "yes/no": FLAG, "date": TIME, "text": TEXT}


class BatchColumns(NamedTuple):
    """The columns of a batch and of its answers, each with the name of its pandas type.

    Attributes
    ----------
    given : dict of str to str
        What the model reads; for a model that was not fitted on a table, every column as a number.
    answered : dict of str to str
        What `score_batch` returns.
    """

    given: dict[str, str]
    answered: dict[str, str]


def batch_columns(model: Any) -> BatchColumns:
    """Columns and types of the batches that a model takes, and of the answers that `score_batch` gives.

    Parameters
    ----------
    model : fitted reject-option classifier, or a Pipeline or search that ends in one

    Returns
    -------
    BatchColumns

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> import recuse
    >>> X, y = np.arange(10.0)[:, None], np.repeat([0, 1], 5)
    >>> model = recuse.ThresholdRejectClassifier(LogisticRegression(), costs=0.3).fit(X, y)
    >>> recuse.batches.batch_columns(model).answered["answer"]
    'int64'
    """
    classifier, _ = locate(model)
    label = _label_type([to_python(label) for label in classifier._labels.outputs])
    scores = dict.fromkeys(("h", "r", "probability"), NUMBER)
    answered = {"answer": label, "forced": label, "accepted": FLAG, "kind": TEXT, **scores}
    if len(classifier.classes_) > 2:
        answered |= {"score": NUMBER, "second": label, "second_score": NUMBER}
    answered["reason"] = TEXT
    return BatchColumns(_given(model, classifier), answered)


def _label_type(labels: list[Any]) -> str:
    """One type for all answers: text where some are text."""
    if all(isinstance(label, int) for label in labels):
        return WHOLE
    return NUMBER if all(isinstance(label, int | float) for label in labels) else TEXT


def _given(model: Any, classifier: Any) -> dict[str, str]:
    first: Any = (steps_before(model) or [classifier])[0]
    if isinstance(first, TableColumns):
        return {name: _READ[kind] for name, kind in zip(first.columns_, first.kinds_, strict=True)}
    known = getattr(first, "feature_names_in_", None)
    names = [f"x{i}" for i in range(first.n_features_in_)] if known is None else known.tolist()
    return {str(name): NUMBER for name in names}


def score_batch(model: Any, frame: Any, *, reasons: bool | str = True) -> Any:
    """Answer a batch of cases; the columns and types of the answers are the same for every batch, an empty one too.

    Parameters
    ----------
    model : fitted reject-option classifier, or a Pipeline or search that ends in one
    frame : DataFrame, Arrow table or batch, mapping of names to columns, or array-like
        The cases, in the columns the model was fitted with; further columns of a frame are passed over.
    reasons : bool or "all", default=True
        As in `decide`; without them the column is empty text.

    Returns
    -------
    DataFrame
        "answer" and "forced" (whole numbers, numbers or text, whatever holds all labels of the model), "accepted"
        (bool), "kind" (text), "h", "r", "probability" (of the positive class; NaN for models without probabilities) and
        "reason" (text), with the index of the frame. For three or more classes also "score", of the forced answer, and
        "second" and "second_score", of its rival.

    Examples
    --------
    >>> import recuse
    >>> from sklearn.datasets import load_breast_cancer
    >>> table = load_breast_cancer(as_frame=True).frame
    >>> model = recuse.fit(table[:400], "target", 0.1, method="logistic-chow", positive=1)
    >>> answers = recuse.score_batch(model, table[400:])
    >>> list(answers)
    ['answer', 'forced', 'accepted', 'kind', 'h', 'r', 'probability', 'reason']
    >>> recuse.score_batch(model, table[:0]).dtypes.equals(answers.dtypes)
    True
    """
    pd = require("pandas", "score_batch")
    cases = _as_cases(model, frame, pd)
    if n_rows(cases) == 0:
        decisions, probability = no_decisions(model, getattr(cases, "index", None)), None
    else:
        decisions, probability = decide_and_warn(model, cases, reasons=reasons)
    values = {
        "answer": _plain(decisions.label),
        "forced": _plain(decisions.forced),
        "accepted": decisions.accepted,
        "kind": decisions.kind.astype(object),
        "h": decisions.h,
        "r": decisions.r,
        "probability": np.full(len(decisions), np.nan) if probability is None else probability,
        "reason": decisions.reason.astype(object),
    }
    if decisions.second is not None:
        values |= {"score": decisions.score, "second_score": decisions.second_score, "second": _plain(decisions.second)}
    types = batch_columns(model).answered
    index = decisions.index if decisions.index is not None else pd.RangeIndex(len(decisions))
    return pd.DataFrame({name: pd.Series(values[name], index=index).astype(types[name]) for name in types})


def _plain(labels: Any) -> Any:
    """Labels as text or numbers of Python, where their array holds both."""
    if labels.dtype.kind in "iuf":
        return labels
    return np.array([str(to_python(label)) for label in labels], dtype=object)


def _as_cases(model: Any, frame: Any, pd: Any) -> Any:
    """The cases as the model takes them: an Arrow table or a mapping becomes a frame with the model's columns."""
    if hasattr(frame, "to_pandas") and hasattr(frame, "schema") and not hasattr(frame, "iter_columns"):
        frame = frame.to_pandas()
    if isinstance(frame, Mapping):
        frame = pd.DataFrame(dict(frame))
    first: Any = (steps_before(model) or [locate(model)[0]])[0]
    if isinstance(first, TableColumns) or not hasattr(frame, "columns"):
        return frame
    if not hasattr(first, "feature_names_in_"):  # fitted to an array: columns by their place
        return frame.to_numpy()
    return frame[list(first.feature_names_in_)]
