"""EmbeddedRejectSVC: its loss against the definition, its gradient, its band, and what it refuses."""

import pickle

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

import recuse
from recuse import Costs
from recuse.baselines import EmbeddedRejectSVC
from recuse.baselines.embedded import _steps
from recuse.metrics import rejection_rate

PRICES = [Costs(reject=0.2), Costs(fp=1, fn=4, reject_negative=0.2, reject_positive=0.9)]


def problem(seed, costs, n=40):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], n)
    weights = rng.uniform(0.5, 2.0, n)
    return rng.normal(size=n), y, weights, _steps(costs, y, weights, 0.1, 0.05)


def by_definition(f, y, weights, costs, eps):
    """One case at a time, as the model is described."""
    total = 0.0
    for score, label, weight in zip(f, y, weights, strict=True):
        m = label * score
        r = costs.reject_positive if label > 0 else costs.reject_negative
        c = costs.fn if label > 0 else costs.fp
        if m >= 1:
            step = 0.0
        elif m > eps:
            step = 0.1
        elif m >= -eps:
            step = 0.1 + 0.9 * r
        else:
            step = 0.1 + 0.9 * c
        total += weight * (step + 0.05 * max(1 - m, 0) ** 2)
    return total


@pytest.mark.parametrize("costs", PRICES)
@pytest.mark.parametrize("seed", range(5))
def test_the_loss_is_the_one_described(seed, costs):
    f, y, weights, steps = problem(seed, costs)
    for eps in (0.0, 0.3, float(np.abs(f).min()), 1.0):
        assert steps.value(f, eps) == pytest.approx(by_definition(f, y, weights, costs, eps))
    assert steps.smooth(f, 0.3, 1e5)[0] == pytest.approx(steps.value(f, 0.3), rel=1e-6)


@pytest.mark.parametrize("a", [1.0, 20.0])
def test_the_gradient_is_that_of_the_smooth_loss(a):
    f, _, _, steps = problem(0, PRICES[1], n=8)
    point = np.append(f, 0.4)
    numeric = approx_fprime(point, lambda p: steps.smooth(p[:-1], p[-1], a)[0], 1e-7)
    _, by_f, by_eps = steps.smooth(f, 0.4, a)
    np.testing.assert_allclose(np.append(by_f, by_eps), numeric, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("costs", PRICES)
@pytest.mark.parametrize("seed", range(10))
def test_the_band_is_the_best_of_all(seed, costs):
    f, _, _, steps = problem(seed, costs)
    if seed % 2:
        f = np.round(f, 1)  # ties, and scores of exactly 0
    tried = np.concatenate([[0.0, 1.0], np.abs(f)[np.abs(f) <= 1], np.linspace(0, 1, 500)])
    assert steps.value(f, steps.best_band(f)) == pytest.approx(min(steps.value(f, eps) for eps in tried))


def test_objective_band_and_expansion(overlapping):
    X, y = overlapping
    model = EmbeddedRejectSVC(0.2, C=2.0, gamma=0.5).fit(X, y)
    f, signs = model.decision_function(X), np.where(y == 1, 1.0, -1.0)
    K = rbf_kernel(model.support_vectors_, gamma=0.5)
    norm = model.dual_coef_ @ K @ model.dual_coef_
    steps = _steps(Costs(reject=0.2), signs, np.full(len(y), 2.0), 0.1, 0.1)
    assert model.objective_ == pytest.approx(0.5 * norm + steps.value(f, model.epsilon_), rel=1e-6)
    assert model.objective_ < steps.value(np.zeros(len(y)), 0.0)  # better than rejecting every case
    np.testing.assert_array_equal(model.predict(X) == -1, np.abs(f) <= model.epsilon_)
    assert model.residual_ <= model.tol


def test_dearer_rejections_are_fewer(overlapping):
    X, y = overlapping
    rates = [rejection_rate(y, EmbeddedRejectSVC(d, C=5.0).fit(X, y).decide(X)) for d in (0.05, 0.45)]
    assert rates[0] > rates[1]


def test_models_come_back_from_files(tmp_path, overlapping):
    X, y = overlapping
    model = EmbeddedRejectSVC(kernel="linear").fit(X, y)
    recuse.save(model, tmp_path / "model.recuse")
    for copy in (recuse.load(tmp_path / "model.recuse"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    assert len(set(model.decide(X[:9]).reason)) == 9


def test_a_stop_at_the_limit_is_reported(overlapping):
    with pytest.warns(ConvergenceWarning, match="stopped after 7 steps with residual_"):
        EmbeddedRejectSVC(max_iter=1, tol=1e-6).fit(*overlapping)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"costs": 0.5}, "reject"),
        ({"C": 0}, "C must be a finite number greater than 0; got 0"),
        ({"tol": -1}, "tol must be"),
        ({"margin_cost": 1.0}, r"margin_cost must be a number in \[0, 1\); got 1.0"),
        ({"margin_cost": -0.1}, "margin_cost must be"),
        ({"kappa": -1}, "kappa must be a finite number, not negative; got -1"),
        ({"max_iter": 0}, "max_iter must be 1 or more"),
        ({"kernel": "none"}, "kernel must be one of"),
    ],
)
def test_bad_parameters_are_named(overlapping, parameters, message):
    with pytest.raises(ValueError, match=message):
        EmbeddedRejectSVC(**parameters).fit(*overlapping)
