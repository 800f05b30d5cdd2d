"""A partition as a distributed fit holds it: codes, weights and folds of its rows, and the states of the fits on them.

Everything here runs on workers. What is asked of a partition are sums over its rows; those of all partitions add up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Indices
from ..boosting.abstention.engine.problem import Problem
from ..boosting.abstention.engine.settings import Settings
from ..boosting.abstention.engine.state import State
from ..boosting.abstention.engine.stumps import Coded, cell_labels
from ..boosting.abstention.engine.surrogates import Surrogate
from ..boosting.abstention.margin_bound import empirical_maximum
from ..boosting.binning import Bins, code_features
from ..labels import encode
from .folding import FoldRule
from .ranking_rows import Columns
from .scoring import ScoreRule, Start


class PriceList(NamedTuple):
    """What answers cost, in units of the cheaper error: errors and rejections by class, negatives first."""

    error: tuple[float, float]
    reject: tuple[float, float]


@dataclass(frozen=True, eq=False)
class CodingPlan:
    """How the rows of a table are coded and weighed.

    Attributes
    ----------
    columns : Columns
        Schema that every partition must have.
    classes : ndarray
        Both classes, the negative one first.
    cuts : list of ndarray
        Of each feature.
    largest : float
        Largest sample weight.
    factors : (float, float)
        Weights of the reduced problem by class, negatives first.
    prices : PriceList
        Prices.
    folds : FoldRule
        Which rows are held out.
    """

    columns: Columns
    classes: NDArray[Any]
    cuts: list[Floats]
    largest: float
    factors: tuple[float, float]
    prices: PriceList
    folds: FoldRule


def code_partition(x: Any, y: Any, weight: Any, groups: Any, plan: CodingPlan, first: int) -> CodedPartition:
    """Code the rows of a partition, whose first row has the number `first` in the table; positives first."""
    piece = plan.columns.check(x, y, weight, groups)
    codes, weights = encode(piece.y, plan.classes), piece.weight / plan.largest
    counted = weights > 0
    order = np.concatenate([np.flatnonzero(counted & (codes == 1)), np.flatnonzero(counted & (codes == 0))])
    n_pos = int((counted & (codes == 1)).sum())
    bins = code_features(piece.X, order, plan.cuts)
    keys = np.arange(first, first + len(codes), dtype=np.uint64) if piece.group is None else piece.group
    fold, part = plan.folds.folds_of(keys[order])
    return CodedPartition(bins, n_pos, weights[order], fold, part, plan)


def join_partitions(parts: Sequence[CodedPartition]) -> CodedPartition:
    """The rows of several partitions as one, positives first; before anything is fitted on them."""

    def joined(of: Callable[[CodedPartition], NDArray[Any]]) -> NDArray[Any]:
        positives = [of(part)[..., : part.n_pos] for part in parts]
        return np.concatenate([*positives, *(of(part)[..., part.n_pos :] for part in parts)], axis=-1)

    has_missing = np.any([part.bins.has_missing for part in parts], axis=0)
    bins = replace(parts[0].bins, codes=joined(lambda part: part.bins.codes), has_missing=has_missing)
    weight, fold, of_fold = (joined(attrgetter(name)) for name in ("weight", "fold", "part"))
    return CodedPartition(bins, sum(part.n_pos for part in parts), weight, fold, of_fold, parts[0].plan)


class CodedPartition:
    """The rows of one partition, or of several; `states` has what each fit under way keeps of them."""

    def __init__(
        self, bins: Bins, n_pos: int, weight: Floats, fold: NDArray[np.int16], part: NDArray[np.int16], plan: CodingPlan
    ) -> None:
        self.bins, self.n_pos, self.weight, self.fold, self.part, self.plan = bins, n_pos, weight, fold, part, plan
        negative, positive = plan.factors
        self.s = weight * negative
        self.s[:n_pos] = weight[:n_pos] * positive
        self.prices, self.n_parts = plan.prices, plan.folds.n_parts
        self.states: dict[str, State] = {}
        self._followed: dict[str, tuple[Indices, Floats]] = {}  # held-out rows, and what stumps have added to them
        self._sorted: tuple[str, Floats] = ("", np.zeros(0))

    def labels(self, rows: Indices) -> Floats:
        """Labels of some rows, -1 or +1; they need no memory."""
        return np.where(rows < self.n_pos, 1.0, -1.0)

    # A fit on the rows that are not in some folds.

    def facts(self, out: tuple[int, ...]) -> Floats:
        """Rows outside some folds: how many, how many positives, their weight, and missing values of each feature."""
        rows = self._outside(out)
        missing = [(self.bins.codes[f][rows] == n).sum() for f, n in enumerate(self.bins.n_bins)]
        return np.array([len(rows), (rows < self.n_pos).sum(), self.s[rows].sum(), *missing], dtype=float)

    def cell_weights(self) -> Floats:
        """Sample weight of the rows in every cell of every feature, whatever the prices."""
        return self.bins.cell_weights(self.weight)

    def start(
        self,
        name: str,
        out: tuple[int, ...],
        surrogate: Surrogate,
        settings: Settings,
        total: float,
        start: Start | None,
    ) -> None:
        """Begin a fit; `total` is the weight of its rows in all partitions."""
        rows = self._outside(out)
        bins = self.bins if len(rows) == len(self.s) else self.bins.take(rows)
        offset = None if start is None else self._start_scores(start, rows)
        n_pos = int((rows < self.n_pos).sum())
        problem = Problem(bins, n_pos, self.s[rows] / total, surrogate, offset)
        self.states[name] = State(problem, replace(settings, n_threads=1))

    def end(self, name: str) -> None:
        """Let a fit go."""
        self.states.pop(name, None)
        self._followed.pop(name, None)

    def _outside(self, out: tuple[int, ...]) -> Indices:
        return np.flatnonzero(~np.isin(self.fold, out)) if out else np.arange(len(self.s))

    def _start_scores(self, start: Start, rows: Indices) -> Floats:
        """Scores (h, r) that a fit on some rows starts from."""
        offset = np.zeros((len(self.s), 2))
        for fold in start.models:
            of_fold = np.flatnonzero(self.fold == fold)
            offset[of_fold] = np.transpose(start.scores(self.bins, of_fold, fold))
        return offset[rows]

    # The same questions that the rounds ask of a state on one machine.

    def histograms(self, name: str) -> Floats:
        """Weights by cell."""
        state = self.states[name]
        return state.search.histograms(state.w)

    def shift_sums(self, name: str, dh: float, dr: float) -> Floats:
        """What the best intercepts depend on."""
        return self.states[name].shift_sums(dh, dr)

    def loss_sum(self, name: str) -> float:
        """The objective without its penalty."""
        return self.states[name].loss_sum()

    def gap_sums(self, name: str, tau: float) -> Floats:
        """What the certificate depends on."""
        state = self.states[name]
        return np.append(state.gap_sums(tau), state.start_sum())

    def shift(self, name: str, dh: float, dr: float) -> None:
        """Add constants to h and r."""
        self.states[name].shift(dh, dr)

    def apply(self, name: str, stump: Coded, eta: float, dh: float, dr: float) -> None:
        """Add to a stump's weight, and constants to h and r."""
        self.states[name].apply(stump, eta, dh, dr)

    def refresh(self, name: str) -> None:
        """Compute the weights from the scores."""
        self.states[name].refresh()

    def take_exponent(self, name: str, p: float) -> None:
        """Take another exponent of the surrogate."""
        self.states[name].weights.sharpen(p)

    # Held-out rows, followed round by round.

    def follow(self, name: str, fold: int, start: Start | None) -> None:
        """Begin to follow the rows of a fold while a fit goes on elsewhere."""
        rows = np.flatnonzero(self.fold == fold)
        added = np.zeros((len(rows), 2)) if start is None else self._start_scores(start, rows)
        self._followed[name] = rows, added

    def follow_stump(self, name: str, stump: Coded, eta: float) -> None:
        """Add a stump to the followed rows."""
        rows, added = self._followed[name]
        labels = cell_labels(stump, int(self.bins.n_bins[stump[0]]))
        added += eta * self.states[name].family.values[labels[self.bins.codes[stump[0]][rows]]]

    def followed_loss(self, name: str, surrogate: Surrogate, h0: float, r0: float) -> Floats:
        """Loss of the followed rows, and their weight."""
        rows, added = self._followed[name]
        h, r = np.transpose(added + np.array([h0, r0]))
        return np.array([surrogate.objective(self.labels(rows), self.s[rows], h, r), self.s[rows].sum()])

    # What rules would cost on rows that their models have not seen.

    def losses(self, rules: Sequence[ScoreRule], loss: str) -> Floats:
        """For each rule and part the loss of the score alone, as it is boosted."""
        from ..boosting.abstention.engine.losses import LOSSES

        return self._by_part(rules, lambda rows, h, r: self.s[rows] * LOSSES[loss].value(-self.labels(rows) * h))

    def costs(self, rules: Sequence[ScoreRule]) -> Floats:
        """For each rule and part the weighted prices of its answers."""
        return self._by_part(rules, lambda rows, h, r: self.weight[rows] * self._prices(rows, h, r))

    def part_weights(self) -> Floats:
        """Weight of the rows of each part."""
        held = self.part >= 0
        return np.bincount(self.part[held], self.weight[held], minlength=self.n_parts).astype(np.float64)

    def _by_part(self, rules: Sequence[ScoreRule], value: Any) -> Floats:
        """Sums by rule and part of a function of (rows, h, r)."""
        sums = np.zeros((len(rules), self.n_parts))
        for i, rule in enumerate(rules):
            for fold in rule.models:
                rows = self._held_out(fold)
                values = value(rows, *rule.scores(self.bins, rows, fold))
                sums[i] += np.bincount(self.part[rows], values, minlength=self.n_parts)
        return sums

    def _held_out(self, fold: int) -> Indices:
        return np.flatnonzero((self.fold == fold) & (self.part >= 0))

    def _prices(self, rows: Indices, h: Floats, r: Floats) -> Floats:
        """Price of each answer."""
        y = self.labels(rows)
        positive = (y > 0).astype(np.intp)
        error, reject = np.array(self.prices.error)[positive], np.array(self.prices.reject)[positive]
        return np.where(r > 0, np.where(y * h > 0, 0.0, error), reject)

    # Thresholds of r.

    def count_up_to(self, key: str, rule: ScoreRule, parts: Sequence[int], probes: Floats) -> Floats:
        """How many rows of some parts have an r of at most each probe."""
        if self._sorted[0] != key:
            scored = [(rows, rule.scores(self.bins, rows, fold)[1]) for fold, rows in self._rows_of_parts(rule, parts)]
            self._sorted = key, np.sort(np.concatenate([np.zeros(0), *(r for _, r in scored)]))
        return np.searchsorted(self._sorted[1], probes, side="right").astype(np.float64)

    def costs_at(self, rule: ScoreRule, parts: Sequence[int], thresholds: Floats) -> Floats:
        """Weighted prices of the answers to the rows of some parts at each threshold of r."""
        sums = np.zeros(len(thresholds))
        for fold, rows in self._rows_of_parts(rule, parts):
            h, r = rule.scores(self.bins, rows, fold)
            sums += [self.weight[rows] @ self._prices(rows, h, r - tau) for tau in thresholds]
        return sums

    def _rows_of_parts(self, rule: ScoreRule, parts: Sequence[int]) -> list[tuple[int, Indices]]:
        """For each fold, its rows that are in some parts."""
        wanted = np.isin(self.part, parts)
        return [(fold, np.flatnonzero(wanted & (self.fold == fold))) for fold in rule.models]

    def differences(self, one: Sequence[tuple[ScoreRule, float]], other: Sequence[tuple[ScoreRule, float]]) -> Floats:
        """Moments of how much cheaper one choice is than another: each a rule and a threshold for every part."""
        sums = np.zeros(5)
        for part in range(self.n_parts):
            weight, paid = self._paid(part, *one[part])
            difference = paid - self._paid(part, *other[part])[1]
            squared = weight**2
            sums += [weight.sum(), weight @ difference, squared.sum(), squared @ difference, squared @ difference**2]
        return sums

    def _paid(self, part: int, rule: ScoreRule, threshold: float) -> tuple[Floats, Floats]:
        """Weights of the rows of a part, and the prices of their answers."""
        weights, paid = [np.zeros(0)], [np.zeros(0)]
        for fold, rows in self._rows_of_parts(rule, [part]):
            h, r = rule.scores(self.bins, rows, fold)
            weights.append(self.weight[rows])
            paid.append(self._prices(rows, h, r - threshold))
        return np.concatenate(weights), np.concatenate(paid)

    # The finished model.

    def outcome(self, rule: ScoreRule, threshold: float, surrogate: Surrogate, total: float) -> Floats:
        """Of all rows by the finished model: how many are accepted, which are not both right and sure, and L_MB."""
        sums = np.zeros(3)
        for fold in rule.models:
            rows = np.flatnonzero(self.fold == fold)
            accepted = rule.scores(self.bins, rows, fold)[1] > threshold
            n_pos = int((rows < self.n_pos).sum())
            y, s = self.labels(rows), self.s[rows] / total
            boosted = replace(rule, level=None, surrogate=None).scores(self.bins, rows, fold)
            wrong = ~(y * boosted[0] > boosted[1])
            if rule.level is None:
                wrong |= boosted[1] <= 0
            bins = replace(self.bins, codes=self.bins.codes[:0])
            worst = empirical_maximum(Problem(bins, n_pos, s, surrogate), boosted[0], boosted[1] - threshold)
            sums += [accepted.sum(), wrong.sum(), worst]
        return sums


def missing_flags(facts: Floats) -> Flags:
    """Which features have missing values, of the sums of `facts`."""
    return facts[3:] > 0
