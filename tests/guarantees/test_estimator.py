"""`GuaranteedRejectClassifier`: around any reject-option classifier, alone or in a Pipeline."""

import pickle

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from recuse import (
    AbstentionBoostingClassifier,
    Costs,
    CoupledOneClassSVC,
    DoubleHingeSVC,
    DoubleRampSVC,
    EnsembleRejectClassifier,
    ExactBoostClassifier,
    GuaranteedRejectClassifier,
    ThresholdRejectClassifier,
    decide,
)
from recuse.guarantees import NoGuaranteeWarning
from recuse.guarantees.splitting import split_rows

rng = np.random.default_rng(0)
X = rng.normal(size=(700, 3))
P = 1 / (1 + np.exp(-2.5 * X[:, 0] - X[:, 1]))
y = (rng.uniform(size=700) < P).astype(int)
NAMES = np.array(["good", "bad"])[y]

INNER = [
    AbstentionBoostingClassifier(family="chow", costs=0.35, n_rounds=20, bags=1),
    CoupledOneClassSVC(costs=0.35),
    DoubleHingeSVC(costs=0.35),
    DoubleRampSVC(costs=0.35, kernel="linear", n_init=1),
    EnsembleRejectClassifier(["logistic"], costs=0.35, cv=2),
    ExactBoostClassifier(metric="reject_cost", costs=0.35, n_estimators=10, n_rounds=20, random_state=0),
    ThresholdRejectClassifier(LogisticRegression(), costs=0.35),
    make_pipeline(StandardScaler(), DoubleHingeSVC(costs=0.35)),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("inner", INNER, ids=lambda inner: type(inner).__name__)
def test_what_is_certified_is_what_is_accepted(inner):
    level = 0.25
    model = GuaranteedRejectClassifier(inner, guarantee=level, confidence=0.8, placing_folds=2).fit(X, y)
    found = model.guarantee_
    assert found.holds
    testing = split_rows(len(X), 0.3, fitted=False, random_state=0).testing
    answers = model.decide(X[testing])
    assert found.n_accepted == answers.accepted.sum() <= found.n_before
    assert found.shown[0].total == (answers.forced != y[testing])[answers.accepted].sum()
    assert found.shown[0].bound <= level
    np.testing.assert_array_equal(model.predict(X) == -1, model.decide(X).rejected)
    np.testing.assert_array_equal(model.score_samples(X) > 0, model.decide(X).accepted)
    # It never answers what the classifier inside rejects.
    assert not (model.decide(X).accepted & decide(model.estimator_, X).rejected).any()


def strict(**options):
    inner = ThresholdRejectClassifier(LogisticRegression(), costs=Costs(fp=1, fn=1, reject=0.45))
    return GuaranteedRejectClassifier(inner, guarantee="error<=0.15", confidence=0.9, **options)


def test_a_case_rejected_for_the_promise_says_so():
    model = strict().fit(X, NAMES)
    assert model.threshold_ > 0
    mine, inner = model.decide(X), decide(model.estimator_, X)
    turned = mine.rejected & inner.accepted
    assert turned.any()
    start = "rejected because the promise needs more certainty: acceptance score "
    assert all(reason.startswith(start) for reason in mine.reason[turned])
    assert set(mine.label[turned]) == {"[abstain]"}
    rejected = inner.rejected
    assert mine.reason[rejected].tolist() == inner.reason[rejected].tolist()
    assert set(model.decide(X, reasons=False).reason) == {""}
    np.testing.assert_allclose(mine.r[turned], inner.r[turned] - model.threshold_)


def test_a_promise_that_fails_leaves_a_model_that_rejects_everything():
    with pytest.warns(NoGuaranteeWarning, match=r"could show error<=0\.\d+.*rows") as said:
        model = strict().set_params(guarantee="error<=0.001").fit(X, y)
    assert [warning.filename for warning in said] == [__file__]
    assert not model.decide(X).accepted.any()
    assert (model.score_samples(X) < 0).all()
    assert "rejected because nothing could be promised of answers" in set(model.decide(X).reason)
    inner = decide(model.estimator_, X)
    assert (np.argsort(inner.r, kind="stable") == np.argsort(model.score_samples(X), kind="stable")).all()


def test_around_a_model_that_is_fitted_already():
    inner = make_pipeline(StandardScaler(), DoubleHingeSVC(costs=0.4)).fit(X[:300], NAMES[:300])
    model = GuaranteedRejectClassifier(FrozenEstimator(inner), guarantee=0.25, confidence=0.9).fit(X[300:], NAMES[300:])
    assert model.estimator_.estimator is inner
    assert model.guarantee_.n_calibration == 320  # the other fifth placed the thresholds
    assert model.n_iter_ == 1
    with pytest.raises(ValueError, match=r"was fitted to the classes .'bad', 'good'., and y has .0, 1"):
        model.fit(X, y)


def test_the_pipeline_outermost_answers_alike():
    inner = make_pipeline(StandardScaler(), ThresholdRejectClassifier(LogisticRegression(), costs=0.45))
    model = strict(placing_folds=2).set_params(estimator=inner).fit(X, NAMES)
    outside = model.as_pipeline()
    assert isinstance(outside, Pipeline)
    assert decide(outside, X) == model.decide(X)
    assert decide(pickle.loads(pickle.dumps(outside)), X) == decide(outside, X)
    plain = strict().fit(X, NAMES)
    assert plain.as_pipeline() is plain


def test_groups_and_another_population():
    groups = np.where(X[:, 2] > 0.8, "few", "many")
    model = GuaranteedRejectClassifier(INNER[-2], guarantee=0.4, confidence=0.8).fit(X, y, promise_groups=groups)
    assert {shown.group for shown in model.guarantee_.shown} == {"few", "many"}
    assert "in group 'few'" in str(model.guarantee_)
    weights = 1 + (X[:, 0] > 0)
    shifted = GuaranteedRejectClassifier(INNER[-2], guarantee=0.4, confidence=0.8, shift_bound=2.0)
    shifted.fit(X, y, shift_weights=weights)
    assert shifted.guarantee_.shifted
    assert shifted.guarantee_.n_calibration < 210
    assert "in the population that the weights describe" in str(shifted.guarantee_)


def test_weights_are_for_the_fit_alone():
    weights = np.where(y == 1, 3.0, 1.0)
    weighted = strict().fit(X, y, sample_weight=weights)
    inner = ThresholdRejectClassifier(LogisticRegression(), costs=0.45)
    fitting = split_rows(len(X), 0.3, fitted=False, random_state=0).fitting
    direct = inner.fit(X[fitting], y[fitting], sample_weight=weights[fitting])
    np.testing.assert_allclose(weighted.decision_function(X), direct.decision_function(X))
    more, present = np.vstack([X, 100 + X[:50]]), np.repeat([1.0, 0.0], [700, 50])
    absent = strict().fit(more, np.append(y, y[:50]), sample_weight=present)
    np.testing.assert_allclose(absent.decision_function(X), strict().fit(X, y).decision_function(X))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"estimator": LogisticRegression()}, TypeError, "LogisticRegression has no reject option"),
        ({"estimator": DoubleHingeSVC}, TypeError, "estimator must be a reject-option classifier"),
        ({"guarantee": "eror<=0.1"}, ValueError, "did you mean 'error'"),
        ({"confidence": 95}, ValueError, r"confidence must be a number in \(0, 1\); got 95"),
        ({"placing_folds": 1}, ValueError, "placing_folds must be 2 or more; got 1"),
        ({"on_reject": "shrug"}, ValueError, "on_reject must be one of"),
    ],
)
def test_bad_parameters_are_refused(change, error, message):
    with pytest.raises(error, match=message):
        strict().set_params(**change).fit(X, y)
