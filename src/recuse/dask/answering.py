"""Answers on dask: lazily for a dask DataFrame or array, and into Parquet datasets on a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..answering import (
    Answered,
    AnswerSettings,
    Run,
    Stage,
    answer_folder,
    answer_frame,
    answer_parts,
    columns_for,
    in_this_process,
    request_digest,
    require_columns_of,
)
from ..extras import require
from ..locating import decide, locate, no_decisions
from ..workers import WorkerDiedError
from .calls import cluster_results, future_results, sent
from .connection import connected
from .faults import ClusterError
from .tables import is_frame

Progress = Callable[[int], None]
Results = Generator[tuple[int, Any], None, None]


def decisions_meta(model: Any, index: Any = None) -> Any:
    """Return an empty frame with the columns and types of a model's decisions: the `meta` of `map_partitions`.

    Parameters
    ----------
    model : fitted reject-option classifier, or a Pipeline or search that ends in one
        Whose decisions.
    index : pandas index, optional
        Its type and name are kept, without its rows.

    Returns
    -------
    DataFrame

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from recuse import ThresholdRejectClassifier
    >>> from recuse.dask import decisions_meta
    >>> model = ThresholdRejectClassifier(LogisticRegression(), costs=0.2).fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    >>> decisions_meta(model).columns.tolist()
    ['label', 'forced', 'accepted', 'kind', 'h', 'r', 'reason']
    """
    import pandas as pd

    none = no_decisions(model)
    # pandas tells text from other objects by looking at it: a frame of one row has the types of every other.
    columns = {name: np.array([""], dtype=object) for name in ("reason",)}
    columns |= {"kind": np.array([""]), "accepted": np.array([False]), "h": np.zeros(1), "r": np.zeros(1)}
    labels = locate(model)[0]._labels.decode(np.zeros(1, dtype=np.intp))
    several = {"second": labels, "score": np.zeros(1), "second_score": np.zeros(1)}
    frame = pd.DataFrame({"label": labels, "forced": labels, **several, **columns})[
        list(none.to_pandas().columns)
    ].iloc[:0]
    return frame if index is None else frame.set_axis(index[:0])


def decide_partitions(model: Any, X: Any, reasons: bool = True) -> Any:
    """Answer a dask DataFrame or array partition by partition, when the result is computed.

    Returns
    -------
    dask DataFrame
        The columns of `Decisions.to_pandas`, with the partitions and the index of `X`; an array gets row numbers.
    """
    dask = require("dask", "decide on a dask collection")
    locate(model)  # refuse at once what has no reject option
    frame, as_array = _as_dask_frame(X)
    if not as_array:
        require_columns_of(model, frame.columns)
        frame = columns_for(model, frame)
    meta = decisions_meta(model, frame._meta.index)
    # As a task of its own, the model is sent to each worker once, not with every partition. Before 2025 Dask hands on
    # such an argument unresolved where it has fused the tasks around it.
    held = model if int(dask.__version__.split(".")[0]) < 2025 else dask.delayed(model, pure=True)
    return frame.map_partitions(_decide_frame, held, meta, reasons, as_array, meta=meta)


def _as_dask_frame(X: Any) -> tuple[Any, bool]:
    """A dask DataFrame of a dask collection, and whether its partitions are arrays to the model."""
    if hasattr(X, "map_partitions") and is_frame(X):
        return X, False
    if hasattr(X, "rechunk") and getattr(X, "ndim", 0) == 2:
        dd = require("dask.dataframe", "decide on a dask array")
        return dd.from_dask_array(X.rechunk({1: -1}), columns=[f"x{i}" for i in range(X.shape[1])]), True
    raise TypeError(f"X must be a dask DataFrame, or a dask array of two dimensions; got {type(X).__name__}.")


def _decide_frame(frame: Any, model: Any, meta: Any, reasons: bool, as_array: bool) -> Any:
    """The decisions on one partition; a partition without rows has none."""
    if len(frame) == 0:
        return meta.set_axis(frame.index)
    found = decide(model, frame.to_numpy() if as_array else frame, reasons=reasons).to_pandas(frame.index)
    return found.astype(meta.dtypes.to_dict())


def answer_on_cluster(
    model: Any,
    data: str | os.PathLike[str],
    out: Path,
    settings: AnswerSettings,
    cluster: Any,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Answered:
    """Answer every file of a Parquet dataset on a cluster, whose workers read and write the files themselves."""
    with connected(cluster) as client:
        return answer_folder(model, data, out, settings, run=_runs_on(client), overwrite=overwrite, progress=progress)


def answer_partitions(
    model: Any,
    frame: Any,
    out: Path,
    settings: AnswerSettings,
    cluster: Any = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Answered:
    """Answer a dask DataFrame into a folder: on the cluster, or else where dask computes, which may be a client's."""
    dask = require("dask", "predict_table on a dask DataFrame")
    if not is_frame(frame):
        raise TypeError(f"data must be a dask DataFrame, with the names of its columns; got {type(frame).__name__}.")
    require_columns_of(model, frame.columns)
    partitions = frame.to_delayed()
    names = [f"part.{number}.parquet" for number in range(len(partitions))]
    stage = Stage(
        Path(os.path.realpath(out)), request_digest(model, dask.base.tokenize(frame), settings), settings.capacity
    )
    with _client_or_none(cluster) as client:
        held = dask.delayed(model, pure=True)

        def answer(pending: list[int]) -> Results:
            write = dask.delayed(answer_frame, pure=False)
            tasks = [write(held, partitions[i], names[i], stage.answers / names[i], settings) for i in pending]
            if client is None:
                yield from enumerate(dask.compute(*tasks))
            else:
                yield from _alive(future_results(client, dict(enumerate(client.compute(tasks)))))

        run = in_this_process if client is None else _runs_on(client)
        return answer_parts(stage, names, answer, settings, run, overwrite, progress)


@contextmanager
def _client_or_none(cluster: Any) -> Iterator[Any]:
    """The client of the cluster asked for; else the one that is active, if any."""
    if cluster is not None:
        with connected(cluster) as client:
            yield client
        return
    yield _active_client()


def _active_client() -> Any:
    try:
        from distributed import default_client

        return default_client()
    except (ImportError, ValueError):  # not installed, or none is active
        return None


def _runs_on(client: Any) -> Run:
    """Calls on a cluster, of which the first argument is the same model, sent once."""

    def run(function: Callable[..., Any], calls: list[tuple[Any, ...]]) -> Results:
        if not calls:
            return
        first = calls[0][0]
        if any(call[0] is not first for call in calls):
            yield from _alive(cluster_results(client, function, calls))
            return
        with sent(client, first) as model:
            yield from _alive(cluster_results(client, function, [call[1:] for call in calls], shared=[model]))

    return run


def _alive(results: Results) -> Results:
    """The results; a part that no worker survives ends the run."""
    with closing(results):
        for number, result in results:
            if isinstance(result, WorkerDiedError):
                raise ClusterError(
                    f"Part {number + 1} ended {result}, as when memory runs out: make the files smaller, give the "
                    "workers more memory, or take fewer rows at once; what is finished is kept, and the same command "
                    "continues."
                )
            yield number, result
