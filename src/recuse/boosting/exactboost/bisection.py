"""The stump search that the poster prints, compiled: boxes of (cut, a, b), halved in all directions, the best kept."""

from __future__ import annotations

import numpy as np
from numba import njit

from .losses import loss_of


@njit(cache=True, nogil=True)
def _grouped_loss(auc, ks, precision, reject, scores, unit, m1, pos, neg, prices):
    """Loss of scores in any order: sorted, then grouped by value."""
    order = np.argsort(scores)
    n = 0
    for position in range(len(order)):
        q = order[position]
        if position == 0 or scores[q] != scores[order[position - 1]]:
            pos[n] = neg[n] = 0.0
            n += 1
        if q < m1:
            pos[n - 1] += unit[q]
        else:
            neg[n - 1] += unit[q]
    return loss_of(auc, ks, precision, reject, pos, neg, n, prices)


@njit(cache=True, nogil=True)
def bisection(auc, ks, precision, reject, value, unit, codes, m1, n_cuts, D, prices, floor, found):
    """Poster, algorithm 2, down to a single stump; the negative of its loss. Missing values stay right."""
    m = len(value)
    if n_cuts < 1:
        return floor
    scores, pos, neg = np.empty(m), np.empty(m), np.empty(m)
    box = np.zeros((3, 2), dtype=np.int64)
    box[0, 1] = n_cuts - 1
    for axis in range(1, 3):
        box[axis, 0], box[axis, 1] = -(D // 2), D // 2
    child, best_child = box.copy(), box.copy()
    while box[0, 1] > box[0, 0] or box[1, 1] > box[1, 0] or box[2, 1] > box[2, 0]:
        least = np.inf
        for which in range(8):
            possible = True
            for axis in range(3):
                upper = (which >> axis) & 1
                low, high = box[axis, 0], box[axis, 1]
                if upper and low == high:
                    possible = False
                    break
                half = (low + high) // 2
                child[axis, 0], child[axis, 1] = (half + 1, high) if upper else (low, half)
            if not possible:
                continue
            for q in range(m):
                end = 1 if q < m1 else 0  # positives at their best, negatives at their worst
                if codes[q] <= child[0, 0]:
                    add = child[1, end]
                elif codes[q] > child[0, 1]:
                    add = child[2, end]
                elif end == 1:
                    add = max(child[1, 1], child[2, 1])
                else:
                    add = min(child[1, 0], child[2, 0])
                scores[q] = value[q] + add
            loss = _grouped_loss(auc, ks, precision, reject, scores, unit, m1, pos, neg, prices)
            if loss < least:
                least = loss
                best_child[:] = child
        box[:] = best_child
    cut, d = box[0, 0], box[2, 0] - box[1, 0]
    for q in range(m):
        scores[q] = value[q] + (d if codes[q] > cut else 0)
    value_found = -_grouped_loss(auc, ks, precision, reject, scores, unit, m1, pos, neg, prices)
    if value_found > floor and d != 0:
        found[0], found[1], found[2] = cut, d, 0
        return value_found
    return floor
