"""Which rows fit, which place the sequence of thresholds, and which test it, for a guarantee."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

from ..arrays import Indices

# Share of the cases that only place the sequence, where the model is fitted already and no case was held out of it.
_PLACING_SHARE = 0.2


class Split(NamedTuple):
    """Rows that fit the model and place the thresholds, and rows that test them.

    Where the model is fitted already, the first ones place the thresholds only.
    """

    fitting: Indices
    testing: Indices


def split_rows(n: int, calibration_size: float, *, fitted: bool, random_state: Any) -> Split:
    """Split `n` rows; `fitted` says that the model is fitted already."""
    if n < 2:
        raise ValueError(f"A guarantee needs cases to fit and cases to test, and there is {n} (n_samples={n}).")
    share = 1 - _PLACING_SHARE if fitted else calibration_size
    # Not stratified: the tests assume cases drawn independently of each other.
    fitting, testing = train_test_split(np.arange(n), test_size=share, random_state=random_state)
    return Split(fitting, testing)
