"""What ExactBoost minimises: losses of a score that depend on its order alone.

Of the two classes a loss sees the distinct scores in rising order and the weight each class has at each of them
(`ScoreHistogram`). A margin theta is folded in before: a positive with score s is judged at s - theta. A tie between a positive
and a negative is a loss; with ``tie=0.5`` it is half of one, as in the usual metrics.

One's own objective is a function of the sorted scores of the positives and of the negatives, or, through `of_roc`, of
the points of the ROC curve; it is given as `metric`, or listed in `OBJECTIVES` under a name.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Flags, Floats
from ...costs import Costs
from ...parameters import is_number

Function = Callable[[Floats, Floats], float]


@dataclass(frozen=True, eq=False)
class ScoreHistogram:
    """Scores of two classes, grouped by value.

    Attributes
    ----------
    values : ndarray of shape (n,)
        Distinct judged scores, rising.
    pos, neg : ndarray of shape (n,)
        Weight of the positives and of the negatives at each.
    """

    values: Floats
    pos: Floats
    neg: Floats

    @classmethod
    def of(cls, score: Floats, positive: Flags, weight: Floats | None = None, margin: float = 0.0) -> ScoreHistogram:
        """Group scores; those of positives are judged at `margin` less."""
        weight = np.ones(len(score)) if weight is None else weight
        values, at = np.unique(np.where(positive, score - margin, score), return_inverse=True)
        n = len(values)
        pos, neg = np.zeros(n), np.zeros(n)
        pos += np.bincount(at, np.where(positive, weight, 0.0), minlength=n)
        neg += np.bincount(at, np.where(positive, 0.0, weight), minlength=n)
        return cls(values, pos, neg)


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
    gap = np.cumsum(histogram.neg) / histogram.neg.sum() - np.cumsum(histogram.pos) / histogram.pos.sum()
    return float(1.0 - max(0.0, gap.max()))


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


def best_thresholds(histogram: ScoreHistogram, costs: Costs) -> tuple[float, float, float]:
    """Two thresholds of least mean cost, halfway between scores, and that cost.

    With P and N the weights at or below a threshold, the cost is a sum of one term for each,

        fp N_all + [(fn - r_pos) P(t_N) - r_neg N(t_N)] + [r_pos P(t_P) - (fp - r_neg) N(t_P)],

    so that the best t_N for every t_P is a running minimum.
    """
    P, N = (np.append(0.0, np.cumsum(w)) for w in (histogram.pos, histogram.neg))
    below = (costs.fn - costs.reject_positive) * P - costs.reject_negative * N
    above = costs.reject_positive * P - (costs.fp - costs.reject_negative) * N
    total = np.minimum.accumulate(below) + above
    upper = int(np.argmin(total))
    lower = int(np.argmin(below[: upper + 1]))
    cost = (costs.fp * N[-1] + total[upper]) / (P[-1] + N[-1])
    return _between(histogram.values, lower), _between(histogram.values, upper), float(cost)


def best_single_threshold(histogram: ScoreHistogram, fp: float, fn: float, low: float, high: float) -> float:
    """The threshold in [low, high] at which answering without rejection costs least."""
    P, N = (np.append(0.0, np.cumsum(w)) for w in (histogram.pos, histogram.neg))
    cost = fn * P - fp * N
    tried = np.array([_between(histogram.values, i) for i in range(len(P))])
    allowed = (tried >= low) & (tried <= high)
    return float(tried[allowed][np.argmin(cost[allowed])])


def best_gap(histogram: ScoreHistogram) -> float:
    """The threshold of the largest gap between the two distributions."""
    gap = np.cumsum(histogram.neg) / histogram.neg.sum() - np.cumsum(histogram.pos) / histogram.pos.sum()
    return _between(histogram.values, int(np.argmax(gap)) + 1)


def _between(values: Floats, i: int) -> float:
    """A threshold above the first i of the values, infinite at the ends."""
    if i == 0:
        return -np.inf
    return np.inf if i == len(values) else float(values[i - 1] + (values[i] - values[i - 1]) / 2)


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
    after : Objective, optional
        What each run is for first. An objective that sees the top of the list alone has nothing to go by while all
        cases are equal, and hardly more once a first few stand out: no single stump does better.
    """

    loss: Callable[[ScoreHistogram, Terms], float]
    compiled: Callable[[Any, Terms], Any] | None = None
    counts_pairs: bool = False
    uses_k: bool = False
    rejects: bool = False
    after: Objective | None = None


def _compiled_reject_cost(loops: Any, terms: Terms) -> Any:
    c = terms.costs
    return loops.RejectCost(c.fp, c.fn, c.reject_negative, c.reject_positive)


_AUC = Objective(auc_loss, lambda loops, terms: loops.Auc(), counts_pairs=True)
OBJECTIVES: dict[str, Objective] = {
    "auc": _AUC,
    "ks": Objective(ks_loss, lambda loops, terms: loops.Ks()),
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
