"""The end of a process that belongs to the library: the command, or one of its workers."""

from __future__ import annotations

import atexit
import gc
from functools import cache


@cache
def end_at_once() -> None:
    """Spare this process the last looks for garbage: with the libraries that a fit loads they take half a second."""
    atexit.register(gc.freeze)
