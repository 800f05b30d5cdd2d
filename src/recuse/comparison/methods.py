"""The methods that are compared: one list, `METHODS`.

A method is a name and a function that builds its `Plan`: an estimator and the hyper-parameters it may choose from. An
estimator of this library is added in one line of the list, by the name of its class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, ParameterGrid, train_test_split

from ..arrays import Flags, Floats, Indices
from ..costs import Costs
from ..ensemble.roster import features_in_a_round
from ..folds import TimeFolds, make_folds
from ..labels import to_python
from ..metrics import get_scorer
from ..parameters import unknown_name
from ..report.operating_points import (
    CHOW,
    NEVER_REJECTS,
    PAIR,
    TUNED,
    break_even_answers,
    chow_answers,
)
from ..routing import group_params
from ..tables import Cases
from ..thresholds import ThresholdRejectClassifier
from ..thresholds.rules import Sample, tuned_band
from ..thresholds.scores import FitRows, GivenCases, fit_rows, take_rows

Grid = dict[str, list[Any]]

ENSEMBLE, EFFORT = "ensemble", "medium"
INNER_FOLDS = 3
_SMALL = 2_000  # below this number of cases, fewer boosting rounds are enough


@dataclass(frozen=True)
class Task:
    """What a method is built for.

    Attributes
    ----------
    costs : Costs
        Prices.
    pos_label : object
        The positive class.
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
        self, X: Any, y: NDArray[Any], task: Task, groups: Indices | None = None, shelf: Any = None
    ) -> tuple[Any, dict[str, Any]]:
        """Choose hyper-parameters and fit; return the fitted estimator and what was chosen.

        Cases of one group are on one side of every inner fold: of the search, and of the estimator itself. A `shelf`
        holds the fits of other rules on the same classifier and cases, and gets those of this one.
        """
        if not self.grid:
            return _fit_with_groups(clone(self.estimator), X, y, groups), {}
        if self.inner is not None:
            return self._fit_rule(X, y, task, groups, shelf.fit_rows if shelf else fit_rows)
        search = GridSearchCV(
            self.estimator,
            self.grid,
            scoring=self.scoring or get_scorer("neg_expected_cost", costs=task.unit_costs, pos_label=task.pos_label),
            cv=make_folds(task.inner_cv(INNER_FOLDS), y, groups=groups, random_state=task.seed),
            error_score="raise",
            refit=False,
        ).fit(X, y)
        best = clone(self.estimator).set_params(**search.best_params_)
        return _fit_with_groups(best, X, y, groups), _named(search.best_params_)

    def _fit_rule(
        self, X: Any, y: NDArray[Any], task: Task, groups: Indices | None, fit_rows: FitRows
    ) -> tuple[Any, dict[str, Any]]:
        """Search the classifier inside, and fit the rule on it; the folds of both are the same."""
        assert self.inner is not None
        searched = self.estimator.get_params(deep=False)[self.inner]
        cases = GivenCases(X, y, np.ones(len(y)), groups, group_params(searched, groups), {})
        folds = make_folds(task.inner_cv(INNER_FOLDS), y, groups=groups, random_state=task.seed)

        def mean_score(candidate: Any) -> float:
            models = [(fit_rows(candidate, cases, train), test) for train, test in folds]
            return float(np.mean([self.scoring(model, take_rows(X, test), y[test]) for model, test in models]))

        candidates = list(ParameterGrid(self.grid))
        scores = [mean_score(clone(searched).set_params(**chosen)) for chosen in candidates]
        chosen = candidates[int(np.argmax(scores))]
        rule = clone(self.estimator).set_params(**{self.inner: clone(searched).set_params(**chosen)})
        rule._fit_rows = fit_rows
        try:
            return _fit_with_groups(rule, X, y, groups), _named(chosen)
        finally:
            del rule._fit_rows  # a model that is saved remembers no fits


def _named(params: Mapping[str, Any]) -> dict[str, Any]:
    """Hyper-parameters by their own names, without those of the steps they belong to."""
    return {name.rpartition("__")[2]: to_python(value) for name, value in params.items()}


def _fit_with_groups(estimator: Any, X: Any, y: NDArray[Any], groups: Indices | None) -> Any:
    """Fit, with the groups where the estimator holds cases out and takes them."""
    return estimator.fit(X, y, **group_params(estimator, groups))


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
        The positive class.
    """

    rule: str
    costs: Costs
    pos_label: Any

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        """Score on held-out cases."""
        column = int(to_python(estimator.classes_[1]) == self.pos_label)
        probabilities = estimator.predict_proba(X)[:, column]
        return -_RULE_COSTS[self.rule](probabilities, np.asarray(y) == self.pos_label, self.costs)


def _cost_never_rejecting(probabilities: Floats, positive: Flags, costs: Costs) -> float:
    return _mean_price(break_even_answers(probabilities, costs), positive, costs)


def _cost_of_chow(probabilities: Floats, positive: Flags, costs: Costs) -> float:
    return _mean_price(chow_answers(probabilities, costs), positive, costs)


def _cost_of_tuned(probabilities: Floats, positive: Flags, costs: Costs) -> float:
    return tuned_band(Sample.of(probabilities, positive, np.ones(len(positive))), costs)[1]


def _mean_price(answers: Indices, positive: Flags, costs: Costs) -> float:
    return float(costs.prices(positive.astype(np.intp), answers).mean())


_RULE_COSTS: dict[str, Callable[[Floats, Flags, Costs], float]] = {
    NEVER_REJECTS: _cost_never_rejecting,
    CHOW: _cost_of_chow,
    TUNED: _cost_of_tuned,
}


@dataclass(frozen=True)
class Method:
    """One line of the comparison.

    Attributes
    ----------
    name : str
        On the command line.
    title : str
        In tables and pictures.
    build : callable
        Task -> Plan.
    moves : str
        How its operating point follows the prices: a name in `recuse.report.operating_points.WAYS`.
    reference : bool
        Whether it stands for doing without the reject option.
    max_rows : int, optional
        On larger tables it is left out, and its row says so, unless it is asked for by name.
    fit_rows : int, optional
        Largest number of training cases it is fitted on. From a larger training part it gets a stratified sample, and
        its row says so.
    takes_categories : bool
        Whether it wants columns of few categories as they are, and not as numbers.
    shares : str, optional
        Methods with the same one stand on the same classifier: on a fold they are run together, and each of its fits is
        done once.
    """

    name: str
    title: str
    build: Callable[[Task], Plan]
    moves: str = PAIR
    reference: bool = False
    max_rows: int | None = None
    fit_rows: int | None = None
    takes_categories: bool = False
    shares: str | None = None

    def training_rows(self, y: NDArray[Any], seed: int) -> Indices:
        """Positions of the cases it is fitted on: all, or a stratified sample of `fit_rows`."""
        rows = np.arange(len(y))
        if self.fit_rows is None or len(y) <= self.fit_rows:
            return rows
        sample, _ = train_test_split(rows, train_size=self.fit_rows, stratify=y, random_state=seed)
        return np.sort(sample)


def _logistic(task: Task) -> tuple[Any, Grid]:
    from sklearn.linear_model import LogisticRegression

    return _scaled(LogisticRegression(max_iter=1000)), {"logisticregression__C": [0.01, 0.1, 1.0, 10.0]}


def _boosting(task: Task) -> tuple[Any, Grid]:
    from sklearn.ensemble import HistGradientBoostingClassifier

    # From 10,000 cases on it would hold single cases out, drawn from all groups and times.
    early_stopping = False if task.grouped or task.in_time else "auto"
    base = HistGradientBoostingClassifier(random_state=task.seed, early_stopping=early_stopping)
    # Fewer rounds on small tables, where later splits fit noise.
    base.set_params(max_iter=50 if task.n_rows < _SMALL else 100)
    return base, {"max_leaf_nodes": [7, 31]}


def _forest(task: Task) -> tuple[Any, Grid]:
    from sklearn.ensemble import RandomForestClassifier

    base = RandomForestClassifier(n_estimators=60, random_state=task.seed)
    return base, {"min_samples_leaf": [1, 5]}


def _scaled(classifier: Any) -> Any:
    """A classifier that needs complete numbers on one scale."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler(), classifier)


def with_rule(
    base: Callable[[Task], tuple[Any, Grid]], way: str, cv: int | None = None, **options: Any
) -> Callable[[Task], Plan]:
    """A reject rule around a classifier."""

    def build(task: Task) -> Plan:
        classifier, grid = base(task)
        costs, positive = task.costs, task.pos_label
        wrapped = ThresholdRejectClassifier(
            classifier, costs=costs, pos_label=positive, cv=task.inner_cv(cv), random_state=task.seed, **options
        )
        return Plan(wrapped, grid, inner="estimator", scoring=RuleCost(way, task.unit_costs, positive))

    return build


def from_library(
    name: str, grid: Grid | None = None, *, scaled: bool = False, **options: Any
) -> Callable[[Task], Plan]:
    """Return a function that builds an estimator of this library, by the name of its class.

    Parameters
    ----------
    name : str
        Public name.
    grid : dict, optional
        Hyper-parameters to choose from.
    scaled : bool, default=False
        Whether it needs complete numbers on one scale.
    **options
        Further parameters. `random_state` is set to the seed where there is one.
    """

    def build(task: Task) -> Plan:
        import recuse

        estimator = getattr(recuse, name)(costs=task.costs, pos_label=task.pos_label, **options)
        if "random_state" in estimator.get_params(deep=False):
            estimator.set_params(random_state=task.seed)
        if not scaled:
            return Plan(estimator, grid or {})
        return Plan(_scaled(estimator), {f"{name.lower()}__{key}": values for key, values in (grid or {}).items()})

    return build


def _abstention(task: Task) -> Plan:
    # Half the rounds and three folds instead of five take a third of the time; small tables need no more.
    small = task.n_rows < _SMALL
    quick: dict[str, Any] = {"n_rounds": 100} if small else {}
    return from_library("AbstentionBoostingClassifier", cv=task.inner_cv(3 if small else None), **quick)(task)


def _exactboost(task: Task) -> Plan:
    share = features_in_a_round(task.n_columns)
    return from_library("ExactBoostClassifier", metric="reject_cost", n_estimators=100, max_features=share)(task)


def _rules(
    name: str,
    title: str,
    base: Callable[[Task], tuple[Any, Grid]],
    *,
    calibration: str | None = None,
    **options: Any,
) -> tuple[Method, ...]:
    """The three ways to use an ordinary classifier: without rejection, by Chow's rule, by tuned thresholds."""
    answering = with_rule(base, NEVER_REJECTS, rule="chow", coverage=1.0, cv=INNER_FOLDS, calibration=calibration)
    by_chow = with_rule(base, CHOW, rule="chow", cv=INNER_FOLDS, calibration=calibration)
    tuned = with_rule(base, TUNED, rule="tuned", cv=INNER_FOLDS)
    options["shares"] = name
    return (
        Method(f"{name}-no-reject", f"{title}, never rejecting", answering, NEVER_REJECTS, reference=True, **options),
        Method(f"{name}-chow", f"{title}, Chow's rule", by_chow, CHOW, **options),
        Method(f"{name}-tuned", f"{title}, tuned thresholds", tuned, TUNED, **options),
    )


def _library_method(
    name: str,
    title: str,
    class_name: str,
    grid: Grid,
    moves: str,
    max_rows: int | None = None,
    *,
    takes_categories: bool = False,
    **options: Any,
) -> Method:
    """A class of this library; one with `max_rows`, asked for by name, is fitted on a sample of that size."""
    build = from_library(class_name, grid, **options)
    return Method(name, title, build, moves, max_rows=max_rows, fit_rows=max_rows, takes_categories=takes_categories)


def _ensemble(task: Task) -> Plan:
    # Chow's rule, and not "auto": then what it costs at other prices follows from its probabilities alone.
    return from_library("EnsembleRejectClassifier", rule="chow", effort=EFFORT, cv=task.inner_cv(None))(task)


# The ensemble first: it combines what the others know, and is what to take unless another is convincingly cheaper. Then
# the simplest first.
METHODS: tuple[Method, ...] = (
    Method(ENSEMBLE, "Ensemble", _ensemble, CHOW, takes_categories=True),
    *_rules("logistic", "Logistic regression", _logistic),
    *_rules("boosting", "Gradient boosting", _boosting, takes_categories=True),
    # The share of trees is no probability: few trees agree altogether, and Chow's rule would reject too much.
    *_rules("forest", "Random forest", _forest, calibration="sigmoid", max_rows=20_000),
    Method("abstention-boosting", "Boosting with abstention", _abstention, takes_categories=True),
    Method("exactboost", "ExactBoost on the cost", _exactboost, TUNED, takes_categories=True),
    _library_method(
        "double-hinge", "Double hinge SVM", "DoubleHingeSVC", {"C": [0.1, 1.0, 10.0]}, TUNED, 5_000, scaled=True
    ),
    _library_method(
        "double-ramp", "Double ramp SVM", "DoubleRampSVC", {"lam": [1e-3, 3e-3, 1e-2]}, TUNED, 2_000, scaled=True
    ),
    _library_method(
        "coupled-one-class",
        "Coupled one-class SVMs",
        "CoupledOneClassSVC",
        {"C": [1.0, 10.0], "gamma": ["scale", 0.005, 0.001]},
        PAIR,
        5_000,
        scaled=True,
    ),
)


class Constant(NamedTuple):
    """An answer that is the same for every case; nothing is fitted for it.

    Attributes
    ----------
    name, title : str
        On the command line, and in tables.
    column : int
        Its column of the price matrix.
    """

    name: str
    title: str
    column: int


SEND_ALL = "send-all"
CONSTANTS = (
    Constant(SEND_ALL, "Manual review of every case", 2),
    Constant("always-no", "Always no", 0),
    Constant("always-yes", "Always yes", 1),
)


def _prior(task: Task) -> tuple[Any, Grid]:
    from sklearn.dummy import DummyClassifier

    return DummyClassifier(strategy="prior"), {}


@dataclass(frozen=True, kw_only=True)
class ConstantPlan(Plan):
    """How a constant answer becomes a model: Chow's rule on a probability that is the same for every case.

    Attributes
    ----------
    column : int
        Column of the price matrix of the answer.
    """

    column: int

    def fit(
        self, X: Any, y: NDArray[Any], task: Task, groups: Indices | None = None, shelf: Any = None
    ) -> tuple[Any, dict[str, Any]]:
        """Fit; return the model, and that nothing was chosen."""
        positive = y == task.pos_label
        share = float(positive.mean())
        shown = self._probability(share, task.costs)
        weights = np.where(positive, shown / share, (1 - shown) / (1 - share))
        prior = clone(self.estimator.estimator).fit(X, y, sample_weight=weights)
        return clone(self.estimator).set_params(estimator=FrozenEstimator(prior)).fit(X, y), {}

    def _probability(self, share: float, costs: Costs) -> float:
        """The share of positives if Chow's rule gives it this answer, else the middle of those it gives it to.

        The answer was chosen on the cases that were answered; over time, the share of positives among all may be one
        that gets another.
        """
        p_minus, p_plus = costs.thresholds
        low, high = ((0.0, p_minus), (p_plus, 1.0), (p_minus, p_plus))[self.column]
        return share if low < share < high else (low + high) / 2


def constant_method(constant: Constant) -> Method:
    """A constant answer as a method, for the model that gives it."""
    by_chow = with_rule(_prior, CHOW, rule="chow")

    def build(task: Task) -> Plan:
        return ConstantPlan(estimator=by_chow(task).estimator, column=constant.column)

    return Method(constant.name, constant.title, build, CHOW, reference=True)


def left_out(n_rows: int) -> dict[Method, str]:
    """Return the methods that are not meant for tables of this size, each with the reason."""
    return {
        method: f"meant for tables up to {method.max_rows:,} rows; --methods {method.name} runs it "
        + ("in full" if method.fit_rows is None else f"on a sample of {method.fit_rows:,} training cases")
        for method in METHODS
        if method.max_rows is not None and n_rows > method.max_rows
    }


def choose_methods(names: Iterable[str] | None, n_rows: int) -> list[Method]:
    """Return the methods of these names, or all that are meant for tables of this size."""
    known = {method.name: method for method in METHODS}
    if names is None:
        too_slow = left_out(n_rows)
        return [method for method in known.values() if method not in too_slow]
    chosen = []
    for name in dict.fromkeys(names):
        if name not in known:
            raise ValueError(unknown_name("methods", name, known))
        chosen.append(known[name])
    if not chosen:
        raise ValueError(f"methods is empty: name one or more of {', '.join(known)}.")
    return chosen
