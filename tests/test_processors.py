"""`make test-processors`: the numerical part of the suite runs on the kernels it asks for, and its list is true."""

import os

import pytest
import scipy.linalg  # noqa: F401  # with it both libraries are loaded, NumPy's and SciPy's
from threadpoolctl import threadpool_info

from tests.conftest import FOLDER, NUMERICAL

# What OpenBLAS calls the kernels of a processor: Prescott's are those of every processor before it.
KERNELS = {"Haswell": {"Haswell"}, "Prescott": {"Prescott", "Katmai"}}


def test_the_kernels_are_those_of_the_processor_asked_for():
    core, threads = os.environ.get("OPENBLAS_CORETYPE"), os.environ.get("OPENBLAS_NUM_THREADS", "")
    libraries = [library for library in threadpool_info() if library["internal_api"] == "openblas"]
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
