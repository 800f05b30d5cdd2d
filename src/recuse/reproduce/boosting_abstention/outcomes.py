"""What a method did on one partition at one price, and which of the outcomes are shown."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ..means import Table, Tally, tabulate

DEFAULT = "default"
# What the default chooses from, by the name the estimator gives it.
STUMPS = "boosted stumps + Chow"
CANDIDATES = {
    "chow": STUMPS,
    "decoupled": "BA decoupled, tuned threshold",
    "decoupled+start": "BA decoupled, started from boosted stumps + Chow",
}
TSB_TUNED, TSB_FIXED = "TSB, T tuned", "TSB, T = 200"
EXACT, PRINTED = "BA, exact steps", "BA, printed step"
SEARCHED = "BA, printed step: search"  # on the training cases alone, for every gamma and beta
TRAINED_ON_60 = "BA, printed step, trained on 60 %"  # the best of them
LOGISTIC, DHL = "logistic regression + Chow", "DHL (double hinge, polynomial)"


@dataclass(frozen=True)
class Outcome:
    """What a method did on one partition of one data set at one reject price.

    Attributes
    ----------
    data, split, c, method
        Which.
    loss : float
        Abstention loss of the test cases.
    rejected : float, optional
        Share of them that is rejected.
    chosen : str, optional
        Family of the model, which the default chooses itself.
    gamma, beta, validation : float, optional
        Of the printed step: its two parameters and, in the search for them, the loss of the validation cases.
    """

    data: str
    split: int
    c: float
    method: str
    loss: float
    rejected: float | None = None
    chosen: str | None = None
    gamma: float | None = None
    beta: float | None = None
    validation: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The fields that have a value, ready for JSON."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def best_of_search(outcomes: list[Outcome]) -> list[Outcome]:
    """Of the search, the outcomes at the gamma and beta of lowest mean validation loss for each data set and price."""
    by_cell: dict[tuple[str, float], dict[tuple[Any, Any], list[Outcome]]] = {}
    for outcome in outcomes:
        if outcome.method == SEARCHED:
            by_setting = by_cell.setdefault((outcome.data, outcome.c), {})
            by_setting.setdefault((outcome.gamma, outcome.beta), []).append(outcome)
    best: list[Outcome] = []
    for by_setting in by_cell.values():
        settings = sorted(by_setting)
        means = [np.mean([outcome.validation for outcome in by_setting[setting]]) for setting in settings]
        best += by_setting[settings[int(np.argmin(means))]]
    return best


def shown(outcomes: list[Outcome]) -> list[Outcome]:
    """The outcomes on the page: of the search only the best."""
    best = [replace(outcome, method=TRAINED_ON_60) for outcome in best_of_search(outcomes)]
    return [outcome for outcome in outcomes if outcome.method != SEARCHED] + best


def mean_losses(outcomes: list[Outcome]) -> Table:
    """Mean losses over the prices."""
    return tabulate((outcome.method, outcome.data, outcome.split, outcome.loss) for outcome in outcomes)


def cells_lower(outcomes: list[Outcome], one: str, other: str) -> Tally:
    """In how many cells (data set x price) `one` has the lower, the higher, the same mean loss."""
    cells: dict[tuple[str, float], dict[str, list[float]]] = {}
    for outcome in outcomes:
        if outcome.method in (one, other):
            cells.setdefault((outcome.data, outcome.c), {}).setdefault(outcome.method, []).append(outcome.loss)
    return Tally.of(float(np.mean(cell[one]) - np.mean(cell[other])) for cell in cells.values())
