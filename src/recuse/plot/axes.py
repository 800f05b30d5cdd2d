"""What all displays share: their colours, and the axes they draw on."""

from __future__ import annotations

from typing import Any

from ..extras import require

BLUE, ORANGE = "#0072B2", "#D55E00"  # colour-blind readers can tell them apart
_LONGEST_TICK = 14  # characters of a level


def import_pyplot() -> Any:
    """Return matplotlib's pyplot, or an error that says how to install it."""
    return require("matplotlib.pyplot", "Drawing")


def axes_or_new(ax: Any, **figure_options: Any) -> Any:
    """The axes given, or those of a new figure."""
    return import_pyplot().subplots(**figure_options)[1] if ax is None else ax


def shortened(level: Any) -> str:
    """A level of a category as a tick."""
    text = str(level)
    return text if len(text) <= _LONGEST_TICK else text[: _LONGEST_TICK - 1] + "…"
