"""Contributions of linear models: coefficient times the distance from the mean of the training cases."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Floats
from .contributions import LOG_ODDS, SCORE, Contributions


def coefficients(model: Any) -> tuple[Floats, float] | None:
    """Coefficients and intercept of a linear model for two classes; None for what is none."""
    coef = getattr(model, "coef_", None) if hasattr(model, "intercept_") else None
    if coef is None or not hasattr(model, "decision_function") or len(getattr(model, "classes_", ())) != 2:
        return None
    coef = np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef, dtype=np.float64)
    intercept = np.ravel(np.asarray(model.intercept_, dtype=np.float64))
    if coef.size != getattr(model, "n_features_in_", coef.size) or len(intercept) != 1:
        return None
    return coef.ravel(), float(intercept[0])


def explain_linear(model: Any, X: Any, mean: Floats) -> Contributions:
    """Contributions of a linear model; `mean` is a typical case."""
    found = coefficients(model)
    assert found is not None
    coef, intercept = found
    amounts = (np.asarray(X, dtype=np.float64) - mean) * coef
    return Contributions(amounts, np.full(len(amounts), float(mean @ coef) + intercept), linear_scale(model))


def linear_scale(model: Any) -> str:
    """What the decision function of a linear model is: log-odds, unless its probabilities are made otherwise."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression

    return LOG_ODDS if isinstance(model, LogisticRegression | LinearDiscriminantAnalysis) else SCORE
