"""For whom a promise is to hold: in which groups, and in which population.

Where the model will be used, some cases may occur more often than among those it is calibrated on. Weights say how
much. A calibration case is kept with a probability in proportion to its weight, which makes the kept ones a sample of
the other population: all tests stay exact (von Neumann, 1951). What that costs is cases: of n with weights of mean w
and bound b, n w / b are kept.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from ..arrays import Flags, Floats, Indices
from ..parameters import check_number
from .claims import PromiseGroups


class Shift(NamedTuple):
    """How much more often each case occurs in the population that the promise is for.

    Attributes
    ----------
    weights : ndarray of shape (n,)
        Density ratio of each case, up to a factor.
    bound : float
        No case of the population has a greater one.
    """

    weights: Floats
    bound: float

    @classmethod
    def of(cls, weights: Any, bound: float | None, n: int) -> Shift | None:
        """Check the weights of `n` cases; None for none."""
        if weights is None:
            if bound is not None:
                raise ValueError(f"shift_bound={bound!r} is the largest of shift_weights: give these as well.")
            return None
        found = np.asarray(weights, dtype=np.float64)
        if found.shape != (n,) or not np.isfinite(found).all() or (found < 0).any() or not found.any():
            raise ValueError(
                f"shift_weights must hold one finite number per case, {n} in all, none negative and not all 0: how "
                "much more often such a case occurs where the model will be used."
            )
        largest = float(found.max())
        if bound is not None:
            check_number("shift_bound", bound, largest, remedy="No weight may exceed it.")
        return cls(found, largest if bound is None else float(bound))

    def take(self, rows: Indices) -> Shift:
        """The weights of some of the cases."""
        return Shift(self.weights[rows], self.bound)

    def drawn(self, random_state: Any) -> Flags:
        """Cases kept with a probability in proportion to their weight: they are drawn from the other population."""
        return check_random_state(random_state).uniform(size=len(self.weights)) * self.bound < self.weights


class PromiseTerms(NamedTuple):
    """The groups and the population of the promises; as they came, until they are `checked`."""

    groups: Any = None
    shift: Any = None
    shift_bound: float | None = None

    @classmethod
    def of(cls, promise_groups: Any, shift_weights: Any, shift_bound: Any, *, promised: bool = True) -> PromiseTerms:
        """What was given; refused where nothing is promised."""
        given = {"promise_groups": promise_groups, "shift_weights": shift_weights, "shift_bound": shift_bound}
        for name, value in given.items():
            if value is not None and not promised:
                raise ValueError(f"{name} says for whom a guarantee is to hold: give guarantee as well.")
        return cls(promise_groups, shift_weights, shift_bound)

    def checked(self, n: int) -> PromiseTerms:
        """The same for `n` cases, numbered and checked."""
        return PromiseTerms(PromiseGroups.of(self.groups, n), Shift.of(self.shift, self.shift_bound, n))

    def take(self, rows: Indices) -> PromiseTerms:
        """The terms of some of the cases."""
        return PromiseTerms(*(None if part is None else part.take(rows) for part in (self.groups, self.shift)))

    def drawn(self, rows: Indices, random_state: Any) -> Indices:
        """Of these rows, those that are a sample of the population that the promise is for."""
        return rows if self.shift is None else rows[self.shift.take(rows).drawn(random_state)]
