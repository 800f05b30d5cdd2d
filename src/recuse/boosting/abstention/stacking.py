"""Stacking: the out-of-fold score of boosted stumps as one more feature of a pair, or as what the pair starts from.

As a feature, a stump "-x+" on it is Chow's rule itself. As a start, the stumps are added to the pair that decides as
Chow's rule on the score does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...arrays import Floats, Indices
from ..binning import code_features, find_cuts
from .candidates import Boosted
from .chow import BoostedScore
from .data import TrainingSet
from .engine.problem import Parts, Problem
from .engine.surrogates import plug_in_pair
from .pairs import Form, Pair, StackedPair, StartedPair, typical_start


@dataclass(frozen=True, eq=False)
class StackedScore:
    """A score to be stacked: how it is computed, and `z`, its value for each case by models that have not seen it."""

    boosted: BoostedScore
    form: Form
    z: Floats

    def inside(self, train: Indices, test: Indices) -> Floats:
        """Scores as the training cases of a fold have them: by models that have seen neither them nor the test cases.

        Without this, a stacked pair would have learned from scores that know the cases it is judged on.
        """
        z, boosted, scores = self.z.copy(), self.boosted, self.boosted.options.scores
        assert scores is not None
        others = np.setdiff1d(boosted.training.tested, test)
        option, parts = boosted.best_option(others if len(others) else test), inner_parts(boosted.training, train)
        if parts:
            z[train] = held_out_score(boosted, boosted.problem.take(train), parts, option)
        z[test] = scores[option, 0, test]  # by the model of this very fold
        return z


def stack_score(boosted: BoostedScore) -> StackedScore:
    """Return the score whose held-out values have the least loss: the best probabilities."""
    training, scores = boosted.training, boosted.options.scores
    assert scores is not None
    best = boosted.best_option(training.tested)
    form = boosted.fitted.form
    if training.partition is training.folds:
        return StackedScore(boosted, form, scores[best, 0])
    # Folds that leave cases out give way to the partition, which leaves none.
    return StackedScore(boosted, form, held_out_score(boosted, boosted.problem, training.partition, best))


def held_out_score(boosted: BoostedScore, problem: Problem, parts: Parts, option: int) -> Floats:
    """Held-out scores h of a problem's cases, with one of the penalties or numbers of rounds."""
    return boosted.options.held_out(option, problem, boosted.settings, parts)[0]


def inner_parts(training: TrainingSet, train: Indices) -> Parts:
    """The partition among the training cases of a fold; halves where it would leave one class only to learn from.

    Nothing where a class has a single case, or where groups cannot be halved.
    """
    at, positive = np.arange(len(train)), train < training.n_pos
    n_pos = int(positive.sum())
    if min(n_pos, len(train) - n_pos) < 2:
        return []
    held = [np.isin(train, test) for _, test in training.partition]
    if any(part.any() and len(set(positive[~part].tolist())) < 2 for part in held):
        second = training.second_half(train)
        held = [second, ~second]
        if any(len(set(positive[~part].tolist())) < 2 for part in held):
            return []  # groups that cannot be halved
    return [(at[~part], at[part]) for part in held if part.any()]


@dataclass(frozen=True, eq=False)
class Stacking(ABC):
    """A problem whose cases have a stacked score, which differs from fold to fold; splits like a problem.

    `needs_chow` says whether the score is turned into a pair by Chow's rule, for which there must be one reject price
    and a surrogate that is a sum.
    """

    needs_chow: ClassVar[bool] = False

    problem: Problem
    score: StackedScore

    @property
    def training(self) -> TrainingSet:
        """The training set of the score."""
        return self.score.boosted.training

    @property
    def n_cases(self) -> int:
        """Number of cases."""
        return self.problem.n_cases

    def whole(self) -> Problem:
        """All cases with their scores."""
        return self.with_score(self.score.z, np.arange(self.n_cases))

    def split(self, train: Indices, test: Indices) -> tuple[Problem, Problem]:
        """Training and test cases of a fold."""
        return self.with_score(self.score.inside(train, test), train).split(train, test)

    @abstractmethod
    def with_score(self, z: Floats, seen: Indices) -> Problem:
        """All cases with a score; only the values of the cases in `seen` may be used."""

    @abstractmethod
    def pair(self, boosted: Boosted) -> Pair:
        """The pair that was boosted on all cases."""


@dataclass(frozen=True, eq=False)
class AsFeature(Stacking):
    """The score is one more feature."""

    def with_score(self, z: Floats, seen: Indices) -> Problem:
        """All cases with the score as a feature; its bins, if any, are placed by the cases in `seen`."""
        cuts = find_cuts(z[seen], self.score.boosted.settings.max_bins, self.training.weight[seen])
        column = code_features(z[:, None], np.arange(len(z)), [cuts])
        if self.problem.bins.monotonic.any():  # the score rises where h is to rise, so h has to rise with the score
            column = replace(column, monotonic=np.ones(1, dtype=np.int8))
        return replace(self.problem, bins=self.problem.bins.join(column))

    def pair(self, boosted: Boosted) -> Pair:
        """The pair that was boosted on all cases."""
        return StackedPair(self.score.form, boosted.learned_pair(self.training.log_odds))


@dataclass(frozen=True, eq=False)
class AsStart(Stacking):
    """The stumps are added to the pair that decides as Chow's rule on the score does."""

    needs_chow: ClassVar[bool] = True

    def with_score(self, z: Floats, seen: Indices) -> Problem:
        """All cases with the pair to start from."""
        offset = plug_in_pair(self.problem.surrogate, self.training.highest_price, z)
        return replace(self.problem, offset=np.column_stack(offset))

    def pair(self, boosted: Boosted) -> Pair:
        """The pair that was boosted on all cases."""
        training = self.training
        typical = typical_start(boosted.problem, training.weight)
        return StartedPair(self.score.form, boosted.learned_pair(training.log_odds), training.highest_price, typical)


# Values of the parameter `stack` other than None.
STACKS: dict[str, type[Stacking]] = {"oof": AsFeature, "start": AsStart}
