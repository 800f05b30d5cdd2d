"""What a period costs with so many reviews, and what one more is worth: replayed from a sample of cases.

The model of a period: cases come as a Poisson process and are drawn, independently, from the population that the sample
was drawn from. At its end the rejected ones are ranked by their acceptance score; as many of them as there is time for
are reviewed, the lowest first, and the others get the model's class.

Each replay draws weights of the sample (the Bayesian bootstrap: what is not known of the population) and then counts of
its cases (Poisson: what is left to chance in the period). Errors are rare and expensive, and a sample may hold too few
of the most expensive: the upper limits allow for one that was not seen, as the gamma interval of Fay and Feuer (1997)
does for means.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Floats, Indices
from .cases import PricedCases

LEVEL = 0.95
REPLAYS = 1000
_CELLS = 2_000_000  # replays times cases worked on at once
_WINDOW = 0.05  # of the reviews needed: over so many, on either side, the worth of one more is averaged


class Forecast(NamedTuple):
    """What is expected, and the limits between which it will lie with a probability of 95 %.

    Attributes
    ----------
    value : float
        What is expected.
    low, high : float
        The limits.
    """

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Floats, upper: Floats | None = None) -> Forecast:
        """Of replays; `upper` are replays that allow for more, from which the upper limit is taken.

        The limits hold the mean, too: of a queue that is nearly always empty it lies above almost all replays.
        """
        tail, value = (1 - LEVEL) / 2, float(values.mean())
        low, high = np.quantile(values, tail), np.quantile(values if upper is None else upper, 1 - tail)
        return cls(value, min(float(low), value), max(float(high), value))


class Replays(NamedTuple):
    """Replayed periods.

    Attributes
    ----------
    rejected : ndarray of shape (replays,)
        Cases left to manual review.
    costs, unseen_costs : ndarray of shape (replays, capacities)
        Cost of the period, without and with errors that the sample does not hold.
    worth : ndarray of shape (replays, capacities)
        What one more review would save.
    """

    rejected: Floats
    costs: Floats
    unseen_costs: Floats
    worth: Floats


def replay(
    cases: PricedCases, arrivals: float, capacities: Floats, rng: np.random.Generator, replays: int = REPLAYS
) -> Replays:
    """Replay a period.

    Parameters
    ----------
    cases : PricedCases
        The sample.
    arrivals : float
        Cases that come on average.
    capacities : ndarray
        Reviews that there is time for.
    rng : Generator
        Of the replays.
    replays : int
        How many.
    """
    sample = _Sample.of(cases)
    window = max(1.0, _WINDOW * arrivals * float(cases.rejected.mean()))
    step = max(1, _CELLS // (len(sample.queue) + len(sample.accepted)))
    parts = [
        _replayed(sample, arrivals, capacities, window, rng, min(step, replays - start))
        for start in range(0, replays, step)
    ]
    return Replays(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


class _Sample(NamedTuple):
    """A sample as replays need it.

    Attributes
    ----------
    queue, savings : ndarray
        What each rejected case costs if it is answered, and what its review saves: the most urgent first.
    accepted, numbers : ndarray
        The different costs of accepted cases, most often those of a right answer and of the two errors, and how many
        cases have each: weights of cases that cost the same can be drawn together.
    largest : float
        The most that one wrong answer costs.
    """

    queue: Floats
    savings: Floats
    accepted: Floats
    numbers: Indices
    largest: float

    @classmethod
    def of(cls, cases: PricedCases) -> _Sample:
        rejected = np.flatnonzero(cases.rejected)
        rejected = rejected[np.argsort(cases.r[rejected], kind="stable")]
        queue = cases.answered[rejected]
        accepted, numbers = np.unique(cases.answered[~cases.rejected], return_counts=True)
        return cls(queue, queue - cases.reviewed[rejected], accepted, numbers, cases.largest)


def _replayed(
    sample: _Sample, arrivals: float, capacities: Floats, window: float, rng: np.random.Generator, replays: int
) -> Replays:
    # A sum of exponential weights is a gamma variable: so many cases that cost the same are one draw.
    queued = rng.standard_exponential((replays, len(sample.queue)))
    others = rng.standard_gamma(sample.numbers, (replays, len(sample.numbers)))
    unseen = rng.standard_exponential(replays)
    total = queued.sum(axis=1) + others.sum(axis=1)
    counts, accepted = (rng.poisson(arrivals * part / total[:, None]).astype(float) for part in (queued, others))
    if_answered = counts @ sample.queue + accepted @ sample.accepted
    reviewed = np.pad(counts.cumsum(axis=1), ((0, 0), (1, 0)))
    saved = np.pad((counts * sample.savings).cumsum(axis=1), ((0, 0), (1, 0)))
    low, high = np.maximum(capacities - window, 0), capacities + window
    at, below, above = np.split(_saved(reviewed, saved, np.concatenate([capacities, low, high])), 3, axis=1)
    costs = if_answered[:, None] - at
    more = sample.largest * rng.poisson(arrivals * unseen / (total + unseen))
    return Replays(reviewed[:, -1], costs, costs + more[:, None], (above - below) / (high - low))


def _saved(reviewed: Floats, saved: Floats, capacities: Floats) -> Floats:
    """What the first so many reviews of each replay save: linear between the cases of the sample."""
    return np.array([np.interp(capacities, *pair) for pair in zip(reviewed, saved, strict=True)])
