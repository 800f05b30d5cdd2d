"""Weights, groups, folds and columns: what the ensemble is fitted to, whatever the units and containers."""

import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.fixes import parse_version

from recuse import Costs, EnsembleRejectClassifier
from recuse.ensemble import ROSTER
from recuse.ensemble.bagging import line_score
from recuse.folds import TimeFolds, make_folds
from tests.marks import may_reject_all

PRICES = Costs(fp=1, fn=5, reject=0.3)
INSTALLED = [member.name for member in ROSTER if member.installed]
# Neighbours and the network take no weights, and leaves that are pure do not feel them: a forest does, but only since
# scikit-learn 1.9, which draws the cases of a tree by their weights.
UNWEIGHTED = {"neighbours", "network", "extra-trees-fine"}
if parse_version(sklearn.__version__) < parse_version("1.9"):
    UNWEIGHTED.add("forest")
WEIGHTED = [name for name in INSTALLED if name not in UNWEIGHTED]


@pytest.fixture(scope="module")
def cases():
    return make_classification(240, 6, n_informative=4, class_sep=0.7, flip_y=0.1, random_state=0)


@pytest.mark.parametrize("member", INSTALLED)
def test_a_case_of_weight_0_is_absent(cases, member):
    """Wrong, and far away: neither classes nor scales may know of it."""
    X, y = cases
    folds = make_folds(3, y, random_state=0)
    extra = np.full((6, X.shape[1]), 1e6)
    weights = np.concatenate([np.ones(len(y)), np.zeros(6)])
    longer = [(np.concatenate([train, np.arange(240, 246)]), test) for train, test in folds]
    few = EnsembleRejectClassifier([member], costs=PRICES, rule="chow", cv=folds).fit(X, y)
    more = EnsembleRejectClassifier([member], costs=PRICES, rule="chow", cv=longer)
    more.fit(np.vstack([X, extra]), np.concatenate([y, 1 - y[:6]]), sample_weight=weights)
    assert more.predict_proba(X) == pytest.approx(few.predict_proba(X), abs=1e-9)
    assert more.held_out_costs_ == pytest.approx(few.held_out_costs_)


@pytest.mark.parametrize("member", WEIGHTED)
def test_members_are_fitted_with_weights(cases, member):
    """Weight on one class moves every member towards it, before anything is calibrated."""
    X, y = cases
    weights = np.where(y == 1, 20.0, 1.0)
    new = 2 * np.random.default_rng(1).normal(size=(500, X.shape[1]))

    def mean_score(given):
        model = EnsembleRejectClassifier([member], costs=PRICES, rule="chow", cv=2).fit(X, y, sample_weight=given)
        (bagged,) = model.members_
        return np.mean([line_score(each, model._see(model._read(new))[bagged.view]) for each in bagged.models])

    low, high = mean_score(None), mean_score(weights)
    if member == "exactboost":  # AUC does not change with the weight of a class
        assert high == pytest.approx(low, abs=0.2)
    else:
        assert high > low + 0.2


@pytest.mark.parametrize("unit", [2.0**-13, 2.0**10])  # exact, so that trees break ties alike
@pytest.mark.parametrize("rule", ["chow", "tuned", "learned"])
def test_the_unit_of_the_weights_does_not_matter(cases, unit, rule):
    X, y = cases
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    one, other = (
        EnsembleRejectClassifier(["logistic", "extra-trees"], costs=PRICES, rule=rule, cv=3).fit(X, y, given)
        for given in (weights, unit * weights)
    )
    assert other.weights_ == pytest.approx(one.weights_, abs=1e-6)
    assert other.thresholds_ == pytest.approx(one.thresholds_)
    assert other.held_out_costs_ == pytest.approx(one.held_out_costs_)


def test_weights_of_one_class_only_are_refused(cases):
    X, y = cases
    with pytest.raises(ValueError, match="Only cases of one class have a positive sample_weight"):
        EnsembleRejectClassifier(["logistic"]).fit(X, y, sample_weight=(y == 1).astype(float))


def test_one_held_out_part_is_refused_in_a_sentence(cases):
    X, y = cases
    for cv in (ShuffleSplit(1, random_state=0), [(np.arange(100), np.arange(100, 240))]):
        with pytest.raises(ValueError, match=r"holds out too little.*Use two folds or more"):
            EnsembleRejectClassifier(["logistic"], cv=cv).fit(X, y)


def test_an_empty_test_part_is_no_fold(cases):
    X, y = cases
    folds = make_folds(3, y, random_state=0)
    with_empty = [*folds, (np.arange(240), np.arange(0))]
    one, other = (EnsembleRejectClassifier(["logistic"], cv=cv).fit(X, y) for cv in (folds, with_empty))
    assert len(other.members_[0].models) == 3
    assert other.predict_proba(X) == pytest.approx(one.predict_proba(X))


class Recorder(ClassifierMixin, BaseEstimator):
    """Scores a case by its first column, and knows which outcomes it saw."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-X[:, 0]))
        return np.column_stack([1 - p, p])


@may_reject_all
def test_over_time_what_is_judged_is_set_by_what_came_before():
    """The world turns round after two thirds: only what is set with the future in sight could know it there."""
    rng = np.random.default_rng(0)
    n = 1_200
    X = rng.normal(size=(n, 1))
    turned = np.where(np.arange(n) < 800, 1, -1)
    y = (rng.random(n) < 1 / (1 + np.exp(-3 * turned * X[:, 0]))).astype(int)
    model = EnsembleRejectClassifier([("fixed", Recorder())], costs=Costs(1, 1, 0.4), rule="chow", cv=TimeFolds(5))
    model.fit(X, y)
    # Blocks 2 to 5 of 6 are judged; the last two are wrong more often than not, and whoever is surprised pays.
    assert model.held_out_costs_["blend"] > 0.35


@may_reject_all
def test_figures_of_members_are_calibrated_on_other_cases():
    """On noise a member costs no less than a constant, also in the log loss."""
    rng = np.random.default_rng(0)
    excess = []
    for seed in range(12):
        X, y = rng.normal(size=(40, 3)), (rng.random(40) < 0.4).astype(int)
        if min(y.sum(), 40 - y.sum()) < 5:
            continue
        model = EnsembleRejectClassifier(["logistic"], costs=Costs(1, 1, 0.45), rule="chow", random_state=seed)
        model.fit(X, y)
        share = y.mean()
        entropy = -share * np.log(share) - (1 - share) * np.log(1 - share)
        excess.append(model.held_out_log_loss_["logistic"] - entropy)
    assert np.mean(excess) > 0


def test_a_member_whose_scores_are_not_finite_is_left_out(cases):
    class Broken(GaussianNB):
        def predict_proba(self, X):
            return np.where(X[:, :1] > 1.5, np.nan, super().predict_proba(X))

    X, y = cases
    model = EnsembleRejectClassifier(["logistic", ("broken", Broken())]).fit(X, y)
    assert list(model.weights_) == ["logistic"]
    assert "not finite" in model.left_out_["broken"]


class Slow(LogisticRegression):
    """Takes its time, which the roster knows nothing of."""

    def fit(self, X, y, sample_weight=None):
        time.sleep(0.3)
        return super().fit(X, y, sample_weight)


def test_a_member_that_takes_too_long_is_given_up_between_folds(cases):
    X, y = cases
    model = EnsembleRejectClassifier(["logistic", ("slow", Slow())], time_limit=1.0, n_jobs=1).fit(X, y)
    assert list(model.weights_) == ["logistic"]
    assert model.left_out_["slow"] == "given up: not done within time_limit=1 seconds"


def test_names_that_would_hide_figures_are_refused(cases):
    X, y = cases
    with pytest.raises(ValueError, match="must not be called 'blend'"):
        EnsembleRejectClassifier(["logistic", ("blend", GaussianNB())]).fit(X, y)
    with pytest.raises(ValueError, match="different names"):
        EnsembleRejectClassifier(["logistic", ("logistic regression", GaussianNB())]).fit(X, y)


def test_entries_of_the_roster_are_members_and_may_be_changed(cases):
    X, y = cases
    changed = replace(ROSTER[0], name="mine", title="mine", build=lambda _: LogisticRegression(C=0.01))
    model = EnsembleRejectClassifier([ROSTER[0], changed]).fit(X, y)
    assert sorted(model.weights_) == ["logistic", "mine"]


def test_categories_by_truth_values_and_whatever_type_their_numbers_have():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 6, 300)
    frame = pd.DataFrame({"kind": kind, "x": rng.normal(size=300)})
    y = np.where(np.isin(kind, [1, 4]) ^ (rng.random(300) < 0.1), 1, 0)
    model = EnsembleRejectClassifier(["logistic"], categorical_features=[True, False]).fit(frame, y)
    assert model._categorical_columns.tolist() == [True, False]
    with_gap = frame.astype({"kind": float})
    assert model.predict_proba(with_gap) == pytest.approx(model.predict_proba(frame))
    with pytest.raises(ValueError, match="must hold 2 truth values"):
        EnsembleRejectClassifier(["logistic"], categorical_features=[True]).fit(frame, y)


def test_times_with_a_zone_durations_and_empty_columns():
    rng = np.random.default_rng(0)
    days = pd.Series(pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 200), unit="D"))
    frame = pd.DataFrame(
        {
            "zoned": days.dt.tz_localize("Europe/Berlin"),
            "plain": days,
            "lasted": pd.to_timedelta(rng.integers(1, 50, 200), unit="h"),
            "empty": np.full(200, np.nan),
        }
    )
    y = (frame["plain"].dt.month > 5).to_numpy().astype(int)
    model = EnsembleRejectClassifier(["logistic", "extra-trees", "exactboost"], cv=3).fit(frame, y)
    assert model.left_out_ == {}
    assert (model.decide(frame).forced == y).mean() > 0.95
    with pytest.raises(ValueError, match="The column 'lasted' holds 'long', where a model"):
        model.predict(frame.assign(lasted="long"))
