"""Edits of a fitted additive model: what was changed, by whom and why, and what it costs on cases that were held out.

An edit changes what one feature adds to the scores, cell by cell. Cell j of a shape function holds the values above
cut j - 1 and not above cut j; the cell after the last is that of missing values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression

from ..arrays import Flags, Floats
from ..labels import preview, to_python
from ..parameters import check_choice, check_number
from .shapes import AdditiveForm, ShapeFunction

SCORES = ("both", "h", "r")


@dataclass(frozen=True)
class EditCost:
    """What an edit costs on given cases, in the currency of the prices.

    Attributes
    ----------
    before, after : float
        Mean cost of a case.
    change : float
        After less before: greater than 0 where the edit costs money.
    standard_error : float
        Of that change, from the same cases answered twice.
    changed_answers : float
        Share of the cases that are answered differently.
    n_cases : int
        Number of cases.
    """

    before: float
    after: float
    change: float
    standard_error: float
    changed_answers: float
    n_cases: int

    def __str__(self) -> str:
        return (
            f"{self.change:+.4g} per case (standard error {self.standard_error:.2g}) on {self.n_cases:,} cases: "
            f"{self.before:.4g} before, {self.after:.4g} after; {self.changed_answers:.1%} answered differently"
        )


@dataclass(frozen=True, eq=False)
class Edit:
    """One edit of a model.

    Attributes
    ----------
    term : str
        Name of the feature, or of the pair of features.
    action : str
        A name in `ACTIONS`.
    details : dict
        What the action was given.
    by, why : str or None
        Who edited, and the reason.
    at : str
        When, in universal time.
    cost : EditCost or None
        What it costs on the cases given; None where none were.
    before, after : list of ShapeFunction, or of SurfaceFunction for a pair
        What the feature added to the scores and what it adds now, in all parts of the model; empty where it adds
        nothing. With them the pair terms that are removed with a feature, and what is made of a stacked score where it
        is monotonised with one.
    """

    term: str
    action: str
    details: dict[str, Any]
    by: str | None
    why: str | None
    at: str
    cost: EditCost | None = None
    before: list[Any] = field(default_factory=list)
    after: list[Any] = field(default_factory=list)

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.details.items())
        said = f"{self.term}: {self.action}" + (f" ({given})" if given else "")
        said += f", by {self.by}" if self.by else ""
        said += f", because {self.why}" if self.why else ""
        return f"{said}, {self.at}. Cost: {'not measured' if self.cost is None else self.cost}"


class Change(NamedTuple):
    """A shape function after an edit, None where nothing is left of it, and constants for the intercepts."""

    shape: ShapeFunction | None
    h: float = 0.0
    r: float = 0.0


def edit_form(form: AdditiveForm, feature: int, action: str, details: Mapping[str, Any]) -> AdditiveForm:
    """The form with an edit of one feature; as it is where the feature adds nothing."""
    shapes, h0, r0 = [], form.h0, form.r0
    if action == "monotonise" and any(feature in surface.features for surface in form.surfaces):
        raise ValueError(
            "action='monotonise' does not go with a feature that is in a pair term: the sum would not be monotone. Fit "
            "with monotonic_cst, or remove the feature."
        )
    for shape in form.shapes:
        if shape.feature != feature:
            shapes.append(shape)
            continue
        changed = ACTIONS[action].apply(shape, **details)
        h0, r0 = h0 + changed.h, r0 + changed.r
        if changed.shape is not None:
            shapes.append(changed.shape)
    form = replace(form, h0=h0, r0=r0, shapes=shapes)
    if action == "remove":
        for surface in form.surfaces:
            if feature in surface.features:
                form = edit_surface(form, surface.features, action, details)
    return form


def edit_surface(
    form: AdditiveForm, features: tuple[int, int], action: str, details: Mapping[str, Any]
) -> AdditiveForm:
    """The form with an edit of one pair term: "remove" or "cap"."""
    if action not in ("remove", "cap"):
        raise ValueError(f"action={action!r} is for single features; a pair term takes 'remove' and 'cap'.")
    surfaces, constants = [], {"h": form.h0, "r": form.r0}
    for surface in form.surfaces:
        if surface.features != features:
            surfaces.append(surface)
            continue
        scores = details.get("scores", "both" if action == "remove" else "h")
        tables = {"h": surface.h, "r": surface.r}
        for score in tables if scores == "both" else (scores,):
            if action == "cap":
                tables[score] = np.clip(tables[score], *_limits(details.get("at_least"), details.get("at_most")))
                continue
            if surface.share is not None:  # the mean is 0 by purification, but not after a cap
                constants[score] += float((surface.share * tables[score]).sum())
            tables[score] = np.zeros_like(tables[score])
        if tables["h"].any() or tables["r"].any():
            surfaces.append(replace(surface, h=tables["h"], r=tables["r"]))
    return replace(form, h0=constants["h"], r0=constants["r"], surfaces=surfaces)


def check_action(action: Any, details: Mapping[str, Any]) -> None:
    """Refuse an action that there is not, or that does not take what it is given."""
    check_choice("action", action, ACTIONS)
    takes = ACTIONS[action].takes
    stray = [name for name in details if name not in takes]
    if stray:
        raise ValueError(
            f"{stray[0]}={details[stray[0]]!r} does not go with action={action!r}, which takes {', '.join(takes)}."
        )
    if "scores" in details:
        check_choice("scores", details["scores"], SCORES)


def edit_cost(before: Floats, after: Floats, changed: Flags, weight: Floats) -> EditCost:
    """The cost of an edit from the price of every case before and after."""
    share = weight / weight.sum()
    difference = after - before
    mean = float(share @ difference)
    error = float(np.sqrt(share**2 @ (difference - mean) ** 2))
    return EditCost(
        float(share @ before), float(share @ after), mean, error, float(share @ changed), int(np.count_nonzero(weight))
    )


def _remove(shape: ShapeFunction, scores: str = "both") -> Change:
    """Let the feature add the same to every case: its mean over the training cases, which goes to the intercepts."""
    share = _shares(shape)
    h, r = (float(share @ np.append(values, lost)) for values, lost in _scores(shape))
    kept, kept_lost = _scores(shape)[0 if scores == "r" else 1]
    if scores == "both" or not (kept.any() or kept_lost):
        return Change(None, h, r)
    if scores == "h":
        return Change(replace(shape, h=np.zeros_like(shape.h), missing=(0.0, shape.missing[1])), h)
    return Change(replace(shape, r=np.zeros_like(shape.r), missing=(shape.missing[0], 0.0)), 0.0, r)


def _flatten(
    shape: ShapeFunction,
    low: float | None = None,
    high: float | None = None,
    levels: Any = None,
    missing: bool = False,
    scores: str = "both",
) -> Change:
    """Let all values in a range (low, high], or all of some levels, add the same: their mean."""
    shape, inside = _inside(shape, low, high, levels, missing)
    share = _shares(shape)[inside]
    total = share.sum()
    share = share / total if total > 0 else np.full(len(share), 1.0 / len(share))
    h, r = (float(share @ np.append(values, lost)[inside]) for values, lost in _scores(shape))
    return Change(_with_values(shape, inside, h if scores != "r" else None, r if scores != "h" else None))


def _set(
    shape: ShapeFunction,
    low: float | None = None,
    high: float | None = None,
    levels: Any = None,
    missing: bool = False,
    h: float | None = None,
    r: float | None = None,
) -> Change:
    """Let all values in a range (low, high], or all of some levels, add given amounts."""
    if h is None and r is None:
        raise ValueError("action='set' needs what the values are to add: h=, r= or both.")
    for name, value in (("h", h), ("r", r)):
        if value is not None:
            check_number(name, value)
    shape, inside = _inside(shape, low, high, levels, missing)
    return Change(_with_values(shape, inside, h, r))


def _cap(
    shape: ShapeFunction, at_least: float | None = None, at_most: float | None = None, scores: str = "h"
) -> Change:
    """Let no value add less than one amount, or more than another."""
    low, high = _limits(at_least, at_most)
    (h, h_lost), (r, r_lost) = _scores(shape)
    if scores != "r":
        h, h_lost = np.clip(h, low, high), float(np.clip(h_lost, low, high))
    if scores != "h":
        r, r_lost = np.clip(r, low, high), float(np.clip(r_lost, low, high))
    return Change(replace(shape, h=h, r=r, missing=(h_lost, r_lost)))


def _limits(at_least: float | None, at_most: float | None) -> tuple[float, float]:
    """What may be added at least and at most."""
    if at_least is None and at_most is None:
        raise ValueError("action='cap' needs at_least=, at_most= or both.")
    for name, value in (("at_least", at_least), ("at_most", at_most)):
        if value is not None:
            check_number(name, value)
    low, high = -np.inf if at_least is None else at_least, np.inf if at_most is None else at_most
    if low > high:
        raise ValueError(f"at_least={at_least!r} must not be above at_most={at_most!r}.")
    return low, high


def _monotonise(shape: ShapeFunction, sign: int | None = None, scores: str = "h") -> Change:
    """Replace the function by the closest one, over the training cases, that rises (sign 1) or falls (-1)."""
    if sign not in (1, -1):
        raise ValueError(f"action='monotonise' needs sign=1 (rising) or sign=-1 (falling); got sign={sign!r}.")
    if shape.levels:
        raise ValueError("action='monotonise' needs an order, which the levels of a category do not have.")
    weight = _shares(shape)[:-1] + 1e-12  # cells without cases follow their neighbours
    h, r = (isotonic_regression(values, weights=weight, increasing=sign > 0).x for values in (shape.h, shape.r))
    return Change(replace(shape, h=shape.h if scores == "r" else h, r=shape.r if scores == "h" else r))


class Action(NamedTuple):
    """What can be done to a shape function, and which arguments it takes."""

    apply: Callable[..., Change]
    takes: tuple[str, ...]


_RANGE = ("low", "high", "levels", "missing")
ACTIONS = {
    "remove": Action(_remove, ("scores",)),
    "flatten": Action(_flatten, (*_RANGE, "scores")),
    "set": Action(_set, (*_RANGE, "h", "r")),
    "cap": Action(_cap, ("at_least", "at_most", "scores")),
    "monotonise": Action(_monotonise, ("sign", "scores")),
}


def _scores(shape: ShapeFunction) -> tuple[tuple[Floats, float], tuple[Floats, float]]:
    """Both functions, each with what a missing value adds."""
    return (shape.h, shape.missing[0]), (shape.r, shape.missing[1])


def _shares(shape: ShapeFunction) -> Floats:
    """Share of the training cases in each cell; the same in all known ones for models that do not say."""
    n = len(shape.h)
    return np.append(np.full(n, 1.0 / n), 0.0) if shape.share is None else shape.share


def _inside(
    shape: ShapeFunction, low: float | None, high: float | None, levels: Any, missing: bool
) -> tuple[ShapeFunction, Flags]:
    """The shape function with cuts at both ends of a range, and which of its cells, missing values last, lie in it."""
    if shape.levels:
        if low is not None or high is not None:
            raise ValueError("low and high are for numbers; the values of this feature are categories: give levels=.")
        return shape, np.append(_named_levels(shape, levels, every=not missing), bool(missing))
    if levels is not None:
        raise ValueError(f"levels={levels!r} is for categories; this feature has numbers: give low= and high=.")
    for name, end in (("low", low), ("high", high)):
        if end is not None:
            check_number(name, end)
    start, stop = -np.inf if low is None else float(low), np.inf if high is None else float(high)
    if not start < stop:
        raise ValueError(f"low={low!r} must be below high={high!r}.")
    for end in (start, stop):
        if np.isfinite(end):
            shape = _cut_at(shape, end)
    edges = np.concatenate([[-np.inf], shape.cuts, [np.inf]])
    known = (edges[:-1] >= start) & (edges[1:] <= stop)
    if missing and low is None and high is None:  # missing values alone are meant
        known[:] = False
    return shape, np.append(known, bool(missing))


def _named_levels(shape: ShapeFunction, levels: Any, *, every: bool) -> Flags:
    """Which levels are named; without names every one or none."""
    if levels is None:
        return np.full(len(shape.levels), every)
    wanted = [to_python(level) for level in ([levels] if isinstance(levels, str) else levels)]
    unknown = [level for level in wanted if level not in shape.levels]
    if unknown:
        raise ValueError(f"levels holds {unknown[0]!r}, which is not among {preview(shape.levels)}.")
    return np.array([level in wanted for level in shape.levels])


def _cut_at(shape: ShapeFunction, value: float) -> ShapeFunction:
    """The same function with one more cut; its cell is split, and its cases are counted half to either side."""
    at = int(np.searchsorted(shape.cuts, value))
    if at < len(shape.cuts) and shape.cuts[at] == value:
        return shape
    share = shape.share
    if share is not None:
        share = np.insert(share, at, share[at] / 2)
        share[at + 1] /= 2
    cuts, h, r = (
        np.insert(shape.cuts, at, value),
        np.insert(shape.h, at, shape.h[at]),
        np.insert(shape.r, at, shape.r[at]),
    )
    return replace(shape, cuts=cuts, h=h, r=r, share=share)


def _with_values(shape: ShapeFunction, inside: Flags, h: float | None, r: float | None) -> ShapeFunction:
    """The function with given amounts in some cells, missing values last."""
    tables = []
    for (values, lost), amount in zip(_scores(shape), (h, r), strict=True):
        table = np.append(values, lost)
        if amount is not None:
            table[inside] = amount
        tables.append(table)
    missing = float(tables[0][-1]), float(tables[1][-1])
    return replace(shape, h=tables[0][:-1], r=tables[1][:-1], missing=missing)
