"""Prices in another currency: every method answers alike, and costs what it did, in that currency."""

import warnings

import numpy as np
import pytest

import recuse

from .conftest import COSTS


def run(table, factor):
    costs = recuse.Costs(**{name: price * factor for name, price in COSTS.as_dict().items()})
    numbers = table.drop(columns=["town", "since"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whether every fit converged is not the point here
        return recuse.compare(numbers, "default", positive="bad", costs=costs, cv=2, repeats=2)


@pytest.fixture(scope="module")
def in_one_currency(table):
    return run(table, 1)


@pytest.mark.parametrize("factor", [0.01, 1 / 3, 1e4])
def test_a_comparison_in_another_currency_costs_the_same(table, in_one_currency, factor):
    one, other = in_one_currency, run(table, factor)
    assert not other.errors
    for name in one.answers:
        np.testing.assert_array_equal(other.answers[name].columns, one.answers[name].columns, err_msg=name)
    for here, there in zip(one.rows, other.rows, strict=True):
        assert (there.name, there.params) == (here.name, here.params)
        np.testing.assert_allclose(np.array(there.cost) / factor, here.cost, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(np.array(there.difference) / factor, here.difference, rtol=1e-9, atol=1e-12)
    assert other.verdict.chosen == one.verdict.chosen
    np.testing.assert_allclose(np.array(other.verdict.cost) / factor, one.verdict.cost, rtol=1e-9)
