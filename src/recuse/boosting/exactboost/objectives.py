"""What ExactBoost minimises: losses that depend on the order of the scores alone.

A loss sees the distinct scores and the weight each class has at each of them (`ScoreHistogram`). A margin theta is
applied before: a positive with score s is judged at s - theta. A tie between a positive and a negative is a loss; with
``tie=0.5`` it is half of one, as in the usual metrics.

Your own objective is a function of the sorted scores of the positives and of the negatives, or, through `of_roc`, of
the points of the ROC curve. Pass it as `metric`, or list it in `OBJECTIVES` under a name.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Floats
from ...costs import Costs
from ...parameters import is_number
from .histogram import ScoreHistogram
from .margin_bound import THEOREM_1, THEOREM_2, Theorem
from .thresholds import best_thresholds

Function = Callable[[Floats, Floats], float]


@dataclass(frozen=True)
class Terms:
    """What an objective may have to know besides the scores.

    Attributes
    ----------
    costs : Costs
        Prices.
    k : float
        How many cases precision at k looks at.
    tie : float
        How much of a loss a tie is: 1, or 0.5.
    """

    costs: Costs
    k: float = 1.0
    tie: float = 1.0


def auc_loss(histogram: ScoreHistogram, terms: Terms) -> float:
    """1 - AUC: the share of pairs in which the positive does not stand above the negative."""
    below = np.cumsum(histogram.neg) - histogram.neg
    won = histogram.pos @ (below + (1.0 - terms.tie) * histogram.neg)
    return float(1.0 - won / (histogram.pos.sum() * histogram.neg.sum()))


def ks_loss(histogram: ScoreHistogram, terms: Terms) -> float:
    """1 - KS: one less the largest gap between the distributions of the score in the two classes."""
    return float(1.0 - max(0.0, histogram.gaps().max()))


def precision_loss(histogram: ScoreHistogram, terms: Terms) -> float:
    """1 - share of positives among the k highest scores; those of a shared k-th score come last."""
    pos, neg, k = histogram.pos[::-1], histogram.neg[::-1], terms.k
    taken = np.cumsum(pos + neg)
    last = min(int(np.searchsorted(taken, k)), len(taken) - 1)
    hits, room = pos[:last].sum(), k - (taken[last] - pos[last] - neg[last])
    least, mean = np.clip(room - neg[last], 0.0, pos[last]), room * pos[last] / (pos[last] + neg[last])
    weight = 2.0 * terms.tie - 1.0
    return float(1.0 - (hits + weight * least + (1.0 - weight) * mean) / k)


def reject_cost_loss(histogram: ScoreHistogram, terms: Terms) -> float:
    """Least mean cost over two thresholds t_N <= t_P: no up to the first, yes above the second, rejected between."""
    return best_thresholds(histogram, terms.costs)[2]


def in_words(value: Any) -> str:
    """A parameter in words that are the same in another process: a function by its full name."""
    return f"{value.__module__}.{value.__qualname__}" if hasattr(value, "__qualname__") else repr(value)


@dataclass(frozen=True, repr=False)
class of_roc:  # noqa: N801 - used like the function it stands for
    """Turn a loss of the points of the ROC curve into an objective.

    Parameters
    ----------
    function : callable
        Of the false and the true positive rates, both from 0 to 1; returns the loss.
    """

    function: Function

    def __repr__(self) -> str:
        return f"of_roc({in_words(self.function)})"

    def __call__(self, positives: Floats, negatives: Floats) -> float:
        """Loss of the sorted scores of two classes."""
        every = np.unique(np.concatenate([positives, negatives]))
        above = [np.append(0.0, 1.0 - np.searchsorted(s, every[::-1]) / len(s)) for s in (negatives, positives)]
        return self.function(*above)


@dataclass(frozen=True)
class Objective:
    """One entry of the list.

    Attributes
    ----------
    loss : callable
        Loss of a `ScoreHistogram`, given `Terms`.
    compiled : callable, optional
        Given the module `loops` and `Terms`, returns the objective as the compiled search takes it: an instance of
        one of the classes there. None where there is no compiled search.
    counts_pairs : bool
        Whether the compiled search counts pairs of cases, which are whole numbers where all weights are equal.
    uses_k : bool
        Whether it looks at the k best cases.
    rejects : bool
        Whether the model it makes rejects cases.
    theorem : Theorem, optional
        The generalization bound of its expected value.
    after : Objective, optional
        What each run is for first. An objective that sees the top of the list alone has nothing to go by while all
        cases are equal, and hardly more once a first few stand out: no single stump does better.
    """

    loss: Callable[[ScoreHistogram, Terms], float]
    compiled: Callable[[Any, Terms], Any] | None = None
    counts_pairs: bool = False
    uses_k: bool = False
    rejects: bool = False
    theorem: Theorem | None = None
    after: Objective | None = None


def _compiled_reject_cost(loops: Any, terms: Terms) -> Any:
    c = terms.costs
    return loops.RejectCost(c.fp, c.fn, c.reject_negative, c.reject_positive)


_AUC = Objective(auc_loss, lambda loops, terms: loops.Auc(), counts_pairs=True, theorem=THEOREM_1)
OBJECTIVES: dict[str, Objective] = {
    "auc": _AUC,
    "ks": Objective(ks_loss, lambda loops, terms: loops.Ks(), theorem=THEOREM_2),
    "precision_at_k": Objective(
        precision_loss, lambda loops, terms: loops.PrecisionAtK(terms.k), uses_k=True, after=_AUC
    ),
    "reject_cost": Objective(reject_cost_loss, _compiled_reject_cost, rejects=True),
}


def own_objective(function: Function) -> Objective:
    """Make an objective of a function of the sorted scores of positives and negatives."""

    def loss(histogram: ScoreHistogram, terms: Terms) -> float:
        counts = (np.rint(w).astype(np.int64) for w in (histogram.pos, histogram.neg))
        value = function(*(np.repeat(histogram.values, count) for count in counts))
        if not is_number(value) or not np.isfinite(value):
            raise ValueError(f"metric must return the loss, a finite number; it returned {reprlib.repr(value)}.")
        return float(value)

    return Objective(loss)


def find_objective(metric: Any) -> Objective:
    """Return the objective of a name, or of a function."""
    if callable(metric):
        return own_objective(metric)
    if not isinstance(metric, str) or metric not in OBJECTIVES:
        names = ", ".join(map(repr, OBJECTIVES))
        raise ValueError(
            f"metric must be one of {names}, or a function of the sorted scores of positives and negatives; "
            f"got {metric!r}."
        )
    return OBJECTIVES[metric]
