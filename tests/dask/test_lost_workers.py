"""Workers killed in the middle of a fit: the model is the same."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from dask import delayed

from recuse import AbstentionBoostingClassifier
from recuse.dask import DaskAbstentionBoostingClassifier
from recuse.dask.coded import CodedPartition
from recuse.dask.partitions import Partitions
from tests.dask.clusters import nothing_is_left, process_of
from tests.dask.models import GIVEN, PARTITIONS, SETTINGS, assert_same_model, da_block, in_blocks, in_chunks, table


@pytest.fixture(scope="module", params=[2, 4])
def client(request):
    """Two and four worker processes."""
    from distributed import Client, LocalCluster

    settings = {"n_workers": request.param, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**settings) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture
def read_again(monkeypatch):
    """Numbers of the partitions that were lost with their workers and given to others."""
    found, share_out_lost = [], Partitions._share_out_lost

    def share_out_and_note(self, numbers):
        found.extend(numbers)
        return share_out_lost(self, numbers)

    monkeypatch.setattr(Partitions, "_share_out_lost", share_out_and_note)
    return found


def kill_worker(client, address):
    """Kill the process of a worker."""
    os.kill(process_of(client, address), signal.SIGKILL)


def holder(partitions):
    """A worker that holds partitions."""
    return next(address for address, place in partitions._places.items() if place.numbers)


def killing_before(function, times, client):
    """`Partitions._run` that kills a worker just before some question of a kind is asked."""
    asked, run = [], Partitions._run

    def run_and_kill(self, command, *args):
        if command.function is function:
            asked.append(command)
            if len(asked) == times:
                kill_worker(client, holder(self))
        return run(self, command, *args)

    return run_and_kill, asked


MOMENTS = {
    "in the first round": (CodedPartition.histograms, 1),
    "between rounds": (CodedPartition.histograms, 9),
    "while intercepts are settled": (CodedPartition.shift_sums, 4),
    "at the end": (CodedPartition.outcome, 1),
}


@pytest.mark.parametrize("moment", MOMENTS.values(), ids=MOMENTS)
def test_a_worker_killed_costs_time_not_the_model(client, moment, monkeypatch, read_again):
    X, y, weight = table(6)
    settings = {**SETTINGS, **GIVEN, "family": "coupled", "n_rounds": 12}
    local = AbstentionBoostingClassifier(**settings).fit(X, y, weight)
    run, asked = killing_before(*moment, client)
    monkeypatch.setattr(Partitions, "_run", run)
    arrays = in_chunks(PARTITIONS["seven"], X, y, weight)
    distributed = DaskAbstentionBoostingClassifier(**settings).fit(*arrays, client=client)
    assert len(asked) >= moment[1]
    assert read_again
    assert_same_model(local, distributed, X)
    assert nothing_is_left(client)


def test_a_worker_killed_while_rows_are_coded(client, monkeypatch, read_again):
    X, y, weight = table(7)
    settings = {**SETTINGS, **GIVEN, "family": "coupled", "n_rounds": 8}
    read, killed = Partitions._read, []

    def read_and_kill(self, assigned):
        if not killed:
            killed.append(next(iter(assigned)))
            threading.Timer(0.05, kill_worker, [client, *killed]).start()
        return read(self, assigned)

    monkeypatch.setattr(Partitions, "_read", read_and_kill)
    slow = in_blocks([(delayed(_slowly)(part), part) for part in np.array_split(X, 7)])
    others = [in_blocks([da_block(part) for part in np.array_split(column, 7)]) for column in (y, weight)]
    distributed = DaskAbstentionBoostingClassifier(**settings).fit(slow, *others, client=client)
    assert read_again
    assert_same_model(AbstentionBoostingClassifier(**settings).fit(X, y, weight), distributed, X)


def _slowly(part):
    time.sleep(0.1)  # so that there is something to interrupt; nothing waits for it
    return part


def test_a_search_survives_as_well(client, monkeypatch, read_again):
    X, y, _ = table(8, 600)
    settings = {**SETTINGS, "n_rounds": 8, "family": "decoupled", "stack": "start", "beta": 0.004}
    arrays = in_chunks([150, 300, 450], X, y)
    calm = DaskAbstentionBoostingClassifier(**settings, cv=3).fit(*arrays, client=client)
    run, _ = killing_before(CodedPartition.histograms, 60, client)
    monkeypatch.setattr(Partitions, "_run", run)
    disturbed = DaskAbstentionBoostingClassifier(**settings, cv=3).fit(*arrays, client=client)
    assert read_again
    assert_same_model(calm, disturbed, X)
