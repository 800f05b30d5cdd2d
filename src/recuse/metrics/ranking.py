"""Metrics of a score that ranks the positives above the negatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Floats
from ..parameters import check_weights, is_number
from .encoding import by_falling_score, check_score, place_positive


def ks_score(y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None) -> float:
    """Kolmogorov-Smirnov statistic: the largest gap between true and false positive rate over all thresholds.

    Parameters
    ----------
    y_true : array-like
        Outcomes of two classes.
    y_score : array-like of float
        Score, higher towards the positive class.
    pos_label : label, optional
        The positive class; the second by default.
    sample_weight : array-like, optional
        Weight of each case.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from recuse.metrics import ks_score
    >>> ks_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.5
    """
    score, positives, negatives = _class_weights(y_true, y_score, pos_label, sample_weight)
    order, ends = by_falling_score(score)
    true_positive_rate = np.cumsum(positives[order])[ends] / positives.sum()
    false_positive_rate = np.cumsum(negatives[order])[ends] / negatives.sum()
    return float(max(0.0, (true_positive_rate - false_positive_rate).max()))


def precision_at_k_score(
    y_true: Any, y_score: Any, *, k: float, pos_label: Any = None, sample_weight: Any = None
) -> float:
    """Share of positives among the k cases with the highest scores.

    Where several cases share the k-th score, each of them counts in part: the result is the mean over all ways of
    breaking the tie.

    Parameters
    ----------
    y_true, y_score, pos_label
        As in `ks_score`.
    k : int or float
        Number of cases; with `sample_weight`, their total weight.
    sample_weight : array-like, optional
        Weight of each case.

    Returns
    -------
    float

    Examples
    --------
    >>> from recuse.metrics import precision_at_k_score
    >>> precision_at_k_score([0, 1, 1, 0], [0.9, 0.8, 0.7, 0.1], k=2)
    0.5
    >>> precision_at_k_score([0, 1, 1, 0], [0.9, 0.5, 0.5, 0.5], k=2)  # first case, then one of three
    0.3333333333333333
    """
    score, positives, negatives = _class_weights(y_true, y_score, pos_label, sample_weight)
    total = (positives + negatives).sum()
    if not is_number(k) or not 1 <= k <= total:
        raise ValueError(f"k must be between 1 and the number of cases, {total:g}; got {k!r}.")
    order, ends = by_falling_score(score)
    taken = np.append(0.0, np.cumsum((positives + negatives)[order])[ends])
    hits = np.append(0.0, np.cumsum(positives[order])[ends])
    return float(np.interp(k, taken, hits) / k)


def _class_weights(y_true: Any, y_score: Any, pos_label: Any, sample_weight: Any) -> tuple[Floats, Floats, Floats]:
    """The score, and the weight of each case as a positive and as a negative."""
    positive = place_positive(y_true, pos_label)
    score = check_score(y_score, len(positive), "y_score")
    weights = check_weights(sample_weight, len(positive))
    positives, negatives = np.where(positive, weights, 0.0), np.where(positive, 0.0, weights)
    if not (positives.any() and negatives.any()):
        raise ValueError("sample_weight is zero for a whole class: both classes need weight.")
    return score, positives, negatives
