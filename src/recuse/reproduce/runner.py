"""Running an experiment: within a time budget, several calls at a time, without repeating what is done."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

from joblib import Parallel, delayed

from ..workers import delayed_child
from .results import OutcomeT, PartT, Results

NOT_THERE = (FileNotFoundError, ConnectionError)  # what `load` raises for a data set that is not to be had


class TimeBudget:
    """A number of minutes, counted from now."""

    def __init__(self, minutes: float) -> None:
        self._end = time.monotonic() + 60 * minutes

    @property
    def spent(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() > self._end


def run_parts(
    results: Results[PartT, OutcomeT],
    budget: TimeBudget,
    run_part: Callable[[PartT], list[OutcomeT]],
    report: Callable[[PartT], None],
) -> None:
    """Run the parts that have no outcomes yet, as long as there is time; report each as it ends.

    A part whose data are not there is skipped; if that leaves nothing, the error says why.
    """
    finished = results.finished()
    errors: list[Exception] = []
    for part in results.planned:
        if part in finished:
            continue
        if budget.spent:
            results.skipped.append(part.label)
            continue
        try:
            results.outcomes += run_part(part)
        except NOT_THERE as error:
            results.missing.append(part.label)
            say_skipped(part.label, error)
            errors.append(error)
            continue
        report(part)
    if errors and not results.outcomes:
        raise errors[0]


def present(names: Iterable[str], load: Callable[[str], Any]) -> list[str]:
    """Return the data sets that can be read; the others are skipped, and if that leaves none the error says why."""
    found: list[str] = []
    errors: list[Exception] = []
    for name in names:
        try:
            load(name)
        except NOT_THERE as error:
            say_skipped(name, error)
            errors.append(error)
        else:
            found.append(name)
    if errors and not found:
        raise errors[0]
    return found


def say_skipped(what: str, error: Exception) -> None:
    """Tell that a part of an experiment is not run, and why."""
    print(f"{what} is skipped: {error}", file=sys.stderr, flush=True)


def call_in_threads(function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Call a function with each tuple of arguments, two calls at a time; results in the order of the arguments.

    For work that leaves the interpreter free: kernel machines and what else is compiled.
    """
    results: list[Any] = Parallel(n_jobs=2, prefer="threads")(delayed(function)(*values) for values in arguments)
    return results


def call_in_processes(function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]], n_jobs: int) -> list[Any]:
    """Call a function with each tuple of arguments, each in a worker process; results in the order of the arguments."""
    results: list[Any] = Parallel(n_jobs=n_jobs)(delayed_child(function)(*values) for values in arguments)
    return results


def stream_from_processes(
    function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]], n_jobs: int
) -> Iterable[Any]:
    """Call a function with each tuple of arguments, each in a worker process; results as they come.

    No more arguments are taken than there are workers, so that an iterable that ends when time is up ends the work.
    """
    pool = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="all" if n_jobs == 1 else n_jobs)
    stream: Iterable[Any] = pool(delayed_child(function)(*values) for values in arguments)
    return stream
