"""Whether probabilities mean what they say: how often the cases that got a probability turned out positive."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import beta

from ..arrays import Floats, Indices
from ..parameters import check_count, check_share, check_weights
from .encoding import check_score, place_positive


class Reliability(NamedTuple):
    """Cases in bins of rising probability.

    Attributes
    ----------
    predicted : ndarray
        Mean probability of the cases in each bin.
    observed : ndarray
        Share of them that are positive.
    low, high : ndarray
        Limits of that share, by Clopper and Pearson.
    counts : ndarray of int
        Cases in each bin.
    edges : ndarray
        Probabilities between the bins, one more than there are bins.

    Examples
    --------
    >>> from recuse.metrics import reliability_curve
    >>> curve = reliability_curve([0, 0, 1, 1], [0.2, 0.3, 0.6, 0.9], n_bins=2)
    >>> curve.counts.tolist(), curve.observed.tolist()
    ([2, 2], [0.0, 1.0])
    """

    predicted: Floats
    observed: Floats
    low: Floats
    high: Floats
    counts: Indices
    edges: Floats

    @property
    def error(self) -> float:
        """Mean distance between probability and share, over the cases (expected calibration error)."""
        return float(np.average(np.abs(self.predicted - self.observed), weights=self.counts))


def reliability_curve(
    y_true: Any,
    probabilities: Any,
    *,
    n_bins: int = 10,
    pos_label: Any = None,
    sample_weight: Any = None,
    confidence: float = 0.95,
) -> Reliability:
    """Compare probabilities of the positive class with how often it occurs.

    Parameters
    ----------
    y_true : array-like
        The outcomes.
    probabilities : array-like of float
        Probability of the positive class for each case.
    n_bins : int, default=10
        Bins, of about as many cases each. Equal probabilities are in one bin, so that there may be fewer.
    pos_label : label, optional
        The positive class; the greater of the two by default.
    sample_weight : array-like of float, optional
        Weight of each case. The limits take the effective number of cases, (sum of weights)^2 / sum of squares.
    confidence : float, default=0.95
        Of the limits, bin by bin.

    Returns
    -------
    Reliability
        Means, shares, limits and counts of the bins.

    Examples
    --------
    >>> from recuse.metrics import reliability_curve
    >>> curve = reliability_curve([0, 0, 0, 1, 0, 1, 1, 1], [0.1, 0.1, 0.2, 0.2, 0.8, 0.8, 0.9, 0.9], n_bins=2)
    >>> curve.predicted.round(3), curve.observed, curve.counts
    (array([0.15, 0.85]), array([0.25, 0.75]), array([4, 4]))
    """
    positive = place_positive(y_true, pos_label)
    p = check_score(probabilities, len(positive), "probabilities")
    if p.size and (p.min() < 0 or p.max() > 1):
        raise ValueError(f"probabilities must lie between 0 and 1; got {p.min():g} to {p.max():g}.")
    check_count("n_bins", n_bins)
    check_share("confidence", confidence)
    weights = check_weights(sample_weight, len(positive))
    edges = np.unique(np.quantile(p, np.linspace(0, 1, n_bins + 1), method="nearest"))
    bins = np.clip(np.searchsorted(edges, p, side="right") - 1, 0, max(len(edges) - 2, 0))
    used, bins = np.unique(bins, return_inverse=True)
    total = np.bincount(bins, weights)
    observed = np.bincount(bins, weights * positive) / total
    effective = total**2 / np.bincount(bins, weights**2)
    low, high = _limits(observed * effective, effective, confidence)
    ends = np.append(edges[used], edges[-1])
    return Reliability(np.bincount(bins, weights * p) / total, observed, low, high, np.bincount(bins), ends)


def _limits(successes: Floats, n: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Limits of a share that holds the truth at least as often as asked (Clopper and Pearson)."""
    tail, failures = (1 - confidence) / 2, n - successes
    with np.errstate(invalid="ignore"):
        low = np.where(successes <= 1e-9, 0.0, beta.ppf(tail, successes, failures + 1))
        high = np.where(failures <= 1e-9, 1.0, beta.ppf(1 - tail, successes + 1, failures))
    return low, high
