"""A random split of a data set, as the kernel machines' experiments see it."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from ..arrays import Floats

Labels = NDArray[Any]


class Split(NamedTuple):
    """Training cases and labels, the features of the test cases, and the seed of the folds drawn inside."""

    X: Floats
    y: Labels
    X_test: Floats
    seed: int
