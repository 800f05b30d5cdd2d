"""Answers for a table of any size, chunk by chunk, and the order in which rejected cases should be reviewed."""

from __future__ import annotations

import os
import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from sklearn.pipeline import Pipeline

from .answer_files import ALL_SCORES, AnswerFile, answer_format, as_kept, kept_numbers, with_kept
from .answering import (
    MODEL_DIGEST,
    ROWS_AT_ONCE,
    Answered,
    AnswerSettings,
    answer_folder,
    decide_chunk,
    in_this_process,
    no_order,
    six_digits,
    text_columns,
)
from .arrays import Floats
from .guarantees.record import rejects_everything
from .inspecting import inspect_model, report_model
from .labels import REJECT_TEXT
from .parameters import check_count
from .persistence import load, open_whole, saved_digest
from .persistence.models import digest_mark
from .tables import TableColumns, TableFile, detected_decimal, is_dataset, read_chunks
from .validation import is_dask

__all__ = ["Answered", "inspect_model", "predict_table", "report_model"]

_TEXT_FILES = (".csv", ".gz", ".tsv", ".txt", ".jsonl", ".parquet", ".pq", ".xlsx")


def predict_table(
    model: Any,
    data: Any,
    out: str | os.PathLike[str] | BinaryIO,
    *,
    capacity: int | None = None,
    raw: bool | None = None,
    keep: str | Sequence[str] | None = None,
    format: str | None = None,
    reasons: bool | str = True,
    neighbours: int | None = None,
    digest: str | None = None,
    rows_at_once: int = ROWS_AT_ONCE,
    cluster: Any = None,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Answered:
    """Answer every case of a table and write the decisions; the table need not fit into memory.

    A file is answered into one file. A folder of Parquet files, and a dask DataFrame, are answered part by part
    into a folder of Parquet files, one for each part, on a cluster or in this process; the same call continues a run
    that was interrupted.

    Parameters
    ----------
    model : estimator or path
        A fitted reject-option classifier, or a Pipeline that ends in one, or the file that holds it.
    data : path-like, TableFile or dask DataFrame
        A table file, as `recuse.tables.read_table` reads them. How numbers and dates are written is remembered from
        the table that the model was fitted on, unless a `TableFile` says otherwise. Or a folder of Parquet files, whose
        folders may name columns, as in ``year=2024/part.0.parquet``; or a dask DataFrame.
    out : path-like or binary file
        Where the decisions go, one row per case: case, decision, kind, forced, probability, h, r, reason. The columns
        mean what they mean in `Decisions`. Answers of a model in a file name it in a last column, model_digest, by the
        first digits of the file's digest. h is greater than 0 towards the second of the sorted classes; probability is
        that of the positive class, where the model has one. With three classes or more there is no such column, but the
        second best class and the probabilities, or scores, of the two: second, score, second_score. Scores have six
        digits. A file is written completely or not at all. The answers to a folder or a dask DataFrame go to a folder,
        unless `out` is the name of a file.
    capacity : int, optional
        How many rejected cases can be reviewed. A column `review` then numbers the rejected cases, starting with those
        whose review saves most (the lowest acceptance score); beyond the capacity it is empty. It is empty throughout,
        with a warning, where the capacity is not enough and all rejected cases have the same score, as of a model that
        answers every case alike: there is no order among them.
    raw : bool, optional
        Whether text is written as it is. By default not in CSV files, which people open: text that a spreadsheet would
        run, such as ``=1+1``, gets an apostrophe, which `recuse.tables.restored` takes off again.
    keep : "all", str or sequence of str, optional
        Columns of the table to write beside the answers, as they are in the table, such as the number of a customer.
    format : {"csv", "jsonl", "parquet", "xlsx"}, optional
        What is written; by default what the name of `out` tells, else CSV.
    reasons : bool or "all", default=True
        Whether to write a sentence for each case; large tables are faster without. Those of rejected cases name the
        columns that speak for either class; "all" names those of answered cases, too.
    neighbours : int, optional
        So many training cases of each class, those nearest to it, are named in the reason of a rejected case, by a
        model that keeps training cases: see `recuse.remember_cases`.
    digest : str, optional
        Refuse a model file unless it has this digest, as in `recuse.load`.
    rows_at_once : int
        Rows held in memory.
    cluster : str or distributed.Client, optional
        Where the parts of a folder or a dask DataFrame are answered: the address of a dask scheduler, "local:4" for
        four processes on this machine, or a client. The workers read and write the folders themselves.
    overwrite : bool, default=False
        Whether other files in the folder `out` may be replaced.
    progress : callable, optional
        Called with the number of cases answered so far.

    Returns
    -------
    Answered

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> import recuse
    >>> from recuse.predicting import predict_table
    >>> from sklearn.datasets import load_breast_cancer
    >>> table = load_breast_cancer(as_frame=True).frame
    >>> model = recuse.fit(table[:300], "target", 0.1, method="logistic-chow", positive=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (Path(folder) / "new").mkdir()
    ...     table[300:400].to_parquet(Path(folder) / "new" / "part.0.parquet")
    ...     table[400:].to_parquet(Path(folder) / "new" / "part.1.parquet")
    ...     answered = predict_table(model, Path(folder) / "new", Path(folder) / "answers", capacity=3)
    ...     answers = pd.read_parquet(Path(folder) / "answers")
    >>> answered.cases, len(answers), int(answers["review"].max())
    (269, 269, 3)
    """
    if capacity is not None:
        check_count("capacity", capacity, least=0)
    mark = None
    if isinstance(model, str | os.PathLike):
        path, model = model, load(model, digest=digest)
        mark = digest_mark(saved_digest(path))
    elif digest is not None:
        raise ValueError(f"digest={digest!r} is that of a file, and the model is none: give its path, or leave it out.")
    settings = AnswerSettings(reasons, capacity, rows_at_once, neighbours, mark)
    if is_dask(data) or (is_dataset(data) and _is_folder(out)):
        _require_plain(keep, format)
        return _told(_predict_parts(model, data, _as_folder(out), settings, cluster, overwrite, progress), model)
    if cluster is not None:
        raise ValueError(
            f"cluster={cluster!r} answers a folder of Parquet files into a folder; {TableFile.of(data).shown} or out "
            "is none: give such folders, or leave cluster out."
        )
    model = _reading_as_written(model, TableFile.of(data))
    kind = answer_format(out, format)
    with _opened(out) as file:
        answers = AnswerFile(file, kind, raw, kept_numbers(_table_columns(model)))
        if capacity is None:
            counts, _ = _answer(model, data, answers.write, as_kept(keep), settings, progress)
            answers.close()
            return _told(Answered(*counts), model)
        with tempfile.TemporaryFile() as unranked:
            store = partial(pickle.dump, file=unranked)
            counts, scores = _answer(model, data, store, as_kept(keep), settings, progress)
            unranked.seek(0)
            ordered = len(scores) <= max(capacity, 1) or bool(scores.min() < scores.max())
            limit = _add_ranks(unranked, answers.write, scores, capacity if ordered else 0)
            answers.close()
            return _told(Answered(*counts, capacity, limit, ordered), model)


def _told(answered: Answered, model: Any) -> Answered:
    """The counts; a queue without an order, and a model that answers nothing for want of a promise, are warned of."""
    guarantee = getattr(model[-1] if isinstance(model, Pipeline) else model, "guarantee_", None)
    if guarantee is not None and not guarantee.holds:
        warnings.warn(rejects_everything(guarantee, "the model"), UserWarning, stacklevel=3)
    if not answered.ordered:
        warnings.warn(no_order(answered), UserWarning, stacklevel=3)
    return answered


def _require_plain(keep: Any, format: str | None) -> None:
    """Refuse what only one file of answers has."""
    if keep or format not in (None, "parquet"):
        name, value = ("keep", keep) if keep else ("format", format)
        raise ValueError(
            f"{name}={value!r} is for one file of answers: those of a folder are Parquet files in the order of its "
            "rows. Leave it out, or give a file as out."
        )


def _predict_parts(
    model: Any,
    data: Any,
    out: Path,
    settings: AnswerSettings,
    cluster: Any,
    overwrite: bool,
    progress: Callable[[int], None] | None,
) -> Answered:
    """Answer a folder or a dask DataFrame into a folder; dask is loaded only where it is used."""
    if is_dask(data):
        from .dask.answering import answer_partitions

        return answer_partitions(model, data, out, settings, cluster, overwrite, progress)
    source = TableFile.of(data)
    if source.missing:
        raise ValueError(
            f"missing={list(source.missing)!r} is for one file: in a folder of Parquet files leave cells empty."
        )
    # Text in the files is read as the options say; without them, as in the table the model was fitted on.
    model, data = _read_with(model, source.decimal_writing, source.dates), source.path
    if cluster is not None:
        from .dask.answering import answer_on_cluster

        return answer_on_cluster(model, data, out, settings, cluster, overwrite, progress)
    return answer_folder(model, data, out, settings, run=in_this_process, overwrite=overwrite, progress=progress)


def _is_folder(out: Any) -> bool:
    """Whether the answers to a folder go to a folder: not to an open file, nor to a name of a CSV file."""
    return isinstance(out, str | os.PathLike) and Path(out).suffix.lower() not in _TEXT_FILES


def _as_folder(out: Any) -> Path:
    if not _is_folder(out):
        raise ValueError(f"out={out!r} is no folder: the answers to a dask DataFrame go to a folder of Parquet files.")
    return Path(out)


@contextmanager
def _opened(out: Any) -> Iterator[BinaryIO]:
    if isinstance(out, str | os.PathLike):
        with open_whole(out) as file:
            yield file
    else:
        yield out


def _answer(
    model: Any,
    data: Any,
    write: Callable[[Any], None],
    keep: list[str] | None,
    settings: AnswerSettings,
    progress: Callable[[int], None] | None,
) -> tuple[tuple[int, int, int], Floats]:
    """Write the decisions; return how many there are of each kind, and the acceptance scores of the rejected cases."""
    done, counts, scores = 0, {"ambiguity": 0, "novelty": 0}, []
    first = _table_columns(model)
    unseen = None if first is None else first.unseen_values()
    # What is kept is read as text, so that 007 stays what it is.
    as_text = None if keep is None else (*text_columns(model), *keep)
    for chunk in read_chunks(data, text_columns=as_text, size=settings.rows_at_once):
        if len(chunk) == 0:
            continue
        if unseen is not None:
            unseen.look_at(chunk, done)
        with warnings.catch_warnings():
            if unseen is not None:  # that names columns, values and rows
                warnings.filterwarnings("ignore", "Found unknown categories", UserWarning)
            decisions, probability = decide_chunk(model, chunk, done, settings.reasons, settings.neighbours)
        rivals = [] if decisions.second is None else ["second", "score", "second_score"]
        columns = ["label", "kind", "forced", *rivals, "h", "r", *(["reason"] if settings.reasons else [])]
        frame = decisions.to_pandas()[columns]
        frame = frame.rename(columns={"label": "decision"})
        # Whatever label marks a rejection inside the model, the file has this one.
        frame["decision"] = frame["decision"].astype(object).where(decisions.accepted, REJECT_TEXT)
        frame.insert(0, "case", np.arange(done + 1, done + 1 + len(frame)))
        if probability is not None:
            frame.insert(frame.columns.get_loc("h"), "probability", probability)
        for score in ALL_SCORES:  # and no other column: labels may be floats, too
            if score in frame:
                frame[score] = six_digits(frame[score])
        if settings.model_digest is not None:
            frame[MODEL_DIGEST] = settings.model_digest
        write(with_kept(frame.reset_index(drop=True), chunk, keep))
        done += len(frame)
        for kind in counts:
            counts[kind] += decisions.counts()[kind]
        # Ranked as written: cases that look alike in the file stay in their order.
        scores.append(six_digits(decisions.r[~decisions.accepted]))
        if progress is not None:
            progress(done)
    if done == 0:
        raise ValueError(f"{TableFile.of(data).shown} holds no rows: a header alone is not a table of cases.")
    if unseen is not None and (sentence := unseen.sentence()) is not None:
        warnings.warn(sentence, UserWarning, stacklevel=3)
    return (done, counts["ambiguity"], counts["novelty"]), np.concatenate(scores)


def _reading_as_written(model: Any, source: TableFile) -> Any:
    """The model, reading numbers and dates as they are written in this table, where that is given or certain.

    A column that was not written plainly in the table the model was fitted on is read as it was there.
    """
    model = _read_with(model, source.decimal_writing, source.dates)
    if source.decimal_writing is not None or _table_columns(model) is None:
        return model
    return _read_with(model, detected_decimal(source), known_too=False)


def _read_with(model: Any, decimal: Any, dates: str | None = None, known_too: bool = True) -> Any:
    """The model with columns that are read so; one that reads no tables, as it is."""
    first = _table_columns(model)
    if first is None:
        return model
    columns = first.read_with(decimal, dates, known_too=known_too)
    return Pipeline([(model.steps[0][0], columns), *model.steps[1:]])


def _table_columns(model: Any) -> TableColumns | None:
    """The first step of a model on tables; None for one that reads no tables."""
    first = model.steps[0][1] if isinstance(model, Pipeline) else model
    return first if isinstance(first, TableColumns) else None


def _add_ranks(unranked: BinaryIO, write: Callable[[Any], None], scores: Floats, capacity: int) -> float | None:
    """Write the stored answers with each rejected case's place in the review queue; return the score at the limit."""
    import pandas as pd

    order = np.argsort(scores, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(1, len(order) + 1)
    used = 0
    while (chunk := _stored(unranked)) is not None:
        rejected = np.flatnonzero(chunk["kind"] != "accept")
        review = pd.Series(pd.NA, index=chunk.index, dtype="Int64")
        places = place[used : used + len(rejected)]
        review.iloc[rejected[places <= capacity]] = places[places <= capacity]
        used += len(rejected)
        write(chunk.assign(review=review))
    if len(scores) <= capacity or capacity == 0:
        return None if len(scores) <= capacity else float(scores.min())
    return float(scores[order[capacity - 1]])


def _stored(file: BinaryIO) -> Any:
    """The next answers of a temporary file of this process; None at its end."""
    try:
        return pickle.load(file)
    except EOFError:
        return None
