"""The answers that are the same for every case: what a method has to be cheaper than."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from ..arrays import Floats, Indices
from ..class_costs import ClassCosts
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

_ON_THE_WAY = (0.0, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)  # from the shares to where an answer is surest


def constants_of(classes: Sequence[Any]) -> tuple[Constant, ...]:
    """The constant answers of these classes, the negative one first; of three or more, one for each class."""
    if len(classes) == 2:
        return CONSTANTS
    names = [str(label) for label in classes]
    review = CONSTANTS[0]._replace(column=len(names))
    return (review, *(Constant(f"always-{name}", f"Always {name}", column) for column, name in enumerate(names)))


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
        if isinstance(task.costs, ClassCosts):
            labels, codes = np.unique(y, return_inverse=True)
            shares = np.bincount(codes, weights) / (len(y) if weights is None else weights.sum())
            costs = task.costs.for_classes(labels)
            towards = (probabilities_answered(shares, costs, self.column) / shares)[codes]
            prior = clone(self.estimator.estimator).fit(X, y, sample_weight=towards)
            return clone(self.estimator).set_params(estimator=FrozenEstimator(prior)).fit(X, y), {}
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


def probabilities_answered(shares: Floats, costs: Costs, column: int) -> Floats:
    """The shares of the classes if Chow's rule answers them with this column of the prices, else near ones.

    What gets one answer is convex: on the way from the shares to where an answer is surest, it is got from a point on.
    """
    matrix = costs.matrix(len(shares))[:-1]
    for step in _ON_THE_WAY:
        found: Floats = (1 - step) * shares + step * _surest(matrix, column)
        expected = found @ matrix
        if all(expected[column] < cost for other, cost in enumerate(expected[:-1]) if other != column):
            return found
    raise AssertionError("the way ends where the answer is the cheapest")


def _surest(matrix: Floats, column: int) -> Floats:
    """Probabilities of the classes at which an answer, or the rejection, saves most against the others."""
    n = len(matrix)
    if column < n:
        found: Floats = np.eye(n)[column]
        return found
    from scipy.optimize import linprog  # slow to import, and needed for a constant rejection only

    # The largest s with sum_y p[y] (C[y, j] - c[y]) >= s for every answer j.
    saved = (matrix[:, :n] - matrix[:, [n]]) / matrix.max()
    rows = np.column_stack([-saved.T, np.ones(n)])
    whole = np.append(np.ones(n), 0.0)[None, :]
    bounds = [(0, 1)] * n + [(None, None)]
    solved = linprog(-np.append(np.zeros(n), 1.0), A_ub=rows, b_ub=np.zeros(n), A_eq=whole, b_eq=[1.0], bounds=bounds)
    return np.asarray(solved.x[:n])


def constant_method(constant: Constant) -> Method:
    """A constant answer as a method, for the model that gives it."""
    by_chow = with_rule(_prior, CHOW, rule="chow")

    def build(task: Task) -> Plan:
        return ConstantPlan(estimator=by_chow(task).estimator, column=constant.column)

    return Method(constant.name, constant.title, build, CHOW, reference=True)
