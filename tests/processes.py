"""What becomes of processes."""

import os
import signal
import time
from pathlib import Path


def alive(pid):
    """Whether a process runs; one that only waits to be collected does not."""
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def left_after(pids, seconds):
    """Those still running after so many seconds, which are ended then."""
    deadline = time.monotonic() + seconds
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.1)
    left = [pid for pid in pids if alive(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return left
