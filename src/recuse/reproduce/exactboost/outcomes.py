"""What a method did on one fold, and the results of all folds side by side."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ...arrays import Floats
from ..means import Table, Tally, standard_error, tabulate


@dataclass(frozen=True)
class Outcome:
    """What a method did on one fold.

    Attributes
    ----------
    data, fold, method
        Which.
    part : {"estimator", "ensembler", "reject"}
        What the method was used for.
    auc, ks, cpu : float, optional
        1 - AUC, 1 - KS and processor seconds of the fit, of estimators and ensemblers.
    c, cost : float, optional
        Reject price and mean cost, of methods that reject.
    """

    data: str
    fold: int
    part: str
    method: str
    auc: float | None = None
    ks: float | None = None
    cpu: float | None = None
    c: float | None = None
    cost: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The fields that have a value, ready for JSON."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def table_of(outcomes: list[Outcome], part: str, value: str) -> Table:
    """One field of the outcomes of a part; of several prices their mean."""
    chosen = (outcome for outcome in outcomes if outcome.part == part)
    return tabulate((outcome.method, outcome.data, outcome.fold, getattr(outcome, value)) for outcome in chosen)


def tallies_against(table: Table, ours: str) -> dict[str, Tally]:
    """For each rival: on how many sets ours is better, worse, and within a standard error of the paired difference."""
    return {
        method: Tally.of(_beyond_error(table[ours][name] - values) for name, values in sets.items())
        for method, sets in table.items()
        if not method.startswith("ExactBoost")
    }


def _beyond_error(differences: Floats) -> float:
    """Mean of paired differences; 0 where it is within one standard error of 0."""
    mean = float(differences.mean())
    return 0.0 if abs(mean) <= standard_error(differences) else mean
