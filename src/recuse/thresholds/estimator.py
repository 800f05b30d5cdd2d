"""ThresholdRejectClassifier: a reject option around any classifier."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, indexable

from ..arrays import Flags, Floats, Indices
from ..base import RejectOptionMixin, rejects_all
from ..calibration import check_calibration
from ..costs import Costs
from ..decisions import Evaluation, StatedThresholds
from ..explaining import Contributions, TypicalCases, explain
from ..folds import check_groups, make_folds
from ..guarantees.promises import as_promises, check_promises
from ..guarantees.record import Guarantee, warn_of_no_guarantee
from ..guarantees.risks import TrueOutcomes
from ..guarantees.sequence import Seen, promise
from ..guarantees.splitting import Split, split_rows
from ..guarantees.terms import PromiseTerms
from ..locating import stated_pos_label
from ..parameters import check_choice, check_number, check_share, check_weights
from ..routing import group_params, routing_enabled, weight_params
from ..validation import check_labels, require_given, require_in_memory, store_columns
from .bands import Band, RejectRegion
from .models import Models
from .placing import Placed, Placing
from .reasons import band_reasons, detector_name, multiclass_reasons, stated_band, stated_region
from .rules import EVERYTHING, RULES
from .scores import (
    PROBABILITIES,
    CrossValidation,
    GivenCases,
    HeldOut,
    find_response,
    fit_rows,
    in_double,
    require_scores,
    score,
    take_rows,
)


def _gives_probabilities(self: Any) -> bool:
    if self.calibration is not None or hasattr(self, "calibrator_"):
        return True
    return hasattr(getattr(self, "estimator_", self.estimator), PROBABILITIES)


class ThresholdRejectClassifier(RejectOptionMixin, MetaEstimatorMixin, BaseEstimator):
    """Reject option around any classifier, by thresholds on its score.

    The classifier is fitted unchanged; cases whose score falls between two thresholds are rejected. The thresholds
    minimise the expected cost

        fn P(score < t_minus, positive) + fp P(score > t_plus, negative) + price of the cases in between.

    Parameters
    ----------
    estimator : classifier
        Any scikit-learn classifier with `predict_proba` or `decision_function`. It is cloned, never fitted in
        place. Pass a model that is already fitted as ``FrozenEstimator(model)``: it is used as it is, and the cases
        given to `fit` only set the thresholds.
    costs : Costs or float, default=0.2
        Prices; a float d means ``Costs(fp=1, fn=1, reject=d)``. The prices of a reject-option classifier inside
        `estimator` are not used: give them here as well.
    rule : {"chow", "tuned", "symmetric"}, default="chow"
        - "chow": the thresholds that the prices imply, on `predict_proba`. Optimal when the probabilities are right.
          No threshold is learned. Three or more classes: the answer of least expected cost, where it costs less than a
          rejection; with one price for all errors: where the highest probability is above 1 - reject / error price.
        - "tuned": the two thresholds of least cost on cross-validated scores, over all cut points (the ROC rule),
          shrunk towards those that calibrated scores imply; see `shrinkage`. For scores that rank well but are not
          calibrated.
        - "symmetric": one threshold on the distance of the score from its neutral value (0, or probability 1/2), of
          least cost on cross-validated scores: what some papers compare with. It ignores that errors of the two kinds
          have different prices.

        With three or more classes "tuned" puts one threshold of least cost on what an answer is expected to save, on
        probabilities that a temperature calibrates (or `calibration`), and "symmetric" one on the highest probability.
    calibration : {"sigmoid", "beta", "isotonic", "temperature", "auto"}, optional
        Map from cross-validated scores to probabilities, which the thresholds are then set on: makes "chow" right for a
        classifier whose probabilities are not, or that has none. "auto" takes the map with the least log loss on
        held-out scores. With three or more classes a temperature is shared by all, and the other maps calibrate each
        class against the others.
    shrinkage : float, default=1000
        Number of cases at which the tuned thresholds and those implied by sigmoid-calibrated scores count the same;
        with n cases the tuned ones count n / (n + shrinkage), in log-odds. 0 is the ROC rule itself, which on small
        tables takes luck for signal. A given `coverage` is not shrunk.
    coverage : float in (0, 1], optional
        Accept this share of cases, measured on cross-validated scores, instead of minimising the cost: the reject
        price no longer matters. Of the bands that accept at least this share, "tuned" takes the one with the
        cheapest errors; "chow" and "symmetric" move both thresholds until the share is reached.
    guarantee : float, str, Promise or list, optional
        What is promised of the accepted cases: the largest error rate as a number, a text such as "error<=0.02" or
        "cost<=0.1, misses<=0.05", `recuse.guarantees.Promise`, or several of them. Part of the cases is held out of
        fitting, and the thresholds are moved until every promise holds with probability `confidence`, accepting as
        many cases as this allows. Where nothing can be shown every case is rejected, with a `NoGuaranteeWarning`. What
        was shown is in `guarantee_`.
    confidence : float in (0, 1), default=0.95
        Confidence of all promises together, over the drawing of the calibration cases.
    calibration_size : float in (0, 1), default=0.3
        Share of the cases held out for the guarantee. All of them when `estimator` is frozen, where a fifth only
        chooses which thresholds are tested.
    shift_bound : float, optional
        Largest possible value of the `shift_weights` of `fit`; by default the largest one given.
    novelty : outlier detector, optional
        Rejects cases unlike the training cases, whatever the classifier says: IsolationForest, OneClassSVM,
        LocalOutlierFactor(novelty=True), a Pipeline that ends in one. It is cloned.
    cv : int, splitter or iterable, optional
        How scores are cross-validated for "tuned", "symmetric", `calibration` and `coverage`; 5 folds by default. Folds
        given by their number are stratified and shuffled, and keep the `groups` of `fit` together. No case may be in
        two test folds; cases in none, as the first ones of folds over time, only train.
    pos_label : label, optional
        The positive class of the prices. By default the one that a reject-option classifier inside `estimator` names,
        through a Pipeline, a search or a calibration; else ``classes_[1]``.
    reject_label : label, default="auto"
        What `predict` gives for a rejected case: -1, 0 or "[abstain]", whichever fits the classes, or your own.
    on_reject : {"label", "raise", "never"}, default="label"
        `predict` gives the label, raises `RejectedSamplesError`, or gives the class it would choose if forced.
    n_jobs : int, optional
        Folds fitted at once.
    random_state : int, RandomState or None, default=0
        Shuffles the folds, and chooses the cases held out for the guarantee. A number, so that the same cases give the
        same thresholds each time; None draws others in every fit.

    Attributes
    ----------
    estimator_ : classifier
        The fitted clone.
    novelty_ : outlier detector
        The fitted clone, where `novelty` is given.
    calibrator_ : callable
        The fitted map from scores to probabilities, where `calibration` is given.
    thresholds_ : tuple of float
        Scores between the two are rejected (two classes only). One is infinite if its side is never answered.
    fold_thresholds_ : ndarray of shape (n_folds, 2)
        Where the rule would have put the thresholds on each fold alone, which shows how stable they are.
    threshold_spread_ : ndarray of shape (2,)
        Standard deviation of each threshold over the folds on which it is finite.
    objective_ : float
        Cost per case at the rule's thresholds (before a guarantee moves them): cross-validated where the rule
        learns from the cases, else on the training cases.
    n_iter_ : int
        Number of fits of the classifier: one, and one per fold where scores are cross-validated.
    residual_ : float
        0: the thresholds are exact.
    guarantee_ : Guarantee
        What is promised and what the calibration cases show, where `guarantee` is given: see
        `recuse.guarantees.Guarantee`.
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

    # In files that were saved before these were there.
    _rough_scores = _rough_novelty = False
    _typical: TypicalCases | None = None
    # A comparison of several rules on one classifier puts one here that fits each model once.
    _fit_rows = staticmethod(fit_rows)
    _remedy = (
        "Raise the reject price, give a coverage, or use a classifier that is surer of its answers; a novelty detector "
        "must know the training cases."
    )

    def __init__(
        self,
        estimator: Any,
        *,
        costs: Costs | float = 0.2,
        rule: str = "chow",
        calibration: str | None = None,
        shrinkage: float = 1000.0,
        coverage: float | None = None,
        guarantee: Any = None,
        confidence: float = 0.95,
        calibration_size: float = 0.3,
        shift_bound: float | None = None,
        novelty: Any = None,
        cv: Any = None,
        pos_label: Any = None,
        reject_label: Any = "auto",
        on_reject: str = "label",
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.costs = costs
        self.rule = rule
        self.calibration = calibration
        self.shrinkage = shrinkage
        self.coverage = coverage
        self.guarantee = guarantee
        self.confidence = confidence
        self.calibration_size = calibration_size
        self.shift_bound = shift_bound
        self.novelty = novelty
        self.cv = cv
        self.pos_label = pos_label
        self.reject_label = reject_label
        self.on_reject = on_reject
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        promise_groups: Any = None,
        shift_weights: Any = None,
        **fit_params: Any,
    ) -> ThresholdRejectClassifier:
        """Fit the classifier and set the thresholds. A fit that fails leaves the estimator as it was.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training cases, in any form the estimator takes.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each case, for the estimator, the detector and the thresholds; a number weights all alike. A
            guarantee counts cases and refuses weights that differ.
        groups : array-like of shape (n_samples,), optional
            Cases that belong together, such as the visits of one patient: no group is on both sides of a fold. They
            also go to an estimator that has folds of its own: a search, or one whose `fit` takes them.
        promise_groups : array-like of shape (n_samples,), optional
            A group of each case, such as its region: what is promised holds in every group.
        shift_weights : array-like of shape (n_samples,), optional
            How much more often such a case occurs where the model will be used than among these cases, up to a factor:
            what is promised holds there. The fit of the estimator does not see them.
        **fit_params
            Passed to the `fit` of the estimator; arrays with one value per case are split with the cases. With
            scikit-learn's metadata routing enabled, these, the weights and the groups go to whatever has requested
            them: the estimator, the detector, the splitter in `cv`. The thresholds use the weights in any case.

        Returns
        -------
        self
        """
        self._check_parameters()
        terms = PromiseTerms.of(promise_groups, shift_weights, self.shift_bound, promised=self.guarantee is not None)
        cases = self._check_data(X, y, sample_weight, groups, fit_params, terms)
        labels, codes = self._settle_labels(cases.y)
        # With a coverage or a guarantee instead of a price, rejecting need not pay.
        must_pay = self.coverage is None and self.guarantee is None
        prices = self._settle_costs(labels.classes, must_pay=must_pay, inner_pos_label=stated_pos_label(self.estimator))
        self._check_rule_fits(labels.classes, cases)
        split = self._split_rows(len(codes))
        fitting = cases.take(split.fitting)
        models = self._fit_models(fitting, labels.classes)
        held_out = self._hold_out(fitting, models, labels.classes)
        models, placed = self._placing.place(
            fitting, codes[split.fitting], models, held_out, prices.oriented, len(labels.classes)
        )
        region, shown = placed.region, None
        if self.guarantee is not None:
            outcomes = TrueOutcomes(codes, prices.costs, prices.pos_label, labels.classes)
            region, shown = self._guarantee(cases, outcomes, split, models, held_out, region)
        useless = rejects_all(partial(models.evaluate, region=region), cases.X, cases.weights)
        models = models.measured(fitting.X, region)
        typical = TypicalCases.of(models.classifier, fitting.X, fitting.weights)
        # Nothing was stored so far, and nothing below fails: a failed fit leaves the estimator as it was.
        store_columns(self, X)  # the estimator checked the values
        self._store_labels(labels)
        self._store_costs(prices)
        self._store(models, placed, region, shown, prices.unit)
        self._typical = typical
        if shown is not None and not shown.holds:
            warn_of_no_guarantee(self, shown)
        elif useless:
            self._warn_all_rejected()
        return self

    def _check_parameters(self) -> None:
        if isinstance(self.estimator, type) or not hasattr(self.estimator, "fit") or not is_classifier(self.estimator):
            raise TypeError(f"estimator must be a classifier such as LogisticRegression(); got {self.estimator!r}.")
        check_choice("rule", self.rule, RULES)
        if self.novelty is not None and (not hasattr(self.novelty, "fit") or is_classifier(self.novelty)):
            raise TypeError(
                f"novelty must be an outlier detector such as IsolationForest() or None; got {self.novelty!r}."
            )
        if self.coverage is not None and self.guarantee is not None:
            raise ValueError("coverage and guarantee both set the thresholds: give one of them.")
        if self.coverage is not None:
            check_share("coverage", self.coverage, or_one=True)
        if self.guarantee is not None:
            as_promises(self.guarantee)
        check_calibration("calibration", self.calibration)
        check_number("shrinkage", self.shrinkage, 0.0)
        check_share("confidence", self.confidence)
        check_share("calibration_size", self.calibration_size)
        if (
            self.guarantee is not None
            and self._is_fitted_already()
            and not isinstance(self.novelty, FrozenEstimator | None)
        ):
            raise ValueError(
                "With a guarantee and a frozen estimator, all cases calibrate and none is left to fit "
                f"novelty={self.novelty!r}: fit it on other cases and pass FrozenEstimator(detector)."
            )

    def _check_data(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, fit_params: Mapping[str, Any], terms: PromiseTerms
    ) -> GivenCases:
        require_given(self, y)
        X, y = indexable(X, check_labels(y))
        if len(y) == 0:
            raise ValueError("X and y are empty: Found array with 0 sample(s) while a minimum of 2 is required.")
        weights, codes = check_weights(sample_weight, len(y)), check_groups(groups, len(y))
        explicit_folds = not (self.cv is None or isinstance(self.cv, numbers.Integral) or hasattr(self.cv, "split"))
        cases = GivenCases(X, y, weights, codes, fit_params, {}, terms.checked(len(y)))
        if not explicit_folds:
            # A case of weight 0 is absent: it must not be in a fold either.
            cases = cases.take(np.flatnonzero(weights))
        return self._route(cases, weighted=sample_weight is not None)

    def _route(self, cases: GivenCases, *, weighted: bool) -> GivenCases:
        """Say what goes to the `fit` of the estimator and the detector, and to the folds."""
        if not routing_enabled():
            params = weight_params(self.estimator, cases.weights) | group_params(self.estimator, cases.groups)
            for_novelty = {} if self.novelty is None else weight_params(self.novelty, cases.weights, required=False)
            return cases._replace(params={**cases.params, **params}, novelty_params=for_novelty)
        weights = cases.weights if weighted else None
        routed = process_routing(self, "fit", sample_weight=weights, groups=cases.groups, **cases.params)
        for_novelty = {} if self.novelty is None else routed.novelty.fit
        groups = cases.groups
        if hasattr(self.cv, "split"):  # it says itself whether, and under which name, it wants groups
            groups = check_groups(routed.splitter.split.get("groups"), len(cases.y))
        return cases._replace(groups=groups, params=routed.estimator.fit, novelty_params=for_novelty)

    def get_metadata_routing(self) -> MetadataRouter:
        """What goes where, for scikit-learn's metadata routing."""
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        to_split = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=self).add_self_request(self).add(splitter=self.cv, method_mapping=to_split)
        router.add(estimator=self.estimator, method_mapping=to_fit)
        return router if self.novelty is None else router.add(novelty=self.novelty, method_mapping=to_fit)

    def _check_rule_fits(self, classes: NDArray[Any], cases: GivenCases) -> None:
        """Refuse what the rule cannot do with these classes or weights."""
        if self.guarantee is not None:
            check_promises(as_promises(self.guarantee), len(classes))
        if self.guarantee is not None and np.ptp(cases.weights) > 0:
            raise ValueError(
                "guarantee counts cases and cannot weight them: leave sample_weight out; shift_weights describe "
                "another population."
            )
        if self.guarantee is not None and cases.groups is not None:
            raise ValueError("guarantee needs cases that are independent of each other: give one case per group.")

    def _is_fitted_already(self) -> bool:
        return isinstance(self.estimator, FrozenEstimator)

    def _split_rows(self, n: int) -> Split:
        """Rows for fitting; with a guarantee, also those that test the thresholds."""
        if self.guarantee is None:
            rows = np.arange(n)
            return Split(rows, rows[:0])
        return split_rows(n, self.calibration_size, fitted=self._is_fitted_already(), random_state=self.random_state)

    def _fit_models(self, cases: GivenCases, classes: NDArray[Any]) -> Models:
        classifier = self._fit_rows(self.estimator, cases, np.arange(len(cases.y)))
        response = self._find_response(classifier)
        known = getattr(classifier, "classes_", classes)
        if not np.array_equal(known, classes):
            raise ValueError(
                f"estimator was fitted to the classes {known.tolist()}, but y has {classes.tolist()}: "
                "give cases of the same classes, enough of each."
            )
        if self.novelty is None:
            return Models(classifier, response)
        detector = clone(self.novelty).fit(cases.X, **cases.novelty_params)
        if not hasattr(detector, "decision_function"):
            raise TypeError(
                f"novelty={self.novelty!r} cannot score new cases: it has no decision_function. "
                "LocalOutlierFactor needs novelty=True."
            )
        return Models(classifier, response, detector)

    def _find_response(self, classifier: Any) -> str:
        """Method of the fitted classifier that gives its score; some have probabilities only when fitted."""
        name, response = type(classifier).__name__, find_response(classifier)
        if RULES[self.rule].needs_probabilities and response != PROBABILITIES and self.calibration is None:
            raise TypeError(
                f"rule={self.rule!r} needs probabilities, and estimator={name} has no predict_proba: use "
                "calibration='sigmoid', or rule='tuned'."
            )
        return response

    @property
    def _placing(self) -> Placing:
        return Placing(self.rule, self.calibration, self.coverage, float(self.shrinkage))

    def _hold_out(self, cases: GivenCases, models: Models, classes: NDArray[Any]) -> HeldOut | None:
        """Cross-validated scores, where thresholds, calibration or a guarantee are placed by them."""
        placing = self.guarantee is not None and not self._is_fitted_already()
        if not (self._placing.learns or placing):
            return None
        folds = make_folds(self.cv, cases.y, X=cases.X, groups=cases.groups, random_state=self.random_state)
        validation = CrossValidation(self.estimator, models.response, classes, folds, self.cv, self._fit_rows)
        return validation.run(cases, self.n_jobs)

    def _guarantee(
        self,
        cases: GivenCases,
        outcomes: TrueOutcomes,
        split: Split,
        models: Models,
        held_out: HeldOut | None,
        region: RejectRegion,
    ) -> tuple[RejectRegion, Guarantee]:
        """Move the thresholds until the promises are shown on the test cases."""
        testing = cases.terms.drawn(split.testing, self.random_state)
        evaluation = models.evaluate(take_rows(cases.X, testing), region)
        if held_out is None:
            placing = cases.terms.drawn(split.fitting, self.random_state)
            seen = models.evaluate(take_rows(cases.X, placing), region)
        else:
            rows = split.fitting[held_out.rows]
            drawn = np.isin(rows, cases.terms.drawn(rows, self.random_state))
            placing, seen = rows[drawn], region.evaluate(models.calibrated(held_out.scores)[drawn])
        inliers = True if evaluation.novel is None else ~evaluation.novel

        def accepts(threshold: float) -> Flags:
            return region.moved_to(threshold).evaluate(evaluation.detail).accepted & inliers

        shown = promise(
            as_promises(self.guarantee),
            self.confidence,
            _seen(seen, outcomes, placing, cases, region),
            _seen(evaluation, outcomes, testing, cases, region),
            accepts,
            EVERYTHING,
            len(cases.y),
        )
        shown = replace(shown, shifted=cases.terms.shift is not None)
        return region.moved_to(shown.threshold) if shown.holds else region.rejecting_everything(), shown

    def _store(
        self, models: Models, placed: Placed, region: RejectRegion, shown: Guarantee | None, unit: float
    ) -> None:
        self.estimator_ = models.classifier
        self._response = models.response
        self._rough_scores, self._rough_novelty = models.rough_scores, models.rough_novelty
        self._region = region
        self.objective_ = placed.objective * unit
        self.n_iter_ = placed.n_fits
        self.residual_ = 0.0
        sometimes: dict[str, Any] = {
            "novelty_": models.novelty,
            "calibrator_": models.calibrator,
            "thresholds_": region.thresholds if isinstance(region, Band) else None,
            "fold_thresholds_": placed.fold_thresholds,
            "threshold_spread_": placed.threshold_spread,
            "guarantee_": shown,
        }
        for name, value in sometimes.items():
            if value is not None:
                setattr(self, name, value)
            elif hasattr(self, name):  # left by an earlier fit with other parameters
                delattr(self, name)

    @property
    def _models(self) -> Models:
        novelty, calibrator = getattr(self, "novelty_", None), getattr(self, "calibrator_", None)
        return Models(self.estimator_, self._response, novelty, calibrator, self._rough_scores, self._rough_novelty)

    def _evaluate(self, X: Any) -> Evaluation:
        check_is_fitted(self, "estimator_")
        require_in_memory(self, X)
        return self._models.evaluate(X, self._region)

    @property
    def _compares(self) -> str:
        """What the thresholds are compared with."""
        return "probability" if self._models.gives_probabilities else "score"

    def _stated_thresholds(self) -> StatedThresholds | None:
        if isinstance(self._region, Band):
            return stated_band(self._region, self.classes_, self.pos_label_, self._compares)
        return stated_region(self._region, self.costs_)

    def _reasons(self, evaluation: Evaluation) -> list[str]:
        scores, accepted = evaluation.detail, evaluation.accepted
        if isinstance(self._region, Band):
            texts = band_reasons(scores, accepted, self._region, self.classes_, self.pos_label_, self._compares)
        else:
            texts = multiclass_reasons(evaluation, self._region, self.classes_, self.costs_)
        if evaluation.novel is None:
            return texts
        name = detector_name(self.novelty_)
        return [
            f"unlike the training cases: {name} gives it {r:.3g}, below 0" if is_novel else text
            for text, r, is_novel in zip(texts, evaluation.r, evaluation.novel, strict=True)
        ]

    def _contributions(self, X: Any) -> Contributions | None:
        """What each column adds to the score of the classifier, before it is calibrated."""
        check_is_fitted(self, "estimator_")
        return explain(self.estimator_, X, self._typical)

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities, also for rejected cases: calibrated ones, or those of the wrapped classifier."""
        check_is_fitted(self, "estimator_")
        require_in_memory(self, X)
        models = self._models
        if models.calibrator is None:
            probabilities: Floats = self.estimator_.predict_proba(in_double(self.estimator_, X))
            require_scores(
                np.asarray(probabilities), f"{type(self.estimator_).__name__}.{PROBABILITIES}", probabilities=True
            )
            return probabilities
        found = models.calibrated(score(models.classifier, X, models.response))
        return found if found.ndim == 2 else np.column_stack([1 - found, found])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.classifier_tags.multi_class = True
        return tags


def _seen(
    evaluation: Evaluation, outcomes: TrueOutcomes, rows: Indices, cases: GivenCases, region: RejectRegion
) -> Seen:
    """Evaluated cases as a guarantee sees them: a novelty is rejected at every threshold, however sure its score is."""
    sure = region.confidence(evaluation.detail)
    sure = sure if evaluation.novel is None else np.where(evaluation.novel, -np.inf, sure)
    return Seen(outcomes.answered(rows, evaluation.forced()), sure, cases.terms.take(rows).groups)
