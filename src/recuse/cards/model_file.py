"""A model file without a run: what `recuse fit` or `recuse update` wrote."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from zipfile import is_zipfile

from ..inspecting import inspect_model
from .figures import Cell, Document, Figure


@dataclass(frozen=True)
class FittedModel:
    """A model file.

    Attributes
    ----------
    model_path : Path
        The file.
    model : Document
        What `recuse inspect` prints of it with --json.
    """

    model_path: Path
    model: Document

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> FittedModel:
        """Read the file."""
        return cls(Path(path), Document(f"recuse inspect {Path(path).name}", inspect_model(path)))

    @property
    def title(self) -> Cell:
        """What the card is about."""
        return Cell((self.model.figure("file"),), "Card of the model {}")

    @property
    def digests(self) -> tuple[Figure, ...]:
        """SHA-256 of the file."""
        return (Figure(self.model.at("digest"), f"{self.model_path.name}#sha256"),)


def is_model_file(path: str | os.PathLike[str]) -> bool:
    """Whether a path is that of a model, not of a run."""
    return Path(path).is_file() and is_zipfile(path)
