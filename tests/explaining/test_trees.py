"""Shapley values of trees against their definition: every set of columns, one by one."""

from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier

from recuse.explaining.trees import as_tree_sum, explain_trees
from recuse.explaining.treeshap import path_shares, tree_shap

MODELS = {
    "tree": DecisionTreeClassifier(max_depth=7, random_state=0),
    "forest": RandomForestClassifier(3, max_depth=6, random_state=0),
    "grown forest": RandomForestClassifier(2, random_state=0),
    "extra trees": ExtraTreesClassifier(3, min_samples_leaf=4, random_state=0),
    "histogram boosting": HistGradientBoostingClassifier(max_iter=4, max_leaf_nodes=9),
    "histogram stumps": HistGradientBoostingClassifier(max_iter=3, max_depth=1),
    "gradient boosting": GradientBoostingClassifier(n_estimators=4, max_depth=4, random_state=0),
}


@pytest.fixture(scope="module")
def cases():
    """Five columns that act together, a repeated value among them, and some values missing."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 5))
    X[:, 4] = rng.integers(0, 3, 300)
    y = (X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * X[:, 4] + 0.5 * rng.normal(size=300) > 0.5).astype(int)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def expected(tree, x, known, node=0):
    """What a tree is expected to answer if only the columns in `known` are."""
    if tree.left[node] < 0:
        return tree.value[node]
    f, left, right = tree.feature[node], tree.left[node], tree.right[node]
    if f in known:
        return expected(tree, x, known, left if tree.goes_left(node, x[f : f + 1])[0] else right)
    a, b = tree.cover[left], tree.cover[right]
    return (a * expected(tree, x, known, left) + b * expected(tree, x, known, right)) / (a + b)


def shapley(tree, x):
    p = len(x)
    values = {s: expected(tree, x, set(s)) for k in range(p + 1) for s in combinations(range(p), k)}
    out = np.zeros(p)
    for j in range(p):
        for s in values:
            if j not in s:
                weight = factorial(len(s)) * factorial(p - 1 - len(s)) / factorial(p)
                out[j] += weight * (values[tuple(sorted((*s, j)))] - values[s])
    return out


def score_of(model, X, scale):
    return model.predict_proba(X)[:, 1] if scale == "probability" else model.decision_function(X)


@pytest.mark.parametrize("name", MODELS)
def test_shapley_values_are_those_of_the_definition(cases, name):
    X, y = cases
    X = np.nan_to_num(X) if name == "gradient boosting" else X
    model = MODELS[name].fit(X, y)
    trees = as_tree_sum(model)
    found = explain_trees(trees, X[:12])
    by_hand = [trees.weight * sum(shapley(tree, x) for tree in trees.trees) for x in trees.matrix(X[:12])]
    np.testing.assert_allclose(found.amounts, by_hand, atol=1e-12)
    np.testing.assert_allclose(found.score, score_of(model, X[:12], found.scale), atol=1e-12)
    assert found.error is None


@pytest.mark.parametrize("weights", [None, "half are 0"])
def test_they_add_up_to_the_score(cases, weights):
    X, y = cases
    weights = None if weights is None else np.arange(len(y)) % 2
    for name in ("grown forest", "histogram boosting"):
        model = MODELS[name].fit(X, y, sample_weight=weights)
        found = explain_trees(as_tree_sum(model), X)
        np.testing.assert_allclose(found.score, score_of(model, X, found.scale), atol=1e-12)
        assert np.ptp(found.base) == 0


def test_categories_of_histogram_boosting(cases):
    X, y = cases
    frame = pd.DataFrame(X[:, :4], columns=list("abcd"))
    levels = np.array(["low", "middle", "high"])[np.nan_to_num(X[:, 4]).astype(int)]
    frame.insert(1, "level", pd.Categorical(levels))
    frame.loc[:20, "level"] = None
    model = HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype").fit(frame, y)
    trees = as_tree_sum(model)
    found = explain_trees(trees, frame)
    np.testing.assert_allclose(found.score, model.decision_function(frame), atol=1e-12)
    by_hand = [sum(shapley(tree, x) for tree in trees.trees) for x in trees.matrix(frame[:8])]
    # Its matrix has the categories first, the amounts are in the order of the frame.
    np.testing.assert_allclose(found.amounts[:8], np.array(by_hand)[:, [1, 0, 2, 3, 4]], atol=1e-12)
    assert np.ptp(found.amounts[:, 1]) > 0


def test_a_block_of_cases_and_a_case_alone_are_told_the_same(cases):
    X, y = cases
    trees = as_tree_sum(MODELS["forest"].fit(X, y))
    many = np.tile(X, (5, 1))
    together = explain_trees(trees, many).amounts
    np.testing.assert_allclose(together[1200:], together[:300], atol=1e-13)
    np.testing.assert_allclose(explain_trees(trees, X[7:8]).amounts[0], together[7], atol=1e-13)


def test_some_trees_of_a_large_forest_give_an_estimate_whose_errors_are_right(cases):
    X, y = cases
    trees = as_tree_sum(RandomForestClassifier(60, random_state=0).fit(X, y))
    exact = explain_trees(trees, X[:40])
    inside, leaves = [], sum(tree.n_leaves for tree in trees.trees)
    for seed in range(30):
        found = explain_trees(trees, X[:40], most_leaves=leaves // 3, seed=seed)
        np.testing.assert_allclose(found.score, exact.score, atol=1e-12)  # an estimate adds up as well
        assert 0 < found.error.max() < np.abs(exact.amounts).max()
        inside.append(np.abs(found.amounts - exact.amounts) <= 2.09 * found.error)  # t with about 19 degrees
    assert 0.92 <= np.mean(inside) <= 0.98


def test_shares_along_the_path_have_the_same_sum(cases):
    X, y = cases
    (tree,) = as_tree_sum(MODELS["tree"].fit(X, y)).trees
    X = X.astype(np.float32)
    np.testing.assert_allclose(path_shares(tree, X).sum(axis=1), tree_shap(tree, X).sum(axis=1), atol=1e-12)


def test_a_tree_without_a_split_adds_nothing(cases):
    X, _ = cases
    model = DecisionTreeClassifier(max_leaf_nodes=2, min_samples_leaf=200).fit(X, np.arange(300) % 2)
    found = explain_trees(as_tree_sum(model), X)
    assert not found.amounts.any()
    np.testing.assert_allclose(found.base, 0.5)


def test_three_classes_and_other_models_are_no_sums_of_trees(cases):
    X, _ = cases
    assert as_tree_sum(DecisionTreeClassifier().fit(X, np.arange(300) % 3)) is None
    assert as_tree_sum(object()) is None
