"""From prepared data to a fitted pair (h, r): the twin, the stacked score, the choice of penalty and threshold.

The twin is the same boosting engine without a rejector: a score alone, rejected by Chow's rule, |h| <= ln((1 - c)/c).
Stacking adds its out-of-fold score as one more feature (a stump "-x+" on it is Chow's rule itself), or starts the
pair from it: the stumps are then added to the pair that the score alone calls for, and no stump leaves Chow's rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..solution import Solution
from .additive import AdditiveForm, additive_form
from .binning import Bins, bin_features
from .losses import Surrogate, calibrated_k, forced_boundary, log_phi, plug_in_pair, tight_b
from .rounds import beta_max, boost
from .state import Problem, Settings
from .stumps import Stump, describe
from .trees import TreeForm, boost_trees
from .tuning import (
    BETA_PATH,
    PATIENCE,
    Prices,
    Recorder,
    Rows,
    best_threshold,
    held_out_path,
    scores_on,
    standard_error,
)

Array = NDArray[np.float64]
CHOW = "chow"
# By how many standard errors a learned rejector must be cheaper on held-out cases than the confidence rule: two, since
# the better of several is compared, each with penalty and threshold chosen on the same cases.
_SURE = 2.0
_SHARPEST = 32.0  # exponent at which L_p stands for the maximum
_SHARPENING = 60  # rounds after which it is that exponent, where the number of rounds is open
_NO_REJECT_TERM = 1e-300  # k of the twin: its r is no variable


@dataclass(frozen=True)
class Recipe:
    """What the user asked for; the names are those of the estimator."""

    loss: str = "logistic"
    surrogate: str = "sum"
    b: float | None = None
    n_rounds: int = 200
    beta: float | None = None
    learning_rate: float = 1.0
    max_depth: int = 1
    max_bins: int | None = None
    step: str = "joint"
    gamma: float = 0.0
    corrective: bool = False
    early_stopping: bool = False
    tune_threshold: bool = True
    tol: float = 1e-6
    n_threads: int = 1


@dataclass(frozen=True, eq=False)
class Data:
    """Training cases; `order` puts the positives first, and all columns but X are in that order.

    Attributes
    ----------
    X : ndarray of shape (m, p)
        As given.
    order : ndarray of int of shape (m,)
        Rows of X, positives first.
    n_pos : int
        Number of positives.
    s : ndarray of shape (m,)
        Weights of the reduced symmetric problem, summing to 1.
    c : float or ndarray of shape (m,)
        Reject price of the reduced problem.
    prices : Prices
        What answers really cost.
    folds : list of (train, test)
        Positions in the order, each increasing.
    partition : list of (train, test)
        Parts that hold out every case exactly once, for a stacked score; empty where there are none.
    weight : ndarray of shape (m,)
        Sample weights as given.
    log_odds : float
        Log-odds of the reduced problem above which the positive class is the cheaper answer.
    """

    X: NDArray[Any]
    order: Rows
    n_pos: int
    s: Array
    c: float | Array
    prices: Prices
    folds: list[tuple[Rows, Rows]]
    partition: list[tuple[Rows, Rows]] = field(default_factory=list)
    weight: Array = field(default_factory=lambda: np.ones(1))
    log_odds: float = 0.0

    @property
    def y(self) -> Array:
        """Labels, -1 or +1."""
        return np.where(np.arange(len(self.s)) < self.n_pos, 1.0, -1.0)

    @property
    def tested(self) -> Rows:
        """Positions that some fold holds out."""
        return np.sort(np.concatenate([np.zeros(0, dtype=np.intp), *(test for _, test in self.folds)]))


@dataclass(frozen=True, eq=False)
class Pair:
    """A fitted pair of scores.

    Attributes
    ----------
    form : AdditiveForm or TreeForm
        Scores of the features; with stack "oof" the last of them is the twin's score.
    twin : AdditiveForm or TreeForm, optional
        The stacked score.
    stack : {None, "oof", "start"}
        How it enters: as a feature, or as the pair the stumps are added to.
    surrogate : Surrogate, optional
        What it takes to make a pair of a score ("start"), and to tell odds from scores.
    c : float
        Reject price of the reduced problem.
    level : float, optional
        Chow's rule: r = |h| - level instead of a learned rejector.
    threshold : float
        Taken off r, so that a case is accepted when what is left is greater than 0.
    log_odds : float
        Log-odds of the reduced problem above which the positive class is the cheaper answer; other than 0 when the
        prices of the classes differ.
    """

    form: AdditiveForm | TreeForm
    twin: AdditiveForm | TreeForm | None = None
    stack: str | None = None
    surrogate: Surrogate | None = None
    c: float = 0.0
    level: float | None = None
    threshold: float = 0.0
    log_odds: float = 0.0

    def inputs(self, X: NDArray[Any], n_threads: int = 1) -> NDArray[Any]:
        """Features as `form` takes them."""
        if self.twin is None or self.stack != "oof":
            return X
        return np.column_stack([X, self.twin.evaluate(X, n_threads)[0]])

    def start(self, X: NDArray[Any], n_threads: int = 1) -> tuple[Array, Array] | None:
        """Pair that the stumps are added to."""
        if self.twin is None or self.stack != "start":
            return None
        assert self.surrogate is not None
        return plug_in_pair(self.surrogate, self.c, self.twin.evaluate(X, n_threads)[0])

    def evaluate(self, X: NDArray[Any], n_threads: int = 1) -> tuple[Array, Array]:
        """Scores h and r of each case; the sign of h is the cheaper class."""
        h, r = self.form.evaluate(self.inputs(X, n_threads), n_threads)
        start = self.start(X, n_threads)
        if start is not None:
            h, r = h + start[0], r + start[1]
        boundary = self.boundary(r)
        if self.level is not None:
            r = np.abs(h) - self.level
        return h - boundary, r - self.threshold

    def boundary(self, r: Array) -> Array:
        """What is taken off h, so that 0 lies where both classes cost the same."""
        if self.log_odds == 0.0 or self.surrogate is None:
            return np.zeros_like(r)
        return forced_boundary(self.surrogate, self.log_odds, np.zeros_like(r) if self.level is not None else r)


@dataclass(frozen=True, eq=False)
class Fitted:
    """A pair, how it was found, and what it would have cost on cases it had not seen."""

    name: str
    pair: Pair
    solution: Solution
    problem: Problem
    beta: float
    stumps: list[Stump] = field(default_factory=list)
    held_out: tuple[Array, Array] | None = None

    def held_out_cost(self, data: Data) -> Array | None:
        """Price of each held-out case."""
        if self.held_out is None:
            return None
        rows = data.tested
        h, r = (score[rows] for score in self.held_out)
        return data.prices.take(rows).of(data.y[rows], h, r)


def make_surrogate(recipe: Recipe, c: float | Array) -> Surrogate:
    """Return the calibrated surrogate of these prices."""
    dearest = float(np.max(c))
    b = tight_b(recipe.loss, dearest) if recipe.b is None else recipe.b
    if recipe.surrogate == "sum":
        return Surrogate(recipe.loss, b, calibrated_k(recipe.loss, c, b))
    # The maximum is calibrated only for b > 2c/(1 - 2c).
    if recipe.b is None:
        b = max(b, 4.0 * dearest / (1.0 - 2.0 * dearest))
    calibrated_k(recipe.loss, dearest, b, np.inf)
    return Surrogate(recipe.loss, b, calibrated_k(recipe.loss, c, b, _SHARPEST), _SHARPEST)


def make_settings(recipe: Recipe, family: str, beta: float = 0.0) -> Settings:
    """Return the settings of the loop."""
    twin, paper = family == CHOW, recipe.step == "paper"
    schedule = (1.0, 2.0, 4.0, 8.0, 16.0, _SHARPEST) if recipe.surrogate == "max" and not twin else ()
    sharpened = bool(schedule) and recipe.early_stopping and recipe.max_depth == 1
    return Settings(
        family="score" if twin else family,
        gamma=0.0 if twin else recipe.gamma,
        n_rounds=recipe.n_rounds,
        beta=beta,
        learning_rate=recipe.learning_rate,
        step="joint" if twin and paper else recipe.step,
        corrective=recipe.corrective,
        tol=recipe.tol,
        free_h=twin or not paper,
        free_r=not twin and not paper,
        n_threads=recipe.n_threads,
        p_schedule=schedule,
        p_rounds=min(recipe.n_rounds, _SHARPENING) if sharpened else None,
    )


def chow_level(loss: str, c: float) -> float:
    """|h| at which the best answer and a rejection cost the same, for the score that minimises the loss."""
    odds = float(np.log((1.0 - c) / c))
    return odds if loss == "logistic" else odds / 2


class Twin:
    """The twin of some data: held-out scores for every penalty (or number of rounds), fitted on demand."""

    def __init__(self, data: Data, bins: Bins, recipe: Recipe) -> None:
        self.data, self.recipe = data, replace(recipe, corrective=False)
        self.problem = Problem(bins, data.n_pos, data.s, Surrogate(recipe.loss, 1.0, _NO_REJECT_TERM))
        self.settings = make_settings(self.recipe, CHOW)
        self.options = _options(data, self.problem, self.settings, self.recipe)

    def of_least_loss(self) -> Fitted:
        """Return the one whose held-out scores have the least loss: the best probabilities, for stacking.

        Its held-out scores are those of the partition, which leaves no case out.
        """
        rows, y, s = self.data.tested, self.data.y, self.data.s

        def loss(scores: Array) -> float:
            return float(s[rows] @ np.exp(log_phi(self.recipe.loss, -y[rows] * scores[0, rows])))

        fitted = self._fit(loss)
        if self.data.partition is self.data.folds:
            return fitted
        return replace(fitted, held_out=self._scores_of_all(loss))

    def _scores_of_all(self, loss: Callable[[Array], float]) -> tuple[Array, Array]:
        """Scores of every case, held out, with the choice that the folds favour."""
        options, recipe, parts = self.options, self.recipe, self.data.partition
        assert options.scores is not None
        best = int(np.argmin([loss(scores) for scores in options.scores]))
        if options.rounds is not None:
            settings = replace(self.settings, n_rounds=options.rounds[best])
            scores = held_out_rounds(self.problem, settings, parts, recipe)[1][-1]
        elif options.betas is not None:
            scores = held_out_path(self.problem, self.settings, parts, np.array([options.betas[best]]))[0]
        else:
            scores = held_out_path(self.problem, replace(self.settings, beta=recipe.beta or 0.0), parts, None)[0]
        return scores[0], scores[1]

    def of_least_price(self) -> Fitted:
        """Return the one that costs least on held-out cases under Chow's rule, with that rule as its rejector."""
        c = float(np.max(self.data.c))
        level = chow_level(self.recipe.loss, c)
        price = _price_of(self.data)
        fitted = self._fit(lambda scores: price(np.stack([scores[0], np.abs(scores[0]) - level])))
        held_out = None if fitted.held_out is None else (fitted.held_out[0], np.abs(fitted.held_out[0]) - level)
        # The boundary between the classes lies inside the scores that Chow's rule rejects: no answer depends on it.
        pair = replace(fitted.pair, level=level, surrogate=self.problem.surrogate, c=c, log_odds=self.data.log_odds)
        return replace(fitted, pair=pair, held_out=held_out)

    def _fit(self, loss: Callable[[Array], float]) -> Fitted:
        return _fit_option(CHOW, self.problem, self.settings, self.recipe, self.options, loss)


def fit_pair(data: Data, bins: Bins, recipe: Recipe, family: str, stack: str | None = None, twin: Any = None) -> Fitted:
    """Boost a pair of the given family; with `stack` the fitted `twin` joins as a feature or as the start."""
    surrogate = make_surrogate(recipe, data.c)
    offset, name = None, family
    if stack is not None:
        name = f"{family}+{stack}"
        z = twin.held_out[0]
        if stack == "oof":
            bins = bins.join(bin_features(z[:, None], np.arange(len(z)), recipe.max_bins, data.weight))
        else:
            offset = np.column_stack(plug_in_pair(surrogate, float(np.max(data.c)), z))
    problem = Problem(bins, data.n_pos, data.s, surrogate, offset)
    settings = make_settings(recipe, family)
    options = _options(data, problem, settings, recipe)
    if options.scores is not None:
        options.scores[:, 0] -= forced_boundary(surrogate, data.log_odds, options.scores[:, 1])
    fitted = _fit_option(name, problem, settings, recipe, options, _price_of(data))
    pair = replace(fitted.pair, log_odds=data.log_odds)
    if stack is not None or data.log_odds != 0.0:
        pair = replace(pair, surrogate=surrogate, c=float(np.max(data.c)))
    if stack is not None:
        pair = replace(pair, twin=twin.pair.form, stack=stack)
    return replace(fitted, pair=pair)


def _price_of(data: Data) -> Callable[[Array], float]:
    """Mean price on held-out cases of scores (h, r)."""
    rows = data.tested
    prices, y = data.prices.take(rows), data.y[rows]
    return lambda scores: prices.mean(y, scores[0, rows], scores[1, rows])


@dataclass(frozen=True, eq=False)
class _Options:
    """What is left to choose, and the held-out scores of each choice, shape (n, 2, m)."""

    betas: list[float] | None  # shares of the largest useful penalty
    rounds: list[int] | None
    scores: Array | None


def _options(data: Data, problem: Problem, settings: Settings, recipe: Recipe) -> _Options:
    if recipe.max_depth > 1 or recipe.early_stopping:
        rounds, scores = held_out_rounds(problem, settings, data.folds, recipe)
        return _Options(None, rounds, scores)
    if recipe.beta is None:
        return _Options(list(BETA_PATH), None, held_out_path(problem, settings, data.folds, np.array(BETA_PATH)))
    if data.folds:
        return _Options(None, None, held_out_path(problem, replace(settings, beta=recipe.beta), data.folds, None))
    return _Options(None, None, None)


def _fit_option(
    name: str, problem: Problem, settings: Settings, recipe: Recipe, options: _Options, loss: Callable[[Array], float]
) -> Fitted:
    """Fit all cases with the choice that the held-out ones favour."""
    beta, held_out = recipe.beta or 0.0, None
    if options.scores is not None:
        best = int(np.argmin([loss(scores) for scores in options.scores]))
        held_out = (options.scores[best, 0], options.scores[best, 1])
        if options.betas is not None:
            beta = options.betas[best] * beta_max(problem, settings)
        if options.rounds is not None:
            settings = replace(settings, n_rounds=options.rounds[best])
    settings = replace(settings, beta=beta)
    if recipe.max_depth > 1:
        solution = boost_trees(problem, settings, recipe.max_depth)
        return Fitted(name, Pair(solution.model), solution, problem, beta, held_out=held_out)
    solution = boost(problem, settings)
    model, bins = solution.model, problem.bins
    form = additive_form(model.h0, model.r0, model.tables(bins), bins.cuts, bins.offsets)
    stumps = [describe(stump, bins, settings.gamma) for stump in model.stumps]
    return Fitted(name, Pair(form), solution, problem, beta, stumps, held_out)


def held_out_rounds(
    problem: Problem, settings: Settings, folds: list[tuple[Rows, Rows]], recipe: Recipe
) -> tuple[list[int], Array]:
    """Numbers of rounds to choose from, and the held-out scores after each: shape (n, 2, m)."""
    quick = replace(settings, certify_every=50, beta=recipe.beta or 0.0)
    most = settings.n_rounds
    grid = np.unique(np.geomspace(1, most, 25).astype(np.int64)) if most else np.zeros(1, dtype=np.int64)
    # On its way to the maximum the loss is another one in every stage: only rounds after the last can be compared.
    first = settings.p_rounds or 0
    grid = grid[grid >= first]
    scores = np.full((len(grid), 2, len(problem.s)), np.nan)
    for train, test in folds:
        recorder = Recorder(problem.take(test), grid, patience=(first, PATIENCE))
        if recipe.max_depth > 1:
            model = boost_trees(problem.take(train), quick, recipe.max_depth, recorder.after_tree).model
        else:
            model = boost(problem.take(train), quick, recorder).model
        recorder.finish(model.h0, model.r0)
        scores[:, :, test] = recorder.scores
    return grid.tolist(), scores


def with_best_threshold(fitted: Fitted, data: Data) -> Fitted:
    """Move the rejection threshold to where held-out cases cost least, if moving it pays on cases it was not set on.

    What it would have cost is judged with each part's threshold set on the other parts, so that it can be compared
    with a rule that sets none.
    """
    if fitted.held_out is None:
        return fitted
    h, r = fitted.held_out
    rows = data.tested
    moved = r.copy()
    # A single held-out part is judged by halves, which alternate within each class.
    parts = [test for _, test in data.folds] if len(data.folds) > 1 else [rows[::2], rows[1::2]]
    for part in parts:
        moved[part] -= _threshold(data, h, r, np.setdiff1d(rows, part))
    price = _price_of(data)
    if price(np.stack([h, moved])) >= price(np.stack([h, r])):
        return fitted
    tau = _threshold(data, h, r, rows)
    return replace(fitted, pair=replace(fitted.pair, threshold=tau), held_out=(h, moved))


def _threshold(data: Data, h: Array, r: Array, rows: Rows) -> float:
    if len(rows) == 0:  # parts that all hold the same cases leave none to set it on
        return 0.0
    return best_threshold(data.y[rows], h[rows], r[rows], data.prices.take(rows))


def choose(candidates: list[Fitted], data: Data) -> Fitted:
    """Return the candidate of least held-out cost; another than the first must beat it by `_SURE` standard errors."""
    first, *others = candidates
    base = first.held_out_cost(data)
    weight = data.prices.weight[data.tested]
    best, least = first, 0.0
    for other in others:
        cost = other.held_out_cost(data)
        if base is None or cost is None:
            continue
        difference = cost - base
        mean = float(weight @ difference / weight.sum())
        if mean < least and mean < -_SURE * standard_error(difference, weight):
            best, least = other, mean
    return best


def is_separated(fitted: Fitted) -> bool:
    """Whether larger weights alone would bring the loss of stumps to 0: every case is right, and accepted."""
    if not isinstance(fitted.pair.form, AdditiveForm):
        return False
    problem = fitted.problem
    h, r = scores_on(fitted.solution.model, problem)
    accepted = fitted.name == CHOW or bool((r > 0).all())
    return accepted and bool((problem.y * h > r).all())
