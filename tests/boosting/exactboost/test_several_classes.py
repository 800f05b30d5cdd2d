"""ExactBoost of three or more classes: a machine for each against the rest, on features that are coded once."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import recuse
from recuse import Costs, ExactBoostClassifier, ThresholdRejectClassifier
from recuse.boosting.exactboost import several
from recuse.one_versus_rest import against_the_rest

PRICES = Costs(errors=[[0, 1, 1], [1, 0, 2], [1, 5, 0]], reject=[0.3, 0.2, 0.4])
QUICK = {"n_estimators": 10, "n_rounds": 15, "random_state": 0}


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


@pytest.fixture(scope="module")
def rejecting(wine):
    return ExactBoostClassifier(metric="reject_cost", costs=PRICES, **QUICK).fit(*wine)


@pytest.mark.parametrize(
    "options",
    [
        {"metric": "auc"},
        {"metric": "ks", "costs": 0.3},
        {"metric": "precision_at_k", "k": 40},
        {"metric": "reject_cost", "costs": 0.2},
        {"metric": "auc", "margin": 0.05, "max_bins": None},
    ],
    ids=["auc", "ks", "precision", "reject_cost", "margin"],
)
def test_each_machine_is_that_of_two_classes(options, wine):
    X, y = wine
    model = ExactBoostClassifier(**options, **QUICK).fit(X, y)
    for k in range(3):
        two = ExactBoostClassifier(**options, **QUICK).fit(X, (y == k).astype(int))
        np.testing.assert_array_equal(model.machines_[k].decision_function(X), two.decision_function(X))
        np.testing.assert_array_equal(model.decision_function(X)[:, k], two.decision_function(X))
        assert tuple(model.thresholds_[k]) == two.thresholds_
        assert model.objectives_[k] == two.objective_
        np.testing.assert_array_equal(model.history_["objective"][k], two.history_["objective"])
    assert model.objective_ == pytest.approx(model.objectives_.sum())
    assert model.n_iter_ == 10


def test_at_prices_by_class_each_machine_has_weighted_sides(wine, rejecting):
    X, y = wine
    unit = PRICES.cheaper_error
    for k, problem in enumerate(against_the_rest(PRICES.normalised(), np.bincount(y).astype(float))):
        two = ExactBoostClassifier(metric="reject_cost", costs=problem.costs, **QUICK)
        two.fit(X, problem.positive[y].astype(int), problem.factors[y])
        machine = rejecting.machines_[k]
        assert machine.objective_ == pytest.approx(two.objective_ * unit)
        # Bins of weighted cases are others, of few cases with few values: the same order of the cases.
        assert roc_auc_score(two.decision_function(X) > 0, machine.decision_function(X)) > 0.95


def test_features_are_coded_once(wine, monkeypatch):
    coded = []
    code = several.code_cases

    def counted(*args):
        coded.append(1)
        return code(*args)

    monkeypatch.setattr(several, "code_cases", counted)
    ExactBoostClassifier(**QUICK).fit(*wine)
    assert len(coded) == 1


def test_answers_by_the_highest_score(wine, rejecting):
    X, y = wine
    h, upper = rejecting.decision_function(X), rejecting.thresholds_[:, 1] - rejecting.threshold_
    best = h.argmax(axis=1)
    expected = np.where(h[np.arange(len(X)), best] > upper[best], best, -1)
    np.testing.assert_array_equal(rejecting.predict(X), expected)
    assert 0 < (expected == -1).sum() < len(X) / 2
    assert rejecting.score(X, y) > 0.9
    ranked = ExactBoostClassifier(**QUICK).fit(X, y)
    np.testing.assert_array_equal(ranked.predict(X), ranked.decision_function(X).argmax(axis=1))
    assert ranked.score(X, y) > 0.95


def test_decisions(wine, rejecting):
    X, _ = wine
    decisions = rejecting.decide(X)
    rejected = decisions[~decisions.accepted]
    assert all("confusing them costs" in reason for reason in rejected.reason)
    assert all(f"either {case.forced!r}" in case.reason and repr(case.second) in case.reason for case in rejected)
    assert all("above its threshold" in reason for reason in decisions.reason)
    ranked = ExactBoostClassifier(**QUICK).fit(*wine).decide(X)
    assert all("the highest score" in reason for reason in ranked.reason)
    for i in range(0, len(X), 20):
        assert rejecting.predict(X[i : i + 1])[0] == decisions.label[i]


def test_weights(wine):
    X, y = wine
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    every = {"subsample": 1.0, "max_features": 1.0, "metric": "auc", **QUICK}
    weighted = ExactBoostClassifier(**every).fit(X, y, weights)
    count = weights.astype(int)
    repeated = ExactBoostClassifier(**every).fit(np.repeat(X, count, axis=0), np.repeat(y, count))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-9)
    with pytest.raises(ValueError, match="no case of class 2"):
        ExactBoostClassifier(**QUICK).fit(X, y, (y != 2).astype(float))


def test_saving_pickling_and_searching(wine, rejecting, tmp_path):
    X, y = wine
    recuse.save(rejecting, tmp_path / "model.recuse")
    for copy in (pickle.loads(pickle.dumps(rejecting)), recuse.load(tmp_path / "model.recuse")):
        assert copy.decide(X) == rejecting.decide(X)
        assert copy.objective_ == rejecting.objective_
    quick = ExactBoostClassifier(metric="reject_cost", costs=0.2, **QUICK)
    search = GridSearchCV(make_pipeline(StandardScaler(), quick), {"exactboostclassifier__n_rounds": [1, 20]}, cv=3)
    assert search.fit(X, y).best_params_ == {"exactboostclassifier__n_rounds": 20}
    calibrated = ThresholdRejectClassifier(ExactBoostClassifier(**QUICK), costs=PRICES, calibration="sigmoid")
    assert calibrated.fit(X, y).score(X, y) > 0.9


def test_what_the_machines_publish(wine, rejecting):
    X, y = wine
    assert len(rejecting.shape_functions_) == len(rejecting.stumps_) == len(rejecting.weights_) == 3
    assert rejecting.feature_importances_.sum() == pytest.approx(1)
    table = rejecting.shape_table()
    assert table.columns[0] == "class"
    assert set(table["class"]) == {0, 1, 2}
    stages = list(rejecting.staged_decision_function(X))
    assert len(stages) == 10
    np.testing.assert_allclose(stages[-1], rejecting.decision_function(X), atol=1e-12)
    np.testing.assert_array_equal(list(rejecting.staged_predict(X))[-1], rejecting.predict(X))
    assert rejecting.machines_[0].costs_.thresholds[1] == pytest.approx(
        against_the_rest(PRICES, np.bincount(y).astype(float))[0].costs.thresholds[1]
    )
    for refused in (
        lambda: rejecting.edit(0, "remove"),
        lambda: rejecting.margin_losses(X, y, [0.0]),
        rejecting.generalization_bound,
    ):
        with pytest.raises(ValueError, match="is for two classes; the model has 3"):
            refused()
    with pytest.raises(ValueError, match="monotonic_cst says how the score of one class"):
        ExactBoostClassifier(monotonic_cst=np.ones(13)).fit(X, y)
    with pytest.raises(ValueError, match="names one of two classes"):
        ExactBoostClassifier(pos_label=1).fit(X, y)


def test_initial_scores_by_class(wine):
    X, y = wine
    start = np.column_stack([X[:, 6], -X[:, 0], X[:, 9]])
    model = ExactBoostClassifier(**QUICK).fit(X, y, init_score=start)
    two = ExactBoostClassifier(**QUICK).fit(X, (y == 1).astype(int), init_score=start[:, 1])
    np.testing.assert_array_equal(model.decision_function(X, start)[:, 1], two.decision_function(X, start[:, 1]))
    assert model.decide(X, start).accepted.all()
    with pytest.raises(ValueError, match="178 rows of 3 finite numbers"):
        ExactBoostClassifier(**QUICK).fit(X, y, init_score=start[:, 0])
    with pytest.raises(ValueError, match="fitted with init_score"):
        model.predict(X)


def test_warm_start_adds_runs_to_every_machine(wine):
    X, y = wine
    model = ExactBoostClassifier(metric="reject_cost", warm_start=True, **QUICK).fit(X, y)
    model.set_params(n_estimators=15).fit(X, y)
    cold = ExactBoostClassifier(metric="reject_cost", **QUICK | {"n_estimators": 15}).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), cold.decision_function(X), atol=1e-12)
    for other, n_classes in (((y == 1).astype(int), 2), (np.arange(len(y)) % 4, 4)):
        with pytest.raises(ValueError, match=f"that was to 3 classes and y has {n_classes}"):
            model.fit(X, other)
    with pytest.raises(ValueError, match="the cases differ"):
        model.fit(X, y[::-1])


def test_missing_values_categories_and_groups(wine):
    X, y = wine
    frame = pd.DataFrame(X[:, :3], columns=list("abc"))
    frame.loc[::7, "a"] = np.nan
    frame["d"] = pd.Categorical(np.array(["x", "y", "z"])[(y + (np.arange(len(y)) % 5 == 0)) % 3])
    groups = np.arange(len(y)) // 3
    model = ExactBoostClassifier(metric="reject_cost", costs=0.3, n_estimators=20, random_state=0)
    model.fit(frame, y, groups=groups)
    assert model.categories_ == {3: ("x", "y", "z")}
    assert model.score(frame, y) > 0.8
    with pytest.raises(ValueError, match="all cases of class 2 in one group"):
        model.fit(frame, y, groups=np.where(y == 2, 999, groups))


def test_a_new_fit_leaves_nothing_of_the_last(wine):
    X, y = wine
    one = (y == 1).astype(int)
    model = ExactBoostClassifier(**QUICK)
    several, two = clone(model).fit(X, y), clone(model).fit(X, one)
    assert set(vars(clone(model).fit(X, y).fit(X, one))) == set(vars(two))
    assert set(vars(clone(model).fit(X, one).fit(X, y))) == set(vars(several))


def test_a_class_of_one_case_and_many_classes(wine):
    X, y = wine
    rare = np.where(np.arange(len(y)) == 5, 3, y)
    with pytest.raises(ValueError, match=r"subsample=0\.2 leaves no case of the class 3"):
        ExactBoostClassifier(**QUICK).fit(X, rare)
    with pytest.raises(ValueError, match="1 case of class 3 with a positive weight: at least 2"):
        ExactBoostClassifier(metric="reject_cost", **QUICK).fit(X, rare)
    assert ExactBoostClassifier(subsample=1.0, **QUICK).fit(X, rare).decision_function(X).shape[1] == 4
    rng = np.random.default_rng(0)
    centres = rng.uniform(0, 100, size=(200, 2))
    X, y = np.repeat(centres, 5, axis=0) + rng.normal(0, 0.05, size=(1000, 2)), np.repeat(np.arange(200), 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ExactBoostClassifier(n_estimators=1, n_rounds=30, max_bins=None, max_features=1.0, random_state=0)
        assert (model.fit(X, y).predict(X) == y).mean() > 0.2
