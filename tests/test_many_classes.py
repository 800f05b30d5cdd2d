"""What holds for every estimator that takes three classes or more: labels of any family, classes that are rare or many.

And the other way round: a list of prices for each class is, with two classes, the list of a yes and a no.
"""

import warnings
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.utils import get_tags

from recuse import Costs, DoubleRampSVC, EnsembleRejectClassifier, ExactBoostClassifier, GuaranteedRejectClassifier

from .conftest import LABEL_FAMILIES
from .estimators import ESTIMATORS, each

SEVERAL = [model for model in ESTIMATORS if get_tags(model).classifier_tags.multi_class]
PRICED = [model for model in ESTIMATORS if "costs" in model.get_params() and model.costs is not None]

every_estimator_of_several = each(SEVERAL)


def more_labels(family, n_classes):
    """The sorted classes of a family for two and more of their kind, the reject label, and the type of the answers."""
    classes, _, kind = LABEL_FAMILIES[family]
    first, second = classes.tolist()
    if isinstance(first, str):
        labels = np.array(
            sorted([first, second, *(f"{second} {k}" for k in range(2, n_classes))]), dtype=classes.dtype.kind
        )
        return labels, "[abstain]", classes.dtype.kind
    if family == "int8 full":
        labels = [*range(first, first + n_classes - 1), second]
    else:
        labels = [first + min(second - first, 5) * k for k in range(n_classes)]
    reject_label = next(label for label in (-1, 0, first - 1) if label not in labels)
    return np.array(labels, dtype=classes.dtype), reject_label, kind


@cache
def blobs(n_classes):
    X, y = make_blobs(15 * n_classes, centers=n_classes, n_features=3, cluster_std=0.5, random_state=1)
    return X, y


@cache
def plain_model(position, n_classes):
    """An estimator of the list fitted to class numbers: what every other label must agree with."""
    return fitted(SEVERAL[position], *blobs(n_classes))


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of ten classes some models reject every case, or find no machine for one
        return clone(model).fit(X, y)


@pytest.mark.parametrize("n_classes", [3, 10])
@every_estimator_of_several
def test_labels_of_every_family(model, n_classes):
    plain, (X, codes) = plain_model(SEVERAL.index(model), n_classes), blobs(n_classes)
    answers, scores, forced = plain.predict(X), plain.decision_function(X), plain.decide(X, reasons=False).forced
    for family in LABEL_FAMILIES.keys() - {"bool"}:  # booleans have two values
        labels, reject_label, kind = more_labels(family, n_classes)
        named = fitted(model, X, labels[codes])
        given = named.predict(X)
        assert named.classes_.tolist() == labels.tolist(), family
        assert named.reject_label_ == reject_label, family
        assert kind in (given.dtype, given.dtype.kind), family
        assert given.tolist() == [labels[code] if code >= 0 else reject_label for code in answers.tolist()], family
        # Of ten classes some models reject every case: what they would have answered has names, too.
        assert named.decide(X, reasons=False).forced.tolist() == labels[forced].tolist(), family
        np.testing.assert_allclose(named.decision_function(X), scores, err_msg=family)


# A class of one case: what cannot learn from it says so.
REFUSING_ONE_CASE = {
    ExactBoostClassifier: "1 case of class 3 with a positive weight: at least 2, to choose thresholds",
    GuaranteedRejectClassifier: r"was fitted to the classes \[0, 1, 2\], and y has \[3\], which it was not given",
}


@every_estimator_of_several
def test_a_class_that_occurs_once(model):
    X, y = make_blobs(60, centers=3, n_features=3, cluster_std=0.5, random_state=1)
    y[7] = 3
    if type(model) in REFUSING_ONE_CASE:
        with pytest.raises(ValueError, match=REFUSING_ONE_CASE[type(model)]):
            clone(model).fit(X, y)
        return
    if isinstance(model, DoubleRampSVC):
        with pytest.warns(UserWarning, match="the same answer for every case .* in the machine of 3"):
            clone(model).fit(X, y)
    named = fitted(model, X, y)
    decisions = named.decide(X)
    assert named.classes_.tolist() == [0, 1, 2, 3]
    assert decisions.accepted.mean() > 0.5
    assert (decisions.label == y)[decisions.accepted].mean() > 0.95


@each([model for model in SEVERAL if "cv" in model.get_params()])
def test_a_class_absent_from_a_fold(model):
    X, y = blobs(3)
    order = np.argsort(y)
    X, y = X[order], np.array(["a", "b", "c"])[y[order]]
    folds = [(np.flatnonzero(y != label), np.flatnonzero(y == label)) for label in "abc"]
    model = clone(model).set_params(cv=folds)
    if "rule" in model.get_params():
        model.set_params(rule="tuned")
    refusal = "cv, a list of 3 folds, leaves a fold"
    if isinstance(model, EnsembleRejectClassifier) or "estimator" in model.get_params():
        with pytest.raises(ValueError, match=refusal) as caught:
            model.fit(X, y)
        assert "\n" not in str(caught.value)
    else:
        assert (fitted(model, X, y).predict(X) == y).mean() > 0.5


@every_estimator_of_several
def test_two_hundred_classes(model):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(200, 5)) * 20, 4, axis=0) + rng.normal(size=(800, 5)) * 0.1
    y = np.repeat(np.arange(200), 4)
    if isinstance(model, GuaranteedRejectClassifier):  # its fitting part lacks some of them
        with pytest.raises(ValueError, match=r"fitted to the classes \[0, .* and y has \[.*, which it was not given"):
            fitted(model, X, y)
        return
    named = fitted(model, X, y)
    decisions = named.decide(X[::8])
    assert named.decision_function(X[:3]).shape == (3, 200)
    assert np.isfinite(named.decision_function(X)).all()
    assert ((decisions.label != y[::8]) & decisions.accepted).mean() < 0.05  # right, or left to a person


# Prices by class of two classes


@each(PRICED)
def test_prices_by_class_of_two_are_those_of_a_yes_and_a_no_to_the_last_digit(model, overlapping):
    X, y = overlapping
    for given, same in (
        (Costs(fp=1, fn=3, reject=0.2), Costs(errors=[[0, 1], [3, 0]], reject=0.2)),
        (
            Costs(fp=2, fn=5, reject_negative=0.3, reject_positive=0.5),
            Costs(errors={0: {1: 2}, 1: {0: 5}}, reject={0: 0.3, 1: 0.5}),
        ),
    ):
        by_name, by_class = (fitted(clone(model).set_params(costs=costs), X[:120], y[:120]) for costs in (given, same))
        assert by_class.costs_ == by_name.costs_
        assert by_class.decide(X) == by_name.decide(X)
        np.testing.assert_array_equal(by_class.score(X, y), by_name.score(X, y))
