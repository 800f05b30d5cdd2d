"""Waiting for what other processes do, and what becomes of them."""

import os
import signal
import time
from pathlib import Path

# Seconds. Nothing here takes a tenth of it, however busy the machine is: only what hangs reaches it.
LIMIT = 900


def wait_until(condition, limit=LIMIT):
    """Wait for an event; return whether it came."""
    deadline = time.monotonic() + limit
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def alive(pid):
    """Whether a process runs; one that only waits to be collected does not."""
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def left_running(pids, limit=LIMIT):
    """Wait for processes to end; those that go on are ended, and returned."""
    wait_until(lambda: not any(map(alive, pids)), limit)
    left = [pid for pid in pids if alive(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return left
