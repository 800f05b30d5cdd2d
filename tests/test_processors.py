"""`make test-processors`: the numerical part of the suite runs on the kernels it asks for, and its list is true."""

import json
import os
import subprocess
import sys

import pytest

from tests.conftest import FOLDER, NUMERICAL
from tests.processes import LIMIT

# What OpenBLAS calls the kernels of a processor: Prescott's are those of every processor before it.
KERNELS = {"Haswell": {"Haswell"}, "Prescott": {"Prescott", "Katmai"}}


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


def test_what_is_numerical_is_marked(request):
    marked = {item.path for item in request.session.items if item.get_closest_marker("numerical")}
    expected = {
        item.path
        for item in request.session.items
        if any(item.path.is_relative_to(FOLDER / path) for path in NUMERICAL)
    }
    assert marked == expected
    assert request.path in marked
