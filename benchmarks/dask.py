"""Training on a Dask cluster: two workers of one thread and 2 GiB each, on a Parquet dataset that they read.

The peer is LightGBM's Dask estimator with 2 leaves, 255 bins and as many rounds, on the same cluster and the same
dataset. Seconds per round are taken between two rounds of one fit, so that reading and binning do not count. CPU
counts the processor seconds of client and workers together. "One process" is `AbstentionBoostingClassifier` with two
threads, on the same rows in memory. Bytes are those of the histograms as Dask serialises them, against 32 bytes per
cell and worker: two classes, two weights, eight bytes each. Rows "... times" compare two of our own sizes.
"""

import os
import pickle
import tempfile
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np

from .dask_answers import answer_rows
from .runner import Row

N_FEATURES, N_WORKERS, LIMIT = 20, 2, "2GiB"
FEW, MANY = 5, 45
REPEATS = int(os.environ.get("RECUSE_BENCHMARK_REPEATS", "3"))
FAMILY = {
    "family": "coupled",
    "beta": 0.0,
    "threshold": "calibrated",
    "on_reject": "never",
    "max_bins": 255,
    "costs": 0.2,
    "tol": 0.0,
}
# Rows of the large table; the others have a tenth.
ROWS = int(os.environ.get("RECUSE_BENCHMARK_ROWS", "20000000"))


def run(quick=False):
    from distributed import Client, LocalCluster

    n = 40_000 if quick else ROWS // 10
    settings = {"n_workers": N_WORKERS, "threads_per_worker": 1, "memory_limit": LIMIT, "dashboard_address": ":0"}
    with tempfile.TemporaryDirectory() as folder, LocalCluster(**settings) as cluster, Client(cluster) as client:
        made = make_dataset(Path(folder) / "middle", n, 40)
        yield from bytes_per_round(client, made, n)
        yield from against_lightgbm(client, made, n)
        yield from against_one_process(client, made, n)
        yield from large_fit(client, Path(folder), 80_000 if quick else ROWS, 5 if quick else 100)
        yield from prediction(client, made, n)
        yield from answer_rows(client, made, n, names(), Path(folder) / "answers")
        yield from growth(client, Path(folder), n)


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


def per_round(mark, fit, repeats=REPEATS):
    """Median clock and processor seconds per round between two rounds of a fit; `mark` notes the seconds at these."""
    found = []
    for _ in range(repeats):
        marks = {}
        with mark(marks):
            fit(MANY)
        found.append((marks[MANY] - marks[FEW]) / (MANY - FEW))
    return np.median(found, axis=0)


@contextmanager
def marking_sweeps(state, seconds_so_far, marks):
    """Note the seconds before some sweeps over the features of a kind of state."""
    sweep, count = state.sweep, iter(range(1, 10_000))

    def sweep_and_mark(self):
        n = next(count)
        if n in (FEW, MANY):
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
    for n in (FEW, MANY):
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
        if n in (FEW, MANY):
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


def against_lightgbm(client, folder, n):
    size, peer = f"{n:,} x {N_FEATURES}, 40 files", "LightGBM's Dask estimator"
    ours = per_round(on_cluster(client), lambda rounds: fit_ours(client, folder, rounds))
    theirs = rounds_of_lightgbm(client, folder)
    yield Row("a round, clock", size, peer, ours[0], theirs[0], 1.0)
    yield Row("a round, CPU", size, peer, ours[1], theirs[1], 1.0)


def rounds_of_lightgbm(client, folder):
    """Clock and processor seconds of its rounds."""
    found = []
    for _ in range(REPEATS):
        marks = {}
        with marking_iterations(folder.parent, marks):
            fit_lightgbm(client, folder, MANY, callbacks=[NoteSeconds(marks["notes"])])
        found.append((marks[MANY] - marks[FEW]) / (MANY - FEW))
    return np.median(found, axis=0)


def against_one_process(client, folder, n):
    import pandas as pd

    from recuse import AbstentionBoostingClassifier

    table = pd.read_parquet(folder)
    X, y = table[names()].to_numpy(), table["y"].to_numpy()
    ours = per_round(on_cluster(client), lambda rounds: fit_ours(client, folder, rounds))
    alone = per_round(
        in_one_process(), lambda rounds: AbstentionBoostingClassifier(**FAMILY, n_rounds=rounds, n_jobs=2).fit(X, y)
    )
    size, peer = f"{n:,} x {N_FEATURES}, 40 files", "one process, 2 threads"
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
        model = fit_ours(client, folder, MANY)
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
        return per_round(on_cluster(client), lambda rounds: fit_ours(client, data, rounds))[1]

    base = found(n // 4, 40)
    for times in (2, 4):
        row = f"{n // 4 * times:,} rows", f"{n // 4:,} rows"
        yield Row(f"a round of {times} times the rows, CPU", *row, found(n // 4 * times, 40), base)
    few = found(n, 8)
    for n_files in (40, 160):
        yield Row(f"a round in {n_files} partitions, CPU", f"{n:,} rows", "8 partitions", found(n, n_files), few)


def make_once(folder, n, n_files):
    path = folder / f"{n}-{n_files}"
    return path if path.is_dir() else make_dataset(path, n, n_files)


def prediction(client, folder, n):
    ours, theirs = fit_ours(client, folder, 100).to_local(), fit_lightgbm(client, folder, 100).to_local()
    X, _ = read(folder)

    def answers(model):
        return lambda: X.map_partitions(model.predict, meta=np.zeros(0, dtype=np.int64)).sum().compute()

    found = [np.median([seconds(client, answers(model)) for _ in range(3)], axis=0) for model in (ours, theirs)]
    for i, clock in enumerate(("clock", "CPU")):
        yield Row(
            f"predict, reading included, {clock}",
            f"{n:,} rows, 40 files",
            "LightGBM's predict",
            found[0][i],
            found[1][i],
        )


def large_fit(client, folder, n, n_rounds):
    """A table larger than the memory of one worker as floats, and the whole fit beside LightGBM's."""
    from distributed.scheduler import KilledWorker

    data = make_dataset(folder / "large", n, 40)
    size = f"{n:,} x {N_FEATURES}, 40 files, {n_rounds} rounds"
    ours = seconds(client, lambda: fit_ours(client, data, n_rounds))
    try:
        theirs = seconds(client, lambda: fit_lightgbm(client, data, n_rounds))
    except (KilledWorker, RuntimeError, OSError) as error:
        print("LightGBM's Dask estimator did not get through:", type(error).__name__, str(error)[:200])
        theirs = np.full(2, np.nan)
    for i, clock in enumerate(("clock", "CPU")):
        yield Row(
            f"a whole fit, reading and binning included, {clock}",
            size,
            "LightGBM's Dask estimator",
            ours[i],
            theirs[i],
            1.0,
        )
