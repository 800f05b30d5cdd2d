"""The three methods: how each is built at a point of its grid, and how its grid is searched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.svm import SVC, OneClassSVM

from ...arrays import Flags, Floats, Indices
from ...baselines import IndependentOneClassSVC
from ...svm import CoupledOneClassSVC
from ...thresholds import ThresholdRejectClassifier
from ..splits import Labels
from .scenarios import COSTS, NOVELTY, NU, SCENARIOS, answers_of, cost_of, with_novelties

WIDTHS = tuple(4.0**k for k in range(-3, 2))  # gamma, in units of 1 / (number of features)
STRENGTHS = (0.1, 1.0, 10.0, 100.0)


@dataclass(frozen=True)
class Part:
    """One data set: how it is split and searched."""

    data: str
    splits: int = 5
    folds: int = 3
    widths: tuple[float, ...] = WIDTHS
    strengths: tuple[float, ...] = STRENGTHS
    searched: int = 1500  # at most this many training cases take part in the search

    @property
    def label(self) -> str:
        """Name of the data set."""
        return self.data


@dataclass(frozen=True)
class GridPoint:
    """A point of a method's grid, and its cost in each scenario on the inner folds."""

    gamma: float
    C: float
    novelty_gamma: float = 0.0
    costs: tuple[float, ...] = (0.0, 0.0, 0.0)


class InnerFold(NamedTuple):
    """Training cases of an inner fold, and its held-out cases followed by novelties."""

    X: Floats
    y: Labels
    X_held_out: Floats
    y_held_out: Labels


def coupled(point: GridPoint, scenario: str) -> Any:
    """CONSUM."""
    return CoupledOneClassSVC(COSTS, C=point.C, gamma=point.gamma, nu_positive=NU, nu_negative=NU, rejection=scenario)


def independent(point: GridPoint, scenario: str) -> Any:
    """2OSVM."""
    return IndependentOneClassSVC(COSTS, gamma=point.gamma, nu_positive=NU, nu_negative=NU, rejection=scenario)


def chow(point: GridPoint, scenario: str) -> Any:
    """SVM, Platt's sigmoid, Chow's rule, one-class SVM."""
    svm = SVC(C=point.C, gamma=point.gamma)
    if scenario == "none":
        return svm
    novelty = OneClassSVM(nu=NU, gamma=point.novelty_gamma) if scenario == "both" else None
    calibrated = CalibratedClassifierCV(svm, ensemble=False, cv=3)
    return ThresholdRejectClassifier(calibrated, costs=COSTS, rule="chow", novelty=novelty)


def _inner_folds(part: Part, X: Floats, y: Labels, seed: int) -> Iterator[InnerFold]:
    """The folds of the search, on at most `part.searched` training cases."""
    if len(y) > part.searched:
        X, _, y, _ = train_test_split(X, y, train_size=part.searched, stratify=y, random_state=seed)
    for train, test in StratifiedKFold(part.folds, shuffle=True, random_state=seed).split(X, y):
        yield InnerFold(X[train], y[train], *with_novelties(X[test], y[test], seed))


def _scenario_costs(model: Any, X: Floats, y: Labels) -> list[float]:
    """Cost of a fitted one-class pair in the three scenarios; novelties count in the third only."""
    known, costs = y != NOVELTY, []
    for scenario in SCENARIOS:
        counted = slice(None) if scenario == "both" else known
        answers = answers_of(model.set_params(rejection=scenario), X[counted])
        costs.append(cost_of(answers, y[counted]))
    return costs


def _search_pairs(
    build: Callable[[GridPoint, str], Any], strengths: Sequence[float] | None = None
) -> Callable[..., list[GridPoint]]:
    """The search of a pair of one-class machines, over given values of C or those of the part."""

    def search(part: Part, X: Floats, y: Labels, seed: int) -> list[GridPoint]:
        folds, found = list(_inner_folds(part, X, y, seed)), []
        for width in part.widths:
            for C in part.strengths if strengths is None else strengths:
                point = GridPoint(width / X.shape[1], C)
                costs = [
                    _scenario_costs(build(point, "both").fit(fold.X, fold.y), fold.X_held_out, fold.y_held_out)
                    for fold in folds
                ]
                found.append(replace(point, costs=tuple(np.mean(costs, axis=0).tolist())))
        return found

    return search


def _search_svm(part: Part, X: Floats, y: Labels, seed: int) -> list[GridPoint]:
    """The search of the SVM; the sigmoid is fitted to the scores of all folds.

    At each point, the width of the one-class SVM is the one of lowest cost with both rejections.
    """
    folds, found = list(_inner_folds(part, X, y, seed)), []
    truth = np.concatenate([fold.y_held_out for fold in folds])
    known = truth != NOVELTY
    gammas = [width / X.shape[1] for width in part.widths]
    novel = {gamma: _outside(folds, gamma) for gamma in gammas}
    for gamma in gammas:
        for C in part.strengths:
            f = np.concatenate(
                [SVC(C=C, gamma=gamma).fit(fold.X, fold.y).decision_function(fold.X_held_out) for fold in folds]
            )
            never = cost_of((f[known] > 0).astype(np.intp), truth[known])
            answers = _chow_answers(f, truth, known)
            ambiguity = cost_of(answers[known], truth[known])
            both = {gamma: cost_of(np.where(outside, 3, answers), truth) for gamma, outside in novel.items()}
            best = min(both, key=lambda gamma: both[gamma])
            found.append(GridPoint(gamma, C, best, (never, ambiguity, both[best])))
    return found


def _chow_answers(f: Floats, truth: Labels, known: Flags) -> Indices:
    """Chow's rule on Platt's sigmoid of the scores."""
    sigmoid = LogisticRegression(C=1e6).fit(f[known, None], truth[known])
    p = sigmoid.predict_proba(f[:, None])[:, 1]
    low, high = COSTS.thresholds
    return np.where(p > high, 1, np.where(p < low, 0, 2))


def _outside(folds: list[InnerFold], gamma: float) -> Flags:
    """Which held-out cases a one-class SVM on all training cases calls novelties."""
    return np.concatenate(
        [OneClassSVM(nu=NU, gamma=gamma).fit(fold.X).decision_function(fold.X_held_out) < 0 for fold in folds]
    )


class Method(NamedTuple):
    """How a method is built at a point of its grid, for a scenario, and how the grid is searched."""

    build: Callable[[GridPoint, str], Any]
    search: Callable[[Part, Floats, Labels, int], list[GridPoint]]


METHODS = {
    "SVM": Method(chow, _search_svm),
    "2OSVM": Method(independent, _search_pairs(independent, (0.0,))),
    "CONSUM": Method(coupled, _search_pairs(coupled)),
}
