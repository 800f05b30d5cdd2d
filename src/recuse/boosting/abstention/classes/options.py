"""What held-out cases decide for several classes: the penalty, or the number of rounds, or nothing.

Held-out scores have the shape (n_options, J, m).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from ....arrays import Floats
from ..early_stopping import PATIENCE
from ..options import BETA_PATH
from .problem import ClassProblem
from .rounds import ClassSettings, beta_max, boost_classes, path_of_models
from .state import ClassState

_TRIED = 25  # numbers of rounds to choose from, at most


@dataclass(frozen=True)
class ClassOptions(ABC):
    """What is left to choose.

    Attributes
    ----------
    settings : ClassSettings
        What is given.
    """

    settings: ClassSettings

    @abstractmethod
    def held_out(self, part: ClassProblem, rest: ClassProblem, least: int = 0) -> Floats:
        """Scores (J, m) of the cases `rest` by models of `part`, for the options from `least` on."""

    @abstractmethod
    def settle(self, option: int, problem: ClassProblem) -> ClassSettings:
        """Settings of an option, to fit a problem with."""


@dataclass(frozen=True)
class ClassGiven(ClassOptions):
    """Penalty and number of rounds are given."""

    def held_out(self, part: ClassProblem, rest: ClassProblem, least: int = 0) -> Floats:
        """Scores with the settings as given."""
        return boost_classes(part, self.settings).model.scores(rest).T[None]

    def settle(self, option: int, problem: ClassProblem) -> ClassSettings:
        """As given."""
        return self.settings


@dataclass(frozen=True)
class ClassPenalties(ClassOptions):
    """Penalties, increasing, as shares of the smallest at which nothing jumps, which is another one in every fold."""

    shares: tuple[float, ...] = BETA_PATH

    def held_out(self, part: ClassProblem, rest: ClassProblem, least: int = 0) -> Floats:
        """Scores at each penalty."""
        models = path_of_models(part, self.settings, self._path(least))
        return np.stack([model.scores(rest).T for model in models])[::-1]

    def settle(self, option: int, problem: ClassProblem) -> ClassSettings:
        """Settings with the penalty of an option, and the path to it that its held-out scores came by."""
        highest = beta_max(ClassState(problem))
        path = tuple((share * highest, limit) for share, limit in self._path(option))
        return replace(self.settings, beta=self.shares[option] * highest, path=path)

    def _path(self, least: int) -> list[tuple[float, int]]:
        """Penalties from the largest on, each with the number of rounds at which it ends: its share of all."""
        n = len(self.shares)
        falling = reversed(self.shares[least:])
        return [(share, self.settings.n_rounds * (i + 1) // n) for i, share in enumerate(falling)]


@dataclass(frozen=True)
class ClassRoundNumbers(ClassOptions):
    """Numbers of rounds, at a penalty that is given."""

    @property
    def rounds(self) -> list[int]:
        """Those to choose from, with growing distances."""
        n = self.settings.n_rounds
        return [0] if n == 0 else np.unique(np.geomspace(1, n, _TRIED).astype(int)).tolist()

    def held_out(self, part: ClassProblem, rest: ClassProblem, least: int = 0) -> Floats:
        """Scores after each number of rounds; a fit ends when its held-out loss has not fallen for some rounds."""
        follower = _Follower(rest, self.rounds)
        boosted = boost_classes(part, self.settings, follower)
        return follower.finished(boosted.model.scores(rest))[least:]

    def settle(self, option: int, problem: ClassProblem) -> ClassSettings:
        """Settings with the number of rounds of an option."""
        return replace(self.settings, n_rounds=self.rounds[option])


class _Follower:
    """A monitor of `boost_classes` that keeps held-out scores after the rounds asked for."""

    def __init__(self, held_out: ClassProblem, rounds: list[int]) -> None:
        self.problem, self.rounds, self.n_rounds = held_out, rounds, 0
        self._scores: list[Floats] = []
        self._least, self._least_at = np.inf, 0

    def __call__(self, state: ClassState) -> bool:
        """Look at the scores after a round; a true answer ends the fit."""
        self.n_rounds += 1
        if self.n_rounds not in self.rounds:
            return False
        scores = state.settled_model().scores(self.problem)
        self._scores.append(scores)
        loss = self.problem.loss(scores)
        if loss < self._least:
            self._least, self._least_at = loss, self.n_rounds
        return self.n_rounds - self._least_at >= PATIENCE

    def finished(self, last: Floats) -> Floats:
        """The scores after each number of rounds; a fit that ended early keeps its last ones."""
        missing = len(self.rounds) - len(self._scores)
        return np.stack([*self._scores, *[last] * missing]).transpose(0, 2, 1)


def options_for(settings: ClassSettings, *, tune_beta: bool, tune_rounds: bool) -> ClassOptions:
    """What is to be chosen."""
    if tune_rounds:
        return ClassRoundNumbers(settings)
    return ClassPenalties(settings) if tune_beta else ClassGiven(settings)
