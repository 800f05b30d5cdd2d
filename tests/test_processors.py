"""`make test-processors`: the numerical part of the suite runs on the kernels it asks for, and its list is true."""

import json
import os
import re
import subprocess
import sys

import pytest

from tests.conftest import FOLDER, NUMERICAL
from tests.processes import LIMIT

# What OpenBLAS calls the kernels of a processor: Prescott's are those of every processor before it.
KERNELS = {"Haswell": {"Haswell"}, "Prescott": {"Prescott", "Katmai"}}

COMPARES = re.compile(r"allclose|approx\(")
# These compare figures too, but `make test-processors` has to end in a bounded time: whole runs, clusters, many checks.
LEFT_OUT = (
    *("comparison", "dask", "report", "reproduce", "cli", "test_common.py"),
    *("exporting/test_graph.py", "reviews", "test_planning.py", "updating/test_update.py", "watching/test_watch.py"),
)


def blas_libraries():
    """Those of NumPy and SciPy, in a process of its own: other packages of the tests bring their own."""
    code = "import json, numpy, scipy.linalg, threadpoolctl; print(json.dumps(threadpoolctl.threadpool_info()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=LIMIT, check=True)
    return [library for library in json.loads(done.stdout) if library["internal_api"] == "openblas"]


def test_the_kernels_are_those_of_the_processor_asked_for():
    core, threads = os.environ.get("OPENBLAS_CORETYPE"), os.environ.get("OPENBLAS_NUM_THREADS", "")
    libraries = blas_libraries()
    if core not in KERNELS or not libraries:
        pytest.skip("no processor was asked for, or NumPy has another BLAS")
    assert {library["architecture"] for library in libraries} <= KERNELS[core]
    assert not threads or {library["num_threads"] for library in libraries} == {int(threads)}


def test_everything_numerical_is_there():
    assert [path for path in NUMERICAL if not (FOLDER / path).exists()] == []


def test_what_compares_figures_is_numerical_or_an_exception():
    comparing = {path for path in FOLDER.rglob("test_*.py") if COMPARES.search(path.read_text(encoding="utf-8"))}
    listed = (*NUMERICAL, *LEFT_OUT)
    assert sorted(path for path in comparing if not is_in(path, listed)) == []
    assert [path for path in LEFT_OUT if not any(is_in(file, [path]) for file in comparing)] == []
    assert [path for path in LEFT_OUT if is_in(FOLDER / path, NUMERICAL)] == []


@pytest.mark.parametrize("path", ["svm/test_qp.py", "test_batches.py"])
def test_what_is_numerical_is_marked(path):
    assert "no tests" not in collected(path, "numerical")
    assert "no tests" in collected(path, "not numerical")


def test_what_is_left_out_is_not_marked():
    assert "no tests" in collected("cli", "numerical")


def collected(path, marker):
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", marker, FOLDER / path]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, cwd=FOLDER.parent).stdout


def is_in(path, listed):
    return any(path.is_relative_to(FOLDER / part) for part in listed)
