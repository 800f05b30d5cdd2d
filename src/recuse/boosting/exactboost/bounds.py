"""Theorems 1 (AUC) and 2 (KS) of the ExactBoost poster with complexities estimated on the data: a diagnostic.

With probability 1 - delta, for every mean S of stumps with values in {-1, +1},

    1 - AUC <= loss with margin theta + (4/theta) (R_0 + R_1) + sqrt(2 ln(1/delta) / min(n0, n1))
    1 - KS  <= loss with margin theta + (8/theta) (R_0 + R_1 + n0^-1/2 + n1^-1/2)
               + sqrt(ln(2/delta) / 2) (n0^-1/2 + n1^-1/2)

R_c is the Rademacher complexity of the stumps on cases of class c: the mean over random signs of the largest
|sum of sign * stump| / n over all features and cuts. One sweep of prefix sums gives that maximum, as it gives a stump.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Indices
from ..binning import Bins
from ..bounds import GeneralizationBound

_DRAWS = 20  # of random signs
_CASES = 2_000  # of a class are looked at, at most


def rademacher(bins: Bins, rows: Indices, n: int, random: np.random.Generator) -> float:
    """Estimated complexity of the stumps on n of the rows: mean of the largest correlation with random signs."""
    from .loops import largest_correlation

    most = min(n, _CASES, len(rows))
    sums, total = np.zeros(int(bins.n_bins.max()) + 1), 0.0
    for _ in range(_DRAWS):
        drawn = np.sort(random.choice(rows, most, replace=False))
        total += largest_correlation(bins.codes, drawn, random.choice([-1.0, 1.0], most), bins.n_bins, sums) / most
    # A complexity measured on fewer cases falls like one over the root of their number.
    return float(total / _DRAWS * np.sqrt(most / n))


def margin_bound(
    metric: str, empirical: float, theta: float, complexities: tuple[float, float], n: tuple[int, int], delta: float
) -> GeneralizationBound:
    """Put the terms of the theorem together; complexities and sizes of negatives and positives."""
    roots = 1 / np.sqrt(n[0]) + 1 / np.sqrt(n[1])
    if metric == "auc":
        complexity = 4 / theta * sum(complexities)
        confidence = np.sqrt(2 * np.log(1 / delta) / min(n))
    else:
        complexity = 8 / theta * (sum(complexities) + roots)
        confidence = np.sqrt(np.log(2 / delta) / 2) * roots
    return GeneralizationBound(empirical, float(complexity), float(confidence), delta)
