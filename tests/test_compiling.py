"""The collector pauses while something is compiled, and runs again afterwards, whatever happens in between."""

import gc
import threading
from types import ModuleType

import pytest
from numba import njit

from recuse.compiling import collector_paused, without_collector


@pytest.fixture(autouse=True)
def collector_on():
    gc.enable()
    yield
    gc.enable()


def test_the_collector_runs_again_after_the_outermost_block():
    with collector_paused():
        with collector_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_the_collector_runs_again_after_an_error():
    with pytest.raises(KeyError), collector_paused():
        raise KeyError
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off():
    gc.disable()
    with collector_paused():
        pass
    assert not gc.isenabled()


def test_blocks_in_two_threads_may_end_in_any_order():
    inside, may_leave = threading.Event(), threading.Event()

    def other():
        with collector_paused():
            inside.set()
            may_leave.wait()

    thread = threading.Thread(target=other)
    with collector_paused():
        thread.start()
        inside.wait()
    assert not gc.isenabled()  # the other thread is not done
    may_leave.set()
    thread.join()
    assert gc.isenabled()


def test_compiling_pauses_it_and_calling_does_not():
    seen = []
    loops = ModuleType("loops_of_a_test")
    loops.add_one = njit(lambda x: x + 1.0)
    compile_it = loops.add_one.compile
    loops.add_one.compile = lambda signature: (seen.append(gc.isenabled()), compile_it(signature))[1]
    assert without_collector(without_collector(loops)) is loops
    assert (loops.add_one(1.0), loops.add_one(2.0)) == (2.0, 3.0)
    assert seen == [False]  # compiled once, and paused then
    assert gc.isenabled()


def test_without_the_compiler_functions_stay_as_they_are():
    loops = ModuleType("plain_loops_of_a_test")
    loops.add_one = function = lambda x: x + 1.0
    assert without_collector(loops).add_one is function
