"""Files made by other hands, or saved from a fit that went wrong: numbers that no model can answer with."""

import dataclasses

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC

from recuse import AbstentionBoostingClassifier, DoubleHingeSVC, ThresholdRejectClassifier
from recuse.persistence import load, save
from tests.marks import may_reject_all
from tests.persistence.examples import LABELS, X, fit_example


def with_array(name, change):
    def spoil(model):
        setattr(model, name, change(np.array(getattr(model, name), dtype=float)))

    return spoil


def with_nan(array):
    array.flat[0] = np.nan
    return array


def with_infinity(array):
    array.flat[-1] = np.inf
    return array


def without_last(array):
    return array[..., :-1]


def with_a_shape(**changes):
    def spoil(model):
        shapes = model._pair.form.shapes
        shapes[0] = dataclasses.replace(shapes[0], **{name: change(shapes[0]) for name, change in changes.items()})

    return spoil


def with_a_surface(**changes):
    def spoil(model):
        surfaces = model._pair.form.surfaces
        surfaces[0] = dataclasses.replace(
            surfaces[0], **{name: change(surfaces[0]) for name, change in changes.items()}
        )

    return spoil


def pair_booster():
    return AbstentionBoostingClassifier(family="chow", n_rounds=4, beta=0.01, interactions=2, max_bins=6)


def booster():
    return AbstentionBoostingClassifier(family="decoupled", n_rounds=4, beta=0.01, threshold="calibrated")


def with_odd_text(model):
    model.classes_ = model.classes_.copy()
    model.classes_.view(np.uint32)[0] = 0x110000


SPOILED = {
    "odd text": (LogisticRegression(), with_odd_text),
    "coef_ NaN": (LogisticRegression(), with_array("coef_", with_nan)),
    "coef_ short": (LogisticRegression(), with_array("coef_", without_last)),
    "intercept_ infinite": (LogisticRegression(), with_array("intercept_", with_infinity)),
    "mean_ short": (StandardScaler(), with_array("mean_", without_last)),
    "components_ short": (PCA(2), with_array("components_", without_last)),
    "dual_coef_ short": (SVC(), with_array("dual_coef_", without_last)),
    "support vectors short": (SVC(), with_array("support_vectors_", without_last)),
    "dual_coef_ NaN": (DoubleHingeSVC(), with_array("dual_coef_", with_nan)),
    "dual_coef_ too short": (DoubleHingeSVC(), with_array("dual_coef_", without_last)),
    "thresholds NaN": (DoubleHingeSVC(), lambda model: setattr(model, "thresholds_", (np.nan, 1.0))),
    "cuts NaN": (booster(), with_a_shape(cuts=lambda shape: with_nan(shape.cuts.copy()))),
    "h short": (booster(), with_a_shape(h=lambda shape: shape.h[:-1])),
    "feature outside": (booster(), with_a_shape(feature=lambda shape: 3)),
    "pair cuts NaN": (
        pair_booster(),
        with_a_surface(cuts=lambda surface: (with_nan(surface.cuts[0].copy()), surface.cuts[1])),
    ),
    "pair table short": (pair_booster(), with_a_surface(h=lambda surface: surface.h[:, :-1])),
    "pair table infinite": (pair_booster(), with_a_surface(r=lambda surface: with_infinity(surface.r.copy()))),
    "pair outside": (pair_booster(), with_a_surface(features=lambda surface: (0, 3))),
}


@may_reject_all
@pytest.mark.parametrize(("model", "spoil"), SPOILED.values(), ids=SPOILED)
def test_numbers_no_model_can_answer_with_are_refused(path, model, spoil):
    model.fit(X, LABELS)
    save(model, path)
    load(path)
    spoil(model)
    save(make_pipeline(StandardScaler(), model), path)
    expected = r"model.skops could not be turned into a model again \(\w+ (holds|is not|does not belong)"
    with pytest.raises(ValueError, match=expected) as caught:
        load(path)
    assert "\n" not in str(caught.value)


@may_reject_all
def test_infinite_thresholds_and_absent_certificates_are_no_damage(path):
    model = ThresholdRejectClassifier(LogisticRegression(), costs=0.3).fit(X, LABELS)
    model._region = dataclasses.replace(model._region, lower=-np.inf, upper=np.inf)
    save(model, path)
    assert load(path)._region.upper == np.inf
    boosted = fit_example("abstention_boosting.exponential")
    save(boosted, path)
    assert load(path).predict(X).tolist() == boosted.predict(X).tolist()


@may_reject_all
def test_an_inner_model_has_features_of_its_own(path):
    inner = make_pipeline(PolynomialFeatures(2), booster())
    model = ThresholdRejectClassifier(inner, rule="tuned", cv=3).fit(X, LABELS)
    assert max(shape.feature for shape in model.estimator_[-1].shape_functions_) > model.n_features_in_
    save(model, path)
    assert load(path).predict(X).tolist() == model.predict(X).tolist()
