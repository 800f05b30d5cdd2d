"""Training on a Dask cluster: two workers of one thread and 2 GiB each, on a Parquet dataset that they read.

The peer is LightGBM's Dask estimator with 2 leaves, 255 bins and as many rounds, on such a cluster and the same
dataset; where one of its workers runs out of memory, on the first half, quarter, ... of the files that it survives,
and ours on the same files. Seconds per round are the median over stretches of 20 rounds of one fit, so that reading
and binning do not count; the rows of whole fits are the same fits from beginning to end. CPU counts the processor
seconds of client, scheduler and workers together; clock is what other work on the machine left. "One process" is
`AbstentionBoostingClassifier` with two threads, on the same rows in memory. Bytes are those of the histograms as Dask
serialises them, once more on the client and not counted on a network, against 32 bytes per cell and worker: two
classes, two weights, eight bytes each. Growth compares sizes of our own. ExactBoost's fit has 16 runs on all rows of a
smaller table. Answers: both models have 100 stumps and read the same files; ours has scores and kinds besides.
Questions have no work to do: see `benchmarks/dask_paper.py`. RECUSE_BENCHMARK_ROWS is the number of rows.
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
from .dask_paper import message_rows, on_paper
from .dask_peer import fitted_seconds
from .runner import Row

N_FEATURES, N_FILES = 20, 40
SETTINGS = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "2GiB", "dashboard_address": ":0"}
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


said = {"peer": [], "questions": float("nan")}  # what the run found out besides its rows


def run(quick=False):
    from distributed import Client, LocalCluster

    n = 40_000 if quick else ROWS
    with tempfile.TemporaryDirectory() as folder:
        made = make_dataset(Path(folder) / "whole", n, N_FILES)
        with LocalCluster(**SETTINGS) as cluster, Client(cluster) as client:
            yield from bytes_per_round(client, Path(folder), n // 40)
            ours = measured(on_cluster(client), client, lambda: fit_ours(client, made, N_ROUNDS))
        yield from against_one_process(made, n, ours[0])
        yield from against_lightgbm(made, n, ours)
        with LocalCluster(**SETTINGS) as cluster, Client(cluster) as client:
            yield from growth(client, Path(folder), n // 4, ours[0][1])
            yield from exactboost_rows(client, make_once(Path(folder), n // 40, 8), n // 40)
            yield from answer_rows(client, made, n, names(), Path(folder) / "answers")
        yield from message_rows()


def notes(rows):
    """What the page says below its rows."""
    said_of_peer = [f"LightGBM's Dask estimator at {n:,} rows: {why}." for n, why in said["peer"]]
    answers = [row for row in rows if row.what == "predict, decide, counted, CPU"]
    n = int(answers[0].size.split()[0].replace(",", ""))
    spoken = f"`decide` answers {n / answers[0].ours:,.0f} rows per second of CPU, LightGBM's `predict` "
    spoken += f"{n / answers[0].theirs:,.0f}, reading included in both."
    return "\n\n".join([on_paper(rows, said["questions"]), *said_of_peer, spoken])


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


def read(folder, n_files=N_FILES * 4):
    """Features and labels of the first files of a dataset."""
    import dask.dataframe as dd
    import pandas as pd

    # Not `dd.read_parquet`: its optimiser reads several small files of labels at once, and LightGBM's estimator then
    # finds fewer partitions of labels than of features.
    table = dd.from_map(pd.read_parquet, sorted(folder.glob("*.parquet"))[:n_files])
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


def fit_ours(client, folder, n_rounds, n_files=N_FILES * 4):
    from recuse.dask import DaskAbstentionBoostingClassifier

    return DaskAbstentionBoostingClassifier(**FAMILY, n_rounds=n_rounds).fit(*read(folder, n_files), client=client)


def fit_lightgbm(client, folder, n_rounds, n_files, **options):
    import lightgbm

    peer = lightgbm.DaskLGBMClassifier(
        client=client, n_estimators=n_rounds, num_leaves=2, max_bin=255, min_child_samples=1, verbose=-1
    )
    return peer.fit(*read(folder, n_files), **options)


def against_lightgbm(folder, n, ours):
    n_files, theirs = N_FILES, None
    while theirs is None and n_files:
        theirs, why = fitted_seconds(folder, n_files, N_ROUNDS)
        if theirs is None:
            said["peer"].append((n * n_files // N_FILES, why))
            n_files //= 2
    if theirs is None:
        return
    if n_files < N_FILES:
        ours = on_fewer_files(folder, n_files)
    size, peer = f"{n * n_files // N_FILES:,} x {N_FEATURES}, {n_files} files", "LightGBM's Dask estimator"
    for i, clock in enumerate(("clock", "CPU")):
        yield Row(f"a round, {clock}", size, peer, ours[0][i], theirs[0][i], 1.0)
    for i, clock in enumerate(("clock", "CPU")):
        what = f"a whole fit of {N_ROUNDS} rounds, reading and binning included, {clock}"
        yield Row(what, size, peer, ours[1][i], theirs[1][i], 1.0)


def on_fewer_files(folder, n_files):
    """Ours on the files that the peer survives."""
    from distributed import Client, LocalCluster

    with LocalCluster(**SETTINGS) as cluster, Client(cluster) as client:
        return measured(on_cluster(client), client, lambda: fit_ours(client, folder, N_ROUNDS, n_files))


def exactboost_rows(client, folder, n):
    """ExactBoost's runs, spread over the workers, beside those of one process."""
    import pandas as pd

    from recuse import ExactBoostClassifier
    from recuse.dask import DaskExactBoostClassifier

    settings = {"metric": "auc", "n_estimators": 16, "random_state": 0}
    table = pd.read_parquet(folder)
    X, y = table[names()].to_numpy(), table["y"].to_numpy()
    warm = {**settings, "n_estimators": 2}  # compiles: on the workers, and here
    DaskExactBoostClassifier(**warm).fit(*read(folder), client=client)
    ExactBoostClassifier(**warm, n_jobs=2).fit(X, y)
    ours = seconds(client, lambda: DaskExactBoostClassifier(**settings).fit(*read(folder), client=client))
    alone = seconds(client, lambda: ExactBoostClassifier(**settings, n_jobs=2).fit(X, y))
    for i, clock in enumerate(("clock", "CPU")):
        what, size = f"ExactBoost, a whole fit of 16 runs, {clock}", f"{n:,} x {N_FEATURES}, 8 files"
        yield Row(what, size, "one process, 2 threads, in memory", ours[i], alone[i])


def against_one_process(folder, n, ours):
    import pandas as pd

    from recuse import AbstentionBoostingClassifier

    table = pd.read_parquet(folder)
    X, y, marks = table[names()].to_numpy(), table["y"].to_numpy(), {}
    del table
    with in_one_process()(marks):
        AbstentionBoostingClassifier(**FAMILY, n_rounds=FEWER, n_jobs=2).fit(X, y)
    alone, size, peer = per_round(marks), f"{n:,} x {N_FEATURES}, {N_FILES} files", "one process, 2 threads"
    yield Row("a round of two workers, clock", size, peer, ours[0], alone[0], 1.3)
    yield Row("a round of two workers, CPU", size, peer, ours[1], alone[1], 1.3)


def bytes_per_round(client, folder, n):
    """The answers to the sweeps of a fit, as they travel; and what else a round sends."""
    from distributed.protocol import dumps

    from recuse.dask.coded import CodedPartition
    from recuse.dask.partitions import Partitions

    answers, sent, asked, run_before, send_before = [], [], [], Partitions._run, Partitions._send

    def run_and_count(self, command, add, about, changes):
        results = run_before(self, command, add, about, changes)
        asked.append(command.function is CodedPartition.histograms)
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
    sweeps = np.flatnonzero(asked)
    said["questions"] = float((sweeps[-1] - sweeps[0]) / (len(sweeps) - 1))
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


def growth(client, folder, n, four_times):
    """Twice and four times the rows, and the same rows in more partitions; processor seconds."""

    def found(n_rows, n_files):
        data = make_once(folder, n_rows, n_files)
        return measured(on_cluster(client), client, lambda: fit_ours(client, data, FEWER))[0][1]

    few, base = found(n, 8), found(n, N_FILES)
    for times, ours in ((2, found(2 * n, N_FILES)), (4, four_times)):
        row = f"{n * times:,} rows, {N_FILES} files", f"{n:,} rows, {N_FILES} files"
        yield Row(f"a round of {times} times the rows, CPU", *row, ours, base)
    yield Row("a round in 40 partitions, CPU", f"{n:,} rows", "8 partitions", base, few)
    yield Row("a round in 160 partitions, CPU", f"{n:,} rows", "8 partitions", found(n, 160), few)


def make_once(folder, n, n_files):
    path = folder / f"{n}-{n_files}"
    return path if path.is_dir() else make_dataset(path, n, n_files)
