"""Exported decisions beside the model's own: how many differ, how far h and r lie apart, and processor time.

Models are fitted on 20,000 rows of gmsc and answer all 150,000, besides a table of edge cases: numbers on every cut and
the numbers next to it, missing values, infinities. Differences of h and r are in units of 1e-9. Data come from
`RECUSE_DATA`. DuckDB and onnxruntime have one thread; processor seconds are the best of five, of the query into a
table, or of all outputs of ONNX from arrays of columns, against `recuse.decide` without reasons.
PostgreSQL is part of it where `RECUSE_POSTGRES` holds the arguments of psql. ONNX runs in onnxruntime.
"""

import csv
import json
import math
import os
import shlex
import shutil
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from .runner import Row

METHODS = ("abstention-boosting", "logistic-chow")
REPEATS = 5
NUMBER = "case_number"
OUT = ("answer", "kind", "h", "r")
_NODE = """
import {{ createReadStream }} from "node:fs";
import {{ createInterface }} from "node:readline";
import {{ decide }} from "./model.mjs";
for await (const line of createInterface({{ input: createReadStream("{cases}") }})) {{
  const {{ answer, kind, h, r }} = decide(JSON.parse(line));
  console.log(JSON.stringify([answer, kind, h, r]));
}}
"""


def run(quick: bool) -> Iterator[Row]:
    import pandas as pd

    import recuse
    from recuse.exporting.models import as_program

    frame = pd.read_csv(Path(os.environ["RECUSE_DATA"]) / "gmsc.csv.gz")
    frame = frame[:3_000] if quick else frame
    train = frame.sample(min(20_000, len(frame)), random_state=0)
    costs = recuse.Costs(fp=1, fn=5, reject=0.3)
    for method in METHODS:
        model = recuse.fit(train, "target", costs, method=method, positive=1)
        size = f"{method}, {len(frame):,} rows"
        yield from _timed(size, model, frame)
        said = recuse.decide(model, frame, reasons=False)
        expected = [said.label.tolist(), said.kind.tolist(), said.h, said.r]
        yield from _compared("gmsc", size, model, frame.drop(columns="target"), expected)
        yield from _rounded(size, model, frame.drop(columns="target"), said.label.tolist())
        edges = edge_cases(as_program(model), frame)
        expected = list(map(list, zip(*answers_or_refusals(model, edges), strict=True)))
        yield from _compared("edge cases", f"{method}, {len(edges):,} rows", model, edges, expected)


def edge_cases(program, frame):
    """A typical case with one column changed: to each cut and the next number, and to values that are none."""
    from recuse.exporting.program import Steps

    columns = [column.name for column in program.columns]
    typical = frame[columns].median().astype(float)
    rows = []
    for i, name in enumerate(columns):
        steps = [let.value for let in program.lets if isinstance(let.value, Steps) and let.value.x.name == f"c{i}"]
        cuts = sorted({cut for step in steps for cut in step.cuts})
        seen = frame[name].dropna()
        ends = [float(seen.min()), float(seen.max()), float(2 * seen.max() - seen.min())]
        for value in [*cuts, *ends]:
            rows += [(name, near) for near in (np.nextafter(value, -np.inf), value, np.nextafter(value, np.inf))]
        rows += [(name, value) for value in (np.nan, np.inf, -np.inf, 1e30, 1e39, -0.0, 16777217.0, 0.1)]
    table = np.tile(typical.to_numpy(), (len(rows), 1))
    for k, (name, value) in enumerate(rows):
        table[k, columns.index(name)] = value
    import pandas as pd

    return pd.DataFrame(table, columns=columns)


def answers_or_refusals(model, cases):
    """What the model says to each case; a batch that it refuses is halved until the case is found."""
    import warnings

    import recuse

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            said = recuse.decide(model, cases, reasons=False)
    except ValueError:
        if len(cases) == 1:
            return [(-1, "refused", math.nan, math.nan)]
        half = len(cases) // 2
        return answers_or_refusals(model, cases[:half]) + answers_or_refusals(model, cases[half:])
    return list(zip(said.label.tolist(), said.kind.tolist(), said.h, said.r, strict=True))


def _compared(what, size, model, cases, expected) -> Iterator[Row]:
    """Rows that tell how many decisions differ, and by how much the scores do."""
    for name, answer in _targets().items():
        found = answer(model, cases)
        wrong = sum(a != b or k != j for a, k, b, j in zip(*expected[:2], *found[:2], strict=True))
        yield Row(f"{what}: decisions that differ in {name}", size, "recuse.decide (0 differ)", wrong, 0, goal=1)
        far = max(
            float(np.nanmax(np.abs(np.array(mine, dtype=float) - np.array(theirs, dtype=float))))
            for mine, theirs in zip(found[2:], expected[2:], strict=True)
        )
        yield Row(f"{what}: largest difference of h and r in {name}, in 1e-9", size, "1", far * 1e9, 1, goal=1)


def _rounded(size, model, cases, labels) -> Iterator[Row]:
    """How many answers of ONNX differ where the caller has rounded the columns to single precision."""
    found, *_ = in_onnx(model, cases.astype(np.float32))
    what = "gmsc: answers that differ in ONNX, columns rounded to float32 before"
    yield Row(what, size, "recuse.decide", sum(a != b for a, b in zip(labels, found, strict=True)), 0)


def _targets():
    found = {"DuckDB": in_duckdb, "SQLite": in_sqlite, "Python": in_python, "ONNX": in_onnx}
    if shutil.which("node"):
        found["Node"] = in_node
    if os.environ.get("RECUSE_POSTGRES"):
        found["PostgreSQL"] = in_postgres
    return found


def _columns(rows):
    """Answers, kinds, h and r of rows in the order of the cases."""
    answers, kinds, h, r = map(list, zip(*rows, strict=True))
    return [answers, kinds, [math.nan if x is None else x for x in h], [math.nan if x is None else x for x in r]]


def _query(model, dialect, **options):
    import recuse

    text = recuse.export(model, dialect=dialect, key=NUMBER, **options).text
    return text.partition("\n")[2].rstrip(";\n")  # without the comment above it


def in_duckdb(model, cases):
    import duckdb

    connection = duckdb.connect()
    connection.register("frame", cases.assign(case_number=np.arange(len(cases))))
    connection.execute("CREATE TABLE cases AS SELECT * FROM frame")
    query = f"SELECT {', '.join(OUT)} FROM ({_query(model, 'duckdb')}) ORDER BY case_number"
    return _columns(connection.execute(query).fetchall())


def in_sqlite(model, cases):
    connection = sqlite3.connect(":memory:")
    names = ", ".join(f'"{name}" REAL' for name in cases)
    connection.execute(f"CREATE TABLE cases (case_number INTEGER, {names})")
    marks = ", ".join("?" * (cases.shape[1] + 1))
    connection.executemany(f"INSERT INTO cases VALUES ({marks})", cases.reset_index(drop=True).itertuples(name=None))
    query = f"SELECT {', '.join(OUT)} FROM ({_query(model, 'sqlite')}) ORDER BY case_number"
    return _columns(connection.execute(query).fetchall())


def in_python(model, cases):
    import recuse

    module = {"__name__": "model"}
    exec(recuse.export(model, to="python").text, module)
    decided = map(module["decide"], cases.to_dict("records"))
    return _columns([[case[name] for name in OUT] for case in decided])


def in_onnx(model, cases):
    session, inputs = _session(model, cases)
    return [values.tolist() for values in session.run(OUT, inputs)]


def _session(model, cases, **options):
    """An exported model in onnxruntime, on one thread, and its inputs."""
    import onnxruntime

    import recuse

    threads = onnxruntime.SessionOptions()
    threads.intra_op_num_threads = 1
    exported = recuse.export(model, to="onnx", **options).binary
    session = onnxruntime.InferenceSession(exported, threads, providers=["CPUExecutionProvider"])
    return session, {column.name: cases[column.name].to_numpy(dtype=np.float64) for column in session.get_inputs()}


def in_node(model, cases):
    import recuse

    with tempfile.TemporaryDirectory() as folder:
        recuse.export(model, Path(folder) / "model.mjs", to="javascript")
        # JSON has neither infinities nor NaN: text and null stand for them, which the module reads as such.
        with open(Path(folder) / "cases.jsonl", "w") as file:
            for case in cases.to_dict("records"):
                print(json.dumps({name: _in_json(value) for name, value in case.items()}), file=file)
        script = Path(folder) / "run.mjs"
        script.write_text(_NODE.format(cases=Path(folder) / "cases.jsonl"))
        done = subprocess.run(["node", script], capture_output=True, text=True, check=True)
    return _columns([json.loads(line) for line in done.stdout.splitlines()])


def _in_json(value):
    return value if math.isfinite(value) else None if math.isnan(value) else str(value)


def in_postgres(model, cases):
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        table = Path(folder) / "cases.csv"
        cases.assign(case_number=np.arange(len(cases))).to_csv(table, index=False)
        names = ", ".join(
            f'"{name}" {"int" if name == "case_number" else "float8"}' for name in [*cases, "case_number"]
        )
        query = f"SELECT answer, kind, h, r FROM ({_query(model, 'postgresql')}) AS found ORDER BY case_number"
        script = Path(folder) / "run.sql"
        script.write_text(
            f"CREATE TEMP TABLE cases ({names});\n\\copy cases FROM '{table}' WITH (FORMAT csv, HEADER)\n"
            f"\\copy ({' '.join(query.split())}) TO STDOUT WITH (FORMAT csv)\n"
        )
        command = ["psql", *shlex.split(os.environ["RECUSE_POSTGRES"]), "-q", "-v", "ON_ERROR_STOP=1", "-f", script]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = csv.reader(done.stdout.splitlines())
    return _columns([(int(a), k, *(math.nan if x == "" else float(x) for x in (h, r))) for a, k, h, r in rows])


def _timed(size, model, frame) -> Iterator[Row]:
    """Processor seconds of the query into a table, with one thread, against the model's own decisions."""
    import duckdb

    import recuse

    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    connection.register("frame", frame.assign(case_number=np.arange(len(frame))))
    connection.execute("CREATE TABLE cases AS SELECT * FROM frame")
    for said, reasons in (("without reasons", False), ("with the leading reason", True)):
        query = f"CREATE OR REPLACE TEMP TABLE answers AS {_query(model, 'duckdb', reasons=reasons)}"
        calls = (lambda query=query: connection.execute(query), lambda: recuse.decide(model, frame, reasons=False))
        ours, theirs = (_best(call) for call in calls)
        yield Row(f"processor seconds in DuckDB, {said}", size, "recuse.decide without reasons", ours, theirs, goal=2)
        session, inputs = _session(model, frame, reasons=reasons)
        calls = (lambda run=session.run, inputs=inputs: run(None, inputs), calls[1])
        ours, theirs = (_best(call) for call in calls)
        yield Row(f"processor seconds in onnxruntime, {said}", size, "recuse.decide without reasons", ours, theirs)


def _best(call):
    """Processor seconds of the quickest of several calls."""
    found = []
    for _ in range(REPEATS):
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return min(found)
