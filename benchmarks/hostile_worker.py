"""Runs commands of `recuse` one after another in this process: a line of JSON in for each, a line of JSON out.

Started by `hostile_files` as a script, so that a command that hangs, or ends this process, does not take it along.
"""

import contextlib
import io
import json
import resource
import sys
import time
import traceback
from pathlib import Path

from recuse.cli import main

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def run(arguments):
    """Exit code (None for an exception that nobody caught), what was printed to standard error, seconds, mebibytes."""
    errors, code = io.StringIO(), 0
    with contextlib.suppress(OSError):
        RESET.write_text("5")  # the peak of the memory begins anew
    started = time.perf_counter()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
        try:
            main(arguments)
        except SystemExit as stop:
            code = stop.code or 0
        except BaseException:
            code = None
            traceback.print_exc()
    seconds = time.perf_counter() - started
    return {"code": code, "errors": errors.getvalue(), "seconds": seconds, "mebibytes": _peak()}


def _peak():
    """Largest memory since it was reset, in mebibytes; since the start where it cannot be reset."""
    with contextlib.suppress(OSError, StopIteration):
        line = next(line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    answers = sys.stdout
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), file=answers, flush=True)
