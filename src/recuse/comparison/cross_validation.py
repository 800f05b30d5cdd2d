"""Nested cross-validation of every method, resuming where an earlier run stopped.

The file is not called compare.py: the package re-exports the function `compare`, which would hide a module of that
name.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from ..folds import Fold, make_folds, time_folds
from ..labels import to_python
from ..parameters import check_count
from ..report import Volume
from ..tables import Cases, TableFile, is_table_file
from .answers import Answers
from .arguments import ARRAY, RunArguments
from .checkpoints import Checkpoints, data_fingerprint, run_fingerprint, table_fingerprint
from .fits import Fits, Progress
from .folder import claim_folder
from .folds import FoldResult
from .loading import LEAST_CASES, as_names, check_folding, load_cases, load_table, require_packages
from .methods import Method, left_out
from .own import able_methods, as_methods, warn_of_other_prices
from .plans import INNER_FOLDS, Task
from .policy import require_policy
from .prices import DEFAULT_COSTS, RunPrices
from .promising import Pledge
from .remote import TableThere, cluster_runs
from .repetitions import AUTO, Repetitions, in_question, most_repetitions, why_enough, why_no_more
from .result import Comparison
from .time_limit import TimeLimit
from .writing import tell_of_replaced, write_run

_OUT_OF_TIME = "the time limit was reached"


def compare(
    data: Any = None,
    target: Any = None,
    *,
    positive: Any = None,
    drop: Iterable[str] = (),
    groups: Any = None,
    time: str | None = None,
    by: Iterable[str] = (),
    policy: str | None = None,
    volume: Volume | str | None = None,
    promise: Any = None,
    confidence: float | None = None,
    promise_groups: str | None = None,
    costs: Any = DEFAULT_COSTS,
    methods: Iterable[Any] | None = None,
    cv: int = 5,
    repeats: int | str = AUTO,
    n_jobs: int | None = None,
    novelty: str = "range",
    cluster: Any = None,
    time_limit: float | None = None,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Comparison:
    """Cross-validate reject-option classifiers on a table and rank them by expected cost.

    Each method chooses its hyper-parameters on the training part of each fold only, and answers the cases it has
    not seen. The manual review of every case, and each classifier without rejection, are ranked with them.

    Parameters
    ----------
    data : DataFrame, array-like or path, optional
        The table: a pandas or polars frame, an array or a list of rows, a CSV, TSV or Parquet file, or a folder of
        Parquet files. By default scikit-learn's breast-cancer table, with malignant as the positive class.
    target : str or array-like of shape (n_cases,)
        Column with the outcome; or the outcome of each case, as in ``compare(X, y)``. Three outcomes or more, up to 50,
        are compared as they are, unless `positive` is given or `costs` belong to two.
    positive : label, optional
        The positive class, against all others together; of two, the second of the sorted classes by default, with a
        warning unless it is one that nobody mistakes, such as 1 of 0 and 1 or "yes" of "no" and "yes".
    drop : iterable of str, optional
        Columns to leave out, such as an identifier. New tables need not have them.
    groups : str or array-like, optional
        Column that says which cases belong together, such as the patient of each visit, or a label for each case. Cases
        of one group are never on both sides of a fold, outer or inner, so that every case is answered by a model that
        has not seen its group. The column is not a feature, and new tables need not have it.
    time : str, optional
        Column with dates or numbers that says when each case was, for a world that changes: models train on the past
        and answer the block that follows, ``cv`` blocks in turn; inner folds do likewise. The first block, of about
        n / (cv + 1) cases, is never answered, and all figures are about the others. The column is not a feature.
    by : iterable of str, optional
        Columns, features or not, by whose values the figures of the method chosen are shown: ``result.segments``, and
        in the report. Numbers and dates are cut into bands, rare values put together. Nothing is fitted for it.
    policy : str, optional
        Column that holds what is decided today, case by case: yes, no or review, or one of the outcomes. It is priced
        on the same cases as the methods, and is no feature.
    volume : Volume or str, optional
        How many cases there are, such as "12000/month": the conclusions and the report then count in amounts of money
        and in people; see `recuse.report.Volume`.
    promise : float, str, Promise or list, optional
        What is promised of the answers of the model that is fitted at the end, such as "error<=0.02": see
        `recuse.GuaranteedRejectClassifier`. That model is fitted on 70 % of the cases, and the others show the promise;
        the figures of the comparison are those of the methods without it.
    confidence : float in (0, 1), optional
        Confidence of the promise; 0.95 by default.
    promise_groups : str, optional
        Column, a feature or not, in each of whose groups the promise is to hold.
    costs : Costs, float or path, default=Costs(fp=1, fn=5, reject=0.3)
        Prices; a file of them is read by `recuse.tables.read_costs`. With three outcomes or more every error costs 1 by
        default, and ``Costs(errors=...)`` has a price for each.
    methods : iterable, optional
        Names in ``recuse.comparison.METHODS``; by default all that are meant for tables of this size, with three
        outcomes or more those that can tell so many apart. Estimators of
        your own, alone or as ``(name, estimator)``, can stand among them: a classifier with `predict_proba` gets
        Chow's rule at these prices, a reject-option classifier is fitted as it is. They get the columns as numbers.
        ``{name: estimator}`` is taken as such pairs. The order of names does not matter; in the choice, your own count
        as less simple than those of the list, and among themselves the first as the simplest.
    cv : int, default=5
        Outer folds.
    repeats : int or "auto", default="auto"
        How often the cross-validation is done, each time with other folds. "auto": until the choice of the method is
        steady, at most ten times, 3,000 / n times and 300,000 / (n columns) times; methods that are far behind are not
        repeated. The result says how often it was, and why no more (``repetitions``).
    n_jobs : int, optional
        Folds computed in parallel; -1 for all cores. A cluster has its own number of workers.
    novelty : {"range", "off"}, default="range"
        Whether cases are rejected as novelties if a number of them lies far outside the range of the training part, by
        more than the length of that range.
    cluster : str or distributed.Client, optional
        Send the folds of all methods to a dask cluster: the address of its scheduler, "local:4" for four processes on
        this machine, or a client. The workers read a folder of Parquet files themselves; other tables are sent.
    time_limit : float, optional
        Seconds after which no fit is begun; one in progress is not cut off, and the report and the model of the chosen
        method come after it. Methods are then run one after another, the simple ones first and the ensemble last, and
        what is concluded rests on those with all their folds. The others stand in the leaderboard as left out; with
        `out`, the same call goes on with them.
    seed : int, default=0
        Random state of folds, methods and intervals.
    out : path-like, optional
        Folder to write everything into. Finished folds are kept there in ``.cache``, so that the same call resumes
        where it was interrupted. A folder with the results of another table is refused.
    overwrite : bool, default=False
        Whether the results of another table in `out` may be deleted.
    progress : callable, optional
        Called after each fold with the number of folds done, the number of folds known to be needed (it grows when
        there is another repetition), and the title of the method.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import recuse
    >>> from sklearn.datasets import load_breast_cancer
    >>> table = load_breast_cancer(as_frame=True).frame.iloc[:200, [0, 1, 2, -1]]
    >>> prices = recuse.Costs(fp=5, fn=1, reject=0.3)
    >>> result = recuse.compare(
    ...     table, "target", positive=1, costs=prices, methods=["logistic-chow", "logistic-tuned"], cv=3, repeats=1
    ... )
    >>> sorted(result.answers)
    ['logistic-chow', 'logistic-tuned']
    """
    limit = TimeLimit.of(time_limit)
    require_packages("compare", writes=out is not None)
    prices = RunPrices.of(costs)
    check_folding(groups, time)
    _check_arguments(cv, repeats, seed, n_jobs, time)
    drop, by, repeats = _dropped(as_names(drop), policy), as_names(by), _as_repeats(repeats)
    looked_at: dict[str, Any] = {"by": by, "policy": policy, "volume": _volume_facts(volume)}
    pledge = Pledge.of(promise, confidence, promise_groups, groups=groups, time=time)
    looked_at |= _promised(pledge) | {"read": TableFile.of(data).options() if is_table_file(data) else {}}
    arguments = RunArguments(int(cv), repeats, int(seed), drop, _group_name(groups), time, novelty, **looked_at)
    table = load_table(data, target)
    require_policy(table.frame, policy, table.name)
    chosen = as_methods(methods, len(table.frame))
    kept = [*by, *([] if policy is None else [policy]), *([] if pledge is None else pledge.columns)]
    least = max(cv, LEAST_CASES)
    cases = load_cases(table, positive, drop=drop, groups=groups, time=time, beside=kept, least=least, prices=prices)
    task = Task.of(cases, prices.settled(cases), seed, novelty)
    chosen, without = _possible(chosen, task, cases, pledge, named=methods is not None)
    splits = _splits(cases, arguments)
    source, fingerprint = table_fingerprint(table.frame), data_fingerprint(cases)
    folder = None if out is None else claim_folder(out, table.name, source, overwrite)
    checkpoints = Checkpoints(folder, run_fingerprint(fingerprint, arguments.of_folds() | task.costs.as_dict()))
    there = TableThere.of(data, table.target, positive, drop, groups, time, fingerprint)
    with cluster_runs(cluster, cases, there, splits, task) as run:
        fits = Fits(chosen, cases, task, int(cv), splits, checkpoints, n_jobs, progress or _say_nothing, run, limit)
        begun = _begun(fits, arguments, fingerprint, source, without)
        _ = begun.cut_columns, begun.today  # what cannot be looked at afterwards is refused before the first fit
        tell_of_replaced(begun, folder)
        comparison = _repeat(fits, begun)
    comparison = replace(_without_unfinished(comparison, fits, folder is not None), seconds=limit.elapsed)
    if folder is not None:
        write_run(comparison, folder)
    return comparison


def _possible(
    chosen: list[Method], task: Task, cases: Cases, pledge: Pledge | None, *, named: bool
) -> tuple[list[Method], dict[Method, str]]:
    """The methods that can answer the cases, and why others are left out; refuse what cannot be done."""
    too_slow = {} if named else left_out(len(cases.outcomes))
    able, unable = able_methods(chosen, task, named=named)
    if pledge is not None:
        pledge.require_possible(len(cases.classes))
    warn_of_other_prices(able, task.costs, cases)
    return able, too_slow | unable


def _dropped(drop: list[str], policy: str | None) -> list[str]:
    """The columns that are no features: those to drop, and today's policy."""
    return drop if policy is None or policy in drop else [*drop, policy]


def _volume_facts(volume: Volume | str | None) -> dict[str, Any] | None:
    """How many cases there are in a period, and what reviewing them takes, by name."""
    volume = Volume.of(volume) if isinstance(volume, str) else volume
    return None if volume is None else volume.as_dict()


def _promised(pledge: Pledge | None) -> dict[str, Any]:
    """The arguments of a run that a promise makes."""
    if pledge is None:
        return {}
    promise = ", ".join(map(str, pledge.promises))
    return {"promise": promise, "confidence": pledge.confidence, "promise_groups": pledge.per}


def _begun(
    fits: Fits, arguments: RunArguments, fingerprint: str, source: str, without: dict[Method, str]
) -> Comparison:
    """The comparison before the first fit."""
    cases, answered = fits.cases, fits.answered_cases
    n_cases = len(cases.outcomes)
    return Comparison(
        cases if len(answered) == n_cases else cases.take(answered),
        fits.task.costs,
        fits.methods,
        answers={},
        errors={},
        arguments=arguments,
        fingerprint=fingerprint,
        repetitions=Repetitions(0, None, ""),
        left_out=without,
        table=None if len(answered) == n_cases else cases,
        source=source,
    )


def _check_arguments(cv: Any, repeats: Any, seed: Any, n_jobs: Any, time: str | None) -> None:
    check_count("cv", cv, least=2)
    if isinstance(repeats, str) and repeats != AUTO:
        raise ValueError(f"repeats must be {AUTO!r} or a number of 1 or more; got {repeats!r}.")
    if repeats != AUTO:
        check_count("repeats", repeats)
    check_count("seed", seed, least=0)
    if n_jobs == 0:
        raise ValueError("n_jobs=0 leaves no process to do the work; give 1 or more, or -1 for all cores.")
    _check_repeats_over_time(repeats, time)


def _check_repeats_over_time(repeats: Any, time: str | None) -> None:
    if time is not None and repeats not in (AUTO, 1):
        raise ValueError(
            f"repeats={repeats} does not go with time={time!r}: past and future can be told apart in one way only. "
            "Leave repeats out."
        )


def _as_repeats(repeats: Any) -> int | str:
    return AUTO if repeats == AUTO else int(repeats)


def _say_nothing(*_: Any) -> None:
    """Report no progress."""


def _splits(cases: Cases, arguments: RunArguments) -> list[Fold]:
    """Training and test rows of every fold, of one repetition after another: of as many as there may be."""
    if cases.times is not None:
        return time_folds(cases.times, cases.outcomes, arguments.cv, LEAST_CASES)
    splits = _shuffled_folds(cases, arguments, 0)
    most = most_repetitions(*cases.features.shape) if arguments.repeats == AUTO else int(arguments.repeats)
    for repeat in range(1, most):
        try:
            splits += _shuffled_folds(cases, arguments, repeat)
        except ValueError:  # groups that were lucky in the folds before
            if arguments.repeats == AUTO:
                break
            raise
    return splits


def _shuffled_folds(cases: Cases, arguments: RunArguments, repeat: int) -> list[Fold]:
    """Folds of one repetition, which no repetition of another seed shares."""
    seed = arguments.seed if repeat == 0 else int(np.random.SeedSequence([arguments.seed, repeat]).generate_state(1)[0])
    folds = make_folds(arguments.cv, cases.outcomes, groups=cases.groups, random_state=seed)
    if cases.groups is not None:
        _require_group_folds(folds, cases, arguments)
    return folds


def _require_group_folds(splits: list[Fold], cases: Cases, arguments: RunArguments) -> None:
    """Refuse groups that leave a training part too few groups for inner folds, or without one of the classes."""
    assert cases.groups is not None
    for train, _ in splits:
        found = [len(np.unique(cases.groups[train][cases.outcomes[train] == label])) for label in cases.classes]
        if min(found) < 2 or len(np.unique(cases.groups[train])) < INNER_FOLDS:
            raise ValueError(
                f"groups={arguments.groups!r} are too few or too unequal for cv={arguments.cv} folds: a training part "
                f"holds {len(np.unique(cases.groups[train]))} groups, {min(found)} of them with "
                f"{cases.target} = {cases.classes[int(np.argmin(found))]!r}; at least {INNER_FOLDS}, and 2 with each "
                "outcome, are needed. Use other folds, or more groups."
            )


def _group_name(groups: Any) -> str | None:
    return groups if isinstance(groups, str | None) else ARRAY


def _repeat(fits: Fits, comparison: Comparison) -> Comparison:
    """Run every method; repeat as often as asked, or repeat those in question until the choice is steady."""
    arguments, most = comparison.arguments, len(fits.splits) // fits.cv
    if arguments.repeats != AUTO or arguments.time is not None:
        fits.run(fits.methods, most)
        why = "as asked" if arguments.time is None else "there is one way to split by time"
        comparison = _with_answers(comparison, fits, Repetitions(most, None, why), alike=True)
        done = max((len(answers.kind) for answers in comparison.answers.values()), default=most)
        return comparison if done == most else replace(comparison, repetitions=Repetitions(done, None, _OUT_OF_TIME))
    methods, chosen = fits.methods, []
    for done in range(1, most + 1):
        before = comparison
        comparison, methods = _catch_up(fits, methods, done, comparison)
        if fits.lacking(methods, done):  # time is over, in the midst of a repetition
            kept = before if done > 1 else comparison
            return replace(kept, repetitions=Repetitions(max(done - 1, 1), None, _OUT_OF_TIME))
        if not comparison.answers:
            return replace(comparison, repetitions=Repetitions(done, None, "every method failed"))
        chosen.append(comparison.verdict.chosen)
        best, models = comparison.verdict.best_model, list(comparison.answers)
        why_steady = why_enough(chosen, best, models, comparison.repeated_prices, comparison.units)
        if why_steady is not None:
            return replace(comparison, repetitions=Repetitions(done, True, why_steady))
    n_cases, n_columns = fits.cases.features.shape
    why = why_no_more(n_cases, most, n_columns)
    return replace(comparison, repetitions=Repetitions(most, False if most > 1 else None, why))


def _catch_up(
    fits: Fits, methods: list[Method], repeats: int, comparison: Comparison
) -> tuple[Comparison, list[Method]]:
    """Give every method in question so many repetitions, also one that was not before; return these, too."""
    while True:
        fits.run(methods, repeats)
        comparison = _with_answers(comparison, fits, Repetitions(repeats, None, ""))
        if fits.limit.is_over and fits.lacking(methods, repeats):
            return comparison, methods
        methods = _in_question(comparison)
        if not fits.lacking(methods, repeats):
            return comparison, methods


def _in_question(comparison: Comparison) -> list[Method]:
    """The methods to repeat: those that may matter to the choice, and what is chosen now."""
    if not comparison.answers:
        return []
    verdict, models = comparison.verdict, list(comparison.answers)
    names = in_question(verdict.best_model, models, comparison.repeated_prices, comparison.units)
    return [method for method in comparison.methods if method.name in {*names, verdict.chosen}]


def _with_answers(comparison: Comparison, fits: Fits, repetitions: Repetitions, *, alike: bool = False) -> Comparison:
    """The comparison with all answers that are there now."""
    results, n_cases = fits.results(alike), len(comparison.cases.outcomes)
    errors = {name: error for name, folds in results.items() if (error := _first_error(folds)) is not None}
    answers = {name: Answers.of(folds, n_cases, fits.cv) for name, folds in results.items() if name not in errors}
    return replace(comparison, answers=answers, errors=errors, repetitions=repetitions)


def _without_unfinished(comparison: Comparison, fits: Fits, resumes: bool) -> Comparison:
    """The comparison of the methods that have all their folds; the others are left out, and it says why."""
    lacking = fits.unfinished(resumes)
    if lacking and not comparison.answers and not comparison.errors:
        reasons = "; ".join(f"{method.name}: {why}" for method, why in list(lacking.items())[:1])
        raise TimeoutError(f"No method has answered all cases. {reasons}.")
    kept = [method for method in comparison.methods if method not in lacking]
    return replace(comparison, methods=kept, left_out=comparison.left_out | lacking)


def _first_error(folds: list[FoldResult]) -> str | None:
    return next((to_python(fold.error) for fold in folds if fold.error is not None), None)
