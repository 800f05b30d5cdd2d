"""ExactBoostClassifier: stumps boosted on a ranking metric, or on the cost of rejecting, itself."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ...arrays import Floats
from ...base import RejectOptionMixin
from ...costs import Costs
from ...decisions import Decisions, Evaluation, StatedThresholds
from ...parameters import check_share, n_threads
from ...progress import shown_progress
from ...validation import check_outcomes, store_columns
from ..additive_model import AdditiveModelMixin
from ..bounds import GeneralizationBound
from ..reasons import explain_score, stated_score
from ..shapes import AdditiveForm
from .data import SettledCases, check_margins, read_cases, settle_two, start_of_cases
from .ensemble import AveragedRuns, BoostedRuns, average
from .histogram import ScoreHistogram
from .objectives import OBJECTIVES, Objective, Terms, find_objective
from .parameters import check_parameters, run_settings
from .problem import RankingProblem, RunSettings
from .runs import Booster, Outcomes, Run, boost_runs
from .several import (
    SeveralCases,
    evaluate_several,
    forget_machines,
    new_machines,
    reasons_of_several,
    require_as_many_classes,
    require_one_machine,
    settle_several,
    stages_of_several,
    store_machines,
    table_of_machines,
)
from .stages import StagedMean
from .stumps import history_of, stumps_of
from .thresholds import acceptance
from .warm_start import beginning_of, require_same_beginning


class ExactBoostClassifier(AdditiveModelMixin, RejectOptionMixin, BaseEstimator):
    """ExactBoost: boosts stumps on AUC, KS, precision at k, or the cost of rejecting, without a surrogate.

    A run starts from a constant score S and in each round adds the stump d [x_j > cut] that minimises

        L(S + d [x_j > cut] - theta y, y)

    on a stratified subsample, over all cuts and shifts |d| of a share of the features; the stump stays when the loss on
    all cases does not get worse. L depends on the order of the scores alone, and a tie is a loss; the margin theta is
    relative to the range of S. The score is the mean of many runs, each rescaled to [0, 1]: one step function for each
    feature.

    Without `init_score`, precision at k starts from the end of a run for AUC: from a constant it would soon be stuck.

    Parameters
    ----------
    metric : {"auc", "ks", "precision_at_k", "reject_cost"} or callable, default="auc"
        What is optimised. "reject_cost" is the least mean cost over two thresholds of the score: no up to the first,
        yes above the second, rejected between. A function of the sorted scores of positives and negatives that
        returns a loss works too, slowly.
    k : int, optional
        For "precision_at_k", how many of the training cases, by default as many as there are positives. For the 100
        best of a table a third as long as the training cases, k is 300.
    costs : Costs or float, optional
        Prices; a float d means ``Costs(fp=1, fn=1, reject=d)``. "reject_cost" is trained on them (0.2 by default); with
        any other metric they choose the threshold between the classes. Either way every run then keeps a fifth of
        the cases out, on which thresholds are chosen, so that the score differs from that without prices.
    n_estimators : int, default=250
        Runs (the poster's E).
    n_rounds : int, default=50
        Stumps tried in each (T); for "precision_at_k" as many for AUC before them.
    subsample : float in (0, 1], default=0.2
        Share of the cases of each class looked at in a round.
    max_features : float in (0, 1], default=0.2
        Share of the features looked at in a round.
    margin : float in [0, 1), default=0.0
        Theta, a share of the range of the score. The poster's is 0.05, which was worse than 0 on 9 of its 13 data sets.
    search : {"exact", "bisection"}, default="exact"
        All cuts and shifts, or the poster's interval bisection, which is slower and can miss the best.
    max_bins : "auto", int or None, default="auto"
        Quantile bins of a feature, at most 255; None looks at every distinct value. "auto" is 64.
    monotonic_cst : array-like of int of shape (n_features,) or dict, optional
        Two classes only. 1 where the class score h must not fall while the feature rises, -1 where it must not rise, 0
        where it is free; or these by the names of the columns. Only shifts that obey are tried, so that h is monotone
        exactly; missing values are free. Needs ``search="exact"``.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Columns whose values are names without an order: those of a categorical type, or by mask, number or name; text
        columns have to be named. Each run puts the levels in the order of their share of positives among its cases. A
        level that training did not have counts as missing; levels of fewer than 10 cases (in tables of less than 1,000,
        of one in a hundred) are treated alike.
    n_iter_no_change : int, optional
        End a run after this many rounds without improvement.
    warm_start : bool, default=False
        Keep the runs of the last fit, if that was a warm one too, to the same cases with the same parameters, and add
        only those still missing.
    pos_label : label, optional
        The positive class of the prices and of precision at k; ``classes_[1]`` by default.
    reject_label : label, default="auto"
        What `predict` gives for a rejected case: -1, 0 or "[abstain]", whichever fits the classes, or your own.
    on_reject : {"label", "raise", "never"}, default="label"
        `predict` gives the label, raises `RejectedSamplesError`, or gives the class it would choose if forced.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    verbose : int, default=0
        1 shows progress on the error stream: how many runs are done.
    random_state : int or RandomState, optional
        Draws the subsamples.

    Attributes
    ----------
    shape_functions_ : list of ShapeFunction
        For each feature used, what it adds to the class score h.
    thresholds_ : tuple of float
        No up to the first score, yes above the second; equal unless the metric is "reject_cost".
    threshold_ : float
        The score between the classes when nothing is rejected. Scores grow towards `pos_label_`; h is the score less
        this, with its sign changed where `pos_label_` is not ``classes_[1]``.
    stumps_ : list of RankingStump
        Every stump of every run.
    weights_ : ndarray
        Their shifts in the mean of the runs.
    history_ : dict of ndarray
        "objective": the loss with margin by run and round, after the rounds for AUC of "precision_at_k"; "accepted":
        stumps taken by run, all of them.
    objective_ : float
        The loss with margin of the mean score, on the training cases.
    n_iter_ : int
        Runs.
    classes_, reject_label_, costs_, pos_label_, n_features_in_, feature_names_in_
        As in every reject-option classifier.

    Notes
    -----
    **Three or more classes.** Each class has a machine of its own, against the rest: `machines_`, each an
    `ExactBoostClassifier` of two classes, 1 and 0, on features that are coded once for all. A ranking metric is that
    of each class against the rest; `k` counts for every class. The best answer is that of the machine whose score is
    furthest above its `threshold_`; with "reject_cost" it is given where the score is also above the second of the
    machine's `thresholds_`, and else the case is ambiguous. Prices by class enter as weights of the cases of each
    class, as in `DoubleHingeSVC`; without rejections the machines have average prices. Probabilities calibrated by
    `ThresholdRejectClassifier` around it are often cheaper. `thresholds_` and `history_` have a row for each class,
    `threshold_` and `objectives_` an entry, `shape_functions_`, `stumps_` and `weights_` a list; `objective_` is the
    sum, `n_iter_` the runs of each machine, and `init_score` has a column for each class. `edit`, `margin_losses` and
    `generalization_bound` are those of one machine.

    References
    ----------
    D. Csillag, C. Piazza, T. Ramos, J. V. Romano, R. Oliveira, P. Orenstein, "ExactBoost: Directly Boosting the Margin
    in Combinatorial and Non-decomposable Metrics", AAAI 2022: equation (2), algorithms 1 and 2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import roc_auc_score
    >>> from recuse import ExactBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ExactBoostClassifier(metric="auc", n_estimators=20, random_state=0).fit(X[:400], y[:400])
    >>> roc_auc_score(y[400:], model.decision_function(X[400:])) > 0.98
    True
    >>> careful = ExactBoostClassifier(metric="reject_cost", costs=0.05, n_estimators=20, random_state=0)
    >>> set(careful.fit(X[:400], y[:400]).predict(X[400:]).tolist()) == {-1, 0, 1}
    True
    """

    _runs: list[Run]
    _held_out: Floats
    _seed: int
    _span: tuple[float, float] | None
    machines_: list[ExactBoostClassifier]

    def __init__(
        self,
        *,
        metric: Any = "auc",
        k: int | None = None,
        costs: Costs | float | None = None,
        n_estimators: int = 250,
        n_rounds: int = 50,
        subsample: float = 0.2,
        max_features: float = 0.2,
        margin: float = 0.0,
        search: str = "exact",
        max_bins: int | str | None = "auto",
        monotonic_cst: Any = None,
        categorical_features: Any = "from_dtype",
        n_iter_no_change: int | None = None,
        warm_start: bool = False,
        pos_label: Any = None,
        reject_label: Any = "auto",
        on_reject: str = "label",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.metric = metric
        self.k = k
        self.costs = costs
        self.n_estimators = n_estimators
        self.n_rounds = n_rounds
        self.subsample = subsample
        self.max_features = max_features
        self.margin = margin
        self.search = search
        self.max_bins = max_bins
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.pos_label = pos_label
        self.reject_label = reject_label
        self.on_reject = on_reject
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, init_score: Any = None, *, groups: Any = None
    ) -> ExactBoostClassifier:
        """Boost the runs and choose the thresholds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training cases; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each case; not for a metric of your own.
        init_score : array-like of shape (n_samples,), optional
            Scores of another model to start from, higher towards ``classes_[1]``; best of cases it was not
            fitted to. The same model's scores are then needed for every prediction.
        groups : array-like of shape (n_samples,), optional
            Cases that belong together, such as the visits of one patient: where prices are given, each run keeps a
            fifth of the groups out, and no group is on both sides.

        Returns
        -------
        self
        """
        self._check_parameters()
        read = read_cases(self, X, y, sample_weight)
        require_as_many_classes(self, len(read.labels.classes))
        if len(read.labels.classes) == 2:
            given = settle_two(self, read, init_score, groups, hold_out=self._has_prices)
            self._boost_and_store(given, X, self._boost_here)
        else:
            several = settle_several(self, read, init_score, groups, hold_out=self._has_prices)
            self._fit_machines(several, X)
        self._warn_if_all_rejected(X, sample_weight, init_score=init_score)
        return self

    def _fit_machines(self, several: SeveralCases, columns: Any) -> None:
        """Boost a machine for each of three or more classes, and publish them."""
        machines = new_machines(self, len(several.members))
        averaged = [
            machine._boost_and_average(given, columns, machine._boost_here)
            for machine, given in zip(machines, several.members, strict=True)
        ]
        store_columns(self, columns)
        self._store_labels(several.labels)
        self._store_costs(several.prices)
        self._categories, self._span = several.members[0].categories, None
        store_machines(self, machines)
        constant = next((ensemble for ensemble in averaged if ensemble.constant), None)
        if constant is not None:
            constant.warn_if_constant(self.metric, self.margin)

    def _boost_here(self, problem: RankingProblem, settings: RunSettings, seed: int, todo: range) -> Outcomes:
        return boost_runs(problem, settings, seed, todo, n_threads(self.n_jobs))

    def _boost_and_store(self, given: SettledCases, columns: Any, boost: Booster) -> AveragedRuns:
        """Boost the runs of checked cases and publish them; `columns` is a table with the columns of the cases."""
        ensemble = self._boost_and_average(given, columns, boost)
        ensemble.warn_if_constant(self.metric, self.margin)
        return ensemble

    def _boost_and_average(self, given: SettledCases, columns: Any, boost: Booster) -> AveragedRuns:
        settings, beginning = self._settings(), beginning_of(self, given.problem)
        with shown_progress(self.verbose):
            boosted = self._boost(given.problem, settings, beginning, boost)
        ensemble = average(given, settings, boosted, self.metric)
        store_columns(self, columns)
        self._store(given, beginning, boosted, ensemble)
        return ensemble

    def _check_parameters(self) -> None:
        check_parameters(self)

    def _settings(self) -> RunSettings:
        return run_settings(self, hold_out=self._has_prices)

    @property
    def _objective(self) -> Objective:
        return find_objective(self.metric)

    @property
    def _has_prices(self) -> bool:
        """Whether thresholds are chosen by their cost, on cases that a run has not seen."""
        return self._objective.rejects or self.costs is not None

    def _boost(
        self, problem: RankingProblem, settings: RunSettings, beginning: dict[str, str], boost: Booster
    ) -> BoostedRuns:
        """The runs of the last fit, if this one goes on from it, and those still missing."""
        earlier = self._earlier_runs(beginning, problem.n_cases)
        todo = range(len(earlier.runs), int(self.n_estimators))
        return earlier.joined_by(boost(problem, settings, earlier.seed, todo))

    def _earlier_runs(self, now: dict[str, str], n_cases: int) -> BoostedRuns:
        """What there is to go on from, as copies; no runs for a first fit."""
        before = getattr(self, "_began_with", {})
        if not now or not before:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
            return BoostedRuns(seed, [], np.zeros((2, n_cases)))
        require_same_beginning(self, before, now, len(self._runs))
        return BoostedRuns(self._seed, list(self._runs), self._held_out.copy())

    def _store(
        self, given: SettledCases, beginning: dict[str, str], boosted: BoostedRuns, ensemble: AveragedRuns
    ) -> None:
        """Publish a fit; nothing is stored before everything is known."""
        problem, runs, thresholds = given.problem, boosted.runs, ensemble.thresholds
        forget_machines(self)
        self._store_labels(given.labels)
        self._store_costs(given.prices)
        self._sign, self._span, self._categories = given.sign, given.span, given.categories
        self._seed, self._runs, self._began_with = boosted.seed, runs, beginning
        # Needed again only where more runs may follow.
        self._held_out = boosted.held_out if self.warm_start else np.zeros((2, 0))
        self._per_start, self._mean_start = ensemble.mean.per_start, ensemble.mean.mean_start
        self._range, self.objective_ = ensemble.range, ensemble.objective * given.unit_of_loss
        self._k_share = problem.terms.k / float(problem.weight.sum())
        self.thresholds_, self.threshold_ = (thresholds.low, thresholds.high), thresholds.middle
        self._form, self._edits = ensemble.form, []
        self.shape_functions_ = self._form.shapes
        self._cuts = problem.bins.cuts
        self._training_shares, self._has_missing = problem.bins.shares(problem.weight), problem.bins.has_missing
        self._level_cells = tuple((f, cells.cell) for f, cells in problem.bins.levels.items())
        self.history_ = history_of(runs, given.unit_of_loss)
        self.n_iter_ = len(runs)
        self._bound = ensemble.bound

    @property
    def _of_several(self) -> bool:
        """Whether there is a machine for each of three or more classes."""
        return hasattr(self, "machines_")

    def _forms(self) -> list[AdditiveForm]:
        return [] if self._of_several else [self._form]

    def _additive_forms(self) -> list[AdditiveForm]:
        require_one_machine(self, "This")
        return super()._additive_forms()

    @property
    def importances_(self) -> dict[str, Floats]:
        """Share of each feature in the class score "h"; with three or more classes the mean of their machines."""
        if not self._of_several:
            return super().importances_
        return {"h": np.mean([machine.feature_importances_ for machine in self.machines_], axis=0)}

    def shape_table(self) -> Any:
        """What every cell of every feature adds to the score, as a data frame; of each of three or more classes.

        See `AbstentionBoostingClassifier.shape_table`.
        """
        check_is_fitted(self)
        return table_of_machines(self) if self._of_several else super().shape_table()

    def _with_forms(self, forms: list[AdditiveForm], *, monotone: bool = False) -> ExactBoostClassifier:
        if any(shape.r.any() or shape.missing[1] for shape in forms[0].shapes):
            raise ValueError("ExactBoostClassifier rejects by thresholds of h and has no r to edit: leave r out.")
        edited = copy(self)
        edited._form, edited._bound = forms[0], None
        edited.shape_functions_ = forms[0].shapes
        edited._began_with = {}  # more runs would be those of another model
        return edited

    def _published_constants(self) -> tuple[float, float]:
        return 0.0, 0.0

    def margin_losses(self, X: Any, y: Any, margins: Any, *, init_score: Any = None) -> Floats:
        """Loss of cases when positives are judged at a margin below their score; a tie is a loss.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Cases.
        y : array-like of shape (n_samples,)
            Their classes.
        margins : array-like of shape (n,)
            Margins, relative to the range of the score on the training cases.
        init_score : array-like, optional
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        require_one_machine(self, "margin_losses")
        margins = check_margins(margins)
        score = self._sign * self.decision_function(X, init_score)
        truth = check_outcomes(X, y, self.classes_)
        if not set(truth.tolist()) == {0, 1}:
            raise ValueError(f"y must hold cases of both classes {self.classes_.tolist()}, and of no other.")
        positive = truth == (1 if self._sign > 0 else 0)
        terms = Terms(self.costs_, self._k_share * len(score))
        return np.array(
            [
                self._objective.loss(ScoreHistogram.of(score, positive, margin=theta * self._range), terms)
                for theta in margins
            ]
        )

    def generalization_bound(self, delta: float = 0.05) -> GeneralizationBound:
        """Bound the expected loss by Theorem 1 (AUC) or 2 (KS) of the poster: a diagnostic, usually far above 1.

        The complexities of the stumps are estimated on the training cases, each class by itself, by the largest
        correlation of a stump with random signs.

        Parameters
        ----------
        delta : float in (0, 1), default=0.05
            Probability that the bound fails.
        """
        check_is_fitted(self)
        require_one_machine(self, "generalization_bound")
        check_share("delta", delta)
        theorem = None if self._bound is None else OBJECTIVES[self._bound.metric].theorem
        if self._bound is None or theorem is None:
            raise ValueError(
                "The bound is for metric='auc' or 'ks' with margin > 0, equal sample weights, no init_score, no "
                f"categories and no edits; this model was fitted with metric={self.metric!r}, margin={self.margin!r}."
            )
        return theorem.bound(self._bound, delta)

    @property
    def stumps_(self) -> list[Any]:
        """Every stump of every run; with three or more classes a list for each."""
        if self._of_several:
            return [machine.stumps_ for machine in self.machines_]
        return stumps_of(self._runs, self._cuts, dict(getattr(self, "_level_cells", ())), self._sign)

    @property
    def weights_(self) -> Any:
        """Shift of every stump in the mean of the runs; with three or more classes a list of arrays."""
        if self._of_several:
            return [machine.weights_ for machine in self.machines_]
        return np.array([stump.shift for stump in self.stumps_]) / len(self._runs)

    def _evaluate(self, X: Any, init_score: Any = None) -> Evaluation:
        check_is_fitted(self)
        X = self._numbers(X)
        if self._of_several:
            return evaluate_several(self, X, init_score)
        h, start = self._class_score(X, init_score, n_threads(self.n_jobs))
        return self._judged(h, (X, start))

    def _class_score(self, X: NDArray[Any], init_score: Any, threads: int) -> tuple[Floats, Floats | None]:
        """Score h of checked cases, and what the initial scores add to it."""
        h, _ = self._form.evaluate(X, threads)
        start = start_of_cases(init_score, len(X), self._span, self._sign)
        if start is None:
            return h, None
        # What it adds to h, beyond that of an average training case.
        added = self._sign * self._per_start * (start - self._mean_start)
        return h + added, added

    def _staged(self, X: Any, **params: Any) -> Iterator[Evaluation]:
        stray = [name for name in params if name != "init_score"]
        if stray:
            raise TypeError(f"ExactBoostClassifier takes no {stray[0]} with X.")
        if self._of_several:
            yield from stages_of_several(self, X, params.get("init_score"))
            return
        if not hasattr(self, "_training_shares"):
            raise ValueError("This model was saved by a version that kept no stages: fit again.")
        X = self._numbers(X)
        start = start_of_cases(params.get("init_score"), len(X), self._span, self._sign)
        stages = StagedMean(self._cuts, dict(self._level_cells), self._training_shares, self._has_missing)
        for score in stages.scores(self._runs, X, start):
            yield self._judged(self._sign * (score - self.threshold_), (X, None))

    def _judged(self, h: Floats, detail: Any) -> Evaluation:
        """Class scores with the acceptance scores that the thresholds make of them."""
        r = acceptance(self._sign * h, self.thresholds_, self.threshold_)
        return Evaluation(h, r, detail=detail)

    def decision_function(self, X: Any, init_score: Any = None) -> Floats:
        """Class score h of each case, greater than 0 towards ``classes_[1]``."""
        return self._evaluate(X, init_score).h

    def score_samples(self, X: Any, init_score: Any = None) -> Floats:
        """Acceptance score r of each case: accepted when greater than 0."""
        return self._evaluate(X, init_score).r

    def predict(self, X: Any, init_score: Any = None) -> NDArray[Any]:
        """Answer each case with a class, or with ``reject_label_``; `init_score` as in `fit`."""
        self._check_on_reject()
        return self._answer(self._evaluate(X, init_score))

    def decide(self, X: Any, init_score: Any = None, *, reasons: bool | str = True) -> Decisions:
        """Answer each case with its kind, its scores and a sentence that says why; `init_score` as in `fit`."""
        return self._table(self._evaluate(X, init_score), X, reasons)

    def _reasons(self, evaluation: Evaluation) -> list[str]:
        if self._of_several:
            return reasons_of_several(self, evaluation)
        return explain_score(self, evaluation, *self._thresholds_of_h())

    def _remarks(self, evaluation: Evaluation) -> list[str] | None:
        """What the initial scores add to the score that the sentences tell."""
        start = evaluation.detail[1]
        return None if start is None else [f"; the initial score adds {self._sign * added:+.3g}" for added in start]

    @property
    def _starts_from_score(self) -> bool:
        return self._span is not None

    def _stated_thresholds(self) -> StatedThresholds | None:
        return None if self._of_several else stated_score(self, *self._thresholds_of_h())

    def _thresholds_of_h(self) -> tuple[float, float]:
        low, high = sorted(self._sign * (t - self.threshold_) for t in self.thresholds_)
        return low, high

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.classifier_tags.multi_class = True
        return tags
