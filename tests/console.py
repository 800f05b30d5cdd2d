"""Run what a page shows and write what it prints: ``python -m tests.console docs/tutorial.md``.

A page is run from top to bottom in one folder. Blocks marked ``console`` hold a line ``$ recuse ...`` and its output;
blocks marked ``python`` are run as they stand, or, where they have prompts, as doctests with their output.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
# On any machine: one thread, one width of the terminal, no colours.
SETTINGS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "COLUMNS": "120", "NO_COLOR": "1"}
PROGRESS = re.compile(
    r"^recuse: .*\b\d+ (?:s|min|h)\b.*\n", flags=re.MULTILINE
)  # how far it is, and how long it will take
SECONDS = re.compile(r" +\d+\.\d\d +\d+\.\d\d$", flags=re.MULTILINE)  # the last two columns of a leaderboard


def run_page(text: str, folder: Path) -> str:
    """Run every block of a page in a folder; return the page with what was printed, where that differs."""
    names: dict[str, object] = {}
    before = Path.cwd()
    os.chdir(folder)
    try:
        return BLOCK.sub(lambda block: f"```{block[1]}\n{_run(block[1], block[2], names)}```", text)
    finally:
        os.chdir(before)


def _run(kind: str, body: str, names: dict[str, object]) -> str:
    if kind == "console":
        command, _, shown = body.partition("\n")
        return f"{command}\n{_kept(shown, _command(command))}"
    if ">>>" in body:
        return _snippets(body, names)
    exec(compile(body, "<page>", "exec"), names)
    return body


def _command(line: str) -> str:
    """What a command prints, to both streams in the order in which people see it."""
    program, *arguments = shlex.split(line.removeprefix("$ "))
    assert program == "recuse", line
    done = subprocess.run(
        [sys.executable, "-m", "recuse", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        env=os.environ | SETTINGS,
    )
    assert done.returncode in (0, 3), done.stdout
    return SECONDS.sub(" ...", PROGRESS.sub("", done.stdout))


def _snippets(body: str, names: dict[str, object]) -> str:
    parts = []
    for example in doctest.DocTestParser().get_examples(body):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(example.source, "<page>", "single"), names)
        prompt = example.source.rstrip("\n").replace("\n", "\n... ")
        parts.append(f">>> {prompt}\n{_kept(example.want, printed.getvalue())}")
    return "".join(parts)


def _kept(shown: str, printed: str) -> str:
    """What the page shows, if it is what was printed; else what was printed."""
    lines = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
    return shown if doctest.OutputChecker().check_output(shown, lines, FLAGS) else lines


if __name__ == "__main__":
    for name in sys.argv[1:]:
        page = Path(name).resolve()
        with tempfile.TemporaryDirectory() as target:
            page.write_text(run_page(page.read_text(encoding="utf-8"), Path(target)), encoding="utf-8")
