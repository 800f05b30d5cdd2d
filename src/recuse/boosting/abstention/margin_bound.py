"""Corollary 3 of the paper with constants that can be computed: a diagnostic, at these sizes seldom below 1.

With probability 1 - delta over the sample, for every pair whose weights (intercepts included) add up to A,

    risk <= mean L_MB + 2 C1 A R_m(H) + 2 (C1 + C2) A R_m(R) + sqrt(ln log2(2 A) / m) + sqrt(ln(2 / delta) / (2 m))

where C1 = 2, C2 = 2 b for the exponential and C1 = 1/ln 2, C2 = 2 k b (1 - 2^(-1/k))/ln 2 for the logistic loss, and
the Rademacher complexities of the stumps are bounded by their number (Massart). An estimate by random signs is about
half of that (pima: 0.10 and 0.05 instead of 0.19 and 0.09), but the probability that it is too low has to be paid
for: with sqrt(2 ln(3 / delta) / m), half of it for r, it is no lower (0.20 and 0.11), and all shrink like 1/sqrt(m).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...arrays import Flags, Floats
from ..bounds import GeneralizationBound
from ..shapes import AdditiveForm
from .candidates import Candidate
from .engine.problem import Problem
from .engine.settings import Settings
from .engine.stumps import STUMP_FAMILIES
from .engine.surrogates import Surrogate
from .pairs import LearnedPair

_ROWS = 65_536  # rows of which copies are made at once


@dataclass(frozen=True)
class MarginBound:
    """The bound of a fitted pair for every delta.

    Attributes
    ----------
    empirical : float
        Mean of L_MB on the training cases.
    complexity : float
        What the richness of the stumps adds.
    total_weight : float
        A: the weights, those of the intercepts included.
    m : int
        Number of training cases.
    """

    empirical: float
    complexity: float
    total_weight: float
    m: int

    def at(self, delta: float) -> GeneralizationBound:
        """The terms of the bound that fails with probability delta."""
        weight = max(self.total_weight, 1.0)
        chosen = np.sqrt(np.log(max(np.log2(2.0 * weight), 1.0)) / self.m)
        chance = np.sqrt(np.log(2.0 / delta) / (2.0 * self.m))
        return GeneralizationBound(self.empirical, self.complexity, float(chosen + chance), delta)


def empirical_maximum(problem: Problem, h: Floats, r: Floats) -> float:
    """Weighted mean of L_MB at the scores of a problem's cases."""
    surrogate, s, n_pos, phi = problem.surrogate, problem.s, problem.n_pos, problem.surrogate.phi
    total, k = 0.0, np.broadcast_to(surrogate.k, s.shape)
    for start in range(0, len(s), _ROWS):
        rows = slice(start, start + _ROWS)
        margin = np.where(np.arange(start, start + len(s[rows])) < n_pos, h[rows], -h[rows])
        wrong, reject = phi.value(r[rows] - margin), phi.value(-surrogate.b * r[rows])
        total += float(s[rows] @ np.maximum(wrong, k[rows] * reject))
    return total


def massart(family: str, n_values: NDArray[np.int64], has_missing: Flags, m: int) -> tuple[float, float]:
    """Bounds of the Rademacher complexities of the classifying and the rejecting part of the stumps."""
    n, missing_labels = n_values.astype(float), np.where(has_missing, 3.0, 1.0)
    n_h, n_r = 3 * np.sum(missing_labels * (n + 1) * (n + 2)), np.sum(missing_labels * (1 + n * (n + 1) / 2))
    # Of stumps that only reject the mean of 0 and -1 can be taken off; not where their opposites, which accept, are
    # stumps as well.
    half = 1.0 if STUMP_FAMILIES[family].accepts else 0.5
    constants = 1 / np.sqrt(m)  # the two intercepts
    return float(np.sqrt(2 * np.log(n_h) / m) + constants), float(half * np.sqrt(2 * np.log(n_r) / m) + constants)


def complexity(surrogate: Surrogate, total_weight: float, of_h: float, of_r: float) -> float:
    """What stumps of these Rademacher complexities add to the bound."""
    c1, c2 = surrogate.phi.steepest(surrogate.b, float(np.max(surrogate.k)))
    weight = max(total_weight, 1.0)
    return float(2.0 * c1 * weight * of_h + 2.0 * (c1 + c2) * weight * of_r)


def bound_of(chosen: Candidate, settings: Settings) -> MarginBound | None:
    """The paper's bound; None where it does not hold: for trees, pair terms, stacks, Chow's rule and categories."""
    pair, boosted, problem = chosen.pair, chosen.boosted, chosen.boosted.problem
    if not (isinstance(pair, LearnedPair) and isinstance(pair.form, AdditiveForm)) or pair.form.surfaces:
        return None
    if problem.bins.levels:  # the order of levels is chosen by the cases
        return None
    model = boosted.solution.model
    m, n_bins = problem.n_cases, problem.bins.n_bins
    # Bins placed by the same sample could have been anywhere between its values.
    n_values = n_bins if settings.max_bins is None else np.full_like(n_bins, m)
    total_weight = float(model.weights.sum() + abs(model.h0) + abs(model.r0 - pair.threshold))
    of_h_and_r = massart(chosen.name, n_values, problem.bins.has_missing, m)
    return MarginBound(
        chosen.measured_by(empirical_maximum),
        complexity(problem.surrogate, total_weight, *of_h_and_r),
        total_weight,
        m,
    )
