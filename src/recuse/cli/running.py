"""Running a command: what it prints of errors, warnings and information, and its exit code."""

from __future__ import annotations

import io
import sys
import warnings
from typing import Any

from recuse.dask.faults import ClusterError
from recuse.ending import end_at_once
from recuse.extras import EXTRAS, missing

from .app import app
from .printing import fail


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: 0 done, 1 bad input with one line on standard error, 2 wrong usage."""
    warnings.showwarning = _show_warning
    end_at_once()
    _show_information()
    _print_any_character()
    try:
        app(args=arguments)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        fail(missing(package, "The recuse command") if package in EXTRAS else str(error), 1)
    except (ValueError, TypeError, OSError, ImportError, ClusterError) as error:
        fail(" ".join(str(error).split()) or type(error).__name__, 1)


def _print_any_character() -> None:
    """Let names that the output cannot spell (a file or pipe in a national encoding) appear with escapes instead."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    print(f"recuse: warning: {' '.join(str(message).split())}", file=sys.stderr)


def _show_information() -> None:
    """Let what the library has to say, such as which outcome is positive, appear on standard error."""
    import logging

    told: set[str] = set()  # some commands read a table twice

    class ToStandardError(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if (text := record.getMessage()) not in told:
                told.add(text)
                print(f"recuse: {text}", file=sys.stderr)

    for name in ("recuse.comparison", "recuse.ensemble", "recuse.tables"):
        logger = logging.getLogger(name)
        logger.setLevel(logging.INFO)
        logger.handlers = [ToStandardError()]
