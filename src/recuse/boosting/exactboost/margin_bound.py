"""Theorems 1 (AUC) and 2 (KS) of the ExactBoost poster with complexities estimated on the data: a diagnostic.

With probability 1 - delta, for every mean S of stumps with values in {-1, +1},

    1 - AUC <= loss with margin theta + (4/theta) (R_0 + R_1) + sqrt(2 ln(1/delta) / min(n0, n1))
    1 - KS  <= loss with margin theta + (8/theta) (R_0 + R_1 + n0^-1/2 + n1^-1/2)
               + sqrt(ln(2/delta) / 2) (n0^-1/2 + n1^-1/2)

R_c is the Rademacher complexity of the stumps on cases of class c: the mean over random signs of the largest
|sum of sign * stump| / n over all features and cuts. One sweep of prefix sums finds that maximum, as it finds a stump.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...arrays import Floats, Indices
from ..binning import Bins
from ..bounds import GeneralizationBound

_DRAWS = 20  # of random signs
_CASES = 2_000  # of a class are looked at, at most

Sizes = tuple[int, int]


@dataclass(frozen=True)
class BoundTerms:
    """What a bound depends on besides delta.

    Attributes
    ----------
    metric : str
        The objective, whose theorem it is.
    empirical : float
        Loss with margin on the training cases.
    theta : float
        The margin, for a score that is a mean of stumps.
    complexities : tuple of float
        Of the stumps on the negatives and on the positives.
    sizes : tuple of int
        Number of negatives and of positives.
    """

    metric: str
    empirical: float
    theta: float
    complexities: tuple[float, float]
    sizes: Sizes


class Theorem(NamedTuple):
    """A theorem of the poster.

    Attributes
    ----------
    bound : callable
        Bound of `BoundTerms` that holds with probability 1 - delta.
    complexity_sizes : callable
        The sizes at which it takes the complexities of the two classes, given the sizes of the classes.
    """

    bound: Callable[[BoundTerms, float], GeneralizationBound]
    complexity_sizes: Callable[[Sizes], Sizes]


def _auc_bound(terms: BoundTerms, delta: float) -> GeneralizationBound:
    complexity = 4 / terms.theta * sum(terms.complexities)
    confidence = np.sqrt(2 * np.log(1 / delta) / min(terms.sizes))
    return GeneralizationBound(terms.empirical, float(complexity), float(confidence), delta)


def _ks_bound(terms: BoundTerms, delta: float) -> GeneralizationBound:
    roots = 1 / np.sqrt(terms.sizes[0]) + 1 / np.sqrt(terms.sizes[1])
    complexity = 8 / terms.theta * (sum(terms.complexities) + roots)
    confidence = np.sqrt(np.log(2 / delta) / 2) * roots
    return GeneralizationBound(terms.empirical, float(complexity), float(confidence), delta)


# Theorem 1 compares the classes at the size of the smaller.
THEOREM_1 = Theorem(_auc_bound, lambda sizes: (min(sizes), min(sizes)))
THEOREM_2 = Theorem(_ks_bound, lambda sizes: sizes)


def rademacher(bins: Bins, rows: Indices, n: int, random: np.random.Generator) -> float:
    """Estimated complexity of the stumps on n of the rows: mean of the largest correlation with random signs."""
    most = min(n, _CASES, len(rows))
    total = 0.0
    for _ in range(_DRAWS):
        drawn = np.sort(random.choice(rows, most, replace=False))
        total += largest_correlation(bins, drawn, random.choice([-1.0, 1.0], most)) / most
    # A complexity measured on fewer cases falls like one over the root of their number.
    return float(total / _DRAWS * np.sqrt(most / n))


def largest_correlation(bins: Bins, rows: Indices, signs: Floats) -> float:
    """Largest |sum of sign * stump| over all features and cuts, stumps -1 and +1, missing values on either side."""
    best = abs(float(signs.sum()))
    for codes, n in zip(bins.codes, bins.n_bins.tolist(), strict=True):
        sums = np.bincount(codes[rows], signs, minlength=n + 1)
        left, missing = np.cumsum(sums[:n]), abs(sums[n])
        # Right less left of the known values; missing values go to the side that adds to it.
        best = max(best, float(np.abs(2.0 * left - left[-1]).max() + missing))
    return best
