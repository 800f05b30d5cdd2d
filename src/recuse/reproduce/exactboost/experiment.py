"""Csillag et al., "ExactBoost" (AAAI 2022): figure 2, tables 1 to 3, and which of their claims are reproduced.

Stratified cross-validation, E = 250 runs, T = 50 rounds, subsample 0.2 of cases and features, margin 0.05 (rejecting
models E = 100, not on sets above 20,000 cases; a quick run is smaller throughout); the other methods at the defaults of
their packages, scored on probabilities, missing values replaced by the median where a method needs it. Ensemblers see
the out-of-fold predictions of six base models (AdaBoost, nearest neighbours, logistic regression, a small neural
network, random forest, XGBoost) fitted to the training folds alone.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from ... import __version__
from ...datasets import load
from ...metrics import expected_cost, ks_score
from ..pages import heading, run_again
from ..results import file_stem, read_results, write_results
from ..runner import TimeBudget, present, stream_from_processes
from .models import OURS, base_models, ensemblers, estimators, exactboost, rejecting_models
from .outcomes import Outcome
from .tables import sections

# The smaller ones first: a short run still covers most of them.
DATASETS = (
    "liver_drinks",
    "heart_cleveland",
    "parkinsons",
    "sonar",
    "haberman",
    "liver_disorders",
    "ionosphere",
    "wdbc",
    "australian",
    "pima",
    "german",
    "a1a",
    "gmsc",
)
NAME = "exactboost"
FOLDS = 5
PRICES = (0.1, 0.2, 0.3)
LARGE = 20_000  # rejection is not compared on larger sets


class Fold(NamedTuple):
    """Training and test cases of one fold of a data set."""

    data: str
    number: int
    X: Any
    y: Any
    X_test: Any
    y_test: Any


def run(*, quick: bool = False, minutes: float = 60.0, out: Path | None = None, n_jobs: int = 2) -> None:
    """Run the experiment, `n_jobs` folds at a time; write the results after every fold, and print the page at the end.

    Folds that the results in `out` already hold are not run again.
    """
    outcomes = _earlier(out, quick)
    todo = _folds(quick, {(outcome.data, outcome.fold) for outcome in outcomes}, TimeBudget(minutes))
    for found in stream_from_processes(run_fold, ((fold, quick) for fold in todo), 1 if quick else n_jobs):
        outcomes = sorted(outcomes + found, key=_place)
        if out is not None:
            _write(out, outcomes, quick)
        print(f"{found[0].data}, fold {found[0].fold + 1}: {len(outcomes)} results", flush=True)
    print(page(outcomes, quick))


def _folds(quick: bool, done: set[tuple[str, int]], budget: TimeBudget) -> Iterator[Fold]:
    """Folds that are not done, as long as there is time; the first is always run."""
    begun = False
    n_folds = 2 if quick else FOLDS
    names = ["haberman"] if quick else DATASETS
    for name in present([name for name in names if any((name, i) not in done for i in range(n_folds))], load):
        X, y = load(name, return_X_y=True)
        splits = StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y)
        for number, (train, test) in enumerate(splits):
            if (name, number) in done:
                continue
            if begun and budget.spent:
                return
            begun = True
            yield Fold(name, number, X[train], y[train], X[test], y[test])


def run_fold(fold: Fold, quick: bool) -> list[Outcome]:
    """Every method on one fold."""
    n_cases = len(fold.y) + len(fold.y_test)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # models that stop at their package's iteration limit are compared as they are
        for metric in OURS:  # compiled before the clock starts
            exactboost(metric, quick, n_estimators=1, n_rounds=1).fit(fold.X, fold.y)
        outcomes = [_ranked("estimator", name, model, fold) for name, model in estimators(quick).items()]
        stacked = _stacked(fold, quick, early_stopping=len(fold.y) > LARGE)
        outcomes += [_ranked("ensembler", name, model, stacked) for name, model in ensemblers(quick).items()]
        if n_cases <= LARGE:
            outcomes += _rejecting(fold, quick)
    return outcomes


def _stacked(fold: Fold, quick: bool, early_stopping: bool) -> Fold:
    """The fold with predictions of the base models as its features.

    The predictions are out of fold for the training cases, and from all training cases for the test cases.
    """
    models = base_models(early_stopping).values()
    cv = StratifiedKFold(2 if quick else FOLDS, shuffle=True, random_state=1)
    X = [cross_val_predict(clone(m), fold.X, fold.y, cv=cv, method="predict_proba")[:, 1] for m in models]
    X_test = [clone(m).fit(fold.X, fold.y).predict_proba(fold.X_test)[:, 1] for m in models]
    return fold._replace(X=np.column_stack(X), X_test=np.column_stack(X_test))


def _ranked(part: str, name: str, model: Any, fold: Fold) -> Outcome:
    """How well a model ranks the test cases, and how long its fit takes."""
    start = time.process_time()
    fitted = clone(model).fit(fold.X, fold.y)
    seconds = time.process_time() - start
    has_probabilities = hasattr(fitted, "predict_proba")
    score = fitted.predict_proba(fold.X_test)[:, 1] if has_probabilities else fitted.decision_function(fold.X_test)
    auc, ks = 1 - float(roc_auc_score(fold.y_test, score)), 1 - ks_score(fold.y_test, score)
    return Outcome(fold.data, fold.number, part, name, auc=auc, ks=ks, cpu=seconds)


def _rejecting(fold: Fold, quick: bool) -> list[Outcome]:
    """Mean cost of the methods that reject, at a few reject prices."""
    outcomes = []
    for c in _prices(quick):
        for name, model in rejecting_models(c, quick).items():
            answers = model.fit(fold.X, fold.y).predict(fold.X_test)
            cost = expected_cost(fold.y_test, answers, costs=c, reject_label=-1)
            outcomes.append(Outcome(fold.data, fold.number, "reject", name, c=c, cost=cost))
    return outcomes


def _prices(quick: bool) -> tuple[float, ...]:
    """Reject prices."""
    return PRICES[1:2] if quick else PRICES


def page(outcomes: list[Outcome], quick: bool = False) -> str:
    """The results as a page."""
    n_data, n_folds = len({outcome.data for outcome in outcomes}), len({outcome.fold for outcome in outcomes})
    size = f"{n_data} of {len(DATASETS)} data sets, {n_folds} folds; mean test loss ± standard error over the folds."
    return "\n".join([*heading(NAME, __doc__), size, *sections(outcomes), "", *run_again(NAME, quick)])


def _place(outcome: Outcome) -> tuple[int, int]:
    """Where a result stands on the page: data sets as listed, then folds."""
    return DATASETS.index(outcome.data), outcome.fold


def _settings(quick: bool) -> dict[str, Any]:
    """What the results of a fold depend on, as it is read back from a file."""
    ours: dict[str, Any] = exactboost("auc", quick).get_params()
    folds = 2 if quick else FOLDS
    return {"recuse": __version__, "folds": folds, "prices": list(_prices(quick)), "exactboost": ours}


def _earlier(out: Path | None, quick: bool) -> list[Outcome]:
    """Results of an earlier run with the same settings."""
    data = {} if out is None else read_results(out / f"{file_stem(NAME, quick)}.json")
    if data.get("settings") != _settings(quick):
        return []
    return [Outcome(**values) for values in data["results"] if values["data"] in DATASETS]


def _write(out: Path, outcomes: list[Outcome], quick: bool) -> None:
    """Write all results so far."""
    data = {"settings": _settings(quick), "results": [outcome.to_dict() for outcome in outcomes]}
    write_results(out, file_stem(NAME, quick), data, [page(outcomes, quick)], indent=None)
