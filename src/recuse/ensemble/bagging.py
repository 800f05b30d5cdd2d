"""Members fitted fold by fold: each case is scored by a model that did not see it, and every fold model is kept.

Nothing is fitted again on all cases: the models of the folds answer new cases together, by the mean of their scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import ThreadpoolController

from ..arrays import Floats, Indices
from ..calibration import Sigmoid, log_odds
from ..class_calibration import SharedTemperature
from ..folds import Fold
from .cases import Outcomes
from .features import View
from .roster import Member


@dataclass(frozen=True, eq=False)
class BaggedMember:
    """A member with a model per fold, and the map from its score to log-odds.

    Attributes
    ----------
    name, title, view : str
        As in the roster.
    models : list
        Fitted classifiers, one per fold.
    sigmoid : Sigmoid
        From the score to log-odds, fitted to the scores of held-out cases; of three or more classes a slope alone.
    """

    name: str
    title: str
    view: str
    models: list[Any]
    sigmoid: Sigmoid

    def log_odds(self, matrix: Floats) -> Floats:
        """Log-odds of new cases: of the mean score over the folds."""
        with one_thread():
            return self.calibrated(np.mean([line_score(model, matrix) for model in self.models], axis=0))

    def calibrated(self, scores: Floats) -> Floats:
        """Log-odds of scores."""
        return self.sigmoid.slope * scores + self.sigmoid.intercept


class Bagged(NamedTuple):
    """A fitted member, and its scores of the training cases, each by a model that did not see it; NaN for others."""

    member: BaggedMember
    scores: Floats


def fit_fold(
    member: Member, classifier: Any, view: View, outcomes: Outcomes, fold: Fold, seed: int
) -> tuple[Any, Floats]:
    """Fit a member on the training part of a fold; return it and its scores of the test part."""
    train, test = fold
    rows = _sample(train, outcomes.codes, member.most_rows, seed)
    with one_thread():
        classifier.fit(view.take(rows), outcomes.codes[rows], **_weights_for(classifier, outcomes.weights[rows]))
        scores = line_score(classifier, view.take(test)) if len(test) else np.empty(0)
    if len(test) and outcomes.n_classes > 2 and scores.shape != (len(test), outcomes.n_classes):
        raise ValueError("it has no score for each class")
    if not np.isfinite(scores).all():
        raise ValueError("a score is not finite")
    return classifier, scores


def _weights_for(classifier: Any, weights: Floats) -> dict[str, Floats]:
    """Sample weights as an argument of fit; none where all are equal, or the classifier takes none."""
    if np.ptp(weights) == 0:
        return {}
    if isinstance(classifier, Pipeline):
        name, last = classifier.steps[-1]
        return {f"{name}__{key}": value for key, value in _weights_for(last, weights).items()}
    return {"sample_weight": weights} if has_fit_parameter(classifier, "sample_weight") else {}


def with_final_fit(folds: list[Fold], n: int) -> list[Fold]:
    """The folds, and behind them a fit on all cases if some are in no training part, as the last ones over time."""
    trained = np.unique(np.concatenate([train for train, _ in folds]))
    return folds if len(trained) == n else [*folds, (np.arange(n), np.empty(0, dtype=np.intp))]


def join_folds(member: Member, fitted: list[tuple[Any, Floats]], folds: list[Fold], outcomes: Outcomes) -> Bagged:
    """A member from the fits of its folds; if the last fit is on all cases, it alone answers new ones."""
    shape = () if outcomes.n_classes == 2 else (outcomes.n_classes,)
    scores = np.full((len(outcomes.codes), *shape), np.nan)
    for (_, found), (_, test) in zip(fitted, folds, strict=True):
        if len(test):
            scores[test] = found
    tested = np.flatnonzero(~np.isnan(scores.reshape(len(scores), -1)[:, 0]))
    sigmoid = calibration_of(scores[tested], outcomes.take(tested))
    models = [model for model, _ in fitted]
    kept = models if len(folds[-1][1]) else models[-1:]
    bagged = BaggedMember(member.name, member.title, member.view, kept, sigmoid)
    return Bagged(bagged, scores)


def calibration_of(scores: Floats, outcomes: Outcomes) -> Sigmoid:
    """The line from scores of held-out cases to log-odds; of three or more classes one slope for all of them."""
    if scores.ndim == 2:
        return Sigmoid(SharedTemperature.fit(scores, outcomes.codes, outcomes.weights, False).slope, 0.0)
    return Sigmoid.fit(scores, outcomes.positive, outcomes.weights)


@contextmanager
def one_thread() -> Iterator[None]:
    """Fit and score on one OpenMP thread: several fits share the cores, and threads that wait for each other do not.

    The number belongs to the thread that sets it, so that fits in other threads are not disturbed.
    """
    with _libraries().limit(limits=1, user_api="openmp"):
        yield


@cache
def _libraries() -> ThreadpoolController:
    """The libraries that have threads; looking for them takes longer than fitting a small model."""
    return ThreadpoolController()


def line_score(classifier: Any, matrix: NDArray[Any]) -> Floats:
    """A score without bounds: log-odds of the probability of the second class, or the decision function.

    With three or more classes the logarithm of each probability.
    """
    if hasattr(classifier, "predict_proba"):
        p = classifier.predict_proba(matrix)
        return bounded_log_odds(p[:, 1]) if p.shape[1] == 2 else np.log(np.maximum(p, _LEAST))
    score: Floats = np.asarray(classifier.decision_function(matrix), dtype=np.float64)
    return score


def bounded_log_odds(p: Floats) -> Floats:
    """Log-odds of probabilities, none of which is taken for certain."""
    return log_odds(np.clip(p, _LEAST, 1 - _LEAST))


_LEAST = 1e-4  # a forest that is unanimous is not certain


def _sample(rows: Indices, codes: Indices, most: int | None, seed: int) -> Indices:
    if most is None or len(rows) <= most:
        return rows
    sample, _ = train_test_split(rows, train_size=most, stratify=codes[rows], random_state=seed)
    return np.sort(sample)
