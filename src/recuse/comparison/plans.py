"""How a method is fitted: its `Plan`, built for a `Task`, and the search for its hyper-parameters."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from ..arrays import Flags, Floats, Indices
from ..class_costs import ClassCosts
from ..costs import Costs
from ..folds import Fold, TimeFolds, make_folds
from ..labels import encode, to_python
from ..metrics import get_scorer
from ..report.operating_points import CHOW, NEVER_REJECTS, TUNED, break_even_answers, chow_answers
from ..routing import group_params, weight_params
from ..tables import Cases
from ..thresholds.rules import Sample, tuned_band
from ..thresholds.scores import FitRows, GivenCases, fit_rows, take_rows
from ..warning import warn_user
from .class_plans import class_rule_cost, in_columns_of

Grid = dict[str, list[Any]]

INNER_FOLDS = 3


@dataclass(frozen=True)
class Task:
    """What a method is built for.

    Attributes
    ----------
    costs : Costs
        Prices.
    pos_label : object
        The positive class; None with three classes or more, which the prices then name.
    seed : int
        Random state.
    n_rows : int
        Number of cases in the table.
    grouped : bool
        Whether cases belong together: a classifier must not hold single cases out by itself.
    in_time : bool
        Whether cases come in the order of time, and inner folds test on what came after.
    novelty : str
        Whether cases far outside the training range are rejected; see `TableColumns`.
    n_columns : int
        Number of columns of the table.
    """

    costs: Costs
    pos_label: Any
    seed: int
    n_rows: int
    grouped: bool = False
    in_time: bool = False
    novelty: str = "range"
    n_columns: int = 1

    @property
    def several(self) -> bool:
        """Whether there are three classes or more."""
        return isinstance(self.costs, ClassCosts)

    @property
    def unit_costs(self) -> Costs:
        """The prices by which candidates are compared: rounding in another currency must not decide between them."""
        return self.costs.normalised()

    @classmethod
    def of(cls, cases: Cases, costs: Costs, seed: int, novelty: str = "range") -> Task:
        """The task of a table."""
        n_rows, grouped, in_time = len(cases.outcomes), cases.groups is not None, cases.times is not None
        return cls(costs, cases.positive, seed, n_rows, grouped, in_time, novelty, cases.features.shape[1])

    def inner_cv(self, n_folds: int | None) -> Any:
        """What to give an estimator as `cv` that would take so many folds."""
        return TimeFolds(n_folds or INNER_FOLDS) if self.in_time else n_folds


@dataclass(frozen=True)
class Plan:
    """How a method is fitted.

    Attributes
    ----------
    estimator : estimator
        What is fitted in the end.
    grid : dict
        Hyper-parameters to choose from, by expected cost on inner folds; empty for none.
    inner : str, optional
        Parameter of `estimator` that holds the classifier to which the grid belongs. Placing a reject rule is cheap,
        fitting its classifier is not: the search fits the classifier alone, and `scoring` tells what the rule would
        cost on top of it.
    scoring : callable, optional
        Scorer of that classifier; the expected cost of `estimator` by default.
    """

    estimator: Any
    grid: Grid = field(default_factory=dict)
    inner: str | None = None
    scoring: Any = None

    def fit(
        self,
        X: Any,
        y: NDArray[Any],
        task: Task,
        groups: Indices | None = None,
        shelf: Any = None,
        weights: Floats | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Choose hyper-parameters and fit; return the fitted estimator and what was chosen.

        Cases of one group are on one side of every inner fold: of the search, and of the estimator itself. A `shelf`
        holds the fits of other rules on the same classifier and cases, and gets those of this one. With `weights` every
        fit, and every held-out cost of the search, counts each case as often as its weight says.
        """
        if not self.grid:
            return _fit_whole(clone(self.estimator), X, y, groups, weights), {}
        if self.inner is not None:
            return self._fit_rule(X, y, task, groups, shelf.fit_rows if shelf else fit_rows, weights)
        scorer = self.scoring or get_scorer("neg_expected_cost", costs=task.unit_costs, pos_label=task.pos_label)
        cases = _given(self.estimator, X, y, None, weights)
        chosen = self._search(self.estimator, cases, _inner_folds(task, y, groups), scorer, fit_rows)
        best = clone(self.estimator).set_params(**chosen)
        return _fit_whole(best, X, y, groups, weights), _named(chosen)

    def _fit_rule(
        self, X: Any, y: NDArray[Any], task: Task, groups: Indices | None, fit_rows: FitRows, weights: Floats | None
    ) -> tuple[Any, dict[str, Any]]:
        """Search the classifier inside, and fit the rule on it; the folds of both are the same."""
        assert self.inner is not None
        searched = self.estimator.get_params(deep=False)[self.inner]
        cases = _given(searched, X, y, groups, weights)
        chosen = self._search(searched, cases, _inner_folds(task, y, groups), self.scoring, fit_rows)
        rule = clone(self.estimator).set_params(**{self.inner: clone(searched).set_params(**chosen)})
        rule._fit_rows = fit_rows
        try:
            return _fit_whole(rule, X, y, groups, weights), _named(chosen)
        finally:
            del rule._fit_rows  # a model that is saved remembers no fits

    def _search(
        self, searched: Any, cases: GivenCases, folds: list[Fold], scorer: Any, fit_rows: FitRows
    ) -> dict[str, Any]:
        """The hyper-parameters with the best mean score on the folds, the first of equal ones."""
        weighted = bool((cases.weights != 1).any())

        def score(model: Any, test: Indices) -> float:
            given = {"sample_weight": cases.weights[test]} if weighted else {}
            return float(scorer(model, take_rows(cases.X, test), cases.y[test], **given))

        def mean_score(candidate: Any) -> float:
            models = [(fit_rows(candidate, cases, train), test) for train, test in folds]
            return float(np.mean([score(model, test) for model, test in models]))

        candidates, said = list(ParameterGrid(self.grid)), SearchWarnings()
        scores = []
        for candidate in candidates:
            with said.of(_named(candidate)):
                scores.append(mean_score(clone(searched).set_params(**candidate)))
        said.say(len(candidates))
        return dict(candidates[int(np.argmax(scores))])


class SearchWarnings:
    """Warnings of the candidates of a search: each is given once, with the settings that it came up at.

    Without these a warning of a candidate that is not chosen reads as one of the model that is.
    """

    def __init__(self) -> None:
        self._settings: dict[tuple[str, type[Warning]], list[dict[str, Any]]] = {}

    @contextmanager
    def of(self, settings: dict[str, Any]) -> Iterator[None]:
        """Keep what is warned of while a candidate with these settings is fitted and judged."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for key in dict.fromkeys((str(warning.message), warning.category) for warning in caught):
            self._settings.setdefault(key, []).append(settings)

    def say(self, n_candidates: int) -> None:
        """Give the warnings."""
        for (text, category), settings in self._settings.items():
            tried = "; ".join(", ".join(f"{name}={value!r}" for name, value in one.items()) for one in settings)
            which = "every setting" if len(settings) == n_candidates > 1 else tried
            warn_user(f"In its search, with {which}: {text}", category)


def _inner_folds(task: Task, y: NDArray[Any], groups: Indices | None) -> list[Fold]:
    return make_folds(task.inner_cv(INNER_FOLDS), y, groups=groups, random_state=task.seed)


def _given(estimator: Any, X: Any, y: NDArray[Any], groups: Indices | None, weights: Floats | None) -> GivenCases:
    """The cases of a search, with what goes to the fits of the estimator."""
    weights = np.ones(len(y)) if weights is None else weights
    params = group_params(estimator, groups) | weight_params(estimator, weights)
    return GivenCases(X, y, weights, groups, params, {})


def _named(params: Mapping[str, Any]) -> dict[str, Any]:
    """Hyper-parameters by their own names, without those of the steps they belong to."""
    return {name.rpartition("__")[2]: to_python(value) for name, value in params.items()}


def _fit_whole(estimator: Any, X: Any, y: NDArray[Any], groups: Indices | None, weights: Floats | None) -> Any:
    """Fit on all cases, with the groups where the estimator holds cases out and takes them, and with the weights."""
    given = {} if weights is None else weight_params(estimator, weights)
    return estimator.fit(X, y, **group_params(estimator, groups), **given)


@dataclass(frozen=True)
class RuleCost:
    """Score of a classifier: minus what a reject rule on its probabilities would cost per case.

    Attributes
    ----------
    rule : str
        `NEVER_REJECTS` (the break-even probability), `CHOW`, or `TUNED` (the two best thresholds).
    costs : Costs
        Prices.
    pos_label : object
        The positive class; None with three classes or more.
    """

    rule: str
    costs: Costs
    pos_label: Any

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Floats | None = None) -> float:
        """Score on held-out cases."""
        weights = np.ones(len(y)) if sample_weight is None else sample_weight
        if isinstance(self.costs, ClassCosts):
            assert self.costs.classes is not None  # the prices of a run name its classes
            known = in_columns_of(estimator.predict_proba(X), estimator.classes_, self.costs.classes, 0.0)
            codes = encode(np.asarray(y), np.array(self.costs.classes))
            return -class_rule_cost(self.rule, known, codes, weights, self.costs)
        column = int(to_python(estimator.classes_[1]) == self.pos_label)
        probabilities, positive = estimator.predict_proba(X)[:, column], np.asarray(y) == self.pos_label
        return -_RULE_COSTS[self.rule](probabilities, positive, weights, self.costs)


def _cost_never_rejecting(probabilities: Floats, positive: Flags, weights: Floats, costs: Costs) -> float:
    return _mean_price(break_even_answers(probabilities, costs), positive, weights, costs)


def _cost_of_chow(probabilities: Floats, positive: Flags, weights: Floats, costs: Costs) -> float:
    return _mean_price(chow_answers(probabilities, costs), positive, weights, costs)


def _cost_of_tuned(probabilities: Floats, positive: Flags, weights: Floats, costs: Costs) -> float:
    return tuned_band(Sample.of(probabilities, positive, weights), costs)[1]


def _mean_price(answers: Indices, positive: Flags, weights: Floats, costs: Costs) -> float:
    return float(np.average(costs.prices(positive.astype(np.intp), answers), weights=weights))


_RULE_COSTS: dict[str, Callable[[Floats, Flags, Floats, Costs], float]] = {
    NEVER_REJECTS: _cost_never_rejecting,
    CHOW: _cost_of_chow,
    TUNED: _cost_of_tuned,
}
