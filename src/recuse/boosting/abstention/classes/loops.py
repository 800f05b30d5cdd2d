"""Compiled loops of boosting for several classes: histograms, the scan over cuts, the update of the probabilities.

Functions of arrays and scalars, compiled on first use, serial and free of the GIL.

Layouts: J outputs; codes (p, m) feature-major. The predicted mass of output j at row i is its softmax times the weight
of the row: the first J - 1 in `mass` (blocks, m, 4), four outputs side by side so that one load and one addition serve
all four, with zeros behind the last; the last output in `last` (m,), as it is what the others leave. `hist`
(blocks, cells, 4) holds the sums of `mass` by cell; `predicted`, `wanted` and `jumps` are (J, cells).
"""

from __future__ import annotations

import math

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload

_BLOCK = 512  # rows whose masses stay in the first-level cache while all features are visited
_FLOOR = 1e-14  # share of a cell below which a predicted mass is rounding
_CAP = 8.0  # longest step

# Called from Python: without the entry point for C, which takes long to compile. No divisor is 0: no tests for it.
_entry = njit(cache=True, nogil=True, error_model="numpy", no_cfunc_wrapper=True)
# Called from compiled code only: without the entry point for Python, too.
_inner = njit(cache=True, nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)


def _add_four(table, cell, rows, row):
    table[cell] += rows[row]


@intrinsic
def _add_vector(_, table, cell, rows, row):
    """`_add_four` in one load, sum and store; left alone, numba makes four of each."""

    def build(context, builder, signature, args):
        four = ir.VectorType(ir.DoubleType(), 4)

        def place(array, index):
            data = context.make_array(signature.args[array])(context, builder, args[array]).data
            at = context.cast(builder, args[index], signature.args[index], types.uintp)
            return builder.bitcast(builder.gep(data, [builder.mul(at, ir.Constant(at.type, 4))]), four.as_pointer())

        target, source = place(0, 1), place(2, 3)
        total = builder.fadd(builder.load(target, align=8), builder.load(source, align=8))
        builder.store(total, target, align=8)
        return context.get_dummy_value()

    return types.void(table, cell, rows, row), build


@overload(_add_four)
def _compiled_add_four(table, cell, rows, row):
    return lambda table, cell, rows, row: _add_vector(table, cell, rows, row)


@_inner
def _sum_two(one, two, rows, to_one, to_two):
    """Sum the masses of some rows by cell of two features at once."""
    for i in range(np.uint64(len(rows))):  # unsigned: the compiler need not ask whether an index counts from the end
        _add_four(to_one, one[i], rows, i)
        _add_four(to_two, two[i], rows, i)


@_inner
def _sum_one(one, rows, to_one):
    """Sum the masses of some rows by cell of one feature."""
    for i in range(np.uint64(len(rows))):
        _add_four(to_one, one[i], rows, i)


@_entry
def class_histograms(codes, mass, hist, offsets):
    """Sum the masses of the rows by cell of every feature."""
    p, m = codes.shape
    hist[:] = 0.0
    for b in range(len(mass)):
        cells = hist[b]
        # Block by block, so that the masses of a block are read from the cache by all features.
        for start in range(0, m, _BLOCK):
            end = start + _BLOCK if start + _BLOCK < m else m
            rows = mass[b, start:end]
            for f in range(0, p - 1, 2):
                _sum_two(
                    codes[f, start:end], codes[f + 1, start:end], rows,
                    cells[offsets[f] : offsets[f + 1]], cells[offsets[f + 1] : offsets[f + 2]],
                )  # fmt: skip
            if p % 2:
                _sum_one(codes[p - 1, start:end], rows, cells[offsets[p - 1] : offsets[p]])


@_entry
def predicted_cells(hist, total, predicted):
    """From sums of four outputs side by side to one row per output; the last is what the others leave of the total."""
    n_outputs, n_cells = predicted.shape
    for c in range(n_cells):
        rest, least = total[c], _FLOOR * total[c]
        for j in range(n_outputs - 1):
            value = hist[j // 4, c, j % 4]
            rest -= value
            predicted[j, c] = value if value > least else least
        predicted[n_outputs - 1, c] = rest if rest > least else least


@_inner
def _reduced_slope(whole, share, left, right):
    """Rate of change of the loss with the jump, the intercept following."""
    return whole * right / (left + right) - share


@_inner
def _best_step(whole, share, left, right, jump, beta):
    """Change of a jump that lowers the bound of the objective most; 0 where none does.

    `whole` and `share` are the wanted masses of the output of all rows and of those right of the cut, `left` and
    `right` the predicted ones. The bound is psi(d) = whole ln(left + right e^d) - share d + beta |jump + d|.
    """
    if left <= 0.0 or right <= 0.0 or whole <= 0.0:
        return 0.0
    at_zero = right * math.exp(-jump) if jump != 0.0 else right
    slope = _reduced_slope(whole, share, left, at_zero)
    if -beta <= slope <= beta:
        return -jump
    wanted = (share - beta if slope < 0.0 else share + beta) / whole
    low = 1e-12
    wanted = low if wanted < low else 1.0 - low if wanted > 1.0 - low else wanted
    step = math.log(wanted * left / ((1.0 - wanted) * right))
    return _CAP if step > _CAP else -_CAP if step < -_CAP else step


@_inner
def _gain(whole, share, left, right, jump, beta, step):
    """By how much a step lowers the bound, hence the objective at least."""
    less = whole * math.log((left + right) / (left + right * math.exp(step))) + share * step
    return less + beta * (abs(jump) - abs(jump + step))


@_inner
def _violation(slope, jump, beta):
    """How far a jump is from being optimal."""
    if jump == 0.0:
        over = abs(slope) - beta
        return over if over > 0.0 else 0.0
    return abs(slope + (beta if jump > 0.0 else -beta))


@_inner
def _look_at(whole, share, left, right, jump, beta):
    """Gain of the best step of one output at one cut, and how far its jump is from being optimal."""
    if left <= 0.0 or right <= 0.0 or whole <= 0.0:
        return 0.0, 0.0
    violation = _violation(_reduced_slope(whole, share, left, right), jump, beta)
    if violation == 0.0:
        return 0.0, 0.0
    step = _best_step(whole, share, left, right, jump, beta)
    return _gain(whole, share, left, right, jump, beta, step), violation


@_entry
def scan_classes(predicted, wanted, sums, jumps, layout, beta, gains, found):
    """Best cut of every feature, by the sum over the outputs of what it lowers the objective at least.

    `sums` (2, J): predicted and wanted mass of every output over all rows. `layout`: offsets, n_bins, has_missing, and
    the weight of the rows by cell. `gains` (cells,) is room to work. `found` (p, 3) receives the gain, the position of
    the cut in its feature (after bin k, or n for known against missing), and the largest violation. A jump of a feature
    lies at the cell left of it.
    """
    offsets, n_bins, has_missing, total = layout
    n_outputs = len(predicted)
    for f in range(len(n_bins)):
        base, n = offsets[f], n_bins[f]
        gains[base : base + n + 1] = 0.0
        largest = 0.0
        for j in range(n_outputs):
            whole, predicted_whole = sums[1, j], sums[0, j]
            share = right = 0.0
            for k in range(n - 1, 0, -1):  # bins from k on lie right of the cut; missing values are on the left
                share += wanted[j, base + k]
                right += predicted[j, base + k]
                if total[base + k - 1] == 0.0:
                    continue  # the same as the cut before: of two such cuts rounding would choose one
                gain, violation = _look_at(whole, share, predicted_whole - right, right, jumps[j, base + k - 1], beta)
                gains[base + k - 1] += gain
                largest = violation if violation > largest else largest
            if has_missing[f]:
                at = base + n
                right = predicted[j, at]
                gain, violation = _look_at(whole, wanted[j, at], predicted_whole - right, right, jumps[j, at], beta)
                gains[at] += gain
                largest = violation if violation > largest else largest
        best = 0
        for k in range(1, n + 1):
            if gains[base + k] > gains[base + best]:
                best = k
        found[f, 0], found[f, 1], found[f, 2] = gains[base + best], best, largest


@_entry
def class_steps(sums, right, jumps, beta, stretch, steps, factors):
    """Steps of every output at one cut, and the factors of the masses on its left and right, intercepts included.

    `right` (2, J): predicted and wanted mass right of the cut. `steps` (2, J) receives the shifts of the intercepts and
    the changes of the jumps, `factors` (2, J) their exponentials. Returns by how much the terms of the objective change
    that are not logarithms of sums: what is wanted, and the penalty.
    """
    change = 0.0
    for j in range(len(jumps)):
        beyond, share, whole = right[0, j], right[1, j], sums[1, j]
        left = sums[0, j] - beyond
        step = _best_step(whole, share, left, beyond, jumps[j], beta)
        to_zero = step == -jumps[j] and stretch > 1.0
        step = step if to_zero else stretch * step
        step = _CAP if step > _CAP else -_CAP if step < -_CAP else step
        if stretch > 1.0 and jumps[j] * (jumps[j] + step) < 0.0:
            step = -jumps[j]  # not beyond the kink
        shift = math.log(whole / (left + beyond * math.exp(step))) if whole > 0.0 else 0.0
        shift = _CAP if shift > _CAP else -_CAP if shift < -_CAP else shift
        steps[0, j], steps[1, j] = shift, step
        factors[0, j], factors[1, j] = math.exp(shift), math.exp(shift + step)
        change -= whole * shift + share * step
        change += beta * (abs(jumps[j] + step) - abs(jumps[j]))
    return change


@_entry
def update_masses(column, first, last_code, factors, weight, mass, last):
    """Multiply the masses of every row by the factors of its side, and make them add up to its weight again.

    Rows with first < code <= last_code lie right of the cut. `factors` (2, blocks, 4) and, for the last output, (2,).
    Returns by how much the logarithms of the sums change, added up over the rows by weight.
    """
    of_blocks, of_last = factors
    n_blocks = len(mass)
    change = 0.0
    for i in range(np.uint64(len(column))):
        code = column[i]
        side = 1 if first < code <= last_code else 0
        total = last[i] * of_last[side]
        last[i] = total
        for b in range(n_blocks):
            one = mass[b, i, 0] * of_blocks[side, b, 0]
            two = mass[b, i, 1] * of_blocks[side, b, 1]
            three = mass[b, i, 2] * of_blocks[side, b, 2]
            four = mass[b, i, 3] * of_blocks[side, b, 3]
            mass[b, i, 0], mass[b, i, 1], mass[b, i, 2], mass[b, i, 3] = one, two, three, four
            total += (one + two) + (three + four)
        scale = weight[i] / total
        change -= weight[i] * math.log(scale)
        last[i] *= scale
        for b in range(n_blocks):
            mass[b, i, 0] *= scale
            mass[b, i, 1] *= scale
            mass[b, i, 2] *= scale
            mass[b, i, 3] *= scale
    return change
