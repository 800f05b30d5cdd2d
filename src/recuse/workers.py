"""Worker processes that do not outlive the process they work for."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any

from joblib import delayed

WATCH = "recuse: end with the parent"  # name of the thread
_WATCH_SECONDS = 0.5


def delayed_child(function: Callable[..., Any]) -> Callable[..., Any]:
    """Joblib's `delayed`, for a function whose worker process ends soon after this process does."""
    parent = os.getpid()

    def call(*args: Any, **kwargs: Any) -> Any:
        return delayed(_run)(parent, function, *args, **kwargs)

    return call


def _run(parent: int, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    if os.getppid() == parent:  # a worker of that process: not the process itself, nor a worker started by another one
        _end_with(parent)
    elif not _is_running(parent):  # killed while this worker was starting: nobody waits for the result
        os._exit(1)
    return function(*args, **kwargs)


def _is_running(process: int) -> bool:
    if os.name != "posix":
        return True  # there the signal 0 would end the process
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it belongs to another user
        pass
    return True


@cache
def _end_with(parent: int) -> None:
    """End this process soon after its parent, even if the parent was killed and could not tell it to."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH_SECONDS)
        os._exit(1)

    if os.name == "posix":  # elsewhere an idle worker ends after a timeout
        threading.Thread(target=watch, daemon=True, name=WATCH).start()
