"""Batches: the same columns and types whatever is in them, and the answers of `decide`."""

import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import recuse
from recuse.batches import BatchScorer, batch_columns, duckdb_function
from tests.exporting.models import MODELS, fitted, patients

duckdb = pytest.importorskip("duckdb")


@pytest.mark.parametrize("name", ["logistic-chow", "pairs", "scaled", "exactboost"])
def test_columns_and_types_do_not_depend_on_the_batch(name):
    model = fitted(name)
    cases = patients().drop(columns="y") if name in ("logistic-chow", "exactboost", "pairs") else np.ones((7, 2))
    first = recuse.score_batch(model, cases)
    for batch in (cases[:0], cases[:1], cases[3:5]):
        found = recuse.score_batch(model, batch)
        assert found.dtypes.equals(first.dtypes)
        assert len(found) == len(batch)
    assert {name: str(kind) for name, kind in first.dtypes.items()} == batch_columns(model).answered


def test_answers_are_those_of_decide():
    model, cases = fitted("logistic-chow"), patients().drop(columns="y")[10:60]
    found, said = recuse.score_batch(model, cases), recuse.decide(model, cases)
    assert found["answer"].tolist() == said.label.tolist()
    assert found["kind"].tolist() == said.kind.tolist()
    assert found["reason"].tolist() == said.reason.tolist()
    np.testing.assert_array_equal(found[["h", "r"]], np.column_stack([said.h, said.r]))
    assert found.index.equals(cases.index)
    assert found["probability"].between(0, 1).all()
    assert set(recuse.score_batch(model, cases, reasons=False)["reason"]) == {""}


def test_arrow_tables_and_mappings_are_batches_too():
    model, cases = fitted("logistic-chow"), patients().drop(columns="y")[:20]
    said = recuse.score_batch(model, cases).reset_index(drop=True)
    table = pa.Table.from_pandas(cases, preserve_index=False)
    for batch in (table, table.to_batches()[0], {name: cases[name].to_numpy() for name in cases}):
        pd.testing.assert_frame_equal(recuse.score_batch(model, batch), said)


def test_duckdb_calls_the_model():
    model, cases = fitted("logistic-chow"), patients().drop(columns="y").assign(id=np.arange(260))
    connection = duckdb.connect()
    connection.register("cases", cases)
    call = duckdb_function(connection, model, "score")
    found = connection.sql(f"SELECT id, a.* FROM (SELECT id, {call} AS a FROM cases) ORDER BY id").df()
    said = recuse.decide(model, cases)
    assert found["answer"].tolist() == said.label.tolist()
    np.testing.assert_allclose(found["h"], said.h, rtol=1e-12)
    assert list(found)[1:] == list(batch_columns(model).answered)


def test_a_scorer_hands_columns_on():
    cases = patients().assign(id=np.arange(260))
    found = BatchScorer(fitted("logistic-chow"), ["id"], reasons=False)(cases)
    assert list(found)[:2] == ["id", "answer"]
    assert found["id"].tolist() == cases["id"].tolist()


@pytest.mark.filterwarnings("ignore::FutureWarning:pyspark", "ignore::DeprecationWarning:pyspark")
def test_spark_calls_the_model(monkeypatch):
    pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed: the adapter of Spark is not run")
    from recuse.batches import spark_udf

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)  # its workers take python3 of the path otherwise
    session = pyspark.sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        model, cases = fitted("logistic-chow"), patients().drop(columns="y").assign(id=np.arange(260))
        answered = session.createDataFrame(cases).withColumn("answers", spark_udf(model)(*batch_columns(model).given))
        found = answered.select("id", "answers.*").toPandas().sort_values("id", ignore_index=True)
        said = recuse.score_batch(model, cases)
        assert found["accepted"].dtype == bool
        pd.testing.assert_frame_equal(found[list(said)], said, check_dtype=False, rtol=1e-12)
    finally:
        session.stop()


@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray", "ignore::FutureWarning:ray")
def test_ray_calls_the_model():
    ray = pytest.importorskip("ray", reason="ray is not installed: the adapter of Ray is not run")
    ray.init(num_cpus=1, include_dashboard=False)
    try:
        cases = patients().drop(columns=["y", "seen", "town"]).assign(id=np.arange(260))
        model = MODELS["coupled"]()
        scored = ray.data.from_pandas(cases).map_batches(
            BatchScorer, fn_constructor_args=(model, ["id"]), batch_format="pandas", concurrency=1
        )
        found = scored.to_pandas().sort_values("id")
        assert found["answer"].tolist() == recuse.decide(model, cases[["age", "income"]]).label.tolist()
    finally:
        ray.shutdown()
