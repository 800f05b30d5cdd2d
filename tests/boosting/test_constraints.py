"""Monotone features: h on 100,000 random pairs of points, whatever the family, the loss, the prices or the metric."""

import numpy as np
import pandas as pd
import pytest

from recuse import AbstentionBoostingClassifier, Costs, ExactBoostClassifier
from recuse.boosting.abstention.engine.losses import LOSSES
from recuse.boosting.exactboost.objectives import OBJECTIVES
from tests.marks import may_reject_all

PAIRS = 100_000
SIGNS = (1, -1, 0, -1)  # the last against the truth
UNEQUAL = Costs(fp=1.0, fn=6.0, reject=0.5)


def cases(seed=0, n=400, missing=0.05):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    wave = np.sin(3 * X[:, 0]) + X[:, 0] - 1.5 * X[:, 1] + X[:, 2] ** 2 + 0.7 * X[:, 3]
    y = (wave + rng.normal(size=n) > 1).astype(int)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def pairs_of_points(X, feature, seed=1):
    """Points that differ in one feature alone, the second larger there; some values are missing elsewhere."""
    rng = np.random.default_rng(seed)
    low = X[rng.integers(len(X), size=PAIRS)].copy()
    low[:, feature] = rng.normal(size=PAIRS) * 1.5
    # Half of the other ends are training values: the ends of cells.
    known = X[~np.isnan(X[:, feature]), feature]
    other = np.where(rng.random(PAIRS) < 0.5, rng.normal(size=PAIRS) * 1.5, known[rng.integers(len(known), size=PAIRS)])
    high = low.copy()
    low[:, feature], high[:, feature] = np.minimum(low[:, feature], other), np.maximum(low[:, feature], other)
    return low, high


def falls(model, X, feature, sign):
    """Whether h moves against the sign anywhere."""
    low, high = pairs_of_points(X, feature)
    return bool((sign * (model.decision_function(high) - model.decision_function(low)) < 0).any())


def require_monotone(model, X, signs=SIGNS):
    for feature, sign in enumerate(signs):
        if sign:
            assert not falls(model, X, feature, sign), (feature, sign)


ABSTENTION = [
    {"family": "coupled", "beta": 0.002},
    {"family": "coupled", "beta": 0.002, "gamma": 0.3, "step": "line"},
    {"family": "coupled", "beta": 0.01, "corrective": True, "tol": 0.01},
    {"family": "coupled", "beta": 0.001, "step": "paper"},
    {"family": "decoupled", "beta": 0.002},
    {"family": "decoupled", "beta": 0.0, "learning_rate": 0.3, "max_bins": 16},
    {"family": "decoupled", "beta": 0.002, "stack": "start"},
    {"family": "decoupled", "beta": 0.002, "stack": "oof"},
    {"family": "decoupled", "beta": 0.002, "surrogate": "max"},
    {"family": "chow", "beta": 0.002},
]


@may_reject_all
@pytest.mark.parametrize("costs", [0.2, UNEQUAL], ids=["equal", "unequal"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("options", ABSTENTION, ids=lambda options: "-".join(str(v) for v in options.values()))
def test_abstention_boosting_is_monotone(options, loss, costs):
    X, y = cases()
    model = AbstentionBoostingClassifier(costs=costs, loss=loss, n_rounds=60, monotonic_cst=SIGNS, cv=3, **options)
    require_monotone(model.fit(X, y), X)
    low, high = pairs_of_points(X, 2)
    change = model.decision_function(high) - model.decision_function(low)
    assert (change > 0).any()  # the free feature acts, and both ways
    assert (change < 0).any()


def test_without_signs_the_same_score_is_not_monotone():
    X, y = cases()
    model = AbstentionBoostingClassifier(family="decoupled", beta=0.002, n_rounds=60).fit(X, y)
    assert falls(model, X, 0, 1)
    assert falls(model, X, 3, -1)


def test_the_default_model_is_monotone():
    X, y = cases(n=300)
    require_monotone(AbstentionBoostingClassifier(n_rounds=30, monotonic_cst=SIGNS, cv=2).fit(X, y), X)


@pytest.mark.parametrize("pos_label", [0, 1])
@pytest.mark.parametrize("metric", OBJECTIVES)
def test_exactboost_is_monotone(metric, pos_label):
    X, y = cases()
    model = ExactBoostClassifier(
        metric=metric, n_estimators=10, max_features=1.0, monotonic_cst=SIGNS, pos_label=pos_label, random_state=0
    ).fit(X, y)
    require_monotone(model, X)
    assert {shape.feature for shape in model.shape_functions_} >= {0, 1, 2}


@may_reject_all
@pytest.mark.parametrize("costs", [0.2, UNEQUAL], ids=["equal", "unequal"])
@pytest.mark.parametrize("pos_label", [0, 1])
@pytest.mark.parametrize("options", ABSTENTION, ids=lambda options: "-".join(str(v) for v in options.values()))
def test_abstention_boosting_is_monotone_once_edited(options, pos_label, costs):
    X, y = cases()
    model = AbstentionBoostingClassifier(costs=costs, n_rounds=60, cv=3, pos_label=pos_label, **options).fit(X, y)
    edited = model.edit(0, "monotonise", sign=1).edit(3, "monotonise", sign=-1)
    require_monotone(edited, X, (1, 0, 0, -1))
    assert falls(model, X, 3, -1)


@pytest.mark.parametrize("pos_label", [0, 1])
@pytest.mark.parametrize("metric", ["auc", "reject_cost"])
def test_exactboost_is_monotone_once_edited(metric, pos_label):
    X, y = cases()
    model = ExactBoostClassifier(metric=metric, n_estimators=10, max_features=1.0, pos_label=pos_label, random_state=0)
    edited = model.fit(X, y).edit(0, "monotonise", sign=1).edit(3, "monotonise", sign=-1)
    require_monotone(edited, X, (1, 0, 0, -1))
    assert falls(model, X, 3, -1)


@pytest.mark.parametrize("stack", ["start", "oof"])
def test_the_acceptance_score_of_a_stacked_model_is_not_monotonised(stack):
    X, y = cases()
    model = AbstentionBoostingClassifier(costs=0.2, family="decoupled", beta=0.002, n_rounds=30, cv=3, stack=stack)
    model.fit(X, y)
    for scores in ("r", "both"):
        with pytest.raises(ValueError, match=f"scores='{scores}' does not go with action='monotonise' .*stacked score"):
            model.edit(0, "monotonise", sign=1, scores=scores)


def gap_of_means(positives, negatives):
    return float(1.0 - np.mean(positives[:, None] > negatives[None, :]))


def test_exactboost_with_a_metric_of_your_own_is_monotone():
    X, y = cases(n=60)
    model = ExactBoostClassifier(
        metric=gap_of_means, n_estimators=2, n_rounds=6, max_bins=8, max_features=1.0, monotonic_cst=SIGNS,
        random_state=0,
    ).fit(X, y)  # fmt: skip
    require_monotone(model, X)


@pytest.mark.parametrize(
    "build",
    [
        lambda **given: AbstentionBoostingClassifier(costs=0.4, family="decoupled", beta=0.002, n_rounds=20, **given),
        lambda **given: ExactBoostClassifier(n_estimators=4, random_state=0, **given),
    ],
    ids=["abstention", "exactboost"],
)
class TestSpelling:
    def test_names_and_signs_are_the_same(self, build):
        X, y = cases()
        frame = pd.DataFrame(X, columns=list("abcd"))
        named = build(monotonic_cst={"a": 1, "b": -1, "d": -1}).fit(frame, y)
        plain = build(monotonic_cst=list(SIGNS)).fit(X, y)
        np.testing.assert_array_equal(named.decision_function(frame), plain.decision_function(X))

    def test_zeros_change_nothing(self, build):
        X, y = cases()
        zeros = build(monotonic_cst=np.zeros(4, dtype=int)).fit(X, y)
        np.testing.assert_array_equal(zeros.decision_function(X), build().fit(X, y).decision_function(X))

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ([1, 0], "must hold 4 signs -1, 0 or 1, one per column"),
            ([1, 0, 2, 0], "must hold -1 .h falls with the feature., 0 .free. or 1"),
            ("rising", "must hold 4 signs"),
            ({"z": 1}, "names 'z', which is not among the columns .*c"),
            ({"a": "up"}, "must hold -1"),
        ],
    )
    def test_what_is_refused(self, build, given, said):
        X, y = cases()
        with pytest.raises(ValueError, match=said):
            build(monotonic_cst=given).fit(pd.DataFrame(X, columns=list("abcd")), y)

    def test_names_need_a_frame(self, build):
        with pytest.raises(ValueError, match="X has no names: fit a data frame"):
            build(monotonic_cst={"a": 1}).fit(*cases())


def test_trees_and_bisection_refuse_signs():
    X, y = cases(missing=0.0)
    with pytest.raises(ValueError, match="monotonic_cst needs stumps, max_depth=1; got max_depth=2"):
        AbstentionBoostingClassifier(max_depth=2, monotonic_cst=SIGNS).fit(X, y)
    with pytest.raises(ValueError, match="monotonic_cst needs search='exact'"):
        ExactBoostClassifier(search="bisection", monotonic_cst=SIGNS).fit(X, y)
