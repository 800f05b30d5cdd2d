"""Staged predictions, probabilities, importances, progress: what a fitted model tells besides its answers."""

import warnings

import numpy as np
import pytest
from scipy.special import logit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, GroupKFold

import recuse
from recuse import AbstentionBoostingClassifier, Costs, ExactBoostClassifier
from recuse.boosting.exactboost import runs
from tests.marks import may_reject_all

from .test_categories import MODELS, table


def fitted(name):
    X, y = table()
    X.loc[::20, "age"] = np.nan
    return clone(MODELS[name]).fit(X, y), X, y


@pytest.mark.parametrize("name", MODELS)
def test_the_last_stage_is_the_model(name, tmp_path):
    model, X, _ = fitted(name)
    fresh = X.assign(region=X["region"].astype(object).where(np.arange(len(X)) % 7 > 0, None))  # missing only now
    stages = list(model.staged_decision_function(fresh))
    assert len(stages) == model.n_iter_
    np.testing.assert_allclose(stages[-1], model.decision_function(fresh), atol=1e-10)
    np.testing.assert_allclose(list(model.staged_score_samples(fresh))[-1], model.score_samples(fresh), atol=1e-10)
    np.testing.assert_array_equal(list(model.staged_predict(fresh))[-1], model.predict(fresh))
    assert np.ptp(stages[0]) < np.ptp(stages[-1]) or name.startswith("exactboost")
    recuse.save(model, tmp_path / "model.recuse")
    loaded = recuse.load(tmp_path / "model.recuse")
    np.testing.assert_array_equal(list(loaded.staged_decision_function(fresh)), stages)


@pytest.mark.parametrize("name", MODELS)
def test_the_last_stage_is_the_model_on_narrow_numbers(name):
    rng = np.random.default_rng(0)
    X = (rng.integers(0, 11, size=(500, 3)) / 10).astype(np.float32)
    y = (X[:, 0] + X[:, 1] + rng.normal(size=500) * 0.3 > 1).astype(int)
    model = clone(MODELS[name]).fit(X, y)
    fresh = (rng.integers(0, 21, size=(2000, 3)) / 20).astype(np.float32)  # many lie on a cut
    np.testing.assert_allclose(
        list(model.staged_decision_function(fresh))[-1], model.decision_function(fresh), atol=1e-10
    )
    np.testing.assert_allclose(list(model.staged_score_samples(fresh))[-1], model.score_samples(fresh), atol=1e-10)


@may_reject_all
@pytest.mark.parametrize(
    "options", [{}, {"corrective": True, "tol": 0.05}, {"step": "paper"}, {"surrogate": "max"}, {"learning_rate": 0.3}]
)
def test_stages_of_every_step_are_those_of_shorter_fits(options):
    X, y = table()
    whole = AbstentionBoostingClassifier(family="decoupled", beta=0.003, n_rounds=20, threshold="calibrated", **options)
    if "surrogate" in options:  # on the way to the maximum the stages of a shorter fit are others
        stages = list(whole.fit(X, y).staged_decision_function(X))
        np.testing.assert_allclose(stages[-1], whole.decision_function(X), atol=1e-10)
        return
    stages = list(whole.fit(X, y).staged_decision_function(X))
    for n in (3, 10):
        if n <= len(stages):
            short = clone(whole).set_params(n_rounds=n)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # of corrective boosting with so few rounds
                short.fit(X, y)
            # The intercepts of a shorter fit are settled once more at its end.
            np.testing.assert_allclose(np.diff(stages[n - 1]), np.diff(short.decision_function(X)), atol=1e-6)


def test_trees_have_stages():
    X, y = table()
    model = AbstentionBoostingClassifier(costs=0.45, family="chow", max_depth=2, n_rounds=8).fit(X[["age"]], y)
    stages = list(model.staged_decision_function(X[["age"]]))
    assert len(stages) == model.n_iter_
    np.testing.assert_allclose(stages[-1], model.decision_function(X[["age"]]), atol=1e-12)


def test_stages_of_exactboost_are_those_of_fewer_runs():
    X, y = table()
    start = X["age"].to_numpy() / 70
    whole = ExactBoostClassifier(n_estimators=6, random_state=0).fit(X, y, init_score=start)
    stages = list(whole.staged_decision_function(X, init_score=start))
    few = ExactBoostClassifier(n_estimators=2, random_state=0).fit(X, y, init_score=start)
    np.testing.assert_allclose(np.diff(stages[1]), np.diff(few.decision_function(X, start)), atol=1e-12)
    np.testing.assert_allclose(stages[-1], whole.decision_function(X, start), atol=1e-12)


def test_edited_models_have_no_stages():
    model, X, _ = fitted("chow")
    with pytest.raises(ValueError, match="edited, or has pair terms, has no stages"):
        list(model.edit("age", "remove").staged_predict(X))
    with pytest.raises(TypeError, match="takes no init_score"):
        list(model.staged_predict(X, init_score=np.zeros(len(X))))


@pytest.mark.parametrize("costs", [0.2, Costs(fp=1, fn=9, reject=0.6), Costs(fp=30, fn=5, reject=2)])
@pytest.mark.parametrize("pos_label", [0, 1])
def test_probabilities_are_those_of_the_cases_whatever_the_prices(costs, pos_label):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 2))
    truth = 1 / (1 + np.exp(-(1.2 * X[:, 0] - X[:, 1] - 0.7)))
    y = (rng.random(6000) < truth).astype(int)
    model = AbstentionBoostingClassifier(
        costs=costs, family="chow", beta=0.0005, max_bins=32, pos_label=pos_label, n_rounds=150
    ).fit(X[:3000], y[:3000])
    p = model.predict_proba(X[3000:])
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    best = log_loss(y[3000:], LogisticRegression().fit(X[:3000], y[:3000]).predict_proba(X[3000:]))
    assert log_loss(y[3000:], p) < best + 0.03
    assert p[:, 1].mean() == pytest.approx(y[3000:].mean(), abs=0.03)
    shift = logit(p[:, 1]) - model.decision_function(X[3000:])
    assert np.ptp(shift) < 1e-9  # the order of the scores
    # Chow's rule on these probabilities gives the answers of the model.
    prices = model._oriented_costs()
    low = prices.reject_negative / (prices.reject_negative + prices.fn - prices.reject_positive)
    high = (prices.fp - prices.reject_negative) / (prices.fp - prices.reject_negative + prices.reject_positive)
    clear = np.minimum(np.abs(p[:, 1] - low), np.abs(p[:, 1] - high)) > 1e-9
    accepted = (p[:, 1] < low) | (p[:, 1] > high)
    np.testing.assert_array_equal(accepted[clear], model.decide(X[3000:]).accepted[clear])


def test_probabilities_only_where_the_loss_gives_them():
    X, y = table()
    chow = AbstentionBoostingClassifier(costs=0.3, family="chow", beta=0.003, n_rounds=20)
    assert hasattr(chow, "predict_proba")
    assert not hasattr(clone(chow).set_params(loss="exponential"), "predict_proba")
    pair = clone(chow).set_params(family="decoupled").fit(X, y)
    assert not hasattr(pair, "predict_proba")
    automatic = clone(chow).set_params(family="auto", cv=2)
    assert not hasattr(automatic, "predict_proba")
    assert hasattr(automatic.fit(X, y), "predict_proba") == (automatic.family_ == "chow")
    before, after = chow.fit(X, y).predict_proba(X), chow.reprice(0.1).predict_proba(X)
    np.testing.assert_allclose(before, after)


@pytest.mark.parametrize("name", MODELS)
def test_importances_are_shares(name):
    X, y = table()
    rng = np.random.default_rng(1)
    model = clone(MODELS[name]).fit(X.assign(noise=rng.normal(size=len(X))), y)
    importances = model.feature_importances_
    assert importances.shape == (3,)
    assert importances.sum() == pytest.approx(1.0)
    assert (importances >= 0).all()
    assert importances[1] > importances[2]
    assert set(model.importances_) <= {"h", "r"}
    assert "h" in model.importances_
    if name in ("chow", "exactboost"):
        h, _ = model._forms()[0].contributions(model._numbers(X.assign(noise=0.0)))
        spread = np.abs(h[:, :2] - h[:, :2].mean(axis=0)).mean(axis=0)
        assert spread[0] / spread[1] == pytest.approx(importances[0] / importances[1])


@pytest.mark.parametrize(
    "model",
    [AbstentionBoostingClassifier(family="decoupled", beta=0.0, n_rounds=60), ExactBoostClassifier(n_estimators=5)],
    ids=["abstention", "exactboost"],
)
def test_progress_is_shown_when_asked_for(model, capsys):
    X, y = table()
    clone(model).fit(X, y)
    assert capsys.readouterr().err == ""
    shown = clone(model).set_params(verbose=1, random_state=0).fit(X, y)
    said = capsys.readouterr().err
    assert "50 rounds" in said or "5 of 5 runs" in said
    silent = clone(model).set_params(random_state=0).fit(X, y)
    assert capsys.readouterr().err == ""  # the fit that was shown has left nothing behind that goes on showing
    np.testing.assert_array_equal(shown.decision_function(X), silent.decision_function(X))
    with pytest.raises(ValueError, match="verbose"):
        clone(model).set_params(verbose=-1).fit(X, y)


def test_groups_reach_both_inside_a_search():
    X, y = table(200)
    groups = np.arange(200) // 4
    for model in (
        AbstentionBoostingClassifier(costs=0.3, family="decoupled", n_rounds=10, cv=2),
        ExactBoostClassifier(metric="reject_cost", costs=0.3, n_estimators=4, random_state=0),
    ):
        fitted_rows, fit = [], type(model).fit

        def noting(self, X, y, *args, fit=fit, fitted_rows=fitted_rows, **options):
            fitted_rows.append(X.index.to_numpy())
            return fit(self, X, y, *args, **options)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(model), "fit", noting)
            decisions = recuse.cross_val_decide(model, X, y, groups=groups, cv=2)
            search = GridSearchCV(model, {"n_rounds": [5, 10]}, cv=GroupKFold(2)).fit(X, y, groups=groups)
        assert len(decisions) == 200
        assert len(search.cv_results_["mean_test_score"]) == 2
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()
        parts = [rows for rows in fitted_rows if len(rows) < 200]
        assert len(parts) == 2 + 2 * 2  # the folds of cross_val_decide, and those of the search for both values
        for rows in parts:
            assert not set(groups[rows]) & set(np.delete(groups, rows))


def test_groups_stay_together_where_a_fit_holds_cases_out(monkeypatch):
    X, y = table(200)
    groups = np.arange(200) // 4
    options = {"costs": 0.3, "family": "decoupled", "n_rounds": 10, "bags": 1}
    by_groups = AbstentionBoostingClassifier(**options, cv=GroupKFold(2)).fit(X, y, groups=groups)
    folds = list(GroupKFold(2).split(X, y, groups))
    by_folds = AbstentionBoostingClassifier(**options, cv=folds).fit(X, y)
    assert by_groups.held_out_costs_ == pytest.approx(by_folds.held_out_costs_)
    np.testing.assert_allclose(by_groups.decision_function(X), by_folds.decision_function(X), atol=1e-10)
    splits, split = [], runs.split_cases

    def noting(problem, *args):
        used, out = split(problem, *args)
        splits.append((set(problem.groups[used]), set(problem.groups[out])))
        return used, out

    monkeypatch.setattr(runs, "split_cases", noting)
    ExactBoostClassifier(metric="reject_cost", costs=0.3, n_estimators=4, random_state=0).fit(X, y, groups=groups)
    assert len(splits) == 4
    for used, out in splits:
        assert out
        assert not used & out
        assert len(used | out) == 50


def test_rounds_along_a_path_of_penalties_are_stages_too():
    X, y = table()
    model = AbstentionBoostingClassifier(costs=0.45, family="chow", n_rounds=40, cv=2).fit(X[["age"]], y)
    stages = list(model.staged_decision_function(X[["age"]]))
    assert len(stages) == max(model.n_iter_, 1)
    np.testing.assert_allclose(stages[-1], model.decision_function(X[["age"]]), atol=1e-10)
