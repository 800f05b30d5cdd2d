"""Compiled loops of interactions: the screen over all pairs of features, and the boosting of pair terms.

Functions of arrays and scalars, compiled on first use, serial and free of the GIL. Rows come with the positives first.

Layouts: coarse (p, m) holds the coarse code of every feature; a missing value has the last code of its feature. Every
row has five statistics, the slope of the loss by h and by r and its curvature by hh, hr and rr. A pair of features with
R and C codes has R C cells, cell (a, b) at a C + b; `cells` (pairs, m) holds the cell of every row. The statistics of a
cell lie side by side, so that a row touches one line of the cache.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

_E_MAX = 1e130  # e^300
_STATISTICS = 5

# Called from Python: without the entry point for C, which takes long to compile.
_entry = njit(cache=True, nogil=True, no_cfunc_wrapper=True)
# Called from compiled code only: without the entry point for Python, too.
_inner = njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


class SurrogateCases(NamedTuple):
    """Weights of the cases, positives first: s, the product k b of each, and the number of positives."""

    s: np.ndarray
    kb: np.ndarray
    n_pos: int


class SurrogateForm(NamedTuple):
    """The surrogate s (Phi(u) + k Phi(v)), u = r - y h, v = -b r.

    `unit` is Phi' / (e^t / (1 + e^t)) of the logistic loss; for the exponential one Phi' = Phi'' = e^t. Without an r
    to learn the loss is that of h alone.
    """

    b: float
    unit: float
    logistic: bool
    with_r: bool


class LeafLimits(NamedTuple):
    """What is added to the curvature of a leaf, the least it must hold, and the largest |dh| or |dr| of a leaf."""

    ridge: float
    least: float
    longest: float


class PairLayout(NamedTuple):
    """Cell of every row by pair, numbers of codes of both features, and where the cells of each pair start."""

    cells: np.ndarray
    sizes: np.ndarray
    offsets: np.ndarray


@_entry
def statistics(h, r, cases, form, out):
    """Slopes and curvatures of the surrogate of every row."""
    s, kb, n_pos = cases
    b, unit, logistic, with_r = form
    for i in range(len(h)):
        y = 1.0 if i < n_pos else -1.0
        grown = min(math.exp(min(r[i] - y * h[i], 300.0)), _E_MAX)
        if logistic:
            share = grown / (1.0 + grown)
            first = s[i] * unit * share
            bent = first * (1.0 - share)
        else:
            first = s[i] * grown
            bent = first
        out[i, 0] = -y * first
        out[i, 2] = bent
        if not with_r:  # a score alone: nothing is learned about r
            continue
        grown = min(math.exp(min(-b * r[i], 300.0)), _E_MAX)
        if logistic:
            share = grown / (1.0 + grown)
            second = s[i] * unit * kb[i] * share
            bent_too = b * second * (1.0 - share)
        else:
            second = s[i] * kb[i] * grown
            bent_too = b * second
        out[i, 1] = first - second
        out[i, 3] = -y * bent
        out[i, 4] = bent + bent_too


@_entry
def objective(h, r, cases, form):
    """Weighted mean of the surrogate."""
    s, kb, n_pos = cases
    b, unit, logistic, with_r = form
    total = 0.0
    for i in range(len(h)):
        u = min(r[i] - h[i] if i < n_pos else r[i] + h[i], 300.0)
        v = min(-b * r[i], 300.0)
        if logistic:  # log(1 + e^t) without overflow
            total += s[i] * unit * (max(u, 0.0) + math.log1p(math.exp(-abs(u))))
            if with_r:
                total += s[i] * unit * kb[i] / b * (max(v, 0.0) + math.log1p(math.exp(-abs(v))))
        else:
            total += s[i] * math.exp(u)
            if with_r:
                total += s[i] * kb[i] / b * math.exp(v)
    return total


@_inner
def _sum_cells(cells, stats, with_r, table):
    """Sum the statistics of the rows by cell."""
    table[:] = 0.0
    if with_r:
        for i in range(len(cells)):
            at = table[cells[i]]
            for a in range(_STATISTICS):
                at[a] += stats[i, a]
    else:
        for i in range(len(cells)):
            at = table[cells[i]]
            at[0] += stats[i, 0]
            at[2] += stats[i, 2]


@_inner
def _contrast(quadrants, ridge, with_r):
    """What a step of its own for one quadrant lowers the second-order model by, the main effects of both cuts free.

    The best values of the four quadrants are theta_q = -H_q^-1 g_q. Two main effects and a constant can match all of
    them but the contrast z = theta_0 - theta_1 - theta_2 + theta_3; giving it up costs z' (sum_q H_q^-1)^-1 z / 2.
    """
    if not with_r:
        z, spread = 0.0, 0.0
        for q in range(4):
            curvature = quadrants[q, 2] + ridge
            z += quadrants[q, 0] / curvature if q == 0 or q == 3 else -quadrants[q, 0] / curvature
            spread += 1.0 / curvature
        return 0.5 * z * z / spread
    z_h, z_r, s_hh, s_hr, s_rr = 0.0, 0.0, 0.0, 0.0, 0.0
    for q in range(4):
        t = quadrants[q]
        a, b, c = t[2] + ridge, t[3], t[4] + ridge
        determinant = a * c - b * b
        sign = 1.0 if q == 0 or q == 3 else -1.0
        z_h += sign * (c * t[0] - b * t[1]) / determinant
        z_r += sign * (a * t[1] - b * t[0]) / determinant
        s_hh += c / determinant
        s_hr -= b / determinant
        s_rr += a / determinant
    determinant = s_hh * s_rr - s_hr * s_hr
    return 0.5 * (s_rr * z_h * z_h - 2.0 * s_hr * z_h * z_r + s_hh * z_r * z_r) / determinant


@_entry
def screen(coarse, n_codes, stats, pairs, limits, with_r, gains):
    """Strength of every pair: the largest contrast over all cuts of both features.

    A quadrant needs the least curvature of the limits; a pair without such cuts has strength 0.
    """
    ridge, least, widest = limits.ridge, limits.least, n_codes.max()
    table = np.empty((widest * widest, _STATISTICS))
    # Sums over the cells before row a and column b, as in an integral image: four look-ups give a quadrant.
    before = np.zeros((widest + 1, widest + 1, _STATISTICS))
    quadrants = np.zeros((4, _STATISTICS))
    for k in range(len(pairs)):
        first, second = coarse[pairs[k, 0]], coarse[pairs[k, 1]]
        rows, columns = n_codes[pairs[k, 0]], n_codes[pairs[k, 1]]
        table[: rows * columns] = 0.0
        for i in range(len(first)):
            at = table[first[i] * columns + second[i]]
            at[0] += stats[i, 0]
            at[2] += stats[i, 2]
            if with_r:
                at[1] += stats[i, 1]
                at[3] += stats[i, 3]
                at[4] += stats[i, 4]
        for a in range(rows):
            for j in range(_STATISTICS):
                across = 0.0
                for b in range(columns):
                    across += table[a * columns + b, j]
                    before[a + 1, b + 1, j] = before[a, b + 1, j] + across
        best = 0.0
        for a in range(1, rows):
            for b in range(1, columns):
                for j in range(_STATISTICS):
                    corner, left, top = before[a, b, j], before[a, columns, j], before[rows, b, j]
                    quadrants[0, j] = corner
                    quadrants[1, j] = left - corner
                    quadrants[2, j] = top - corner
                    quadrants[3, j] = before[rows, columns, j] - left - top + corner
                if (
                    quadrants[0, 2] < least
                    or quadrants[1, 2] < least
                    or quadrants[2, 2] < least
                    or quadrants[3, 2] < least
                ):
                    continue
                best = max(best, _contrast(quadrants, ridge, with_r))
        gains[k] = best


@_inner
def _leaf_gain(t, ridge, with_r):
    """Half g' (H + ridge)^-1 g: what a leaf of its own is worth."""
    if not with_r:
        return 0.5 * t[0] * t[0] / (t[2] + ridge)
    a, b, c = t[2] + ridge, t[3], t[4] + ridge
    determinant = a * c - b * b
    if not determinant > 1e-300:
        return 0.0
    return 0.5 * (c * t[0] * t[0] - 2.0 * b * t[0] * t[1] + a * t[1] * t[1]) / determinant


@_inner
def _best_inner_cut(sums, n, total, limits, with_r, sides):
    """Best cut of a strip of n cells: gain, and cells left of the cut; `sides` is room for two leaves.

    Without a cut that leaves curvature on both sides the strip is one leaf: n cells left of it.
    """
    ridge, least, left, right = limits.ridge, limits.least, sides[0], sides[1]
    gain, at = _leaf_gain(total, ridge, with_r), n
    for j in range(_STATISTICS):
        left[j] = 0.0
    for t in range(n - 1):
        for j in range(_STATISTICS):
            left[j] += sums[t, j]
            right[j] = total[j] - left[j]
        if left[2] < least or right[2] < least:
            continue
        found = _leaf_gain(left, ridge, with_r) + _leaf_gain(right, ridge, with_r)
        if found > gain:
            gain, at = found, t + 1
    return gain, at


@_entry
def best_tree(table, rows, columns, limits, with_r, found):
    """Best tree of two levels on a table: a cut of one feature, and in both parts a cut of the other.

    `found` receives the orientation (0: the first feature at the root), codes below the root's cut, and codes below
    the cut in the lower and in the upper part. Returns the gain of all leaves over one leaf.
    """
    widest = max(rows, columns)
    below, above = np.empty((widest, _STATISTICS)), np.empty((widest, _STATISTICS))
    sum_below, sum_above = np.empty(_STATISTICS), np.empty(_STATISTICS)
    sides, whole = np.empty((2, _STATISTICS)), np.zeros(_STATISTICS)
    for cell in range(rows * columns):
        for j in range(_STATISTICS):
            whole[j] += table[cell, j]
    alone = _leaf_gain(whole, limits.ridge, with_r)
    best = 0.0
    found[0], found[1], found[2], found[3] = 0, rows, columns, columns
    for orientation in range(2):
        outer, inner = (rows, columns) if orientation == 0 else (columns, rows)
        outer_step, inner_step = (columns, 1) if orientation == 0 else (1, columns)
        for t in range(inner):  # all cells are above the first cut
            for j in range(_STATISTICS):
                below[t, j] = 0.0
                total = 0.0
                for a in range(outer):
                    total += table[a * outer_step + t * inner_step, j]
                above[t, j] = total
        for j in range(_STATISTICS):
            sum_below[j], sum_above[j] = 0.0, whole[j]
        for a in range(outer - 1):
            for t in range(inner):  # one more strip comes below the cut
                for j in range(_STATISTICS):
                    value = table[a * outer_step + t * inner_step, j]
                    below[t, j] += value
                    above[t, j] -= value
                    sum_below[j] += value
                    sum_above[j] -= value
            if sum_below[2] < limits.least or sum_above[2] < limits.least:
                continue
            low, at_low = _best_inner_cut(below, inner, sum_below, limits, with_r, sides)
            high, at_high = _best_inner_cut(above, inner, sum_above, limits, with_r, sides)
            if low + high - alone > best:
                best = low + high - alone
                found[0], found[1], found[2], found[3] = orientation, a + 1, at_low, at_high
    return best


@_inner
def _leaf_of(a, b, tree):
    """Leaf of a cell: 0 and 1 below the root's cut, 2 and 3 above it."""
    outer, inner = (a, b) if tree[0] == 0 else (b, a)
    if outer < tree[1]:
        return 0 if inner < tree[2] else 1
    return 2 if inner < tree[3] else 3


@_inner
def _leaf_values(table, rows, columns, tree, limits, with_r, leaves):
    """Values (dh, dr) of the four leaves that minimise the second-order model, of limited size."""
    ridge, longest = limits.ridge, limits.longest
    sums = np.zeros((4, _STATISTICS))
    for a in range(rows):
        for b in range(columns):
            leaf = _leaf_of(a, b, tree)
            for j in range(_STATISTICS):
                sums[leaf, j] += table[a * columns + b, j]
    for leaf in range(4):
        t = sums[leaf]
        dh, dr = 0.0, 0.0
        if with_r:
            a, b, c = t[2] + ridge, t[3], t[4] + ridge
            determinant = a * c - b * b
            if determinant > 1e-300:
                dh, dr = -(c * t[0] - b * t[1]) / determinant, -(a * t[1] - b * t[0]) / determinant
        else:
            dh = -t[0] / (t[2] + ridge)
        leaves[leaf, 0] = min(max(dh, -longest), longest)
        leaves[leaf, 1] = min(max(dr, -longest), longest)


@_entry
def visit_pairs(layout, tables, cases, form, limits, rate, h, r):
    """Visit every pair once: fit a tree of two levels to the slopes, add its share `rate` to the tables and scores.

    `tables` (all cells, 2) holds what each cell adds to h and r; it changes in place, and so do h and r.
    """
    cells, sizes, offsets = layout
    with_r = form.with_r
    stats = np.empty((len(h), _STATISTICS))
    histogram = np.empty((max(1, (offsets[1:] - offsets[:-1]).max()), _STATISTICS))
    tree, leaves = np.empty(4, dtype=np.int64), np.empty((4, 2))
    delta = np.empty((len(histogram), 2))
    for k in range(len(sizes)):
        rows, columns = sizes[k]
        n = rows * columns
        statistics(h, r, cases, form, stats)
        table = histogram[:n]
        _sum_cells(cells[k], stats, with_r, table)
        if not best_tree(table, rows, columns, limits, with_r, tree) > 0.0:
            continue
        _leaf_values(table, rows, columns, tree, limits, with_r, leaves)
        for a in range(rows):
            for c in range(columns):
                leaf, cell = _leaf_of(a, c, tree), a * columns + c
                for j in range(2):
                    delta[cell, j] = rate * leaves[leaf, j]
                    tables[offsets[k] + cell, j] += delta[cell, j]
        own = cells[k]
        for i in range(len(h)):
            h[i] += delta[own[i], 0]
            if with_r:
                r[i] += delta[own[i], 1]


@_entry
def add_surfaces(cells, offsets, tables, h, r):
    """Add to h and r of every row what the tables of all pairs say of its cells."""
    for k in range(len(cells)):
        own, base = cells[k], offsets[k]
        for i in range(len(h)):
            h[i] += tables[base + own[i], 0]
            r[i] += tables[base + own[i], 1]


@_entry
def pair_cells(first, second, n_second, out):
    """Cell of every row in the table of two features."""
    for i in range(len(first)):
        out[i] = first[i] * n_second + second[i]


def __getattr__(name: str) -> type:
    """Stand in for a class that this file had when code was compiled: see `engine.loops`."""
    if not name[0].isupper():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return type(name, (), {})
