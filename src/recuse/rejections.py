"""Which answers are rejections, by the label that marks them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import Flags
from .decisions import Decisions
from .labels import REJECT_TEXT, as_labels, automatic_label, encode, require_label, to_python
from .locating import locate


def is_rejected(answers: Any, reject_label: Any = None, *, estimator: Any = None) -> Flags:
    """Mark the rejected cases among predictions.

    Parameters
    ----------
    answers : Decisions or array-like
        A decisions table, which records its rejections, or the array from `predict`.
    reject_label : label, fitted estimator or Decisions, optional
        The label that marks a rejected case in an array, or what knows it: a reject-option classifier, a Pipeline or
        search that ends in one, or a table of its decisions.
    estimator : fitted estimator or Decisions, optional
        The same by name, for code that says what it passes.

    Returns
    -------
    ndarray of bool

    Examples
    --------
    >>> import recuse
    >>> recuse.is_rejected(["yes", "[abstain]", "no"], "[abstain]")
    array([False,  True, False])
    """
    source = reject_label if estimator is None else estimator
    if isinstance(answers, Decisions):
        _require_own_label(source, answers)
        return ~answers.accepted
    if (reject_label is None) == (estimator is None):
        raise ValueError("Which label marks a rejected case? Pass either reject_label= or estimator=.")
    reject_label = _reject_label_of(source)
    answers = as_labels(answers)
    if (answers.dtype.kind == "U" and not isinstance(reject_label, str)) or (
        answers.dtype.kind in "biuf" and isinstance(reject_label, str)
    ):
        raise ValueError(
            f"reject_label={to_python(reject_label)!r} cannot occur among answers such as {answers[:1].tolist()}."
        )
    if answers.ndim != 1:
        raise ValueError(f"answers must be one-dimensional, one per case; got shape {answers.shape}.")
    rejected: Flags = encode(answers, np.array([reject_label])) == 0
    if reject_label is source and not rejected.any():  # a batch may hold no rejection
        _require_plausible(to_python(reject_label), answers)
    return rejected


def _require_own_label(source: Any, decisions: Decisions) -> None:
    """Refuse a label, or what knows one, that is not the label of a table of decisions."""
    if source is not None and to_python(_reject_label_of(source)) != to_python(decisions.reject_label):
        raise ValueError(
            f"reject_label={to_python(_reject_label_of(source))!r} is not the label of these decisions, "
            f"{to_python(decisions.reject_label)!r}: leave it out."
        )


def _require_plausible(label: Any, answers: NDArray[Any]) -> None:
    """Refuse a label that does not occur although the answers hold a usual one.

    -1 may be one of three classes, but then the label that goes with them is another.
    """
    distinct = np.array(list(dict.fromkeys(answers.tolist())), dtype=answers.dtype)
    usual = REJECT_TEXT if REJECT_TEXT in distinct.tolist() else -1
    if distinct.dtype.kind in "iuf" and len(distinct) > 2:
        plausible = -1 not in distinct or label == automatic_label(distinct)
    else:
        plausible = usual != REJECT_TEXT
    if not plausible:
        raise ValueError(
            f"reject_label={label!r} does not occur among the answers, but {usual!r} does, the usual label of a "
            "rejected case: pass the model in place of the label."
        )


def _reject_label_of(source: Any) -> Any:
    """The label itself, or that of a table of decisions or of a fitted estimator."""
    if isinstance(source, Decisions):
        return source.reject_label
    if hasattr(source, "fit"):
        return locate(source)[0].reject_label_
    require_label(source)
    return source
