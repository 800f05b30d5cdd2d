"""Two-output trees."""

import numpy as np
import pytest

from recuse.boosting.abstention.early_stopping import Recorder
from recuse.boosting.abstention.engine.losses import LOSSES
from recuse.boosting.abstention.engine.settings import Settings
from recuse.boosting.abstention.engine.surrogates import plug_in_pair
from recuse.boosting.abstention.engine.trees import boost_trees

from ..helpers import make_problem, random_data


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_trees_descend_and_their_form_repeats_the_training_scores(loss, depth):
    X, y = random_data(0, m=200, levels=15, missing=0.1)
    problem, order = make_problem(X, y, 0.2, loss)
    recorder = Recorder(problem, np.array([30]))
    solution = boost_trees(problem, Settings(learning_rate=0.3, n_rounds=30, max_depth=depth), recorder.after_tree)
    trace = solution.history["objective"]
    assert (np.diff(trace) <= 0).all()
    assert trace[-1] < 0.8 * trace[0]
    h, r = solution.model.evaluate(X[order])
    assert np.isclose(problem.surrogate.objective(problem.y, problem.s, h, r), solution.objective)
    np.testing.assert_allclose(recorder.scores[0], [h, r], atol=1e-12)


def test_depth_two_learns_what_no_sum_of_stumps_can():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(400, 2)).astype(float)
    y = np.where(X[:, 0] == X[:, 1], 1, -1)
    flip = rng.random(400) < 0.02
    y[flip] *= -1
    problem, order = make_problem(X, y, 0.2)
    solution = boost_trees(problem, Settings(learning_rate=0.3, n_rounds=60, max_depth=2))
    h, r = solution.model.evaluate(X[order])
    assert ((h > 0) == (problem.y > 0)).mean() > 0.95
    assert (r > 0).all()


def test_one_score_trees_leave_r_alone():
    X, y = random_data(1, m=100)
    problem, _ = make_problem(X, y)
    model = boost_trees(problem, Settings(family="score", n_rounds=10, learning_rate=0.3, max_depth=2)).model
    assert all((tree.values[:, 1] == 0).all() for tree in model.trees)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("c", [0.1, 0.35])
def test_plug_in_pair_minimises_the_conditional_surrogate(loss, c):
    problem, _ = make_problem(*random_data(2), c, loss)
    surrogate = problem.surrogate
    level = np.log((1 - c) / c) * (1.0 if loss == "logistic" else 0.5)
    z = np.array([-3.0, -0.4, 0.0, 0.7, 2.0, level - 0.01, level + 0.01, 30.0])
    h, r = plug_in_pair(surrogate, c, z)
    odds = z if loss == "logistic" else 2 * z
    eta = 1 / (1 + np.exp(-odds))
    w1_right, w2 = surrogate.slopes(r - h, -surrogate.b * r)
    w1_wrong, _ = surrogate.slopes(r + h, -surrogate.b * r)
    near = np.abs(z) < 10
    np.testing.assert_allclose((eta * w1_right - (1 - eta) * w1_wrong)[near], 0, atol=2e-4)
    np.testing.assert_allclose((eta * w1_right + (1 - eta) * w1_wrong - w2)[near], 0, atol=2e-4)
    np.testing.assert_array_equal(r > 0, np.abs(z) > level)
