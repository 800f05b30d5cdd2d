"""A cluster as a fit sees it: who is there, and waiting for answers with an eye on who has gone meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any

from . import faults

_LOOK_AROUND = 2.0  # seconds of silence after which the client asks the scheduler who is still there


class Lost(Exception):  # noqa: N818  # it is returned, never raised
    """A worker is gone."""


class Cluster:
    """The workers behind a Dask client; the client in use by default."""

    def __init__(self, client: Any = None) -> None:
        self.client = find_client(client)

    def workers(self) -> dict[str, int]:
        """Threads of each worker that is there."""
        try:
            threads: dict[str, int] = self.client.nthreads()
        except (TimeoutError, OSError, RuntimeError, ValueError, asyncio.CancelledError):
            raise faults.scheduler_lost(self._scheduler) from None
        if not threads:
            threads = self._wait_for_workers()
        return threads

    def _wait_for_workers(self) -> dict[str, int]:
        """A nanny starts its worker again: give it time."""
        try:
            self.client.wait_for_workers(1, timeout=30)
        except (TimeoutError, OSError, RuntimeError, ValueError):
            raise faults.no_workers(self._scheduler) from None
        threads: dict[str, int] = self.client.nthreads()
        return threads

    @property
    def _scheduler(self) -> str:
        return str(getattr(self.client.scheduler, "address", "an unknown address"))

    def memory_of_any(self) -> str:
        """The memory limit that workers have, as a part of a sentence."""
        try:
            workers = self.client.scheduler_info()["workers"]
        except (OSError, RuntimeError, KeyError):
            return ""
        return next((faults.memory_of({a: w.get("memory_limit")}, a) for a, w in workers.items()), "")

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
        except RuntimeError:
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

    def gather(self, futures: dict[Any, Any], *, may_lose: bool = False) -> dict[Any, Any]:
        """Results of tasks by key; with `may_lose`, keys (worker, ...) of workers that are gone are left out."""
        results = self._sync(self._await_tasks, futures, may_lose)
        for key, result in results.items():
            if isinstance(result, BaseException):
                self._raise_of_task(key, result)
        return dict(results)

    async def _await_tasks(self, futures: dict[Any, Any], may_lose: bool) -> dict[Any, Any]:
        tasks = {asyncio.ensure_future(_outcome(future)): key for key, future in futures.items()}
        results, waiting = {}, set(tasks)
        while waiting:
            done, waiting = await asyncio.wait(waiting, timeout=_LOOK_AROUND, return_when=asyncio.FIRST_COMPLETED)
            results.update({tasks[task]: task.result() for task in done})
            if any(isinstance(task.result(), BaseException) for task in done):
                break
            if not done:
                present = await self._present()
                gone = [t for t in waiting if may_lose and _worker_of(tasks[t]) not in present]
                for task in gone:
                    task.cancel()
                    waiting.discard(task)
        for task in waiting:
            task.cancel()
        return results

    def _raise_of_task(self, key: Any, error: BaseException) -> None:
        """Turn the error of a task into a sentence that names its partition, or the work that a text names."""
        from distributed.scheduler import KilledWorker

        number = key[1] if isinstance(key, tuple) else key
        if isinstance(error, KilledWorker):
            raise faults.lost_too_often(
                number, error.allowed_failures + 1, error.last_worker.address, self.memory_of_any()
            ) from None
        if isinstance(error, (asyncio.CancelledError, CancelledError)):
            raise faults.scheduler_lost(self._scheduler) from None
        if isinstance(error, MemoryError):
            raise faults.out_of_memory(number, "of the cluster", self.memory_of_any()) from error
        if isinstance(error, (faults.PartitionError, faults.ClusterError)) or isinstance(number, str):
            raise error
        raise faults.unreadable(number, error) from error


def find_client(client: Any = None) -> Any:
    """The client given, or the one in use."""
    from distributed import default_client

    if client is None:
        try:
            client = default_client()
        except ValueError:
            raise faults.no_client() from None
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


def _worker_of(key: Any) -> Any:
    """The worker of a key."""
    return key[0] if isinstance(key, tuple) else key
