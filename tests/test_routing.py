"""Sample weights, groups and other arguments of `fit` reach what takes them, with and without metadata routing."""

import inspect

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from recuse import AbstentionBoostingClassifier, ExactBoostClassifier, ThresholdRejectClassifier, cross_val_decide
from tests.marks import may_reject_all

from .estimators import ESTIMATORS


class Recorder(ClassifierMixin, BaseEstimator):
    """Logistic regression that remembers what its last `fit` was given besides the cases."""

    def fit(self, X, y, sample_weight=None, groups=None, extra=None):
        self.given_ = {"sample_weight": sample_weight, "groups": groups, "extra": extra}
        self.model_ = LogisticRegression().fit(X, y, sample_weight)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


class GroupsNeeded(GroupKFold):
    """Folds by groups that remember how they were asked for."""

    def __init__(self, n_splits=3):
        super().__init__(n_splits)
        self.seen = []

    def split(self, X, y=None, groups=None):
        self.seen.append(groups)
        return super().split(X, y, groups)


@pytest.fixture
def cases(overlapping):
    """Cases, classes, weights and groups."""
    X, y = overlapping
    return X, y, 1.0 + np.arange(len(y)) % 3, np.arange(len(y)) // 4


@pytest.fixture
def routing():
    with config_context(enable_metadata_routing=True):
        yield


def given(model):
    """Which arguments the recorder inside a fitted classifier was given."""
    return {name for name, value in model.estimator_.given_.items() if value is not None}


# Without metadata routing


@pytest.mark.parametrize("rule", ["chow", "tuned"])
@pytest.mark.parametrize("wrap", [lambda model: model, lambda model: make_pipeline(StandardScaler(), model)])
def test_groups_reach_a_search(rule, wrap, cases):
    X, y, _, groups = cases
    search = GridSearchCV(wrap(LogisticRegression()), {}, cv=GroupKFold(3))
    fitted = ThresholdRejectClassifier(search, rule=rule, cv=3).fit(X, y, groups=groups)
    direct = GridSearchCV(wrap(LogisticRegression()), {}, cv=GroupKFold(3)).fit(X, y, groups=groups)
    assert fitted.estimator_.best_score_ == direct.best_score_


def test_groups_reach_the_search_at_the_end_of_a_pipeline(cases):
    X, y, _, groups = cases
    search = GridSearchCV(LogisticRegression(), {}, cv=GroupKFold(3))
    ThresholdRejectClassifier(make_pipeline(StandardScaler(), search)).fit(X, y, groups=groups)  # needs its groups


def test_a_search_whose_folds_ignore_groups_says_so(cases):
    X, y, _, groups = cases
    search = GridSearchCV(LogisticRegression(), {}, cv=2)
    with pytest.warns(UserWarning, match="groups parameter is ignored"):
        ThresholdRejectClassifier(search).fit(X, y, groups=groups)


def test_groups_and_more_reach_a_classifier_that_takes_them(cases):
    X, y, weights, groups = cases
    model = ThresholdRejectClassifier(Recorder(), rule="tuned", cv=3)
    fitted = model.fit(X, y, sample_weight=weights, groups=groups, extra=weights + 1)
    assert given(fitted) == {"sample_weight", "groups", "extra"}
    assert given(model.fit(X, y)) == set()
    with pytest.raises(TypeError, match="unknown"):
        model.fit(X, y, unknown=weights)


def test_arguments_are_cut_with_the_cases(cases):
    X, y, weights, _ = cases
    held = ThresholdRejectClassifier(Recorder(), guarantee=0.6, calibration_size=0.5).fit(X, y, extra=np.arange(len(y)))
    assert len(held.estimator_.given_["extra"]) == len(y) // 2
    weights[:10] = 0
    fitted = ThresholdRejectClassifier(Recorder()).fit(X, y, sample_weight=weights, extra=np.arange(len(y)))
    assert fitted.estimator_.given_["extra"].tolist() == list(range(10, len(y)))


def test_cross_val_decide_hands_groups_to_a_search(cases):
    X, y, _, groups = cases
    search = GridSearchCV(ThresholdRejectClassifier(LogisticRegression()), {}, cv=GroupKFold(3))
    decisions = cross_val_decide(search, X, y, groups=groups, cv=3)  # the inner folds cannot do without
    assert len(decisions) == len(y)


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_every_estimator_with_inner_folds_takes_groups(model):
    has_folds = "cv" in model.get_params() or isinstance(model, ExactBoostClassifier)
    assert ("groups" in inspect.signature(model.fit).parameters) == has_folds


@pytest.mark.parametrize("model", [m for m in ESTIMATORS if "cv" in m.get_params()], ids=lambda m: type(m).__name__)
def test_groups_reach_the_splitter_in_cv(model, cases):
    X, y, _, groups = cases
    splitter = GroupsNeeded()
    chosen = {"rule": "tuned"} if "rule" in model.get_params() else {"threshold": "tuned"}
    model = type(model)(**{**model.get_params(deep=False), "cv": splitter})
    if next(iter(chosen)) in model.get_params():
        model.set_params(**chosen)
    model.fit(X, y, groups=groups)
    assert splitter.seen
    for seen in splitter.seen:
        assert len(np.unique(seen)) == len(np.unique(groups))


# Weights


@may_reject_all
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "model",
    [m for m in ESTIMATORS if "sample_weight" in inspect.signature(m.fit).parameters],
    ids=lambda model: type(model).__name__,
)
def test_one_number_weights_every_case(model, cases):
    X, y, _, _ = cases
    by_number, by_case = (type(model)(**model.get_params(deep=False)).fit(X, y, w) for w in (2.0, np.full(len(y), 2.0)))
    np.testing.assert_allclose(by_number.decision_function(X), by_case.decision_function(X))
    assert by_number.score(X, y, sample_weight=3.0) == pytest.approx(by_number.score(X, y))
    for bad, message in ((-1.0, "not negative"), (np.nan, "finite"), (0.0, "zero for every case"), ("a", "numbers")):
        with pytest.raises(ValueError, match=f"sample_weight .*{message}"):
            model.fit(X, y, sample_weight=bad)


def test_weights_must_fit_the_cases(cases):
    X, y, weights, _ = cases
    with pytest.raises(ValueError, match="one value per case"):
        ThresholdRejectClassifier(LogisticRegression()).fit(X, y, sample_weight=weights[:-1])
    with pytest.raises(TypeError, match="estimator=KNeighborsClassifier cannot be fitted with it"):
        ThresholdRejectClassifier(KNeighborsClassifier()).fit(X, y, sample_weight=2.0)


# With metadata routing


@pytest.mark.usefixtures("routing")
def test_weights_follow_the_request_of_the_estimator(cases):
    X, y, weights, _ = cases
    plain = LogisticRegression().fit(X, y)
    weighted = LogisticRegression().fit(X, y, sample_weight=weights)
    for request, expected in ((True, weighted), (False, plain)):
        inner = LogisticRegression().set_fit_request(sample_weight=request)
        fitted = ThresholdRejectClassifier(inner).fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(fitted.estimator_.coef_, expected.coef_)
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        ThresholdRejectClassifier(LogisticRegression()).fit(X, y, sample_weight=weights)


@pytest.mark.usefixtures("routing")
def test_the_thresholds_use_the_weights_in_any_case(cases):
    X, y, _, _ = cases
    inner = LogisticRegression().set_fit_request(sample_weight=False)
    model = ThresholdRejectClassifier(inner, rule="tuned")
    heavy = np.where(y == 1, 20.0, 1.0)
    assert model.fit(X, y, sample_weight=heavy).thresholds_ != model.fit(X, y).thresholds_


@pytest.mark.usefixtures("routing")
def test_arguments_may_have_other_names(cases):
    X, y, weights, groups = cases
    inner = Recorder().set_fit_request(sample_weight="importance", extra=True, groups=False)
    splitter = GroupKFold(3).set_split_request(groups="patients")
    fitted = ThresholdRejectClassifier(inner, rule="tuned", cv=splitter).fit(
        X, y, importance=weights, extra=weights, patients=groups
    )
    assert given(fitted) == {"sample_weight", "extra"}
    with pytest.raises(TypeError, match="unexpected argument"):
        ThresholdRejectClassifier(inner).fit(X, y, unknown=weights)


@may_reject_all
@pytest.mark.usefixtures("routing")
def test_groups_go_to_the_folds_of_a_search_that_wants_them(cases):
    X, y, _, groups = cases
    search = GridSearchCV(LogisticRegression(), {}, cv=GroupKFold(3))
    fitted = ThresholdRejectClassifier(search, rule="tuned", cv=3).fit(X, y, groups=groups)
    assert fitted.estimator_.best_score_ == search.fit(X, y, groups=groups).best_score_
    indifferent = GridSearchCV(LogisticRegression(), {}, cv=KFold(3))
    ThresholdRejectClassifier(indifferent).fit(X, y, groups=groups)  # has not asked for them
    outer = GridSearchCV(fitted.set_fit_request(groups=True), {}, cv=GroupKFold(3))
    decisions = cross_val_decide(outer, X, y, groups=groups, cv=3)
    assert len(decisions) == len(y)


@pytest.mark.usefixtures("routing")
def test_the_detector_has_requests_of_its_own(cases):
    X, y, weights, _ = cases
    inner = LogisticRegression().set_fit_request(sample_weight=False)
    for request in (True, False):
        detector = OneClassSVM().set_fit_request(sample_weight=request)
        fitted = ThresholdRejectClassifier(inner, novelty=detector).fit(X, y, sample_weight=weights)
        direct = detector.fit(X, sample_weight=weights if request else None)
        np.testing.assert_allclose(fitted.novelty_.decision_function(X), direct.decision_function(X))
    frozen = FrozenEstimator(inner.fit(X, y))
    ThresholdRejectClassifier(frozen).fit(X, y, sample_weight=weights)  # is not fitted, and wants nothing


@pytest.mark.usefixtures("routing")
def test_through_meta_estimators_on_both_sides(cases):
    X, y, weights, groups = cases
    inner = make_pipeline(StandardScaler(), Recorder().set_fit_request(sample_weight=True, groups=True, extra=False))
    inner[0].set_fit_request(sample_weight=False)
    model = ThresholdRejectClassifier(inner).set_fit_request(sample_weight=True, groups=True)
    model.set_score_request(sample_weight=True)
    outer = GridSearchCV(model, {"costs": [0.2]}, cv=GroupKFold(3)).fit(X, y, sample_weight=weights, groups=groups)
    recorded = outer.best_estimator_.estimator_[-1].given_
    np.testing.assert_array_equal(recorded["sample_weight"], weights)
    assert len(np.unique(recorded["groups"])) == len(np.unique(groups))
    calibrated = CalibratedClassifierCV(model.set_fit_request(groups=False), cv=2).fit(X, y, sample_weight=weights)
    assert calibrated.calibrated_classifiers_[0].estimator.estimator_[-1].given_["groups"] is None
    cross_val_score(model, X, y, params={"sample_weight": weights}, cv=2, error_score="raise")


@may_reject_all
@pytest.mark.usefixtures("routing")
def test_boosting_says_what_it_takes(cases):
    X, y, weights, groups = cases
    boosting = AbstentionBoostingClassifier(n_rounds=3, family="chow").set_fit_request(groups=True, sample_weight=True)
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    fitted = make_pipeline(scaler, boosting).fit(X, y, sample_weight=weights, groups=groups)
    direct = AbstentionBoostingClassifier(n_rounds=3, family="chow")
    direct.fit(StandardScaler().fit_transform(X), y, weights, groups=groups)
    np.testing.assert_allclose(fitted.decision_function(X), direct.decision_function(StandardScaler().fit_transform(X)))
