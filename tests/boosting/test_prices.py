"""Other prices than those of fit, and the bound: refused where they would not hold."""

import numpy as np
import pytest

from recuse import AbstentionBoostingClassifier
from recuse.datasets import make_noise_by_feature

ONE_FOR_ALL = {"loss": "exponential", "b": 1.0, "family": "decoupled", "beta": 0.01, "threshold": "calibrated"}
PLAIN = {"family": "decoupled", "beta": 0.01, "threshold": "calibrated", "n_rounds": 10}


@pytest.fixture(scope="module")
def data():
    return make_noise_by_feature(120, random_state=0)


def test_a_price_by_case_cannot_be_changed(data):
    X, y = data
    model = AbstentionBoostingClassifier(**ONE_FOR_ALL).fit(X, y, reject_cost=np.full(120, 0.4))
    for change in (model.reprice, lambda costs: model.predict(X, costs=costs)):
        with pytest.raises(ValueError, match="no one price to change"):
            change(0.3)


def test_the_printed_step_cannot_be_repriced(data):
    X, y = data
    options = {**ONE_FOR_ALL, "family": "coupled", "step": "paper"}
    with pytest.raises(ValueError, match="step='paper'"):
        AbstentionBoostingClassifier(**options).fit(X, y).reprice(0.3)


def test_repricing_knows_what_was_fitted(data):
    X, y = data
    model = AbstentionBoostingClassifier(**PLAIN).fit(X, y)
    with pytest.raises(ValueError, match="this model has loss='logistic', b=None"):
        model.set_params(loss="exponential", b=1.0).reprice(0.3)
    exact = AbstentionBoostingClassifier(**ONE_FOR_ALL).fit(X, y)
    before = exact.predict(X, costs=0.3)
    np.testing.assert_array_equal(exact.set_params(loss="logistic", b=None, max_depth=2).predict(X, costs=0.3), before)
    twin = AbstentionBoostingClassifier(family="chow", beta=0.01).fit(X, y)
    before = twin.predict(X, costs=0.3)
    np.testing.assert_array_equal(twin.set_params(loss="exponential").predict(X, costs=0.3), before)


def test_the_bound_is_refused_where_it_does_not_hold(data):
    X, y = data
    repriced = AbstentionBoostingClassifier(**ONE_FOR_ALL).fit(X, y).reprice(0.3)
    with pytest.raises(ValueError, match="the prices of fit"):
        repriced.generalization_bound()
    for given in ({"reject_cost": np.full(120, 0.4)}, {"sample_weight": np.arange(1.0, 121.0)}):
        with pytest.raises(ValueError, match="equal weights and one reject price"):
            AbstentionBoostingClassifier(**PLAIN).fit(X, y, **given).generalization_bound()
    with pytest.raises(ValueError, match="needs a loss above the cost"):
        AbstentionBoostingClassifier(**PLAIN, b=20.0).fit(X, y).generalization_bound()
    assert AbstentionBoostingClassifier(**PLAIN).fit(X, y, sample_weight=np.full(120, 2.0)).generalization_bound()
