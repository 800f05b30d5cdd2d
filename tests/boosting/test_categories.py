"""Categories: every spelling, the order of the levels, unknown and rare ones, and all that a model does with them."""

import sqlite3

import cvxpy as cp
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

import recuse
from recuse import AbstentionBoostingClassifier, ExactBoostClassifier
from recuse.boosting.abstention.engine.problem import Problem
from recuse.boosting.abstention.engine.rounds import boost
from recuse.boosting.abstention.engine.settings import Settings
from recuse.boosting.abstention.engine.surrogates import Surrogate, calibrated_k
from recuse.boosting.binning import bin_features
from recuse.boosting.categories import Categories, find_categories, in_cells, order_levels, ordered
from recuse.plot import ShapeFunctionDisplay

EFFECTS = {"north": 2.0, "south": -2.0, "east": 0.0, "west": 0.3}
MODELS = {
    "coupled": AbstentionBoostingClassifier(costs=0.25, family="coupled", beta=0.002, n_rounds=50),
    "decoupled": AbstentionBoostingClassifier(costs=0.25, family="decoupled", beta=0.002, n_rounds=50),
    "chow": AbstentionBoostingClassifier(costs=0.25, family="chow", beta=0.002, n_rounds=50),
    "start": AbstentionBoostingClassifier(costs=0.25, family="decoupled", stack="start", beta=0.002, n_rounds=30, cv=3),
    "oof": AbstentionBoostingClassifier(costs=0.25, family="decoupled", stack="oof", beta=0.002, n_rounds=30, cv=3),
    "exactboost": ExactBoostClassifier(n_estimators=10, max_features=1.0, random_state=0),
    "exactboost-cost": ExactBoostClassifier(
        metric="reject_cost", costs=0.25, n_estimators=10, max_features=1.0, random_state=0
    ),
}
every_model = pytest.mark.parametrize("name", MODELS)


def table(n=600, seed=0):
    rng = np.random.default_rng(seed)
    region = rng.choice(list(EFFECTS), size=n)
    age = rng.normal(50, 10, n).round()
    y = (np.vectorize(EFFECTS.get)(region) + 0.08 * (age - 50) + rng.logistic(size=n) * 0.7 > 0).astype(int)
    return pd.DataFrame({"age": age, "region": pd.Categorical(region)}), y


def fitted(name, **changes):
    X, y = table()
    return clone(MODELS[name]).set_params(**changes).fit(X, y), X, y


@every_model
def test_every_spelling_is_the_same_model(name):
    model, X, y = fitted(name)
    expected = model.decision_function(X)
    assert model.categories_ == {1: ("east", "north", "south", "west")}
    text = X.astype({"region": str})
    polars = pl.DataFrame({"age": X["age"].to_numpy(), "region": text["region"].tolist()})
    tables = [
        (polars, ["region"]),
        (polars.with_columns(pl.col("region").cast(pl.Categorical)), "from_dtype"),
        (text, ["region"]),
        (text, [1]),
        (text, [False, True]),
        (text.to_numpy(dtype=object), np.array([False, True])),
        (text.to_numpy(dtype=object).tolist(), [1]),
    ]
    for X2, named in tables:
        other = clone(MODELS[name]).set_params(categorical_features=named).fit(X2, y)
        np.testing.assert_array_equal(other.decision_function(X2), expected)


@every_model
def test_the_names_of_the_levels_do_not_matter(name):
    model, X, y = fitted(name)
    numbers = X.assign(region=X["region"].map({"north": 7, "south": 40, "east": 3, "west": -1}).astype(float))
    other = clone(MODELS[name]).set_params(categorical_features=[1]).fit(numbers, y)
    np.testing.assert_allclose(other.decision_function(numbers), model.decision_function(X), atol=1e-12)
    assert other.categories_ == {1: (-1.0, 3.0, 7.0, 40.0)}


@every_model
def test_levels_act_and_unknown_ones_count_as_missing(name):
    model, X, _ = fitted(name)
    one = pd.DataFrame({"age": [50.0] * 4, "region": ["south", "east", "north", "west"]})
    south, east, north, _ = model.decision_function(one)
    assert south < east < north
    unknown = pd.DataFrame({"age": [50.0] * 3, "region": ["mars", None, np.nan]})
    scores = model.decision_function(unknown)
    assert scores[0] == scores[1] == scores[2]
    said = " ".join(model.decide(X.assign(region=None), reasons="all").reason)
    assert "region =" not in said
    assert "age = " in said


@every_model
def test_missing_levels_of_training_are_learned(name):
    X, y = table()
    region = X["region"].astype(object).where(np.arange(len(X)) % 3 > 0, None)
    y = np.where(region.isna(), 1, y)  # missing says yes
    X = X.assign(region=pd.Categorical(region))
    model = clone(MODELS[name]).fit(X, y)
    known = model.decision_function(pd.DataFrame({"age": [50.0, 50.0], "region": ["east", None]}))
    assert known[1] > known[0]


@every_model
def test_saved_models_and_sql_tables_answer_the_same(name, tmp_path):
    model, X, _ = fitted(name)
    recuse.save(model, tmp_path / "model.recuse")
    loaded = recuse.load(tmp_path / "model.recuse")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert loaded.decide(X[:5]).reason.tolist() == model.decide(X[:5]).reason.tolist()
    assert loaded.categories_ == model.categories_
    if name not in ("start", "oof"):
        np.testing.assert_allclose(by_database(model, X)[0], model.decision_function(X), atol=1e-9)


def by_database(model, X):
    """Scores by a query of the shape table: what a case adds up to, without this library."""
    shapes = model.shape_table()
    connection = sqlite3.connect(":memory:")
    shapes.to_sql("shapes", connection)
    long = X.reset_index(names="id").astype({"region": object}).melt("id", var_name="feature")
    long["level"] = long["value"].where(long["feature"] == "region", None)
    long["number"] = pd.to_numeric(long["value"].where(long["feature"] != "region"))
    long[["id", "feature", "level", "number"]].to_sql("cases", connection)
    pairs = "feature_2" in shapes

    def inside(case, end):
        return (
            f"s.feature{end} = {case}.feature and "
            f"(s.missing{end} and {case}.level is null and {case}.number is null or s.level{end} = {case}.level "
            f"or (s.low{end} < {case}.number or s.low{end} is null and s.high{end} is not null) "
            f"and ({case}.number <= s.high{end} or s.high{end} is null and s.low{end} is not null))"
        )

    single = f"select c.id, s.h, s.r from cases c join shapes s on {inside('c', '')}"
    query = f"{single} where s.feature_2 is null" if pairs else single
    if pairs:
        both = f"{inside('c', '')} and {inside('d', '_2')}"
        query += f" union all select c.id, s.h, s.r from cases c join cases d on c.id = d.id join shapes s on {both}"
    rows = connection.execute(f"select id, sum(h), sum(r) from ({query}) group by id order by id").fetchall()
    h0, r0 = shapes.loc[shapes["feature"] == "(intercept)", ["h", "r"]].iloc[0]
    found = np.array(rows)
    return h0 + found[:, 1], r0 + found[:, 2]


def test_reasons_name_the_level_and_bars_are_drawn():
    model, X, _ = fitted("decoupled")
    reasons = model.decide(X, reasons="all").reason
    assert any("region = north" in reason for reason in reasons)
    pytest.importorskip("matplotlib").use("Agg")
    display = ShapeFunctionDisplay.from_estimator(model, X)
    ax = next(ax for ax in display.axes_ if ax.get_xlabel() == "region")
    ticks = [tick.get_text() for tick in ax.get_xticklabels()]
    shape = next(shape for shape in model.shape_functions_ if shape.feature == 1)
    assert ticks[0] == "south"
    assert sorted(ticks) == sorted(shape.levels)
    assert [bar.get_height() for bar in ax.containers[0]] == sorted(shape.h.tolist())


def test_stumps_add_up_to_the_score():
    model, X, _ = fitted("decoupled", threshold="calibrated")
    numbers = model._numbers(X)
    total = model.intercept_[0] + sum(
        w * s.evaluate(numbers)[0] for s, w in zip(model.stumps_, model.weights_, strict=True)
    )
    np.testing.assert_allclose(total, model.decision_function(X), atol=1e-10)
    assert any(stump.places for stump in model.stumps_)


def problem_of_levels(n=200, seed=1, n_levels=6):
    rng = np.random.default_rng(seed)
    levels = rng.integers(0, n_levels, n)
    y = np.where(rng.random(n) < rng.random(n_levels)[levels], 1, -1)
    order = np.concatenate([np.flatnonzero(y > 0), np.flatnonzero(y < 0)])
    categories = Categories([0], [list("abcdefgh"[:n_levels])])
    X, cells = in_cells(levels[:, None].astype(float), order, categories)
    surrogate = Surrogate("logistic", 1.5, calibrated_k("logistic", 0.25, 1.5))
    n_pos = int((y > 0).sum())
    bins = ordered(bin_features(X, order, None, None, cells), n_pos, np.full(n, 1 / n))
    return Problem(bins, n_pos, np.full(n, 1 / n), surrogate), y[order], levels[order]


def test_every_function_of_the_level_is_within_reach():
    """The best h and r of each level by themselves, by a solver that knows of no stumps and no order."""
    problem, y, levels = problem_of_levels()
    h, r = cp.Variable(6), cp.Variable(6)
    u, v = r[levels] - cp.multiply(y, h[levels]), -problem.surrogate.b * r[levels]
    total = (cp.sum(cp.logistic(u)) + problem.surrogate.k * cp.sum(cp.logistic(v))) / np.log(2) / len(y)
    program = cp.Problem(cp.Minimize(total), [cp.abs(h) <= 50, cp.abs(r) <= 50])
    program.solve(solver="CLARABEL")
    solution = boost(problem, Settings(family="decoupled", corrective=True, tol=1e-9, n_rounds=300))
    assert solution.objective == pytest.approx(program.value, abs=1e-6)
    found_h, found_r = solution.model.scores(problem)
    np.testing.assert_allclose(found_h, h.value[levels], atol=1e-2)
    np.testing.assert_allclose(found_r, r.value[levels], atol=1e-2)


def test_levels_lie_along_their_share_of_positives():
    problem, y, levels = problem_of_levels()
    rate = np.array([np.mean(y[levels == level] > 0) for level in range(6)])
    count = np.bincount(levels)
    smoothed = (rate * count + 10 * np.mean(y > 0)) / (count + 10)
    assert problem.bins.levels[0].cell.tolist() == np.argsort(np.argsort(smoothed)).tolist()


def test_the_order_in_a_fold_is_that_of_its_training_cases():
    problem, _, levels = problem_of_levels(n=90, seed=3)
    train, test = np.arange(0, 90, 2), np.arange(1, 90, 2)
    part, rest = problem.split(train, test)
    alone = problem.take(train)
    cell = alone.bins.moved(order_levels(alone.bins, alone.n_pos, alone.s)).levels[0].cell
    np.testing.assert_array_equal(part.bins.levels[0].cell, cell)
    np.testing.assert_array_equal(part.bins.codes[0], cell[levels[train]])
    np.testing.assert_array_equal(rest.bins.codes[0], cell[levels[test]])
    assert not np.array_equal(cell, problem.bins.levels[0].cell)  # else this tells nothing


def test_noise_of_many_levels_is_not_believed():
    """On held-out cases a category of noise costs nothing: the order of a fold does not know its test cases."""
    rng = np.random.default_rng(5)
    X, y = table(800, seed=5)
    X = X.assign(noise=pd.Categorical(rng.integers(0, 150, 800).astype(str)))
    model = AbstentionBoostingClassifier(costs=0.25, family="chow", n_rounds=60, cv=3)
    without = clone(model).fit(X.drop(columns="noise"), y).held_out_costs_["chow"]
    assert model.fit(X, y).held_out_costs_["chow"] > without - 0.01
    fresh, truth = table(4000, seed=6)
    fresh = fresh.assign(noise=pd.Categorical(rng.integers(0, 150, 4000).astype(str)))
    paid = 1 - model.score(fresh, truth)
    assert paid == pytest.approx(model.held_out_costs_["chow"], abs=0.05)


@pytest.mark.parametrize("n_levels", [300, 3000])
def test_many_levels_are_bounded_and_rare_ones_alike(n_levels):
    rng = np.random.default_rng(0)
    codes = np.concatenate([rng.integers(0, n_levels, 6000), np.arange(n_levels)]).astype(float)
    categories = Categories([0], [list(range(n_levels))])
    _, cells = in_cells(codes[:, None], np.arange(len(codes)), categories)
    cell, counts = cells[0].cell, np.bincount(codes.astype(int))
    assert cell.max() + 1 <= 255
    kept = np.bincount(cell)[cell] == 1
    assert (counts[kept].min() if kept.any() else 10) >= 10
    assert len(set(cell[~kept].tolist())) == 1


@pytest.mark.parametrize("model", [MODELS["decoupled"], MODELS["exactboost"]], ids=["abstention", "exactboost"])
@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("region", "must be 'from_dtype', None, or a list of columns"),
        (["town"], "names 'town', but it is not among the columns"),
        ([5], "names column 5, but X has the columns 0 to 1"),
        ([True], "must hold 2 flags, one per column; got 1"),
    ],
)
def test_what_is_refused(model, named, said):
    X, y = table()
    with pytest.raises(ValueError, match=said):
        clone(model).set_params(categorical_features=named).fit(X, y)


def test_categories_have_no_order_and_no_trees():
    X, y = table()
    for model in (MODELS["decoupled"], MODELS["exactboost"]):
        with pytest.raises(
            ValueError, match="monotonic_cst asks for an order of column 1, whose values are categories"
        ):
            clone(model).set_params(monotonic_cst={"region": 1}).fit(X, y)
    with pytest.raises(ValueError, match="Categories need stumps, max_depth=1"):
        AbstentionBoostingClassifier(max_depth=2).fit(X, y)
    with pytest.raises(ValueError, match="without stacking, pair terms, categories or edits"):
        fitted("coupled", threshold="calibrated")[0].generalization_bound()


def test_text_that_is_not_named_is_refused_as_before():
    X, y = table()
    with pytest.raises(ValueError, match=r"column 'region' holds '.*', and AbstentionBoostingClassifier needs numbers"):
        AbstentionBoostingClassifier().fit(X.astype({"region": str}), y)


def test_levels_of_a_categorical_type_keep_its_order():
    column = pd.Series(pd.Categorical(["low", "high", "low"], categories=["low", "middle", "high"]))
    assert find_categories("from_dtype", pd.DataFrame({"a": column})).levels == [["low", "high"]]


def test_other_columns_than_in_fit_are_refused():
    model, X, _ = fitted("decoupled")
    with pytest.raises(ValueError, match="feature"):
        model.predict(X[["age"]])
