"""Corollary 3 of the paper with constants that can be computed: a diagnostic, at these sizes seldom below 1.

With probability 1 - delta over the sample, for every pair whose weights (intercepts included) add up to A,

    risk <= mean L_MB + 2 C1 A R_m(H) + 2 (C1 + C2) A R_m(R) + sqrt(ln log2(2 A) / m) + sqrt(ln(2 / delta) / (2 m))

where C1 = 2, C2 = 2 b for the exponential and C1 = 1/ln 2, C2 = 2 k b (1 - 2^(-1/k))/ln 2 for the logistic loss, and
the Rademacher complexities of the stumps are bounded by their number (Massart). An estimate by random signs is about
half of that (pima: 0.10 and 0.05 instead of 0.19 and 0.09), but the probability that it is too low has to be paid
for: with sqrt(2 ln(3 / delta) / m), half of it for r, it is no lower (0.20 and 0.11), and all shrink like 1/sqrt(m).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arrays import Flags, Floats
from ..bounds import GeneralizationBound
from .losses import Surrogate, phi

_ROWS = 65_536  # rows of which copies are made at once


def empirical_maximum(
    surrogate: Surrogate,
    n_pos: int,
    s: Floats,
    h: Floats,
    r: Floats,
) -> float:
    """Weighted mean of L_MB, positives first."""
    total, k = 0.0, np.broadcast_to(surrogate.k, s.shape)
    for start in range(0, len(s), _ROWS):
        rows = slice(start, start + _ROWS)
        margin = np.where(np.arange(start, start + len(s[rows])) < n_pos, h[rows], -h[rows])
        wrong, reject = phi(surrogate.loss, r[rows] - margin), phi(surrogate.loss, -surrogate.b * r[rows])
        total += float(s[rows] @ np.maximum(wrong, k[rows] * reject))
    return total


def massart(family: str, n_values: NDArray[np.int64], has_missing: Flags, m: int) -> tuple[float, float]:
    """Bounds of the Rademacher complexities of the classifying and the rejecting part of the stumps."""
    n, lost = n_values.astype(float), np.where(has_missing, 3.0, 1.0)
    n_h, n_r = 3 * np.sum(lost * (n + 1) * (n + 2)), np.sum(lost * (1 + n * (n + 1) / 2))
    # Of stumps that only reject the mean of 0 and -1 can be taken off; decoupled ones have opposites, which accept.
    half = 1.0 if family == "decoupled" else 0.5
    constants = 1 / np.sqrt(m)  # the two intercepts
    return float(np.sqrt(2 * np.log(n_h) / m) + constants), float(half * np.sqrt(2 * np.log(n_r) / m) + constants)


def margin_bound(
    empirical: float,
    surrogate: Surrogate,
    total_weight: float,
    family: str,
    n_values: NDArray[np.int64],
    has_missing: Flags,
    m: int,
    delta: float,
) -> GeneralizationBound:
    """Put the terms together."""
    b, k = surrogate.b, float(np.max(surrogate.k))
    if surrogate.loss == "exponential":
        c1, c2 = 2.0, 2.0 * b
    else:
        c1, c2 = 1.0 / np.log(2.0), 2.0 * k * b * (1.0 - 2.0 ** (-1.0 / k)) / np.log(2.0)
    weight = max(total_weight, 1.0)
    of_h, of_r = massart(family, n_values, has_missing, m)
    complexity = 2.0 * c1 * weight * of_h + 2.0 * (c1 + c2) * weight * of_r
    confidence = np.sqrt(np.log(max(np.log2(2.0 * weight), 1.0)) / m) + np.sqrt(np.log(2.0 / delta) / (2.0 * m))
    return GeneralizationBound(empirical, float(complexity), float(confidence), delta)
