"""The summary as one self-contained page: styles, data, charting library and code are in it."""

from __future__ import annotations

import hashlib
import json
import math
import os
from base64 import b64encode
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..extras import require
from ..persistence import write_whole
from ..staffing import Volume
from .segments import select_segments
from .volume import with_volume

_TEMPLATES = files(__package__) / "templates"
# In the order in which they run: functions may call what comes later, constants may not.
_ARITHMETIC = ("live.js", "intervals.js", "pair_intervals.js", "served_worse.js")
_CODE = (
    "state.js",
    "figures.js",
    "tables.js",
    "thresholds.js",
    "boxes.js",
    "money.js",
    "segments.js",
    "charts.js",
    "pair_charts.js",
    "start.js",
)
_CLASS_ARITHMETIC = ("class_live.js", "intervals.js", "class_intervals.js")
_CLASS_CODE = (
    "class_state.js",
    "class_figures.js",
    "tables.js",
    "boxes.js",
    "money.js",
    "charts.js",
    "class_charts.js",
    "class_start.js",
)
STYLES = ("style.css", "phone.css", "print.css")
# By kind of summary: template, arithmetic, code, styles.
_PAGES = {
    "": ("report.html", _ARITHMETIC, _CODE, STYLES),
    "classes": ("class_report.html", _CLASS_ARITHMETIC, _CLASS_CODE, (*STYLES, "class.css")),
}
CONSTANT_ANSWERS = ("send-all", "always-no", "always-yes")
SHOWN_METHODS = 5  # of the leaderboard; the others are folded
_NO_VALUE = "\N{EN DASH}"


def render(summary: dict[str, Any]) -> str:
    """Return the page of a summary.

    Parameters
    ----------
    summary : dict
        From `summarize`, or the same read back from summary.json.

    Returns
    -------
    str
        HTML.
    """
    template, arithmetic, code, styles = _PAGES[summary.get("kind", "")]
    scripts = {"library": _library(), "live": _joined(arithmetic), "code": _joined(code)}
    page: str = (
        environment()
        .get_template(template)
        .render(
            summary=summary,
            by_name={row["method"]: row for row in summary["leaderboard"]},
            # Without "<" nothing in the data can close the script element that holds them.
            data=json.dumps(summary, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c"),
            policy=content_policy(scripts.values()),
            style=style_sheet(*styles),
            folded=folded_methods(summary),
            **scripts,
        )
    )
    return page


def environment() -> Any:
    """The templates of all pages, and how they write numbers."""
    jinja2 = require("jinja2", "The report")
    templates = jinja2.Environment(
        loader=jinja2.FunctionLoader(_template),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {"price": _price, "percent": _percent, "count": as_count, "amount": "{:.6g}".format}
    return templates


def content_policy(scripts: Iterable[str] = ()) -> str:
    """Content security policy: these scripts run and no others, and nothing is requested from anywhere."""
    digests = (b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


def style_sheet(*names: str) -> str:
    """Styles of these files, one after the other."""
    return "\n".join(_template(name) for name in names)


def _template(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


@cache
def _library() -> str:
    """Vega-Lite, from the installed package: nothing is downloaded."""
    bundle = require("vl_convert", "The report").javascript_bundle()
    # In a scope of its own, so that the library's short names do not collide with the page's.
    library = f"(function () {{\n{bundle}\n}})();"
    return library.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _joined(names: Iterable[str]) -> str:
    return "\n".join(_template(name) for name in names)


def folded_methods(summary: dict[str, Any]) -> set[str]:
    """Rows that are shown on request: all but the best five methods, the choice, and the best of what needs no model.

    One row alone is not worth a button.
    """
    rows, models = summary["leaderboard"], {method["name"] for method in summary["methods"]}
    best = [row["method"] for row in rows if row["method"] in models][:SHOWN_METHODS]
    same = summary.get("constants", CONSTANT_ANSWERS)
    constants = [row["method"] for row in rows if row["method"] in same][:1]
    kept = {*best, *constants, "today", summary["winner"], summary["verdict"]["best_model"]}
    folded = {row["method"] for row in rows if row["method"] not in kept}
    # Of two classes there are two constant answers at most to fold, which is no reason for a button.
    return folded if len(folded if "constants" in summary else models & folded) > 1 else set()


def _price(value: float | None) -> str:
    """A price in a table, with as many decimals as are worth reading; the page's own code has the same."""
    if value is None:
        return _NO_VALUE
    size = abs(value)
    return f"{value:,.{4 if size < 1 else 3 if size < 10 else 2 if size < 10_000 else 0}f}"


def _percent(value: float | None) -> str:
    return _NO_VALUE if value is None else f"{value:.1%}"


def as_count(value: float) -> str:
    """A count, or a mean of counts over the repetitions, as a whole number; what is not quite nothing is below 1."""
    return "<1" if 0 < value < 0.5 else f"{math.floor(value + 0.5):,}"


def rewrite(
    run: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    by: Iterable[str] = (),
    volume: Volume | None = None,
) -> Path:
    """Write the page of a finished run again, from its summary.

    Parameters
    ----------
    run : path-like
        Folder that a comparison wrote.
    out : path-like, optional
        The page; by default report.html in the folder.
    by : iterable of str, optional
        Show the segments of these columns only; the comparison must have been asked for them.
    volume : Volume, optional
        How many cases there are, and what reviewing them takes, instead of what the run was told.

    Returns
    -------
    Path
        The page that was written.
    """
    source = Path(run) / "summary.json"
    if not source.is_file():
        raise FileNotFoundError(f"{os.fspath(run)} holds no summary.json: give the folder that compare wrote.")
    try:
        summary = json.loads(source.read_bytes())
        page = render(summary)
    except ImportError:
        raise
    except Exception as error:  # whatever key is missing, the remedy is the same
        raise ValueError(f"{source} is damaged or of another version: run compare again.") from error
    if by or volume is not None:
        shown = select_segments(summary, list(by)) if by else summary
        page = render(shown if volume is None else with_volume(shown, volume))
    path = Path(run) / "report.html" if out is None else Path(out)
    write_whole(path, page.encode())
    return path
