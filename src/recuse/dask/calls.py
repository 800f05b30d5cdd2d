"""Calls on a cluster: they survive the loss of a worker, and leave nothing behind.

A call is a task of dask's scheduler. It runs in one thread, one call at a time in each worker process: folds catch
warnings, and numerical libraries limit their threads, for a whole process.
"""

from __future__ import annotations

import pickle
import queue
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from threadpoolctl import threadpool_limits

from ..workers import WorkerDiedError
from .cluster import Cluster, pause_limit
from .connection import address_of
from .faults import ClusterError, paused

_PATIENCE_SECONDS = 60  # without any worker
_LOOK_SECONDS = 1.0
_AGAIN = "; the same command continues where it stopped."
_ONE_AT_A_TIME = threading.Lock()


def cluster_results(
    client: Any, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], shared: Sequence[Any] = ()
) -> Generator[tuple[int, Any], None, None]:
    """Call a function on a cluster; yield the number of each call and its result as it is there.

    A call whose worker dies is called again by the scheduler. If that has happened so often that the scheduler gives
    up, it is called once more when nothing else runs: whichever dies then, too, is the cause, and has a
    `WorkerDiedError` as its result. An error that the function raises is raised here. No future is left behind.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    function : callable
        What to call; importable on the workers.
    calls : sequence of tuple
        Positional arguments of each call.
    shared : sequence
        What comes before them in every call: futures, which are sent to each worker once.
    """
    futures = {}
    try:
        for number, call in enumerate(calls):
            futures[number] = client.submit(_alone_in_process, function, *shared, *call, pure=False)
        yield from future_results(client, futures)
    finally:
        _release(client, futures)


def future_results(client: Any, futures: dict[int, Any]) -> Generator[tuple[int, Any], None, None]:
    """Yield the number of each future and its result, as `cluster_results` does; each is released when it is read.

    The others are cancelled where it ends early: by an error, or closed by a caller who wants no more.
    """
    from distributed.scheduler import KilledWorker

    suspects = []
    try:
        for number in _as_completed(client, futures):
            try:
                result = _result(client, futures[number])
            except KilledWorker:
                suspects.append(number)
                continue
            futures.pop(number).release()
            yield number, result
        for number in suspects:
            yield number, _second_result(client, futures[number])
            futures.pop(number).release()
    finally:
        _release(client, futures)


def _second_result(client: Any, future: Any) -> Any:
    """The result of a call that lost its workers, called once more; a `WorkerDiedError` where it loses them again."""
    from distributed.scheduler import KilledWorker

    future.retry()
    for _ in _as_completed(client, {0: future}):
        pass
    try:
        return _result(client, future)
    except KilledWorker as error:
        return WorkerDiedError(f"with its worker {getattr(error.last_worker, 'address', '')}, again and again")


def _as_completed(client: Any, futures: dict[int, Any]) -> Iterator[int]:
    """Numbers of futures as they end; an error where the cluster is lost, which would never tell."""
    ended: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number, future in list(futures.items()):
        future.add_done_callback(lambda _, number=number: ended.put(number))
    waiting, idle_since = len(futures), None
    while waiting:
        try:
            number = ended.get(timeout=_LOOK_SECONDS)
        except queue.Empty:
            idle_since = _require_alive(client, idle_since)
            continue
        waiting, idle_since = waiting - 1, None
        yield number


def _require_alive(client: Any, idle_since: float | None) -> float | None:
    """Refuse a cluster that has gone away, or where nobody has worked for long; return since when nobody does."""
    if client.status not in ("running", "connecting"):
        raise _lost(client)
    present = client.nthreads()  # unlike scheduler_info, which may list five workers only
    if present and _somebody_works(client):
        return None
    since = idle_since or time.monotonic()
    waited = time.monotonic() - since
    if present and waited > pause_limit():
        first = min(present)
        raise paused(first, Cluster(client).memory_of(first), pause_limit(), len(present) - 1)
    if not present and waited > _PATIENCE_SECONDS:
        raise ClusterError(f"The cluster at {address_of(client)} has lost all its workers: start new ones{_AGAIN}")
    return since


def _somebody_works(client: Any) -> bool:
    """Whether a worker takes calls, or ends one although Dask has paused it, short of memory."""
    if client.sync(client.scheduler.ncores_running):
        return True
    return any(client.run(_n_executing, on_error="ignore").values())


def _n_executing(dask_worker: Any) -> int:
    """On a worker: how many tasks are under way."""
    return len(dask_worker.state.executing)


def _lost(client: Any) -> ClusterError:
    return ClusterError(f"The scheduler at {address_of(client)} went away: see that it runs, and start again{_AGAIN}")


def _result(client: Any, future: Any) -> Any:
    from concurrent.futures import CancelledError

    try:
        return future.result(timeout=_PATIENCE_SECONDS)
    except CancelledError:
        raise _lost(client) from None
    except OSError as error:
        if type(error).__name__ == "CommClosedError":
            raise _lost(client) from None
        raise


def _release(client: Any, futures: dict[int, Any]) -> None:
    """Forget futures that nobody reads any more, and stop those that run."""
    if futures:
        with suppress(Exception):  # the cluster may be gone
            client.cancel(list(futures.values()), force=True)
    futures.clear()


@contextmanager
def sent(client: Any, value: Any) -> Iterator[Any]:
    """Give a future of a value for the `shared` of calls: sent once, and not lost with the worker that holds it."""
    import cloudpickle

    packed = cloudpickle.dumps(value)
    with warnings.catch_warnings():
        # It is sent once, as a task of its own, so that the scheduler can send it again.
        warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
        future = client.submit(pickle.loads, packed, pure=False)
    yield from _forgotten(client, future)


@contextmanager
def computed(client: Any, function: Callable[..., Any], *args: Any) -> Iterator[Any]:
    """Give a future of what a function returns on a worker, such as a table that is read there."""
    yield from _forgotten(client, client.submit(_alone_in_process, function, *args, pure=False))


def _forgotten(client: Any, future: Any) -> Iterator[Any]:
    try:
        yield future
    finally:
        with suppress(Exception):
            client.cancel([future], force=True)


def _alone_in_process(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function on a worker: in one thread, and not beside another call in the same process."""
    with _ONE_AT_A_TIME, threadpool_limits(limits=1):
        return function(*args)
