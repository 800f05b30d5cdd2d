import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from recuse import Costs, DoubleHingeSVC
from recuse.svm import double_hinge_path
from tests.marks import may_reject_all

CS = [10.0, 0.1, 1.0]
PRICES = [0.2, Costs(fp=1, fn=4, reject=0.3), 0.45]


@may_reject_all
@pytest.mark.parametrize("solver", ["smo", "active_set"])
def test_every_point_is_the_fit_by_itself(overlapping, solver):
    X, y = overlapping
    weights = np.random.default_rng(0).uniform(0, 2, len(y))
    path = double_hinge_path(X, y, CS, PRICES, sample_weight=weights, solver=solver, tol=1e-7)
    f = path.scores(X[:50])
    assert f.shape == (3, 3, 50)
    assert path.converged.all()
    for a, costs in enumerate(PRICES):
        for c, C in enumerate(CS):
            alone = DoubleHingeSVC(costs, C=C).fit(X, y, weights)
            assert path.objective[a, c] == pytest.approx(alone.objective_, rel=1e-6)
            np.testing.assert_allclose(f[a, c], alone.decision_function(X[:50]) + alone.break_even_, atol=1e-4)
            assert 0 <= path.dual_gap[a, c] + 1e-9 <= 1e-5 * path.objective[a, c]


@pytest.mark.parametrize("solver", ["smo", "active_set"])
def test_warm_starts_save_steps(overlapping, solver):
    X, y = overlapping
    grid = np.geomspace(0.1, 30, 8)
    path = double_hinge_path(X, y, grid, 0.2, solver=solver)
    alone = [double_hinge_path(X, y, [C], 0.2, solver=solver).n_iter[0, 0] for C in grid]
    assert path.n_iter.sum() < 0.8 * sum(alone)


def test_other_kernels(overlapping):
    X, y = overlapping
    linear = double_hinge_path(X, y, CS, 0.2, kernel="linear")
    precomputed = double_hinge_path(X @ X.T, y, CS, 0.2, kernel="precomputed")
    np.testing.assert_allclose(linear.scores(X), precomputed.scores(X @ X.T), atol=5e-3)
    np.testing.assert_allclose(linear.objective, precomputed.objective, rtol=1e-4)


def test_values_are_checked(overlapping):
    with pytest.raises(ValueError, match="Cs must be"):
        double_hinge_path(*overlapping, [1.0, -2.0])
    with pytest.raises(ValueError, match="Cs must be"):
        double_hinge_path(*overlapping, [])
    with pytest.raises(ValueError, match="Rejecting never pays"):
        double_hinge_path(*overlapping, [1.0], 0.7)


def test_many_cases_of_few_features():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3200, 3)), rng.integers(0, 2, 3200)
    X[:, 0] += y
    weights = (np.arange(3200) % 4 > 0).astype(float)
    path = double_hinge_path(X, y, [0.1, 1.0], [0.2, 0.4], kernel="linear", sample_weight=weights)
    alone = DoubleHingeSVC(0.4, C=1.0, kernel="linear").fit(X, y, weights)
    np.testing.assert_allclose(path.scores(X)[1, 1], alone.decision_function(X), atol=1e-6)
    assert not path.dual_coef[:, :, weights == 0].any()


def test_an_offset_costs_no_digits_in_scores(overlapping):
    X, y = overlapping
    X = np.round(X, 3)
    near, far = (double_hinge_path(cases, y, [0.1, 1.0], gamma=0.5, tol=1e-6) for cases in (X, X + 1e7))
    np.testing.assert_allclose(far.scores(X + 1e7), near.scores(X), atol=1e-4)


def test_costs_may_be_an_array(overlapping):
    X, y = overlapping
    path = double_hinge_path(X, y, np.array([0.1, 1.0]), np.array([0.1, 0.3]))
    assert path.objective.shape == (2, 2)
    assert path.costs == double_hinge_path(X, y, [0.1], [0.1, 0.3]).costs


@pytest.mark.parametrize(
    "settings",
    [
        *({"Cs": Cs} for Cs in (["1"], [True], [1.0, None], [], "12", 1.0)),
        {"costs": []},
        {"max_iter": 0},
        {"max_iter": "a"},
        {"cache_size": -1},
        {"cache_size": "a"},
    ],
)
def test_settings_are_checked_as_those_of_the_estimator(overlapping, settings):
    name = next(iter(settings))
    with pytest.raises(ValueError, match=f"{name} must"):
        double_hinge_path(*overlapping, **{"Cs": [1.0], **settings})


def test_unfinished_fits_are_warned_of_once(overlapping):
    with pytest.warns(ConvergenceWarning, match="stopped 2 of 2 fits") as record:
        path = double_hinge_path(*overlapping, [1.0, 10.0], max_iter=2)
    assert len(record) == 1
    assert not path.converged.any()


@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed"])
def test_cases_of_another_width_are_refused(overlapping, kernel):
    X, y = overlapping
    cases = X @ X.T if kernel == "precomputed" else X
    path = double_hinge_path(cases, y, [1.0], kernel=kernel)
    with pytest.raises(ValueError, match="X must have"):
        path.scores(cases[:, :-1])


def test_the_positive_class_and_class_weights_are_those_of_the_estimator(overlapping):
    X, y = overlapping
    names = np.where(y == 1, "bad", "good")
    settings = {"class_weight": {"bad": 2.0}, "pos_label": "bad", "gamma": 0.5}
    path = double_hinge_path(X, names, [1.0], [PRICES[1], 0.2], tol=1e-7, **settings)
    for a, costs in enumerate((PRICES[1], 0.2)):
        alone = DoubleHingeSVC(costs, **settings).fit(X, names)
        np.testing.assert_allclose(
            path.scores(X[:50])[a, 0], alone.decision_function(X[:50]) + alone.break_even_, atol=1e-4
        )
    other = double_hinge_path(X, names, [1.0], PRICES[1], gamma=0.5)
    assert abs(other.scores(X[:50])[0, 0] - path.scores(X[:50])[0, 0]).max() > 0.1
    with pytest.raises(ValueError, match="pos_label='BAD' must be one of the classes"):
        double_hinge_path(X, names, [1.0], pos_label="BAD")
