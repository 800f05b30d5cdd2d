"""AbstentionBoostingClassifier: boosting with abstention."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ...arrays import Floats
from ...base import RejectOptionMixin, warn_not_converged
from ...costs import Costs, as_costs
from ...decisions import Evaluation, StatedThresholds
from ...parameters import check_share, n_threads
from ...progress import shown_progress
from ..additive_model import AdditiveModelMixin
from ..bounds import GeneralizationBound
from ..reasons import stated_score
from ..shapes import AdditiveForm
from .candidates import Candidate
from .chow import CHOW_FAMILY
from .classes.estimator import SeveralClassesMixin
from .classes.rules import ClassLearned
from .data import Inputs, TrainingSet, check_cases, prepare
from .margin_bound import bound_of
from .pairs import ChowPair, LearnedPair, PriceChange, StartedPair, with_forms
from .parameters import ParametersMixin
from .prices import Reduction, forced_log_odds, reduce_prices
from .records import FitRecord, record_fit
from .search import search
from .selection import choose, held_out_means
from .stages import published_stages


class AbstentionBoostingClassifier(
    ParametersMixin, SeveralClassesMixin, AdditiveModelMixin, RejectOptionMixin, BaseEstimator
):
    """Boosting with abstention: learns which class to answer and when to reject, together.

    Each round adds an abstention stump, which answers no, answers yes or rejects on three intervals of one feature, to
    a pair of scores (h, r). A case is rejected when r <= 0, else answered by the sign of h. Minimised is

        sum_i s_i [ Phi(r_i - y_i h_i) + k Phi(-b r_i) ] + beta sum_j alpha_j,   alpha >= 0,

    with k and b matched to the prices, so that with enough data the minimiser is the cheapest decision.
    Prices that differ by class, or by case, are reduced to this form by sample weights; h is then published less
    the score at which both classes cost the same, so that its sign is the cheaper answer for a rejected case too.

    Three or more classes are fitted by one model, with a score for each: the page "Boosting with abstention" says how,
    and which parameters know two classes only. A fit refuses those.

    Parameters
    ----------
    costs : Costs or float, default=0.2
        Prices; a float d means ``Costs(fp=1, fn=1, reject=d)``.
    loss : {"logistic", "exponential"}, default="logistic"
        Phi(t): log2(1 + e^t) or e^t.
    surrogate : {"sum", "max"}, default="sum"
        The sum above (the paper's L_SB), or the larger of the two terms (L_MB, smoothed).
    family : {"auto", "coupled", "decoupled", "chow"}, default="auto"
        - "coupled": the paper's stumps, each answers and rejects.
        - "decoupled": stumps that answer, and intervals that only reject or only accept.
        - "chow": boosted stumps for h alone, and Chow's rule: rejected when |h| <= ln((1 - c)/c).
        - "auto": "chow", unless a decoupled pair, by itself or started from that score, is cheaper on held-out cases
          by more than one standard error. One that is not cheaper after two of five folds is given up.
    stack : {None, "oof", "start"}, default=None
        Whether the family contains the confidence rule too. "oof" adds the out-of-fold score of boosted stumps as
        one more feature; "start" adds the stumps to the pair that this score calls for. With family "auto" and None,
        "start" is tried as well.
    n_rounds : int, default=200
        Rounds of boosting; three or more classes take up to four times as many.
    beta : "auto" or float, default="auto"
        Penalty on the weights. "auto" chooses it on held-out cases from a path under the smallest
        penalty that uses no stump; the rounds go along the path, from the largest penalty to the one chosen, and the
        fit ends where the fits on the folds did: when no stump violates optimality by more than a tenth of the
        penalty, or at its share of `n_rounds`. A number is boosted afresh, up to `n_rounds` rounds or `tol`.
    learning_rate : float in (0, 1], optional
        Share of each step taken; 1 for stumps and 0.1 for trees by default.
    max_depth : int, default=1
        More than 1, up to 10, boosts trees whose leaves hold pairs of scores; beta is then the least gain of a split
        ("auto" is 0), and the number of rounds is chosen on held-out cases.
    max_bins : "auto", int or None, default="auto"
        Quantile bins of a feature, at most 255, which "auto" stands for; None cuts between all distinct values.
    monotonic_cst : array-like of int of shape (n_features,) or dict, optional
        1 where the class score h must not fall while the feature rises, -1 where it must not rise, 0 where it is free;
        or these by the names of the columns. Only stumps that obey are chosen, so that h is monotone exactly; the
        acceptance score r and missing values are free. For stumps, ``max_depth=1``.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Columns whose values are names without an order: those of a categorical type, or by mask, number or name; text
        columns have to be named. Levels are put in the order of their share of positives in the training cases. A level
        that training did not have counts as missing; levels of fewer than 10 cases (in tables of less than 1,000, of
        one in a hundred) are treated alike. For stumps, ``max_depth=1``.
    step : {"joint", "line", "paper"}, default="joint"
        Move a stump's weight and both intercepts at once; its weight alone and then the intercepts; or its weight
        by the formula printed in the paper, without intercepts (for reproduction; see `gamma`).
    gamma : float, default=0.0
        Added to r of every stump of the family "coupled"; the other families have none. With step "joint" the
        intercept of r makes up for it, and the optimum is the same.
    b : float, optional
        Factor of r in the rejection term; by default the largest that keeps the sum an upper bound of the
        cost. With the exponential loss and a fixed b one fit answers at every price: see `reprice`.
    corrective : bool, default=False
        Optimise the weights of all stumps in every round: a certified optimum, for small data.
    interactions : int, list of pairs, "auto" or None, default=None
        Pair terms: what two features together add to both scores, beyond what each adds by itself, as step functions
        of both. A number takes that many pairs, the strongest by a screen over all of them; a list names the pairs by
        column names or numbers, such as ``[("age", "smoking")]``; "auto" takes them where they make held-out cases
        cheaper by more than one standard error. They are boosted after the stumps, on the same objective, and their
        number of turns is chosen on held-out cases. For stumps (``max_depth=1``) with surrogate "sum", without `stack`.
    bags : "auto" or int, default="auto"
        Fits that are averaged into one model, a sum over features like each of them. Each leaves out a fifth of the
        cases, and has the penalty that held-out cases chose for all. 1 fits all cases once; "auto" means 10 for up to
        20,000 cases where `beta` is "auto", else 1. For stumps (``max_depth=1``), without `corrective`.
    early_stopping : bool, default=False
        Choose the number of rounds, at most `n_rounds`, on held-out cases; boosting on a fold ends when its held-out
        loss has not fallen for 30 rounds. Needs a number for `beta`.
    threshold : {"tuned", "calibrated"}, default="tuned"
        Threshold of r: where held-out cases cost least, or 0, where the theory puts it.
    cv : int, splitter or iterable, optional
        How cases are held out; by default five folds, above 20,000 cases one fifth once. Folds given by their number
        are stratified and shuffled, and keep the `groups` of `fit` together. A stacked score needs every case held
        out exactly once: above 20,000 cases it uses five folds of its own, while a `cv` that does otherwise is
        refused with `stack`, and with family "auto" leaves out the pair started from the score.
    tol : float, default=1e-6
        Stop when no stump changes the objective at a rate greater than this.
    pos_label : label, optional
        The positive class of the prices; ``classes_[1]`` by default.
    reject_label : label, default="auto"
        What `predict` gives for a rejected case: -1, 0 or "[abstain]", whichever fits the classes, or your own.
    on_reject : {"label", "raise", "never"}, default="label"
        `predict` gives the label, raises `RejectedSamplesError`, or gives the class it would choose if forced.
    n_jobs : int, optional
        Threads: folds and averaged fits share them, large tables their features. The model is the same with any number.
    verbose : int, default=0
        1 shows progress on the error stream: a line for each model fitted and every 50 rounds.
    random_state : int, RandomState or None, default=0
        Shuffles the folds. A number, so that the same cases give the same model each time; None draws others in every
        fit.

    Attributes
    ----------
    family_ : str
        What was fitted; ``"decoupled+start"`` stands for the decoupled family with stack "start", and
        ``"chow+interactions"`` for boosted stumps and pair terms with Chow's rule.
    stumps_ : list of Stump
        The stumps, with cut values; empty for trees.
    weights_ : ndarray
        Their weights alpha.
    shape_functions_ : list of ShapeFunction
        For each feature used, what it adds to h and r; not for trees. A stacked score is the feature after the last.
    interaction_functions_ : list of SurfaceFunction
        For each pair of features that act together, what it adds to h and r; empty without pair terms. With them, every
        term has the weighted mean 0 over the training cases, a pair term in each of its rows and columns: so main
        effects and pair terms are unique.
    score_functions_ : list of ShapeFunction
        The same for the stacked score, where there is one.
    beta_ : float
        Penalty used. Where "auto" chose it, a fit with this number for `beta` is boosted afresh and further, and need
        not give the same answers.
    threshold_ : float
        What is taken off the boosted r.
    objective_ : float
        Final value of the objective above; pair terms lower it further, and have no penalty.
    residual_ : float
        Largest violation of its optimality conditions by the stumps, before pair terms; at the end of a path of
        penalties (beta="auto") about a tenth of `beta_`, or more where its share of the rounds was used up.
    dual_gap_ : float
        Upper bound of the distance to the optimum; NaN where none is known (trees, "max", "paper"). At beta=0 it bounds
        the distance to the best model whose weights add up to no more than these, and is infinite without stumps. With
        pair terms it is that of the stumps before them: among main effects nothing is better by more than this.
    history_ : dict of ndarray
        Objective, gap and violation after the rounds that it names: those after which the intercepts were settled, and
        the last; after a path of penalties (beta="auto") at its end.
    n_iter_ : int
        Rounds used.
    held_out_costs_ : dict
        Mean price on held-out cases of every candidate that was not given up, by the names of `family_`.
    candidates_ : dict
        The fitted pairs of these; each has ``evaluate(X)``, which returns h and r.
    classes_, reject_label_, costs_, pos_label_, n_features_in_, feature_names_in_
        As in every reject-option classifier.

    References
    ----------
    C. Cortes, G. DeSalvo, M. Mohri, "Boosting with Abstention", NIPS 2016: equations (4) and (6), section 4.3.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from recuse import AbstentionBoostingClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AbstentionBoostingClassifier(costs=0.1, family="coupled", beta=0.01, threshold="calibrated")
    >>> model.fit(X[:400], y[:400]).predict(X[417:427])
    array([ 0,  1,  1,  1,  0,  1, -1,  1,  1,  1])
    >>> len(model.shape_functions_) < X.shape[1]
    True
    """

    def __init__(
        self,
        *,
        costs: Costs | float = 0.2,
        loss: str = "logistic",
        surrogate: str = "sum",
        family: str = "auto",
        stack: str | None = None,
        n_rounds: int = 200,
        beta: float | str = "auto",
        learning_rate: float | None = None,
        max_depth: int = 1,
        max_bins: int | str | None = "auto",
        monotonic_cst: Any = None,
        categorical_features: Any = "from_dtype",
        step: str = "joint",
        gamma: float = 0.0,
        b: float | None = None,
        corrective: bool = False,
        interactions: Any = None,
        bags: int | str = "auto",
        early_stopping: bool = False,
        threshold: str = "tuned",
        cv: Any = None,
        tol: float = 1e-6,
        pos_label: Any = None,
        reject_label: Any = "auto",
        on_reject: str = "label",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = 0,
    ) -> None:
        self.costs = costs
        self.loss = loss
        self.surrogate = surrogate
        self.family = family
        self.stack = stack
        self.n_rounds = n_rounds
        self.beta = beta
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_bins = max_bins
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.step = step
        self.gamma = gamma
        self.b = b
        self.corrective = corrective
        self.interactions = interactions
        self.bags = bags
        self.early_stopping = early_stopping
        self.threshold = threshold
        self.cv = cv
        self.tol = tol
        self.pos_label = pos_label
        self.reject_label = reject_label
        self.on_reject = on_reject
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, reject_cost: Any = None, *, groups: Any = None
    ) -> AbstentionBoostingClassifier:
        """Fit the pair of scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training cases; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each case.
        reject_cost : array-like of shape (n_samples,), optional
            Price of rejecting each case, in place of the reject price in `costs`.
        groups : array-like of shape (n_samples,), optional
            Cases that belong together, such as the visits of one patient: no group is on both sides of a fold.

        Returns
        -------
        self
        """
        self._check_parameters()
        checked = check_cases(self, X, y, sample_weight, several=True)
        inputs = checked.inputs
        if len(inputs.labels.classes) > 2:
            self._refuse_what_takes_two(inputs.labels.classes, reject_cost)
            return self._fit_several(checked, X, sample_weight, groups, self._settings(len(checked.codes)))
        needs = self._needs_held_out()
        bags = self._n_bags()
        training = prepare(self, checked, reject_cost, groups=groups, with_folds=needs, n_bags=bags)
        self._check_combination_with(training, by_case=reject_cost is not None)
        settings = replace(self._settings(len(training.s)), interactions=self._wanted_pairs(training, inputs))
        with shown_progress(self.verbose):
            candidates = search(training, settings, self.family, self.stack)
        chosen = choose(candidates, training)
        self._store(inputs, training, candidates, chosen, record_fit(settings, training, chosen, reject_cost))
        self._warn()
        self._warn_if_all_rejected(X, sample_weight)
        return self

    def _store(
        self, inputs: Inputs, training: TrainingSet, candidates: list[Candidate], chosen: Candidate, fit: FitRecord
    ) -> None:
        """Publish a fit; nothing is stored before everything is known."""
        pair, boosted = chosen.pair, chosen.boosted
        bound = bound_of(chosen, fit.settings)
        separated = boosted.beta == 0.0 and chosen.separates
        inputs.store(self)
        self.__dict__.pop("_rule", None)  # of an earlier fit to three or more classes
        self._publish(boosted.solution)
        self._pair, self._fit, self._bound, self._separated = pair, fit, bound, separated
        self._edits, self._stages = [], boosted.stages
        unit, means = inputs.costs.unit, held_out_means(candidates, training)
        self.held_out_costs_ = {name: mean * unit for name, mean in means.items()}
        self.candidates_ = {candidate.name: candidate.pair for candidate in candidates}
        self.family_ = chosen.name
        self.beta_ = boosted.beta
        self.threshold_ = pair.threshold
        history = boosted.solution.history
        self.history_ = history
        self.converged_ = boosted.solution.converged
        self.dual_gap_ = float(history["dual_gap"][-1]) if "dual_gap" in history else float("nan")
        self.stumps_ = boosted.stumps
        self.weights_ = boosted.solution.model.weights if isinstance(pair.form, AdditiveForm) else np.zeros(0)
        self._publish_forms()

    def _publish_forms(self) -> None:
        """Publish the intercepts and shape functions of the pair."""
        pair = self._pair
        self.intercept_ = (pair.form.h0, pair.form.r0)
        self.interaction_functions_ = list(pair.form.surfaces) if isinstance(pair.form, AdditiveForm) else []
        for name, form in (("shape_functions_", pair.form), ("score_functions_", pair.score)):
            if isinstance(form, AdditiveForm):
                setattr(self, name, form.shapes)
            elif hasattr(self, name):
                delattr(self, name)  # of an earlier fit

    def _forms(self) -> list[AdditiveForm]:
        self._require_two_classes("Edits and stages are", "use shape_functions_ and shape_table()")
        return [form for form in (self._pair.form, self._pair.score) if isinstance(form, AdditiveForm)]

    def _with_forms(self, forms: list[AdditiveForm], *, monotone: bool = False) -> AbstentionBoostingClassifier:
        edited = copy(self)
        edited._pair = with_forms(self._pair, forms[0], forms[1] if len(forms) > 1 else None, monotone=monotone)
        edited._publish_forms()
        edited._bound, edited.dual_gap_, edited.candidates_ = None, float("nan"), {self.family_: edited._pair}
        return edited

    def _published_constants(self) -> tuple[float, float]:
        pair = self._pair
        if isinstance(pair, ChowPair):
            return -pair.boundary, 0.0
        learned = pair if isinstance(pair, LearnedPair) else pair.learned
        h, r = learned.settle(np.zeros(1), np.zeros(1))
        return float(h[0]), float(r[0])

    def generalization_bound(self, delta: float = 0.05) -> GeneralizationBound:
        """Bound the expected abstention loss by Corollary 3 of the paper: a diagnostic, usually far above 1.

        The unit of the loss is the price of an error, whatever the currency. For equal sample weights and the prices of
        `fit`, with k at least the reject price, as by default.

        Parameters
        ----------
        delta : float in (0, 1), default=0.05
            Probability that the bound fails.
        """
        self._require_two_classes("The margin bound is", "judge it on cases that it was not fitted to")
        check_share("delta", delta)
        fit = self._fit
        if self._bound is None or not self.costs_.symmetric:
            raise ValueError(
                "The bound is for stumps of family 'coupled' or 'decoupled' without stacking, pair terms, categories "
                f"or edits, at equal error prices and the prices of fit; this model is {self.family_!r} with "
                f"max_depth={fit.settings.max_depth} and {self.costs_!r}."
            )
        if fit.by_case or not fit.equal_weights:
            raise ValueError("The bound is for a sample of equal weights and one reject price: fit without others.")
        if fit.k < fit.price - 1e-12:
            raise ValueError(
                f"The bound needs a loss above the cost, but the rejection term weighs k={fit.k:g} at the reject price "
                f"c={fit.price:g}. Fit with a smaller b, or with the default b=None."
            )
        return self._bound.at(delta)

    def _warn(self) -> None:
        """Warn of a fit that did not reach an optimum."""
        if self._separated:
            warn_not_converged(
                "The classes are separated and nothing limits the weights (beta=0): they would grow without end. "
                f"Stopped at objective {self.objective_:.3g} after {self.n_iter_} rounds",
                "Give beta a positive value.",
            )
        elif self.corrective and not self.converged_:
            warn_not_converged(
                f"corrective boosting stopped after {self.n_iter_} rounds at residual {self.residual_:.3g}, above "
                f"tol={self.tol:g}",
                "Raise n_rounds or tol.",
            )

    def _evaluate(self, X: Any) -> Evaluation:
        check_is_fitted(self)
        X = self._numbers(X)
        if self._several:
            return self._evaluate_several(X)
        h, r = self._pair.evaluate(X, n_threads(self.n_jobs))
        return Evaluation(h, r, detail=X)

    def _staged(self, X: Any, **params: Any) -> Iterator[Evaluation]:
        if params:
            raise TypeError(f"AbstentionBoostingClassifier takes no {next(iter(params))} with X.")
        X = self._numbers(X)
        if getattr(self, "_stages", None) is None and self._forms():
            raise ValueError("This model was saved by a version that kept no stages: fit again.")
        for h, r in published_stages(self._pair, getattr(self, "_stages", None), X):
            yield Evaluation(h, r, detail=X)

    def _gives_probabilities(self) -> bool:
        """Whether the score is one of probabilities: boosted by the logistic loss alone, with Chow's rule behind it."""
        if self._several:
            return not isinstance(self._rule, ClassLearned)
        if hasattr(self, "_pair"):
            return isinstance(self._pair, ChowPair) and self._pair.loss == "logistic"
        return bool(self.family == CHOW_FAMILY and self.loss == "logistic")

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class; for the confidence rule (family "chow", or where "auto" has chosen it).

        With three or more classes a rejector of its own (family "decoupled") stands beside probabilities, too.

        The logistic loss makes h the log-odds of the cases as the prices weigh them; those weights are taken out again.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Cases.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        if self._several:
            return self._probabilities(self._numbers(X))
        h = self._pair.form.evaluate(self._numbers(X), n_threads(self.n_jobs))[0] - self._weighed_log_odds()
        positive = expit(h)
        return np.column_stack([1.0 - positive, positive])

    def _weighed_log_odds(self) -> float:
        """What the weights that the prices give the two classes add to the log-odds."""
        reduced = _reduced(self._oriented_costs())
        return float(np.log(np.asarray(reduced.weight_positive) / np.asarray(reduced.weight_negative)))

    def _stated_thresholds(self) -> StatedThresholds | None:
        if self._several:
            return None
        return stated_score(self, *self._pair.thresholds) if isinstance(self._pair, ChowPair) else None

    def _reasons(self, evaluation: Evaluation) -> list[str]:
        return self._rule.explain(self, evaluation) if self._several else self._pair.explain(self, evaluation)

    @property
    def _starts_from_score(self) -> bool:
        return isinstance(self._pair, StartedPair) or super()._starts_from_score

    @property
    def _learned_r(self) -> bool:
        return not isinstance(self._pair, ChowPair)

    def predict(self, X: Any, *, costs: Costs | float | None = None) -> NDArray[Any]:
        """Answer each case with a class, or with ``reject_label_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Cases.
        costs : Costs or float, optional
            Other prices than those of `fit`: see `reprice`.
        """
        if costs is not None:
            return self.reprice(costs).predict(X)
        return super().predict(X)

    def reprice(self, costs: Costs | float) -> AbstentionBoostingClassifier:
        """Return a fitted copy that answers at other prices, without a new fit.

        With the exponential loss and a fixed b, a change of the reject price only shifts r, so one fit holds
        the answers at every price (with ``threshold="calibrated"``, and `beta` scaled along). A score with Chow's rule
        serves every price as well. Both need prices whose ratio between the classes stays what it was, and neither
        goes with ``fit(reject_cost=...)``.

        Parameters
        ----------
        costs : Costs or float
            The new prices.
        """
        check_is_fitted(self)
        if self._several:
            return self._repriced_several(costs)
        self._check_repriceable()
        other = copy(self)
        other.costs = other.costs_ = as_costs(costs)
        other.costs_.require_rejecting_pays()
        oriented, before = other._oriented_costs(), self._oriented_costs()
        new, old = _reduced(oriented), _reduced(before)
        if not np.isclose(new.weight_positive / new.weight_negative, old.weight_positive / old.weight_negative):
            raise ValueError(
                f"costs={costs!r} weigh the two classes differently from the prices of fit, {self.costs_!r}: fit again."
            )
        log_odds = forced_log_odds(oriented.fp, oriented.fn, new)
        other._pair = self._pair.repriced(PriceChange(float(old.c), float(new.c), log_odds))
        other.threshold_ = other._pair.threshold
        other._bound = None  # it is about the prices of fit
        return other

    def _check_repriceable(self) -> None:
        """Refuse a model that answers at the prices of fit only."""
        settings = self._fit.settings
        if self._fit.by_case:
            raise ValueError("A model fitted with reject_cost by case has no one price to change: fit again.")
        shifts = settings.price_only_shifts_r and not isinstance(self._pair, StartedPair)
        if not (shifts or isinstance(self._pair, ChowPair)):
            raise ValueError(
                "Only loss='exponential' with a fixed b (such as b=1.0) and step='joint' or 'line', or family='chow', "
                f"answers at other prices than those of fit; this model has loss={settings.loss!r}, b={settings.b!r}, "
                f"step={settings.step!r}, max_depth={settings.max_depth}, family {self.family_!r}."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.classifier_tags.multi_class = self._name_of_two_class_option() is None
        return tags


def _reduced(costs: Costs) -> Reduction:
    """The symmetric problem of some prices."""
    return reduce_prices(costs.fp, costs.fn, costs.reject_negative, costs.reject_positive)
