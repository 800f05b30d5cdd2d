"""Fast loops of ExactBoost: a whole run of boosting, and the search for the best stump of a feature.

Scores are whole numbers (multiples of a small unit), so that a histogram of them is exact. Cases come with the
positives first; a positive is judged at its score less the margin. A stump adds the shift d, |d| <= D, to the cases
right of a cut.

What is minimised is said by the class of `objective`: `Auc`, `Ks`, `PrecisionAtK` or `RejectCost`. Each has three
functions, found through `COMPILED_OBJECTIVES` at the end of the file: the loss of a histogram, what to prepare before
the features are searched, and the sweep over the cuts and shifts of one feature. The compiler makes the choice from the
class, so that a run contains the code of its own objective only, and no branch in a loop.

The compiler's cache notices a change in the file of the function that is called from outside, and in no other file.
So everything compiled is here, and so are the NamedTuples that are passed in: with classes from elsewhere the old
machine code would read the fields in their old order.

In order: the arguments, drawing, losses of histograms, the subsample, the sweeps (AUC, precision at k, KS, reject
cost), bisection, choosing by objective, the search over features, the run, and the complexity of stumps.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numba.extending import overload

WINDOW = 32  # the longest shift there can be; known to the compiler, so that loops over it are unrolled
# Called from Python: without the entry point for C, which takes long to compile. No divisor is 0: no tests for it.
_entry = njit(cache=True, nogil=True, error_model="numpy", no_cfunc_wrapper=True)
# Called from compiled code only: without the entry point for Python, too.
_inner = njit(cache=True, nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
BEYOND = 2**62  # stands after the last of the distinct scores: farther than any shift leads

# ---------------------------------------------------------------------------------------------------------------------
# Arguments
# ---------------------------------------------------------------------------------------------------------------------


class Auc(NamedTuple):
    """Minimise 1 - AUC."""


class Ks(NamedTuple):
    """Minimise 1 - KS."""


class PrecisionAtK(NamedTuple):
    """Minimise 1 - the share of positives among the k highest scores."""

    k: float


class RejectCost(NamedTuple):
    """Minimise the mean cost at the best two thresholds."""

    fp: float
    fn: float
    reject_negative: float
    reject_positive: float


class Features(NamedTuple):
    """Coded features: codes (p, n) feature-major, and the number of bins, whose code missing values have.

    `signs` holds 1 where a stump may shift up only, -1 where down only, 0 where both.
    """

    codes: Any
    n_bins: Any
    signs: Any


class Bag(NamedTuple):
    """The cases a run works on, `n_pos` positives first, and the weights of all cases.

    `units` holds the weights for counting: whole numbers where all are equal, so that counts stay exact.
    """

    rows: Any
    n_pos: int
    weights: Any
    units: Any


class RunPlan(NamedTuple):
    """How a run goes."""

    n_features: int  # drawn in each round
    longest: int  # D, the longest shift
    theta: float  # the margin, as a share of the range of the score
    patience: int  # rounds without improvement after which the run ends; 0 for never


class Draws(NamedTuple):
    """What is drawn from in each round, reordered in place, and the states of the two random streams."""

    pos_rows: Any
    neg_rows: Any
    features: Any
    states: Any


class RunOutcome(NamedTuple):
    """What a run writes: scores of all cases, stumps (feature, cut, shift, missing left), loss by round."""

    score: Any
    stumps: Any
    trace: Any


class DrawnCases(NamedTuple):
    """The subsample of a round, `n_pos` positives first.

    `value` holds the judged scores as positions on an axis that is padded by `WINDOW` at either end.
    """

    ids: Any
    value: Any
    unit: Any
    n_pos: int


class ByBin(NamedTuple):
    """The subsample sorted by the bin of one feature and, within a bin, by score; row 0 positives, row 1 negatives.

    The cases of bin b stand from starts[side, b] to starts[side, b + 1]; the bin after the last holds missing values.
    `levels` are positions on the axis of scores (AUC, precision at k) or ranks among the distinct scores (KS, reject
    cost).
    """

    codes: Any
    starts: Any
    levels: Any
    units: Any


class Ranks(NamedTuple):
    """Distinct scores of the subsample, and sums by their rank: for the objectives that look at thresholds.

    What a case adds at its score is its weight times the rate of its class: rates[0] to the gap of KS, rates[1] and
    rates[2] to the two terms A and C of the reject cost. `total` holds running sums over all cases.
    """

    of_position: Any  # rank of each position of the axis
    level: Any  # rank of each case
    values: Any
    spans: Any
    reach: Any
    queue: Any
    rates: Any
    total: Any
    left: Any
    right: Any
    bounds: Any


class CandidateStump(NamedTuple):
    """The stump that a round has found (cut, shift, missing left), and what it would make of the scores in the bag."""

    stump: Any
    shift: Any  # what it adds, by code
    full: Any  # histogram of all cases with it
    span: Any  # their lowest and highest score


class Room(NamedTuple):
    """Memory of a run, used again in every round."""

    hist: Any  # of the subsample, by position
    work: Any
    sample: DrawnCases
    unsorted: DrawnCases
    by_bin: ByBin
    ranks: Ranks
    found: Any  # the best stump so far of the feature being searched
    candidate: CandidateStump


class FeatureCuts(NamedTuple):
    """The cuts of a feature to be tried: after bin first, ..., last - 1, missing values on the side given.

    Shifts go from `lowest` to `highest`.
    """

    n_bins: int
    first: int
    last: int
    missing_left: bool
    lowest: int
    highest: int


def make_room(n_pos: int, n_neg: int, widest: int, margin: int, most_bins: int, units: Any, codes: Any) -> Room:
    """Room for subsamples of n_pos + n_neg cases whose scores span at most `widest`."""
    m, axis = n_pos + n_neg, widest + margin + 2 * WINDOW + 3
    n_ranks, largest_class = min(m, axis) + 2, max(n_pos, n_neg)
    whole, weight = np.int32, units.dtype
    return Room(
        hist=np.zeros((2, axis), weight),
        work=np.zeros((6, axis + 1), weight),
        sample=DrawnCases(np.zeros(m, whole), np.zeros(m, whole), np.zeros(m, weight), n_pos),
        unsorted=DrawnCases(np.zeros(m, whole), np.zeros(m, whole), np.zeros(m, weight), n_pos),
        by_bin=ByBin(
            codes=np.zeros(m, codes.dtype),
            starts=np.zeros((2, most_bins + 3), np.int64),
            levels=np.zeros((2, largest_class), whole),
            units=np.zeros((2, largest_class), weight),
        ),
        ranks=Ranks(
            of_position=np.zeros(axis + 1, whole),
            level=np.zeros(m, whole),
            values=np.zeros(n_ranks, np.int64),
            spans=np.zeros((2, n_ranks), np.int64),
            reach=np.zeros((3, n_ranks), np.int64),
            queue=np.zeros(n_ranks, np.int64),
            rates=np.zeros((3, 2)),
            total=np.zeros((3, n_ranks)),
            left=np.zeros((3, n_ranks)),
            right=np.zeros((3, n_ranks)),
            bounds=np.zeros(most_bins + 2),
        ),
        found=np.zeros(3, np.int64),
        candidate=CandidateStump(
            stump=np.zeros(3, np.int64),
            shift=np.zeros(most_bins + 1, np.int64),
            full=np.zeros((2, widest + 2 * margin + 4)),
            span=np.zeros(2, np.int64),
        ),
    )


# ---------------------------------------------------------------------------------------------------------------------
# Drawing
# ---------------------------------------------------------------------------------------------------------------------

_STEP, _MIX1, _MIX2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S11, _S27, _S30, _S31 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31)


@_entry
def draw(state, items, n):
    """Bring n of the items, drawn without replacement, to the front; all of them stay as they are.

    Random numbers by splitmix64: the same on every machine and for every number of threads.
    """
    if n == len(items):
        return
    # The first n steps of a Fisher-Yates shuffle. Items are not put back in order: a random order of them is as good.
    for i in range(n):
        state[0] += _STEP
        z = state[0]
        z = (z ^ (z >> _S30)) * _MIX1
        z = (z ^ (z >> _S27)) * _MIX2
        z ^= z >> _S31
        # 53 bits, as many as a float holds, divided by 2^53: a number in [0, 1).
        j = i + int(float(z >> _S11) * (1.0 / 9007199254740992.0) * (len(items) - i))
        items[i], items[j] = items[j], items[i]


# ---------------------------------------------------------------------------------------------------------------------
# Losses of a histogram: the same as those of `objectives`, one pass each. pos and neg hold the weight of each class at
# each of n scores, in the order of the scores.
# ---------------------------------------------------------------------------------------------------------------------


@_entry
def auc_loss(objective, pos, neg, n):
    """1 - AUC; a tie is a loss."""
    wins, below, total = 0.0, 0.0, 0.0
    for s in range(n):
        wins += pos[s] * below  # before the negatives at s are added: those are ties
        below += neg[s]
        total += pos[s]
    return 1.0 - wins / (total * below)


@_entry
def ks_loss(objective, pos, neg, n):
    """1 - KS."""
    all_pos, all_neg = 0.0, 0.0
    for s in range(n):
        all_pos += pos[s]
        all_neg += neg[s]
    # The gap times all_pos * all_neg: exact while the weights are whole numbers, with one division at the end.
    g, best = 0.0, 0.0
    for s in range(n):
        g += neg[s] * all_pos - pos[s] * all_neg
        if g > best:
            best = g
    return 1.0 - best / (all_pos * all_neg)


@_entry
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


@_entry
def precision_loss(objective, pos, neg, n):
    """1 - precision at k."""
    return 1.0 - hits_at(pos, neg, n, objective.k) / objective.k


@_entry
def reject_loss(objective, pos, neg, n):
    """Least mean cost over two thresholds t_N <= t_P of the score."""
    fp, fn, r_neg, r_pos = objective.fp, objective.fn, objective.reject_negative, objective.reject_positive
    a, c, least_a, best, all_pos, all_neg = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for s in range(n):
        # The cost is a sum of a term A of t_N and a term C of t_P (see `objectives.best_thresholds`): with the least A
        # up to here at hand, one pass sees every pair of thresholds in order.
        a += (fn - r_pos) * pos[s] - r_neg * neg[s]
        c += r_pos * pos[s] - (fp - r_neg) * neg[s]
        least_a = min(least_a, a)
        best = min(best, least_a + c)
        all_pos += pos[s]
        all_neg += neg[s]
    return (fp * all_neg + best) / (all_pos + all_neg)


# ---------------------------------------------------------------------------------------------------------------------
# The subsample: its histogram, its order by score and by bin, the ranks of its scores
# ---------------------------------------------------------------------------------------------------------------------


@_inner
def _start_round(score, draws, units, base, margin, sample):
    """Put the cases drawn, their judged scores as positions above `base`, and their weights into the sample."""
    pos_rows, neg_rows = draws.pos_rows, draws.neg_rows
    ids, value, unit, n_pos = sample.ids, sample.value, sample.unit, sample.n_pos
    for q in range(len(ids)):
        i = pos_rows[q] if q < n_pos else neg_rows[q - n_pos]
        ids[q], unit[q] = i, units[i]
        value[q] = score[i] - base - (margin if q < n_pos else 0)


@_inner
def _histogram(sample, hist, size):
    """Count the subsample by score; returns the weight of either class."""
    value, unit = sample.value, sample.unit
    for s in range(size):
        hist[0, s] = 0
        hist[1, s] = 0
    all_pos, all_neg = 0.0, 0.0
    for q in range(sample.n_pos):
        hist[0, value[q]] += unit[q]
        all_pos += unit[q]
    for q in range(sample.n_pos, len(value)):
        hist[1, value[q]] += unit[q]
        all_neg += unit[q]
    return all_pos, all_neg


@_inner
def _sort_by_value(sample, unsorted, count, size):
    """Counting sort of the subsample by score, positives and negatives apart, so that equal ones are neighbours.

    The sort by bin that follows for every feature keeps this order, so that each bin is sorted by score for free.
    """
    ids, value, unit, n_pos = sample.ids, sample.value, sample.unit, sample.n_pos
    old_ids, old_value, old_unit = unsorted.ids, unsorted.value, unsorted.unit
    m = len(ids)
    for q in range(m):
        old_ids[q], old_value[q], old_unit[q] = ids[q], value[q], unit[q]
    for side in range(2):
        first, last = (0, n_pos) if side == 0 else (n_pos, m)
        for s in range(size + 1):
            count[s] = 0
        for q in range(first, last):
            count[old_value[q] + 1] += 1
        for s in range(size):
            count[s + 1] += count[s]
        # count[v] is now where the next case of score v goes.
        for q in range(first, last):
            v = old_value[q]
            to = first + count[v]
            count[v] += 1
            ids[to], value[to], unit[to] = old_ids[q], v, old_unit[q]


@_inner
def _sort_by_bin(codes, level, n_cells, sample, by_bin):
    """Counting sort of the subsample by the bin of one feature; cases of a bin stay in their order."""
    ids, unit, own, n_pos = sample.ids, sample.unit, by_bin.codes, sample.n_pos
    m = len(ids)
    # Gathered once: the cases are scattered over the whole column, and the codes are needed three times.
    for q in range(m):
        own[q] = codes[ids[q]]
    for side in range(2):
        first, last = (0, n_pos) if side == 0 else (n_pos, m)
        at, levels, units = by_bin.starts[side], by_bin.levels[side], by_bin.units[side]
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


@_inner
def _rank_scores(hist, size, value, values, of_position, level):
    """Rank the scores of the subsample among the distinct ones; returns how many those are."""
    n = 0
    for s in range(size):
        if hist[0, s] != 0 or hist[1, s] != 0:
            values[n] = s
            of_position[s] = n
            n += 1
    values[n] = BEYOND
    for q in range(len(value)):
        level[q] = of_position[value[q]]
    return n


@_inner
def _running_total(hist, values, n, rates, total):
    """Running sum of what all cases add, by rank."""
    before = 0.0
    for r in range(n):
        before += rates[0] * hist[0, values[r]] + rates[1] * hist[1, values[r]]
        total[r] = before


@_inner
def _is_empty(starts, b):
    """Whether no case of the subsample is in bin b."""
    return starts[0, b] == starts[0, b + 1] and starts[1, b] == starts[1, b + 1]


# ---------------------------------------------------------------------------------------------------------------------
# The sweeps. Each tries the cuts of one feature with the shifts allowed, and returns the best value found, larger is
# better. Only what is better than `floor` counts, and is written to room.found: cut (cases with code <= cut are left),
# shift, whether missing values go left.
#
# AUC: the whole grid of cuts and shifts
# ---------------------------------------------------------------------------------------------------------------------


@_entry
def auc_start(objective, room, size, totals, D):
    """Without a stump no pair is won beyond those won; the sweep works on positions of the axis, not on ranks."""
    return 0.0, 0, room.sample.value


@_inner
def _next_level(levels, units, i, last):
    """Where the cases after i of the same score end, and the weight of all of them.

    They are neighbours and cross the cut together: one pass over the window for all of them.
    """
    v, w = levels[i], units[i]
    i += 1
    while i < last and levels[i] == v:
        w += units[i]
        i += 1
    return i, w


@_inner
def _cross(v, w, left, right, gone, come):
    """Pairs that end, and pairs that begin, when cases of weight w at score v cross the cut."""
    # Slices of a length the compiler knows: the loop becomes a few vector instructions.
    a, b = left[v - WINDOW : v + WINDOW], right[v - WINDOW : v + WINDOW]
    for j in range(2 * WINDOW):
        gone[j] -= w * a[j]
        come[j] += w * b[j]


@_inner
def _best_shift(rl, lr, lowest, highest, floor, found):
    """Best shift for the pairs of a cut, written to found[1] when it wins more than `floor`; returns what it wins."""
    up, down = rl[0] * 0, rl[0] * 0  # zeros of the type of the counts: whole numbers stay whole
    best, first, last, sign = floor, 0, 0, 0
    for j in range(max(highest, -lowest)):
        up += rl[WINDOW + j] - lr[WINDOW - 1 - j]
        down += lr[WINDOW + j] - rl[WINDOW - 1 - j]
        if j < highest:
            if up > best:
                best, first, last, sign = up, j + 1, j + 1, 1
            elif sign == 1 and up == best and last == j:
                last = j + 1
        if j < -lowest:
            if down > best:
                best, first, last, sign = down, j + 1, j + 1, -1
            elif sign == -1 and down == best and last == j:
                last = j + 1
    if best > floor:
        found[1] = sign * ((first + last + 1) // 2)  # the middle of the shifts that do as well
    return best


@_entry
def auc_sweep(objective, cuts, room, size, n, floor):
    """Pairs won by the best stump over all cuts and all shifts, beyond those won without it.

    rl[WINDOW + x] and lr[WINDOW + x] hold the pairs (positive right, negative left) and (positive left, negative right)
    whose negative stands x above its positive. A shift d > 0 wins the pairs 0 <= x < d of the first and loses
    -d <= x < 0 of the second; a shift to the left the other way round. A case that crosses the cut changes both by a
    contiguous slice of the counts of the other class.
    """
    starts, levels, units = room.by_bin.starts, room.by_bin.levels, room.by_bin.units
    pos_levels, neg_levels, pos_units, neg_units = levels[0], levels[1], units[0], units[1]
    hist, work, found = room.hist, room.work, room.found
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
    # Step -1 moves the missing values to the left before the first bin.
    for step in range(-1 if cuts.missing_left else 0, cuts.last):
        b = cuts.n_bins if step < 0 else step
        p0, p1, n0, n1 = starts[0, b], starts[0, b + 1], starts[1, b], starts[1, b + 1]
        if p0 == p1 and n0 == n1:
            continue
        i = p0
        while i < p1:
            v = pos_levels[i]
            i, w = _next_level(pos_levels, pos_units, i, p1)
            _cross(v, w, left_neg, right_neg, rl, lr)
            left_pos[size - 1 - v] += w
            right_pos[size - 1 - v] -= w
        # The positives of the bin are left by now: a pair of two from this bin entered `lr`, and leaves it here.
        i = n0
        while i < n1:
            v = neg_levels[i]
            i, w = _next_level(neg_levels, neg_units, i, n1)
            _cross(size - 1 - v, w, left_pos, right_pos, lr, rl)
            left_neg[v] += w
            right_neg[v] -= w
        if step < cuts.first:  # missing values against all others: looked at with the missing values right
            continue
        here = _best_shift(rl, lr, cuts.lowest, cuts.highest, best, found)
        if here > best:
            best = here
            found[0], found[2] = b, 1 if cuts.missing_left else 0
    return best


# ---------------------------------------------------------------------------------------------------------------------
# Precision at k: the whole grid of cuts and shifts
# ---------------------------------------------------------------------------------------------------------------------


@_entry
def precision_start(objective, room, size, totals, D):
    """The hits without a stump; the sweep works on positions of the axis."""
    return float(hits_at(room.hist[0], room.hist[1], size, objective.k)), 0, room.sample.value


@_inner
def _hits_at_shift(above, d, size, k):
    """Positives among the first k when the right side is shifted by d; a shared k-th score counts the least.

    above[0] and above[1] hold the left positives and the left cases at or above each score, above[2] and above[3] those
    of the right.
    """
    # The largest t with k cases at or above it, by bisection: the counts fall with t.
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


@_entry
def precision_sweep(objective, cuts, room, size, n, floor):
    """Positives among the first k over all cuts and all shifts."""
    starts, levels, units = room.by_bin.starts, room.by_bin.levels, room.by_bin.units
    hist, work, found, k = room.hist, room.work, room.found, objective.k
    left, above = work[4:], work[:4]
    for s in range(size + 1):
        left[0, s] = left[1, s] = 0
        above[0, s] = above[1, s] = above[2, s] = above[3, s] = 0
    best = floor
    for step in range(-1 if cuts.missing_left else 0, cuts.last):
        b = cuts.n_bins if step < 0 else step
        if _is_empty(starts, b):  # the same as the cut before
            continue
        for side in range(2):
            for i in range(starts[side, b], starts[side, b + 1]):
                left[side, levels[side, i]] += units[side, i]
        if step < cuts.first:
            continue
        # Counts from the top, once for a cut: after that every shift is a bisection.
        for s in range(size - 1, -1, -1):
            pos, both = left[0, s], left[0, s] + left[1, s]
            above[0, s] = above[0, s + 1] + pos
            above[1, s] = above[1, s + 1] + both
            above[2, s] = above[2, s + 1] + hist[0, s] - pos
            above[3, s] = above[3, s + 1] + hist[0, s] + hist[1, s] - both
        first, final, found_here = 0, 0, False
        for d in range(cuts.lowest, cuts.highest + 1):
            here = _hits_at_shift(above, d, size, k) if d != 0 else floor
            if here > best:
                best, first, final, found_here = here, d, d, True
            elif found_here and here == best and final == d - 1:
                final = d
        if found_here:  # the middle of the shifts that do as well
            found[0], found[1], found[2] = b, (first + final) // 2, 1 if cuts.missing_left else 0
    return best


# ---------------------------------------------------------------------------------------------------------------------
# KS and reject cost: a bound for each cut first, then the cuts in the order of their bounds
# ---------------------------------------------------------------------------------------------------------------------


@_inner
def _add_bin(by_bin, b, rates, out):
    """Add what the cases of a bin add."""
    starts, levels, units = by_bin.starts, by_bin.levels, by_bin.units
    for side in range(2):
        rate = rates[side]
        for i in range(starts[side, b], starts[side, b + 1]):
            out[levels[side, i]] += rate * units[side, i]


@_inner
def _add_left(by_bin, cut, cuts, rates, out, n):
    """What the cases left of a cut add, by rank."""
    starts, levels, units = by_bin.starts, by_bin.levels, by_bin.units
    for r in range(n):
        out[r] = 0.0
    for side in range(2):
        rate = rates[side]
        # The bins up to the cut stand side by side: one loop for all of them.
        for i in range(starts[side, cut + 1]):
            out[levels[side, i]] += rate * units[side, i]
    if cuts.missing_left:
        _add_bin(by_bin, cuts.n_bins, rates, out)


@_inner
def _largest(bounds, last):
    """The first of the largest bounds."""
    cut = 0
    for b in range(1, last):
        if bounds[b] > bounds[cut]:
            cut = b
    return cut


@_inner
def _thresholds_in_reach(values, n, lowest, highest, spans, reach):
    """Which thresholds of the right side go with each of the left side when lowest <= d <= highest.

    Threshold i stands from spans[0, i] to spans[1, i]: above i of the distinct scores. The pair (i, j) can be had with
    a shift between spans[0, i] - spans[1, j] and spans[1, i] - spans[0, j]; reach[0, i] .. reach[1, i] are the j for
    which one of them is allowed.
    """
    far = values[n - 1] + 2 * WINDOW + 2  # farther than any shift leads
    for i in range(n + 1):
        spans[0, i] = values[i - 1] if i > 0 else -far
        spans[1, i] = values[i] - 1 if i < n else 2 * far
    # Both ends of the reach only move up with i: one pass in all.
    low, high = 0, 0
    for i in range(n + 1):
        while low < n and spans[1, low] < spans[0, i] - highest:
            low += 1
        while high < n and spans[0, high + 1] <= spans[1, i] - lowest:
            high += 1
        reach[0, i], reach[1, i] = low, high


@_entry
def ks_start(objective, room, size, totals, D):
    """The largest gap without a stump, the number of ranks, and the rank of each case."""
    ranks = room.ranks
    rates, total = ranks.rates, ranks.total
    # The gap times the weights of both classes, as in `ks_loss`.
    rates[0, 0], rates[0, 1] = -totals[1], totals[0]
    n = _rank_scores(room.hist, size, room.sample.value, ranks.values, ranks.of_position, ranks.level)
    _running_total(room.hist, ranks.values, n, rates[0], total[0])
    best = 0.0
    for r in range(n):
        best = max(best, total[0, r])
    return best, n, ranks.level


@_inner
def _ks_bounds(by_bin, ranks, n, cuts):
    """For each cut the best sum of two thresholds, one on either side, whatever the shift."""
    starts, rates, total, left, bounds = by_bin.starts, ranks.rates[0], ranks.total[0], ranks.left[0], ranks.bounds
    for r in range(n):
        left[r] = 0.0
    if cuts.missing_left:
        _add_bin(by_bin, cuts.n_bins, rates, left)
    for b in range(cuts.last):
        bounds[b] = -1.0  # below every gap: never tried
        if _is_empty(starts, b):  # the same as the cut before
            continue
        _add_bin(by_bin, b, rates, left)
        if b < cuts.first:
            continue
        g, best_left, best_right = 0.0, 0.0, 0.0
        for r in range(n):
            g += left[r]
            best_left = max(best_left, g)
            best_right = max(best_right, total[r] - g)
        bounds[b] = best_left + best_right


@_inner
def _best_pair(left, total, n, reach, queue, pair):
    """Largest left[i] + right[j] over the pairs within reach: a sliding maximum.

    The queue holds the j that can still be best, their right[j] falling: a new one removes all that are not larger
    (they leave the reach before it does), so that every j enters and leaves once.
    """
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


@_inner
def _middle_shift(spans, i, j, lowest, highest):
    """The middle of the shifts that make thresholds i and j one."""
    low, high = max(spans[0, i] - spans[1, j], lowest), min(spans[1, i] - spans[0, j], highest)
    return (low + high) // 2


@_entry
def ks_sweep(objective, cuts, room, size, n, floor):
    """Largest gap between the two distributions over all cuts and all shifts.

    The thresholds left and right of the cut can be chosen apart, since their difference is the shift. Cuts are looked
    at in the order of the bound that forgets D, and no longer once it is not above the best found.
    """
    by_bin, ranks, found = room.by_bin, room.ranks, room.found
    rates, total, left, bounds = ranks.rates[0], ranks.total[0], ranks.left[0], ranks.bounds
    spans, reach, queue = ranks.spans, ranks.reach, ranks.queue
    _thresholds_in_reach(ranks.values, n, cuts.lowest, cuts.highest, spans, reach)
    _ks_bounds(by_bin, ranks, n, cuts)
    best = floor
    for _ in range(cuts.last):
        # Looking for the largest again is cheaper than sorting the bounds: few cuts are tried.
        cut = _largest(bounds, cuts.last)
        if not bounds[cut] > best:
            break
        bounds[cut] = -1.0
        _add_left(by_bin, cut, cuts, rates, left, n)
        for r in range(1, n):
            left[r] += left[r - 1]
        pair = reach[2]  # spare room
        here = _best_pair(left, total, n, reach, queue, pair)
        if here > best:
            best = here
            found[0], found[1] = cut, _middle_shift(spans, pair[0], pair[1], cuts.lowest, cuts.highest)
            found[2] = 1 if cuts.missing_left else 0
    return best


@_inner
def _two_thresholds(a_sum, c_sum, n):
    """Least A(t_N) + C(t_P), t_N <= t_P, of running sums."""
    least_a, best = 0.0, 0.0
    for r in range(n):
        least_a = min(least_a, a_sum[r])
        best = min(best, least_a + c_sum[r])
    return best


@_entry
def reject_start(objective, room, size, totals, D):
    """The negative of the least cost without a stump, the number of ranks, and the rank of each case."""
    ranks = room.ranks
    rates, total = ranks.rates, ranks.total
    # What a positive and a negative add to the two terms A and C of the cost, as in `reject_loss`.
    rates[1, 0], rates[2, 0] = objective.fn - objective.reject_positive, objective.reject_positive
    rates[1, 1], rates[2, 1] = -objective.reject_negative, objective.reject_negative - objective.fp
    n = _rank_scores(room.hist, size, room.sample.value, ranks.values, ranks.of_position, ranks.level)
    for part in range(1, 3):
        _running_total(room.hist, ranks.values, n, rates[part], total[part])
    return -_two_thresholds(total[1], total[2], n), n, ranks.level


@_inner
def _cost_at_shift(values, left, right, n, d):
    """Least A + C when the right side is shifted by d; `left` and `right` hold the changes of A and C by rank.

    Both sides are in the order of their scores: they are merged as they are walked through. A side that is at its end
    is `BEYOND` the other.
    """
    a, c, least_a, best = 0.0, 0.0, 0.0, 0.0
    i, j = 0, 0
    while i < n or j < n:
        of_left, of_right = values[i], values[j] + d
        if of_left <= of_right:
            a += left[1, i]
            c += left[2, i]
            i += 1
        if of_right <= of_left:
            a += right[1, j]
            c += right[2, j]
            j += 1
        # Only here, after all cases of equal score: no threshold goes between them.
        least_a = min(least_a, a)
        best = min(best, least_a + c)
    return best


@_inner
def _reject_bounds(by_bin, ranks, n, cuts):
    """For each cut the least cost when each side has two thresholds of its own, as its negative."""
    starts, rates, total, left, bounds = by_bin.starts, ranks.rates, ranks.total, ranks.left, ranks.bounds
    for r in range(n):
        left[1, r] = left[2, r] = 0.0
    if cuts.missing_left:
        for part in range(1, 3):
            _add_bin(by_bin, cuts.n_bins, rates[part], left[part])
    for b in range(cuts.last):
        bounds[b] = -np.inf  # never tried
        if _is_empty(starts, b):  # the same as the cut before
            continue
        _add_bin(by_bin, b, rates[1], left[1])
        _add_bin(by_bin, b, rates[2], left[2])
        if b < cuts.first:
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


@_entry
def reject_sweep(objective, cuts, room, size, n, floor):
    """Least cost over all cuts and all shifts, as its negative.

    Both thresholds move by the same shift, so the two sides do not come apart as they do for KS; but each side at its
    own two best thresholds is a bound, and only cuts whose bound is good enough are tried at every shift.
    """
    by_bin, ranks, found = room.by_bin, room.ranks, room.found
    values, rates, total, bounds = ranks.values, ranks.rates, ranks.total, ranks.bounds
    left, right = ranks.left, ranks.right
    _reject_bounds(by_bin, ranks, n, cuts)
    best = floor
    # Sums in another order differ in their last digits: a gain that small does not count.
    tol = 1e-12 * (abs(total[1, n - 1]) + abs(total[2, n - 1]) + best)
    for _ in range(cuts.last):
        cut = _largest(bounds, cuts.last)
        if not bounds[cut] > best + tol:
            break
        bounds[cut] = -np.inf
        for part in range(1, 3):
            _add_left(by_bin, cut, cuts, rates[part], left[part], n)
            # The right side is what is left of the total, which holds running sums: take their steps.
            before = 0.0
            for r in range(n):
                right[part, r] = total[part, r] - before - left[part, r]
                before = total[part, r]
        first, final, found_here = 0, 0, False
        for d in range(cuts.lowest, cuts.highest + 1):
            if d == 0:
                continue
            here = -_cost_at_shift(values, left, right, n, d)
            if here > best + tol:
                best, first, final, found_here = here, d, d, True
            elif found_here and here > best - tol and final == d - 1:
                final = d
        if found_here:  # the middle of the shifts that do as well
            found[0], found[1], found[2] = cut, (first + final) // 2, 1 if cuts.missing_left else 0
    return best


# ---------------------------------------------------------------------------------------------------------------------
# Choosing by objective. A new objective is a class above, its three functions, and an entry here.
# ---------------------------------------------------------------------------------------------------------------------


class Compiled(NamedTuple):
    """The functions of an objective."""

    loss: Any  # of a histogram
    start: Any  # before the features are searched: value without a stump, number of ranks, level of each case
    sweep: Any  # over the cuts and shifts of one feature


COMPILED_OBJECTIVES = {
    Auc: Compiled(auc_loss, auc_start, auc_sweep),
    Ks: Compiled(ks_loss, ks_start, ks_sweep),
    PrecisionAtK: Compiled(precision_loss, precision_start, precision_sweep),
    RejectCost: Compiled(reject_loss, reject_start, reject_sweep),
}


def loss_of(objective: Any, pos: Any, neg: Any, n: int) -> Any:
    """Loss of a histogram."""
    return COMPILED_OBJECTIVES[type(objective)].loss(objective, pos, neg, n)


def start_search(objective: Any, room: Room, size: int, totals: Any, D: int) -> Any:
    """Prepare the search of a subsample; `totals` are the weights of its classes."""
    return COMPILED_OBJECTIVES[type(objective)].start(objective, room, size, totals, D)


def sweep(objective: Any, cuts: FeatureCuts, room: Room, size: int, n: int, floor: float) -> Any:
    """Try the cuts and shifts of one feature; returns the best value, `floor` where none is better."""
    return COMPILED_OBJECTIVES[type(objective)].sweep(objective, cuts, room, size, n, floor)


# The three functions above are what runs without the compiler. In compiled code the choice is made here, while it is
# being compiled: the source of the function chosen (with the same names of arguments) takes the place of the call.
@overload(loss_of)
def _loss_of(objective, pos, neg, n):
    return COMPILED_OBJECTIVES[objective.instance_class].loss.py_func


@overload(start_search)
def _start_search(objective, room, size, totals, D):
    return COMPILED_OBJECTIVES[objective.instance_class].start.py_func


@overload(sweep)
def _sweep(objective, cuts, room, size, n, floor):
    return COMPILED_OBJECTIVES[objective.instance_class].sweep.py_func


# ---------------------------------------------------------------------------------------------------------------------
# The search that the poster prints: boxes of (cut, a, b), halved in all directions, the best kept
# ---------------------------------------------------------------------------------------------------------------------


@_inner
def _grouped_loss(objective, scores, sample, pos, neg):
    """Loss of scores in any order: sorted, then grouped by value."""
    unit, n_pos = sample.unit, sample.n_pos
    order = np.argsort(scores)
    n = 0
    for position in range(len(order)):
        q = order[position]
        if position == 0 or scores[q] != scores[order[position - 1]]:
            pos[n] = neg[n] = 0.0
            n += 1
        if q < n_pos:
            pos[n - 1] += unit[q]
        else:
            neg[n - 1] += unit[q]
    return loss_of(objective, pos, neg, n)


@_entry
def bisection(objective, sample, codes, n_cuts, D, floor, found):
    """Poster, algorithm 2, down to a single stump; the negative of its loss. Missing values stay right.

    The poster's stump adds a left and b right of the cut; only b - a changes the order of the scores.
    """
    value, n_pos = sample.value, sample.n_pos
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
        # Bit `axis` of `which` says which half of that axis; one that is a single point has no upper half.
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
                end = 1 if q < n_pos else 0  # positives at their best, negatives at their worst
                if codes[q] <= child[0, 0]:
                    add = child[1, end]
                elif codes[q] > child[0, 1]:
                    add = child[2, end]
                elif end == 1:  # on either side, depending on the cut
                    add = max(child[1, 1], child[2, 1])
                else:
                    add = min(child[1, 0], child[2, 0])
                scores[q] = value[q] + add
            loss = _grouped_loss(objective, scores, sample, pos, neg)
            if loss < least:
                least = loss
                best_child[:] = child
        box[:] = best_child
    cut, d = box[0, 0], box[2, 0] - box[1, 0]
    for q in range(m):
        scores[q] = value[q] + (d if codes[q] > cut else 0)
    value_found = -_grouped_loss(objective, scores, sample, pos, neg)
    if value_found > floor and d != 0:
        found[0], found[1], found[2] = cut, d, 0
        return value_found
    return floor


# ---------------------------------------------------------------------------------------------------------------------
# The search over features
# ---------------------------------------------------------------------------------------------------------------------


@_inner
def _search_feature(objective, n_bins, sign, D, room, size, n, best):
    """Search the feature by whose bins the cases are sorted; returns the better of `best` and what it found."""
    some_missing = not _is_empty(room.by_bin.starts, n_bins)
    # A loop rather than several calls: the sweep is compiled into its caller, and once is enough.
    for turn in range((3 if sign != 0 else 2) if some_missing else 1):
        missing_left = turn == 1
        # With missing values on the right there is one more cut: they alone against all others.
        first, last = 0, n_bins if some_missing and not missing_left else n_bins - 1
        lowest, highest = 1 if sign > 0 else -D, -1 if sign < 0 else D
        if turn == 2:  # missing values have no place in the order: that cut may shift them against it, too
            first, lowest, highest = n_bins - 1, -highest, -lowest
        cuts = FeatureCuts(n_bins, first, last, missing_left, lowest, highest)
        best = sweep(objective, cuts, room, size, n, best)
    return best


@_inner
def _middle_of_gap(starts, n_bins, found):
    """Cuts between the same two cases of the subsample do equally well: take the one in the middle."""
    if found[0] < n_bins - 1:
        after = found[0] + 1
        while after < n_bins and _is_empty(starts, after):
            after += 1
        if after < n_bins:
            found[0] = (found[0] + after - 1) // 2


@_inner
def _search_all(objective, table, features, D, room, size):
    """Best stump of the features for a subsample; returns its feature, or -1 where none is better than none.

    The sample in `room` holds the cases, positives first, and their judged scores on an axis of `size` positions, at
    least `WINDOW` from either end; it is put into the order of the scores. The stump's cut, shift and side of missing
    values go to room.candidate.
    """
    codes, n_bins, starts, found, stump = (
        table.codes,
        table.n_bins,
        room.by_bin.starts,
        room.found,
        room.candidate.stump,
    )
    _sort_by_value(room.sample, room.unsorted, room.ranks.of_position, size)
    totals = _histogram(room.sample, room.hist, size)
    best, n, level = start_search(objective, room, size, totals, D)
    chosen = -1
    for i in range(len(features)):
        f = features[i]
        _sort_by_bin(codes[f], level, n_bins[f] + 1, room.sample, room.by_bin)
        better = _search_feature(objective, n_bins[f], table.signs[f], D, room, size, n, best)
        if better > best:
            best, chosen = better, f
            _middle_of_gap(starts, n_bins[f], found)
            for part in range(3):
                stump[part] = found[part]
    return chosen


@_inner
def _search_by_bisection(objective, table, features, D, room, size):
    """The same by the poster's bisection."""
    codes, n_bins, found, stump = table.codes, table.n_bins, room.found, room.candidate.stump
    sample, own = room.sample, room.by_bin.codes
    ids = sample.ids
    _histogram(sample, room.hist, size)
    best = -loss_of(objective, room.hist[0], room.hist[1], size)
    chosen = -1
    for i in range(len(features)):
        f = features[i]
        n_cuts = n_bins[f] - 1
        for q in range(len(ids)):
            own[q] = codes[f, ids[q]]
            if own[q] == n_bins[f]:  # a cut more, between the missing values and all others
                n_cuts = n_bins[f]
        better = bisection(objective, sample, own, n_cuts, D, best, found)
        if better > best:
            best, chosen = better, f
            for part in range(3):
                stump[part] = found[part]
    return chosen


# ---------------------------------------------------------------------------------------------------------------------
# The run
# ---------------------------------------------------------------------------------------------------------------------


@_entry
def margin_of(theta, low, high, D):
    """The margin in units of the score: a share of its range, and at least one unit unless it is 0."""
    if theta == 0.0:
        return 0
    # Rounded half to even, as everywhere else.
    return max(1, int(np.rint(theta * max(high - low, D))))


@_inner
def _shift_by_code(stump, n_bins, shift):
    """What a stump adds, by code: a lookup in place of a branch that the processor could not predict."""
    cut, d, missing_left = stump[0], stump[1], stump[2] == 1
    for code in range(n_bins):
        shift[code] = d if code > cut else 0
    shift[n_bins] = 0 if missing_left else d


@_inner
def _count_shifted(score, codes, shift, rows, weights, base, out):
    """Histogram of the shifted scores of some cases."""
    out[:] = 0.0
    for position in range(len(rows)):
        i = rows[position]
        out[score[i] + shift[codes[i]] - base] += weights[i]


@_inner
def _loss_with_stump(objective, score, codes, n_bins, bag, plan, span_before, candidate):
    """Loss of all cases of the bag with the candidate added; writes the range of their scores to its span."""
    low, high = span_before
    D, full, shift, span = plan.longest, candidate.full, candidate.shift, candidate.span
    length = full.shape[1]
    # Centred, so that there is room for the margin on either side.
    pad = (length - (high - low) - 2 * D - 2) // 2
    base = low - D - pad
    _shift_by_code(candidate.stump, n_bins, shift)
    _count_shifted(score, codes, shift, bag.rows[: bag.n_pos], bag.weights, base, full[0])
    _count_shifted(score, codes, shift, bag.rows[bag.n_pos :], bag.weights, base, full[1])
    first, last = 0, length - 1
    while full[0, first] == 0.0 and full[1, first] == 0.0:
        first += 1
    while full[0, last] == 0.0 and full[1, last] == 0.0:
        last -= 1
    span[0], span[1] = first + base, last + base
    margin = margin_of(plan.theta, first, last, D)
    # A positive at s is judged at s - margin: the two histograms are read that far apart instead of moved.
    return loss_of(objective, full[0, first:], full[1, first - margin :], last - first + margin + 1)


@_inner
def _apply_shift(score, codes, shift):
    """Shift all cases as a stump says."""
    for i in range(len(score)):
        score[i] += shift[codes[i]]


@_entry
def run(objectives, bisect, table, bag, plan, draws, room, outcome):
    """One run of boosting; returns how many stumps were taken.

    `objectives` are that of all cases of the bag and that of a subsample, whose k is smaller. `bisect` is True or None:
    the compiler drops the search that is not wanted. The score starts with the initial scores and ends with the final
    ones; the span of room.candidate starts with their range on the bag. One stream of random numbers is for the cases
    and one for the features: more cases do not mean other features.
    """
    objective, of_sample = objectives
    codes, n_bins, n_features, D, theta = table.codes, table.n_bins, plan.n_features, plan.longest, plan.theta
    sample, candidate = room.sample, room.candidate
    stump, span = candidate.stump, candidate.span
    score, stumps, trace = outcome.score, outcome.stumps, outcome.trace
    low, high = span[0], span[1]
    stump[:] = 0  # a stump that adds nothing
    loss = _loss_with_stump(objective, score, codes[0], n_bins[0], bag, plan, (low, high), candidate)
    trace[0] = loss
    taken, idle = 0, 0
    for t in range(len(stumps)):
        trace[t + 1] = loss
        if plan.patience > 0 and idle >= plan.patience:
            continue
        idle += 1
        draw(draws.states[0], draws.pos_rows, sample.n_pos)
        draw(draws.states[0], draws.neg_rows, len(sample.ids) - sample.n_pos)
        draw(draws.states[1], draws.features, n_features)
        margin = margin_of(theta, low, high, D)
        size = high - low + margin + 2 * WINDOW + 2
        _start_round(score, draws, bag.units, low - margin - WINDOW, margin, sample)
        if bisect is not None:
            chosen = _search_by_bisection(of_sample, table, draws.features[:n_features], D, room, size)
        else:
            chosen = _search_all(of_sample, table, draws.features[:n_features], D, room, size)
        if chosen < 0 or stump[1] == 0:
            continue
        # The search saw a part of the cases and kept the old margin: all of them decide, at the margin of their range.
        new = _loss_with_stump(objective, score, codes[chosen], n_bins[chosen], bag, plan, (low, high), candidate)
        if new > loss:
            continue
        if new < loss:
            idle = 0
        loss = new
        trace[t + 1] = loss
        low, high = span[0], span[1]
        _apply_shift(score, codes[chosen], candidate.shift)
        stumps[taken, 0], stumps[taken, 1], stumps[taken, 2], stumps[taken, 3] = chosen, stump[0], stump[1], stump[2]
        taken += 1
    return taken


# ---------------------------------------------------------------------------------------------------------------------
# The complexity of stumps, for the generalization bound
# ---------------------------------------------------------------------------------------------------------------------


@_entry
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
            # Right less left of the known values; missing values go to the side that adds to it.
            best = max(best, abs(2.0 * left - known) + abs(sums[n]))
    return best


# Parts of a run on their own.


@_entry
def start_round(score, draws, units, base, margin, sample):
    """Put the cases drawn into the sample: see `_start_round`."""
    _start_round(score, draws, units, base, margin, sample)


@_entry
def search_all(objective, table, features, D, room, size):
    """Best stump of the features for a subsample: see `_search_all`."""
    return _search_all(objective, table, features, D, room, size)


@_entry
def search_by_bisection(objective, table, features, D, room, size):
    """The same by the search that the poster prints: see `_search_by_bisection`."""
    return _search_by_bisection(objective, table, features, D, room, size)


def __getattr__(name: str) -> type:
    """Stand in for a class that this file had when code was compiled.

    The compiler reads the index of its cache, which names such classes, before it sees that the file has changed.
    """
    if not name[0].isupper():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return type(name, (), {})
