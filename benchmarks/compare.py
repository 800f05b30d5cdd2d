"""The command line: time and memory against limits.

`compare` with every method, in processor seconds of all its processes: the breast-cancer table, and one of 600 cases
and 500 columns drawn from scikit-learn's `make_classification`; the limits are 60 and 150 seconds. `compare` on gmsc
(150,000 cases of 10 columns) with the boosters and the plug-in rules, on all cores; `predict` on a million rows of the
same columns; the limits are 900 seconds, 6144 MiB over all processes, 500 MiB above the memory of the loaded model. The
"peer" is the limit. Needs the environment variable RECUSE_DATA.
"""

import ctypes
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pandas as pd
from sklearn.datasets import make_classification

from recuse.datasets import load

from .runner import Row

_LOAD = """
import sys, recuse
sys.path.insert(0, ".")
from benchmarks.memory import peak
recuse.load(sys.argv[1])
import pandas, recuse.predicting, skrub, pyarrow
print(peak())
"""
_PREDICT = """
import sys
sys.path.insert(0, ".")
from benchmarks.memory import peak
from recuse.predicting import predict_table
predict_table(*sys.argv[1:4])
print(peak())
"""


def run(quick=False):
    """Yield one row per limit."""
    yield from _processor_seconds(quick)
    table = load("breast_cancer" if quick else "gmsc", as_frame=True).frame
    rows = 20_000 if quick else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder) / "data.csv", Path(folder) / "run"
        table.to_csv(data, index=False)
        size = f"{len(table):,} x {table.shape[1] - 1}"
        methods = [] if not quick else ["--methods", "logistic-chow", "--cv", "2"]
        command = [sys.executable, "-m", "recuse.cli", "compare", data, "-t", "target", "--fn", "10", "--reject", "0.4"]
        seconds, memory = _run([*command, "-o", out, "--json", *methods])
        yield Row("recuse compare, seconds", size, "limit", seconds, 900.0, 1.0)
        yield Row("recuse compare, MiB in all processes", size, "limit", memory, 6144.0, 1.0)
        big = Path(folder) / "big.csv"
        _repeat(data, big, rows, len(table))
        loaded = _own_peak([sys.executable, "-c", _LOAD, out / "model.skops"])
        started = time.perf_counter()
        peak = _own_peak([sys.executable, "-c", _PREDICT, out / "model.skops", big, Path(folder) / "out.csv"])
        seconds = time.perf_counter() - started
        yield Row(
            f"recuse predict, MiB above the model ({seconds:.0f} s)",
            f"{rows:,} rows",
            "limit",
            peak - loaded,
            500.0,
            1.0,
        )


def _processor_seconds(quick):
    """What every method takes on a table of usual size, and on one with many columns."""
    methods = ["--methods", "logistic-chow", "--cv", "2"] if quick else []
    with tempfile.TemporaryDirectory() as folder:
        wide, columns = Path(folder) / "wide.csv", 50 if quick else 500
        X, y = make_classification(600, columns, n_informative=20, n_redundant=20, flip_y=0.05, random_state=0)
        pd.DataFrame(X, columns=[f"x{i}" for i in range(columns)]).assign(target=y).to_csv(wide, index=False)
        tables = (("569 x 30", [], 60.0), (f"600 x {columns}", [wide, "-t", "target"], 150.0))
        for number, (size, arguments, limit) in enumerate(tables):
            command = [
                sys.executable,
                "-m",
                "recuse",
                "compare",
                *arguments,
                "-o",
                Path(folder) / str(number),
                "--json",
            ]
            seconds = _spent([*command, *methods])
            yield Row("recuse compare, every method, processor seconds", size, "limit", seconds, limit, 1.0)


def _spent(command):
    """Processor seconds of a command and of all processes that it starts, also those that outlive it for a while."""
    # Libraries shall find their own number of threads, as they would for a user.
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    _adopt_orphans()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, env=environment)
    while True:  # until the last of them is counted
        try:
            os.wait()
        except ChildProcessError:
            break
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _adopt_orphans():
    """Let processes whose parent has ended become children of this one: what they spent is counted."""
    set_child_subreaper = 36
    ctypes.CDLL(None).prctl(set_child_subreaper, 1, 0, 0, 0)


def _repeat(source, target, rows, n):
    """Write the rows of a CSV file again and again."""
    header, *lines = source.read_text().splitlines(keepends=True)
    with open(target, "w") as file:
        file.write(header)
        for _ in range(rows // n):
            file.writelines(lines)
        file.writelines(lines[: rows % n])


def _own_peak(command):
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def _run(command):
    """Seconds, and the largest memory of the process and all it starts."""
    peak, stop = [0.0], threading.Event()
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def watch():
        while not stop.wait(0.5):
            peak[0] = max(peak[0], sum(map(_resident, _family(process.pid))))

    thread = threading.Thread(target=watch)
    thread.start()
    code = process.wait()
    stop.set()
    thread.join()
    if code:
        raise RuntimeError(f"recuse compare ended with {code}")
    return time.perf_counter() - started, peak[0]


def _family(pid):
    """A process and its descendants."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                parent = int((Path("/proc") / entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry))
    family, pending = [], [pid]
    while pending:
        family.append(pending.pop())
        pending.extend(children.get(family[-1], []))
    return family


def _resident(pid):
    try:
        return int((Path("/proc") / str(pid) / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    except OSError:
        return 0.0
