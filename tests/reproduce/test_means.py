import numpy as np

from recuse.reproduce.means import paired_difference, standard_error, tabulate


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
