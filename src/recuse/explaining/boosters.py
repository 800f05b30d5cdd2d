"""Contributions as LightGBM, XGBoost and CatBoost work them out themselves: Shapley values of the log-odds."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Floats
from .contributions import LOG_ODDS, Contributions


def from_library(table: Any) -> Contributions:
    """What the libraries return: a column per column of the cases, and behind them the base."""
    found: Floats = np.asarray(table, dtype=np.float64)
    return Contributions(found[:, :-1], found[:, -1].copy(), LOG_ODDS)


def library_of(model: Any) -> str:
    """The package that a model comes from."""
    return type(model).__module__.partition(".")[0]


def _lightgbm(model: Any, X: Any) -> Any:
    return model.predict(X, pred_contrib=True, num_threads=1)


def _xgboost(model: Any, X: Any) -> Any:
    import xgboost

    cases = xgboost.DMatrix(
        X,
        missing=np.nan if model.missing is None else model.missing,
        feature_types=model.feature_types,
        enable_categorical=bool(model.enable_categorical),
        nthread=1,
    )
    # Where a fit was stopped early, the model answers with the rounds up to the best one.
    best = getattr(model.get_booster(), "best_iteration", None) if model.early_stopping_rounds else None
    rounds = (0, 0) if best is None else (0, int(best) + 1)
    return model.get_booster().predict(cases, pred_contribs=True, iteration_range=rounds)


def _catboost(model: Any, X: Any) -> Any:
    import catboost

    cases = catboost.Pool(X, cat_features=model.get_cat_feature_indices() or None)
    return model.get_feature_importance(cases, type="ShapValues", thread_count=1)


_LIBRARIES = {"lightgbm": _lightgbm, "xgboost": _xgboost, "catboost": _catboost}


def is_booster(model: Any) -> bool:
    """Whether a model is a classifier of one of these libraries, for two classes."""
    return library_of(model) in _LIBRARIES and len(getattr(model, "classes_", ())) == 2


def explain_booster(model: Any, X: Any) -> Contributions:
    """The contributions that the library of a model gives."""
    return from_library(_LIBRARIES[library_of(model)](model, X))
