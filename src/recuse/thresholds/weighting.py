"""How to hand sample weights to the `fit` of any estimator."""

from __future__ import annotations

from typing import Any

from sklearn import get_config
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from ..arrays import Floats
from ..locating import is_search


def fit_params(estimator: Any, weights: Floats, required: bool = True) -> dict[str, Any]:
    """Arguments of `fit` that carry the weights: none for unit weights or a frozen estimator.

    The weights go through searches and to the last step of a Pipeline; with metadata routing enabled, to whatever
    has requested them.
    """
    if (weights == 1).all() or isinstance(estimator, FrozenEstimator):
        return {}
    if has_fit_parameter(estimator, "sample_weight"):
        return {"sample_weight": weights}
    if isinstance(estimator, Pipeline) or is_search(estimator):
        if get_config()["enable_metadata_routing"]:
            return {"sample_weight": weights}
        if is_search(estimator):
            return fit_params(estimator.estimator, weights, required)
        name, last = estimator.steps[-1]
        return {f"{name}__{key}": value for key, value in fit_params(last, weights, required).items()}
    if required:
        raise TypeError(f"sample_weight was given, but estimator={type(estimator).__name__} cannot be fitted with it.")
    return {}
