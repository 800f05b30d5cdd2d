"""Answers on a Dask cluster: rows of the `dask` benchmark, beside `map_partitions` of LightGBM's `predict`.

Both models have 100 stumps, fitted on the first file. Both read the same dataset with the same workers: lazily, where
the answers are counted, and into a folder of Parquet files, where ours has the scores and kinds of every case besides
its answer and is written whole, and the peer's has the answer alone.
"""

import shutil
import time
from pathlib import Path

import numpy as np

from .runner import Row

ROUNDS, REPEATS = 100, 3


def answer_rows(client, folder, n, columns, scratch):
    """Rows for a dataset of `n` cases with these feature columns and outcomes `y`; `scratch` is written to."""
    import dask.dataframe as dd
    import pandas as pd

    import recuse
    from recuse.predicting import predict_table

    first = pd.read_parquet(sorted(Path(folder).glob("*.parquet"))[0])
    ours, theirs = fitted(first[columns], first["y"].to_numpy())
    table = dd.from_map(pd.read_parquet, sorted(Path(folder).glob("*.parquet")))[columns]
    meta = pd.Series(dtype=np.int64, name="answer")
    calls = {
        "decide, counted": (
            lambda: recuse.decide(ours, table, reasons=False)["label"].sum().compute(),
            lambda: table.map_partitions(predict, theirs, meta=meta).sum().compute(),
        ),
        "into a Parquet dataset": (
            lambda: predict_table(ours, table, emptied(scratch), reasons=False, cluster=client),
            lambda: table.map_partitions(write, theirs, emptied(scratch), meta=meta).sum().compute(),
        ),
    }
    size = f"{n:,} rows, {len(list(Path(folder).glob('*.parquet')))} files, {ROUNDS} stumps"
    for what, (our_call, their_call) in calls.items():
        pairs = [(seconds(client, our_call), seconds(client, their_call)) for _ in range(REPEATS)]
        found = np.median(pairs, axis=0)
        for i, clock in enumerate(("clock", "CPU")):
            yield Row(f"predict, {what}, {clock}", size, "map_partitions of LightGBM's predict", *found[:, i])


def predict(frame, model):
    import pandas as pd

    return pd.Series(model.predict(frame, num_threads=1), index=frame.index, name="answer").astype(np.int64)


def write(frame, model, folder, partition_info=None):
    """Write the peer's answers to one partition; return how many there are."""
    import pandas as pd

    if partition_info is None:  # dask asks what it would return
        return pd.Series([0])
    Path(folder).mkdir(exist_ok=True)
    predict(frame, model).to_frame().to_parquet(Path(folder) / f"part.{partition_info['number']}.parquet")
    return pd.Series([len(frame)])


def fitted(X, y):
    """Stumps of ours and of LightGBM."""
    import lightgbm

    from recuse import AbstentionBoostingClassifier

    settings = {
        "family": "coupled",
        "beta": 0.0,
        "threshold": "calibrated",
        "n_rounds": ROUNDS,
        "costs": 0.2,
        "tol": 0.0,
    }
    ours = AbstentionBoostingClassifier(**settings).fit(X, y)
    return ours, lightgbm.LGBMClassifier(n_estimators=ROUNDS, num_leaves=2, verbose=-1, n_jobs=1).fit(X, y)


def seconds(client, call):
    """Clock and processor seconds of a call, those of the workers included."""
    cpu = sum(client.run(time.process_time).values()) + time.process_time()
    start = time.perf_counter()
    call()
    clock = time.perf_counter() - start
    return np.array([clock, sum(client.run(time.process_time).values()) + time.process_time() - cpu])


def emptied(folder):
    shutil.rmtree(folder, ignore_errors=True)
    return str(folder)


def run(quick=False):
    """The rows alone, on a dataset of their own."""
    import tempfile

    import pandas as pd
    from distributed import Client, LocalCluster

    n, n_files, columns = (40_000 if quick else 2_000_000), (4 if quick else 40), [f"x{f}" for f in range(20)]
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with tempfile.TemporaryDirectory() as scratch, LocalCluster(**settings) as cluster, Client(cluster) as client:
        folder = Path(scratch) / "table"
        folder.mkdir()
        for k in range(n_files):
            random = np.random.default_rng(k)
            X = random.normal(size=(n // n_files, 20)).astype(np.float32)
            y = (X[:, 0] + np.sin(2 * X[:, 1]) + random.logistic(size=len(X)) > 0).astype(np.int8)
            pd.DataFrame(X, columns=columns).assign(y=y).to_parquet(folder / f"part.{k:03}.parquet")
        yield from answer_rows(client, folder, n, columns, Path(scratch) / "answers")
