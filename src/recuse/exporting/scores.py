"""The scores of each kind of model as expressions, and what each column adds to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression

from ..arrays import Floats
from ..boosting.shapes import AdditiveForm, ShapeFunction
from ..boosting.surfaces import SurfaceFunction
from ..calibration import Beta, Isotonic, Sigmoid, Temperature
from ..explaining.linear import coefficients
from .features import CannotExportError, CategoryFeature, Feature, LevelFeature, LostFeature, NumberFeature
from .preparation import read_levels
from .program import DecisionProgram, Expr, Grid, If, Levels, Number, Ref, Steps, call

FARTHEST = 700.0  # beyond this, some databases refuse the exponential as too large or too small
_SMALLEST = 1e-9  # of a probability, as `log_odds` of recuse.calibration has it


@dataclass(frozen=True, eq=False)
class Amounts:
    """What each column, or pair of columns, adds to the scores, beyond what it adds to an average case.

    Attributes
    ----------
    names : tuple of str
        Of the columns.
    h : tuple of Expr
        Towards the second class.
    r : tuple of Expr or None
        To the acceptance score; None for a model that rejects by thresholds on one score.
    """

    names: tuple[str, ...]
    h: tuple[Expr, ...]
    r: tuple[Expr, ...] | None = None


def take_categories(
    program: DecisionProgram, categories: Mapping[int, Sequence[Any]], features: Sequence[Feature]
) -> None:
    """Let a program read the columns that a boosted model takes as categories, also those that add nothing now."""
    program.level_codes = {f: tuple(levels) for f, levels in categories.items()}
    for f, levels in program.level_codes.items():
        feature = features[f]
        if isinstance(feature, NumberFeature | CategoryFeature):
            read_levels(program, feature.column, levels)


def additive_scores(
    program: DecisionProgram, form: AdditiveForm, features: Sequence[Feature], *, with_r: bool
) -> tuple[Ref, Ref | None, Amounts]:
    """Sums h and r of a form over features, added up in the order in which the form adds them; and its amounts."""
    terms: list[tuple[str, Any, Ref, Ref | None]] = []
    for shape in form.shapes:
        feature = _usable(features[shape.feature])
        of_h = program.let(_shape(program, feature, shape, shape.h, shape.missing[0]))
        of_r = program.let(_shape(program, feature, shape, shape.r, shape.missing[1])) if with_r else None
        terms.append((program.columns[feature.column].name, shape, of_h, of_r))
    for surface in form.surfaces:
        of_h = program.let(_surface(program, features, surface, surface.h))
        of_r = program.let(_surface(program, features, surface, surface.r)) if with_r else None
        first, second = (program.columns[_usable(features[f]).column].name for f in surface.features)
        terms.append((f"{first} x {second}", surface, of_h, of_r))
    h = program.add_up(form.h0, [of_h for _, _, of_h, _ in terms])
    r = program.add_up(form.r0, [of_r for *_, of_r in terms if of_r is not None]) if with_r else None
    names = tuple(name for name, *_ in terms)
    h_amounts = tuple(of_h - term.means[0] for _, term, of_h, _ in terms)
    r_amounts = tuple(of_r - term.means[1] for _, term, _, of_r in terms if of_r is not None)
    return h, r, Amounts(names, h_amounts, r_amounts if with_r else None)


def _usable(feature: Feature) -> NumberFeature | CategoryFeature:
    """A column that a boosted model reads."""
    if isinstance(feature, LostFeature):
        raise CannotExportError(feature.why)
    if isinstance(feature, LevelFeature):
        raise CannotExportError("Boosting on one-hot columns cannot be exported: give it the categories instead.")
    return feature


def _shape(
    program: DecisionProgram,
    feature: NumberFeature | CategoryFeature,
    shape: ShapeFunction,
    values: Floats,
    missing: float,
) -> Expr:
    """What one feature adds to one of the scores."""
    if isinstance(feature, NumberFeature) and not shape.levels:
        return feature.steps(program, shape.cuts, values, missing)
    return Levels(program.column(feature.column), shape.levels, tuple(values.tolist()), float(missing), float(missing))


def _surface(program: DecisionProgram, features: Sequence[Feature], surface: SurfaceFunction, values: Floats) -> Expr:
    """What a pair of features adds to one of the scores."""
    first, second = surface.features
    x, x_cuts, values = _axis(program, _usable(features[first]), surface.cuts[0], values, first)
    y, y_cuts, turned = _axis(program, _usable(features[second]), surface.cuts[1], values.T, second)
    return Grid(x, x_cuts, y, y_cuts, tuple(map(tuple, turned.T.tolist())))


def _axis(
    program: DecisionProgram, feature: NumberFeature | CategoryFeature, cuts: Floats, values: Floats, f: int
) -> tuple[Ref, tuple[float, ...], Floats]:
    """One axis of a pair term: a number, its cuts, and the table with a row for each of its cells."""
    if isinstance(feature, NumberFeature) and not program.level_codes.get(f):
        if feature.changes or feature.fill is not None:
            raise CannotExportError("Pair terms of columns that are filled in or scaled cannot be exported.")
        return feature.start(program), tuple(feature.raw_cuts(cuts).tolist()), values
    levels = program.level_codes[f]
    n = float(len(levels))
    # A missing level gets a number behind those of the known ones, and a cell of its own.
    codes = tuple(float(i) for i in range(len(levels)))
    number = program.let(Levels(program.column(feature.column), levels, codes, n + 1, n + 1))
    return number, (*cuts.tolist(), n), np.vstack([values, values[-1:]])


def linear_score(
    program: DecisionProgram, model: Any, features: Sequence[Feature], mean: Floats | None
) -> tuple[Ref, Amounts]:
    """The decision function of a linear model, and what each column of the table adds to it."""
    found = coefficients(model)
    assert found is not None
    coef, intercept = found
    typical = np.zeros(len(coef)) if mean is None else mean
    terms: list[Expr] = []
    amounts: dict[int, list[Expr]] = {}
    for column, merged in _by_column(features, coef, typical):
        term, deviation = merged(program)
        terms.append(term)
        amounts.setdefault(column, []).append(deviation)
    total = program.add_up(0.0, terms)
    names = tuple(program.columns[column].name for column in sorted(amounts))
    sums = tuple(_sum(amounts[column]) for column in sorted(amounts))
    return program.let(total + intercept), Amounts(names if mean is not None else (), sums if mean is not None else ())


def _sum(parts: list[Expr]) -> Expr:
    total, *others = parts
    for part in others:
        total = total + part
    return total


def _by_column(features: Sequence[Feature], coef: Floats, typical: Floats) -> list[tuple[int, Any]]:
    """The terms of a linear model: one of each number, and one of all levels of a column."""
    found: list[tuple[int, Any]] = []
    levels: dict[int, list[int]] = {}
    for j, feature in enumerate(features):
        if isinstance(feature, LostFeature):
            raise CannotExportError(feature.why)
        if isinstance(feature, CategoryFeature):
            raise CannotExportError("A linear model needs its categories encoded: put a OneHotEncoder before it.")
        if isinstance(feature, LevelFeature):
            levels.setdefault(feature.column, []).append(j)
        else:
            found.append((feature.column, _number_term(feature, float(coef[j]), float(typical[j]))))
    for column, rows in levels.items():
        found.append((column, _level_term([features[j] for j in rows], coef[rows], typical[rows])))
    return found


def _number_term(feature: NumberFeature, coef: float, typical: float) -> Any:
    def made(program: DecisionProgram) -> tuple[Expr, Expr]:
        x = program.let(feature.expr(program))
        return x * coef, (x - typical) * coef

    return made


def _level_term(features: Sequence[Any], coef: Floats, typical: Floats) -> Any:
    """All columns that are made of the levels of one, as one table."""

    def made(program: DecisionProgram) -> tuple[Expr, Expr]:
        first = features[0]
        values = np.array([feature.values for feature in features])
        if np.isnan(values).any():
            raise CannotExportError("A linear model needs a value for missing categories: encode them.")
        return first.table(program, coef @ values), first.table(program, coef @ (values - typical[:, None]))

    return made


def has_log_odds(model: Any) -> bool:
    """Whether the probability of a linear model is the logistic function of its decision function."""
    return isinstance(model, LogisticRegression | LinearDiscriminantAnalysis)


def expit(program: DecisionProgram, x: Expr) -> Expr:
    """The logistic function, from an exponential that is neither too large nor too small for any database."""
    bounded = program.let(call("max", call("min", x, FARTHEST), -FARTHEST))
    return 1.0 / (1.0 + call("exp", -bounded))


def log_odds(program: DecisionProgram, p: Ref) -> Expr:
    """The log-odds of a probability, those of 0 and 1 finite."""
    bounded = program.let(call("min", call("max", p, _SMALLEST), 1 - _SMALLEST))
    return call("log", bounded / (1.0 - bounded))


def calibrated(program: DecisionProgram, calibrator: Any, z: Ref) -> Expr:
    """The probability that a calibration makes of a score."""
    if isinstance(calibrator, Sigmoid):
        return expit(program, calibrator.slope * z + calibrator.intercept)
    if isinstance(calibrator, Temperature):
        return expit(program, calibrator.slope * z)
    if isinstance(calibrator, Beta):
        one, zero = program.let(_log_expit(program, z)), program.let(_log_expit(program, -z))
        return expit(program, calibrator.a * one - calibrator.b * zero + calibrator.c)
    if isinstance(calibrator, Isotonic):
        return _curve(program, calibrator, z)
    raise CannotExportError(f"{type(calibrator).__name__} cannot be exported: use calibration='sigmoid'.")


def _log_expit(program: DecisionProgram, z: Expr) -> Expr:
    """Logarithm of the logistic function, without losing the digits of small ones."""
    low = program.let(call("min", z, 0.0))
    size = program.let(call("min", call("abs", z), FARTHEST))
    share = program.let(call("exp", -size))
    # log(1 + s) of a small s is s - s**2/2, where 1 + s would have lost it.
    return low - If(share < 1e-8, share - share * share / 2.0, call("log", 1.0 + share))


def _curve(program: DecisionProgram, curve: Isotonic, z: Ref) -> Expr:
    """Straight lines between the points of a curve, level beyond them."""
    x, p = np.asarray(curve.scores, dtype=np.float64), np.asarray(curve.probabilities, dtype=np.float64)
    if len(x) == 1:
        return Number(float(p[0]))
    slope = np.concatenate([[0.0], np.diff(p) / np.diff(x), [0.0]])
    start, height = np.concatenate([x[:1], x]), np.concatenate([p[:1], p])
    cuts = tuple(x.tolist())

    def by_cell(values: Floats) -> Expr:
        return program.let(Steps(z, cuts, tuple(values.tolist()), 0.0))

    return by_cell(slope) * (z - by_cell(start)) + by_cell(height)
