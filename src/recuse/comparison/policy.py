"""Today's policy: what is decided now, case by case, priced like a method on the same cases. It is never a feature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..arrays import Flags, Indices
from ..labels import preview, to_python
from ..parameters import unknown_name
from ..tables.names import no_column
from .class_rows import counts_of, row_type
from .intervals import EXACTLY_ZERO, Interval
from .leaderboard import Row
from .payments import Payments
from .verdict import NO, UNCLEAR, YES, Saving, moved

TODAY = "today"
_YES_OR_NO = {"no": 0, "false": 0, "0": 0, "yes": 1, "true": 1, "1": 1}
_WORDS = ("yes", "no", "review")  # what others may stand for
_REVIEWS = ("review", "manual review", "manual check", "manual", "refer", "referred", "[abstain]")
_HEADINGS = {
    YES: "{} is cheaper than today's policy ({})",
    NO: "{} is not cheaper than today's policy ({})",
    UNCLEAR: "Whether {} is cheaper than today's policy ({}) is not settled",
}


def require_policy(frame: Any, column: str | None, name: str) -> None:
    """Refuse a column with today's decisions that the table does not have."""
    if column is not None and column not in frame.columns:
        raise ValueError(f"{name} has no column {column!r} with what is decided today: {no_column(column, frame)}")


def as_policy_words(words: Mapping[str, Any] | None, policy: str | None) -> dict[str, list[str]]:
    """What is written for yes, no and review, each as a list of texts; refuse what has no meaning, or two."""
    if not words:
        return {}
    if policy is None:
        raise ValueError("policy_words say what stands in the column with today's decisions: name it with policy.")
    found: dict[str, list[str]] = {}
    for meaning, texts in words.items():
        if meaning not in _WORDS:
            raise ValueError(unknown_name("policy_words", str(meaning), _WORDS))
        found[meaning] = [texts] if isinstance(texts, str) else [str(text) for text in texts]
    plain = [_plain(text) for texts in found.values() for text in texts]
    twice = next((text for text in plain if plain.count(text) > 1), None)
    if twice is not None:
        raise ValueError(f"policy_words give {twice!r} two meanings: leave it with one of {', '.join(_WORDS)}.")
    return found


def policy_answers(values: Any, classes: Sequence[Any], words: Mapping[str, Sequence[str]] | None = None) -> Indices:
    """Column of the price matrix of each case: 0 for no, 1 for yes, 2 for manual review; so with three or more.

    Parameters
    ----------
    values : Series
        What is decided today; its name occurs in messages.
    classes : sequence
        The outcomes, of two the negative one first: their names stand for no and yes, before any other meaning.
    words : dict of str to list of str, optional
        What is written for "yes", "no" and "review", before all of that: see `as_policy_words`.
    """
    n_classes, words = len(classes), words or {}
    if n_classes > 2 and ("yes" in words or "no" in words):
        raise ValueError(
            f"policy_words: of {n_classes} outcomes none is yes or no; give what is written for review, and name the "
            "outcomes in the column as the table does."
        )
    meanings = dict.fromkeys(_REVIEWS, n_classes) | ({} if n_classes > 2 else _YES_OR_NO)
    known = {**meanings, **{_plain(label): k for k, label in enumerate(classes)}}
    answers = {"no": 0, "yes": 1, "review": n_classes}
    known |= {_plain(text): answers[meaning] for meaning, texts in words.items() for text in texts}
    texts = values.map(_plain, na_action="ignore")
    empty = int(texts.isna().sum())
    if empty:
        raise ValueError(
            f"policy={values.name!r} is empty in {empty:,} of {len(values):,} cases; write review where a person "
            "decided, or leave these rows out."
        )
    unknown = [value for value in values.unique().tolist() if _plain(value) not in known]
    if unknown and n_classes > 2:
        raise ValueError(
            f"policy={values.name!r} holds {preview(unknown)}, which is no outcome: write the outcome that is answered "
            f"today, one of {preview(classes)}, and review where a person decides."
        )
    if unknown:
        raise ValueError(
            f"policy={values.name!r} holds {preview(unknown)}, and only you know what it stands for: name what treats "
            f"a case as {to_python(classes[1])!r} with --policy-yes, as {to_python(classes[0])!r} with --policy-no, "
            "and what leaves it to a person with --policy-review (in Python, policy_words=)."
        )
    return np.array([known[text] for text in texts], dtype=np.intp)


def _plain(value: Any) -> str:
    number = isinstance(value, float | np.floating) and value == int(value)
    return str(int(value) if number else value).strip().lower()


def policy_row(
    column: str, answers: Indices, truth: Flags | Indices, units: Indices | None, repeats: int, n_classes: int = 2
) -> Row:
    """Today's policy as a row of the leaderboard, without its cost."""
    accepted = answers < n_classes
    right = accepted & (answers == truth)
    return row_type(n_classes)(
        TODAY,
        f"Today's policy ({column})",
        reference=True,
        coverage=float(accepted.mean()),
        accuracy=float(right.sum() / accepted.sum()) if accepted.any() else float("nan"),
        ambiguity=float((~accepted).mean()),
        novelty=0.0,
        counts=counts_of(answers, truth, n_classes, units, constant=True),
        repeats=repeats,  # it is the same in every repetition
        fit_seconds=0.0,
        predict_seconds=0.0,
    )


def saved_against_today(name: str, cost: Interval, own: Payments, today: Payments, units: Indices | None) -> Saving:
    """What a method saves against today's policy, corrected as its cost is."""
    if (own.columns == today.columns).all():
        return Saving(name, TODAY, EXACTLY_ZERO)
    flattered = cost.value - float(own.prices.mean())
    return Saving(name, TODAY, moved(own.saved_against(today, units), -max(flattered, 0.0)))


def policy_sentence(saving: Saving, column: str, title: str) -> str:
    """Whether the method chosen is cheaper than today's policy, and by how much."""
    saved = saving.saved if saving.saved.value >= 0 else -saving.saved
    verb, than = ("saves", "") if saving.saved.value >= 0 else ("costs", " more")
    heading = _HEADINGS[saving.pays].format(title, column)
    return f"{heading}: it {verb} {saved}{than} per case, on the same cases."
