"""Files that are written whole or not at all, and errors that say what is wrong with a file."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from .archive import ChangedError


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
    """Open a file to write in pieces; as with `write_whole`, it replaces the old one only if the block succeeds."""
    # Follow a link to the file it points to, as an ordinary write does.
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"path={os.fspath(path)!r} cannot be written: create the folder {target.parent} first.")
    if target.exists() and not target.is_file():
        raise IsADirectoryError(f"path={os.fspath(path)!r} is a folder or a device: give the name of a file.")
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:  # unlike a file of tempfile, it gets the usual permissions (umask)
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _make_rename_durable(target.parent)


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
