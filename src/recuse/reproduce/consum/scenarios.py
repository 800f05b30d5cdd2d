"""Prices, scenarios and novelties of the CONSUM paper, for its table, its figures and the study."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.svm import SVC

from ...arrays import Floats, Indices
from ...costs import Costs, answer_columns
from ...datasets import add_novelties
from ...decisions import KINDS
from ...labels import encode
from ..splits import Labels

COSTS = Costs(fp=4, fn=4, reject=1)
PRICES = COSTS.matrix()
NU = 0.05
NOVELTY = 2  # the label of a novelty, and its row of the price matrix
SCENARIOS = ("none", "ambiguity", "both")


def with_novelties(X: Floats, y: Labels, seed: int) -> tuple[Floats, Labels]:
    """The cases, followed by a quarter as many novelties."""
    return add_novelties(X, y, n_novelties=len(y) // 4, novelty_label=NOVELTY, random_state=seed)


def cost_of(answers: Indices, y: Labels) -> float:
    """Mean price of answers (a class, 2 for ambiguous, 3 for a novelty); `y` may hold novelties."""
    return float(PRICES[y, answers].mean())


def answers_of(model: Any, X: Floats) -> Indices:
    """Answers of a model, as columns of the price matrix: a class, 2 for ambiguous, 3 for a novelty."""
    if isinstance(model, SVC):
        return model.predict(X).astype(np.intp)
    decisions = model.decide(X, reasons=False)
    return answer_columns(decisions.forced, encode(decisions.kind, np.array(KINDS))).astype(np.intp)


def scores_of(model: Any, X: Floats) -> Floats:
    """Scores F of a pair of one-class machines before their thresholds are subtracted, one column per class."""
    f, _ = model._evaluate(X).detail
    return np.asarray(f + np.array([model.rho_negative_, model.rho_positive_]))
