"""How many rejected cases wait for a review, day by day.

The model of the queue: cases come as a Poisson process, each is rejected with the same probability, independently, and
waits until it is reviewed; nobody answers it instead. Each day there is time for the same number of reviews, and what
is not used of it is lost. All days are alike: the hours of a period are spread evenly over its days.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats


def replay_backlog(
    rejected: int,
    cases: int,
    arrivals: float,
    reviews: float,
    days: int,
    start: int,
    rng: np.random.Generator,
    replays: int,
) -> Floats:
    """Cases that wait at the end of each day, of shape (replays, days).

    Parameters
    ----------
    rejected, cases : int
        Of a sample: how many were rejected, and its size. What is not known of the share is part of the replays.
    arrivals, reviews : float
        Cases that come, and reviews that there is time for, on a day.
    days : int
        How many.
    start : int
        Cases that wait at the beginning.
    rng : Generator
        Of the replays.
    replays : int
        How many.
    """
    share = rng.beta(rejected + 0.5, cases - rejected + 0.5, size=replays)
    new = rng.poisson(arrivals * share[:, None], size=(replays, days))
    done = np.diff(np.floor(reviews * np.arange(days + 1) + 1e-9))  # whole reviews; a begun one is ended the next day
    waiting = np.empty((replays, days))
    queue = np.full(replays, float(start))
    for day in range(days):
        queue = np.maximum(queue + new[:, day] - done[day], 0.0)
        waiting[:, day] = queue
    return waiting
