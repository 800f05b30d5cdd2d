"""Threads that share the cores; workers that do not outlive the process they work for, nor end the others by dying."""

from __future__ import annotations

import os
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any, TypeVar

from joblib import Parallel, delayed
from joblib.parallel import get_active_backend
from threadpoolctl import threadpool_limits

from .ending import end_at_once

WATCH = "recuse: end with the parent"  # name of the thread
_WATCH_SECONDS = 0.5
R = TypeVar("R")


class WorkerDiedError(RuntimeError):
    """The process that worked on a call was killed, or ran out of memory."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Give the numerical libraries underneath one thread each, as long as the block runs."""
    import sklearn.ensemble  # noqa: F401  # a library that is loaded later would not know the limit

    with threadpool_limits(limits=1):
        yield


def in_threads(function: Callable[..., R], calls: Sequence[tuple[Any, ...]], n_threads: int) -> list[R]:
    """Results of ``function(share, *call)`` for every call, in their order; `share` is its part of the threads.

    For work that leaves the interpreter free. In a worker of another pool, whose neighbours have the other cores,
    the calls run one after the other, with one thread.

    Parameters
    ----------
    function : callable
        What to call.
    calls : sequence of tuple
        Positional arguments of each call after the first.
    n_threads : int
        Threads in all.
    """
    backend, _ = get_active_backend()
    n_threads = 1 if backend.nesting_level else n_threads
    at_once = max(1, min(n_threads, len(calls)))
    if at_once == 1:
        return [function(n_threads, *call) for call in calls]
    run = delayed(function)
    results: list[R] = Parallel(n_jobs=at_once, backend="threading")(run(n_threads // at_once, *call) for call in calls)
    return results


def surviving_results(
    function: Callable[..., Any],
    calls: list[tuple[Any, ...]],
    n_jobs: int | None,
    goes_on: Callable[[], bool] | None = None,
) -> Iterator[tuple[int, Any]]:
    """Call a function in worker processes; yield the number of each call and its result as it is there.

    A call whose process dies gives a `WorkerDiedError` as its result, and the others go on. When a process dies, the
    pool ends all its processes, and cannot say what each was doing: so every call leaves a mark while it runs. The
    marked ones are called again, one at a time. Whichever dies alone, too, is the one; and a call that ran out of
    memory only because of its neighbours gets its result.

    Parameters
    ----------
    function : callable
        What to call.
    calls : list of tuple
        Positional arguments of each call.
    n_jobs : int or None
        Processes at once, as joblib counts them; with one, too, the calls run in a process of their own.
    goes_on : callable, optional
        Asked before a call is handed out; once it says no, those that run are waited for and no other is begun.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as marks:
        pending = dict(enumerate(calls))
        while pending and (goes_on is None or goes_on()):
            try:
                for number, result in _in_workers(function, dict(pending), n_jobs, marks, goes_on):
                    del pending[number]
                    yield number, result
            except BrokenProcessPool:
                suspects = sorted(int(mark.name) for mark in Path(marks).iterdir())
                # Without a mark the process died before its call began: any of the next ones may be the cause.
                for number in [number for number in suspects if number in pending] or list(pending)[:1]:
                    yield number, _alone(function, number, pending.pop(number), marks)


def _alone(function: Callable[..., Any], number: int, call: tuple[Any, ...], marks: str) -> Any:
    """The result of one call in a process of its own; if that dies, the error."""
    try:
        ((_, result),) = _in_workers(function, {number: call}, 2, marks)
    except BrokenProcessPool as error:
        return WorkerDiedError(_reason(error))
    return result


def _in_workers(
    function: Callable[..., Any],
    calls: dict[int, tuple[Any, ...]],
    n_jobs: int | None,
    marks: str,
    goes_on: Callable[[], bool] | None = None,
) -> Iterator[tuple[int, Any]]:
    for mark in Path(marks).iterdir():
        mark.unlink()
    run = delayed_child(_marked)
    # Joblib's batches would hand several short calls to a process at once, and keep their results back till the last.
    # What may be called off is handed out when a process is free, and not a few calls ahead.
    ahead = "2*n_jobs" if goes_on is None else "n_jobs"
    pool = Parallel(n_jobs=n_jobs, backend="loky", return_as="generator_unordered", batch_size=1, pre_dispatch=ahead)
    wanted = takewhile(lambda _: goes_on is None or goes_on(), calls.items())
    yield from pool(run(marks, number, function, *call) for number, call in wanted)


def _marked(marks: str, number: int, function: Callable[..., Any], *args: Any) -> tuple[int, Any]:
    mark = Path(marks) / str(number)
    mark.touch()
    result = function(*args)
    mark.unlink(missing_ok=True)
    return number, result


def _reason(error: BrokenProcessPool) -> str:
    """How the process ended, if the pool knows: a signal such as SIGKILL, which Linux sends where memory runs out."""
    found = re.search(r"SIG[A-Z]+|EXIT\(-?\d+\)", str(error))
    return f"with {found.group()}" if found else "for a reason that is not known"


def delayed_child(function: Callable[..., Any]) -> Callable[..., Any]:
    """Joblib's `delayed`, for a function whose worker process ends soon after this process does."""
    parent = os.getpid()

    def call(*args: Any, **kwargs: Any) -> Any:
        return delayed(_run)(parent, function, *args, **kwargs)

    return call


def _run(parent: int, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    if os.getppid() == parent:  # a worker of that process: not the process itself, nor a worker started by another one
        _end_with(parent)
        end_at_once()
    elif not _is_running(parent):  # killed while this worker was starting: nobody waits for the result
        os._exit(1)
    return function(*args, **kwargs)


def _is_running(process: int) -> bool:
    if os.name != "posix":
        return True  # there the signal 0 would end the process
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it belongs to another user
        pass
    return True


@cache
def _end_with(parent: int) -> None:
    """End this process soon after its parent, even if the parent was killed and could not tell it to."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH_SECONDS)
        os._exit(1)

    if os.name == "posix":  # elsewhere an idle worker ends after a timeout
        threading.Thread(target=watch, daemon=True, name=WATCH).start()
