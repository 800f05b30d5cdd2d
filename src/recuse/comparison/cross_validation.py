"""Nested cross-validation of every method, going on where an earlier run stopped."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, effective_n_jobs
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from ..arrays import Indices
from ..costs import Costs, as_costs
from ..labels import to_python
from ..parameters import check_count
from ..tables import Cases, as_frame, check_cases, identifier_hints, read_table
from ..workers import delayed_child
from .checkpoints import Checkpoints, data_fingerprint, method_key, remove_leftovers, run_fingerprint
from .folds import FoldResult, fit_model, run_fold
from .methods import Method, Setting, choose_methods, left_out
from .result import Answers, Comparison, prices_of

DEFAULT_COSTS = Costs(fp=1.0, fn=5.0, reject=0.3)
_LEAST_CASES = 6  # of each class: three inner folds of the smallest training part
Progress = Callable[[int, int, str], None]


def compare(
    data: Any = None,
    target: str | None = None,
    *,
    positive: Any = None,
    drop: Iterable[str] = (),
    costs: Costs | float = DEFAULT_COSTS,
    methods: Iterable[str] | None = None,
    cv: int = 5,
    repeats: int = 1,
    n_jobs: int | None = None,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Cross-validate reject-option classifiers on a table and rank them by expected cost.

    Each method chooses its hyper-parameters on the training part of each fold only, and answers the cases it has
    not seen. Sending every case to a person, and each classifier without rejection, are ranked along.

    Parameters
    ----------
    data : DataFrame or path, optional
        The table: a pandas or polars frame, or a CSV, TSV or Parquet file. By default scikit-learn's breast-cancer
        table, with malignant as the positive class.
    target : str
        Column with the outcome, of two classes.
    positive : label, optional
        The positive class; the second of the sorted classes by default.
    drop : iterable of str, optional
        Columns to leave out, such as an identifier. New tables need not have them.
    costs : Costs or float, default=Costs(fp=1, fn=5, reject=0.3)
        Prices.
    methods : iterable of str, optional
        Names in ``recuse.comparison.METHODS``; by default all that are meant for tables of this size.
    cv : int, default=5
        Outer folds.
    repeats : int, default=1
        How often the cross-validation is repeated with other folds.
    n_jobs : int, optional
        Folds worked on at once; -1 for all cores.
    seed : int, default=0
        Random state of folds, methods and intervals.
    out : path-like, optional
        Folder to write everything into. Folds that are done are kept there in ``.cache``, so that the same call goes
        on where it was interrupted.
    progress : callable, optional
        Called with the number of folds done, of all folds, and what was done last.

    Returns
    -------
    Comparison
    """
    started = time.perf_counter()
    costs = as_costs(costs)
    costs.require_rejecting_pays()
    check_count("cv", cv, least=2)
    check_count("repeats", repeats)
    check_count("seed", seed, least=0)
    if n_jobs == 0:
        raise ValueError("n_jobs=0 leaves nobody to do the work; give 1 or more, or -1 for all cores.")
    dropped = _as_names(drop)
    cases = load_cases(data, target, positive, drop=dropped, least=max(cv, _LEAST_CASES))
    chosen = choose_methods(methods, len(cases.outcomes))
    arguments: dict[str, Any] = {"cv": int(cv), "repeats": int(repeats), "seed": int(seed), "drop": dropped}
    fingerprint = data_fingerprint(cases)
    folder = _prepare_folder(out)
    checkpoints = Checkpoints(folder, run_fingerprint(fingerprint, arguments | prices_of(costs)))
    splits = _splits(cases.outcomes, cv, repeats, seed)
    setting = Setting(costs, cases.positive, seed, len(cases.outcomes))
    results = _run(chosen, cases, setting, splits, checkpoints, n_jobs, progress)
    errors = {name: error for name, folds in results.items() if (error := _first_error(folds)) is not None}
    answers = {
        name: Answers.of(folds, len(cases.outcomes), cv) for name, folds in results.items() if name not in errors
    }
    arguments["methods"] = [method.name for method in chosen]
    comparison = Comparison(
        cases,
        costs,
        chosen,
        answers,
        errors,
        arguments,
        fingerprint,
        time.perf_counter() - started,
        left_out(len(cases.outcomes)) if methods is None else {},
    )
    if folder is not None:
        comparison.save(folder)
    return comparison


def fit_method(
    data: Any,
    target: str,
    *,
    method: str,
    positive: Any = None,
    drop: Iterable[str] = (),
    costs: Costs | float = DEFAULT_COSTS,
    seed: int = 0,
) -> Any:
    """Fit one method of the comparison on a whole table.

    Parameters
    ----------
    method : str
        Name in ``recuse.comparison.METHODS``.
    data, target, positive, drop, costs, seed
        As in `compare`.

    Returns
    -------
    Pipeline
        With the preparation of the table; `recuse.save` keeps it, `recuse.decide` asks it.
    """
    costs = as_costs(costs)
    costs.require_rejecting_pays()
    check_count("seed", seed, least=0)
    cases = load_cases(data, target, positive, drop=_as_names(drop))
    (chosen,) = choose_methods([method], len(cases.outcomes))
    setting = Setting(costs, cases.positive, seed, len(cases.outcomes))
    return fit_model(chosen, setting, cases.features, cases.outcomes)[0]


def load_cases(
    data: Any, target: str | None, positive: Any = None, *, drop: Iterable[str] = (), least: int = _LEAST_CASES
) -> Cases:
    """Return the table checked: from a frame, a file, or scikit-learn when there is none.

    Warns of columns that look like identifiers.
    """
    name = "table"
    if data is None:
        from ..datasets import load

        bunch = load("breast_cancer", as_frame=True)
        frame = bunch.data.assign(diagnosis=np.where(bunch.target == 1, "benign", "malignant"))
        target, name = target or "diagnosis", "breast cancer (scikit-learn)"
    elif target is None:
        raise ValueError("target is missing: name the column to predict.")
    elif isinstance(data, str | os.PathLike):
        frame, name = read_table(data), Path(data).name
    else:
        frame = as_frame(data)
    cases = check_cases(frame, target, positive, drop=drop, name=name, least=least)
    for hint in identifier_hints(cases.features):
        warnings.warn(f"{name}: {hint}.", UserWarning, stacklevel=3)
    return cases


def _as_names(drop: Iterable[str] | None) -> list[str]:
    return [drop] if isinstance(drop, str) else [str(name) for name in drop or ()]


def _prepare_folder(out: str | os.PathLike[str] | None) -> Path | None:
    if out is None:
        return None
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"out={os.fspath(out)!r} is a file: give a folder.")
    folder.mkdir(parents=True, exist_ok=True)
    remove_leftovers(folder)
    return folder


def _splits(outcomes: NDArray[Any], cv: int, repeats: int, seed: int) -> list[tuple[Indices, Indices]]:
    rows = np.zeros(len(outcomes))
    return [
        split
        for repeat in range(repeats)
        for split in StratifiedKFold(cv, shuffle=True, random_state=seed + repeat).split(rows, outcomes)
    ]


def _run(
    methods: list[Method],
    cases: Cases,
    setting: Setting,
    splits: list[tuple[Indices, Indices]],
    checkpoints: Checkpoints,
    n_jobs: int | None,
    progress: Progress | None,
) -> dict[str, list[FoldResult]]:
    """Results of every method and fold, stored as they come."""
    # The list has the simpler methods in front: the slow ones begin, so that no worker waits long at the end.
    tasks = [(method, number) for number in range(len(splits)) for method in reversed(methods)]
    keys = {method.name: method_key(method, setting) for method in methods}
    done = {(m.name, i): found for m, i in tasks if (found := checkpoints.load(keys[m.name], i)) is not None}
    report = progress or (lambda *_: None)
    report(len(done), len(tasks), "")
    pending = [(method, number) for method, number in tasks if (method.name, number) not in done]
    for method, number, result in _results(pending, setting, cases, splits, n_jobs):
        checkpoints.store(keys[method.name], number, result)
        done[method.name, number] = result
        report(len(done), len(tasks), method.title)
    return {method.name: [done[method.name, number] for number in range(len(splits))] for method in methods}


def _results(
    pending: list[tuple[Method, int]],
    setting: Setting,
    cases: Cases,
    splits: list[tuple[Indices, Indices]],
    n_jobs: int | None,
) -> Iterator[tuple[Method, int, FoldResult]]:
    if effective_n_jobs(n_jobs) == 1:  # in this process: nothing is copied
        for method, number in pending:
            yield method, number, run_fold(method, setting, cases, *splits[number])
        return
    # Methods hold functions that only cloudpickle, not pickle, takes along: send names instead.
    calls = (
        delayed_child(_run_named)(method.name, setting, cases, number, *splits[number]) for method, number in pending
    )
    by_name = {method.name: method for method, _ in pending}
    for name, number, result in Parallel(n_jobs=n_jobs, backend="loky", return_as="generator_unordered")(calls):
        yield by_name[name], number, result


def _run_named(
    name: str,
    setting: Setting,
    cases: Cases,
    number: int,
    train: Indices,
    test: Indices,
) -> tuple[str, int, FoldResult]:
    (method,) = choose_methods([name], setting.n_rows)
    return name, number, run_fold(method, setting, cases, train, test)


def _first_error(folds: list[FoldResult]) -> str | None:
    return next((to_python(fold.error) for fold in folds if fold.error is not None), None)
