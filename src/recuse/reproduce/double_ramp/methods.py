"""The methods compared: each chooses its width and regularisation by cross-validation, once per reject price."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from ...arrays import Floats
from ...baselines import EmbeddedRejectSVC
from ...costs import Costs
from ...svm import DoubleHingeSVC, DoubleRampSVC, double_hinge_path, double_ramp_path
from ...svm.losses import score_thresholds
from ...thresholds.rules import Sample, symmetric_band
from ..splits import Labels, Split
from .plan import Part


@dataclass(frozen=True)
class Machine:
    """A fitted machine: scores of the test cases, half-width of the reject band, number of support vectors."""

    f: Floats
    half_width: float
    support: int

    def answers(self) -> Labels:
        """1, -1, or 0 for a rejection."""
        return np.where(np.abs(self.f) > self.half_width, np.sign(self.f), 0.0)


def judge(answers: Labels, y: Labels, d: float) -> tuple[float, float | None, float]:
    """Risk R_d, accuracy on accepted cases (None where there is none), rejection rate."""
    rejected = answers == 0
    wrong = ~rejected & (answers != y)
    accuracy = None if rejected.all() else float(1 - wrong.sum() / (~rejected).sum())
    return float((d * rejected + wrong).mean()), accuracy, float(rejected.mean())


def double_ramp(part: Part, split: Split) -> Iterator[Machine]:
    """SDR-SVM."""

    def answers(X: Floats, y: Labels, X_test: Floats, gamma: float) -> Labels:
        path = double_ramp_path(X, y, part.lams, part.prices, gamma=gamma)
        f = path.scores(X_test)
        return np.where(np.abs(f) > path.rho[:, :, None], np.sign(f), 0.0)

    for d, (gamma, lam) in zip(part.prices, _search(part, part.lams, split, answers), strict=True):
        model = DoubleRampSVC(d, lam=lam, gamma=gamma).fit(split.X, split.y)
        yield Machine(model.decision_function(split.X_test), model.rho_, len(model.support_))


def double_hinge(part: Part, split: Split) -> Iterator[Machine]:
    """DH-SVM."""
    halves = np.array([score_thresholds(Costs(reject=d))[1] for d in part.prices])

    def answers(X: Floats, y: Labels, X_test: Floats, gamma: float) -> Labels:
        f = double_hinge_path(X, y, part.strengths, part.prices, gamma=gamma).scores(X_test)
        return np.where(np.abs(f) > halves[:, None, None], np.sign(f), 0.0)

    chosen = _search(part, part.strengths, split, answers)
    for d, half, (gamma, C) in zip(part.prices, halves, chosen, strict=True):
        model = DoubleHingeSVC(d, C=C, gamma=gamma).fit(split.X, split.y)
        yield Machine(model.decision_function(split.X_test), half, len(model.support_))


def embedded(part: Part, split: Split) -> Iterator[Machine]:
    """ER-SVM."""

    def machine(X: Floats, y: Labels, X_test: Floats, gamma: float, d: float, C: float) -> Machine:
        model = EmbeddedRejectSVC(d, C=C, gamma=gamma, tol=1e-2).fit(X, y)
        return Machine(model.decision_function(X_test), model.epsilon_, len(model.support_))

    def answers(X: Floats, y: Labels, X_test: Floats, gamma: float) -> Labels:
        grid = [[machine(X, y, X_test, gamma, d, C).answers() for C in part.embedded] for d in part.prices]
        return np.array(grid)

    for d, (gamma, C) in zip(part.prices, _search(part, part.embedded, split, answers), strict=True):
        yield machine(*split[:3], gamma, d, C)


def ordinary(part: Part, split: Split) -> Iterator[Machine]:
    """The SVM, and the threshold on |f| of lowest cross-validated risk."""
    best = [(np.inf, 0.0, 0.0, 0.0)] * len(part.prices)
    for gamma in _gammas(part, split.X):
        for C in part.strengths:
            f = np.empty(len(split.y))
            for train, test in _inner_folds(part, split):
                f[test] = SVC(C=C, gamma=gamma).fit(split.X[train], split.y[train]).decision_function(split.X[test])
            sample = Sample.of(f, split.y > 0, np.ones(len(split.y)))
            for k, d in enumerate(part.prices):
                band, cost = symmetric_band(sample, Costs(reject=d), 0.0)
                best[k] = min(best[k], (cost, gamma, C, band.upper))
    for _, gamma, C, half in best:
        model = SVC(C=C, gamma=gamma).fit(split.X, split.y)
        yield Machine(model.decision_function(split.X_test), max(half, 0.0), len(model.support_))


METHODS: dict[str, Callable[[Part, Split], Iterator[Machine]]] = {
    "SDR-SVM": double_ramp,
    "DH-SVM": double_hinge,
    "SVM": ordinary,
    "ER-SVM": embedded,
}


def _search(
    part: Part, strengths: tuple[float, ...], split: Split, answers: Callable[..., Labels]
) -> list[tuple[float, float]]:
    """Width and regularisation of lowest risk on held-out cases, for each price."""
    X, y = split.X, split.y
    best = [(np.inf, 0.0, 0.0)] * len(part.prices)
    for gamma in _gammas(part, X):
        held_out = np.empty((len(part.prices), len(strengths), len(y)))
        for train, test in _inner_folds(part, split):
            held_out[:, :, test] = answers(X[train], y[train], X[test], gamma)
        for k, d in enumerate(part.prices):
            for strength, row in zip(strengths, held_out[k], strict=True):
                best[k] = min(best[k], (judge(row, y, d)[0], gamma, strength))
    return [(gamma, strength) for _, gamma, strength in best]


def _gammas(part: Part, X: Floats) -> list[float]:
    """The kernel widths of the grid."""
    return [width / X.shape[1] for width in part.widths]


def _inner_folds(part: Part, split: Split) -> Iterator[Any]:
    """Training and held-out cases of the search."""
    folds: Iterator[Any] = StratifiedKFold(part.inner, shuffle=True, random_state=split.seed).split(split.y, split.y)
    return folds
