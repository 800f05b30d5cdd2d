"""Parts of pictures that are drawn as SVG; colors come from the style of the page, by class."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree as Xml


def nice_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers from `low` to `high`: multiples of 1, 2 or 5 times a power of ten."""
    span = high - low
    if not span > 0 or not math.isfinite(span):
        return [low]
    rough = span / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """Where amounts from `low` to `high` lie between two places."""
    return lambda value: start + (end - start) * (value - low) / (high - low)


def line(svg: Any, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
    """Draw a line."""
    ends = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
    Xml.SubElement(svg, "line", {name: f"{value:.1f}" for name, value in ends.items()} | {"class": kind})


def text(svg: Any, x: float, y: float, text: str, anchor: str, kind: str = "tick") -> Any:
    """Write a text, which begins, ends or has its middle at a place."""
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor, "class": kind}
    element = Xml.SubElement(svg, "text", place)
    element.text = text
    return element


def written(svg: Any) -> str:
    """The picture, for a page."""
    return Xml.tostring(svg, encoding="unicode")


def number(value: float) -> str:
    """An amount on an axis."""
    return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:.3g}"


def shortened(text: str, most: int) -> str:
    """A text of at most so many characters."""
    return text if len(text) <= most else f"{text[: most - 1]}\N{HORIZONTAL ELLIPSIS}"
