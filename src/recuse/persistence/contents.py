"""Checks of the numbers that answers are computed from: arrays of the lengths that belong together, none of them NaN.

A file that was damaged is refused before (`archive`); this is for files that were made again by other hands, or saved
from a fit that went wrong. A model that passes may still decide badly.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .parts import attributes_of, parts

_CHECKED_PACKAGES = ("recuse", "sklearn")
# Attributes whose last axis runs over the features.
_PER_FEATURE = ("coef_", "components_", "feature_names_in_", "mean_", "scale_", "support_vectors_", "var_")
# Attributes that are finite in every model that can answer.
_FINITE = ("coef_", "cuts", "dual_coef_", "h", "h0", "intercept_", "r", "r0", "rho_", "support_vectors_", "values")
# Facts about a fit, of no effect on answers: NaN where there is none.
_CERTIFICATES = ("dual_gap_", "objective_", "residual_")
# Training cases that are kept for reasons, and of no effect on answers: NaN where a value is missing.
_CASES = ("cases", "numbers")


def check_contents(model: Any) -> None:
    """Refuse a model with arrays that do not fit together, or with numbers that make every answer NaN."""
    for part in parts(model):
        if isinstance(part, np.ndarray) and part.dtype.kind == "U":
            _check_text(part)
        if type(part).__module__.partition(".")[0] in _CHECKED_PACKAGES:
            _check_finite(part)
            _check_lengths(part)


def _check_text(text: NDArray[Any]) -> None:
    """Refuse text of characters that do not exist, which other libraries cannot take."""
    if text.size and text.dtype.itemsize:
        codes = np.ascontiguousarray(text, dtype=text.dtype.newbyteorder("=")).reshape(-1).view(np.uint32)
        surrogates = (codes >= 0xD800) & (codes <= 0xDFFF)
        _require(not ((codes > sys.maxunicode) | surrogates).any(), "text", "is not of characters that exist")


def _check_finite(part: Any) -> None:
    own = type(part).__module__.startswith("recuse")
    for name, value in attributes_of(part).items():
        if name in _FINITE:
            _require(_all_numbers(value, np.isfinite), name, "holds a number that is not finite")
        elif own and name not in (*_CERTIFICATES, *_CASES):
            _require(_all_numbers(value, lambda numbers: ~np.isnan(numbers)), name, "holds NaN")


def _all_numbers(value: Any, holds: Any) -> bool:
    """Whether all floating-point numbers in a value have a property; True if there are none."""
    data = getattr(value, "data", None) if hasattr(value, "indptr") else value  # of a sparse matrix, what is stored
    if not isinstance(data, float | tuple | np.ndarray | np.floating):
        return True
    if isinstance(data, tuple):
        return all(_all_numbers(part, holds) for part in data)
    array = np.asarray(data)
    if array.dtype == object:
        return all(_all_numbers(part, holds) for part in array.flat if isinstance(part, float | np.floating))
    return array.dtype.kind != "f" or bool(holds(array).all())


def _check_lengths(part: Any) -> None:
    values = attributes_of(part)
    n_features = values.get("n_features_in_")
    if n_features is not None:
        for name in _PER_FEATURE:
            _require(_last_axis(values.get(name)) in (None, n_features), name, f"is not of {n_features} features")
        # A stacked score is one more feature, after the last; -1 stands where a node of a tree looks at none.
        n_columns = n_features + ("score_functions_" in values)
        for used in _features_used(part):
            _require(((used >= -1) & (used < n_columns)).all(), "feature", f"is not one of {n_columns}")
    machines = _last_axis(values.get("dual_coef_")), _rows(values.get("support_vectors_"))
    _require(None in machines or machines[0] == machines[1], "dual_coef_", "does not belong to support_vectors_")
    if {"features", "cuts", "h", "r"} <= values.keys():  # a step function of two features
        shape = tuple(len(cuts) + 2 for cuts in values["cuts"])
        _require(np.shape(values["h"]) == np.shape(values["r"]) == shape, "cuts", "does not belong to h and r")
    elif {"cuts", "h", "r"} <= values.keys():
        _require(len(values["h"]) == len(values["r"]) == len(values["cuts"]) + 1, "cuts", "does not belong to h and r")


def _features_used(owner: Any) -> list[NDArray[Any]]:
    """Positions of the features that the shapes and trees of one of this library's estimators look at."""
    if not type(owner).__module__.startswith("recuse"):
        return []
    inside = parts(owner, inside=lambda part: part is owner or "n_features_in_" not in attributes_of(part))
    values = [attributes_of(part) for part in inside]
    return [np.asarray(value[name]) for value in values for name in ("feature", "features") if name in value]


def _last_axis(value: Any) -> int | None:
    """Length of the last axis of an array with anything in it; None for what is no such array."""
    shape = getattr(value, "shape", ())
    return int(shape[-1]) if shape and 0 not in shape else None


def _rows(value: Any) -> int | None:
    shape = getattr(value, "shape", ())
    return int(shape[0]) if shape and 0 not in shape else None


def _require(holds: Any, name: str, what: str) -> None:
    if not holds:
        raise ValueError(f"{name} {what}")
