"""Choosing a method without luck, and what the chosen one is expected to cost.

The cheapest of many methods on one table owes part of its lead to luck: reported as it stands, its cost is too low, the
more so the smaller the table and the longer the list. Two things are done about it.

- **The ensemble, then the simplest first.** Chosen is the first method in the list whose cost is within one standard
  error of the cheapest (paired over the cases, and over the repetitions with other folds, if there are any). The list
  begins with the ensemble, which needs no choice between its members and so no luck; then, among methods that the
  cases cannot tell apart, comes the one that is easiest to explain and to keep. One standard error is
  a compromise: none follows luck where there is no signal, two pass methods over that are cheaper.
- **Corrected cost** (after bootstrap bias-corrected cross-validation: Tsamardinos, Greasidou and Borboudakis, 2018).
  The choice is repeated on resampled cases, and the method chosen on each resample pays on the cases that are not in
  it. For rules fixed beforehand the mean of these payments would be what a method chosen in this way costs. Answers
  out of cross-validation are not fixed: a case left out of a resample had a part in the models that answered the
  others, and so in the choice. The mean is then too high, about as much as the cost in the run is too low, in
  simulations with known truth (`benchmarks/honesty.py`): shown is the run's cost moved three fifths of the way towards
  it, and never less than the cost in the run.

The constant answers (review everything, always no, always yes) need no model: they are simpler than any method. The
cheapest of them is kept unless the chosen method is convincingly cheaper: by more than one standard error, which is
that of the lower limit of the saving and allows for expensive errors that were not seen. Half of one is enough where
there is much to gain, a twentieth of the cost, and the gain does not hang on a few errors: it would survive two more of
the most expensive kind. (Without this last condition, where misses are rare and cost 50 times a false alarm, one table
of 300 cases in eight got a model that cost more than the review of every case: no miss was seen because there were few
positives, and nothing in the table tells such a model from a good one.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Floats, Indices
from .intervals import fold_error
from .payments import repeated_difference

TOLERANCE = 1.0  # standard errors that the simpler of two methods may be behind
CONVINCING = 0.5  # standard errors that a method must save against the constant answers, if it saves much
MUCH = 0.05  # of their cost
MORE_ERRORS = 2  # of the most expensive kind, which such a saving must survive
CORRECTION = 0.6  # of the way from the cost in the run to that of the resampled choices
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

    def shares(self, n_methods: int) -> list[float]:
        """In which share of the resamples each method is chosen."""
        counts = np.bincount([position for position, _ in self.resampled], minlength=n_methods)
        return [float(count) / len(self.resampled) for count in counts]

    def correction(self, values: Floats) -> float:
        """How much to add to the mean value of the method chosen, for having been chosen on these cases.

        Parameters
        ----------
        values : ndarray of shape (n_methods, n_cases)
            A value of each case for each method, such as its price.
        """
        resampled = np.mean([values[position, rest].mean() for position, rest in self.resampled])
        return CORRECTION * float(resampled - values[self.chosen].mean())


def choose(prices: Sequence[Floats], *, seed: int, units: Indices | None = None) -> Choice:
    """Choose the first method within one standard error of the cheapest.

    Parameters
    ----------
    prices : sequence of ndarray of shape (n_cases,) or (repeats, n_cases)
        Price of each case by each method, in the order of preference.
    seed : int
        Random state of the resampling.
    units : ndarray of int of shape (n_cases,), optional
        Unit of each case, if cases belong together: units are resampled whole.
    """
    candidates = _Candidates.of(prices, units)
    n, units = candidates.means.shape[1], candidates.units
    chosen = candidates.first_of_the_cheapest(np.ones(n))
    if len(prices) == 1:
        # Nothing was chosen, so nothing is to be corrected.
        return Choice(chosen, [(0, np.arange(n))])
    rng, n_units = np.random.default_rng(seed), int(units.max()) + 1
    resampled: list[tuple[int, Indices]] = []
    while len(resampled) < DRAWS:
        counts = np.bincount(rng.integers(n_units, size=n_units), minlength=n_units)[units]
        rest = np.flatnonzero(counts == 0)
        if len(rest):
            resampled.append((candidates.first_of_the_cheapest(counts.astype(np.float64)), rest))
    return Choice(chosen, resampled)


class _Candidates(NamedTuple):
    """Prices by method: of each repetition, their means, and the unit of each case."""

    repeated: list[Floats]
    means: Floats
    units: Indices

    @classmethod
    def of(cls, prices: Sequence[Floats], units: Indices | None) -> _Candidates:
        repeated = [np.atleast_2d(table) for table in prices]
        means = np.array([table.mean(axis=0) for table in repeated])
        return cls(repeated, means, np.arange(means.shape[1]) if units is None else units)

    def first_of_the_cheapest(self, counts: Floats) -> int:
        """The choice, if each case was drawn so often."""
        total = counts.sum()
        costs = self.means @ counts / total
        same = _SAME * float(self.means.max())
        cheapest = int(
            np.argmax(costs <= costs.min() + same)
        )  # of equally cheap ones the first, however sums are rounded
        for position in range(cheapest):
            if costs[position] - costs[cheapest] <= TOLERANCE * self._error(position, cheapest, counts) + same:
                return position
        return cheapest

    def _error(self, one: int, other: int, counts: Floats) -> float:
        """Standard error of the difference of two methods: from the cases, and from the folds."""
        between = repeated_difference(self.repeated[one], self.repeated[other]) @ counts / counts.sum()
        cases = standard_error(self.means[one] - self.means[other], self.units, counts)
        return float(np.hypot(cases, fold_error(between[:, None])))


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
