from itertools import product

import numpy as np
import pytest

from recuse.reproduce.means import Tally, paired_difference, sign_test, standard_error, tabulate, tally_lower


def test_paired_differences():
    table = {"a": {"s": np.array([1.0, 2.0]), "t": np.array([1.0, 1.0])}, "b": {"s": np.zeros(2), "t": np.zeros(2)}}
    mean, error = paired_difference(table, "a", "b")
    assert mean == 1.25
    assert np.isclose(error, np.sqrt(np.std([1, 2], ddof=1) ** 2 / 2) / 2)


def test_values_of_the_same_repetition_are_averaged():
    table = tabulate([("a", "s", 0, 1.0), ("a", "s", 0, 3.0), ("a", "s", 1, 5.0), ("b", "t", 0, 7.0)])
    assert list(table) == ["a", "b"]
    np.testing.assert_array_equal(table["a"]["s"], [2.0, 5.0])
    np.testing.assert_array_equal(table["b"]["t"], [7.0])
    assert np.isnan(standard_error(table["b"]["t"]))


@pytest.mark.parametrize("n", range(1, 11))
def test_the_sign_test_counts_the_tosses_at_least_as_uneven(n):
    tosses = [sum(heads) for heads in product((0, 1), repeat=n)]
    for better in range(n + 1):
        as_uneven = [heads for heads in tosses if abs(2 * heads - n) >= abs(2 * better - n)]
        assert sign_test(better, n - better) == pytest.approx(len(as_uneven) / 2**n)
        assert sign_test(better, n - better) == pytest.approx(sign_test(n - better, better))


def test_the_sign_test_by_hand():
    # 13 data sets: 2 (1 + 13 + 78 + 286) / 2^13 for 10 against 3; 7 against 6 is as even as can be.
    assert sign_test(10, 3) == pytest.approx(2 * (1 + 13 + 78 + 286) / 2**13)
    assert sign_test(7, 6) == pytest.approx(1.0)
    assert sign_test(5, 0) == pytest.approx(1 / 16)
    assert sign_test(0, 0) == 1.0


def test_ties_do_not_take_part_in_the_sign_test():
    assert Tally.of([-1.0, -2.0, 0.0, 1e-17, 3.0]) == Tally(held=2, failed=1, tied=2)
    assert Tally(6, 0, 7).p_value == Tally(6, 0).p_value == pytest.approx(2 / 64)
    assert Tally(6, 0, 7).total == 13
    table = {"a": {"s": np.array([1.0, 2.0]), "t": np.array([1.0, 1.0])}, "b": {"s": np.full(2, 2.0), "t": np.ones(2)}}
    assert tally_lower(table, "a", "b") == Tally(1, 0, 1)
    assert tally_lower(table, "b", "a") == Tally(0, 1, 1)
