"""AbstentionBoostingClassifier: boosting with abstention."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ...base import Evaluation, RejectOptionMixin
from ...costs import Costs, as_costs
from ...parameters import check_choice, check_count, check_number, check_share, check_switch, n_threads
from ...validation import validate_data
from ..binning import Bins, bin_features, resolve_bins
from ..bounds import GeneralizationBound
from ..shapes import AdditiveForm
from .bounds import empirical_maximum, margin_bound
from .data import prepare
from .losses import LOSSES, calibrated_k, forced_log_odds, reduce_prices
from .pairs import CHOW, Fitted, Recipe, Twin, chow_level, fit_pair, is_separated
from .rounds import STEPS
from .selection import Data, choose
from .tuning import scores_on

FAMILIES = ("auto", "coupled", "decoupled", CHOW)
SURROGATES = ("sum", "max")
STACKS = (None, "oof", "start")
THRESHOLDS = ("tuned", "calibrated")
_DEEPEST = 10


class AbstentionBoostingClassifier(RejectOptionMixin, BaseEstimator):
    """Boosting with abstention: learns together whom to answer and what.

    Each round adds an abstention stump, which answers no, answers yes or rejects on three intervals of one feature, to
    a pair of scores (h, r). A case is rejected when r <= 0, else answered by the sign of h. Minimised is

        sum_i s_i [ Phi(r_i - y_i h_i) + k Phi(-b r_i) ] + beta sum_j alpha_j,   alpha >= 0,

    with k and b matched to the prices, so that with enough data the minimiser is the cheapest decision.
    Prices that differ by class, or by case, are reduced to this form by sample weights; h is then published less
    the score at which both classes cost the same, so that its sign is the cheaper answer for a rejected case too.

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
        - "chow": the twin, boosted stumps for h alone and Chow's rule |h| <= ln((1 - c)/c).
        - "auto": the twin, unless a decoupled pair, by itself or started from the twin, is cheaper on held-out cases
          by more than two standard errors.
    stack : {None, "oof", "start"}, default=None
        Whether the family contains the confidence rule too. "oof" adds the out-of-fold score of the twin as one
        more feature; "start" adds the stumps to the pair that this score calls for. With "auto", both are decided.
    n_rounds : int, default=200
        Rounds of boosting.
    beta : "auto" or float, default="auto"
        Penalty on the weights. "auto" chooses it on held-out cases from a path under the smallest
        penalty that uses no stump.
    learning_rate : float in (0, 1], optional
        Share of each step taken; 1 for stumps and 0.1 for trees by default.
    max_depth : int, default=1
        More than 1, up to 10, boosts trees whose leaves hold pairs of scores; beta is then the least gain of a split
        ("auto" is 0), and the number of rounds is chosen on held-out cases.
    max_bins : "auto", int or None, default="auto"
        Quantile bins of a feature, at most 255; None looks at every distinct value. "auto" does so up to 20,000 cases.
    step : {"joint", "line", "paper"}, default="joint"
        Move a stump's weight and both intercepts at once; its weight alone and then the intercepts; or
        by the formula printed in the paper, without intercepts (for reproduction; see `gamma`).
    gamma : float, default=0.0
        Added to r of every stump of the family "coupled"; the other families take none. With step "joint" the
        intercept of r makes up for it, and the optimum is the same.
    b : float, optional
        Factor of r in the rejection term; by default the largest that keeps the sum an upper bound of the
        cost. With the exponential loss and a fixed b one fit answers at every price: see `reprice`.
    corrective : bool, default=False
        Optimise the weights of all stumps in every round: a certified optimum, for small data.
    early_stopping : bool, default=False
        Choose the number of rounds, at most `n_rounds`, on held-out cases, and boost on a fold no longer than 30 rounds
        after its held-out loss was least. Needs a number for `beta`.
    threshold : {"tuned", "calibrated"}, default="tuned"
        Where r is cut: where held-out cases cost least, or at 0, where the theory puts it.
    cv : int, splitter or iterable, optional
        How cases are held out; by default five stratified folds, above 20,000 cases one fifth once. A stacked score
        needs every case held out exactly once: it takes five folds of its own above 20,000 cases, while a `cv` that
        does otherwise is refused with `stack`, and with "auto" leaves only the unstacked pair to choose.
    tol : float, default=1e-6
        Stop when no stump changes the objective at a rate greater than this.
    pos_label : label, optional
        The positive class of the prices; ``classes_[1]`` by default.
    reject_label : label, default="auto"
        What `predict` gives for a rejected case: -1, 0 or "[abstain]", whichever fits the classes, or your own.
    on_reject : {"label", "raise", "never"}, default="label"
        `predict` gives the label, raises `RejectedSamplesError`, or gives the class it would choose if forced.
    n_jobs : int, optional
        Threads.
    random_state : int or RandomState, optional
        Draws the folds.

    Attributes
    ----------
    family_ : str
        What was fitted; ``"decoupled+start"`` stands for the decoupled family with stack "start".
    stumps_ : list of Stump
        The stumps, with cut values; empty for trees.
    weights_ : ndarray
        Their weights alpha.
    shape_functions_ : list of ShapeFunction
        For each feature used, what it adds to h and r; not for trees. A stacked score is the feature after the last.
    score_functions_ : list of ShapeFunction
        The same for the twin's score, where it is stacked.
    beta_ : float
        Penalty used.
    threshold_ : float
        Taken off the boosted r.
    objective_ : float
        Final value of the objective above.
    residual_ : float
        Largest violation of its optimality conditions.
    dual_gap_ : float
        Bound of the distance to the optimum; NaN where none is known (trees, "max", "paper"). At beta=0 it bounds the
        distance to the best model whose weights add up to no more than these, and is infinite without stumps.
    history_ : dict of ndarray
        Objective, gap and violation by round.
    n_iter_ : int
        Rounds used.
    held_out_costs_ : dict
        Mean price on held-out cases of everything "auto" considered.
    candidates_ : dict
        The fitted pairs it considered; each has ``evaluate(X)``, which returns h and r.
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
    >>> model.fit(X[:400], y[:400]).predict(X[408:418])
    array([ 0,  1,  1,  1,  1,  0, -1,  1,  1,  0])
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
        step: str = "joint",
        gamma: float = 0.0,
        b: float | None = None,
        corrective: bool = False,
        early_stopping: bool = False,
        threshold: str = "tuned",
        cv: Any = None,
        tol: float = 1e-6,
        pos_label: Any = None,
        reject_label: Any = "auto",
        on_reject: str = "label",
        n_jobs: int | None = None,
        random_state: Any = None,
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
        self.step = step
        self.gamma = gamma
        self.b = b
        self.corrective = corrective
        self.early_stopping = early_stopping
        self.threshold = threshold
        self.cv = cv
        self.tol = tol
        self.pos_label = pos_label
        self.reject_label = reject_label
        self.on_reject = on_reject
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, reject_cost: Any = None) -> AbstentionBoostingClassifier:
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

        Returns
        -------
        self
        """
        self._check_parameters()
        data = prepare(self, X, y, sample_weight, reject_cost, with_folds=self._needs_held_out())
        self._check_prices_fit(reject_cost)
        self._check_stack_fits(data)
        recipe = self._recipe(len(data.s))
        self._fitted_with: dict[str, Any] = {
            "loss": self.loss,
            "b": recipe.b,
            "surrogate": self.surrogate,
            "step": self.step,
            "max_depth": recipe.max_depth,
            "by_case": reject_cost is not None,
            "uniform": bool(np.ptp(data.weight) <= 1e-12 * data.weight.max()),
        }
        self._store(self._fit_best(data, recipe), data, recipe)
        self._warn(recipe)
        return self

    def _check_parameters(self) -> None:
        check_choice("loss", self.loss, LOSSES)
        check_choice("surrogate", self.surrogate, SURROGATES)
        check_choice("family", self.family, FAMILIES)
        check_choice("stack", self.stack, STACKS)
        check_choice("step", self.step, STEPS)
        check_choice("threshold", self.threshold, THRESHOLDS)
        check_count("n_rounds", self.n_rounds, least=0)
        check_count("max_depth", self.max_depth)
        if self.max_depth > _DEEPEST:
            raise ValueError(f"max_depth must be {_DEEPEST} or less, as memory doubles with it; got {self.max_depth}.")
        if not (isinstance(self.beta, str) and self.beta == "auto"):
            check_number("beta", self.beta, 0.0)
        if self.learning_rate is not None:
            check_number("learning_rate", self.learning_rate, 0.0, strict=True, high=1.0)
        check_number("gamma", self.gamma, 0.0)
        check_number("tol", self.tol, 0.0)
        if self.b is not None:
            check_number("b", self.b, 0.0, strict=True)
        check_switch("corrective", self.corrective)
        check_switch("early_stopping", self.early_stopping)
        self._check_combinations()

    def _check_combinations(self) -> None:
        if self.corrective and self.family == CHOW:
            raise ValueError("corrective=True needs a pair of scores: family='coupled' or 'decoupled'.")
        if self.early_stopping and self.max_depth == 1 and isinstance(self.beta, str):
            raise ValueError(
                "early_stopping=True chooses the number of rounds, not the penalty as well: give beta a number, "
                "such as beta=0.0."
            )
        if self.gamma > 0 and self.family != "coupled":
            raise ValueError(f"gamma > 0 belongs to the paper's stumps, family='coupled'; got family={self.family!r}.")
        if self.corrective and (self.surrogate == "max" or self.max_depth > 1 or self.step == "paper"):
            raise ValueError("corrective=True needs surrogate='sum', max_depth=1 and step='joint' or 'line'.")
        if self.stack == "start" and (self.surrogate == "max" or self.step == "paper"):
            raise ValueError("stack='start' needs surrogate='sum' and step='joint' or 'line'.")

    def _check_prices_fit(self, reject_cost: Any) -> None:
        if reject_cost is not None and (self.family in ("auto", CHOW) or self.stack == "start"):
            raise ValueError(
                f"reject_cost by case does not go with family={self.family!r}, stack={self.stack!r}: Chow's rule would "
                "need the price of every new case. Use family='coupled' or 'decoupled' and stack=None or 'oof'."
            )

    def _check_stack_fits(self, data: Data) -> None:
        if self.stack is not None and self.family != CHOW and not data.partition:
            raise ValueError(
                f"stack={self.stack!r} needs a held-out score of every case, but the test parts of cv do not "
                "hold out every case exactly once. Use folds, such as cv=5."
            )

    def _needs_held_out(self) -> bool:
        open_choices = self.beta == "auto" or self.early_stopping or self.max_depth > 1 or self.family == "auto"
        tuned = self.threshold == "tuned" and self.family != CHOW
        return bool(open_choices or tuned or self.stack is not None)

    def _recipe(self, n_rows: int) -> Recipe:
        """Return the parameters, resolved."""
        rate = (1.0 if self.max_depth == 1 else 0.1) if self.learning_rate is None else float(self.learning_rate)
        return Recipe(
            loss=self.loss,
            surrogate=self.surrogate,
            b=None if self.b is None else float(self.b),
            n_rounds=int(self.n_rounds),
            beta=None if isinstance(self.beta, str) else float(self.beta),
            learning_rate=rate,
            max_depth=int(self.max_depth),
            max_bins=resolve_bins(self.max_bins, n_rows),
            step=self.step,
            gamma=float(self.gamma),
            corrective=self.corrective,
            early_stopping=self.early_stopping,
            tune_threshold=self.threshold == "tuned",
            tol=float(self.tol),
            n_threads=n_threads(self.n_jobs),
        )

    def _fit_best(self, data: Data, recipe: Recipe) -> Fitted:
        """Fit what was asked for; of several, the one that held-out cases favour."""
        # Trees take bins only: every distinct value of every feature would be a histogram of its own in each node.
        max_bins = recipe.max_bins if recipe.max_depth == 1 else recipe.max_bins or 255
        bins = bin_features(data.X, data.order, max_bins, data.weight)
        candidates = list(self._candidates(data, bins, recipe))
        costs = {fitted.name: fitted.held_out_cost(data) for fitted in candidates}
        weight = data.prices.weight[data.tested] if data.folds else None
        self.held_out_costs_ = {
            name: float(weight @ cost / weight.sum())
            for name, cost in costs.items()
            if cost is not None and weight is not None
        }
        self.candidates_ = {fitted.name: fitted.pair for fitted in candidates}
        return choose(candidates, data) if len(candidates) > 1 else candidates[0]

    def _candidates(self, data: Data, bins: Bins, recipe: Recipe) -> Iterator[Fitted]:
        """Fit everything to choose from, the twin first."""
        auto = self.family == "auto"
        twin = Twin(data, bins, recipe) if auto or self.family == CHOW or self.stack is not None else None
        if twin is not None and self.family in ("auto", CHOW):
            yield twin.of_least_price()
        pairs = [(self.family, self.stack)] if self.family in ("coupled", "decoupled") else []
        if auto:
            pairs = [("decoupled", self.stack)]
            if self.stack is None and self.surrogate == "sum" and self.step != "paper" and data.partition:
                pairs.append(("decoupled", "start"))
        score = twin.of_least_loss() if twin is not None and any(stack for _, stack in pairs) else None
        for family, stack in pairs:
            yield fit_pair(data, bins, recipe, family, stack, score)

    def _store(self, fitted: Fitted, data: Data, recipe: Recipe) -> None:
        solution, pair = fitted.solution, fitted.pair
        self._pair = pair
        self._surrogate = fitted.problem.surrogate
        self._price = float(np.max(data.c))
        self.family_ = fitted.name
        self.beta_ = fitted.beta
        self.threshold_ = pair.threshold
        self.objective_ = solution.objective
        self.residual_ = solution.residual
        self.n_iter_ = solution.n_iter
        self.history_ = solution.history
        self.converged_ = solution.converged
        self.dual_gap_ = float(solution.history["dual_gap"][-1]) if "dual_gap" in solution.history else float("nan")
        self.stumps_ = fitted.stumps
        additive = isinstance(pair.form, AdditiveForm)
        self.weights_ = solution.model.weights if additive else np.zeros(0)
        self.intercept_ = (pair.form.h0, pair.form.r0)
        for name in ("shape_functions_", "score_functions_"):
            self.__dict__.pop(name, None)
        if isinstance(pair.form, AdditiveForm):
            self.shape_functions_ = pair.form.shapes
        if isinstance(pair.twin, AdditiveForm):
            self.score_functions_ = pair.twin.shapes
        self._separated = fitted.beta == 0.0 and is_separated(fitted)
        self._bound = self._bound_inputs(fitted, recipe) if fitted.name in ("coupled", "decoupled") else None

    def _bound_inputs(self, fitted: Fitted, recipe: Recipe) -> dict[str, Any] | None:
        """What `generalization_bound` needs to remember of the training cases."""
        problem, pair = fitted.problem, fitted.pair
        if not isinstance(pair.form, AdditiveForm):
            return None
        h, r = scores_on(fitted.solution.model, problem)
        r -= pair.threshold
        m, n_bins = len(problem.s), problem.bins.n_bins
        return {
            "empirical": empirical_maximum(problem.surrogate, problem.n_pos, problem.s, h, r),
            "surrogate": problem.surrogate,
            "total_weight": float(self.weights_.sum() + abs(pair.form.h0) + abs(pair.form.r0 - pair.threshold)),
            # Bins placed by the same sample could have been anywhere between its values.
            "n_values": n_bins.copy() if recipe.max_bins is None else np.full_like(n_bins, m),
            "has_missing": problem.bins.has_missing,
            "m": m,
        }

    def generalization_bound(self, delta: float = 0.05) -> GeneralizationBound:
        """Bound the expected abstention loss by Corollary 3 of the paper: a diagnostic, usually far above 1.

        For equal sample weights and the prices of `fit`, with k at least the reject price, as by default.

        Parameters
        ----------
        delta : float in (0, 1), default=0.05
            Probability that the bound fails.
        """
        check_is_fitted(self)
        check_share("delta", delta)
        known = self._fitted_with
        if self._bound is None or not self.costs_.symmetric or self.costs_.fp != 1.0:
            raise ValueError(
                "The bound is for stumps of family 'coupled' or 'decoupled' without stacking, at unit error prices and "
                f"the prices of fit; this model is {self.family_!r} with max_depth={known['max_depth']} and "
                f"{self.costs_!r}."
            )
        if known["by_case"] or not known["uniform"]:
            raise ValueError("The bound is for a sample of equal weights and one reject price: fit without others.")
        k = float(np.max(self._surrogate.k))
        if k < self._price - 1e-12:
            raise ValueError(
                f"The bound needs a loss above the cost, but the rejection term weighs k={k:g} at the reject price "
                f"c={self._price:g}. Fit with a smaller b, or with the default b=None."
            )
        return margin_bound(**self._bound, family=self.family_, delta=delta)

    def _warn(self, recipe: Recipe) -> None:
        if self._separated:
            warnings.warn(
                "The classes are separated and nothing limits the weights (beta=0): they would grow without end. "
                f"Stopped at objective {self.objective_:.3g} after {self.n_iter_} rounds. Give beta a positive value.",
                ConvergenceWarning,
                stacklevel=3,
            )
        elif recipe.corrective and not self.converged_:
            warnings.warn(
                f"corrective boosting stopped after {self.n_iter_} rounds at residual {self.residual_:.3g}, above "
                f"tol={self.tol:g}. Raise n_rounds or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _validated(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        checked: NDArray[Any] = validate_data(
            self, X, reset=False, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan"
        )
        return checked

    def _evaluate(self, X: Any) -> Evaluation:
        X = self._validated(X)
        h, r = self._pair.evaluate(X, n_threads(self.n_jobs))
        return Evaluation(h, r, detail=X)

    def _reasons(self, evaluation: Evaluation) -> list[str]:
        from ..reasons import explain

        return explain(self, evaluation)

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
        the answers at every price (with ``threshold="calibrated"``, and `beta` scaled along). The twin's score
        serves every price as well. Both need prices whose ratio between the classes stays what it was, and neither
        goes with ``fit(reject_cost=...)``.

        Parameters
        ----------
        costs : Costs or float
            The new prices.
        """
        check_is_fitted(self)
        # What fit was given, whatever the parameters were set to since.
        chow, known = self._pair.level is not None, self._fitted_with
        if known["by_case"]:
            raise ValueError("A model fitted with reject_cost by case has no one price to change: fit again.")
        plain_sum = known["loss"] == "exponential" and known["b"] is not None and known["surrogate"] == "sum"
        shifts = plain_sum and known["max_depth"] == 1 and known["step"] != "paper" and self._pair.stack != "start"
        if not chow and not shifts:
            raise ValueError(
                "Only loss='exponential' with a fixed b (such as b=1.0) and step='joint' or 'line', or family='chow', "
                f"answers at other prices than those of fit; this model has loss={known['loss']!r}, b={known['b']!r}, "
                f"step={known['step']!r}, max_depth={known['max_depth']}, family {self.family_!r}."
            )
        other = copy.copy(self)
        other.costs = other.costs_ = as_costs(costs)
        other.costs_.require_rejecting_pays()
        oriented, before = other._oriented_costs(), self._oriented_costs()
        new, old = (_reduced(prices) for prices in (oriented, before))
        if not np.isclose(new.weight_positive / new.weight_negative, old.weight_positive / old.weight_negative):
            raise ValueError(
                f"costs={costs!r} weigh the two classes differently from the prices of fit, {self.costs_!r}: fit again."
            )
        other._price = float(new.c)
        log_odds = forced_log_odds(oriented.fp, oriented.fn, new)
        other._bound = None  # it is about the prices of fit
        if chow:
            other._pair = replace(self._pair, level=chow_level(known["loss"], float(new.c)), log_odds=log_odds)
            return other
        b = self._surrogate.b
        ratio = calibrated_k("exponential", float(new.c), b) / calibrated_k("exponential", float(old.c), b)
        other.threshold_ = self.threshold_ - float(np.log(ratio)) / (1.0 + b)
        surrogate = replace(self._surrogate, k=float(self._surrogate.k * ratio))
        other._pair = replace(self._pair, threshold=other.threshold_, log_odds=log_odds, surrogate=surrogate)
        return other

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _reduced(costs: Costs) -> Any:
    return reduce_prices(costs.fp, costs.fn, costs.reject_negative, costs.reject_positive)
