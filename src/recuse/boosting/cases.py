"""CodedCases: the training cases of a boosting problem, features coded, positives first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Flags
from .binning import Bins


@dataclass(frozen=True, eq=False)
class CodedCases:
    """Training cases, positives first.

    Attributes
    ----------
    bins : Bins
        Coded features.
    n_pos : int
        Number of positives.
    """

    bins: Bins
    n_pos: int

    @property
    def n_cases(self) -> int:
        """Number of cases."""
        return int(self.bins.codes.shape[1])

    @property
    def positive(self) -> Flags:
        """Which cases are positive."""
        return np.arange(self.n_cases) < self.n_pos
