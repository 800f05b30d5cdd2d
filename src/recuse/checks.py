"""Checks of numbers that estimators, metrics and generators share."""

from __future__ import annotations

import numbers
import reprlib
from typing import Any

import numpy as np
from numpy.typing import NDArray


def check_weights(sample_weight: Any, n: int) -> NDArray[np.float64]:
    """Return the weights of `n` cases as floats, ones by default; refuse what is not a weight."""
    if sample_weight is None:
        return np.ones(n)
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"sample_weight must hold numbers, one a case; got {reprlib.repr(sample_weight)}.") from None
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must have one value a case: expected shape ({n},), got {weights.shape}.")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight must be finite and not negative.")
    if not weights.any():
        raise ValueError("sample_weight is zero for every case: at least one must be positive.")
    return weights


def is_number(value: Any) -> bool:
    """Whether a value is a real number; True and False are not."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)


def check_share(name: str, value: Any, *, or_one: bool = False) -> None:
    """Refuse a value outside (0, 1), or outside (0, 1] with `or_one`."""
    if not is_number(value) or not (0 < value < 1 or (or_one and value == 1)):
        raise ValueError(f"{name} must be a number in {'(0, 1]' if or_one else '(0, 1)'}; got {value!r}.")


def check_finite(name: str, value: Any) -> None:
    """Refuse what is not a finite number."""
    if not is_number(value) or not np.isfinite(float(value)):
        raise ValueError(f"{name} must be a finite number; got {value!r}.")


def check_count(name: str, value: Any, *, least: int = 1) -> None:
    """Refuse what is not an integer, or is less than `least`."""
    if not is_number(value) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be an integer; got {value!r}.")
    if value < least:
        raise ValueError(f"{name} must be {least} or more; got {value}.")
