"""Partitions that stay with the workers, and how they are asked: the mechanism under every distributed fit.

Each worker has one actor, a `Shelf`, with one object per partition: whatever the fit makes of its rows. The client
sends functions of such an object. `tell` changes the objects, `ask` returns what the functions return, added up over
the partitions of a worker there and over the workers here; changes wait on the client and travel with the next
question, so that a round of boosting is one message to each worker and one answer.

A worker that dies takes its objects along. Every change is a function with arguments, so the client keeps a list of
them: the lost partitions are read again by other workers, the changes so far repeated on them, and the question that
was open is answered for them alone. The partitions elsewhere do not notice. What was said about something that is
forgotten (a finished fold, say) leaves the list. A worker that Dask has paused, since its memory is nearly full, gets
no partitions; one that is paused for longer than a limit while it reads counts as lost. It answers questions as before:
pauses hold up tasks, not actors.

The sum is a tree of two levels, partitions of a worker and workers, and no deeper one: sums between workers would be
tasks or further messages, and of the two ways tried with one machine's loop (4 partitions of a million rows, CPU per
round), actors summed by the client took 363 ms and futures with tasks that add 660. The client receives 164 kB per
worker and round with 20 features; docs/dask.md says from how many workers on that would be too much.

No ports, threads or processes of our own: actors, tasks and connections are Dask's. Several fits may run at once, each
with shelves of its own.
"""

from __future__ import annotations

import operator
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import Any

from ..labels import preview
from . import faults
from .cluster import Cluster, Lost
from .shelves import Command, Failure, Shelf, hold, look_at, shelf_of

_LOSSES = 3  # workers that a partition may lose without an answer in between
_TOGETHER = 250_000  # rows up to which partitions are joined: they take milliseconds, and each call a tenth of one
_PER_THREAD = 4  # things that each thread of a worker should have to do at least
_UNEVEN = 1.1  # how much more than its share of the rows a worker may keep because the data are there


@dataclass(eq=False)
class _Place:
    """A worker, its shelf, and the partitions on it."""

    address: str
    name: str  # of the shelf: a worker that was given up while it was paused may be given another one later
    future: Any  # keeps the actor alive
    shelf: Any
    numbers: list[int] = field(default_factory=list)


class Partitions:
    """The partitions of a table, held by the workers of a cluster until `close`.

    Parameters
    ----------
    sources : list of tuple of Delayed
        For each partition the pieces that make it up, such as its features and its labels.
    client : distributed.Client, optional
        The cluster; the client in use by default.
    """

    def __init__(self, sources: Sequence[tuple[Any, ...]], client: Any = None) -> None:
        self.cluster = Cluster(client)
        self.client = self.cluster.client
        self.sources = list(sources)
        self._name = f"recuse-{uuid.uuid4().hex}"
        self._places: dict[str, _Place] = {}
        self._near: list[str | None] = [None] * len(self.sources)
        self._load: Command | None = None
        self._each: list[tuple[Any, ...]] = []
        self._log: list[tuple[Any, Command]] = []
        self._waiting: list[tuple[Any, Command, bool]] = []  # about what, command, whether to repeat it after a loss
        self._losses: Counter[int] = Counter()
        self._answered: set[int] = set()  # partitions that have answered the question under way
        self._settling: list[Command] = []  # the changes that came with it
        self.n_messages = 0

    def __len__(self) -> int:
        return len(self.sources)

    def __enter__(self) -> Partitions:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Before anything is held: ordinary tasks, which Dask itself repeats elsewhere when a worker dies.

    def look(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """Call ``function(*pieces, *args)`` on every partition where Dask sees fit; the results in order.

        Where each ran is remembered: `hold` keeps a partition there, since its data may be there.
        """
        return self._seen(self.client.compute(self._looks(function, args)))

    def look_and_merge(
        self, function: Callable[..., Any], *args: Any, merge: Callable[[list[Any], Callable[..., Any]], Any]
    ) -> tuple[list[Any], Any]:
        """The same for a function that returns something small, and something large that is merged on the workers.

        `merge` gets the futures of the large things, and what submits a function of such futures.
        """
        futures = self.client.compute(self._looks(function, args))
        large = [self.client.submit(_large, future, pure=False) for future in futures]
        whole = merge(large, partial(self.client.submit, pure=False))
        small = self._seen([self.client.submit(_small, future, pure=False) for future in futures])
        return small, self.cluster.gather({"The merged sketch of the partitions": whole}).popitem()[1]

    def _looks(self, function: Callable[..., Any], args: tuple[Any, ...]) -> list[Any]:
        import dask

        task = dask.delayed(look_at, pure=False)
        return [task(function, number, args, *pieces) for number, pieces in enumerate(self.sources)]

    def _seen(self, futures: Sequence[Any]) -> list[Any]:
        """The results of looks, in order; where each was is remembered."""
        found = self.cluster.gather(dict(enumerate(futures)))
        self._near = [found[number][0] for number in range(len(self))]
        return [found[number][1] for number in range(len(self))]

    # Holding.

    def hold(
        self,
        load: Callable[..., Any],
        *shared: Any,
        each: Sequence[tuple[Any, ...]],
        sizes: Sequence[int],
        join: Callable[[list[Any]], Any] | None = None,
    ) -> None:
        """Make every worker hold ``load(*pieces, *shared, *own)`` of its partitions.

        Parameters
        ----------
        load : callable
            Returns the object that `tell` and `ask` are about; called again where a partition was lost.
        *shared : Any
            Arguments that are the same for all partitions.
        each : list of tuple
            Arguments of each partition.
        sizes : list of int
            Rows of each partition, to share them out evenly.
        join : callable, optional
            Makes one such object of several. Small partitions of a worker are then held as one, until the worker is
            lost, and `ask_each` has no answer of theirs.
        """
        self._load, self._each = Command(load, shared), list(each)
        self._sizes = list(sizes)
        workers = self.cluster.workers()
        assigned = share_out(self._sizes, self._near, workers)
        self._fetch({worker: numbers for worker, numbers in assigned.items() if numbers})
        if join is not None:
            self._join(join, workers)

    def _join(self, join: Callable[[list[Any]], Any], threads: dict[str, int]) -> None:
        """Have each worker join its small partitions; one that is lost meanwhile is found out by the next question."""
        calls = {}
        for address, place in self._places.items():
            rows = sum(self._sizes[number] for number in place.numbers)
            n_threads = threads.get(address, 1)
            limit = min(_TOGETHER, rows / (_PER_THREAD * n_threads) if n_threads > 1 else _TOGETHER)
            if groups := small_groups(place.numbers, self._sizes, limit):
                calls[address] = self._called(address, "join", groups, join)
        for address, answer in self.cluster.call(calls).items():
            if not isinstance(answer, Lost):
                self._checked(address, answer)

    def tell(self, function: Callable[..., Any], *args: Any, about: Any = None) -> None:
        """Change what is held of every partition: ``function(held, *args)``, with the next question.

        It is repeated where a partition was lost, unless what it is `about` has been forgotten.
        """
        self._waiting.append((about, Command(function, args), True))

    def ask(
        self, function: Callable[..., Any], *args: Any, add: Callable[..., Any] = operator.add, about: Any = None,
        changes: bool = False,
    ) -> Any:  # fmt: skip
        """Return ``function(held, *args)`` added up over all partitions; None where there is none.

        Parameters
        ----------
        function : callable
            Of what is held of a partition.
        *args : Any
            Its other arguments.
        add : callable, default=operator.add
            Puts two results together.
        about, changes
            With `changes` the function changes what is held as well, and is repeated like a change.
        """
        results = self._run(Command(function, args), add, about, changes)
        return reduce(add, results) if results else None

    def ask_each(self, function: Callable[..., Any], *args: Any, about: Any = None, changes: bool = False) -> list[Any]:
        """Return ``function(held, *args)`` of each partition, in order."""
        found: dict[int, Any] = reduce(operator.or_, self._run(Command(function, args), None, about, changes), {})
        return [found[number] for number in range(len(self))]

    def forget(self, about: Any, function: Callable[..., Any], *args: Any) -> None:
        """Let something go, by ``function(held, *args)``, and all changes that were about it."""
        self._log = [entry for entry in self._log if entry[0] != about]
        self._waiting = [entry for entry in self._waiting if entry[0] != about]
        self._waiting.append((about, Command(function, args), False))

    def close(self) -> None:
        """Leave nothing on the workers; a cluster that is gone has nothing left."""
        places, self._places = list(self._places.values()), {}
        self._log, self._waiting = [], []
        if self.client.status != "running":
            return
        try:
            self.cluster.call({place.address: place.shelf.clear() for place in places})
            self.client.cancel([place.future for place in places])  # not only when Python collects what refers to them
        except (OSError, RuntimeError):  # what cannot be reached is gone
            pass

    # One question: sent to all, and to others again for what was lost on the way.

    def _run(self, command: Command, add: Callable[..., Any] | None, about: Any, changes: bool) -> list[Any]:
        """Send the waiting changes and a command; the results by worker."""
        waiting, self._waiting = self._waiting, []
        batch = [waited for _, waited, _ in waiting] + [command]
        self._settling = batch if changes else batch[:-1]
        due = {address: list(place.numbers) for address, place in self._places.items() if place.numbers}
        results: list[Any] = []
        while due:
            answers = self.cluster.call(
                {address: self._send(address, numbers, batch, add) for address, numbers in due.items()}
            )
            lost = [address for address, answer in answers.items() if isinstance(answer, Lost)]
            for address in due.keys() - lost:
                results.append(self._checked(address, answers[address]))
                self._answered.update(due[address])
            due = self._recover(lost) if lost else {}
        self._answered, self._settling = set(), []
        self._losses.clear()  # every partition has answered
        self._log += [(subject, waited) for subject, waited, repeated in waiting if repeated]
        if changes:
            self._log.append((about, command))
        return results

    def _send(self, address: str, numbers: list[int], batch: list[Command], add: Callable[..., Any] | None) -> Any:
        """Send commands to a worker; what to wait for."""
        self.n_messages += 1
        return self._called(address, "run", numbers, batch, add)

    def _called(self, address: str, method: str, *args: Any) -> Any:
        """Call a method of a worker's shelf; what to wait for."""
        try:
            return getattr(self._places[address].shelf, method)(*args)
        except RuntimeError:  # Dask knows already that the actor is gone
            return Lost()

    def _recover(self, lost: list[str]) -> dict[str, list[int]]:
        """Have lost partitions read again and brought up to date by others; who is yet to answer for which."""
        gone = [number for address in lost for number in self._places.pop(address).numbers]
        self._count_losses(gone, lost[-1])
        self._fetch(self._share_out_lost(gone))
        due = {a: [n for n in place.numbers if n not in self._answered] for a, place in self._places.items()}
        return {address: numbers for address, numbers in due.items() if numbers}

    def _count_losses(self, numbers: Iterable[int], worker: str) -> None:
        """Give up on a partition that takes its workers down."""
        self._losses.update(numbers)
        times = max(self._losses.values(), default=0)
        if times >= _LOSSES:
            worst = sorted(number for number, lost in self._losses.items() if lost == times)
            # Those that were on the same workers have been lost as often: which one it was is not known then.
            key = worst[0] if len(worst) == 1 else f"One of the partitions {preview(worst, 20)}"
            raise faults.lost_too_often(key, times, worker, self.cluster.memory_of(worker))

    def _share_out_lost(self, numbers: list[int]) -> dict[str, list[int]]:
        """Lost partitions, each to the worker with the fewest rows."""
        loads = dict.fromkeys(self.cluster.workers(), 0)
        for address, place in self._places.items():
            if address in loads:
                loads[address] = sum(self._sizes[number] for number in place.numbers)
        assigned: dict[str, list[int]] = {}
        for number in sorted(numbers, key=lambda number: -self._sizes[number]):
            worker = min(loads, key=loads.__getitem__)
            assigned.setdefault(worker, []).append(number)
            loads[worker] += self._sizes[number] + 1
        return assigned

    def _fetch(self, assigned: dict[str, list[int]]) -> None:
        """Read partitions onto shelves and repeat the changes so far; what is lost meanwhile goes to others."""
        while assigned:
            lost = self._open_shelves(list(assigned))
            lost |= self._read({worker: numbers for worker, numbers in assigned.items() if worker not in lost})
            missed = [number for worker in lost for number in assigned[worker]]
            for worker in lost & set(self._places):
                missed += self._places.pop(worker).numbers
            for worker in set(assigned) - lost:
                self._places[worker].numbers += assigned[worker]
            if not lost:
                return
            self._count_losses(missed, sorted(lost)[-1])
            assigned = self._share_out_lost(missed)

    def _open_shelves(self, workers: list[str]) -> set[str]:
        """Give workers without a shelf one; those that were lost meanwhile."""
        threads = self.cluster.workers()
        names = {w: f"{self._name}-{uuid.uuid4().hex}" for w in workers if w not in self._places and w in threads}
        futures = {
            worker: self.client.submit(
                Shelf, name, worker, threads[worker], actor=True, workers=[worker], pure=False, key=name
            )
            for worker, name in names.items()
        }
        lost = set(workers) - set(threads) - set(self._places)
        opened = self.cluster.gather(futures, may_lose=True)
        for worker, future in futures.items():
            if worker in opened:
                self._places[worker] = _Place(
                    worker, names[worker], future, shelf_of(self.client, worker, names[worker])
                )
            else:
                lost.add(worker)
        return lost

    def _read(self, assigned: dict[str, list[int]]) -> set[str]:
        """Have workers read partitions and repeat the changes so far; those that were lost meanwhile."""
        import dask

        assert self._load is not None
        task = dask.delayed(hold, pure=False)
        said = [command for _, command in self._log]
        futures: dict[Any, Any] = {}
        for worker, numbers in assigned.items():
            for number in numbers:
                # One that was lost after it had answered needs the changes that came with the question as well.
                repeated = said + self._settling if number in self._answered else said
                name = self._places[worker].name
                job = task(name, number, self._load, self._each[number], repeated, *self.sources[number])
                # One after the other: jobs of one generation are all read before the first of them is coded.
                futures[worker, number] = self.client.compute(
                    job, workers=[worker], allow_other_workers=False, fifo_timeout=0
                )
        done = self.cluster.gather(futures, may_lose=True)
        return {worker for worker, number in futures if (worker, number) not in done}

    def _checked(self, address: str, answer: Any) -> Any:
        """An answer; an error with what it is about."""
        if not isinstance(answer, Failure):
            return answer
        if isinstance(answer.error, MemoryError):
            raise faults.out_of_memory(answer.number, address, self.cluster.memory_of(address)) from answer.error
        raise answer.error


def _small(seen: tuple[str, tuple[Any, Any]]) -> tuple[str, Any]:
    """Of what was seen of a partition, where it was and the small part."""
    return seen[0], seen[1][0]


def _large(seen: tuple[str, tuple[Any, Any]]) -> Any:
    """The large part."""
    return seen[1][1]


def small_groups(numbers: Sequence[int], sizes: Sequence[int], limit: float) -> list[list[int]]:
    """Groups of two or more partitions with at most `limit` rows together."""
    groups: list[list[int]] = []
    rows = 0
    for number in sorted(numbers, key=lambda number: sizes[number]):
        if not groups or rows + sizes[number] > limit:
            groups.append([])
            rows = 0
        groups[-1].append(number)
        rows += sizes[number]
    return [group for group in groups if len(group) > 1]


def share_out(sizes: Sequence[int], near: Sequence[str | None], workers: Iterable[str]) -> dict[str, list[int]]:
    """Partitions by worker: where their data are while that is fair, else where the fewest rows are."""
    loads, assigned = dict.fromkeys(workers, 0), {worker: [] for worker in workers}  # type: dict[str, int], dict[str, list[int]]
    fair = _UNEVEN * sum(sizes) / max(1, len(loads))
    left = []
    for number, size in enumerate(sizes):
        worker = near[number]
        if worker in loads and loads[worker] + size <= fair:
            assigned[worker].append(number)
            loads[worker] += size
        else:
            left.append(number)
    for number in sorted(left, key=lambda number: -sizes[number]):
        worker = min(loads, key=lambda worker: (loads[worker], len(assigned[worker])))
        assigned[worker].append(number)
        loads[worker] += sizes[number]
    return {worker: sorted(numbers) for worker, numbers in assigned.items()}
