"""Held-out cases: scores by members that did not see them, and blends that are judged on cases they did not see."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from ..arrays import Floats, Indices
from ..calibration import Sigmoid
from ..folds import Fold
from .blending import Blend
from .cases import Outcomes

Combine = Callable[[Floats, Outcomes], Blend]


class UnseenCases(NamedTuple):
    """Cases that every member scored without having seen them.

    Attributes
    ----------
    scores : ndarray of shape (n, n_members), or (n, n_members, n_classes)
        By each member, before its calibration.
    outcomes : Outcomes
        What the cases turned out to be.
    parts : list of (others, test)
        The cases of each fold, and those others by which a blend, or thresholds, that answer them may be set: the
        held-out cases among those that the members of this fold were fitted to. Over time these are earlier ones.
    rows : ndarray of int of shape (n,)
        Places among the training cases.
    groups : ndarray of int of shape (n,) or None
        Cases that belong together.
    """

    scores: Floats
    outcomes: Outcomes
    parts: list[Fold]
    rows: Indices
    groups: Indices | None

    @property
    def judged(self) -> Indices:
        """Cases that something set on others can answer."""
        return np.sort(np.concatenate([np.empty(0, dtype=np.intp), *(test for _, test in self.parts)]))

    def take(self, rows: Indices) -> UnseenCases:
        """Some of the cases; parts without enough others to learn from are no more."""
        place = np.full(len(self.rows), -1)
        place[rows] = np.arange(len(rows))
        outcomes = self.outcomes.take(rows)
        parts = [(place[others], place[test]) for others, test in self.parts]
        parts = [(others[others >= 0], test[test >= 0]) for others, test in parts]
        parts = [(others, test) for others, test in parts if len(test) and outcomes.take(others).complete]
        groups = None if self.groups is None else self.groups[rows]
        return UnseenCases(self.scores[rows], outcomes, parts, self.rows[rows], groups)


def hold_out(scores: Floats, outcomes: Outcomes, folds: list[Fold], groups: Indices | None) -> UnseenCases:
    """The cases that the folds test, of scores (n_cases, n_members) of all."""
    rows = np.sort(np.concatenate([test for _, test in folds]))
    parts = [(np.searchsorted(rows, np.intersect1d(train, rows)), np.searchsorted(rows, test)) for train, test in folds]
    every = np.arange(len(rows))
    part_groups = None if groups is None else groups[rows]
    return UnseenCases(scores[rows], outcomes.take(rows), parts, rows, part_groups).take(every)


class Probabilities(NamedTuple):
    """Probabilities of the cases in `UnseenCases.judged`: by the blend, and by each member, calibrated on others."""

    blend: Floats
    members: Floats


def judge_blend(held_out: UnseenCases, combine: Combine) -> Probabilities:
    """Probability of each judged case, with calibration and weights set on the others of its part."""
    blend, members = np.empty(len(held_out.rows)), np.empty(held_out.scores.shape)
    for others, test in held_out.parts:
        outcomes = held_out.outcomes.take(others)
        odds = np.empty(held_out.scores.shape)
        for k, scores in enumerate(held_out.scores.T):
            sigmoid = Sigmoid.fit(scores[others], outcomes.positive, outcomes.weights)
            odds[:, k] = sigmoid.slope * scores + sigmoid.intercept
        members[test] = odds[test]
        blend[test] = combine(odds[others], outcomes).log_odds(odds[test])
    rows = held_out.judged
    return Probabilities(expit(blend[rows]), expit(members[rows]))
