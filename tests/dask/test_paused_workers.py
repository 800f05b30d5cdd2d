"""Workers that Dask has paused, since their memory is nearly full: nothing waits for them without a word."""

import time
from pathlib import Path

import dask
import pytest
from distributed import wait

from recuse import AbstentionBoostingClassifier
from recuse.dask import ClusterError, DaskAbstentionBoostingClassifier
from recuse.dask.calls import cluster_results
from recuse.dask.partitions import Partitions
from tests.dask.clusters import nothing_is_left
from tests.dask.models import GIVEN, PARTITIONS, SETTINGS, assert_same_model, in_chunks, table
from tests.dask.test_partitions import EXPECTED, Counts, hold, sources
from tests.processes import wait_until

PAUSED = r"^Worker tcp://\S+ \(memory limit [\d.]+ GiB\).* has been paused by Dask for 1 s or longer, .* more memory"


def set_status(name, dask_worker):
    """Pause a worker, or let it go on; its own look at its memory would change that at once."""
    from distributed.core import Status

    dask_worker.memory_manager.memory_pause_fraction = False
    dask_worker.status = Status[name]


def set_statuses(client, name, workers):
    client.run(set_status, name, workers=workers)
    is_running = name == "running"
    assert wait_until(lambda: all((w in running(client)) == is_running for w in workers))


def running(client):
    return client.sync(client.scheduler.ncores_running)


@pytest.fixture
def workers(client):
    """The workers, which run again after the test."""
    found = sorted(client.nthreads())
    with dask.config.set({"recuse.pause-limit": "1s"}):
        yield found
    set_statuses(client, "running", found)


def load_and_pause(x, factor, number, folder):
    """Read a partition; the first worker to do so is paused."""
    from distributed import get_worker
    from distributed.core import Status

    try:
        (Path(folder) / "paused").touch(exist_ok=False)
    except FileExistsError:
        return Counts(x, factor, number)
    worker = get_worker()
    worker.loop.add_callback(set_status, "paused", worker)
    assert wait_until(lambda: worker.status == Status.paused)
    return Counts(x, factor, number)


def test_a_paused_worker_gets_no_partitions(client, workers):
    X, y, weight = table(13)
    settings = {**SETTINGS, **GIVEN, "family": "coupled"}
    arrays = client.persist(in_chunks(PARTITIONS["seven"], X, y, weight))
    wait(arrays)
    set_statuses(client, "paused", workers[:1])
    distributed = DaskAbstentionBoostingClassifier(**settings).fit(*arrays, client=client)
    assert_same_model(AbstentionBoostingClassifier(**settings).fit(X, y, weight), distributed, X)
    assert nothing_is_left(client)


def test_a_worker_paused_while_it_reads_counts_as_lost(client, workers, tmp_path):
    with Partitions(sources(), client) as partitions:
        hold(partitions, load_and_pause, (str(tmp_path),))
        assert partitions.ask(Counts.total) == pytest.approx(EXPECTED)
        assert set(partitions._places) == set(running(client))
        assert len(partitions._places) == 1
    assert nothing_is_left(client)


def test_a_worker_paused_after_it_has_read_answers_as_before(client, workers):
    with Partitions(sources(), client) as partitions:
        hold(partitions)
        set_statuses(client, "paused", workers)
        partitions.tell(Counts.add, 1.0)
        assert partitions.ask(Counts.total) == pytest.approx(EXPECTED + 7)
        assert set(partitions._places) == set(workers)
    assert nothing_is_left(client)


def test_no_worker_but_paused_ones_is_an_error_that_names_one(client, workers):
    with Partitions(sources(), client) as partitions:
        partitions.look(len)
        set_statuses(client, "paused", workers)
        with pytest.raises(ClusterError, match=PAUSED):
            partitions.look(len)
        with pytest.raises(ClusterError, match=PAUSED):
            partitions.hold(Counts, 2.0, each=[(k,) for k in range(7)], sizes=[10] * 7)
    assert nothing_is_left(client)


def test_calls_go_to_others_or_say_who_is_paused(client, workers):
    set_statuses(client, "paused", workers[:1])
    assert sorted(cluster_results(client, abs, [(-1,), (2,)])) == [(0, 1), (1, 2)]
    set_statuses(client, "paused", workers)
    with pytest.raises(ClusterError, match=PAUSED):
        list(cluster_results(client, abs, [(-1,)]))


def double_while_paused(number):
    """A call whose worker is paused on the way."""
    from distributed import get_worker
    from distributed.core import Status

    worker = get_worker()
    worker.loop.add_callback(set_status, "paused", worker)
    assert wait_until(lambda: worker.status == Status.paused)
    time.sleep(4)  # longer than a pause may last where nothing goes on
    return 2 * number


def test_a_paused_worker_may_end_the_call_under_way(client, workers):
    set_statuses(client, "paused", workers[:1])
    assert list(cluster_results(client, double_while_paused, [(3,)])) == [(0, 6)]
