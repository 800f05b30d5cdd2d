"""Batches of cases in, batches of answers out, with the same columns each time; and what DuckDB, Spark and Ray need."""

from .adapters import BatchScorer, duckdb_function, spark_udf
from .scoring import BatchColumns, batch_columns, score_batch

__all__ = ["BatchColumns", "BatchScorer", "batch_columns", "duckdb_function", "score_batch", "spark_udf"]
