"""Fast loops of ExactBoost: a whole run, around the searches of `exact_pairs`, `exact_thresholds`, `exact_bisection`.

Scores are whole numbers (multiples of a small unit), so that a histogram of them is exact. The rows come with the
positives first; a positive is judged at its score less the margin. A stump adds the shift d, at most D either way,
to the cases right of a cut.

Layouts: codes (p, n) feature-major; of a subsample `value` holds the judged scores as positions on a padded axis, the
m1 positives first. `unit` holds weights as whole numbers where all are equal, so that counts stay exact.

What is minimised is said by flags, one of them True and the others None: the compiler drops what stands behind a None,
so that a model pays for its own objective only. (Its cache does not see changes in the other files: after one, touch
this file.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .bisection import bisection
from .losses import hits_at, loss_of
from .pairs import WINDOW, auc_sweep, precision_sweep
from .thresholds import distinct, ks_sweep, reject_sweep, running_totals, two_thresholds, windows

_STEP, _MIX1, _MIX2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S11, _S27, _S30, _S31 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31)


class Room(NamedTuple):
    """Memory of a run, used again in every round."""

    full: Any  # histogram of all cases
    shift: Any  # what a stump adds, by code
    hist: Any  # of the subsample
    work: Any
    ids: Any  # the subsample: cases, scores, weights, ranks
    value: Any
    unit: Any
    level: Any
    old_ids: Any
    old_value: Any
    old_unit: Any
    own: Any  # sorted by the bin of a feature
    starts: Any
    levels: Any
    units: Any
    rank: Any  # distinct scores, and sums by their rank
    values: Any
    ends: Any
    reach: Any
    queue: Any
    rates: Any
    total: Any
    left: Any
    right: Any
    bounds: Any
    found: Any


def make_room(m1: int, m0: int, widest: int, margin: int, most_bins: int, unit: Any, codes: Any) -> Room:
    """Room for subsamples of m1 + m0 cases whose scores span at most `widest`."""
    m, axis = m1 + m0, widest + margin + 2 * WINDOW + 3
    n = min(m, axis) + 2
    whole, weight = np.int32, unit.dtype
    return Room(
        full=np.zeros((2, widest + 2 * margin + 4)),
        shift=np.zeros(most_bins + 1, np.int64),
        hist=np.zeros((2, axis), weight),
        work=np.zeros((6, axis + 1), weight),
        ids=np.zeros(m, whole),
        value=np.zeros(m, whole),
        unit=np.zeros(m, weight),
        level=np.zeros(m, whole),
        old_ids=np.zeros(m, whole),
        old_value=np.zeros(m, whole),
        old_unit=np.zeros(m, weight),
        own=np.zeros(m, codes.dtype),
        starts=np.zeros((2, most_bins + 3), np.int64),
        levels=np.zeros((2, max(m1, m0)), whole),
        units=np.zeros((2, max(m1, m0)), weight),
        rank=np.zeros(axis + 1, whole),
        values=np.zeros(n, np.int64),
        ends=np.zeros((2, n), np.int64),
        reach=np.zeros((3, n), np.int64),
        queue=np.zeros(n, np.int64),
        rates=np.zeros((3, 2)),
        total=np.zeros((3, n)),
        left=np.zeros((3, n)),
        right=np.zeros((3, n)),
        bounds=np.zeros(most_bins + 2),
        found=np.zeros(3, np.int64),
    )


@njit(cache=True, nogil=True)
def draw(state, items, n):
    """Bring n of the items, drawn without replacement, to the front; all of them stay as they are.

    Random numbers by splitmix64: the same on every machine and for every number of threads.
    """
    if n == len(items):
        return
    for i in range(n):
        state[0] += _STEP
        z = state[0]
        z = (z ^ (z >> _S30)) * _MIX1
        z = (z ^ (z >> _S27)) * _MIX2
        z ^= z >> _S31
        j = i + int(float(z >> _S11) * (1.0 / 9007199254740992.0) * (len(items) - i))
        items[i], items[j] = items[j], items[i]


@njit(cache=True, nogil=True)
def sort_by_value(room, m1, size):
    """Counting sort of the subsample by score, positives and negatives apart, so that equal ones are neighbours."""
    ids, value, unit, count = room.ids, room.value, room.unit, room.rank
    m = len(ids)
    for q in range(m):
        room.old_ids[q], room.old_value[q], room.old_unit[q] = ids[q], value[q], unit[q]
    for side in range(2):
        first, last = (0, m1) if side == 0 else (m1, m)
        for s in range(size + 1):
            count[s] = 0
        for q in range(first, last):
            count[room.old_value[q] + 1] += 1
        for s in range(size):
            count[s + 1] += count[s]
        for q in range(first, last):
            v = room.old_value[q]
            to = first + count[v]
            count[v] += 1
            ids[to], value[to], unit[to] = room.old_ids[q], v, room.old_unit[q]


@njit(cache=True, nogil=True)
def sort_by_bin(codes, level, m1, n_cells, room):
    """Counting sort of the subsample by the bin of one feature; cases of a bin stay in their order."""
    ids, own, unit = room.ids, room.own, room.unit
    m = len(ids)
    for q in range(m):
        own[q] = codes[ids[q]]
    for side in range(2):
        first, last = (0, m1) if side == 0 else (m1, m)
        at, levels, units = room.starts[side], room.levels[side], room.units[side]
        for b in range(n_cells + 2):
            at[b] = 0
        for q in range(first, last):
            at[own[q] + 2] += 1
        for b in range(n_cells):
            at[b + 2] += at[b + 1]
        # at[b + 1] moves from the start of bin b to its end, which is the start of the next.
        for q in range(first, last):
            to = at[own[q] + 1]
            at[own[q] + 1] += 1
            levels[to], units[to] = level[q], unit[q]


@njit(cache=True, nogil=True)
def _histogram(room, m1, size):
    """Count the subsample by score; returns the weight of either class."""
    hist = room.hist
    for s in range(size):
        hist[0, s] = 0
        hist[1, s] = 0
    all_pos, all_neg = 0.0, 0.0
    for q in range(m1):
        hist[0, room.value[q]] += room.unit[q]
        all_pos += room.unit[q]
    for q in range(m1, len(room.ids)):
        hist[1, room.value[q]] += room.unit[q]
        all_neg += room.unit[q]
    return all_pos, all_neg


@njit(cache=True, nogil=True)
def _rank(room, all_pos, all_neg, size, prices):
    """Ranks of the scores, rates of the classes and running totals for the thresholds; returns how many ranks."""
    n = distinct(room.hist, size, room.values, room.rank)
    for q in range(len(room.ids)):
        room.level[q] = room.rank[room.value[q]]
    fp, fn, r_neg, r_pos = prices[0], prices[1], prices[2], prices[3]
    rates = room.rates
    rates[0, 0], rates[1, 0], rates[2, 0] = -all_neg, fn - r_pos, r_pos
    rates[0, 1], rates[1, 1], rates[2, 1] = all_pos, -r_neg, r_neg - fp
    running_totals(room.hist, room.values, n, rates, room.total)
    return n


@njit(cache=True, nogil=True)
def _search_feature(auc, ks, precision, reject, level, codes, n_bins, m1, size, n, D, prices, room, best):
    """Search one feature; returns the better of `best` and what it found."""
    sort_by_bin(codes, level, m1, n_bins + 1, room)
    starts, levels, units, rates, found = room.starts, room.levels, room.units, room.rates, room.found
    lost = starts[0, n_bins + 1] > starts[0, n_bins] or starts[1, n_bins + 1] > starts[1, n_bins]
    for turn in range(2 if lost else 1):
        first = turn == 1  # missing values left
        last = n_bins if lost and not first else n_bins - 1
        if auc is not None:
            best = auc_sweep(starts, levels, units, n_bins, last, first, D, room.hist, size, room.work, best, found)
        if ks is not None:
            best = ks_sweep(
                starts, levels, units, rates[0], room.total[0], n, n_bins, last, first, D, room.ends, room.reach,
                room.left[0], room.bounds, room.queue, best, found,
            )  # fmt: skip
        if precision is not None:
            best = precision_sweep(
                starts, levels, units, n_bins, last, first, D, room.hist, size, room.work, prices[4], best, found
            )
        if reject is not None:
            best = reject_sweep(
                starts, levels, units, rates, room.values, room.total, n, n_bins, last, first, D, room.left, room.right,
                room.bounds, best, found,
            )  # fmt: skip
    return best


@njit(cache=True, nogil=True)
def _middle_of_gap(starts, n_bins, found):
    """Cuts between the same two cases of the subsample do equally well: take the one in the middle."""
    if found[0] < n_bins - 1:
        after = found[0] + 1
        while after < n_bins and starts[0, after + 1] == starts[0, after] and starts[1, after + 1] == starts[1, after]:
            after += 1
        if after < n_bins:
            found[0] = (found[0] + after - 1) // 2


@njit(cache=True, nogil=True)
def search_all(auc, ks, precision, reject, codes, n_bins, features, n_features, m1, size, D, prices, room, stump):
    """Best stump of the features for a subsample; returns its feature, or -1 where none is better than none.

    In `room`, ids: the cases, positives first; value: their judged scores on an axis of `size` positions, at least
    `WINDOW` from either end; unit: their weights. All three are put into the order of the scores. The stump's cut,
    shift and side of missing values go to `stump`.
    """
    sort_by_value(room, m1, size)
    all_pos, all_neg = _histogram(room, m1, size)
    n, best, level = 0, 0.0, room.value
    if precision is not None:
        best = float(hits_at(room.hist[0], room.hist[1], size, prices[4]))
    if ks is not None:
        n, level = _rank(room, all_pos, all_neg, size, prices), room.level
        windows(room.values, n, D, room.ends, room.reach)
        for r in range(n):
            best = max(best, room.total[0, r])
    if reject is not None:
        n, level = _rank(room, all_pos, all_neg, size, prices), room.level
        best = -two_thresholds(room.total[1], room.total[2], n)
    chosen = -1
    for i in range(n_features):
        f = features[i]
        better = _search_feature(
            auc, ks, precision, reject, level, codes[f], n_bins[f], m1, size, n, D, prices, room, best
        )
        if better > best:
            best, chosen = better, f
            _middle_of_gap(room.starts, n_bins[f], room.found)
            for part in range(3):
                stump[part] = room.found[part]
    return chosen


@njit(cache=True, nogil=True)
def search_by_bisection(
    auc, ks, precision, reject, codes, n_bins, features, n_features, m1, size, D, prices, room, stump
):
    """The same by the poster's bisection."""
    _histogram(room, m1, size)
    best = -loss_of(auc, ks, precision, reject, room.hist[0], room.hist[1], size, prices)
    chosen = -1
    for i in range(n_features):
        f = features[i]
        n_cuts = n_bins[f] - 1
        for q in range(len(room.ids)):
            room.own[q] = codes[f, room.ids[q]]
            if room.own[q] == n_bins[f]:
                n_cuts = n_bins[f]
        better = bisection(
            auc, ks, precision, reject, room.value, room.unit, room.own, m1, n_cuts, D, prices, best, room.found
        )
        if better > best:
            best, chosen = better, f
            for part in range(3):
                stump[part] = room.found[part]
    return chosen


@njit(cache=True, nogil=True)
def margin_of(theta, low, high, D):
    """The margin in units of the score: a share of its range, and at least one unit unless it is 0."""
    if theta == 0.0:
        return 0
    # Rounded half to even, as everywhere else.
    return max(1, int(np.rint(theta * max(high - low, D))))


@njit(cache=True, nogil=True)
def _shift_by_code(stump, n_bins, shift):
    """What a stump adds, by code: looked up, it costs no branch that nobody can foresee."""
    cut, d, missing_left = stump[0], stump[1], stump[2] == 1
    for code in range(n_bins):
        shift[code] = d if code > cut else 0
    shift[n_bins] = 0 if missing_left else d


@njit(cache=True, nogil=True)
def _count_shifted(score, codes, shift, rows, weights, base, out):
    """Histogram of the shifted scores of some cases."""
    out[:] = 0.0
    for position in range(len(rows)):
        i = rows[position]
        out[score[i] + shift[codes[i]] - base] += weights[i]


@njit(cache=True, nogil=True)
def full_loss(
    auc, ks, precision, reject, score, codes, stump, n_bins, bag, split, weights, low, high, theta, D, prices, full,
    shift, ends,
):  # fmt: skip
    """Loss of all cases of the bag, `split` positives first, with one more stump; writes the range of their scores."""
    length = full.shape[1]
    pad = (length - (high - low) - 2 * D - 2) // 2
    base = low - D - pad
    _shift_by_code(stump, n_bins, shift)
    _count_shifted(score, codes, shift, bag[:split], weights, base, full[0])
    _count_shifted(score, codes, shift, bag[split:], weights, base, full[1])
    first, last = 0, length - 1
    while full[0, first] == 0.0 and full[1, first] == 0.0:
        first += 1
    while full[0, last] == 0.0 and full[1, last] == 0.0:
        last -= 1
    ends[0], ends[1] = first + base, last + base
    margin = margin_of(theta, first, last, D)
    # A positive at s is judged at s - margin.
    return loss_of(
        auc, ks, precision, reject, full[0, first:], full[1, first - margin :], last - first + margin + 1, prices
    )


@njit(cache=True, nogil=True)
def start_round(score, pos_rows, neg_rows, m1, unit_all, base, margin, room):
    """Put the cases drawn, their judged scores and weights into the room."""
    for q in range(len(room.ids)):
        i = pos_rows[q] if q < m1 else neg_rows[q - m1]
        room.ids[q], room.unit[q] = i, unit_all[i]
        room.value[q] = score[i] - base - (margin if q < m1 else 0)


@njit(cache=True, nogil=True)
def apply_shift(score, codes, shift):
    """Shift all cases as a stump says."""
    for i in range(len(score)):
        score[i] += shift[codes[i]]


@njit(cache=True, nogil=True)
def run(
    auc, ks, precision, reject, bisect, codes, n_bins, bag, pos_rows, neg_rows, m1, features, n_features,
    weights, unit_all, score, D, theta, prices, sub_prices, patience, states, room, ends, stump, stumps, trace,
):  # fmt: skip
    """One run of boosting; the stumps taken go to `stumps` (feature, cut, shift, missing left), their number returned.

    auc, ks, precision, reject and bisect are flags: True or None. `score` starts with the initial scores and ends with
    the final ones; `ends` holds their range on the bag; `trace` receives the loss on the bag by round. One stream of
    random numbers is for the cases and one for the features: more cases do not mean other features.
    """
    low, high, split = ends[0], ends[1], len(pos_rows)
    loss = full_loss(
        auc, ks, precision, reject, score, codes[0], stump, n_bins[0], bag, split, weights, low, high, theta, D, prices,
        room.full, room.shift, ends,
    )  # fmt: skip
    trace[0] = loss
    taken, idle = 0, 0
    for t in range(len(stumps)):
        trace[t + 1] = loss
        if patience > 0 and idle >= patience:
            continue
        idle += 1
        draw(states[0], pos_rows, m1)
        draw(states[0], neg_rows, len(room.ids) - m1)
        draw(states[1], features, n_features)
        margin = margin_of(theta, low, high, D)
        size = high - low + margin + 2 * WINDOW + 2
        start_round(score, pos_rows, neg_rows, m1, unit_all, low - margin - WINDOW, margin, room)
        if bisect is not None:
            chosen = search_by_bisection(
                auc, ks, precision, reject, codes, n_bins, features, n_features, m1, size, D, sub_prices, room, stump
            )
        else:
            chosen = search_all(
                auc, ks, precision, reject, codes, n_bins, features, n_features, m1, size, D, sub_prices, room, stump
            )
        if chosen < 0 or stump[1] == 0:
            continue
        new = full_loss(
            auc, ks, precision, reject, score, codes[chosen], stump, n_bins[chosen], bag, split, weights, low, high,
            theta, D, prices, room.full, room.shift, ends,
        )  # fmt: skip
        if new > loss:
            continue
        if new < loss:
            idle = 0
        loss = new
        trace[t + 1] = loss
        low, high = ends[0], ends[1]
        apply_shift(score, codes[chosen], room.shift)
        stumps[taken, 0], stumps[taken, 1], stumps[taken, 2], stumps[taken, 3] = chosen, stump[0], stump[1], stump[2]
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
