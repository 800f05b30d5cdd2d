"""Warnings that show the user's own line."""

from __future__ import annotations

import warnings
from inspect import currentframe


def warn_user(message: str, category: type[Warning] = UserWarning, past: tuple[str, ...] = ()) -> None:
    """Warn, and show the line outside this library that led here, however deep the caller is.

    `past` are beginnings of the names of further modules that the user has not written.
    """
    frame, level = currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").startswith((f"{__package__}.", *past)):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
