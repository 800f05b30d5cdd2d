"""Locks between processes, held as long as a file is open: a process that is killed holds none."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_PAUSE = 0.05  # seconds between two attempts


def hold(file: Any, *, patience: float = 0.0) -> None:
    """Lock an open file for this process alone.

    Parameters
    ----------
    file : file
        Opened to write.
    patience : float, default=0
        How many seconds to wait for another process that holds it.

    Raises
    ------
    BlockingIOError
        Another process holds it. On a file system without locks nothing is held, and nothing is raised.
    """
    deadline = time.monotonic() + patience
    while True:
        try:
            _lock_at_once(file)
            return
        except (BlockingIOError, PermissionError):  # Linux and macOS; Windows
            if time.monotonic() >= deadline:
                raise BlockingIOError(f"{os.fspath(file.name)} is held by another process.") from None
            time.sleep(_PAUSE)
        except OSError:  # a file system without locks
            return


def _lock_at_once(file: Any) -> None:
    if sys.platform == "win32":
        file.seek(0)  # it locks from the position of the file
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
