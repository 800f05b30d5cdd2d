"""The update of a model by the reviews of its answers, and what is known of it before it replaces the old one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..comparison.intervals import Interval
from ..evaluating import cases_with_outcomes
from ..locating import locate
from ..parameters import check_count, check_number
from ..persistence import load, saved_digest
from ..reviews import ReviewLog
from ..watching.result import batches_said
from .columns import features_of, in_form, table_columns
from .judging import JudgedUpdate, judge_update
from .moving import move_thresholds, require_thresholds
from .refitting import Maker, WeightedCases, refit
from .reviewed import ReviewedCases, reviewed_cases


@dataclass(frozen=True, eq=False)
class Update:
    """A model made with the reviewed cases, and how it compares with the old one.

    Attributes
    ----------
    model : Pipeline
        The new model.
    judged : JudgedUpdate
        What both cost per case.
    reviewed, audited : int
        Reviewed cases, and those of them that the model which answered them had accepted.
    stands_for : int
        All cases of their batches.
    largest_weight : float
        The most cases that one of them stands for.
    batches, unaudited, still_open : int
        Batches used; those left out as none of their accepted cases had a chance to be reviewed; and as they wait for
        verdicts.
    remembered : int
        Rows of the training table that the new model was fitted on.
    thresholds_only : bool
        Whether only the thresholds were moved.
    promise_dropped : bool
        Whether the old model was fitted to keep a promise: what was shown then says nothing of the new model.
    of_others : int or None
        Batches of those used that another model answered; None where it is not known, as the model was not given as a
        file. Their reviews count as those of any batch. But if the old model was fitted with them, as after an earlier
        update, it has seen these cases, and the comparison favours it.
    """

    model: Any = field(repr=False)
    judged: JudgedUpdate
    reviewed: int
    audited: int
    stands_for: int
    largest_weight: float
    batches: int
    unaudited: int
    still_open: int
    remembered: int
    thresholds_only: bool
    promise_dropped: bool
    of_others: int | None = None

    @property
    def replaces(self) -> bool:
        """Whether the new model is not shown to be dearer: the interval of the difference does not lie above 0."""
        return self.judged.replaces

    @property
    def cheaper(self) -> bool:
        """Whether the new model is shown to be cheaper: the interval of the difference lies below 0."""
        return self.judged.cheaper

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        facts = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in ("model", "judged")}
        intervals = {name: Interval(*value)._asdict() for name, value in asdict(self.judged).items()}
        found = {"replaces": self.replaces, "cheaper": self.cheaper, "finding": self.judged.sentence}
        return {**found, **intervals, **facts}

    def lines(self) -> Iterator[str]:
        """The figures for a terminal, first of all what was found."""
        old, new = self.judged.old.value, self.judged.new.value
        yield f"{self.judged.sentence}: the new one costs {new:.4g} per case, the old one {old:.4g}"
        for name, interval in asdict(self.judged).items():
            yield f"  {_TITLES[name]:<16} {interval[0]:.4g} ({interval[1]:.4g} to {interval[2]:.4g})"
        yield "  (95 % intervals; each reviewed case is answered by an update that was made without it)"
        yield (
            f"{self.reviewed:,} reviewed cases, {self.audited:,} of them accepted ones, stand for {self.stands_for:,} "
            f"in {batches_said(self.batches)}; one for {self.largest_weight:.3g} at most"
        )
        if self.unaudited:
            yield f"left out: {batches_said(self.unaudited)} whose accepted cases were never audited"
        if self.still_open:
            yield f"left out: {batches_said(self.still_open)} waiting for verdicts"
        what = "thresholds moved" if self.thresholds_only else f"fitted on these and {self.remembered:,} training cases"
        yield f"new model: {what}"
        if self.of_others:
            yield (
                f"batches that another model answered: {self.of_others:,} of {self.batches:,}; if the old model was "
                "fitted with their reviews, it seems cheaper here than it is (--since DAY leaves out earlier ones)"
            )
        if self.promise_dropped:
            yield "what the old model promised was shown of that one alone: promise anew, or watch the new model"


_TITLES = {"old": "old model costs", "new": "new model costs", "dearer": "difference"}


def update_model(
    model: Any,
    data: Any,
    log: ReviewLog | str | os.PathLike[str],
    *,
    target: str,
    method: Any = None,
    since: str | None = None,
    forget: float = 0.0,
    cases: Any = None,
    thresholds_only: bool = False,
    folds: int = 5,
    seed: int = 0,
    progress: Callable[[int, int, str], None] | None = None,
) -> Update:
    """Fit a model anew with the cases that were reviewed, and compare the two.

    Every reviewed case counts as often as there are cases it stands for, one over the probability with which it was
    drawn, so that the few accepted ones that were audited weigh up the many rejected ones that were all looked at.

    Parameters
    ----------
    model : Pipeline or path-like
        The model in use, as `recuse.fit` made it.
    data : DataFrame or path-like
        The table it was fitted on.
    log : ReviewLog or path-like
        The log of its reviews.
    target : str
        Column of the table with the outcome.
    method : str, estimator or (name, estimator), optional
        What to fit, as in `recuse.fit`; by default the classifier of the model, with the hyper-parameters it has. The
        prices are those of the model.
    since : str, optional
        Day from which on batches count, such as "2026-03-31"; by default all.
    forget : float in [0, 1], default=0
        How much of the weight of the training table is taken away. 0 suits a world that has not changed, where a
        training case tells as much as a new one; 1 fits the model to reviewed cases only, after a change of concept.
    cases : DataFrame or path-like, optional
        The table that was answered, where reviewers were not shown all columns of the model.
    thresholds_only : bool, default=False
        Move the thresholds to the reviewed cases, and leave the classifier as it is.
    folds : int, default=5
        Of the comparison: each reviewed case is answered by a model that was made without it.
    seed : int, default=0
        Random state.
    progress : callable, optional
        Called with the number of models made, the number of all, and what is next.

    Returns
    -------
    Update

    Raises
    ------
    ValueError
        Accepted cases were never audited: a model that learns from rejected cases only is wrong about all others.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import pandas as pd
    >>> import recuse
    >>> from recuse.reviews import ReviewLog
    >>> from recuse.updating import update_model
    >>> from recuse.watching import World
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame(rng.normal(size=(1000, 3)), columns=["risk", "income", "age"])
    >>> table["outcome"] = np.where(3 * table["risk"] + rng.logistic(size=1000) > 0, "yes", "no")
    >>> model = recuse.fit(table, "outcome", 0.21, method="logistic-chow")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = ReviewLog(pathlib.Path(folder) / "reviews.jsonl")
    ...     state = log.append(World(cases=500, audit=0.2, turned=1.0).records(3, random_state=0))
    ...     update = update_model(model, table, log, target="outcome", forget=1)
    >>> update.reviewed, update.audited, update.stands_for, update.judged.sentence
    (715, 207, 1500, 'the new model is cheaper')
    """
    check_number("forget", forget, 0.0, high=1.0)
    check_count("folds", folds, least=2)
    if thresholds_only and (method is not None or forget):
        raise ValueError("method and forget belong to a new fit: leave them out, or leave thresholds_only out.")
    model, digest = (load(model), saved_digest(model)) if isinstance(model, str | os.PathLike) else (model, None)
    table_columns(model)
    if thresholds_only:
        require_thresholds(model)
    found = reviewed_cases(_opened(log), locate(model)[0], since)
    _require_enough(found, folds)
    reviewed = WeightedCases(features_of(model, found, cases), found.found.positive, found.weights)
    old = None if thresholds_only else _old_cases(model, data, target, 1.0 - forget)
    make = _maker(model, method, seed, old, thresholds_only)
    report = _Steps(folds + 1, progress)
    judged = judge_update(model, make, reviewed, found.twins, folds, seed, report.done)
    new = make(reviewed)
    report.done()
    of_others = None if digest is None else sum(batch.model != digest for batch in found.batches)
    return _update(new, model, judged, found, 0 if old is None else len(old), thresholds_only, of_others)


def _opened(log: ReviewLog | str | os.PathLike[str]) -> ReviewLog:
    if not isinstance(log, str | os.PathLike):
        return log
    if not Path(log).is_file():
        raise FileNotFoundError(f"The log {os.fspath(log)} does not exist: `recuse review out` begins one.")
    return ReviewLog(log)


def _require_enough(found: ReviewedCases, folds: int) -> None:
    """Refuse reviewed cases of which a fold could lack a class."""
    positives = int(np.count_nonzero(found.found.positive))
    rarer = min(positives, len(found) - positives)
    if rarer < 2 * folds:
        raise ValueError(
            f"Of the {len(found):,} reviewed cases {rarer} have the rarer verdict, and {folds} folds need {2 * folds}: "
            "update when more are reviewed."
        )


def _old_cases(model: Any, data: Any, target: str, weight: float) -> WeightedCases | None:
    """The training table, each case of one weight; None if it is forgotten altogether."""
    if weight == 0:
        return None
    features, positive, _ = cases_with_outcomes(model, data, target)
    return WeightedCases(in_form(table_columns(model), features), positive, np.full(len(positive), weight))


def _maker(model: Any, method: Any, seed: int, old: WeightedCases | None, thresholds_only: bool) -> Maker:
    """What makes a model from reviewed cases."""
    if thresholds_only:
        return partial(move_thresholds, model)
    return lambda reviewed: refit(model, method, seed, reviewed.beside(old))


def _update(
    new: Any,
    model: Any,
    judged: JudgedUpdate,
    found: ReviewedCases,
    remembered: int,
    thresholds_only: bool,
    of_others: int | None,
) -> Update:
    return Update(
        model=new,
        judged=judged,
        reviewed=len(found),
        audited=int(np.count_nonzero(found.found.audit)),
        stands_for=found.stands_for,
        largest_weight=float(found.weights.max()),
        batches=len(found.batches),
        unaudited=found.unaudited,
        still_open=found.still_open,
        remembered=remembered,
        thresholds_only=thresholds_only,
        promise_dropped=getattr(locate(model)[0], "guarantee_", None) is not None,
        of_others=of_others,
    )


class _Steps:
    """Reports how many of the models are made."""

    def __init__(self, total: int, progress: Callable[[int, int, str], None] | None) -> None:
        self._made, self._total, self._progress = 0, total, progress

    def done(self) -> None:
        """Another one is made."""
        self._made += 1
        if self._progress is not None:
            self._progress(self._made, self._total, "")
