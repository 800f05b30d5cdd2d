"""Best stump of a feature for AUC and for precision at k, compiled: the whole grid of cuts and shifts.

The cases of the subsample come sorted by bin and, within a bin, by score, positives and negatives apart: from
starts[0, b] to starts[0, b + 1] stand the positives of bin b in levels[0] (their judged scores, positions on an axis
padded by `WINDOW` at either end) and units[0] (their weights); starts[1], levels[1] and units[1] hold the negatives.
Bin n_bins holds missing values. `hist` counts all of them.

Answers go to `found`: cut (cases with code <= cut are left), shift, whether missing values go left. A search returns a
value to compare, larger is better, and writes only what is better than `floor`.
"""

from __future__ import annotations

from numba import njit

WINDOW = 32  # the longest shift there can be; known to the compiler, so that loops over it are unrolled


@njit(cache=True, nogil=True)
def _cross(v, w, left, right, gone, come):
    """Pairs that end, and pairs that begin, when cases of weight w at score v cross the cut."""
    a, b = left[v - WINDOW : v + WINDOW], right[v - WINDOW : v + WINDOW]
    for j in range(2 * WINDOW):
        gone[j] -= w * a[j]
        come[j] += w * b[j]


@njit(cache=True, nogil=True)
def _best_shift(rl, lr, D, floor, found):
    """Best shift for the pairs of a cut, written to found[1] when it wins more than `floor`; returns what it wins."""
    up, down = rl[0] * 0, rl[0] * 0
    best, first, last, sign = floor, 0, 0, 0
    for j in range(D):
        up += rl[WINDOW + j] - lr[WINDOW - 1 - j]
        down += lr[WINDOW + j] - rl[WINDOW - 1 - j]
        if up > best:
            best, first, last, sign = up, j + 1, j + 1, 1
        elif sign == 1 and up == best and last == j:
            last = j + 1
        if down > best:
            best, first, last, sign = down, j + 1, j + 1, -1
        elif sign == -1 and down == best and last == j:
            last = j + 1
    if best > floor:
        found[1] = sign * ((first + last + 1) // 2)  # the middle of the shifts that do as well
    return best


@njit(cache=True, nogil=True)
def auc_sweep(starts, levels, units, n_bins, last, missing_left, D, hist, size, work, floor, found):
    """Pairs won by the best stump over all cuts and all shifts |d| <= D, beyond those won without it.

    rl[WINDOW + x] and lr[WINDOW + x] hold the pairs (positive right, negative left) and (positive left, negative right)
    whose negative stands x above its positive. A shift d > 0 wins the pairs 0 <= x < d of the first and loses
    -d <= x < 0 of the second; a shift to the left the other way round. A case that crosses the cut changes both by a
    contiguous slice of the counts of the other class.
    """
    right_neg, left_neg, right_pos, left_pos, rl, lr = work[0], work[1], work[2], work[3], work[4], work[5]
    for s in range(size):
        right_neg[s] = hist[1, s]
        right_pos[size - 1 - s] = hist[0, s]  # mirrored, so that every slice runs forwards
        left_neg[s] = 0
        left_pos[s] = 0
    for j in range(2 * WINDOW):
        rl[j] = 0
        lr[j] = 0
    best = floor
    for step in range(-1 if missing_left else 0, last):
        b = n_bins if step < 0 else step
        p0, p1, n0, n1 = starts[0, b], starts[0, b + 1], starts[1, b], starts[1, b + 1]
        if p0 == p1 and n0 == n1:
            continue
        i = p0
        while i < p1:
            v, w = levels[0, i], units[0, i]
            i += 1
            while i < p1 and levels[0, i] == v:
                w += units[0, i]
                i += 1
            _cross(v, w, left_neg, right_neg, rl, lr)
            left_pos[size - 1 - v] += w
            right_pos[size - 1 - v] -= w
        i = n0
        while i < n1:
            v, w = levels[1, i], units[1, i]
            i += 1
            while i < n1 and levels[1, i] == v:
                w += units[1, i]
                i += 1
            _cross(size - 1 - v, w, left_pos, right_pos, lr, rl)
            left_neg[v] += w
            right_neg[v] -= w
        if step < 0:  # missing values against all others: looked at with the missing values right
            continue
        here = _best_shift(rl, lr, D, best, found)
        if here > best:
            best = here
            found[0], found[2] = b, 1 if missing_left else 0
    return best


@njit(cache=True, nogil=True)
def _hits_at_shift(above, d, size, k):
    """Positives among the first k when the right side is shifted by d; a shared k-th score counts the least.

    above[0] and above[1] hold the left positives and the left cases at or above each score, above[2] and above[3] those
    of the right.
    """
    # The largest t with k cases at or above it.
    low, high = 0, size
    while high - low > 1:
        t = (low + high) // 2
        if above[1, t] + above[3, min(max(t - d, 0), size)] >= k:
            low = t
        else:
            high = t
    u, u1 = min(max(low - d, 0), size), min(max(low + 1 - d, 0), size)
    hits = above[0, low + 1] + above[2, u1]
    more = above[1, low + 1] + above[3, u1]
    tied_pos = above[0, low] + above[2, u] - hits
    tied_neg = above[1, low] + above[3, u] - more - tied_pos
    return hits + min(max(k - more - tied_neg, 0.0), tied_pos)


@njit(cache=True, nogil=True)
def precision_sweep(starts, levels, units, n_bins, last, missing_left, D, hist, size, work, k, floor, found):
    """Positives among the first k over all cuts and all shifts |d| <= D."""
    left, above = work[4:], work[:4]
    for s in range(size + 1):
        left[0, s] = left[1, s] = 0
        above[0, s] = above[1, s] = above[2, s] = above[3, s] = 0
    best = floor
    for step in range(-1 if missing_left else 0, last):
        b = n_bins if step < 0 else step
        if starts[0, b] == starts[0, b + 1] and starts[1, b] == starts[1, b + 1]:
            continue
        for side in range(2):
            for i in range(starts[side, b], starts[side, b + 1]):
                left[side, levels[side, i]] += units[side, i]
        if step < 0:
            continue
        for s in range(size - 1, -1, -1):
            pos, both = left[0, s], left[0, s] + left[1, s]
            above[0, s] = above[0, s + 1] + pos
            above[1, s] = above[1, s + 1] + both
            above[2, s] = above[2, s + 1] + hist[0, s] - pos
            above[3, s] = above[3, s + 1] + hist[0, s] + hist[1, s] - both
        first, final, found_here = 0, 0, False
        for d in range(-D, D + 1):
            here = _hits_at_shift(above, d, size, k) if d != 0 else floor
            if here > best:
                best, first, final, found_here = here, d, d, True
            elif found_here and here == best and final == d - 1:
                final = d
        if found_here:
            found[0], found[1], found[2] = b, (first + final) // 2, 1 if missing_left else 0
    return best
