"""What is done stays done, whatever happens in between."""

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recuse
from recuse.comparison import METHODS, Task, compare, cross_validation, fits, methods
from recuse.comparison.checkpoints import Checkpoints, data_fingerprint, method_key
from recuse.comparison.folds import FoldResult
from recuse.tables import check_cases
from tests.comparison.conftest import COSTS, mixed_table
from tests.processes import LIMIT, left_running, wait_until

OPTIONS = {
    "positive": "good",
    "costs": COSTS,
    "methods": ["logistic-chow", "logistic-no-reject"],
    "cv": 3,
    "repeats": 1,
}
TIMES = ["fit_seconds", "predict_seconds"]


def one_result():
    return FoldResult(
        np.array([2, 5]),
        np.array([0, 1], dtype=np.int8),
        np.array([0, 2], dtype=np.int8),
        np.array([-0.1, 0.3]),
        np.array([1.0, -1e-17]),
        np.array([0.4, 0.8]),
        ["probability 0.4", "née “unlike”"],
        1.5,
        0.5,
        {"C": 0.1},
        ["careful"],
    )


def test_a_result_comes_back_whole(tmp_path):
    checkpoints = Checkpoints(tmp_path, "f" * 64)
    stored = one_result()
    checkpoints.store("m", 3, stored)
    found = checkpoints.load("m", 3)
    for name in ("test", "forced", "kind", "h", "r", "score"):
        np.testing.assert_array_equal(getattr(found, name), getattr(stored, name))
        assert getattr(found, name).dtype == getattr(stored, name).dtype
    assert (found.reason, found.params, found.warnings) == (stored.reason, stored.params, stored.warnings)
    assert checkpoints.load("m", 4) is None
    assert checkpoints.load("other", 3) is None
    checkpoints.store("failed", 0, replace(stored, error="no"))
    assert checkpoints.load("failed", 0) is None
    assert Checkpoints(None, "f").load("m", 3) is None


def test_a_damaged_file_is_as_good_as_none(tmp_path):
    checkpoints = Checkpoints(tmp_path, "f" * 64)
    checkpoints.store("m", 0, one_result())
    (path,) = tmp_path.glob(".cache/*/m.0.npz")
    path.write_bytes(path.read_bytes()[:-20])
    assert checkpoints.load("m", 0) is None


def test_a_file_from_before_a_fact_was_noted_is_as_good_as_none(tmp_path, monkeypatch):
    checkpoints = Checkpoints(tmp_path, "f" * 64)
    with monkeypatch.context() as earlier:
        earlier.setattr(
            "recuse.comparison.checkpoints._FACTS", ("fit_seconds", "predict_seconds", "params", "warnings")
        )
        checkpoints.store("m", 0, one_result())
        assert checkpoints.load("m", 0) is not None
    assert checkpoints.load("m", 0) is None


@pytest.fixture
def checkpoints_only(monkeypatch):
    """Nothing but the folds is written: the report takes longer than they do."""
    monkeypatch.setattr(cross_validation, "write_run", lambda *_: None)


@pytest.mark.usefixtures("checkpoints_only")
def test_a_second_run_fits_nothing(table, tmp_path, monkeypatch):
    first = compare(table, "default", out=tmp_path, **OPTIONS)
    monkeypatch.setattr(fits, "run_fold", lambda *_: pytest.fail("fitted again"))
    second = compare(table, "default", out=tmp_path, **OPTIONS)
    pd.testing.assert_frame_equal(first.leaderboard, second.leaderboard)


@pytest.mark.parametrize(
    "change",
    [
        {"costs": recuse.Costs(fp=1, fn=3, reject=0.31)},
        {"seed": 1},
        {"cv": 4},
        {"positive": "bad"},
        {"data": "changed"},
    ],
    ids=lambda change: next(iter(change)),
)
@pytest.mark.usefixtures("checkpoints_only")
def test_anything_that_matters_starts_anew(table, tmp_path, monkeypatch, change):
    compare(table, "default", out=tmp_path, **OPTIONS)
    change = dict(change)
    data = table.assign(score=table["score"] + 1e-9) if change.pop("data", None) else table
    fitted = []
    monkeypatch.setattr(fits, "run_fold", lambda *args, run=fits.run_fold: fitted.append(1) or run(*args))
    compare(data, "default", out=tmp_path, overwrite=data is not table, **OPTIONS | change)
    assert len(fitted) == 2 * change.get("cv", 3)


DEFINITIONS = {
    "as it is": {"grid": {"C": [0.1, 1.0]}},
    "grid": {"grid": {"C": [0.1, 2.0]}},
    "option": {"grid": {"C": [0.1, 1.0]}, "kernel": "linear"},
    "step before": {"grid": {"C": [0.1, 1.0]}, "scaled": True},
    "class": {"class_name": "CoupledOneClassSVC", "grid": {"C": [0.1, 1.0]}},
    "sample": {"grid": {"C": [0.1, 1.0]}, "max_rows": 100},
}


def test_a_method_defined_otherwise_has_another_key():
    task = Task(COSTS, "bad", 0, 160)

    def key(class_name="DoubleHingeSVC", **definition):
        return method_key(methods._library_method("m", "M", class_name, moves=methods.PAIR, **definition), task)

    keys = [key(**definition) for definition in DEFINITIONS.values()]
    assert len(set(keys)) == len(keys)
    assert keys == [key(**definition) for definition in DEFINITIONS.values()]


def test_keys_are_the_same_in_every_process():
    task = "Task(recuse.Costs(fp=1, fn=3, reject=0.3), 'bad', 0, 160)"
    code = "import recuse; from recuse.comparison import *; from recuse.comparison import METHODS, methods; "
    code += "from recuse.comparison.checkpoints import method_key; "
    code += f"methods.EFFORT = {methods.EFFORT!r}; "
    code += f"print(*(method_key(m, {task}) for m in METHODS))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == [method_key(method, Task(COSTS, "bad", 0, 160)) for method in METHODS]


@pytest.mark.usefixtures("checkpoints_only")
def test_a_changed_grid_is_fitted_anew_and_the_others_are_not(table, tmp_path, monkeypatch):
    compare(table, "default", out=tmp_path, **OPTIONS)
    changed = methods._rules(
        "logistic", "Logistic", lambda _: (methods._logistic(_)[0], {"logisticregression__C": [5]})
    )
    monkeypatch.setattr(methods, "METHODS", tuple(changed[1] if m.name == changed[1].name else m for m in METHODS))
    fitted = []
    monkeypatch.setattr(
        fits,
        "run_fold",
        lambda *args, run=fits.run_fold: fitted.append(args[0].name) or run(*args),
    )
    result = compare(table, "default", out=tmp_path, **OPTIONS)
    assert fitted == ["logistic-chow"] * 3
    assert {row.name: row.params for row in result.rows}["logistic-chow"] == {"C": {"5": 3}}


@pytest.mark.usefixtures("checkpoints_only")
def test_only_what_is_missing_is_fitted(table, tmp_path, monkeypatch):
    whole = compare(table, "default", out=tmp_path, **OPTIONS)
    next(tmp_path.glob(".cache/*/logistic-chow-*.1.npz")).unlink()
    (tmp_path / ".report.html.0123.tmp").write_text("half")
    fitted = []
    monkeypatch.setattr(fits, "run_fold", lambda *args, run=fits.run_fold: fitted.append(1) or run(*args))
    again = compare(table, "default", out=tmp_path, **OPTIONS)
    assert len(fitted) == 1
    assert not list(tmp_path.glob("*.tmp"))
    pd.testing.assert_frame_equal(whole.leaderboard.drop(columns=TIMES), again.leaderboard.drop(columns=TIMES))


def test_fingerprint_sees_every_value(table):
    base = data_fingerprint(check_cases(table, "default"))
    assert data_fingerprint(check_cases(table.copy(), "default")) == base
    changed = table.copy()
    changed.loc[3, "town"] = "Köln"
    renamed = table.rename(columns={"town": "city"})
    swapped = table.assign(default=table["default"].iloc[::-1].to_numpy())
    assert len({base, *(data_fingerprint(check_cases(t, "default")) for t in (changed, renamed, swapped))}) == 4


# One process imports everything once and forks the runs, so that every kill falls into the run and not into an import.
KILLER = """
import contextlib, io, json, os, random, shutil, signal, sys, time, warnings, zipfile
from pathlib import Path
import numpy as np, pandas as pd
from recuse.cli import main

data, work = sys.argv[1], Path(sys.argv[2])
arguments = ["compare", data, "-t", "default", "--fn", "3", "--methods", "logistic-chow,logistic-no-reject"]
arguments += ["--cv", "3", "--n-jobs", "1", "--repeats", "1", "--json", "-o"]
# Once here, so that what is imported and cached on first use is there for every run.
with contextlib.redirect_stdout(io.StringIO()):
    main_exit = None
    try:
        main([*arguments, str(work / "whole")])
    except SystemExit as stop:
        main_exit = stop.code
    assert not main_exit

def start(out):
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        try:
            main([*arguments, str(out)])
        except SystemExit as stop:
            os._exit(stop.code or 0)
        os._exit(0)
    return pid

def check(out):
    for path in out.rglob("*") if out.exists() else ():
        if path.is_dir() or path.suffix == ".tmp":
            continue
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as stored:
                assert len(stored["r"]) == len(stored["test"])
        elif path.suffix == ".skops":
            assert zipfile.ZipFile(path).testzip() is None
        elif path.suffix == ".json":
            json.loads(path.read_text())
        elif path.suffix == ".html":
            assert path.read_text().rstrip().endswith("</html>")
        elif path.name == "decisions.csv":
            assert len(pd.read_csv(path)) == len(pd.read_csv(data))
        elif path.name == "leaderboard.csv":
            assert len(pd.read_csv(path)) == 5  # two methods, three constant answers
        else:
            raise AssertionError(f"unexpected {path}")

def written(out):
    return sum(1 for path in out.rglob("*") if path.is_file() and path.suffix != ".tmp")

def ended(pid):
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

began = time.perf_counter()
assert os.waitpid(start(work / "timed"), 0)[1] == 0
files = written(work / "timed")
between = (time.perf_counter() - began) / files
random.seed(0)
kills = finished = 0
stages = set()
out = work / "killed"
while kills < 20 or (len(stages) < 5 and kills < 60):  # on a busy machine the same stage is hit more often
    # At a random moment after a random number of files: on a machine of any speed the kills fall all over the run.
    goal = random.randint(written(out), files)
    pid = start(out)
    while written(out) < goal and not ended(pid):
        time.sleep(0.001)
    time.sleep(random.uniform(0, between))
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    check(out)
    if os.WIFSIGNALED(status):
        kills += 1
        stages.add(written(out))
    finished += not os.WIFSIGNALED(status)
    if written(out) == files:
        shutil.rmtree(out)
assert os.waitpid(start(work / "killed"), 0)[1] == 0
check(work / "killed")
leftovers = [str(path) for path in (work / "killed").rglob("*.tmp")]
print(json.dumps({"kills": kills, "finished": finished, "stages": len(stages), "leftovers": leftovers}))
"""


def test_killed_at_random_moments_it_ends_with_the_same_leaderboard(tmp_path):
    import json

    mixed_table(120).to_csv(tmp_path / "data.csv", index=False)
    script = tmp_path / "killer.py"
    script.write_text(KILLER)
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "data.csv"), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=4 * LIMIT,  # more than twenty runs
    )
    assert done.returncode == 0, done.stderr[-3000:]
    facts = json.loads(done.stdout.splitlines()[-1])
    assert facts["kills"] >= 20
    assert facts["stages"] >= 5  # the kills fell into different stages of the run
    assert facts["leftovers"] == []
    boards = [pd.read_csv(tmp_path / name / "leaderboard.csv").drop(columns=TIMES) for name in ("whole", "killed")]
    pd.testing.assert_frame_equal(*boards)
    decisions = [(tmp_path / name / "decisions.csv").read_bytes() for name in ("whole", "killed")]
    assert decisions[0] == decisions[1]


def children(pid):
    """Processes started by one, with what they run."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                if parent == pid:
                    found[int(entry.name)] = (entry / "cmdline").read_text()
            except OSError:
                continue
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks processes up in /proc")
def test_workers_end_with_a_killed_parent(tmp_path):
    """Nothing goes on computing for a run that was killed, though its workers are in the middle of long fits."""
    mixed_table(3000).to_csv(tmp_path / "data.csv", index=False)
    command = [sys.executable, "-m", "recuse.cli", "compare", str(tmp_path / "data.csv"), "-t", "default"]
    command += ["--methods", "forest-tuned,abstention-boosting", "--n-jobs", "2", "-o", str(tmp_path / "run")]
    parent = subprocess.Popen([*command, "--json"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        # Once a fold is done, its worker is in the middle of the next; the other at least has a fold to work on.
        wait_until(lambda: list(tmp_path.rglob("*.npz")) or parent.poll() is not None)
        assert parent.poll() is None, "the run was over before it could be killed"
        workers = [pid for pid, line in children(parent.pid).items() if "popen_loky" in line]
        assert len(workers) == 2, "no two workers were started"
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    assert left_running(workers) == []
