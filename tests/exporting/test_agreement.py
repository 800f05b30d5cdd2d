"""Every kind of model, in every language that runs here: the same answers as the model gives itself."""

import json
import os
import shlex
import shutil
import sqlite3
import subprocess
import warnings

import numpy as np
import pandas as pd
import pytest

import recuse
from recuse.exporting.models import as_program
from recuse.exporting.self_test import as_table, draw_cases
from tests.exporting.models import MODELS, fitted, patients

duckdb = pytest.importorskip("duckdb")
NODE = shutil.which("node")
each_model = pytest.mark.parametrize("name", MODELS)


def run(text):
    """An exported module of Python."""
    module = {"__name__": "model"}
    exec(text, module)
    return module


@each_model
def test_python_answers_as_the_model(name):
    model = fitted(name)
    module = run(recuse.export(model, to="python").text)
    assert len(module["SELF_TEST"]) > 100
    assert module["self_test"]() == []
    program = as_program(model)
    cases = [case for case in draw_cases(model, program, seed=1) if case.expected[1] != "refused"]
    table = as_table(model, program, [case.values for case in cases])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's encoder warns of unknown categories, which are meant
        said = recuse.decide(model, table)
    names = [column.name for column in program.columns]
    found = [module["decide"](dict(zip(names, case.values, strict=True))) for case in cases]
    assert [case["answer"] for case in found] == said.label.tolist()
    assert [case["forced"] for case in found] == said.forced.tolist()
    assert [case["kind"] for case in found] == said.kind.tolist()
    assert [case["accepted"] for case in found] == said.accepted.tolist()
    np.testing.assert_allclose([case["h"] for case in found], said.h, rtol=0, atol=1e-9)
    np.testing.assert_allclose([case["r"] for case in found], said.r, rtol=1e-12, atol=1e-9)
    named = [(case["reason"], sentence) for case, sentence in zip(found, said.reason, strict=True) if case["reason"]]
    novel = [pair for pair, case in zip(named, found, strict=False) if case["kind"] == "novelty"]
    assert all(reason in sentence for reason, sentence in novel)


@each_model
def test_duckdb_answers_the_self_test_as_the_model(name):
    exported = recuse.export(fitted(name))
    assert duckdb.sql(exported.self_test).fetchall() == []


@each_model
def test_sqlite_answers_the_self_test_as_the_model(name):
    exported = recuse.export(fitted(name), dialect="sqlite")
    assert sqlite3.connect(":memory:").execute(exported.self_test).fetchall() == []


@pytest.mark.skipif("RECUSE_POSTGRES" not in os.environ, reason="RECUSE_POSTGRES does not hold the arguments of psql")
def test_postgresql_answers_the_self_tests_as_the_models(tmp_path):
    for i, name in enumerate(MODELS):
        recuse.export(fitted(name), tmp_path / f"model{i}.sql", dialect="postgresql")
        given = [*shlex.split(os.environ["RECUSE_POSTGRES"]), "-tqf", tmp_path / f"model{i}.self_test.sql"]
        done = subprocess.run(["psql", *given], capture_output=True, text=True, check=True)
        assert (name, done.stdout.strip(), done.stderr) == (name, "", "")


@pytest.mark.skipif(NODE is None, reason="Node is not installed: the modules of JavaScript are not run")
def test_javascript_answers_the_self_tests_as_the_models(tmp_path):
    for i, name in enumerate(MODELS):
        recuse.export(fitted(name), tmp_path / f"model{i}.mjs", to="javascript")
    imports = "".join(f'import {{ selfTest as t{i} }} from "./model{i}.mjs";\n' for i in range(len(MODELS)))
    called = ", ".join(f"t{i}()" for i in range(len(MODELS)))
    (tmp_path / "all.mjs").write_text(f"{imports}console.log(JSON.stringify([{called}]));\n")
    done = subprocess.run([NODE, tmp_path / "all.mjs"], capture_output=True, text=True, check=True)
    assert dict(zip(MODELS, json.loads(done.stdout), strict=True)) == {name: [] for name in MODELS}


@pytest.mark.skipif(NODE is None, reason="Node is not installed: the modules of JavaScript are not run")
def test_a_module_of_javascript_checks_itself_when_it_is_run(tmp_path):
    path = tmp_path / "a model.mjs"
    recuse.export(fitted("coupled"), path, to="javascript")
    done = subprocess.run([NODE, path], capture_output=True, text=True, check=False)
    assert (done.returncode, "cases agree with the model" in done.stdout) == (0, True), done
    text = path.read_text()
    broken = text.replace("export const REJECT_LABEL = ", 'export const REJECT_LABEL = "x" + ')
    path.write_text(broken)
    assert broken != text
    assert subprocess.run([NODE, path], capture_output=True, check=False).returncode == 1


def test_a_self_test_finds_what_was_changed():
    exported = recuse.export(fitted("coupled"))
    wrong = exported.self_test.replace("'ambiguity'", "'accept'", 1)  # what is expected of the first such case
    assert len(duckdb.sql(wrong).fetchall()) == 1


def test_a_query_hands_on_keys_and_reads_text_as_numbers():
    model = fitted("coupled")
    text = recuse.export(model, key=["id", "a b"], table='odd "name"').text
    connection = duckdb.connect()
    values = [("x", "41.5", "1e3"), ("y", None, "  7 "), ("z", "old", "7"), ("w", "inf", "7"), ("v", "NaN", "7")]
    connection.execute('CREATE TABLE "odd ""name""" (id VARCHAR, "a b" INT, age VARCHAR, income VARCHAR)')
    connection.executemany('INSERT INTO "odd ""name""" VALUES (?, 1, ?, ?)', values)
    found = connection.sql(text.rstrip(";\n")).df().set_index("id")
    assert list(found)[:2] == ["a b", "answer"]
    table = pd.DataFrame({"age": [41.5, np.nan, np.nan], "income": [1e3, 7.0, 7.0]})
    said = recuse.decide(model, table)
    assert found.loc[["x", "y", "v"], "answer"].tolist() == said.label.tolist()
    np.testing.assert_allclose(found.loc[["x", "y", "v"], "h"].astype(float), said.h, rtol=0, atol=1e-9)
    assert found.loc[["z", "w"], "kind"].tolist() == ["refused"] * 2
    assert found.loc[["z", "w"], "answer"].tolist() == [model.reject_label_] * 2
    assert found.loc["z", "reason"] == "age cannot be read or is missing"


def test_a_truth_value_in_place_of_text_is_refused():
    """DuckDB makes one of "yes" when it reads a CSV: it must not pass for a category that was not seen before."""
    model, connection = fitted("logistic-chow"), duckdb.connect()
    connection.sql(
        "CREATE VIEW cases AS SELECT 30.0 AS age, town, TIMESTAMP '2021-03-01' AS seen, true AS smokes, 3e3 AS income "
        "FROM (VALUES (true), (NULL)) AS t(town)"
    )
    found = connection.sql(recuse.export(model).text.rstrip(";\n")).df().set_index("kind")
    assert found.loc["refused", "reason"] == "town cannot be read or is missing"
    assert len(found) == 2
    decide = run(recuse.export(model, to="python").text)["decide"]
    case = {"age": 30.0, "seen": "2021-03-01", "smokes": True, "income": 3e3}
    assert [decide(case | {"town": town})["kind"] == "refused" for town in (True, np.True_, None, "true")] == [
        True,
        True,
        False,
        False,
    ]


def test_sqlite_does_not_take_text_for_zero():
    model = fitted("coupled")
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE cases (id, age, income)")
    rows = [
        (1, "41.5", 1000),
        (2, "old", 7),
        (3, "4-1", 7),
        (4, "", 7),
        (5, None, 7.5),
        (6, 41, "1e3"),
        (7, "12abc", 7),
    ]
    connection.executemany("INSERT INTO cases VALUES (?, ?, ?)", rows)
    found = connection.execute(recuse.export(model, dialect="sqlite", key="id").text).fetchall()
    kinds = {row[0]: row[4] for row in found}
    assert [key for key, kind in kinds.items() if kind == "refused"] == [2, 3, 4, 7]
    said = recuse.decide(model, pd.DataFrame({"age": [41.5, np.nan, 41.0], "income": [1000.0, 7.5, 1e3]}))
    known = {row[0]: row for row in found}
    assert [known[i][1] for i in (1, 5, 6)] == said.label.tolist()


def test_a_missing_column_is_an_error_and_no_text():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE cases (age)")
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        connection.execute(recuse.export(fitted("coupled"), dialect="sqlite").text)
    with pytest.raises(KeyError, match="lacks the column 'income'"):
        run(recuse.export(fitted("coupled"), to="python").text)["decide"]({"age": 3})


def test_the_leading_reason_is_the_column_that_adds_most():
    model = fitted("coupled")
    program = as_program(model)
    cases = [case for case in draw_cases(model, program) if case.expected[1] != "refused"]
    table = as_table(model, program, [case.values for case in cases])
    form, said = model._pair.form, recuse.decide(model, table, reasons=False)
    of_h, of_r = form.deviations(table.to_numpy())
    amounts = np.where(said.accepted[:, None], of_h * np.where(said.h > 0, 1, -1)[:, None], -of_r)
    wanted = [list(table)[row.argmax()] if row.max() > 0 else "" for row in amounts]
    module = run(recuse.export(model, to="python").text)
    assert [module["decide"](row)["reason"] for row in table.to_dict("records")] == wanted


@pytest.mark.parametrize("name", ["promise around a table", "promise around boosting"])
def test_a_promise_withholds_answers_and_stands_in_the_file(name):
    model, cases = fitted(name), patients().drop(columns="y")
    sql, python = (recuse.export(model, to=to) for to in ("sql", "python"))
    decide = run(python.text)["decide"]
    found = np.array([decide(case)["accepted"] for case in cases.to_dict("records")])
    without = recuse.decide(model.estimator_, cases, reasons=False).accepted
    assert (found <= without).all()
    assert found.sum() < without.sum()
    assert sql.notes == python.notes == (f"What was promised of the model: {model.guarantee_}",)
    assert str(model.guarantee_) in sql.text
    assert str(model.guarantee_) in python.text


def test_without_reasons_the_rest_is_the_same():
    model = fitted("logistic-chow")
    short, long = (recuse.export(model, to="python", reasons=reasons) for reasons in (False, True))
    assert len(short.text) < len(long.text)
    case = {"age": 30.0, "town": "Ulm", "seen": "2021-03-01", "smokes": True, "income": 3000.0}
    found, full = (run(exported.text)["decide"](case) for exported in (short, long))
    assert found == {**full, "reason": ""}


def test_files_are_written_with_their_self_test(tmp_path):
    exported = recuse.export(fitted("coupled"), tmp_path / "model.sql")
    assert (tmp_path / "model.sql").read_text() == exported.text == str(exported)
    assert (tmp_path / "model.self_test.sql").read_text() == exported.self_test
    recuse.save(fitted("coupled"), tmp_path / "model.recuse")
    assert recuse.export(tmp_path / "model.recuse").text == exported.text
