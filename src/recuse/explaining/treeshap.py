"""Shapley values of trees, exactly, with NumPy only.

The value of a set S of columns is what the tree is expected to answer when only these are known: where a split asks
for another column both branches are taken, weighted by how many training cases went each way (Lundberg, Erion and Lee,
2018; what LightGBM and XGBoost give as well). A leaf with the columns D on its path adds to column j of a case

    v (o_j - z_j) integral from 0 to 1 of prod_{k in D, k != j} (o_k t + z_k (1 - t)) dt,

where o_k tells whether the case passes every split of column k on the path, and z_k is the share of the training cases
that do, as the integral of t^s (1 - t)^(d-1-s) is the weight s! (d-1-s)! / d! that Shapley gives a set of s columns.
The product is a polynomial of degree d - 1, so that Gauss-Legendre quadrature with d / 2 nodes is exact. Going down,
each split multiplies the product at the nodes by one of three factors; going up, the sums over the leaves below are
multiplied by one of two. All cases of a block take every step together, which is what makes it fast without a
compiler: answers load none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Indices

_BLOCK = 1_024  # cases that go through a tree together: what is held of them at a node stays in the cache
_LEFT, _RIGHT, _OFF = np.arange(3, dtype=np.intp)


class FlatTree(NamedTuple):
    """A binary tree as arrays, node 0 being its root.

    Attributes
    ----------
    left, right : ndarray of int
        Children; -1 at leaves.
    feature : ndarray of int
        Column of each split.
    cover : ndarray of float
        Weight of the training cases at each node.
    value : ndarray of float
        What each leaf answers.
    goes_left : callable
        (node, column of values) -> which of them go left.
    """

    left: Indices
    right: Indices
    feature: Indices
    cover: Floats
    value: Floats
    goes_left: Callable[[int, NDArray[np.floating]], Flags]

    @property
    def n_leaves(self) -> int:
        """How many leaves there are."""
        return int(np.count_nonzero(self.left < 0))

    def shares(self) -> Floats:
        """Which part of the training cases at each split went left."""
        left, right = self.cover[self.left], self.cover[self.right]
        total = left + right
        return np.divide(left, total, out=np.full(len(total), 0.5), where=total > 0)

    def expectations(self) -> Floats:
        """What is expected at each node when no further column is known."""
        expected = self.value.astype(np.float64).tolist()
        left, right, shares = self.left.tolist(), self.right.tolist(), self.shares().tolist()
        order, pending = [], [0]
        while pending:
            node = pending.pop()
            if left[node] >= 0:
                order.append(node)
                pending += [left[node], right[node]]
        for node in reversed(order):
            expected[node] = shares[node] * expected[left[node]] + (1 - shares[node]) * expected[right[node]]
        return np.array(expected)


def tree_shap(tree: FlatTree, X: NDArray[np.floating]) -> Floats:
    """Shapley values of the columns of each case; they sum to the answer minus `expectations()[0]`."""
    amounts = np.zeros(X.shape)
    passed_before, columns = _paths(tree)
    if columns == 0:
        return amounts
    nodes, weights = np.polynomial.legendre.leggauss((columns + 1) // 2)
    walk = _Walk(tree, passed_before, (nodes + 1) / 2, weights / 2)
    for start in range(0, len(X), _BLOCK):
        walk.run(X[start : start + _BLOCK], amounts[start : start + _BLOCK])
    return amounts


def _paths(tree: FlatTree) -> tuple[Floats, int]:
    """For each split the share of the training cases that pass the splits of its column above it.

    And the largest number of different columns on a path.
    """
    before, most = np.ones(len(tree.left)), 0
    left, right, feature, shares = (array.tolist() for array in (tree.left, tree.right, tree.feature, tree.shares()))
    pending: list[tuple[int, dict[int, float]]] = [(0, {})]
    while pending:
        node, path = pending.pop()
        if left[node] < 0:
            most = max(most, len(path))
            continue
        f = feature[node]
        before[node] = passed = path.get(f, 1.0)
        pending.append((left[node], path | {f: passed * shares[node]}))
        pending.append((right[node], path | {f: passed * (1 - shares[node])}))
    return before, most


class _Walk:
    """One tree at the nodes t of the quadrature, with its weights.

    At a split a case is in one of three states: it goes left (0), it goes right (1), or it failed an earlier split of
    the column on the path (2), and then it makes no difference where it goes. What the product is multiplied by on the
    way to a child depends on the state only, and so does what the sums over the leaves below are multiplied by to give
    the contribution of the column, which is 0 in the last state.
    """

    def __init__(self, tree: FlatTree, before: Floats, t: Floats, weights: Floats) -> None:
        self.tree, self.n_nodes = tree, len(t)
        self.left, self.right, self.feature = (part.tolist() for part in (tree.left, tree.right, tree.feature))
        share = tree.shares()
        on_left, on_right = (_by_state(before, part, t, weights) for part in (share, 1 - share))
        swapped = [1, 0, 2]  # cases in the second state are those that pass to the right
        self.factors = on_left[0], on_right[0][:, swapped]
        amounts = on_left[1], on_right[1][:, swapped]
        self.amounts_of = tuple(_for_product(amount) for amount in amounts)
        # Two leaves below a split are dealt with in one step.
        is_leaf = tree.left < 0
        self.above_leaves = (~is_leaf & is_leaf[tree.left] & is_leaf[tree.right]).tolist()
        sums = [
            tree.value[child][:, None, None] * factor
            for child, factor in zip((tree.left, tree.right), self.factors, strict=True)
        ]
        self.leaf_sums = sums[0] + sums[1]
        self.leaf_amounts = _for_product(sums[0] * amounts[0] + sums[1] * amounts[1])

    def run(self, X: NDArray[np.floating], out: Floats) -> None:
        """Add the Shapley values of a block of cases to `out`."""
        self.columns, self.amounts = np.ascontiguousarray(X.T), np.zeros(X.T.shape)
        self._below(0, np.ones((len(X), self.n_nodes)), {})
        out += self.amounts.T

    def _below(self, node: int, product: Floats, passing: dict[int, Flags]) -> Floats:
        """Sum of value times product over the leaves below a node; contributions of the splits below are added up.

        `passing` tells for each column of the path which cases pass all its splits.
        """
        left, right, f = self.left[node], self.right[node], self.feature[node]
        if left < 0:
            return self.tree.value[node] * product
        state = _states(passing.get(f), self.tree.goes_left(node, self.columns[f]))
        if self.above_leaves[node]:
            self._add(f, product @ self.leaf_amounts[node], state)
            return product * self.leaf_sums[node].take(state, axis=0)
        total = None
        for side, child in enumerate((left, right)):
            below = passing | {f: state == side}
            part = self._below(child, product * self.factors[side][node].take(state, axis=0), below)
            self._add(f, part @ self.amounts_of[side][node], state)
            total = part if total is None else total + part
        assert total is not None
        return total

    def _add(self, f: int, amounts: Floats, state: Indices) -> None:
        """Add to a column, of the two amounts of each case, the one for its state; none to cases that were off."""
        self.amounts[f] += np.where(state == 0, amounts[:, 0], amounts[:, 1]) * (state < 2)


def _by_state(before: Floats, share: Floats, t: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """For cases that pass, fail here, or failed before: what the product is multiplied by, and what the sums are.

    One matrix per split, with a row per state.
    """
    before, share = before[:, None], share[:, None]
    after = before * share
    was, now = t + before * (1 - t), t + after * (1 - t)
    factor = np.stack([now / was, after * (1 - t) / was, np.broadcast_to(share, now.shape)], axis=1)
    counted = (1 - before) / was  # by an earlier split of the column, which this one replaces
    amount = np.stack([(1 - after) / now - counted, -1 / (1 - t) - counted, np.zeros_like(now)], axis=1)
    return factor, amount * weights


def _for_product(amounts: Floats) -> Floats:
    """Amounts of the first two states, a column each, as a product of matrices wants them."""
    return np.ascontiguousarray(amounts[:, :2].transpose(0, 2, 1))


def _states(passing: Flags | None, goes_left: Flags) -> Indices:
    """The state of each case at a split: see `_Walk`."""
    # Whole numbers of the size of a position: `take` is several times faster with them.
    state = np.where(goes_left, _LEFT, _RIGHT)
    return state if passing is None else np.where(passing, state, _OFF)


def path_shares(tree: FlatTree, X: NDArray[np.floating]) -> Floats:
    """What each split on the way of a case changes of the expected answer, given to its column.

    It has the sum of the Shapley values and costs next to nothing, but depends on the order of the splits.
    """
    amounts, expected = np.zeros(X.shape), tree.expectations()
    pending = [(0, np.arange(len(X)))]
    while pending:
        node, rows = pending.pop()
        left, right = int(tree.left[node]), int(tree.right[node])
        if left < 0 or not len(rows):
            continue
        f = int(tree.feature[node])
        goes = tree.goes_left(node, X[rows, f])
        for child, part in ((left, rows[goes]), (right, rows[~goes])):
            amounts[part, f] += expected[child] - expected[node]
            pending.append((child, part))
    return amounts
