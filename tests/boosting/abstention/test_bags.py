"""Fits to parts of the cases are averaged into one model, which is like a single fit in all that is read off it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

import recuse
from recuse import AbstentionBoostingClassifier
from recuse.boosting.abstention.bags import average, boost_bags
from recuse.boosting.abstention.data import DEFAULT_BAGS, check_cases, prepare
from recuse.boosting.abstention.engine.rounds import boost, read_off
from recuse.boosting.abstention.engine.settings import Settings
from recuse.boosting.abstention.options import BETA_PATH, Penalties

from .helpers import make_problem, random_data

FAMILIES = ["coupled", "decoupled", "score"]


@pytest.fixture(scope="module")
def data():
    return make_classification(300, n_features=5, n_informative=3, n_redundant=0, flip_y=0.1, random_state=1)


def make_bags(n, k=4):
    rows = np.arange(n)
    return [np.setdiff1d(rows, rows[i::k]) for i in range(k)]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_average_has_the_mean_scores_and_an_objective_below_the_mean(family):
    X, y = random_data(3, m=120, p=3, levels=12, missing=0.1)
    problem, _ = make_problem(X, y)
    settings = Settings(family=family, tune_beta=True)
    options = Penalties(None, BETA_PATH)
    bags, solution, stages = boost_bags(problem, make_bags(120), lambda part: options.settle(2, part, settings))
    scores = np.mean([bag.model.scores(problem) for bag in bags], axis=0)
    mean = average([bag.model for bag in bags])
    np.testing.assert_allclose(mean.scores(problem), scores, atol=1e-12)
    # Only the intercepts are settled, on all cases.
    moved = np.array(solution.model.scores(problem)) - scores
    np.testing.assert_allclose(moved, moved[:, :1] + np.zeros_like(moved), atol=1e-9)
    settled = options.settle(2, problem, settings)
    each = [read_off(problem, settled, bag.model, 0).objective for bag in bags]
    assert solution.objective <= np.mean(each) + 1e-12  # convex in the scores, and the weights add up
    *_, last = stages.evaluate(X)
    order = np.concatenate([np.flatnonzero(y > 0), np.flatnonzero(y < 0)])
    np.testing.assert_allclose(np.array(last)[:, order], solution.model.scores(problem), atol=1e-9)
    assert len(stages.h0) == solution.n_iter


@pytest.mark.parametrize("family", FAMILIES)
def test_the_certificate_of_the_average_holds(family):
    X, y = random_data(4, m=80, p=2, levels=8)
    problem, _ = make_problem(X, y)
    settings, options = Settings(family=family, tune_beta=True), Penalties(None, BETA_PATH)
    _, solution, _ = boost_bags(problem, make_bags(80), lambda part: options.settle(4, part, settings))
    beta = options.settle(4, problem, settings).beta
    optimum = boost(problem, replace(settings, beta=beta, n_rounds=20_000, tol=1e-9, certify_every=500))
    gap = solution.history["dual_gap"][-1]
    assert -1e-9 <= solution.objective - optimum.objective <= gap + 1e-9


@pytest.mark.parametrize(
    "options", [{}, {"family": "chow"}, {"family": "decoupled", "stack": "oof"}, {"interactions": 3}]
)
def test_an_averaged_model_is_like_a_single_fit_to_its_user(data, options, tmp_path):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = AbstentionBoostingClassifier(cv=3, n_rounds=60, bags=3, **options).fit(frame, y)
    again = AbstentionBoostingClassifier(cv=3, n_rounds=60, bags=3, n_jobs=2, **options).fit(frame, y)
    np.testing.assert_allclose(again.decision_function(frame), model.decision_function(frame), rtol=1e-12)
    assert len(model.stumps_) == len(model.weights_)
    single = AbstentionBoostingClassifier(cv=3, n_rounds=60, bags=1, **options).fit(frame, y)
    assert len(model.stumps_) > len(single.stumps_)
    if "interactions" not in options:
        *_, last = model.staged_predict(frame)
        np.testing.assert_array_equal(last, model.predict(frame))
    assert all(model.decide(frame).reason)
    recuse.save(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(recuse.load(tmp_path / "model.skops").predict(frame), model.predict(frame))


def test_each_bag_leaves_out_a_fifth_of_each_class_and_whole_groups(data):
    X, y = data
    model = AbstentionBoostingClassifier()
    training = prepare(model, check_cases(model, X, y, None), with_folds=True, n_bags="auto")
    assert len(training.bags) == DEFAULT_BAGS
    for rows in training.bags:
        assert abs(len(rows) - 240) <= 1
        assert abs((rows < training.n_pos).mean() - training.n_pos / 300) < 0.01
    left_out = np.concatenate([np.setdiff1d(np.arange(300), rows) for rows in training.bags])
    assert (np.bincount(left_out) == DEFAULT_BAGS / 5).all()
    groups = np.arange(300) // 7
    training = prepare(model, check_cases(model, X, y, None), groups=groups, with_folds=True, n_bags=7)
    assert len(training.bags) == 7
    for rows in training.bags:
        out = np.setdiff1d(np.arange(300), rows)
        assert not set(training.groups[rows]) & set(training.groups[out])


def test_one_fit_where_an_optimum_is_asked_for(data):
    X, y = data
    for options in ({"beta": 0.01}, {"corrective": True}, {"max_depth": 2}, {"early_stopping": True, "beta": 0.0}):
        model = AbstentionBoostingClassifier(family="coupled", n_rounds=10, cv=2, threshold="calibrated", **options)
        assert model._n_bags() == 1
    shared = {"family": "coupled", "beta": 0.01, "threshold": "calibrated", "n_rounds": 30}
    several = AbstentionBoostingClassifier(bags=2, **shared).fit(X, y)  # asked for, with a given penalty
    assert len(several.stumps_) > len(AbstentionBoostingClassifier(**shared).fit(X, y).stumps_)
    assert AbstentionBoostingClassifier()._n_bags() == "auto"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bags": 0}, "bags must be"),
        ({"bags": "many"}, "bags must be"),
        ({"bags": 2, "max_depth": 2}, "bags=2 needs stumps"),
        ({"bags": 2, "family": "coupled", "corrective": True}, "bags=2 needs stumps"),
    ],
)
def test_bad_numbers_of_bags_are_refused(data, options, message):
    with pytest.raises(ValueError, match=message):
        AbstentionBoostingClassifier(**options).fit(*data)


def test_categories_keep_their_order_in_every_bag():
    rng = np.random.default_rng(0)
    level = rng.integers(0, 6, 240)
    table = pd.DataFrame({"x": rng.normal(size=240), "region": pd.Categorical.from_codes(level, list("abcdef"))})
    y = (rng.random(240) < np.where(level % 2 == 0, 0.85, 0.2)).astype(int)
    model = AbstentionBoostingClassifier(family="chow", costs=0.3, bags=4, n_rounds=40).fit(table, y)
    (shape,) = (shape for shape in model.shape_functions_ if shape.feature == 1)
    assert min(shape.h[::2]) > max(shape.h[1::2])
