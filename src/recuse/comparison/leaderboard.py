"""From the answers of every method to a ranking by expected cost.

Each case has a mean price over the repetitions. Intervals are bootstrap intervals over the cases: cases are resampled
with replacement, models are not fitted again. The prices take few distinct values, so resampling n cases is a
multinomial draw over these values, exact and fast at any n.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..arrays import Floats

DRAWS = 4000
LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    """An estimate with its bootstrap interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Row:
    """One method in the leaderboard.

    Attributes
    ----------
    name, title : str
        The method.
    reference : bool
        Whether it stands for doing without the reject option.
    cost : Interval
        Expected cost per case.
    difference : Interval
        How much more it costs per case than the best row, paired case by case.
    coverage : float
        Share of the cases answered.
    accuracy : float
        Share of right answers among them; NaN when there is none.
    ambiguity, novelty : float
        Shares of the cases rejected, by kind.
    fit_seconds, predict_seconds : float
        Mean over the folds.
    params : dict
        Hyper-parameters chosen, and in how many folds.
    note : str or None
        What else the reader must know: fitted on a sample, or why the method was left out.
    error : str or None
        Why the method failed.
    """

    name: str
    title: str
    reference: bool = False
    cost: Interval | None = None
    difference: Interval | None = None
    coverage: float = float("nan")
    accuracy: float = float("nan")
    ambiguity: float = float("nan")
    novelty: float = float("nan")
    fit_seconds: float = float("nan")
    predict_seconds: float = float("nan")
    params: dict[str, dict[str, int]] = field(default_factory=dict)
    note: str | None = None
    error: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The figures by name, as in leaderboard.csv."""
        return {
            "method": self.name,
            "title": self.title,
            "reference": self.reference,
            **_flat("cost", self.cost),
            **_flat("difference", self.difference),
            "coverage": self.coverage,
            "accuracy": self.accuracy,
            "ambiguity": self.ambiguity,
            "novelty": self.novelty,
            "fit_seconds": round(self.fit_seconds, 4),
            "predict_seconds": round(self.predict_seconds, 4),
            "params": "; ".join(
                f"{name}={value} ({count})" for name, values in self.params.items() for value, count in values.items()
            ),
            "note": self.note or "",
            "error": self.error or "",
        }


def _flat(name: str, interval: Interval | None) -> dict[str, float]:
    if interval is None:
        interval = Interval(float("nan"), float("nan"), float("nan"))
    return {name: interval.value, f"{name}_low": interval.low, f"{name}_high": interval.high}


def bootstrap_mean(values: Floats, seed: int = 0, draws: int = DRAWS, level: float = LEVEL) -> Interval:
    """Mean of one value per case, with a percentile bootstrap interval over the cases."""
    amounts, counts = np.unique(np.round(values, 12), return_counts=True)
    shares = counts / counts.sum()
    mean = float(shares @ amounts)
    drawn = np.random.default_rng(seed).multinomial(len(values), shares, size=draws) @ amounts / len(values)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Interval(mean, float(low), float(high))


def rank(rows: list[Row], prices: dict[str, Floats], seed: int) -> list[Row]:
    """Sort by expected cost, references among the methods, failures last; fill in costs and differences.

    Parameters
    ----------
    rows : list of Row
        Without costs.
    prices : dict
        For each method, the mean price of each case.
    seed : int
        Random state of the bootstrap.
    """
    # Methods of equal cost stay in the order of the list, which begins with the simple ones.
    order = sorted(prices, key=lambda name: (round(float(prices[name].mean()), 12), [r.name for r in rows].index(name)))
    if not order:
        return rows
    best = prices[order[0]]
    by_name = {row.name: row for row in rows}
    ranked = [
        replace(
            by_name[name],
            cost=bootstrap_mean(prices[name], seed),
            difference=bootstrap_mean(prices[name] - best, seed),
        )
        for name in order
    ]
    return [*ranked, *(row for row in rows if row.name not in prices)]
