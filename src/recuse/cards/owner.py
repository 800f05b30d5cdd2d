"""What only the owner of a model can state: the questions, and a TOML file with the answers."""

from __future__ import annotations

import datetime
import os
import tomllib
from pathlib import Path
from typing import Any

from .figures import Document, Statement

# Section of the card -> name of each question -> the question.
QUESTIONS = {
    "purpose": {
        "owner": "Who is accountable for this model, and how can they be reached?",
        "date": "On which day was this card made, and which version of it is this?",
        "purpose": "What is decided with the answers, and about whom?",
        "users": "Who uses the answers, and who is affected by them without using them?",
        "not_for": "What must the model not be used for?",
        "rules": "Which laws, standards and assessments apply, and where are they filed?",
    },
    "data": {
        "origin": "Where do the cases come from, of which period, and on which basis may they be used?",
        "outcome": "How, when and by whom is the outcome of a case established?",
        "left_out": "Which cases and columns were left out before the table was made, and why?",
        "groups": "Which groups of people could be served worse, and how was that looked at?",
    },
    "prices": {
        "by": "Who set the prices?",
        "when": "When were they set, and when will they be looked at again?",
        "why": "How were they arrived at?",
    },
    "model": {
        "approved": "Who approved the model, its thresholds and its edits, and when?",
    },
    "oversight": {
        "reviewers": "Who reviews, how were they trained, and how much time do they have for a case?",
        "override": "May reviewers decide against the model, and what does it take?",
        "objection": "How can a person affected object to an answer, and who decides then?",
    },
    "monitoring": {
        "watched_by": "Who runs `recuse watch`, and how often?",
        "on_alarm": "Who is told of an alarm, who may stop the model, and what decides in its place?",
    },
}
_BEGINNING = """\
# What only the owner can state for `recuse card`. Write the answers between the quotation marks; what is left empty
# stands on the card as still to be stated. Quotation marks in an answer are written \\".
"""


def write_questions(path: str | os.PathLike[str]) -> None:
    """Write the questions for the owner into a TOML file with empty answers; a file that is there is kept.

    Parameters
    ----------
    path : path-like
        The file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from recuse.cards import write_questions
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "owner.toml"
    ...     write_questions(path)
    ...     path.read_text().splitlines()[-2:]
    ['# Who is told of an alarm, who may stop the model, and what decides in its place?', 'on_alarm = ""']
    """
    lines = [_BEGINNING]
    for section, questions in QUESTIONS.items():
        lines.append(f"[{section}]")
        lines += [f'# {question}\n{name} = ""' for name, question in questions.items()]
        lines.append("")
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write("\n".join(lines))
    except FileExistsError:
        raise FileExistsError(f"{os.fspath(path)} exists and may hold answers: give another name.") from None


def read_answers(path: str | os.PathLike[str] | None) -> Document:
    """Read the answers; a document without any where there is no file."""
    if path is None:
        return Document("owner", {})
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(f"owner={os.fspath(path)!r} is no file: `recuse card RUN --template FILE` writes one.")
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"owner={os.fspath(path)!r} cannot be read as TOML: {error}.") from None
    for section, answers in found.items():
        known = QUESTIONS.get(section)
        if known is None or not isinstance(answers, dict):
            raise ValueError(f"owner={os.fspath(path)!r} has {section!r}: the sections are {', '.join(QUESTIONS)}.")
        for name in answers:
            if name not in known:
                raise ValueError(
                    f"owner={os.fspath(path)!r} answers {name!r} in [{section}], where the questions are "
                    f"{', '.join(known)}."
                )
    plain = {
        section: {name: _plain(answer, f"{section}.{name}", path) for name, answer in answers.items()}
        for section, answers in found.items()
    }
    return Document(file.name, plain)


def _plain(answer: Any, name: str, path: Any) -> str | None:
    """An answer as text; None for an empty one."""
    if not isinstance(answer, str | datetime.date | int | float) or isinstance(answer, bool):
        raise ValueError(f"owner={os.fspath(path)!r}: {name} must be a text in quotation marks; got {answer!r}.")
    return str(answer).strip() or None


def statements(section: str, answers: Document) -> tuple[Statement, ...]:
    """The questions of a section with their answers."""
    asked = QUESTIONS.get(section, {})
    return tuple(Statement(question, answers.figure(section, name)) for name, question in asked.items())
