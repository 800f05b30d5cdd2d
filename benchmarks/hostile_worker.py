"""Runs commands of `recuse` one after another in this process: a line of JSON in for each, a line of JSON out.

Started by `hostile_files` as a program, so that a command that hangs, or ends this process, does not take it along.
"""

import contextlib
import io
import json
import sys
import time
import traceback

from recuse.cli import main

from .memory import peak, reset_peak


def run(arguments):
    """Exit code (None for an exception that nobody caught), printed errors, processor seconds, mebibytes."""
    errors, code = io.StringIO(), 0
    reset_peak()
    started = time.process_time()  # other load shall not count; what hangs is ended by the clock
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
        try:
            main(arguments)
        except SystemExit as stop:
            code = stop.code or 0
        except BaseException:
            code = None
            traceback.print_exc()
    seconds = time.process_time() - started
    return {"code": code, "errors": errors.getvalue(), "seconds": seconds, "mebibytes": peak()}


if __name__ == "__main__":
    answers = sys.stdout
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), file=answers, flush=True)
