"""Checks of the indices that compiled code follows unchecked: trees, neighbour trees, sparse matrices.

A file can hold any numbers, and an index out of range would make `predict` read memory outside the array.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse

from .parts import parts


def check_indices(model: Any) -> None:
    """Refuse a model in which an index points outside what it indexes."""
    for part in parts(model):
        _check_part(part)


def _check_part(part: Any) -> None:
    """Check one object, if it is of a kind that compiled code follows: a tree, its owner, or a sparse matrix."""
    kind, attributes = type(part).__name__, getattr(part, "__dict__", {})
    if kind == "Tree" and hasattr(part, "children_left"):
        _check_tree(part)
    elif kind in ("KDTree", "BallTree"):
        _check_neighbour_tree(part)
    elif hasattr(part, "check_format") and scipy.sparse.issparse(part):
        part.check_format(full_check=True)
    elif kind.startswith(("DecisionTree", "ExtraTree")):
        _check_tree_owner(attributes.get("tree_"), attributes)
    elif kind.startswith("GradientBoosting"):
        for estimator in getattr(attributes.get("estimators_"), "flat", ()):
            _check_tree_owner(vars(estimator).get("tree_"), attributes)
    elif kind.startswith("HistGradientBoosting"):
        for predictor in chain.from_iterable(attributes.get("_predictors", ())):
            _check_histogram_tree(predictor, attributes["n_features_in_"])


def _check_tree_owner(tree: Any, owner: dict[str, Any]) -> None:
    if "n_features_in_" in owner and tree is not None:
        _require(type(tree).__name__ == "Tree" and tree.n_features == owner["n_features_in_"])


def _check_tree(tree: Any) -> None:
    _require(0 < tree.node_count <= tree.capacity)
    inner = tree.children_left != -1
    _check_branches(np.flatnonzero(inner), tree.children_left[inner], tree.children_right[inner], tree.node_count)
    _check_range(tree.feature[inner], tree.n_features)


def _check_histogram_tree(predictor: Any, n_features: int) -> None:
    nodes = predictor.nodes
    inner = nodes[nodes["is_leaf"] == 0]
    _require(len(nodes) > 0)
    _check_branches(np.flatnonzero(nodes["is_leaf"] == 0), inner["left"], inner["right"], len(nodes))
    _check_range(inner["feature_idx"], n_features)
    _check_range(inner["bitset_idx"][inner["is_categorical"] != 0], len(predictor.raw_left_cat_bitsets))


def _check_neighbour_tree(tree: Any) -> None:
    points, order, nodes, bounds, _, _, n_nodes, *_ = tree.__getstate__()
    _require(len(order) == len(points) and len(nodes) == n_nodes > 0)
    _require(bounds.shape == (2 if type(tree).__name__ == "KDTree" else 1, n_nodes, points.shape[1]))
    _check_range(order, len(points))
    _check_range(nodes["idx_start"], len(points) + 1)
    _check_range(nodes["idx_end"], len(points) + 1)
    inner = np.flatnonzero(nodes["is_leaf"] == 0)
    _check_range(2 * inner + 2, n_nodes)  # the children of node i are 2 i + 1 and 2 i + 2


def _check_branches(parents: Any, left: Any, right: Any, n_nodes: int) -> None:
    """Children exist and come after their parent, so no path leaves the tree or runs in a circle."""
    for children in (left, right):
        _check_range(children, n_nodes)
        _require((children > parents).all())


def _check_range(indices: Any, size: int) -> None:
    _require(((indices >= 0) & (indices < size)).all())


def _require(holds: Any) -> None:
    if not holds:
        raise ValueError("an index in it points outside")
