"""Pictures of functions before and after an edit, as SVG: steps, bars by level, and maps of pairs.

Colors come from the style of the page, by class, so that a picture follows dark mode and print; nothing is scripted.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree as Xml

from .edited import INTERVALS, LEVELS, PAIR
from .svg import line, nice_ticks, number, scale, shortened, text, written

_WIDTH = 460.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 14.0, 12.0, 38.0
_HEIGHT = 232.0
_STRIP = 58.0  # width of the place for missing values
_ROW = 30.0  # height of a level
_LABEL = 128.0  # width of the names of levels
_MAP = 240.0  # side of a map


def picture(function: dict[str, Any]) -> str:
    """Return the picture of a function of an edit, as `edit_pages` describes it."""
    return _PICTURES[function["kind"]](function)


def _steps(function: dict[str, Any]) -> str:
    """A function of a number: steps before and after, and dots for missing values."""
    cuts, (*known, missing) = function["cuts"], function["cells"]
    low, high = _ends(cuts)
    shows_missing = bool(missing["before"] or missing["after"] or missing["share"])
    right = _WIDTH - _RIGHT - _STRIP * shows_missing
    svg = _canvas(_WIDTH, _HEIGHT, function)
    x = scale(low, high, _LEFT, right)
    y = _amounts(svg, function["cells"], right if not shows_missing else _WIDTH - _RIGHT)
    for tick in nice_ticks(low, high):
        line(svg, x(tick), _HEIGHT - _BOTTOM, x(tick), _HEIGHT - _BOTTOM + 4, "axis")
        text(svg, x(tick), _HEIGHT - _BOTTOM + 16, number(tick), "middle")
    text(svg, (_LEFT + right) / 2, _HEIGHT - 5, shortened(function["name"], 52), "middle", "name")
    edges = [low, *cuts, high]
    for when in ("before", "after"):
        corners = [(x(edge), y(cell[when])) for cell, ends in zip(known, pairwise(edges), strict=True) for edge in ends]
        path = "M" + "L".join(f"{across:.1f} {down:.1f}" for across, down in corners)
        Xml.SubElement(svg, "path", {"d": path, "class": when})
    if shows_missing:
        middle = _WIDTH - _RIGHT - _STRIP / 2
        line(svg, right + 8, _TOP, right + 8, _HEIGHT - _BOTTOM, "grid")
        text(svg, middle, _HEIGHT - _BOTTOM + 16, "missing", "middle")
        for when, across in (("before", middle - 6), ("after", middle + 6)):
            spot = {"cx": f"{across:.1f}", "cy": f"{y(missing[when]):.1f}", "r": "4.5", "class": f"dot {when}"}
            Xml.SubElement(svg, "circle", spot)
    return written(svg)


def _bars(function: dict[str, Any]) -> str:
    """A function of a category: two bars for each level."""
    cells = [cell for cell in function["cells"] if cell["label"] != "missing" or _matters(cell)]
    height = _TOP + _ROW * len(cells) + _BOTTOM
    svg = _canvas(_WIDTH, height, function)
    low, high = _range(cells)
    x = scale(low, high, _LABEL, _WIDTH - _RIGHT)
    for tick in nice_ticks(low, high):
        line(svg, x(tick), _TOP, x(tick), height - _BOTTOM, "axis" if tick == 0 else "grid")
        text(svg, x(tick), height - _BOTTOM + 16, number(tick), "middle")
    text(svg, (_LABEL + _WIDTH - _RIGHT) / 2, height - 5, f"added to the {function['score_name']}", "middle", "name")
    for row, cell in enumerate(cells):
        top = _TOP + _ROW * row
        text(svg, _LABEL - 8, top + _ROW / 2 + 4, shortened(cell["label"], 15), "end")
        for when, offset in (("before", 4.0), ("after", _ROW / 2)):
            start, end = sorted((x(0.0), x(cell[when])))
            bar = {"x": f"{start:.1f}", "y": f"{top + offset:.1f}", "height": f"{_ROW / 2 - 5:.1f}"}
            Xml.SubElement(svg, "rect", bar | {"width": f"{max(end - start, 0.8):.1f}", "class": f"bar {when}"})
    return written(svg)


def _maps(function: dict[str, Any]) -> str:
    """A pair term: a map before and a map after, on one scale of colors; one below the other on narrow screens."""
    rows, columns = (_known_names(side) for side in function["sides"])
    darkest = max(max(abs(cell["before"]), abs(cell["after"])) for cell in function["cells"]) or 1.0
    width, height, left, top = _MAP + 60.0, _MAP + 62.0, 46.0, 22.0
    pictures = []
    for when in ("before", "after"):
        svg = _canvas(width, height, function, when)
        text(svg, left + _MAP / 2, 14, when, "middle", "title")
        across, down = _MAP / len(rows), _MAP / len(columns)
        for i in range(len(rows)):
            for j in range(len(columns)):
                amount = function["cells"][i * len(function["sides"][1]) + j][when]
                shade = {"class": "more" if amount > 0 else "less", "fill-opacity": f"{abs(amount) / darkest:.3f}"}
                place = {"x": f"{left + across * i:.2f}", "y": f"{top + _MAP - down * (j + 1):.2f}"}
                size = {"width": f"{across:.2f}", "height": f"{down:.2f}"}
                Xml.SubElement(svg, "rect", place | size | shade)
        frame = {"x": f"{left}", "y": f"{top}", "width": f"{_MAP}", "height": f"{_MAP}", "class": "frame"}
        Xml.SubElement(svg, "rect", frame)
        _map_axes(svg, rows, columns, function["features"], (left, top))
        pictures.append(written(svg))
    return "".join(pictures)


def _map_axes(svg: Any, rows: list[str], columns: list[str], names: list[str], corner: tuple[float, float]) -> None:
    """The first and the last cell of each side by name; the table holds those between."""
    left, top = corner
    bottom = top + _MAP
    text(svg, left, bottom + 15, shortened(rows[0], 14), "start")
    text(svg, left + _MAP, bottom + 15, shortened(rows[-1], 14), "end")
    text(svg, left + _MAP / 2, bottom + 32, shortened(names[0], 36), "middle", "name")
    for label, down, anchor in ((columns[0], bottom, "start"), (columns[-1], top, "end")):
        turned = text(svg, left - 7, down, shortened(label, 14), anchor)
        turned.set("transform", f"rotate(-90 {left - 7:.1f} {down:.1f})")
    turned = text(svg, left - 24, top + _MAP / 2, shortened(names[1], 36), "middle", "name")
    turned.set("transform", f"rotate(-90 {left - 24:.1f} {top + _MAP / 2:.1f})")


_PICTURES: dict[str, Callable[[dict[str, Any]], str]] = {INTERVALS: _steps, LEVELS: _bars, PAIR: _maps}


def _known_names(side: list[str]) -> list[str]:
    """Names of the cells of one side, without that of missing values, which the table holds."""
    return side[:-1] if len(side) > 1 else side


def _matters(cell: dict[str, Any]) -> bool:
    """Whether a cell of missing values holds anything, or any case."""
    return bool(cell["before"] or cell["after"] or cell["share"])


def _ends(cuts: list[float]) -> tuple[float, float]:
    """Where a picture of steps begins and ends: a little beyond the cuts."""
    if not cuts:
        return -1.0, 1.0
    pad = 0.08 * (cuts[-1] - cuts[0]) or max(abs(cuts[0]), 1.0) * 0.5
    return cuts[0] - pad, cuts[-1] + pad


def _range(cells: list[dict[str, Any]]) -> tuple[float, float]:
    """Smallest and largest amount, and 0, with some room."""
    values = [cell[when] for cell in cells for when in ("before", "after")]
    low, high = min(0.0, *values), max(0.0, *values)
    room = 0.06 * (high - low) or 1.0
    return low - room * (low < 0), high + room * (high > 0)


def _amounts(svg: Any, cells: list[dict[str, Any]], right: float) -> Callable[[float], float]:
    """Draw the axis of the amounts; return where an amount lies."""
    low, high = _range([cell for cell in cells if cell["label"] != "missing" or _matters(cell)])
    y = scale(low, high, _HEIGHT - _BOTTOM, _TOP)
    for tick in nice_ticks(low, high):
        line(svg, _LEFT, y(tick), right, y(tick), "axis" if tick == 0 else "grid")
        text(svg, _LEFT - 6, y(tick) + 4, number(tick), "end")
    return y


def _canvas(width: float, height: float, function: dict[str, Any], when: str = "before and after") -> Any:
    """An empty picture that says what it is to those who do not see it."""
    svg = Xml.Element("svg", {"viewBox": f"0 0 {width:g} {height:g}", "class": "picture", "role": "img"})
    said = f"What {function['name']} adds to the {function['score_name']}, {when} the edit"
    svg.set("aria-label", f"{said}; the figures are in the table below.")
    svg.set("style", f"max-width: {width:g}px")
    return svg
