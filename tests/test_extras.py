"""Without the extras: one line that names the one to install, from the command and from Python."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from recuse.extras import EXTRAS, require
from tests.processes import LIMIT

BLOCKER = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocker())
"""


def run_without(blocked, code):
    """Run Python code in a process that cannot import some packages."""
    script = BLOCKER.format(blocked=set(blocked)) + code
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=LIMIT)


@pytest.mark.parametrize("arguments", [["--help"], ["compare"], ["--version"]], ids=" ".join)
def test_the_command_of_the_base_install_is_one_line(arguments):
    code = f"sys.argv = ['recuse', *{arguments}]; from recuse.__main__ import main; main()"
    done = run_without(EXTRAS, code)
    line = "recuse: The recuse command needs typer, which is not installed: pip install 'recuse[cli]'.\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", line)


def test_the_command_is_the_one_that_says_so():
    project = Path(__file__).parents[1] / "pyproject.toml"
    if not project.is_file():
        pytest.skip("not a copy of the repository")
    assert tomllib.loads(project.read_text())["project"]["scripts"] == {"recuse": "recuse.__main__:main"}


@pytest.mark.parametrize("blocked", ["pandas", "skrub", "jinja2", "vl_convert"])
def test_the_command_with_some_of_its_packages_is_one_line(blocked, tmp_path):
    code = f"from recuse.cli import main; main(['compare', '-o', {str(tmp_path / 'run')!r}])"
    done = run_without([blocked], code)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("recuse: ")
    assert f"needs {blocked}, which is not installed: pip install 'recuse[{EXTRAS[blocked]}]'." in line
    assert not (tmp_path / "run").exists()


FITTED = """
import numpy as np, recuse
from sklearn.linear_model import LogisticRegression
X, y = np.arange(40.0)[:, None], np.repeat([0, 1], 20)
model = recuse.ThresholdRejectClassifier(LogisticRegression()).fit(X, y)
"""


@pytest.mark.parametrize(
    ("call", "who", "package"),
    [
        ("recuse.compare(X, y)", "compare", "pandas"),
        ("recuse.comparison.fit(X, y, method='logistic-chow')", "fit", "pandas"),
        ("model.decide(X).to_pandas()", "to_pandas", "pandas"),
        ("recuse.export(model, to='onnx')", "Exporting to ONNX", "onnx"),
        ("recuse.plot.RiskCoverageDisplay.from_estimator(model, X, y)", "Drawing", "matplotlib"),
    ],
)
def test_python_without_the_extras_names_the_one_to_install(call, who, package):
    code = FITTED + f"import recuse.comparison\ntry:\n    {call}\nexcept ImportError as error:\n    print(error)"
    done = run_without(EXTRAS, code)
    assert done.stderr == ""
    assert done.stdout == f"{who} needs {package}, which is not installed: pip install 'recuse[{EXTRAS[package]}]'.\n"


def test_a_package_that_lacks_something_of_its_own_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "skrub").mkdir()
    (tmp_path / "skrub" / "__init__.py").write_text("import surely_not_installed")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "skrub", raising=False)
    with pytest.raises(ModuleNotFoundError, match="surely_not_installed"):
        require("skrub", "compare")


def test_every_optional_package_is_in_the_extra_that_is_named():
    project = Path(__file__).parents[1] / "pyproject.toml"
    if not project.is_file():
        pytest.skip("not a copy of the repository")
    extras = tomllib.loads(project.read_text())["project"]["optional-dependencies"]
    for package, extra in EXTRAS.items():
        assert any(line.replace("-", "_").startswith(package) for line in extras[extra]), package
