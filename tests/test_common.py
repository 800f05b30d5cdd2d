"""What holds for every estimator of the library: scikit-learn's own checks, failed fits, prices in any currency."""

import re
import warnings
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import recuse
import recuse.baselines
from recuse import (
    AbstentionBoostingClassifier,
    Costs,
    CoupledOneClassSVC,
    DoubleHingeSVC,
    DoubleRampSVC,
    EnsembleRejectClassifier,
    ExactBoostClassifier,
    ThresholdRejectClassifier,
)
from recuse.baselines import (
    EmbeddedRejectSVC,
    TwoStepBoostingClassifier,
)
from tests.marks import may_reject_all

from .estimators import (
    AMOUNTS,
    CHECKED,
    DRAW,
    ESTIMATORS,
    ON_THRESHOLD,
    QUICK,
    REJECT,
    each,
    every_checked,
    every_estimator,
    every_priced,
)


def expected_failures(estimator):
    failures = {}
    if any(estimator is rejecting for rejecting in REJECT):
        failures["check_classifiers_train"] = "a rejected case has no class"
    if any(estimator is drawing for drawing in DRAW) and not isinstance(estimator, EnsembleRejectClassifier):
        kinds = ("dense", "sparse") if get_tags(estimator).input_tags.sparse else ("dense",)
        for kind in kinds:
            failures[f"check_sample_weight_equivalence_on_{kind}_data"] = "cases are drawn, whatever their weight"
    return failures


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings of their own
@parametrize_with_checks(CHECKED, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    if isinstance(estimator, EnsembleRejectClassifier) and "sample_weight_equivalence" in check.func.__name__:
        # It draws folds; where labels are random it may still pass, as no member counts and no draw matters.
        pytest.skip("cases are drawn, whatever their weight")
    check(estimator)


# A fit that fails


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whether it converged is not the point here
        return clone(model).fit(X, y)


@pytest.fixture(scope="module")
def small(overlapping):
    """A hundred cases as a frame, so that their columns have names, and their classes."""
    X, y = overlapping
    return pd.DataFrame(X[:100], columns=["a", "b", "c", "d"]), y[:100]


@pytest.fixture(scope="module")
def fitted_once(small):
    """Fit each model of the list on the first demand; tests get copies."""
    made = {}

    def get(model):
        number = next(i for i, listed in enumerate(CHECKED) if listed is model)
        if number not in made:
            made[number] = fitted(model, *small)
        return deepcopy(made[number])

    return get


def assert_unchanged_by_a_failing_fit(model, X, y, change, *args):
    """A fit of changed parameters fails; then the attributes are the same objects, and the answers the same."""
    parameters, answers, scores = model.get_params(deep=False), model.predict(X), model.decision_function(X)
    model.set_params(**change)
    before = dict(vars(model))
    with pytest.raises((TypeError, ValueError)):
        model.fit(*args)
    assert before.keys() == vars(model).keys()
    for name, value in before.items():
        assert vars(model)[name] is value, name
    model.set_params(**parameters)
    np.testing.assert_array_equal(model.predict(X), answers)
    np.testing.assert_array_equal(model.decision_function(X), scores)


def narrower(X):
    """Other columns than the model knows."""
    return X[["a", "b"]].rename(columns={"a": "z"})


def bad_parameter(model):
    limit = next(name for name in ("n_rounds", "max_iter", "tol", "C", "on_reject") if name in model.get_params())
    return {limit: "nonsense"}


def spoiled_column(X, value):
    return narrower(X).assign(b=value)


# What is wrong with a fit, by name: parameters to change, cases and labels, as functions of the model and its own.
SPOILS = {
    "one class": (lambda model: {}, narrower, np.zeros_like),
    "a missing label": (lambda model: {}, narrower, lambda y: np.where(np.arange(len(y)) == 3, np.nan, y)),
    "labels of two kinds": (lambda model: {}, narrower, lambda y: np.array([*y[:-1].tolist(), "yes"], dtype=object)),
    "dates for labels": (lambda model: {}, narrower, lambda y: y.astype("M8[D]")),
    "numbers for labels": (lambda model: {}, narrower, lambda y: y + 0.5 * np.arange(len(y))),
    "no labels": (lambda model: {}, narrower, lambda y: None),
    "too few labels": (lambda model: {}, narrower, lambda y: y[:-1]),
    "too few cases": (lambda model: {}, lambda X: narrower(X)[:1], lambda y: y[:1]),
    "no cases": (lambda model: {}, lambda X: narrower(X)[:0], lambda y: y[:0]),
    "infinite cases": (lambda model: {}, lambda X: spoiled_column(X, np.inf), lambda y: y),
    "text in a column": (lambda model: {}, lambda X: spoiled_column(X, "x"), lambda y: y),
    "a bad parameter": (bad_parameter, narrower, lambda y: 1 - y),
    "a bad price": (lambda model: {"costs": -1.0}, narrower, lambda y: 1 - y),
    "a reject label that is a class": (lambda model: {"reject_label": 1}, narrower, lambda y: 1 - y),
    "a positive class that is none": (lambda model: {"pos_label": 5}, narrower, lambda y: 1 - y),
}


@pytest.mark.parametrize("spoil", SPOILS)
@every_checked
def test_a_fit_that_fails_leaves_the_model_as_it_was(model, spoil, fitted_once, small):
    if spoil == "text in a column" and get_tags(model).input_tags.string:
        pytest.skip("it takes text")
    X, y = small
    change, spoil_cases, spoil_labels = SPOILS[spoil]
    change = {name: value for name, value in change(model).items() if name in model.get_params()}
    if spoil_labels(y) is not None and not change and np.array_equal(spoil_labels(y), 1 - y):
        change = bad_parameter(model)  # a ranker has neither prices nor a reject label
    assert_unchanged_by_a_failing_fit(fitted_once(model), X, y, change, spoil_cases(X), spoil_labels(y))
    fresh = clone(model).set_params(**change)
    with pytest.raises((TypeError, ValueError)):
        fresh.fit(spoil_cases(X), spoil_labels(y))
    assert vars(fresh).keys() == fresh.get_params(deep=False).keys()


@each([model for model in ESTIMATORS if not get_tags(model).input_tags.allow_nan])
def test_a_missing_value_leaves_the_model_as_it_was(model, small):
    X, y = small
    assert_unchanged_by_a_failing_fit(fitted(model, X, y), X, y, {}, spoiled_column(X, np.nan), y)


class Failing(LogisticRegression):
    """Fails when it is fitted, or when it scores, or only where it is fitted to part of the cases."""

    def __init__(self, fails_in="fit"):
        super().__init__()
        self.fails_in = fails_in

    def fit(self, X, y, sample_weight=None):
        if self.fails_in == "fit" or (self.fails_in == "folds" and len(y) < 100):
            raise ValueError("no")
        return super().fit(X, y, sample_weight)

    def predict_proba(self, X):
        if self.fails_in == "scores":
            raise ValueError("no")
        return super().predict_proba(X)


class FailingDetector(IsolationForest):
    def fit(self, X, y=None, sample_weight=None):
        raise ValueError("no")


def failing_metric(score, positive):
    raise ValueError("no")


INSIDE = {
    "the estimator": (ThresholdRejectClassifier(LogisticRegression()), {"estimator": Failing()}),
    "the scores": (ThresholdRejectClassifier(LogisticRegression()), {"estimator": Failing("scores")}),
    "a fold": (ThresholdRejectClassifier(LogisticRegression(), rule="tuned"), {"estimator": Failing("folds")}),
    "the detector": (
        ThresholdRejectClassifier(LogisticRegression(), novelty=IsolationForest(n_estimators=5, random_state=0)),
        {"novelty": FailingDetector()},
    ),
    "the guarantee": (ThresholdRejectClassifier(LogisticRegression(), guarantee=0.6), {"estimator": Failing("folds")}),
    "a metric": (ExactBoostClassifier(metric="ks", n_estimators=2), {"metric": failing_metric, "search": "bisection"}),
    "folds": (TwoStepBoostingClassifier(n_rounds=5), {"cv": [([0, 1], [2])]}),
}


@pytest.mark.parametrize("inside", INSIDE)
def test_a_failure_inside_leaves_the_model_as_it_was(inside, small):
    X, y = small
    model, change = INSIDE[inside]
    assert_unchanged_by_a_failing_fit(fitted(model, X, y), X, y, change, X, 1 - y)


# Before a fit, and with labels that do not belong to the cases


@pytest.mark.parametrize("method", ["predict", "decision_function", "score_samples", "decide", "predict_proba"])
@every_estimator
def test_before_a_fit_there_are_no_answers(model, method, small):
    if hasattr(model, method):
        with pytest.raises(NotFittedError):
            getattr(clone(model), method)(small[0])


@every_estimator
def test_score_needs_a_fit_and_a_label_per_case(model, small):
    X, y = small
    with pytest.raises(NotFittedError):
        clone(model).score(X, y)
    model = fitted(model, X, y)
    for other in (y[:-1], np.append(y, 0), y[:0], y[0]):
        with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[100, |1d array"):
            model.score(X, other)
    with pytest.raises(ValueError, match=r"y holds labels that are not among the classes \[0, 1\]: \[7\]"):
        model.score(X, np.where(y == 1, 7, 0))


def test_every_estimator_is_listed():
    exported = [getattr(module, name) for module in (recuse, recuse.baselines) for name in module.__all__]
    estimators = {thing for thing in exported if isinstance(thing, type) and issubclass(thing, BaseEstimator)}
    assert estimators == {type(model) for model in ESTIMATORS}
    assert estimators == {type(model) for model in CHECKED}
    assert estimators == {type(model) for model, _ in ON_THRESHOLD.values()}


# A fit that rejects every training case


@each([*REJECT, *(model for model in ESTIMATORS if "on_reject" in model.get_params())])
def test_a_fit_that_rejects_every_training_case_says_so(model):
    X, y = np.zeros((600, 2)), np.tile([0, 1], 300)  # nothing tells the classes apart
    model = clone(model)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert (model.predict(X) == -1).all()
    said = [warning for warning in caught if "rejects every training case" in str(warning.message)]
    start = rf"{type(model).__name__} rejects every training case at Costs\(fp=1.*\)\. \w+"
    assert re.match(start, str(said[0].message))
    assert [warning.filename for warning in said] == [__file__]
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*rejects every training case")
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        clone(model).set_params(on_reject="never").fit(X, y)
        apart = np.random.default_rng(0).normal(size=X.shape) + 5 * y[:, None]
        clone(model).fit(apart, y)


def test_a_search_says_once_that_every_training_case_is_rejected():
    X, y = np.zeros((60, 2)), np.tile([0, 1], 30)
    model = ThresholdRejectClassifier(LogisticRegression(), costs=0.2)
    for _ in range(2):
        search = GridSearchCV(model, {"estimator__C": [0.1, 1.0]}, scoring="accuracy", cv=2)
        with pytest.warns(UserWarning, match="rejects every training case") as caught:
            search.fit(X, y)
        assert [warning.filename for warning in caught] == [__file__]


def test_cases_without_weight_do_not_count_as_answered(overlapping):
    X, y = overlapping
    X, y = np.vstack([np.zeros((40, 4)), 100 * X]), np.concatenate([np.tile([0, 1], 20), y])
    model = ThresholdRejectClassifier(LogisticRegression(), costs=0.2)
    with pytest.warns(UserWarning, match="rejects every training case"):
        model.fit(X, y, sample_weight=np.arange(len(y)) < 40)
    assert (model.fit(X, y).predict(X[40:]) != -1).any()


# Prices in another currency

FACTORS = [1e-200, 0.01, 1 / 3, 3, 10, 100, 1e4, 1e200]
PRICE_LISTS = [Costs(fp=1, fn=5, reject=0.3), Costs(fp=3, fn=2, reject_negative=1 / 3, reject_positive=0.7)]


def in_currency(costs, factor):
    return Costs(**{name: price * factor for name, price in costs.as_dict().items()})


def amounts_of(model):
    """Every published amount of money, as one array."""
    values = [getattr(model, name) for name in AMOUNTS[type(model)](model)]
    return np.concatenate([np.ravel(list(v.values()) if isinstance(v, dict) else v) for v in [*values, []]])


def assert_same_answers(model, other, X):
    """The same answers, but where a score is within rounding of a threshold."""
    table, others = (each.decide(X, reasons=False) for each in (model, other))
    certain = np.ones(len(X), dtype=bool)
    for name in ("h", "r"):
        here, there = getattr(table, name), getattr(others, name)
        size = np.abs(here).max()
        np.testing.assert_allclose(there, here, rtol=1e-9, atol=1e-9 * size)
        certain &= np.abs(here) > 1e-9 * size
    for name in ("label", "forced", "kind"):
        np.testing.assert_array_equal(getattr(others, name)[certain], getattr(table, name)[certain])


@may_reject_all
@pytest.mark.parametrize("prices", PRICE_LISTS, ids=repr)
@every_priced
def test_prices_in_another_currency_change_no_answer(model, prices, overlapping):
    X, y = overlapping
    model = clone(model).set_params(costs=prices, on_reject="label")
    one = fitted(model, X[:120], y[:120])
    for factor in FACTORS:
        other = fitted(model.set_params(costs=in_currency(prices, factor)), X[:120], y[:120])
        assert_same_answers(one, other, X)
        assert other.costs_ == in_currency(prices, factor)
        assert other.score(X, y) == pytest.approx(one.score(X, y), abs=1e-12)
        np.testing.assert_allclose(amounts_of(other) / factor, amounts_of(one), rtol=1e-9)


@pytest.mark.parametrize("costs", [1e-300, Costs(fp=1, fn=1e200, reject=0.1)], ids=repr)
@every_priced
def test_prices_that_no_sum_can_hold_are_refused(model, costs, overlapping):
    with pytest.raises(
        ValueError, match=r"The prices of Costs\(.*\) are further apart .* give prices of comparable size"
    ):
        clone(model).set_params(costs=costs).fit(*overlapping)


@may_reject_all
def test_reject_prices_by_case_have_the_currency_of_the_others(overlapping):
    X, y = overlapping
    by_case = np.random.default_rng(0).uniform(0.05, 0.45, len(y))
    model = AbstentionBoostingClassifier(family="decoupled", **QUICK)
    one = clone(model).fit(X, y, reject_cost=by_case)
    for factor in FACTORS:
        other = clone(model).set_params(costs=in_currency(Costs(reject=0.2), factor))
        assert_same_answers(one, other.fit(X, y, reject_cost=by_case * factor), X)


# Values without end


@pytest.mark.filterwarnings("ignore")  # of overflow
@pytest.mark.parametrize("size", [1e150, 1e300, 1.7e308])
@pytest.mark.parametrize(
    "model",
    [
        *CHECKED,
        *(
            kind(kernel=kernel)
            for kind in (DoubleHingeSVC, DoubleRampSVC, EmbeddedRejectSVC)
            for kernel in ("linear", "poly")
        ),
    ],
    ids=lambda model: type(model).__name__,
)
def test_no_score_is_nan(model, size, overlapping):
    """A case far from everything is answered or refused, never by a comparison with NaN."""
    X, y = overlapping
    model = fitted(model, X[:100], y[:100])
    far = np.random.default_rng(0).choice([-size, 0.0, 1.0, size], size=(60, X.shape[1]))
    refusal = re.compile("are not numbers: their values are too large to be multiplied|must be finite and at most")
    for name in ("decision_function", "score_samples"):
        try:
            scores = getattr(model, name, lambda X: np.zeros(0))(far)
        except ValueError as refused:
            if not refusal.search(str(refused)):
                raise
        else:
            assert not np.isnan(scores).any()


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


@may_reject_all
@pytest.mark.parametrize("model", UNFINISHED, ids=lambda model: type(model).__name__)
def test_the_convergence_warning_shows_the_line_that_called_fit(model, overlapping):
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(*overlapping)
    assert [warning.filename for warning in caught if warning.category is ConvergenceWarning] == [__file__]
