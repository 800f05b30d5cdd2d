"""What a worker holds for a fit, one object per partition, and how it comes there: the code that runs on workers."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial, reduce
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from . import faults

# The shelves of this process by fit and worker, of which a process may have several; each goes with its actor.
_SHELVES: WeakValueDictionary[tuple[str, str], Shelf] = WeakValueDictionary()


class Command(NamedTuple):
    """A function of what is held of a partition, with the arguments after it."""

    function: Callable[..., Any]
    args: tuple[Any, ...] = ()


class Failure(NamedTuple):
    """An error on a worker: in which partition, and whether memory was short."""

    number: int
    error: Exception


class Shelf:
    """What a worker holds for one fit: an actor."""

    def __init__(self, name: str, worker: str, n_threads: int) -> None:
        self._held: dict[int, Any] = {}
        self._joined: set[int] = set()  # partitions that are held as a part of another one
        self._threads = ThreadPoolExecutor(n_threads) if n_threads > 1 else None
        _SHELVES[name, worker] = self

    def put(self, number: int, held: Any) -> None:
        """Keep what was made of a partition."""
        self._held[number] = held

    def join(self, groups: Sequence[Sequence[int]], join: Callable[[list[Any]], Any]) -> Failure | None:
        """Hold each group of partitions as one thing, under the number of its first."""
        for first, *others in groups:
            try:
                self._held[first] = join([self._held[first], *(self._held.pop(number) for number in others)])
            except Exception as error:  # it names the partition on the client
                return Failure(first, error)
            self._joined.update(others)
        return None

    def run(self, numbers: Sequence[int], commands: Sequence[Command], add: Callable[..., Any] | None) -> Any:
        """Run commands on some partitions; the results of the last one, added up, or by partition without `add`.

        Partitions that are held as one are asked once, for all of them.
        """
        numbers = [number for number in numbers if number not in self._joined]
        work = partial(self._run_on, commands=commands)
        results = list(map(work, numbers) if self._threads is None else self._threads.map(work, numbers))
        failed = [result for result in results if isinstance(result, Failure)]
        if failed:
            return failed[0]
        return dict(zip(numbers, results, strict=True)) if add is None else added_up(results, add)

    def _run_on(self, number: int, commands: Sequence[Command]) -> Any:
        """Run commands on one partition; the result of the last."""
        result = None
        try:
            for function, args in commands:
                result = function(self._held[number], *args)
        except Exception as error:  # it names the partition on the client
            return Failure(number, error)
        return result

    def clear(self) -> None:
        """Let everything go."""
        self._held.clear()
        if self._threads is not None:
            self._threads.shutdown(wait=False)


def shelf_of(client: Any, worker: str, name: str) -> Any:
    """A worker's shelf by way of a client: the actor that Dask returns speaks through the client in use."""
    from distributed import Actor

    with client.as_current():
        return Actor(Shelf, worker, name)


def added_up(results: Sequence[Any], add: Callable[..., Any]) -> Any:
    """Results put together; arrays that are added are added in one place, without a new array for every sum."""
    if add is not operator.add or not isinstance(results[0], np.ndarray) or len(results) == 1:
        return reduce(add, results)
    total = results[0] + results[1]
    for result in results[2:]:
        total += result
    return total


def look_at(function: Callable[..., Any], number: int, args: tuple[Any, ...], *pieces: Any) -> tuple[str, Any]:
    """A task: look at a partition, and say where."""
    from distributed import get_worker

    return get_worker().address, naming_partition(number, function, *pieces, *args)


def hold(
    name: str, number: int, load: Command, own: tuple[Any, ...], repeated: Sequence[Command], *pieces: Any
) -> None:
    """A task: make of a partition what is to be held, bring it up to date and put it on the shelf."""
    from distributed import get_worker

    held = naming_partition(number, load.function, *pieces, *load.args, *own)
    for function, args in repeated:
        function(held, *args)
    _SHELVES[name, get_worker().address].put(number, held)


def naming_partition(number: int, function: Callable[..., Any], *args: Any) -> Any:
    """Call a function; what it finds wrong with a partition names it."""
    try:
        return function(*args)
    except faults.PartitionError as error:
        raise faults.PartitionError(f"Partition {number}: {error}") from None
