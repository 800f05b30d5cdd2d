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

The first fit waits for the compiler. What that takes grows with the number of functions and of arrays handed from one
to the next, and code is compiled once more in every function that calls it, however far above. Hence few functions,
not deep, given no array that they do not need; scalars and no arrays are returned; and ``a if a > b else b`` where
`max` would be a function of its own. At most three names are assigned at once: of four Python makes a tuple and takes
it apart again, each array in it with the counting of its uses. A long loop over the two classes goes to
``len(starts)``, not to 2: the compiler would write it out twice, and each copy once more in every function above.

In order: the arguments, drawing, losses of histograms, the subsample, the sweeps (AUC, precision at k, KS, reject
cost), choosing by objective, bisection, the search over features, and the run.
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
# Called in one place only: its body is put there before anything is compiled, so that it is not compiled by itself
# first, together with all that it calls. For small functions this takes longer than it saves.
_once = njit(
    cache=True, nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, inline="always"
)
_NO_ENTRY = {"no_cfunc_wrapper": True}  # and none for Python, as by default
BEYOND = 2**60  # stands before the first and after the last of the distinct scores: farther than any shift leads

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
    low: int  # range of the initial scores in the bag
    high: int


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
    """The subsample of a round, `n_pos` positives first, either class in the order of its scores.

    `value` holds the judged scores as positions on an axis that is padded by `WINDOW` at either end, `level` these
    (AUC, precision at k) or ranks among the distinct scores (KS, reject cost), `code` the bins of one feature. `hist`
    holds the weights by class and position, `marks` a number for each position.
    """

    ids: Any
    value: Any
    unit: Any
    level: Any
    code: Any
    hist: Any
    marks: Any
    n_pos: int


class ByBin(NamedTuple):
    """The subsample sorted by the bin of one feature and, within a bin, by score: positives first.

    The positives of bin b stand from starts[0, b] to starts[0, b + 1], the negatives from starts[1, b] to
    starts[1, b + 1]; the bin after the last holds missing values.
    """

    starts: Any
    levels: Any
    units: Any


class Ranks(NamedTuple):
    """Distinct scores of the subsample, and sums by their rank, from 1: for the objectives that look at thresholds.

    Rank 0 stands before all scores. A case adds its weight times a rate of its class, for KS to the gap, for the reject
    cost to its two terms A and C. `total` holds running sums over all cases: up to the threshold above a rank.
    """

    values: Any
    reach: Any  # see `_thresholds_in_reach`; the last row is spare room
    rates: Any  # by sum and class
    total: Any
    left: Any
    right: Any
    bounds: Any


class Room(NamedTuple):
    """Memory of a run, used again in every round."""

    sample: DrawnCases
    by_bin: ByBin
    own: Any  # of the objective: counts by position, the last two rows those of `sample.hist`, or `Ranks`
    stump: Any  # the best so far: cut, shift, missing left
    shift: Any  # what it adds, by code
    full: Any  # histogram of all cases of the bag with it


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


def make_room(
    objective: Any, n_pos: int, n_neg: int, widest: int, margin: int, most_bins: int, units: Any, codes: Any
) -> Room:
    """Room for subsamples of n_pos + n_neg cases whose scores span at most `widest`."""
    m, axis = n_pos + n_neg, widest + margin + 2 * WINDOW + 4
    n_sums, n_ranks = COMPILED_OBJECTIVES[type(objective)].n_sums, min(m, axis) + 2
    whole, weight = np.int32, units.dtype
    counts = np.zeros((8, axis), weight)
    sample = DrawnCases(
        ids=np.zeros(m, whole),
        value=np.zeros(m, whole),
        unit=np.zeros(m, weight),
        level=np.zeros(m, whole),
        code=np.zeros(m, codes.dtype),
        hist=counts[6:],
        marks=np.zeros(axis, whole),
        n_pos=n_pos,
    )
    ranks = Ranks(
        values=np.zeros(n_ranks, np.int64),
        reach=np.zeros((3, n_ranks), np.int64),
        rates=np.zeros((n_sums, 2)),
        total=np.zeros((n_sums, n_ranks)),
        left=np.zeros((n_sums, n_ranks)),
        right=np.zeros((n_sums, n_ranks)),
        bounds=np.zeros(most_bins + 2),
    )
    return Room(
        sample=sample,
        by_bin=ByBin(np.zeros((2, most_bins + 3), np.int64), np.zeros(m, whole), np.zeros(m, weight)),
        own=ranks if n_sums else counts,
        stump=np.zeros(3, np.int64),
        shift=np.zeros(most_bins + 1, np.int64),
        full=np.zeros((2, widest + 2 * margin + 4)),
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
        j = i + np.int64(float(z >> _S11) * (1.0 / 9007199254740992.0) * (len(items) - i))
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
    fp, fn = objective.fp, objective.fn
    r_neg, r_pos = objective.reject_negative, objective.reject_positive
    a, c, least_a = 0.0, 0.0, 0.0
    best, all_pos, all_neg = 0.0, 0.0, 0.0
    for s in range(n):
        # The cost is a sum of a term A of t_N and a term C of t_P (see `objectives.best_thresholds`): with the least A
        # up to here at hand, one pass sees every pair of thresholds in order.
        a += (fn - r_pos) * pos[s] - r_neg * neg[s]
        c += r_pos * pos[s] - (fp - r_neg) * neg[s]
        least_a = a if a < least_a else least_a
        best = least_a + c if least_a + c < best else best
        all_pos += pos[s]
        all_neg += neg[s]
    return (fp * all_neg + best) / (all_pos + all_neg)


# ---------------------------------------------------------------------------------------------------------------------
# The subsample: its order by score and by bin, its histogram, the ranks of its scores
# ---------------------------------------------------------------------------------------------------------------------


@_inner
def _start_round(score, pos_rows, neg_rows, units, base, margin, sample, size):
    """Put the cases drawn into the sample, either class in the order of its scores; returns the weights of the classes.

    Judged scores become positions above `base`, all of them less than `size`. The sort by bin that follows for every
    feature keeps the order, so that each bin is sorted by score for free.
    """
    ids, value = sample.ids, sample.value
    unit, level = sample.unit, sample.level
    n_pos, hist, count = sample.n_pos, sample.hist, sample.marks
    all_pos, total = 0.0, 0.0
    for side in range(len(hist)):
        rows = pos_rows if side == 0 else neg_rows
        first, last = (0, n_pos) if side == 0 else (n_pos, len(ids))
        zero = base + margin if side == 0 else base
        for s in range(size):
            count[s] = 0
            hist[side, s] = 0
        count[size] = 0
        # A counting sort: count[v] becomes where the next case of score v goes.
        for q in range(first, last):
            v = score[rows[q - first]] - zero
            level[q] = v
            count[v + 1] += 1
        for s in range(size):
            count[s + 1] += count[s]
        all_pos, total = total, 0.0
        for q in range(first, last):
            i, v = rows[q - first], level[q]
            to = first + count[v]
            count[v] += 1
            ids[to], value[to], unit[to] = i, v, units[i]
        for q in range(first, last):
            v = value[q]
            level[q] = v  # a search that works on ranks puts these in its place
            hist[side, v] += unit[q]
            total += unit[q]
    return all_pos, total


@_inner
def _sort_by_bin(codes, f, n_cells, sample, by_bin):
    """Counting sort of the subsample by the bin of one feature; cases of a bin stay in their order."""
    ids, unit, level = sample.ids, sample.unit, sample.level
    code, n_pos = sample.code, sample.n_pos
    starts, levels, units = by_bin.starts, by_bin.levels, by_bin.units
    m = len(ids)
    # Gathered once: the cases are scattered over the whole column, and the codes are needed three times.
    for q in range(m):
        code[q] = codes[f, ids[q]]
    for side in range(len(starts)):
        first = 0 if side == 0 else n_pos
        last = n_pos if side == 0 else m
        at = starts[side]
        for b in range(n_cells + 2):
            at[b] = 0
        for q in range(first, last):
            at[code[q] + 2] += 1
        at[0] = at[1] = first
        for b in range(n_cells):
            at[b + 2] += at[b + 1]
        # at[b + 1] moves from the start of bin b to its end, which is the start of the next.
        for q in range(first, last):
            to = at[code[q] + 1]
            at[code[q] + 1] += 1
            levels[to], units[to] = level[q], unit[q]


@_inner
def _is_empty(starts, b):
    """Whether no case of the subsample is in bin b."""
    return starts[0, b] == starts[0, b + 1] and starts[1, b] == starts[1, b + 1]


# ---------------------------------------------------------------------------------------------------------------------
# The sweeps. Each tries the cuts of one feature with the shifts allowed, and returns the best value found, larger is
# better. Only what is better than `floor` counts, and is written to room.stump: cut (cases with code <= cut are left),
# shift, whether missing values go left.
#
# AUC: the whole grid of cuts and shifts
# ---------------------------------------------------------------------------------------------------------------------


@_entry
def auc_start(objective, sample, own, size, totals):
    """Without a stump no pair is won beyond those won."""
    return 0.0, 0


@_inner
def _cross(by_bin, b, side, counts, size):
    """Take the cases of one class in a bin across the cut: pairs with the other class end and others begin."""
    levels, units = by_bin.levels, by_bin.units
    starts, other = by_bin.starts, 1 - side
    gone, come = counts[4 + side], counts[5 - side]
    i, last = starts[side, b], starts[side, b + 1]
    while i < last:
        # Cases of the same score are neighbours and cross together: one pass over the window for all of them.
        v, w = levels[i], units[i]
        i += 1
        while i < last and levels[i] == v:
            w += units[i]
            i += 1
        at = v if side == 0 else size - 1 - v
        # Slices of a length the compiler knows: the loop becomes a few vector instructions.
        left, right = counts[other, at - WINDOW : at + WINDOW], counts[2 + other, at - WINDOW : at + WINDOW]
        for j in range(2 * WINDOW):
            gone[j] -= w * left[j]
            come[j] += w * right[j]
        counts[side, size - 1 - at] += w
        counts[2 + side, size - 1 - at] -= w


@_inner
def _best_shift(rl, lr, lowest, highest, floor, stump):
    """Best shift for the pairs of a cut, written to stump[1] when it wins more than `floor`; returns what it wins."""
    up, down = rl[0] * 0, rl[0] * 0  # zeros of the type of the counts: whole numbers stay whole
    best, first = floor, 0
    last, sign = 0, 0
    for j in range(highest if highest > -lowest else -lowest):
        up += rl[WINDOW + j] - lr[WINDOW - 1 - j]
        down += lr[WINDOW + j] - rl[WINDOW - 1 - j]
        if j < highest:
            if up > best:
                best, first = up, j + 1
                last, sign = j + 1, 1
            elif sign == 1 and up == best and last == j:
                last = j + 1
        if j < -lowest:
            if down > best:
                best, first = down, j + 1
                last, sign = j + 1, -1
            elif sign == -1 and down == best and last == j:
                last = j + 1
    if best > floor:
        stump[1] = sign * ((first + last + 1) // 2)  # the middle of the shifts that do as well
    return best


@_entry
def auc_sweep(objective, cuts, by_bin, own, stump, size, n, floor):
    """Pairs won by the best stump over all cuts and all shifts, beyond those won without it.

    rl[WINDOW + x] and lr[WINDOW + x] hold the pairs (positive right, negative left) and (positive left, negative right)
    whose negative stands x above its positive. A shift d > 0 wins the pairs 0 <= x < d of the first and loses
    -d <= x < 0 of the second; a shift to the left the other way round. A case that crosses the cut changes both by a
    contiguous slice of the counts of the other class.

    The counts by position: positives and negatives on the left, positives and negatives on the right, rl, lr, and the
    histogram. The first and third, of the positives, are mirrored, so that every slice runs forwards.
    """
    counts, starts = own, by_bin.starts
    rl, lr = counts[4], counts[5]
    for s in range(size):
        counts[0, s] = counts[1, s] = 0
        counts[2, size - 1 - s] = counts[6, s]
        counts[3, s] = counts[7, s]
    for j in range(2 * WINDOW):
        rl[j] = lr[j] = 0
    best = floor
    # Step -1 moves the missing values to the left before the first bin.
    for step in range(-1 if cuts.missing_left else 0, cuts.last):
        b = cuts.n_bins if step < 0 else step
        if _is_empty(starts, b):  # the same as the cut before
            continue
        # Positives first: a pair of two from this bin enters `lr` with its positive, and leaves it with its negative.
        for side in range(len(starts)):
            _cross(by_bin, b, side, counts, size)
        if step < cuts.first:  # missing values against all others: looked at with the missing values right
            continue
        here = _best_shift(rl, lr, cuts.lowest, cuts.highest, best, stump)
        if here > best:
            best = here
            stump[0], stump[2] = b, 1 if cuts.missing_left else 0
    return best


# ---------------------------------------------------------------------------------------------------------------------
# Precision at k: the whole grid of cuts and shifts
# ---------------------------------------------------------------------------------------------------------------------


@_entry
def precision_start(objective, sample, own, size, totals):
    """The hits without a stump."""
    return float(hits_at(sample.hist[0], sample.hist[1], size, objective.k)), 0


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
def precision_sweep(objective, cuts, by_bin, own, stump, size, n, floor):
    """Positives among the first k over all cuts and all shifts."""
    starts, levels = by_bin.starts, by_bin.levels
    units, k = by_bin.units, objective.k
    above, left, hist = own[:4], own[4:6], own[6:]
    for s in range(size + 1):
        left[0, s] = left[1, s] = 0
        above[0, s] = above[1, s] = above[2, s] = above[3, s] = 0
    best = floor
    for step in range(-1 if cuts.missing_left else 0, cuts.last):
        b = cuts.n_bins if step < 0 else step
        if _is_empty(starts, b):  # the same as the cut before
            continue
        for side in range(len(starts)):
            for i in range(starts[side, b], starts[side, b + 1]):
                left[side, levels[i]] += units[i]
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
                best, first = here, d
                final, found_here = d, True
            elif found_here and here == best and final == d - 1:
                final = d
        if found_here:  # the middle of the shifts that do as well
            stump[0], stump[1], stump[2] = b, (first + final) // 2, 1 if cuts.missing_left else 0
    return best


# ---------------------------------------------------------------------------------------------------------------------
# KS and reject cost: a bound for each cut first, then the cuts in the order of their bounds
# ---------------------------------------------------------------------------------------------------------------------


@_inner
def _rank_scores(sample, ranks, size):
    """Rank the scores of the subsample among the distinct ones, with running sums; returns how many those are."""
    hist, rank = sample.hist, sample.marks
    value, level = sample.value, sample.level
    values, rates, total = ranks.values, ranks.rates, ranks.total
    n = 0
    values[0] = -BEYOND
    for s in range(size):
        if hist[0, s] != 0 or hist[1, s] != 0:
            n += 1
            values[n] = s
            rank[s] = n
            for part in range(len(rates)):
                total[part, n] = total[part, n - 1] + (rates[part, 0] * hist[0, s] + rates[part, 1] * hist[1, s])
    values[n + 1] = BEYOND
    for q in range(len(value)):
        level[q] = rank[value[q]]
    return n


@_inner
def _add_bins(by_bin, first, last, rates, sums):
    """Add to the sums what the cases of the bins first <= b < last add, by rank."""
    starts, levels, units = by_bin.starts, by_bin.levels, by_bin.units
    for part in range(len(rates)):
        for side in range(len(starts)):
            rate = rates[part, side]
            # The bins stand side by side: one loop for all of them.
            for i in range(starts[side, first], starts[side, last]):
                sums[part, levels[i]] += rate * units[i]


@_inner
def _add_left(by_bin, cut, cuts, ranks, n):
    """What the cases left of a cut add, by rank."""
    rates, left = ranks.rates, ranks.left
    for part in range(len(rates)):
        for r in range(n + 1):
            left[part, r] = 0.0
    for turn in range(2 if cuts.missing_left else 1):
        first, last = (0, cut + 1) if turn == 0 else (cuts.n_bins, cuts.n_bins + 1)
        _add_bins(by_bin, first, last, rates, left)


@_inner
def _largest(bounds, last):
    """The first of the largest bounds."""
    cut = 0
    for b in range(1, last):
        if bounds[b] > bounds[cut]:
            cut = b
    return cut


@_inner
def _thresholds_in_reach(values, n, lowest, highest, reach):
    """Which thresholds of the right side go with each of the left side when lowest <= d <= highest.

    Threshold i stands from values[i] to values[i + 1] - 1: above i of the distinct scores. The pair (i, j) can be had
    with a shift from values[i] - values[j + 1] + 1 to values[i + 1] - 1 - values[j]; reach[0, i] .. reach[1, i] are the
    j for which one of them is allowed.
    """
    # Both ends of the reach only move up with i: one pass in all.
    low, high = 0, 0
    for i in range(n + 1):
        while low < n and values[low + 1] - 1 < values[i] - highest:
            low += 1
        while high < n and values[high + 1] <= values[i + 1] - 1 - lowest:
            high += 1
        reach[0, i], reach[1, i] = low, high


@_entry
def ks_start(objective, sample, own, size, totals):
    """The largest gap without a stump, and the number of ranks."""
    rates, total = own.rates, own.total
    # The gap times the weights of both classes, as in `ks_loss`.
    rates[0, 0], rates[0, 1] = -totals[1], totals[0]
    n = _rank_scores(sample, own, size)
    best = 0.0
    for r in range(1, n + 1):
        best = total[0, r] if total[0, r] > best else best
    return best, n


@_inner
def _ks_bounds(by_bin, ranks, n, cuts):
    """For each cut the best sum of two thresholds, one on either side, whatever the shift."""
    starts, total = by_bin.starts, ranks.total
    left, bounds = ranks.left, ranks.bounds
    for r in range(n + 1):
        left[0, r] = 0.0
    for step in range(-1 if cuts.missing_left else 0, cuts.last):
        b = cuts.n_bins if step < 0 else step
        bounds[b] = -1.0  # below every gap: never tried
        if _is_empty(starts, b):  # the same as the cut before
            continue
        _add_bins(by_bin, b, b + 1, ranks.rates, left)
        if step < cuts.first:
            continue
        g, best_left, best_right = 0.0, 0.0, 0.0
        for r in range(1, n + 1):
            g += left[0, r]
            best_left = g if g > best_left else best_left
            best_right = total[0, r] - g if total[0, r] - g > best_right else best_right
        bounds[b] = best_left + best_right


@_inner
def _best_pair(left, total, n, reach):
    """Largest left[i] + right[j] over the pairs within reach, and that pair: a sliding maximum.

    `left` and `total` hold running sums; right[j] is their difference. The queue holds the j that can still be best,
    their right[j] falling: a new one removes all that are not larger (they leave the reach before it does), so that
    every j enters and leaves once.
    """
    front, back, entered = 0, 0, 0
    best, best_i, best_j = -np.inf, 0, 0
    for i in range(n + 1):
        while entered <= reach[1, i]:
            right = total[0, entered] - left[0, entered]
            while back > front and total[0, reach[2, back - 1]] - left[0, reach[2, back - 1]] < right:
                back -= 1
            reach[2, back] = entered
            back += 1
            entered += 1
        while reach[2, front] < reach[0, i]:
            front += 1
        j = reach[2, front]
        here = left[0, i] + (total[0, j] - left[0, j])
        if here > best:
            best, best_i, best_j = here, i, j
    return best, best_i, best_j


@_entry
def ks_sweep(objective, cuts, by_bin, own, stump, size, n, floor):
    """Largest gap between the two distributions over all cuts and all shifts.

    The thresholds left and right of the cut can be chosen apart, since their difference is the shift. Cuts are looked
    at in the order of the bound that forgets D, and no longer once it is not above the best found.
    """
    ranks = own
    values, left = ranks.values, ranks.left
    bounds, reach = ranks.bounds, ranks.reach
    _thresholds_in_reach(values, n, cuts.lowest, cuts.highest, reach)
    _ks_bounds(by_bin, ranks, n, cuts)
    best = floor
    for _ in range(cuts.last):
        # Looking for the largest again is cheaper than sorting the bounds: few cuts are tried.
        cut = _largest(bounds, cuts.last)
        if not bounds[cut] > best:
            break
        bounds[cut] = -1.0
        _add_left(by_bin, cut, cuts, ranks, n)
        for r in range(1, n + 1):
            left[0, r] += left[0, r - 1]
        here, i, j = _best_pair(left, ranks.total, n, reach)
        if here > best:
            best = here
            # The middle of the shifts that make the two thresholds one.
            low, high = values[i] - values[j + 1] + 1, values[i + 1] - 1 - values[j]
            low, high = cuts.lowest if low < cuts.lowest else low, cuts.highest if high > cuts.highest else high
            stump[0], stump[1], stump[2] = cut, (low + high) // 2, 1 if cuts.missing_left else 0
    return best


@_entry
def reject_start(objective, sample, own, size, totals):
    """The negative of the least cost without a stump, and the number of ranks."""
    rates, total = own.rates, own.total
    # What a positive and a negative add to the two terms A and C of the cost, as in `reject_loss`.
    rates[0, 0], rates[1, 0] = objective.fn - objective.reject_positive, objective.reject_positive
    rates[0, 1], rates[1, 1] = -objective.reject_negative, objective.reject_negative - objective.fp
    n = _rank_scores(sample, own, size)
    least_a, best = 0.0, 0.0
    for r in range(1, n + 1):
        least_a = total[0, r] if total[0, r] < least_a else least_a
        best = least_a + total[1, r] if least_a + total[1, r] < best else best
    return -best, n


@_inner
def _cost_at_shift(values, left, right, n, d):
    """Least A + C when the right side is shifted by d; `left` and `right` hold the changes of A and C by rank.

    Both sides are in the order of their scores: they are merged as they are walked through. A side that is at its end
    is `BEYOND` the other.
    """
    a, c = 0.0, 0.0
    least_a, best = 0.0, 0.0
    i, j = 1, 1
    while i <= n or j <= n:
        of_left, of_right = values[i], values[j] + d
        if of_left <= of_right:
            a += left[0, i]
            c += left[1, i]
            i += 1
        if of_right <= of_left:
            a += right[0, j]
            c += right[1, j]
            j += 1
        # Only here, after all cases of equal score: no threshold goes between them.
        least_a = a if a < least_a else least_a
        best = least_a + c if least_a + c < best else best
    return best


@_inner
def _reject_bounds(by_bin, ranks, n, cuts):
    """For each cut the least cost when each side has two thresholds of its own, as its negative."""
    starts, total = by_bin.starts, ranks.total
    left, bounds = ranks.left, ranks.bounds
    for r in range(n + 1):
        left[0, r] = left[1, r] = 0.0
    for step in range(-1 if cuts.missing_left else 0, cuts.last):
        b = cuts.n_bins if step < 0 else step
        bounds[b] = -np.inf  # never tried
        if _is_empty(starts, b):  # the same as the cut before
            continue
        _add_bins(by_bin, b, b + 1, ranks.rates, left)
        if step < cuts.first:
            continue
        a, c, least_a = 0.0, 0.0, 0.0
        best_left, least_ra, best_right = 0.0, 0.0, 0.0
        for r in range(1, n + 1):
            a += left[0, r]
            c += left[1, r]
            least_a = a if a < least_a else least_a
            least_ra = total[0, r] - a if total[0, r] - a < least_ra else least_ra
            here, beyond = least_a + c, least_ra + total[1, r] - c
            best_left = here if here < best_left else best_left
            best_right = beyond if beyond < best_right else best_right
        bounds[b] = -(best_left + best_right)


@_entry
def reject_sweep(objective, cuts, by_bin, own, stump, size, n, floor):
    """Least cost over all cuts and all shifts, as its negative.

    Both thresholds move by the same shift, so the two sides do not come apart as they do for KS; but each side at its
    own two best thresholds is a bound, and only cuts whose bound is good enough are tried at every shift.
    """
    ranks = own
    values, total, bounds = ranks.values, ranks.total, ranks.bounds
    left, right = ranks.left, ranks.right
    _reject_bounds(by_bin, ranks, n, cuts)
    best = floor
    # Sums in another order differ in their last digits: a gain that small does not count.
    tol = 1e-12 * (abs(total[0, n]) + abs(total[1, n]) + best)
    for _ in range(cuts.last):
        cut = _largest(bounds, cuts.last)
        if not bounds[cut] > best + tol:
            break
        bounds[cut] = -np.inf
        _add_left(by_bin, cut, cuts, ranks, n)
        for part in range(2):
            # The right side is what is left of the total, which holds running sums: take their steps.
            for r in range(1, n + 1):
                right[part, r] = total[part, r] - total[part, r - 1] - left[part, r]
        first, final, found_here = 0, 0, False
        for d in range(cuts.lowest, cuts.highest + 1):
            if d == 0:
                continue
            here = -_cost_at_shift(values, left, right, n, d)
            if here > best + tol:
                best, first = here, d
                final, found_here = d, True
            elif found_here and here > best - tol and final == d - 1:
                final = d
        if found_here:  # the middle of the shifts that do as well
            stump[0], stump[1], stump[2] = cut, (first + final) // 2, 1 if cuts.missing_left else 0
    return best


# ---------------------------------------------------------------------------------------------------------------------
# Choosing by objective. A new objective is a class above, its three functions, and an entry here.
# ---------------------------------------------------------------------------------------------------------------------


class Compiled(NamedTuple):
    """The functions of an objective."""

    loss: Any  # of a histogram
    start: Any  # before the features are searched: value without a stump, number of ranks
    sweep: Any  # over the cuts and shifts of one feature
    n_sums: int = 0  # sums by rank that the sweep looks at; 0 where it counts by position


COMPILED_OBJECTIVES = {
    Auc: Compiled(auc_loss, auc_start, auc_sweep),
    Ks: Compiled(ks_loss, ks_start, ks_sweep, n_sums=1),
    PrecisionAtK: Compiled(precision_loss, precision_start, precision_sweep),
    RejectCost: Compiled(reject_loss, reject_start, reject_sweep, n_sums=2),
}


def loss_of(objective: Any, pos: Any, neg: Any, n: int) -> Any:
    """Loss of a histogram."""
    return COMPILED_OBJECTIVES[type(objective)].loss(objective, pos, neg, n)


def start_search(objective: Any, sample: DrawnCases, own: Any, size: int, totals: Any) -> Any:
    """Prepare the search of a subsample; `totals` are the weights of its classes."""
    return COMPILED_OBJECTIVES[type(objective)].start(objective, sample, own, size, totals)


def sweep(
    objective: Any, cuts: FeatureCuts, by_bin: ByBin, own: Any, stump: Any, size: int, n: int, floor: float
) -> Any:
    """Try the cuts and shifts of one feature; returns the best value, `floor` where none is better."""
    return COMPILED_OBJECTIVES[type(objective)].sweep(objective, cuts, by_bin, own, stump, size, n, floor)


# The three functions above are what runs without the compiler. In compiled code the choice is made here, while it is
# being compiled: the source of the function chosen (with the same names of arguments) takes the place of the call.
@overload(loss_of, jit_options=_NO_ENTRY)
def _loss_of(objective, pos, neg, n):
    return COMPILED_OBJECTIVES[objective.instance_class].loss.py_func


@overload(start_search, jit_options=_NO_ENTRY)
def _start_search(objective, sample, own, size, totals):
    return COMPILED_OBJECTIVES[objective.instance_class].start.py_func


@overload(sweep, jit_options=_NO_ENTRY)
def _sweep(objective, cuts, by_bin, own, stump, size, n, floor):
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


@_inner
def _bisect(objective, sample, codes, n_cuts, D, floor, stump):
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
        stump[0], stump[1], stump[2] = cut, d, 0
        return value_found
    return floor


# ---------------------------------------------------------------------------------------------------------------------
# The search over features
# ---------------------------------------------------------------------------------------------------------------------


@_once
def search_all(objective, table, features, D, room, size, totals):
    """Best stump of the features for a subsample; returns its feature, or -1 where none is better than none.

    The sample in `room` holds the cases, their judged scores on an axis of `size` positions, at least `WINDOW` from
    either end. The stump's cut, shift and side of missing values go to room.stump.
    """
    sample, by_bin = room.sample, room.by_bin
    own, stump = room.own, room.stump
    starts = by_bin.starts
    best, n = start_search(objective, sample, own, size, totals)
    chosen = -1
    for i in range(len(features)):
        f = features[i]
        n_bins, sign, before = table.n_bins[f], table.signs[f], best
        _sort_by_bin(table.codes, f, n_bins + 1, sample, by_bin)
        some_missing = not _is_empty(starts, n_bins)
        # A loop rather than several calls: the sweep is compiled into its caller, and once is enough.
        for turn in range((3 if sign != 0 else 2) if some_missing else 1):
            missing_left = turn == 1
            # With missing values on the right there is one more cut: they alone against all others.
            first, last = 0, n_bins if some_missing and not missing_left else n_bins - 1
            lowest, highest = 1 if sign > 0 else -D, -1 if sign < 0 else D
            if turn == 2:  # missing values have no place in the order: that cut may shift them against it, too
                first, lowest, highest = n_bins - 1, -highest, -lowest
            cuts = FeatureCuts(n_bins, first, last, missing_left, lowest, highest)
            best = sweep(objective, cuts, by_bin, own, stump, size, n, best)
        if best > before:
            chosen = f
            # Cuts between the same two cases of the subsample do equally well: take the one in the middle.
            after = stump[0] + 1
            while after < n_bins and _is_empty(starts, after):
                after += 1
            if after < n_bins:
                stump[0] = (stump[0] + after - 1) // 2
    return chosen


@_inner
def search_by_bisection(objective, table, features, D, room, size):
    """The same by the poster's bisection."""
    codes, n_bins, sample = table.codes, table.n_bins, room.sample
    ids, own, hist = sample.ids, sample.code, sample.hist
    best = -loss_of(objective, hist[0], hist[1], size)
    chosen = -1
    for i in range(len(features)):
        f = features[i]
        n_cuts = n_bins[f] - 1
        for q in range(len(ids)):
            own[q] = codes[f, ids[q]]
            if own[q] == n_bins[f]:  # a cut more, between the missing values and all others
                n_cuts = n_bins[f]
        better = _bisect(objective, sample, own, n_cuts, D, best, room.stump)
        if better > best:
            best, chosen = better, f
    return chosen


# ---------------------------------------------------------------------------------------------------------------------
# The run
# ---------------------------------------------------------------------------------------------------------------------


@_inner
def margin_of(theta, low, high, D):
    """The margin in units of the score: a share of its range, and at least one unit unless it is 0."""
    if theta == 0.0:
        return 0
    # Rounded half to even, as everywhere else.
    margin = np.int64(np.rint(theta * (high - low if high - low > D else D)))
    return margin if margin > 1 else 1


@_inner
def _loss_with_stump(objective, score, table, f, bag, plan, low, high, room):
    """Loss of all cases of the bag with the stump added, whose scores go from low to high, and their new range."""
    codes, n_bins = table.codes, table.n_bins[f]
    rows, weights = bag.rows, bag.weights
    D, stump = plan.longest, room.stump
    shift, full = room.shift, room.full
    # What the stump adds, by code: a lookup in place of a branch that the processor could not predict.
    for code in range(n_bins):
        shift[code] = stump[1] if code > stump[0] else 0
    shift[n_bins] = 0 if stump[2] == 1 else stump[1]
    length = full.shape[1]
    # Centred, so that there is room for the margin on either side.
    base = low - D - (length - (high - low) - 2 * D - 2) // 2
    for side in range(2):
        for s in range(length):
            full[side, s] = 0.0
        for position in range(0 if side == 0 else bag.n_pos, bag.n_pos if side == 0 else len(rows)):
            i = rows[position]
            full[side, score[i] + shift[codes[f, i]] - base] += weights[i]
    first, last = 0, length - 1
    while full[0, first] == 0.0 and full[1, first] == 0.0:
        first += 1
    while full[0, last] == 0.0 and full[1, last] == 0.0:
        last -= 1
    margin = margin_of(plan.theta, first, last, D)
    # A positive at s is judged at s - margin: the two histograms are read that far apart instead of moved.
    loss = loss_of(objective, full[0, first:], full[1, first - margin :], last - first + margin + 1)
    return loss, first + base, last + base


@_entry
def run(objectives, bisect, table, bag, plan, draws, room, outcome):
    """One run of boosting; returns how many stumps were taken.

    `objectives` are that of all cases of the bag and that of a subsample, whose k is smaller. `bisect` is True or None:
    the compiler drops the search that is not wanted. The score starts with the initial scores and ends with the final
    ones. One stream of random numbers is for the cases and one for the features: more cases do not mean other features.
    """
    objective, of_sample = objectives
    sample, stump, features = room.sample, room.stump, draws.features[: plan.n_features]
    score, stumps, trace = outcome.score, outcome.stumps, outcome.trace
    loss, low, high = np.inf, plan.low, plan.high
    chosen, taken, idle = 0, 0, 0
    # Turn -1 finds the loss before the first round, by a stump that adds nothing: one call of each function is compiled
    # where a second would be compiled once more.
    for t in range(-1, len(stumps)):
        trace[t + 1] = loss
        if t >= 0:
            if plan.patience > 0 and idle >= plan.patience:
                continue
            idle += 1
            draw(draws.states[0], draws.pos_rows, sample.n_pos)
            draw(draws.states[0], draws.neg_rows, len(sample.ids) - sample.n_pos)
            draw(draws.states[1], draws.features, plan.n_features)
            margin = margin_of(plan.theta, low, high, plan.longest)
            size = high - low + margin + 2 * WINDOW + 2
            base = low - margin - WINDOW
            totals = _start_round(score, draws.pos_rows, draws.neg_rows, bag.units, base, margin, sample, size)
            if bisect is not None:
                chosen = search_by_bisection(of_sample, table, features, plan.longest, room, size)
            else:
                chosen = search_all(of_sample, table, features, plan.longest, room, size, totals)
            if chosen < 0 or stump[1] == 0:
                continue
        # The search saw a part of the cases and kept the old margin: all of them decide, at the margin of their range.
        new, new_low, new_high = _loss_with_stump(objective, score, table, chosen, bag, plan, low, high, room)
        if new > loss:
            continue
        if new < loss:
            idle = 0
        loss, low, high = new, new_low, new_high
        trace[t + 1] = loss
        if t >= 0:
            for i in range(len(score)):
                score[i] += room.shift[table.codes[chosen, i]]
            stumps[taken, 0] = chosen
            for part in range(3):
                stumps[taken, part + 1] = stump[part]
            taken += 1
    return taken


def __getattr__(name: str) -> type:
    """Stand in for a class that this file had when code was compiled.

    The compiler reads the index of its cache, which names such classes, before it sees that the file has changed.
    """
    if not name[0].isupper():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return type(name, (), {})
