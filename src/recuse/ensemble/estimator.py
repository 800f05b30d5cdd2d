"""EnsembleRejectClassifier: many kinds of models, one calibrated probability, and the cheapest answer to it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils.validation import check_is_fitted, check_random_state
from threadpoolctl import threadpool_limits

from ..arrays import Flags, Floats, Indices
from ..base import RejectOptionMixin, SettledCosts, require_two_classes
from ..calibration import log_loss
from ..costs import Costs
from ..decisions import Evaluation, StatedThresholds
from ..folds import DEFAULT_FOLDS, Fold, check_groups, make_folds
from ..labels import to_python
from ..parameters import check_choice, check_number, check_weights
from ..thresholds.reasons import band_reasons, stated_band
from ..validation import check_training_data, store_columns, validate_data
from .bagging import Bagged, Outcomes
from .blending import Blend, greedy, stack
from .features import CODES, Table, TableViews, find_categories, list_columns
from .fitting import Progress, Schedule, fit_members
from .judging import BLEND, RULES, Judgement, Unseen, blend_honestly, chow_cost, gains, judge
from .reasons import add_disagreement, from_positive_side
from .roster import EFFORTS, MEDIUM, Member, choose_members

BLENDS = ("stacking", "greedy")

_SHRINKAGE = 10.0  # of the weights towards equal ones: how many cases' worth of log loss an excess of 1 costs
_NEGLIGIBLE = 0.02  # members with a smaller share of the weight are left out


class EnsembleRejectClassifier(RejectOptionMixin, BaseEstimator):
    """Ensemble of many kinds of models that decides at your prices.

    Each member is fitted on the training part of every fold and scores the rest; the models of the folds are kept and
    answer together. The out-of-fold log-odds of the members are blended with weights that are never negative,

        log-odds = b + sum_k w_k z_k,    minimising the log loss + strength sum_k (w_k - mean(w))^2,   w >= 0,

    and Chow's rule at the prices answers or rejects on the blended probability, which itself does not depend on them.

    Parameters
    ----------
    members : list, optional
        Names in the roster (see `recuse.ensemble.ROSTER`), or (name, classifier) pairs of your own, or both. By
        default those that `effort` asks for and that are installed.
    costs : Costs or float, default=0.2
        Prices; a float d means ``Costs(fp=1, fn=1, reject=d)``.
    effort : {"quick", "medium", "best"}, default="medium"
        How many members take part.
    time_limit : float, optional
        Seconds for the fit. Members are fitted in the order of the roster, the cheap ones first; one that is not
        expected to be done in time is left out, and `left_out_` says so. The first member is always fitted, and a fit
        in progress is not cut off.
    blend : {"stacking", "greedy"}, default="stacking"
        Weights by the formula above, or by greedy forward selection of members, with repetition, by log loss.
    rule : {"auto", "chow", "tuned"}, default="auto"
        Thresholds that the prices imply, or tuned ones (see `ThresholdRejectClassifier`). "auto" takes the tuned ones
        if they are cheaper on held-out cases by more than two standard errors.
    cv : int, splitter or iterable, optional
        Folds; 5 by default, fewer where a class has fewer cases. Folds given by their number are stratified and
        shuffled, and keep the `groups` of `fit` together. No case may be in two test folds. Where folds leave cases out
        of every training part, as folds over time do, every member is fitted once more, on all cases, and this fit is
        what answers.
    categorical_features : "from_dtype" or list, default="from_dtype"
        Columns that hold categories: names or positions. By default those of a frame that hold text, categories or
        truth values.
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
        Mean price of the held-out cases under Chow's rule: of every member, and of the blend (its weights fitted
        without the fold that is judged).
    held_out_log_loss_ : dict of str to float
        The same for the log loss.
    held_out_coverage_ : float
        Share of the held-out cases that the blend answers.
    gains_ : dict of str to float
        What each member adds: how much greater the log loss of the held-out cases is when it is left out and the others
        are blended without it.
    shares_ : dict of str to float
        Share of each member that counts in the weight of all, by its title.
    left_out_ : dict of str to str
        Members that were not fitted, or failed, and why.
    rule_ : str
        "chow" or "tuned".
    thresholds_ : tuple of float
        Probabilities of ``classes_[1]`` between the two are rejected.
    objective_, residual_ : float
        What the weights minimise, and the largest violation of its optimality conditions.
    n_iter_ : int
        Models fitted.
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
        members = self._members()
        X, y = self._check_cases(X, y)
        labels, codes = self._settle_labels(y)
        require_two_classes(labels.classes)
        prices = self._settle_costs(labels.classes)
        outcomes = Outcomes(codes, check_weights(sample_weight, len(codes)))
        seed = _seed(self.random_state)
        folds = self._folds(X, codes, check_groups(groups, len(codes)), seed)
        categorical = self._categorical(X)
        table = Table.of(X, categorical)
        views = TableViews().fit(table)
        schedule = Schedule(self.time_limit, self.n_jobs, seed, self.progress)
        # A member that stops early is a weaker member, and the weights of the blend see to that.
        with warnings.catch_warnings(action="ignore"), threadpool_limits(1, user_api="blas"):
            seen = {kind: views.view(kind, table) for kind in {member.view for member in members}}
            bagged, left_out = fit_members(members, seen, outcomes, folds, schedule)
            held_out = self._hold_out(bagged, outcomes, folds)
            blend = self._combine(held_out.members, held_out.outcomes)
            judged = judge(blend_honestly(held_out, self._combine), held_out, prices.oriented, self.rule)
            added = gains(held_out, blend, self._combine)
        # Nothing was stored so far, and nothing below fails: a failed fit leaves the estimator as it was.
        store_columns(self, X)
        self._store_labels(labels)
        self._store_costs(prices)
        self._views, self._categorical_columns, self.left_out_ = views, categorical, left_out
        self._store_blend(bagged, blend)
        self._store_judgement(bagged, held_out, judged, prices)
        self.gains_ = {part.member.name: gain for part, gain in zip(bagged, added, strict=True)}
        if judged.coverage == 0:
            self._warn_all_rejected()
        return self

    def _check_parameters(self) -> None:
        check_choice("effort", self.effort, EFFORTS)
        check_choice("blend", self.blend, BLENDS)
        check_choice("rule", self.rule, RULES)
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit, 0.0, strict=True, remedy="Give seconds, or None for no limit.")

    def _members(self) -> list[Member]:
        if self.members is None:
            return choose_members(self.effort)
        if isinstance(self.members, str) or len(self.members) == 0:
            raise ValueError(f"members must be a list of names or (name, classifier) pairs; got {self.members!r}.")
        found = [choose_members(self.effort, [m])[0] if isinstance(m, str) else _own_member(m) for m in self.members]
        names = [member.name for member in found]
        if len(set(names)) < len(names):
            raise ValueError(f"members must have different names; got {names}.")
        return found

    def _check_cases(self, X: Any, y: Any) -> Any:
        """The cases as a frame or an array of numbers, and their labels."""
        if list_columns(X):
            X, y = check_training_data(self, X, y, skip_check_array=True)
            if len(y) == 0:
                raise ValueError("X and y are empty: Found array with 0 sample(s) while a minimum of 1 is required.")
            return X, y
        return check_training_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")

    def _folds(self, X: Any, codes: Indices, groups: Indices | None, seed: int) -> list[Fold]:
        """Folds in which every training part holds both classes."""
        cv = self.cv
        if cv is None:
            smaller = int(np.bincount(codes).min())
            if smaller < 2:
                raise ValueError("y holds one case of a class only: an ensemble needs two cases of each class or more.")
            cv = min(DEFAULT_FOLDS, smaller)
        folds = make_folds(cv, codes, X=X, groups=groups, random_state=seed)
        if any(len(np.unique(codes[train])) < 2 for train, _ in folds):
            raise ValueError(f"cv={self.cv!r} leaves a fold without one of the classes: use fewer or stratified folds.")
        tested = np.concatenate([test for _, test in folds])
        if len(np.unique(tested)) < len(tested):
            raise ValueError(f"cv={self.cv!r} must put no case into more than one test fold.")
        return folds

    def _categorical(self, X: Any) -> Flags:
        if isinstance(self.categorical_features, str) and self.categorical_features == "from_dtype":
            return find_categories(X)
        names = [to_python(name) for name in getattr(X, "columns", range(np.shape(X)[1]))]
        wanted = [to_python(name) for name in self.categorical_features or ()]
        unknown = [name for name in wanted if name not in names]
        if unknown:
            raise ValueError(f"categorical_features names {unknown[0]!r}, which is no column of X.")
        return np.array([name in wanted for name in names], dtype=bool)

    def _hold_out(self, bagged: list[Bagged], outcomes: Outcomes, folds: list[Fold]) -> Unseen:
        """The cases that every member scored without having seen them."""
        members = np.column_stack([part.held_out for part in bagged])
        rows = np.flatnonzero(~np.isnan(members).any(axis=1))
        return Unseen(members[rows], outcomes.take(rows), [np.searchsorted(rows, test) for _, test in folds])

    def _combine(self, members: Floats, outcomes: Outcomes) -> Blend:
        if self.blend == "greedy":
            return greedy(members, outcomes.positive, outcomes.weights)
        strength = _SHRINKAGE / float(outcomes.weights.sum())
        return stack(members, outcomes.positive, outcomes.weights, strength=strength)

    def _store_blend(self, bagged: list[Bagged], blend: Blend) -> None:
        counts = blend.weights > _NEGLIGIBLE * blend.weights.sum()
        counts[0] |= not counts.any()  # where no member tells anything, the intercept alone does
        self.members_ = [part.member for part, is_in in zip(bagged, counts, strict=True) if is_in]
        self.weights_ = {
            part.member.name: float(weight) if is_in else 0.0
            for part, weight, is_in in zip(bagged, blend.weights, counts, strict=True)
        }
        self._blend_weights, self._intercept = blend.weights[counts], blend.intercept
        self.objective_, self.residual_ = blend.objective, blend.residual
        self.n_iter_ = sum(len(part.member.models) for part in bagged)

    def _store_judgement(self, bagged: list[Bagged], held_out: Unseen, judged: Judgement, prices: SettledCosts) -> None:
        self._band, self.rule_, self.thresholds_ = judged.band, judged.rule, judged.band.thresholds
        self.held_out_coverage_ = judged.coverage
        self.held_out_costs_ = {BLEND: judged.cost * prices.unit}
        self.held_out_log_loss_ = {BLEND: judged.log_loss}
        for part, odds in zip(bagged, held_out.members.T, strict=True):
            p, outcomes = expit(odds), held_out.outcomes
            self.held_out_costs_[part.member.name] = chow_cost(p, outcomes, prices.oriented) * prices.unit
            self.held_out_log_loss_[part.member.name] = log_loss(p, outcomes.positive, outcomes.weights)

    def _member_log_odds(self, X: Any) -> Floats:
        """Log-odds of new cases by each member that counts."""
        check_is_fitted(self, "members_")
        if list_columns(X):
            validate_data(self, X, reset=False, skip_check_array=True)
        else:
            X = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan")
        table, seen = Table.of(X, self._categorical_columns), {}
        for kind in {member.view for member in self.members_}:
            seen[kind] = self._views.view(kind, table).matrix
        with threadpool_limits(1, user_api="blas"):
            return np.column_stack([member.log_odds(seen[member.view]) for member in self.members_])

    def _evaluate(self, X: Any) -> Evaluation:
        members = self._member_log_odds(X)
        p = expit(members @ self._blend_weights + self._intercept)
        evaluation = self._band.evaluate(p)
        return Evaluation(evaluation.h, evaluation.r, detail=(p, expit(members)))

    def _stated_thresholds(self) -> StatedThresholds:
        return stated_band(self._band, self.classes_, self.pos_label_, "probability")

    def _reasons(self, evaluation: Evaluation) -> list[str]:
        p, members = evaluation.detail
        accepted = evaluation.accepted
        sentences = band_reasons(p, accepted, self._band, self.classes_, self.pos_label_, "probability")
        flipped = bool(self.pos_label_ == self.classes_[0])
        return add_disagreement(sentences, accepted, from_positive_side(members, flipped), self._blend_weights)

    @property
    def shares_(self) -> dict[str, float]:
        """Share of each member that counts in the weight of all, by its title, the greatest first."""
        check_is_fitted(self, "members_")
        total = float(self._blend_weights.sum()) or 1.0
        found = {member.title: float(w) / total for member, w in zip(self.members_, self._blend_weights, strict=True)}
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of the blend, also for rejected cases."""
        p, _ = self._evaluate(X).detail
        return np.column_stack([1 - p, p])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _own_member(given: Any) -> Member:
    """A member of the user's own: a (name, classifier) pair; it gets numbers as they are, and codes of categories."""
    try:
        name, classifier = given
    except (TypeError, ValueError):
        raise TypeError(f"members must hold names or (name, classifier) pairs; got {given!r}.") from None
    if not isinstance(name, str) or not hasattr(classifier, "get_params") or not is_classifier(classifier):
        raise TypeError(f"members must hold names or (name, classifier) pairs; got {given!r}.")
    if not (hasattr(classifier, "predict_proba") or hasattr(classifier, "decision_function")):
        raise TypeError(f"members: {name!r} has neither predict_proba nor decision_function: no score to blend.")
    return Member(name, name, CODES, lambda _: clone(classifier))


def _seed(random_state: Any) -> int:
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
