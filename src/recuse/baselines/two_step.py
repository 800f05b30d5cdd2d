"""Boosting first, rejection second: AdaBoost with a tuned threshold, and boosted stumps with Chow's rule."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..base import Evaluation, RejectOptionMixin, unchanged_on_failure
from ..boosting.abstention.data import prepare
from ..boosting.abstention.losses import LOSSES, Surrogate
from ..boosting.abstention.pairs import Recipe, Twin
from ..boosting.abstention.rounds import boost
from ..boosting.abstention.selection import Data
from ..boosting.abstention.state import Problem, Settings
from ..boosting.abstention.tuning import Recorder
from ..boosting.binning import bin_features, resolve_bins
from ..boosting.reasons import explain_score
from ..boosting.shapes import AdditiveForm, additive_form
from ..costs import Costs
from ..parameters import check_choice, check_count, check_number, n_threads
from ..validation import validate_data

_QUANTILES = 101  # thresholds tried
_NO_REJECT_TERM = 1e-300


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
        How cases are held out; five stratified folds by default.
    pos_label, reject_label, on_reject
        As in every reject-option classifier.
    n_jobs : int, optional
        Threads.
    random_state : int or RandomState, optional
        Draws the folds.

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
        random_state: Any = None,
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

    @unchanged_on_failure
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TwoStepBoostingClassifier:
        """Boost, then set the threshold.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training cases; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each case.

        Returns
        -------
        self
        """
        check_count("n_rounds", self.n_rounds)
        data = prepare(self, X, y, sample_weight, with_folds=True)
        bins = bin_features(data.X, data.order, resolve_bins(self.max_bins, len(data.s)), data.weight)
        problem = Problem(bins, data.n_pos, data.s, Surrogate("exponential", 1.0, _NO_REJECT_TERM))
        settings = Settings(
            family="score",
            n_rounds=self.n_rounds,
            free_h=False,
            free_r=False,
            certify_every=50,
            n_threads=n_threads(self.n_jobs),
        )
        rounds, scores, boundaries = self._held_out(problem, settings, data)
        self.n_iter_, self.threshold_, self.objective_ = _cheapest(rounds, scores, boundaries, data)
        model = boost(problem, Settings(**{**vars(settings), "n_rounds": self.n_iter_})).model
        total = float(model.weights.sum()) or 1.0
        self._boundary = _boundary(data, total)
        tables = tuple(table / total for table in model.tables(bins))
        self._form: AdditiveForm = additive_form(model.h0, 0.0, tables, bins.cuts, bins.offsets)
        self.shape_functions_ = self._form.shapes
        return self

    def _held_out(
        self, problem: Problem, settings: Settings, data: Data
    ) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
        """Numbers of rounds to choose from; scores of held-out cases after each, and where both classes cost alike."""
        every = np.geomspace(1, self.n_rounds, 25) if self.tune_rounds else np.array([self.n_rounds])
        rounds = np.unique(every.astype(np.int64))
        scores, boundaries = np.full((2, len(rounds), len(data.s)), np.nan)
        for train, test in data.folds:
            recorder = Recorder(problem.take(test), rounds)
            boost(problem.take(train), settings, recorder)
            scores[:, test] = recorder.scores[:, 0] / recorder.totals[:, None]
            boundaries[:, test] = _boundary(data, recorder.totals)[:, None]
        return rounds, scores, boundaries

    def _evaluate(self, X: Any) -> Evaluation:
        return _evaluate(self, X)

    def _reasons(self, evaluation: Evaluation) -> list[str]:
        return _reasons(self, evaluation)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class ChowBoostingClassifier(RejectOptionMixin, BaseEstimator):
    """The twin of `AbstentionBoostingClassifier`: the same engine without a rejector, and Chow's rule.

    Minimised is sum_i s_i Phi(-y_i h_i) + beta sum_j alpha_j; a case is rejected when |h| <= ln((1 - c)/c) (half of it
    for the exponential loss). No threshold is learned. Where the prices of the classes differ, `decision_function` is
    h less the score at which both classes cost the same.

    Parameters
    ----------
    costs : Costs or float, default=0.2
        Prices; a float d means ``Costs(fp=1, fn=1, reject=d)``. Prices that differ by class weigh the cases.
    loss : {"logistic", "exponential"}, default="logistic"
        Phi.
    n_rounds : int, default=200
        Rounds of boosting.
    beta : "auto" or float, default="auto"
        Penalty on the weights; "auto" takes the one of least held-out cost from a path.
    max_bins, cv, pos_label, reject_label, on_reject, n_jobs, random_state
        As in `AbstentionBoostingClassifier`.

    Attributes
    ----------
    threshold_ : float
        Chow's threshold on |h|.
    shape_functions_ : list of ShapeFunction
        For each feature used, what it adds to h.
    n_iter_, objective_, residual_, beta_
        As in `AbstentionBoostingClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from recuse.baselines import ChowBoostingClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ChowBoostingClassifier(costs=0.1, random_state=0).fit(X[:400], y[:400])
    >>> round(model.threshold_, 3)
    2.197
    """

    def __init__(
        self,
        *,
        costs: Costs | float = 0.2,
        loss: str = "logistic",
        n_rounds: int = 200,
        beta: float | str = "auto",
        max_bins: int | str | None = "auto",
        cv: Any = None,
        pos_label: Any = None,
        reject_label: Any = "auto",
        on_reject: str = "label",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.costs = costs
        self.loss = loss
        self.n_rounds = n_rounds
        self.beta = beta
        self.max_bins = max_bins
        self.cv = cv
        self.pos_label = pos_label
        self.reject_label = reject_label
        self.on_reject = on_reject
        self.n_jobs = n_jobs
        self.random_state = random_state

    @unchanged_on_failure
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ChowBoostingClassifier:
        """Boost a score.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training cases; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each case.

        Returns
        -------
        self
        """
        check_choice("loss", self.loss, LOSSES)
        check_count("n_rounds", self.n_rounds, least=0)
        free = isinstance(self.beta, str) and self.beta == "auto"
        if not free:
            check_number("beta", self.beta, 0.0)
        data = prepare(self, X, y, sample_weight, with_folds=free)
        bins = resolve_bins(self.max_bins, len(data.s))
        recipe = Recipe(
            loss=self.loss,
            n_rounds=int(self.n_rounds),
            beta=None if isinstance(self.beta, str) else float(self.beta),
            max_bins=bins,
            n_threads=n_threads(self.n_jobs),
        )
        fitted = Twin(data, bin_features(data.X, data.order, bins, data.weight), recipe).of_least_price()
        solution, form = fitted.solution, fitted.pair.form
        assert isinstance(form, AdditiveForm)
        assert fitted.pair.level is not None
        self._form, self.threshold_, self.beta_ = form, fitted.pair.level, fitted.beta
        self._boundary = float(fitted.pair.boundary(np.zeros(1))[0])
        self.shape_functions_ = form.shapes
        self.n_iter_, self.objective_, self.residual_ = solution.n_iter, solution.objective, solution.residual
        return self

    def _evaluate(self, X: Any) -> Evaluation:
        return _evaluate(self, X)

    def _reasons(self, evaluation: Evaluation) -> list[str]:
        return _reasons(self, evaluation)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _evaluate(model: Any, X: Any) -> Evaluation:
    check_is_fitted(model)
    X = validate_data(model, X, reset=False, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
    form: AdditiveForm = model._form
    h = form.evaluate(X, n_threads(model.n_jobs))[0]
    return Evaluation(h - model._boundary, np.abs(h) - model.threshold_, detail=X)


def _reasons(model: Any, evaluation: Evaluation) -> list[str]:
    level, boundary = model.threshold_, model._boundary
    contributions = model._form.contributions(evaluation.detail)[0]
    return explain_score(model, evaluation, -level - boundary, level - boundary, contributions)


def _boundary(data: Data, total: Any) -> Any:
    """Score at which both classes cost the same: AdaBoost's h is half the log-odds, here over the total weight."""
    return data.log_odds / 2 / total


def _cheapest(
    rounds: NDArray[np.int64], scores: NDArray[Any], boundaries: NDArray[Any], data: Data
) -> tuple[int, float, float]:
    """Number of rounds and threshold of least held-out cost, and that cost."""
    rows = data.tested
    prices, y = data.prices.take(rows), data.y[rows]
    best = (np.inf, 0, 0.0)
    for n, h, boundary in zip(rounds.tolist(), scores[:, rows], boundaries[:, rows], strict=True):
        tried = np.concatenate([[-1.0], np.unique(np.quantile(np.abs(h), np.linspace(0, 1, _QUANTILES)))])
        for g in tried.tolist():
            cost = prices.mean(y, h - boundary, np.abs(h) - g)
            if cost < best[0]:
                best = (cost, n, g)
    return best[1], best[2], best[0]
