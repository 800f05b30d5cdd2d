"""The folder that answers go to: prepared beside it, put in its place at the end, continued where it was interrupted.

Beside the folder ``out`` there are, while a run is under way or after it was interrupted, ``.out.answering`` with the
finished files, in a folder of the request that they are for, and for a moment ``.out.replaced``, which is the old
``out`` until the new one has its name.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..persistence import write_whole
from ..persistence.locking import hold
from .counts import Answered

MARKER = "_recuse.json"  # in a finished folder: which answers it holds; readers of datasets pass such names over
_LOCK = "lock"


class Stage:
    """Where the answers to one table are prepared.

    Parameters
    ----------
    out : Path
        The folder that they go to.
    request : str
        Digest of the model, the table and the options: what was prepared for another request is not used.
    capacity : int or None
        How many rejected cases can be reviewed.
    """

    def __init__(self, out: Path, request: str, capacity: int | None) -> None:
        self.out, self._wanted = out, {"request": request, "capacity": capacity}
        self.root = out.with_name(f".{out.name}.answering")
        self._replaced = out.with_name(f".{out.name}.replaced")
        # A task of a run that has ended may still write on some worker: what is for another request, or places in the
        # queue of another capacity, have paths of their own, so that they are never published.
        self._work = self.root / request[:32]
        self.answers, self._ranked = self._work / "answers", self._work / f"ranked.{capacity}"

    def finished(self) -> Answered | None:
        """The counts in the marker of a folder that holds just these answers; None for any other."""
        self._recover()
        found = _read(self.out / MARKER)
        if found is None or {key: found.get(key) for key in self._wanted} != self._wanted:
            return None
        return Answered(**found["answered"])

    def require_free(self, overwrite: bool) -> None:
        """Refuse a folder that holds anything else, unless it may be replaced."""
        if self.out.exists() and not self.out.is_dir():
            raise NotADirectoryError(f"out={os.fspath(self.out)!r} is a file: answers to a folder go to a folder.")
        if not self.out.parent.is_dir():
            raise FileNotFoundError(f"out={os.fspath(self.out)!r} cannot be written: create {self.out.parent} first.")
        if self.out.is_dir() and any(self.out.iterdir()) and not overwrite:
            held = "answers of another model, table or capacity" if (self.out / MARKER).is_file() else "other files"
            raise FileExistsError(
                f"out={os.fspath(self.out)!r} holds {held}: give another folder, or replace it with --overwrite (in "
                "Python, overwrite=True)."
            )

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Hold the stage for this run alone; keep what an interrupted run of the same request has finished."""
        self.root.mkdir(exist_ok=True)
        with open(self.root / _LOCK, "ab") as lock:
            _hold(lock, self.out)
            for other in self.root.iterdir():
                if other not in (self._work, self.root / _LOCK):
                    shutil.rmtree(other, ignore_errors=True)
            for ranked in self._work.glob("ranked.*"):
                shutil.rmtree(ranked, ignore_errors=True)
            self.answers.mkdir(parents=True, exist_ok=True)
            yield
        if sys.platform == "win32" and not self._work.exists():  # published: it does not delete a lock that is open
            shutil.rmtree(self.root, ignore_errors=True)

    @property
    def ranked(self) -> Path:
        """Where the answers with their places in the queue go; it is made when it is asked for."""
        self._ranked.mkdir(exist_ok=True)
        return self._ranked

    def publish(self, folder: Path, answered: Answered) -> None:
        """Put a folder of answers in the place of `out`; the old one exists, whole, until the new one has its name."""
        write_whole(folder / MARKER, json.dumps(self._wanted | {"answered": asdict(answered)}).encode())
        if self.out.is_dir():
            os.rename(self.out, self._replaced)
        os.rename(folder, self.out)
        shutil.rmtree(self._replaced, ignore_errors=True)
        shutil.rmtree(self.root, ignore_errors=True)

    def _recover(self) -> None:
        """End what a run that was killed between two renames began."""
        if self._replaced.is_dir():
            if self.out.exists():
                shutil.rmtree(self._replaced, ignore_errors=True)
            else:
                os.rename(self._replaced, self.out)


def _hold(lock: Any, out: Path) -> None:
    """Lock a file as long as it is open; a second run to the same folder is refused."""
    try:
        hold(lock)
    except BlockingIOError:
        raise BlockingIOError(
            f"out={os.fspath(out)!r} is being written by another run: wait for it, or give another folder."
        ) from None


def _read(path: Path) -> dict[str, Any] | None:
    with suppress(OSError, ValueError):
        found = json.loads(path.read_bytes())
        return found if isinstance(found, dict) else None
    return None
