"""The script of continuous integration, with stand-ins for what it starts."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.processes import LIMIT

SCRIPT = Path(__file__).parents[1] / ".ci" / "run"
TESTS = [
    "make test",
    "make test-processors PROCESSORS=Haswell:1 Prescott:2 OPTIONS=--ignore=tests/comparison --ignore=tests/metrics "
    "--ignore=tests/test_label_columns.py",
    "make test-lowest OPTIONS=--ignore=tests/comparison --ignore=tests/dask --ignore=tests/report "
    "--ignore=tests/reproduce",
]


@pytest.fixture
def tools(tmp_path):
    """A search path with what the script needs and nothing else: no browser."""
    if not SCRIPT.is_file() or shutil.which("bash") is None:
        pytest.skip("no script, or no shell to run it")
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("bash", "env", "dirname", "cat", "sh"):
        (folder / name).symlink_to(shutil.which(name))
    return folder


def stand_in(tools, name, code=0):
    """A command that notes how it was called."""
    log = tools.parent / "calls"
    path = tools / name
    path.write_text(f'#!/bin/sh\necho "{name} $*" >> "{log}"\nexit {code}\n')
    path.chmod(0o755)


def run(tools, **variables):
    kept = {key: value for key, value in os.environ.items() if key not in ("RECUSE_DATA", "RECUSE_CI_SECONDS")}
    environment = kept | {"PATH": str(tools)} | variables
    done = subprocess.run([str(SCRIPT)], capture_output=True, text=True, timeout=LIMIT, env=environment)
    return done, (tools.parent / "calls").read_text().splitlines()


def test_a_missing_browser_is_installed_before_the_tests(tools):
    stand_in(tools, "make")
    stand_in(tools, "apt-get")
    done, calls = run(tools)
    assert done.returncode == 0
    assert calls == ["apt-get update -qq", "apt-get install -y -qq chromium", *TESTS]


def test_a_browser_that_is_there_is_left_alone(tools):
    for name in ("make", "apt-get", "chromium"):
        stand_in(tools, name)
    assert run(tools)[1] == TESTS


def test_without_a_browser_and_without_a_way_to_get_one_the_tests_still_run(tools):
    stand_in(tools, "make")
    stand_in(tools, "apt-get", code=100)
    done, calls = run(tools)
    assert done.returncode == 0
    assert calls == ["apt-get update -qq", *TESTS]
    assert "chromium could not be installed: browser tests are skipped" in done.stdout


def test_what_there_is_no_time_for_is_left_out_and_named(tools):
    for name in ("make", "chromium"):
        stand_in(tools, name)
    done, calls = run(tools, RECUSE_CI_SECONDS="700")
    assert done.returncode == 0
    assert calls == [TESTS[0], TESTS[2]]
    assert "left out after" in done.stdout
    assert "make test-processors" in done.stdout


def test_failing_tests_fail_the_script(tools):
    stand_in(tools, "make", code=2)
    stand_in(tools, "chromium")
    assert run(tools)[0].returncode == 2


def test_what_is_left_out_is_there():
    left_out = re.findall(r"--ignore=([\w/.]+)", SCRIPT.read_text())
    assert left_out
    assert all((SCRIPT.parents[1] / path).exists() for path in left_out)


def test_every_processor_is_one_that_make_knows():
    known = re.search(r"PROCESSORS \?= (.+)", (SCRIPT.parents[1] / "Makefile").read_text()).group(1).split()
    chosen = re.search(r'PROCESSORS="([^"]+)"', SCRIPT.read_text()).group(1).split()
    assert set(chosen) < set(known)
    # Each kind of processor and each number of threads once.
    assert sorted(part for processor in chosen for part in processor.split(":")) == ["1", "2", "Haswell", "Prescott"]
