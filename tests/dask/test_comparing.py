"""Comparisons on a cluster are those of the process pool; what goes wrong there is said in one sentence."""

import json
import logging
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from distributed.scheduler import KilledWorker
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_info

import recuse
from recuse.comparison import fit
from recuse.comparison.remote import TableThere
from recuse.dask import ClusterError, calls, connection
from recuse.workers import WorkerDiedError
from tests.comparison.conftest import COSTS, mixed_table
from tests.processes import left_running, wait_until

METHODS = ["logistic-chow", "logistic-tuned"]
ARGUMENTS = {"positive": "bad", "costs": COSTS, "cv": 3, "repeats": 1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables") / "parts"
    folder.mkdir()
    table = mixed_table()
    for number in range(4):
        table.iloc[number::4].to_parquet(folder / f"part.{number}.parquet")
    return folder


@pytest.fixture(scope="module")
def expected(folder):
    return recuse.compare(folder, "default", methods=METHODS, n_jobs=2, **ARGUMENTS)


def assert_same(found, expected):
    assert list(found.answers) == list(expected.answers)
    assert found.verdict.chosen == expected.verdict.chosen
    for name, answers in expected.answers.items():
        np.testing.assert_array_equal(found.answers[name].kind, answers.kind)
        np.testing.assert_array_equal(found.answers[name].forced, answers.forced)
        np.testing.assert_allclose(found.answers[name].r, answers.r, atol=1e-6)


def held(dask_worker):
    return len(dask_worker.data)


def known(dask_scheduler):
    return len(dask_scheduler.tasks)


def nothing_is_left(client):
    return wait_until(lambda: not any(client.run(held).values()) and not client.run_on_scheduler(known), 60)


@pytest.mark.parametrize("client", [2, 4], indirect=True)
def test_a_cluster_compares_as_the_process_pool(client, folder, expected, tmp_path, monkeypatch):
    found = recuse.compare(folder, "default", methods=METHODS, cluster=client, out=tmp_path / "run", **ARGUMENTS)
    assert_same(found, expected)
    assert nothing_is_left(client)
    # Everything is kept: the same call fits nothing again, and reads nothing there.
    seen = []
    monkeypatch.setattr(client, "submit", None)
    again = recuse.compare(
        folder,
        "default",
        methods=METHODS,
        cluster=client,
        out=tmp_path / "run",
        progress=lambda *now: seen.append(now),
        **ARGUMENTS,
    )
    assert seen == [(6, 6, "")]
    assert_same(again, expected)


def test_a_table_in_memory_is_sent(client, expected):
    whole = mixed_table()
    order = np.concatenate([np.arange(len(whole))[number::4] for number in range(4)])
    found = recuse.compare(whole.iloc[order], "default", methods=METHODS, cluster=client, **ARGUMENTS)
    assert_same(found, expected)
    assert nothing_is_left(client)


def test_fit_on_a_cluster(client, folder):
    named = {"positive": "bad", "costs": COSTS}
    here = fit(folder, "default", method="logistic-chow", **named)
    there = fit(folder, "default", method="logistic-chow", cluster=client, **named)
    table = mixed_table(50, seed=9)
    np.testing.assert_allclose(recuse.decide(there, table).r, recuse.decide(here, table).r, atol=1e-6)
    assert nothing_is_left(client)


class _Patient(LogisticRegression):
    """A classifier that tells where it is fitted, and waits until it may go on."""

    def __init__(self, folder=""):
        super().__init__()
        self.folder = folder

    def fit(self, X, y):
        (Path(self.folder) / str(os.getpid())).touch()
        wait_until((Path(self.folder) / "go").exists)
        return super().fit(X, y)


def test_a_killed_worker_costs_time_only(client, folder, tmp_path):
    marks = tmp_path / "marks"
    marks.mkdir()
    methods, found = [("patient", make_pipeline(SimpleImputer(), _Patient(str(marks))))], []
    thread = threading.Thread(
        target=lambda: found.append(recuse.compare(folder, "default", methods=methods, cluster=client, **ARGUMENTS))
    )
    thread.start()
    assert wait_until(lambda: any(marks.iterdir()))
    os.kill(int(next(marks.iterdir()).name), signal.SIGKILL)
    (marks / "go").touch()
    thread.join()
    assert not found[0].errors
    assert_same(found[0], recuse.compare(folder, "default", methods=methods, n_jobs=1, **ARGUMENTS))
    assert wait_until(lambda: len(client.nthreads()) == 2)
    assert nothing_is_left(client)


class _Future:
    """A future whose worker dies so often, as the scheduler tells it."""

    def __init__(self, number, deaths):
        self.number, self.deaths, self.released = number, deaths, False

    def add_done_callback(self, function):
        function(self)

    def result(self, timeout):
        if self.deaths:
            raise KilledWorker("task", SimpleNamespace(address="tcp://gone:1"), 3)
        return 10 * self.number

    def retry(self):
        self.deaths -= 1

    def release(self):
        self.released = True


def test_a_call_that_no_worker_survives_does_not_end_the_others():
    futures = {number: _Future(number, deaths) for number, deaths in enumerate([0, 2, 1, 0])}
    all_futures = list(futures.values())
    results = dict(calls.future_results(None, futures))
    assert isinstance(results.pop(1), WorkerDiedError)  # it died alone, too
    assert results == {0: 0, 2: 20, 3: 30}
    assert all(future.released for future in all_futures)
    assert not futures


@pytest.mark.parametrize(
    ("method", "way"),
    [("logistic-chow", ""), ("abstention-boosting", ", or fit recuse.dask.DaskAbstentionBoostingClassifier, which .*")],
)
def test_a_fit_that_no_worker_survives_names_the_way(client, folder, method, way, monkeypatch):
    died = WorkerDiedError("with its worker")
    monkeypatch.setattr(calls, "cluster_results", lambda *_, **__: iter([(0, died)]))
    with pytest.raises(ClusterError, match=f"The fit ended .* give the workers more memory{way}[.]$"):
        fit(folder, "default", method=method, positive="bad", costs=COSTS, cluster=client)


def threads_of_a_call():
    return [library["num_threads"] for library in threadpool_info()]


def test_a_call_has_one_thread(client):
    for _, threads in calls.cluster_results(client, threads_of_a_call, [(), ()]):
        assert set(threads) == {1}


# What goes wrong -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["local:x", "local:0", "local", "local:", "here", "tcp://", "10.0.0.5", ""])
def test_what_is_no_cluster(text):
    with pytest.raises(ValueError, match="cluster="):
        connection.parse_cluster(text)


@pytest.mark.parametrize("text", ["10.0.0.5:8786", "tls://scheduler.example:8786", "tcp://[::1]:8786", "localhost:1"])
def test_addresses(text):
    assert connection.parse_cluster(f" {text}\n") == text


def test_an_address_that_cannot_be_reached(folder, monkeypatch):
    monkeypatch.setattr(connection, "_CONNECT_SECONDS", 1)
    with pytest.raises(ClusterError, match=r"cluster='tcp://127.0.0.1:1' cannot be reached within 1 seconds"):
        recuse.compare(folder, "default", methods=METHODS, cluster="tcp://127.0.0.1:1", **ARGUMENTS)
    with pytest.raises(TypeError, match=r"cluster must be an address, local:4 or a distributed.Client; got int"):
        fit(folder, "default", method="logistic-chow", cluster=4, positive="bad")


def test_other_versions_on_the_workers_are_refused(client, folder, monkeypatch):
    found = client.get_versions(packages=list(connection._PACKAGES))
    worker = next(iter(found["workers"]))
    found["workers"][worker]["packages"]["scikit-learn"] = "0.1"
    monkeypatch.setattr(client, "get_versions", lambda packages: found)
    with pytest.raises(
        ClusterError, match=rf"The worker {worker} has scikit-learn 0.1, and this process has .*same versions"
    ):
        recuse.compare(folder, "default", methods=METHODS, cluster=client, **ARGUMENTS)
    found["workers"][worker]["packages"]["scikit-learn"] = None
    with pytest.raises(ClusterError, match="has scikit-learn not installed"):
        recuse.compare(folder, "default", methods=METHODS, cluster=client, **ARGUMENTS)


def test_a_folder_that_workers_do_not_see_or_that_changed(folder):
    there = TableThere.of(folder, "default", "bad", [], None, None, "another")
    with pytest.raises(ValueError, match="is not the table that was read at the beginning"):
        there.read("table")
    lost = TableThere(str(folder / "nowhere"), "default", "bad", (), None, None, "")
    with pytest.raises(FileNotFoundError, match="does not see the folder"):
        lost.read("table")
    assert TableThere.of(mixed_table(), "default", "bad", [], None, None, "") is None


def run(*arguments, **options):
    command = [sys.executable, "-m", "recuse", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, **options)


def test_the_commands_on_a_cluster_of_their_own(folder, tmp_path):
    shared = ("--target", "default", "--positive", "bad", "--cluster", "local:2")
    options = ("--methods", "logistic-chow", "--cv", 3, "--repeats", 1, "--json", "--out", tmp_path / "run")
    result = run("compare", folder, *shared, *options)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)
    assert "Traceback" not in result.stderr
    assert (tmp_path / "run" / "model.skops").is_file()


def test_wrong_usage_ends_with_2(folder):
    for command in ("compare", "fit"):
        result = run(command, folder, "--target", "default", "--cluster", "local:x")
        assert result.returncode == 2
        assert "local:4 starts four workers; write a number of 1 or more" in " ".join(result.stderr.split())


@pytest.fixture
def foreign(tmp_path):
    """A scheduler and a worker of their own, which can be killed."""
    file, python = tmp_path / "scheduler.json", [sys.executable, "-m", "distributed.cli"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": Path(__file__).parents[2]}
    settings = ["--scheduler-file", str(file)]
    python[-1] = "distributed.cli.dask_scheduler"
    scheduler = subprocess.Popen([*python, *settings, "--port", "0", "--dashboard-address", ":0"], **quiet)
    python[-1] = "distributed.cli.dask_worker"
    worker = subprocess.Popen(
        [*python, *settings, "--nthreads", "1", "--no-nanny", "--dashboard-address", ":0"], **quiet
    )
    try:
        assert wait_until(file.is_file)
        yield json.loads(file.read_text())["address"], scheduler, worker
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()
        assert not left_running([worker.pid, scheduler.pid])


def test_a_scheduler_that_goes_away(foreign, folder, tmp_path):
    address, scheduler, _ = foreign
    marks, found = tmp_path / "marks", []
    marks.mkdir()

    def compare():
        try:
            recuse.compare(
                folder,
                "default",
                methods=[("patient", make_pipeline(SimpleImputer(), _Patient(str(marks))))],
                cluster=address,
                **ARGUMENTS,
            )
        except ClusterError as error:
            found.append(str(error))

    thread = threading.Thread(target=compare)
    thread.start()
    assert wait_until(lambda: any(marks.iterdir()))
    scheduler.kill()
    thread.join()
    (marks / "go").touch()
    assert found
    assert found[0].startswith(f"The scheduler at {address} went away")
    assert logging.getLogger("distributed").level != logging.CRITICAL
