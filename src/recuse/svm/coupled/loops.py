"""The compiled loops of the coupled one-class machines: functions of arrays and scalars, serial, free of the GIL.

Names follow `coupled_qp`: positive cases come first, ``n_pos`` of them; ``alpha, gamma, mu`` is the point, ``cap_a,
cap_g, cap_m`` its upper bounds; ``F`` is each case's score in the machine of its own class and ``m`` its margin.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_FLOOR = 1e-12  # least curvature of a pair: duplicates have none


@njit(cache=True, nogil=True)
def own_class_ends(start, stop, cap_a, alpha, F):
    """Lowest F among the alphas of a class that may grow, where it is, and the highest among those that may shrink."""
    low, high, i = np.inf, -np.inf, -1
    for t in range(start, stop):
        if alpha[t] < cap_a[t] and F[t] < low:
            low = F[t]
            i = t
        if alpha[t] > 0.0 and F[t] > high:
            high = F[t]
    return low, high, i


@njit(cache=True, nogil=True)
def margin_ends(cap_g, cap_m, gamma, mu, m):
    """The same for the joint group, where v = -m for a gamma and m for a mu.

    Returns the highest v that may rise (a gamma that grows, a mu that shrinks), the lowest that may fall, the case of
    the first, and whether it is a gamma (1) or a mu (-1).
    """
    high, low, i, kind = -np.inf, np.inf, -1, 1.0
    for t in range(m.shape[0]):
        v = m[t]
        if gamma[t] < cap_g[t] and -v > high:
            high = -v
            i = t
            kind = 1.0
        if mu[t] > 0.0 and v > high:
            high = v
            i = t
            kind = -1.0
        if gamma[t] > 0.0 and -v < low:
            low = -v
        if mu[t] < cap_m[t] and v < low:
            low = v
    return high, low, i, kind


@njit(cache=True, nogil=True)
def own_class_partner(K, diag, i, start, stop, alpha, F):
    """The alpha of the class that promises the largest decrease together with i."""
    Ki = K[i]
    best, j = -1.0, -1
    for t in range(start, stop):
        d = F[t] - F[i]
        if d > 0.0 and alpha[t] > 0.0:
            gain = d * d / max(diag[i] + diag[t] - 2.0 * Ki[t], _FLOOR)
            if gain > best:
                best = gain
                j = t
    return j


@njit(cache=True, nogil=True)
def margin_partner(K, diag, i, kind_i, v_i, n_pos, cap_m, gamma, mu, m):
    """The gamma or mu that promises the largest decrease together with i, and which of the two it is."""
    Ki = K[i]
    best, j, kind_j = -1.0, -1, 1.0
    for t in range(m.shape[0]):
        sign = kind_i if (t < n_pos) == (i < n_pos) else -kind_i
        d = v_i + m[t]
        if d > 0.0 and gamma[t] > 0.0:
            gain = d * d / max(diag[i] + diag[t] - 2.0 * sign * Ki[t], _FLOOR)
            if gain > best:
                best = gain
                j = t
                kind_j = 1.0
        d = v_i - m[t]
        if d > 0.0 and mu[t] < cap_m[t]:
            gain = d * d / max(diag[i] + diag[t] + 2.0 * sign * Ki[t], _FLOOR)
            if gain > best:
                best = gain
                j = t
                kind_j = -1.0
    return j, kind_j


@njit(cache=True, nogil=True)
def coupled_smo(K, n_pos, cap_a, cap_g, cap_m, alpha, gamma, mu, F, m, tol, max_iter):
    """Sequential minimal optimisation in three groups, with second-order pairs, on a square kernel matrix.

    Each step takes the group that violates its optimality condition most. Changes the point, `F` and `m` in place;
    returns the number of steps and the last violation.
    """
    n = m.shape[0]
    diag = np.empty(n)
    for t in range(n):
        diag[t] = K[t, t]
    low_p, high_p, i_p = own_class_ends(0, n_pos, cap_a, alpha, F)
    low_n, high_n, i_n = own_class_ends(n_pos, n, cap_a, alpha, F)
    steps = 0
    while True:
        high_m, low_m, i_m, kind_i = margin_ends(cap_g, cap_m, gamma, mu, m)
        positive = max(high_p - low_p, 0.0)
        negative = max(high_n - low_n, 0.0)
        margin = max(high_m - low_m, 0.0)
        violation = max(positive, negative, margin)
        if violation <= tol or steps >= max_iter:
            return steps, violation
        steps += 1
        # Along a pair of margins the objective has twice the curvature: both machines move.
        if 0.5 * margin * margin > max(positive, negative) ** 2:
            i = i_m
            j, kind_j = margin_partner(K, diag, i, kind_i, high_m, n_pos, cap_m, gamma, mu, m)
            if j < 0:
                return steps, violation
            v_j = -m[j] if kind_j > 0 else m[j]
            y_i = 1.0 if i < n_pos else -1.0
            y_j = 1.0 if j < n_pos else -1.0
            curvature = diag[i] + diag[j] - 2.0 * y_i * y_j * kind_i * kind_j * K[i, j]
            step = (high_m - v_j) / (2.0 * max(curvature, _FLOOR))
            room_i = cap_g[i] - gamma[i] if kind_i > 0 else mu[i]
            room_j = gamma[j] if kind_j > 0 else cap_m[j] - mu[j]
            step = min(step, room_i, room_j)
            near = step * (1.0 + 1e-12)
            # Ends are assigned, not added up, so that sets are told apart by equality.
            if kind_i > 0:
                gamma[i] = cap_g[i] if room_i <= near else gamma[i] + step
            else:
                mu[i] = 0.0 if room_i <= near else mu[i] - step
            if kind_j > 0:
                gamma[j] = 0.0 if room_j <= near else gamma[j] - step
            else:
                mu[j] = cap_m[j] if room_j <= near else mu[j] + step
            c_i = y_i * kind_i * step
            c_j = y_j * kind_j * step
            Ki = K[i]
            Kj = K[j]
            for t in range(n_pos):
                x = c_i * Ki[t] - c_j * Kj[t]
                F[t] += x
                m[t] += 2.0 * x
            for t in range(n_pos, n):
                x = c_i * Ki[t] - c_j * Kj[t]
                F[t] -= x
                m[t] -= 2.0 * x
            low_p, high_p, i_p = own_class_ends(0, n_pos, cap_a, alpha, F)
            low_n, high_n, i_n = own_class_ends(n_pos, n, cap_a, alpha, F)
        else:
            is_positive = positive >= negative
            i = i_p if is_positive else i_n
            start = 0 if is_positive else n_pos
            stop = n_pos if is_positive else n
            j = own_class_partner(K, diag, i, start, stop, alpha, F)
            if j < 0:
                return steps, violation
            step = (F[j] - F[i]) / max(diag[i] + diag[j] - 2.0 * K[i, j], _FLOOR)
            room_i = cap_a[i] - alpha[i]
            room_j = alpha[j]
            step = min(step, room_i, room_j)
            near = step * (1.0 + 1e-12)
            alpha[i] = cap_a[i] if room_i <= near else alpha[i] + step
            alpha[j] = 0.0 if room_j <= near else alpha[j] - step
            Ki = K[i]
            Kj = K[j]
            for t in range(start, stop):
                x = step * (Ki[t] - Kj[t])
                F[t] += x
                m[t] += x
            start = n_pos if is_positive else 0
            stop = n if is_positive else n_pos
            for t in range(start, stop):
                m[t] -= step * (Ki[t] - Kj[t])
            if is_positive:
                low_p, high_p, i_p = own_class_ends(0, n_pos, cap_a, alpha, F)
            else:
                low_n, high_n, i_n = own_class_ends(n_pos, n, cap_a, alpha, F)


@njit(cache=True, nogil=True)
def violations(n_pos, cap_a, cap_g, cap_m, alpha, gamma, mu, F, m, up_a, down_a, up_m, down_m):
    """Write how far the variables of each case violate their group's condition, by growing or by shrinking.

    A value of 0 is on the edge; -inf, no such move. Returns the largest violation, and thresholds rho-, rho+, rho in
    the middle between the ends of each group.
    """
    n = m.shape[0]
    low_p, high_p, _ = own_class_ends(0, n_pos, cap_a, alpha, F)
    low_n, high_n, _ = own_class_ends(n_pos, n, cap_a, alpha, F)
    high, low, _, _ = margin_ends(cap_g, cap_m, gamma, mu, m)
    for t in range(n):
        upper = high_p if t < n_pos else high_n
        lower = low_p if t < n_pos else low_n
        up_a[t] = upper - F[t] if alpha[t] < cap_a[t] else -np.inf
        down_a[t] = F[t] - lower if alpha[t] > 0.0 else -np.inf
        rising = -np.inf
        falling = -np.inf
        if gamma[t] < cap_g[t]:
            rising = -m[t] - low
        if mu[t] > 0.0:
            rising = max(rising, m[t] - low)
        if gamma[t] > 0.0:
            falling = high + m[t]
        if mu[t] < cap_m[t]:
            falling = max(falling, high - m[t])
        up_m[t] = rising
        down_m[t] = falling
    violation = max(high_p - low_p, high_n - low_n, high - low)
    return violation, 0.5 * (low_n + high_n), 0.5 * (low_p + high_p), -0.5 * (low + high)
