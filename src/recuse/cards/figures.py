"""Figures and the places they are from: a card takes values out of documents, and every value keeps its source.

A document is a file, or what a command prints of one. A source names it and, behind "#", the place in it as a JSON
pointer (RFC 6901): ``summary.json#/leaderboard/0/cost``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

NUMBER, SHARE, TEXT = "number", "share", "text"  # how a figure is written for people
INTERVAL = "{} [{}, {}]"
_NOTHING = object()


@dataclass(frozen=True)
class Figure:
    """A value, where it is from, and how it is written."""

    value: Any
    source: str
    form: str = TEXT

    def as_dict(self) -> dict[str, Any]:
        """Value and source."""
        return {"value": self.value, "source": self.source}

    @property
    def text(self) -> str:
        """The value for people."""
        if self.value is None or self.value in ("", {}):
            return "none"
        if isinstance(self.value, list):
            return ", ".join(map(str, self.value)) or "none"
        if isinstance(self.value, bool):
            return "yes" if self.value else "no"
        if isinstance(self.value, int | float):
            return _written(self.value, self.form)
        return " ".join(str(self.value).split())


def _written(value: float, form: str) -> str:
    if form == SHARE:
        return f"{value:.1%}"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"


@dataclass(frozen=True)
class Cell:
    """Words with figures in them, each at its "{}"; or words alone."""

    figures: tuple[Figure, ...] = ()
    words: str = "{}"

    def filled(self, write: Any) -> str:
        """The words with the text of each figure, as `write` writes it."""
        if not self.figures:
            return str(write(self.words))
        return self.words.format(*(write(figure.text) for figure in self.figures))

    def as_dict(self) -> dict[str, Any]:
        """The text, and the figures with their sources."""
        return {"text": self.filled(str), "figures": [figure.as_dict() for figure in self.figures]}


def words(text: str) -> Cell:
    """Words without a figure."""
    return Cell(words=text)


@dataclass(frozen=True)
class Document:
    """What a file holds, or what a command prints of it.

    Attributes
    ----------
    name : str
        Name of the file, or the command.
    content : object
        As JSON, CSV rows or TOML are read.
    """

    name: str
    content: Any

    def has(self, *path: Any) -> bool:
        """Whether there is anything at a place, be it null."""
        return self._find(path) is not _NOTHING

    def at(self, *path: Any) -> Any:
        """What is at a place; None where there is nothing."""
        found = self._find(path)
        return None if found is _NOTHING else found

    def _find(self, path: tuple[Any, ...]) -> Any:
        found = self.content
        for step in path:
            try:
                found = found[step]
            except (KeyError, IndexError, TypeError):
                return _NOTHING
        return found

    def figure(self, *path: Any, form: str = TEXT) -> Figure:
        """The value at a place, with its source."""
        return Figure(self.at(*path), f"{self.name}#{pointer(path)}", form)

    def cell(self, *path: Any, form: str = TEXT, text: str = "{}") -> Cell:
        """The value at a place, alone in its cell."""
        return self.together([path], form, text)

    def limits(self, *path: Any, form: str = NUMBER) -> Cell:
        """A value with its limits, as `name`, `name_low` and `name_high`."""
        *parent, name = path
        names = (name, f"{name}_low", f"{name}_high")
        return self.together([(*parent, each) for each in names], form, INTERVAL)

    def triple(self, *path: Any, steps: tuple[Any, ...] = (0, 1, 2), form: str = NUMBER) -> Cell:
        """A value with its limits, which stand side by side."""
        return self.together([(*path, step) for step in steps], form, INTERVAL)

    def together(self, paths: Sequence[tuple[Any, ...]], form: str, text: str) -> Cell:
        """The values at several places; words where there is nothing, since a source must lead somewhere."""
        if not all(self.has(*path) for path in paths):
            return words("not kept")
        return Cell(tuple(self.figure(*path, form=form) for path in paths), text)


def pointer(path: tuple[Any, ...]) -> str:
    """A place as a JSON pointer."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


@dataclass(frozen=True)
class FactTable:
    """Rows of cells; where each is from is a column of its own when it is written."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def as_dict(self) -> dict[str, Any]:
        """Columns, and rows of cells."""
        return {"columns": list(self.columns), "rows": [[cell.as_dict() for cell in row] for row in self.rows]}


def facts(rows: dict[str, Cell]) -> FactTable:
    """A table of named facts."""
    return FactTable(("", "value"), tuple((words(name), cell) for name, cell in rows.items()))


@dataclass(frozen=True)
class Statement:
    """A question that only the owner can answer, and the answer where there is one."""

    question: str
    answer: Figure

    @property
    def stated(self) -> bool:
        """Whether there is an answer."""
        return self.answer.value is not None

    def as_dict(self) -> dict[str, Any]:
        """Question, whether it is answered, and the answer with its source."""
        return {"question": self.question, "stated": self.stated, **self.answer.as_dict()}


@dataclass(frozen=True)
class Section:
    """A part of the card."""

    name: str
    title: str
    tables: tuple[FactTable, ...] = ()
    notes: tuple[Cell, ...] = ()
    statements: tuple[Statement, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Everything, in plain texts and numbers."""
        return {
            "name": self.name,
            "title": self.title,
            "statements": [statement.as_dict() for statement in self.statements],
            "tables": [table.as_dict() for table in self.tables],
            "notes": [note.as_dict() for note in self.notes],
        }
