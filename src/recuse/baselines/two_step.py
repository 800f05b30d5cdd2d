"""Boosting first, rejection second: AdaBoost with a tuned threshold.

Boosted stumps with Chow's rule, the other baseline of this kind, are `AbstentionBoostingClassifier(family="chow")`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..arrays import Floats
from ..base import RejectOptionMixin
from ..boosting.abstention.chow import score_problem
from ..boosting.abstention.data import TrainingSet, check_cases, prepare
from ..boosting.abstention.early_stopping import Recorder, round_grid
from ..boosting.abstention.engine.problem import Problem
from ..boosting.abstention.engine.rounds import boost
from ..boosting.abstention.engine.settings import Settings
from ..boosting.abstention.engine.stumps import SCORE
from ..boosting.binning import bin_features, resolve_bins
from ..boosting.reasons import explain_score, stated_score
from ..boosting.shapes import AdditiveForm, additive_form
from ..costs import Costs
from ..decisions import Evaluation, StatedThresholds
from ..explaining import Contributions
from ..parameters import check_count, n_threads
from ..validation import validate_data

_QUANTILES = 101  # thresholds tried


class TwoStepBoostingClassifier(RejectOptionMixin, BaseEstimator):
    """TSB: AdaBoost on stumps, then a threshold on the confidence.

    A case is rejected when |h| / sum_j alpha_j is at most g; the threshold g, and the number of rounds, are those of
    least cost on held-out cases. Where the prices of the classes differ, `decision_function` is this score less the
    one at which both classes cost the same.

    Parameters
    ----------
    costs : Costs or float, default=0.2
        Prices; a float d means ``Costs(fp=1, fn=1, reject=d)``. Prices that differ by class weigh the cases.
    n_rounds : int, default=200
        Rounds of AdaBoost, at most.
    tune_rounds : bool, default=True
        Choose the number of rounds too; False is the paper's version.
    max_bins : "auto", int or None, default="auto"
        As in `AbstentionBoostingClassifier`.
    cv : int, splitter or iterable, optional
        How cases are held out; five folds by default. Folds given by their number are stratified and shuffled, and
        keep the `groups` of `fit` together.
    pos_label, reject_label, on_reject
        As in every reject-option classifier.
    n_jobs : int, optional
        Threads.
    random_state : int, RandomState or None, default=0
        Shuffles the folds. A number, so that the same cases give the same model each time; None draws others in every
        fit.

    Attributes
    ----------
    threshold_ : float
        The threshold g.
    n_iter_ : int
        Rounds used.
    objective_ : float
        Mean cost on held-out cases at that threshold.

    References
    ----------
    C. Cortes, G. DeSalvo, M. Mohri, "Boosting with Abstention", NIPS 2016, section 5.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from recuse.baselines import TwoStepBoostingClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = TwoStepBoostingClassifier(costs=0.1, random_state=0).fit(X[:400], y[:400])
    >>> model.score(X[400:], y[400:]) > 0.95
    True
    """

    def __init__(
        self,
        *,
        costs: Costs | float = 0.2,
        n_rounds: int = 200,
        tune_rounds: bool = True,
        max_bins: int | str | None = "auto",
        cv: Any = None,
        pos_label: Any = None,
        reject_label: Any = "auto",
        on_reject: str = "label",
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.costs = costs
        self.n_rounds = n_rounds
        self.tune_rounds = tune_rounds
        self.max_bins = max_bins
        self.cv = cv
        self.pos_label = pos_label
        self.reject_label = reject_label
        self.on_reject = on_reject
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> TwoStepBoostingClassifier:
        """Boost, then set the threshold.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training cases; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each case.
        groups : array-like of shape (n_samples,), optional
            Cases that belong together, such as the visits of one patient: no group is on both sides of a fold.

        Returns
        -------
        self
        """
        check_count("n_rounds", self.n_rounds)
        checked = check_cases(self, X, y, sample_weight)
        training, inputs = prepare(self, checked, groups=groups, with_folds=True), checked.inputs
        bins = bin_features(training.X, training.order, resolve_bins(self.max_bins, len(training.s)), training.weight)
        problem = score_problem(training, bins, "exponential")
        settings = Settings(
            family=SCORE,
            loss="exponential",
            n_rounds=self.n_rounds,
            intercepts=False,
            certify_every=50,
            n_threads=n_threads(self.n_jobs),
        )
        chosen = _cheapest(self._held_out(problem, settings, training), training)
        model = boost(problem, replace(settings, n_rounds=chosen.n_rounds)).model
        total = float(model.weights.sum()) or 1.0
        tables = tuple(table / total for table in model.tables(bins))
        form = additive_form(model.h0, 0.0, tables, bins, training.weight)
        inputs.store(self)
        self._form: AdditiveForm = form
        self._boundary = float(_boundary(training, total))
        self.shape_functions_ = form.shapes
        self.n_iter_, self.threshold_ = chosen.n_rounds, chosen.threshold
        self.objective_ = chosen.cost * inputs.costs.unit
        self._warn_if_all_rejected(X, sample_weight)
        return self

    def _held_out(self, problem: Problem, settings: Settings, training: TrainingSet) -> _HeldOut:
        """Scores of held-out cases after every number of rounds to choose from."""
        rounds = round_grid(self.n_rounds) if self.tune_rounds else np.array([self.n_rounds], dtype=np.int64)
        scores, boundaries = np.full((2, len(rounds), len(training.s)), np.nan)
        for train, test in training.folds:
            recorder = Recorder(problem.take(test), rounds)
            boost(problem.take(train), settings, recorder)
            scores[:, test] = recorder.scores[:, 0] / recorder.totals[:, None]
            boundaries[:, test] = _boundary(training, recorder.totals)[:, None]
        return _HeldOut(rounds.tolist(), scores, boundaries)

    def _evaluate(self, X: Any) -> Evaluation:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
        h = self._form.evaluate(X, n_threads(self.n_jobs))[0]
        return Evaluation(h - self._boundary, np.abs(h) - self.threshold_, detail=X)

    def _reasons(self, evaluation: Evaluation) -> list[str]:
        return explain_score(self, evaluation, *self._thresholds_of_h())

    def _contributions(self, X: Any) -> Contributions:
        """What each column adds to h, less its mean over the training cases."""
        evaluation = self._evaluate(X)
        amounts = self._form.deviations(evaluation.detail)[0]
        return Contributions(amounts, evaluation.h - amounts.sum(axis=1), "score")

    def _stated_thresholds(self) -> StatedThresholds:
        return stated_score(self, *self._thresholds_of_h())

    def _thresholds_of_h(self) -> tuple[float, float]:
        return -self.threshold_ - self._boundary, self.threshold_ - self._boundary

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class _HeldOut(NamedTuple):
    """Numbers of rounds; by number and case the held-out score, and the score at which both classes cost the same."""

    rounds: list[int]
    scores: Floats
    boundaries: Floats


class _Choice(NamedTuple):
    """Number of rounds and threshold, and what they cost on held-out cases, in units of the cheaper error."""

    n_rounds: int
    threshold: float
    cost: float


def _boundary(training: TrainingSet, total: Any) -> Any:
    """Score at which both classes cost the same: AdaBoost's h is half the log-odds, here over the total weight."""
    return training.log_odds / 2 / total


def _cheapest(held_out: _HeldOut, training: TrainingSet) -> _Choice:
    """Number of rounds and threshold of least held-out cost."""
    rows = training.tested
    prices, y = training.prices.take(rows), training.y[rows]
    best = _Choice(0, 0.0, np.inf)
    for n, all_h, boundary in zip(*held_out, strict=True):
        h = all_h[rows]
        tried = np.concatenate([[-1.0], np.unique(np.quantile(np.abs(h), np.linspace(0, 1, _QUANTILES)))])
        for g in tried.tolist():
            cost = prices.mean(y, h - boundary[rows], np.abs(h) - g)
            if cost < best.cost:
                best = _Choice(n, g, cost)
    return best
