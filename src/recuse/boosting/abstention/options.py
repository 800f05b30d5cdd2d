"""The options that held-out cases decide between: penalties or numbers of rounds, with the scores that each gives.

Held-out scores have the shape (n_options, 2, m): h and r of every case by a model that has not seen it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from ...arrays import Floats, Indices
from ...workers import in_threads
from .early_stopping import held_out_rounds
from .engine.problem import Parts, Problem, Splittable
from .engine.rounds import beta_max, boost, boost_path
from .engine.settings import Settings
from .engine.state import Ensemble

# Penalties tried, as shares of the smallest penalty that uses no stump.
BETA_PATH = tuple((10.0 ** np.linspace(-3.0, -0.2, 8)).tolist())
Scores = tuple[Floats, Floats]


@dataclass(frozen=True, eq=False)
class Options(ABC):
    """What is left to choose.

    Attributes
    ----------
    scores : ndarray of shape (n_options, 2, m), optional
        Held-out scores of each option; None where no case was held out.
    models : list of list of Ensemble
        For each fold the model of each option; empty where they are not kept.
    """

    scores: Floats | None
    models: list[list[Ensemble]] = field(default_factory=list, kw_only=True)

    def joined(self, later: Self) -> Self:
        """The same options with what later folds say of them."""
        assert self.scores is not None
        assert later.scores is not None
        scores = np.where(np.isnan(later.scores), self.scores, later.scores)
        return replace(self, scores=scores, models=self.models + later.models)

    @abstractmethod
    def settle(self, option: int, problem: Problem, settings: Settings) -> Settings:
        """Settings of an option, to fit all cases with."""

    @abstractmethod
    def held_out(self, option: int, problem: Problem, settings: Settings, parts: Parts) -> Floats:
        """Held-out scores (2, m) of an option, for other parts than those it was searched on."""


@dataclass(frozen=True, eq=False)
class NoChoice(Options):
    """Penalty and number of rounds are given."""

    def settle(self, option: int, problem: Problem, settings: Settings) -> Settings:
        """As given."""
        return settings

    def held_out(self, option: int, problem: Problem, settings: Settings, parts: Parts) -> Floats:
        """Held-out scores with the settings as given."""
        return held_out_penalties(problem, settings, parts, None)[0][0]


@dataclass(frozen=True, eq=False)
class Penalties(Options):
    """Penalties as shares of the smallest one that uses no stump, which is another one in every fold."""

    shares: tuple[float, ...]

    def settle(self, option: int, problem: Problem, settings: Settings) -> Settings:
        """Settings with the penalty of an option, and the path to it that its held-out scores came by."""
        highest = beta_max(problem, settings)
        path: tuple[tuple[float, int], ...] = ()
        if settings.follows_path:
            path = tuple((share * highest, limit) for share, limit in penalty_path(settings, self.shares[option:]))
        return replace(settings, beta=self.shares[option] * highest, path=path)

    def held_out(self, option: int, problem: Problem, settings: Settings, parts: Parts) -> Floats:
        """Held-out scores with the penalty of an option."""
        return held_out_penalties(problem, settings, parts, self.shares_up_to(option, settings))[0][0]

    def shares_up_to(self, option: int, settings: Settings) -> tuple[float, ...]:
        """The penalty of an option, and the larger ones that a path comes through before."""
        return self.shares[option:] if settings.follows_path else (self.shares[option],)


@dataclass(frozen=True, eq=False)
class RoundNumbers(Options):
    """Numbers of rounds."""

    rounds: list[int]

    def settle(self, option: int, problem: Problem, settings: Settings) -> Settings:
        """Settings with the number of rounds of an option."""
        return replace(settings, n_rounds=self.rounds[option])

    def held_out(self, option: int, problem: Problem, settings: Settings, parts: Parts) -> Floats:
        """Held-out scores after the number of rounds of an option."""
        return held_out_rounds(problem, self.settle(option, problem, settings), parts)[1][-1]


def search_options(cases: Splittable, settings: Settings, folds: Parts) -> Options:
    """Boost every option on every fold."""
    if settings.tune_rounds:
        rounds, scores = held_out_rounds(cases, settings, folds)
        return RoundNumbers(scores, rounds)
    if settings.tune_beta:
        scores, models = held_out_penalties(cases, settings, folds, BETA_PATH)
        return Penalties(scores, BETA_PATH, models=models)
    if not folds:
        return NoChoice(None)
    scores, models = held_out_penalties(cases, settings, folds, None)
    return NoChoice(scores, models=models)


def held_out_penalties(
    cases: Splittable, settings: Settings, folds: Parts, shares: tuple[float, ...] | None
) -> tuple[Floats, list[list[Ensemble]]]:
    """Held-out scores for each penalty, given as shares of each fold's largest useful one; None: that in `settings`.

    Cases in no test fold stay NaN. The models of each fold come with them.
    """

    def fit(n_threads: int, train: Indices, test: Indices) -> tuple[list[Ensemble], list[Scores]]:
        part, rest = cases.split(train, test)
        models = penalised_models(part, replace(settings, certify_every=50, n_threads=n_threads), shares)
        return models, [model.scores(rest) for model in models]

    out = np.full((1 if shares is None else len(shares), 2, cases.n_cases), np.nan)
    fitted = in_threads(fit, folds, settings.n_threads)
    for (_, test), (_, scores) in zip(folds, fitted, strict=True):
        out[:, :, test] = scores
    return out, [models for models, _ in fitted]


def penalised_models(problem: Problem, settings: Settings, shares: tuple[float, ...] | None) -> list[Ensemble]:
    """Models at each penalty; `shares` are the largest ones of `BETA_PATH`, or None for that in `settings`."""
    if shares is None:
        return [boost(problem, settings).model]
    if settings.follows_path:
        return list(boost_path(problem, settings, penalty_path(settings, shares)))[::-1]
    highest = beta_max(problem, settings)
    return [boost(problem, replace(settings, beta=share * highest)).model for share in shares]


def penalty_path(settings: Settings, shares: tuple[float, ...]) -> list[tuple[float, int]]:
    """The largest penalties, given increasing, as a path: from the largest on, each may use up its share of rounds."""
    n = len(BETA_PATH)
    return [(share, settings.n_rounds * (i + 1) // n) for i, share in enumerate(reversed(shares))]
