"""ExactBoost for three or more classes: a machine for each against the rest, on features that are coded once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats, Indices
from ...base import SettledCosts
from ...costs import Costs
from ...decisions import Evaluation, two_best_reasons
from ...folds import check_groups
from ...labels import LabelSpace, label_space, to_python
from ...one_versus_rest import (
    AgainstTheRest,
    against_the_rest,
    answered_against_the_rest,
    evaluate_machines,
    machine_reasons,
    require_every_class,
)
from ...parameters import n_threads
from ..additive_model import stacked_tables
from ..binning import Bins
from .data import (
    DEFAULT_COSTS,
    ReadCases,
    SettledCases,
    check_class_groups,
    check_class_sizes,
    code_cases,
    in_units,
    k_in_units,
    positives_first,
    settle_start,
)
from .objectives import Objective, Terms, find_objective
from .problem import RankingProblem

if TYPE_CHECKING:
    from .estimator import ExactBoostClassifier

_OF_TWO = (
    "_sign", "_seed", "_runs", "_began_with", "_held_out", "_per_start", "_mean_start", "_range", "_k_share", "_form",
    "_edits", "_cuts", "_training_shares", "_has_missing", "_level_cells", "_bound",
)  # fmt: skip
_TO_GO_ON = ("_seed", "_runs", "_began_with", "_held_out")  # what more runs of a machine need of the last fit


class SeveralCases(NamedTuple):
    """The training cases of three or more classes: what each machine is given; nothing of it is stored yet."""

    labels: LabelSpace
    prices: SettledCosts
    members: list[SettledCases]


def settle_several(estimator: Any, read: ReadCases, init_score: Any, groups: Any, *, hold_out: bool) -> SeveralCases:
    """Prices and problem of the machine of each class; the features are coded once for all of them."""
    labels, classes = read.labels, read.labels.classes
    objective = find_objective(estimator.metric)
    if estimator.monotonic_cst is not None:
        raise ValueError(
            f"monotonic_cst says how the score of one class against one other may move, and y has {len(classes)} "
            "classes: leave it out."
        )
    prices = estimator._settle_costs(classes, must_pay=objective.rejects, default=DEFAULT_COSTS)
    shares = require_every_class(read.codes, read.weights, classes)
    starts = _columns_of_start(init_score, len(read.codes), len(classes))
    groups = check_groups(groups, len(read.codes))
    compare = against_the_rest if objective.rejects else answered_against_the_rest
    sides = [
        _Side(to_python(label), problem, start, groups)
        for label, problem, start in zip(classes, compare(prices.oriented, shares), starts, strict=True)
    ]
    used = np.flatnonzero(read.weights > 0)
    bins = code_cases(read.X, used, estimator.max_bins, read.weights, read.categories)
    coded = _CodedOnce(bins, used, objective, prices.unit, hold_out)
    return SeveralCases(labels, prices, [_settle_side(estimator, read, side, coded) for side in sides])


class _Side(NamedTuple):
    """One class, its problem against the rest, the initial scores towards it, and the groups of all cases."""

    label: Any
    problem: AgainstTheRest
    init_score: Any
    groups: Indices | None


class _CodedOnce(NamedTuple):
    """What all machines share: the coded features of the used cases, what is minimised, the unit of the prices."""

    bins: Bins
    used: Indices
    objective: Objective
    unit: float
    hold_out: bool


def _settle_side(estimator: Any, read: ReadCases, side: _Side, coded: _CodedOnce) -> SettledCases:
    """What the machine of one class is given: the side of the class first."""
    weights = read.weights * side.problem.factors[read.codes]
    order, n_pos = positives_first(side.problem.positive[read.codes], weights)
    names = side.label, f"other than {side.label!r}"
    check_class_sizes(names, (n_pos, len(order) - n_pos), estimator.subsample, held_out=coded.hold_out)
    together = None if side.groups is None else side.groups[order]
    if together is not None and coded.hold_out:
        check_class_groups(together, n_pos, names)
    weight, smallest = in_units(weights[order])
    given = Costs(**{name: price * coded.unit for name, price in side.problem.costs.as_dict().items()})
    prices = SettledCosts(given, 1, side.problem.costs.normalised())
    terms = Terms(prices.oriented, k_in_units(estimator.k, weight, n_pos, smallest))
    span, start = settle_start(side.init_score, order, len(read.codes), 1.0)
    codes = np.ascontiguousarray(coded.bins.codes[:, np.searchsorted(coded.used, order)])
    bins = replace(coded.bins, codes=codes)
    problem = RankingProblem(bins, n_pos, weight, start, coded.objective, terms, together)
    return SettledCases(label_space(np.array([0, 1])), prices, 1.0, span, problem, read.categories)


def _columns_of_start(init_score: Any, n: int, n_classes: int) -> list[Any]:
    """Initial scores by class; nothing for each where there are none."""
    if init_score is None:
        return [None] * n_classes
    scores = np.asarray(init_score)
    if scores.shape != (n, n_classes):
        raise ValueError(
            f"init_score must hold {n} rows of {n_classes} finite numbers, a column for each class; got shape "
            f"{scores.shape}."
        )
    return list(scores.T)


def require_as_many_classes(estimator: ExactBoostClassifier, n_classes: int) -> None:
    """Refuse to go on from the runs of a fit to another number of classes."""
    machines = len(getattr(estimator, "machines_", []))
    before = machines or (2 if hasattr(estimator, "_runs") else n_classes)
    if estimator.warm_start and before != n_classes:
        raise ValueError(
            f"warm_start=True adds runs to those of the last fit, but that was to {before} classes and y has "
            f"{n_classes}: use the same cases as then, or warm_start=False."
        )


def new_machines(estimator: ExactBoostClassifier, n_classes: int) -> list[ExactBoostClassifier]:
    """A classifier of two classes for each, with the runs of the last fit where this one goes on from it."""
    machines = [type(estimator)(**estimator.get_params(deep=False)) for _ in range(n_classes)]
    for machine in machines:
        machine.set_params(pos_label=None, reject_label="auto")
    if estimator.warm_start and hasattr(estimator, "machines_"):
        for machine, before in zip(machines, estimator.machines_, strict=True):
            for name in _TO_GO_ON:
                setattr(machine, name, getattr(before, name))
    return machines


def store_machines(estimator: ExactBoostClassifier, machines: list[ExactBoostClassifier]) -> None:
    """Publish the machines, and what they have found with an entry for each."""
    for name in _OF_TWO:
        estimator.__dict__.pop(name, None)
    fitted: Any = estimator
    fitted.machines_ = machines
    for name in ("thresholds_", "threshold_", "objective_"):
        setattr(fitted, name, np.array([getattr(machine, name) for machine in machines]))
    fitted.objectives_, fitted.objective_ = fitted.objective_, float(fitted.objective_.sum())
    fitted.shape_functions_ = [machine.shape_functions_ for machine in machines]
    histories = [machine.history_ for machine in machines]
    fitted.history_ = {name: np.array([history[name] for history in histories]) for name in histories[0]}
    fitted.n_iter_ = machines[0].n_iter_


def forget_machines(estimator: ExactBoostClassifier) -> None:
    """Remove what an earlier fit to three or more classes has published."""
    for name in ("machines_", "objectives_"):
        estimator.__dict__.pop(name, None)


def require_one_machine(estimator: ExactBoostClassifier, what: str) -> None:
    """Refuse what is defined for two classes."""
    if hasattr(estimator, "machines_"):
        raise ValueError(
            f"{what} is for two classes; the model has {len(estimator.machines_)}. Each of machines_ is a model of "
            "one class against the rest."
        )


def _upper(estimator: ExactBoostClassifier) -> Floats:
    """How far above the boundary between its sides the score of each machine has to be for its class to be answered."""
    return np.array([machine._thresholds_of_h()[1] for machine in estimator.machines_])


def _judged(estimator: ExactBoostClassifier, h: Floats, X: Any) -> Evaluation:
    """The answer of the highest score, given where it is above the upper threshold of its machine."""
    if estimator._objective.rejects:
        return replace(evaluate_machines(h, h, _upper(estimator)), detail=(X, None))
    return Evaluation(h, np.ones(len(h)), detail=(X, None))


def evaluate_several(estimator: ExactBoostClassifier, X: NDArray[Any], init_score: Any) -> Evaluation:
    """Answers to checked cases."""
    starts = _columns_of_start(init_score, len(X), len(estimator.machines_))
    threads = n_threads(estimator.n_jobs)
    pairs = zip(estimator.machines_, starts, strict=True)
    h = np.column_stack([machine._class_score(X, start, threads)[0] for machine, start in pairs])
    return _judged(estimator, h, X)


def stages_of_several(estimator: ExactBoostClassifier, X: NDArray[Any], init_score: Any) -> Iterator[Evaluation]:
    """The same by the first run of each machine, the first two, and so on."""
    starts = _columns_of_start(init_score, len(X), len(estimator.machines_))
    given = [{} if start is None else {"init_score": start} for start in starts]
    stages = [machine._staged(X, **params) for machine, params in zip(estimator.machines_, given, strict=True)]
    for together in zip(*stages, strict=True):
        yield _judged(estimator, np.column_stack([evaluation.h for evaluation in together]), X)


def reasons_of_several(estimator: ExactBoostClassifier, evaluation: Evaluation) -> list[str]:
    """One sentence per case: the two best answers, what confusing them costs, the threshold."""
    if estimator._objective.rejects:
        return machine_reasons(evaluation, _upper(estimator), estimator.classes_, estimator.costs_)
    matrix = estimator.costs_.matrix(len(estimator.classes_))
    best = evaluation.two_best()
    return two_best_reasons(best, evaluation.accepted, estimator.classes_, matrix, "the highest score", "")


def table_of_machines(estimator: ExactBoostClassifier) -> Any:
    """The tables of all machines, with the class of each row."""
    pairs = zip(estimator.classes_, estimator.machines_, strict=True)
    return stacked_tables({to_python(label): machine.shape_table() for label, machine in pairs})
