"""Decisions with three or more outcomes: what they cost beside LightGBM and logistic regression with Chow's rule.

Tables are those of `benchmarks.class_tables`. Each is split at random, by class, into 70 % for training (at most 2,000
cases) and the rest for testing (at most 4,000), as often as the first rows say, and answered at two price lists: all
errors alike with a rejection at a fifth, and a matrix of prices drawn once per table (lognormal, so that the dearest
error is several times the cheapest), rejections by class. A cell is the cost per test case in units of the dearest
error, mean of both lists.

The peers answer with Chow's rule at the same prices: LightGBM with the best of four settings by log loss over three
folds (its own and three drawn at random), and logistic regression on standardised features with the best of four
penalties by log loss. "Logistic regression, tuned" has the same search, and the tuned rule. All else of the library has
its defaults and no search (ExactBoost 50 runs, the double ramp lam=1e-3); machines see standardised columns.

Rows named "difference" hold the mean over tables and splits of (ours - peer's), beside its standard error over the
tables' means: no worse is at most one standard error above 0. What `recuse fit` fits, the ensemble, has that goal on
every table, too, where there are splits enough for a standard error: that of their differences, enlarged for the cases
that splits share. Nothing of the library was chosen on these figures. Finished cells are kept in `benchmarks/partial`
and not computed again.
"""

import json
import sys
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np

from .runner import Row

PARTIAL = Path(__file__).parent / "partial" / "class_quality"
SPLITS, TEST_SHARE = 2, 0.3
MOST_TRAINING, MOST_TEST = 2_000, 4_000
PEERS = ("LightGBM + Chow", "logistic regression + Chow")
JUDGED = "ensemble"  # what `recuse fit` fits: the method that has to keep up on every table


def run(quick=False):
    from .class_tables import TABLES

    names = tuple(TABLES)[:1] if quick else tuple(TABLES)
    methods = tuple(_builders()) if not quick else (*PEERS, "ensemble")
    found = _all_cells(names, methods, 1 if quick else SPLITS, PARTIAL / "quick" if quick else PARTIAL)
    costs = {key: [cost for cost, _ in cells] for key, cells in found.items()}
    seconds = {method: np.mean([taken for name in names for _, taken in found[method, name]]) for method in methods}
    ours = [method for method in methods if method not in PEERS]
    if len(names) > 1:
        yield from (_over_tables(method, peer, names, costs) for method in ours for peer in PEERS)
    yield from (_on_table(method, peer, name, costs) for method in ours for name in names for peer in PEERS)
    for method in ours:
        yield Row(f"CPU s of {method}", "mean of all", PEERS[0], seconds[method], seconds[PEERS[0]])


def _over_tables(method, peer, names, costs):
    """The mean difference over the tables beside its standard error."""
    apart = [np.mean(np.subtract(costs[method, name], costs[peer, name])) for name in names]
    error = np.std(apart, ddof=1) / np.sqrt(len(apart))
    size = f"{len(names)} tables, {SPLITS} splits"
    return Row(f"difference of {method}", size, f"one standard error, {peer}", np.mean(apart), error, 1.0)


def _on_table(method, peer, name, costs):
    """The mean costs on a table, and whether they differ by more than the splits do."""
    ours, theirs = costs[method, name], costs[peer, name]
    apart = np.subtract(ours, theirs)
    if len(apart) < 3:  # nothing to take a standard error from
        return Row(f"cost of {method}", name, peer, np.mean(ours), np.mean(theirs))
    error = np.std(apart, ddof=1) * np.sqrt(1 / len(apart) + TEST_SHARE / (1 - TEST_SHARE))
    words = f"{peer}; difference {apart.mean():+.4f} ± {error:.4f}"
    goal = round(1 + error / max(np.mean(theirs), 1e-12), 4) if method == JUDGED else None
    return Row(f"cost of {method}", name, words, np.mean(ours), np.mean(theirs), goal)


def _all_cells(names, methods, splits, folder):
    """(cost, processor seconds) of every split, by method and table; what the folder holds is not computed again."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    # Split by split, so that a run that was cut off has all tables rather than all splits of some.
    for split, name, method in product(range(splits), names, methods):
        found.setdefault((method, name), []).append(_kept_cell(method, name, split, folder))
    return found


def _kept_cell(method, name, split, folder):
    """A cell from its file, or computed and written there."""
    path = folder / f"{name}-{split}-{method}.json"
    if not path.exists():
        cost, seconds = _cell(method, name, split)
        path.write_text(json.dumps({"cost": cost, "seconds": seconds}))
        print(f"{name}, split {split}, {method}: {cost:.4f}, {seconds:.1f} s", file=sys.stderr, flush=True)
    kept = json.loads(path.read_text())
    return kept["cost"], kept["seconds"]


def _cell(method, name, split):
    """Mean cost at the two price lists, in units of the dearest error, and the processor seconds of both fits."""
    from recuse.metrics import expected_cost

    (X, y), (X_new, y_new) = _split(name, split)
    build, cost, started = _builders()[method], [], time.process_time()
    for prices in _prices(name, len(np.unique(y))):
        with warnings.catch_warnings(action="ignore"):
            answers = build(prices, split).fit(X, y).decide(X_new, reasons=False)
        cost.append(expected_cost(y_new, answers, costs=prices) / prices.for_classes(np.unique(y)).largest_error)
    return float(np.mean(cost)), time.process_time() - started


def _split(name, seed):
    from sklearn.model_selection import train_test_split

    from .class_tables import class_table

    X, y = class_table(name)
    parts = train_test_split(np.arange(len(y)), test_size=TEST_SHARE, stratify=y, random_state=seed)
    return [(X[rows[:most]], y[rows[:most]]) for rows, most in zip(parts, (MOST_TRAINING, MOST_TEST), strict=True)]


def _prices(name, n_classes):
    """All errors alike, and a matrix; both have rejections that pay."""
    from recuse import Costs

    rng = np.random.default_rng([ord(letter) for letter in name])
    errors = np.exp(rng.normal(0, 0.7, (n_classes, n_classes)))
    np.fill_diagonal(errors, 0)
    cheapest = [min(row[row > 0]) for row in errors]
    return Costs(fp=1, fn=1, reject=0.2), Costs(errors=errors, reject=list(rng.uniform(0.2, 0.4) * np.array(cheapest)))


def _builders():
    """Methods by name: each makes an estimator from prices and a seed."""
    return {
        "LightGBM + Chow": _lightgbm,
        "logistic regression + Chow": _logistic,
        "ensemble": _ensemble,
        "logistic regression, tuned": _tuned,
        "boosting with abstention": _abstention_boosting,
        "double hinge": _double_hinge,
        "double ramp": _double_ramp,
        "ExactBoost": _exactboost,
        "coupled one-class": _coupled,
    }


def _lightgbm(prices, seed):
    from sklearn.model_selection import GridSearchCV, StratifiedKFold

    from recuse import ThresholdRejectClassifier
    from recuse.ensemble.boosters import NativeBooster

    from .rivals import lightgbm_points

    settings, folds = lightgbm_points(seed)[:4], StratifiedKFold(3, shuffle=True, random_state=seed)
    booster = NativeBooster("lightgbm", settings[0], random_state=seed)
    search = GridSearchCV(booster, {"settings": settings}, scoring="neg_log_loss", cv=folds)
    return ThresholdRejectClassifier(search, costs=prices)


def _linear(seed):
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression(max_iter=1_000))
    return GridSearchCV(model, {"logisticregression__C": [0.01, 0.1, 1, 10]}, scoring="neg_log_loss", cv=3)


def _logistic(prices, seed):
    from recuse import ThresholdRejectClassifier

    return ThresholdRejectClassifier(_linear(seed), costs=prices)


def _tuned(prices, seed):
    from recuse import ThresholdRejectClassifier

    return ThresholdRejectClassifier(_linear(seed), costs=prices, rule="tuned")


def _ensemble(prices, seed):
    from recuse import EnsembleRejectClassifier

    return EnsembleRejectClassifier(costs=prices, random_state=seed)


def _abstention_boosting(prices, seed):
    from recuse import AbstentionBoostingClassifier

    return AbstentionBoostingClassifier(costs=prices)


def _on_standardised(model):
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return _Deciding(make_pipeline(SimpleImputer(), StandardScaler(), model))


def _double_hinge(prices, seed):
    from recuse import DoubleHingeSVC

    return _on_standardised(DoubleHingeSVC(costs=prices))


def _double_ramp(prices, seed):
    from recuse import DoubleRampSVC

    return _on_standardised(DoubleRampSVC(costs=prices, lam=1e-3))


def _coupled(prices, seed):
    from recuse import CoupledOneClassSVC

    return _on_standardised(CoupledOneClassSVC(costs=prices))


def _exactboost(prices, seed):
    from recuse import ExactBoostClassifier

    return ExactBoostClassifier(metric="reject_cost", costs=prices, n_estimators=50, random_state=seed)


class _Deciding:
    """A pipeline that has `decide`, as a classifier has."""

    def __init__(self, pipeline):
        self.pipeline = pipeline

    def fit(self, X, y):
        self.pipeline.fit(X, y)
        return self

    def decide(self, X, *, reasons):
        from recuse import decide

        return decide(self.pipeline, X, reasons=reasons)
