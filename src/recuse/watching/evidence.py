"""Evidence that may be looked at every day: wealth of bets against "nothing has changed".

A bet on a case multiplies a stake by a factor that is on average at most 1 while the null hypothesis holds, whatever
came before. Its wealth then reaches ``1 / alpha`` at any time with probability at most alpha (Ville's inequality): one
may look after every batch, stop, or go on, and the promise stays.

Nobody knows when a change begins, or how large it is. So the stake is divided, once for all: over a list of bets, and
over the batches at which a bet starts. What has not started yet keeps its worth. The sum is the evidence, an e-process:

    E_t = sum_j v_j sum_{k <= t} w_k prod_{i from batch k on} f_ij  +  sum_{k > t} w_k,
    w_k = 1 / sqrt(1 + (k - 1) / 5) - 1 / sqrt(1 + k / 5).

The sum over starts needs no memory: wealth that has started is multiplied, and the share of the next batch is added.
A bet with a small part v_j or w_k has to grow by 1 / (v_j w_k) before it counts. A large change pays that within a few
cases, so the larger parts go to bets on small changes; and w_k hardly falls over the first batches.

References
----------
Shafer, "Testing by betting", 2021; Ramdas, Grünwald, Vovk and Shafer, "Game-theoretic statistics and safe anytime-valid
inference", 2023; Shin, Ramdas and Rinaldo, "E-detectors", 2024, for mixtures over the time of a change.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from ..arrays import Floats

_LARGEST = 690.0  # logarithm of the largest wealth that is told: more is as good, and JSON knows no infinity


class Evidence:
    """Wealth of several bets, each begun anew at every batch.

    Parameters
    ----------
    parts : ndarray of shape (n_bets,)
        Part of the stake that each bet has; their sum is 1.
    """

    def __init__(self, parts: Floats) -> None:
        self._parts = parts
        self._logs = np.full(len(parts), -np.inf)  # of what was begun: wealth grows beyond what a float holds
        self._batches = 0

    def add(self, factors: Floats) -> float:
        """Start bets at a batch, multiply them by the factors of its cases, (n, n_bets), and return the evidence."""
        self._batches += 1
        share = np.log(start_share(self._batches))
        with np.errstate(divide="ignore"):
            grown = np.log(factors).sum(axis=0)
        self._logs = np.logaddexp(self._logs, share) + grown
        return self.value

    @property
    def value(self) -> float:
        """The evidence so far: 1 before anything was seen."""
        return float(self._parts @ np.exp(np.minimum(self._logs, _LARGEST)) + _waiting(self._batches))


def start_share(batch: int) -> float:
    """Share of the stake for bets that start at a batch, from 1: w_k."""
    return _waiting(batch - 1) - _waiting(batch)


def _waiting(batches: int) -> float:
    """What is left for bets that start after so many batches."""
    return float(1 / np.sqrt(1 + batches / 5))


def bets_on_mean(losses: Floats, weights: Floats, promised: float) -> Floats:
    """Factors of bets that losses in [0, 1] are on average above what was promised.

    Each bet is the best one against a certain mean q above the promise m: its factor is
    ``1 + lambda w (x - m)`` with ``lambda = (q - m) / (m (1 - m))``, never negative since lambda w m < 1. Some q are a
    multiple of the promise, for strict ones, some a share of the way to 1.

    Parameters
    ----------
    losses : ndarray of shape (n,)
        Losses of cases drawn at random.
    weights : ndarray of shape (n,)
        Proportional to the inverse of the probability with which each was drawn, at most 1.
    promised : float
        Between 0 and 1, without both.
    """
    return 1 + mean_stakes(promised) * (weights * (losses - promised))[:, None]


def mean_stakes(promised: float) -> Floats:
    """The lambda of each bet on a mean."""
    stakes = np.append((_MULTIPLES - 1) / (1 - promised), _SHARES / promised)
    return np.minimum(stakes, 0.98 / promised)


_MULTIPLES, _SHARES = np.array([1.4, 2.0, 4.0]), np.array([0.1])
MEAN_PARTS = np.array([0.45, 0.3, 0.15, 0.1])

_SLOPES = np.array([-0.9, -0.5, -0.25, 0.25, 0.5, 0.9])
_POWERS = np.array([0.5, 0.75])
_N_RANK_BETS = len(_SLOPES) + 2 * len(_POWERS)
RANK_PARTS = np.full(_N_RANK_BETS, 1 / _N_RANK_BETS)


def bets_on_ranks(p: Floats) -> Floats:
    """Factors of bets that ranks are no longer uniform on [0, 1]: lines, and powers for either end."""
    p = np.clip(p, 1e-12, 1 - 1e-12)[:, None]
    return np.hstack([1 + _SLOPES * (1 - 2 * p), _POWERS * p ** (_POWERS - 1), _POWERS * (1 - p) ** (_POWERS - 1)])


_MOST_MOVED = 3.0  # standard deviations: what is sampled of the law of counts has no further tails


def bets_on_counts(ranks: Floats, spreads: Floats, changes: Floats) -> Floats:
    """Factors of bets that counts became larger, or smaller, by changes of the log-odds behind them.

    A change c of the log-odds moves a count by about c times its variance, that is by ``d = c * spread`` standard
    deviations. The factor is the density of a normal value so moved, against an unmoved one, at the quantile z of the
    rank: ``exp(d z - d ** 2 / 2)``. Its mean is exactly 1 for a uniform rank, whether or not counts are normal.

    Parameters
    ----------
    ranks : ndarray of shape (n,)
        Ranks, of `CountRanks`: small for large counts.
    spreads : ndarray of shape (n,)
        Standard deviations of the counts, or anything else that depends on no outcome; 0 makes no bet.
    changes : ndarray of shape (n_bets,)
        Changes of the log-odds.
    """
    moved = np.clip(np.multiply.outer(spreads, changes), -_MOST_MOVED, _MOST_MOVED)
    quantiles = -ndtri(np.clip(ranks, 1e-12, 1 - 1e-12))[:, None]
    return np.exp(moved * quantiles - moved**2 / 2)
