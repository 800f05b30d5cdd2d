"""The edits of a model as plain data: what each changed, cell by cell, by whom and why, and what it costs."""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise
from typing import Any

import numpy as np

from ..arrays import Floats
from ..boosting.reasons import feature_names
from ..plot.edits import SCORE_NAMES, has_changed, matched_functions

INTERVALS, LEVELS, PAIR = "intervals", "levels", "pair"
_STACKED = "stacked score"
_SAME = 5e-13  # amounts that differ by less are equal but for rounding


def edit_pages(classifier: Any) -> list[dict[str, Any]]:
    """The edits of a fitted additive model, from the first to the last; an empty list for other models.

    Each is a dict with "term", "action", "details" (text), "by", "why", "at", "cost" (a dict or None) and "functions":
    for every function and score that it changed the "name" of the feature, "score", "kind" (`INTERVALS`, `LEVELS` or
    `PAIR`) and the "cells", each with what it held "before" and "after".
    """
    names = [*feature_names(classifier), _STACKED]
    levels = getattr(classifier, "categories_", {})
    return [_page(edit, names, levels) for edit in getattr(classifier, "edits_", [])]


def _page(edit: Any, names: list[str], levels: dict[int, tuple[Any, ...]]) -> dict[str, Any]:
    return {
        "term": edit.term,
        "action": edit.action,
        "details": ", ".join(f"{name} = {value!r}" for name, value in edit.details.items()),
        "by": edit.by,
        "why": edit.why,
        "at": edit.at.replace("T", " ").replace("+00:00", " UTC"),
        "cost": None if edit.cost is None else asdict(edit.cost),
        "functions": [
            {"score": score, "score_name": SCORE_NAMES[score], **_function(before, after, score, names, levels)}
            for before, after in matched_functions(edit)
            for score in ("h", "r")
            if has_changed(before, after, score)
        ],
    }


def _function(
    before: Any, after: Any, score: str, names: list[str], levels: dict[int, tuple[Any, ...]]
) -> dict[str, Any]:
    """What a function held and holds, cell by cell; nothing is left of it where `after` is None."""
    if not hasattr(before, "feature"):
        return _pair(before, after, score, names, levels)
    facts = {"name": names[before.feature], "kind": LEVELS if before.levels else INTERVALS}
    return facts | (_levels(before, after, score) if before.levels else _intervals(before, after, score))


def _levels(before: Any, after: Any, score: str) -> dict[str, Any]:
    """Cells of a category: one per level, and one for missing values."""
    old, new = _with_missing(before, score), _with_missing(after, score, len(before.h))
    return {"cells": _cells([str(level) for level in before.levels] + ["missing"], old, new, before.share)}


def _intervals(before: Any, after: Any, score: str) -> dict[str, Any]:
    """Cells of a number: intervals between all cuts of both functions, and one for missing values."""
    cuts = before.cuts if after is None else np.union1d(before.cuts, after.cuts)
    inside = np.append(cuts, np.inf)  # a cell holds its upper end
    old = np.append(getattr(before, score)[before.cells(inside)], before.missing["hr".index(score)])
    new = np.zeros(len(old))
    if after is not None:
        new = np.append(getattr(after, score)[after.cells(inside)], after.missing["hr".index(score)])
    share = next((f.share for f in (before, after) if f is not None and len(f.cuts) == len(cuts)), None)
    return {"cuts": cuts.tolist(), "cells": _cells([*_interval_names(cuts), "missing"], old, new, share)}


def _pair(before: Any, after: Any, score: str, names: list[str], levels: dict[int, tuple[Any, ...]]) -> dict[str, Any]:
    """Cells of a pair term: rows of the first feature, columns of the second."""
    sides = [
        [*(map(str, levels[f]) if f in levels else _interval_names(cuts)), "missing"]
        for f, cuts in zip(before.features, before.cuts, strict=True)
    ]
    old = getattr(before, score)
    new = np.zeros_like(old) if after is None else getattr(after, score)
    share = None if before.share is None else before.share.ravel()
    labels = [f"{first}; {second}" for first in sides[0] for second in sides[1]]
    return {
        "name": before.name(names),
        "kind": PAIR,
        "features": [names[f] for f in before.features],
        "sides": sides,
        "cells": _cells(labels, old.ravel(), new.ravel(), share),
    }


def _with_missing(shape: Any, score: str, n: int = 0) -> Floats:
    """What all levels add, and what a missing value adds; zeros where nothing is left of a function."""
    if shape is None:
        return np.zeros(n + 1)
    return np.append(getattr(shape, score), shape.missing["hr".index(score)])


def _interval_names(cuts: Floats) -> list[str]:
    """Names of the intervals between cuts, with as many digits as tell neighbouring cuts apart."""
    if not len(cuts):
        return ["any value"]
    digits = next((k for k in range(3, 17) if len({f"{cut:.{k}g}" for cut in cuts}) == len(cuts)), 17)
    ends = [f"{cut:.{digits}g}" for cut in cuts]
    between = [f"{low} to {high}" for low, high in pairwise(ends)]
    return [f"up to {ends[0]}", *between, f"above {ends[-1]}"]


def _cells(labels: list[str], before: Floats, after: Floats, share: Floats | None) -> list[dict[str, Any]]:
    shares = [None] * len(labels) if share is None else share.tolist()
    return [
        {"label": label, "before": old, "after": new, "changed": abs(new - old) > _SAME, "share": part}
        for label, old, new, part in zip(labels, before.tolist(), after.tolist(), shares, strict=True)
    ]


def edit_facts(edit: Any) -> dict[str, Any]:
    """An edit in plain numbers and texts: what, by whom, why, its cost, and the functions before and after."""
    facts = {"term": edit.term, "action": edit.action, "details": edit.details, "by": edit.by, "why": edit.why}
    return facts | {
        "at": edit.at,
        "cost": None if edit.cost is None else asdict(edit.cost),
        "before": [_function_facts(shape) for shape in edit.before],
        "after": [_function_facts(shape) for shape in edit.after],
        "sentence": str(edit),
    }


def _function_facts(shape: Any) -> dict[str, Any]:
    """What a feature, or a pair of them, adds, cell by cell."""
    cuts = shape.cuts if isinstance(shape.cuts, tuple) else (shape.cuts,)
    edges = [cut.tolist() for cut in cuts]
    facts: dict[str, Any] = {
        "columns": [shape.feature] if len(edges) == 1 else list(shape.features),
        "cuts": edges if len(edges) > 1 else edges[0],
        "h": shape.h.tolist(),
        "r": shape.r.tolist(),
    }
    if getattr(shape, "levels", ()):
        facts["levels"] = list(shape.levels)
    return facts
