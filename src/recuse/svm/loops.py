"""The compiled loops of the kernel machines: functions of arrays and scalars, serial, free of the GIL.

Names follow `qp`: ``beta`` is the point, ``g = K beta``. ``up[i]`` is the slope of phi when beta_i grows (-inf at its
upper bound), ``down[i]`` when it shrinks (+inf at its lower bound). Arrays that go together are passed as one of the
named tuples below. They are defined in this file, because the compiler's cache notices changes in no other.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numba import njit

_FLOOR = 1e-12  # least curvature of a pair: duplicates have none

# exp(x) = 2^k exp(r), |r| <= log(2) / 2. Adding _ROUND puts the nearest integer k of x / log(2) into the last bits of a
# float; log(2) is cut in two so that k times its upper part, of few bits, is exact.
_PER_DOUBLING = 1 / float(Decimal(2).ln())
_ROUND = 1.5 * 2.0**52
_DOUBLING = int(2.0**32 / _PER_DOUBLING) / 2.0**32
_DOUBLING_REST = float(Decimal(2).ln() - Decimal(_DOUBLING))
_PER_DOUBLING_SINGLE = np.float32(_PER_DOUBLING)
_ROUND_SINGLE = np.float32(1.5 * 2.0**23)
_DOUBLING_SINGLE = np.float32(int(2.0**12 / _PER_DOUBLING) / 2.0**12)
_DOUBLING_REST_SINGLE = np.float32(float(Decimal(2).ln() - Decimal(float(_DOUBLING_SINGLE))))


class Pieces(NamedTuple):
    """The two linear pieces of each phi: bounds, kink, and the slopes below and above the kink."""

    lower: Any
    kink: Any
    upper: Any
    below: Any
    above: Any


class Barrier(NamedTuple):
    """Interior values 0 < x with their room to the upper bound, and the multipliers of the two bounds."""

    x: Any
    room: Any
    low: Any
    high: Any


class BarrierChange(NamedTuple):
    """A change of the values (the room changes by as much the other way), and of both multipliers."""

    x: Any
    low: Any
    high: Any


@njit(cache=True, nogil=True)
def set_moves(i, beta, pieces, up, down):
    """Refresh the two slopes of variable i."""
    # At the kink itself the two differ: growing follows the piece above it, shrinking the piece below.
    b = beta[i]
    if b < pieces.kink[i]:
        up[i] = pieces.below[i]
    elif b < pieces.upper[i]:
        up[i] = pieces.above[i]
    else:
        up[i] = -np.inf
    if b > pieces.kink[i]:
        down[i] = pieces.above[i]
    elif b > pieces.lower[i]:
        down[i] = pieces.below[i]
    else:
        down[i] = np.inf


@njit(cache=True, nogil=True)
def move_pair(i, j, step, beta, pieces):
    """Move beta_i up and beta_j down by `step`, at most to the nearest kink or bound; return the two changes."""
    # Up to the nearest end each phi is linear, as the caller's parabola takes it to be; beyond it the slope changes.
    old_i = beta[i]
    old_j = beta[j]
    end_i = pieces.kink[i] if old_i < pieces.kink[i] else pieces.upper[i]
    end_j = pieces.kink[j] if old_j > pieces.kink[j] else pieces.lower[j]
    room_i = end_i - old_i
    room_j = old_j - end_j
    room = min(room_i, room_j)
    if step < room:
        beta[i] += step
        beta[j] -= step
    else:
        # Ends are assigned, not added up: the sets of the optimality conditions are told apart by equality. Both are
        # assigned where the rooms differ by rounding only, or a pair would be left a rounding error short of its end.
        near = room * (1.0 + 1e-12)
        beta[i] = end_i if room_i <= near else old_i + room
        beta[j] = end_j if room_j <= near else old_j - room
    return beta[i] - old_i, beta[j] - old_j


@njit(cache=True, nogil=True)
def smo(K, pieces, beta, g, tol, max_iter):
    """Sequential minimal optimisation with second-order pairs on a square kernel matrix.

    Changes `beta` and `g` in place; returns the number of steps and the last violation ``B_lo - B_hi``.
    """
    n = beta.shape[0]
    up = np.empty(n)
    down = np.empty(n)
    diag = np.empty(n)  # side by side: on the diagonal of K they would lie a row apart
    for i in range(n):
        set_moves(i, beta, pieces, up, down)
        diag[i] = K[i, i]
    # The variable that gains most by growing is the first of the pair.
    i = 0
    low = -np.inf
    for t in range(n):
        v = up[t] - g[t]
        if v > low:
            low = v
            i = t
    steps = 0
    while True:
        # Its partner promises the largest decrease, slope^2 / curvature; the smallest `down - g`, which need not be
        # the partner's, gives the violation. One pass over the row of i finds both.
        Ki = K[i]
        high = np.inf
        best = -1.0
        j = -1
        for t in range(n):
            v = down[t] - g[t]
            if v < high:
                high = v
            d = low - v
            if d > 0:
                a = max(diag[i] + diag[t] - 2.0 * Ki[t], _FLOOR)
                d = d * d / a
                if d > best:
                    best = d
                    j = t
        violation = low - high
        if violation <= tol or steps >= max_iter or j < 0:
            return steps, violation
        steps += 1

        # Along the pair the objective is a parabola up to the nearest kink or bound.
        curvature = max(diag[i] + diag[j] - 2.0 * Ki[j], _FLOOR)
        step = (low - down[j] + g[j]) / curvature
        di, dj = move_pair(i, j, step, beta, pieces)
        set_moves(i, beta, pieces, up, down)
        set_moves(j, beta, pieces, up, down)
        # The pass that brings g up to date finds the first of the next pair, while g is in the processor's cache.
        Kj = K[j]
        low = -np.inf
        following = 0
        for t in range(n):
            g[t] += di * Ki[t] + dj * Kj[t]
            v = up[t] - g[t]
            if v > low:
                low = v
                following = t
        i = following


@njit(cache=True, nogil=True)
def fill_moves(pieces, beta, g, up, down):
    """Write ``up - g`` and ``down - g`` of every variable; return ``(B_lo, B_hi)``.

    The slopes are those of `set_moves`, written as selections: branches that the processor cannot predict would cost
    ten times as much.
    """
    lower, kink, upper, below, above = pieces
    low = -np.inf
    high = np.inf
    for i in range(beta.shape[0]):
        b = beta[i]
        u = below[i] if b < kink[i] else above[i]
        u = u - g[i] if b < upper[i] else -np.inf
        d = above[i] if b > kink[i] else below[i]
        d = d - g[i] if b > lower[i] else np.inf
        up[i] = u
        down[i] = d
        low = u if u > low else low
        high = d if d < high else high
    return low, high


@njit(cache=True, nogil=True)
def add_rows(buffer, slots, coefs, g):
    """Do ``g += sum_k coefs[k] * buffer[slots[k]]``, a stretch of columns at a time.

    The sums of a stretch stay in the processor's cache while all rows pass by, in the precision of the rows: twice as
    many single-precision numbers fit into a vector register.
    """
    m = g.shape[0]
    n_rows = slots.shape[0]
    stretch = 2048
    acc = np.empty(stretch, dtype=buffer.dtype)
    for start in range(0, m, stretch):
        size = min(stretch, m - start)
        acc[:size] = 0
        k = 0
        # Four rows at a time: each sum is read and written once for four products.
        while k + 4 <= n_rows:
            r0 = buffer[slots[k]]
            r1 = buffer[slots[k + 1]]
            r2 = buffer[slots[k + 2]]
            r3 = buffer[slots[k + 3]]
            c0 = buffer.dtype.type(coefs[k])
            c1 = buffer.dtype.type(coefs[k + 1])
            c2 = buffer.dtype.type(coefs[k + 2])
            c3 = buffer.dtype.type(coefs[k + 3])
            for t in range(size):
                s = start + t
                acc[t] += (c0 * r0[s] + c1 * r1[s]) + (c2 * r2[s] + c3 * r3[s])
            k += 4
        while k < n_rows:  # the last one to three
            r0 = buffer[slots[k]]
            c0 = buffer.dtype.type(coefs[k])
            for t in range(size):
                acc[t] += c0 * r0[start + t]
            k += 1
        for t in range(size):
            g[start + t] += acc[t]


@njit(cache=True, nogil=True)
def gather_block(buffer, slots, columns, out):
    """out[a, b] = buffer[slots[a], columns[b]]."""
    # Row by row, since the cache holds whole rows: only the reads within a row jump.
    for a in range(slots.shape[0]):
        row = buffer[slots[a]]
        for b in range(columns.shape[0]):
            out[a, b] = row[columns[b]]


@njit(cache=True, nogil=True)
def cut_rows(buffer, slots, columns, out):
    """out[a, b] = buffer[slots[a], columns[b]], from front to back: what is written may lie over what has been read."""
    for a in range(slots.shape[0]):
        row = buffer[slots[a]]
        short = out[a]
        for b in range(columns.shape[0]):
            short[b] = row[columns[b]]


@njit(cache=True, nogil=True)
def add_rows_at(K, rows, columns, coefs, g):
    """Do ``g += sum_k coefs[k] * K[rows[k], columns]``."""
    # One row of K after the other: a column would touch a new line of the cache with every entry.
    for k in range(rows.shape[0]):
        row = K[rows[k]]
        c = coefs[k]
        for t in range(columns.shape[0]):
            g[t] += c * row[columns[t]]


@njit(cache=True, nogil=True)
def factor_append(L, m, column):
    """Extend the Cholesky factor L of an m x m matrix by one row, in place; returns the pivot, as a square.

    `column` holds the new row up to its diagonal. A pivot that vanishes is replaced by a tiny one.
    """
    # The new row solves L row = column by forward substitution; what is left of the diagonal is the pivot.
    rest = column[m]
    for i in range(m):
        s = column[i]
        for k in range(i):
            s -= L[m, k] * L[i, k]
        L[m, i] = s / L[i, i]
        rest -= L[m, i] * L[m, i]
    # The true pivot is returned, so that the caller can tell a dependent row; the factor itself must stay invertible.
    L[m, m] = np.sqrt(max(rest, 1e-12 * column[m]))
    return rest


@njit(cache=True, nogil=True)
def factor_delete(L, m, position):
    """Remove one row and column of an m x m matrix from its Cholesky factor, in place, by rotations."""
    # Rows move up by one, whole: the product L L' is then that of the smaller matrix, but L is not triangular any more.
    for i in range(position, m - 1):
        for k in range(i + 2):
            L[i, k] = L[i + 1, k]
    for i in range(position, m - 1):
        # Row i reaches one column too far. Rotating columns i and i + 1 makes that entry 0 and leaves L L' unchanged.
        a = L[i, i]
        b = L[i, i + 1]
        r = np.hypot(a, b)  # without the overflow of the sum of squares
        c = a / r
        s = b / r
        L[i, i] = r
        L[i, i + 1] = 0.0
        for k in range(i + 1, m - 1):
            x = L[k, i]
            z = L[k, i + 1]
            L[k, i] = c * x + s * z
            L[k, i + 1] = c * z - s * x


@njit(cache=True, nogil=True)
def factor_solve(L, m, rhs):
    """Solution x of ``L L' x = rhs`` for the leading m x m part of L."""
    x = rhs.copy()
    for i in range(m):  # forwards through L
        s = x[i]
        for k in range(i):
            s -= L[i, k] * x[k]
        x[i] = s / L[i, i]
    for i in range(m - 1, -1, -1):  # backwards through L', by its columns: they are the rows of L, side by side
        x[i] /= L[i, i]
        for k in range(i):
            x[k] -= L[i, k] * x[i]
    return x


@njit(cache=True, nogil=True)
def barrier_weight(state, out):
    """Inverse curvature of the barrier: of 0 < x with its multiplier, and of 0 < room with its own."""
    x, room, low, high = state
    # Multiplier over value is the barrier's curvature; both bounds pull on the same x, so their curvatures add up.
    for i in range(x.shape[0]):
        out[i] = 1.0 / (low[i] / x[i] + high[i] / room[i])


@njit(cache=True, nogil=True)
def barrier_draw(slope, f, state, weight, target, change, drawn):
    """Add to `drawn` the change of x that Newton's step would make if the scores f stayed."""
    x, room, _, _ = state
    dx, dlow, dhigh = change
    for i in range(x.shape[0]):
        # Mehrotra's correction: the product of the last changes is what a linear model of value times multiplier
        # leaves out. The room shrinks as x grows, hence the other sign.
        at_low = target - dx[i] * dlow[i]
        at_high = target + dx[i] * dhigh[i]
        drawn[i] += weight[i] * (slope[i] - f[i] + at_low / x[i] - at_high / room[i])


@njit(cache=True, nogil=True)
def barrier_change(slope, f, df, state, weight, target, change):
    """Replace the change by Newton's for a change df of the scores, corrected for the old one.

    Returns the largest relative decrease of a value and of a multiplier: 1 over the step that would bring one to 0.
    """
    x, room, low, high = state
    dx, dlow, dhigh = change
    primal = 0.0
    dual = 0.0
    for i in range(x.shape[0]):
        at_low = target - dx[i] * dlow[i]
        at_high = target + dx[i] * dhigh[i]
        d = weight[i] * (slope[i] - f[i] + at_low / x[i] - at_high / room[i] - df[i])
        dx[i] = d
        # The multipliers follow from value times multiplier = target, linearised.
        dlow[i] = (at_low - low[i] * d) / x[i] - low[i]
        dhigh[i] = (at_high + high[i] * d) / room[i] - high[i]
        # Values and multipliers must stay above 0; they may take steps of different lengths.
        primal = max(primal, max(-d / x[i], d / room[i]))
        dual = max(dual, max(-dlow[i] / low[i], -dhigh[i] / high[i]))
    return primal, dual


@njit(cache=True, nogil=True)
def barrier_gap(state, change, primal, dual):
    """Sum of value times multiplier after a step of the given lengths."""
    x, room, low, high = state
    dx, dlow, dhigh = change
    total = 0.0
    # What is left between primal and dual objective; before the step is taken, so that the next target follows from it.
    for i in range(x.shape[0]):
        step = primal * dx[i]
        total += (x[i] + step) * (low[i] + dual * dlow[i]) + (room[i] - step) * (high[i] + dual * dhigh[i])
    return total


@njit(cache=True, nogil=True)
def barrier_move(state, change, primal, dual):
    """Take a step; room is stored beside x, since width - x would lose its digits close to the bound."""
    x, room, low, high = state
    dx, dlow, dhigh = change
    for i in range(x.shape[0]):
        step = primal * dx[i]
        x[i] += step
        room[i] -= step
        low[i] += dual * dlow[i]
        high[i] += dual * dhigh[i]


@njit(cache=True, nogil=True)
def total_loss(pieces, f):
    """Sum of the primal losses at scores f: phi(u) - u f at the best u, which is the upper bound, kink or lower one."""
    lower, kink, upper, below, above = pieces
    total = 0.0
    for i in range(f.shape[0]):
        at_kink = (below[i] if kink[i] >= 0 else above[i]) * kink[i]  # so that phi(0) = 0
        # phi is concave: u grows as long as its slope is above f, so that f alone says at which end it stops.
        if f[i] < above[i]:
            total += at_kink + above[i] * (upper[i] - kink[i]) - upper[i] * f[i]
        elif f[i] < below[i]:
            total += at_kink - kink[i] * f[i]
        else:
            total += at_kink + below[i] * (lower[i] - kink[i]) - lower[i] * f[i]
    return total


# No reordering of sums in these two: it would undo the rounding.
@njit(cache=True, nogil=True, fastmath={"contract"})
def exp_double(values):
    """Replace values by ``exp(min(x, 0))``, in place, to two units in the last place; below -708 by less than 1e-307.

    Taylor's polynomial of degree 13 on ``|r| <= 0.347`` has a relative error below 1e-17. Unlike `np.exp` this is
    vectorised on every processor.
    """
    for i in range(values.shape[0]):
        row = values[i]
        for j in range(row.shape[0]):
            x = max(min(row[j], 0.0), -708.0)
            t = x * _PER_DOUBLING + _ROUND
            k = t - _ROUND
            # The rest r of x after k doublings; the upper part of log(2) first, whose product with k is exact.
            r = (x - k * _DOUBLING) - k * _DOUBLING_REST
            # Taylor's polynomial by Horner's scheme: 1 / 13!, 1 / 12!, ...
            p = 1.0 / 6227020800.0
            p = p * r + 1.0 / 479001600.0
            p = p * r + 1.0 / 39916800.0
            p = p * r + 1.0 / 3628800.0
            p = p * r + 1.0 / 362880.0
            p = p * r + 1.0 / 40320.0
            p = p * r + 1.0 / 5040.0
            p = p * r + 1.0 / 720.0
            p = p * r + 1.0 / 120.0
            p = p * r + 1.0 / 24.0
            p = p * r + 1.0 / 6.0
            p = p * r + 0.5
            p = p * r + 1.0
            p = p * r + 1.0
            # Times 2^k: k, the last bits of t, is added to the exponent of p.
            bits = np.float64(p).view(np.int64) + (np.float64(t).view(np.int64) << 52)
            row[j] = np.int64(bits).view(np.float64)


@njit(cache=True, nogil=True, fastmath={"contract"})
def exp_single(values):
    """The same in single precision: degree 7, an error below 1e-8 before rounding; below -87 less than 1e-37."""
    for i in range(values.shape[0]):
        row = values[i]
        for j in range(row.shape[0]):
            x = max(min(row[j], np.float32(0.0)), np.float32(-87.0))
            t = x * _PER_DOUBLING_SINGLE + _ROUND_SINGLE
            k = t - _ROUND_SINGLE
            r = (x - k * _DOUBLING_SINGLE) - k * _DOUBLING_REST_SINGLE
            p = np.float32(1.0 / 5040.0)
            p = p * r + np.float32(1.0 / 720.0)
            p = p * r + np.float32(1.0 / 120.0)
            p = p * r + np.float32(1.0 / 24.0)
            p = p * r + np.float32(1.0 / 6.0)
            p = p * r + np.float32(0.5)
            p = p * r + np.float32(1.0)
            p = p * r + np.float32(1.0)
            # As above; an exponent begins at bit 23 here.
            bits = np.float32(p).view(np.int32) + (np.float32(t).view(np.int32) << np.int32(23))
            row[j] = np.int32(bits).view(np.float32)


def __getattr__(name: str) -> type:
    """Stand in for a class that this file had when code was compiled.

    The compiler reads the index of its cache, which names such classes, before it sees that the file has changed.
    """
    if not name[0].isupper():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return type(name, (), {})
