"""What each column of the table adds to the log-odds, by the members that are sums over columns.

Linear models, models on curves and boosted stumps are such sums; trees and networks are not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from ..arrays import Flags, Floats, Indices
from ..boosting.shapes import AdditiveForm
from .bagging import BaggedMember
from .curves import HingeBasis
from .features import CODES, SCALED, TableViews

_TYPICAL_CASES = 5_000  # from which the mean is taken


class Sources(NamedTuple):
    """Where the columns of a view come from: the position in the table of each, and how many the table has."""

    columns: Indices
    n_columns: int

    def add_up(self, parts: Floats) -> Floats:
        """Sum the parts (one column per column of the view) of each column of the table."""
        out = np.zeros((len(parts), self.n_columns))
        for part, column in zip(parts.T, self.columns.tolist(), strict=True):
            out[:, column] += part
        return out


def view_sources(views: TableViews, categorical: Flags) -> dict[str, Sources]:
    """Which column of the table each column of a view comes from."""
    return {kind: Sources(views.sources(kind, categorical), len(categorical)) for kind in (CODES, SCALED)}


def is_additive(member: BaggedMember) -> bool:
    """Whether the score of a member is a sum over columns."""
    return all(_parts_of(model) is not None for model in member.models)


def contributions(
    members: Sequence[BaggedMember], weights: Floats, views: Mapping[str, Floats], sources: Mapping[str, Sources]
) -> Floats:
    """What each column of the table adds to the blended log-odds through the additive members among these."""
    n, n_columns = len(next(iter(views.values()))), next(iter(sources.values())).n_columns
    total = np.zeros((n, n_columns))
    for member, weight in zip(members, weights.tolist(), strict=True):
        if is_additive(member):
            parts = np.mean([_parts_of(model)(views[member.view]) for model in member.models], axis=0)
            total += weight * member.sigmoid.slope * sources[member.view].add_up(parts)
    return total


def typical(
    members: Sequence[BaggedMember], weights: Floats, views: Mapping[str, Floats], sources: Mapping[str, Sources]
) -> Floats:
    """What each column adds in the mean over training cases, evenly spaced ones where there are many."""
    n = len(next(iter(views.values())))
    rows = np.arange(0, n, max(1, n // _TYPICAL_CASES))
    spaced = {kind: matrix[rows] for kind, matrix in views.items()}
    mean: Floats = contributions(members, weights, spaced, sources).mean(axis=0)
    return mean


def _parts_of(model: Any) -> Any:
    """Matrix -> what each of its columns adds to the score; None for a model that is no such sum."""
    if isinstance(model, LogisticRegression):
        return lambda matrix: matrix * model.coef_[0]
    if isinstance(model, Pipeline):
        return _curve_parts(model)
    if hasattr(model, "shape_functions_") and not hasattr(model, "score_functions_"):
        surfaces = getattr(model, "interaction_functions_", [])
        form = AdditiveForm(0.0, 0.0, model.shape_functions_, surfaces)
        # A part of the cases may lack a category: the model has codes of its own.
        return lambda matrix: _by_column(form, model._numbers(matrix))
    return None


def _by_column(form: AdditiveForm, matrix: Floats) -> Floats:
    """What each column adds to h; half of a pair term belongs to either of its columns."""
    parts, p = form.contributions(matrix)[0], matrix.shape[1]
    for j, surface in enumerate(form.surfaces, start=p):
        for column in surface.features:
            parts[:, column] += parts[:, j] / 2
    return parts[:, :p]


def _curve_parts(model: Pipeline) -> Any:
    steps = [step for _, step in model.steps]
    if not (len(steps) == 2 and isinstance(steps[0], HingeBasis) and isinstance(steps[1], LogisticRegression)):
        return None
    basis, linear = steps

    def parts(matrix: Floats) -> Floats:
        bends = Sources(np.concatenate([np.arange(matrix.shape[1]), basis.columns_]), matrix.shape[1])
        return bends.add_up(basis.transform(matrix) * linear.coef_[0])

    return parts
