"""Fast loops of ExactBoost: the losses on histograms of the score, the best stump of a feature, a whole run.

Scores are whole numbers (multiples of a small unit), so that a histogram of them is exact. The rows come with the
positives first; a positive is judged at its score less the margin. A stump adds the shift d, at most D either way,
to the cases right of a cut.

Layouts: codes (p, n) feature-major; of a subsample `value` holds the judged scores as positions on a padded axis, the
m1 positives first. `unit` holds weights as whole numbers where all are equal, so that counts stay exact.
"""

from __future__ import annotations

import numpy as np
from numba import njit

AUC, KS, PRECISION, REJECT = 0, 1, 2, 3

_STEP, _MIX1, _MIX2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S11, _S27, _S30, _S31 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31)


@njit(cache=True, nogil=True)
def _below(state, n):
    """Random whole number in 0 .. n - 1 (splitmix64): the same on every machine and for every number of threads."""
    state[0] += _STEP
    z = state[0]
    z = (z ^ (z >> _S30)) * _MIX1
    z = (z ^ (z >> _S27)) * _MIX2
    z ^= z >> _S31
    return int(float(z >> _S11) * (1.0 / 9007199254740992.0) * n)


@njit(cache=True, nogil=True)
def draw(state, items, n):
    """Bring n of the items, drawn without replacement, to the front; all of them stay as they are."""
    if n == len(items):
        return
    for i in range(n):
        j = i + _below(state, len(items) - i)
        items[i], items[j] = items[j], items[i]


# ---------------------------------------------------------------------------------------------------------------------
# Losses of a histogram: pos and neg hold the weight of each class at each score, in the order of the scores.
# Prices: fp, fn, r_neg, r_pos, k.


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
        best = max(best, g)
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
def loss_of(metric, pos, neg, n, prices):
    """Loss of a histogram by number of the metric."""
    if metric == AUC:
        return auc_loss(pos, neg, n)
    if metric == KS:
        return ks_loss(pos, neg, n)
    if metric == PRECISION:
        return 1.0 - hits_at(pos, neg, n, prices[4]) / prices[4]
    return reject_loss(pos, neg, n, prices)


# ---------------------------------------------------------------------------------------------------------------------
# The best stump of one feature. The rows of the subsample are sorted by bin, positives and negatives apart:
# starts[0, b] .. starts[0, b + 1] are the positives of bin b in rows[0], starts[1] and rows[1] the same of negatives.
# Answers are written to found: cut (cases with code <= cut are left), shift, whether missing values go left.
# A search returns a value to compare, larger is better, and writes only what is better than `floor`.


@njit(cache=True, nogil=True)
def sort_by_bin(codes, ids, m1, n_cells, own, starts, rows):
    """Counting sort of the subsample by the bin of one feature; cases of a bin stay in their order."""
    m = len(ids)
    for q in range(m):
        own[q] = codes[ids[q]]
    for side in range(2):
        first, last = (0, m1) if side == 0 else (m1, m)
        at, to = starts[side], rows[side]
        for b in range(n_cells + 1):
            at[b] = 0
        for q in range(first, last):
            at[own[q] + 1] += 1
        for b in range(n_cells):
            at[b + 1] += at[b]
        for q in range(last - 1, first - 1, -1):
            b = own[q] + 1
            at[b] -= 1
            to[at[b]] = q
        # Each start moved down to the start of its own bin, one to the right of where it belongs.
        for b in range(n_cells):
            at[b] = at[b + 1]
        at[n_cells] = last - first


@njit(cache=True, nogil=True)
def sort_by_value(ids, value, unit, m1, size, count, old_ids, old_value, old_unit):
    """Counting sort of the subsample by score, positives and negatives apart, so that equal ones are neighbours."""
    m = len(ids)
    for q in range(m):
        old_ids[q], old_value[q], old_unit[q] = ids[q], value[q], unit[q]
    for side in range(2):
        first, last = (0, m1) if side == 0 else (m1, m)
        for s in range(size + 1):
            count[s] = 0
        for q in range(first, last):
            count[old_value[q] + 1] += 1
        for s in range(size):
            count[s + 1] += count[s]
        for q in range(first, last):
            to = first + count[old_value[q]]
            count[old_value[q]] += 1
            ids[to], value[to], unit[to] = old_ids[q], old_value[q], old_unit[q]


@njit(cache=True, nogil=True)
def _next_used(starts, b, n_cells):
    """Next bin after b that holds cases of the subsample."""
    for c in range(b + 1, n_cells):
        if starts[0, c + 1] > starts[0, c] or starts[1, c + 1] > starts[1, c]:
            return c
    return n_cells


@njit(cache=True, nogil=True)
def _add(to, part, w):
    if w == 1:
        for j in range(len(to)):
            to[j] += part[j]
    elif w == -1:
        for j in range(len(to)):
            to[j] -= part[j]
    else:
        for j in range(len(to)):
            to[j] += w * part[j]


@njit(cache=True, nogil=True)
def _next_group(rows, i, stop, value, unit):
    """Cases of one score from position i on: the score, their weight, and where the next begin."""
    q = rows[i]
    v, w = value[q], unit[q]
    i += 1
    while i < stop and value[rows[i]] == v:
        w += unit[rows[i]]
        i += 1
    return v, w, i


@njit(cache=True, nogil=True)
def auc_sweep(value, unit, starts, rows, n_bins, with_missing, missing_left, D, hist, size, work, floor, found):
    """Pairs won by the best stump over all cuts and all shifts |d| <= D, beyond those won without it.

    rl[D + x] and lr[D + x] hold the pairs (positive right, negative left) and (positive left, negative right) whose
    negative stands x above its positive. A shift d > 0 wins the pairs 0 <= x < d of the first and loses
    -d <= x < 0 of the second; a shift to the left the other way round. A case that crosses the cut changes both by a
    contiguous slice of the counts of the other class.
    """
    right_neg, left_neg, right_pos, left_pos = work[0, :size], work[1, :size], work[2, :size], work[3, :size]
    for s in range(size):
        right_neg[s] = hist[1, s]
        right_pos[size - 1 - s] = hist[0, s]  # mirrored, so that every slice runs forwards
    left_neg[:] = 0
    left_pos[:] = 0
    rl, lr = work[4, : 2 * D], work[5, : 2 * D]
    rl[:] = 0
    lr[:] = 0
    best = floor
    last = n_bins if with_missing and not missing_left else n_bins - 1
    first = -1 if missing_left else 0
    for step in range(first, last):
        b = n_bins if step < 0 else step
        p0, p1, n0, n1 = starts[0, b], starts[0, b + 1], starts[1, b], starts[1, b + 1]
        if p0 == p1 and n0 == n1:
            continue
        i = p0
        while i < p1:
            v, w, i = _next_group(rows[0], i, p1, value, unit)
            _add(rl, left_neg[v - D : v + D], -w)
            _add(lr, right_neg[v - D : v + D], w)
            at = size - 1 - v
            left_pos[at] += w
            right_pos[at] -= w
        i = n0
        while i < n1:
            v, w, i = _next_group(rows[1], i, n1, value, unit)
            at = size - 1 - v
            _add(rl, right_pos[at - D : at + D], w)
            _add(lr, left_pos[at - D : at + D], -w)
        for i in range(n0, n1):
            q = rows[1, i]
            left_neg[value[q]] += unit[q]
            right_neg[value[q]] -= unit[q]
        up, down = rl[0] * 0.0, rl[0] * 0.0
        best_here, d_first, d_last, d_sign = best, 0, 0, 0
        for j in range(D):
            up += rl[D + j] - lr[D - 1 - j]
            down += lr[D + j] - rl[D - 1 - j]
            if up > best_here:
                best_here, d_first, d_last, d_sign = up, j + 1, j + 1, 1
            elif d_sign == 1 and up == best_here and d_last == j:
                d_last = j + 1
            if down > best_here:
                best_here, d_first, d_last, d_sign = down, j + 1, j + 1, -1
            elif d_sign == -1 and down == best_here and d_last == j:
                d_last = j + 1
        if best_here > best:
            best = best_here
            found[0] = b if step >= 0 else -1
            found[1] = d_sign * ((d_first + d_last + 1) // 2)  # the middle of the shifts that do as well
            found[2] = 1 if missing_left else 0
    return best


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
def _left_sums(starts, rows, place, gain, cut, n_bins, missing_left, out, n):
    """Sum the gains of the rows left of a cut by rank."""
    out[:n] = 0
    for side in range(2):
        for i in range(starts[side, cut + 1]):
            q = rows[side, i]
            out[place[q]] += gain[q]
        if missing_left:
            for i in range(starts[side, n_bins], starts[side, n_bins + 1]):
                q = rows[side, i]
                out[place[q]] += gain[q]


@njit(cache=True, nogil=True)
def ks_bounds(place, gain, starts, rows, total, n, n_bins, with_missing, missing_left, left, bounds):
    """For each cut the best sum of two thresholds, one on either side, whatever the shift."""
    left[:n] = 0
    last = n_bins if with_missing and not missing_left else n_bins - 1
    for step in range(-1, last):
        b = n_bins if step < 0 else step
        if step >= 0:
            bounds[step] = -1
        used = False
        if step >= 0 or missing_left:
            for side in range(2):
                for i in range(starts[side, b], starts[side, b + 1]):
                    q = rows[side, i]
                    left[place[q]] += gain[q]
                    used = True
        if step < 0 or not used:
            continue
        zero = gain[0] * 0
        g, best_left, best_right = zero, zero, zero
        for r in range(n):
            g += left[r]
            best_left = max(best_left, g)
            best_right = max(best_right, total[r] - g)
        bounds[step] = best_left + best_right
    return last


@njit(cache=True, nogil=True)
def _best_pair(left, total, n, reach, queue, pair):
    """Largest left[i] + right[j] over the pairs within reach: a sliding maximum."""
    front, back, entered = 0, 0, 0
    g = left[0] * 0
    best, first = g, True
    for i in range(n + 1):
        if i > 0:
            g = left[i - 1]
        while entered <= reach[1, i]:
            right = total[entered - 1] - left[entered - 1] if entered > 0 else left[0] * 0
            while back > front:
                j = queue[back - 1]
                held = total[j - 1] - left[j - 1] if j > 0 else left[0] * 0
                if held >= right:
                    break
                back -= 1
            queue[back] = entered
            back += 1
            entered += 1
        while queue[front] < reach[0, i]:
            front += 1
        j = queue[front]
        here = g + (total[j - 1] - left[j - 1] if j > 0 else left[0] * 0)
        if first or here > best:
            best, first = here, False
            pair[0], pair[1] = i, j
    return best


@njit(cache=True, nogil=True)
def middle_shift(ends, i, j, D):
    """The middle of the shifts that make thresholds i and j one."""
    low, high = max(ends[0, i] - ends[1, j], -D), min(ends[1, i] - ends[0, j], D)
    return (low + high) // 2


@njit(cache=True, nogil=True)
def ks_sweep(
    place, gain, starts, rows, total, n, n_bins, with_missing, missing_left, D, ends, reach, left, bounds, queue,
    floor, found,
):  # fmt: skip
    """Largest gap between the two distributions over all cuts and all shifts |d| <= D.

    The thresholds left and right of the cut can be chosen apart, since their difference is the shift. Cuts are looked
    at in the order of the bound that forgets D, and no longer once it is not above the best found.
    """
    last = ks_bounds(place, gain, starts, rows, total, n, n_bins, with_missing, missing_left, left, bounds)
    best = floor
    pair = np.zeros(2, dtype=np.int64)
    for _ in range(last):
        cut = 0
        for b in range(1, last):
            if bounds[b] > bounds[cut]:
                cut = b
        if not bounds[cut] > best:
            break
        bounds[cut] = -1
        _left_sums(starts, rows, place, gain, cut, n_bins, missing_left, left, n)
        for r in range(1, n):
            left[r] += left[r - 1]
        here = _best_pair(left, total, n, reach, queue, pair)
        if here > best:
            best = here
            found[0], found[1] = cut, middle_shift(ends, pair[0], pair[1], D)
            found[2] = 1 if missing_left else 0
    return best


@njit(cache=True, nogil=True)
def _two_thresholds(a_sum, c_sum, n):
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
def reject_sweep(
    place, change, values, starts, rows, total, n, n_bins, with_missing, missing_left, D, left, right, bounds,
    floor, found,
):  # fmt: skip
    """Least cost over all cuts and all shifts |d| <= D, as its negative.

    Both thresholds move by the same shift, so the two sides do not come apart as they do for KS; but each side at its
    own two best thresholds is a bound, and only cuts whose bound is good enough are tried at every shift.
    """
    for r in range(n):
        left[1, r] = left[2, r] = 0.0
    last = n_bins if with_missing and not missing_left else n_bins - 1
    for step in range(-1, last):
        b = n_bins if step < 0 else step
        if step >= 0:
            bounds[step] = -np.inf
        used = False
        if step >= 0 or missing_left:
            for side in range(2):
                for i in range(starts[side, b], starts[side, b + 1]):
                    q = rows[side, i]
                    left[1, place[q]] += change[1, q]
                    left[2, place[q]] += change[2, q]
                    used = True
        if step < 0 or not used:
            continue
        a, c, least_a, best_left = 0.0, 0.0, 0.0, 0.0
        ra, rc, least_ra, best_right = 0.0, 0.0, 0.0, 0.0
        for r in range(n):
            a += left[1, r]
            c += left[2, r]
            ra, rc = total[1, r] - a, total[2, r] - c
            least_a = min(least_a, a)
            least_ra = min(least_ra, ra)
            best_left = min(best_left, least_a + c)
            best_right = min(best_right, least_ra + rc)
        bounds[step] = -(best_left + best_right)
    best = floor
    # Sums in another order differ in their last digits: what is no better than that is no better.
    tol = 1e-12 * (abs(total[1, n - 1]) + abs(total[2, n - 1]) + best)
    for _ in range(last):
        cut = 0
        for b in range(1, last):
            if bounds[b] > bounds[cut]:
                cut = b
        if not bounds[cut] > best + tol:
            break
        bounds[cut] = -np.inf
        for part in range(1, 3):
            _left_sums(starts, rows, place, change[part], cut, n_bins, missing_left, left[part], n)
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


@njit(cache=True, nogil=True)
def precision_sweep(
    value, unit, starts, rows, n_bins, with_missing, missing_left, D, hist, size, work, k, floor, found
):
    """Positives among the first k over all cuts and all shifts |d| <= D; a shared k-th score counts the least."""
    pos_left, neg_left = work[0, :size], work[1, :size]
    above_pos_left, above_left, above_pos_right, above_right = (
        work[2, : size + 1], work[3, : size + 1], work[4, : size + 1], work[5, : size + 1],
    )  # fmt: skip
    pos_left[:] = 0
    neg_left[:] = 0
    best = floor
    last = n_bins if with_missing and not missing_left else n_bins - 1
    for step in range(-1 if missing_left else 0, last):
        b = n_bins if step < 0 else step
        if starts[0, b] == starts[0, b + 1] and starts[1, b] == starts[1, b + 1]:
            continue
        for i in range(starts[0, b], starts[0, b + 1]):
            pos_left[value[rows[0, i]]] += unit[rows[0, i]]
        for i in range(starts[1, b], starts[1, b + 1]):
            neg_left[value[rows[1, i]]] += unit[rows[1, i]]
        above_pos_left[size] = above_left[size] = above_pos_right[size] = above_right[size] = 0
        for s in range(size - 1, -1, -1):  # weight at or above s
            above_pos_left[s] = above_pos_left[s + 1] + pos_left[s]
            above_left[s] = above_left[s + 1] + pos_left[s] + neg_left[s]
            above_pos_right[s] = above_pos_right[s + 1] + hist[0, s] - pos_left[s]
            above_right[s] = above_right[s + 1] + hist[0, s] + hist[1, s] - pos_left[s] - neg_left[s]
        first, final, found_here = 0, 0, False
        for d in range(-D, D + 1):
            if d == 0:
                continue
            # The largest t with k cases at or above it; the padding keeps t and t - d on the axis.
            low, high = 0, size
            while high - low > 1:
                t = (low + high) // 2
                u = min(max(t - d, 0), size)
                if above_left[t] + above_right[u] >= k:
                    low = t
                else:
                    high = t
            u, u1 = min(max(low - d, 0), size), min(max(low + 1 - d, 0), size)
            hits = above_pos_left[low + 1] + above_pos_right[u1]
            above = above_left[low + 1] + above_right[u1]
            tied_pos = above_pos_left[low] + above_pos_right[u] - hits
            tied_neg = above_left[low] + above_right[u] - above - tied_pos
            here = hits + min(max(k - above - tied_neg, 0.0), tied_pos)
            if here > best:
                best, first, final, found_here = here, d, d, True
            elif found_here and here == best and final == d - 1:
                final = d
        if found_here:
            found[0] = b if step >= 0 else -1
            found[1], found[2] = (first + final) // 2, 1 if missing_left else 0
    return best


# ---------------------------------------------------------------------------------------------------------------------
# The bisection that the poster prints: boxes of (cut, a, b), halved in all directions, the most hopeful half kept.


@njit(cache=True, nogil=True)
def _grouped_loss(metric, scores, unit, m1, pos, neg, prices):
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
    return loss_of(metric, pos, neg, n, prices)


@njit(cache=True, nogil=True)
def bisection(metric, value, unit, codes, m1, n_cuts, D, prices, floor, found):
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
            loss = _grouped_loss(metric, scores, unit, m1, pos, neg, prices)
            if loss < least:
                least = loss
                best_child[:] = child
        box[:] = best_child
    cut, d = box[0, 0], box[2, 0] - box[1, 0]
    for q in range(m):
        scores[q] = value[q] + (d if codes[q] > cut else 0)
    value_found = -_grouped_loss(metric, scores, unit, m1, pos, neg, prices)
    if value_found > floor and d != 0:
        found[0], found[1], found[2] = cut, d, 0
        return value_found
    return floor


# ---------------------------------------------------------------------------------------------------------------------
# A run.


@njit(cache=True, nogil=True)
def margin_of(theta, low, high, D):
    """The margin in units of the score: a share of its range, and at least one unit unless it is 0."""
    if theta == 0.0:
        return 0
    return max(1, round(theta * max(high - low, D)))


@njit(cache=True, nogil=True)
def full_loss(metric, score, codes, stump, n_bins, bag, n_pos, weights, low, high, theta, D, prices, full, ends):
    """Loss of all cases of the bag with one more stump; writes the range of their scores."""
    pad = (full.shape[1] - (high - low) - 2 * D - 2) // 2
    base = low - D - pad
    full[:] = 0.0
    cut, d, missing_left = stump[0], stump[1], stump[2] == 1
    for position in range(len(bag)):
        i = bag[position]
        s = score[i] - base
        code = codes[i]
        left = code <= cut if code < n_bins else missing_left
        if not left:
            s += d
        full[0 if i < n_pos else 1, s] += weights[i]
    first, last = 0, full.shape[1] - 1
    while full[0, first] == 0.0 and full[1, first] == 0.0:
        first += 1
    while full[0, last] == 0.0 and full[1, last] == 0.0:
        last -= 1
    ends[0], ends[1] = first + base, last + base
    margin = margin_of(theta, first, last, D)
    # A positive at s is judged at s - margin.
    start, n = first - margin, last - first + margin + 1
    return loss_of(metric, full[0, first : first + n], full[1, start : start + n], n, prices)


@njit(cache=True, nogil=True)
def _goes_right(code, n_bins, cut, missing_left):
    return code > cut if code < n_bins else not missing_left


@njit(cache=True, nogil=True)
def make_buffers(m1, m0, axis, most_bins, D, unit, codes):
    """Room for the search of one round, used again in the next."""
    m = m1 + m0
    n = min(m, axis) + 2
    hist, work = np.zeros((2, axis), dtype=unit.dtype), np.zeros((6, max(axis + 1, 2 * D)), dtype=unit.dtype)
    starts, rows = np.zeros((2, most_bins + 3), dtype=np.int64), np.zeros((2, max(m1, m0)), dtype=np.int32)
    values, rank, queue = np.zeros(n, dtype=np.int64), np.zeros(axis + 1, dtype=np.int32), np.zeros(n, dtype=np.int64)
    ends, reach = np.zeros((2, n), dtype=np.int64), np.zeros((2, n), dtype=np.int64)
    # Gains in KS, then changes of A and C of the reject cost: by case, by rank in all, left and right of a cut.
    change, total, left, right = np.zeros((3, m)), np.zeros((3, n)), np.zeros((3, n)), np.zeros((3, n))
    place, own = np.zeros((3, m), dtype=np.int32), np.zeros(m, dtype=codes.dtype)
    return (
        hist, work, starts, rows, values, rank, queue, ends, reach, change, total, left, right, np.zeros(most_bins + 2),
        place, own, np.zeros(m, dtype=unit.dtype),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _prepare(metric, value, unit, m1, size, D, prices, buffers):
    """Histogram of the subsample, and what the searches share; returns the number of distinct scores and the floor."""
    hist, _, _, _, values, rank, _, ends, reach, change, total, _, _, _, place, _, _ = buffers
    m = len(value)
    for s in range(size):
        hist[0, s] = 0
        hist[1, s] = 0
    all_pos, all_neg = 0.0, 0.0
    for q in range(m):
        if q < m1:
            hist[0, value[q]] += unit[q]
            all_pos += unit[q]
        else:
            hist[1, value[q]] += unit[q]
            all_neg += unit[q]
    if metric == AUC:
        return 0, 0.0
    if metric == PRECISION:
        return 0, hits_at(hist[0], hist[1], size, prices[4])
    n = distinct(hist, size, values, rank)
    fp, fn, r_neg, r_pos = prices[0], prices[1], prices[2], prices[3]
    for part in range(3):
        for r in range(n):
            total[part, r] = 0.0
    for q in range(m):
        r, w = rank[value[q]], unit[q]
        place[0, q] = r
        if q < m1:
            change[0, q], change[1, q], change[2, q] = -all_neg * w, (fn - r_pos) * w, r_pos * w
        else:
            change[0, q], change[1, q], change[2, q] = all_pos * w, -r_neg * w, (r_neg - fp) * w
        for part in range(3):
            total[part, r] += change[part, q]
    for part in range(3):
        for r in range(1, n):
            total[part, r] += total[part, r - 1]
    if metric == REJECT:
        return n, -_two_thresholds(total[1], total[2], n)
    windows(values, n, D, ends, reach)
    floor = 0.0
    for r in range(n):
        floor = max(floor, total[0, r])
    return n, floor


@njit(cache=True, nogil=True)
def _search_feature(metric, codes, n_bins, ids, m1, value, unit, size, n, D, prices, buffers, best, found):
    """Search one feature; returns the better of `best` and what it found."""
    hist, work, starts, rows, values, _, queue, ends, reach, change, total, left, right, bounds, place, own, _ = buffers
    sort_by_bin(codes, ids, m1, n_bins + 1, own, starts, rows)
    lost = starts[0, n_bins + 1] > starts[0, n_bins] or starts[1, n_bins + 1] > starts[1, n_bins]
    for turn in range(2 if lost else 1):
        first = turn == 1  # missing values left
        if metric == AUC:
            best = auc_sweep(value, unit, starts, rows, n_bins, lost, first, D, hist, size, work, best, found)
        elif metric == KS:
            best = ks_sweep(
                place[0], change[0], starts, rows, total[0], n, n_bins, lost, first, D, ends, reach, left[0], bounds,
                queue, best, found,
            )  # fmt: skip
        elif metric == PRECISION:
            best = precision_sweep(
                value, unit, starts, rows, n_bins, lost, first, D, hist, size, work, prices[4], best, found
            )
        else:
            best = reject_sweep(
                place[0], change, values, starts, rows, total, n, n_bins, lost, first, D, left, right, bounds, best,
                found,
            )  # fmt: skip
    return best


@njit(cache=True, nogil=True)
def search(metric, exact, codes, n_bins, features, ids, m1, value, unit, size, D, prices, buffers, stump):
    """Best stump of the features for a subsample; returns its feature, or -1 where none is better than none.

    ids: the cases, positives first; value: their judged scores on an axis of `size` positions, at least D from either
    end; unit: their weights. All three are put into the order of the scores. The stump's cut, shift and side of
    missing values go to `stump`.
    """
    found = np.zeros(3, dtype=np.int64)
    _, _, _, _, _, rank, _, _, _, _, _, _, _, _, place, own, spare = buffers
    sort_by_value(ids, value, unit, m1, size, rank, place[1], place[2], spare)
    n, best = _prepare(metric, value, unit, m1, size, D, prices, buffers)
    if not exact:
        best = -loss_of(metric, buffers[0][0], buffers[0][1], size, prices)
    chosen = -1
    for f in features:
        if exact:
            better = _search_feature(
                metric, codes[f], n_bins[f], ids, m1, value, unit, size, n, D, prices, buffers, best, found
            )
        else:
            n_cuts = n_bins[f] - 1
            for q in range(len(ids)):
                own[q] = codes[f, ids[q]]
                if own[q] == n_bins[f]:
                    n_cuts = n_bins[f]
            better = bisection(metric, value, unit, own, m1, n_cuts, D, prices, best, found)
        if better > best:
            best, chosen = better, f
            if exact:
                _middle_of_gap(buffers[2], n_bins[f], found)
            for i in range(3):
                stump[i] = found[i]
    return chosen


@njit(cache=True, nogil=True)
def _middle_of_gap(starts, n_bins, found):
    """Cuts between the same two cases of the subsample do equally well: take the one in the middle."""
    if 0 <= found[0] < n_bins - 1:
        after = _next_used(starts, found[0], n_bins)
        if after < n_bins:
            found[0] = (found[0] + after - 1) // 2


@njit(cache=True, nogil=True)
def run(
    metric, exact, codes, n_bins, bag, n_pos, weights, unit_all, score, span, n_rounds, D, theta,
    sizes, prices, sub_prices, patience, seed, stumps, trace,
):  # fmt: skip
    """One run of boosting; the stumps taken go to `stumps` (feature, cut, shift, missing left), their number returned.

    `sizes` holds the numbers of positives, negatives and features drawn in each round; `score` starts with the initial
    scores, which span `span` at most, and ends with the final ones; `trace` receives the loss on the bag by round.
    """
    # One stream of random numbers for the cases and one for the features: more cases do not mean other features.
    state, other_state = np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.uint64)
    state[0], other_state[0] = seed, ~seed
    m1, m0, n_features = sizes[0], sizes[1], sizes[2]
    m = m1 + m0
    split = np.searchsorted(bag, n_pos)
    pos_rows, neg_rows, features = bag[:split].copy(), bag[split:].copy(), np.arange(codes.shape[0])
    # The widest the scores can become, and the widest margin: a later round shifts by D at most.
    widest = span + n_rounds * D + 2 * D + 4
    most = int(theta * widest) + 3
    full = np.zeros((2, widest + 2 * most + 4))
    buffers = make_buffers(m1, m0, widest + most + 2 * D, n_bins.max(), D, unit_all, codes)
    ids, value = np.zeros(m, dtype=np.int32), np.zeros(m, dtype=np.int32)
    unit = np.zeros(m, dtype=unit_all.dtype)
    stump, at = np.zeros(3, dtype=np.int64), np.zeros(2, dtype=np.int64)
    low, high = score[bag[0]], score[bag[0]]
    for i in bag:
        low, high = min(low, score[i]), max(high, score[i])
    loss = full_loss(
        metric, score, codes[0], stump, n_bins[0], bag, n_pos, weights, low, high, theta, D, prices, full, at
    )
    trace[0] = loss
    taken, idle = 0, 0
    for t in range(n_rounds):
        trace[t + 1] = loss
        if patience > 0 and idle >= patience:
            continue
        idle += 1
        draw(state, pos_rows, m1)
        draw(state, neg_rows, m0)
        draw(other_state, features, n_features)
        margin = margin_of(theta, low, high, D)
        base, size = low - margin - D, high - low + margin + 2 * D + 2
        for q in range(m):
            i = pos_rows[q] if q < m1 else neg_rows[q - m1]
            ids[q], unit[q] = i, unit_all[i]
            value[q] = score[i] - base - (margin if q < m1 else 0)
        chosen = search(
            metric, exact, codes, n_bins, features[:n_features], ids, m1, value, unit, size, D, sub_prices, buffers,
            stump,
        )  # fmt: skip
        if chosen < 0 or stump[1] == 0:
            continue
        column, nb, cut, d, missing_left = codes[chosen], n_bins[chosen], stump[0], stump[1], stump[2] == 1
        new = full_loss(metric, score, column, stump, nb, bag, n_pos, weights, low, high, theta, D, prices, full, at)
        if new > loss:
            continue
        if new < loss:
            idle = 0
        loss = new
        trace[t + 1] = loss
        low, high = at[0], at[1]
        for i in range(len(score)):
            if _goes_right(column[i], nb, cut, missing_left):
                score[i] += d
        stumps[taken, 0], stumps[taken, 1], stumps[taken, 2], stumps[taken, 3] = chosen, cut, d, stump[2]
        taken += 1
    return taken


@njit(cache=True, nogil=True)
def largest_correlation(codes, rows, signs, n_bins, sums):
    """Largest |sum of sign * stump| over all features and cuts, stumps -1 and +1, missing values on either side."""
    total = 0.0
    for i in range(len(signs)):
        total += signs[i]
    best = abs(total)
    for f in range(codes.shape[0]):
        n = n_bins[f]
        for b in range(n + 1):
            sums[b] = 0.0
        column = codes[f]
        for i in range(len(rows)):
            sums[column[rows[i]]] += signs[i]
        left, known = 0.0, total - sums[n]
        for b in range(n):
            left += sums[b]
            best = max(best, abs(2.0 * left - known) + abs(sums[n]))
    return best
