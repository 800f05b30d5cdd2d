"""Best stump of a feature for KS and for the reject cost, compiled: every cut and shift, most of them by a bound.

Cases come as in `exact_pairs`, but `levels` holds the rank of a case's score among the distinct scores. What a case
adds at its score is its weight times the rate of its class: rates[0] to the gap of KS, rates[1] and rates[2] to the two
terms A and C of the reject cost. `total` holds running sums of all cases by rank, part by part.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def distinct(hist, size, values, rank):
    """Distinct scores of the subsample, and the rank of each position of the axis; returns how many there are."""
    n = 0
    for s in range(size):
        if hist[0, s] != 0 or hist[1, s] != 0:
            values[n] = s
            rank[s] = n
            n += 1
    return n


@njit(cache=True, nogil=True)
def running_totals(hist, values, n, rates, total):
    """Running sums of what all cases add."""
    for part in range(3):
        before = 0.0
        for r in range(n):
            before += rates[part, 0] * hist[0, values[r]] + rates[part, 1] * hist[1, values[r]]
            total[part, r] = before


@njit(cache=True, nogil=True)
def windows(values, n, D, ends, reach):
    """Which thresholds of the right side go with each of the left side when |d| <= D.

    Threshold i stands from ends[0, i] to ends[1, i]: above i of the distinct scores. The pair (i, j) can be had with
    a shift between ends[0, i] - ends[1, j] and ends[1, i] - ends[0, j]; reach[0, i] .. reach[1, i] are the j for which
    one of them is allowed.
    """
    far = values[n - 1] + 2 * D + 2
    for i in range(n + 1):
        ends[0, i] = values[i - 1] if i > 0 else -far
        ends[1, i] = values[i] - 1 if i < n else 2 * far
    low, high = 0, 0
    for i in range(n + 1):
        while low < n and ends[1, low] < ends[0, i] - D:
            low += 1
        while high < n and ends[0, high + 1] <= ends[1, i] + D:
            high += 1
        reach[0, i], reach[1, i] = low, high


@njit(cache=True, nogil=True)
def _add_bin(starts, levels, units, b, rates, out):
    """Add what the cases of a bin add; returns whether there are any."""
    for side in range(2):
        rate = rates[side]
        for i in range(starts[side, b], starts[side, b + 1]):
            out[levels[side, i]] += rate * units[side, i]
    return starts[0, b + 1] > starts[0, b] or starts[1, b + 1] > starts[1, b]


@njit(cache=True, nogil=True)
def _add_left(starts, levels, units, cut, n_bins, missing_left, rates, out, n):
    """What the cases left of a cut add, by rank."""
    for r in range(n):
        out[r] = 0.0
    for side in range(2):
        rate = rates[side]
        for i in range(starts[side, cut + 1]):
            out[levels[side, i]] += rate * units[side, i]
    if missing_left:
        _add_bin(starts, levels, units, n_bins, rates, out)


@njit(cache=True, nogil=True)
def _largest(bounds, last):
    """The first of the largest bounds."""
    cut = 0
    for b in range(1, last):
        if bounds[b] > bounds[cut]:
            cut = b
    return cut


@njit(cache=True, nogil=True)
def ks_bounds(starts, levels, units, rates, total, n, n_bins, last, missing_left, left, bounds):
    """For each cut the best sum of two thresholds, one on either side, whatever the shift."""
    for r in range(n):
        left[r] = 0.0
    if missing_left:
        _add_bin(starts, levels, units, n_bins, rates, left)
    for b in range(last):
        bounds[b] = -1.0
        if not _add_bin(starts, levels, units, b, rates, left):
            continue
        g, best_left, best_right = 0.0, 0.0, 0.0
        for r in range(n):
            g += left[r]
            best_left = max(best_left, g)
            best_right = max(best_right, total[r] - g)
        bounds[b] = best_left + best_right


@njit(cache=True, nogil=True)
def _best_pair(left, total, n, reach, queue, pair):
    """Largest left[i] + right[j] over the pairs within reach: a sliding maximum."""
    front, back, entered = 0, 0, 0
    best = -np.inf
    for i in range(n + 1):
        while entered <= reach[1, i]:
            right = total[entered - 1] - left[entered - 1] if entered > 0 else 0.0
            while back > front:
                j = queue[back - 1]
                if (total[j - 1] - left[j - 1] if j > 0 else 0.0) >= right:
                    break
                back -= 1
            queue[back] = entered
            back += 1
            entered += 1
        while queue[front] < reach[0, i]:
            front += 1
        j = queue[front]
        here = (left[i - 1] if i > 0 else 0.0) + (total[j - 1] - left[j - 1] if j > 0 else 0.0)
        if here > best:
            best = here
            pair[0], pair[1] = i, j
    return best


@njit(cache=True, nogil=True)
def middle_shift(ends, i, j, D):
    """The middle of the shifts that make thresholds i and j one."""
    low, high = max(ends[0, i] - ends[1, j], -D), min(ends[1, i] - ends[0, j], D)
    return (low + high) // 2


@njit(cache=True, nogil=True)
def ks_sweep(
    starts, levels, units, rates, total, n, n_bins, last, missing_left, D, ends, reach, left, bounds, queue,
    floor, found,
):  # fmt: skip
    """Largest gap between the two distributions over all cuts and all shifts |d| <= D.

    The thresholds left and right of the cut can be chosen apart, since their difference is the shift. Cuts are looked
    at in the order of the bound that forgets D, and no longer once it is not above the best found.
    """
    ks_bounds(starts, levels, units, rates, total, n, n_bins, last, missing_left, left, bounds)
    best = floor
    for _ in range(last):
        cut = _largest(bounds, last)
        if not bounds[cut] > best:
            break
        bounds[cut] = -1.0
        _add_left(starts, levels, units, cut, n_bins, missing_left, rates, left, n)
        for r in range(1, n):
            left[r] += left[r - 1]
        pair = reach[2]  # spare room
        here = _best_pair(left, total, n, reach, queue, pair)
        if here > best:
            best = here
            found[0], found[1] = cut, middle_shift(ends, pair[0], pair[1], D)
            found[2] = 1 if missing_left else 0
    return best


@njit(cache=True, nogil=True)
def two_thresholds(a_sum, c_sum, n):
    """Least A(t_N) + C(t_P), t_N <= t_P, of running sums."""
    least_a, best = 0.0, 0.0
    for r in range(n):
        least_a = min(least_a, a_sum[r])
        best = min(best, least_a + c_sum[r])
    return best


@njit(cache=True, nogil=True)
def _at_shift(values, left, right, n, d):
    """Least A + C when the right side is shifted by d; `left` and `right` hold the changes of A and C by rank."""
    a, c, least_a, best = 0.0, 0.0, 0.0, 0.0
    i, j = 0, 0
    while i < n or j < n:
        at = values[i] if j == n or (i < n and values[i] <= values[j] + d) else values[j] + d
        if i < n and values[i] == at:
            a += left[1, i]
            c += left[2, i]
            i += 1
        if j < n and values[j] + d == at:
            a += right[1, j]
            c += right[2, j]
            j += 1
        least_a = min(least_a, a)
        best = min(best, least_a + c)
    return best


@njit(cache=True, nogil=True)
def reject_bounds(starts, levels, units, rates, total, n, n_bins, last, missing_left, left, bounds):
    """For each cut the least cost when each side has two thresholds of its own, as its negative."""
    for r in range(n):
        left[1, r] = left[2, r] = 0.0
    if missing_left:
        for part in range(1, 3):
            _add_bin(starts, levels, units, n_bins, rates[part], left[part])
    for b in range(last):
        bounds[b] = -np.inf
        _add_bin(starts, levels, units, b, rates[1], left[1])
        if not _add_bin(starts, levels, units, b, rates[2], left[2]):
            continue
        a, c, least_a, best_left, least_ra, best_right = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for r in range(n):
            a += left[1, r]
            c += left[2, r]
            least_a = min(least_a, a)
            least_ra = min(least_ra, total[1, r] - a)
            best_left = min(best_left, least_a + c)
            best_right = min(best_right, least_ra + total[2, r] - c)
        bounds[b] = -(best_left + best_right)


@njit(cache=True, nogil=True)
def reject_sweep(
    starts, levels, units, rates, values, total, n, n_bins, last, missing_left, D, left, right, bounds, floor, found,
):  # fmt: skip
    """Least cost over all cuts and all shifts |d| <= D, as its negative.

    Both thresholds move by the same shift, so the two sides do not come apart as they do for KS; but each side at its
    own two best thresholds is a bound, and only cuts whose bound is good enough are tried at every shift.
    """
    reject_bounds(starts, levels, units, rates, total, n, n_bins, last, missing_left, left, bounds)
    best = floor
    # Sums in another order differ in their last digits: what is no better than that is no better.
    tol = 1e-12 * (abs(total[1, n - 1]) + abs(total[2, n - 1]) + best)
    for _ in range(last):
        cut = _largest(bounds, last)
        if not bounds[cut] > best + tol:
            break
        bounds[cut] = -np.inf
        for part in range(1, 3):
            _add_left(starts, levels, units, cut, n_bins, missing_left, rates[part], left[part], n)
            before = 0.0
            for r in range(n):
                right[part, r] = total[part, r] - before - left[part, r]
                before = total[part, r]
        first, final, found_here = 0, 0, False
        for d in range(-D, D + 1):
            if d == 0:
                continue
            here = -_at_shift(values, left, right, n, d)
            if here > best + tol:
                best, first, final, found_here = here, d, d, True
            elif found_here and here > best - tol and final == d - 1:
                final = d
        if found_here:
            found[0], found[1], found[2] = cut, (first + final) // 2, 1 if missing_left else 0
    return best
