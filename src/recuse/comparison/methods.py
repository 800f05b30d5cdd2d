"""The methods that are compared: one list, `METHODS`.

A method is a name and a function that builds its `Plan`: an estimator and the hyper-parameters it may choose from. An
estimator of this library is added in one line of the list, by the name of its class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from ..arrays import Indices
from ..ensemble.roster import features_in_a_round
from ..parameters import unknown_name
from ..report.operating_points import CHOW, NEVER_REJECTS, PAIR, TUNED
from ..thresholds import ThresholdRejectClassifier
from .plans import INNER_FOLDS, Grid, Plan, RuleCost, Task

ENSEMBLE, EFFORT = "ensemble", "medium"
_SMALL = 2_000  # below this number of cases, fewer boosting rounds are enough


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

    @property
    def cuts_probabilities(self) -> bool:
        """Whether the score that its thresholds cut is a probability, as with all rules on an ordinary classifier."""
        return self.moves in (CHOW, NEVER_REJECTS) or self.shares is not None

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
