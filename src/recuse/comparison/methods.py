"""The methods that are compared: one list.

A method is a name and a function that builds its `Plan`: an estimator and the hyper-parameters it may choose from. An
estimator of this library is added in one line of `METHODS`, by the name of its class; a class that is not there yet is
left out of the comparison.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split

from ..arrays import Indices
from ..costs import Costs
from ..labels import to_python
from ..metrics import get_scorer
from ..thresholds import ThresholdRejectClassifier
from ..thresholds.rules import Sample, tuned_band

Grid = dict[str, list[Any]]

# How the report moves a method to other prices: Chow's thresholds on its probabilities, two thresholds of least cost
# on its class score, or one threshold of least cost on its acceptance score.
CHOW, TUNED, PAIR = "chow", "tuned", "pair"
PLAIN = "plain"
INNER_FOLDS = 3
_SMALL = 2_000  # cases of a table on which fewer rounds do


@dataclass(frozen=True)
class Setting:
    """What a method needs to know before it is built.

    Attributes
    ----------
    costs : Costs
        Prices.
    pos_label : object
        The positive class.
    seed : int
        Random state.
    n_rows : int
        Training cases, at most.
    """

    costs: Costs
    pos_label: Any
    seed: int
    n_rows: int


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
        Parameter of `estimator` that holds the classifier to which the grid belongs. A reject rule is cheap and its
        classifier is not: the search fits the classifier alone and asks `scoring` what the rule would make of it.
    scoring : callable, optional
        Scorer of that classifier; the expected cost of `estimator` by default.
    """

    estimator: Any
    grid: Grid = field(default_factory=dict)
    inner: str | None = None
    scoring: Any = None

    def fit(self, X: Any, y: NDArray[Any], setting: Setting) -> tuple[Any, dict[str, Any]]:
        """Choose hyper-parameters and fit; return the fitted estimator and what was chosen."""
        if not self.grid:
            return clone(self.estimator).fit(X, y), {}
        searched = self.estimator if self.inner is None else self.estimator.get_params(deep=False)[self.inner]
        search = GridSearchCV(
            searched,
            self.grid,
            scoring=self.scoring or get_scorer("neg_expected_cost", costs=setting.costs, pos_label=setting.pos_label),
            cv=StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=setting.seed),
            error_score="raise",
            refit=False,
        ).fit(X, y)
        best = clone(searched).set_params(**search.best_params_)
        if self.inner is not None:
            best = clone(self.estimator).set_params(**{self.inner: best})
        return best.fit(X, y), {
            name.rpartition("__")[2]: to_python(value) for name, value in search.best_params_.items()
        }


@dataclass(frozen=True)
class RuleCost:
    """Score of a classifier: minus what a reject rule on its probabilities would cost per case.

    Attributes
    ----------
    rule : str
        `PLAIN` (no rejection, the break-even probability), `CHOW`, or `TUNED` (the two best thresholds).
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
        p = estimator.predict_proba(X)[:, column]
        positive = np.asarray(y) == self.pos_label
        if self.rule == TUNED:
            return -tuned_band(Sample.of(p, positive, np.ones(len(p))), self.costs)[1]
        lower, upper = self.costs.thresholds if self.rule == CHOW else (self.costs.break_even, self.costs.break_even)
        # As the rule decides: above, below, and otherwise rejected; without rejection a tie is a no.
        answer = np.where(p > upper, 1, np.where((p < lower) | (self.rule == PLAIN), 0, 2))
        return -float(self.costs.matrix()[positive.astype(np.intp), answer].mean())


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
        Setting -> Plan.
    moves : str
        How its operating point follows the prices: `CHOW`, `TUNED` or `PAIR`.
    reference : bool
        Whether it stands for doing without the reject option.
    max_rows : int, optional
        Left out on larger tables, unless asked for by name; its row then says so.
    fit_rows : int, optional
        Most training cases it is fitted on: of a larger training part it sees a stratified sample, and its row says so.
    needs : str, optional
        Public class of this library without which the method is left out.
    """

    name: str
    title: str
    build: Callable[[Setting], Plan]
    moves: str = PAIR
    reference: bool = False
    max_rows: int | None = None
    fit_rows: int | None = None
    needs: str | None = None

    @property
    def available(self) -> bool:
        """Whether the class it needs exists."""
        import recuse

        return self.needs is None or self.needs in recuse.__all__

    def training_rows(self, y: NDArray[Any], seed: int) -> Indices:
        """Positions of the training cases it is fitted on: all, or a stratified sample of `fit_rows`."""
        rows = np.arange(len(y))
        if self.fit_rows is None or len(y) <= self.fit_rows:
            return rows
        sample, _ = train_test_split(rows, train_size=self.fit_rows, stratify=y, random_state=seed)
        return np.sort(sample)


def _logistic(setting: Setting) -> tuple[Any, Grid]:
    from sklearn.linear_model import LogisticRegression

    return _scaled(LogisticRegression(max_iter=1000)), {"logisticregression__C": [0.01, 0.1, 1.0, 10.0]}


def _boosting(setting: Setting) -> tuple[Any, Grid]:
    from sklearn.ensemble import HistGradientBoostingClassifier

    base = HistGradientBoostingClassifier(random_state=setting.seed, early_stopping="auto")
    # Fewer rounds on small tables, where every split is soon a guess.
    base.set_params(max_iter=50 if setting.n_rows < _SMALL else 100)
    return base, {"max_leaf_nodes": [7, 31]}


def _forest(setting: Setting) -> tuple[Any, Grid]:
    from sklearn.ensemble import RandomForestClassifier

    base = RandomForestClassifier(n_estimators=60, random_state=setting.seed)
    return base, {"min_samples_leaf": [1, 5]}


def _scaled(classifier: Any) -> Any:
    """A classifier that needs complete numbers on one scale."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler(), classifier)


def _ruled(base: Callable[[Setting], tuple[Any, Grid]], kind: str, **options: Any) -> Callable[[Setting], Plan]:
    """A reject rule around a classifier."""

    def build(setting: Setting) -> Plan:
        classifier, grid = base(setting)
        costs, positive = setting.costs, setting.pos_label
        wrapped = ThresholdRejectClassifier(classifier, costs=costs, pos_label=positive, **options)
        return Plan(wrapped, grid, inner="estimator", scoring=RuleCost(kind, costs, positive))

    return build


def own(name: str, grid: Grid | None = None, *, scaled: bool = False, **options: Any) -> Callable[[Setting], Plan]:
    """Build an estimator of this library by the name of its class.

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

    def build(setting: Setting) -> Plan:
        import recuse

        estimator = getattr(recuse, name)(costs=setting.costs, pos_label=setting.pos_label, **options)
        if "random_state" in estimator.get_params(deep=False):
            estimator.set_params(random_state=setting.seed)
        if not scaled:
            return Plan(estimator, grid or {})
        return Plan(_scaled(estimator), {f"{name.lower()}__{key}": values for key, values in (grid or {}).items()})

    return build


def _abstention(setting: Setting) -> Plan:
    # Half the rounds and three folds in place of five take a third of the time, and small tables ask for no more.
    quick: dict[str, Any] = {"n_rounds": 100, "cv": 3} if setting.n_rows < _SMALL else {}
    return own("AbstentionBoostingClassifier", **quick)(setting)


def _rules(name: str, title: str, base: Callable[[Setting], tuple[Any, Grid]], **options: Any) -> tuple[Method, ...]:
    """The three ways to use an ordinary classifier: without rejection, by Chow's rule, by tuned thresholds."""
    # Full coverage at the break-even probability. Scores are cross-validated to no end there: two folds do.
    plain_rule = _ruled(base, PLAIN, rule="chow", coverage=1.0, cv=2)
    return (
        Method(f"{name}-plain", f"{title}, never rejecting", plain_rule, CHOW, reference=True, **options),
        Method(f"{name}-chow", f"{title}, Chow's rule", _ruled(base, CHOW, rule="chow"), CHOW, **options),
        Method(
            f"{name}-tuned", f"{title}, tuned thresholds", _ruled(base, TUNED, rule="tuned", cv=3), TUNED, **options
        ),
    )


def _own_method(
    name: str, title: str, needs: str, grid: Grid, moves: str, max_rows: int | None = None, **options: Any
) -> Method:
    """A class of this library; one with `max_rows`, asked for by name, is fitted on a sample of that size."""
    build = own(needs, grid, **options)
    return Method(name, title, build, moves, max_rows=max_rows, fit_rows=max_rows, needs=needs)


METHODS: tuple[Method, ...] = (
    *_rules("logistic", "Logistic regression", _logistic),
    *_rules("boosting", "Gradient boosting", _boosting),
    *_rules("forest", "Random forest", _forest, max_rows=20_000),
    Method("abstention-boosting", "Boosting with abstention", _abstention, needs="AbstentionBoostingClassifier"),
    _own_method(
        "exactboost",
        "ExactBoost on the cost",
        "ExactBoostClassifier",
        {},
        TUNED,
        metric="reject_cost",
        n_estimators=100,
    ),
    _own_method(
        "double-hinge", "Double hinge SVM", "DoubleHingeSVC", {"C": [0.1, 1.0, 10.0]}, TUNED, 5_000, scaled=True
    ),
    _own_method(
        "double-ramp", "Double ramp SVM", "DoubleRampSVC", {"lam": [1e-3, 3e-3, 1e-2]}, TUNED, 2_000, scaled=True
    ),
    _own_method(
        "coupled-one-class",
        "Coupled one-class SVMs",
        "CoupledOneClassSVC",
        {"C": [1.0, 10.0], "gamma": ["scale", 0.005, 0.001]},
        PAIR,
        5_000,
        scaled=True,
    ),
)

# The other reference: nothing is fitted for it.
SEND_ALL = "send-all"
SEND_ALL_TITLE = "Send every case to a person"


def left_out(n_rows: int) -> dict[Method, str]:
    """Return the methods that are not meant for tables of this size, each with the reason."""
    return {
        method: f"meant for tables up to {method.max_rows:,} rows; --methods {method.name} runs it "
        + ("in full" if method.fit_rows is None else f"on a sample of {method.fit_rows:,} training cases")
        for method in METHODS
        if method.available and method.max_rows is not None and n_rows > method.max_rows
    }


def choose_methods(names: Iterable[str] | None, n_rows: int) -> list[Method]:
    """Return the methods named, or all that are there and meant for tables of this size."""
    known = {method.name: method for method in METHODS if method.available}
    if names is None:
        too_slow = left_out(n_rows)
        return [method for method in known.values() if method not in too_slow]
    chosen = []
    for name in dict.fromkeys(names):
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            raise ValueError(f"methods: {name!r} is not known; {hint}there are {', '.join(known)}.")
        chosen.append(known[name])
    if not chosen:
        raise ValueError(f"methods is empty: name one or more of {', '.join(known)}.")
    return chosen
