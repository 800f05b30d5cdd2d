"""Means over the folds, for the claims and the figures."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .methods import METHODS
from .plan import Outcome

# The paper shows neither the support vectors of ER-SVM nor how noise changes its risk.
BUT_EMBEDDED = tuple(name for name in METHODS if name != "ER-SVM")
_TITLES = {"heart_statlog": "heart"}


class FoldMeans:
    """Means over folds by data set, noise, method and price."""

    def __init__(self, outcomes: Iterable[Outcome]) -> None:
        self._cells: dict[tuple[str, float, str, float], dict[str, float]] = {}
        for outcome in outcomes:
            known = [value for value in outcome.accuracy if value is not None]
            self._cells[outcome.data, outcome.noise, outcome.method, outcome.d] = {
                "risk": float(np.mean(outcome.risk)),
                "accuracy": float(np.mean(known)) if known else np.nan,
                "rejected": float(np.mean(outcome.rejected)),
                "support": float(np.mean(outcome.support)),
            }

    def prices(self, data: str, noise: float) -> list[float]:
        """Reject prices measured on a data set."""
        return sorted({key[3] for key in self._cells if key[:2] == (data, noise)})

    def parts(self) -> list[tuple[str, float]]:
        """Data sets and noise rates measured, in order."""
        return list(dict.fromkeys(key[:2] for key in self._cells))

    def value(self, data: str, noise: float, method: str, d: float, measure: str) -> float:
        """Mean of one measure over the folds."""
        return self._cells[data, noise, method, d][measure]

    def differences(self, data: str, other: str, measure: str, noise: float = 0.0, least: float = 0.0) -> list[float]:
        """SDR-SVM minus another method, at each price from `least` on."""
        return [
            self.value(data, noise, "SDR-SVM", d, measure) - self.value(data, noise, other, d, measure)
            for d in self.prices(data, noise)
            if d >= least - 1e-9
        ]

    def rises(
        self, data: str, noise: float, method: str, measure: str, least: float = 0.0, most: float = 1.0
    ) -> list[float]:
        """What label noise adds to a measure, at each price from `least` to `most` that was run with and without it."""
        both = sorted(set(self.prices(data, 0.0)) & set(self.prices(data, noise)))
        return [
            self.value(data, noise, method, d, measure) - self.value(data, 0.0, method, d, measure)
            for d in both
            if least - 1e-9 <= d <= most
        ]


def title(name: str) -> str:
    """A data set's name in claims and figures."""
    return _TITLES.get(name, name)
