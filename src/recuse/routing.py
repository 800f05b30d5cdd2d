"""How sample weights and groups reach the `fit` of any estimator: a Pipeline, a search, or one that wraps others.

Where scikit-learn's metadata routing is enabled, everything goes to what has requested it. Where it is not, by the
names that each kind of estimator takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn import get_config
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing  # documented in scikit-learn's reference, despite the underscore
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from .arrays import Floats, Indices


def routing_enabled() -> bool:
    """Whether scikit-learn's metadata routing is enabled."""
    return bool(get_config()["enable_metadata_routing"])


def is_search(estimator: Any) -> bool:
    """Whether an estimator searches hyper-parameters of another."""
    return hasattr(estimator, "param_grid") or hasattr(estimator, "param_distributions")


def weight_params(estimator: Any, weights: Floats, *, required: bool = True) -> dict[str, Any]:
    """Arguments of `fit` that carry the weights, without metadata routing: none for unit weights.

    They go through searches and to the last step of a Pipeline. Weights that nothing takes are refused if `required`.
    """
    if (weights == 1).all() or isinstance(estimator, FrozenEstimator):
        return {}
    params = _named_params(estimator, "sample_weight", weights)
    if required and not params:
        raise TypeError(f"sample_weight was given, but estimator={type(estimator).__name__} cannot be fitted with it.")
    return params


def group_params(estimator: Any, groups: Indices | None) -> dict[str, Any]:
    """Arguments of `fit` that carry the groups to a search or a classifier with folds of its own, if there is one."""
    if groups is None or isinstance(estimator, FrozenEstimator):
        return {}
    if routing_enabled() and not has_fit_parameter(estimator, "groups"):
        wanted = get_routing_for_object(estimator).consumes("fit", ["groups"])
        return {"groups": groups} if wanted else {}
    return _named_params(estimator, "groups", groups)


def _named_params(estimator: Any, name: str, values: Any) -> dict[str, Any]:
    """Arguments of `fit` that carry `values` to what takes them by this name; empty if nothing does."""
    if has_fit_parameter(estimator, name):
        return {name: values}
    if isinstance(estimator, Pipeline):
        step, last = estimator.steps[-1]
        return {f"{step}__{key}": value for key, value in _named_params(last, name, values).items()}
    if is_search(estimator):
        inside = _named_params(estimator.estimator, name, values)
        # A search keeps the groups for its own folds; those of a Pipeline's step have another name, and pass.
        return {**inside, "groups": values} if name == "groups" else inside
    return {}


def take_params(params: Mapping[str, Any], rows: Indices, n: int) -> dict[str, Any]:
    """Arguments of `fit` for some of `n` cases: those that hold one value per case are cut."""
    return {name: _safe_indexing(value, rows) if _is_column(value, n) else value for name, value in params.items()}


def _is_column(value: Any, n: int) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str) and len(value) == n
