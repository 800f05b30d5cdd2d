"""The fits of a comparison, each of a method on a fold: in this process or in workers, stored as they arrive."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from tempfile import TemporaryDirectory
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
from .parts import FoldPart, in_parts, prepare_sent, received_methods, run_sent
from .remote import FoldRuns
from .sharing import Preparation, Shared

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
            yield from self._here(pending)
            return
        run = self.run_there or self._in_processes
        parts = in_parts(pending)
        died = []
        for position, results in run(parts):
            if isinstance(results, WorkerDiedError):
                died.append((parts[position], results))
                continue
            yield from parts[position].with_results(results)
        yield from self._after_death(died, run)

    def _here(self, pending: list[tuple[Method, int]]) -> Iterator[tuple[Method, int, FoldResult]]:
        shared, last = Shared(), -1
        for method, number in pending:
            if number != last:
                shared, last = Shared(), number
            yield method, number, run_fold(method, self.task, self.cases, *self.splits[number], shared)

    def _after_death(
        self, died: list[tuple[FoldPart, WorkerDiedError]], run: FoldRuns
    ) -> Iterator[tuple[Method, int, FoldResult]]:
        """Run the methods one by one that were run together when the process died; of others say so."""
        for part, death in died:
            if len(part.methods) == 1:
                yield part.methods[0], part.number, _without_worker(part, self.splits, death)
                continue
            parts = [FoldPart(part.number, (method,)) for method in part.methods]
            for position, results in run(parts):
                if isinstance(results, WorkerDiedError):
                    results = [_without_worker(parts[position], self.splits, results)]
                yield from parts[position].with_results(results)

    def _in_processes(self, parts: list[FoldPart]) -> Iterator[tuple[int, Any]]:
        """Run parts in worker processes, of one repetition after another: each fold is prepared once for all."""
        repetitions: dict[int, list[int]] = {}
        for position, part in enumerate(parts):
            repetitions.setdefault(part.number // self.cv, []).append(position)
        for positions in repetitions.values():
            with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                calls = [self._call(parts[position], folder) for position in positions]
                for _ in surviving_results(prepare_sent, _distinct_preparations(calls), self.n_jobs):
                    pass
                for at, results in surviving_results(run_sent, calls, self.n_jobs):
                    yield positions[at], results

    def _call(self, part: FoldPart, folder: str) -> tuple[Any, ...]:
        return part.sent(), self.task, self.cases, *self.splits[part.number], f"{folder}/{part.number}"

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


def _distinct_preparations(calls: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Of the calls that need the same preparation of a fold the first; none if there is no second one."""
    found: dict[Any, list[tuple[Any, ...]]] = {}
    for call in calls:
        sent, task, cases, train, _, place = call
        method = received_methods(sent, task)[0]
        found.setdefault((place, Preparation.of(method, cases.features, len(train))), []).append(call)
    return [alike[0] for alike in found.values() if len(alike) > 1]


def _without_worker(part: FoldPart, splits: list[Fold], death: WorkerDiedError) -> FoldResult:
    """A fold whose worker process died, and one line about it."""
    (method,), number = part.methods, part.number
    what = f"fold {number + 1} of {len(splits)}: the process that fitted it ended {death}, as when memory runs out"
    warnings.warn(f"{method.name}, {what}; the other fits go on.", UserWarning, stacklevel=2)
    return FoldResult.failed(splits[number][1], what)
