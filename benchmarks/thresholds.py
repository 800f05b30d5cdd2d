"""Tuning two reject thresholds against scikit-learn's tuning of one.

`TunedThresholdClassifierCV` fits the same base model on the same folds and tries 100 thresholds; the tuned rule here
is exact over all pairs of cut points. Both need folds + 1 fits of the base model, so they differ in little more
than the search for the thresholds.
"""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV

from recuse import ThresholdRejectClassifier

from .runner import measure


class FirstColumn(ClassifierMixin, BaseEstimator):
    """A model that takes no time, which leaves the search itself."""

    def fit(self, X, y):
        """Learn the names of the classes."""
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        """Return the first column as probability."""
        return np.column_stack([1 - X[:, 0], X[:, 0]])

    def predict(self, X):
        """Return the more probable class."""
        return self.classes_[(X[:, 0] > 0.5).astype(int)]


def run(quick=False):
    for n in (2_000,) if quick else (10_000, 100_000):
        X, y = make_classification(n, n_features=20, n_informative=5, random_state=0)
        yield _compare("logistic regression", LogisticRegression(), X, y)
    for n in (2_000,) if quick else (10_000, 1_000_000):
        rng = np.random.default_rng(0)
        x = rng.uniform(size=n)
        yield _compare("search alone", FirstColumn(), x[:, None], (rng.uniform(size=n) < x).astype(int))


def _compare(what, base, X, y):
    return measure(
        f"tuned rule, {what}",
        f"n = {len(y):,}",
        lambda: ThresholdRejectClassifier(base, rule="tuned", costs=0.2).fit(X, y),
        "TunedThresholdClassifierCV",
        lambda: TunedThresholdClassifierCV(base).fit(X, y),
        goal=1.0,
        repeats=3,
    )
