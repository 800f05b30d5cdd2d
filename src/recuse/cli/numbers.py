"""Numbers that are typed on the command line: one in the writing of another country is refused with what to write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

_INFINITE = float("inf")


def number(
    help: str, metavar: str, *names: str, least: float = -_INFINITE, most: float = _INFINITE, **shown: Any
) -> Any:
    """An option that takes a number; one outside the limits is refused."""
    return typer.Option(*names, parser=_reader(_as_number, least, most), metavar=metavar, help=help, **shown)


def count(help: str, *names: str, metavar: str = "N", least: float = -_INFINITE, **shown: Any) -> Any:
    """An option that takes a whole number."""
    return typer.Option(*names, parser=_reader(_as_count, least, _INFINITE), metavar=metavar, help=help, **shown)


def _as_number(text: str) -> float:
    from recuse.parameters import typed_number  # NumPy comes with it, which --help does not need

    return typed_number(text)


def _as_count(text: str) -> int:
    from recuse.parameters import typed_count

    return typed_count(text)


def _reader(read: Callable[[str], float], least: float, most: float) -> Callable[[Any], Any]:
    """What reads an option, and refuses what is no number within the limits."""

    def read_option(text: Any) -> Any:
        if not isinstance(text, str):
            return text  # a default
        try:
            found = read(text)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
        if not least <= found <= most:
            upper = "" if most == _INFINITE else f" and at most {most:g}"
            raise typer.BadParameter(f"{text} must be at least {least:g}{upper}.")
        return found

    return read_option
