"""What each column of the table adds to the log-odds of the blend: by each member, weighted as it is blended.

Linear models, models on curves and boosted stumps are sums over columns. Of trees the Shapley values count, those of a
forest brought from its probability to the log-odds. Other members, networks among them, are compared with a few
training cases, all of them together. Nearest neighbours take too long for that and are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline

from ..arrays import Flags, Floats, Indices
from ..boosting.shapes import AdditiveForm
from ..explaining import (
    LOG_ODDS,
    Background,
    Contributions,
    TreeSum,
    as_tree_sum,
    explain_by_sampling,
    explain_trees,
    mean_of,
    weighted_sum,
)
from .bagging import BaggedMember, bounded_log_odds, line_score
from .boosters import NativeBooster
from .curves import HingeBasis
from .features import CODES, SCALED, TableViews

_TYPICAL_CASES = 5_000  # from which the mean is taken
_BACKGROUND = 32  # training cases that a member which is no sum is compared with
_MOST_LEAVES = 8_000  # of the trees of a forest, over all folds, whose Shapley values are worked out
_SOME = 0.02  # share of the weight that is worth a word
_CALLS = 40  # scores of one case by the members that are compared with training cases


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


def background(
    members: Sequence[BaggedMember], weights: Floats, views: Mapping[str, Floats], seed: int
) -> dict[str, Floats] | None:
    """Some training cases, in the views of those members that have to be compared with them; None without any."""
    kinds = {member.view for member, w in zip(members, weights, strict=True) if w > 0 and _way(member) == _COMPARED}
    if not kinds:
        return None
    n = len(next(iter(views.values())))
    rows = np.sort(np.random.default_rng(seed).choice(n, size=min(n, _BACKGROUND), replace=False))
    return {kind: views[kind][rows] for kind in sorted(kinds)}


def blended(
    members: Sequence[BaggedMember],
    weights: Floats,
    views: Mapping[str, Floats],
    sources: Mapping[str, Sources],
    typical_cases: Mapping[str, Floats] | None,
) -> Contributions:
    """Contributions of the columns of the table to the blended log-odds of all members that can be explained.

    Those of members that are sums over columns are not yet compared with a typical case: see `typical`.
    """
    amounts = contributions(members, weights, views, sources)
    ways = [_way(member) for member in members]
    parts: list[Contributions] = []
    for member, weight, way in zip(members, weights.tolist(), ways, strict=True):
        found = shapley(member, views[member.view]) if way == _TREES else None
        if found is not None:
            by_table = found.by_source(sources[member.view].columns, sources[member.view].n_columns)
            parts.append(weighted_sum([by_table], [weight]))
    rest = [i for i, way in enumerate(ways) if way == _COMPARED]
    if rest and typical_cases is not None:
        parts.append(sampled([members[i] for i in rest], weights[rest], views, sources, typical_cases))
    for part in parts:
        amounts = amounts + part.amounts
    errors = [part.error**2 for part in parts if part.error is not None]
    left_out = [_LEFT_OUT, *([] if typical_cases is not None else [_COMPARED])]
    share = 1 - sum(w for w, way in zip(weights.tolist(), ways, strict=True) if way in left_out) / float(weights.sum())
    note = "" if share > 1 - _SOME else f" (by members with {share:.0%} of the weight)"
    error = np.sqrt(np.sum(errors, axis=0)) if errors else None
    return Contributions(amounts, np.zeros(len(amounts)), LOG_ODDS, error, note)


_SUM, _TREES, _COMPARED, _LEFT_OUT = "sum", "trees", "compared", "left out"


def _way(member: BaggedMember) -> str:
    """How a member is explained."""
    if is_additive(member):
        return _SUM
    if all(isinstance(model, NativeBooster) or as_tree_sum(model) is not None for model in member.models):
        return _TREES
    # Every score of nearest neighbours is a search among the training cases: hundreds of them would take minutes.
    return _LEFT_OUT if any(isinstance(model, KNeighborsClassifier) for model in member.models) else _COMPARED


def shapley(member: BaggedMember, matrix: Floats) -> Contributions | None:
    """Contributions of the columns of its view to the log-odds of a member of trees; None for any other."""
    if all(isinstance(model, NativeBooster) for model in member.models):
        found = Contributions.mean([model.contributions(matrix) for model in member.models])
    else:
        sums = [as_tree_sum(model) for model in member.models]
        known = [model for model in sums if model is not None]
        if len(known) < len(sums):
            return None
        found = _of_trees(mean_of(known), member, matrix)
    slope, intercept = member.sigmoid.slope, member.sigmoid.intercept
    error = None if found.error is None else slope * found.error
    return Contributions(slope * found.amounts, slope * found.base + intercept, LOG_ODDS, error)


def _of_trees(trees: TreeSum, member: BaggedMember, matrix: Floats) -> Contributions:
    found = explain_trees(trees, matrix, _MOST_LEAVES)
    if found.scale == LOG_ODDS:
        return found
    score: Floats = np.mean([line_score(model, matrix) for model in member.models], axis=0)
    return found.rescaled(score, bounded_log_odds(found.base), LOG_ODDS)


def sampled(
    members: Sequence[BaggedMember],
    weights: Floats,
    views: Mapping[str, Floats],
    sources: Mapping[str, Sources],
    typical_cases: Mapping[str, Floats],
) -> Contributions:
    """Estimated contributions of the columns of the table to the blended log-odds of these members."""
    kinds = sorted({member.view for member in members})
    edges = np.cumsum([0, *(views[kind].shape[1] for kind in kinds)])
    places = {kind: slice(start, stop) for kind, start, stop in zip(kinds, edges[:-1], edges[1:], strict=True)}

    def score(cases: Floats) -> Floats:
        parts = [member.log_odds(cases[:, places[member.view]]) for member in members]
        total: Floats = np.column_stack(parts) @ weights
        return total

    groups = np.concatenate([sources[kind].columns for kind in kinds])
    cases = Background(np.hstack([typical_cases[kind] for kind in kinds]), groups)
    return explain_by_sampling(score, np.hstack([views[kind] for kind in kinds]), cases, LOG_ODDS, calls=_CALLS)


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
