"""One against the rest: a classifier of three or more classes made of machines that know two.

Symbols of `class_costs`: ``C[y, k]`` is the price of answering class k to a case of class y, ``c[y]`` that of rejecting
it, ``p`` the probabilities of the classes. Answering k costs less than a rejection where

    sum_y p[y] (C[y, k] - c[y]) < 0 .

That is a decision between two sides with a weight for each class, ``|C[y, k] - c[y]|``: on the one side the classes for
which answering k is better than a rejection (k itself, and others whose confusion with k costs less than a review), on
the other side the rest. So machine k is trained at the prices of k against the rest, with the cases of each class
weighted by how far its prices are from the average of its side; where prices do not differ by class all weights are 1.
A machine that finds the sides of its upper threshold ``p_plus`` right answers k exactly where Chow's rule for K classes
does, whatever the matrix of prices. Where its lower threshold lies, below which it would be sure that a case is not k,
changes no decision: there the average price of a miss is good enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import Flags, Floats, Indices
from .costs import Costs
from .decisions import Evaluation, two_best_reasons
from .labels import to_python
from .rounding import SAME


@dataclass(frozen=True, eq=False)
class AgainstTheRest:
    """The problem of one machine.

    Attributes
    ----------
    positive : ndarray of bool of shape (n_classes,)
        The classes for which answering this one is better than a rejection.
    factors : ndarray of shape (n_classes,)
        What the weights of the cases of each class are multiplied by.
    costs : Costs
        Prices of this class, the positive one, against the rest.
    """

    positive: Flags
    factors: Floats
    costs: Costs


def against_the_rest(costs: Costs, shares: Floats) -> list[AgainstTheRest]:
    """The problem of each class.

    Parameters
    ----------
    costs : Costs
        Prices of three or more classes, in their order, at which rejecting pays.
    shares : ndarray of shape (n_classes,)
        Total weight of the cases of each class; averages over the rest go by it.
    """
    matrix = costs.matrix(len(shares))
    return [_problem_of(k, matrix[:-1, :-2], matrix[:-1, -2], shares) for k in range(len(shares))]


def _problem_of(k: int, errors: Floats, reject: Floats, shares: Floats) -> AgainstTheRest:
    saved = reject - errors[:, k]  # by answering k instead of rejecting, for each true class
    positive, rest = saved > 0, saved < 0
    fp, reject_rest = (_mean(prices[rest], shares[rest]) for prices in (errors[:, k], reject))
    others = np.arange(len(shares)) != k
    factors = np.where(positive, saved / reject[k], -saved / (fp - reject_rest))
    if positive.sum() == 1 and np.ptp(saved[rest]) == 0:
        factors = np.ones(len(shares))  # without the rounding of the average
    fn = _mean(errors[k, others], shares[others])
    return AgainstTheRest(positive, factors, _paying(fp, fn, reject_rest, float(reject[k])))


def answered_against_the_rest(costs: Costs, shares: Floats) -> list[AgainstTheRest]:
    """The same where nothing is rejected: each class against all others, at the average prices of the errors."""
    errors, reject = costs.matrix(len(shares))[:-1, :-2], costs.matrix(len(shares))[:-1, -2]
    problems = []
    for k in range(len(shares)):
        others = np.arange(len(shares)) != k
        fp, fn = _mean(errors[others, k], shares[others]), _mean(errors[k, others], shares[others])
        prices = {"reject_negative": _mean(reject[others], shares[others]), "reject_positive": float(reject[k])}
        problems.append(AgainstTheRest(~others, np.ones(len(shares)), Costs(fp=fp, fn=fn, **prices)))
    return problems


def _mean(prices: Floats, shares: Floats) -> float:
    """Average price; prices that are all the same without rounding."""
    return float(prices[0] if np.ptp(prices) == 0 else np.average(prices, weights=shares))


def _paying(fp: float, fn: float, reject_negative: float, reject_positive: float) -> Costs:
    """The prices of a machine, with a miss dear enough for a rejection to pay.

    With K classes a rejection may pay up to a share 1 - 1/K of an error, with two up to a half. What decides is the
    upper threshold, which has nothing to do with the price of a miss; the lower one is then put at half of it.
    """
    prices = {"reject_negative": reject_negative, "reject_positive": reject_positive}
    found = Costs(fp=fp, fn=fn, **prices)
    if found.rejecting_pays:
        return found
    p_plus = (fp - reject_negative) / (fp - reject_negative + reject_positive)
    return Costs(fp=fp, fn=reject_positive - reject_negative + 2 * reject_negative / p_plus, **prices)


def require_every_class(codes: Indices, weights: Floats, classes: NDArray[Any]) -> Floats:
    """Total weight of the cases of each class; a class without any is refused."""
    totals: Floats = np.bincount(codes, weights=weights, minlength=len(classes)).astype(np.float64)
    missing = np.flatnonzero(totals <= 0)
    if len(missing):
        raise ValueError(
            f"sample_weight leaves no case of class {to_python(classes[missing[0]])!r}: each of the {len(classes)} "
            "classes needs cases with weights above 0. Leave its cases out."
        )
    return totals


# From the scores of the machines to answers ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PricedOdds:
    """How answers compare whose machines score log-odds: by their expected prices.

    At the odds of machine k answering k saves ``s = r_k - q D_k`` over a rejection, q the probability of the rest, r_k
    the reject price of the class and ``D_k = fp_k - r_rest + r_k``. With R the largest r_k, ``R - s`` is a price, what
    the answer costs where rejecting costs the same for all classes; h is the log-odds of that price as a share of the
    largest there is, with the sign that makes the best answer the largest. Where prices do not differ by class h is the
    score itself.

    Attributes
    ----------
    spare : ndarray of shape (n_classes,)
        R - r_k, as a share of the largest price.
    slope : ndarray of shape (n_classes,)
        D_k, as a share of it.
    """

    spare: Floats
    slope: Floats

    @classmethod
    def of(cls, costs: Sequence[Costs]) -> PricedOdds:
        """The comparison at the prices of the machines."""
        own = np.array([prices.reject_positive for prices in costs])
        slope = np.array([prices.fp - prices.reject_negative + prices.reject_positive for prices in costs])
        spare = own.max() - own
        largest = float((spare + slope).max())
        return cls(spare / largest, slope / largest)

    def __call__(self, f: Floats) -> Floats:
        """How the answers compare: h grows with the score of its machine, at most as fast."""
        least = np.maximum(1.0 - self.spare - self.slope, 0.0)
        least[least < SAME] = 0.0
        if not (self.spare.any() or least.any()):
            return f
        with np.errstate(divide="ignore"):
            saved = np.logaddexp(np.log(least), f + np.log(least + self.slope))
            price = np.logaddexp(np.log(self.spare + self.slope), f + np.log(self.spare))
        return saved - price


def evaluate_machines(f: Floats, h: Floats, thresholds: Floats) -> Evaluation:
    """Answers from the scores of the machines: the best answer where its machine gives it, else a rejection.

    Parameters
    ----------
    f : ndarray of shape (n, n_classes)
        Score of each case in the machine of each class.
    h : ndarray of shape (n, n_classes)
        By what the answers are compared.
    thresholds : ndarray of shape (n_classes,)
        The score of each machine above which it answers its class. Where two of them give equally good answers, the
        case is ambiguous.
    """
    first, rows = h.argmax(axis=1), np.arange(len(h))
    r = f[rows, first] - thresholds[first]
    best = h[rows, first]
    tied = (np.abs(h - best[:, None]) <= SAME * np.maximum(1.0, np.abs(best))[:, None]).sum(axis=1) > 1
    return Evaluation(h, np.where(tied, np.minimum(r, 0.0), r), detail=f, class_scores=f)


def near_a_change(f: Floats, h: Floats, thresholds: Floats, rounding: Floats) -> Flags:
    """Which cases are within rounding of where `evaluate_machines` changes an answer."""
    at_threshold = (np.abs(f - thresholds) <= rounding).any(axis=1)
    first, second = np.sort(h, axis=1)[:, :-3:-1].T
    margin = 2 * rounding.max(axis=1) + 4 * SAME * np.maximum(1.0, np.abs(first))
    near: Flags = at_threshold | (first - second <= margin)
    return near


def machine_reasons(evaluation: Evaluation, thresholds: Floats, classes: NDArray[Any], costs: Costs) -> list[str]:
    """One sentence per case: the two best answers with their scores, what confusing them costs, the threshold."""
    best = evaluation.two_best()
    said = two_best_reasons(
        best,
        evaluation.accepted,
        classes,
        costs.matrix(len(classes)),
        "its score is above its threshold",
        "the better score is not above its threshold",
    )
    return [f"{text} {thresholds[k]:.4g}" for text, k in zip(said, best.first.tolist(), strict=True)]
