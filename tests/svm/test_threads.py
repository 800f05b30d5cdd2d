"""Fits use one thread of linear algebra, and leave the process as it was."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from recuse import CoupledOneClassSVC, DoubleHingeSVC, DoubleRampSVC
from recuse.svm import double_hinge_path, double_ramp_path, threads


def blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def cases(n=60):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 3))
    X[:, 0] += 4 * y
    return X, y


@pytest.mark.parametrize("machine", [DoubleHingeSVC, DoubleRampSVC, CoupledOneClassSVC])
def test_one_thread_during_a_fit_and_the_former_number_after_it(machine):
    seen = []

    def kernel(X, Z):
        seen.append(blas_threads())
        return np.exp(-((np.asarray(X)[:, None] - np.asarray(Z)[None]) ** 2).sum(axis=2))

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        machine(kernel=kernel).fit(*cases())
        assert blas_threads() == before
    assert seen
    assert set().union(*seen) == {1}


@pytest.mark.parametrize("large", [False, True])
def test_paths_and_fits_follow_the_same_rule(monkeypatch, large):
    seen = []

    def kernel(X, Z):
        seen.append(blas_threads())
        return np.exp(-((np.asarray(X)[:, None] - np.asarray(Z)[None]) ** 2).sum(axis=2))

    if large:
        monkeypatch.setattr(threads, "LARGE", 60)
    with threadpool_limits(2, user_api="blas"):
        several = blas_threads()
        for fit in (
            lambda: DoubleHingeSVC(kernel=kernel).fit(*cases()),
            lambda: double_hinge_path(*cases(), Cs=[1.0], kernel=kernel),
            lambda: DoubleRampSVC(kernel=kernel).fit(*cases()),
            lambda: double_ramp_path(*cases(), lams=[0.01], kernel=kernel),
        ):
            seen.clear()
            fit()
            assert seen[-1] == (several if large else {1})
            assert blas_threads() == several


def test_a_fit_that_fails_restores_the_number():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with pytest.raises(ValueError, match="C"):
            DoubleHingeSVC(C=-1).fit(*cases())
        assert blas_threads() == before


def test_fits_in_several_threads_leave_the_number_as_it_was():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        inside, leave, seen = threading.Event(), threading.Event(), []

        def other():
            with threads.one_thread():
                seen.append(blas_threads())
                inside.set()
                leave.wait()

        worker = threading.Thread(target=other)
        with threads.one_thread():
            worker.start()
            inside.wait()
            assert blas_threads() == {1}
        leave.set()
        worker.join()
        assert seen == [{1}]
        assert blas_threads() == before
        with threads.one_thread(), threads.one_thread():
            assert blas_threads() == {1}
        assert blas_threads() == before
        assert not threads._BEFORE


@pytest.mark.parametrize(("kernel", "expected"), [("rbf", 0), ("linear", 1)])
def test_large_products_keep_their_threads(monkeypatch, kernel, expected):
    monkeypatch.setattr(threads, "LARGE", 50)
    used = []
    monkeypatch.setattr(threads, "_enter", lambda: used.append(1))
    monkeypatch.setattr(threads, "_leave", lambda found: None)
    DoubleHingeSVC(kernel=kernel, C=10).fit(*cases())
    assert len(used) == expected
