"""Fits on a dask cluster: the table goes there once, or is read there, and the folds of every method are its tasks."""

from __future__ import annotations

import os
import socket
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from sklearn.pipeline import Pipeline

from ..folds import Fold
from ..tables import Cases, TableFile, is_dataset
from ..workers import WorkerDiedError
from .checkpoints import data_fingerprint
from .folds import FoldResult, fit_model
from .loading import load_cases, load_table
from .methods import Method
from .own import as_methods, sendable
from .parts import FoldPart, received_methods, run_part
from .plans import Task
from .sharing import Preparation, PreparedFold

# Runs parts; yields the position of each with its results, as they are there.
FoldRuns = Callable[[list[FoldPart]], Iterator[tuple[int, Any]]]


@dataclass(frozen=True)
class TableThere:
    """A Parquet dataset that workers read themselves: its path travels, not its rows.

    Attributes
    ----------
    folder : str
        The dataset, as the workers see it.
    target, positive, drop, groups, time
        As in `load_cases`.
    fingerprint : str
        What the cases must be: those that this process has read.
    """

    folder: str
    target: str
    positive: Any
    drop: tuple[str, ...]
    groups: str | None
    time: str | None
    fingerprint: str

    @classmethod
    def of(
        cls, data: Any, target: str, positive: Any, drop: list[str], groups: Any, time: str | None, fingerprint: str
    ) -> TableThere | None:
        """What to send in place of the cases; None where only the cases say it all."""
        if not is_dataset(data) or not isinstance(groups, str | None):
            return None
        return cls(os.path.realpath(TableFile.of(data).path), target, positive, tuple(drop), groups, time, fingerprint)

    def read(self, name: str) -> Cases:
        """Read the cases on a worker, as they were read here."""
        if not Path(self.folder).is_dir():
            raise FileNotFoundError(
                f"The worker on {socket.gethostname()} does not see the folder {self.folder}: a cluster reads folders "
                "that all its machines share."
            )
        table = load_table(self.folder, self.target)._replace(name=name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they were given here
            cases = load_cases(table, self.positive, drop=self.drop, groups=self.groups, time=self.time, least=1)
        if data_fingerprint(cases) != self.fingerprint:
            raise ValueError(
                f"{self.folder} on {socket.gethostname()} is not the table that was read at the beginning: has it "
                "changed since?"
            )
        return cases


@contextmanager
def cluster_runs(
    cluster: Any, cases: Cases, there: TableThere | None, splits: list[Fold], task: Task
) -> Iterator[FoldRuns | None]:
    """Give what runs folds on a cluster; None without a cluster. Nothing is left on the workers."""
    if cluster is None:
        yield None
        return
    from ..dask.calls import cluster_results, sent
    from ..dask.connection import connected

    with connected(cluster) as client, ExitStack() as kept:
        shared: list[Any] = []
        run_name = uuid4().hex

        def run(parts: list[FoldPart]) -> Iterator[tuple[int, Any]]:
            if parts and not shared:  # a run whose folds are all there reads and sends nothing
                shared.extend(kept.enter_context(held) for held in (_table(client, cases, there), sent(client, splits)))
            calls = [(part.sent(), task, part.number, part.explained, run_name) for part in parts]
            yield from cluster_results(client, _run_part_there, calls, shared)

        yield run


def _table(client: Any, cases: Cases, there: TableThere | None) -> Any:
    """A future of the cases, for a with statement: read on a worker, or sent."""
    from ..dask.calls import computed, sent

    return sent(client, cases) if there is None else computed(client, there.read, cases.name)


def _run_part_there(
    cases: Cases,
    splits: list[Fold],
    sent: list[str | Method],
    task: Task,
    number: int,
    reasons: bool,
    run_name: str,
) -> list[FoldResult]:
    """Run a part on a worker, which prepares a fold once for the parts that it gets of it."""
    train, test = splits[number]
    method = received_methods(sent, task)[0]

    def prepared(kind: Preparation) -> PreparedFold:
        key = (run_name, number, kind)
        if key not in _PREPARED:
            while len(_PREPARED) >= _MOST_PREPARED:
                del _PREPARED[next(iter(_PREPARED))]
            _PREPARED[key] = PreparedFold.of(method, task, cases, train, test)
        return _PREPARED[key]

    return run_part(sent, task, cases, train, test, reasons, prepared)


_PREPARED: dict[tuple[str, int, Preparation], PreparedFold] = {}  # on a worker, where one call runs at a time
_MOST_PREPARED = 2


def fit_on_cluster(cluster: Any, cases: Cases, there: TableThere | None, method: Method, task: Task) -> Pipeline:
    """Fit one model on a worker of a cluster."""
    from ..dask.calls import cluster_results
    from ..dask.connection import connected
    from ..dask.faults import ClusterError

    with connected(cluster) as client, _table(client, cases, there) as table:
        ((_, model),) = cluster_results(client, _fit_there, [(sendable(method), task)], shared=[table])
    if isinstance(model, WorkerDiedError):
        raise ClusterError(
            f"The fit ended {model}, as when memory runs out: give the workers more memory{_way(method)}."
        )
    fitted: Pipeline = model
    return fitted


def _way(method: Method) -> str:
    """How a table is fitted that no worker can hold, where there is a way."""
    if method.name != "abstention-boosting":
        return ""
    return ", or fit recuse.dask.DaskAbstentionBoostingClassifier, which needs the table on no single one"


def _fit_there(cases: Cases, given: str | Method, task: Task) -> Pipeline:
    (method,) = as_methods([given], task.n_rows)
    cases = cases.in_time()
    return fit_model(method, task, cases.features, cases.outcomes, cases.groups)[0]
