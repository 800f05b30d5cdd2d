"""Prices: what answers cost case by case, and the symmetric problem that unequal prices are reduced to.

`Prices` are those of the user, in units of the cheaper error: `error` what a wrong answer costs, `reject` what a
rejection costs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Floats, Indices


@dataclass(frozen=True, eq=False)
class Prices:
    """What answers cost, case by case, positives first.

    Attributes
    ----------
    error, reject : ndarray of shape (m,)
        Price of a wrong answer and of a rejection.
    weight : ndarray of shape (m,)
        Sample weights.
    """

    error: Floats
    reject: Floats
    weight: Floats

    def of(self, y: Floats, h: Floats, r: Floats) -> Floats:
        """Price of the answers that scores give."""
        return np.where(r > 0, np.where(y * h > 0, 0.0, self.error), self.reject)

    def mean(self, y: Floats, h: Floats, r: Floats) -> float:
        """Mean price."""
        return float(self.weight @ self.of(y, h, r) / self.weight.sum())

    def take(self, rows: Indices) -> Prices:
        """Return the prices of some cases."""
        return Prices(self.error[rows], self.reject[rows], self.weight[rows])


@dataclass(frozen=True, eq=False)
class Reduction:
    """Prices that differ by class, or by case, as one symmetric problem.

    Attributes
    ----------
    weight_negative, weight_positive : float or ndarray
        Factors of the sample weights by class; they multiply both terms of the surrogate.
    c : float or ndarray
        Price of a rejection in the weighted problem, in units of an error.
    """

    weight_negative: float | Floats
    weight_positive: float | Floats
    c: float | Floats


def forced_log_odds(fp: float, fn: float, reduction: Reduction) -> float:
    """Log-odds in the weighted problem above which the positive class is the cheaper answer.

    With prices by case that shift the classes differently there is no such number: 0.
    """
    ratio = np.unique(np.asarray(reduction.weight_positive) / np.asarray(reduction.weight_negative))
    log_odds = float(np.log(fp / fn * ratio[0])) if len(ratio) == 1 else 0.0
    return log_odds if abs(log_odds) > 1e-12 else 0.0


def reduce_prices(fp: float, fn: float, reject_negative: float | Floats, reject_positive: float | Floats) -> Reduction:
    """Weights and price under which the symmetric problem rejects exactly where these prices say.

    Bayes rejects where o_- <= P(+)/P(-) <= o_+. Weights w_y = sqrt(c_y (kappa_y - c_y)) divide the odds by
    sqrt(o_- o_+), which makes that interval symmetric, and its half-width fixes c.
    """
    spared_fn, spared_fp = fn - reject_positive, fp - reject_negative
    never = (np.minimum(spared_fn, spared_fp) <= 0) | (reject_positive * reject_negative >= spared_fn * spared_fp)
    if np.any(never):
        raise ValueError(
            f"Rejecting never pays at fp={fp:g}, fn={fn:g}, reject_negative={np.max(reject_negative):g}, "
            f"reject_positive={np.max(reject_positive):g}: guessing is never more expensive. Lower the reject prices."
        )
    odds = np.sqrt(reject_positive * reject_negative / (spared_fn * spared_fp))
    return Reduction(
        weight_negative=np.sqrt(reject_negative * spared_fp),
        weight_positive=np.sqrt(reject_positive * spared_fn),
        c=odds / (1.0 + odds),
    )
