"""Losses of a histogram of scores, compiled: the same as those of `objectives`, one pass each.

pos and neg hold the weight of each class at each score, in the order of the scores. Prices: fp, fn, r_neg, r_pos, k.
"""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def auc_loss(pos, neg, n):
    """1 - AUC; a tie is a loss."""
    wins, below, total = 0.0, 0.0, 0.0
    for s in range(n):
        wins += pos[s] * below
        below += neg[s]
        total += pos[s]
    return 1.0 - wins / (total * below)


@njit(cache=True, nogil=True)
def ks_loss(pos, neg, n):
    """1 - KS."""
    all_pos, all_neg = 0.0, 0.0
    for s in range(n):
        all_pos += pos[s]
        all_neg += neg[s]
    g, best = 0.0, 0.0
    for s in range(n):
        g += neg[s] * all_pos - pos[s] * all_neg
        if g > best:
            best = g
    return 1.0 - best / (all_pos * all_neg)


@njit(cache=True, nogil=True)
def hits_at(pos, neg, n, k):
    """Positives among the k highest scores; where the k-th is shared, negatives are taken first."""
    above, hits = 0.0, 0.0
    for s in range(n - 1, -1, -1):
        here = pos[s] + neg[s]
        if above + here >= k:
            return hits + min(max(k - above - neg[s], 0.0), pos[s])
        above += here
        hits += pos[s]
    return hits


@njit(cache=True, nogil=True)
def reject_loss(pos, neg, n, prices):
    """Least mean cost over two thresholds t_N <= t_P of the score."""
    fp, fn, r_neg, r_pos = prices[0], prices[1], prices[2], prices[3]
    a, c, least_a, best, all_pos, all_neg = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for s in range(n):
        a += (fn - r_pos) * pos[s] - r_neg * neg[s]
        c += r_pos * pos[s] - (fp - r_neg) * neg[s]
        least_a = min(least_a, a)
        best = min(best, least_a + c)
        all_pos += pos[s]
        all_neg += neg[s]
    return (fp * all_neg + best) / (all_pos + all_neg)


@njit(cache=True, nogil=True)
def loss_of(auc, ks, precision, reject, pos, neg, n, prices):
    """Loss of a histogram. One of the flags is True, the others None, which leaves what they stand for uncompiled."""
    loss = 0.0
    if auc is not None:
        loss = auc_loss(pos, neg, n)
    if ks is not None:
        loss = ks_loss(pos, neg, n)
    if precision is not None:
        loss = 1.0 - hits_at(pos, neg, n, prices[4]) / prices[4]
    if reject is not None:
        loss = reject_loss(pos, neg, n, prices)
    return loss
