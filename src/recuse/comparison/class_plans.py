"""What a reject rule costs on the probabilities of three classes or more."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Indices
from ..class_costs import ClassCosts
from ..labels import encode
from ..report.operating_points import NEVER_REJECTS, TUNED
from ..thresholds.class_rules import ClassSample, least_cost_region, tuned_region


def in_columns_of(scores: Any, classes: NDArray[Any], wanted: tuple[Any, ...], missing: float) -> Floats:
    """Scores with a column for each of the wanted classes; a class that a model has not seen gets `missing`."""
    found = np.full((len(scores), len(wanted)), missing)
    found[:, encode(np.asarray(classes), np.array(wanted))] = scores
    return found


def class_rule_cost(rule: str, probabilities: Floats, codes: Indices, weights: Floats, costs: ClassCosts) -> float:
    """Mean price of cases under a rule.

    Parameters
    ----------
    rule : str
        `NEVER_REJECTS`, `CHOW`, or `TUNED` (the best threshold on what an answer is expected to save).
    probabilities : ndarray of shape (n, n_classes)
        Of the classes in the order of the prices.
    codes : ndarray of int of shape (n,)
        True classes.
    weights : ndarray of shape (n,)
        How often each case counts.
    costs : ClassCosts
        The prices.
    """
    region = least_cost_region(costs, costs.n_classes)
    if rule == TUNED:
        region = tuned_region(region, ClassSample(probabilities, codes, weights), costs, 0.0)
    evaluation = region.evaluate(probabilities)
    answers = evaluation.forced() if rule == NEVER_REJECTS else evaluation.answers()
    return float(np.average(costs.prices(codes, answers, costs.n_classes), weights=weights))
