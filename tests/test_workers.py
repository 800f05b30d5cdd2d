"""Worker processes end with the process they work for; a process that works for itself goes on."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from joblib import Parallel

from recuse.workers import delayed_child
from tests.processes import left_after

PARENT = """
import sys, time
from pathlib import Path
from joblib import Parallel
from recuse.workers import delayed_child

def work(folder, number):
    import os
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(600)

Parallel(n_jobs=2)(delayed_child(work)(sys.argv[1], number) for number in range(4))
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks processes up in /proc")
def test_workers_end_with_a_killed_parent(tmp_path):
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path)], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < deadline and parent.poll() is None:
        time.sleep(0.1)
    parent.kill()
    parent.wait()
    workers = [int(file.name) for file in tmp_path.iterdir()]
    assert len(workers) == 2
    assert left_after(workers, 30) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_worker_that_others_have_started_goes_on():
    code = "import time; from recuse.workers import _run; assert _run(1, pow, 2, 3) == 8; time.sleep(1.5)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_worker_whose_process_was_killed_before_its_first_task_ends():
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    code = f"from recuse.workers import _run; _run({gone.pid}, print, 'worked on')"
    done = subprocess.run([sys.executable, "-c", code], timeout=60, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")


def test_one_worker_is_this_process_and_goes_on():
    assert Parallel(n_jobs=1)(delayed_child(pow)(2, exponent) for exponent in range(3)) == [1, 2, 4]
    time.sleep(1.5)  # a watch would have ended it by now
