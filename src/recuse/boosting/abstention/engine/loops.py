"""Compiled loops of boosting: histograms, the three-segment scan, the step, the update of the weights, trees.

Functions of arrays and scalars, compiled on first use, serial and free of the GIL; the caller runs them in threads
over features or rows. Rows come with the positives first, so that no inner loop looks at y. A loss appears here only
where its weights are updated (`grow_...`) and, for the logistic one, where the intercepts are (`shift_terms`).

The first fit waits for the compiler. Every array that is made, and every `min` or `max`, is a function more for it to
compile: arrays come from the caller, numbers stay single, and ``a if a < b else b`` stands for `min`.

Layouts: codes (p, m) feature-major; w (m, 2) holds w1 and w2; hist (2, cells, 2) holds for each cell the sums of
w1, w2 over its positives, then over its negatives; prefix (cells, 2) holds for cell k of a feature the sums over
its cells before k of G = sum y w1 and Q = sum (w1 - w2). Where both numbers are wanted at once they come as one
complex number: one load and one addition for both. A label l has the values (H_l, rho_l) of (h, r); raising the
weight of a stump changes the objective at the rate sum_l rho_l Q_l - H_l G_l.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload

_BLOCK = 2048  # rows whose weights stay in the first-level cache while all features are visited
_CAP = 30.0  # longest step
_E_MAX = 1e130  # e^300


# Called from Python: without the entry point for C, which takes long to compile. No divisor is 0: no tests for it.
_entry = njit(cache=True, nogil=True, error_model="numpy", no_cfunc_wrapper=True)
# Called from compiled code only: without the entry point for Python, too.
_inner = njit(cache=True, nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)


class Layout(NamedTuple):
    """Where the cells of each feature lie: see `Bins`."""

    offsets: np.ndarray
    n_bins: np.ndarray
    has_missing: np.ndarray


def _add_pair(table, cell, pair):
    table[cell] += pair


@intrinsic
def _add_both_parts(_, table, cell, pair):
    """`_add_pair` of complex numbers in one load, sum and store; left alone, numba makes two of each."""

    def build(context, builder, signature, args):
        two = ir.VectorType(ir.DoubleType(), 2)
        array = context.make_array(signature.args[0])(context, builder, args[0])
        at = context.cast(builder, args[1], signature.args[1], types.uintp)
        target = builder.bitcast(builder.gep(array.data, [at]), two.as_pointer())
        both = ir.Constant(two, ir.Undefined)
        for part in range(2):
            value = builder.extract_value(args[2], part)
            both = builder.insert_element(both, value, ir.Constant(ir.IntType(32), part))
        builder.store(builder.fadd(builder.load(target, align=8), both), target, align=8)
        return context.get_dummy_value()

    return types.void(table, cell, pair), build


@overload(_add_pair)
def _compiled_add_pair(table, cell, pair):
    return lambda table, cell, pair: _add_both_parts(table, cell, pair)


@_inner
def _sum_four(codes, w, sums):
    """Sum the weights of some rows by cell of four features at once: each weight is loaded only once."""
    one, two, three, four = codes
    to_one, to_two, to_three, to_four = sums
    for i in range(np.uint64(len(w))):  # unsigned: the compiler need not ask whether an index counts from the end
        pair = w[i]
        _add_pair(to_one, one[i], pair)
        _add_pair(to_two, two[i], pair)
        _add_pair(to_three, three[i], pair)
        _add_pair(to_four, four[i], pair)


@_inner
def _sum_two(one, two, w, to_one, to_two):
    """The same for two features."""
    for i in range(np.uint64(len(w))):
        pair = w[i]
        _add_pair(to_one, one[i], pair)
        _add_pair(to_two, two[i], pair)


@_inner
def _sum_one(one, w, to_one):
    """Sum the weights of some rows by cell of one feature."""
    for i in range(np.uint64(len(w))):
        _add_pair(to_one, one[i], w[i])


@_entry
def histograms(codes, w, n_pos, hist, offsets, first, last):
    """Sum the weights of the rows by cell, for the features first <= f < last; w and hist as complex numbers."""
    m = codes.shape[1]
    hist[:, offsets[first] : offsets[last]] = 0.0
    fours = first + (last - first) // 4 * 4  # features from here on are left over by groups of four
    # Block by block, so that the weights of a block are read from the cache by all features.
    for block in range(0, m, _BLOCK):
        end = block + _BLOCK if block + _BLOCK < m else m
        # Positives of the block, then negatives; either may be none.
        middle = n_pos if n_pos > block else block
        middle = middle if middle < end else end
        for side in range(2):
            start, stop = (block, middle) if side == 0 else (middle, end)
            if start == stop:
                continue
            cells, rows = hist[side], w[start:stop]
            for f in range(first, fours, 4):
                a, b, c, d, e = offsets[f], offsets[f + 1], offsets[f + 2], offsets[f + 3], offsets[f + 4]
                four = (
                    codes[f, start:stop], codes[f + 1, start:stop], codes[f + 2, start:stop], codes[f + 3, start:stop],
                )  # fmt: skip
                _sum_four(four, rows, (cells[a:b], cells[b:c], cells[c:d], cells[d:e]))
            rest = fours
            if last - fours >= 2:
                a, b, c = offsets[fours], offsets[fours + 1], offsets[fours + 2]
                _sum_two(codes[fours, start:stop], codes[fours + 1, start:stop], rows, cells[a:b], cells[b:c])
                rest += 2
            for f in range(rest, last):
                _sum_one(codes[f, start:stop], rows, cells[offsets[f] : offsets[f + 1]])


@_inner
def _slopes(labels, values):
    """Factors of Q and G at the first cut, then at the second: what moving rows across it changes."""
    # Moving the cut to the right takes rows from the label on its right and gives them to the one on its left.
    one, two, three = labels[0], labels[1], labels[2]
    first = values[one, 1] - values[two, 1], values[one, 0] - values[two, 0]
    second = values[two, 1] - values[three, 1], values[two, 0] - values[three, 0]
    return first[0], first[1], second[0], second[1]


@_inner
def _least_of_two(prefix, one, other):
    """Least cost over all pairs of cuts j <= k of two types, by a running minimum over j.

    The cost of cuts (j, k) is a term of j plus a term of k plus a constant, so for each k the best j <= k is the
    running minimum of the first term: one pass instead of all pairs. Two chains of minima keep the processor busy
    where one would wait for itself, and no branch depends on the data: where the minimum lies is found later, by
    `cuts`, for the one stump that is wanted.
    """
    left_1 = best_1 = left_2 = best_2 = np.inf
    r12, h12, r23, h23 = one
    s12, g12, s23, g23 = other
    for k in range(np.uint64(len(prefix))):
        g, q = prefix[k].real, prefix[k].imag
        left = r12 * q - h12 * g
        left_1 = left if left < left_1 else left_1  # a minimum without a branch, before k itself is a second cut
        total = left_1 + r23 * q - h23 * g
        best_1 = total if total < best_1 else best_1
        left = s12 * q - g12 * g
        left_2 = left if left < left_2 else left_2
        total = left_2 + s23 * q - g23 * g
        best_2 = total if total < best_2 else best_2
    return best_1, best_2


@_entry
def cuts(prefix, labels, values):
    """Positions j <= k of the cuts of least cost of a stump with these three labels, the first if there are several."""
    r12, h12, r23, h23 = _slopes(labels, values)
    best_left = best = np.inf
    # The same arithmetic in the same order as in `_least_of_two`: it finds the very minimum that one has found.
    left_at = best_j = best_k = 0
    for k in range(len(prefix)):
        g, q = prefix[k].real, prefix[k].imag
        left = r12 * q - h12 * g
        if left < best_left:
            best_left = left
            left_at = k
        total = best_left + r23 * q - h23 * g
        if total < best:
            best = total
            best_j = left_at
            best_k = k
    return best_j, best_k


@_inner
def _label_of_missing(allowed, values, g, q):
    """Of the labels allowed for missing values, the one of least cost, and its cost."""
    # Missing values are a segment of their own: their label does not depend on the cuts.
    least, label = np.inf, 0
    for a in range(len(allowed)):
        if allowed[a]:
            cost = values[a, 1] * q - values[a, 0] * g
            if cost < least:
                least, label = cost, a
    return label, least


@_entry
def scan(hist, prefix, offsets, n_bins, has_missing, types, missing, values, found, where, first, last):
    """Best type of stump of each feature first <= f < last; hist and prefix as complex numbers.

    `types` (T, 4), T even: labels of the three segments and the label of missing values where training had none;
    `missing` (T, L) marks the labels a type may give to missing values; `values` (L, 2) holds H and rho.
    `found` (p,) receives the derivative, `where` (p, 2) the type and the missing label; `cuts` finds the cuts.
    """
    # Twelve parameters: to hand them over in tuples takes 5 microseconds more per round, which small data would notice.
    pos, neg = hist[0], hist[1]
    for f in range(first, last):
        base, n = offsets[f], n_bins[f]
        cells = prefix[base : base + n + 1]
        positives, negatives = pos[base : base + n + 1], neg[base : base + n + 1]
        g = q = 0.0
        # Prefix k is what lies left of a cut after k bins; the last one, n, is the sum over all known values.
        for k in range(np.uint64(n)):
            cells[k] = complex(g, q)
            one, two = positives[k], negatives[k]
            g += one.real - two.real
            q += one.real - one.imag + two.real - two.imag
        cells[n] = complex(g, q)
        one, two = positives[n], negatives[n]  # the last cell: missing values
        g_miss, q_miss = one.real - two.real, one.real - one.imag + two.real - two.imag
        found[f] = np.inf
        for t in range(0, len(types), 2):
            best, second = _least_of_two(cells, _slopes(types[t], values), _slopes(types[t + 1], values))
            for i in range(t, t + 2):
                # What the scan leaves out: the cost if every row had the label of the last segment.
                three, label = types[i, 2], types[i, 3]
                best += values[three, 1] * q - values[three, 0] * g
                if has_missing[f]:
                    label, extra = _label_of_missing(missing[i], values, g_miss, q_miss)
                    best += extra
                if best < found[f]:
                    found[f], where[f, 0], where[f, 1] = best, i, label
                best = second


@_entry
def derivatives(hist, prefix, offsets, n_bins, stumps, values, out):
    """Rates of change of the loss along known stumps: rows (feature, j, k, label 1, 2, 3, missing label)."""
    pos, neg = hist[0], hist[1]
    # A segment's sums are differences of two prefixes: no pass over the cells.
    for a in range(stumps.shape[0]):
        base, n = offsets[stumps[a, 0]], n_bins[stumps[a, 0]]
        j, k = base + stumps[a, 1], base + stumps[a, 2]
        missing, end = base + n, base + n
        one, two, three, miss = stumps[a, 3], stumps[a, 4], stumps[a, 5], stumps[a, 6]
        # Each segment adds rho Q - H G; missing values are in no prefix, and come from their own cell of the histogram.
        total = values[one, 1] * prefix[j, 1] - values[one, 0] * prefix[j, 0]
        total += values[two, 1] * (prefix[k, 1] - prefix[j, 1]) - values[two, 0] * (prefix[k, 0] - prefix[j, 0])
        total += values[three, 1] * (prefix[end, 1] - prefix[k, 1]) - values[three, 0] * (prefix[end, 0] - prefix[k, 0])
        g = pos[missing, 0] - neg[missing, 0]
        q = pos[missing, 0] - pos[missing, 1] + neg[missing, 0] - neg[missing, 1]
        out[a] = total + values[miss, 1] * q - values[miss, 0] * g


@_entry
def label_sums(hist, base, n, stump, sums):
    """Add up w1 over positives and negatives, and w2, over the rows with each label of a stump."""
    # By cells, not by rows: the histogram already holds the sums of the rows of each cell.
    for k in range(n + 1):
        if k == n:  # missing values
            label = stump[6]
        elif k < stump[1]:
            label = stump[3]
        elif k < stump[2]:
            label = stump[4]
        else:
            label = stump[5]
        sums[label, 0] += hist[0, base + k, 0]
        sums[label, 1] += hist[1, base + k, 0]
        sums[label, 2] += hist[0, base + k, 1] + hist[1, base + k, 1]


# The step is written in single numbers, not in arrays of three: the compiler takes a second for every sum of arrays.
@_inner
def _step_terms(sums, values, constants, at):
    """Value J of the step's objective at (eta, dh, dr); J(0) = 0; the constants are b, p and beta.

    All rows with one label and one class move alike, so J is a sum of 3 exponentials per label, whatever the number
    of rows: J = sum mass / p (e^(p a.z) - 1) + beta eta, where a.z is the change of u (terms 0 and 1, by class) or of
    v (term 2). With J come the gradient and the Hessian's entries 00, 01, 02, 11, 12, 22.
    """
    b, p, beta = constants
    eta, dh, dr = at
    # The penalty beta sum_j alpha_j is linear in the step eta, and has no other derivative.
    total, g0, g1, g2 = beta * eta, beta, 0.0, 0.0
    h00 = h01 = h02 = h11 = h12 = h22 = 0.0
    for label in range(sums.shape[0]):
        for term in range(3):
            mass = sums[label, term]
            if mass == 0.0:
                continue
            if term == 2:
                a0, a1, a2 = -b * values[label, 1], 0.0, -b
                mass /= b  # w2 has the factor b of the derivative of v
            else:
                y = 1.0 - 2.0 * term
                a0, a1, a2 = values[label, 1] - y * values[label, 0], -y, 1.0
            t = p * (a0 * eta + a1 * dh + a2 * dr)
            e = math.exp(600.0 if t > 600.0 else t)  # e^600 times a weight is still finite
            total += mass / p * (e - 1.0)
            slope = mass * e
            g0 += slope * a0
            g1 += slope * a1
            g2 += slope * a2
            bend = p * slope
            h00 += bend * a0 * a0
            h01 += bend * a0 * a1
            h02 += bend * a0 * a2
            h11 += bend * a1 * a1
            h12 += bend * a1 * a2
            h22 += bend * a2 * a2
    return total, (g0, g1, g2, h00, h01, h02, h11, h12, h22)


@_inner
def _solve(terms, free):
    """Newton direction of the free variables: Gaussian elimination of a 3 x 3 positive definite system."""
    free_eta, free_h, free_r = free
    g0, g1, g2, h00, h01, h02, h11, h12, h22 = terms
    d0, d1, d2 = -g0, -g1, -g2
    extra = 1e-14 * (h00 + h11 + h22) + 1e-300  # directions in which nothing changes stay at 0
    # The equation of a variable that is not free becomes d = 0.
    if not free_eta:
        d0, h00, h01, h02 = 0.0, 1.0, 0.0, 0.0
    if not free_h:
        d1, h11, h01, h12 = 0.0, 1.0, 0.0, 0.0
    if not free_r:
        d2, h22, h02, h12 = 0.0, 1.0, 0.0, 0.0
    h00, h11, h22 = h00 + extra, h11 + extra, h22 + extra
    # Without pivoting, which a positive definite matrix does not need.
    ratio = h01 / h00
    h11, h12, d1 = h11 - ratio * h01, h12 - ratio * h02, d1 - ratio * d0
    ratio = h02 / h00
    h22, d2 = h22 - ratio * h02, d2 - ratio * d0
    ratio = h12 / h11
    h22, d2 = h22 - ratio * h12, d2 - ratio * d1
    d2 = d2 / h22
    d1 = (d1 - h12 * d2) / h11
    d0 = (d0 - h01 * d1 - h02 * d2) / h00
    return d0, d1, d2


@_inner
def _largest_of(one, two, three):
    """Largest absolute value of three."""
    one, two, three = abs(one), abs(two), abs(three)
    one = one if one > two else two
    return one if one > three else three


@_entry
def minimise_step(sums, values, b, p, beta, eta, free_eta, free_h, free_r):
    """Damped Newton from (eta, 0, 0) over the free ones of (eta, dh, dr)."""
    constants, free = (b, p, beta), (free_eta, free_h, free_r)
    dh = dr = 0.0
    value, terms = _step_terms(sums, values, constants, (eta, dh, dr))
    mass = 0.0
    for label in range(sums.shape[0]):
        mass += sums[label, 0] + sums[label, 1] + sums[label, 2]
    for _ in range(100):
        d0, d1, d2 = _solve(terms, free)
        decrement = -(terms[0] * d0 + terms[1] * d1 + terms[2] * d2)
        # At the minimum, and where rounding has spoilt the direction; written so that it ends for NaN as well.
        if not decrement > 0.0:
            break
        longest = _largest_of(d0, d1, d2)
        length = 5.0 / longest if longest > 5.0 else 1.0  # the quadratic model fails far from here
        moved = False
        new_eta, new_dh, new_dr, new = eta, dh, dr, value
        # Armijo's rule: halve the step until the decrease is a fair share of what the slope promises.
        for _ in range(60):
            new_eta, new_dh, new_dr = eta + length * d0, dh + length * d1, dr + length * d2
            new, terms = _step_terms(sums, values, constants, (new_eta, new_dh, new_dr))
            if new <= value - 1e-4 * length * decrement:
                moved = True
                break
            length *= 0.5
        # A stump that errs on no row has its minimum at infinity: stop before numbers overflow.
        if not moved or _largest_of(new_eta, new_dh, new_dr) > 2.0 * _CAP:
            break
        eta, dh, dr, value = new_eta, new_dh, new_dr, new
        # Newton squares the error: the step just taken has left nothing that a double can hold.
        if decrement <= 1e-15 * mass:
            break
    return eta, dh, dr


def joint_step(sums, values, b, p, beta, alpha, free_h, free_r):
    """Minimise over (eta, dh, dr) the step's objective; eta from -alpha to 30, dh and dr at 0 unless they are free.

    With p = 1 and the exponential loss this is the exact block minimum of F; otherwise it minimises a bound of F
    that touches it at 0, so F decreases by at least as much.
    """
    # Not compiled: there are two turns at most, and compiled it would contain the whole of `minimise_step` once more.
    start, free_eta = 0.0, True
    while True:
        eta, dh, dr = minimise_step(sums, values, b, p, beta, start, free_eta, free_h, free_r)
        if not free_eta or -alpha <= eta <= _CAP:
            return eta, dh, dr
        # J is convex: when its free minimum lies beyond a bound the constrained one is on that bound.
        start, free_eta = -alpha if eta < -alpha else _CAP, False


@_entry
def shift_terms(growth, s, kb, unit, n_pos, b, at, sums):
    """Logistic loss when (dh, dr) = at are added to every (h, r): the six sums of `newton.ShiftTerms`."""
    dh, dr = at
    # A shift multiplies e^u and e^v by three factors in all: no exponential per row.
    f_v = math.exp(-b * dr)
    w1 = w2 = c1 = c2 = w1_pos = c1_pos = 0.0
    for side in range(2):
        w1_pos, c1_pos = w1, c1  # after the first side, those of the positives
        start, stop = (0, n_pos) if side == 0 else (n_pos, len(s))
        f_u = math.exp(dr - dh) if side == 0 else math.exp(dr + dh)
        w1 = c1 = 0.0
        for i in range(np.uint64(start), np.uint64(stop)):
            e1, e2 = growth[i, 0] * f_u, growth[i, 1] * f_v
            e1 = e1 if e1 < _E_MAX else _E_MAX
            e2 = e2 if e2 < _E_MAX else _E_MAX
            d1, d2 = 1.0 + e1, 1.0 + e2
            inverse = 1.0 / (d1 * d2)  # one division for both
            q1, q2 = inverse * d2, inverse * d1  # 1 less e / (1 + e)
            first, second = s[i] * e1 * q1, s[i] * kb[i] * e2 * q2
            w1 += first
            w2 += second
            c1 += first * q1
            c2 += second * q2
    # u = r - y h changes with both scores, v = -b r with r alone; w2 has the factor k b, so c2 lacks another b.
    sums[0] = unit * (w1 - w1_pos)
    sums[1] = unit * (w1_pos + w1 - w2)
    sums[2] = unit * (c1_pos + c1)
    sums[3] = unit * (c1 - c1_pos)
    sums[4] = sums[2] + unit * b * c2
    sums[5] = unit * (w1_pos + w1 + w2)


@_entry
def grow_exponential(row, w, first, second):
    """Multiply the weights of rows by the factors of their cells: the exponential loss needs no more."""
    # The factors e^(change of u), e^(change of v) were computed once per cell: no exponential per row.
    for i in range(np.uint64(len(row))):
        c = row[i]
        w[i, 0] *= first[c]
        w[i, 1] *= second[c]


@_entry
def grow_logistic(row, w, first, second, growth, s, kb, unit):
    """The same for the logistic loss: keep e^u and e^v up to date, w1 = unit s e^u / (1 + e^u)."""
    for i in range(np.uint64(len(row))):
        c = row[i]
        e1, e2 = growth[i, 0] * first[c], growth[i, 1] * second[c]
        # Never infinite: infinity over infinity would be no number. A minimum needs no branch.
        e1 = e1 if e1 < _E_MAX else _E_MAX
        e2 = e2 if e2 < _E_MAX else _E_MAX
        growth[i, 0] = e1
        growth[i, 1] = e2
        d1, d2 = 1.0 + e1, 1.0 + e2
        scale = unit * s[i] / (d1 * d2)  # one division for both
        w[i, 0] = scale * d2 * e1
        w[i, 1] = scale * d1 * e2 * kb[i]


@_entry
def add_tables(codes, offsets, h_table, r_table, h, r, start, stop):
    """Add to the scores of rows start <= i < stop, which h and r hold, their cells' values of every feature."""
    # Feature by feature: the codes are read in memory order, and the small tables of one feature stay in the cache.
    for f in range(codes.shape[0]):
        row = codes[f]
        h_cells = h_table[offsets[f] : offsets[f + 1]]
        r_cells = r_table[offsets[f] : offsets[f + 1]]
        for i in range(start, stop):
            c = row[i]  # missing values have a code, and so a cell, of their own
            h[i - start] += h_cells[c]
            r[i - start] += r_cells[c]


@_entry
def tree_histograms(codes, node, stats, hist, offsets, first, last):
    """Sum five statistics of the rows by (node, cell), for the features first <= f < last.

    Every row is in a node of the level, counted from 0: a node that did not split has sent all its rows left.
    """
    m = codes.shape[1]
    hist[:, offsets[first] : offsets[last]] = 0.0
    # All nodes in one pass over the rows, in blocks: the statistics of a block stay in the cache for all features.
    for block in range(0, m, _BLOCK):
        end = min(block + _BLOCK, m)
        for f in range(first, last):
            row, base = codes[f], offsets[f]
            for i in range(block, end):
                cells = hist[node[i], base + row[i]]
                for a in range(5):  # side by side in memory, so that a row touches one line of the cache
                    cells[a] += stats[i, a]


@_entry
def leaf_gain(t, ridge):
    """Half g' (H + ridge)^-1 g of the sums t = (g_h, g_r, H_hh, H_hr, H_rr): what a leaf of its own is worth."""
    # The 2 x 2 inverse written out. The best leaf (dh, dr) is minus the inverse times g; this is what it lowers F by.
    a, b, c = t[2] + ridge, t[3], t[4] + ridge
    determinant = a * c - b * b
    if not determinant > 1e-300:  # no curvature in some direction, or NaN: such a leaf promises nothing
        return 0.0
    return 0.5 * (c * t[0] * t[0] - 2.0 * b * t[0] * t[1] + a * t[1] * t[1]) / determinant


@_entry
def tree_scan(hist, layout, ridge, least, found, where, first, last):
    """Best split of every node on every feature first <= f < last.

    `found` (nodes, p) receives the gain over no split, `where` (nodes, p, 2) the number of bins that go left and
    whether missing values do. A side needs the curvature `least` at least.
    """
    offsets, n_bins, has_missing = layout
    left, right, total, missing = np.empty(5), np.empty(5), np.empty(5), np.empty(5)
    for v in range(hist.shape[0]):
        for f in range(first, last):
            base, n = offsets[f], n_bins[f]
            for a in range(5):
                missing[a] = hist[v, base + n, a]
                total[a] = missing[a]
            for k in range(n):
                for a in range(5):
                    total[a] += hist[v, base + k, a]
            whole = leaf_gain(total, ridge)  # a split must gain more than the unsplit node as one leaf
            found[v, f] = 0.0
            for side in range(2 if has_missing[f] else 1):  # missing values on the right, then on the left
                for a in range(5):
                    left[a] = missing[a] if side == 1 else 0.0
                for k in range(n - 1):  # a cut after the last bin would split nothing off
                    for a in range(5):
                        left[a] += hist[v, base + k, a]
                        right[a] = total[a] - left[a]
                    # Curvature stands for the number of rows: a side with too little of it would fit noise.
                    if left[2] < least or right[2] < least:
                        continue
                    gain = leaf_gain(left, ridge) + leaf_gain(right, ridge) - whole
                    if gain > found[v, f]:
                        found[v, f] = gain
                        where[v, f, 0] = k + 1
                        where[v, f, 1] = side


@_entry
def descend(codes, node, feature, left_bins, missing_left, n_bins, start, stop):
    """Send rows start <= i < stop from node v of a level to its children 2 v and 2 v + 1 of the next.

    A node that does not split comes with a number of left bins beyond every code and `missing_left`: all rows go left.
    """
    # In place, one read and one write per row; the rows are not sorted by node, so threads may share them out at will.
    for i in range(start, stop):
        v = node[i]
        f = feature[v]
        c = codes[f, i]
        # The code after the last bin means a missing value, which goes where the split has learned to send it.
        goes_left = missing_left[v] if c == n_bins[f] else c < left_bins[v]
        node[i] = 2 * v if goes_left else 2 * v + 1


def __getattr__(name: str) -> type:
    """Stand in for a class that this file had when code was compiled.

    The compiler reads the index of its cache, which names such classes, before it sees that the file has changed.
    """
    if not name[0].isupper():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return type(name, (), {})
