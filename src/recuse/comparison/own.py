"""Estimators of the user's own among the methods of a comparison.

A classifier with probabilities gets Chow's rule at the prices of the comparison, as the classifiers of the list do. An
estimator that ends in a reject-option classifier is fitted as it is, at its own prices.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from ..boosting import AbstentionBoostingClassifier
from ..class_costs import ClassCosts
from ..costs import Costs, as_costs
from ..locating import has_reject_option, is_search, stated_pos_label
from ..tables import Cases
from ..thresholds import ThresholdRejectClassifier
from . import methods
from .constants import CONSTANTS, constants_of
from .methods import CHOW, PAIR, Method, choose_methods, with_rule
from .payments import number_of_classes
from .plans import Grid, Plan, Task


@dataclass(frozen=True, eq=False)
class AsItIs:
    """Builds the plan of an estimator that has a reject option. Unlike a nested function, it can be pickled."""

    estimator: Any

    def __call__(self, task: Task) -> Plan:
        """Return the plan: nothing is chosen, nothing is set."""
        return Plan(clone(self.estimator))


@dataclass(frozen=True, eq=False)
class ByChowsRule:
    """Builds the plan of a classifier with probabilities: Chow's rule around it."""

    estimator: Any

    def __call__(self, task: Task) -> Plan:
        """Return the plan."""
        return with_rule(self._classifier, CHOW, rule="chow")(task)

    def _classifier(self, task: Task) -> tuple[Any, Grid]:
        return clone(self.estimator), {}


def as_methods(given: Any, n_rows: int) -> list[Method]:
    """Return the methods that a comparison runs.

    Parameters
    ----------
    given : iterable of str, estimator, (name, estimator) or Method; or mapping of name to estimator; or None
        Names in `METHODS`, and estimators of the user's own. One of them may stand alone. None means every method of
        the list that is meant for tables of this size.
    n_rows : int
        Size of the table.

    Returns
    -------
    list of Method
        In the order of `METHODS`, however they were given: the ensemble, then the simplest first; the user's own come
        last, as given.
    """
    if given is None:
        return choose_methods(None, n_rows)
    if isinstance(given, str) or hasattr(given, "fit") or not isinstance(given, Iterable):
        given = [given]
    if isinstance(given, Mapping):
        given = given.items()
    chosen: dict[str, Method] = {}
    for entry in given:
        found = choose_methods([entry], n_rows)[0] if isinstance(entry, str) else _own_method(entry, chosen)
        chosen[found.name] = found
    return sorted(chosen.values(), key=_simplicity) or choose_methods([], n_rows)


def _simplicity(method: Method) -> int:
    """Position in the list: the ensemble, then the simplest first; nobody knows how simple a user's own is."""
    names = [listed.name for listed in methods.METHODS]
    return names.index(method.name) if method.name in names else len(names)


def _own_method(given: Any, taken: Collection[str]) -> Method:
    """A method of an estimator, or of a pair of name and estimator, that is called like none of those taken."""
    if isinstance(given, Method):
        _check_free(given.name, taken)
        return given
    if isinstance(given, tuple) and len(given) == 2:
        name, estimator = given
        _check_name(name, taken)
    else:
        estimator = given
        name = _free_name(type(estimator).__name__.lower(), taken)
    _check_estimator(estimator)
    if _reject_option(estimator) is not None:
        return Method(name, name, AsItIs(estimator), PAIR, takes_categories=takes_categories(estimator))
    by_chow = ByChowsRule(estimator)
    return Method(name, f"{name}, Chow's rule", by_chow, CHOW, takes_categories=takes_categories(estimator))


def takes_categories(estimator: Any) -> bool:
    """Whether an estimator treats columns of a categorical type as categories by itself, as it is set.

    Those do that have ``categorical_features="from_dtype"``, as scikit-learn's histogram boosting spells it; a rule or
    a search on top of one, too. A Pipeline gets numbers: its first step would have to take categories.
    """
    while isinstance(estimator, ThresholdRejectClassifier) or is_search(estimator):
        estimator = estimator.estimator
    params = estimator.get_params(deep=False)
    wanted, depth = params.get("categorical_features"), params.get("max_depth")
    only_stumps = isinstance(estimator, AbstentionBoostingClassifier)  # its trees refuse categories
    return isinstance(wanted, str) and wanted == "from_dtype" and not (only_stumps and depth != 1)


def _check_name(name: Any, taken: Collection[str]) -> None:
    if not isinstance(name, str) or not name.strip():
        raise TypeError(f"methods: {name!r} cannot name an estimator; in a pair (name, estimator) the name is text.")
    _check_free(name, {*taken, *_reserved()})


def _check_free(name: str, taken: Collection[str]) -> None:
    if name in taken:
        raise ValueError(f"methods: the name {name!r} is taken; call the estimator otherwise.")


def _reserved() -> set[str]:
    """Names that mean something else in a comparison."""
    return {method.name for method in methods.METHODS} | {constant.name for constant in CONSTANTS}


def _free_name(name: str, taken: Collection[str]) -> str:
    names = [name, *(f"{name}-{number}" for number in range(2, len(taken) + 3))]
    return next(free for free in names if free not in taken and free not in _reserved())


def _check_estimator(estimator: Any) -> None:
    """Refuse what is no classifier, and a classifier that tells neither probabilities nor when to reject."""
    name = type(estimator).__name__
    if isinstance(estimator, type):
        raise TypeError(f"methods: {estimator.__name__} is a class; give an instance of it, {estimator.__name__}().")
    if _reject_option(estimator) is not None:
        return
    if not (hasattr(estimator, "fit") and hasattr(estimator, "get_params") and is_classifier(estimator)):
        raise TypeError(
            f"methods: {name} is no classifier; give names of recuse.comparison.METHODS, classifiers with "
            "predict_proba, reject-option classifiers, or pairs (name, classifier)."
        )
    # A stack knows what it can do once it is fitted.
    if not hasattr(estimator, "predict_proba") and not hasattr(estimator, "final_estimator"):
        raise TypeError(
            f"methods: {name} estimates no probabilities, which Chow's rule needs; give "
            f"ThresholdRejectClassifier({name}(), rule='tuned', costs=...), or wrap it in CalibratedClassifierCV."
        )


def _reject_option(estimator: Any) -> Any:
    """Return the reject-option classifier that an estimator, fitted or not, ends in; None if it ends in another."""
    while not has_reject_option(estimator):
        if isinstance(estimator, Pipeline):
            estimator = estimator.steps[-1][1]
        elif isinstance(estimator, FrozenEstimator) or is_search(estimator):
            estimator = estimator.estimator
        else:
            return None
    return estimator


def able_methods(chosen: list[Method], task: Task, *, named: bool) -> tuple[list[Method], dict[Method, str]]:
    """The methods that can answer so many classes, and the others with the reason; refuse what was asked for by name.

    The classifiers say so themselves, by scikit-learn's tag for more than two classes.
    """
    if not task.several:
        return chosen, {}
    assert isinstance(task.costs, ClassCosts)
    reserved = {constant.name for constant in constants_of(task.costs.classes or ())}
    for method in chosen:
        _check_free(method.name, reserved)
    unable = [method for method in chosen if not _tells_several(method, task)]
    if named and unable:
        raise ValueError(
            f"methods: {unable[0].name!r} tells two outcomes apart, and there are {number_of_classes(task.costs)}: "
            "leave it out, or take one outcome against the rest with --positive (in Python, positive=)."
        )
    able = [method for method in chosen if method not in unable]
    return able, dict.fromkeys(unable, "it tells two outcomes apart; --positive takes one against the rest")


def _tells_several(method: Method, task: Task) -> bool:
    """Whether the classifier of a method takes three classes or more, and what it wraps does."""
    estimator = method.build(task).estimator
    inner = getattr(estimator, "estimator", None)
    return all(get_tags(one).classifier_tags.multi_class for one in (estimator, inner) if one is not None)


def sendable(method: Method) -> str | Method:
    """Return what a worker process is sent: a method of the list holds nested functions, so its name; else itself."""
    return method.name if method in methods.METHODS else method


def warn_of_other_prices(chosen: Iterable[Method], costs: Costs, cases: Cases) -> None:
    """Warn of estimators whose own prices are not those that their answers are charged at."""
    positive, classes = cases.positive, sorted(cases.classes)
    for method in chosen:
        classifier = _reject_option(method.build.estimator) if isinstance(method.build, AsItIs) else None
        own = None if classifier is None else classifier.get_params(deep=False).get("costs")
        if own is None:
            continue
        if isinstance(costs, ClassCosts):
            _warn_of_other_class_prices(method, as_costs(own), costs)
            continue
        named = stated_pos_label(classifier)
        mirrored = (classes[1] if named is None else named) != positive
        seen = as_costs(own).swapped() if mirrored else as_costs(own)
        if seen != costs:
            warnings.warn(
                f"methods: {method.name!r} is fitted at prices of its own and charged those of the comparison; give it "
                f"costs={costs!r} and pos_label={positive!r} to fit it at these.",
                UserWarning,
                stacklevel=3,
            )


def _warn_of_other_class_prices(method: Method, own: Costs, costs: ClassCosts) -> None:
    """The same with three classes or more; prices of other classes fail in the fit, and say why."""
    assert costs.classes is not None
    try:
        same = np.array_equal(own.for_classes(costs.classes).matrix(costs.n_classes), costs.matrix())
    except ValueError:
        return
    if not same:
        warnings.warn(
            f"methods: {method.name!r} is fitted at prices of its own and charged those of the comparison; give it "
            f"costs={costs!r} to fit it at these.",
            UserWarning,
            stacklevel=4,
        )
