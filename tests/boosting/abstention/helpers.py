"""Slow and simple versions of the boosting core, and problems to run both on."""

from __future__ import annotations

import itertools

import numpy as np

from recuse.boosting.abstention.engine.losses import LOSSES
from recuse.boosting.abstention.engine.problem import Problem
from recuse.boosting.abstention.engine.stumps import LABELS, STUMP_FAMILIES, make_family
from recuse.boosting.abstention.engine.surrogates import Surrogate, calibrated_k
from recuse.boosting.binning import bin_features


def make_problem(X, y, c=0.2, loss="logistic", *, b=None, p=1.0, max_bins=None, weights=None):
    """A `Problem` from plain arrays, y in {-1, +1}; returns it with the row order."""
    order = np.concatenate([np.flatnonzero(y > 0), np.flatnonzero(y < 0)])
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    b = LOSSES[loss].tight_b(c) if b is None else b
    surrogate = Surrogate(loss, b, calibrated_k(loss, c, b, p), p)
    s = (weights / weights.sum())[order]
    return Problem(bin_features(X, order, max_bins), int((y > 0).sum()), s, surrogate), order


def random_data(seed, m=40, p=3, levels=6, missing=0.0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, levels, size=(m, p)).astype(float)
    logit = (X[:, 0] - levels / 2) * 0.8 + (X[:, -1] > levels / 2) * rng.normal(size=m) * 2
    y = np.where(rng.random(m) < 1 / (1 + np.exp(-logit)), 1, -1)
    y[:2] = 1, -1
    if missing:
        X[rng.random(X.shape) < missing] = np.nan
    return X, y


def every_stump(X, family, signs=None):
    """(h, r) columns of every stump of a family on every feature, missing labels included, duplicates removed.

    Of features with a sign only the stumps whose h rises (1) or falls (-1) along the levels.
    """
    values = make_family(family).values
    seen = {}
    for f in range(X.shape[1]):
        x = X[:, f]
        lost = np.isnan(x)
        levels = np.unique(x[~lost])
        rank = np.searchsorted(levels, x)
        for segments, unseen, allowed in STUMP_FAMILIES[family].types:
            for j, k in itertools.combinations_with_replacement(range(len(levels) + 1), 2):
                for extra in allowed if lost.any() else unseen:
                    text = np.where(rank < j, segments[0], np.where(rank < k, segments[1], segments[2]))
                    label = np.array([LABELS.index(a) for a in np.where(lost, extra, text)])
                    if signs is not None and signs[f] and not _obeys(values[label, 0], rank, lost, signs[f]):
                        continue
                    seen.setdefault(label.tobytes(), label)
    labels = np.array(list(seen.values())).T
    return values[labels, 0], values[labels, 1]


def _obeys(h, rank, lost, sign):
    known = np.flatnonzero(~lost)
    return (sign * np.diff(h[known[np.argsort(rank[known], kind="stable")]]) >= 0).all()
