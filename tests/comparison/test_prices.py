"""Prices before and after the outcomes are known: which of them are defaults."""

import logging

import pytest

from recuse.comparison.loading import load_cases, load_table
from recuse.comparison.prices import DEFAULT_COSTS, RunPrices, StatedPrices
from recuse.costs import Costs
from tests.comparison.conftest import mixed_table


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (DEFAULT_COSTS, "a miss 5 and a review 0.3; --fp, --fn and --reject were not given and have their defaults"),
        (StatedPrices(reject=0.4), "a miss 5 and a review 0.4; --fp and --fn were not given and have their defaults"),
        (StatedPrices(fp=1, fn=3), "a miss 3 and a review 0.3; --reject was not given and has its default"),
        (
            StatedPrices(fn=3, reject_negative=0.2, reject_positive=0.4),
            "a miss 3 and a review 0.2 (0.4 of a positive case); --fp was not given and has its default",
        ),
        (StatedPrices(fp=1, fn=3, reject=0.2), None),
        (Costs(fp=1, fn=5, reject=0.3), None),
    ],
)
def test_prices_that_nobody_gave_are_said(given, said, caplog):
    with caplog.at_level(logging.INFO, "recuse.comparison"):
        load_cases(load_table(mixed_table(), "default"), "bad", prices=RunPrices.of(given, "bad"))
    told = [record.getMessage() for record in caplog.records if "costs" in record.getMessage()]
    assert told == ([] if said is None else [f"table: a false alarm costs 1, {said} (in Python, costs=)."])
