"""scikit-learn's own checks on every estimator of the library."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from recuse import (
    AbstentionBoostingClassifier,
    CoupledOneClassSVC,
    DoubleHingeSVC,
    DoubleRampSVC,
    ThresholdRejectClassifier,
)
from recuse.baselines import (
    ChowBoostingClassifier,
    EmbeddedRejectSVC,
    IndependentOneClassSVC,
    TwoStepBoostingClassifier,
)

QUICK = {"n_rounds": 10, "random_state": 0}
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
    ThresholdRejectClassifier(LinearSVC(), costs=0.4999, rule="symmetric"),
    AbstentionBoostingClassifier(costs=0.4999, **QUICK),
    AbstentionBoostingClassifier(family="coupled", on_reject="never", **FIXED),
    AbstentionBoostingClassifier(family="decoupled", costs=0.4, **FIXED),
    AbstentionBoostingClassifier(max_depth=2, costs=0.4999, **QUICK),
    ChowBoostingClassifier(costs=0.4999, **QUICK),
    IndependentOneClassSVC(rejection="none", tol=1e-10),
    TwoStepBoostingClassifier(costs=0.4999, **QUICK),
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
]


def expected_failures(estimator):
    if not any(estimator is rejecting for rejecting in REJECT):
        return {}
    names = ["check_classifiers_train"]
    if isinstance(estimator, CoupledOneClassSVC | IndependentOneClassSVC):
        names += ["check_classifiers_classes"]  # its clouds overlap, and no price forbids to say so
    return dict.fromkeys(names, "a rejected case has no class")


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings of their own
@parametrize_with_checks([*NEVER_REJECT, *REJECT], expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
