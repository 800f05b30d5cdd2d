"""Two-output trees: the extension of abstention stumps to max_depth > 1.

Every leaf adds a pair (dh, dr). A tree is grown on the second-order model of F, whose best leaf values solve
(H + ridge) (dh, dr) = -g with g = (-sum y w1, sum w1 - w2) and H the curvature of the loss in (h, r) over the leaf:
five histogram channels. There are no stump weights and no penalty on them; shrinkage and the number of rounds
regularise.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....arrays import Flags, Floats
from ....solution import Solution
from ...binning import Bins
from .problem import Problem
from .rounds import require_finite
from .settings import Settings
from .state import State

_RIDGE = 1e-3  # of the mean curvature's scale, so that a pure leaf stays finite
_LEAST = 5e-3  # share of the curvature a leaf must hold
_LONGEST = 4.0  # largest |dh| or |dr| of a leaf before shrinkage


@dataclass(frozen=True, eq=False)
class Tree:
    """A complete binary tree of fixed depth in level order; node v has the children 2 v + 1 and 2 v + 2.

    Attributes
    ----------
    feature : ndarray of int of shape (2^depth - 1,)
        Feature of each inner node; -1 where it does not split and all cases go left, missing values included.
    cut : ndarray
        A case goes left when x <= cut.
    missing_left : ndarray of bool
        Where a missing value goes.
    values : ndarray of shape (2^depth, 2)
        The pairs (dh, dr) of the leaves.
    """

    feature: NDArray[np.int64]
    cut: Floats
    missing_left: Flags
    values: Floats

    @property
    def depth(self) -> int:
        """Number of questions to a leaf."""
        return int(np.log2(len(self.values)))

    def evaluate(self, X: NDArray[Any]) -> Floats:
        """Pairs of each case."""
        node = np.zeros(len(X), dtype=np.intp)
        rows = np.arange(len(X))
        for _ in range(self.depth):
            f = self.feature[node]
            x = X[rows, np.maximum(f, 0)]
            left = np.where(np.isnan(x), self.missing_left[node], x <= self.cut[node]) | (f < 0)
            node = 2 * node + np.where(left, 1, 2)
        return self.values[node - (len(self.values) - 1)]


@dataclass(frozen=True, eq=False)
class TreeForm:
    """A sum of trees and two intercepts; evaluates like `AdditiveForm`."""

    h0: float
    r0: float
    trees: list[Tree]

    def evaluate(self, X: NDArray[Any], n_threads: int = 1) -> tuple[Floats, Floats]:
        """Scores h and r of each case."""
        X = np.asarray(X, dtype=np.float64)
        scores = np.tile([self.h0, self.r0], (len(X), 1))
        for tree in self.trees:
            scores += tree.evaluate(X)
        return scores[:, 0].copy(), scores[:, 1].copy()


# Called after every tree with what applies it to coded rows, and the intercepts; a true answer ends the fit.
Monitor = Callable[[Callable[[Bins], Floats], float, float], bool]


def boost_trees(problem: Problem, settings: Settings, monitor: Monitor | None = None) -> Solution:
    """Minimise F by shrunken two-output trees; the `Solution` holds a `TreeForm`."""
    if settings.n_threads <= 1:
        return _boost(State(problem, settings), monitor)
    with ThreadPoolExecutor(settings.n_threads) as threads:
        return _boost(State(problem, settings, threads), monitor)


def _boost(state: State, monitor: Monitor | None) -> Solution:
    settings = state.settings
    state.settle_intercepts()
    h, r = state.scores()
    objective, trees = require_finite(state.objective()), []
    trace = [objective]
    grower = _Grower(state)
    step, n_iter = np.inf, 0
    for n_iter in range(1, settings.n_rounds + 1):
        tree, node, coded = grower.grow(h, r)
        values = tree.values * settings.learning_rate
        # The second-order model does not bound F: halve the leaves until F does fall.
        for _ in range(30):
            new = _objective(state, h + values[node, 0], r + values[node, 1])
            if new <= objective:
                break
            values = values / 2
        step = objective - new
        if not step > settings.tol * 1e-3:
            n_iter -= 1
            break
        h, r, objective = h + values[node, 0], r + values[node, 1], new
        trees.append(Tree(tree.feature, tree.cut, tree.missing_left, values))
        trace.append(objective)
        if monitor is not None and monitor(coded(values), state.h0, state.r0):
            break
    history = {"round": np.arange(len(trace)), "objective": np.array(trace)}
    form = TreeForm(state.h0, state.r0, trees)
    return Solution(form, objective, float(step), n_iter, bool(step <= settings.tol * 1e-3), history)


def _objective(state: State, h: Floats, r: Floats) -> float:
    """F at given scores; trees have no penalty."""
    return state.surrogate.objective(state.problem.y, state.problem.s, h, r)


class _Grower:
    """Grows one tree at a time on the same coded features."""

    def __init__(self, state: State) -> None:
        from . import loops

        self.loops, self.state, self.depth = loops, state, state.settings.max_depth
        bins = state.problem.bins
        widest, p = 2 ** (self.depth - 1), len(bins.n_bins)
        self.hist = np.empty((widest, bins.n_cells, 5))
        self.found, self.where = np.empty((widest, p)), np.zeros((widest, p, 2), dtype=np.int64)

    def grow(self, h: Floats, r: Floats) -> tuple[Tree, NDArray[np.int64], Callable[[Floats], Any]]:
        """Return a tree with unshrunken leaves, the leaf of each row, and how to apply it to other coded rows."""
        stats = self._statistics(h, r)
        ridge = _RIDGE * float(stats[:, 2].sum() + stats[:, 4].sum())
        least = _LEAST * float(stats[:, 2].sum())
        m, n_inner = len(h), 2**self.depth - 1
        node = np.zeros(m, dtype=np.int64)
        feature, left_bins = np.full(n_inner, -1, dtype=np.int64), np.zeros(n_inner, dtype=np.int64)
        missing_left = np.zeros(n_inner, dtype=bool)
        for level in range(self.depth):
            width, start = 2**level, 2**level - 1
            inner = slice(start, start + width)
            self._sweep(node, stats, width, ridge, least)
            self._choose(width, feature[inner], left_bins[inner], missing_left[inner])
            self._descend(node, feature[inner], left_bins[inner], missing_left[inner])
        totals: Any = np.stack([np.bincount(node, stats[:, a], minlength=n_inner + 1) for a in range(5)], axis=1)
        bins = self.state.problem.bins
        cut = np.array([_cut(bins, f, k) for f, k in zip(feature, left_bins, strict=True)])
        tree = Tree(feature, cut, missing_left, _leaf_values(totals, ridge))

        def coded(values: Floats) -> Callable[[Bins], Floats]:
            def apply(other: Bins) -> Floats:
                at = np.zeros(other.codes.shape[1], dtype=np.int64)
                for level in range(self.depth):
                    inner = slice(2**level - 1, 2 ** (level + 1) - 1)
                    parts = feature[inner], left_bins[inner], missing_left[inner]
                    self.loops.descend(other.codes, at, *_all_left(*parts), other.n_bins, 0, len(at))
                return values[at]

            return apply

        return tree, node, coded

    def _statistics(self, h: Floats, r: Floats) -> Floats:
        """Gradient and curvature of each row in (h, r)."""
        problem, surrogate = self.state.problem, self.state.surrogate
        y, b = problem.y, surrogate.b
        u, v = r - y * h, -b * r
        w1, w2 = (problem.s * w for w in surrogate.slopes(u, v))
        phi = surrogate.phi
        c1, c2 = w1 * phi.relative_curvature(u), b * w2 * phi.relative_curvature(v)
        # For the smoothed maximum p times the curvature of the sum bounds it from above.
        c1, c2 = surrogate.p * c1, surrogate.p * c2
        stats = np.ascontiguousarray(np.column_stack([-y * w1, w1 - w2, c1, -y * c1, c1 + c2]))
        if not self.state.settings.free_r:  # one score: leaves change h only
            stats[:, [1, 3]] = 0.0
        return stats

    def _sweep(self, node: NDArray[np.int64], stats: Floats, width: int, ridge: float, least: float) -> None:
        """Find the best split of every node of a level on every feature."""
        b, hist = self.state.problem.bins, self.hist[:width]
        layout = self.loops.Layout(b.offsets, b.n_bins, b.has_missing)

        def work(first: int, last: int) -> None:
            self.loops.tree_histograms(b.codes, node, stats, hist, b.offsets, first, last)
            self.loops.tree_scan(hist, layout, ridge, least, self.found, self.where, first, last)

        self.state.spread(work, len(b.n_bins))

    def _choose(self, width: int, feature: Any, left_bins: Any, missing_left: Any) -> None:
        """Note the best split of every node of a level, in place, where it gains more than the penalty."""
        best = self.found[:width].argmax(axis=1)
        for v, f in enumerate(best.tolist()):
            if self.found[v, f] > self.state.settings.beta:
                feature[v], left_bins[v] = f, self.where[v, f, 0]
                missing_left[v] = bool(self.where[v, f, 1])

    def _descend(self, node: Any, feature: Any, left_bins: Any, missing_left: Any) -> None:
        """Send the rows to the next level, in place."""
        b = self.state.problem.bins
        parts = _all_left(feature, left_bins, missing_left)
        self.loops.descend(b.codes, node, *parts, b.n_bins, 0, len(node))


def _all_left(feature: Any, left_bins: Any, missing_left: Any) -> tuple[Any, Any, Any]:
    """Nodes that do not split send everything left."""
    still = feature < 0
    return np.where(still, 0, feature), np.where(still, np.iinfo(np.int64).max, left_bins), missing_left | still


def _cut(bins: Bins, feature: int, n_left: int) -> float:
    """Cut value of a node; infinite where it does not split."""
    return float("inf") if feature < 0 else float(bins.cuts[feature][n_left - 1])


def _leaf_values(t: Floats, ridge: float) -> Floats:
    """Pairs (dh, dr) that minimise the second-order model in each leaf, of limited size."""
    a, b, c = t[:, 2] + ridge, t[:, 3], t[:, 4] + ridge
    determinant = np.maximum(a * c - b * b, 1e-300)
    values = -np.column_stack([c * t[:, 0] - b * t[:, 1], a * t[:, 1] - b * t[:, 0]]) / determinant[:, None]
    return np.clip(values, -_LONGEST, _LONGEST)
