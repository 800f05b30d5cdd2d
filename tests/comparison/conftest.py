"""A small mixed table and a comparison on it."""

import numpy as np
import pandas as pd
import pytest

import recuse

COSTS = recuse.Costs(fp=1, fn=3, reject=0.3)


def mixed_table(n=160, seed=0):
    rng = np.random.default_rng(seed)
    score = rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "score": np.where(rng.random(n) < 0.1, np.nan, score),
            "town": rng.choice(["Ulm", "Bonn", None], n),
            "since": pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
            "member": rng.random(n) < 0.5,
        }
    )
    frame["default"] = np.where(score + 0.7 * rng.normal(size=n) > 0.5, "bad", "good")
    return frame


@pytest.fixture(scope="session")
def table():
    return mixed_table()


@pytest.fixture(scope="session")
def comparison(table):
    return recuse.compare(
        table,
        "default",
        positive="bad",
        costs=COSTS,
        methods=["logistic-no-reject", "logistic-chow", "logistic-tuned"],
        cv=3,
        repeats=1,
    )
