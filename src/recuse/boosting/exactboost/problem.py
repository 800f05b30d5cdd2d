"""What one run of ExactBoost is given: the coded cases and the objective, and how it is to go."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats, Indices
from ..cases import CodedCases
from .objectives import Objective, Terms

UNITS = 32  # the longest shift of a stump, in units of the score


@dataclass(frozen=True, eq=False)
class RankingProblem(CodedCases):
    """Coded cases, and what is minimised on them.

    Attributes
    ----------
    weight : ndarray of shape (n,)
        Sample weights.
    start : ndarray of int32 of shape (n,)
        Initial scores in units.
    objective : Objective
        What is minimised.
    terms : Terms
        Prices and k.
    groups : ndarray of int of shape (n,) or None
        Cases that are kept out of a run together.
    """

    weight: Floats
    start: NDArray[np.int32]
    objective: Objective
    terms: Terms
    groups: Indices | None = None

    def terms_of(self, share: float) -> Terms:
        """Prices and k for a part of the cases, which counts its share of k."""
        return self.terms if share == 1.0 else replace(self.terms, k=max(1.0, float(np.ceil(share * self.terms.k))))


@dataclass(frozen=True)
class RunSettings:
    """How a run goes.

    Attributes
    ----------
    n_rounds : int
        Stumps tried.
    subsample, max_features : float
        Shares of the cases of each class and of the features drawn for each.
    margin : float
        Theta, relative to the range of the score.
    exact : bool
        Search all cuts and shifts, or bisect as the poster does.
    patience : int
        Rounds without improvement after which the run ends; 0 for never.
    hold_out : bool
        Whether each run keeps some of the cases out.
    """

    n_rounds: int = 50
    subsample: float = 0.2
    max_features: float = 0.2
    margin: float = 0.0
    exact: bool = True
    patience: int = 0
    hold_out: bool = False


class SampleSizes(NamedTuple):
    """How many positives, negatives and features are drawn in each round."""

    positives: int
    negatives: int
    features: int


def sample_sizes(problem: RankingProblem, settings: RunSettings, bag: Indices) -> SampleSizes:
    """Sizes of the subsamples of a run on the cases in `bag`: at least one of each."""
    n_pos = int(np.searchsorted(bag, problem.n_pos))
    positives, negatives = (max(1, round(settings.subsample * n)) for n in (n_pos, len(bag) - n_pos))
    return SampleSizes(positives, negatives, max(1, round(settings.max_features * len(problem.bins.n_bins))))


def bag_and_sample_terms(problem: RankingProblem, settings: RunSettings, bag: Indices) -> tuple[Terms, Terms]:
    """Prices and k for all cases of a run, and for a subsample."""
    share = len(bag) / len(problem.weight)
    return problem.terms_of(share), problem.terms_of(settings.subsample * share)


def random_states(seed: np.uint64) -> NDArray[np.uint64]:
    """States of the two random streams of a run: one draws cases, the other features."""
    return np.array([[seed], [~seed]], dtype=np.uint64)
