"""Worker processes end with the process they work for; a process that works for itself goes on."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from joblib import Parallel

from recuse.workers import WATCH, delayed_child
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
