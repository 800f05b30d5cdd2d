"""The fits of a comparison, each of a method on a fold: in this process or in workers, stored as they arrive."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from ..arrays import Indices
from ..folds import Fold
from ..tables import Cases
from ..workers import WorkerDiedError, surviving_results
from .checkpoints import Checkpoints, method_key
from .folds import FoldResult, run_fold
from .methods import Method, Task
from .own import as_methods, sendable
from .remote import FoldRuns

Progress = Callable[[int, int, str], None]


@dataclass(eq=False)
class Fits:
    """The fits of a run, each of a method on a fold: what is done, stored as it arrives.

    Attributes
    ----------
    methods : list of Method
        What is compared.
    cases, task
        What it is fitted on, and built for.
    cv, splits : int, list of Fold
        Folds of a repetition, and the folds of one repetition after another.
    checkpoints : Checkpoints
        Results of an earlier run.
    n_jobs, progress
        As in `compare`.
    run_there : callable or None
        What fits on a cluster; None fits here.
    done : dict
        Result by name of the method and number of the fold.
    """

    methods: list[Method]
    cases: Cases
    task: Task
    cv: int
    splits: list[Fold]
    checkpoints: Checkpoints
    n_jobs: int | None
    progress: Progress
    run_there: FoldRuns | None = None
    done: dict[tuple[str, int], FoldResult] = field(default_factory=dict)

    def lacking(self, methods: list[Method], repeats: int) -> list[tuple[Method, int]]:
        """Which folds of the first so many repetitions these methods have not answered."""
        # The list begins with the simple methods; starting with the slow ones keeps every worker busy to the end.
        fits = [(method, number) for number in range(repeats * self.cv) for method in reversed(methods)]
        return [(method, number) for method, number in fits if (method.name, number) not in self.done]

    def run(self, methods: list[Method], repeats: int) -> None:
        """See that these methods have answered so many repetitions."""
        keys = {method.name: method_key(method, self.task) for method in methods}
        for method, number in self.lacking(methods, repeats):
            if (found := self.checkpoints.load(keys[method.name], number)) is not None:
                self.done[method.name, number] = found
        pending = self.lacking(methods, repeats)
        total = len(self.done) + len(pending)
        self.progress(len(self.done), total, "")
        for method, number, result in self._results(pending):
            self.checkpoints.store(keys[method.name], number, result)
            self.done[method.name, number] = result
            again = f", repetition {number // self.cv + 1}" if number >= self.cv else ""
            self.progress(len(self.done), total, method.title + again)

    def _results(self, pending: list[tuple[Method, int]]) -> Iterator[tuple[Method, int, FoldResult]]:
        """Run the pending fits, here, in worker processes or on a cluster; yield each result as it is there."""
        if self.run_there is None and effective_n_jobs(self.n_jobs) == 1:  # in this process: nothing is copied
            for method, number in pending:
                yield method, number, run_fold(method, self.task, self.cases, *self.splits[number])
            return
        run = self.run_there or self._in_processes
        for position, result in run(pending):
            method, number = pending[position]
            if isinstance(result, WorkerDiedError):
                result = _without_worker(method, number, self.splits, result)
            yield method, number, result

    def _in_processes(self, pending: list[tuple[Method, int]]) -> Iterator[tuple[int, Any]]:
        calls = [(sendable(method), self.task, self.cases, *self.splits[number]) for method, number in pending]
        return surviving_results(_run_sent, calls, self.n_jobs)

    @property
    def answered_cases(self) -> Indices:
        """Positions of the cases that every repetition answers: all, but over time not the first."""
        return np.unique(np.concatenate([test for _, test in self.splits[: self.cv]]))

    def results(self) -> dict[str, list[FoldResult]]:
        """Results of each method, in the order of the folds, with positions among the answered cases."""
        numbers, answered = range(len(self.splits)), self.answered_cases
        found = {m.name: [self.done[m.name, i] for i in numbers if (m.name, i) in self.done] for m in self.methods}
        return {
            name: [replace(fold, test=np.searchsorted(answered, fold.test)) for fold in folds]
            for name, folds in found.items()
        }


def _without_worker(method: Method, number: int, splits: list[Fold], death: WorkerDiedError) -> FoldResult:
    """A fold whose worker process died, and one line about it."""
    what = f"fold {number + 1} of {len(splits)}: the process that fitted it ended {death}, as when memory runs out"
    warnings.warn(f"{method.name}, {what}; the other fits go on.", UserWarning, stacklevel=2)
    return FoldResult.failed(splits[number][1], what)


def _run_sent(sent: str | Method, task: Task, cases: Cases, train: Indices, test: Indices) -> FoldResult:
    (method,) = as_methods([sent], task.n_rows)
    return run_fold(method, task, cases, train, test)
