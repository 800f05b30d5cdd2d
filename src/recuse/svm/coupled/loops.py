"""The compiled loops of the coupled one-class machines: functions of arrays and scalars, serial, free of the GIL.

Names follow `coupled.problem`: positive cases come first, ``n_pos`` of them; ``F`` is each case's score in the machine
of its own class and ``m`` its margin. The variables form three groups, each with a fixed sum: the alphas of either
class, and the gammas and mus of all cases. Arrays that go together are passed as one of the named tuples below. They
are defined in this file, because the compiler's cache notices changes in no other. Loops unpack them before they begin:
taking an array out of a tuple counts its references.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

# Called from compiled code only: without the entry points for Python and C, which take as long to compile as the rest.
_inner = njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
_FLOOR = 1e-12  # least curvature of a pair: duplicates have none
_NEAR = 1.0 + 1e-12  # rooms that differ by rounding only are equal
_MOST_BEHIND = 10  # steps in margins after which the alphas are looked at again
_LEAST = np.int64(-(2**63))
_BELOW_SIGN = np.int64(2**63 - 1)


class Variables(NamedTuple):
    """One value per case and kind of variable: a point, or its upper bounds."""

    alpha: Any
    gamma: Any
    mu: Any


class Moves(NamedTuple):
    """How far each case violates the conditions: by a larger or smaller alpha, by a larger or smaller margin part."""

    up_alpha: Any
    down_alpha: Any
    up_margin: Any
    down_margin: Any


class Pace(NamedTuple):
    """When pairs end, by the largest violation or their number, and how far they go along a pair of margins."""

    tol: Any
    max_iter: Any
    further: Any


@_inner
def own_class_ends(start, stop, caps, point, F):
    """Lowest F among the alphas of a class that may grow, where it is, and the highest among those that may shrink."""
    alpha, cap = point.alpha, caps.alpha
    low, high, i = np.inf, -np.inf, -1
    # At the optimum no alpha that may grow has a lower F than one that may shrink: high - low is the violation.
    for t in range(start, stop):
        if alpha[t] < cap[t] and F[t] < low:
            low = F[t]
            i = t
        if alpha[t] > 0.0 and F[t] > high:
            high = F[t]
    return low, high, i


@_inner
def margin_ends(caps, point, m):
    """The same for the joint group, where v = -m for a gamma and m for a mu.

    The group keeps ``sum gamma - sum mu``: a gamma may grow while another gamma shrinks, or a mu grows with it. With v
    both kinds are treated alike. Returns the highest v that may rise (a gamma that grows, a mu that shrinks), the
    lowest that may fall, the case of the first, and whether it is a gamma (1) or a mu (-1).
    """
    _, gamma, mu = point
    _, cap_gamma, cap_mu = caps
    high, low, i, kind = -np.inf, np.inf, -1, 1.0
    for t in range(m.shape[0]):
        v = m[t]
        # A case is looked at four times: its gamma and its mu may each rise or fall, unless at a bound.
        if gamma[t] < cap_gamma[t] and -v > high:
            high = -v
            i = t
            kind = 1.0
        if mu[t] > 0.0 and v > high:
            high = v
            i = t
            kind = -1.0
        if gamma[t] > 0.0 and -v < low:
            low = -v
        if mu[t] < cap_mu[t] and v < low:
            low = v
    return high, low, i, kind


@_inner
def own_class_partner(K, diag, i, start, stop, point, F):
    """The alpha of the class that promises the largest decrease together with i: slope^2 / curvature."""
    Ki = K[i]
    alpha = point.alpha
    best, j = -1.0, -1
    for t in range(start, stop):
        d = F[t] - F[i]
        # The sum of the alphas is fixed: as alpha_i grows the partner shrinks, so it must be above 0.
        if d > 0.0 and alpha[t] > 0.0:
            gain = d * d / max(diag[i] + diag[t] - 2.0 * Ki[t], _FLOOR)
            if gain > best:
                best = gain
                j = t
    return j


@_inner
def set_margin_moves(t, caps, point, bars):
    """Write which moves the margin variables of a case have: 0, or what puts one out of the question.

    The rows of `bars` are for a gamma that grows, a mu that shrinks, a gamma that shrinks and a mu that grows.
    """
    bars[0, t] = 0.0 if point.gamma[t] < caps.gamma[t] else -np.inf
    bars[1, t] = 0.0 if point.mu[t] > 0.0 else -np.inf
    bars[2, t] = 0.0 if point.gamma[t] > 0.0 else np.inf
    bars[3, t] = 0.0 if point.mu[t] < caps.mu[t] else np.inf


@_inner
def last_of(order, top):
    """The last position at which a whole number stands; without a branch, several at a time."""
    at = np.int64(-1)
    for t in range(order.shape[0]):
        at = t if order[t] == top else at
    return at


@_inner
def highest_margin(m, bars, order):
    """The highest v that may rise, its case, and whether it is a gamma (1) or a mu (-1).

    Found by the bits of the floats, in `order`: of whole numbers the processor finds the largest of several at a time;
    of floats it does not, since one might be no number.
    """
    up_gamma, up_mu = bars[0], bars[1]
    top = _LEAST
    for t in range(m.shape[0]):
        a = up_gamma[t] - m[t]
        b = up_mu[t] + m[t]
        v = a if a > b else b
        v = v if v > -np.inf else -np.inf  # what is no number is never chosen
        bits = np.float64(v).view(np.int64)
        bits ^= (bits >> 63) & _BELOW_SIGN  # the bits of negative floats are in the opposite order
        order[t] = bits
        top = bits if bits > top else top
    i = last_of(order, top)
    a = up_gamma[i] - m[i]
    b = up_mu[i] + m[i]
    return (a, i, 1.0) if a > b else (b, i, -1.0)


@_inner
def margin_partner(Ki, i, sign_i, high, m, cases, bars, order):
    """The gamma or mu that promises the largest decrease together with i, which of the two, and the largest violation.

    The rows of `cases` are the kernel's diagonal and the labels. Of the two variables of a case the one with the larger
    violation is looked at.
    """
    diag, y, down_gamma, down_mu = cases[0], cases[1], bars[2], bars[3]
    diag_i, twice = diag[i], 2.0 * sign_i
    best, most = np.int64(0), np.int64(0)
    for t in range(m.shape[0]):
        a = high - (down_gamma[t] - m[t])
        b = high - (down_mu[t] + m[t])
        d = a if a > b else b
        d = d if d > 0.0 else 0.0
        # The coefficients of the pair in w+ - w- have the signs of label times kind, which turn that of the kernel; for
        # a mu, v has the other sign, and so has its coefficient.
        q = twice * y[t] * Ki[t]
        c = diag_i + diag[t] - (q if a > b else -q)
        c = c if c > _FLOOR else _FLOOR
        bits = np.float64(d).view(np.int64)  # in the order of the floats, since these are not negative
        most = bits if bits > most else most
        bits = np.float64(d * d / c).view(np.int64)
        order[t] = bits
        best = bits if bits > best else best
    j = last_of(order, best) if best > 0 else -1
    kind = 1.0 if j < 0 or down_gamma[j] - m[j] < down_mu[j] + m[j] else -1.0
    return j, kind, np.int64(most).view(np.float64)


@_inner
def step_margin_pair(i, kind_i, j, kind_j, step, caps, point):
    """Raise v_i and lower v_j by `step`, at most to the nearest bound; returns the step taken.

    Bounds are assigned, not added up, so that the sets of the optimality conditions are told apart by equality.
    """
    # A gamma that rises ends at its cap, a mu at 0; for the partner, which falls, it is the other way round.
    room_i = caps.gamma[i] - point.gamma[i] if kind_i > 0 else point.mu[i]
    room_j = point.gamma[j] if kind_j > 0 else caps.mu[j] - point.mu[j]
    step = min(step, room_i, room_j)
    near = step * _NEAR
    if kind_i > 0:
        point.gamma[i] = caps.gamma[i] if room_i <= near else point.gamma[i] + step
    else:
        point.mu[i] = 0.0 if room_i <= near else point.mu[i] - step
    if kind_j > 0:
        point.gamma[j] = 0.0 if room_j <= near else point.gamma[j] - step
    else:
        point.mu[j] = caps.mu[j] if room_j <= near else point.mu[j] + step
    return step


@_inner
def step_own_pair(i, j, step, caps, point):
    """Raise alpha_i and lower alpha_j by `step`, at most to the nearest bound; returns the step taken."""
    room_i = caps.alpha[i] - point.alpha[i]
    room_j = point.alpha[j]
    step = min(step, room_i, room_j)
    near = step * _NEAR
    point.alpha[i] = caps.alpha[i] if room_i <= near else point.alpha[i] + step
    point.alpha[j] = 0.0 if room_j <= near else point.alpha[j] - step
    return step


@_inner
def add_half(m, values, out, half):
    """Write ``values + half m``."""
    for t in range(m.shape[0]):
        out[t] = values[t] + half * m[t]


@njit(cache=True, nogil=True)
def coupled_smo(K, n_pos, caps, point, F, m, pace):
    """Sequential minimal optimisation in three groups, with second-order pairs, on a square kernel matrix.

    Each step takes the group that violates its optimality condition most. A pair of margins goes `further` times as far
    as the minimum along it (over-relaxation): below 2 the objective still falls. Changes the point, `F` and `m` in
    place; returns the number of steps and the last violation.
    """
    n = m.shape[0]
    tol, max_iter, further = pace
    cases = np.empty((2, n))
    diag, y = cases[0], cases[1]  # side by side: on the diagonal of K they would lie a row apart
    bars = np.empty((4, n))
    order = np.empty(n, np.int64)
    fixed = np.empty(n)  # F - m / 2, which a step in margins does not change
    add_half(m, F, fixed, -0.5)
    for t in range(n):
        diag[t] = K[t, t]
        y[t] = 1.0 if t < n_pos else -1.0
        set_margin_moves(t, caps, point, bars)
    low_p, high_p, i_p = own_class_ends(0, n_pos, caps, point, F)
    low_n, high_n, i_n = own_class_ends(n_pos, n, caps, point, F)
    steps, behind = 0, 0
    while True:
        high_m, i, kind_i = highest_margin(m, bars, order)
        j, kind_j, margin = margin_partner(K[i], i, y[i] * kind_i, high_m, m, cases, bars, order)
        own = max(high_p - low_p, high_n - low_n, 0.0)
        # Scores of the own class follow the margins; that is made good for every few steps, and before they matter.
        if behind > 0 and (behind >= _MOST_BEHIND or margin <= tol or 0.5 * margin * margin <= own * own):
            add_half(m, fixed, F, 0.5)
            low_p, high_p, i_p = own_class_ends(0, n_pos, caps, point, F)
            low_n, high_n, i_n = own_class_ends(n_pos, n, caps, point, F)
            own = max(high_p - low_p, high_n - low_n, 0.0)
            behind = 0
        violation = max(own, margin)
        if violation <= tol or steps >= max_iter:
            add_half(m, fixed, F, 0.5)
            return steps, violation
        steps += 1
        # Along a pair of margins the objective has twice the curvature: both machines move.
        if 0.5 * margin * margin > own * own:
            if j < 0:
                add_half(m, fixed, F, 0.5)
                return steps, violation
            v_j = -m[j] if kind_j > 0 else m[j]
            curvature = diag[i] + diag[j] - 2.0 * y[i] * y[j] * kind_i * kind_j * K[i, j]
            # 1 leads to the minimum of the parabola along the pair; twice the curvature, as above.
            step = further * (high_m - v_j) / (2.0 * max(curvature, _FLOOR))
            step = step_margin_pair(i, kind_i, j, kind_j, step, caps, point)
            set_margin_moves(i, caps, point, bars)
            set_margin_moves(j, caps, point, bars)
            c_i = 2.0 * y[i] * kind_i * step
            c_j = 2.0 * y[j] * kind_j * step
            Ki = K[i]
            Kj = K[j]
            # w+ moves by c_i phi_i - c_j phi_j and w- by as much the other way: one score of a case rises, the other
            # falls. Two loops instead of a label per case: no branch, so that the processor takes several at a time.
            for t in range(n_pos):
                m[t] += c_i * Ki[t] - c_j * Kj[t]
            for t in range(n_pos, n):
                m[t] -= c_i * Ki[t] - c_j * Kj[t]
            behind += 1
        else:
            is_positive = high_p - low_p >= high_n - low_n
            i = i_p if is_positive else i_n
            start = 0 if is_positive else n_pos
            stop = n_pos if is_positive else n
            j = own_class_partner(K, diag, i, start, stop, point, F)
            if j < 0:
                return steps, violation
            step = (F[j] - F[i]) / max(diag[i] + diag[j] - 2.0 * K[i, j], _FLOOR)
            step = step_own_pair(i, j, step, caps, point)
            Ki = K[i]
            Kj = K[j]
            # One machine changes: update the scores F of its own class, and the margins of all cases.
            for t in range(start, stop):
                x = step * (Ki[t] - Kj[t])
                F[t] += x
                m[t] += x
            start = n_pos if is_positive else 0
            stop = n if is_positive else n_pos
            for t in range(start, stop):
                m[t] -= step * (Ki[t] - Kj[t])
            add_half(m, F, fixed, -0.5)
            # The other class's scores are as they were, and so are its ends.
            if is_positive:
                low_p, high_p, i_p = own_class_ends(0, n_pos, caps, point, F)
            else:
                low_n, high_n, i_n = own_class_ends(n_pos, n, caps, point, F)


@njit(cache=True, nogil=True)
def violations(n_pos, caps, point, F, m, moves):
    """Write how far the variables of each case violate their group's condition, by growing or by shrinking.

    A value of 0 is on the edge; -inf, no such move. Returns the largest violation, and thresholds rho-, rho+, rho in
    the middle between the ends of each group.
    """
    n = m.shape[0]
    alpha, gamma, mu = point
    cap_alpha, cap_gamma, cap_mu = caps
    up_alpha, down_alpha, up_margin, down_margin = moves
    low_p, high_p, _ = own_class_ends(0, n_pos, caps, point, F)
    low_n, high_n, _ = own_class_ends(n_pos, n, caps, point, F)
    high, low, _, _ = margin_ends(caps, point, m)
    for t in range(n):
        # Against the opposite end of its group: the best partner that a move could have.
        upper = high_p if t < n_pos else high_n
        lower = low_p if t < n_pos else low_n
        up_alpha[t] = upper - F[t] if alpha[t] < cap_alpha[t] else -np.inf
        down_alpha[t] = F[t] - lower if alpha[t] > 0.0 else -np.inf
        # A case has a gamma and a mu, and counts with the one that violates more.
        rising = -np.inf
        falling = -np.inf
        if gamma[t] < cap_gamma[t]:
            rising = -m[t] - low
        if mu[t] > 0.0:
            rising = max(rising, m[t] - low)
        if gamma[t] > 0.0:
            falling = high + m[t]
        if mu[t] < cap_mu[t]:
            falling = max(falling, high - m[t])
        up_margin[t] = rising
        down_margin[t] = falling
    violation = max(high_p - low_p, high_n - low_n, high - low)
    return violation, 0.5 * (low_n + high_n), 0.5 * (low_p + high_p), -0.5 * (low + high)


def __getattr__(name: str) -> type:
    """Stand in for a class that this file had when code was compiled.

    The compiler reads the index of its cache, which names such classes, before it sees that the file has changed.
    """
    if not name[0].isupper():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return type(name, (), {})
