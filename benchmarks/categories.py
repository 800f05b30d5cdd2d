"""Categories as they are instead of one column per category: held-out cost and processor seconds, paired.

Every set is split at random, by class, into 70 % for training (at most 4,000 cases) and the rest for testing (at most
8,000). The methods of `recuse compare` that take categories by themselves are fitted to the same parts twice, with
columns of few categories as categories (ours) and as skrub's one column per category (the peer), preparation included;
the boosted members of the ensemble, each as an ensemble of its own, with codes as categories and as numbers, as
before. Prices are the default ones: 1 for a false positive, 5 for a false negative, 0.3 for a manual review.

The data sets hold categories as codes or as columns of 0 and 1; `categorical_tables` makes text of them again. Which
sets were looked at while this was built: DEVELOPED. The others were run once, when nothing was changed any more.
Rows named "difference" hold the mean over sets and splits of ours / peer's - 1 beside its standard error; not worse
means at most one standard error above 0.
"""

import sys
import time
import warnings
from dataclasses import replace
from itertools import product

import numpy as np

DEVELOPED = ("german", "heart_cleveland", "australian")
CONFIRMED = ("bank_marketing", "heart_statlog", "splice", "credit_default", "covtype_sample", "a9a")
METHODS = ("boosting-chow", "abstention-boosting", "exactboost")
MEMBERS = ("abstention-boosting", "exactboost")
SPLITS = 4
MOST_TRAINING, MOST_TEST = 4_000, 8_000


def run(quick=False):
    from .runner import Row

    sets, splits = (DEVELOPED[1:2], 1) if quick else (DEVELOPED + CONFIRMED, SPLITS)
    members = tuple(f"ensemble of {name}" for name in MEMBERS)
    for what in METHODS[1:2] if quick else METHODS + members:
        _cell(what, sets[0], 0)  # compiled functions are read from their cache, which must not count
        cells = {}
        for name, seed in product(sets, range(splits)):
            cells[name, seed] = _cell(what, name, seed)
            print(what, name, seed, np.round(cells[name, seed], 4).tolist(), file=sys.stderr, flush=True)
        peer = "codes as numbers" if what in members else "one column per category"
        for name in sets:
            found = np.mean([cells[name, seed] for seed in range(splits)], axis=0)
            yield Row(f"{what}: cost", name, peer, *found[:, 0])
            yield Row(f"{what}: CPU s", name, peer, *found[:, 1])
        for title, chosen in (("developed on", DEVELOPED), ("confirmed on", CONFIRMED)):
            ratios = np.array([cell[0, :] / cell[1, :] - 1 for key, cell in cells.items() if key[0] in chosen])
            if len(ratios) > 1:
                error = ratios.std(axis=0, ddof=1) / np.sqrt(len(ratios))
                yield Row(
                    f"{what}: difference in cost", title, "one standard error", ratios[:, 0].mean(), error[0], 1.0
                )
                yield Row(f"{what}: difference in CPU", title, "one standard error", ratios[:, 1].mean(), error[1])


def _cell(what, name, seed):
    """Cost and processor seconds of both ways, as rows: ours, the peer's."""
    way = _member_alone if what.startswith("ensemble of ") else _method
    return np.array([way(what.removeprefix("ensemble of "), name, seed, natively) for natively in (True, False)])


def _method(what, name, seed, natively):
    from recuse import decide
    from recuse.comparison import METHODS as KNOWN
    from recuse.comparison import Task
    from recuse.comparison.folds import fit_model
    from recuse.comparison.loading import DEFAULT_COSTS

    (X, y), (X_new, y_new) = _split(name, seed)
    method = replace(next(known for known in KNOWN if known.name == what), takes_categories=natively)
    task = Task(DEFAULT_COSTS, 1, seed, len(y))
    return _timed(lambda: decide(fit_model(method, task, X, y)[0], X_new, reasons=False), y_new)


def _member_alone(what, name, seed, natively):
    from recuse import EnsembleRejectClassifier
    from recuse.comparison.loading import DEFAULT_COSTS
    from recuse.ensemble.roster import ROSTER

    (X, y), (X_new, y_new) = _split(name, seed)
    member = next(known for known in ROSTER if known.name == what)
    if not natively:
        build, none = member.build, np.zeros(0, dtype=np.intp)
        member = replace(member, build=lambda training: build(training._replace(categorical=none)))
    model = EnsembleRejectClassifier([member], costs=DEFAULT_COSTS, rule="chow", random_state=seed)
    return _timed(lambda: model.fit(X, y).decide(X_new, reasons=False), y_new)


def _timed(answer, y):
    """Cost per case of the answers, and the processor seconds they took."""
    from recuse.comparison.loading import DEFAULT_COSTS
    from recuse.metrics import expected_cost

    with warnings.catch_warnings(action="ignore"):
        started = time.process_time()
        decisions = answer()
        seconds = time.process_time() - started
    labels = np.where(decisions.accepted, decisions.forced, -1)
    return expected_cost(y, labels, costs=DEFAULT_COSTS, reject_label=-1), seconds


def _split(name, seed):
    """Training part and test part."""
    from sklearn.model_selection import train_test_split

    from .categorical_tables import categorical_table

    X, y = categorical_table(name)
    parts = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=seed)
    return [
        (X.iloc[rows[:most]].reset_index(drop=True), y[rows[:most]])
        for rows, most in zip(parts, (MOST_TRAINING, MOST_TEST), strict=True)
    ]
