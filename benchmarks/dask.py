"""Training on a Dask cluster: two workers of one thread and 2 GiB each, on a Parquet dataset that they read.

The peer is LightGBM's Dask estimator with 2 leaves, 255 bins and as many rounds, on the same cluster and the same
dataset. Seconds per round are the median over stretches of 20 rounds of one fit, so that reading and binning do not
count; the rows of whole fits are the same fits from beginning to end. CPU counts the processor seconds of client and
workers together. "One process" is `AbstentionBoostingClassifier` with two threads, on the same rows in memory. Bytes
are those of the histograms as Dask serialises them, against 32 bytes per cell and worker: two classes, two weights,
eight bytes each. Growth compares sizes of our own. RECUSE_BENCHMARK_ROWS is the number of rows.
"""

import os
import pickle
import tempfile
import time
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from .dask_answers import answer_rows
from .runner import Row

N_FEATURES, N_WORKERS, LIMIT = 20, 2, "2GiB"
MARKS = (10, 30, 50, 70, 90)  # rounds between which seconds are taken
N_ROUNDS, FEWER = 100, 55  # of a whole fit, and of one that is measured between rounds only
FAMILY = {
    "family": "coupled",
    "beta": 0.0,
    "threshold": "calibrated",
    "on_reject": "never",
    "max_bins": 255,
    "costs": 0.2,
    "tol": 0.0,
}
ROWS = int(os.environ.get("RECUSE_BENCHMARK_ROWS", "20000000"))


def run(quick=False):
    from distributed import Client, LocalCluster

    n = 40_000 if quick else ROWS
    settings = {"n_workers": N_WORKERS, "threads_per_worker": 1, "memory_limit": LIMIT, "dashboard_address": ":0"}
    with tempfile.TemporaryDirectory() as folder, LocalCluster(**settings) as cluster, Client(cluster) as client:
        made = make_dataset(Path(folder) / "whole", n, 40)
        yield from bytes_per_round(client, Path(folder), n // 10)
        ours, whole = measured(on_cluster(client), client, lambda: fit_ours(client, made, N_ROUNDS))
        yield from against_one_process(made, n, ours)
        yield from against_lightgbm(client, made, n, ours, whole)
        yield from prediction(client, made, n)
        yield from answer_rows(client, made, n, names(), Path(folder) / "answers")
        yield from growth(client, Path(folder), n // 4)


def make_dataset(folder, n, n_files):
    """Write a dataset of files of equal size; return its folder."""
    import pandas as pd

    folder.mkdir()
    for k, rows in enumerate(np.array_split(np.arange(n), n_files)):
        random = np.random.default_rng(k)
        X = random.normal(size=(len(rows), N_FEATURES)).astype(np.float32)
        score = X[:, 0] + 0.5 * X[:, 1] + np.sin(2 * X[:, 2]) + 0.3 * X[:, 3] + random.logistic(size=len(rows))
        frame = pd.DataFrame(X, columns=names()).assign(y=(score > 0).astype(np.int8))
        frame.to_parquet(folder / f"part.{k:03}.parquet", compression=None)
    return folder


def names():
    return [f"x{f}" for f in range(N_FEATURES)]


def read(folder):
    import dask.dataframe as dd
    import pandas as pd

    # Not `dd.read_parquet`: its optimiser reads several small files of labels at once, and LightGBM's estimator then
    # finds fewer partitions of labels than of features.
    table = dd.from_map(pd.read_parquet, sorted(folder.glob("*.parquet")))
    return table[names()], table["y"]


def seconds(client, call):
    """Clock and processor seconds of a call, those of the workers included."""
    cpu = sum(client.run(time.process_time).values()) + time.process_time()
    start = time.perf_counter()
    call()
    clock = time.perf_counter() - start
    return np.array([clock, sum(client.run(time.process_time).values()) + time.process_time() - cpu])


def measured(mark, client, fit):
    """Clock and processor seconds per round, and of the whole fit; `mark` notes the seconds at some rounds."""
    marks = {}
    with mark(marks):
        whole = seconds(client, fit)
    return per_round(marks), whole


def per_round(marks):
    """Median clock and processor seconds per round between two marks."""
    at = sorted(n for n in marks if n in MARKS)
    stretches = [(marks[b] - marks[a]) / (b - a) for a, b in pairwise(at)]
    return np.median(stretches, axis=0)


@contextmanager
def marking_sweeps(state, seconds_so_far, marks):
    """Note the seconds before some sweeps over the features of a kind of state."""
    sweep, count = state.sweep, iter(range(1, 10_000))

    def sweep_and_mark(self):
        n = next(count)
        if n in MARKS:
            marks[n] = seconds_so_far()
        return sweep(self)

    state.sweep = sweep_and_mark
    try:
        yield
    finally:
        state.sweep = sweep


def on_cluster(client):
    """Marks of a fit on a cluster: the processor seconds are those of client and workers."""
    from recuse.dask.boosting import ClusterState

    def so_far():
        return np.array([time.perf_counter(), sum(client.run(time.process_time).values()) + time.process_time()])

    return partial(marking_sweeps, ClusterState, so_far)


def in_one_process():
    """Marks of a fit here."""
    from recuse.boosting.abstention.engine.state import State

    return partial(marking_sweeps, State, lambda: np.array([time.perf_counter(), time.process_time()]))


@contextmanager
def marking_iterations(folder, marks):
    """Marks of LightGBM's workers: the clock of the slowest, and all their processor seconds."""
    with tempfile.TemporaryDirectory(dir=folder) as notes:
        marks["notes"] = notes
        yield
        found = [np.loadtxt(path) for path in Path(notes).iterdir()]
    for n in MARKS:
        rows = np.array([lines[lines[:, 0] == n][0, 1:] for lines in found])
        marks[n] = np.array([rows[:, 0].max(), rows[:, 1].sum()])


class NoteSeconds:
    """A callback of LightGBM: the seconds after some rounds, into a file of each process."""

    before_iteration, order = False, 0

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, env):
        """Write a line for the rounds that are marked."""
        n = env.iteration + 1
        if n in MARKS:
            with (Path(self.folder) / str(os.getpid())).open("a") as file:
                file.write(f"{n} {time.perf_counter()} {time.process_time()}\n")


def fit_ours(client, folder, n_rounds):
    from recuse.dask import DaskAbstentionBoostingClassifier

    return DaskAbstentionBoostingClassifier(**FAMILY, n_rounds=n_rounds).fit(*read(folder), client=client)


def fit_lightgbm(client, folder, n_rounds, **options):
    import lightgbm

    peer = lightgbm.DaskLGBMClassifier(
        client=client, n_estimators=n_rounds, num_leaves=2, max_bin=255, min_child_samples=1, verbose=-1
    )
    return peer.fit(*read(folder), **options)


def against_lightgbm(client, folder, n, ours, whole):
    from distributed.scheduler import KilledWorker

    size, peer, marks = f"{n:,} x {N_FEATURES}, 40 files", "LightGBM's Dask estimator", {}
    try:
        with marking_iterations(folder.parent, marks):
            notes = [NoteSeconds(marks["notes"])]
            theirs = seconds(client, lambda: fit_lightgbm(client, folder, N_ROUNDS, callbacks=notes))
        rounds = per_round(marks)
    except (KilledWorker, RuntimeError, OSError) as error:
        print("LightGBM's Dask estimator did not get through:", type(error).__name__, str(error)[:200])
        rounds = theirs = np.full(2, np.nan)
    yield Row("a round, clock", size, peer, ours[0], rounds[0], 1.0)
    yield Row("a round, CPU", size, peer, ours[1], rounds[1], 1.0)
    for i, clock in enumerate(("clock", "CPU")):
        what = f"a whole fit of {N_ROUNDS} rounds, reading and binning included, {clock}"
        yield Row(what, size, peer, whole[i], theirs[i])


def against_one_process(folder, n, ours):
    import pandas as pd

    from recuse import AbstentionBoostingClassifier

    table = pd.read_parquet(folder)
    X, y, marks = table[names()].to_numpy(), table["y"].to_numpy(), {}
    del table
    with in_one_process()(marks):
        AbstentionBoostingClassifier(**FAMILY, n_rounds=FEWER, n_jobs=2).fit(X, y)
    alone, size, peer = per_round(marks), f"{n:,} x {N_FEATURES}, 40 files", "one process, 2 threads"
    yield Row("a round of two workers, clock", size, peer, ours[0], alone[0], 1.3)
    yield Row("a round of two workers, CPU", size, peer, ours[1], alone[1], 1.3)


def bytes_per_round(client, folder, n):
    """The answers to the sweeps of a fit, as they travel; and what else a round sends."""
    from distributed.protocol import dumps

    from recuse.dask.coded import CodedPartition
    from recuse.dask.partitions import Partitions

    answers, sent, run_before, send_before = [], [], Partitions._run, Partitions._send

    def run_and_count(self, command, add, about, changes):
        results = run_before(self, command, add, about, changes)
        if command.function is CodedPartition.histograms:
            answers.append([sum(len(frame) for frame in dumps(result)) for result in results])
        return results

    def send_and_count(self, address, numbers, batch, add):
        if batch[-1].function is CodedPartition.histograms:
            sent.append(len(pickle.dumps((numbers, batch))))
        return send_before(self, address, numbers, batch, add)

    Partitions._run, Partitions._send = run_and_count, send_and_count
    try:
        model = fit_ours(client, make_once(folder, n, 8), 20)
    finally:
        Partitions._run, Partitions._send = run_before, send_before
    cells = sum(len(shape.cuts) + 2 for shape in model.shape_functions_)  # features that are used, at least
    formula = N_FEATURES * 256 * 32
    assert cells <= N_FEATURES * 256
    size = f"{n:,} x {N_FEATURES}, 255 bins"
    yield Row(
        "bytes of histograms per round and worker",
        size,
        "the formula",
        float(np.median(np.concatenate(answers))),
        formula,
        1.01,
    )
    yield Row(
        "bytes of the stump and its message, per round and worker",
        size,
        "the histograms",
        float(np.median(sent)),
        formula,
    )


def growth(client, folder, n):
    """Twice and four times the rows, and the same rows in more partitions; processor seconds."""

    def found(n_rows, n_files):
        data = make_once(folder, n_rows, n_files)
        return measured(on_cluster(client), client, lambda: fit_ours(client, data, FEWER))[0][1]

    few, base = found(n, 8), found(n, 40)
    for times in (2, 4):
        row = f"{n * times:,} rows, 40 files", f"{n:,} rows, 40 files"
        yield Row(f"a round of {times} times the rows, CPU", *row, found(n * times, 40), base)
    yield Row("a round in 40 partitions, CPU", f"{n:,} rows", "8 partitions", base, few)
    yield Row("a round in 160 partitions, CPU", f"{n:,} rows", "8 partitions", found(n, 160), few)


def make_once(folder, n, n_files):
    path = folder / f"{n}-{n_files}"
    return path if path.is_dir() else make_dataset(path, n, n_files)


def prediction(client, folder, n):
    ours, theirs = fit_ours(client, folder, 20).to_local(), fit_lightgbm(client, folder, 20).to_local()
    X, _ = read(folder)

    def answers(model):
        return lambda: X.map_partitions(model.predict, meta=np.zeros(0, dtype=np.int64)).sum().compute()

    found = [np.median([seconds(client, answers(model)) for _ in range(3)], axis=0) for model in (ours, theirs)]
    print(f"predict: {n / found[0][0]:,.0f} rows per second of clock, {n / found[0][1]:,.0f} of CPU")
    for i, clock in enumerate(("clock", "CPU")):
        what, size = f"predict, reading included, {clock}", f"{n:,} rows, 40 files, 20 rounds"
        yield Row(what, size, "LightGBM's predict", found[0][i], found[1][i])
