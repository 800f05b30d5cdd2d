"""The card of a run."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..persistence import write_whole
from . import describing, fitted, performance
from .figures import Cell, Section, words
from .markdown import render
from .model_file import FittedModel, is_model_file
from .oversight import Oversight, monitoring, without_log
from .owner import QUESTIONS, read_answers, statements
from .running import RunFiles, file_digest

FORMAT = 1


@dataclass(frozen=True)
class Card:
    """What auditors read of a model: made from the files of a run, the log of reviews and the owner's statements.

    Attributes
    ----------
    title : Cell
        What it is about.
    sections : tuple of Section
        Its parts, in their order.
    alarms : tuple of Cell
        Alarms of the watch, which the card begins with.
    """

    title: Cell
    sections: tuple[Section, ...]
    alarms: tuple[Cell, ...] = ()

    @property
    def to_be_stated(self) -> int:
        """How many questions the owner has not answered."""
        return sum(not statement.stated for section in self.sections for statement in section.statements)

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain texts and numbers, each figure with "value" and "source", for JSON."""
        return {
            "format": FORMAT,
            "title": self.title.as_dict(),
            "to_be_stated": self.to_be_stated,
            "alarms": [alarm.as_dict() for alarm in self.alarms],
            "sections": [section.as_dict() for section in self.sections],
        }

    def markdown(self) -> str:
        """The card as Markdown; texts from files and from the owner show as they are and cannot become markup."""
        lacking = self.to_be_stated
        stated = (
            f"Still to be stated by the owner: {lacking} of {self._asked} questions."
            if lacking
            else "The owner has answered every question."
        )
        sources = (
            "Every figure names its source: a file and the place in it as a JSON pointer, or the command that prints "
            "it. A count of cases given to reviewers names the conditions that they fulfil, in the log with the head "
            "below."
        )
        return render(self.title, [*self.alarms, words(stated), words(sources)], self.sections)

    @property
    def _asked(self) -> int:
        return sum(len(section.statements) for section in self.sections)


def make_card(
    run: str | os.PathLike[str],
    *,
    log: str | os.PathLike[str] | None = None,
    owner: str | os.PathLike[str] | None = None,
    head: str | None = None,
    promises: Any = None,
    alpha: float = 0.05,
    reference: int = 500,
    name_reviewers: bool = False,
) -> Card:
    """Make the card of a run: everything that its files, the log of reviews and the owner say, with its source.

    Parameters
    ----------
    run : path-like
        The folder that `recuse compare --out` wrote, or a model file, such as one of `recuse fit`.
    log : path-like, optional
        The log of reviews of its model.
    owner : path-like, optional
        The TOML file with the owner's statements; `write_questions` writes an empty one.
    head : str, optional
        A head of the log that was kept elsewhere: the log must hold that record.
    promises, alpha, reference
        As of `recuse.watching.watch_model`.
    name_reviewers : bool, default=False
        Whether reviewers are named. They are numbered otherwise.

    Returns
    -------
    Card

    Examples
    --------
    >>> import recuse
    >>> from recuse.cards import make_card
    >>> result = recuse.compare("loans.csv", "default", positive="bad", out="run")  # doctest: +SKIP
    >>> card = make_card("run", log="reviews.jsonl", owner="owner.toml")  # doctest: +SKIP
    >>> print(card.markdown())  # doctest: +SKIP
    """
    files = FittedModel.of(run) if is_model_file(run) else RunFiles.of(run)
    answers = read_answers(owner)
    oversight = None if log is None else Oversight.of(log, files, head=head, name_reviewers=name_reviewers)
    alarms: tuple[Cell, ...] = ()
    if oversight is None:
        used = without_log()
    else:
        watched, alarms = monitoring(oversight, files, promises=promises, alpha=alpha, reference=reference)
        used = (oversight.section(), watched)
    others = tuple(file_digest(Path(path)) for path in (log, owner) if path is not None)
    described, limits = _described(files, log=oversight is not None)
    sections = (
        Section("purpose", "Purpose"),
        *described,
        *used,
        limits,
        describing.origins(files, others, None if oversight is None else oversight.head),
    )
    asked = {section.name: statements(section.name, answers) for section in sections}
    assert set(QUESTIONS) <= set(asked)
    sections = tuple(replace(section, statements=asked[section.name]) for section in sections)
    return Card(files.title, sections, alarms)


def _described(files: RunFiles | FittedModel, log: bool) -> tuple[tuple[Section, ...], Section]:
    """What the files of a run say, or a model file alone; and what was not looked at."""
    if isinstance(files, FittedModel):
        return fitted.sections(files), fitted.limits(files, log)
    sections = (
        describing.data(files),
        describing.prices(files),
        describing.model(files),
        performance.performance(files),
        performance.groups(files),
        performance.calibration(files),
        performance.guarantee(files),
    )
    return sections, describing.limits(files, log)


def write_card(card: Card, path: str | os.PathLike[str]) -> Path:
    """Write a card as Markdown, and as JSON beside it; files of these names are replaced.

    Parameters
    ----------
    card : Card
        The card.
    path : path-like
        The Markdown file, such as "card.md".

    Returns
    -------
    Path
        The JSON file.

    Examples
    --------
    >>> from recuse.cards import make_card, write_card
    >>> write_card(make_card("run"), "card.md")  # doctest: +SKIP
    PosixPath('card.json')
    """
    markdown = Path(path)
    plain = markdown.with_suffix(".json")
    if plain == markdown:
        raise ValueError(f"path={os.fspath(path)!r} is where the JSON of the card goes: give a name such as card.md.")
    write_whole(plain, (json.dumps(card.as_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode())
    write_whole(markdown, card.markdown().encode())
    return plain
