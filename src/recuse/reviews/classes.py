"""Classes as people and spreadsheets write them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any


def as_text(value: Any) -> str:
    """What a cell of a table shows; nothing for a missing value."""
    if value is None or value != value:
        return ""
    return str(value).strip()


def as_class(text: str, classes: Sequence[Any]) -> Any:
    """The class that a cell names, in its own type; None if it names none.

    Upper and lower case count only where classes differ by nothing else, and 1.0 is the number 1.
    """
    for fits in (_written_so, _in_any_case, _same_number):
        found = [label for label in classes if fits(text, label)]
        if len(found) == 1:
            return found[0]
    return None


def _written_so(text: str, label: Any) -> bool:
    return text == str(label).strip()


def _in_any_case(text: str, label: Any) -> bool:
    return text.casefold() == str(label).strip().casefold()


def _same_number(text: str, label: Any) -> bool:
    return not isinstance(label, bool) and same_number(text, str(label))


def same_number(first: str, second: str) -> bool:
    """Whether two texts are the same number, differently written."""
    with suppress(ValueError):
        return float(first) == float(second)
    return False
