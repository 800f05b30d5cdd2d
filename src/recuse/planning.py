"""How many hours of reviewing a model needs, from a table of cases or from its answers to them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from .answering import columns_for
from .arrays import Floats, Indices
from .costs import Costs
from .decisions import KINDS
from .evaluating import cases_with_outcomes, forced_positive, read_for, warn_of_training_cases
from .labels import encode, preview, to_python
from .locating import decide_and_warn, locate
from .persistence import load, saved_digest
from .reviews.answers import are_answers, models_named, require_made_by
from .reviews.classes import as_class, as_text
from .staffing import CapacityPlan, Forecast, PricedCases, StaffLevel, Volume, WaitingCases, plan_capacity
from .tables import TableFile, as_frame, read_chunks, restored

__all__ = ["CapacityPlan", "Forecast", "StaffLevel", "WaitingCases", "plan_reviews"]


def plan_reviews(
    model: Any,
    data: Any,
    *,
    volume: Volume | str,
    target: str | None = None,
    hours: float | None = None,
    days: int = 90,
    waiting: int = 0,
    seed: int = 0,
) -> CapacityPlan:
    """Plan reviewers' hours: what they cost and save, what one more is worth, and how many cases wait.

    Costs are those of a period at whose end the rejected cases are ranked: as many as there is time for are reviewed,
    those first whose review saves most, and the others get the model's class. The queue is that of a team that reviews
    every rejected case, however long it waits. In both, cases come as a Poisson process, like those of the table.

    Parameters
    ----------
    model : estimator or path
        A fitted model for two classes, or the file that holds it.
    data : path-like, TableFile or DataFrame
        Cases like those that will come: a table that the model reads, or its answers to one as `recuse predict` wrote
        them.
    volume : Volume or str
        How many cases will come, such as ``Volume.of("12000/month", minutes_per_case=6)`` of `recuse.report`.
    target : str, optional
        Column with the outcome, in the table or kept beside the answers. Without it costs follow from the model's own
        probabilities, and are right only as far as these are.
    hours : float, optional
        Hours of reviewing in a period that the queue is planned for; by default those of as many whole people as all
        reviews take.
    days : int, default=90
        How far ahead the queue is shown.
    waiting : int, default=0
        Cases that wait already.
    seed : int, default=0
        Of the replays that the intervals come from.

    Returns
    -------
    CapacityPlan

    Examples
    --------
    >>> import recuse
    >>> from recuse.datasets import make_loans
    >>> from recuse.planning import plan_reviews
    >>> from recuse.report import Volume
    >>> loans = make_loans(1200, random_state=0)[["late_payments", "instalment_share", "outcome"]]
    >>> prices = recuse.Costs(fp=800, fn=4000, reject=200)
    >>> model = recuse.fit(loans[:600], "outcome", prices, method="logistic-chow", positive="default")
    >>> volume = Volume.of("2000/month", minutes_per_case=10, currency="EUR")
    >>> plan = plan_reviews(model, loans[600:], target="outcome", volume=volume)
    >>> plan.levels[0].hours, plan.levels[0].cost.value > plan.level.cost.value  # to review nothing costs more
    (0.0, True)
    """
    path = model if isinstance(model, str | os.PathLike) else None
    model = model if path is None else load(path)
    volume = Volume.of(volume) if isinstance(volume, str) else volume
    classifier, _ = locate(model)
    if len(classifier.classes_) != 2:
        raise ValueError(f"plans are made for two classes; the model has {preview(classifier.classes_)}.")
    answers = _answers(data)
    if path is not None and answers is not None:
        _require_own(answers, path, data)
    cases = _of_table(model, data, target) if answers is None else _of_answers(answers, classifier, target)
    known = "probabilities" if target is None else "outcomes"
    return plan_capacity(cases, volume, hours=hours, days=days, waiting=waiting, known=known, seed=seed)


def _answers(data: Any) -> Any:
    """The frame of a file of answers; None for any other table."""
    if hasattr(data, "columns"):
        return as_frame(data) if are_answers(data.columns) else None
    import pandas as pd

    chunks = []
    for chunk in read_chunks(TableFile.of(data), text_columns=None):
        if not are_answers(chunk.columns):
            return None
        chunks.append(restored(chunk))
    return pd.concat(chunks) if chunks else None


def _require_own(answers: Any, path: Any, data: Any) -> None:
    """Refuse answers that name another model file; earlier ones name none."""
    shown = "in the frame" if hasattr(data, "columns") else TableFile.of(data).shown
    for named in models_named(answers) - {""}:
        require_made_by(named, saved_digest(path), shown, path)


def _of_table(model: Any, data: Any, target: str | None) -> PricedCases:
    """Cases that the model answers now."""
    classifier, _ = locate(model)
    if target is None:
        features, positive = columns_for(model, read_for(model, data)[0]), None
    else:
        features, positive, _ = cases_with_outcomes(model, data, target)
        features = columns_for(model, features)
    warn_of_training_cases(model, features, data)
    decisions, probability = decide_and_warn(model, features, reasons=False)
    truth = probability if positive is None else positive.astype(np.float64)
    return _priced(decisions.kind, decisions.r, forced_positive(decisions, classifier), truth, classifier.costs_)


def _of_answers(frame: Any, classifier: Any, target: str | None) -> PricedCases:
    """Cases that the model has answered."""
    classes = [to_python(label) for label in classifier.classes_]
    positive = classes.index(to_python(classifier.pos_label_))
    if target is None:
        truth = frame["probability"].astype(float).to_numpy() if "probability" in frame else None
    else:
        if target not in frame:
            raise ValueError(f"target={target!r} is no column of the answers: keep it beside them (--keep {target}).")
        frame = frame[[as_text(value) != "" for value in frame[target]]]
        truth = (_named(frame[target], classes, f"The column {target!r}") == positive).astype(np.float64)
    forced = (_named(frame["forced"], classes, "The column 'forced'") == positive).astype(np.intp)
    kinds, r = frame["kind"].to_numpy(dtype=str), frame["r"].astype(float).to_numpy()
    return _priced(kinds, r, forced, truth, classifier.costs_)


def _named(column: Any, classes: Sequence[Any], what: str) -> Any:
    """Positions of the classes that a column names."""
    places = {text: as_class(as_text(text), classes) for text in column.unique()}
    for text, label in places.items():
        if label is None:
            raise ValueError(f"{what} holds {as_text(text)!r}, which is no class of the model: {preview(classes)}.")
    return np.array([classes.index(places[text]) for text in column])


def _priced(kinds: Any, r: Floats, forced: Indices, truth: Floats | None, costs: Costs) -> PricedCases:
    if truth is None:
        raise ValueError("the model has no probabilities: name the column with the outcome (--target, or target=).")
    if len(r) == 0:
        raise ValueError("there are no cases with an outcome to plan from: give a table that has some.")
    return PricedCases.of(encode(kinds, np.array(KINDS)), r, forced, truth, costs)
