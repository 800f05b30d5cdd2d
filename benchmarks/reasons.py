"""Sentences for 10,000 cases that name the columns which speak for either class, by each kind of model.

The seconds are of `recuse.decide(model, cases, reasons="all")`, processor time on one thread: preparation, answers,
contributions and words. The peer is the limit of 20 seconds. Models are fitted on 2,000 cases of a table with numbers,
some of them missing, categories and a date.
"""

import time
import warnings

import numpy as np
import pandas as pd

import recuse

from .runner import Row

METHODS = (
    "logistic-chow",
    "boosting-chow",
    "forest-chow",
    "abstention-boosting",
    "exactboost",
    "double-hinge",
    "double-ramp",
    "ensemble",
)
LIMIT = 20.0


def table(n, seed):
    """Loans: eight numbers, two categories and a date."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 8)), columns=[f"figure {i}" for i in range(8)])
    frame["income"] = np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(10, 0.5, n).round())
    frame["town"] = rng.choice(["Ulm", "Bonn", "Kiel", "Trier"], n)
    frame["job"] = rng.choice([f"title {i}" for i in range(60)], n)
    frame["since"] = pd.Timestamp("2015-01-01") + pd.to_timedelta(rng.integers(0, 3000, n), unit="D")
    z = frame["figure 0"] + frame["figure 1"] * frame["figure 2"] + (frame["town"] == "Ulm")
    frame["outcome"] = np.where(rng.random(n) < 1 / (1 + np.exp(-z)), "bad", "good")
    return frame


def run(quick=False):
    training, cases = table(300 if quick else 2_000, 0), table(200 if quick else 10_000, 1)
    for method in METHODS:
        with warnings.catch_warnings(action="ignore"):
            model = recuse.fit(training, "outcome", recuse.Costs(1, 5, 0.5), method=method, positive="bad")
            started = time.process_time()
            recuse.decide(model, cases, reasons="all")
            seconds = time.process_time() - started
        yield Row(f"reasons, {method}", f"{len(cases):,} cases", "20 s", seconds, LIMIT, 1.0, timed=False)
