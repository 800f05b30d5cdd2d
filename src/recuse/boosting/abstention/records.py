"""The record of a fit: what it was given, whatever the parameters are set to later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .candidates import Candidate
from .data import TrainingSet
from .engine.settings import Settings


@dataclass(frozen=True, eq=False)
class FitRecord:
    """What a fit was given, whatever the parameters are set to later.

    Attributes
    ----------
    settings : Settings
        The parameters, resolved.
    by_case : bool
        Whether reject prices were given case by case.
    equal_weights : bool
        Whether all cases weighed the same.
    price : float
        Reject price of the reduced problem, the highest where it differs by case.
    k : float
        Weight of the rejection term in the surrogate, the largest where it differs by case.
    """

    settings: Settings
    by_case: bool
    equal_weights: bool
    price: float
    k: float


def record_fit(settings: Settings, training: TrainingSet, chosen: Candidate, reject_cost: Any) -> FitRecord:
    """What a fit was given."""
    return FitRecord(
        settings,
        by_case=reject_cost is not None,
        equal_weights=bool(np.ptp(training.weight) <= 1e-12 * training.weight.max()),
        price=training.highest_price,
        k=float(np.max(chosen.boosted.problem.surrogate.k)),
    )
