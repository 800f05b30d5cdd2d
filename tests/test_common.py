"""What holds for every estimator of the library: scikit-learn's own checks, and a fit that fails changes nothing."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from recuse import (
    AbstentionBoostingClassifier,
    CoupledOneClassSVC,
    DoubleHingeSVC,
    DoubleRampSVC,
    ExactBoostClassifier,
    ThresholdRejectClassifier,
)
from recuse.baselines import (
    EmbeddedRejectSVC,
    IndependentOneClassSVC,
    KSLinearClassifier,
    RankBoostClassifier,
    TwoStepBoostingClassifier,
)

QUICK = {"n_rounds": 10, "random_state": 0}
RUNS = {"n_estimators": 20, "random_state": 0}
FIXED = {"beta": 0.01, "threshold": "calibrated", **QUICK}

# Nothing is rejected: every check must pass.
NEVER_REJECT = [
    CoupledOneClassSVC(rejection="none"),
    DoubleHingeSVC(costs=0.4999),
    DoubleHingeSVC(costs=0.4999, solver="active_set"),
    DoubleHingeSVC(costs=0.4999, kernel="linear"),
    DoubleRampSVC(on_reject="never"),
    DoubleRampSVC(costs=0.4999, kernel="linear", on_reject="never"),
    DoubleRampSVC(penalty="l2", on_reject="never"),
    EmbeddedRejectSVC(on_reject="never"),
    ThresholdRejectClassifier(LogisticRegression(), on_reject="never"),
    ThresholdRejectClassifier(LinearSVC(), costs=0.4999, rule="tuned"),
    # At any price a learned threshold rejects a narrow band whose held-out cases are all wrong; full coverage does not.
    ThresholdRejectClassifier(LinearSVC(), costs=0.4999, rule="symmetric", coverage=1.0),
    AbstentionBoostingClassifier(costs=0.4999, **QUICK),
    AbstentionBoostingClassifier(family="coupled", on_reject="never", **FIXED),
    AbstentionBoostingClassifier(family="decoupled", costs=0.4, **FIXED),
    AbstentionBoostingClassifier(max_depth=2, costs=0.4999, **QUICK),
    ExactBoostClassifier(metric="auc", subsample=1.0, max_features=1.0, **RUNS),
    ExactBoostClassifier(metric="ks", subsample=1.0, **RUNS),
    ExactBoostClassifier(metric="precision_at_k", subsample=1.0, **RUNS),
    AbstentionBoostingClassifier(family="chow", costs=0.4999, **QUICK),
    IndependentOneClassSVC(rejection="none", tol=1e-10),
    TwoStepBoostingClassifier(costs=0.4999, **QUICK),
    KSLinearClassifier(),
    RankBoostClassifier(n_rounds=20),
]
# Cases are drawn, whatever their weight: a case of weight 2 is not drawn as two cases are.
DRAW = [
    ExactBoostClassifier(**RUNS),
    ExactBoostClassifier(metric="ks", costs=0.3, **RUNS),
    ExactBoostClassifier(metric="reject_cost", on_reject="never", **RUNS),
    ExactBoostClassifier(metric="reject_cost", costs=0.2, **RUNS),
]
# Cases are rejected: the one check that wants a class for each of them fails, as it should.
REJECT = [
    CoupledOneClassSVC(),
    IndependentOneClassSVC(tol=1e-10),
    DoubleHingeSVC(costs=0.2),
    DoubleRampSVC(costs=0.2),
    ThresholdRejectClassifier(LogisticRegression(), costs=0.2),
    ThresholdRejectClassifier(LinearSVC(), costs=0.2, rule="tuned"),
    AbstentionBoostingClassifier(family="coupled", costs=0.2, **FIXED),
    DRAW[-1],
]


def expected_failures(estimator):
    failures = {}
    if any(estimator is rejecting for rejecting in REJECT):
        failures["check_classifiers_train"] = "a rejected case has no class"
    if any(estimator is drawing for drawing in DRAW):
        failures["check_sample_weight_equivalence_on_dense_data"] = "cases are drawn, whatever their weight"
    return failures


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings of their own
@parametrize_with_checks([*NEVER_REJECT, *DRAW[:-1], *REJECT], expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# A fit that fails


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whether it converged is not the point here
        return clone(model).fit(X, y)


def assert_same(before, after):
    assert before.keys() == after.keys()
    for name, value in before.items():
        assert after[name] is value, name


def one_class(model, X, y):
    return model, X[:, :2], np.zeros_like(y)


def bad_price(model, X, y):
    return model.set_params(costs=-1.0), X[:, :2], 1 - y


def bad_parameter(model, X, y):
    limit = next(name for name in ("n_rounds", "max_iter", "tol", "C", "on_reject") if name in model.get_params())
    return model.set_params(**{limit: "nonsense"}), X[:, :2], 1 - y


def infinite_cases(model, X, y):
    return model, np.full((len(y), 2), np.inf), y


@pytest.mark.parametrize("spoil", [one_class, bad_price, bad_parameter, infinite_cases])
@pytest.mark.parametrize(
    "model",
    [*NEVER_REJECT, *DRAW, *REJECT],
    ids=lambda model: type(model).__name__,
)
def test_a_fit_that_fails_leaves_the_model_as_it_was(model, spoil, overlapping):
    X, y = overlapping
    X, y = X[:100], y[:100]
    if spoil is bad_price and "costs" not in model.get_params():
        spoil = one_class
    model = fitted(model, X, y)
    answers, parameters = model.predict(X), model.get_params()
    spoiled, other_X, other_y = spoil(model, X, y)
    before = dict(vars(spoiled))
    with pytest.raises((TypeError, ValueError)):
        spoiled.fit(other_X, other_y)
    assert_same(before, vars(model))
    np.testing.assert_array_equal(model.set_params(**parameters).predict(X), answers)


# A fit that does not converge

UNFINISHED = [
    CoupledOneClassSVC(max_iter=1),
    DoubleHingeSVC(max_iter=1),
    DoubleHingeSVC(max_iter=1, solver="active_set"),
    DoubleRampSVC(max_iter=1, n_init=1),
    AbstentionBoostingClassifier(family="coupled", beta=0.001, corrective=True, n_rounds=2, random_state=0),
    EmbeddedRejectSVC(max_iter=1),
    ExactBoostClassifier(metric="ks", margin=0.99, n_estimators=2, n_rounds=1, random_state=0),
]


@pytest.mark.parametrize("model", UNFINISHED, ids=lambda model: type(model).__name__)
def test_where_warnings_are_errors_an_unfinished_fit_holds_the_new_model(model, overlapping):
    X, y = overlapping
    wider = np.column_stack([X, X[:, 0] ** 2])[::-1]
    refitted = fitted(model, X, y)
    with pytest.raises(ConvergenceWarning):  # warnings are errors in these tests
        refitted.fit(wider, y[::-1])
    new = fitted(model, wider, y[::-1])
    assert vars(refitted).keys() == vars(new).keys()
    assert refitted.n_features_in_ == wider.shape[1]
    for method in ("predict", "decision_function", "score_samples"):
        np.testing.assert_array_equal(getattr(refitted, method)(wider), getattr(new, method)(wider))


@pytest.mark.parametrize("model", UNFINISHED, ids=lambda model: type(model).__name__)
def test_the_convergence_warning_shows_the_line_that_called_fit(model, overlapping):
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(*overlapping)
    assert [warning.filename for warning in caught] == [__file__]
