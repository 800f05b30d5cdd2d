"""The fits of a comparison, each of a method on a fold: in this process or in workers, stored as they arrive."""

from __future__ import annotations

import logging
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
from .methods import ENSEMBLE, Method
from .parts import FoldPart, in_parts, prepare_sent, received_methods, run_sent
from .plans import Task
from .remote import FoldRuns
from .sharing import Preparation, Shared
from .time_limit import TimeLimit, estimate, not_done

Progress = Callable[[int, int, str], None]
_FEW_CELLS = 50_000  # a fold of so many is prepared in less time than a process needs to load the libraries for it
_log = logging.getLogger("recuse.comparison")


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
    limit : TimeLimit
        When to begin nothing new.
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
    limit: TimeLimit = field(default_factory=TimeLimit)
    done: dict[tuple[str, int], FoldResult] = field(default_factory=dict)
    _has_estimated: bool = False

    def lacking(self, methods: list[Method], repeats: int) -> list[tuple[Method, int]]:
        """Which folds of the first so many repetitions these methods have not answered, in the order to run them.

        Fold by fold, so that each is prepared once. Where time is limited, method by method, the simple ones first and
        the ensemble last: as many as possible shall be whole when it is over.
        """
        if self.limit.seconds is None:
            # The list begins with the simple methods; starting with the slow ones keeps every worker busy to the end.
            fits = [(method, number) for number in range(repeats * self.cv) for method in reversed(methods)]
        else:
            simple_first = sorted(methods, key=lambda method: method.name == ENSEMBLE)
            numbers = [range(repeat * self.cv, (repeat + 1) * self.cv) for repeat in range(repeats)]
            fits = [(method, number) for folds in numbers for method in simple_first for number in folds]
        return [(method, number) for method, number in fits if (method.name, number) not in self.done]

    def run(self, methods: list[Method], repeats: int) -> None:
        """See that these methods have answered so many repetitions, as far as time allows."""
        keys = {method.name: method_key(method, self.task) for method in methods}
        for method, number in self.lacking(methods, repeats):
            if (found := self.checkpoints.load(keys[method.name], number)) is not None:
                self.done[method.name, number] = found
        pending = self.lacking(methods, repeats)
        total, started, before = len(self.done) + len(pending), self.limit.elapsed, len(self.done)
        self.progress(len(self.done), total, "")
        for method, number, result in self._results(pending):
            self.checkpoints.store(keys[method.name], number, result)
            self.done[method.name, number] = result
            again = f", repetition {number // self.cv + 1}" if number >= self.cv else ""
            self.progress(len(self.done), total, method.title + again)
            if len(self.done) - before == len(methods) and not self._has_estimated:
                self._estimate((self.limit.elapsed - started) / len(methods) * (total - len(self.done)))

    def _estimate(self, left: float) -> None:
        """Say how long it will take, once."""
        self._has_estimated = True
        if left >= 1:
            _log.info("%s", estimate(len(self.methods), self.cv, left, len(self.splits) // self.cv, self.limit))

    def _results(self, pending: list[tuple[Method, int]]) -> Iterator[tuple[Method, int, FoldResult]]:
        """Run the pending fits, here, in worker processes or on a cluster; yield each result as it is there."""
        if self.run_there is None and effective_n_jobs(self.n_jobs) == 1:  # in this process: nothing is copied
            yield from self._here(pending)
            return
        run = self.run_there or self._in_processes
        parts = in_parts(pending, self.cv)
        died = []
        for position, results in run(parts):
            if isinstance(results, WorkerDiedError):
                died.append((parts[position], results))
                continue
            yield from parts[position].with_results(results)
            if self.run_there is not None and self.limit.is_over:  # what a cluster has begun is called off
                return
        yield from self._after_death(died, run)

    def _here(self, pending: list[tuple[Method, int]]) -> Iterator[tuple[Method, int, FoldResult]]:
        shared: dict[int, Shared] = {}
        for method, number in pending:
            if self.limit.is_over:
                return
            if number not in shared:
                if self.limit.seconds is None:  # fold by fold: what was shared on the last one is not needed again
                    shared.clear()
                shared[number] = Shared()
            explained = number < self.cv
            result = run_fold(method, self.task, self.cases, *self.splits[number], shared[number], explained)
            yield method, number, result

    def _after_death(
        self, died: list[tuple[FoldPart, WorkerDiedError]], run: FoldRuns
    ) -> Iterator[tuple[Method, int, FoldResult]]:
        """Run the methods one by one that were run together when the process died; of others say so."""
        for part, death in died:
            if len(part.methods) == 1:
                yield part.methods[0], part.number, _without_worker(part, self.splits, death)
                continue
            parts = [part._replace(methods=(method,)) for method in part.methods]
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
                goes_on = None if self.limit.seconds is None else lambda: self.limit.goes_on
                self._prepare(_distinct_preparations(calls), goes_on)
                for at, results in surviving_results(run_sent, calls, self.n_jobs, goes_on):
                    yield positions[at], results

    def _prepare(self, calls: list[tuple[Any, ...]], goes_on: Callable[[], bool] | None) -> None:
        """Prepare folds; those of a small table in this process, so that no worker loads what it takes."""
        if self.cases.features.size > _FEW_CELLS:
            for _ in surviving_results(prepare_sent, calls, self.n_jobs, goes_on):
                pass
            return
        for call in calls:
            if goes_on is None or goes_on():
                prepare_sent(*call)

    def _call(self, part: FoldPart, folder: str) -> tuple[Any, ...]:
        return part.sent(), self.task, self.cases, *self.splits[part.number], part.explained, f"{folder}/{part.number}"

    @property
    def answered_cases(self) -> Indices:
        """Positions of the cases that every repetition answers: all, but over time not the first."""
        return np.unique(np.concatenate([test for _, test in self.splits[: self.cv]]))

    def results(self, alike: bool = False) -> dict[str, list[FoldResult]]:
        """Results of each method that has a whole repetition, in the order of the folds.

        Positions are those among the answered cases. With `alike`, of each method as many repetitions as all of these
        have, where time ran out.
        """
        whole = {method.name: self.whole_repetitions(method.name) for method in self.methods}
        least = min((count for count in whole.values() if count), default=0)
        kept = {name: least if alike else count for name, count in whole.items() if count}
        answered = self.answered_cases
        return {
            name: [
                replace(fold, test=np.searchsorted(answered, fold.test))
                for fold in (self.done[name, number] for number in range(repeats * self.cv))
            ]
            for name, repeats in kept.items()
        }

    def whole_repetitions(self, name: str) -> int:
        """How many repetitions a method has answered in full."""
        found = next((i for i in range(len(self.splits)) if (name, i) not in self.done), len(self.splits))
        return found // self.cv

    def unfinished(self, resumes: bool) -> dict[Method, str]:
        """The methods without a whole repetition, and why."""
        lacking = [method for method in self.methods if not self.whole_repetitions(method.name)]
        return {
            method: not_done(
                sum((method.name, number) in self.done for number in range(self.cv)), self.cv, self.limit, resumes
            )
            for method in lacking
        }


def _distinct_preparations(calls: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Of the calls that need the same preparation of a fold the first; none if there is no second one."""
    found: dict[Any, list[tuple[Any, ...]]] = {}
    for call in calls:
        sent, task, cases, train, *_, place = call
        method = received_methods(sent, task)[0]
        found.setdefault((place, Preparation.of(method, cases.features, len(train))), []).append(call)
    return [alike[0] for alike in found.values() if len(alike) > 1]


def _without_worker(part: FoldPart, splits: list[Fold], death: WorkerDiedError) -> FoldResult:
    """A fold whose worker process died, and one line about it."""
    (method,), number = part.methods, part.number
    what = f"fold {number + 1} of {len(splits)}: the process that fitted it ended {death}, as when memory runs out"
    warnings.warn(f"{method.name}, {what}; the other fits go on.", UserWarning, stacklevel=2)
    return FoldResult.failed(splits[number][1], what)
