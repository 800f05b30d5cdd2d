"""Clusters for tests: worker processes that can be killed, and what is left on them."""

import os
import signal
import subprocess
import sys

import pytest

from tests.processes import wait_until


@pytest.fixture(scope="module", params=[2])
def client(request):
    """A client of a cluster of worker processes, the same for a module."""
    from distributed import Client, LocalCluster

    settings = {
        "n_workers": request.param,
        "threads_per_worker": 1,
        "dashboard_address": ":0",
    }  # any port: two test processes, each with a cluster
    with LocalCluster(**settings) as cluster, Client(cluster) as client:
        yield client


def process_of(client, address):
    """The process of a worker."""
    return client.run(os.getpid, workers=[address])[address]


def kill(client, address):
    """Kill a worker's process, and wait until its nanny has started another."""
    n_workers, process = len(client.nthreads()), process_of(client, address)
    os.kill(process, signal.SIGKILL)
    assert wait_until(lambda: address not in client.nthreads())
    return n_workers


def wait_for_workers(client, n=2):
    """Wait until killed workers are back; where a nanny has given up, on a busy machine, the cluster gets another."""
    if not wait_until(lambda: len(client.nthreads()) >= n, 60):
        cluster = client.cluster
        cluster.scale(len(cluster.workers) + n - len(client.nthreads()))
        client.wait_for_workers(n, timeout=120)


def shelves_left():
    """What fits have left in this process."""
    from recuse.dask.shelves import _SHELVES

    return list(_SHELVES)


def nothing_is_left(client):
    """Whether no worker holds anything of a fit; actors go when the scheduler has heard of it."""
    # A worker that was killed may still be listed; it has nothing.
    return wait_until(lambda: not any(client.run(shelves_left, on_error="ignore").values()), 60)


def start_process(what, *arguments):
    """A scheduler or a worker in a process of its own."""
    command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *arguments]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
