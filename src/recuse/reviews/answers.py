"""Answers as `recuse predict` wrote them: counts and scores of all, and what is known of some."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..answering import MODEL_DIGEST
from ..arrays import Flags, Floats, Indices
from ..decisions import KINDS
from ..labels import REJECT_TEXT, preview
from ..persistence.models import digest_mark
from ..tables import is_dataset, read_chunks, restored
from .classes import as_class, as_text

_NEEDED = ("case", "decision", "kind", "forced", "r")
_SCORES = ("probability", "h", "r")


def models_named(answers: Any) -> set[str]:
    """What a frame of answers says of the model files that gave them; nothing is an empty text."""
    if MODEL_DIGEST not in answers.columns or MODEL_DIGEST in _kept_columns(answers):
        return {""}
    return {as_text(value) for value in answers[MODEL_DIGEST].unique()}


def require_made_by(named: str, digest: str, answers: Any, model: Any) -> None:
    """Refuse answers of another model; warn where they do not say which model gave them.

    Parameters
    ----------
    named : str
        What the answers say.
    digest : str
        That of the model file.
    answers, model : path-like
        The files, for messages.
    """
    if named == digest_mark(digest):
        return
    if named:
        raise ValueError(
            f"The answers {os.fspath(answers)} are those of another model: they name {named}, and {os.fspath(model)} "
            f"is {digest_mark(digest)}. Give the model that made them, or let this one answer the table "
            "(recuse predict)."
        )
    warnings.warn(
        f"The answers {os.fspath(answers)} do not say which model made them: that it was {os.fspath(model)} is taken "
        "on trust. Answer the table again with `recuse predict`, and it is checked.",
        UserWarning,
        stacklevel=3,
    )


def are_answers(columns: Iterable[Any]) -> bool:
    """Whether a table with these columns holds answers."""
    return set(_NEEDED) <= set(map(str, columns))


class AnswerTable:
    """A file of answers, or a folder of Parquet files.

    Parameters
    ----------
    path : path-like
        What `recuse predict` wrote, in any of its formats.
    classes, positive
        Classes of the model, and the positive one: what `probability` speaks of.

    Attributes
    ----------
    kept : list of str
        Columns of the table that were kept beside the answers.
    numbers : ndarray of int
        Numbers of the cases.
    rejected : ndarray of bool
        Which cases were rejected.
    r : ndarray
        Acceptance scores.
    counts : dict
        "cases", "accepted", "ambiguity" and "novelty".
    model_digest : str
        What the answers say of the model file that gave them; empty where they do not say.
    expected_error : float or None
        Mean probability among the accepted cases that the answer is wrong, as the model sees it: no verdict is needed
        for it. None where the file has no probabilities.
    """

    def __init__(self, path: str | os.PathLike[str], classes: Sequence[Any] = (), positive: Any = None) -> None:
        self.path = Path(path)
        kinds, scores, expected, self.kept = [], [], [], []
        named: set[str] = set()
        numbers = []
        for chunk in self._chunks():
            self.kept = _kept_columns(chunk)
            named |= models_named(chunk)
            numbers.append(chunk["case"].astype(np.int64).to_numpy())
            kinds.append(chunk["kind"].astype(str).to_numpy())
            scores.append(chunk["r"].astype(float).to_numpy())
            expected.append(_expected_errors(chunk, classes, positive))
        if not kinds:
            raise ValueError(f"The answers {self.path} hold no cases.")
        if len(named) > 1:
            raise ValueError(f"The answers {self.path} are of several models: give those of one.")
        self.model_digest = named.pop()
        kind = np.concatenate(kinds)
        strange = set(kind) - set(KINDS)
        if strange:
            raise ValueError(f"The answers {self.path} hold the kind {strange.pop()!r}; there are {', '.join(KINDS)}.")
        self.rejected: Flags = kind != "accept"
        self.numbers: Indices = np.concatenate(numbers)
        self.r: Floats = np.concatenate(scores)
        errors = np.concatenate(expected)[~self.rejected]
        self.expected_error = float(errors.mean()) if len(errors) and not np.isnan(errors).any() else None
        self.counts = {
            "cases": len(kind),
            "accepted": int((kind == "accept").sum()),
            "ambiguity": int((kind == "ambiguity").sum()),
            "novelty": int((kind == "novelty").sum()),
        }

    def digest(self) -> str:
        """SHA-256 of its bytes; of a folder, of the digests of its files in the order of their names."""
        if not self.path.is_dir():
            return _digest(self.path)
        parts = "".join(_digest(file) for file in sorted(self.path.rglob("*.parquet")))
        return hashlib.sha256(parts.encode()).hexdigest()

    def cases(self, rows: Indices, show: Sequence[str], classes: Sequence[Any]) -> list[AnsweredCase]:
        """What is known of some cases, in the order of `rows`."""
        found: dict[int, AnsweredCase] = {}
        start, wanted = 0, np.sort(rows)
        for chunk in self._chunks():
            inside = wanted[(wanted >= start) & (wanted < start + len(chunk))]
            for row, values in zip(inside, _rows(chunk.iloc[inside - start]), strict=True):
                shown = {name: as_text(values[name]) for name in show}
                # A table may have had a column called as an answer that this model does not give.
                answer = {name: value for name, value in values.items() if name not in self.kept}
                found[int(row)] = AnsweredCase(int(values["case"]), _answer(answer, classes, self.path), shown)
            start += len(chunk)
        return [found[int(row)] for row in rows]

    def _chunks(self) -> Iterator[Any]:
        for chunk in read_chunks(self.path, text_columns=None):
            lacking = [name for name in _NEEDED if name not in chunk.columns]
            if lacking == ["case"] and is_dataset(self.path):  # rows of a folder are known by their place
                chunk = chunk.assign(case=chunk.index + 1)
            elif lacking:
                raise ValueError(
                    f"{self.path} lacks the column {lacking[0]!r}: give a file of answers that `recuse predict` wrote."
                )
            if len(chunk):
                yield restored(chunk)


@dataclass(frozen=True)
class AnsweredCase:
    """A case, what the model answered, and what a reviewer may see of it.

    Attributes
    ----------
    case : int
        Its number in the table that was answered.
    answer : dict
        decision, kind, forced, probability, h, r, reason; None for what the file lacks.
    shown : dict of str to str
        Columns for the reviewer.
    """

    case: int
    answer: dict[str, Any]
    shown: dict[str, str]


def _expected_errors(chunk: Any, classes: Sequence[Any], positive: Any) -> Floats:
    """Probability of each case that its forced class is wrong; NaN where the file does not say, or of three classes."""
    if len(classes) != 2 or "probability" not in chunk.columns or "probability" in _kept_columns(chunk):
        return np.full(len(chunk), np.nan)
    probability = chunk["probability"].astype(float).to_numpy()
    forced = chunk["forced"].map(as_text)
    is_positive = {text: as_class(text, classes) == positive for text in forced.unique()}
    errors: Floats = np.where(forced.map(is_positive), 1 - probability, probability)
    return errors


def _digest(file: Path) -> str:
    with open(file, "rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _kept_columns(chunk: Any) -> list[str]:
    """Columns between the number of the case and the decision: no column of the answers stands there."""
    names = list(map(str, chunk.columns))
    return [name for name in names[: names.index("decision")] if name != "case"]


def _rows(chunk: Any) -> Iterator[dict[str, Any]]:
    names = list(map(str, chunk.columns))
    columns = [chunk[name].tolist() for name in chunk.columns]
    for values in zip(*columns, strict=True):
        yield dict(zip(names, values, strict=True))


def _answer(values: dict[str, Any], classes: Sequence[Any], path: Path) -> dict[str, Any]:
    forced = as_class(as_text(values["forced"]), classes)
    if forced is None:
        raise ValueError(
            f"The answers {path} hold the class {as_text(values['forced'])!r}, which the model does not know: it knows "
            f"{preview(classes)}. Give the model that wrote them."
        )
    return {
        "decision": forced if values["kind"] == "accept" else REJECT_TEXT,
        "kind": str(values["kind"]),
        "forced": forced,
        **{name: _number(values.get(name)) for name in _SCORES},
        "reason": as_text(values.get("reason")) or None,
    }


def _number(value: Any) -> float | None:
    """A score; None where there is none, or JSON cannot hold it."""
    text = as_text(value)
    number = float(text) if text else None
    return number if number is not None and np.isfinite(number) else None
