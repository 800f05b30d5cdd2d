"""The rows of a distributed fit of ExactBoost, and its runs: ordinary tasks, which Dask repeats when a worker dies.

Every task is a function of its arguments alone, the seed among them: what is done twice has the same result.
"""

from __future__ import annotations

import logging
import operator
import uuid
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from ..arrays import Floats, Indices
from ..boosting.exactboost.runs import Run
from . import faults
from .cluster import Cluster
from .drawing import ClassSizes
from .ranking_rows import Coding, Columns, Contents, code_rows, look_at_rows
from .ranking_runs import CodedRows, RowDraws, RunTask, boost_drawn, join_rows, take_panel, take_run
from .shelves import naming_partition
from .sketches import TableSketch, merge_in_tree

_MOST_BLOCKS = 64  # tasks per run: rows of neighbouring partitions are joined into so many
_MEMORY = 0.8  # share of a worker's memory at which Dask pauses it
_log = logging.getLogger("recuse")


class RankingTable:
    """Partitions on a cluster.

    Parameters
    ----------
    pieces : list of tuple of Delayed
        Features, labels, weights and initial scores of each partition.
    columns : Columns
        The schema of the features.
    cluster : Cluster
        Where the partitions are looked at.
    """

    def __init__(self, pieces: Sequence[tuple[Any, ...]], columns: Columns, cluster: Cluster) -> None:
        self._pieces, self._columns, self._cluster = list(pieces), columns, cluster
        self._name = f"recuse-exactboost-{uuid.uuid4().hex}"
        self._blocks: list[Any] = []
        self._first: list[ClassSizes] = []

    def look(self) -> tuple[list[Contents], TableSketch]:
        """What is in each partition, and the sketch of all rows."""
        import dask

        look = dask.delayed(naming_partition, pure=False, nout=2)
        seen = [look(number, look_at_rows, *piece, self._columns) for number, piece in enumerate(self._pieces)]
        whole = merge_in_tree(
            [sketch for _, sketch in seen], lambda merge, *sketches: dask.delayed(merge, pure=False)(*sketches)
        )
        *contents, sketch = self._cluster.client.compute([*(contents for contents, _ in seen), whole])
        found = self._cluster.gather(dict(enumerate(contents)))  # before the sketch: an error names its partition
        return [found[number] for number in range(len(seen))], self._gather_one("The sketch of quantiles", sketch)

    def code(self, coding: Coding, sizes: Sequence[ClassSizes]) -> None:
        """Have the rows coded and kept, given how many each partition has."""
        import dask

        client = self._cluster.client
        code = dask.delayed(naming_partition, pure=False)
        told = self._tell((self._columns, coding))
        parts = client.compute([code(n, _code, *piece, told) for n, piece in enumerate(self._pieces)])
        self._cluster.gather(dict(enumerate(client.map(_is_coded, parts, pure=False))))
        starts = list(accumulate(sizes, _add, initial=ClassSizes(0, 0)))
        per_block = -(-len(parts) // _MOST_BLOCKS)
        groups = [parts[i : i + per_block] for i in range(0, len(parts), per_block)]
        self._first = starts[: len(parts) : per_block]
        self._blocks = [self._submit(join_rows, *group) if len(group) > 1 else group[0] for group in groups]

    def panel(self, draws: RowDraws) -> CodedRows:
        """The rows of the panel, here."""
        parts = [self._submit(take_panel, *at, draws) for at in zip(self._blocks, self._first, strict=True)]
        joined = self._submit(join_rows, *parts)
        if draws.all_rows:  # every run works on the same rows: they come together once
            self._blocks, self._first = [joined], [ClassSizes(0, 0)]
        rows: CodedRows = self._gather_one("The panel of ExactBoost", joined)
        return rows

    def boost(self, task: RunTask, todo: range) -> Iterator[tuple[Run, Indices, Floats]]:
        """Yield runs in order: each with the positions in the panel of cases it has not seen, and their scores."""
        told = self._tell(task)
        ahead = 2 * sum(self._cluster.workers().values())
        waiting: dict[int, Any] = {}
        for e in todo:
            for next_one in range(e, min(e + ahead, todo.stop)):
                if next_one not in waiting:
                    waiting[next_one] = self._boost_one(told, task.draws, next_one)
            yield self._gather_one(f"Run {e} of ExactBoost", waiting.pop(e))
            _log.info("ExactBoost: %d of %d runs", e + 1, todo.stop)

    def _boost_one(self, told: Any, draws: RowDraws, e: int) -> Any:
        """The task of a run."""
        rows = self._blocks
        if not draws.all_rows:
            rows = [self._submit(take_run, *at, draws, e) for at in zip(self._blocks, self._first, strict=True)]
        return self._submit(boost_drawn, told, e, *rows)

    def _gather_one(self, name: str, future: Any) -> Any:
        """The result of a task, which has a name where it fails."""
        return self._cluster.gather({name: future})[name]

    def _tell(self, what: Any) -> Any:
        """Something for many tasks, sent to the scheduler once: what is scattered to workers would die with them."""
        return self._submit(_as_it_is, what)

    def _submit(self, function: Any, *args: Any) -> Any:
        # Tasks of one fit have one name, by which they can be told from those of others in Dask's dashboard.
        key = f"{self._name}-{function.__name__}-{uuid.uuid4().hex}"
        return self._cluster.client.submit(function, *args, key=key, pure=False)

    def require_memory(self, needed: int, draws: RowDraws, held: int) -> None:
        """Refuse runs that would not fit into the memory of a worker, one for each of its threads."""
        workers = self._cluster.described()
        for address, worker in workers.items():
            limit, threads = worker.get("memory_limit") or 0, worker["nthreads"]
            share = held // len(workers)
            if limit and threads * needed + share > _MEMORY * limit:
                raise faults.ClusterError(
                    f"A run of ExactBoost on {draws.of_run.total} cases needs {_mib(needed)}, and worker {address} "
                    f"does {threads} at a time beside {_mib(share)} of coded rows; it has {_mib(limit)}, of which Dask "
                    f"uses {_MEMORY:.0%}: lower run_cases, use fewer threads per worker, or workers with more memory."
                )


def _mib(size: float) -> str:
    return f"{size / 2**20:.0f} MiB"


def _add(first: ClassSizes, second: ClassSizes) -> ClassSizes:
    return ClassSizes(*map(operator.add, first, second))


def _as_it_is(what: Any) -> Any:
    return what


def _code(X: Any, y: Any, weight: Any, score: Any, told: tuple[Columns, Coding]) -> CodedRows:
    return code_rows(X, y, weight, score, *told)


def _is_coded(rows: CodedRows) -> int:
    """Wait for a partition to be coded, without its rows."""
    return rows.n_pos
