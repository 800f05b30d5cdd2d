"""A share of the mutated models and fuzzed tables of `benchmarks.hostile_files`; with another seed than there."""

import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.fuzzed_tables import NEW
from benchmarks.hostile_files import FUZZES, model_rows, table_rows

from tests.marks import may_reject_all

from .processes import LIMIT

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="waits for a process with select")


def assert_met(rows):
    """Every rule but the time, which a busy machine stretches; a run that hangs counts as a traceback."""
    rows = list(rows)
    assert len(rows) > 3
    assert [
        (row.what, row.size, row.ours) for row in rows if "seconds" not in row.what and "MISSED" in row.verdict
    ] == []


@may_reject_all
def test_mutated_models():
    assert_met(model_rows(36, 8, seed=1))


def test_fuzzed_tables():
    assert_met(table_rows(4 * len(FUZZES), seed=1))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell")
def test_the_memory_measured_is_that_of_the_program_alone():
    """Not that of the one that started it, which the system counts along where a process is forked."""
    child = "from benchmarks.memory import peak; print(peak())"
    parent = (
        f"import subprocess, sys; big = b'x' * 2**28; subprocess.run([sys.executable, '-c', {child!r}], check=True)"
    )
    folder = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", parent], capture_output=True, text=True, timeout=LIMIT, check=True, cwd=folder
    )
    assert 1 < float(done.stdout) < 128


def test_fuzzed_tables_of_every_format():
    assert_met(table_rows(2 * len(NEW), seed=3, fuzzes=NEW))
