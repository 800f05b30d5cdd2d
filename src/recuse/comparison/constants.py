"""The answers that are the same for every case: what a method has to be cheaper than."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from ..arrays import Floats, Indices
from ..costs import Costs
from ..report.operating_points import CHOW
from .methods import Method, with_rule
from .plans import Grid, Plan, Task


class Constant(NamedTuple):
    """An answer that is the same for every case; nothing is fitted for it.

    Attributes
    ----------
    name, title : str
        On the command line, and in tables.
    column : int
        Its column of the price matrix.
    """

    name: str
    title: str
    column: int


SEND_ALL = "send-all"
CONSTANTS = (
    Constant(SEND_ALL, "Manual review of every case", 2),
    Constant("always-no", "Always no", 0),
    Constant("always-yes", "Always yes", 1),
)


def _prior(task: Task) -> tuple[Any, Grid]:
    from sklearn.dummy import DummyClassifier

    return DummyClassifier(strategy="prior"), {}


@dataclass(frozen=True, kw_only=True)
class ConstantPlan(Plan):
    """How a constant answer becomes a model: Chow's rule on a probability that is the same for every case.

    Attributes
    ----------
    column : int
        Column of the price matrix of the answer.
    """

    column: int

    def fit(
        self,
        X: Any,
        y: NDArray[Any],
        task: Task,
        groups: Indices | None = None,
        shelf: Any = None,
        weights: Floats | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Fit; return the model, and that nothing was chosen."""
        positive = y == task.pos_label
        share = float(np.average(positive, weights=weights))
        shown = self._probability(share, task.costs)
        towards = np.where(positive, shown / share, (1 - shown) / (1 - share))
        prior = clone(self.estimator.estimator).fit(X, y, sample_weight=towards)
        return clone(self.estimator).set_params(estimator=FrozenEstimator(prior)).fit(X, y), {}

    def _probability(self, share: float, costs: Costs) -> float:
        """The share of positives if Chow's rule gives it this answer, else the middle of those it gives it to.

        The answer was chosen on the cases that were answered; over time, the share of positives among all may be one
        that gets another.
        """
        p_minus, p_plus = costs.thresholds
        low, high = ((0.0, p_minus), (p_plus, 1.0), (p_minus, p_plus))[self.column]
        return share if low < share < high else (low + high) / 2


def constant_method(constant: Constant) -> Method:
    """A constant answer as a method, for the model that gives it."""
    by_chow = with_rule(_prior, CHOW, rule="chow")

    def build(task: Task) -> Plan:
        return ConstantPlan(estimator=by_chow(task).estimator, column=constant.column)

    return Method(constant.name, constant.title, build, CHOW, reference=True)
