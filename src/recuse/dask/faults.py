"""What can go wrong on a cluster, in one clear sentence each: who was lost, what could not be read, what to do."""

from __future__ import annotations

from typing import Any


class ClusterError(RuntimeError):
    """Work on a cluster that cannot go on: no workers, a scheduler that went away, a partition nobody can hold.

    Examples
    --------
    >>> import dask.array as da
    >>> from recuse.dask import ClusterError, DaskAbstentionBoostingClassifier
    >>> try:
    ...     DaskAbstentionBoostingClassifier().fit(da.zeros((4, 1)), da.zeros(4))
    ... except ClusterError as error:
    ...     print(error)
    There is no Dask client: start one with dask.distributed.Client(), or give it as client=... .
    """


class PartitionError(ValueError):
    """A partition that cannot be used: another schema, an unreadable file, values that are no numbers.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from distributed import Client
    >>> from recuse.dask import DaskAbstentionBoostingClassifier, PartitionError
    >>> X = da.from_array(np.array([[1.0], [2.0], [np.inf], [3.0]]), chunks=(2, 1))
    >>> y = da.from_array(np.array([0, 1, 0, 1]), chunks=2)
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0"):
    ...     try:
    ...         DaskAbstentionBoostingClassifier().fit(X, y)
    ...     except PartitionError as error:
    ...         print(error)
    Partition 1: Input X contains infinity or a value too large for dtype('float64').
    """


def no_client() -> ClusterError:
    """Nobody said which cluster."""
    return ClusterError("There is no Dask client: start one with dask.distributed.Client(), or give it as client=... .")


def no_such_client(client: Any) -> TypeError:
    """Something else in place of a client, such as the address of a scheduler."""
    return TypeError(
        f"client must be a distributed.Client; got {type(client).__name__}: connect first, "
        "client=Client('tcp://10.0.0.5:8786')."
    )


def asynchronous_client() -> TypeError:
    """A client whose answers must be awaited."""
    return TypeError("client must be a Dask client that waits for its results; got one with asynchronous=True.")


def no_workers(scheduler: str) -> ClusterError:
    """A cluster without anybody to work."""
    return ClusterError(f"The Dask cluster at {scheduler} has no workers: start some, or wait for them to arrive.")


def scheduler_lost(scheduler: str) -> ClusterError:
    """The centre of the cluster has gone."""
    return ClusterError(
        f"The Dask scheduler at {scheduler} went away in the middle of the work. The workers have forgotten their "
        "part: connect to a scheduler that runs, and fit again."
    )


def subject(key: int | str) -> str:
    """A partition by its number, or another piece of work by its name, as the subject of a sentence."""
    return f"Partition {key}" if isinstance(key, int) else key


def paused(worker: str, memory: str, seconds: float, others: int) -> ClusterError:
    """Work that waits for a worker without memory."""
    more = f", like {others} more," if others else ""
    return ClusterError(
        f"Worker {worker}{memory}{more} has been paused by Dask for {seconds:g} s or longer, since its memory is "
        "nearly full, and the rest of the work waits for it. Use smaller partitions, more workers, or workers with "
        "more memory, or let go of what other work keeps there; Dask's setting recuse.pause-limit is the time to wait."
    )


def lost_too_often(key: int | str, times: int, worker: str, memory: str) -> ClusterError:
    """A partition that takes every worker down that holds it."""
    return ClusterError(
        f"{subject(key)} was lost {times} times in a row with the worker that held it, at last {worker}{memory}: "
        f"most likely it ran out of memory. {_remedy(key)}"
    )


def out_of_memory(key: int | str, worker: str, memory: str) -> ClusterError:
    """A worker that could not allocate."""
    return ClusterError(
        f"Worker {worker}{memory} ran out of memory at {_within_sentence(subject(key))}. {_remedy(key)}"
    )


def _within_sentence(subject: str) -> str:
    """A subject where no sentence begins."""
    return subject[0].lower() + subject[1:]


def _remedy(key: int | str) -> str:
    """What helps where memory runs out: the rows of a run of ExactBoost come from all partitions, small ones or not."""
    if isinstance(key, str) and key.endswith("of ExactBoost"):
        return "Lower run_cases, use fewer threads per worker, or workers with more memory."
    return "Use smaller partitions, more workers, or workers with more memory."


def unreadable(number: int, error: BaseException) -> PartitionError:
    """A partition whose task failed before we saw its rows."""
    return PartitionError(f"Partition {number} cannot be read: {type(error).__name__}: {first_line(error)}")


def first_line(error: BaseException) -> str:
    """What an error says, on one line."""
    text = str(error).strip()
    return text.splitlines()[0] if text else "no message"


def memory_of(limits: dict[str, Any], worker: str) -> str:
    """The memory limit of a worker, as a part of a sentence; nothing where it is not known."""
    limit = limits.get(worker)
    return f" (memory limit {limit / 2**30:.3g} GiB)" if limit else ""
