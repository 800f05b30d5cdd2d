"""A rejector on top of somebody else's score: stumps added to the pair that Chow's rule makes of given log-odds.

Where the log-odds are right nothing is left to learn. Where they are wrong in a part of the cases that the features
mark, the stumps move both the answer and the rejection there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Flags, Floats, Indices
from ...costs import Costs
from ..binning import bin_features
from .candidates import fit_best_option
from .data import TrainingSet, arrange
from .engine.problem import Parts, Problem
from .engine.settings import Settings
from .engine.surrogates import make_surrogate, plug_in_pair
from .options import search_options
from .pairs import GivenScore, StartedPair, typical_start
from .prices import reduce_prices
from .search import with_boundary

_SETTINGS = Settings(family="decoupled", n_rounds=100, max_bins=64, tune_beta=True)


class OnTop(NamedTuple):
    """A rejector, and what it did with cases it had not seen.

    Attributes
    ----------
    pair : StartedPair
        Takes the features with the log-odds behind them.
    accepted : ndarray of bool of shape (n,)
        Which held-out cases were answered.
    paid : ndarray of shape (n,)
        Price of each held-out case; 0 for cases that no fold held out, and for those of weight 0.
    """

    pair: StartedPair
    accepted: Flags
    paid: Floats


def boost_on_top(X: Floats, log_odds: Floats, codes: Indices, weights: Floats, costs: Costs, folds: Parts) -> OnTop:
    """Boost a pair of scores that starts from log-odds; the penalty is chosen on held-out cases.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Features; NaN where one is missing.
    log_odds : ndarray of shape (n,)
        Log-odds of class 1 by a model that did not see the case.
    codes : ndarray of int of shape (n,)
        Classes, 0 or 1.
    weights : ndarray of shape (n,)
        Sample weights.
    costs : Costs
        Prices, with class 1 as the positive one.
    folds : list of (train, test)
        Which cases to learn from, and which to hold out; both classes among the first.
    """
    training = arrange(X, codes, weights, costs, folds)
    score = GivenScore(_shift(costs))
    surrogate = make_surrogate(_SETTINGS.loss, _SETTINGS.b, _SETTINGS.exponents, training.c)
    start = plug_in_pair(surrogate, training.highest_price, score.of(log_odds[training.order]))
    bins = bin_features(X, training.order, _SETTINGS.max_bins, training.weight)
    problem = Problem(bins, training.n_pos, training.s, surrogate, np.column_stack(start))
    options = with_boundary(search_options(problem, _SETTINGS, training.folds), surrogate, training.log_odds)
    boosted = fit_best_option(training, problem, _SETTINGS, options, training.price)
    pair = StartedPair(
        score, boosted.learned_pair(training.log_odds), training.highest_price, typical_start(problem, training.weight)
    )
    assert boosted.judged is not None
    return OnTop(pair, *_in_given_order(training, boosted.judged, len(codes)))


def _shift(costs: Costs) -> float:
    """What the weights of the reduced problem add to log-odds."""
    reduced = reduce_prices(costs.fp, costs.fn, costs.reject_negative, costs.reject_positive)
    return float(np.log(reduced.weight_positive / reduced.weight_negative))


def _in_given_order(training: TrainingSet, judged: Floats, n: int) -> tuple[Flags, Floats]:
    """Which cases are accepted and what each costs, in the order they came."""
    h, r = judged
    accepted, paid = np.zeros(n, dtype=bool), np.zeros(n)
    accepted[training.order] = r > 0
    paid[training.order] = np.where(np.isnan(h), 0.0, training.prices.of(training.y, h, r))
    return accepted, paid
