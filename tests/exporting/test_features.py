"""Arithmetic that every target does: rounding to single precision, parts of dates, cuts on either side of rounding."""

import math

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from recuse.exporting.code import PythonWriter
from recuse.exporting.features import NumberFeature, date_part, in_single, last_below
from recuse.exporting.program import Column, DecisionProgram, Ref

normal = st.floats(1e-30, 1e38).flatmap(lambda x: st.sampled_from([x, -x]))
PARTS = ("year", "month", "day", "hour", "minute", "weekday", "total_seconds")


def computed(program, names, **values):
    """Values of a program by name, in Python."""
    writer = PythonWriter(program)
    lines = [f"{let.name} = {writer.write(let.value)}" for let in program.lets]
    scope = {"abs": abs, "math": math, "_floor": lambda x: float(math.floor(x)), **values}
    exec("\n".join(lines), scope)
    return [scope[name] for name in names]


below_powers = st.builds(lambda k, j: 2.0**k * (1 - j * 2.0**-53), st.integers(-90, 120), st.integers(0, 2**26))


@given(
    below_powers
    | normal
    | st.sampled_from([0.0, 16777217.0, 16777219.0, -33554434.0, 1.0 + 2.0**-24, 1.0 + 3 * 2.0**-24])
)
def test_single_precision_by_three_exact_steps(x):
    program = DecisionProgram([Column("x", "number")])
    found = program.let(in_single(program, Ref("c0")))
    assert computed(program, [found.name], c0=x) == [float(np.float32(x))]


@given(st.floats(-1e30, 1e30), st.integers(-3, 3))
def test_a_cut_before_rounding_separates_the_same_numbers(cut, steps):
    edge = last_below(cut)
    x = edge
    for _ in range(abs(steps)):
        x = np.nextafter(x, math.copysign(math.inf, steps))
    assert (float(np.float32(x)) <= cut) == (x <= edge)


@given(st.integers(-5_000_000_000, 9_000_000_000))
def test_parts_of_dates_are_those_of_pandas(seconds):
    at = pd.Timestamp(0) + pd.Timedelta(seconds=seconds)
    wanted = [at.year, at.month, at.day, at.hour, at.minute, at.day_of_week + 1, float(seconds)]
    program = DecisionProgram([Column("seen", "date")])
    names = [program.let(date_part(program, Ref("c0"), part)).name for part in PARTS]
    assert computed(program, names, c0=float(seconds)) == wanted
    assert computed(program, names, c0=None) == [None] * len(PARTS)


def test_a_filled_column_has_the_step_of_what_fills_it():
    program = DecisionProgram([Column("x", "number")])
    steps = NumberFeature(0, fill=5.0).steps(program, np.array([4.0, 6.0]), np.array([1.0, 2.0, 3.0]), -1.0)
    assert (steps.missing, steps.cuts) == (2.0, (4.0, 6.0))
