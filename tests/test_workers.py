"""Worker processes end with the process they work for, and one that dies takes its own call along only."""

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from joblib import Parallel, delayed

from recuse.workers import WATCH, WorkerDiedError, delayed_child, in_threads, surviving_results
from tests.processes import LIMIT, left_running, wait_until

PARENT = """
import sys, time
from pathlib import Path
from joblib import Parallel
from recuse.workers import delayed_child

def work(folder, number):
    import os
    (Path(folder) / str(os.getpid())).touch()
    while True:
        time.sleep(600)

Parallel(n_jobs=2)(delayed_child(work)(sys.argv[1], number) for number in range(4))
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks processes up in /proc")
def test_workers_end_with_a_killed_parent(tmp_path):
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path)], stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: len(list(tmp_path.iterdir())) == 2 or parent.poll() is not None)
        assert parent.poll() is None, "it has ended by itself"
    finally:
        parent.kill()
        parent.wait()
    workers = [int(file.name) for file in tmp_path.iterdir()]
    assert len(workers) == 2
    assert left_running(workers) == []


def watches():
    return [thread for thread in threading.enumerate() if thread.name == WATCH]


def python(code):
    return subprocess.run([sys.executable, "-c", code], timeout=LIMIT, capture_output=True, text=True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_worker_watches_the_process_it_works_for_and_no_other():
    code = "import os, threading; from recuse.workers import WATCH, _run; assert _run({}, pow, 2, 3) == 8; "
    code += "print([thread.name for thread in threading.enumerate()].count(WATCH))"
    for parent, watches_it in (("os.getppid()", 1), ("1 if os.getppid() != 1 else os.getpid()", 0)):
        done = python(code.format(parent))
        assert (done.returncode, done.stdout.strip()) == (0, str(watches_it)), done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_worker_whose_process_was_killed_before_its_first_task_ends():
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    done = python(f"from recuse.workers import _run; _run({gone.pid}, print, 'worked on')")
    assert (done.returncode, done.stdout) == (1, "")


def test_one_worker_is_this_process_and_is_not_watched():
    before = watches()
    assert Parallel(n_jobs=1)(delayed_child(pow)(2, exponent) for exponent in range(3)) == [1, 2, 4]
    assert watches() == before


def _square(number, ends, code):
    """Square a number; the numbers in `ends` end the process instead."""
    if number in ends:
        os.kill(os.getpid(), signal.SIGKILL) if code is None else os._exit(code)
    return number**2


@pytest.mark.parametrize("n_jobs", [2, 3])
@pytest.mark.parametrize(
    ("ends", "code", "reason"),
    [((), None, ""), ((3,), None, "SIGKILL"), ((0, 1, 6), None, "SIGKILL"), ((2,), 7, r"EXIT\(7\)")],
)
def test_the_death_of_a_worker_ends_its_own_call_only(n_jobs, ends, code, reason):
    results = dict(surviving_results(_square, [(number, ends, code) for number in range(7)], n_jobs))
    assert sorted(results) == list(range(7))
    for number, result in results.items():
        if number in ends:
            assert isinstance(result, WorkerDiedError)
            assert re.search(reason, str(result))
        else:
            assert result == number**2


def _die_unless_alone(number, folder):
    """End the process while the other call runs, as a call does that needs the memory of both."""
    marks = [Path(folder) / str(other) for other in range(2)]
    marks[number].touch()
    died = Path(folder) / "died"
    if number == 0:
        wait_until(marks[1].exists)
        if not died.exists():
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    wait_until(died.exists)
    return number


def test_a_call_that_died_only_because_of_another_gets_its_result(tmp_path):
    results = dict(surviving_results(_die_unless_alone, [(0, tmp_path), (1, tmp_path)], 2))
    assert (tmp_path / "died").exists()
    assert results == {0: 0, 1: 1}


def _fail(number):
    raise ZeroDivisionError(f"in call {number}")


def test_an_exception_is_raised_as_it_is():
    with pytest.raises(ZeroDivisionError, match="in call"):
        list(surviving_results(_fail, [(0,), (1,)], 2))


def test_no_test_waits_for_a_time_of_its_own():
    """What is waited for is an event; how long is written once, in `processes.py`."""
    own_time = re.compile(r"timeout[=(][\d_]+[,)]|monotonic\(\) \+ \d")
    pause = "page.wait_for_timeout(50)"  # between two looks at what a page has said
    tests = {path.name: path.read_text(encoding="utf-8") for path in Path(__file__).parent.rglob("test_*.py")}
    tests.pop(Path(__file__).name)
    assert [name for name, text in tests.items() if own_time.search(text.replace(pause, ""))] == []


def share_of(n_threads, value):
    """The part of the threads that a call is given, its own thread, and its argument."""
    return n_threads, threading.get_ident(), value


@pytest.mark.parametrize(("n_threads", "share"), [(1, 1), (2, 1), (3, 1), (8, 2)])
def test_calls_in_threads_share_them_and_keep_their_order(n_threads, share):
    found = in_threads(share_of, [(i,) for i in range(4)], n_threads)
    assert [value for *_, value in found] == list(range(4))
    assert {n for n, *_ in found} == {share}


def test_a_single_call_has_all_threads_and_stays_where_it_is():
    assert in_threads(share_of, [(0,)], 4) == [(4, threading.get_ident(), 0)]
    assert in_threads(share_of, [], 4) == []


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_calls_inside_a_worker_do_not_take_the_cores_of_its_neighbours(backend):
    calls = [(share_of, [(0,), (1,)], 2)] * 2
    for found in Parallel(n_jobs=2, backend=backend)(delayed(in_threads)(*call) for call in calls):
        assert [n for n, *_ in found] == [1, 1]
        assert len({thread for _, thread, _ in found}) == 1


def test_an_error_in_a_thread_is_raised():
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda _, x: 1 / x, [(1,), (0,)], 2)


def test_a_process_that_ends_at_once_looks_for_no_garbage():
    code = "import atexit, gc; from recuse.ending import end_at_once; "
    code += "atexit.register(lambda: print(gc.get_freeze_count() > 0)); "
    for calls, frozen in (("", "False"), ("end_at_once(); end_at_once()", "True")):
        done = python(code + calls)
        assert (done.returncode, done.stdout.strip()) == (0, frozen), done.stderr
