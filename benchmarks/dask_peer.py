"""LightGBM's Dask estimator for the `dask` benchmark, in a process with a cluster of its own.

When a worker is lost, out of memory, its training waits for the lost part for two hours: a process of its own can be
ended then. ``python -m benchmarks.dask_peer FOLDER N_FILES N_ROUNDS`` prints seconds per round and of the whole fit.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

LOST = "a worker was lost, most likely out of its 2 GiB of memory"
PATIENCE = 1800  # seconds after which a fit counts as one that never ends


def fitted_seconds(folder, n_files, n_rounds):
    """Clock and processor seconds per round and of a whole fit on some files; None and why, where it did not end."""
    command = [sys.executable, "-m", "benchmarks.dask_peer", str(folder), str(n_files), str(n_rounds)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return None, f"it had not ended after {PATIENCE} s"
    if done.returncode == 0:
        found = json.loads(done.stdout.splitlines()[-1])
        return (np.array(found["round"]), np.array(found["whole"])), ""
    if LOST in done.stdout:
        return None, LOST
    return None, f"it ended with an error: {(done.stderr.splitlines() or ['no message'])[-1][:200]}"


def main(folder, n_files, n_rounds):
    """Fit once, and print the seconds."""
    from distributed import Client, LocalCluster

    from .dask import SETTINGS, fit_lightgbm, per_round, seconds

    marks = {}
    scratch = tempfile.TemporaryDirectory(dir=Path(folder).parent)  # which goes with the data, however this ends
    with LocalCluster(**SETTINGS) as cluster, Client(cluster) as client, scratch as notes:
        end_when_a_worker_is_lost(client)
        whole = seconds(
            client, lambda: fit_lightgbm(client, Path(folder), n_rounds, n_files, callbacks=[NoteSeconds(notes)])
        )
        read_notes(notes, marks)
        print(json.dumps({"round": per_round(marks).tolist(), "whole": whole.tolist()}), flush=True)
        os._exit(0)


def end_when_a_worker_is_lost(client):
    """End this process as soon as the workers are not those of the beginning."""
    before = set(client.nthreads())

    def watch():
        while set(client.nthreads()) == before:
            time.sleep(1)
        print(LOST, flush=True)
        client.cluster.close(timeout=5)
        os._exit(3)

    threading.Thread(target=watch, daemon=True).start()


class NoteSeconds:
    """A callback of LightGBM: the seconds after some rounds, into a file of each process."""

    before_iteration, order = False, 0

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, env):
        """Write a line for the rounds that are marked."""
        from .dask import MARKS

        n = env.iteration + 1
        if n in MARKS:
            with (Path(self.folder) / str(os.getpid())).open("a") as file:
                file.write(f"{n} {time.perf_counter()} {time.process_time()}\n")


def read_notes(folder, marks):
    """The clock of the slowest worker and the processor seconds of all of them, at each mark."""
    found = [np.loadtxt(path) for path in Path(folder).iterdir()]
    for n in found[0][:, 0].astype(int):
        rows = np.array([lines[lines[:, 0] == n][0, 1:] for lines in found])
        marks[n] = np.array([rows[:, 0].max(), rows[:, 1].sum()])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
