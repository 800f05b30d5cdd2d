"""`score_batch` as DuckDB, Spark and Ray call it; each package is imported when its adapter is used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from inspect import Parameter, Signature
from typing import Any

from ..extras import require
from .scoring import FLAG, NUMBER, TEXT, TIME, WHOLE, batch_columns, score_batch

_IN_DUCKDB = {TEXT: "VARCHAR", WHOLE: "BIGINT", NUMBER: "DOUBLE", FLAG: "BOOLEAN", TIME: "TIMESTAMP"}
# What a batch function of Spark returns may not be boolean: flags are numbers until Spark has them.
_FROM_BATCHES = {TEXT: "string", WHOLE: "bigint", NUMBER: "double", FLAG: "tinyint"}


def duckdb_function(connection: Any, model: Any, name: str = "recuse_score", *, reasons: bool | str = True) -> str:
    """Make a model a function of a DuckDB connection, of the columns it reads; return a call of it.

    The function takes and gives Arrow columns. It returns a struct with the columns of `score_batch`.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Where the function is made.
    model : fitted reject-option classifier, or a Pipeline or search that ends in one
    name : str, default="recuse_score"
        Of the function.
    reasons : bool or "all", default=True
        As in `decide`.

    Returns
    -------
    str
        The call with the columns of the model, for a query: ``f"SELECT id, {call} AS answers FROM cases"``.

    Examples
    --------
    >>> import duckdb
    >>> import recuse
    >>> from recuse.batches import duckdb_function
    >>> from sklearn.datasets import load_breast_cancer
    >>> table = load_breast_cancer(as_frame=True).frame
    >>> model = recuse.fit(table[:400], "target", 0.1, method="logistic-chow", positive=1)
    >>> connection = duckdb.connect()
    >>> call = duckdb_function(connection, model)
    >>> query = f"SELECT count(*) FROM (SELECT {call} AS answers FROM cases) WHERE answers.accepted"
    >>> connection.register("cases", table).sql(query).fetchall()[0][0] > 400
    True
    """
    require("duckdb", "duckdb_function")
    pa = require("pyarrow", "duckdb_function")
    columns = batch_columns(model)
    names = list(columns.given)

    def answer(*given: Any) -> Any:
        return _as_struct(score_batch(model, pa.table(dict(zip(names, given, strict=True))), reasons=reasons), pa)

    _state_parameters(answer, len(names))
    fields = ", ".join(f"{field} {_IN_DUCKDB[kind]}" for field, kind in columns.answered.items())
    connection.create_function(
        name,
        answer,
        [_IN_DUCKDB[kind] for kind in columns.given.values()],
        f"STRUCT({fields})",
        type="arrow",
        null_handling="special",
    )
    quoted = ", ".join('"' + column.replace('"', '""') + '"' for column in names)
    return f"{name}({quoted})"


def _state_parameters(function: Any, n: int) -> None:
    """Let a function say how many parameters it has: DuckDB and Spark count them by its signature."""
    function.__signature__ = Signature([Parameter(f"c{i}", Parameter.POSITIONAL_OR_KEYWORD) for i in range(n)])


def _as_struct(frame: Any, pa: Any) -> Any:
    """A frame as one Arrow column of structs."""
    table = pa.Table.from_pandas(frame, preserve_index=False).combine_chunks()
    return table.to_struct_array().combine_chunks()


def spark_udf(model: Any, *, reasons: bool | str = True, batch_size: int = 10_000) -> Any:
    """A model as a function of Spark columns, those that the model reads in their order: `predict_batch_udf`.

    It returns a struct with the columns of `score_batch`; a missing number arrives as NaN. The model goes to the
    workers, which need this library.

    Parameters
    ----------
    model : fitted reject-option classifier, or a Pipeline or search that ends in one
    reasons : bool or "all", default=True
        As in `decide`.
    batch_size : int, default=10,000
        Cases answered at once.

    Returns
    -------
    function
        To be called with columns.

    Examples
    --------
    >>> udf = spark_udf(model)  # doctest: +SKIP
    >>> frame.withColumn("answers", udf(*batch_columns(model).given))  # doctest: +SKIP
    """
    try:
        from pyspark.ml.functions import predict_batch_udf
        from pyspark.sql.types import StructType
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("spark_udf needs pyspark and Java: pip install pyspark.", name=error.name) from None
    columns = batch_columns(model)
    fields = ", ".join(f"{field}: {_FROM_BATCHES[kind]}" for field, kind in columns.answered.items())
    flags = [field for field, kind in columns.answered.items() if kind == FLAG]
    made = partial(_spark_predictor, model, tuple(columns.given), reasons)
    function = predict_batch_udf(made, return_type=StructType.fromDDL(fields), batch_size=batch_size)

    def answers(*given: Any) -> Any:
        found = function(*given)
        for flag in flags:
            found = found.withField(flag, found[flag].cast("boolean"))
        return found

    return answers


def _spark_predictor(model: Any, names: Sequence[str], reasons: bool | str) -> Callable[..., dict[str, Any]]:
    """What a worker calls with one array per column."""

    def predict(*given: Any) -> dict[str, Any]:
        answers = score_batch(model, dict(zip(names, given, strict=True)), reasons=reasons)
        return {name: _for_spark(answers[name]) for name in answers}

    _state_parameters(predict, len(names))
    return predict


def _for_spark(column: Any) -> Any:
    """A column of answers as an array that Spark takes."""
    return column.to_numpy(dtype=object if column.dtype == TEXT else "int8" if column.dtype == FLAG else None)


class BatchScorer:
    """A model as a callable on batches, for Ray's `map_batches` and whatever else calls one with a frame.

    Parameters
    ----------
    model : fitted reject-option classifier, or a Pipeline or search that ends in one
    keep : sequence of str
        Columns of the batch to hand on, before those of `score_batch`.
    reasons : bool or "all", default=True
        As in `decide`.

    Examples
    --------
    ``dataset.map_batches(BatchScorer, fn_constructor_args=(model, ["id"]), batch_format="pandas", concurrency=4)``

    >>> import recuse
    >>> from recuse.batches import BatchScorer
    >>> from sklearn.datasets import load_breast_cancer
    >>> table = load_breast_cancer(as_frame=True).frame
    >>> model = recuse.fit(table[:400], "target", 0.1, method="logistic-chow", positive=1)
    >>> list(BatchScorer(model, ["mean area"])(table[400:]))[:3]
    ['mean area', 'answer', 'forced']
    """

    def __init__(self, model: Any, keep: Sequence[str] = (), *, reasons: bool | str = True) -> None:
        self.model, self.keep, self.reasons = model, list(keep), reasons

    def __call__(self, batch: Any) -> Any:
        """The columns to keep and the answers."""
        pd = require("pandas", "BatchScorer")
        answers = score_batch(self.model, batch, reasons=self.reasons)
        return pd.concat([batch[self.keep], answers], axis=1) if self.keep else answers
