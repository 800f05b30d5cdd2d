"""Boosted stumps (or trees) for the score h alone, with Chow's rule as the rejector: |h| <= ln((1 - c)/c)."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ...arrays import Floats, Indices
from ..binning import Bins
from .candidates import Boosted, Candidate, fit_best_option
from .data import TrainingSet
from .engine.losses import LOSSES
from .engine.problem import Problem
from .engine.settings import Settings
from .engine.surrogates import Surrogate
from .options import search_options
from .pairs import ChowPair
from .selection import best_option, judge

CHOW_FAMILY = "chow"
_NO_REJECT_TERM = 1e-300  # k of a score without a rejector: r is not learned


def score_surrogate(loss: str) -> Surrogate:
    """What is minimised where h alone is boosted."""
    return Surrogate(loss, 1.0, _NO_REJECT_TERM)


def score_problem(training: TrainingSet, bins: Bins, loss: str) -> Problem:
    """The problem of boosting h alone."""
    return Problem(bins, training.n_pos, training.s, score_surrogate(loss))


class BoostedScore:
    """A score of some training cases: held-out scores for every penalty (or number of rounds), fitted on demand."""

    def __init__(self, training: TrainingSet, bins: Bins, settings: Settings) -> None:
        self.training, self.settings = training, settings.of_score()
        self.problem = score_problem(training, bins, settings.loss)
        self.options = search_options(self.problem, self.settings, training.folds)

    def loss(self, scores: Floats, rows: Indices) -> float:
        """What is boosted, of the scores of some cases."""
        y, s = self.training.y[rows], self.training.s[rows]
        return float(s @ LOSSES[self.settings.loss].value(-y * scores[0, rows]))

    def best_option(self, rows: Indices) -> int:
        """The penalty, or number of rounds, of least loss on some held-out cases."""
        assert self.options.scores is not None
        return best_option(self.options.scores, self.loss, rows)

    @cached_property
    def fitted(self) -> Boosted:
        """The option of least held-out loss, fitted to all cases: the best probabilities, at whatever price.

        The price is a step function of the score: chosen by it, the option depends on the few cases near a threshold,
        and costs more on new cases.
        """
        return fit_best_option(self.training, self.problem, self.settings, self.options, self.loss)

    def held_out_prices(self, training: TrainingSet) -> Floats:
        """What Chow's rule on this score costs, judged on the folds of `training`: ours, or some of them."""
        assert self.options.scores is not None
        judged, _ = judge(self.options.scores, self.loss, training, with_threshold=False)
        return training.held_out_prices(self._with_rule(judged))

    def with_chows_rule(self) -> Candidate:
        """Return the score with Chow's rule as its rejector."""
        return self.ruled(CHOW_FAMILY, self.fitted)

    def ruled(self, name: str, boosted: Boosted) -> Candidate:
        """Return a boosted score with Chow's rule as its rejector."""
        training = self.training
        pair = ChowPair.at_price(boosted.form, self.settings.loss, training.highest_price, training.log_odds)
        return Candidate(name, pair, boosted, None if boosted.judged is None else self._with_rule(boosted.judged))

    def _with_rule(self, scores: Floats) -> Floats:
        """Scores (h, r) with the r of Chow's rule."""
        level = LOSSES[self.settings.loss].chow_level(self.training.highest_price)
        return np.stack([scores[0], np.abs(scores[0]) - level])
