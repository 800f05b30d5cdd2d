"""Answers to a table in parts, such as a folder of Parquet files: one file of answers for each part, written whole."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from ..arrays import Floats
from ..decisions import Decisions
from ..locating import locate, no_decisions
from ..persistence import open_whole
from ..tables import ParquetPart, dataset_parts, read_part
from .counts import Answered, PartAnswers, ReviewQueue
from .frames import MODEL_DIGEST, answer_table, decide_chunk, needed_columns, require_columns_of
from .staging import Stage

# Calls a function with each of these arguments, somewhere, and yields the number of each call with its result; what has
# not ended is stopped when it is closed.
Run = Callable[[Callable[..., Any], list[tuple[Any, ...]]], Generator[tuple[int, Any], None, None]]
Progress = Callable[[int], None]
Chunk = tuple[Decisions, Floats | None]  # with the probabilities, where the model has any


@dataclass(frozen=True)
class AnswerSettings:
    """How parts are answered.

    Attributes
    ----------
    reasons : bool or "all"
        With which reasons.
    capacity : int or None
        How many rejected cases can be reviewed.
    rows_at_once : int
        Rows held in memory.
    neighbours : int or None
        How many training cases of each class are named.
    model_digest : str or None
        What says which model file answers; None for a model that came from no file.
    """

    reasons: bool | str
    capacity: int | None
    rows_at_once: int
    neighbours: int | None = None
    model_digest: str | None = None


def answer_folder(
    model: Any,
    data: str | os.PathLike[str],
    out: str | os.PathLike[str],
    settings: AnswerSettings,
    *,
    run: Run,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Answered:
    """Answer every file of a Parquet dataset.

    Parameters
    ----------
    model : estimator
        A fitted reject-option classifier, or a Pipeline that ends in one.
    data, out : path-like
        Folder of the table, and the folder that the answers go to, with a file of the same name for each file.
    settings : AnswerSettings
        How.
    run : callable
        Where: it is called with a function and a list of arguments.
    overwrite : bool, default=False
        Whether other files in `out` may be replaced.
    progress : callable, optional
        Called with the number of cases answered so far.
    """
    _require_apart(Path(data), Path(out))
    parts = dataset_parts(data)
    if not any(part.rows for part in parts):
        raise ValueError(f"{os.fspath(data)} holds no rows: there is nothing to answer.")
    for part in parts:
        require_columns_of(model, part.columns, f"{part.name}: ")
    listing = [(part.name, part.path.stat().st_size, part.path.stat().st_mtime_ns) for part in parts]
    stage = Stage(Path(os.path.realpath(out)), request_digest(model, listing, settings), settings.capacity)

    def answer(pending: list[int]) -> Generator[tuple[int, PartAnswers], None, None]:
        calls = [(model, parts[i], stage.answers / parts[i].name, settings) for i in pending]
        return run(answer_file, calls)

    return answer_parts(stage, [part.name for part in parts], answer, settings, run, overwrite, progress)


def answer_parts(
    stage: Stage,
    names: list[str],
    answer: Callable[[list[int]], Generator[tuple[int, PartAnswers], None, None]],
    settings: AnswerSettings,
    run: Run,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Answered:
    """Answer the parts that no earlier run of the same request has finished, put them in order, and publish them."""
    finished = None if overwrite else stage.finished()
    if finished is not None:
        return finished
    stage.require_free(overwrite)
    with stage.opened():
        queue, pending = ReviewQueue(settings.capacity), []
        for number, name in enumerate(names):
            if (stage.answers / name).is_file():  # files are written whole: it is complete
                queue.add(number, _answers_in(stage.answers / name, settings.capacity))
            else:
                pending.append(number)
        # Closed at once, also by an interruption: nothing may go on answering for a run that has ended.
        with closing(answer(pending)) as results:
            for position, found in results:
                queue.add(pending[position], found)
                if progress is not None:
                    progress(queue.cases)
        _require_all_here(stage, names)
        answered = queue.answered()
        if settings.capacity is None:
            stage.publish(stage.answers, answered)
            return answered
        ranked = stage.ranked
        calls = [(stage.answers / name, ranked / name, *queue.places(i)) for i, name in enumerate(names)]
        with closing(run(_add_places, calls)) as results:
            for _ in results:
                pass
        stage.publish(ranked, answered)
        return answered


def _require_all_here(stage: Stage, names: list[str]) -> None:
    """Refuse answers that were written elsewhere: on the disk of a worker that does not share the folder."""
    lacking = [name for name in names if not (stage.answers / name).is_file()]
    if lacking:
        raise FileNotFoundError(
            f"The answers to {lacking[0]} are not here, although they were written: a cluster answers into folders "
            "that all its machines share."
        )


def request_digest(model: Any, table: Any, settings: AnswerSettings) -> str:
    """Digest of everything that the answers to a table depend on."""
    try:
        known = joblib.hash(model)
    except Exception:  # it holds something that cannot be recognised later: nothing is continued
        known = uuid.uuid4().hex
    return hashlib.sha256(
        json.dumps([known, table, settings.reasons, settings.neighbours, settings.model_digest], default=str).encode()
    ).hexdigest()


def in_this_process(
    function: Callable[..., Any], calls: list[tuple[Any, ...]]
) -> Generator[tuple[int, Any], None, None]:
    """Call a function here, with one list of arguments after another."""
    for number, call in enumerate(calls):
        yield number, function(*call)


def answer_file(model: Any, part: ParquetPart, path: Path, settings: AnswerSettings) -> PartAnswers:
    """Answer one file of a dataset, chunk by chunk, and write its answers; errors name the file."""
    if not part.path.is_file():
        raise FileNotFoundError(
            f"{part.path} is not there on {socket.gethostname()}: was it removed meanwhile? A cluster answers folders "
            "that all its machines share."
        )

    def chunks() -> Iterator[tuple[Chunk, int]]:
        done = part.start
        for chunk in read_part(part, needed_columns(model), settings.rows_at_once):
            yield _naming(part.name, decide_chunk, model, chunk, done, settings.reasons, settings.neighbours), done
            done += len(chunk)

    return write_answers(path, chunks(), _no_answers(model, settings, numbered=True), settings)


def answer_frame(model: Any, frame: Any, name: str, path: Path, settings: AnswerSettings) -> PartAnswers:
    """Answer one partition of a data frame and write its answers with its row names."""

    def chunks() -> Iterator[tuple[Chunk, None]]:
        for start in range(0, len(frame), settings.rows_at_once):
            chunk = frame.iloc[start : start + settings.rows_at_once]
            yield _naming(name, decide_chunk, model, chunk, start, settings.reasons, settings.neighbours), None

    empty = _no_answers(model, settings, numbered=False, index=frame.index[:0])
    return write_answers(path, chunks(), empty, settings)


def _naming(name: str, function: Callable[..., Chunk], *args: Any) -> Chunk:
    """Call a function whose errors are to name the part of the table."""
    try:
        return function(*args)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def _no_answers(model: Any, settings: AnswerSettings, numbered: bool, index: Any = None) -> Any:
    """The columns of the answers without rows."""
    decisions, none = no_decisions(model, index), np.empty(0)
    classifier, _ = locate(model)
    # Where `decide_with_probability` gives one.
    probability = none if len(classifier.classes_) == 2 and hasattr(classifier, "predict_proba") else None
    return _answer_table(decisions, probability, 0 if numbered else None, settings)


def _answer_table(decisions: Decisions, probability: Floats | None, start: int | None, settings: AnswerSettings) -> Any:
    """Answers as an Arrow table, in which each names its model."""
    import pyarrow as pa

    table = answer_table(decisions, probability, start, settings.reasons)
    if settings.model_digest is None:
        return table
    return table.append_column(MODEL_DIGEST, pa.repeat(settings.model_digest, len(table)))


def write_answers(
    path: Path, chunks: Iterable[tuple[Chunk, int | None]], empty: Any, settings: AnswerSettings
) -> PartAnswers:
    """Write the answers to a part, whole or not at all, and return what is known of them."""
    import pyarrow.parquet as pq

    kinds, scores = [np.empty(0, dtype="<U9")], [np.empty(0)]
    path.parent.mkdir(parents=True, exist_ok=True)
    with open_whole(path) as file, pq.ParquetWriter(file, empty.schema) as writer:
        for (decisions, probability), start in chunks:
            table = _answer_table(decisions, probability, start, settings)
            writer.write_table(table.cast(empty.schema))
            kinds.append(decisions.kind)
            scores.append(table["r"].to_numpy())  # ranked as written: what looks alike stays in its order
        if len(kinds) == 1:
            writer.write_table(empty)  # not every reader takes a file without any group of rows
    return PartAnswers.of(np.concatenate(kinds), np.concatenate(scores), settings.capacity)


def _answers_in(path: Path, capacity: int | None) -> PartAnswers:
    """What is known of the answers in a finished file."""
    import pyarrow.parquet as pq

    table = pq.read_table(path, columns=["kind", "r"], partitioning=None)
    return PartAnswers.of(table["kind"].to_numpy().astype(str), table["r"].to_numpy(), capacity)


def _add_places(source: Path, target: Path, rows: Any, places: Any) -> None:
    """Copy a file of answers with each rejected case's place in the queue of review, empty beyond the capacity."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if target.is_file():
        return
    file = pq.ParquetFile(source)
    review, known = np.zeros(file.metadata.num_rows, dtype=np.int64), np.zeros(file.metadata.num_rows, dtype=bool)
    review[rows], known[rows] = places, True
    target.parent.mkdir(parents=True, exist_ok=True)
    schema, done = file.schema_arrow.append(pa.field("review", pa.int64())), 0
    with open_whole(target) as written, pq.ParquetWriter(written, schema) as writer:
        for group in range(file.num_row_groups):
            table = file.read_row_group(group)
            here = slice(done, done + len(table))
            column = pa.array(review[here], mask=~known[here])
            writer.write_table(table.append_column("review", column).cast(schema))
            done += len(table)


def _require_apart(data: Path, out: Path) -> None:
    """Refuse an output folder within that of the table, where it would be read as a part of it, or around it."""
    table, answers = Path(os.path.realpath(data)), Path(os.path.realpath(out))
    if table == answers or table in answers.parents or answers in table.parents:
        raise ValueError(
            f"out={os.fspath(out)!r} and the table {os.fspath(data)!r} are within each other: keep them apart."
        )
