"""The problem that is boosted for several classes: cases in bins, their classes, and what each output is worth to them.

Every case has a score for each of J outputs. With w[i, j] >= 0 what output j is worth to case i, minimised is

    sum_i s_i sum_j w[i, j] (-ln softmax_j(F(x_i))) + beta sum |jumps of F along the features|.

Whatever the w, the best softmax is proportional to what each output is worth to cases like x on average. So one engine
fits three things, by what the outputs are:

- the classes, worth 1 where right: logistic regression, and the softmax is the probability of each class;
- the classes and a rejection, worth what they save against the dearest answer: the largest score is the answer of
  least expected cost, at any prices;
- to answer as a given score does, or to reject, worth what each saves against the other: the difference of the two
  scores is greater than 0 where answering is cheaper on average.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ....arrays import Floats, Indices
from ...binning import Bins

_SMOOTHING = 10.0  # cases of the mean that are added to a level before its shares of the classes are compared


@dataclass(frozen=True, eq=False)
class ClassProblem:
    """Cases of several classes, and the loss.

    Attributes
    ----------
    bins : Bins
        Coded features.
    codes : ndarray of int of shape (m,)
        Classes.
    s : ndarray of shape (m,)
        Sample weights, summing to 1.
    worth : ndarray of shape (m, J)
        What each output is worth to each case: at least 0, and some output more.
    offset : ndarray of shape (m, J), optional
        Scores to start from.
    fixed_last : bool
        Whether the last score stays where it starts. Of two scores only the difference counts: if both moved, the
        penalty could be shared between them in many ways, and rounding would choose one.
    """

    bins: Bins
    codes: Indices
    s: Floats
    worth: Floats
    offset: Floats | None = None
    fixed_last: bool = False

    @property
    def n_cases(self) -> int:
        """Number of cases."""
        return len(self.s)

    @property
    def n_outputs(self) -> int:
        """Number of outputs J."""
        return int(self.worth.shape[1])

    @property
    def weight(self) -> Floats:
        """Weight of each case in the loss: s_i sum_j w[i, j]."""
        weight: Floats = self.s * self.worth.sum(axis=1)
        return weight

    @property
    def wanted(self) -> Floats:
        """What each case wants of each output: s_i w[i, j]."""
        wanted: Floats = self.s[:, None] * self.worth
        return wanted

    def take(self, rows: Indices) -> ClassProblem:
        """Some of the cases, their weights summing to 1 again."""
        s = self.s[rows]
        offset = None if self.offset is None else self.offset[rows]
        bins, codes, worth = self.bins.take(rows), self.codes[rows], self.worth[rows]
        return replace(self, bins=bins, codes=codes, s=s / s.sum(), worth=worth, offset=offset)

    def split(self, train: Indices, test: Indices) -> tuple[ClassProblem, ClassProblem]:
        """Training and test cases of a fold; the levels of categories are in the order of the training cases."""
        places = {}
        if self.bins.levels:
            places = order_levels(self.bins.take(train), self.codes[train], self.s[train])
        moved = replace(self, bins=self.bins.moved(places))
        return moved.take(train), moved.take(test)

    def wanted_by_cell(self) -> Floats:
        """What the cases in every cell of every feature want of each output: shape (J, cells)."""
        wanted, sums = self.wanted, np.zeros((self.n_outputs, self.bins.n_cells))
        for j in range(self.n_outputs):
            rows = np.flatnonzero(wanted[:, j])  # few where an output is worth something to one class only
            if len(rows):
                sums[j] = self.bins.take(rows).cell_weights(wanted[rows, j])
        return sums

    def loss(self, scores: Floats) -> float:
        """The loss of scores of shape (m, J), without the penalty."""
        return float(self.weight @ log_sum(scores) - (self.wanted * scores).sum())


def log_sum(scores: Floats) -> Floats:
    """Logarithm of the sum of the exponentials of each row."""
    top = scores.max(axis=1, keepdims=True)
    total: Floats = top[:, 0] + np.log(np.exp(scores - top).sum(axis=1))
    return total


def softmax(scores: Floats) -> Floats:
    """Shares that grow with the scores and sum to 1 in every row."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares


def savings(matrix: Floats) -> Floats:
    """What each answer, and last a rejection, saves a class against the dearest: shape (n_classes, n_classes + 1).

    The least weights that are not negative: a constant for each class changes no expected difference of prices. They
    add up to 1 per class on average, so that neither the currency nor the number of classes moves the penalty.
    """
    prices = matrix[:-1, :-1]  # without novelties
    saved = prices.max(axis=1, keepdims=True) - prices
    return saved / saved.sum(axis=1).mean()


def order_levels(bins: Bins, codes: Indices, weight: Floats) -> dict[int, Indices]:
    """New place of every cell of every category: along the direction in which the shares of the classes differ most.

    Cells of few cases come near the mean.
    """
    places, n_classes = {}, int(codes.max(initial=0)) + 1
    for f in bins.levels:
        n, cells = int(bins.n_bins[f]), bins.codes[f].astype(np.intp)
        counts = np.zeros((n + 1, n_classes))
        np.add.at(counts, (cells, codes), weight)
        counts = counts[:n]
        size, mean = counts.sum(axis=1, keepdims=True), counts.sum(axis=0) / max(float(counts.sum()), 1e-300)
        added = _SMOOTHING * float(weight.mean())
        away = (counts + added * mean) / (size + added) - mean
        direction = np.linalg.eigh((away * size).T @ away)[1][:, -1]
        direction = direction * np.sign(direction[np.abs(direction).argmax()])  # eigenvectors have no sign of their own
        places[f] = np.empty(n, dtype=np.intp)
        places[f][np.argsort(away @ direction, kind="stable")] = np.arange(n)
    return places
