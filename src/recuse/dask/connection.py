"""From what ``--cluster`` says to a client: an address, or processes on this machine; the versions are checked."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from ..extras import require
from .faults import ClusterError

# Packages that answers depend on: the same on the workers as here, or a run would mix the answers of two versions.
_PACKAGES = ("recuse", "scikit-learn", "numpy", "scipy", "pandas", "skrub", "dask", "distributed")
_CONNECT_SECONDS = 15
_ADDRESS = re.compile(r"(?:(?:tcp|tls|ucx|ws|wss)://)?(?:[^\s:/\[\]]+|\[[0-9a-fA-F:]+\]):\d{1,5}|inproc://\S+")


class LocalWorkers(NamedTuple):
    """So many worker processes on this machine."""

    number: int


def parse_cluster(text: str) -> LocalWorkers | str:
    """Return what ``--cluster`` means: processes on this machine, or the address of a scheduler.

    Examples
    --------
    >>> from recuse.dask.connection import parse_cluster
    >>> parse_cluster("local:4")
    LocalWorkers(number=4)
    >>> parse_cluster("tcp://10.0.0.5:8786")
    'tcp://10.0.0.5:8786'
    """
    name, _, number = text.strip().partition(":")
    if name == "local":
        if number.isdecimal() and int(number) > 0:
            return LocalWorkers(int(number))
        raise ValueError(f"cluster={text!r}: local:4 starts four workers; write a number of 1 or more after the colon.")
    if _ADDRESS.fullmatch(text.strip()):
        return text.strip()
    raise ValueError(
        f"cluster={text!r} is no cluster: give the address of a dask scheduler such as tcp://10.0.0.5:8786, or local:4 "
        "for four workers on this machine."
    )


@contextmanager
def connected(cluster: Any) -> Iterator[Any]:
    """Give a client of the cluster; what was started or connected for it is closed at the end.

    Parameters
    ----------
    cluster : str or distributed.Client
        As `parse_cluster` takes it; a client is used as it is, and stays open.
    """
    distributed = require("distributed", "A cluster")
    if isinstance(cluster, distributed.Client):
        _require_workers(cluster)
        yield cluster
        return
    if not isinstance(cluster, str):
        raise TypeError(f"cluster must be an address, local:4 or a distributed.Client; got {type(cluster).__name__}.")
    found = parse_cluster(cluster)
    with _quiet():
        if isinstance(found, LocalWorkers):
            with _local_cluster(found.number) as started, distributed.Client(started) as client:
                _require_workers(client)
                yield client
            return
        client = _client(found)
        try:
            _require_workers(client)
            yield client
        finally:
            with suppress(Exception):  # it is gone: there is nothing left to close
                client.close(timeout=2)


@contextmanager
def _local_cluster(count: int) -> Iterator[Any]:
    from distributed import LocalCluster

    try:
        # The usual port of the dashboard may be taken, and nobody looks at it here.
        started = LocalCluster(
            n_workers=count, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=logging.CRITICAL
        )
    except RuntimeError as error:  # a script without the guard that processes need
        raise RuntimeError(
            "cluster='local:...' starts processes that import your script again: put the call under "
            "if __name__ == '__main__':"
        ) from error
    try:
        yield started
    finally:
        started.close(timeout=10)


def _client(address: str) -> Any:
    from distributed import Client

    try:
        return Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise ClusterError(
            f"cluster={address!r} cannot be reached within {_CONNECT_SECONDS} seconds: is the address right, and does "
            "the scheduler run there?"
        ) from error


def _require_workers(client: Any) -> None:
    """Refuse a cluster without workers, or whose workers have other versions than this process."""
    try:
        client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
    except TimeoutError:
        raise ClusterError(
            f"The cluster at {address_of(client)} has no workers: start some with "
            f"'dask worker {address_of(client)} --nthreads 1'."
        ) from None
    found = client.get_versions(packages=list(_PACKAGES))
    here = found["client"]
    for worker, versions in found["workers"].items():
        for package in ("python", *_PACKAGES):
            mine, theirs = _version(here, package), _version(versions, package)
            if mine != theirs:
                raise ClusterError(
                    f"The worker {worker} has {package} {theirs or 'not installed'}, and this process has {mine}: "
                    "install the same versions everywhere."
                )


def _version(versions: dict[str, Any], package: str) -> str | None:
    if package != "python":
        found: str | None = versions["packages"].get(package)
        return found
    return ".".join(str(part) for part in tuple(versions["host"]["python"].split(".")[:2]))


def address_of(client: Any) -> str:
    """The address of a client's scheduler."""
    return str(getattr(client.scheduler, "address", None) or "an unknown address")


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what dask logs about lost connections off the terminal: the error says it in one sentence."""
    logger = logging.getLogger("distributed")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)
