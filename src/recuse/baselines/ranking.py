"""Rankers that optimise AUC or KS: RankBoost by pairs, and a linear score by coordinate search."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from ..arrays import Flags, Floats
from ..base import require_two_classes
from ..boosting.binning import Bins, bin_features, resolve_bins
from ..boosting.shapes import AdditiveForm, additive_form
from ..decisions import require_numbers
from ..labels import preview, settle_classes
from ..parameters import check_count, check_number, check_weights
from ..rounding import row_sums
from ..validation import check_outcomes, store_columns, validate_data


class _CheckedCases(NamedTuple):
    """Training cases as floats, which of them belong to the second class, the classes, and names for messages."""

    X: NDArray[Any]
    positive: Flags
    classes: NDArray[Any]
    columns: NDArray[Any]


class _Ranker(ClassifierMixin, BaseEstimator, ABC):
    """A score, and the threshold of the largest gap between the classes."""

    classes_: NDArray[Any]
    threshold_: float

    def _check(self, X: Any, y: Any, **options: Any) -> _CheckedCases:
        """Check the training cases; nothing is stored."""
        draft = copy(self)  # scikit-learn stores the columns on what it checks
        X, y = validate_data(draft, X, y, dtype=np.float64, ensure_min_samples=2, **options)
        classes, codes = settle_classes(y)
        require_two_classes(classes)
        return _CheckedCases(X, codes == 1, classes, getattr(draft, "feature_names_in_", np.arange(X.shape[1])))

    def _store_ranking(self, X: Any, cases: _CheckedCases, score: Floats) -> None:
        """Publish the columns and classes of the cases, and the threshold at the largest gap between the classes."""
        order = np.argsort(score, kind="stable")
        ks, threshold = _largest_gap(score[order], _gap_steps(cases.positive[order]))
        store_columns(self, X)
        self.classes_, self.threshold_, self.objective_ = cases.classes, threshold, 1.0 - ks

    @abstractmethod
    def _score(self, X: Any) -> Floats:
        """Score of each case, higher towards ``classes_[1]``."""

    def decision_function(self, X: Any) -> Floats:
        """Score of each case less the threshold: greater than 0 towards ``classes_[1]``."""
        check_is_fitted(self)
        return self._score(X) - self.threshold_

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each case."""
        answers = (self.decision_function(X) > 0).astype(np.intp)
        return np.asarray(self.classes_[answers])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the cases that get their class."""
        check_is_fitted(self)
        truth, answers = check_outcomes(X, y, self.classes_), self.decision_function(X) > 0
        return float(np.average(answers == truth, weights=check_weights(sample_weight, len(truth))))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class RankBoostClassifier(_Ranker):
    """RankBoost for two classes: boosted stumps on the exponential loss of pairs.

    Minimised is sum over pairs exp(S(x') - S(x)), x positive and x' negative. The weights of the pairs are products
    of weights of the cases, so that a round costs O(n p): with potentials pi_i = v_i (total of the other class) the
    stump of largest |r| = |sum_i y_i pi_i h(x_i)| is taken with weight ln((1 + r)/(1 - r)) / 2.

    Parameters
    ----------
    n_rounds : int, default=100
        Rounds.
    max_bins : "auto", int or None, default="auto"
        As in `AbstentionBoostingClassifier`.

    Attributes
    ----------
    shape_functions_ : list of ShapeFunction
        What each feature adds to the score.
    history_ : dict
        "objective": mean exponential loss of the pairs by round, an upper bound of 1 - AUC.
    threshold_ : float
        Where the classes are told apart: at the largest gap.
    objective_ : float
        1 - KS there.
    n_iter_ : int
        Rounds used.

    References
    ----------
    Y. Freund, R. Iyer, R. E. Schapire, Y. Singer, "An Efficient Boosting Algorithm for Combining Preferences", JMLR 4
    (2003), section 3.2 and figure 2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import roc_auc_score
    >>> from recuse.baselines import RankBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RankBoostClassifier().fit(X[:400], y[:400])
    >>> roc_auc_score(y[400:], model.decision_function(X[400:])) > 0.98
    True
    """

    def __init__(self, *, n_rounds: int = 100, max_bins: int | str | None = "auto") -> None:
        self.n_rounds = n_rounds
        self.max_bins = max_bins

    def fit(self, X: Any, y: Any) -> RankBoostClassifier:
        """Boost.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training cases; NaN is a missing value and gets 0 from every stump.
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        self
        """
        check_count("n_rounds", self.n_rounds)
        cases = self._check(X, y, ensure_all_finite="allow-nan")
        n = len(cases.X)
        bins = bin_features(cases.X, np.arange(n), resolve_bins(self.max_bins, n))
        score, table, trace = _boost_pairs(bins, cases.positive, self.n_rounds)
        form = additive_form(0.0, 0.0, (table, np.zeros_like(table)), bins)
        self._store_ranking(X, cases, score)
        self._form: AdditiveForm = form
        self.shape_functions_ = form.shapes
        self.history_ = {"objective": np.array(trace)}
        self.n_iter_ = len(trace) - 1
        return self

    def _score(self, X: Any) -> Floats:
        X = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan")
        return self._form.evaluate(X)[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _boost_pairs(bins: Bins, positive: Flags, n_rounds: int) -> tuple[Floats, Floats, list[float]]:
    """Scores of the cases, the table of all cells, and the loss before each round and after the last."""
    cells = bins.codes + bins.offsets[:-1, None]  # numbered through all features
    score, table, trace = np.zeros(bins.codes.shape[1]), np.zeros(bins.n_cells), []
    for _ in range(n_rounds):
        signed, loss = _potentials(score, positive)
        trace.append(loss)
        sums = np.bincount(cells.ravel(), np.tile(signed, len(cells)), minlength=bins.n_cells)
        f, cut, r = _best_cut(bins, sums.astype(np.float64, copy=False))
        if abs(r) < 1e-12:
            break
        alpha = 0.5 * np.log((1 + r) / (1 - r))
        first, last = bins.offsets[f], bins.offsets[f + 1]
        change = np.zeros(last - first)  # 0 for missing values, in the last cell
        change[: cut + 1] = -alpha
        change[cut + 1 : -1] = alpha
        table[first:last] += change
        score += change[bins.codes[f]]
    return score, table, [*trace, _potentials(score, positive)[1]]


def _best_cut(bins: Bins, sums: Floats) -> tuple[int, int, float]:
    """Feature and cut of the stump of largest |r|, and its r, given the sums of y_i pi_i in all cells."""
    starts, widths = bins.offsets[:-1], np.diff(bins.offsets)
    missing = bins.offsets[1:] - 1
    sums[missing] = 0.0
    below = np.cumsum(sums)
    left = below - np.repeat(below[starts] - sums[starts], widths)
    # A stump says -1 up to the cut and +1 above it.
    r = np.repeat(np.add.reduceat(sums, starts), widths) - 2.0 * left
    r[missing] = 0.0
    r[missing - 1] = 0.0  # nothing above the last bin
    cell = int(np.argmax(np.abs(r)))
    f = int(np.searchsorted(bins.offsets, cell, side="right")) - 1
    return f, cell - int(starts[f]), float(np.clip(r[cell], -1 + 1e-10, 1 - 1e-10))


def _potentials(score: Floats, positive: Flags) -> tuple[Floats, float]:
    """y_i pi_i, which add up to 1 in each class, and the mean exponential loss of the pairs."""
    shares, log_sums = np.empty(len(score)), 0.0
    for side, sign in ((positive, -1.0), (~positive, 1.0)):
        at = sign * score[side]
        top = at.max()
        weights = np.exp(at - top)
        shares[side] = -sign * weights / weights.sum()
        log_sums += top + float(np.log(weights.mean()))
    # Half of what each pair adds comes from its positive, half from its negative.
    return 0.5 * shares, float(np.exp(min(log_sums, 700.0)))


class KSLinearClassifier(_Ranker):
    """DMKS: a linear score whose Kolmogorov-Smirnov statistic is maximised directly, coordinate by coordinate.

    Starts from logistic regression on standardised features. Along one coefficient the score of every case is a
    straight line; the coefficient is moved to the best of a grid around it, and the grid narrows when a pass over all
    coordinates finds nothing better.

    Parameters
    ----------
    max_iter : int, default=20
        Passes over the coordinates, at most.
    n_steps : int, default=21
        Values tried for a coefficient in each pass.
    tol : float, default=1e-3
        Stop when the grid is narrower than this, relative to the length of the starting coefficients.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Coefficients on the features as given.
    intercept_ : ndarray of shape (1,)
        So that the score is above 0 for ``classes_[1]``.
    objective_ : float
        1 - KS on the training cases.
    start_objective_ : float
        The same of logistic regression.
    n_iter_ : int
        Passes done.

    References
    ----------
    F. Fang, Y. Chen, "A new approach for credit scoring by directly maximizing the Kolmogorov-Smirnov statistic",
    Computational Statistics & Data Analysis 133 (2019).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from recuse.baselines import KSLinearClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = KSLinearClassifier(max_iter=3).fit(X, y)
    >>> model.objective_ <= model.start_objective_
    True
    """

    def __init__(self, *, max_iter: int = 20, n_steps: int = 21, tol: float = 1e-3) -> None:
        self.max_iter = max_iter
        self.n_steps = n_steps
        self.tol = tol

    def fit(self, X: Any, y: Any) -> KSLinearClassifier:
        """Search.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training cases without missing values.
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        self
        """
        check_count("max_iter", self.max_iter)
        check_count("n_steps", self.n_steps, least=2)
        check_number("tol", self.tol, 0.0, strict=True)
        cases = self._check(X, y)
        mean, scale = _mean_and_scale(cases)
        Z, gap_steps = (cases.X - mean) / scale, _gap_steps(cases.positive)
        coef = LogisticRegression(max_iter=1000).fit(Z, cases.positive).coef_[0].astype(np.float64)
        length = float(np.linalg.norm(coef)) or 1.0
        coef, score = coef / length, Z @ coef / length
        start_objective = float(1.0 - _ks(score[None], gap_steps)[0])
        coef, score, n_iter = self._search(Z, gap_steps, coef, score)
        self._store_ranking(X, cases, score)
        self.start_objective_, self.n_iter_ = start_objective, n_iter
        self.coef_ = (coef / scale)[None, :]
        self._center = float(coef @ (mean / scale))
        self.intercept_ = np.array([-self._center - self.threshold_])
        return self

    def _search(self, Z: Floats, gap_steps: Floats, coef: Floats, score: Floats) -> tuple[Floats, Floats, int]:
        """Coefficients, their scores and the number of passes of a search along one coordinate after the other."""
        best, width, n_iter = float(_ks(score[None], gap_steps)[0]), 1.0, 0
        while n_iter < self.max_iter and width > self.tol:
            n_iter += 1
            before = best
            for j in range(Z.shape[1]):
                moves = width * np.linspace(-1.0, 1.0, self.n_steps)
                found = _ks_along(score, Z[:, j], moves, gap_steps)
                if found.max() > best + 1e-12:
                    move = moves[int(np.argmax(found))]
                    best, coef[j] = float(found.max()), coef[j] + move
                    score = score + move * Z[:, j]
            if best == before:
                width /= 4.0
        return coef, score, n_iter

    def _score(self, X: Any) -> Floats:
        X = validate_data(self, X, reset=False, dtype=np.float64)
        score = row_sums(X, self.coef_[0]) - self._center
        require_numbers(score)
        return score


_AT_ONCE = 4_000_000  # scores sorted at once


def _mean_and_scale(cases: _CheckedCases) -> tuple[Floats, Floats]:
    """Mean and standard deviation of each feature, 1 for a constant one."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean, scale = cases.X.mean(axis=0), cases.X.std(axis=0)
    if not np.isfinite(scale).all():
        names = preview(cases.columns[~np.isfinite(scale)])
        raise ValueError(f"The values in the columns {names} are too large to be standardised: divide them.")
    return mean, np.where(scale > 0, scale, 1.0)


def _gap_steps(positive: Flags) -> Floats:
    """What each case adds to the gap between the distributions once it is below the threshold."""
    return np.where(positive, -1.0 / positive.sum(), 1.0 / (~positive).sum())


def _ks_along(score: Floats, column: Floats, moves: Floats, steps: Floats) -> Floats:
    """KS of score + move * column for each move."""
    rows = max(1, _AT_ONCE // len(score))
    parts = [moves[i : i + rows] for i in range(0, len(moves), rows)]
    return np.concatenate([_ks(score + part[:, None] * column, steps) for part in parts])


def _ks(scores: Floats, steps: Floats) -> Floats:
    """KS of each row of scores; cases of equal score stand together."""
    order = np.argsort(scores, axis=1)
    sorted_scores = np.take_along_axis(scores, order, axis=1)
    gap = np.cumsum(steps[order], axis=1)
    inside = sorted_scores[:, 1:] == sorted_scores[:, :-1]
    gap[:, :-1][inside] = 0.0
    return np.asarray(np.maximum(gap.max(axis=1), 0.0))


def _largest_gap(score: Floats, steps: Floats) -> tuple[float, float]:
    """Largest gap of sorted scores, and a threshold there."""
    gap = np.cumsum(steps)
    gap[:-1][score[1:] == score[:-1]] = 0.0
    at = int(np.argmax(gap[:-1])) if len(score) > 1 else 0
    return float(max(gap[at], 0.0)), float(score[at] + (score[at + 1] - score[at]) / 2)
