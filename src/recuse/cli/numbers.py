"""Numbers that are typed on the command line: one in the writing of another country is refused with what to write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

from recuse.parameters import typed_count, typed_number

_INFINITE = float("inf")


def number(least: float = -_INFINITE, most: float = _INFINITE) -> Callable[[Any], float]:
    """What reads a number of an option; one outside the limits is refused."""
    return _reader(typed_number, least, most)


def count(least: float = -_INFINITE) -> Callable[[Any], int]:
    """What reads a whole number of an option."""
    return _reader(typed_count, least, _INFINITE)


def _reader(read: Callable[[str], Any], least: float, most: float) -> Callable[[Any], Any]:
    def read_option(text: Any) -> Any:
        try:
            found = read(str(text))  # defaults come as numbers
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
        if not least <= found <= most:
            upper = "" if most == _INFINITE else f" and at most {most:g}"
            raise typer.BadParameter(f"{text} must be at least {least:g}{upper}.")
        return found

    return read_option
