"""ThresholdRejectClassifier: a reject option around any classifier."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import check_cv, train_test_split
from sklearn.utils import (
    _safe_indexing,  # documented in scikit-learn's reference, despite the underscore
    check_random_state,
    get_tags,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    indexable,
    validate_data,
)

from ..arrays import Flags, Floats, Indices
from ..base import Evaluation, RejectOptionMixin, unchanged_on_failure
from ..costs import Costs
from ..labels import as_labels, require_known
from ..locating import stated_pos_label
from ..parameters import check_share, check_weights
from . import guarantee as binomial
from .reasons import band_reasons, detector_name, multiclass_reasons
from .rules import Band, Sample, chow_band, covering_threshold, neutral_band, symmetric_band, tuned_band
from .weighting import fit_params

_Positions: TypeAlias = Indices

# Fitted attributes that only some parameters give.
_SOMETIMES_FITTED = ("fold_thresholds_", "guarantee_", "novelty_", "threshold_spread_", "thresholds_")

RULES = ("chow", "tuned", "symmetric")

# Share of the calibration cases that only choose which thresholds are tested for a guarantee, and in which order.
_PLACING_SHARE = 0.25


class _Part(NamedTuple):
    """The cases that fit models and rule."""

    X: Any
    y: NDArray[Any]
    codes: Indices
    weights: Floats
    groups: NDArray[Any] | None


def _estimator_has(method: str) -> Callable[[Any], bool]:
    def check(self: Any) -> bool:
        return hasattr(getattr(self, "estimator_", self.estimator), method)

    return check


class ThresholdRejectClassifier(RejectOptionMixin, MetaEstimatorMixin, BaseEstimator):
    """Reject option around any classifier, by thresholds on its score.

    The classifier is fitted as it is; cases whose score falls between two thresholds are rejected. The thresholds
    minimise the expected cost

        fn P(score < t_minus, positive) + fp P(score > t_plus, negative) + price of the cases in between.

    Parameters
    ----------
    estimator : classifier
        Any scikit-learn classifier with `predict_proba` or `decision_function`. It is cloned, never fitted in
        place. A model that is fitted already goes in as ``FrozenEstimator(model)``: it is used as it is, and the
        cases given to `fit` only set the thresholds.
    costs : Costs or float, default=0.2
        Prices; a float d means ``Costs(fp=1, fn=1, reject=d)``. Those of a reject-option classifier inside `estimator`
        are not taken over: give them here as well.
    rule : {"chow", "tuned", "symmetric"}, default="chow"
        - "chow": the thresholds that the prices imply, on `predict_proba`. Optimal when the probabilities are right.
          No threshold is learned. Three or more classes: reject when the highest probability is below
          1 - reject price / error price.
        - "tuned": the two thresholds of least cost on cross-validated scores, over all cut points (the ROC rule).
          For scores that rank well but are not calibrated.
        - "symmetric": one threshold on the distance of the score from its neutral value (0, or probability 1/2), of
          least cost on cross-validated scores.
    coverage : float in (0, 1], optional
        Accept this share of cases, measured on cross-validated scores, in place of minimising the cost: the
        reject price no longer matters. Of the bands that accept at least this share, "tuned" takes the one with the
        cheapest errors; "chow" and "symmetric" move both thresholds until the share is reached.
    guarantee : float in (0, 1), optional
        Largest error rate on accepted cases. Part of the cases is held out of fitting, and the thresholds are moved
        until the error rate is at most this with probability `confidence`; accepted are as many cases as
        can be shown. The certificate is in `guarantee_`.
    confidence : float in (0, 1), default=0.95
        Confidence of the guarantee, over the drawing of the calibration cases.
    calibration_size : float in (0, 1), default=0.3
        Share of the cases held out for the guarantee; all of them when `estimator` is frozen.
    novelty : outlier detector, optional
        Rejects cases unlike all training cases, whatever the classifier says: IsolationForest, OneClassSVM,
        LocalOutlierFactor(novelty=True), a Pipeline that ends in one. It is cloned.
    cv : int, splitter or iterable, optional
        How scores are cross-validated for "tuned", "symmetric" and `coverage`; 5 stratified folds by default.
    pos_label : label, optional
        The positive class of the prices. By default the one that a reject-option classifier inside `estimator` names,
        through a Pipeline, a search or a calibration; else ``classes_[1]``.
    reject_label : label, default="auto"
        What `predict` gives for a rejected case: -1, 0 or "[abstain]", whichever fits the classes, or your own.
    on_reject : {"label", "raise", "never"}, default="label"
        `predict` gives the label, raises `RejectedSamplesError`, or gives the class it would choose if forced.
    n_jobs : int, optional
        Folds fitted at once.
    random_state : int or RandomState, optional
        Chooses the cases held out for the guarantee.

    Attributes
    ----------
    estimator_ : classifier
        The fitted clone.
    novelty_ : outlier detector
        The fitted clone, where `novelty` is given.
    thresholds_ : tuple of float
        Scores between the two are rejected (two classes only). One is infinite when its side is never answered.
    fold_thresholds_ : ndarray of shape (n_folds, 2)
        Where the rule would have put the thresholds on each fold alone: how far they can be trusted.
    threshold_spread_ : ndarray of shape (2,)
        Standard deviation of each threshold over the folds on which it is finite.
    objective_ : float
        Cost per case at the rule's thresholds (before a guarantee moves them): cross-validated where the rule
        learns from the cases, else on the training cases.
    n_iter_ : int
        Fits of the classifier: the folds, where scores are cross-validated, and one.
    residual_ : float
        0: the thresholds are exact.
    guarantee_ : Certificate
        What the calibration cases show, where `guarantee` is given.
    classes_, reject_label_, costs_, pos_label_, n_features_in_, feature_names_in_
        As in every reject-option classifier.

    References
    ----------
    C. K. Chow, "On optimum recognition error and reject tradeoff", 1970. F. Tortorella, "An optimal reject
    rule for binary classifiers", 2000.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from recuse import Costs, ThresholdRejectClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ThresholdRejectClassifier(
    ...     make_pipeline(StandardScaler(), LogisticRegression()), costs=Costs(fp=5, fn=1, reject=0.2)
    ... ).fit(X[:400], y[:400])
    >>> model.predict(X[400:410])
    array([ 0,  1,  1,  1,  1,  1, -1,  1,  0,  1])
    >>> model.decide(X[400:410])
    Decisions(10 cases: 9 accepted, 1 ambiguity, 0 novelty)
    """

    def __init__(
        self,
        estimator: Any,
        *,
        costs: Costs | float = 0.2,
        rule: str = "chow",
        coverage: float | None = None,
        guarantee: float | None = None,
        confidence: float = 0.95,
        calibration_size: float = 0.3,
        novelty: Any = None,
        cv: Any = None,
        pos_label: Any = None,
        reject_label: Any = "auto",
        on_reject: str = "label",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.costs = costs
        self.rule = rule
        self.coverage = coverage
        self.guarantee = guarantee
        self.confidence = confidence
        self.calibration_size = calibration_size
        self.novelty = novelty
        self.cv = cv
        self.pos_label = pos_label
        self.reject_label = reject_label
        self.on_reject = on_reject
        self.n_jobs = n_jobs
        self.random_state = random_state

    @unchanged_on_failure
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> ThresholdRejectClassifier:
        """Fit the classifier and set the thresholds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training cases, in any form the estimator takes.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each case, for the estimator, the detector and the thresholds.
        groups : array-like of shape (n_samples,), optional
            Cases that belong together, such as the visits of one patient, for a `cv` that keeps them together.

        Returns
        -------
        self
        """
        self._check_parameters()
        self._forget()
        X, y, weights, groups = self._check_data(X, y, sample_weight, groups)
        codes = self._fit_labels(y)
        # A share or a promise in place of a price: whether rejecting pays is not asked.
        must_pay = self.coverage is None and self.guarantee is None
        costs = self._fit_costs(must_pay=must_pay, inner_pos_label=stated_pos_label(self.estimator))
        self._check_rule_fits(weights, groups)
        fitting, placing, testing = self._split_rows(len(codes))
        self._fit_models(_rows(X, fitting), y[fitting], weights[fitting])
        part = _Part(_rows(X, fitting), y[fitting], codes[fitting], weights[fitting], groups)
        self._fit_rule(part, costs)
        if self.guarantee is not None:
            self._certify(_rows(X, placing), codes[placing], _rows(X, testing), codes[testing], n_rows=len(codes))
        self._publish_thresholds()
        return self

    def _forget(self) -> None:
        """Remove what an earlier fit with other parameters may have left."""
        for name in _SOMETIMES_FITTED:
            if hasattr(self, name):
                delattr(self, name)

    def _check_parameters(self) -> None:
        if isinstance(self.estimator, type) or not hasattr(self.estimator, "fit") or not is_classifier(self.estimator):
            raise TypeError(f"estimator must be a classifier such as LogisticRegression(); got {self.estimator!r}.")
        if self.rule not in RULES:
            raise ValueError(f"rule must be one of {', '.join(map(repr, RULES))}; got {self.rule!r}.")
        if self.novelty is not None and (not hasattr(self.novelty, "fit") or is_classifier(self.novelty)):
            raise TypeError(
                f"novelty must be an outlier detector such as IsolationForest() or None; got {self.novelty!r}."
            )
        if self.coverage is not None and self.guarantee is not None:
            raise ValueError("coverage and guarantee both set the thresholds: give one of them.")
        if self.coverage is not None:
            check_share("coverage", self.coverage, or_one=True)
        if self.guarantee is not None:
            check_share("guarantee", self.guarantee)
        check_share("confidence", self.confidence)
        check_share("calibration_size", self.calibration_size)
        if self.guarantee is not None and self._is_frozen() and not isinstance(self.novelty, FrozenEstimator | None):
            raise ValueError(
                "With a guarantee and a frozen estimator, all cases calibrate and none is left to fit "
                f"novelty={self.novelty!r}: fit it on other cases and pass FrozenEstimator(detector)."
            )

    def _check_data(
        self, X: Any, y: Any, sample_weight: Any, groups: Any
    ) -> tuple[Any, NDArray[Any], Floats, NDArray[Any] | None]:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        check_consistent_length(X, y, sample_weight, groups)
        y = as_labels(y)
        require_known(y)
        X, y = indexable(X, column_or_1d(y, warn=True))
        if len(y) == 0:
            raise ValueError("X and y are empty: Found array with 0 sample(s) while a minimum of 2 is required.")
        validate_data(self, X, skip_check_array=True)  # feature names and number; the estimator checks the values
        weights = check_weights(sample_weight, len(y))
        groups = None if groups is None else np.asarray(groups)
        present = np.flatnonzero(weights)
        explicit_folds = not (self.cv is None or isinstance(self.cv, numbers.Integral) or hasattr(self.cv, "split"))
        if len(present) == len(y) or explicit_folds:
            return X, y, weights, groups
        # A case of weight 0 is absent: it must not sit in a fold either.
        return _rows(X, present), y[present], weights[present], None if groups is None else groups[present]

    def _check_rule_fits(self, weights: Floats, groups: Any) -> None:
        """Refuse what the rule cannot do with this estimator, these classes or these weights."""
        name = type(self.estimator).__name__
        self._response = "predict_proba" if hasattr(self.estimator, "predict_proba") else "decision_function"
        if not hasattr(self.estimator, self._response):
            raise TypeError(f"estimator={name} has neither predict_proba nor decision_function: no score to cut.")
        if self.rule == "chow" and self._response != "predict_proba":
            raise TypeError(
                f"rule='chow' needs probabilities, and estimator={name} has no predict_proba: use rule='tuned', "
                f"or estimator=CalibratedClassifierCV({name}(...))."
            )
        if self.rule != "chow":
            self._require_two_classes(f"rule={self.rule!r} takes two; rule='chow' takes any number.")
        if self.guarantee is not None and np.ptp(weights) > 0:
            raise ValueError("guarantee counts cases and cannot weigh them: leave sample_weight out.")
        if self.guarantee is not None and groups is not None:
            raise ValueError("guarantee needs cases that are independent of each other: give one case of each group.")

    def _is_frozen(self) -> bool:
        return isinstance(self.estimator, FrozenEstimator)

    def _split_rows(self, n: int) -> tuple[_Positions, _Positions, _Positions]:
        """Rows that fit the models and the rule, that choose the candidate thresholds, and that test them."""
        rows = np.arange(n)
        if self.guarantee is None:
            return rows, rows[:0], rows[:0]
        calibration_share = 1.0 if self._is_frozen() else self.calibration_size
        fewest = binomial.smallest_sample(self.guarantee, self.confidence)
        n_testing = int(len(rows) * calibration_share * (1 - _PLACING_SHARE))
        if n_testing < fewest:
            enough = math.ceil(fewest / (calibration_share * (1 - _PLACING_SHARE))) + 1
            raise ValueError(
                f"guarantee={self.guarantee:g} at confidence={self.confidence:g} needs {fewest} accepted test cases "
                f"even if none is wrong, and {len(rows)} rows leave {n_testing}. At least {enough} rows would do; "
                "or raise guarantee, lower confidence, or raise calibration_size."
            )
        random = check_random_state(self.random_state)
        if self._is_frozen():
            fitting, calibration = rows[:0], rows
        else:
            # Not stratified: the test assumes cases drawn independently of each other.
            fitting, calibration = train_test_split(rows, test_size=self.calibration_size, random_state=random)
        testing, placing = train_test_split(calibration, test_size=_PLACING_SHARE, random_state=random)
        return (placing if self._is_frozen() else fitting), placing, testing

    def _fit_models(self, X: Any, y: NDArray[Any], weights: Floats) -> None:
        self.estimator_ = clone(self.estimator).fit(X, y, **fit_params(self.estimator, weights))
        self.n_iter_, self.residual_ = 1, 0.0
        known = getattr(self.estimator_, "classes_", self.classes_)
        if not np.array_equal(known, self.classes_):
            raise ValueError(
                f"estimator was fitted to the classes {known.tolist()}, but y has {self.classes_.tolist()}: "
                "give cases of the same classes, enough of each."
            )
        if self.novelty is None:
            return
        detector = clone(self.novelty)
        self.novelty_ = detector.fit(X, **fit_params(detector, weights, required=False))
        if not hasattr(self.novelty_, "decision_function"):
            raise TypeError(
                f"novelty={self.novelty!r} cannot score new cases: it has no decision_function. "
                "LocalOutlierFactor needs novelty=True."
            )

    def _fit_rule(self, part: _Part, costs: Costs) -> None:
        """Set `_band` (two classes) or `_bar` (more), cross-validating scores where the rule learns from them."""
        multiclass = len(self.classes_) > 2
        # With K classes a case is accepted when its highest probability exceeds 1 - reject price / error price.
        self._bar = 1 - costs.reject_negative / costs.fp
        self._band = None if multiclass else chow_band(costs)
        if self.rule == "chow" and self.coverage is None:
            scores = self._scores(self.estimator_, part.X)
        else:
            folds = list(check_cv(self.cv, part.y, classifier=True).split(part.X, part.y, part.groups))
            scores = self._cross_validated_scores(part, folds)
            self.n_iter_ += len(folds)
            if multiclass:
                self._bar = covering_threshold(scores.max(axis=1), part.weights, self.coverage or 1.0)
            else:
                self._learn_band(scores, part, folds, costs)
        answers = self._evaluation(scores).answers()
        prices = costs.matrix(len(self.classes_))[part.codes, answers]
        self.objective_ = float(np.average(prices, weights=part.weights))

    def _cross_validated_scores(self, part: _Part, folds: list[tuple[_Positions, _Positions]]) -> Floats:
        """Scores of each case by a model that was fitted without it."""
        tested = np.concatenate([test for _, test in folds])
        if not np.array_equal(np.sort(tested), np.arange(len(part.y))):
            raise ValueError(f"cv={self.cv!r} must put every case into exactly one test fold.")
        scored = Parallel(n_jobs=self.n_jobs)(delayed(self._fit_and_score)(part, train, test) for train, test in folds)
        return np.concatenate(scored)[np.argsort(tested)]

    def _fit_and_score(self, part: _Part, train: _Positions, test: _Positions) -> Floats:
        model = clone(self.estimator)
        model.fit(_rows(part.X, train), part.y[train], **fit_params(model, part.weights[train]))
        if not np.array_equal(getattr(model, "classes_", self.classes_), self.classes_):
            raise ValueError(f"cv={self.cv!r} leaves a fold without one of the classes: use fewer or stratified folds.")
        return self._scores(model, _rows(part.X, test))

    def _learn_band(
        self, scores: Floats, part: _Part, folds: list[tuple[_Positions, _Positions]], costs: Costs
    ) -> None:
        all_rows = np.arange(len(scores))
        self._band, *per_fold = (
            self._place_band(Sample.of(scores[rows], part.codes[rows] == 1, part.weights[rows]), costs)
            for rows in (all_rows, *(test for _, test in folds))
        )
        self.fold_thresholds_ = np.array([[band.lower, band.upper] for band in per_fold])
        # A threshold is infinite on a fold that never answers its side; the others still have a spread.
        finite = [column[np.isfinite(column)] for column in self.fold_thresholds_.T]
        self.threshold_spread_ = np.array([column.std() if len(column) else np.nan for column in finite])

    def _place_band(self, sample: Sample, costs: Costs) -> Band:
        """Apply the rule to scored cases."""
        if self.rule == "tuned":
            return tuned_band(sample, costs, self.coverage)[0]
        if self.rule == "symmetric":
            neutral = 0.5 if self._response == "predict_proba" else 0.0
            return symmetric_band(sample, costs, neutral, self.coverage)[0]
        band = neutral_band(costs)
        threshold = covering_threshold(band.confidence(sample.scores), sample.weights, self.coverage or 1.0)
        return band.moved_to(threshold)

    def _publish_thresholds(self) -> None:
        if self._band is not None:
            self.thresholds_ = (self._band.lower, self._band.upper)

    def _certify(self, X_placing: Any, y_placing: Indices, X_testing: Any, y_testing: Indices, n_rows: int) -> None:
        """Move the thresholds until the guarantee is shown on the test cases."""
        assert self.guarantee is not None
        level, confidence = self.guarantee, self.confidence
        placing, testing = self._evaluate(X_placing), self._evaluate(X_testing)
        thresholds = binomial.candidate_thresholds(
            self._confidence(placing), placing.forced() != y_placing, len(y_testing), level, confidence
        )
        inliers = True if testing.novel is None else ~testing.novel
        passed, failed = binomial.certify(
            lambda threshold: self._accepts(testing.detail, threshold) & inliers,
            testing.forced() != y_testing,
            thresholds,
            level,
            confidence,
        )
        if passed is None:
            raise ValueError(self._not_certified(failed, n_rows))
        self.guarantee_ = passed
        if self._band is None:
            self._bar = passed.threshold
        else:
            self._band = self._band.moved_to(passed.threshold)

    def _accepts(self, scores: Floats, threshold: float) -> Flags:
        """Which cases would be accepted if the thresholds were moved to this confidence."""
        if self._band is None:
            return scores.max(axis=1) > threshold
        return self._band.moved_to(threshold).acceptance(scores) > 0

    def _confidence(self, evaluation: Evaluation) -> Floats:
        """What the guarantee cuts: how sure the class is, with novelties out of reach of every threshold."""
        scores: Floats = evaluation.detail
        sure = scores.max(axis=1) if self._band is None else self._band.confidence(scores)
        return sure if evaluation.novel is None else np.where(evaluation.novel, -np.inf, sure)

    def _not_certified(self, failed: binomial.Certificate | None, n_rows: int) -> str:
        start = f"guarantee={self.guarantee:g} at confidence={self.confidence:g} cannot be shown"
        if failed is None or failed.n_accepted == 0:
            return f"{start}: every calibration case is rejected as a novelty."
        shown = f"{failed.n_errors} wrong among the {failed.n_accepted} surest test cases"
        rate = failed.n_errors / failed.n_accepted
        needed = binomial.rows_needed(failed.level, failed.confidence, rate)
        if math.isinf(needed):
            return f"{start}: {shown}. Raise guarantee, or use a better classifier: more cases would not help."
        rows = float(f"{n_rows * needed / failed.n_accepted:.1e}")
        return f"{start}: {shown}. If that rate is right, about {rows:.0f} rows would do; or raise guarantee."

    def _evaluate(self, X: Any) -> Evaluation:
        check_is_fitted(self, "estimator_")
        evaluation = self._evaluation(self._scores(self.estimator_, X))
        if not hasattr(self, "novelty_"):
            return evaluation
        # Detectors agree that a negative score marks an outlier.
        inlier_score = np.asarray(self.novelty_.decision_function(X), dtype=np.float64)
        novel = inlier_score < 0
        r = np.where(novel, np.minimum(evaluation.r, inlier_score), evaluation.r)
        return Evaluation(evaluation.h, r, novel, detail=evaluation.detail)

    def _evaluation(self, scores: Floats) -> Evaluation:
        """H and r of scored cases, leaving novelties aside."""
        if self._band is None:
            return Evaluation(scores, self.costs_.fp * (scores.max(axis=1) - self._bar), detail=scores)
        return Evaluation(scores - self._band.centre, self._band.acceptance(scores), detail=scores)

    def _scores(self, model: Any, X: Any) -> Floats:
        """Scores of a fitted model: one column, of the second class, where there are two."""
        scores = np.asarray(getattr(model, self._response)(X), dtype=np.float64)
        return scores[:, 1] if scores.ndim == 2 and scores.shape[1] == 2 else scores

    def _reasons(self, evaluation: Evaluation) -> list[str]:
        n = len(evaluation.r)
        if self._band is None:
            texts = multiclass_reasons(evaluation.detail, evaluation.accepted, self.classes_, self._bar)
        else:
            what = "probability" if self._response == "predict_proba" else "score"
            texts = band_reasons(
                evaluation.detail, evaluation.accepted, self._band, self.classes_, self.pos_label_, what
            )
        novel = np.zeros(n, dtype=bool) if evaluation.novel is None else evaluation.novel
        name = detector_name(getattr(self, "novelty_", None))
        return [
            f"unlike the training cases: {name} gives it {r:.3g}, below 0" if is_novel else text
            for text, r, is_novel in zip(texts, evaluation.r, novel, strict=True)
        ]

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of the wrapped classifier, also for rejected cases."""
        check_is_fitted(self, "estimator_")
        probabilities: Floats = self.estimator_.predict_proba(X)
        return probabilities

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.classifier_tags.multi_class = self.rule == "chow"
        return tags


def _rows(X: Any, positions: _Positions) -> Any:
    """Rows of a table of any kind; the table itself when all of them are wanted."""
    return X if len(positions) == _num_rows(X) else _safe_indexing(X, positions)


def _num_rows(X: Any) -> int:
    return X.shape[0] if hasattr(X, "shape") else len(X)
