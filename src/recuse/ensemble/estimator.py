"""EnsembleRejectClassifier: many kinds of models, one calibrated probability, and the cheapest answer to it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, check_random_state
from threadpoolctl import threadpool_limits

from ..arrays import Flags, Floats
from ..base import RejectOptionMixin, SettledCosts
from ..boosting.abstention.pairs import StartedPair
from ..boosting.reasons import feature_names
from ..costs import Costs
from ..decisions import Evaluation, StatedThresholds
from ..explaining import Contributions
from ..labels import to_python
from ..parameters import check_choice, check_number
from ..thresholds.bands import Band, RejectRegion
from ..thresholds.reasons import band_reasons, multiclass_reasons, stated_band, stated_region
from ..validation import check_training_data, store_columns, validate_data
from .bagging import Bagged
from .blending import Blend, greedy, stack_few
from .budget import Budget
from .cases import Outcomes, TrainingCases, settle_cases
from .class_blending import greedy_classes, log_loss_of_classes, stack_few_classes
from .class_judging import (
    ClassJudgement,
    ClassProbabilities,
    chow_cost_of_classes,
    class_gains,
    judge_class_blend,
    judge_classes,
)
from .contributions import Sources, background, blended, typical, view_sources
from .features import CODES, Table, TableViews, View, categories_by_name, find_categories, list_columns
from .fitting import Progress, Schedule, fit_members
from .held_out import Probabilities, UnseenCases, hold_out, judge_blend
from .judging import AUTO, BLEND, LEARNED, RULES, Judgement, chow_cost, gains, judge, log_loss_of_outcomes
from .reasons import CaseNames, disagreement, from_positive_side, learned_reasons, names_by_case
from .roster import BEST, EFFORTS, MEDIUM, Member, as_member, choose_members

BLENDS = ("stacking", "greedy")
Loss = Callable[[Floats, Outcomes], float]
Cost = Callable[[Floats, Outcomes, Costs], float]

_SHRINKAGE = 10.0  # of the weights towards equal ones: how many cases' worth of log loss an excess of 1 costs
_REJECTOR_SECONDS = (0.2, 5.0)  # for learning one, at 500 x 10 to 20,000 x 20: a fixed part, and one per million cells


class EnsembleRejectClassifier(RejectOptionMixin, BaseEstimator):
    """Ensemble of many kinds of models that decides at your prices.

    Each member is fitted on the training part of every fold and scores the rest; the models of the folds are kept and
    answer together (see `cv` for folds over time). The out-of-fold log-odds of the members are blended with weights
    that are never negative,

        log-odds = b + sum_k w_k z_k,    minimising the log loss + strength sum_k (w_k - mean(w))^2,   w >= 0,

    and once more without the members that have less than 5 % of the weight. Chow's rule at the prices answers or
    rejects on the blended probability, which itself does not depend on them.

    With three or more classes the log-probabilities of the members are blended, with one weight per member for all
    classes, and the answer of least expected cost is given where it is cheaper than a rejection. There is no learned
    rejector, and reasons name the two best answers but no columns.

    Parameters
    ----------
    members : list, optional
        Names in the roster (see `recuse.ensemble.ROSTER`), entries of it, changed ones too, or (name, classifier) pairs
        of your own. By default those that `effort` asks for and that are installed.
    costs : Costs or float, default=0.2
        Prices; a float d means ``Costs(fp=1, fn=1, reject=d)``.
    effort : {"quick", "medium", "best"}, default="medium"
        How many members take part.
    time_limit : float, optional
        Seconds for the fit. Members are fitted one after another, the cheapest first; one that is not expected to be
        done in time, or after some of its folds no longer is, is left out, and `left_out_` says so. The first member is
        always fitted, and a fit in progress is not cut off.
    blend : {"stacking", "greedy"}, default="stacking"
        Weights by the formula above, or by greedy forward selection of members, with repetition, by log loss.
    rule : {"auto", "chow", "tuned", "learned"}, default="auto"
        Thresholds that the prices imply, or tuned ones (see `ThresholdRejectClassifier`), or a rejector that is boosted
        on top of the blend, as `AbstentionBoostingClassifier` does from a score of its own. "auto" takes the tuned ones
        if they are cheaper on held-out cases than the first by more than two standard errors, and at effort "best" the
        learned rejector if it is, too; of two, the cheaper.
    cv : int, splitter or iterable, optional
        Folds; 5 by default, fewer where a class has fewer cases. Folds given by their number are stratified and
        shuffled, and keep the `groups` of `fit` together. No case may be in two test folds. Where folds leave cases out
        of every training part, as folds over time do, every member is fitted once more, on all cases, and this fit is
        what answers.
    categorical_features : "from_dtype" or list, default="from_dtype"
        Columns that hold categories: names or positions, or True and False for each column. By default those of a frame
        that hold text, categories or truth values.
    pos_label : label, optional
        The positive class of the prices; ``classes_[1]`` by default.
    reject_label : label, default="auto"
        What `predict` gives for a rejected case: -1, 0 or "[abstain]", whichever fits the classes, or your own.
    on_reject : {"label", "raise", "never"}, default="label"
        `predict` gives the label, raises `RejectedSamplesError`, or gives the class it would choose if forced.
    n_jobs : int, optional
        Folds fitted at once, in threads.
    random_state : int, RandomState or None, default=0
        Of the folds and the members.
    progress : callable, optional
        Called with the number of members done, the number of all, and the title of the next one.

    Attributes
    ----------
    members_ : list of BaggedMember
        The members that count, with a fitted model per fold.
    weights_ : dict of str to float
        Weight of every member that was fitted, 0 for those that do not count.
    held_out_costs_ : dict of str to float
        Mean price of held-out cases: of every member under Chow's rule, and of the blend under its own. Members,
        calibration, weights and thresholds did not see the fold that is judged; over time, only what came before it.
    held_out_error_ : float
        Standard error of the cost of the blend.
    constant_cost_ : float
        What one answer for every case, the cheapest of the two classes and a rejection, costs on the same cases.
    held_out_log_loss_ : dict of str to float
        The same for the log loss.
    held_out_coverage_ : float
        Share of the held-out cases that the blend answers.
    gains_ : dict of str to float
        What each member adds to the others: how much greater the log loss of the cases that the weights are set on is
        when it is left out and the others are blended without it.
    shares_ : dict of str to float
        Share of each member that counts in the weight of all, by its title.
    left_out_ : dict of str to str
        Members that were not fitted, or failed, and why.
    rule_ : str
        "chow", "tuned" or "learned".
    thresholds_ : tuple of float
        Probabilities of ``classes_[1]`` between the two are rejected; with "learned" these are what the rejector starts
        from.
    objective_, residual_ : float
        What the weights of the members that count minimise, and the largest violation of its optimality conditions.
    n_iter_ : int
        Models that answer new cases, over all members that were fitted, also those that do not count.
    classes_, reject_label_, costs_, pos_label_, n_features_in_, feature_names_in_
        As in every reject-option classifier.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from recuse import Costs
    >>> from recuse.ensemble import EnsembleRejectClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = EnsembleRejectClassifier(["logistic", "extra-trees"], costs=Costs(fp=5, fn=1, reject=0.2))
    >>> answers = model.fit(X[:400], y[:400]).decide(X[400:])
    >>> sorted(model.weights_), len(answers)
    (['extra-trees', 'logistic'], 169)
    """

    _band: RejectRegion
    # Of models saved before there were any.
    _rejector: StartedPair | None = None
    _typical: Floats | None = None
    _background: dict[str, Floats] | None = None

    def __init__(
        self,
        members: Sequence[Any] | None = None,
        *,
        costs: Costs | float = 0.2,
        effort: str = MEDIUM,
        time_limit: float | None = None,
        blend: str = "stacking",
        rule: str = "auto",
        cv: Any = None,
        categorical_features: Any = "from_dtype",
        pos_label: Any = None,
        reject_label: Any = "auto",
        on_reject: str = "label",
        n_jobs: int | None = None,
        random_state: Any = 0,
        progress: Progress | None = None,
    ) -> None:
        self.members = members
        self.costs = costs
        self.effort = effort
        self.time_limit = time_limit
        self.blend = blend
        self.rule = rule
        self.cv = cv
        self.categorical_features = categorical_features
        self.pos_label = pos_label
        self.reject_label = reject_label
        self.on_reject = on_reject
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> EnsembleRejectClassifier:
        """Fit the members, blend them and set the thresholds. A fit that fails leaves the estimator as it was.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Training cases: numbers, NaN where one is missing, and categories in a frame.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each case: for the members that take weights, the blend and the thresholds.
        groups : array-like of shape (n_samples,), optional
            Cases that belong together, such as the visits of one patient: no group is on both sides of a fold.

        Returns
        -------
        self
        """
        self._check_parameters()
        X, y = self._check_cases(X, y)
        members = self._members(len(y))
        labels, codes = self._settle_labels(y)
        if len(labels.classes) > 2 and self.rule == LEARNED:
            raise ValueError(f"rule={LEARNED!r} takes two classes; y has {len(labels.classes)}: leave it out.")
        prices = self._settle_costs(labels.classes)
        seed = _seed(self.random_state)
        cases = settle_cases(X, codes, sample_weight, groups, self.cv, seed)
        categorical = self._categorical(X)
        table = Table.of(cases.X, categorical)
        views = TableViews().fit(table)
        schedule = Schedule(Budget(self.time_limit), self.n_jobs, seed, self.progress)
        # A member that stops early is a weaker member, and the weights of the blend see to that.
        with warnings.catch_warnings(action="ignore"), threadpool_limits(1, user_api="blas"):
            seen = {kind: views.view(kind, table) for kind in {CODES} | {member.view for member in members}}
            bagged, left_out = fit_members(members, seen, cases, schedule)
            held_out = self._hold_out(bagged, cases)
            odds = np.stack([part.member.calibrated(part.scores[held_out.rows]) for part in bagged], axis=1)
            blend = self._combine(odds, held_out.outcomes)
            verdict = self._judge(held_out, seen[CODES], schedule.budget, prices)
            add = gains if len(labels.classes) == 2 else class_gains
            added = add(odds, held_out.outcomes, blend, self._combine)
            usual = other = None
            if len(labels.classes) == 2:  # else no column is told to speak for a class
                sources, fitted = view_sources(views, categorical), [part.member for part in bagged]
                usual = typical(fitted, blend.weights, _matrices(seen), sources)
                other = background(fitted, blend.weights, _matrices(seen), seed)
        # Nothing was stored so far, and nothing below fails: a failed fit leaves the estimator as it was.
        store_columns(self, X)
        self._store_labels(labels)
        self._store_costs(prices)
        self._views, self._categorical_columns, self.left_out_ = views, categorical, left_out
        self._typical, self._background = usual, other
        self._store_blend(bagged, blend)
        self._store_verdict(bagged, verdict, prices)
        self.gains_ = {part.member.name: gain for part, gain in zip(bagged, added, strict=True)}
        if verdict.judgement.coverage == 0:
            self._warn_all_rejected()
        return self

    def _check_parameters(self) -> None:
        check_choice("effort", self.effort, EFFORTS)
        check_choice("blend", self.blend, BLENDS)
        check_choice("rule", self.rule, RULES)
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit, 0.0, strict=True, remedy="Give seconds, or None for no limit.")

    def _members(self, n: int) -> list[Member]:
        if self.members is None:
            return choose_members(self.effort, n)
        if isinstance(self.members, str) or len(self.members) == 0:
            raise ValueError(f"members must be a list of names or (name, classifier) pairs; got {self.members!r}.")
        found = [as_member(given) for given in self.members]
        for said in ([member.name for member in found], [member.title for member in found]):
            if len(set(said)) < len(said):
                raise ValueError(f"members must have different names; got {said}.")
        if BLEND in {member.name for member in found}:
            raise ValueError(f"members must not be called {BLEND!r}: that is the name of all of them together.")
        return found

    def _check_cases(self, X: Any, y: Any) -> Any:
        """The cases as a frame or an array of numbers, and their labels."""
        if list_columns(X):
            X, y = check_training_data(self, X, y, skip_check_array=True)
            if len(y) == 0:
                raise ValueError("X and y are empty: Found array with 0 sample(s) while a minimum of 1 is required.")
            return X, y
        return check_training_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")

    def _categorical(self, X: Any) -> Flags:
        if isinstance(self.categorical_features, str) and self.categorical_features == "from_dtype":
            return find_categories(X)
        return categories_by_name(X, self.categorical_features)

    def _hold_out(self, bagged: list[Bagged], cases: TrainingCases) -> UnseenCases:
        """The cases that every member scored without having seen them."""
        scores = np.stack([part.scores for part in bagged], axis=1)
        return hold_out(scores, cases.outcomes, cases.folds, cases.groups)

    def _judge(self, held_out: UnseenCases, codes: View, budget: Budget, prices: SettledCosts) -> _Verdict:
        """Choose the rule on the blended probabilities of held-out cases, and say what everybody costs there."""
        if held_out.outcomes.n_classes > 2:
            found = judge_class_blend(held_out, self._combine)
            several = held_out.take(held_out.judged)
            return _Verdict(judge_classes(found.blend, several, prices.oriented, self.rule), found, several.outcomes)
        judged = judge_blend(held_out, self._combine)
        cases = held_out.take(held_out.judged)
        wanted = self.rule == LEARNED or (self.rule == AUTO and self.effort == BEST)
        in_time = self.rule == LEARNED or budget.allows(_rejector_seconds(codes.matrix))
        features = codes.take(cases.rows) if wanted and in_time else None
        return _Verdict(judge(judged.blend, cases, prices.oriented, self.rule, features), judged, cases.outcomes)

    def _combine(self, members: Floats, outcomes: Outcomes) -> Blend:
        strength = _SHRINKAGE / float(outcomes.weights.sum())
        if outcomes.n_classes > 2:
            by_steps = self.blend == "greedy"
            return (
                greedy_classes(members, outcomes)
                if by_steps
                else stack_few_classes(members, outcomes, strength=strength)
            )
        if self.blend == "greedy":
            return greedy(members, outcomes.positive, outcomes.weights)
        return stack_few(members, outcomes.positive, outcomes.weights, strength=strength)

    def _store_blend(self, bagged: list[Bagged], blend: Blend) -> None:
        counts = blend.weights > 0
        counts[0] |= not counts.any()  # where no member tells anything, the intercept alone does
        self.members_ = [part.member for part, is_in in zip(bagged, counts, strict=True) if is_in]
        self.weights_ = {part.member.name: float(weight) for part, weight in zip(bagged, blend.weights, strict=True)}
        self._blend_weights, self._intercept = blend.weights[counts], blend.intercept
        self.objective_, self.residual_ = blend.objective, blend.residual
        self.n_iter_ = sum(len(part.member.models) for part in bagged)

    def _store_verdict(self, bagged: list[Bagged], verdict: _Verdict, prices: SettledCosts) -> None:
        found, judged, outcomes = verdict
        self.rule_, self.held_out_coverage_ = found.rule, found.coverage
        self.held_out_error_, self.constant_cost_ = found.error * prices.unit, found.constant * prices.unit
        self.held_out_costs_ = {BLEND: found.cost * prices.unit}
        if isinstance(found, ClassJudgement):
            self._band, self._rejector = found.region, None
            if hasattr(self, "thresholds_"):  # of an earlier fit to two classes
                delattr(self, "thresholds_")
            loss: Loss = log_loss_of_classes
            cost: Cost = chow_cost_of_classes
        else:
            self._band, self._rejector, self.thresholds_ = found.band, found.rejector, found.band.thresholds
            loss, cost = log_loss_of_outcomes, chow_cost
        self.held_out_log_loss_ = {BLEND: loss(judged.blend, outcomes)}
        for k, part in enumerate(bagged):
            scores = judged.members[:, k]
            self.held_out_costs_[part.member.name] = cost(scores, outcomes, prices.oriented) * prices.unit
            self.held_out_log_loss_[part.member.name] = loss(scores, outcomes)

    def _read(self, X: Any) -> Table:
        """New cases, checked, by their columns."""
        check_is_fitted(self, "members_")
        if list_columns(X):
            validate_data(self, X, reset=False, skip_check_array=True)
        else:
            X = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan")
        return Table.of(X, self._categorical_columns)

    def _see(self, table: Table) -> dict[str, Floats]:
        """What the members that count, and a learned rejector, see of new cases."""
        kinds = {member.view for member in self.members_} | ({CODES} if self._rejector else set())
        return {kind: self._views.view(kind, table).matrix for kind in kinds}

    def _member_log_odds(self, seen: dict[str, Floats]) -> Floats:
        """Log-odds of new cases by each member that counts."""
        with threadpool_limits(1, user_api="blas"):
            return np.stack([member.log_odds(seen[member.view]) for member in self.members_], axis=1)

    def _evaluate(self, X: Any) -> Evaluation:
        table = self._read(X)
        seen = self._see(table)
        members = self._member_log_odds(seen)
        odds = Blend(self._blend_weights, self._intercept, 0.0, 0.0).log_odds(members)
        if members.ndim == 3:
            p = softmax(odds, axis=1)
            details = _Details(p, softmax(members, axis=2), odds, seen, table.text)
            return replace(self._band.evaluate(p), detail=details)
        p = expit(odds)
        if self._rejector is None:
            ruled = self._band.evaluate(p)
            h, r = ruled.h, ruled.r
        else:
            h, r = self._rejector.evaluate(np.column_stack([seen[CODES], odds]))
        return Evaluation(h, r, detail=_Details(p, expit(members), odds, seen, table.text))

    def _stated_thresholds(self) -> StatedThresholds | None:
        if self._rejector is not None:
            return None
        if not isinstance(self._band, Band):
            return stated_region(self._band, self.costs_)
        return stated_band(self._band, self.classes_, self.pos_label_, "probability")

    def _reasons(self, evaluation: Evaluation) -> list[str]:
        details, accepted = evaluation.detail, evaluation.accepted
        if not isinstance(self._band, Band):
            said = multiclass_reasons(evaluation, self._band, self.classes_, self.costs_)
        elif self._rejector is None:
            said = band_reasons(details.p, accepted, self._band, self.classes_, self.pos_label_, "probability")
        else:
            said = self._learned_reasons(self._rejector, details, accepted)
        return said

    def _remarks(self, evaluation: Evaluation) -> list[str]:
        """Where the members disagree."""
        if evaluation.h.ndim == 2:
            forced = evaluation.forced()[:, None, None]
            of_forced = np.take_along_axis(evaluation.detail.members, forced, axis=2)[:, :, 0]
            return disagreement(evaluation.accepted, of_forced, self._blend_weights)
        members = from_positive_side(evaluation.detail.members, bool(self.pos_label_ == self.classes_[0]))
        return disagreement(evaluation.accepted, members, self._blend_weights)

    def _learned_reasons(self, rejector: StartedPair, details: _Details, accepted: Flags) -> list[str]:
        """What the rejector makes of the blend and of the columns."""
        columns, names = self._sources[CODES].columns.tolist(), self._names_by_case(details)

        def names_in_view(case: int) -> list[str]:
            said = names(case)
            return [said[column] for column in columns]

        X = np.column_stack([details.seen[CODES], details.odds])
        p = from_positive_side(details.p, bool(self.pos_label_ == self.classes_[0]))
        return learned_reasons(rejector, X, p, repr(to_python(self.pos_label_)), accepted, names_in_view)

    def _contributions(self, X: Any) -> Contributions | None:
        """What each column adds to the log-odds of the blend: by each member, weighted as it is blended."""
        seen, total = self._see(self._read(X)), float(self._blend_weights.sum())
        if self._typical is None or total == 0:
            return None  # as with three or more classes
        odds = self._member_log_odds(seen) @ self._blend_weights + self._intercept
        with threadpool_limits(1, user_api="blas"):
            found = blended(self.members_, self._blend_weights, seen, self._sources, self._background)
        amounts = found.amounts - self._typical
        return replace(found, amounts=amounts, base=odds - amounts.sum(axis=1))

    def _names_by_case(self, details: _Details) -> CaseNames:
        """Names of the columns, of categories with the value that a case has."""
        columns = np.flatnonzero(self._categorical_columns)
        return names_by_case(feature_names(self), columns, details.categories)

    @property
    def _sources(self) -> dict[str, Sources]:
        return view_sources(self._views, self._categorical_columns)

    @property
    def shares_(self) -> dict[str, float]:
        """Share of each member that counts in the weight of all, by its title, the greatest first."""
        check_is_fitted(self, "members_")
        total = float(self._blend_weights.sum()) or 1.0
        found = {member.title: float(w) / total for member, w in zip(self.members_, self._blend_weights, strict=True)}
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of the blend, also for rejected cases."""
        p = self._evaluate(X).detail.p
        return p if p.ndim == 2 else np.column_stack([1 - p, p])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True  # in frames
        tags.input_tags.categorical = True
        return tags


class _Verdict(NamedTuple):
    """The rule and its figures, the probabilities of the judged cases, and what these turned out to be."""

    judgement: Judgement | ClassJudgement
    judged: Probabilities | ClassProbabilities
    outcomes: Outcomes


class _Details(NamedTuple):
    """What is known of new cases besides the decision.

    Attributes
    ----------
    p : ndarray of shape (n,), or (n, n_classes)
        Probabilities by the blend.
    members : ndarray of shape (n, n_members), or (n, n_members, n_classes)
        Those by each member that counts.
    odds : ndarray of shape (n,), or (n, n_classes)
        Log-odds by the blend; of three or more classes log-probabilities.
    seen : dict of ndarray
        The views of the cases.
    categories : ndarray of str of shape (n, n_categories)
        The columns that hold categories.
    """

    p: Floats
    members: Floats
    odds: Floats
    seen: dict[str, Floats]
    categories: NDArray[Any]


def _matrices(views: Mapping[str, View]) -> dict[str, Floats]:
    return {kind: view.matrix for kind, view in views.items()}


def _rejector_seconds(matrix: Floats) -> float:
    """What learning a rejector takes, roughly."""
    return _REJECTOR_SECONDS[0] + _REJECTOR_SECONDS[1] * 1e-6 * matrix.size


def _seed(random_state: Any) -> int:
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
