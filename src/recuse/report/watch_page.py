"""The page of a watch: alarms, the series batch by batch, and how strong the evidence is."""

from __future__ import annotations

import math
from typing import Any
from xml.etree import ElementTree as Xml

from .html import STYLES, content_policy, environment, style_sheet
from .svg import line, nice_ticks, number, scale, shortened, text, written

_WIDTH, _HEIGHT = 460.0, 220.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 14.0, 14.0, 40.0
_MOST_COLUMNS = 12  # rows of evidence for columns; the others say less


def render_watch(result: dict[str, Any]) -> str:
    """Return the page of a watch.

    Parameters
    ----------
    result : dict
        `WatchResult.as_dict()`.

    Returns
    -------
    str
        HTML: one page without scripts, which asks for nothing from elsewhere.
    """
    found = _strongest_first(result["found"])
    page: str = (
        environment()
        .get_template("watch.html")
        .render(
            result=result,
            found=found,
            pictures=_pictures(result, found),
            n_reference=sum(batch["reference"] for batch in result["batches"]),
            n_open=sum(batch["open"] for batch in result["batches"] if not batch["counted"]),
            policy=content_policy(),
            style=style_sheet(*STYLES, "model.css", "watch.css"),
        )
    )
    return page


def _strongest_first(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All that is watched, with its evidence as a share of what makes an alarm; of many columns the strongest."""
    rows = [row | {"strength": _strength(row)} for row in found]
    columns = sorted((row for row in rows if row["kind"] == "columns"), key=lambda row: -row["strength"])
    return [row for row in rows if row["kind"] != "columns"] + columns[:_MOST_COLUMNS]


def _strength(row: dict[str, Any]) -> float:
    """Logarithm of the strongest evidence over that of an alarm: 0 is nothing, 1 an alarm."""
    best = max((value for value in row["evidence"] if value is not None), default=1.0)
    return max(0.0, math.log(best) / math.log(row["threshold"])) if math.isfinite(best) else math.inf


def _pictures(result: dict[str, Any], found: list[dict[str, Any]]) -> list[dict[str, str]]:
    batches = result["batches"]
    rates = {
        "rejected": [batch["reject_rate"] for batch in batches],
        "novelties": [batch["novelty_rate"] for batch in batches],
    }
    errors = {
        "found by the audit": [batch["error"] and batch["error"]["value"] for batch in batches],
        "expected by the model": [batch["expected_error"] for batch in batches],
    }
    bands = [batch["error"] for batch in batches]
    reference = sum(batch["reference"] for batch in batches)
    evidence = {row["name"]: _near_limit(row) for row in found if row["kind"] != "columns"}
    pictures = [
        {"title": "Wrong among accepted cases", "svg": _curves("share of cases", errors, reference, bands)},
        {"title": "Rejected cases", "svg": _curves("share of cases", rates, reference)},
    ]
    if evidence:
        svg = _curves("powers of ten; 0 is an alarm", evidence, reference, limit=0.0)
        pictures.append({"title": "Evidence, as a multiple of its limit", "svg": svg})
    return pictures


def _near_limit(row: dict[str, Any]) -> list[float | None]:
    """Logarithms of evidence over what makes an alarm: every alarm has a limit of its own, and one line is for all."""
    limit = math.log10(row["threshold"])
    return [None if value is None else min(12.0, math.log10(value) - limit) for value in row["evidence"]]


def _curves(
    name: str,
    curves: dict[str, list[float | None]],
    reference: int,
    bands: list[Any] | None = None,
    limit: float | None = None,
) -> str:
    """Curves over the batches; the reference is shaded, and a limit is a line of its own."""
    n = len(next(iter(curves.values())))
    known = [value for values in curves.values() for value in values if value is not None]
    known += [band["high"] for band in bands or [] if band] + ([limit] if limit is not None else [])
    low, high = min(0.0, *known, 0.0), max(*known, 1e-9, 1e-9)
    x, y = scale(0.5, n + 0.5, _LEFT, _WIDTH - _RIGHT), scale(low, high * 1.05, _HEIGHT - _BOTTOM, _TOP)
    svg = _canvas(name, curves)
    _shade(svg, x(0.5), x(reference + 0.5))
    for tick in nice_ticks(low, high):
        line(svg, _LEFT, y(tick), _WIDTH - _RIGHT, y(tick), "axis" if tick == 0 else "grid")
        text(svg, _LEFT - 6, y(tick) + 4, number(round(tick, 10)), "end")
    for tick in nice_ticks(1, n):
        if tick == int(tick):
            text(svg, x(tick), _HEIGHT - _BOTTOM + 16, number(tick), "middle")
    text(svg, (_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 6, f"batch; {name}", "middle", "name")
    for place, band in enumerate(bands or [], 1):
        if band:
            line(svg, x(place), y(band["low"]), x(place), y(band["high"]), "band")
    if limit is not None:
        line(svg, _LEFT, y(limit), _WIDTH - _RIGHT, y(limit), "limit")
    for k, values in enumerate(curves.values()):
        places = [(x(place), y(value)) for place, value in enumerate(values, 1) if value is not None]
        path = "M" + "L".join(f"{across:.1f} {down:.1f}" for across, down in places)
        if len(places) == 1:  # a line through one point is nothing
            [(across, down)] = places
            circle = {"cx": f"{across:.1f}", "cy": f"{down:.1f}", "r": "4", "class": f"dot c{k}"}
            Xml.SubElement(svg, "circle", circle)
        elif places:
            Xml.SubElement(svg, "path", {"d": path, "class": f"curve c{k}"})
    return written(svg) + _key(list(curves))


def _canvas(name: str, curves: dict[str, list[float | None]]) -> Any:
    svg = Xml.Element("svg", {"viewBox": f"0 0 {_WIDTH:g} {_HEIGHT:g}", "class": "picture", "role": "img"})
    svg.set("aria-label", f"{name} by batch: {', '.join(curves)}; the figures are in the tables below.")
    svg.set("style", f"max-width: {_WIDTH:g}px")
    return svg


def _shade(svg: Any, left: float, right: float) -> None:
    place = {
        "x": f"{left:.1f}",
        "y": f"{_TOP}",
        "width": f"{right - left:.1f}",
        "height": f"{_HEIGHT - _TOP - _BOTTOM}",
        "class": "reference",
    }
    Xml.SubElement(svg, "rect", place)


def _key(names: list[str]) -> str:
    """What the curves are, by color."""
    key = Xml.Element("figcaption")
    for k, name in enumerate(names):
        Xml.SubElement(key, "span", {"class": f"key c{k}"}).tail = f"{shortened(name, 40)} "
    return Xml.tostring(key, encoding="unicode", method="html")
