"""Names of columns."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable

from ..labels import preview

_LISTED = 30  # names in a message


class DuplicateError(ValueError):
    """Two columns have the same name."""


def require_distinct(names: list[str]) -> None:
    """Refuse two columns of the same name."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DuplicateError(f"two columns have the name {twice[0]!r}; give every column its own.")


def closest(wanted: str, names: Iterable[str], cutoff: float = 0.5) -> str | None:
    """The name most like the one wanted, be it written in other letters; None if none is like it."""
    by_letters = {str(name).casefold(): str(name) for name in names}
    close = difflib.get_close_matches(str(wanted).casefold(), list(by_letters), n=1, cutoff=cutoff)
    return by_letters[close[0]] if close else None


def lacking_columns(lacking: list[str], given: Iterable[str], fitted_with: Iterable[str]) -> str:
    """Say which columns a table lacks that a model reads, and which of its own may be meant."""
    given = [str(name) for name in given]
    free = [name for name in given if name not in set(fitted_with)]
    meant = {name: close for name in lacking if (close := closest(name, free)) is not None}
    shown = _enumerated([repr(name) for name in lacking])
    text = f"The table lacks the column{'s' if len(lacking) > 1 else ''} {shown} that the model was fitted with; "
    if meant:
        pairs = _enumerated([f"{close!r} for {name!r}" for name, close in meant.items()])
        text += f"did you mean {pairs}? Rename {'it' if len(meant) == 1 else 'them'} in the table"
        if len(meant) == len(lacking):
            return f"{text}."
        text += "; "
    return f"{text}it has {preview(given, _LISTED)}: add what is lacking, or fit the model without it."


def no_column(wanted: str, names: Iterable[str]) -> str:
    """Which column may be meant by a name that no column has; if none is like it, which there are."""
    names = [str(name) for name in names]
    close = closest(wanted, names)
    return f"did you mean {close!r}?" if close else f"it has {preview(names, _LISTED)}."


def _enumerated(parts: list[str]) -> str:
    """Parts of a sentence with commas and a last "and"."""
    if len(parts) > _LISTED:
        parts = [*parts[:_LISTED], f"{len(parts) - _LISTED} more"]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
