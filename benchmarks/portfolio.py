"""Settings of the members: a pool per kind of learner, and the short list that serves other data sets best.

Each pool holds the settings that the roster had before and nine more, drawn once with a fixed seed. On every data set
(at most 1,000 cases; madelon, with its 500 columns, takes too long) each is fitted and calibrated as in the ensemble,
and judged by the log loss of held-out cases over 3 folds. A list of one, two or three settings is judged by the best of
it; lists grow by the setting that lowers the mean over the data sets of the ratio to the best of the pool, .05 added to
both losses. Every ratio below is that of a list found **without** the data set it is judged on. "ours" is the mean
ratio of the list found, "peer's" that of the settings before, both to the best of the pool with hindsight, so that 1 is
the most that a choice could reach: a list is worth having where "ours" is below.

The roster took the first of a list where it is better by two standard errors over the sets; `portfolio_lists.json` has
what was taken, the lists and the pools, and the same without each data set. (The forests of this run had 150 trees;
those of the roster have 60.) Needs the environment variable RECUSE_DATA; finished data sets are kept in
`benchmarks/partial` and not computed again.
"""

import json
import time
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np
from scipy.special import expit
from sklearn.model_selection import StratifiedKFold, train_test_split

from recuse.calibration import log_loss
from recuse.datasets import DATASETS, load
from recuse.ensemble import ROSTER
from recuse.ensemble.bagging import fit_fold, join_folds
from recuse.ensemble.cases import Outcomes
from recuse.ensemble.features import Table, TableViews
from recuse.ensemble.roster import Training

from .runner import RESULTS, Row

CASES, FOLDS, POOL, LONGEST = 1_000, 3, 10, 3
FLOOR = 0.05  # keeps tables that are nearly free of errors, where a ratio of losses says little, from deciding
PARTIAL = Path(__file__).parent / "partial" / "portfolio"
LISTS = RESULTS / "portfolio_lists.json"
# Not twice the same cases: breast_cancer is wdbc, german_numeric is german, a9a holds a1a.
SETS = tuple(name for name in DATASETS if name not in ("breast_cancer", "german_numeric", "a9a", "madelon"))
MEMBERS = {member.name: member for member in ROSTER}


def _boosted(rng, library):
    """Settings of a booster, in the words of its library."""
    rate = float(np.exp(rng.uniform(np.log(0.02), np.log(0.12))))
    rounds = int(np.clip(rng.uniform(4, 18) / rate, 60, 400))
    rows, columns = float(rng.choice([0.6, 0.8, 0.95])), float(rng.choice([0.3, 0.5, 0.7, 1.0]))
    leaf, l2 = int(rng.choice([1, 3, 8, 15, 30])), float(rng.choice([0.1, 1.0, 3.0, 10.0]))
    depth = int(rng.integers(2, 7))
    words = {
        "lightgbm": {
            "num_leaves": int(2**depth * rng.uniform(0.6, 0.9)) + 1, "min_data_in_leaf": leaf, "lambda_l2": l2,
            "feature_fraction": columns, "bagging_fraction": rows, "bagging_freq": 1,
            "extra_trees": bool(rng.random() < 0.3),
        },
        "xgboost": {
            "max_depth": depth, "min_child_weight": leaf / 4, "reg_lambda": l2, "subsample": rows,
            "colsample_bytree": columns,
        },
        "catboost": {
            "depth": depth, "l2_leaf_reg": 1 + l2, "rsm": max(columns, 0.5),
            "random_strength": float(rng.choice([0.5, 1.0, 3.0])),
        },
    }  # fmt: skip
    return {"settings": {"rounds": rounds, "learning_rate": rate} | words[library]}


def _histogram(rng):
    drawn = _boosted(rng, "lightgbm")["settings"]
    return {
        "learning_rate": drawn["learning_rate"], "max_iter": drawn["rounds"], "max_leaf_nodes": drawn["num_leaves"],
        "min_samples_leaf": drawn["min_data_in_leaf"], "l2_regularization": drawn["lambda_l2"],
        "max_features": drawn["feature_fraction"],
    }  # fmt: skip


def _forest(rng):
    return {
        "min_samples_leaf": int(rng.choice([1, 2, 3, 5, 8])),
        "max_features": rng.choice(["sqrt", "0.3", "0.5", "0.8"]).item(),
        "criterion": rng.choice(["gini", "entropy"]).item(),
    }


def _logistic(rng):
    return {"C": float(np.exp(rng.uniform(np.log(0.003), np.log(30))))}


def _curves(rng):
    return {
        "hingebasis__n_knots": int(rng.choice([2, 3, 5, 7, 15])),
        "logisticregression__C": float(np.exp(rng.uniform(np.log(0.02), np.log(10)))),
    }


def _network(rng):
    return {
        "hidden_layer_sizes": [[16], [64], [128], [64, 32], [128, 64]][rng.integers(5)],
        "alpha": float(np.exp(rng.uniform(np.log(1e-3), np.log(3)))),
        "learning_rate_init": float(np.exp(rng.uniform(np.log(1e-3), np.log(1e-2)))),
        "max_iter": int(rng.choice([30, 60, 120])),
        "activation": rng.choice(["relu", "tanh"]).item(),
    }


def _double_hinge(rng):
    return {
        "C": float(np.exp(rng.uniform(np.log(0.05), np.log(20)))),
        "gamma_times_p": float(np.exp(rng.uniform(np.log(0.1), np.log(3)))),
    }


def _abstention_boosting(rng):
    return {
        "n_rounds": int(rng.choice([60, 100, 150, 300])),
        "beta": float(np.exp(rng.uniform(np.log(1e-5), np.log(1e-2)))),
        "max_bins": int(rng.choice([16, 32, 64, 128])),
        "max_depth": int(rng.choice([1, 1, 2])),
        "learning_rate": [None, 0.3, 0.1][rng.integers(3)],
    }


def _exactboost(rng):
    return {
        "n_estimators": int(rng.choice([20, 40, 80])),
        "n_rounds": int(rng.choice([20, 50, 100])),
        "subsample": float(rng.choice([0.1, 0.2, 0.5])),
        "max_features": float(rng.choice([0.2, 0.5])),
        "margin": float(rng.choice([0.0, 0.05])),
    }


# What the roster had before it took what was found.
BEFORE = {
    "forest": {"criterion": "gini", "min_samples_leaf": 2},
    "catboost": {"settings": {"rounds": 300, "depth": 5, "learning_rate": 0.06}},
    "double-hinge": {"C": 1.0, "gamma": "scale"},
}
# What draws the settings of a member.
FAMILIES = {
    "logistic": _logistic,
    "curves": _curves,
    "extra-trees": _forest,
    "forest": _forest,
    "lightgbm": partial(_boosted, library="lightgbm"),
    "histogram-boosting": _histogram,
    "catboost": partial(_boosted, library="catboost"),
    "xgboost": partial(_boosted, library="xgboost"),
    "double-hinge": _double_hinge,
    "abstention-boosting": _abstention_boosting,
    "exactboost": _exactboost,
    "network": _network,
}

# Sets with the cases of another.
SAME_CASES = {"a9a": "a1a", "breast_cancer": "wdbc", "german_numeric": "german"}


def run(quick=False):
    names, families = (("haberman", "new_thyroid", "sonar"), ("logistic", "curves")) if quick else (SETS, FAMILIES)
    folder = PARTIAL / "quick" if quick else PARTIAL
    losses = {name: _losses_of(name, families, folder) for name in names}
    ratios = {family: _ratios([losses[name][family] for name in names]) for family in families}
    lists = {family: _lists_without_each(table) for family, table in ratios.items()}
    if not quick:
        _write(names, losses, ratios, lists)
    for family, table in ratios.items():
        for length in range(1, LONGEST + 1):
            ours = np.mean([table[i, chosen[:length]].min() for i, chosen in enumerate(lists[family])])
            size = f"{len(names)} sets, {length} of {POOL}"
            goal = 1.0 if length == 1 else None  # which of a longer list is best is known with hindsight only
            yield Row(f"{family}: log loss to the best of the pool", size, "before", ours, table[:, 0].mean(), goal)


@cache
def pool(family):
    """Settings of a member: those that the roster had before, and others."""
    rng = np.random.default_rng([31, list(FAMILIES).index(family)])
    return [BEFORE.get(family, {}), *(FAMILIES[family](rng) for _ in range(POOL - 1))]


def with_settings(member, settings):
    """A member with other settings than those of the roster."""

    def build(training):
        changed = dict(settings)
        if "gamma_times_p" in changed:
            changed["gamma"] = changed.pop("gamma_times_p") / training.p
        if member.name in ("forest", "extra-trees") and "min_samples_leaf" in changed:
            changed["min_samples_leaf"] = max(changed["min_samples_leaf"], training.n // 2_000)
        if changed.get("max_features") in ("0.3", "0.5", "0.8"):
            changed["max_features"] = float(changed["max_features"])
        return member.build(training).set_params(**changed)

    return replace(member, build=build)


def _losses_of(name, families, folder):
    """Log loss on held-out cases by family, a number per setting of its pool; infinite where a fit fails."""
    path = folder / f"{name}.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    started = time.perf_counter()
    for family in families:
        if family not in known:
            known[family] = [_held_out_loss(name, with_settings(MEMBERS[family], found)) for found in pool(family)]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(known))
    print(f"  {name}: {time.perf_counter() - started:.0f} s", flush=True)
    return known


def _held_out_loss(name, member):
    views, outcomes, folds = _prepared(name)
    view = views[member.view]
    training = Training(len(folds[0][0]), view.matrix.shape[1], 0, view.categorical)
    fitted = [fit_fold(member, member.build(training), view, outcomes, fold, 0) for fold in folds]
    found = join_folds(member, fitted, folds, outcomes)
    return log_loss(expit(found.member.calibrated(found.scores)), outcomes.positive, outcomes.weights)


@cache
def _prepared(name):
    X, y = load(name, return_X_y=True)
    if len(y) > CASES:
        rows, _ = train_test_split(np.arange(len(y)), train_size=CASES, stratify=y, random_state=0)
        X, y = X[rows], y[rows]
    table = Table.of(X, np.zeros(X.shape[1], dtype=bool))
    fitted = TableViews().fit(table)
    views = {member.view: fitted.view(member.view, table) for member in ROSTER}
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))
    return views, Outcomes(np.asarray(y, dtype=np.intp), np.ones(len(y))), folds


def _ratios(losses):
    """Log losses of the settings of a pool (columns) on each set, in units of the best."""
    table = np.array(losses)
    return (table + FLOOR) / (table.min(axis=1, keepdims=True) + FLOOR)


def _greedy_list(table):
    """Settings, one after another, that lower the mean over the sets of the best ratio in the list."""
    chosen = []
    for _ in range(LONGEST):
        best = table[:, chosen].min(axis=1, initial=np.inf)
        chosen.append(int(np.argmin(np.minimum(best[:, None], table).mean(axis=0))))
    return chosen


def _lists_without_each(table):
    return [_greedy_list(np.delete(table, i, axis=0)) for i in range(len(table))]


def _adopt(table):
    """Number of the setting to use: the first of the list where that is worth it beyond doubt, else the roster's.

    Worth it: on sets that the list was found without, its log ratio to the roster's is below 0 by two standard errors.
    """
    gains = np.log([table[i, chosen[0]] / table[i, 0] for i, chosen in enumerate(_lists_without_each(table))])
    return _greedy_list(table)[0] if gains.mean() < -2 * gains.std(ddof=1) / np.sqrt(len(gains)) else 0


def _write(names, losses, ratios, lists):
    found = {
        family: {
            "adopted": _adopt(table),
            "adopted without": {name: _adopt(np.delete(table, i, axis=0)) for i, name in enumerate(names)},
            "list": _greedy_list(table),
            "list without": dict(zip(names, lists[family], strict=True)),
            "pool": pool(family),
            "losses": {name: np.round(losses[name][family], 5).tolist() for name in names},
        }
        for family, table in ratios.items()
    }
    lines = [f"{json.dumps(family)}: {json.dumps(facts)}" for family, facts in found.items()]
    LISTS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


@cache
def _found():
    """What the last whole run wrote."""
    return json.loads(LISTS.read_text())


def adopted_without(family, name):
    """Settings that would be adopted for a family if a data set were not there; none where it has no pool."""
    if family not in FAMILIES:
        return {}
    found, name = _found()[family], SAME_CASES.get(name, name)
    return found["pool"][found["adopted without"].get(name, found["adopted"])]


def next_without(family, name):
    """The first settings in the list of a family, found without a data set, that are not adopted."""
    found, name = _found()[family], SAME_CASES.get(name, name)
    adopted = found["adopted without"].get(name, found["adopted"])
    return found["pool"][next(i for i in found["list without"].get(name, found["list"]) if i != adopted)]
