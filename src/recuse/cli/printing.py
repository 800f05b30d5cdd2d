"""What all commands print alike: progress, JSON, errors."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from .terminal import Report, shown_work


@contextmanager
def progress(what: str, *, quiet: bool = False, resumes: bool = False, unit: str = "") -> Iterator[Report]:
    """Progress on standard error; an interrupt is one line."""
    with shown_work(what, quiet=quiet, unit=unit) as report:
        try:
            yield report
            return
        except KeyboardInterrupt:
            pass
    fail("interrupted; the same command resumes where it stopped." if resumes else "interrupted.", 130)


def names_of(given: list[str] | None) -> list[str]:
    """Names separated by commas, from an option that may be repeated."""
    return [name.strip() for part in given or [] for name in part.split(",") if name.strip()]


def print_json(data: Any) -> None:
    """Print one JSON object to standard output."""
    import json

    print(json.dumps(data, default=str))


def fail(text: str, code: int) -> NoReturn:
    """Print one line on standard error and exit."""
    print(f"recuse: {text}", file=sys.stderr)
    sys.exit(code)
