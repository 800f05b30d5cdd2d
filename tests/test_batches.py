"""Answers never depend on the batch: thresholds are moved onto a case's own score, where the last digit decides."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neural_network import MLPClassifier

from recuse import (
    CoupledOneClassSVC,
    DoubleHingeSVC,
    ThresholdRejectClassifier,
    decide,
)
from recuse.rounding import on_threshold, row_sums
from tests.marks import may_reject_all

from .estimators import ON_THRESHOLD, band_of_scores, bands_around_classifiers, edges_of_regions, products

SIZES = (1, 2, 7, 100, 1000)


@pytest.fixture(scope="module")
def cases():
    X, y = make_classification(
        n_samples=1200, n_features=30, n_informative=12, class_sep=0.6, flip_y=0.15, random_state=5
    )
    return X, y


def answers(model, X):
    """Everything that is said about the cases, but for the digits of the scores."""
    if not hasattr(model, "decide"):
        return [model.predict(X)]
    decisions = decide(model, X, reasons=False)
    np.testing.assert_array_equal(decisions.accepted, decisions.r > 0)
    np.testing.assert_array_equal(decisions.forced == model.classes_[1], decisions.h > 0)
    return [decisions.label, decisions.forced, decisions.kind]


def batches(X, row, rng):
    """Batches of all sizes that hold the case somewhere, in both memory orders, and strided; with its position."""
    for size in SIZES:
        for at in {0, size // 2, size - 1}:
            rows = rng.integers(len(X), size=size)
            rows[at] = row
            yield X[rows], at
            yield np.asfortranarray(X[rows]), at
            yield np.repeat(np.repeat(X[rows], 2, axis=0), 2, axis=1)[::2, ::2], at
    yield X, row
    yield X[::-1], len(X) - 1 - row


def assert_alike(model, X, row, rng, convert=np.asarray):
    alone = answers(model, convert(X[row : row + 1]))
    for batch, at in batches(X, row, rng):
        for said, expected in zip(answers(model, convert(batch)), alone, strict=True):
            assert said[at] == expected[0], (len(batch), at)


def move(model, change):
    for name, value in change.items():
        setattr(model, name, value)


@pytest.mark.parametrize("name", ON_THRESHOLD)
def test_a_case_on_a_threshold_is_answered_alike_in_every_batch(name, cases):
    X, y = cases
    model, thresholds = ON_THRESHOLD[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whether it converged is not the point here
        model = model.fit(X[:400], y[:400])
    rng = np.random.default_rng(0)
    for row in (3, 500):
        # As scored alone, and as scored among others: a difference in the last digit is enough.
        for place in (X[row : row + 1], X[[row, *range(6)]]):
            for change in list(thresholds(model, place)):
                before = {attribute: getattr(model, attribute) for attribute in change}
                move(model, change)
                assert_alike(model, X, row, rng)
                move(model, before)


class Side(OutlierMixin, BaseEstimator):
    """A detector: the cases on one side of a plane are outliers."""

    def fit(self, X, y=None):
        self.coef_ = np.random.default_rng(0).normal(size=X.shape[1])
        self.level_ = np.quantile(X @ self.coef_, 0.3)
        return self

    def decision_function(self, X):
        return X @ self.coef_ - self.level_


def move_detector(model, case):
    detector = clone(model.novelty_).fit(np.asarray(case))
    detector.coef_, detector.level_ = model.novelty_.coef_, float(np.asarray(case)[0] @ model.novelty_.coef_)
    yield {"novelty_": detector}


# Sums of large numbers that cancel, and single precision: rounding is far more than that of the scores.
ROUGH = {
    "probabilities": (LinearDiscriminantAnalysis(), lambda X: X + 1e7, bands_around_classifiers),
    "scores": (RidgeClassifier(), lambda X: X + 1e7, bands_around_classifiers),
    "single precision": (
        MLPClassifier((20,), max_iter=5, random_state=0),
        lambda X: X.astype(np.float32),
        bands_around_classifiers,
    ),
    "novelty": (LogisticRegression(), lambda X: X + 1e6, move_detector),
}


@pytest.mark.parametrize("name", ROUGH)
def test_rough_scores_of_a_wrapped_model_change_no_answer(name, cases):
    X, y = cases
    inner, change_cases, thresholds = ROUGH[name]
    X = change_cases(X)
    novelty = Side() if thresholds is move_detector else None
    model = ThresholdRejectClassifier(inner, rule="tuned", novelty=novelty, cv=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whether it converged is not the point here
        model.fit(X[:400], y[:400])
    rng = np.random.default_rng(0)
    for row in (3, 500, 700):
        for place in (X[row : row + 1], X[[row, *range(6)]], X[[*range(6), row]][-1:], X[row : row + 40]):
            for change in list(thresholds(model, place)):
                move(model, change)
                assert_alike(model, X, row, rng)


@may_reject_all
@pytest.mark.parametrize("machine", [DoubleHingeSVC(), CoupledOneClassSVC()], ids=["one score", "regions"])
def test_sparse_cases_on_a_threshold(machine, cases):
    X, y = cases
    X = np.where(X > 0, X, 0.0)
    thresholds = band_of_scores if isinstance(machine, DoubleHingeSVC) else edges_of_regions
    machine.fit(sparse.csr_matrix(X[:300]), y[:300])
    for change in list(thresholds(machine, sparse.csr_matrix(X[[7, 8]]))):
        move(machine, change)
        assert_alike(machine, X, 7, np.random.default_rng(0), sparse.csr_matrix)


@may_reject_all
@pytest.mark.parametrize("machine", [DoubleHingeSVC(), CoupledOneClassSVC()], ids=["one score", "regions"])
def test_kernel_values_on_a_threshold(machine, cases):
    X, y = cases
    K = products(X, X[:300])
    machine.set_params(kernel="precomputed").fit((K[:300] + K[:300].T) / 2, y[:300])
    thresholds = band_of_scores if isinstance(machine, DoubleHingeSVC) else edges_of_regions
    for change in list(thresholds(machine, K[[7, 8]])):
        move(machine, change)
        assert_alike(machine, K, 7, np.random.default_rng(0))


@pytest.mark.parametrize("width", [1, 3, 30, 4095, 4097, 20_000])
def test_a_sum_over_a_row_depends_on_the_row_alone(width):
    rng = np.random.default_rng(width)
    X, coef = rng.normal(size=(40, width)), rng.normal(size=(width, 2))
    sums = row_sums(X, coef)
    np.testing.assert_allclose(sums, X @ coef, rtol=1e-9, atol=1e-9)
    for rows in ([5], [5, 6], range(7), range(39, -1, -1)):
        for part in (X[rows], np.asfortranarray(X[rows]), np.repeat(X[rows], 2, axis=1)[:, ::2]):
            np.testing.assert_array_equal(row_sums(part, coef), sums[rows])
    np.testing.assert_allclose(row_sums(sparse.csr_matrix(X), coef), sums, rtol=1e-9, atol=1e-9)


def test_scores_within_rounding_of_a_threshold_are_on_it():
    scores = np.array([0.2, 0.2 + 1e-16, 0.2 - 1e-12, 0.2 + 1e-6, 0.8])
    assert on_threshold(scores, (0.2, np.inf)).tolist() == [0.2, 0.2, 0.2, 0.2 + 1e-6, 0.8]
    assert on_threshold(np.array([1e-16, 0.5]), (0.0, 0.0)).tolist() == [0.0, 0.5]
