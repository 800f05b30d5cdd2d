"""What the classifier is given, column by column: a number of the table that was moved and scaled, or a level.

A feature follows one column of the table through the fitted steps of a Pipeline. A step that mixes columns ends the
export, with a sentence that says which.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Floats
from .program import DecisionProgram, Expr, If, Levels, Missing, Nothing, Number, Ref, Steps, call

SINGLE_LIMIT = float(np.finfo(np.float32).max) * (1 + 2.0**-25)  # from here on single precision rounds to infinity
_SPLIT = float(2**29)  # 53 digits of a float less the 24 of one in single precision


class CannotExportError(ValueError):
    """Raised where a model, or a step before it, has no form that can be written down."""


@dataclass(frozen=True, eq=False)
class NumberFeature:
    """A number of the table, perhaps rounded to single precision, filled in, moved and scaled.

    Attributes
    ----------
    column : int
        Column of the program.
    part : str
        Of a date, which part; else empty.
    single : bool
        Whether it is rounded to single precision first.
    fill : float or None
        What stands for a missing one.
    changes : tuple of (str, float)
        What is done to it then, in this order: "-", "+", "*" or "/" by a number.
    """

    column: int
    part: str = ""
    single: bool = False
    fill: float | None = None
    changes: tuple[tuple[str, float], ...] = ()

    def then(self, op: str, value: float) -> NumberFeature:
        """The same with one more change, or with missing ones filled in."""
        if op != "fill":
            return replace(self, changes=(*self.changes, (op, float(value))))
        if self.fill is None and self.changes:
            raise CannotExportError("Columns that are scaled before they are filled in cannot be exported: fill first.")
        return self if self.fill is not None else replace(self, fill=float(value))

    @property
    def may_be_missing(self) -> bool:
        """Whether nothing fills it in."""
        return self.fill is None

    def start(self, program: DecisionProgram) -> Ref:
        """The number before it is filled in and changed."""
        column = program.column(self.column)
        return program.let(date_part(program, column, self.part)) if self.part else column

    def expr(self, program: DecisionProgram) -> Expr:
        """The number as the classifier sees it; of a case that the program refuses where it may not be missing."""
        found: Expr = self.start(program)
        if self.fill is not None:
            found = If(Missing(self.start(program)), Number(self.fill), found)
        if self.single and not _is_exact_in_single(self.part):
            found = in_single(program, program.let(found))
        for op, value in self.changes:
            found = CHANGES[op](found, value)
        return found

    def steps(self, program: DecisionProgram, cuts: Floats, values: Floats, missing: float) -> Expr:
        """A step function of the number as the classifier sees it, as one of the number in the table."""
        if self.changes:
            raise CannotExportError("Step functions of scaled columns cannot be exported: leave the scaling out.")
        if self.fill is not None:
            missing = float(values[np.searchsorted(cuts, self.fill, side="left")])
        return Steps(self.start(program), tuple(self.raw_cuts(cuts).tolist()), tuple(values.tolist()), float(missing))

    def raw_cuts(self, cuts: Floats) -> Floats:
        """Cuts on the number before it is rounded: the same cases lie on either side of them."""
        if not self.single or _is_exact_in_single(self.part):
            return cuts
        return np.array([last_below(cut) for cut in cuts.tolist()])


@dataclass(frozen=True, eq=False)
class LevelFeature:
    """A number for each level of a column of text, such as whether it is this one.

    Attributes
    ----------
    column : int
        Column of the program.
    levels : tuple
        The levels.
    values : ndarray of shape (n + 2,)
        The number of each level, of an unknown one and of a missing one; NaN where it stays missing.
    """

    column: int
    levels: tuple[Any, ...]
    values: Floats

    def then(self, op: str, value: float) -> LevelFeature:
        """The same with one more change."""
        if op == "fill":
            return replace(self, values=np.where(np.isnan(self.values), value, self.values))
        changed: Floats = CHANGES[op](self.values, value)
        return replace(self, values=changed)

    @property
    def may_be_missing(self) -> bool:
        """Whether nothing fills it in."""
        return bool(np.isnan(self.values).any())

    def table(self, program: DecisionProgram, values: Floats) -> Levels:
        """These values by level, then for an unknown and a missing one."""
        *known, unknown, missing = values.tolist()
        return Levels(program.column(self.column), self.levels, tuple(known), missing, unknown)

    def expr(self, program: DecisionProgram) -> Expr:
        """The number as the classifier sees it."""
        return self.table(program, self.values)


@dataclass(frozen=True, eq=False)
class CategoryFeature:
    """A column of categories, for a classifier that takes them as they are.

    Attributes
    ----------
    column : int
        Column of the program.
    known : tuple or None
        Levels that a step before the classifier lets pass; None for all.
    """

    column: int
    known: tuple[Any, ...] | None = None
    may_be_missing = True


@dataclass(frozen=True, eq=False)
class LostFeature:
    """A column that nothing outside this library computes, such as the encoding of free text.

    Attributes
    ----------
    why : str
        The sentence for whoever needs it.
    """

    why: str
    may_be_missing = False

    def then(self, op: str, value: float) -> LostFeature:
        """Still lost."""
        return self


Feature = NumberFeature | LevelFeature | CategoryFeature | LostFeature


def is_as_read(feature: Feature) -> bool:
    """Whether a feature is a column of the table that no step has changed yet."""
    plain = isinstance(feature, NumberFeature) and not (feature.part or feature.changes or feature.single)
    return isinstance(feature, CategoryFeature) or (plain and feature.may_be_missing)


CHANGES: dict[str, Callable[[Any, float], Any]] = {
    "-": lambda x, value: x - value,
    "+": lambda x, value: x + value,
    "*": lambda x, value: x * value,
    "/": lambda x, value: x / value,
}


def in_single(program: DecisionProgram, x: Ref) -> Expr:
    """The nearest number in single precision, of two equally near ones the even one, in double precision throughout.

    Just below a power of two the addition in `_leading_digits` rounds more coarsely. A number a little larger then has
    this power as its leading digits, which is so near that nothing else can be the nearest.
    """
    power = program.let(_leading_digits(program, program.let(x * (1 + 2.0**-27))))
    digits = program.let(_leading_digits(program, x))
    return If(call("abs", power - x) * 2.0**28 <= call("abs", x), power, digits)


def _leading_digits(program: DecisionProgram, x: Ref) -> Expr:
    """The 24 leading digits: x times 2**29 is exact, adding x rounds it, and what was added is taken off again."""
    shifted = program.let(x * _SPLIT)
    return (shifted + x) - shifted


def last_below(cut: float) -> float:
    """Largest number that, rounded to single precision, is not above the cut."""
    with np.errstate(over="ignore"):
        low = np.float32(cut)
        if float(low) > cut:
            low = np.nextafter(low, np.float32(-np.inf))
        high = np.nextafter(low, np.float32(np.inf))
    middle = (float(low) + float(high)) / 2  # exact: 25 digits
    with np.errstate(over="ignore"):
        return middle if np.float32(middle) == low else float(np.nextafter(middle, -np.inf))


_DAY = 86400.0


def _is_exact_in_single(part: str) -> bool:
    """Whether a part of a date is a small whole number, which single precision holds."""
    return part not in ("", "total_seconds")


def date_part(program: DecisionProgram, seconds: Ref, part: str) -> Expr:
    """A part of a date from its seconds since 1970; it is missing where they are.

    Years are counted in eras of 400 from the 1st of March of the year 0, so that the leap day is the last of a year.
    """
    if part == "total_seconds":
        return seconds
    present = program.let(If(Missing(seconds), Number(0.0), seconds))
    day = program.let(_floor(present / _DAY))
    if part in ("hour", "minute", "second"):
        return _if_known(seconds, _clock(present - day * _DAY, part))
    if part == "weekday":
        return _if_known(seconds, (day + 3.0) - _floor((day + 3.0) / 7.0) * 7.0 + 1.0)
    shifted = program.let(day + 719468.0)
    era = program.let(_floor(shifted / 146097.0))
    of_era = program.let(shifted - era * 146097.0)
    leaps = (of_era - _floor(of_era / 1460.0)) + _floor(of_era / 36524.0) - _floor(of_era / 146096.0)
    year = program.let(_floor(leaps / 365.0))
    of_year = program.let(of_era - (year * 365.0 + _floor(year / 4.0) - _floor(year / 100.0)))
    month = program.let(_floor((of_year * 5.0 + 2.0) / 153.0))  # 0 for March
    if part == "day":
        return _if_known(seconds, of_year - _floor((month * 153.0 + 2.0) / 5.0) + 1.0)
    if part == "month":
        return _if_known(seconds, If(month < 10.0, month + 3.0, month - 9.0))
    if part == "year":
        return _if_known(seconds, year + era * 400.0 + If(month < 10.0, Number(0.0), Number(1.0)))
    raise CannotExportError(f"The part {part!r} of a date cannot be exported: use year, month, day, hour or weekday.")


def _clock(of_day: Expr, part: str) -> Expr:
    """Hour, minute or second of a time of day in seconds."""
    length, cycle = {"hour": (3600.0, 24.0), "minute": (60.0, 60.0), "second": (1.0, 60.0)}[part]
    units = _floor(of_day / length)
    return units - _floor(units / cycle) * cycle


def _floor(x: Expr) -> Expr:
    return call("floor", x)


def _if_known(seconds: Ref, value: Expr) -> Expr:
    return If(Missing(seconds), Nothing(), value)
