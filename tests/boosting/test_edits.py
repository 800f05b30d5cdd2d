"""Edits of shape functions: what each does, what it costs, who did it, and that nothing else changes."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression

import recuse
from recuse import AbstentionBoostingClassifier, Costs, ExactBoostClassifier
from recuse.boosting.edits import ACTIONS, _remove
from recuse.boosting.shapes import ShapeFunction
from recuse.metrics import expected_cost
from tests.marks import may_reject_all

from .test_categories import MODELS, by_database, table

HELD_OUT = table(500, seed=9)
every_model = pytest.mark.parametrize("name", MODELS)
EDITS = [
    ("age", "remove", {}),
    ("region", "remove", {}),
    ("age", "flatten", {"low": 40.0, "high": 55.5}),
    ("region", "flatten", {"levels": ["east", "west"]}),
    ("age", "cap", {"at_least": -0.2, "at_most": 0.3}),
    ("age", "monotonise", {"sign": 1}),
    ("age", "set", {"high": 30, "h": -1.25}),
    ("region", "set", {"levels": "north", "h": 0.5}),
    ("region", "set", {"missing": True, "h": 0.75}),
]


def fitted(name):
    return clone(MODELS[name]).fit(*table())


def of(model, feature):
    """All functions of a feature."""
    number = ["age", "region"].index(feature)
    shapes = [*model.shape_functions_, *getattr(model, "score_functions_", [])]
    return [shape for shape in shapes if shape.feature == number]


def stacked(model):
    """What is made of a stacked score."""
    return [shape for shape in model.shape_functions_ if shape.feature == model.n_features_in_]


@every_model
@pytest.mark.parametrize(("feature", "action", "details"), EDITS, ids=lambda value: str(value))
def test_edits_leave_the_model_alone_and_the_copy_survives(name, feature, action, details, tmp_path):
    model, (X, y) = fitted(name), HELD_OUT
    before, shapes = model.decision_function(X), of(model, feature)
    other = "region" if feature == "age" else "age"
    edited = model.edit(feature, action, X, y, by="Ada", why="the rules say so", **details)
    np.testing.assert_array_equal(model.decision_function(X), before)
    assert model.edits_ == []
    (edit,) = edited.edits_
    assert (edit.term, edit.action, edit.by, edit.why) == (feature, action, "Ada", "the rules say so")
    assert edit.before == shapes + (stacked(model) if action == "monotonise" else [])
    assert edit.after == of(edited, feature) + (stacked(edited) if action == "monotonise" else [])
    assert of(edited, other) == of(model, other)  # the very same functions
    recuse.save(edited, tmp_path / "model.recuse")
    loaded = recuse.load(tmp_path / "model.recuse")
    np.testing.assert_array_equal(loaded.decision_function(X), edited.decision_function(X))
    np.testing.assert_array_equal(loaded.score_samples(X), edited.score_samples(X))
    assert str(loaded.edits_[0]) == str(edit)
    pd.testing.assert_frame_equal(loaded.shape_table(), edited.shape_table())
    if name not in ("start", "oof"):
        np.testing.assert_allclose(by_database(edited, X)[0], edited.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("costs", [0.25, Costs(fp=10, fn=40, reject=4)], ids=["unit", "money"])
def test_the_cost_of_an_edit_and_its_standard_error(costs):
    X, y = table()
    model = AbstentionBoostingClassifier(costs=costs, family="decoupled", beta=0.002, n_rounds=50).fit(X, y)
    fresh, truth = HELD_OUT
    weight = np.random.default_rng(0).integers(0, 4, len(truth)).astype(float)
    edited = model.edit("region", "remove", fresh, truth, sample_weight=weight)
    cost = edited.edits_[0].cost
    for mean, fit in ((cost.before, model), (cost.after, edited)):
        assert mean == pytest.approx(expected_cost(truth, fit.decide(fresh), costs=model.costs_, sample_weight=weight))
    assert cost.change == pytest.approx(cost.after - cost.before)
    assert cost.change > 2 * cost.standard_error > 0
    assert cost.n_cases == np.count_nonzero(weight)
    prices = [
        [expected_cost(truth[i : i + 1], fit.decide(fresh[i : i + 1]), costs=model.costs_) for i in range(len(truth))]
        for fit in (model, edited)
    ]
    difference = np.subtract(prices[1], prices[0])
    share = weight / weight.sum()
    error = np.sqrt(share**2 @ (difference - share @ difference) ** 2)
    assert cost.standard_error == pytest.approx(error)
    changed = model.predict(fresh) != edited.predict(fresh)
    assert cost.changed_answers == pytest.approx(share @ changed)


def test_without_cases_the_cost_is_not_measured():
    edited = fitted("chow").edit("age", "remove")
    assert edited.edits_[0].cost is None
    assert "not measured" in str(edited.edits_[0])


@pytest.mark.parametrize("name", ["decoupled", "chow", "exactboost"])
def test_a_term_is_removed_and_its_mean_kept(name):
    model, (X, _) = fitted(name), table()
    edited = model.edit("region", "remove")
    assert of(edited, "region") == []
    same_age = pd.DataFrame({"age": [50.0] * 5, "region": ["north", "south", "east", "west", None]})
    assert np.ptp(edited.decision_function(same_age)) == 0.0
    mean = edited.decision_function(X).mean()
    if name != "decoupled":  # a boundary that moves with r is not a sum
        assert mean == pytest.approx(model.decision_function(X).mean(), abs=1e-9)
    assert edited.importances_["h"].tolist() == [1.0, 0.0]


def test_one_of_the_two_scores_alone():
    model, (X, _) = fitted("decoupled"), HELD_OUT
    edited = model.edit("age", "remove", scores="r")
    np.testing.assert_array_equal(edited.decision_function(X), model.decision_function(X))
    assert np.ptp(edited.score_samples(X) - model.score_samples(X)) > 0.0
    other = model.edit("age", "cap", at_most=-0.05, scores="r")
    assert max(of(other, "age")[0].r) <= -0.05
    np.testing.assert_array_equal(of(other, "age")[0].h, of(model, "age")[0].h)


@pytest.mark.parametrize("name", ["decoupled", "chow", "exactboost"])
def test_flat_over_a_range_and_the_same_elsewhere(name):
    model = fitted(name)
    edited = model.edit("age", "flatten", low=42.25, high=57.0)
    ages = np.linspace(20, 80, 2401)
    X = pd.DataFrame({"age": ages, "region": "east"})
    before, after = model.decision_function(X), edited.decision_function(X)
    inside = (ages > 42.25) & (ages <= 57.0)
    assert np.ptp(after[inside]) == 0.0
    assert np.ptp(before[inside]) > 0.0
    np.testing.assert_array_equal(after[~inside], before[~inside])
    assert before[inside].min() < after[inside][0] < before[inside].max()


@pytest.mark.parametrize("sign", [1, -1])
def test_the_closest_monotone_function(sign):
    model = fitted("exactboost")
    (shape,), (new,) = of(model, "age"), of(model.edit("age", "monotonise", sign=sign), "age")
    assert (sign * np.diff(new.h) >= 0).all()
    best = IsotonicRegression(increasing=sign > 0).fit(np.arange(len(shape.h)), shape.h, shape.share[:-1])
    np.testing.assert_allclose(new.h, best.predict(np.arange(len(shape.h))), atol=1e-6)


def test_edits_follow_each_other():
    X, y = HELD_OUT
    model = fitted("chow").edit("age", "cap", X, y, at_most=0.5).edit("region", "remove", X, y, by="Bo")
    assert [edit.action for edit in model.edits_] == ["cap", "remove"]
    assert model.edits_[1].cost.before == pytest.approx(model.edits_[0].cost.after)
    assert model.reprice(0.1).edits_ == model.edits_
    assert model.fit(*table()).edits_ == []


def test_what_no_longer_holds_is_gone():
    X, y = table()
    model = AbstentionBoostingClassifier(costs=0.25, family="coupled", beta=0.01, threshold="calibrated")
    model.fit(X[["age"]], y)
    assert model.generalization_bound().total > 0
    edited = model.edit("age", "cap", at_most=0.1)
    with pytest.raises(ValueError, match="without stacking, pair terms, categories or edits"):
        edited.generalization_bound()
    assert np.isnan(edited.dual_gap_)
    assert np.isfinite(model.dual_gap_)


@pytest.mark.parametrize(
    ("feature", "action", "details", "said"),
    [
        ("town", "remove", {}, "feature='town' is not among the columns"),
        (2, "remove", {}, "number from 0 to 1; got 2"),
        ("age", "smooth", {}, "action must be"),
        ("age", "remove", {"low": 3}, "low=3 does not go with action='remove', which takes scores"),
        ("age", "cap", {}, "needs at_least=, at_most= or both"),
        ("age", "cap", {"at_least": 2, "at_most": 1}, "at_least=2 must not be above at_most=1"),
        ("age", "set", {"low": 3}, "needs what the values are to add"),
        ("age", "set", {"h": np.nan}, "h must be a finite number"),
        ("age", "flatten", {"low": 5, "high": 5}, "low=5 must be below high=5"),
        ("age", "flatten", {"levels": ["north"]}, "levels=.* is for categories"),
        ("region", "flatten", {"low": 1}, "low and high are for numbers"),
        ("region", "flatten", {"levels": ["mars"]}, "levels holds 'mars', which is not among"),
        ("region", "monotonise", {"sign": 1}, "needs an order"),
        ("age", "monotonise", {}, "needs sign=1 .rising. or sign=-1"),
        ("age", "remove", {"scores": "z"}, "scores must be"),
    ],
)
def test_what_is_refused(feature, action, details, said):
    with pytest.raises(ValueError, match=said):
        fitted("chow").edit(feature, action, **details)


def test_unused_features_trees_and_missing_scores_are_refused():
    X, y = table()
    wide = X.assign(nothing=0.0)
    model = clone(MODELS["chow"]).fit(wide, y)
    with pytest.raises(ValueError, match="'nothing' adds nothing to the scores of this model"):
        model.edit("nothing", "remove")
    trees = AbstentionBoostingClassifier(costs=0.45, family="chow", max_depth=2, n_rounds=5).fit(X[["age"]], y)
    with pytest.raises(AttributeError, match="only boosted stumps are"):
        trees.edit("age", "remove")
    assert not hasattr(trees, "feature_importances_")
    with pytest.raises(ValueError, match="has no r to edit"):
        fitted("exactboost").edit("age", "set", r=1.0)


def test_missing_values_alone():
    model = fitted("chow")
    X = pd.DataFrame({"age": [50.0, 50.0, np.nan, 30.0], "region": ["north", None, "north", "south"]})
    edited = model.edit("region", "set", missing=True, h=2.5).edit("age", "set", missing=True, h=-2.5)
    change = edited.decision_function(X) - model.decision_function(X)
    assert change[[0, 3]].tolist() == [0.0, 0.0]
    (region,), (age,) = of(model, "region"), of(model, "age")
    np.testing.assert_allclose(change[1:3], [2.5 - region.missing[0], -2.5 - age.missing[0]])


def test_initial_scores_go_with_the_cases():
    X, y = table()
    start = X["age"].to_numpy() / 100
    model = ExactBoostClassifier(n_estimators=5, random_state=0).fit(X, y, init_score=start)
    edited = model.edit("region", "remove", X, y, params={"init_score": start})
    assert edited.edits_[0].cost.change > 0


def test_every_action_is_tried():
    assert {action for _, action, _ in EDITS} == set(ACTIONS)


@pytest.fixture(scope="module")
def with_pairs():
    rng = np.random.default_rng(2)
    X, y = table(700, seed=2)
    X = X.assign(dose=rng.normal(size=len(X)))
    y = np.where((X["region"] == "east") & (X["dose"] > 0), 1, np.where(X["region"] == "east", 0, y))
    model = AbstentionBoostingClassifier(
        costs=0.3, family="decoupled", beta=0.003, n_rounds=40, interactions=[("region", "dose"), ("age", "dose")], cv=2
    )
    return model.fit(X, y), X, y


def test_a_pair_of_a_category_and_a_number(with_pairs, tmp_path):
    model, X, _ = with_pairs
    ends = pd.DataFrame({"age": 50.0, "region": ["east", "east", "north", "north"], "dose": [-1.0, 1.0, -1.0, 1.0]})
    h = model.decision_function(ends)
    assert h[1] - h[0] > abs(h[3] - h[2]) + 0.5  # the dose counts in the east
    recuse.save(model, tmp_path / "model.recuse")
    np.testing.assert_array_equal(
        recuse.load(tmp_path / "model.recuse").decision_function(X), model.decision_function(X)
    )
    importances = model.importances_["h"]
    assert importances.sum() == pytest.approx(1.0)
    assert importances[2] > 0.05


def test_pair_terms_are_removed_and_capped(with_pairs, tmp_path):
    model, X, y = with_pairs
    surface = next(s for s in model.interaction_functions_ if s.features == (1, 2))
    removed = model.edit(("dose", "region"), "remove", X, y, by="Ada")
    assert removed.edits_[0].term == "region x dose"
    assert removed.edits_[0].cost.change > 0
    assert all(s.features != (1, 2) for s in removed.interaction_functions_)
    pure = surface.evaluate(model._numbers(X))
    np.testing.assert_allclose(model.decision_function(X) - pure[0], removed.decision_function(X), atol=1e-10)
    np.testing.assert_allclose(model.score_samples(X) - pure[1], removed.score_samples(X), atol=1e-10)
    capped = model.edit(("region", "dose"), "cap", at_least=-0.05, at_most=0.05)
    assert np.abs(next(s for s in capped.interaction_functions_ if s.features == (1, 2)).h).max() <= 0.05
    recuse.save(capped, tmp_path / "model.recuse")
    np.testing.assert_array_equal(
        recuse.load(tmp_path / "model.recuse").decision_function(X), capped.decision_function(X)
    )
    with pytest.raises(ValueError, match="a pair term takes 'remove' and 'cap'"):
        model.edit(("region", "dose"), "flatten")
    with pytest.raises(ValueError, match=r"'age x region' adds nothing .* it uses .*region x dose"):
        model.edit(("age", "region"), "remove")


@pytest.mark.parametrize("edit", [None, "cap"])
def test_a_database_adds_up_the_pairs_too(with_pairs, edit):
    model, X, _ = with_pairs
    X = X[:60].reset_index(drop=True)
    X.loc[0, "region"], X.loc[1, "dose"], X.loc[2, ["dose", "region"]] = None, np.nan, [np.nan, None]
    if edit:
        model = model.edit(("region", "dose"), edit, at_most=0.1)
    rows = model.shape_table()
    assert set(rows["feature_2"].dropna()) == {"dose"}
    np.testing.assert_allclose(rows.groupby(["feature", rows["feature_2"].fillna("")])["share"].sum(), 1.0)
    h, r = by_database(model, X)
    np.testing.assert_allclose(h, model.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(r, model.score_samples(X), atol=1e-9)


def test_importances_count_both_features_of_a_pair():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    y = ((X[:, 0] * X[:, 1]) > 0).astype(int) ^ (rng.random(900) < 0.1)
    model = AbstentionBoostingClassifier(costs=0.2, family="chow", beta=0.02, interactions=[(0, 1)], n_rounds=40)
    model.fit(X, y)
    assert model.importances_["h"][:2].min() > 0.4  # neither says much by itself
    removed = model.edit(0, "remove")
    assert removed.interaction_functions_ == []
    assert [function.features for function in removed.edits_[0].before if hasattr(function, "features")] == [(0, 1)]
    paired = model._with_forms([replace(model._pair.form, shapes=[])])  # features that are in a pair alone
    assert paired.edit(0, "remove").interaction_functions_ == []
    with pytest.raises(ValueError, match=r"'x0' adds nothing .* by itself.* it uses .*x0 x x1"):
        paired.edit(0, "cap", at_most=0.1)


def test_of_a_pair_only_the_score_that_is_named_goes(with_pairs):
    model, X, y = with_pairs
    without_h = model.edit("dose", "remove", X, y, scores="h")
    np.testing.assert_allclose(without_h.score_samples(X), model.score_samples(X), atol=1e-10)
    pairs = [s for s in without_h.interaction_functions_ if 2 in s.features]
    assert len(pairs) == sum(s.r.any() for s in model.interaction_functions_) > 0
    assert not any(s.h.any() for s in pairs)
    (edit,) = without_h.edits_
    assert {s.features for s in edit.before if hasattr(s, "features")} == {(1, 2), (0, 2)}
    doses = X.assign(dose=-X["dose"])
    np.testing.assert_allclose(without_h.decision_function(doses), without_h.decision_function(X), atol=1e-12)
    without_r = model.edit(("region", "dose"), "remove", scores="r")
    np.testing.assert_allclose(without_r.decision_function(X), model.decision_function(X), atol=1e-10)


def test_the_mean_of_a_capped_pair_stays_when_the_pair_goes(with_pairs):
    model, X, _ = with_pairs
    capped = model.edit(("region", "dose"), "cap", at_most=0.0)
    removed = capped.edit(("region", "dose"), "remove")
    before, after = capped.decision_function(X).mean(), removed.decision_function(X).mean()
    assert before == pytest.approx(after, abs=1e-9)  # X holds the training cases
    assert before < model.decision_function(X).mean() - 1e-3


def test_what_missing_values_add_to_the_other_score_is_kept():
    known, lost = np.array([-1.0, 1.0]), np.array([0.4, 0.4, 0.2])
    shape = ShapeFunction(0, np.zeros(1), known, np.zeros(2), (0.0, -2.0), share=lost)
    change = _remove(shape, scores="h")
    assert change.shape.missing == (0.0, -2.0)
    assert (change.h, change.r) == (0.0, 0.0)
    shape = ShapeFunction(0, np.zeros(1), np.zeros(2), known, (3.0, 0.0), share=lost)
    assert _remove(shape, scores="r").shape.missing == (3.0, 0.0)
    assert _remove(shape, scores="both").shape is None


@may_reject_all
@pytest.mark.parametrize("family", ["chow", "decoupled"])
def test_shares_are_those_of_the_cases_whatever_the_prices(family):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 1000).astype(float)
    y = (rng.random(1000) < np.where(x == 1, 0.3, 0.05)).astype(int)
    weight = np.where(x == 1, 2.0, 1.0)
    model = AbstentionBoostingClassifier(costs=Costs(1, 20, 0.5), family=family, beta=0.001)
    for given, share in ((None, x.mean()), (weight, weight @ x / weight.sum())):
        model.fit(x[:, None], y, sample_weight=given)
        (shape,) = model.shape_functions_
        np.testing.assert_allclose(shape.share, [1 - share, share, 0.0], atol=1e-12)
        h, _ = model._pair.form.evaluate(x[:, None])
        removed, _ = model.edit(0, "remove")._pair.form.evaluate(x[:, None])
        np.testing.assert_allclose(removed, np.average(h, weights=given), atol=1e-12)
