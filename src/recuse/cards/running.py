"""The files of a finished run, read once and found to belong together."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..comparison.folder import RESULTS, RUN_FILE, SUMMARY_FILE
from ..inspecting import inspect_model
from .figures import Cell, Document, Figure

MODEL_FILE = "model.skops"


@dataclass(frozen=True)
class RunFiles:
    """What the folder of a run holds.

    Attributes
    ----------
    folder : Path
        The folder.
    run, summary : Document
        `run.json` and `summary.json`.
    model : Document or None
        What `recuse inspect model.skops --json` prints; None where the run could not write its model.
    chosen : int
        Place of the method chosen in the leaderboard of the summary.
    digests : tuple of Figure
        SHA-256 of each file.
    """

    folder: Path
    run: Document
    summary: Document
    model: Document | None
    chosen: int
    digests: tuple[Figure, ...]

    @classmethod
    def of(cls, folder: str | os.PathLike[str]) -> RunFiles:
        """Read the folder; refuse one that holds no finished run, or files of several."""
        path = Path(folder)
        run, summary = _read(path, RUN_FILE), _read(path, SUMMARY_FILE)
        if run.at("data", "fingerprint") != summary.at("data", "fingerprint"):
            raise ValueError(
                f"run={os.fspath(folder)!r}: {RUN_FILE} and {SUMMARY_FILE} are about different tables: give the "
                "command of the run again."
            )
        classes = run.at("data", "classes") or []
        if len(classes) > 2:
            raise ValueError(
                f"run={os.fspath(folder)!r} is about {len(classes)} outcomes, and cards are for two: the report of the "
                "run has their figures."
            )
        leaderboard = summary.at("leaderboard") or []
        places = [place for place, row in enumerate(leaderboard) if row["method"] == run.at("winner")]
        if not places:
            raise ValueError(
                f"run={os.fspath(folder)!r}: the method chosen in {RUN_FILE}, {run.at('winner')!r}, is not in the "
                f"leaderboard of {SUMMARY_FILE}: give the command of the run again."
            )
        model = path / MODEL_FILE
        inspected = Document(f"recuse inspect {MODEL_FILE}", inspect_model(model)) if model.is_file() else None
        found = tuple(file_digest(path / name) for name in RESULTS if (path / name).is_file())
        return cls(path, run, summary, inspected, places[0], found)

    @property
    def model_path(self) -> Path:
        """The model of the run."""
        return self.folder / MODEL_FILE

    @property
    def title(self) -> Cell:
        """What the card is about."""
        return Cell((self.run.figure("data", "name"), self.run.figure("data", "target")), "Card of {}: {}")

    @property
    def row(self) -> tuple[Any, ...]:
        """The place of the method chosen, as the beginning of a pointer into the summary."""
        return ("leaderboard", self.chosen)


def file_digest(path: Path) -> Figure:
    """SHA-256 of a file."""
    return Figure(hashlib.sha256(path.read_bytes()).hexdigest(), f"{path.name}#sha256")


def _read(folder: Path, name: str) -> Document:
    try:
        found = json.loads((folder / name).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        found = None
    except (OSError, ValueError) as error:
        raise ValueError(f"run={os.fspath(folder)!r}: {name} cannot be read: {error}.") from None
    if not isinstance(found, dict):
        raise ValueError(
            f"run={os.fspath(folder)!r} holds no finished run ({name} is missing or empty): give the folder that "
            "`recuse compare --out` wrote."
        )
    return Document(name, found)
