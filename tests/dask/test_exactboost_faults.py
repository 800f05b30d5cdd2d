"""ExactBoost when a cluster fails it: a lost worker costs time, anything else is one sentence that names who failed."""

import os
import signal
import threading
from functools import partial
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import pytest

from recuse import ExactBoostClassifier
from recuse.dask import ClusterError, DaskExactBoostClassifier
from recuse.dask.ranking_table import RankingTable
from tests.dask.clusters import start_process, wait_for_workers
from tests.processes import wait_until

SETTINGS = {"n_estimators": 6, "n_rounds": 2, "max_bins": 4, "random_state": 0}
MEMORY = r"\(memory limit [\d.]+ GiB\)"
REMEDY = "Lower run_cases, use fewer threads per worker, or workers with more memory"


@pytest.fixture(scope="module", params=[2, 4])
def client(request):
    """Two and four worker processes, which are killed."""
    from distributed import Client, LocalCluster

    settings = {"n_workers": request.param, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**settings) as cluster, Client(cluster) as client:
        client.n_workers = request.param
        yield client


@pytest.fixture(scope="module")
def cases():
    random = np.random.default_rng(3)
    X = random.normal(size=(200, 3))
    return X, (X[:, 0] + random.normal(size=200) > 0).astype(int)


def one_less_auc(positives, negatives):
    """A metric without anything to compile, so that workers that start anew are there soon."""
    return float(1.0 - np.searchsorted(negatives, positives).mean() / len(negatives))


def stop_until_killed(folder):
    """Say that work is under way, if that is asked for, and go on when somebody was killed."""
    folder = Path(folder)
    if (folder / "armed").exists():
        (folder / str(os.getpid())).touch()
        wait_until((folder / "killed").exists)


def auc_after_kill(folder, positives, negatives):
    stop_until_killed(folder)
    return one_less_auc(positives, negatives)


def read_after_kill(folder, part):
    stop_until_killed(folder)
    return part


def blocks(read, X):
    """Features in four partitions, each by a function."""
    read = dask.delayed(read, pure=False)
    return da.concatenate([da.from_delayed(read(part), part.shape, dtype=float) for part in np.split(X, 4)])


def kill_first(folder):
    """A thread that kills whoever first says to be at work."""

    def kill():
        assert wait_until(lambda: any(path.name.isdigit() for path in folder.iterdir()))
        os.kill(next(int(path.name) for path in folder.iterdir() if path.name.isdigit()), signal.SIGKILL)
        (folder / "killed").touch()

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


MOMENTS = {"while it looks at rows": "look", "while it codes rows": "code", "in its runs": "boost"}


@pytest.mark.parametrize("run_cases", ["auto", 100], ids=["all rows", "rows drawn"])
@pytest.mark.parametrize("moment", MOMENTS.values(), ids=MOMENTS)
def test_a_worker_killed_costs_time_not_the_model(client, cases, moment, run_cases, tmp_path, monkeypatch):
    X, y = cases
    wait_for_workers(client, client.n_workers)
    began = getattr(RankingTable, moment)

    def arm_and_begin(self, *args):
        (tmp_path / "armed").touch()
        return began(self, *args)

    monkeypatch.setattr(RankingTable, moment, arm_and_begin)
    metric = partial(auc_after_kill, str(tmp_path))
    model = DaskExactBoostClassifier(metric=metric, run_cases=run_cases, **SETTINGS)
    killer = kill_first(tmp_path)
    model.fit(blocks(partial(read_after_kill, str(tmp_path)), X), da.from_array(y, chunks=50), client=client)
    killer.join()
    assert (tmp_path / "killed").exists()
    calm = {"metric": one_less_auc, **SETTINGS}
    if run_cases == "auto":
        expected = ExactBoostClassifier(**calm).fit(X, y)
    else:
        parts = da.from_array(X, chunks=(50, 3)), da.from_array(y, chunks=50)
        expected = DaskExactBoostClassifier(run_cases=run_cases, **calm).fit(*parts, client=client)
    assert model.stumps_ == expected.stumps_
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), rtol=1e-9, atol=1e-12)
    assert model.objective_ == pytest.approx(expected.objective_)


def no_memory(*_):
    raise MemoryError


def read_without_memory(part):
    raise MemoryError("Unable to allocate 8.00 GiB")


def die(*_):
    """Take the worker down, as its nanny does when memory is short."""
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_run_out_of_memory_names_the_worker(client, cases):
    X, y = cases
    wait_for_workers(client, client.n_workers)
    model = DaskExactBoostClassifier(metric=no_memory, **SETTINGS)
    told = rf"^Worker (tcp://\S+) {MEMORY} ran out of memory at run \d of ExactBoost\. {REMEDY}\.$"
    with pytest.raises(ClusterError, match=told) as caught:
        model.fit(da.from_array(X, chunks=(50, 3)), da.from_array(y, chunks=50), client=client)
    assert str(caught.value).split()[1] in client.nthreads()
    assert not hasattr(model, "classes_")


def test_a_partition_too_large_to_be_read_names_the_worker(client, cases):
    X, y = cases
    wait_for_workers(client, client.n_workers)
    told = rf"^Worker tcp://\S+ {MEMORY} ran out of memory at partition \d\. Use smaller partitions"
    with pytest.raises(ClusterError, match=told):
        DaskExactBoostClassifier(**SETTINGS).fit(
            blocks(read_without_memory, X), da.from_array(y, chunks=50), client=client
        )


def test_a_run_that_takes_workers_down_is_named_with_the_last_of_them(client, cases):
    X, y = cases
    wait_for_workers(client, client.n_workers)

    def set_allowed(number, dask_scheduler):
        dask_scheduler.allowed_failures, before = number, dask_scheduler.allowed_failures
        return before

    before = client.run_on_scheduler(set_allowed, 1)  # every further one would cost the start of a worker
    told = rf"^Run \d of ExactBoost was lost 2 times in a row .*, at last tcp://\S+ {MEMORY}: .* memory\. {REMEDY}\.$"
    try:
        with pytest.raises(ClusterError, match=told):
            DaskExactBoostClassifier(metric=die, **SETTINGS).fit(
                da.from_array(X, chunks=(50, 3)), da.from_array(y, chunks=50), client=client
            )
    finally:
        client.run_on_scheduler(set_allowed, before)


@pytest.mark.parametrize("moment", ["look", "code", "require_memory", "panel", "boost", "_boost_one"])
def test_a_scheduler_that_goes_away(moment, cases, tmp_path, monkeypatch):
    from distributed import Client

    X, y = cases
    file = str(tmp_path / "scheduler.json")
    started = [start_process("scheduler", "--port", "0", "--scheduler-file", file, "--no-dashboard")]
    try:
        started.append(start_process("worker", "--scheduler-file", file, "--no-nanny", "--nthreads", "1"))
        with Client(scheduler_file=file, set_as_default=False) as client:
            client.wait_for_workers(1)
            address, began = client.scheduler.address, getattr(RankingTable, moment)

            def kill_and_begin(self, *args):
                started[0].kill()
                return began(self, *args)

            monkeypatch.setattr(RankingTable, moment, kill_and_begin)
            model = DaskExactBoostClassifier(metric=one_less_auc, **SETTINGS)
            with pytest.raises(ClusterError, match=f"^The Dask scheduler at {address} went away"):
                model.fit(da.from_array(X, chunks=(50, 3)), da.from_array(y, chunks=50), client=client)
            assert not hasattr(model, "classes_")
    finally:
        for process in started:
            process.kill()
            process.wait()
