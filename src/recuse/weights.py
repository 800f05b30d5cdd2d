"""Sample weights: one check for estimators and metrics."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def check_weights(sample_weight: Any, n: int) -> NDArray[np.float64]:
    """Return the weights of `n` cases as floats, ones by default; refuse what is not a weight."""
    if sample_weight is None:
        return np.ones(n)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must have one value a case: expected shape ({n},), got {weights.shape}.")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight must be finite and not negative.")
    if not weights.any():
        raise ValueError("sample_weight is zero for every case: at least one must be positive.")
    return weights
