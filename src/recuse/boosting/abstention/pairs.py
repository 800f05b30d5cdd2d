"""From prepared data to a fitted pair (h, r): the twin, the stacked score, the choice of penalty and threshold.

The twin is the same boosting engine without a rejector: a score alone, rejected by Chow's rule, |h| <= ln((1 - c)/c).
Stacking adds its out-of-fold score as one more feature (a stump "-x+" on it is Chow's rule itself), or starts the
pair from it: the stumps are then added to the pair that the score alone calls for, and no stump leaves Chow's rule.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats, Indices
from ...solution import Solution
from ..binning import Bins, code_features, find_cuts
from ..shapes import AdditiveForm, additive_form
from .losses import Surrogate, calibrated_k, forced_boundary, log_phi, plug_in_pair, tight_b
from .rounds import beta_max, boost
from .selection import Data, Loss, favoured, judge, with_threshold
from .state import Problem, Settings
from .stumps import Stump, describe
from .trees import TreeForm, boost_trees
from .tuning import BETA_PATH, Cases, held_out_path, held_out_rounds, scores_on

CHOW = "chow"
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

    def start(self, X: NDArray[Any], n_threads: int = 1) -> tuple[Floats, Floats] | None:
        """Pair that the stumps are added to."""
        if self.twin is None or self.stack != "start":
            return None
        assert self.surrogate is not None
        return plug_in_pair(self.surrogate, self.c, self.twin.evaluate(X, n_threads)[0])

    def evaluate(self, X: NDArray[Any], n_threads: int = 1) -> tuple[Floats, Floats]:
        """Scores h and r of each case; the sign of h is the cheaper class."""
        h, r = self.form.evaluate(self.inputs(X, n_threads), n_threads)
        start = self.start(X, n_threads)
        if start is not None:
            h, r = h + start[0], r + start[1]
        boundary = self.boundary(r)
        if self.level is not None:
            r = np.abs(h) - self.level
        return h - boundary, r - self.threshold

    def boundary(self, r: Floats) -> Floats:
        """What is taken off h, so that 0 lies where both classes cost the same."""
        if self.log_odds == 0.0 or self.surrogate is None:
            return np.zeros_like(r)
        return forced_boundary(self.surrogate, self.log_odds, np.zeros_like(r) if self.level is not None else r)


@dataclass(frozen=True, eq=False)
class Fitted:
    """A pair, how it was found, and what it would have said of cases it had not seen.

    `judged` holds the scores (h, r) of each case by models that have not seen it, with penalty, rounds and threshold
    chosen on the other parts, so that what it costs can be compared with what another rule costs.
    """

    name: str
    pair: Pair
    solution: Solution
    problem: Problem
    beta: float
    stumps: list[Stump] = field(default_factory=list)
    judged: Floats | None = None

    def held_out_cost(self, data: Data) -> Floats | None:
        """Price of each held-out case."""
        if self.judged is None:
            return None
        rows = data.tested
        h, r = self.judged[:, rows]
        return data.prices.take(rows).of(data.y[rows], h, r)


def make_surrogate(recipe: Recipe, c: float | Floats) -> Surrogate:
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

    def of_least_loss(self) -> Score:
        """Return the one whose held-out scores have the least loss: the best probabilities, for stacking."""
        assert self.options.scores is not None
        best = self.favourite(self.data.tested)
        score = Score(self, self._fit(self.loss).pair.form, self.options.scores[best, 0])
        if self.data.partition is self.data.folds:
            return score
        # Folds that leave cases out give way to the partition, which leaves none.
        return replace(score, z=score.of(self.problem, self.data.partition, best))

    def loss(self, scores: Floats, rows: Indices) -> float:
        """What is boosted, of the scores of some cases."""
        y, s = self.data.y[rows], self.data.s[rows]
        return float(s @ np.exp(log_phi(self.recipe.loss, -y * scores[0, rows])))

    def favourite(self, rows: Indices) -> int:
        """The penalty, or number of rounds, of least loss on some held-out cases."""
        assert self.options.scores is not None
        return favoured(self.options.scores, self.loss, rows)

    def of_least_price(self) -> Fitted:
        """Return the one that costs least on held-out cases under Chow's rule, with that rule as its rejector."""
        c = float(np.max(self.data.c))
        level = chow_level(self.recipe.loss, c)
        price = self.data.price

        def ruled(scores: Floats) -> Floats:
            return np.stack([scores[0], np.abs(scores[0]) - level])

        fitted = self._fit(lambda scores, rows: price(ruled(scores), rows))
        # The boundary between the classes lies inside the scores that Chow's rule rejects: no answer depends on it.
        pair = replace(fitted.pair, level=level, surrogate=self.problem.surrogate, c=c, log_odds=self.data.log_odds)
        return replace(fitted, pair=pair, judged=None if fitted.judged is None else ruled(fitted.judged))

    def _fit(self, loss: Loss) -> Fitted:
        return _fit_option(CHOW, self.data, self.problem, self.settings, self.recipe, self.options, loss)


@dataclass(frozen=True, eq=False)
class Score:
    """The twin's score, to be stacked: how it is computed, and `z`, its value for each case by models without it."""

    twin: Twin
    form: AdditiveForm | TreeForm
    z: Floats

    def of(self, problem: Problem, parts: list[tuple[Indices, Indices]], option: int) -> Floats:
        """Held-out scores of a problem's cases, with one of the penalties or numbers of rounds."""
        options, recipe, settings = self.twin.options, self.twin.recipe, self.twin.settings
        given = replace(settings, beta=recipe.beta or 0.0)
        if options.rounds is not None:
            limited = replace(given, n_rounds=options.rounds[option])
            return held_out_rounds(problem, limited, parts, recipe.max_depth)[1][-1, 0]
        if options.betas is not None:
            return held_out_path(problem, settings, parts, np.array([options.betas[option]]))[0, 0]
        return held_out_path(problem, given, parts, None)[0, 0]

    def inside(self, train: Indices, test: Indices) -> Floats:
        """Scores as the training cases of a fold have them: by models that have seen neither them nor the test cases.

        Without this, a stacked pair would have learned from scores that know the cases it is judged on.
        """
        z, data, scores = self.z.copy(), self.twin.data, self.twin.options.scores
        assert scores is not None
        others = np.setdiff1d(data.tested, test)
        option, parts = self.twin.favourite(others if len(others) else test), inner_parts(data, train)
        if parts:
            z[train] = self.of(self.twin.problem.take(train), parts, option)
        z[test] = scores[option, 0, test]  # by the model of this very fold
        return z


def inner_parts(data: Data, train: Indices) -> list[tuple[Indices, Indices]]:
    """The partition among the training cases of a fold; halves where it would leave one class only to learn from.

    Nothing where a class has a single case.
    """
    at, positive = np.arange(len(train)), train < data.n_pos
    n_pos = int(positive.sum())
    if min(n_pos, len(train) - n_pos) < 2:
        return []
    held = [np.isin(train, test) for _, test in data.partition]
    if any(part.any() and len(set(positive[~part].tolist())) < 2 for part in held):
        odd = np.where(positive, at, at - n_pos) % 2 == 1  # every other case of each class
        held = [odd, ~odd]
    return [(at[~part], at[part]) for part in held if part.any()]


def fit_pair(
    data: Data, bins: Bins, recipe: Recipe, family: str, stack: str | None = None, score: Score | None = None
) -> Fitted:
    """Boost a pair of the given family; with `stack` the twin's score joins as a feature or as the start."""
    surrogate = make_surrogate(recipe, data.c)
    plain = Problem(bins, data.n_pos, data.s, surrogate)
    problem, name = plain, family
    cases: Cases = plain
    if stack is not None:
        assert score is not None
        stacked, name = _Stacked(plain, stack, recipe.max_bins, data, score), f"{family}+{stack}"
        problem, cases = stacked.with_score(score.z, np.arange(len(data.s))), stacked
    settings = make_settings(recipe, family)
    options = _options(data, cases, settings, recipe)
    if options.scores is not None:
        options.scores[:, 0] -= forced_boundary(surrogate, data.log_odds, options.scores[:, 1])
    fitted = _fit_option(name, data, problem, settings, recipe, options, data.price, recipe.tune_threshold)
    pair = replace(fitted.pair, log_odds=data.log_odds)
    if stack is not None or data.log_odds != 0.0:
        pair = replace(pair, surrogate=surrogate, c=float(np.max(data.c)))
    if score is not None and stack is not None:
        pair = replace(pair, twin=score.form, stack=stack)
    return replace(fitted, pair=pair)


@dataclass(frozen=True, eq=False)
class _Stacked:
    """A problem with the twin's score as one more feature, or as the pair to start from."""

    plain: Problem
    stack: str
    max_bins: int | None
    data: Data
    score: Score

    @property
    def n_cases(self) -> int:
        """Number of cases."""
        return self.plain.n_cases

    def with_score(self, z: Floats, seen: Indices) -> Problem:
        """All cases with the score; its bins, if any, are those of the cases seen."""
        if self.stack == "oof":
            cuts = find_cuts(z[seen], self.max_bins, self.data.weight[seen])
            return replace(self.plain, bins=self.plain.bins.join(code_features(z[:, None], np.arange(len(z)), [cuts])))
        offset = plug_in_pair(self.plain.surrogate, float(np.max(self.data.c)), z)
        return replace(self.plain, offset=np.column_stack(offset))

    def split(self, train: Indices, test: Indices) -> tuple[Problem, Problem]:
        """Training and test cases of a fold."""
        return self.with_score(self.score.inside(train, test), train).split(train, test)


@dataclass(frozen=True, eq=False)
class _Options:
    """What is left to choose, and the held-out scores of each choice, shape (n, 2, m)."""

    betas: list[float] | None  # shares of the largest useful penalty
    rounds: list[int] | None
    scores: Floats | None


def _options(data: Data, cases: Cases, settings: Settings, recipe: Recipe) -> _Options:
    given = replace(settings, beta=recipe.beta or 0.0)
    if recipe.max_depth > 1 or recipe.early_stopping:
        return _Options(None, *held_out_rounds(cases, given, data.folds, recipe.max_depth))
    if recipe.beta is None:
        return _Options(list(BETA_PATH), None, held_out_path(cases, settings, data.folds, np.array(BETA_PATH)))
    if data.folds:
        return _Options(None, None, held_out_path(cases, given, data.folds, None))
    return _Options(None, None, None)


def _fit_option(
    name: str,
    data: Data,
    problem: Problem,
    settings: Settings,
    recipe: Recipe,
    options: _Options,
    loss: Loss,
    tune_threshold: bool = False,
) -> Fitted:
    """Fit all cases with the choice that the held-out ones favour."""
    beta, judged, tau = recipe.beta or 0.0, None, 0.0
    if options.scores is not None:
        best = favoured(options.scores, loss, data.tested)
        judged = judge(options.scores, loss, data)
        if tune_threshold:
            judged, tau = with_threshold(options.scores, options.scores[best], judged, loss, data)
        if options.betas is not None:
            beta = options.betas[best] * beta_max(problem, settings)
        if options.rounds is not None:
            settings = replace(settings, n_rounds=options.rounds[best])
    settings = replace(settings, beta=beta)
    if recipe.max_depth > 1:
        solution = boost_trees(problem, settings, recipe.max_depth)
        pair, stumps = Pair(solution.model, threshold=tau), []
    else:
        solution = boost(problem, settings)
        model, bins = solution.model, problem.bins
        form = additive_form(model.h0, model.r0, model.tables(bins), bins.cuts, bins.offsets)
        pair, stumps = Pair(form, threshold=tau), [describe(stump, bins, settings.gamma) for stump in model.stumps]
    return Fitted(name, pair, solution, problem, beta, stumps, judged)


def is_separated(fitted: Fitted) -> bool:
    """Whether larger weights alone would bring the loss of stumps to 0: every case is right, and accepted."""
    if not isinstance(fitted.pair.form, AdditiveForm):
        return False
    problem = fitted.problem
    h, r = scores_on(fitted.solution.model, problem)
    accepted = fitted.name == CHOW or bool((r > 0).all())
    return accepted and bool((problem.y * h > r).all())
