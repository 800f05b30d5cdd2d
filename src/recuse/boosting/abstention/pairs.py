"""The fitted pairs of scores (h, r): by Chow's rule, learned, or learned on top of a stacked score.

All have `evaluate`, `explain` and `repriced`; NumPy only, so that an answer never loads the compiler.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats
from ...decisions import Evaluation
from ..reasons import explain_acceptance, explain_score
from ..shapes import AdditiveForm
from .engine.losses import LOSSES
from .engine.problem import Problem
from .engine.surrogates import Surrogate, calibrated_k, forced_boundary, plug_in_pair
from .engine.trees import TreeForm

Form = AdditiveForm | TreeForm


@dataclass(frozen=True)
class GivenScore:
    """Log-odds that somebody else computed: the column behind the features.

    Attributes
    ----------
    shift : float
        Added to them; what the weights of the two classes do to log-odds.
    """

    shift: float

    def evaluate(self, X: NDArray[Any], n_threads: int = 1) -> tuple[Floats, Floats]:
        """Score h of each case, and 0 for r."""
        return self.of(X[:, -1]), np.zeros(len(X))

    def of(self, log_odds: Floats) -> Floats:
        """The score of log-odds."""
        return log_odds + self.shift


@dataclass(frozen=True)
class PriceChange:
    """Other prices, reduced to a symmetric problem.

    Attributes
    ----------
    before, after : float
        Reject price, in units of an error.
    log_odds : float
        Log-odds above which the positive class is the cheaper answer, after.
    """

    before: float
    after: float
    log_odds: float


@dataclass(frozen=True, eq=False)
class ChowPair:
    """A score h, and Chow's rule as its rejector: r = |h| - level.

    Attributes
    ----------
    form : AdditiveForm or TreeForm
        The score.
    loss : str
        Name of the loss that it minimises.
    level : float
        |h| up to which a case is rejected.
    boundary : float
        Score at which both classes cost the same; it is taken off h.
    """

    form: Form
    loss: str
    level: float
    boundary: float = 0.0
    threshold: ClassVar[float] = 0.0
    score: ClassVar[Form | None] = None

    @classmethod
    def at_price(cls, form: Form, loss: str, c: float, log_odds: float) -> ChowPair:
        """Return the pair of a score at reject price c."""
        # The boundary lies inside the scores that Chow's rule rejects: no answer depends on it.
        boundary = float(forced_boundary(Surrogate(loss, 1.0, 1.0), log_odds, np.zeros(1))[0])
        return cls(form, loss, LOSSES[loss].chow_level(c), boundary)

    def evaluate(self, X: NDArray[Any], n_threads: int = 1) -> tuple[Floats, Floats]:
        """Scores h and r of each case; the sign of h is the cheaper class."""
        h = self.form.evaluate(X, n_threads)[0]
        return h - self.boundary, np.abs(h) - self.level

    def explain(self, model: Any, evaluation: Evaluation) -> list[str]:
        """One sentence per case: where its score lies."""
        return explain_score(model, evaluation, *self.thresholds)

    @property
    def thresholds(self) -> tuple[float, float]:
        """Values of the published h between which a case is rejected."""
        return -self.level - self.boundary, self.level - self.boundary

    def repriced(self, change: PriceChange) -> ChowPair:
        """Return the same score with the rule of other prices."""
        return ChowPair.at_price(self.form, self.loss, change.after, change.log_odds)


@dataclass(frozen=True, eq=False)
class LearnedPair:
    """Two scores boosted together.

    Attributes
    ----------
    form : AdditiveForm or TreeForm
        Both scores.
    surrogate : Surrogate
        What they minimise.
    threshold : float
        Taken off r, so that a case is accepted when what is left is greater than 0.
    log_odds : float
        Log-odds of the reduced problem above which the positive class is the cheaper answer; other than 0 where the
        prices of the classes differ.
    fixed_boundary : bool
        Whether the score at which both classes cost the same is that at r = 0 for every case. Where h is monotone it
        has to be: a boundary that moves with r would not keep it so. Answers to cases with r > 0 are the same.
    """

    form: Form
    surrogate: Surrogate
    threshold: float = 0.0
    log_odds: float = 0.0
    fixed_boundary: bool = False
    score: ClassVar[Form | None] = None

    def evaluate(self, X: NDArray[Any], n_threads: int = 1) -> tuple[Floats, Floats]:
        """Scores h and r of each case; the sign of h is the cheaper class."""
        return self.settle(*self.form.evaluate(X, n_threads))

    def settle(self, h: Floats, r: Floats) -> tuple[Floats, Floats]:
        """Move boosted scores so that 0 lies where both classes cost the same, and where acceptance begins."""
        at = np.zeros_like(r) if self.fixed_boundary else r
        return h - forced_boundary(self.surrogate, self.log_odds, at), r - self.threshold

    def explain(self, model: Any, evaluation: Evaluation) -> list[str]:
        """One sentence per case: its acceptance score."""
        return explain_acceptance(model, evaluation)

    def repriced(self, change: PriceChange) -> LearnedPair:
        """Return the same scores with r shifted: for losses and settings where another price does no more."""
        loss, b, k = self.surrogate.loss, self.surrogate.b, self.surrogate.k
        ratio = calibrated_k(loss, change.after, b) / calibrated_k(loss, change.before, b)
        shift = float(np.log(ratio)) / (1.0 + b)
        surrogate = replace(self.surrogate, k=float(k * ratio))
        return replace(self, surrogate=surrogate, threshold=self.threshold - shift, log_odds=change.log_odds)


@dataclass(frozen=True, eq=False)
class StackedPair:
    """A learned pair for which another score is one more feature, the last.

    Attributes
    ----------
    score : AdditiveForm or TreeForm
        The score; its h is the feature.
    learned : LearnedPair
        The pair, of the features and the score.
    """

    score: Form
    learned: LearnedPair

    @property
    def form(self) -> Form:
        """The boosted scores."""
        return self.learned.form

    @property
    def threshold(self) -> float:
        """What is taken off r."""
        return self.learned.threshold

    def evaluate(self, X: NDArray[Any], n_threads: int = 1) -> tuple[Floats, Floats]:
        """Scores h and r of each case; the sign of h is the cheaper class."""
        return self.learned.evaluate(self._with_score(X, n_threads), n_threads)

    def explain(self, model: Any, evaluation: Evaluation) -> list[str]:
        """One sentence per case, with the score among the features."""
        return self.learned.explain(model, replace(evaluation, detail=self._with_score(evaluation.detail)))

    def repriced(self, change: PriceChange) -> StackedPair:
        """Return the same with the learned pair at other prices."""
        return StackedPair(self.score, self.learned.repriced(change))

    def _with_score(self, X: NDArray[Any], n_threads: int = 1) -> NDArray[Any]:
        """The features with the score behind them."""
        return np.column_stack([X, self.score.evaluate(X, n_threads)[0]])


@dataclass(frozen=True, eq=False)
class StartedPair:
    """A learned pair that is added to the pair that Chow's rule makes of a score.

    Attributes
    ----------
    score : AdditiveForm, TreeForm or GivenScore
        The score to start from.
    learned : LearnedPair
        What is added; its threshold and boundary are those of the sum.
    c : float
        Reject price of the reduced problem.
    typical : tuple of float
        What the start adds to h and to r on average over the training cases; 0 where it is not known.
    """

    score: Form | GivenScore
    learned: LearnedPair
    c: float
    typical: tuple[float, float] = (0.0, 0.0)

    @property
    def form(self) -> Form:
        """The boosted scores, without the start."""
        return self.learned.form

    @property
    def threshold(self) -> float:
        """What is taken off r."""
        return self.learned.threshold

    def evaluate(self, X: NDArray[Any], n_threads: int = 1) -> tuple[Floats, Floats]:
        """Scores h and r of each case; the sign of h is the cheaper class."""
        h, r = self.form.evaluate(X, n_threads)
        start = self._start(X, n_threads)
        return self.learned.settle(h + start[0], r + start[1])

    def explain(self, model: Any, evaluation: Evaluation) -> list[str]:
        """One sentence per case: its acceptance score."""
        return explain_acceptance(model, evaluation)

    def contributions(self, X: NDArray[Any]) -> tuple[Floats, Floats]:
        """What each feature adds to h and to r, and behind them what the start adds; for stumps only."""
        assert isinstance(self.form, AdditiveForm)
        h, r = self.form.contributions(self._features(X))
        start = self._start(X)
        return np.column_stack([h, start[0]]), np.column_stack([r, start[1]])

    def _features(self, X: NDArray[Any]) -> NDArray[Any]:
        """The columns of the features, without given log-odds behind them."""
        return X[:, :-1] if isinstance(self.score, GivenScore) else X

    def repriced(self, change: PriceChange) -> StartedPair:
        """Not possible: the start depends on the prices, and the stumps were fitted to the start of one price list."""
        raise ValueError("A pair that starts from a score answers at the prices of fit only: fit again.")

    def _start(self, X: NDArray[Any], n_threads: int = 1) -> tuple[Floats, Floats]:
        """The pair that Chow's rule makes of the score."""
        return plug_in_pair(self.learned.surrogate, self.c, self.score.evaluate(X, n_threads)[0])


def typical_start(problem: Problem, weight: Floats) -> tuple[float, float]:
    """What the start of a problem adds to h and to r, on average over its cases."""
    assert problem.offset is not None
    h, r = weight @ problem.offset / weight.sum()
    return float(h), float(r)


Pair = ChowPair | LearnedPair | StackedPair | StartedPair


def with_forms(pair: Pair, form: Form, score: Form | None, *, monotone: bool = False) -> Pair:
    """The same pair with another form of its scores, and of the score it is stacked on where there is one.

    If `monotone`, the boundary between the classes is fixed from now on: see `LearnedPair`.
    """
    if isinstance(pair, ChowPair):
        return replace(pair, form=form)
    learned = pair if isinstance(pair, LearnedPair) else pair.learned
    learned = replace(learned, form=form, fixed_boundary=learned.fixed_boundary or monotone)
    if isinstance(pair, LearnedPair):
        return learned
    assert score is not None
    return replace(pair, score=score, learned=learned)
