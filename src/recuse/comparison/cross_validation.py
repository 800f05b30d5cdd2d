"""Nested cross-validation of every method, resuming where an earlier run stopped.

The file is not called compare.py: the package re-exports the function `compare`, which would hide a module of that
name.
"""

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
from .methods import Method, Task, choose_methods, left_out
from .result import Answers, Comparison, RunArguments
from .writing import write_run

DEFAULT_COSTS = Costs(fp=1.0, fn=5.0, reject=0.3)
_LEAST_CASES = 6  # of each class: three inner folds of the smallest training part
Progress = Callable[[int, int, str], None]
Split = tuple[Indices, Indices]  # rows to train on, rows to test


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
    not seen. The manual review of every case, and each classifier without rejection, are ranked with them.

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
        Folds computed in parallel; -1 for all cores.
    seed : int, default=0
        Random state of folds, methods and intervals.
    out : path-like, optional
        Folder to write everything into. Finished folds are kept there in ``.cache``, so that the same call resumes
        where it was interrupted.
    progress : callable, optional
        Called after each fold with the number of folds done, the number of all folds, and the title of the method.

    Returns
    -------
    Comparison
    """
    started = time.perf_counter()
    costs = as_costs(costs)
    costs.require_rejecting_pays()
    _check_arguments(cv, repeats, seed, n_jobs)
    arguments = RunArguments(int(cv), int(repeats), int(seed), _as_names(drop))
    cases = load_cases(data, target, positive, drop=arguments.drop, least=max(cv, _LEAST_CASES))
    n_cases = len(cases.outcomes)
    chosen = choose_methods(methods, n_cases)
    fingerprint, folder = data_fingerprint(cases), _prepare_folder(out)
    checkpoints = Checkpoints(folder, run_fingerprint(fingerprint, arguments.as_dict() | costs.as_dict()))
    task = Task(costs, cases.positive, seed, n_cases)
    results = _run(chosen, cases, task, _splits(cases.outcomes, arguments), checkpoints, n_jobs, progress)
    errors = {name: error for name, folds in results.items() if (error := _first_error(folds)) is not None}
    comparison = Comparison(
        cases,
        costs,
        chosen,
        answers={name: Answers.of(folds, n_cases, cv) for name, folds in results.items() if name not in errors},
        errors=errors,
        arguments=arguments,
        fingerprint=fingerprint,
        seconds=time.perf_counter() - started,
        left_out=left_out(n_cases) if methods is None else {},
    )
    if folder is not None:
        write_run(comparison, folder)
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
        The preparation of the table and the classifier, for `recuse.save` and `recuse.decide`.
    """
    costs = as_costs(costs)
    costs.require_rejecting_pays()
    check_count("seed", seed, least=0)
    cases = load_cases(data, target, positive, drop=_as_names(drop))
    (chosen,) = choose_methods([method], len(cases.outcomes))
    task = Task(costs, cases.positive, seed, len(cases.outcomes))
    return fit_model(chosen, task, cases.features, cases.outcomes)[0]


def load_cases(
    data: Any, target: str | None, positive: Any = None, *, drop: Iterable[str] = (), least: int = _LEAST_CASES
) -> Cases:
    """Read and check the table: a frame, a file, or scikit-learn's breast-cancer table when none is given.

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


def _check_arguments(cv: Any, repeats: Any, seed: Any, n_jobs: Any) -> None:
    check_count("cv", cv, least=2)
    check_count("repeats", repeats)
    check_count("seed", seed, least=0)
    if n_jobs == 0:
        raise ValueError("n_jobs=0 leaves no process to do the work; give 1 or more, or -1 for all cores.")


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


def _splits(outcomes: NDArray[Any], arguments: RunArguments) -> list[Split]:
    """Training and test rows of every fold of every repetition."""
    rows = np.zeros(len(outcomes))
    return [
        split
        for repeat in range(arguments.repeats)
        for split in StratifiedKFold(arguments.cv, shuffle=True, random_state=arguments.seed + repeat).split(
            rows, outcomes
        )
    ]


def _run(
    methods: list[Method],
    cases: Cases,
    task: Task,
    splits: list[Split],
    checkpoints: Checkpoints,
    n_jobs: int | None,
    progress: Progress | None,
) -> dict[str, list[FoldResult]]:
    """Results of every method and fold, stored as they arrive."""
    # The list begins with the simple methods; starting with the slow ones keeps every worker busy to the end.
    fits = [(method, number) for number in range(len(splits)) for method in reversed(methods)]
    keys = {method.name: method_key(method, task) for method in methods}
    done = {(m.name, i): found for m, i in fits if (found := checkpoints.load(keys[m.name], i)) is not None}
    report = progress or (lambda *_: None)
    report(len(done), len(fits), "")
    pending = [(method, number) for method, number in fits if (method.name, number) not in done]
    for method, number, result in _results(pending, task, cases, splits, n_jobs):
        checkpoints.store(keys[method.name], number, result)
        done[method.name, number] = result
        report(len(done), len(fits), method.title)
    return {method.name: [done[method.name, number] for number in range(len(splits))] for method in methods}


def _results(
    pending: list[tuple[Method, int]],
    task: Task,
    cases: Cases,
    splits: list[Split],
    n_jobs: int | None,
) -> Iterator[tuple[Method, int, FoldResult]]:
    """Run the pending fits, in this process or in workers; yield each result as it is there."""
    if effective_n_jobs(n_jobs) == 1:  # in this process: nothing is copied
        for method, number in pending:
            yield method, number, run_fold(method, task, cases, *splits[number])
        return
    # A method holds nested functions, which pickle cannot send to a worker: send its name instead.
    calls = (delayed_child(_run_named)(method.name, task, cases, number, *splits[number]) for method, number in pending)
    by_name = {method.name: method for method, _ in pending}
    for name, number, result in Parallel(n_jobs=n_jobs, backend="loky", return_as="generator_unordered")(calls):
        yield by_name[name], number, result


def _run_named(
    name: str,
    task: Task,
    cases: Cases,
    number: int,
    train: Indices,
    test: Indices,
) -> tuple[str, int, FoldResult]:
    (method,) = choose_methods([name], task.n_rows)
    return name, number, run_fold(method, task, cases, train, test)


def _first_error(folds: list[FoldResult]) -> str | None:
    return next((to_python(fold.error) for fold in folds if fold.error is not None), None)
