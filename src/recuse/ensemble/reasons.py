"""One sentence per case: the probability and the thresholds, and where the members disagree."""

from __future__ import annotations

import numpy as np

from ..arrays import Flags, Floats

_APART = 0.2  # members this far apart, in probability, disagree


def add_disagreement(sentences: list[str], accepted: Flags, members: Floats, weights: Floats) -> list[str]:
    """Say of rejected cases how far the members that count are apart.

    Parameters
    ----------
    sentences : list of str
        One per case.
    accepted : ndarray of bool of shape (n,)
        Which cases are answered.
    members : ndarray of shape (n, n_members)
        Probability of the positive class by each member.
    weights : ndarray of shape (n_members,)
        How much each counts; those that count less than half of an equal share are left out.
    """
    counting = weights >= 0.5 * weights.sum() / len(weights)
    if counting.sum() < 2:
        return sentences
    low, high = members[:, counting].min(axis=1), members[:, counting].max(axis=1)
    disagree = ~accepted & (high - low >= _APART)
    return [
        f"{text}; members disagree: {least:.2f} to {most:.2f}" if differs else text
        for text, least, most, differs in zip(sentences, low.tolist(), high.tolist(), disagree.tolist(), strict=True)
    ]


def from_positive_side(probabilities: Floats, positive_is_first: bool) -> Floats:
    """Probabilities of the positive class, given those of the second class."""
    return 1 - probabilities if positive_is_first else np.asarray(probabilities)
