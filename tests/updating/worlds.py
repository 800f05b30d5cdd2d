"""A model, the table it was fitted on, and logs of reviews after the concept has changed."""

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin

import recuse
from recuse.watching import World

AT = "2026-03-02T08:15:00+00:00"
PRICES = recuse.Costs(1.0, 1.0, 0.21)


class Records:
    """A log in memory."""

    path = "memory"

    def __init__(self, records):
        self._records = [{"at": AT} | record for record in records]

    def records(self, kind=None):
        return [record for record in self._records if kind in (None, record["kind"])]


def training_table(n=800):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(n, 3)), columns=["risk", "income", "age"])
    return table.assign(outcome=np.where(3 * table["risk"] + rng.logistic(size=n) > 0, "yes", "no"))


def fitted(method="logistic-chow", **given):
    return recuse.fit(training_table(), "outcome", PRICES, method=method, **given)


def reviews(batches=2, **world):
    """A log of batches in which the direction of risk has turned, unless said otherwise."""
    settings = {"cases": 500, "audit": 0.3, "turned": 1.2} | world
    return Records(World(**settings).records(batches, random_state=0))


class OneColumn(ClassifierMixin, BaseEstimator):
    """Believes in one column."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        p = np.where(np.asarray(X)[:, self.column] > 0, 0.95, 0.05)
        return np.column_stack([1 - p, p])
