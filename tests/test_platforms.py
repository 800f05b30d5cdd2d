"""Other operating systems, as far as they can be known from here: what Windows lacks is not asked for."""

import ast
import importlib.util
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

import recuse
from recuse.answering.counts import Answered
from tests.processes import LIMIT

SOURCE = Path(recuse.__file__).parent
# Modules and attributes that Python has on Linux and macOS only.
POSIX_MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
POSIX_ATTRIBUTES = {
    "os": {
        "chown",
        "fork",
        "getegid",
        "geteuid",
        "getgid",
        "getloadavg",
        "getpgid",
        "getuid",
        "killpg",
        "mkfifo",
        "nice",
    }
    | {"sched_getaffinity", "sched_setaffinity", "setpgid", "setsid", "statvfs", "sysconf", "times", "uname", "wait4"},
    "signal": {
        "SIGALRM",
        "SIGHUP",
        "SIGKILL",
        "SIGPIPE",
        "SIGUSR1",
        "SIGUSR2",
        "alarm",
        "pause",
        "setitimer",
        "sigwait",
    },
    "socket": {"AF_UNIX"},
    "time": {"tzset", "clock_gettime", "CLOCK_PROCESS_CPUTIME_ID"},
}
IMPORT_EVERYTHING = f"""
import importlib, pkgutil, sys
import recuse

def import_all():
    for found in pkgutil.walk_packages(recuse.__path__, "recuse."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)

import_all()  # brings the other packages, which look at the platform themselves
for name in [name for name in sys.modules if name.startswith("recuse.")]:
    del sys.modules[name]
for name in {sorted(POSIX_MODULES)!r}:
    sys.modules[name] = None  # importing it now fails
sys.modules["msvcrt"] = type(sys)("msvcrt")
sys.platform = "win32"
import_all()
print("all imported")
"""


def run(code, **variables):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=LIMIT, env=os.environ | variables
    )


def test_every_module_is_imported_without_what_windows_lacks():
    result = run(IMPORT_EVERYTHING)
    assert result.stdout.strip() == "all imported", result.stderr


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_no_module_uses_what_windows_lacks(path):
    used = [
        f"{node.value.id}.{node.attr}"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.attr in POSIX_ATTRIBUTES.get(node.value.id, ())
    ]
    assert used == []


class Locks(types.ModuleType):
    """Stands for the module msvcrt: locks of bytes, which belong to an open file."""

    LK_NBLCK = 2

    def __init__(self):
        super().__init__("msvcrt")
        self.held = set()

    def locking(self, descriptor, mode, n_bytes):
        assert (mode, n_bytes) == (self.LK_NBLCK, 1)
        file = os.fstat(descriptor).st_ino
        if file in self.held:
            raise PermissionError(13, "Permission denied")
        self.held.add(file)


@pytest.fixture
def windows(monkeypatch):
    """Loads a copy of a module as it would be on Windows."""
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", Locks())

    def load(name):
        package, _, stem = name.rpartition(".")
        path = SOURCE.joinpath(*name.split(".")[1:]).with_suffix(".py")
        spec = importlib.util.spec_from_file_location(f"{package}.{stem}_on_windows", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


def test_files_are_written_whole_without_locks_of_files(windows, tmp_path, monkeypatch):
    files = windows("recuse.persistence.files")
    replaced = []

    def replace(source, target):
        # What is open cannot be renamed there: nothing of this process may hold it now.
        held = {os.path.realpath(link) for link in Path("/proc/self/fd").glob("*")} if Path("/proc").is_dir() else set()
        assert os.path.realpath(source) not in held
        replaced.append(target)
        os.rename(source, target)

    monkeypatch.setattr(files.os, "replace", replace)
    target = tmp_path / "model.skops"
    stale = tmp_path / f".model.skops.{'0' * 16}.tmp"
    stale.write_bytes(b"half")
    files.write_whole(target, b"one")
    files.write_whole(target, b"two")
    assert target.read_bytes() == b"two"
    assert replaced == [target, target]
    assert [path.name for path in tmp_path.iterdir()] == ["model.skops"]
    with pytest.raises(TypeError), files.open_whole(target) as file:
        file.write(None)
    assert target.read_bytes() == b"two"
    assert [path.name for path in tmp_path.iterdir()] == ["model.skops"]


def test_a_folder_of_answers_is_held_by_one_run(windows, tmp_path):
    staging = windows("recuse.answering.staging")
    staging.hold = windows("recuse.persistence.locking").hold
    first, second = (staging.Stage(tmp_path / "answers", request, None) for request in ("a" * 64, "b" * 64))
    with first.opened():
        (first.answers / "part.0.parquet").write_bytes(b"answers")
        with pytest.raises(BlockingIOError, match="is being written by another run"), second.opened():
            pass
        first.publish(first.answers, Answered(1, 0, 0))
    assert first.finished() == Answered(1, 0, 0)
    assert [path.name for path in tmp_path.iterdir()] == ["answers"]


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_names_that_the_output_cannot_spell_are_printed_with_escapes(tmp_path, encoding):
    rows = "\n".join(f"{i},{'ja' if i % 3 else 'nein'}" for i in range(40))
    (tmp_path / "table.csv").write_text(f"年収,結果\n{rows}\n", encoding="utf-8")
    code = "import sys; from recuse.__main__ import main; sys.argv = ['recuse', 'check', sys.argv[1]]; main()"
    result = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "table.csv")],
        capture_output=True,
        timeout=LIMIT,
        env=os.environ | {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"},
    )
    assert b"Traceback" not in result.stderr, result.stderr.decode(encoding)
    assert "年収".encode("unicode_escape") in result.stdout
