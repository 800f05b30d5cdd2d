"""The folder of a run, and the table it belongs to: results of one table are not mixed with those of another."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from ..persistence import write_whole
from ..persistence.files import MODEL_FILE
from .checkpoints import CACHE, remove_leftovers

RUN_FILE = "run.json"  # the last file of a finished run
REPORT_FILE = "report.html"
SEGMENTS_FILE = "segments.csv"  # only if segments were asked for
SUMMARY_FILE = "summary.json"  # what the report shows
RESULTS = (REPORT_FILE, "leaderboard.csv", "decisions.csv", SEGMENTS_FILE, MODEL_FILE, SUMMARY_FILE, RUN_FILE)
_OWNER_FILE = Path(CACHE) / "table.json"  # the first file of a run


def claim_folder(out: str | os.PathLike[str], name: str, table: str, overwrite: bool = False) -> Path:
    """Prepare the folder of a run on a table; refuse one that holds the results of another table.

    Parameters
    ----------
    out : path-like
        The folder; it is created if it does not exist.
    name, table : str
        Name and digest of the table.
    overwrite : bool, default=False
        Whether the results of another table may be deleted.
    """
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"out={os.fspath(out)!r} is a file: give a folder.")
    owner = _owner(folder)
    if owner is not None and owner.get("table") != table and _holds_results(folder):
        if not overwrite:
            raise FileExistsError(
                f"out={os.fspath(out)!r} holds the results of another table, {owner.get('name', 'unknown')!r}: give "
                "another folder, or replace them with --overwrite (in Python, overwrite=True)."
            )
        _remove_results(folder)
    (folder / CACHE).mkdir(parents=True, exist_ok=True)
    remove_leftovers(folder)
    write_whole(folder / _OWNER_FILE, json.dumps({"name": name, "table": table}).encode())
    return folder


def _holds_results(folder: Path) -> bool:
    """Whether a run has finished anything; one that was refused at once has only claimed the folder."""
    if any((folder / name).exists() for name in RESULTS):
        return True
    return any(path.is_file() and path != folder / _OWNER_FILE for path in (folder / CACHE).rglob("*"))


def _owner(folder: Path) -> dict[str, Any] | None:
    """Name and digest of the table whose results are in a folder; None where there are none."""
    if (folder / _OWNER_FILE).is_file():
        return read_json(folder / _OWNER_FILE)
    if (folder / RUN_FILE).is_file():  # somebody has removed the finished folds
        found = read_json(folder / RUN_FILE).get("data")
        return found if isinstance(found, dict) else {}
    return None


def read_json(path: Path) -> dict[str, Any]:
    """What a file says; nothing if it cannot be read."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _remove_results(folder: Path) -> None:
    """Delete what a run has written, and nothing else."""
    for name in RESULTS:
        (folder / name).unlink(missing_ok=True)
    shutil.rmtree(folder / CACHE, ignore_errors=True)
