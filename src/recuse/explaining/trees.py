"""Contributions of scikit-learn's trees: forests, extremely randomised trees, gradient boosting, single trees.

A model of many trees is a sum of them, and so are its Shapley values. Where the trees are so large that all of them
would take too long, `tree_shap` is worked out for some of them, and for all of them the shares along the path, which
have the same sum: what the two differ by on those few is added to the shares of all. The amounts still add up to the
score, and how much the difference varies from tree to tree gives their standard error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Indices
from .contributions import LOG_ODDS, PROBABILITY, Contributions
from .treeshap import FlatTree, path_shares, tree_shap

MOST_LEAVES = 25_000  # of the trees whose Shapley values are worked out: 10,000 cases take about ten seconds
_FEWEST_TREES = 8


class TreeSum(NamedTuple):
    """A model that is a constant plus a weighted sum of trees.

    Attributes
    ----------
    trees : list of FlatTree
        The trees.
    weight : float
        Of each of them.
    constant : float
        What is added to their sum.
    scale : str
        What the sum is.
    matrix : callable
        Cases as the model takes them -> the matrix that its splits look at.
    columns : ndarray of int
        For each column of that matrix the column of the cases.
    """

    trees: list[FlatTree]
    weight: float
    constant: float
    scale: str
    matrix: Callable[[Any], NDArray[np.floating]]
    columns: Indices


def mean_of(models: list[TreeSum]) -> TreeSum:
    """The mean of several sums of trees that look at the same matrix, each of which weighs its trees alike."""
    first = models[0]
    trees = [tree for model in models for tree in model.trees]
    # One weight for all trees: those of a sum with fewer trees would else count less than they do in it.
    scaled = [
        tree._replace(value=tree.value * (model.weight / first.weight)) for model in models for tree in model.trees
    ]
    constant = float(np.mean([model.constant for model in models]))
    same = all(model.weight == first.weight for model in models)
    return first._replace(trees=trees if same else scaled, weight=first.weight / len(models), constant=constant)


def explain_trees(model: TreeSum, X: Any, most_leaves: int = MOST_LEAVES, seed: int = 0) -> Contributions:
    """Contributions of a sum of trees: exact, or with their standard error where the trees are too many."""
    matrix = model.matrix(X)
    chosen = _choose(model.trees, most_leaves, seed)
    amounts, error = _all_trees(model.trees, matrix) if chosen is None else _some_trees(model.trees, matrix, chosen)
    base = model.constant + model.weight * sum(float(tree.expectations()[0]) for tree in model.trees)
    order = np.argsort(model.columns)
    return Contributions(
        model.weight * amounts[:, order],
        np.full(len(matrix), base),
        model.scale,
        None if error is None else abs(model.weight) * error[:, order],
    )


def _choose(trees: list[FlatTree], most_leaves: int, seed: int) -> Indices | None:
    """Which trees to look at, drawn at random, so many that they hold so many leaves; None for all of them."""
    leaves = np.array([tree.n_leaves for tree in trees])
    if leaves.sum() <= most_leaves:
        return None
    order = np.random.default_rng(seed).permutation(len(trees))
    few = max(_FEWEST_TREES, int(np.searchsorted(np.cumsum(leaves[order]), most_leaves)))
    return None if few >= len(trees) else np.sort(order[:few])


def _all_trees(trees: list[FlatTree], matrix: NDArray[np.floating]) -> tuple[Floats, None]:
    total = np.zeros(matrix.shape)
    for tree in trees:
        total += tree_shap(tree, matrix)
    return total, None


def _some_trees(trees: list[FlatTree], matrix: NDArray[np.floating], chosen: Indices) -> tuple[Floats, Floats]:
    """Shares along the paths of all trees, corrected by what some of them show the correction to be."""
    total, mean, squares = (np.zeros(matrix.shape) for _ in range(3))
    looked_at = set(chosen.tolist())
    for number, tree in enumerate(trees):
        shares = path_shares(tree, matrix)
        total += shares
        if number in looked_at:
            difference = tree_shap(tree, matrix) - shares
            mean += difference / len(chosen)
            squares += difference**2 / len(chosen)
    n, k = len(trees), len(chosen)
    variance = np.maximum(squares - mean**2, 0.0) * k / (k - 1)
    # Drawn without replacement: the closer to all of them, the less is left to chance.
    return total + n * mean, n * np.sqrt(variance / k * (1 - k / n))


def as_tree_sum(model: Any) -> TreeSum | None:
    """A fitted model of scikit-learn for two classes as a sum of trees; None for what is none."""
    from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
    from sklearn.ensemble._forest import ForestClassifier
    from sklearn.tree import BaseDecisionTree

    if len(getattr(model, "classes_", ())) != 2:
        return None
    if isinstance(model, HistGradientBoostingClassifier):
        return _of_histogram_boosting(model)
    if isinstance(model, ForestClassifier):
        trees = [_of_sklearn_tree(tree.tree_, shares=True) for tree in model.estimators_]
        return _plain(trees, 1 / len(trees), 0.0, PROBABILITY, model.n_features_in_)
    if isinstance(model, BaseDecisionTree):
        return _plain([_of_sklearn_tree(model.tree_, shares=True)], 1.0, 0.0, PROBABILITY, model.n_features_in_)
    if isinstance(model, GradientBoostingClassifier) and model.loss == "log_loss":
        trees = [_of_sklearn_tree(tree.tree_, shares=False) for tree in model.estimators_[:, 0]]
        start = _start_of(model)
        return (
            None if start is None else _plain(trees, float(model.learning_rate), start, LOG_ODDS, model.n_features_in_)
        )
    return None


def _start_of(model: Any) -> float | None:
    """What gradient boosting starts from; None where that is a model of its own."""
    if model.init is not None and model.init != "zero":
        return None
    nothing = np.zeros((1, model.n_features_in_), dtype=np.float32)
    grown = sum(float(model.learning_rate) * float(tree.predict(nothing)[0]) for tree in model.estimators_[:, 0])
    # A frame's names would be missed in an array: what is asked for does not look at them.
    return float(model._raw_predict(nothing)[0, 0]) - grown


def _plain(trees: list[FlatTree], weight: float, constant: float, scale: str, p: int) -> TreeSum:
    """A model whose trees look at the cases as they are, in single precision."""
    return TreeSum(trees, weight, constant, scale, lambda X: np.asarray(X, dtype=np.float32), np.arange(p))


def _of_sklearn_tree(tree: Any, *, shares: bool) -> FlatTree:
    """A tree of scikit-learn; what its leaves answer is the share of the second class, or a number."""
    value = tree.value[:, 0, :]
    answers = value[:, 1] / np.maximum(value.sum(axis=1), np.finfo(float).tiny) if shares else value[:, 0]
    threshold, missing_left = tree.threshold, np.asarray(tree.missing_go_to_left, dtype=bool)

    def goes_left(node: int, values: NDArray[np.floating]) -> Flags:
        left: Flags = values <= threshold[node]
        return left | np.isnan(values) if missing_left[node] else left

    left, right = (children.astype(np.intp) for children in (tree.children_left, tree.children_right))
    return FlatTree(left, right, tree.feature.astype(np.intp), tree.weighted_n_node_samples, answers, goes_left)


def _of_histogram_boosting(model: Any) -> TreeSum:
    """Histogram boosting: its categories come first in the matrix that its splits look at."""
    categorical = model.is_categorical_
    n = model.n_features_in_
    columns = np.arange(n)
    if categorical is not None:
        columns = np.concatenate([np.flatnonzero(categorical), np.flatnonzero(~categorical)])
    trees = [_of_histogram_tree(predictors[0]) for predictors in model._predictors]
    constant = float(np.ravel(model._baseline_prediction)[0])
    return TreeSum(trees, 1.0, constant, LOG_ODDS, lambda X: model._preprocess_X(X, reset=False), columns)


def _of_histogram_tree(predictor: Any) -> FlatTree:
    nodes, bits = predictor.nodes, predictor.raw_left_cat_bitsets
    leaf = nodes["is_leaf"].astype(bool)
    left, right = (np.where(leaf, -1, nodes[side].astype(np.intp)) for side in ("left", "right"))
    threshold, missing_left = nodes["num_threshold"], nodes["missing_go_to_left"].astype(bool)
    categorical = nodes["is_categorical"].astype(bool)
    members = {int(node): _members(bits[nodes["bitset_idx"][node]]) for node in np.flatnonzero(categorical & ~leaf)}

    def goes_left(node: int, values: NDArray[np.floating]) -> Flags:
        missing = np.isnan(values)
        if node in members:
            codes = np.where(missing, 0, values).astype(np.intp)
            chosen: Flags = members[node][np.clip(codes, 0, 255)] & ~missing
        else:
            chosen = values <= threshold[node]
        return chosen | missing if missing_left[node] else chosen

    feature = nodes["feature_idx"].astype(np.intp)
    return FlatTree(left, right, feature, nodes["count"].astype(np.float64), nodes["value"], goes_left)


def _members(words: NDArray[np.uint32]) -> Flags:
    """Which of 256 codes are in a set of bits."""
    codes = np.arange(256)
    found: Flags = (words[codes // 32] >> (codes % 32).astype(np.uint32)) & 1 > 0
    return found
