"""Compiling without Python's garbage collector, which looks for garbage where there is none yet."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from types import ModuleType
from typing import Any

_lock = threading.Lock()
_pauses = 0  # blocks that want the collector paused
_was_on = False  # before the first of them
_prepared: set[str] = set()  # modules whose functions pause it


@contextmanager
def collector_paused() -> Iterator[None]:
    """Keep the collector from running during the block; blocks may nest, and overlap in other threads."""
    global _pauses, _was_on
    with _lock:
        if _pauses == 0:
            _was_on = gc.isenabled()
            gc.disable()
        _pauses += 1
    try:
        yield
    finally:
        with _lock:
            _pauses -= 1
            if _pauses == 0 and _was_on:
                gc.enable()


def without_collector(loops: ModuleType) -> ModuleType:
    """Return a module of compiled functions, which from now on compile while the collector is paused.

    The compiler makes so many objects that the collector goes through all those of the process several times during
    one first fit: a sixth of what that takes. It finds hardly anything: they are still in use.
    """
    with _lock:
        if loops.__name__ not in _prepared:
            _prepared.add(loops.__name__)
            for item in vars(loops).values():
                # Where the compiler is switched off these are plain functions.
                if hasattr(item, "py_func") and hasattr(item, "compile"):
                    item.compile = _paused(item.compile)
    return loops


def _paused(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, called while the collector is paused."""

    @wraps(function)
    def call(*args: Any) -> Any:
        with collector_paused():
            return function(*args)

    return call
