"""Monotone features: the parameter `monotonic_cst`, resolved to one sign per column.

A sign of +1 asks that the class score h never falls while the feature rises, -1 that it never rises, 0 asks nothing.
A missing value has no place in the order, and is not constrained.
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..labels import preview, to_python

Signs = NDArray[np.int8]


def resolve_monotonic(monotonic_cst: Any, n_features: int, names: NDArray[Any] | None) -> Signs:
    """Return one sign per column; refuse what is neither an array of -1, 0 and 1 nor a dict by name."""
    if monotonic_cst is None:
        return np.zeros(n_features, dtype=np.int8)
    if isinstance(monotonic_cst, Mapping):
        return _by_name(monotonic_cst, n_features, names)
    try:
        signs = np.asarray(monotonic_cst, dtype=np.float64)
    except (TypeError, ValueError):
        signs = np.full(0, np.nan)
    if signs.shape != (n_features,):
        raise ValueError(
            f"monotonic_cst must hold {n_features} signs -1, 0 or 1, one per column, or be a dict by name; "
            f"got {reprlib.repr(monotonic_cst)}."
        )
    _require_signs(signs, monotonic_cst)
    return signs.astype(np.int8)


def _by_name(given: Mapping[Any, Any], n_features: int, names: NDArray[Any] | None) -> Signs:
    if names is None:
        raise ValueError(
            "monotonic_cst names columns, but X has no names: fit a data frame, or give one sign per column."
        )
    known = [to_python(name) for name in names]
    unknown = [name for name in given if to_python(name) not in known]
    if unknown:
        raise ValueError(f"monotonic_cst names {unknown[0]!r}, which is not among the columns {preview(known)}.")
    _require_signs(np.array([_as_number(sign) for sign in given.values()]), given)
    signs = np.zeros(n_features, dtype=np.int8)
    for name, sign in given.items():
        signs[known.index(to_python(name))] = int(sign)
    return signs


def _as_number(sign: Any) -> float:
    try:
        return float(sign)
    except (TypeError, ValueError):
        return float("nan")


def _require_signs(signs: NDArray[Any], given: Any) -> None:
    if not np.isin(signs, (-1, 0, 1)).all():
        raise ValueError(
            "monotonic_cst must hold -1 (h falls with the feature), 0 (free) or 1 (h rises); "
            f"got {reprlib.repr(given)}."
        )
