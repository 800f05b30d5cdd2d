"""Evidence that may be looked at every day: wealth of bets against "nothing has changed".

A bet on a case multiplies a stake by a factor that is on average at most 1 while the null hypothesis holds, whatever
came before. Its wealth then reaches ``1 / alpha`` at any time with probability at most alpha (Ville's inequality): one
may look after every batch, stop, or go on, and the promise stays.

Nobody knows when a change begins, or how large it is. So the stake is divided, once for all: over a list of bets, and
over the batches at which a bet starts. What has not started yet keeps its worth. The sum is the evidence, an e-process:

    E_t = sum_j v_j sum_{k <= t} w_k prod_{i from batch k on} f_ij  +  sum_{k > t} w_k,
    w_k = 1 / sqrt(k) - 1 / sqrt(k + 1).

The sum over starts needs no memory: wealth that has started is multiplied, and the share of the next batch is added.

References
----------
Shafer, "Testing by betting", 2021; Ramdas, Grünwald, Vovk and Shafer, "Game-theoretic statistics and safe anytime-valid
inference", 2023; Shin, Ramdas and Rinaldo, "E-detectors", 2024, for mixtures over the time of a change.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from ..arrays import Floats

_LARGEST = 690.0  # logarithm of the largest wealth that is told: more is as good, and JSON knows no infinity


class Evidence:
    """Wealth of several bets, each begun anew at every batch.

    Parameters
    ----------
    n_bets : int
        How many bets share the stake, equally.
    """

    def __init__(self, n_bets: int) -> None:
        self._logs = np.full(n_bets, -np.inf)  # logarithms of what was begun: wealth grows beyond what a float holds
        self._batches = 0

    def add(self, factors: Floats) -> float:
        """Start bets at a batch, multiply them by the factors of its cases, (n, n_bets), and return the evidence."""
        self._batches += 1
        share = np.log(_waiting(self._batches - 1) - _waiting(self._batches))
        with np.errstate(divide="ignore"):
            grown = np.log(factors).sum(axis=0)
        self._logs = np.logaddexp(self._logs, share) + grown
        return self.value

    @property
    def value(self) -> float:
        """The evidence so far: 1 before anything was seen."""
        return float(np.exp(np.minimum(self._logs, _LARGEST)).mean() + _waiting(self._batches))


def _waiting(batches: int) -> float:
    """What is left for bets that start after so many batches."""
    return float(1 / np.sqrt(batches + 1))


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


_MULTIPLES, _SHARES = np.array([1.25, 1.5, 2.0, 4.0]), np.array([0.05, 0.2])
N_MEAN_BETS = len(_MULTIPLES) + len(_SHARES)

_SLOPES = np.array([-0.9, -0.5, -0.25, 0.25, 0.5, 0.9])
_POWERS = np.array([0.5, 0.75])
N_RANK_BETS = len(_SLOPES) + 2 * len(_POWERS)


def bets_on_ranks(p: Floats) -> Floats:
    """Factors of bets that ranks are no longer uniform on [0, 1]: lines, and powers for either end."""
    p = np.clip(p, 1e-12, 1 - 1e-12)[:, None]
    return np.hstack([1 + _SLOPES * (1 - 2 * p), _POWERS * p ** (_POWERS - 1), _POWERS * (1 - p) ** (_POWERS - 1)])


_ODDS = np.log([0.4, 0.6, 0.8, 1.25, 1.7, 2.5])
N_FLAG_BETS = len(_ODDS)


def bets_on_flags(ranks: Floats, shares: Floats, directions: Floats | float = 1.0) -> Floats:
    """Factors of bets that true values became more frequent, or less, than among those before: their odds changed.

    The rank of a true value lies between 0 and the share of true ones, about, that of a false one above it. So a bet on
    odds is a step function of the rank. It is fair whatever the share at which it steps, if that depends on no value
    that is ranked: ranks are independent of each other, not of the values before them.

    Parameters
    ----------
    ranks, shares : ndarray of shape (n,)
        Ranks, of `FlagRanks`, and where the bets step.
    directions : ndarray of shape (n,) or float
        1 or -1: whether each case counts for the bet, or for the opposite one.
    """
    odds = np.multiply.outer(np.broadcast_to(directions, shares.shape), _ODDS)
    changed = expit(logit(shares)[:, None] + odds)
    share = shares[:, None]
    return np.where(ranks[:, None] < share, changed / share, (1 - changed) / (1 - share))
