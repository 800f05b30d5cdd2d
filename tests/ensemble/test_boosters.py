"""Boosters of other libraries: categories as categories, missing and new values, copies and files."""

import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from recuse import Costs, EnsembleRejectClassifier, load, save
from recuse.ensemble.boosters import LIBRARIES, NativeBooster
from recuse.ensemble.roster import ROSTER, Training

SETTINGS = {
    "lightgbm": {"rounds": 30, "num_leaves": 4, "min_data_in_leaf": 5, "min_data_per_group": 5, "cat_smooth": 1.0},
    "catboost": {"rounds": 30, "depth": 3},
    "xgboost": {"rounds": 30, "max_depth": 3},
}


@pytest.fixture(params=sorted(LIBRARIES))
def library(request):
    pytest.importorskip(request.param)
    return request.param


@pytest.fixture(scope="module")
def towns():
    """Cases in twenty towns: every other one has positives only."""
    rng = np.random.default_rng(0)
    town = rng.integers(0, 20, 600)
    X = np.column_stack([rng.normal(size=600), town.astype(float)])
    return X, town % 2


def test_one_split_can_part_any_set_of_categories(library, towns):
    X, y = towns
    one_split = {"lightgbm": {"num_leaves": 2}, "catboost": {"depth": 1}, "xgboost": {"max_depth": 1}}[library]
    settings = SETTINGS[library] | one_split | {"rounds": 3, "learning_rate": 0.5}
    right = [
        (NativeBooster(library, settings, columns).fit(X[:400], y[:400]).predict(X[400:]) == y[400:]).mean()
        for columns in ([1], [])
    ]
    assert right[0] > 0.95
    assert right[1] < 0.7  # by the order of the codes


def test_categories_alone_missing_and_new_ones(library, towns):
    X, y = towns
    X = X[:, 1:].copy()
    X[::10] = np.nan
    model = NativeBooster(library, SETTINGS[library], [0]).fit(X, y)
    p = model.predict_proba(np.array([[np.nan], [3.0], [77.0]]))
    assert p.shape == (3, 2)
    assert ((p > 0) & (p < 1)).all()
    assert p.sum(axis=1) == pytest.approx(1.0)


def test_weights_count(library):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(500, 2)), np.tile([0, 1], 250)  # nothing tells the classes apart
    heavy = NativeBooster(library, SETTINGS[library]).fit(X, y, sample_weight=np.where(y == 1, 9.0, 1.0))
    plain = NativeBooster(library, SETTINGS[library]).fit(X, y)
    assert heavy.predict_proba(X)[:, 1].mean() == pytest.approx(0.9, abs=0.05)
    assert plain.predict_proba(X)[:, 1].mean() == pytest.approx(0.5, abs=0.05)
    assert (clone(plain).fit(X, y).predict_proba(X) == plain.predict_proba(X)).all()


def test_copies_and_files_score_alike(library, towns, tmp_path):
    X, y = towns
    frame = pd.DataFrame({"size": X[:, 0], "town": pd.Series(X[:, 1].astype(int)).map("t{}".format)})
    own = NativeBooster(library, SETTINGS[library])
    model = EnsembleRejectClassifier([library, ("own", own)], costs=Costs(1, 5, 0.3), cv=2).fit(frame, y)
    expected = model.predict_proba(frame)
    save(model, tmp_path / "model.skops")
    for copy in (pickle.loads(pickle.dumps(model)), load(tmp_path / "model.skops")):
        assert copy.predict_proba(frame) == pytest.approx(expected, abs=1e-12)
        assert (copy.predict(frame) == model.predict(frame)).all()


def test_a_library_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(ModuleNotFoundError, match=r"needs lightgbm, which is not installed: pip install .*boosters"):
        NativeBooster("lightgbm").fit(np.zeros((4, 1)), np.array([0, 1, 0, 1]))


def test_catboost_looks_at_few_cuts_for_few_cases_and_in_many_columns():
    (member,) = (member for member in ROSTER if member.name == "catboost")

    def cuts(n, p):
        return member.build(Training(n, p, 0, np.empty(0, dtype=np.intp))).settings["border_count"]

    assert (cuts(1_000, 5), cuts(1_001, 5), cuts(50_000, 20), cuts(50_000, 500)) == (32, 254, 100, 32)
