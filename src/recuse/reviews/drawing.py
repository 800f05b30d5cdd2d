"""Which answered cases are given to reviewers, and with which probability: its inverse is the weight of a verdict.

Accepted cases are audited: each is drawn with the same probability, independently of all others, so that the audit is
right for any batch, however small. Rejected cases are all drawn, unless there are more than the capacity. Then most of
it goes to those whose review saves most (the lowest acceptance score), and the rest is drawn at random among the
others, each with the same probability: no rejected case is without a chance, or no weight could make up for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Flags, Floats, Indices
from ..parameters import check_count, check_number, check_share
from .records import AUDIT, REJECTED


@dataclass(frozen=True)
class Sampling:
    """How cases are drawn.

    Attributes
    ----------
    audit : float
        Probability with which an accepted case is drawn.
    capacity : int or None
        How many rejected cases can be reviewed.
    at_random : float
        Share of the capacity that is drawn at random where it is less than the rejected cases.
    """

    audit: float
    capacity: int | None
    at_random: float

    def __post_init__(self) -> None:
        check_number("audit", self.audit, 0.0, high=1.0)
        check_share("at_random", self.at_random, or_one=True)
        if self.capacity is not None:
            check_count("capacity", self.capacity)


class Drawn(NamedTuple):
    """Cases in the order in which reviewers get them, which tells nothing about them.

    Attributes
    ----------
    rows : ndarray
        Their positions among the answers.
    strata : list of str
        "rejected" or "audit".
    probabilities : ndarray
        With which each was drawn.
    """

    rows: Indices
    strata: list[str]
    probabilities: Floats


def draw(rejected: Flags, r: Floats, sampling: Sampling, rng: np.random.Generator, free: Flags | None = None) -> Drawn:
    """Draw cases for reviewers.

    Parameters
    ----------
    rejected : ndarray of bool
        Which cases the model left to manual review.
    r : ndarray
        Acceptance scores: the lowest gains most from a review.
    sampling : Sampling
        How many of which.
    rng : Generator
        Of the draw and of the order.
    free : ndarray of bool, optional
        Which cases may be drawn; all by default. Probabilities are those among them.
    """
    free = np.ones(len(rejected), dtype=bool) if free is None else free
    accepted = np.flatnonzero(~rejected & free)
    audited = accepted[rng.random(len(accepted)) < sampling.audit]
    queue, chances = _from_queue(np.flatnonzero(rejected & free), r, sampling, rng)
    rows = np.concatenate([queue, audited])
    probabilities = np.concatenate([chances, np.full(len(audited), sampling.audit)])
    order = rng.permutation(len(rows))
    strata = [REJECTED if position < len(queue) else AUDIT for position in order]
    return Drawn(rows[order], strata, probabilities[order])


def _from_queue(rejected: Indices, r: Floats, sampling: Sampling, rng: np.random.Generator) -> tuple[Indices, Floats]:
    """Rejected cases that are reviewed, and with which probability each was drawn."""
    capacity = sampling.capacity
    if capacity is None or capacity >= len(rejected):
        return rejected, np.ones(len(rejected))
    queue = rejected[np.argsort(r[rejected], kind="stable")]
    n_random = max(1, round(sampling.at_random * capacity))
    urgent, others = np.split(queue, [capacity - n_random])
    chosen = rng.choice(others, n_random, replace=False)
    chances = np.concatenate([np.ones(len(urgent)), np.full(n_random, n_random / len(others))])
    return np.concatenate([urgent, chosen]), chances
