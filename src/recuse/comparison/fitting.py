"""One model on a whole table: the ensemble, unless another method is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from sklearn.pipeline import Pipeline

from ..case_facts import remember_cases
from ..folds import require_groups
from ..parameters import check_count
from .checkpoints import data_fingerprint
from .loading import as_names, check_folding, load_cases, load_table, require_packages
from .methods import ENSEMBLE, Method
from .own import able_methods, as_methods, warn_of_other_prices
from .plans import INNER_FOLDS, Plan, Task
from .prices import DEFAULT_COSTS, RunPrices
from .promising import Pledge, fit_at_the_end
from .remote import TableThere, fit_on_cluster


def fit(
    data: Any,
    target: Any,
    costs: Any = DEFAULT_COSTS,
    *,
    method: Any = ENSEMBLE,
    positive: Any = None,
    drop: Iterable[str] = (),
    groups: Any = None,
    time: str | None = None,
    effort: str | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    novelty: str = "range",
    coverage: float | None = None,
    promise: Any = None,
    confidence: float | None = None,
    promise_groups: str | None = None,
    remember: bool = False,
    cluster: Any = None,
    seed: int = 0,
    progress: Callable[[int, int, str], None] | None = None,
) -> Pipeline:
    """Fit a model that decides on a table: the ensemble of many kinds of models, unless you name a method.

    Parameters
    ----------
    data : DataFrame, array-like or path
        The table: a pandas or polars frame, an array or a list of rows, a CSV, TSV or Parquet file, or a folder of
        Parquet files.
    target : str or array-like of shape (n_cases,)
        Column with the outcome, of two classes or more; or the outcome of each case.
    costs : Costs, float or path, default=Costs(fp=1, fn=5, reject=0.3)
        Prices, as in `compare`.
    method : str, estimator or (name, estimator), default="ensemble"
        One of what `compare` takes as `methods`.
    positive, drop, groups, time, seed
        As in `compare`.
    novelty : {"range", "off"}, default="range"
        Whether the model rejects a case as a novelty if a number of it lies far outside the training range; see
        `recuse.tables.TableColumns`.
    coverage : float in (0, 1], optional
        Share of the cases to answer, of methods that place thresholds; else the prices tell where they are.
    promise : float, str, Promise or list, optional
        What is promised of the answers, such as "error<=0.02": see `recuse.GuaranteedRejectClassifier`. The model is
        then fitted on 70 % of the cases; the others show the promise. Where they cannot, every case is rejected, with
        a warning.
    confidence : float in (0, 1), optional
        Confidence of the promise; 0.95 by default.
    promise_groups : str, optional
        Column, a feature or not, in each of whose groups the promise is to hold.
    remember : bool, default=False
        Whether the model keeps the cases, 20,000 of them at most, so that reasons can name those that are alike:
        ``decide(..., neighbours=2)``. Whoever has the model then has these cases; see `recuse.remember_cases`.
    effort : {"quick", "medium", "best"}, optional
        Of the ensemble: how many members take part; "medium" by default.
    time_limit : float, optional
        Of the ensemble: seconds for the fit; see `EnsembleRejectClassifier`.
    n_jobs : int, optional
        Of the ensemble: folds fitted at once, in threads.
    cluster : str or distributed.Client, optional
        Fit on a worker of a dask cluster, in one thread: the address of its scheduler, "local:1" for a process on this
        machine, or a client. The worker reads a folder of Parquet files itself; another table is sent. The training
        part must fit into its memory: `recuse.dask` has estimators for tables that do not.
    progress : callable, optional
        Of the ensemble: called with the number of members done, the number of all, and the title of the next one.

    Returns
    -------
    Pipeline
        The preparation of the table and the classifier, for `recuse.decide` and `recuse.save`.

    Examples
    --------
    >>> import recuse
    >>> from sklearn.datasets import load_breast_cancer
    >>> table = load_breast_cancer(as_frame=True).frame
    >>> model = recuse.fit(table[:400], "target", recuse.Costs(fp=5, fn=1, reject=0.2), positive=1, effort="quick")
    >>> answers = recuse.decide(model, table[400:])
    >>> len(answers)
    169
    """
    require_packages("fit")
    prices = RunPrices.of(costs, positive)
    check_count("seed", seed, least=0)
    check_folding(groups, time)
    pledge = Pledge.of(promise, confidence, promise_groups, groups=groups, time=time)
    if pledge is not None and cluster is not None:
        raise ValueError("promise is not made on a cluster: leave out cluster, or promise.")
    table = load_table(data, target)
    settings: dict[str, Any] = {"effort": effort, "time_limit": time_limit}
    if cluster is None:  # there a fit has one thread, and nobody to report to
        settings |= {"n_jobs": n_jobs, "progress": progress}
    given = {name: value for name, value in settings.items() if value is not None}
    chosen = _with_coverage(method_to_fit(method, len(table.frame), given), coverage)
    beside = [] if pledge is None else pledge.columns
    cases = load_cases(table, positive, drop=as_names(drop), groups=groups, time=time, beside=beside, prices=prices)
    if cases.groups is not None:
        require_groups(cases.groups, INNER_FOLDS)
    settled = prices.settled(cases)
    if pledge is not None:
        pledge.require_possible(cases, seed)
    task = Task.of(cases, settled, seed, novelty)
    able_methods([chosen], task, named=True)
    warn_of_other_prices([chosen], settled, cases)
    if cluster is not None:
        there = TableThere.of(data, table.target, positive, as_names(drop), groups, time, data_fingerprint(cases))
        model = fit_on_cluster(cluster, cases, there, chosen, task)
    else:
        cases = cases.in_time()
        model = fit_at_the_end(chosen, task, cases, pledge)
    model[0].remember_writings(cases.writings)
    model[0].remember_table(cases.features)
    if remember:
        remember_cases(model, cases.features, cases.outcomes, ids=cases.case_numbers, seed=seed)
    if chosen.name == ENSEMBLE:
        _plain(model).set_params(progress=None)  # a model that is saved reports to nobody
    return model


def method_to_fit(method: Any, n_rows: int, settings: Mapping[str, Any] = MappingProxyType({})) -> Method:
    """The method that is fitted on a table of so many rows, with settings that only the ensemble has."""
    (chosen,) = as_methods([method], n_rows)
    if chosen.name == ENSEMBLE:
        # Chow's rule is for `compare`, which needs the answers at other prices.
        settings = {**settings, "rule": "auto"}
    return _with_settings(chosen, settings)


def _plain(model: Pipeline) -> Any:
    """The classifier at the end of a model, also where it stands behind a promise."""
    return getattr(model[-1], "classifier_", model[-1])


def _with_coverage(method: Method, coverage: float | None) -> Method:
    """A method that answers a share of the cases; methods that place no thresholds cannot."""
    if coverage is None:
        return method

    def build(task: Task) -> Plan:
        plan = method.build(task)
        if "coverage" not in plan.estimator.get_params(deep=False):
            raise ValueError(
                f"coverage={coverage} needs a method that places thresholds, such as 'boosting-chow'; "
                f"method={method.name!r} does not."
            )
        return replace(plan, estimator=plan.estimator.set_params(coverage=coverage))

    return replace(method, build=build)


def _with_settings(method: Method, settings: Mapping[str, Any]) -> Method:
    """The ensemble with other settings; no other method has them."""
    if not settings:
        return method
    if method.name != ENSEMBLE:
        name = next(iter(settings))
        raise ValueError(f"{name}={settings[name]!r} belongs to the ensemble; method={method.name!r} does not take it.")

    def build(task: Task) -> Plan:
        plan = method.build(task)
        return replace(plan, estimator=plan.estimator.set_params(**settings))

    return replace(method, build=build)
