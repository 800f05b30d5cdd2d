"""A run for an objective without a compiled search: every cut at a few shifts, one by one, in plain Python."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats, Indices
from ..binning import Bins
from .histogram import ScoreHistogram
from .objectives import Terms
from .problem import UNITS, RankingProblem, RunSettings, bag_and_sample_terms, random_states, sample_sizes

_SHIFTS = tuple(sign * UNITS // 2**i for i in range(6) for sign in (1, -1))


class CodedStump(NamedTuple):
    """A stump in codes and units: cases above the cut are shifted, missing values unless they go left."""

    feature: int
    cut: int
    shift: int
    missing_left: int

    def shifts(self, bins: Bins) -> NDArray[np.int32]:
        """What it adds to each case."""
        codes = bins.codes[self.feature]
        right = np.where(codes == bins.n_bins[self.feature], not self.missing_left, codes > self.cut)
        return (self.shift * right).astype(np.int32)


def boost_by_trial(
    problem: RankingProblem, settings: RunSettings, bag: Indices, seed: np.uint64
) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats]:
    """Stumps taken, final scores of all cases, and the loss by round."""
    from .loops import draw

    sizes, (case_state, feature_state) = sample_sizes(problem, settings, bag), random_states(seed)
    positive, features = problem.positive, np.arange(len(problem.bins.n_bins))
    pos_rows, neg_rows = bag[positive[bag]].copy(), bag[~positive[bag]].copy()
    of_bag, of_sample = bag_and_sample_terms(problem, settings, bag)
    score, stumps = problem.start.copy(), []
    margin = margin_in_units(settings, score[bag])
    loss = _loss(problem, of_bag, score, bag, margin)
    trace, idle = [loss], 0
    for _ in range(settings.n_rounds):
        if not settings.patience or idle < settings.patience:
            draw(case_state, pos_rows, sizes.positives)
            draw(case_state, neg_rows, sizes.negatives)
            draw(feature_state, features, sizes.features)
            idle += 1
            rows = np.concatenate([pos_rows[: sizes.positives], neg_rows[: sizes.negatives]])
            stump = _best_stump(problem, of_sample, score, rows, features[: sizes.features], margin)
            if stump is not None:
                new = score + stump.shifts(problem.bins)
                new_margin = margin_in_units(settings, new[bag])
                new_loss = _loss(problem, of_bag, new, bag, new_margin)
                if new_loss <= loss:
                    idle = 0 if new_loss < loss else idle
                    score, loss, margin = new, new_loss, new_margin
                    stumps.append(stump)
        trace.append(loss)
    return np.array(stumps, dtype=np.int64).reshape(-1, 4), score, np.array(trace)


def _best_stump(
    problem: RankingProblem, terms: Terms, score: Any, rows: Any, features: Any, margin: int
) -> CodedStump | None:
    """The best stump among all cuts of the features and the shifts tried, if it is better than none."""
    best, found = _loss(problem, terms, score, rows, margin), None
    bins = problem.bins
    for f in features.tolist():
        used = np.unique(bins.codes[f][rows])
        for low, high in zip(used[:-1].tolist(), used[1:].tolist(), strict=True):
            # Cuts between the same two cases do equally well: take the one in the middle.
            cut = low if high == bins.n_bins[f] else (low + high - 1) // 2
            # Missing values alone have no place in the order of a monotone feature.
            for d in _allowed_shifts(0 if high == bins.n_bins[f] else int(bins.monotonic[f])):
                for missing_left in (0, 1) if bins.n_bins[f] in used else (0,):
                    stump = CodedStump(f, cut, d, missing_left)
                    loss = _loss(problem, terms, score + stump.shifts(bins), rows, margin)
                    if loss < best:
                        best, found = loss, stump
    return found


def _allowed_shifts(sign: int) -> tuple[int, ...]:
    """The shifts tried for a feature: of one sign where the score is monotone along it."""
    return tuple(d for d in _SHIFTS if d * sign >= 0)


def margin_in_units(settings: RunSettings, score: Any) -> int:
    """The margin in units, as in the compiled loops."""
    theta = settings.margin
    return max(1, round(theta * max(int(np.ptp(score)), UNITS))) if theta > 0 else 0


def _loss(problem: RankingProblem, terms: Terms, score: Any, rows: Any, margin: int) -> float:
    """Loss of some of the cases."""
    histogram = ScoreHistogram.of(score[rows].astype(float), problem.positive[rows], problem.weight[rows], margin)
    return problem.objective.loss(histogram, terms)
