"""Eight tables and the prices to compare methods at: three made up, five of the papers' data sets."""

import os
from typing import NamedTuple

import numpy as np
import pytest

from recuse import Costs
from recuse.datasets import load
from tests.comparison.conftest import mixed_table
from tests.comparison.test_groups_and_time import drifting, patients

QUICK = ("logistic-no-reject", "logistic-chow", "logistic-tuned", "double-hinge", "coupled-one-class")


class Table(NamedTuple):
    """What `compare` is called with."""

    make: object
    target: str
    costs: Costs
    options: dict
    kept: bool = False  # whether it is one of the data sets of RECUSE_DATA


def _mixed():
    return mixed_table(100)


def _visits():
    return patients(30, seed=0)


def _turning():
    return drifting(240, seed=0)


def _data_set(name, costs, **options):
    return Table(lambda: load(name, as_frame=True).frame, "target", costs, {"methods": QUICK} | options, kept=True)


# All methods on one table; on the others, one for each way to follow the prices.
TABLES = {
    "mixed": Table(_mixed, "default", Costs(1, 3, 0.3), {}),
    "grouped": Table(_visits, "ill", Costs(1, 5, 0.3), {"groups": "who", "methods": QUICK, "repeats": 2}),
    "drifting": Table(
        _turning,
        "y",
        Costs(fp=2, fn=3, reject_negative=0.3, reject_positive=0.5),
        {"time": "day", "methods": QUICK},
    ),
    "haberman": _data_set("haberman", Costs(1, 5, 0.3)),
    "heart_statlog": _data_set("heart_statlog", Costs(1, 5, 0.3), repeats=2),
    "liver_disorders": _data_set("liver_disorders", Costs(1, 1, 0.35)),
    "parkinsons": _data_set("parkinsons", Costs(1, 2, 0.3, reject_novelty=0.2)),
    "transfusion": _data_set("transfusion", Costs(1, 4, 0.4)),
}
EIGHT = [
    pytest.param(
        name,
        marks=pytest.mark.skipif(
            table.kept and not os.environ.get("RECUSE_DATA"),
            reason="the environment variable RECUSE_DATA names no folder of data sets",
        ),
    )
    for name, table in TABLES.items()
]


def scaled(costs, factor):
    """The same prices in another unit."""
    return Costs(**{name: factor * price for name, price in costs.as_dict().items()})


def with_review(costs, factor):
    """The same prices but for the reviews, which cost a factor more."""
    prices = costs.as_dict().items()
    return Costs(**{name: factor * price if name.startswith("reject") else price for name, price in prices})


def recomputed(decisions, positive, costs):
    """The headline figures of the method chosen, from the columns of decisions.csv alone."""
    is_positive = decisions["outcome"].astype(str) == str(positive)
    answered, wrong, cost = (decisions[name].to_numpy() for name in ("answered", "wrong", "cost"))
    misses, false_alarms = wrong[is_positive].sum(), wrong[~is_positive].sum()
    positives = answered[is_positive].sum()
    reviews = np.where(is_positive, costs.reject_positive, costs.reject_negative)
    return {
        "cost": cost.mean(),
        "coverage": answered.mean(),
        "accuracy": 1 - wrong.sum() / answered.sum() if answered.any() else None,
        "recall": 1 - misses / positives if positives else None,
        "misses": misses,
        "false_alarms": false_alarms,
        "answered_positives": positives,
        "answered_negatives": answered[~is_positive].sum(),
        # Where novelties have a price of their own, the cost depends on the kind of each rejection, too.
        "priced": None
        if costs.reject_novelty is not None
        else (costs.fn * misses + costs.fp * false_alarms + (reviews * (1 - answered)).sum()) / len(decisions),
    }
