"""Intervals in sentences: as many decimals as a price needs."""

import pytest

from recuse.comparison.intervals import Interval


@pytest.mark.parametrize(
    ("interval", "shown"),
    [
        ((0.1234567, 0.1, 0.2), "0.1235 [0.1000, 0.2000]"),
        ((-3.0, -4.5, 9.9999), "-3.0000 [-4.5000, 9.9999]"),
        ((85.9667, 70.6781, 108.0841), "85.97 [70.68, 108.08]"),
        ((250.0, 250.0, 250.0), "250.00 [250.00, 250.00]"),
        ((12345.678, 9000.0, 20000.0), "12,346 [9,000, 20,000]"),
    ],
)
def test_decimals_follow_the_size(interval, shown):
    assert str(Interval(*interval)) == shown
