"""Progress of a command on standard error: a bar on a terminal, elsewhere a line now and then.

Nothing is shown of what is done within two seconds, and no line for longer where nobody has reported anything: what is
wrong with the input is found out meanwhile, and one line says it. RECUSE_PROGRESS=off shows nothing at all,
RECUSE_PROGRESS=lines lines on a terminal, too.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Report = Callable[[int, int | None, str], None]  # how much is done, of how much (None: nobody knows), and what is next
SETTING = "RECUSE_PROGRESS"
_PATIENCE = 2.0  # seconds
_LINES_APART = 15.0  # seconds between the first lines; later a tenth of the time so far


@contextmanager
def shown_work(what: str, *, quiet: bool = False, unit: str = "") -> Iterator[Report]:
    """Show how far the work of the block is; it reports to what this gives.

    Parameters
    ----------
    what : str
        What is being done, as in "comparing".
    quiet : bool, default=False
        Show nothing.
    unit : str, optional
        What is counted, as in "cases".
    """
    setting = os.environ.get(SETTING, "auto")
    if quiet or setting == "off":
        yield _ignore
        return
    kind = _Bar if setting != "lines" and sys.stderr.isatty() else _Lines
    shown = kind(what, unit)

    # A function, of which a copy is itself: whoever clones an estimator that reports copies what it reports to.
    def report(done: int, total: int | None, text: str) -> None:
        shown.report(done, total, text)

    try:
        yield report
    finally:
        shown.stop()


def _ignore(done: int, total: int | None, text: str) -> None:
    """Show nothing."""


class _Lines:
    """A line on standard error now and then, by a thread: long steps are told of, too."""

    def __init__(self, what: str, unit: str) -> None:
        self._what, self._unit = what, unit
        self._state: tuple[int, int | None, str] = (0, None, "")
        self._has_begun = False
        self._started, self._begun_with = time.monotonic(), 0
        self._stopped = threading.Event()
        threading.Thread(target=self._watch, daemon=True, name="recuse: progress").start()

    def report(self, done: int, total: int | None, text: str) -> None:
        """Take note of how far it is."""
        if self._state[1] is None:
            self._begun_with = done  # what an earlier run has left
        self._state, self._has_begun = (done, total, text), True

    def stop(self) -> None:
        """Show no more."""
        self._stopped.set()

    def _watch(self) -> None:
        wait = _PATIENCE
        while not self._stopped.wait(wait):
            elapsed = time.monotonic() - self._started
            if not self._has_begun and elapsed < _LINES_APART:
                continue
            print(f"recuse: {self._line(elapsed)}", file=sys.stderr, flush=True)
            wait = max(_LINES_APART, elapsed / 10)

    def _line(self, elapsed: float) -> str:
        done, total, text = self._state
        unit = f" {self._unit}" if self._unit else ""
        if total is None:
            count = f", {done:,}{unit}" if done else ""
            return f"{self._what}{count}, for {as_clock(elapsed)} so far"
        left = ""
        if done > self._begun_with:
            remaining = elapsed / (done - self._begun_with) * (total - done)
            left = f", about {as_clock(remaining)} left"
        last = f" ({text})" if text else ""
        return f"{self._what}: {done:,} of {total:,}{unit} in {as_clock(elapsed)}{left}{last}"


class _Bar:
    """A bar with the time left, from the first report or two seconds on."""

    def __init__(self, what: str, unit: str) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        columns = (
            TextColumn(what),
            BarColumn(),
            MofNCompleteColumn(),
            *([TextColumn(unit)] if unit else []),
            TimeElapsedColumn(),
            TextColumn("left"),
            # Folds take very different times: averaging over a long period steadies the estimate.
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
        )
        self._bar = Progress(*columns, console=Console(stderr=True), speed_estimate_period=600, transient=True)
        self._task = self._bar.add_task("", total=None)
        # Bad input prints one line and no bar.
        self._timer = threading.Timer(_PATIENCE, self._bar.start)
        self._timer.daemon = True
        self._timer.start()

    def report(self, done: int, total: int | None, text: str) -> None:
        """Move the bar."""
        self._bar.update(self._task, completed=done, total=total, description=text)

    def stop(self) -> None:
        """Take the bar away."""
        self._timer.cancel()
        self._timer.join()
        if self._bar.live.is_started:
            self._bar.stop()


def as_clock(seconds: float) -> str:
    """A length of time in two figures or so."""
    if seconds < 99:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 99 * 60 else f"{seconds / 3600:.1f} h"


def with_count(report: Report) -> Callable[[int], Any]:
    """What takes a count alone, of which nobody knows the end."""
    return lambda done: report(done, None, "")
