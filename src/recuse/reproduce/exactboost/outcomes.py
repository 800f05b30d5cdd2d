"""What a method did on one fold, and the results of all folds side by side."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ..means import Table, standard_error, tabulate


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


def where_lower(table: Table, one: str, other: str) -> list[str]:
    """Data sets on which the mean of one method is below that of another."""
    return [name for name in table[one] if table[one][name].mean() < table[other][name].mean()]


def counts_against(table: Table, ours: str) -> dict[str, tuple[int, int, int]]:
    """For each rival: on how many sets ours is better, within one standard error of the paired difference, worse."""
    counts = {}
    for method, sets in table.items():
        if method.startswith("ExactBoost"):
            continue
        better = same = worse = 0
        for name, values in sets.items():
            difference = table[ours][name] - values
            if abs(difference.mean()) <= standard_error(difference):
                same += 1
            elif difference.mean() < 0:
                better += 1
            else:
                worse += 1
        counts[method] = (better, same, worse)
    return counts
