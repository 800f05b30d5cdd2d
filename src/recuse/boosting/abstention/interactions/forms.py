"""The additive form of main effects and pair terms: purified, so that every term is the only one of its kind."""

from __future__ import annotations

import numpy as np

from ....arrays import Floats
from ...binning import Bins
from ...shapes import AdditiveForm, additive_form
from ...surfaces import SurfaceFunction, purify
from ..engine.state import Ensemble
from .terms import PairTables


def purified_form(model: Ensemble, terms: PairTables, bins: Bins, weight: Floats) -> AdditiveForm:
    """Stumps and pair terms as shape functions and surfaces, each with the weighted mean 0 over the training cases.

    Parameters
    ----------
    model : Ensemble
        The stumps.
    terms : PairTables
        The pair terms.
    bins : Bins
        The training cases.
    weight : ndarray of shape (m,)
        Their sample weights.
    """
    tables, constants = np.stack(model.tables(bins)), np.array([model.h0, model.r0])
    cells, surfaces = terms.cells(bins), []
    for k, (first, second) in enumerate(terms.pairs.tolist()):
        shape = tuple(terms.sizes[k].tolist())
        mass = np.bincount(cells[k], weight, minlength=shape[0] * shape[1]).reshape(shape)
        pure = []
        for score in range(2):
            part = purify(terms.table(k)[:, :, score], mass)
            for f, effect in ((first, part.rows), (second, part.columns)):
                tables[score, bins.offsets[f] : bins.offsets[f + 1]] += effect[terms.coarse.groups[f]]
            constants[score] += part.constant
            pure.append(_without_unseen(part.pure, mass))
        if any(part.any() for part in pure):
            surfaces.append(_surface((first, second), terms, bins, pure, mass / mass.sum()))
    for f in range(len(bins.n_bins)):
        own = slice(bins.offsets[f], bins.offsets[f + 1])
        mass = np.bincount(bins.codes[f], weight, minlength=own.stop - own.start)
        mean = tables[:, own] @ mass / mass.sum()
        tables[:, own] -= mean[:, None]
        constants += mean
    h0, r0 = constants.tolist()
    return additive_form(h0, r0, (tables[0], tables[1]), bins, weight, surfaces)


def _surface(
    features: tuple[int, int], terms: PairTables, bins: Bins, pure: list[Floats], share: Floats
) -> SurfaceFunction:
    """Tables by the coarse codes of two features; those of a category by its levels, in the order of their codes."""
    cuts = []
    for axis, f in enumerate(features):
        if f in bins.levels:
            cell = bins.levels[f].cell
            code = np.append(terms.coarse.groups[f][cell], terms.coarse.groups[f][-1])
            pure = [table.take(code, axis=axis) for table in pure]
            # Levels that are joined share the cases of their group alike.
            alike = 1.0 / np.bincount(code, minlength=share.shape[axis])[code]
            share = share.take(code, axis=axis) * (alike[:, None] if axis == 0 else alike)
            cuts.append(np.arange(0.5, len(cell) - 1))
        else:
            cuts.append(terms.coarse.cuts(bins, f))
    return SurfaceFunction(features, (cuts[0], cuts[1]), pure[0], pure[1], share)


def _without_unseen(pure: Floats, mass: Floats) -> Floats:
    """Nothing for a row or column that no training case is in: missing values where training had none."""
    seen = np.outer(mass.sum(axis=1) > 0, mass.sum(axis=0) > 0)
    return np.where(seen, pure, 0.0)
