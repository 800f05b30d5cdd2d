"""Writers of a log that are killed at any moment, or write at once: a program that starts them as processes.

``python -m tests.reviews.killing LOG kill ROUNDS SEED`` prints what the writers were told is on the disk;
``python -m tests.reviews.killing LOG together TIMES`` lets two writers append so many times each.
"""

import json
import os
import signal
import sys
import time

import numpy as np

from recuse.reviews import ReviewLog

PARTS = 3  # records in one append
FOREVER = 10**9


def killed_rounds(path, rounds, seed):
    """Pairs of writer and number that were acknowledged before the writer was killed."""
    rng, acknowledged = np.random.default_rng(seed), []
    for writer in range(rounds):
        pid, told = start_writer(path, writer, FOREVER)
        early = [told.readline() for _ in range(int(rng.integers(0, 8)))]
        time.sleep(rng.uniform(0, 0.003))  # it dies anywhere between two acknowledgements
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        acknowledged += [(writer, int(line)) for line in [*early, *told] if line.endswith("\n")]
        told.close()
    return acknowledged


def start_writer(path, writer, times):
    """A process that appends, and the lines in which it tells what is done."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reading)
            _append(path, writer, times, writing)
        finally:
            os._exit(0)
    os.close(writing)
    return pid, os.fdopen(reading)


def _append(path, writer, times, told):
    log = ReviewLog(path)
    for number in range(times):
        note = {"kind": "note", "writer": writer, "number": number, "text": "x" * (number * 977 % 5000)}
        log.append([note | {"part": part} for part in range(PARTS)])
        os.write(told, b"%d\n" % number)


def main(path, what, n, seed="0"):
    if what == "kill":
        print(json.dumps(killed_rounds(path, int(n), int(seed))))
        return
    for pid, told in [start_writer(path, writer, int(n)) for writer in range(2)]:
        told.read()
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
