"""GuaranteedRejectClassifier: promises about the answers of any reject-option classifier."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import (
    _safe_indexing,  # documented in scikit-learn's reference, despite the underscore
    get_tags,
)
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, indexable

from ..arrays import Flags, Floats, Indices
from ..base import RejectOptionMixin
from ..decisions import Decisions, Evaluation
from ..explaining import Contributions, ShownColumns, TypicalCases, explain
from ..folds import make_folds
from ..labels import encode, preview
from ..locating import decide, locate, novelties_found, steps_before
from ..parameters import check_count, check_share, check_weights
from ..rounding import on_threshold
from ..routing import routing_enabled, take_params, weight_params
from ..validation import check_labels, require_given, require_in_memory, store_columns
from .promises import as_promises, check_promises
from .record import Guarantee, warn_of_no_guarantee
from .risks import TrueOutcomes
from .sequence import Seen, promise
from .splitting import split_rows
from .terms import PromiseTerms

# A case that the classifier rejects at its prices stays rejected: its acceptance score must exceed 0 at least.
_OWN_THRESHOLD = 0.0
_NOTHING_PROMISED = "rejected because nothing could be promised of answers"
_REJECTS_ALL = "rejects every training case"


class _Rows(NamedTuple):
    """Cases given to `fit`, checked."""

    X: Any
    y: NDArray[Any]
    params: Mapping[str, Any]
    terms: PromiseTerms

    def take(self, rows: Indices) -> _Rows:
        X = _safe_indexing(self.X, rows)
        return _Rows(X, self.y[rows], take_params(self.params, rows, len(self.y)), self.terms.take(rows))


class GuaranteedRejectClassifier(MetaEstimatorMixin, RejectOptionMixin, BaseEstimator):
    """A promise about the answers of any reject-option classifier.

    The classifier is fitted unchanged, on part of the cases. On the others its acceptance score r is raised to a
    threshold, and only cases above it are accepted, so that with probability `confidence` every promise holds for new
    cases. What the classifier rejects at its prices stays rejected; a promise can only reject more.

    Parameters
    ----------
    estimator : reject-option classifier, or a Pipeline or search that ends in one
        It is cloned. Pass a fitted model as ``FrozenEstimator(model)``: it is used as it is, and the cases given to
        `fit`, which it must not have seen, place and test the threshold.
    guarantee : float, str, Promise or list, default=0.05
        What is promised of the accepted cases: the largest error rate as a number, a text such as "error<=0.02" or
        "cost<=0.1, misses<=0.05", `recuse.guarantees.Promise`, or several of them.
    confidence : float in (0, 1), default=0.95
        Of all promises together, over the drawing of the calibration cases.
    calibration_size : float in (0, 1), default=0.3
        Share of the cases held out of the fit, which test the threshold. All of them when `estimator` is frozen, where
        a fifth only chooses which thresholds are tested.
    shift_bound : float, optional
        Largest possible value of the `shift_weights` of `fit`; by default the largest one given.
    placing_folds : int, default=5
        Folds of the fitting part, on whose out-of-fold answers the sequence of thresholds is placed.
    on_reject : {"label", "raise", "never"}, default="label"
        `predict` gives the label, raises `RejectedSamplesError`, or gives the class it would choose if forced.
    random_state : int, RandomState or None, default=0
        Chooses the cases held out. Fitting again with other values until a promise is shown makes the confidence
        meaningless: see the page on guarantees.

    Attributes
    ----------
    estimator_ : classifier
        The fitted clone.
    threshold_ : float
        Cases are accepted whose acceptance score, in `estimator_`, is greater; infinite where nothing is promised.
    guarantee_ : Guarantee
        What is promised, and what showed it.
    n_iter_ : int
        Number of fits of the classifier.
    classes_, reject_label_, costs_, pos_label_
        Those of the classifier inside.
    n_features_in_, feature_names_in_
        As in every reject-option classifier.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from recuse import AbstentionBoostingClassifier, GuaranteedRejectClassifier
    >>> X, y = make_classification(3000, flip_y=0.02, random_state=0)
    >>> inner = AbstentionBoostingClassifier(family="chow", costs=0.2, bags=1, n_rounds=50)
    >>> model = GuaranteedRejectClassifier(inner, guarantee="error<=0.05").fit(X[:2000], y[:2000])
    >>> model.guarantee_.holds
    True
    >>> answers = model.decide(X[2000:])
    >>> bool((answers.forced != y[2000:])[answers.accepted].mean() <= 0.05)
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        guarantee: Any = 0.05,
        confidence: float = 0.95,
        calibration_size: float = 0.3,
        shift_bound: float | None = None,
        placing_folds: int = 5,
        on_reject: str = "label",
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.guarantee = guarantee
        self.confidence = confidence
        self.calibration_size = calibration_size
        self.shift_bound = shift_bound
        self.placing_folds = placing_folds
        self.on_reject = on_reject
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        promise_groups: Any = None,
        shift_weights: Any = None,
        **fit_params: Any,
    ) -> GuaranteedRejectClassifier:
        """Fit the classifier and certify a threshold. A fit that fails leaves the estimator as it was.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Cases, in any form the estimator takes. They must be independent of each other: one case per patient.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each case in the fit of the estimator. The promise counts every case once, whatever its weight,
            but those of weight 0, which are absent.
        promise_groups : array-like of shape (n_samples,), optional
            A group of each case, such as its region: what is promised holds in every group.
        shift_weights : array-like of shape (n_samples,), optional
            How much more often such a case occurs where the model will be used than among these cases, up to a factor:
            what is promised holds there. The fit of the estimator does not see them.
        **fit_params
            Passed to the `fit` of the estimator; arrays with one value per case are split with the cases.

        Returns
        -------
        self
        """
        self._check_parameters()
        terms = PromiseTerms.of(promise_groups, shift_weights, self.shift_bound)
        rows = self._check_rows(X, y, sample_weight, terms, fit_params)
        return self._fit(rows, len(rows.y))

    def _fit_with_part(self, X: Any, y: Any, promise_groups: Any, n_rows: int) -> GuaranteedRejectClassifier:
        """`fit` with what was held out of `n_rows` rows: those are the rows that the hint speaks of."""
        self._check_parameters()
        terms = PromiseTerms.of(promise_groups, None, self.shift_bound)
        return self._fit(self._check_rows(X, y, None, terms, {}), n_rows)

    def _fit(self, rows: _Rows, n_rows: int) -> GuaranteedRejectClassifier:
        frozen = isinstance(self.estimator, FrozenEstimator)
        split = split_rows(len(rows.y), self.calibration_size, fitted=frozen, random_state=self.random_state)
        fitting = rows.take(split.fitting)
        fitted = _fit_quietly(self.estimator, fitting)
        classifier = self._classifier_in(fitted)
        codes = _known_codes(rows.y, classifier.classes_)
        outcomes = TrueOutcomes(codes, classifier.costs_, classifier.pos_label_, classifier.classes_)
        check_promises(as_promises(self.guarantee), len(classifier.classes_))
        folds = [] if frozen else self._folds(fitting.y)
        placing = self._placing(fitted, fitting, folds)
        placing = _Evaluated(split.fitting[placing.rows], placing.evaluation).drawn(rows.terms, self.random_state)
        testing = rows.terms.drawn(split.testing, self.random_state)
        tested = _Evaluated(testing, _evaluate(fitted, _safe_indexing(rows.X, testing)))
        shown = promise(
            as_promises(self.guarantee),
            self.confidence,
            placing.seen(outcomes, rows.terms),
            tested.seen(outcomes, rows.terms),
            lambda threshold: _raised(tested.evaluation.r, threshold) > 0,
            _OWN_THRESHOLD,
            n_rows,
        )
        # Nothing was stored so far, and nothing below fails: a failed fit leaves the estimator as it was.
        store_columns(self, rows.X)
        before = int(tested.evaluation.accepted.sum())
        shown = replace(shown, shifted=rows.terms.shift is not None, n_before=before)
        self._store(fitted, classifier, shown, 1 + len(folds))
        self._warn(tested.evaluation.accepted)
        return self

    def _check_parameters(self) -> None:
        if isinstance(self.estimator, type) or not hasattr(self.estimator, "fit") or not is_classifier(self.estimator):
            raise TypeError(
                f"estimator must be a reject-option classifier such as DoubleHingeSVC(); got {self.estimator!r}."
            )
        as_promises(self.guarantee)
        check_share("confidence", self.confidence)
        check_share("calibration_size", self.calibration_size)
        check_count("placing_folds", self.placing_folds, least=2)
        self._check_on_reject()

    def _check_rows(
        self, X: Any, y: Any, sample_weight: Any, terms: PromiseTerms, fit_params: Mapping[str, Any]
    ) -> _Rows:
        require_given(self, y)
        X, y = indexable(X, check_labels(y))
        weights = check_weights(sample_weight, len(y))
        if routing_enabled():
            given = None if sample_weight is None else weights
            params = process_routing(self, "fit", sample_weight=given, **fit_params).estimator.fit
        else:
            params = {**fit_params, **weight_params(self.estimator, weights)}
        rows = _Rows(X, y, params, terms.checked(len(y)))
        return rows if weights.all() else rows.take(np.flatnonzero(weights))

    def get_metadata_routing(self) -> MetadataRouter:
        """What goes where, for scikit-learn's metadata routing."""
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self.estimator, method_mapping=to_fit)

    def _classifier_in(self, fitted: Any) -> Any:
        """The reject-option classifier inside the fitted estimator."""
        classifier, _ = locate(fitted)
        if not isinstance(classifier, RejectOptionMixin):
            raise TypeError(f"estimator={type(classifier).__name__} must be built on recuse.base.RejectOptionMixin.")
        return classifier

    def _folds(self, y: NDArray[Any]) -> list[Any]:
        """Folds of the fitting part: fewer where a class has fewer cases, none where one has a single case."""
        least = int(np.unique(y, return_counts=True)[1].min())
        n_folds = min(self.placing_folds, least)
        return make_folds(n_folds, y, random_state=self.random_state) if n_folds > 1 else []

    def _placing(self, fitted: Any, fitting: _Rows, folds: list[Any]) -> _Evaluated:
        """Answers to the fitting part by models that did not see them; by the model itself where there are no folds."""
        if not folds:
            return _Evaluated(np.arange(len(fitting.y)), _evaluate(fitted, fitting.X))
        parts = []
        for train, test in folds:
            model = _fit_quietly(self.estimator, fitting.take(train))
            parts.append(_evaluate(model, _safe_indexing(fitting.X, test)))
        tested = np.concatenate([test for _, test in folds])
        return _Evaluated(tested, Evaluation(*(np.concatenate([getattr(p, name) for p in parts]) for name in "hr")))

    def _store(self, fitted: Any, classifier: Any, shown: Guarantee, n_fits: int) -> None:
        self.estimator_ = fitted
        self._store_labels(classifier._labels)
        self.costs_, self.pos_label_ = classifier.costs_, classifier.pos_label_
        self.guarantee_ = shown
        self.threshold_ = shown.threshold
        self.n_iter_ = n_fits

    def _warn(self, accepted_before: Flags) -> None:
        """Warn where every case is rejected, by the classifier itself or for want of a guarantee."""
        if self.guarantee_.holds:
            return
        if accepted_before.any():
            warn_of_no_guarantee(self, self.guarantee_)
        else:
            self._warn_all_rejected()

    @property
    def _model(self) -> Any:
        """The fitted model itself, also where it was frozen."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.estimator if isinstance(self.estimator_, FrozenEstimator) else self.estimator_

    @property
    def classifier_(self) -> Any:
        """The fitted reject-option classifier inside, which knows of no promise."""
        return locate(self._model)[0]

    def as_pipeline(self) -> Any:
        """The same answers from a Pipeline with the promise in its last step, where the fitted model is a Pipeline.

        Returns
        -------
        Pipeline or GuaranteedRejectClassifier
            The model itself where there is no Pipeline inside.
        """
        model = self._model
        if not isinstance(model, Pipeline):
            return self
        name, classifier = model.steps[-1]
        last = copy(self)
        last.estimator = last.estimator_ = FrozenEstimator(classifier)
        for known in ("n_features_in_", "feature_names_in_"):
            if hasattr(last, known):
                delattr(last, known)
            if hasattr(classifier, known):
                setattr(last, known, getattr(classifier, known))
        return Pipeline([*model.steps[:-1], (name, last)])

    def _evaluate(self, X: Any) -> Evaluation:
        model = self._model
        require_in_memory(self, X)
        inner = _evaluate(model, X)
        return Evaluation(inner.h, _raised(inner.r, self.threshold_), inner.novel, detail=inner)

    def _reasons(self, evaluation: Evaluation) -> list[str]:
        inner = evaluation.detail
        texts = [self._without_promise(text) for text in self.classifier_._reasons(inner)]
        turned = inner.accepted & ~evaluation.accepted
        return [self._more_wanted(r) if t else text for text, r, t in zip(texts, inner.r, turned, strict=True)]

    def _more_wanted(self, r: float) -> str:
        """Why a case is rejected that the classifier itself would answer."""
        if np.isinf(self.threshold_):
            return _NOTHING_PROMISED
        return (
            f"rejected because the promise needs more certainty: acceptance score {r:.3g}, not above "
            f"{self.threshold_:.3g}"
        )

    def _without_promise(self, reason: str) -> str:
        """Why a case is rejected that the classifier rejects itself: where nothing is promised, that comes first."""
        return f"{_NOTHING_PROMISED}; and {reason}" if np.isinf(self.threshold_) else reason

    def decide(self, X: Any, *, reasons: bool | str = True) -> Decisions:
        """Answer each case with its kind, its scores and a sentence that says why; see `recuse.decide`."""
        model = self._model
        require_in_memory(self, X)
        return self._withheld(decide(model, X, reasons=reasons))

    def _decide_shown(
        self, X: Any, reasons: bool | str, names: NDArray[Any] | None, columns: ShownColumns
    ) -> Decisions:
        model = self._model
        if steps_before(model):  # it names the columns that it is given itself
            return self.decide(X, reasons=reasons)
        return self._withheld(self.classifier_._decide_shown(X, reasons, names, columns))

    def _withheld(self, decisions: Decisions) -> Decisions:
        """The decisions, without the answers that are less certain than the promise needs."""
        r = _raised(decisions.r, self.threshold_)
        turned = np.flatnonzero(decisions.accepted & ~(r > 0))
        columns = {name: getattr(decisions, name).copy() for name in ("label", "accepted", "kind", "reason")}
        columns["label"][turned] = decisions.reject_label
        columns["accepted"][turned] = False
        columns["kind"][turned] = "ambiguity"
        if any(decisions.reason):  # else none were asked for
            columns["reason"] = np.array([self._without_promise(text) for text in columns["reason"]], dtype=object)
            columns["reason"][turned] = [self._more_wanted(before) for before in decisions.r[turned]]
        return replace(decisions, r=r, **columns)

    def _contributions(self, X: Any) -> Contributions | None:
        """What each column adds to the score of the classifier inside."""
        return explain(self._model, X, TypicalCases())

    @available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), "predict_proba"))
    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of the estimator inside, also for rejected cases."""
        check_is_fitted(self, "estimator_")
        probabilities: Floats = self.estimator_.predict_proba(X)
        return probabilities

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags


class _Evaluated(NamedTuple):
    """Cases, by their rows, and their scores."""

    rows: Indices
    evaluation: Evaluation

    def drawn(self, terms: PromiseTerms, random_state: Any) -> _Evaluated:
        """Those that are a sample of the population that the promise is for."""
        kept = np.isin(self.rows, terms.drawn(self.rows, random_state))
        return _Evaluated(self.rows[kept], Evaluation(self.evaluation.h[kept], self.evaluation.r[kept]))

    def seen(self, outcomes: TrueOutcomes, terms: PromiseTerms) -> Seen:
        """The same as a guarantee sees it."""
        answers = outcomes.answered(self.rows, self.evaluation.forced())
        return Seen(answers, self.evaluation.r, terms.take(self.rows).groups)


def _evaluate(model: Any, X: Any) -> Evaluation:
    """Scores of the reject-option classifier inside a fitted model, as `recuse.decide` uses them."""
    model = model.estimator if isinstance(model, FrozenEstimator) else model
    classifier, transformed = locate(model, X)
    evaluation: Evaluation = classifier._evaluate(transformed)
    found = novelties_found(model, X)
    if not found:
        return evaluation
    rows, r = np.array(list(found), dtype=np.intp), evaluation.r.copy()
    novel = np.zeros(len(r), dtype=bool) if evaluation.novel is None else evaluation.novel.copy()
    r[rows] = np.minimum(r[rows], [-distance for distance, _ in found.values()])
    novel[rows] = True
    return replace(evaluation, r=r, novel=novel)


def _raised(r: Floats, threshold: float) -> Floats:
    """Acceptance scores when only cases above the threshold are accepted; in the same order as before."""
    if np.isinf(threshold):
        with np.errstate(invalid="ignore"):
            return np.where(r > 0, -1 / (1 + np.maximum(r, 0)), np.minimum(r, 0) - 1)
    return r if threshold == _OWN_THRESHOLD else on_threshold(r, (threshold,)) - threshold


def _fit_quietly(estimator: Any, rows: _Rows) -> Any:
    """A fitted clone; that it rejects every training case is not worth a warning of its own."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", f".*{_REJECTS_ALL}", UserWarning)
        return clone(estimator).fit(rows.X, rows.y, **rows.params)


def _known_codes(y: NDArray[Any], classes: NDArray[Any]) -> Indices:
    """Class numbers; refuse labels that the fitted model does not know."""
    codes = encode(y, classes)
    if (codes < 0).any():
        unknown = preview(np.unique(y[codes < 0]))
        raise ValueError(
            f"estimator was fitted to the classes {preview(classes)}, and y has {unknown}, which "
            "it was not given: give cases of the same classes, enough of each for the part that is fitted to hold some."
        )
    return codes
