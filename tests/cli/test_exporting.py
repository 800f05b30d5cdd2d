"""`recuse export`."""

import runpy

import duckdb
import pytest

import recuse
from recuse.cli import main
from tests.exporting.models import fitted


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.skops"
    recuse.save(fitted("coupled"), path)
    return str(path)


def run(*arguments):
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return ended.value.code


def test_sql_gets_its_self_test_beside_it(model, tmp_path, capsys):
    out = tmp_path / "model.sql"
    assert run("export", model, "--key", "id", "--out", str(out)) == 0
    assert duckdb.sql((tmp_path / "model.self_test.sql").read_text()).fetchall() == []
    assert 't."id" AS k0' in out.read_text()
    assert "model.self_test.sql written" in capsys.readouterr().err


def test_python_goes_to_standard_output(model, tmp_path, capsys):
    assert run("export", model, "--to", "python") == 0
    (tmp_path / "answers.py").write_text(capsys.readouterr().out)
    assert runpy.run_path(str(tmp_path / "answers.py"))["self_test"]() == []


def test_onnx_needs_a_file(model, tmp_path, capsys):
    pytest.importorskip("onnx", reason="onnx is not installed: nothing is exported to it")
    assert run("export", model, "--to", "onnx") == 2
    assert "name a file, as model.onnx" in capsys.readouterr().err
    assert run("export", model, "--to", "onnx", "--out", str(tmp_path / "model.onnx")) == 0
    said = capsys.readouterr().err
    assert "model.self_test.py written" in said
    assert "double precision" in said
    assert (tmp_path / "model.onnx").stat().st_size > 1000


def test_a_language_that_is_not_known_is_one_line(model, capsys):
    assert run("export", model, "--to", "cobol") == 1
    assert "to must be one of" in capsys.readouterr().err
