"""Names of columns."""

from __future__ import annotations

from collections import Counter


class DuplicateError(ValueError):
    """Two columns have the same name."""


def require_distinct(names: list[str]) -> None:
    """Refuse two columns of the same name."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DuplicateError(f"two columns have the name {twice[0]!r}; give every column its own.")
