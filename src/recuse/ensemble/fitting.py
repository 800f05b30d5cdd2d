"""The members of an ensemble, fitted one after another as time allows, the cheapest first."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from ..arrays import Floats
from ..folds import Fold
from .bagging import Bagged, fit_fold, join_folds, with_final_fit
from .budget import Budget
from .cases import Outcomes, TrainingCases
from .features import View
from .roster import Member, Training

Progress = Callable[[int, int, str], None]
_FEW_SECONDS = 10.0
_log = logging.getLogger("recuse.ensemble")


class Schedule(NamedTuple):
    """How members are fitted.

    Attributes
    ----------
    budget : Budget
        Seconds for all.
    n_jobs : int or None
        Folds fitted at once, in threads.
    seed : int
        Random state of every member.
    progress : callable or None
        Called with the number of members done, the number of all, and the title of the next one.
    """

    budget: Budget
    n_jobs: int | None
    seed: int
    progress: Progress | None


def fit_members(
    members: list[Member], views: Mapping[str, View], cases: TrainingCases, schedule: Schedule
) -> tuple[list[Bagged], dict[str, str]]:
    """Fit as many members as time allows; return them, and why others are missing.

    A fit in progress is not cut off, and the cheapest member is fitted in any case: there is always an ensemble.
    """
    folds = with_final_fit(cases.folds, len(cases.outcomes.codes))
    budget, report = schedule.budget, schedule.progress or (lambda *_: None)
    n = max(len(train) for train, _ in folds)
    bagged: list[Bagged] = []
    left_out: dict[str, str] = {}

    def seconds(member: Member) -> float:
        return len(folds) * member.seconds(n, views[member.view].matrix.shape[1])

    waiting = sorted(members, key=seconds)
    if schedule.progress is not None:  # somebody waits for it
        _log.info("%s", _estimate(sum(map(seconds, members)), len(members), len(folds), schedule))
    for number, member in enumerate(waiting):
        report(number, len(waiting), member.title)
        view = views[member.view]
        reason = _why_not(member, n * view.matrix.shape[1])
        if reason is None and bagged and not budget.allows(seconds(member)):
            reason = f"not expected to be done within time_limit={budget.limit:g} seconds"
        if reason is not None:
            left_out[member.name] = reason
            continue
        before = budget.elapsed
        training = Training(n, view.matrix.shape[1], schedule.seed, view.categorical)
        try:
            fitted = _fit_folds(member, training, view, cases.outcomes, folds, schedule, must=not bagged)
        except Exception as error:  # a member that cannot be fitted must not cost the others
            left_out[member.name] = f"failed: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
            continue
        if fitted is None:
            left_out[member.name] = f"given up: not done within time_limit={budget.limit:g} seconds"
            continue
        bagged.append(join_folds(member, fitted, folds, cases.outcomes))
        budget.record(seconds(member), budget.elapsed - before)
        _log.debug("%s fitted in %.1f s", member.title, budget.elapsed - before)
    report(len(waiting), len(waiting), "")
    if not bagged:
        raise ValueError(f"No member could be fitted. {'. '.join(f'{k}: {v}' for k, v in left_out.items())}.")
    return bagged, left_out


def _fit_folds(
    member: Member,
    training: Training,
    view: View,
    outcomes: Outcomes,
    folds: list[Fold],
    schedule: Schedule,
    *,
    must: bool,
) -> list[tuple[Any, Floats]] | None:
    """Fit a member fold by fold, as many at once as there are jobs; None if the rest would take too long.

    With `must`, it is fitted however long it takes.
    """
    at_once = effective_n_jobs(schedule.n_jobs)
    began, fitted = schedule.budget.elapsed, []
    with Parallel(n_jobs=schedule.n_jobs, prefer="threads") as parallel:
        for start in range(0, len(folds), at_once):
            if start and not must:
                for_each = (schedule.budget.elapsed - began) / start
                if schedule.budget.elapsed + for_each * (len(folds) - start) > (schedule.budget.limit or np.inf):
                    return None
            batch = folds[start : start + at_once]
            fitted += parallel(
                delayed(fit_fold)(member, member.build(training), view, outcomes, fold, schedule.seed) for fold in batch
            )
    return fitted


def _why_not(member: Member, cells: int) -> str | None:
    if member.most_cells is not None and cells > member.most_cells:
        return f"meant for tables of up to {member.most_cells:,} cells"
    return None


def _estimate(seconds: float, n_members: int, n_folds: int, schedule: Schedule) -> str:
    """One sentence before the first fit."""
    expected = seconds / effective_n_jobs(schedule.n_jobs)
    if expected < _FEW_SECONDS:  # reading the table and preparing it take as long as that
        size = "a few seconds"
    else:
        size = f"about {expected:.0f} s" if expected < 100 else f"about {expected / 60:.0f} min"
    limit = "" if schedule.budget.limit is None else f", at most {schedule.budget.limit:g} s"
    return f"fitting {n_members} members on {n_folds} folds: {size} on a free machine{limit}."
