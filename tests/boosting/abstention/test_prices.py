"""Other prices than those of fit, and the bound: refused where they would not hold."""

import numpy as np
import pytest

from recuse import AbstentionBoostingClassifier, Costs
from recuse.boosting.abstention.engine.losses import LOSSES
from recuse.boosting.abstention.engine.surrogates import Surrogate, forced_boundary
from recuse.datasets import make_noise_by_feature
from tests.marks import may_reject_all

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


@may_reject_all
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
    ruled = AbstentionBoostingClassifier(family="chow", beta=0.01).fit(X, y)
    before = ruled.predict(X, costs=0.3)
    np.testing.assert_array_equal(ruled.set_params(loss="exponential").predict(X, costs=0.3), before)


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


ASYMMETRIC = [
    Costs(fp=1, fn=5, reject=0.4),
    Costs(fp=3, fn=1, reject_negative=0.3, reject_positive=0.2),
    Costs(fp=2, fn=1, reject_negative=0.2, reject_positive=0.6),
    Costs(fp=1, fn=10, reject_negative=0.05, reject_positive=2.0),
]


@may_reject_all
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("costs", ASYMMETRIC)
@pytest.mark.parametrize(
    "options", [{"family": "coupled"}, {"family": "coupled", "surrogate": "max"}, {"family": "chow"}]
)
def test_the_forced_class_is_the_cheaper_one(options, costs, loss):
    shared = {"costs": costs, "loss": loss, "beta": 0.05, "threshold": "calibrated", **options}
    for eta in (0.03, 0.08, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.92, 0.97):
        y = (np.arange(200) < round(200 * eta)).astype(int)
        price = {0: eta * costs.fn, 1: (1 - eta) * costs.fp}
        rejecting = eta * costs.reject_positive + (1 - eta) * costs.reject_negative
        if abs(price[0] - price[1]) < 1e-3 or abs(min(price.values()) - rejecting) < 1e-3:
            continue
        model = AbstentionBoostingClassifier(**shared).fit(np.zeros((200, 1)), y)
        decision = model.decide([[0.0]])[0]
        assert decision.forced == min(price, key=price.get)
        assert decision.accepted == (min(price.values()) < rejecting)
        assert (model.decision_function([[0.0]])[0] > 0) == decision.forced
        assert model.set_params(on_reject="never").predict([[0.0]])[0] == decision.forced


@may_reject_all
def test_repriced_models_force_the_cheaper_class_too():
    y = (np.arange(200) < 50).astype(int)
    X = np.zeros((200, 1))
    before, after = Costs(fp=1, fn=2, reject=0.4), Costs(fp=3, fn=6, reject=1.2)
    for options in (ONE_FOR_ALL, {"family": "chow", "beta": 0.05}):
        model = AbstentionBoostingClassifier(costs=before, **options).fit(X, y)
        direct = AbstentionBoostingClassifier(costs=after, **options).fit(X, y)
        assert np.isclose(model.reprice(after).decision_function(X[:1]), direct.decision_function(X[:1]), atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("p", [1.0, 8.0])
def test_the_boundary_is_where_the_odds_are(loss, p):
    surrogate, r = Surrogate(loss, 2.0, 0.3, p), np.linspace(-4, 0, 9)
    h = forced_boundary(surrogate, 0.7, r)
    odds = surrogate.log_slope_u(r + h, r) - surrogate.log_slope_u(r - h, r)
    np.testing.assert_allclose(odds, 0.7, atol=1e-9)
    near = r > -1
    wrong, right = (surrogate.slopes(u, -2.0 * r)[0][near] for u in (r + h, r - h))
    np.testing.assert_allclose(np.log(wrong / right), 0.7, atol=1e-4)
    np.testing.assert_allclose(forced_boundary(surrogate, 0.7, np.array([3.0])), h[-1:])
