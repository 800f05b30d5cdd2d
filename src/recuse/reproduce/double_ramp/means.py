"""Means over the folds, for the claims and the figures."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...arrays import Floats
from ..means import standard_error
from .methods import METHODS
from .plan import Outcome

# The paper shows neither the support vectors of ER-SVM nor how noise changes its risk.
BUT_EMBEDDED = tuple(name for name in METHODS if name != "ER-SVM")
_TITLES = {"heart_statlog": "heart"}


class FoldMeans:
    """Values by fold, and means over folds, by data set, noise, method and price."""

    def __init__(self, outcomes: Iterable[Outcome]) -> None:
        self._cells: dict[tuple[str, float, str, float], dict[str, Floats]] = {
            (outcome.data, outcome.noise, outcome.method, outcome.d): {
                "risk": np.array(outcome.risk),
                # NaN in a fold without accepted cases.
                "accuracy": np.array(outcome.accuracy, dtype=np.float64),
                "rejected": np.array(outcome.rejected),
                "support": np.array(outcome.support, dtype=np.float64),
            }
            for outcome in outcomes
        }

    def prices(self, data: str, noise: float) -> list[float]:
        """Reject prices measured on a data set."""
        return sorted({key[3] for key in self._cells if key[:2] == (data, noise)})

    def parts(self) -> list[tuple[str, float]]:
        """Data sets and noise rates measured, in order."""
        return list(dict.fromkeys(key[:2] for key in self._cells))

    def value(self, data: str, noise: float, method: str, d: float, measure: str) -> float:
        """Mean of one measure over the folds in which it is known; NaN if there is none."""
        values = self.folds(data, noise, method, d, measure)
        known = values[~np.isnan(values)]
        return float(known.mean()) if len(known) else np.nan

    def folds(self, data: str, noise: float, method: str, d: float, measure: str) -> Floats:
        """One measure in each fold."""
        return self._cells[data, noise, method, d][measure]

    def differences(self, data: str, other: str, measure: str, noise: float = 0.0, least: float = 0.0) -> list[float]:
        """SDR-SVM minus another method, at each price from `least` on."""
        return [
            self.value(data, noise, "SDR-SVM", d, measure) - self.value(data, noise, other, d, measure)
            for d in self.prices(data, noise)
            if d >= least - 1e-9
        ]

    def fold_differences(
        self, data: str, other: str, measure: str, noise: float = 0.0, least: float = 0.0
    ) -> list[Floats]:
        """SDR-SVM minus another method in each fold (all methods have the same), at each price from `least` on."""
        return [
            self.folds(data, noise, "SDR-SVM", d, measure) - self.folds(data, noise, other, d, measure)
            for d in self.prices(data, noise)
            if d >= least - 1e-9
        ]

    def rise(
        self, data: str, noise: float, method: str, measure: str, least: float = 0.0, most: float = 1.0
    ) -> tuple[float, float] | None:
        """What label noise adds to a measure, with its standard error; None where there is nothing to compare.

        The mean over the prices from `least` to `most` that were run with and without noise. The folds of the two runs
        are not the same: their errors add up.
        """
        both = set(self.prices(data, 0.0)) & set(self.prices(data, noise))
        prices = [d for d in sorted(both) if least - 1e-9 <= d <= most and (data, noise, method, d) in self._cells]
        if not prices:
            return None
        clean, noisy = (
            np.mean([self.folds(data, rate, method, d, measure) for d in prices], axis=0) for rate in (0.0, noise)
        )
        error = float(np.hypot(standard_error(clean), standard_error(noisy)))
        return float(noisy.mean() - clean.mean()), error


def title(name: str) -> str:
    """A data set's name in claims and figures."""
    return _TITLES.get(name, name)
