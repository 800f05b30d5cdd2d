"""Cortes, DeSalvo and Mohri, "Boosting with Abstention" (NIPS 2016): section 5, and which of its claims are reproduced.

Protocol: random partitions into training, validation and test cases 3:1:1, reject prices c = 0.05 ... 0.45, T = 200.
All methods are fitted to training and validation cases together, 80 % of the cases, and choose their settings on these:
BA with the printed step takes the gamma and beta of lowest mean validation loss over the partitions, of models fitted
to the training cases, and is then fitted again to both; the others cross-validate. The row "trained on 60 %" shows the
models of that search, fitted to the training cases alone, as the paper has it for all methods: it has seen fewer cases
than every other row, and no claim is judged by it.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ...arrays import Floats
from ...baselines import TwoStepBoostingClassifier
from ...boosting import AbstentionBoostingClassifier
from ...datasets import load, make_noise_by_feature
from ...svm import DoubleHingeSVC
from ...thresholds import ThresholdRejectClassifier
from ..pages import heading, not_run, run_again
from ..results import file_stem, write_results
from ..runner import TimeBudget, call_in_processes, present
from .outcomes import (
    CANDIDATES,
    DEFAULT,
    DHL,
    EXACT,
    LOGISTIC,
    PRINTED,
    SEARCHED,
    TSB_FIXED,
    TSB_TUNED,
    Outcome,
    best_of_search,
)
from .tables import DATASETS, sections

PRICES = tuple(round(0.05 * i, 2) for i in range(1, 10))
SYNTHETIC_PRICES = (0.1, 0.2, 0.3, 0.4)
GAMMAS, BETAS = (0.08, 0.48, 0.96), (0.0, 0.01, 0.05, 0.1, 0.2)
NAME = "boosting-abstention"


class Cell(NamedTuple):
    """One partition of one data set, and a reject price."""

    data: str
    split: int
    c: float


class LabelledCases(NamedTuple):
    """Cases and their classes, 0 and 1."""

    X: NDArray[Any]
    y: NDArray[Any]


def run(*, quick: bool = False, minutes: float = 60.0, out: Path | None = None, n_splits: int = 5) -> None:
    """Run the protocol, two prices at a time; write the results after every partition, print the page at the end."""
    prices, n_splits = (PRICES[3:4], 1) if quick else (PRICES, n_splits)
    names, n_jobs = (["haberman"], 1) if quick else (list(DATASETS), 2)
    names, budget = present(names, _cases), TimeBudget(minutes)
    outcomes: list[Outcome] = []
    synthetic: list[Outcome] = []
    for split in range(n_splits):
        if split and budget.spent:
            break
        cells = [(Cell(name, split, c), quick) for name in names for c in prices]
        outcomes += _flat(call_in_processes(run_cell, cells, n_jobs))
        if not quick:
            synthetic += _flat(call_in_processes(run_synthetic, [(split, c) for c in SYNTHETIC_PRICES], n_jobs))
        if out is not None:
            _write(out, outcomes, synthetic, quick)
        print(f"partition {split + 1} of {n_splits}: {len(outcomes)} losses", flush=True)
    outcomes += fit_best_printed_step(outcomes, n_jobs)
    if out is not None:
        _write(out, outcomes, synthetic, quick)
    print(page(outcomes, synthetic, quick))


def _flat(parts: list[list[Outcome]]) -> list[Outcome]:
    """One list of all outcomes."""
    return [outcome for part in parts for outcome in part]


def run_cell(cell: Cell, quick: bool) -> list[Outcome]:
    """Losses of every method on one partition of one data set at one price."""
    train, validation, test = _partition(_cases(cell.data), cell.split)
    searched = _search_printed_step(cell, train, validation, test, quick)
    return _self_tuned(cell, _joined(train, validation), test, quick) + searched


def _joined(*parts: LabelledCases) -> LabelledCases:
    """The cases of several parts together."""
    return LabelledCases(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _cases(name: str) -> LabelledCases:
    """A data set, or the random subset of it that stands for the paper's."""
    X, y = load(name, return_X_y=True)
    if DATASETS[name] is not None:
        chosen = np.random.default_rng(7).permutation(len(y))[: DATASETS[name]]
        X, y = X[chosen], y[chosen]
    return LabelledCases(X, y)


def _partition(cases: LabelledCases, seed: int) -> tuple[LabelledCases, LabelledCases, LabelledCases]:
    """Training, validation and test cases."""
    order = np.random.default_rng(seed).permutation(len(cases.y))
    fifth = len(cases.y) // 5
    train, validation, test = (
        LabelledCases(cases.X[rows], cases.y[rows])
        for rows in (order[2 * fifth :], order[fifth : 2 * fifth], order[:fifth])
    )
    return train, validation, test


def _self_tuned(cell: Cell, train: LabelledCases, test: LabelledCases, quick: bool) -> list[Outcome]:
    """The methods that choose their settings themselves."""
    shared: dict[str, Any] = {"costs": cell.c, "n_rounds": 30 if quick else 200, "random_state": cell.split}
    default = AbstentionBoostingClassifier(**shared).fit(*train)
    scaled = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    others = {
        TSB_TUNED: TwoStepBoostingClassifier(**shared),
        TSB_FIXED: TwoStepBoostingClassifier(tune_rounds=False, **shared),
        EXACT: AbstentionBoostingClassifier(
            family="coupled", loss="exponential", threshold="calibrated", max_bins=None, **shared
        ),
        LOGISTIC: ThresholdRejectClassifier(scaled, costs=cell.c),
        DHL: _double_hinge(cell.c, quick),
    }
    return [
        _outcome_of_model(cell, DEFAULT, default, test),
        *(_outcome_of_candidate(cell, name, _candidate(default, name, train), test) for name in CANDIDATES),
        *(_outcome_of_model(cell, name, clone(model).fit(*train), test) for name, model in others.items()),
    ]


def _candidate(default: AbstentionBoostingClassifier, name: str, train: LabelledCases) -> Any:
    """A pair that the default chose from; fitted by itself where the default gave it up on its first folds."""
    if name in default.candidates_:
        return default.candidates_[name]
    family, _, stack = name.partition("+")
    return clone(default).set_params(family=family, stack=stack or None).fit(*train).candidates_[name]


def _double_hinge(c: float, quick: bool) -> Any:
    """The paper's DHL: a double hinge machine with a polynomial kernel, degree and C by cross-validation."""
    machine = make_pipeline(StandardScaler(), DoubleHingeSVC(costs=c, kernel="poly", coef0=1.0))
    grid = {"degree": [1], "C": [1.0]} if quick else {"degree": [1, 2, 3], "C": [0.1, 1.0, 10.0, 100.0]}
    return GridSearchCV(machine, {f"doublehingesvc__{name}": values for name, values in grid.items()}, cv=3)


def _outcome_of_model(cell: Cell, name: str, model: Any, test: LabelledCases) -> Outcome:
    """What a fitted model does, and the family it chose or was given, if it has one."""
    return replace(_outcome(cell, name, _scores(model, test), test), chosen=getattr(model, "family_", None))


def _outcome_of_candidate(cell: Cell, name: str, pair: Any, test: LabelledCases) -> Outcome:
    """What the default would have been, had it chosen this pair."""
    return _outcome(cell, CANDIDATES[name], pair.evaluate(test.X), test)


def _scores(model: Any, cases: LabelledCases) -> tuple[Floats, Floats]:
    """Class score h and acceptance score r."""
    return model.decision_function(cases.X), model.score_samples(cases.X)


def _outcome(cell: Cell, method: str, scores: tuple[Floats, Floats], test: LabelledCases) -> Outcome:
    """Loss and rejection rate, from the scores of the test cases."""
    h, r = scores
    return Outcome(*cell, method, abstention_loss(test.y, h, r, cell.c), rejected=float(np.mean(r <= 0)))


def abstention_loss(y: Any, h: Any, r: Any, c: float) -> float:
    """Mean abstention loss, as in equation (1)."""
    if np.ndim(h) == 0 or len(h) == 0:
        return float("nan")
    return float(np.where(r <= 0, c, (h > 0) != (y == 1)).mean())


def _search_printed_step(
    cell: Cell, train: LabelledCases, validation: LabelledCases, test: LabelledCases, quick: bool
) -> list[Outcome]:
    """The paper's algorithm with its printed step on the training cases, for every gamma and beta."""
    outcomes = []
    for gamma, beta in [(0.48, 0.05)] if quick else product(GAMMAS, BETAS):
        model = _fit_printed_step(cell.c, gamma, beta, train)
        losses = [abstention_loss(cases.y, *_scores(model, cases), cell.c) for cases in (validation, test)]
        outcomes.append(Outcome(*cell, SEARCHED, losses[1], gamma=gamma, beta=beta, validation=losses[0]))
    return outcomes


def _fit_printed_step(c: float, gamma: float, beta: float, cases: LabelledCases) -> AbstentionBoostingClassifier:
    """The paper's algorithm with its printed step."""
    model = AbstentionBoostingClassifier(
        costs=c, loss="exponential", family="coupled", step="paper", gamma=gamma, beta=beta, threshold="calibrated",
        max_bins=None,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # beta = 0 is part of the paper's grid
        return model.fit(*cases)


def fit_best_printed_step(outcomes: list[Outcome], n_jobs: int = 1) -> list[Outcome]:
    """The printed step at the best gamma and beta of a finished search, on as many cases as the other methods have."""
    best = [
        (Cell(outcome.data, outcome.split, outcome.c), outcome.gamma, outcome.beta)
        for outcome in best_of_search(outcomes)
    ]
    return call_in_processes(run_printed_step, best, n_jobs)


def run_printed_step(cell: Cell, gamma: float, beta: float) -> Outcome:
    """The printed step on training and validation cases together."""
    train, validation, test = _partition(_cases(cell.data), cell.split)
    model = _fit_printed_step(cell.c, gamma, beta, _joined(train, validation))
    outcome = _outcome(cell, PRINTED, _scores(model, test), test)
    return replace(outcome, gamma=gamma, beta=beta)


def run_synthetic(split: int, c: float) -> list[Outcome]:
    """Label by one feature, noise by another: where a learned rejector must win.

    Trained on 800 cases, four fifths of 1000; tested on many more than the other 200, since they are easily drawn.
    """
    train = LabelledCases(*make_noise_by_feature(800, random_state=split))
    test = LabelledCases(*make_noise_by_feature(20_000, random_state=1000 + split))
    cell = Cell("label by x1, noise by x2", split, c)
    model = AbstentionBoostingClassifier(costs=c, random_state=split).fit(*train)
    chow = _outcome_of_candidate(cell, "chow", model.candidates_["chow"], test)
    return [_outcome_of_model(cell, DEFAULT, model, test), chow]


def page(outcomes: list[Outcome], synthetic: list[Outcome], quick: bool = False, remark: str = "") -> str:
    """The results as a page; a remark says what is not of one run."""
    found = {outcome.data for outcome in outcomes}
    missing = [] if quick else [name for name in DATASETS if name not in found]
    remarks = [remark, ""] if remark else []
    text = [*heading(NAME, __doc__), *remarks, *sections(outcomes, synthetic), "", *not_run([], missing)]
    return "\n".join(text + run_again(NAME, quick))


def _write(out: Path, outcomes: list[Outcome], synthetic: list[Outcome], quick: bool) -> None:
    """Write all results so far."""
    data = {
        "losses": [outcome.to_dict() for outcome in outcomes],
        "synthetic": [outcome.to_dict() for outcome in synthetic],
    }
    write_results(out, file_stem(NAME, quick), data, [page(outcomes, synthetic, quick)], indent=None)
