"""Thresholds moved to reviewed cases; the classifier stays as it is."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ..ensemble import EnsembleRejectClassifier
from ..labels import to_python
from ..locating import decide, locate
from ..thresholds import ThresholdRejectClassifier
from ..thresholds.bands import Band
from ..thresholds.rules import RULES, Aim, Sample
from .refitting import WeightedCases

_SHRINKAGE = 1000.0  # of the thresholds of an ensemble; as when it is fitted


def require_thresholds(model: Any) -> None:
    """Refuse a model that has no thresholds to move."""
    last = model.steps[-1][1]
    if isinstance(last, ThresholdRejectClassifier) and isinstance(last._region, Band):
        return
    if isinstance(last, EnsembleRejectClassifier) and last._rejector is None:
        return
    raise TypeError(
        f"The model is a {type(last).__name__} whose thresholds cannot be moved: leave --thresholds-only (in Python "
        "thresholds_only) out to fit it anew, or use an ensemble or a method that ends in -chow or -tuned."
    )


def move_thresholds(model: Any, cases: WeightedCases) -> Any:
    """A copy of a model with the two thresholds that are cheapest on these cases, shrunk as "tuned" ones are.

    Weights that differ tell less than as many equal ones: the thresholds are shrunk as on the number of equal ones that
    would tell as much. Novelties are rejected whatever their score, and move nothing.
    """
    known = decide(model, cases.features, reasons=False).kind != "novelty"
    classifier, prepared = locate(model, cases.features)
    scores, shrinkage, coverage, probabilities = _scores(classifier, prepared)
    second_is_positive = to_python(classifier.classes_[1]) == to_python(classifier.pos_label_)
    costs = classifier.costs_ if second_is_positive else classifier.costs_.swapped()
    weights = cases.weights[known]
    weights = weights * (weights.sum() / (weights @ weights))
    sample = Sample.of(scores[known], cases.positive[known] == second_is_positive, weights)
    rule = getattr(classifier, "rule", "tuned")
    place = RULES["symmetric" if rule == "symmetric" else "tuned"].place
    band = place(sample, Aim(costs, coverage, probabilities, shrinkage))
    return Pipeline([*model.steps[:-1], (model.steps[-1][0], _with_band(classifier, band))])


def _scores(classifier: Any, X: Any) -> tuple[Any, float, float | None, bool]:
    """What the thresholds cut, how far new ones are shrunk, the coverage asked for, whether these are probabilities."""
    if isinstance(classifier, EnsembleRejectClassifier):
        return np.asarray(classifier.predict_proba(X))[:, 1], _SHRINKAGE, None, True
    models = classifier._models
    return models.cut_scores(X), float(classifier.shrinkage), classifier.coverage, models.gives_probabilities


def _with_band(classifier: Any, band: Band) -> Any:
    moved = copy(classifier)
    moved.thresholds_ = band.thresholds
    if isinstance(classifier, EnsembleRejectClassifier):
        moved._band, moved.rule_ = band, "tuned"
        return moved
    moved._region = band
    for name in ("guarantee_", "fold_thresholds_", "threshold_spread_"):  # of the thresholds before
        if hasattr(moved, name):
            delattr(moved, name)
    return moved
