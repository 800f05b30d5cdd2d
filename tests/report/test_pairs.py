"""Pairs of columns that act together, in the report."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from recuse import AbstentionBoostingClassifier
from recuse.report.summary import _shapes


def test_pairs_are_named_the_strongest_first():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(500, 3)), columns=["age", "smoking", "sex"])
    y = (rng.random(500) < 1 / (1 + np.exp(-3 * X["age"] * X["smoking"] - 2 * X["sex"]))).astype(int)
    pairs = [("sex", "smoking"), ("age", "smoking")]
    boosted = AbstentionBoostingClassifier(family="chow", beta=0.003, n_rounds=30, cv=2, interactions=pairs)
    model = make_pipeline(StandardScaler().set_output(transform="pandas"), boosted).fit(X, y)
    comparison = SimpleNamespace(cases=SimpleNamespace(features=X, positive=1))
    found = _shapes(comparison, model)
    assert found["pairs"] == ["age x smoking", "smoking x sex"]
    assert found["shapes"]
