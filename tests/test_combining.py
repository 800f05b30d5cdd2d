"""Rejections inside scikit-learn's meta-estimators: kept, or of no consequence, or refused; never taken for a class."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.feature_selection import RFE, RFECV, SequentialFeatureSelector
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV, cross_val_predict
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

from recuse import DoubleHingeSVC, ThresholdRejectClassifier
from tests.marks import may_reject_all

from .estimators import ESTIMATORS

SCORES = DoubleHingeSVC(costs=0.15)
PROBABILITIES = ThresholdRejectClassifier(LogisticRegression(), costs=0.15)
REJECTING = [model for model in ESTIMATORS if "on_reject" in model.get_params()]


@pytest.fixture(scope="module")
def data():
    """Three overlapping classes; many cases are worth rejecting at a price of 0.15."""
    return make_classification(
        n_samples=180, n_features=4, n_informative=4, n_redundant=0, n_classes=3, class_sep=1.2, random_state=0
    )


def two_classes(X, y):
    return X, (y > 0).astype(int)


def three_classes(X, y):
    return X, y


def two_columns(X, y):
    return X, np.column_stack([y > 0, y > 1]).astype(int)


def bagging(model, **options):
    return BaggingClassifier(model, n_estimators=4, random_state=0, **options)


def stacking(model, **options):
    return StackingClassifier([("model", model), ("other", LogisticRegression())], cv=3, **options)


class Wrapper(ClassifierMixin, BaseEstimator):
    """A class of the user, which hands everything on."""

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, X, y, sample_weight=None):
        self.estimator_ = clone(self.estimator).fit(X, y, sample_weight=sample_weight)
        self.classes_ = self.estimator_.classes_
        return self

    def predict(self, X):
        return self.estimator_.predict(X)


def accepted_and_right(model, X, y):
    """A scorer of the user."""
    return np.mean(model.predict(X) == y)


# These would take the label of a rejection for a class, a vote or the value of a feature.
LOUD = {
    "bagging": (bagging, SCORES, two_classes),
    "bagging in processes": (lambda model: bagging(model, n_jobs=2), SCORES, two_classes),
    "bagging, out of bag": (lambda model: BaggingClassifier(model, 30, oob_score=True), SCORES, two_classes),
    "bagging pipelines": (lambda model: bagging(make_pipeline(StandardScaler(), model)), SCORES, two_classes),
    "bagging searches": (lambda model: bagging(GridSearchCV(model, {"costs": [0.15]}, cv=2)), SCORES, two_classes),
    "bagging wrappers": (lambda model: bagging(Wrapper(model)), SCORES, two_classes),
    "AdaBoost of wrappers": (lambda model: AdaBoostClassifier(Wrapper(model), n_estimators=3), SCORES, two_classes),
    "AdaBoost": (lambda model: AdaBoostClassifier(model, n_estimators=3), SCORES, two_classes),
    "AdaBoost, probabilities": (lambda model: AdaBoostClassifier(model, n_estimators=3), PROBABILITIES, three_classes),
    "hard voting": (
        lambda model: VotingClassifier([("model", model), ("other", LogisticRegression())]),
        SCORES,
        two_classes,
    ),
    "stacking answers": (lambda model: stacking(model, stack_method="predict"), SCORES, two_classes),
    "stacking answers in processes": (
        lambda model: stacking(model, stack_method="predict", n_jobs=2),
        SCORES,
        two_classes,
    ),
    "last in a stack": (
        lambda model: StackingClassifier([("first", LogisticRegression())], model, cv=3),
        SCORES,
        two_classes,
    ),
    "one against one": (OneVsOneClassifier, SCORES, three_classes),
    "a chain": (lambda model: ClassifierChain(model, random_state=0), SCORES, two_columns),
    "a chain with folds": (lambda model: ClassifierChain(model, cv=3, random_state=0), SCORES, two_columns),
}
# These do not look at answers, but at scores or probabilities.
RIGHT = {
    "bagging": (bagging, PROBABILITIES, two_classes),
    "soft voting": (
        lambda model: VotingClassifier([("model", model), ("other", LogisticRegression())], voting="soft"),
        PROBABILITIES,
        two_classes,
    ),
    "stacking scores": (stacking, SCORES, two_classes),
    "stacking probabilities": (stacking, PROBABILITIES, three_classes),
    "calibration": (lambda model: CalibratedClassifierCV(model, cv=3), SCORES, two_classes),
    "another threshold": (lambda model: TunedThresholdClassifierCV(model, cv=3), SCORES, two_classes),
    "one against the rest": (OneVsRestClassifier, SCORES, three_classes),
    "output codes": (lambda model: OutputCodeClassifier(model, random_state=0), SCORES, three_classes),
    # A scorer inside bagging sees the rejections, and counts them as it is written to.
    "bagging searches": (
        lambda model: bagging(GridSearchCV(model, {"costs": [0.15]}, scoring="accuracy", cv=2)),
        PROBABILITIES,
        two_classes,
    ),
    "bagging searches by a user's scorer": (
        lambda model: bagging(GridSearchCV(model, {"costs": [0.15]}, scoring=accepted_and_right, cv=2)),
        PROBABILITIES,
        two_classes,
    ),
}
# These hand the answers on, rejections and all.
KEPT = {
    "Pipeline": (lambda model: make_pipeline(StandardScaler(), model), SCORES),
    "GridSearchCV": (lambda model: GridSearchCV(model, {"costs": [0.15]}, cv=2), SCORES),
    "RFE": (lambda model: RFE(model, n_features_to_select=3), clone(SCORES).set_params(kernel="linear")),
    "RFECV": (lambda model: RFECV(model, cv=2), clone(SCORES).set_params(kernel="linear")),
    "SequentialFeatureSelector": (
        lambda model: make_pipeline(SequentialFeatureSelector(model, n_features_to_select=2, cv=2), model),
        SCORES,
    ),
}


def never(model):
    return clone(model).set_params(on_reject="never")


@may_reject_all
@pytest.mark.parametrize("name", LOUD)
def test_a_rejection_is_never_combined(name, data):
    build, model, prepare = LOUD[name]
    X, y = prepare(*data)
    with pytest.raises(ValueError, match=r"rejected \d+ cases inside (\w+), which combines .* on_reject='never', and"):
        build(clone(model)).fit(X, y).predict(X)
    answers = build(never(model)).fit(X, y).predict(X)
    assert set(np.unique(answers)) <= set(np.unique(y))


def by_own_score(model):
    """A search whose scorers see rejections, and whose answers hand them on."""
    return GridSearchCV(model, {"costs": [0.15]}, cv=2)


@pytest.mark.parametrize(
    "wrap", [lambda model: model, lambda model: make_pipeline(StandardScaler(), model), by_own_score]
)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_stack_of_answers_is_refused_when_it_is_fitted(wrap, n_jobs, data):
    """Wherever it is fitted: a worker process does not see for whom it works, but the clone was told."""
    X, y = two_classes(*data)
    with pytest.raises(ValueError, match="inside StackingClassifier"):
        stacking(wrap(clone(SCORES)), stack_method="predict", n_jobs=n_jobs).fit(X, y)


@may_reject_all
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_stack_of_scores_in_processes_is_fitted_and_its_members_still_reject(n_jobs, data):
    X, y = two_classes(*data)
    member = GridSearchCV(clone(SCORES), {"costs": [0.15]}, scoring="accuracy", cv=2)
    stack = stacking(member, n_jobs=n_jobs).fit(X, y)
    kept = stack.named_estimators_["model"]
    assert -1 in kept.predict(X)
    assert -1 in cross_val_predict(kept, X, y, cv=2, n_jobs=n_jobs)
    assert not any("stack" in name for name in vars(kept.best_estimator_))


@pytest.mark.parametrize("name", RIGHT)
def test_a_rejection_is_of_no_consequence(name, data):
    build, model, prepare = RIGHT[name]
    X, y = prepare(*data)
    assert np.isin(-1, clone(model).fit(X[y < 2], y[y < 2]).predict(X))
    answers, forced = (build(inner).fit(X, y).predict(X) for inner in (clone(model), never(model)))
    np.testing.assert_array_equal(answers, forced)


@may_reject_all
@pytest.mark.parametrize("name", KEPT)
def test_a_rejection_is_kept(name, data):
    build, model = KEPT[name]
    X, y = two_classes(*data)
    kept, forced = (build(inner).fit(X, y).predict(X) for inner in (clone(model), never(model)))
    assert -1 in kept
    assert (kept >= 0).any()
    np.testing.assert_array_equal(kept[kept >= 0], forced[kept >= 0])


def test_a_rejection_is_kept_by_functions_and_by_columns(data):
    X, y = two_classes(*data)
    answers = clone(SCORES).fit(X, y).predict(X)
    assert -1 in answers
    np.testing.assert_array_equal(FrozenEstimator(clone(SCORES).fit(X, y)).predict(X), answers)
    assert -1 in cross_val_predict(SCORES, X, y, cv=3)
    assert -1 in MultiOutputClassifier(SCORES).fit(*two_columns(*data)).predict(X)
    assert np.isfinite(permutation_importance(clone(SCORES).fit(X, y), X, y, n_repeats=2).importances).all()


def test_self_training_keeps_rejections(data):
    X, y = two_classes(*data)
    partly = np.where(np.arange(len(y)) % 3 == 0, -1, y)
    kept, forced = (SelfTrainingClassifier(m).fit(X, partly).predict(X) for m in (PROBABILITIES, never(PROBABILITIES)))
    assert -1 in kept
    np.testing.assert_array_equal(kept[kept >= 0], forced[kept >= 0])


@may_reject_all
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", REJECTING, ids=lambda model: type(model).__name__)
def test_no_estimator_is_combined_with_its_rejections(model, data):
    X, y = two_classes(*data)
    model = clone(model)
    assert -1 in clone(model).fit(X, y).predict(X)
    with pytest.raises(ValueError, match=f"{type(model).__name__} rejected .* inside AdaBoostClassifier"):
        AdaBoostClassifier(model, n_estimators=2).fit(X, y)


@may_reject_all
def test_text_is_refused_like_numbers(data):
    X, y = two_classes(*data)
    with pytest.raises(ValueError, match="inside AdaBoostClassifier"):
        AdaBoostClassifier(SCORES, n_estimators=2).fit(X, np.array(["no", "yes"])[y])


def test_a_classifier_that_never_rejects_is_combined(data):
    X, y = two_classes(*data)
    certain = DoubleHingeSVC(costs=0.4999)
    combined = bagging(certain).fit(X, y).predict(X)
    np.testing.assert_array_equal(combined, bagging(never(certain)).fit(X, y).predict(X))
