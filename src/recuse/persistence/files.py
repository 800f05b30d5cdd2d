"""Files that are written whole or not at all, and errors that say what is wrong with a file."""

from __future__ import annotations

import glob
import os
import secrets
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from .archive import ChangedError

if sys.platform != "win32":
    import fcntl

_SUFFIX = ".tmp"
MODEL_FILE = "model.skops"  # the model in the folder of a run


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file so that a reader, or a crash, finds the old content or the new one and nothing in between.

    Parameters
    ----------
    path : str or path-like
        The file; its folder must exist. A new file gets the usual permissions, an existing one keeps its own.
    data : bytes
        The whole content.
    """
    with open_whole(path) as file:
        file.write(data)


@contextmanager
def open_whole(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file to write in pieces; as with `write_whole`, it replaces the old one only if the block succeeds.

    What an earlier writer of the same file left behind when it was killed is removed.
    """
    target = writable(path)
    remove_stale(target.parent.glob(f".{glob.escape(target.name)}.{'[0-9a-f]' * 16}{_SUFFIX}"))
    temporary, file, lock = _create_temporary(target)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        lock.close()
    _make_rename_durable(target.parent)


def writable(path: str | os.PathLike[str]) -> Path:
    """The file that a path names, which may be there or not; refuse a folder, and a file in none."""
    # Follow a link to the file it points to, as an ordinary write does.
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"path={os.fspath(path)!r} cannot be written: create the folder {target.parent} first.")
    if target.exists() and not target.is_file():
        raise IsADirectoryError(f"path={os.fspath(path)!r} is a folder or a device: give the name of a file.")
    return target


def remove_stale(paths: Iterable[Path]) -> None:
    """Delete unfinished files whose writer was killed; those that are being written stay."""
    for path in paths:
        with suppress(OSError):  # it is locked by its writer, or another process was faster
            if sys.platform == "win32":  # it does not delete what is open
                path.unlink()
                continue
            with open(path, "r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()


def _create_temporary(target: Path) -> tuple[Path, BinaryIO, BinaryIO]:
    """Create a file beside the target; the second handle keeps it locked until the file has its final name."""
    while True:
        path = target.with_name(f".{target.name}.{secrets.token_hex(8)}{_SUFFIX}")
        # Unlike a file of tempfile, it gets the usual permissions (umask).
        file = open(path, "xb")  # noqa: SIM115  # the caller closes it
        if sys.platform == "win32":  # it does not rename what is open, and does not delete it
            return path, file, file
        lock = os.fdopen(os.dup(file.fileno()), "wb")
        with suppress(OSError):  # a file system without locks, where nothing is taken for stale either
            fcntl.flock(lock, fcntl.LOCK_EX)
        if path.exists():  # before it was locked, another process may have taken it for stale
            return path, file, lock
        file.close()
        lock.close()


def _make_rename_durable(folder: Path) -> None:
    # The new file is complete and in place: a system that cannot sync a folder has not failed.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read_whole(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file that `save` wrote."""
    model = Path(path) / MODEL_FILE
    if model.is_file():
        raise IsADirectoryError(f"path={os.fspath(path)!r} is the folder of a run: give the model in it, {model}.")
    if not Path(path).is_file():  # reading from a device or a pipe might never end
        state = "is a folder or a device" if Path(path).exists() else "does not exist"
        raise FileNotFoundError(f"path={os.fspath(path)!r} {state}: give the file that save wrote.")
    return Path(path).read_bytes()


@contextmanager
def as_damaged(path: str | os.PathLike[str]) -> Iterator[None]:
    """Report any failure while a file is taken apart as: not a model, or a damaged one."""
    try:
        yield
    except ChangedError as error:
        raise ValueError(
            f"{os.fspath(path)} was changed or damaged after it was saved ({error}): take the file as it was saved, or "
            "fit and save the model again."
        ) from error
    except Exception as error:
        raise ValueError(f"{os.fspath(path)} is not a model saved by recuse.save, or it is damaged.") from error
