"""Every kind of model as an ONNX graph: the answers of the model, on the cases of the other languages."""

import importlib.util
import re
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import recuse
from recuse import AbstentionBoostingClassifier, ThresholdRejectClassifier
from recuse.exporting import CannotExportError, graph, writing
from recuse.exporting.models import as_program
from recuse.exporting.program import DATE, OUTPUTS, TEXT, Column
from recuse.exporting.self_test import as_table, draw_cases
from tests.exporting.models import MODELS, fitted
from tests.exporting.test_agreement import run
from tests.exporting.test_hostile_names import NASTY
from tests.exporting.test_hostile_names import fitted as fitted_with_names

onnx = pytest.importorskip("onnx", reason="onnx is not installed: nothing is exported to it")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: ONNX models are not run")


def session(exported):
    """An exported model in onnxruntime."""
    return onnxruntime.InferenceSession(exported.binary, providers=["CPUExecutionProvider"])


def answers(exported, columns, rows):
    """Outputs to rows of values, by name."""
    inputs = {}
    for column, values in zip(columns, zip(*rows, strict=True), strict=True):
        if column.kind == TEXT:
            inputs[column.name] = np.array([value or "" for value in values], dtype=object)
        elif column.kind == DATE:
            seconds = [np.nan if x is None else pd.Timestamp(x, tz="UTC").timestamp() for x in values]
            inputs[column.name] = np.array(seconds)
        else:
            inputs[column.name] = np.array(values, dtype=np.float64)
    return dict(zip(OUTPUTS, session(exported).run(OUTPUTS, inputs), strict=True))


@pytest.mark.parametrize("name", MODELS)
def test_a_graph_answers_as_the_model(name):
    model = fitted(name)
    exported, program = recuse.export(model, to="onnx"), as_program(model)
    cases = draw_cases(model, program, seed=1)
    found = answers(exported, program.columns, [case.values for case in cases])
    refused = found["kind"] == "refused"
    assert refused.tolist() == [case.expected[1] == "refused" for case in cases]
    table = as_table(model, program, [case.values for case, lost in zip(cases, refused, strict=True) if not lost])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's encoder warns of unknown categories, which are meant
        said = recuse.decide(model, table, reasons=False)
    known = {key: values[~refused].tolist() for key, values in found.items()}
    assert known["answer"] == said.label.tolist()
    assert known["forced"] == said.forced.tolist()
    assert known["kind"] == said.kind.tolist()
    assert known["accepted"] == said.accepted.tolist()
    np.testing.assert_allclose(known["h"], said.h, rtol=0, atol=1e-9)
    np.testing.assert_allclose(known["r"], said.r, rtol=1e-12, atol=1e-9)
    assert not found["accepted"][refused].any()
    assert (found["answer"][refused] == said.reject_label).all()
    assert np.isnan(found["h"][refused]).all()
    assert np.isnan(found["r"][refused]).all()


@pytest.mark.parametrize("name", ["logistic-chow", "pairs", "encoded, isotonic"])
def test_a_graph_gives_the_reasons_of_the_module(name):
    model = fitted(name)
    exported, program = recuse.export(model, to="onnx"), as_program(model)
    rows = [case.values for case in draw_cases(model, program, seed=2)]
    decide = run(recuse.export(model, to="python").text)["decide"]
    names = [column.name for column in program.columns]
    wanted = [decide(dict(zip(names, row, strict=True)))["reason"] for row in rows]
    assert answers(exported, program.columns, rows)["reason"].tolist() == wanted
    short = answers(recuse.export(model, to="onnx", reasons=False), program.columns, rows)
    assert set(short["reason"]) == {why if why.endswith("is missing") else "" for why in wanted}


def test_cuts_are_exact_in_double_precision():
    model = fitted("coupled")
    cuts = next(shape.cuts for shape in model._pair.form.shapes if shape.feature == 0)
    ages = np.concatenate([np.nextafter(cuts, -np.inf), cuts, np.nextafter(cuts, np.inf)])
    rows = [(age, 1000.0) for age in ages.tolist()]
    found = answers(recuse.export(model, to="onnx"), as_program(model).columns, rows)
    said = recuse.decide(model, pd.DataFrame(rows, columns=["age", "income"]), reasons=False)
    assert found["h"].tolist() == said.h.tolist()
    assert len(set(found["h"].tolist())) > len(cuts) / 2


def test_constants_that_are_one_or_zero_in_single_precision_only_stay_what_they_are():
    scaler = StandardScaler().fit(np.random.default_rng(0).normal(size=(9, 2)))
    scaler.scale_, scaler.mean_ = np.array([1 + 2.0**-26, 1.0]), np.array([1e-60, 0.0])
    X = np.random.default_rng(1).normal(size=(100, 2)) * [1e3, 1]
    classifier = ThresholdRejectClassifier(LinearSVC(), costs=0.3, cv=3, rule="tuned").fit(X, (X[:, 0] > 0).astype(int))
    model = Pipeline([("scale", scaler), ("classify", classifier)])
    columns = as_program(model).columns
    found = answers(recuse.export(model, to="onnx"), columns, X.tolist())
    said = recuse.decide(model, X, reasons=False)
    np.testing.assert_allclose(found["h"], said.h, rtol=1e-12, atol=0)


def test_numbers_are_rounded_to_single_precision_as_the_preparation_does():
    model = fitted("logistic-chow")
    columns = as_program(model).columns
    numbers = np.nextafter(2.0 ** np.arange(-3, 14), -np.inf)
    numbers = [*numbers.tolist(), *(2.0 ** np.arange(-3, 14) * (1 + 2.0**-24)).tolist(), 0.1, 16777217.0]
    row = {"age": 30.0, "town": "Ulm", "seen": "2021-03-01", "smokes": True}
    rows = [tuple({**row, "income": income}[column.name] for column in columns) for income in numbers]
    found = answers(recuse.export(model, to="onnx"), columns, rows)
    table = pd.DataFrame({**row, "seen": pd.Timestamp("2021-03-01"), "income": numbers})
    np.testing.assert_allclose(found["h"], recuse.decide(model, table, reasons=False).h, rtol=0, atol=1e-13)


def test_blank_texts_and_words_for_nothing_are_missing_where_the_preparation_says_so():
    model = fitted("logistic-chow")
    columns = as_program(model).columns
    row = {"age": 30.0, "town": None, "seen": "2021-03-01", "smokes": True, "income": 3000.0}
    towns = ["", " \t", "NA", "N/A", "Oslo", "Köln"]
    rows = [tuple({**row, "town": town}[column.name] for column in columns) for town in towns]
    found = answers(recuse.export(model, to="onnx"), columns, rows)
    table = pd.DataFrame([{**row, "town": town or None, "seen": pd.Timestamp("2021-03-01")} for town in towns])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the unknown town
        said = recuse.decide(model, table)
    np.testing.assert_allclose(found["h"], said.h, rtol=0, atol=1e-9)
    assert len(set(found["h"][:4].tolist())) == 1


def test_names_of_any_characters_stay_as_they_are():
    pairs = list(zip(NASTY, [*NASTY[1:], "x"], strict=True))[::5]
    for one, two in pairs:
        model = fitted_with_names([one, two], [two, one], [two, one])
        columns = [Column(one, "number"), Column(two, TEXT)]
        found = answers(recuse.export(model, to="onnx"), columns, [(0.3, two), (None, one), (0.3, None)])
        said = recuse.decide(model, pd.DataFrame({one: [0.3, None, 0.3], two: [two, one, None]}))
        assert found["answer"].tolist() == said.label.tolist()
        np.testing.assert_allclose(found["h"], said.h, rtol=0, atol=1e-9)


def test_names_and_categories_that_onnx_cannot_hold_are_refused():
    with pytest.raises(CannotExportError, match=r"column 'kind' has a name that ONNX needs.*to='sql'"):
        recuse.export(fitted_with_names(["kind", "b"], ["x", "y"], ["n", "p"]), to="onnx")
    with pytest.raises(CannotExportError, match=r"column 'b' has the empty text as a category.*to='sql'"):
        recuse.export(fitted_with_names(["a", "b"], ["", "y"], ["n", "p"]), to="onnx")


def test_classes_keep_their_type():
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 2))
    y = (X[:, 0] + 0.3 * random.normal(size=120) > 0).astype(int)
    rows = X[:5].tolist()
    columns = [Column("x0", "number"), Column("x1", "number")]
    for classes, reject, kind in (([3, 7], -1, "i"), ([1.0, 2.0], -1, "f"), ([0, 1], "reject", "O")):
        stumps = AbstentionBoostingClassifier(costs=0.2, n_rounds=20, family="chow", cv=2, max_depth=1, stack=None)
        model = stumps.set_params(reject_label=reject).fit(X, np.array(classes)[y])
        found = answers(recuse.export(model, to="onnx"), columns, rows)["answer"]
        assert found.dtype.kind == kind
        assert found.tolist() == [str(x) if kind == "O" else x for x in recuse.decide(model, X[:5]).label.tolist()]


def test_the_file_is_written_with_a_script_that_checks_it(tmp_path):
    exported = recuse.export(fitted("logistic-chow"), tmp_path / "model.onnx", to="onnx")
    assert (tmp_path / "model.onnx").read_bytes() == exported.binary
    command = [sys.executable, tmp_path / "model.self_test.py", tmp_path / "model.onnx"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    n = int(re.fullmatch(r"(\d+) of \1 cases agree with the model\n", done.stdout)[1])
    assert (done.returncode, n > 100) == (0, True)
    beside = subprocess.run(command[:2], capture_output=True, text=True, check=False)
    assert (beside.returncode, beside.stdout) == (0, done.stdout)
    spoiled = onnx.load_from_string(exported.binary)
    tables = {table.name: table for table in spoiled.graph.initializer}
    kind = next(node for node in spoiled.graph.node if node.output[0] == "kind")
    tables[kind.input[1]].string_data[0] = b"lost"
    onnx.save(spoiled, tmp_path / "model.onnx")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, "differs: " in done.stdout) == (1, True)


def test_a_graph_that_answers_otherwise_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setitem(graph._OPERATORS, "-", "Add")
    with pytest.raises(RuntimeError, match="In onnxruntime the export answers"):
        recuse.export(fitted("coupled"), tmp_path / "model.onnx", to="onnx")
    assert not list(tmp_path.iterdir())


def test_an_export_that_could_not_be_run_says_so(monkeypatch):
    exported = recuse.export(fitted("coupled"), to="onnx")
    assert exported.notes == (writing.PRECISION,)
    found = importlib.util.find_spec
    monkeypatch.setattr(writing, "find_spec", lambda name: None if name == "onnxruntime" else found(name))
    untested = recuse.export(fitted("coupled"), to="onnx")
    assert untested.binary == exported.binary
    assert "onnxruntime is not installed" in untested.notes[-1]
    assert str(untested) == untested.text == ""


def test_the_file_says_that_it_is_in_double_precision():
    runs = session(recuse.export(fitted("pairs"), to="onnx"))
    assert runs.get_modelmeta().custom_metadata_map["precision"] == writing.PRECISION
    assert {value.type for value in runs.get_inputs()} == {"tensor(double)", "tensor(string)"}
    assert {value.name: value.type for value in runs.get_outputs()}["h"] == "tensor(double)"
    with pytest.raises(onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument, match="Unexpected input data type"):
        runs.run(None, {value.name: np.zeros(2, np.float32) for value in runs.get_inputs()})
