"""A cluster as a fit sees it: who is there, and waiting for answers with an eye on who has gone meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

from . import faults

_LOOK_AROUND = 2.0  # seconds of silence after which the client asks the scheduler who is still there
_STARTING = 30.0  # seconds that a cluster without workers has to bring one: a nanny starts its worker again
_PAUSE_LIMIT = 60.0  # seconds that a paused worker is waited for, unless Dask's setting recuse.pause-limit says another


class Lost(Exception):  # noqa: N818  # it is returned, never raised
    """A worker is gone."""


class _Stuck(Exception):  # noqa: N818  # it never leaves this module
    """Nothing goes on but what waits for a worker that has been paused too long."""


class Cluster:
    """The workers behind a Dask client; the client in use by default."""

    def __init__(self, client: Any = None) -> None:
        self.client = find_client(client)
        self._limits: dict[str, Any] = {}  # memory limits of all workers seen so far: the dead ones matter most

    def workers(self) -> dict[str, int]:
        """Threads of each worker that takes work; one that Dask has paused, short of memory, takes none."""
        threads, present = self._sync(self._await_running)
        self._note_limits()
        if threads:
            return dict(threads)
        raise self._paused(present) if present else faults.no_workers(self._scheduler)

    async def _await_running(self) -> tuple[dict[str, int], set[str]]:
        """Threads of the workers that run, as soon as there is one, and all that the scheduler knows of."""
        started = time.monotonic()
        while True:
            threads, present = await self._running(), await self._present()
            waited = time.monotonic() - started
            if threads or waited >= (pause_limit() if present else _STARTING):
                return threads, present
            await asyncio.sleep(0.1)

    @property
    def _scheduler(self) -> str:
        return str(getattr(self.client.scheduler, "address", "an unknown address"))

    def _note_limits(self) -> None:
        """Remember the memory limits of the workers that are there."""
        try:
            workers = self.client.scheduler_info(n_workers=-1)["workers"]
        except (OSError, RuntimeError, KeyError):
            return
        self._limits |= {address: worker.get("memory_limit") for address, worker in workers.items()}

    def memory_of(self, worker: str | None = None) -> str:
        """The memory limit of a worker, or of any that was ever there, as a part of a sentence."""
        self._note_limits()
        told = [faults.memory_of(self._limits, address) for address in (worker, *self._limits) if address]
        return next(filter(None, told), "")

    def _paused(self, workers: set[str]) -> faults.ClusterError:
        """The error about workers that are paused."""
        first = min(workers)
        return faults.paused(first, self.memory_of(first), pause_limit(), len(workers) - 1)

    def call(self, calls: dict[str, Any]) -> dict[str, Any]:
        """Wait for answers of actors by worker; `Lost` for workers that are gone."""
        return self._sync(self._await_calls, calls)

    def _sync(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run a coroutine of the client's loop."""
        try:
            return self.client.sync(function, *args)
        except faults.ClusterError:
            raise
        except (TimeoutError, OSError, asyncio.CancelledError):
            raise faults.scheduler_lost(self._scheduler) from None
        except (RuntimeError, ValueError):
            if self.client.status == "running":
                raise
            raise faults.scheduler_lost(self._scheduler) from None

    async def _await_calls(self, calls: dict[str, Any]) -> dict[str, Any]:
        tasks = {asyncio.ensure_future(_answer(call)): worker for worker, call in calls.items()}
        answers, waiting = {}, set(tasks)
        while waiting:
            done, waiting = await asyncio.wait(waiting, timeout=_LOOK_AROUND, return_when=asyncio.FIRST_COMPLETED)
            answers.update({tasks[task]: task.result() for task in done})
            if not done or any(isinstance(task.result(), Lost) for task in done):
                present = await self._present()
                for task in [task for task in waiting if tasks[task] not in present]:
                    task.cancel()
                    waiting.discard(task)
                    answers[tasks[task]] = Lost()
        return answers

    async def _present(self) -> set[str]:
        """Workers that the scheduler knows of."""
        if self.client.status != "running":
            raise faults.scheduler_lost(self._scheduler)
        return set(await asyncio.wait_for(self.client.scheduler.ncores(), 30))

    async def _running(self) -> dict[str, int]:
        """Threads of the workers that are not paused."""
        if self.client.status != "running":
            raise faults.scheduler_lost(self._scheduler)
        return dict(await asyncio.wait_for(self.client.scheduler.ncores_running(), 30))

    async def _waited_for(self, pinned: bool) -> set[str]:
        """Paused workers that work waits for: tasks that are bound to one, or all while nobody else has any."""
        running = await self._running()
        paused = await self._present() - set(running)
        if pinned or not paused:
            return paused
        processing = await asyncio.wait_for(self.client.scheduler.processing(), 30)
        return set() if any(processing.get(worker) for worker in running) else paused

    def gather(self, futures: dict[Any, Any], *, may_lose: bool = False) -> dict[Any, Any]:
        """Results of tasks by key.

        With `may_lose`, keys begin with the worker that the task is bound to, and those of workers that are gone, or
        have been paused for too long, are left out.
        """
        try:
            results = self._sync(self._await_tasks, futures, may_lose)
        except _Stuck as error:
            raise self._paused(error.args[0]) from None
        for key, result in results.items():
            if isinstance(result, BaseException):
                self._raise_of_task(key, result, futures[key])
        return dict(results)

    async def _await_tasks(self, futures: dict[Any, Any], may_lose: bool) -> dict[Any, Any]:
        tasks = {asyncio.ensure_future(_outcome(future)): key for key, future in futures.items()}
        results, waiting = {}, set(tasks)
        paused_since: dict[str, float] = {}
        while waiting:
            done, waiting = await asyncio.wait(waiting, timeout=_LOOK_AROUND, return_when=asyncio.FIRST_COMPLETED)
            results.update({tasks[task]: task.result() for task in done})
            if any(isinstance(task.result(), BaseException) for task in done):
                break
            if not done:
                paused_since = _since(paused_since, await self._waited_for(may_lose))
                limit = time.monotonic() - pause_limit()
                too_long = {worker for worker, since in paused_since.items() if since <= limit}
                present = await self._present() - too_long
                for task in [t for t in waiting if may_lose and _worker_of(tasks[t]) not in present]:
                    task.cancel()
                    waiting.discard(task)
                if too_long and not may_lose:
                    for task in waiting:
                        task.cancel()
                    raise _Stuck(too_long)
        for task in waiting:
            task.cancel()
        return results

    def _raise_of_task(self, key: Any, error: BaseException, future: Any) -> None:
        """Turn the error of a task into a sentence that names its partition, or the work that a text names."""
        from distributed.scheduler import KilledWorker

        number = key[1] if isinstance(key, tuple) else key
        if isinstance(error, KilledWorker):
            raise faults.lost_too_often(
                number,
                error.allowed_failures + 1,
                error.last_worker.address,
                self.memory_of(error.last_worker.address),
            ) from None
        if isinstance(error, (asyncio.CancelledError, CancelledError)):
            raise faults.scheduler_lost(self._scheduler) from None
        if isinstance(error, MemoryError):
            # Keys of tasks that are bound to a worker begin with it.
            worker = self._failed_on(future) or (key[0] if isinstance(key, tuple) and isinstance(key[0], str) else None)
            raise faults.out_of_memory(number, worker or "of the cluster", self.memory_of(worker)) from error
        if isinstance(error, (faults.PartitionError, faults.ClusterError)) or isinstance(number, str):
            raise error
        raise faults.unreadable(number, error) from error

    def _failed_on(self, future: Any) -> str | None:
        """The worker on which a task failed, or one that it needs; None where the scheduler does not tell."""

        # Not of this module: a scheduler need not have recuse to be asked.
        def ask(key: Any, dask_scheduler: Any) -> list[str]:
            task = dask_scheduler.tasks[key]
            return sorted((task.exception_blame or task).erred_on or ())

        try:
            found = self.client.run_on_scheduler(ask, future.key)
        except Exception:  # whatever it is, it must not hide the error that is to be told
            return None
        return str(found[0]) if found else None

    @contextmanager
    def told_of_loss(self) -> Iterator[None]:
        """Within, whatever a client without a scheduler raises is the one error about it."""
        try:
            yield
        except faults.ClusterError:
            raise
        except (TimeoutError, OSError, RuntimeError, ValueError, asyncio.CancelledError, CancelledError):
            if self.client.status == "running":
                raise
            raise faults.scheduler_lost(self._scheduler) from None

    def described(self) -> dict[str, Any]:
        """What the scheduler says of each worker: its memory limit and its threads, among others."""
        try:
            return dict(self.client.scheduler_info(n_workers=-1)["workers"])
        except OSError:
            raise faults.scheduler_lost(self._scheduler) from None


def pause_limit() -> float:
    """Seconds that a paused worker is waited for."""
    import dask
    from dask.utils import parse_timedelta

    return float(parse_timedelta(dask.config.get("recuse.pause-limit", _PAUSE_LIMIT)))


def find_client(client: Any = None) -> Any:
    """The client given, or the one in use."""
    from distributed import Client, default_client

    if client is None:
        try:
            client = default_client()
        except ValueError:
            raise faults.no_client() from None
    if not isinstance(client, Client):
        raise faults.no_such_client(client)
    if client.asynchronous:
        raise faults.asynchronous_client()
    if client.status != "running":
        raise faults.scheduler_lost(str(getattr(client.scheduler, "address", "an unknown address")))
    return client


async def _answer(call: Any) -> Any:
    """The answer of an actor; `Lost` where its worker cannot be reached."""
    if isinstance(call, Lost):
        return call
    try:
        return await call
    except OSError:
        return Lost()


async def _outcome(future: Any) -> Any:
    """The result of a task, or its error."""
    try:
        return await future
    except (Exception, asyncio.CancelledError) as error:
        return error


def _since(before: dict[str, float], paused: set[str]) -> dict[str, float]:
    """Since when workers have been paused, given what was known before."""
    now = time.monotonic()
    return {worker: before.get(worker, now) for worker in paused}


def _worker_of(key: Any) -> Any:
    """The worker of a key."""
    return key[0] if isinstance(key, tuple) else key
