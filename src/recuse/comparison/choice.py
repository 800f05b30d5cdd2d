"""Choosing a method without luck, and what the chosen one is expected to cost.

The cheapest of many methods on one table owes part of its lead to luck: reported as it stands, its cost is too low, the
more so the smaller the table and the longer the list. Two things are done about it.

- **Simplest first.** Chosen is the first method in the list, which begins with the simplest, whose cost is within one
  standard error of the cheapest (paired over the cases): among methods that the cases cannot tell apart, the one that
  is easiest to explain and to keep. One standard error is a compromise: none follows luck where there is no signal,
  two pass methods over that are cheaper (docs/compare.md has the figures).
- **Corrected cost** (bootstrap bias-corrected cross-validation: Tsamardinos, Greasidou and Borboudakis, 2018). The
  choice is repeated on resampled cases, and the method chosen on each resample pays on the cases that are not in it;
  the mean of these costs is what a method chosen in this way costs on cases that had no part in the choice.

The constant answers (review everything, always no, always yes) need no model: they are simpler than any method. The
cheapest of them is kept unless the chosen method saves, after the correction, more than one standard error; here the
standard error is that of the lower limit of the saving, which allows for expensive errors that were not seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Indices

TOLERANCE = 1.0  # standard errors
DRAWS = 200
_SAME = 1e-12  # share of the largest price: amounts that differ by less are equal


@dataclass(frozen=True, eq=False)
class Choice:
    """The method chosen among several, and the same choice on resampled cases.

    Attributes
    ----------
    chosen : int
        Its position.
    resampled : list of tuple
        For each resample of the cases, the position chosen on it and the cases that are not in it.
    """

    chosen: int
    resampled: list[tuple[int, Indices]]

    def corrected(self, values: Floats) -> float:
        """Mean value of the method that is chosen, on cases that had no part in choosing it.

        Parameters
        ----------
        values : ndarray of shape (n_methods, n_cases)
            A value of each case for each method, such as its price or a difference of prices.
        """
        return float(np.mean([values[position, rest].mean() for position, rest in self.resampled]))


def choose(prices: Floats, *, seed: int, units: Indices | None = None) -> Choice:
    """Choose the simplest method within one standard error of the cheapest.

    Parameters
    ----------
    prices : ndarray of shape (n_methods, n_cases)
        Price of each case by each method, the simplest method first.
    seed : int
        Random state of the resampling.
    units : ndarray of int of shape (n_cases,), optional
        Unit of each case, if cases belong together: units are resampled whole.
    """
    n = prices.shape[1]
    units = np.arange(n) if units is None else units
    chosen = _simplest_of_the_cheapest(prices, np.ones(n), units)
    if len(prices) == 1:
        # Nothing was chosen, so nothing is to be corrected.
        return Choice(chosen, [(0, np.arange(n))])
    rng, n_units = np.random.default_rng(seed), int(units.max()) + 1
    resampled: list[tuple[int, Indices]] = []
    while len(resampled) < DRAWS:
        counts = np.bincount(rng.integers(n_units, size=n_units), minlength=n_units)[units]
        rest = np.flatnonzero(counts == 0)
        if len(rest):
            resampled.append((_simplest_of_the_cheapest(prices, counts.astype(np.float64), units), rest))
    return Choice(chosen, resampled)


def _simplest_of_the_cheapest(prices: Floats, counts: Floats, units: Indices) -> int:
    total = counts.sum()
    means = prices @ counts / total
    same = _SAME * float(prices.max())
    cheapest = int(np.argmax(means <= means.min() + same))  # the simplest of those that are equal up to rounding
    for position in range(cheapest):
        difference = prices[position] - prices[cheapest]
        if difference @ counts / total <= TOLERANCE * standard_error(difference, units, counts) + same:
            return position
    return cheapest


def standard_error(values: Floats, units: Indices | None = None, counts: Floats | None = None) -> float:
    """Standard error of the mean of one value per case.

    Cases of one unit vary together. A unit that was drawn several times is several units: `counts` is how often.
    """
    counts = np.ones(len(values)) if counts is None else counts
    total = float(counts.sum())
    deviations = values - values @ counts / total
    if units is not None:
        deviations = np.bincount(units, deviations).astype(np.float64)
        drawn = np.zeros(len(deviations))
        drawn[units] = counts
        counts = drawn
    return float(np.sqrt(counts @ deviations**2)) / total
