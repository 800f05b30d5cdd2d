"""Interactions of the estimator: which pairs, on which data, with which other parameters."""

import numpy as np
import pandas as pd
import pytest

from recuse import AbstentionBoostingClassifier, Costs
from recuse.boosting.abstention.pairs import ChowPair, LearnedPair
from recuse.ensemble.contributions import _parts_of

QUICK = {"beta": 0.003, "n_rounds": 60, "max_bins": 32, "cv": 3}


def interacting(m=900, p=5, seed=0):
    """Features 0 and 1 act together, 2 by itself, the others not at all."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, p))
    logit = 2.5 * X[:, 0] * X[:, 1] + 2 * X[:, 2]
    return X, (rng.random(m) < 1 / (1 + np.exp(-logit))).astype(int)


def fitted(**parameters):
    X, y = interacting()
    return AbstentionBoostingClassifier(**{**QUICK, **parameters}).fit(X, y)


def used(model):
    return [surface.features for surface in model.interaction_functions_]


@pytest.mark.parametrize("family", ["chow", "coupled", "decoupled"])
def test_the_pair_is_found_and_makes_held_out_answers_cheaper(family):
    X, y = interacting(3000, seed=9)
    without, with_pair = fitted(family=family), fitted(family=family, interactions=1)
    assert used(without) == []
    assert used(with_pair) == [(0, 1)]
    assert with_pair.family_ == f"{family}+interactions"
    assert isinstance(with_pair._pair, ChowPair if family == "chow" else LearnedPair)
    assert with_pair.score(X, y) > without.score(X, y) + 0.015
    assert with_pair.objective_ < without.objective_
    surface = with_pair.interaction_functions_[0]
    # The product of two features: the corners have the signs of a saddle.
    assert surface.h[0, 0] > 0 > surface.h[0, -2]
    assert surface.h[-2, -2] > 0 > surface.h[-2, 0]


@pytest.mark.parametrize("family", ["chow", "coupled", "decoupled"])
def test_scores_are_the_sum_of_the_terms(family):
    X, _ = interacting(50, seed=4)
    model = fitted(family=family, interactions=3)
    h, r = model._pair.form.contributions(X)
    assert h.shape == (50, 5 + len(model.interaction_functions_))
    raw = model._pair.form.evaluate(X)
    np.testing.assert_allclose(h.sum(axis=1) + model.intercept_[0], raw[0], atol=1e-12)
    np.testing.assert_allclose(r.sum(axis=1) + model.intercept_[1], raw[1], atol=1e-12)


def test_auto_takes_pairs_where_they_are_clearly_cheaper():
    model = fitted(family="chow", interactions="auto")
    assert model.family_ == "chow+interactions"
    assert (0, 1) in used(model)
    assert set(model.held_out_costs_) == {"chow", "chow+interactions"}
    assert model.held_out_costs_["chow+interactions"] < model.held_out_costs_["chow"]


def test_auto_keeps_main_effects_where_nothing_interacts():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 4))
    y = (rng.random(600) < 1 / (1 + np.exp(-2 * X[:, 0] - X[:, 1]))).astype(int)
    without = AbstentionBoostingClassifier(family="chow", **QUICK).fit(X, y)
    model = AbstentionBoostingClassifier(family="chow", interactions="auto", **QUICK).fit(X, y)
    assert model.family_ == "chow"
    assert used(model) == []
    np.testing.assert_array_equal(model.decision_function(X), without.decision_function(X))


def test_all_families_are_tried_with_pairs():
    model = fitted(family="auto", interactions=1)
    assert set(model.held_out_costs_) == {"chow+interactions", "decoupled+interactions", "decoupled+start"}
    assert model.family_ != "decoupled+start"


def test_pairs_by_name_or_number_in_any_order():
    X, y = interacting()
    frame = pd.DataFrame(X, columns=["age", "smoking", "sex", "height", "weight"])
    by_name = AbstentionBoostingClassifier(family="chow", interactions=[("smoking", "age"), ("sex", "age")], **QUICK)
    by_name.fit(frame, y)
    by_number = AbstentionBoostingClassifier(family="chow", interactions=[(0, 1), (2, 0)], **QUICK).fit(X, y)
    assert used(by_name) == used(by_number) == [(0, 1), (0, 2)]
    np.testing.assert_allclose(by_name.decision_function(frame), by_number.decision_function(X))
    reasons = by_name.decide(frame.iloc[:40], reasons="all").reason
    shown = [f"age x smoking ({row.age:.4g}, {row.smoking:.4g})" for row in frame.iloc[:40].itertuples()]
    assert np.mean([pair in reason for pair, reason in zip(shown, reasons, strict=True)]) > 0.5


def test_a_rejection_names_pairs_too():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(1200, 3))
    # The label follows feature 2, unless features 0 and 1 have the same sign: then it is drawn by lot.
    noisy = X[:, 0] * X[:, 1] > 0
    y = np.where(noisy, rng.random(1200) < 0.5, X[:, 2] > 0).astype(int)
    model = AbstentionBoostingClassifier(family="decoupled", interactions=1, **QUICK).fit(X, y)
    assert used(model) == [(0, 1)]
    assert model.interaction_functions_[0].r.any()
    found = model.decide(X)
    rejected = np.asarray(found.accepted) == 0
    assert rejected[noisy].mean() > 0.8
    assert rejected[~noisy].mean() < 0.3
    said = [reason.partition("harder than the average case by ")[2] for reason in found.reason[rejected & noisy]]
    assert np.mean(["x0 x x1 (" in text for text in said]) > 0.5


def test_missing_values_have_cells_of_their_own():
    X, y = interacting()
    rng = np.random.default_rng(3)
    X[rng.random(len(X)) < 0.3, 3] = np.nan
    y = np.where(np.isnan(X[:, 3]), (X[:, 4] > 0), y).astype(int)  # where 3 is missing, 4 decides
    model = AbstentionBoostingClassifier(family="chow", interactions=3, **QUICK).fit(X, y)
    surface = next(s for s in model.interaction_functions_ if s.features == (3, 4))
    assert surface.h[-1, -2] - surface.h[-1, 0] > 1.0
    assert np.isfinite(model.decision_function(X)).all()


def test_weights_count_as_repeated_cases_do():
    X, y = interacting(400)
    twice = np.random.default_rng(0).random(400) < 0.5
    folds = [(np.arange(100, 400), np.arange(100)), (np.arange(300), np.arange(300, 400))]
    options = {**QUICK, "max_bins": None, "family": "coupled", "interactions": 2, "threshold": "calibrated"}
    weighted = AbstentionBoostingClassifier(**{**options, "cv": folds}).fit(X, y, sample_weight=1.0 + twice)
    rows = np.concatenate([np.arange(400), np.flatnonzero(twice)])
    repeated_folds = [
        (np.flatnonzero(np.isin(rows, train)), np.flatnonzero(np.isin(rows, test))) for train, test in folds
    ]
    repeated = AbstentionBoostingClassifier(**{**options, "cv": repeated_folds}).fit(X[rows], y[rows])
    assert used(weighted) == used(repeated)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-6)


def test_prices_by_class_and_by_case_and_groups():
    X, y = interacting(600)
    costs = Costs(fp=1, fn=4, reject=0.4)
    groups = np.repeat(np.arange(150), 4)
    model = AbstentionBoostingClassifier(costs=costs, family="decoupled", interactions=1, **QUICK)
    model.fit(X, y, groups=groups)
    assert used(model) == [(0, 1)]
    assert model.held_out_costs_["decoupled+interactions"] < 0.4
    by_case = AbstentionBoostingClassifier(family="decoupled", interactions=1, **QUICK)
    by_case.fit(X, y, reject_cost=np.linspace(0.1, 0.4, 600))
    assert used(by_case) == [(0, 1)]


def test_swapped_classes_mirror_the_score():
    X, y = interacting(500)
    options = {**QUICK, "family": "chow", "interactions": 2, "cv": [(np.arange(400), np.arange(400, 500))]}
    one = AbstentionBoostingClassifier(**options).fit(X, y)
    two = AbstentionBoostingClassifier(**options).fit(X, 1 - y)
    assert used(one) == used(two)
    np.testing.assert_allclose(one.decision_function(X), -two.decision_function(X), atol=1e-6)


@pytest.mark.parametrize(
    "parameters",
    [
        {"beta": "auto", "n_rounds": 20},
        {"beta": 0.0, "early_stopping": True},
        {"corrective": True, "n_rounds": 5, "tol": 1.0},
    ],
)
def test_penalty_rounds_and_corrective_steps_go_with_pairs(parameters):
    model = fitted(**{"family": "coupled", "interactions": 1, **parameters})
    assert used(model) == [(0, 1)]


def test_one_fit_answers_at_other_prices_as_a_fit_at_those_would():
    X, y = interacting(500)
    options = {"loss": "exponential", "b": 1.0, "family": "coupled", "interactions": 2, "threshold": "calibrated"}
    options |= {**QUICK, "beta": 0.0, "n_rounds": 15}
    one = AbstentionBoostingClassifier(costs=0.2, **options).fit(X, y)
    other = AbstentionBoostingClassifier(costs=0.3, **options).fit(X, y)
    moved = one.reprice(0.3)
    assert moved.interaction_functions_ == one.interaction_functions_
    assert used(one) == used(other)
    assert (one.predict(X) != other.predict(X)).any()
    np.testing.assert_allclose(moved.decision_function(X), other.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(moved.score_samples(X), other.score_samples(X), atol=1e-6)


def test_monotone_features_stay_out_of_pairs():
    model = fitted(family="chow", interactions=3, monotonic_cst=[0, 1, 0, 0, 0])
    assert all(1 not in pair for pair in used(model))
    with pytest.raises(ValueError, match=r"interactions has the pair \(1, 0\), of which a column is in monotonic_cst"):
        fitted(family="chow", interactions=[(1, 0)], monotonic_cst=[0, 1, 0, 0, 0])


def test_a_category_may_act_together_with_a_number():
    rng = np.random.default_rng(5)
    region = rng.choice(["north", "south", "east"], 900)
    X = pd.DataFrame({"age": rng.normal(size=900), "sex": rng.normal(size=900), "region": pd.Categorical(region)})
    slope = pd.Series(region).map({"north": 2.5, "south": -2.5, "east": 0.0}).to_numpy()
    y = (rng.random(900) < 1 / (1 + np.exp(-slope * X["age"] - 2 * X["sex"]))).astype(int)
    model = AbstentionBoostingClassifier(family="chow", interactions=1, **QUICK).fit(X, y)
    (surface,) = model.interaction_functions_
    assert surface.features == (0, 2)
    assert surface.h.shape[1] == 4  # three levels in the order of their codes (east, north, south), and missing
    rise = surface.h[-2] - surface.h[0]
    assert rise[1] > 1 > abs(rise[0])
    assert rise[2] < -1
    probe = pd.DataFrame({"age": [2.0, 2.0], "sex": [0.0, 0.0], "region": pd.Categorical(["north", "south"])})
    h = model.decision_function(probe)
    assert h[0] > 0 > h[1]
    boosted = model._pair.form.evaluate(model._numbers(X))[0]
    np.testing.assert_allclose(boosted, model.decision_function(X) + model._pair.boundary)


def test_removing_a_feature_removes_its_pairs_and_a_monotone_edit_is_refused():
    X, _ = interacting(80)
    model = fitted(family="chow", interactions=[(0, 1), (2, 3)])
    edited = model.edit(0, "remove")
    assert used(edited) == [(2, 3)]
    other = X.copy()
    other[:, 0] = 1.5
    np.testing.assert_allclose(edited.decision_function(X), edited.decision_function(other))
    with pytest.raises(ValueError, match="does not go with a feature that is in a pair term"):
        model.edit(0, "monotonise", sign=1)
    with pytest.raises(ValueError, match="from 0 to 4"):
        model.edit(5, "remove")


def test_more_pairs_than_there_are_means_all():
    assert 5 <= len(used(fitted(family="chow", interactions=1000))) <= 10


@pytest.mark.parametrize("nothing", [None, 0, []])
def test_nothing_asked_for_is_the_model_without(nothing):
    X, _ = interacting(50)
    model = fitted(family="chow", interactions=nothing)
    assert model.family_ == "chow"
    np.testing.assert_array_equal(model.decision_function(X), fitted(family="chow").decision_function(X))


def test_a_single_feature_has_no_pairs():
    X, y = interacting()
    model = AbstentionBoostingClassifier(family="chow", interactions=5, **QUICK).fit(X[:, 2:3], y)
    assert used(model) == []


def test_the_ensemble_shares_a_pair_between_its_columns():
    X, _ = interacting(60)
    model = fitted(family="chow", interactions=2)
    parts = _parts_of(model)(X)
    assert parts.shape == X.shape
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_[0], model._pair.form.evaluate(X)[0])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"interactions": -1}, "interactions must be None, a number of pairs, 'auto', or a list of pairs"),
        ({"interactions": 1.5}, "interactions must be None"),
        ({"interactions": True}, "interactions must be None"),
        ({"interactions": "all"}, "interactions must be None"),
        ({"interactions": [(0, 1, 2)]}, "interactions must be None"),
        ({"interactions": [(0, 0)]}, "a pair needs two different columns"),
        ({"interactions": [(0, 1), (1, 0)]}, r"names the pair \(0, 1\) more than once"),
        ({"interactions": [(0, 7)]}, "interactions names column 7, but X has 5 columns: give numbers from 0 to 4"),
        ({"interactions": [("age", 1)]}, "names the column 'age', which X does not have; X has no column names"),
        ({"interactions": 2, "max_depth": 2}, "interactions=2 does not go with max_depth=2: use max_depth=1"),
        ({"interactions": 2, "stack": "oof"}, "interactions=2 does not go with stack='oof': use stack=None"),
        ({"interactions": 2, "surrogate": "max"}, "interactions=2 does not go with surrogate='max'"),
        ({"interactions": 2, "step": "paper"}, "interactions=2 does not go with step='paper'"),
    ],
)
def test_what_does_not_go_is_refused_in_one_sentence(parameters, message):
    with pytest.raises(ValueError, match=message):
        fitted(**{"family": "coupled", **parameters})


def test_the_bound_is_for_stumps_alone():
    with pytest.raises(ValueError, match="without stacking, pair terms"):
        fitted(family="coupled", interactions=1).generalization_bound()
