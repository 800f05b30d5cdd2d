"""The ensemble and its rivals on random splits of data sets: everybody's probabilities for the test parts."""

import os
import time
from dataclasses import astuple
from functools import cache

import numpy as np
from scipy.special import expit
from sklearn.model_selection import train_test_split

from recuse import Costs
from recuse.datasets import load
from recuse.ensemble import EnsembleRejectClassifier
from recuse.ensemble.cases import Outcomes
from recuse.ensemble.held_out import hold_out, judge_blend
from recuse.ensemble.judging import judge
from recuse.ensemble.roster import MEDIUM, choose_members
from recuse.folds import DEFAULT_FOLDS as FOLDS
from recuse.folds import make_folds

from .open_ensemble import OpenEnsemble
from .portfolio import adopted_without, with_settings
from .rivals import AUTOGLUON, AutoGluon, gradient_boosting, timed, tuned_lightgbm

PRICES = (*(Costs(1, 1, d) for d in (0.05, 0.1, 0.2, 0.3, 0.4)), Costs(1, 5, 0.3))
SHARE, TEST = 0.7, 5_000  # of the cases for training, and most cases of a test
SLOW = ("madelon",)  # split once: with its 500 columns it takes as long as all others together
ENSEMBLE, LIGHTGBM, BOOSTING, GLUON = "ensemble", "tuned LightGBM", "gradient boosting", "AutoGluon"


def contest(names, repeats, folder, most):
    """By set, what everybody says in each of its splits; what is kept in the folder is not computed again."""
    folder.mkdir(parents=True, exist_ok=True)
    splits = {}
    with AutoGluon() as autogluon:
        if not autogluon.python:
            print(f"  AutoGluon is left out: {AUTOGLUON} names no Python", flush=True)
        # Repeat by repeat, so that a run that was cut off has all sets rather than all repeats of some.
        for seed in range(repeats):
            for name in names:
                if seed == 0 or name not in SLOW:
                    splits.setdefault(name, []).append(_play(name, seed, most, folder, autogluon))
    return splits


def _play(name, seed, most, folder, autogluon):
    """Probabilities of the test part by everybody, and what is needed to judge them."""
    started, kept = time.perf_counter(), folder / f"{name}-{seed}"
    X, y, train, test = split(name, seed, most)
    parts = X[train], y[train], X[test], seed
    found = _keep(f"{kept}-rivals.npz", _rivals, *parts)
    found |= _blended(_keep(f"{kept}-ensemble.npz", _ensemble, name, *parts), name, y[train], seed)
    if autogluon.python:
        found |= _keep(f"{kept}-autogluon.npz", _autogluon, autogluon, *parts, float(found["seconds"]))
    if (seconds := time.perf_counter() - started) > 1:
        print(f"  {name} {seed}: {seconds:.0f} s", flush=True)
    return found | {"test": test, "codes": y[test], "share": y.mean(), "train_codes": y[train], "size": X[train].shape}


def _rivals(X, y, new, seed):
    probabilities, seconds = timed(tuned_lightgbm, X, y, new, seed)
    boosting = [gradient_boosting(X, y, new, seed, costs) for costs in PRICES]
    return {LIGHTGBM: probabilities, "lightgbm_seconds": seconds, BOOSTING: np.column_stack(boosting)}


def _ensemble(name, X, y, new, seed):
    model = OpenEnsemble(members=members_for(name, len(y)), random_state=seed)
    _, seconds = timed(model.fit, X, y)
    return {
        "names": np.array(model.names_), "held_out": model.held_out_log_odds_,
        "members": model.member_log_odds(new), "seconds": seconds,
    }  # fmt: skip


def _blended(kept, name, codes, seed):
    """What kept members say together: the blend, and its rule at each price list, as `fit` makes them now.

    Members that were fitted once and no longer take part are left out.
    """
    takes_part = np.isin(kept["names"], [member.name for member in members_for(name, len(codes))])
    names, held_out, members = (
        kept["names"][takes_part],
        kept["held_out"][:, takes_part],
        kept["members"][:, takes_part],
    )
    model, outcomes = EnsembleRejectClassifier(), Outcomes(codes, np.ones(len(codes)))
    blend = model._combine(held_out, outcomes)
    cases = hold_out(held_out, outcomes, make_folds(FOLDS, codes, random_state=seed), None)
    p = judge_blend(cases, model._combine).blend
    bands = [judge(p, cases, costs, model.rule).band for costs in PRICES]
    return {
        "names": names, "held_out": held_out, "members": members, "seconds": kept["seconds"],
        ENSEMBLE: expit(blend.log_odds(members)), "bands": np.array([astuple(band) for band in bands]),
    }  # fmt: skip


def _autogluon(autogluon, X, y, new, seed, seconds):
    probabilities, took = autogluon.fit(X, y, new, seconds)
    return {GLUON: probabilities, "autogluon_seconds": took}


def _keep(path, compute, *arguments):
    """Arrays read from a file, or computed and written there, whole or not at all."""
    if not os.path.exists(path):
        with open(f"{path}.part", "wb") as file:
            np.savez_compressed(file, **compute(*arguments))
        os.replace(f"{path}.part", path)
    with np.load(path) as arrays:
        return dict(arrays)


def members_for(name, n):
    """The members of the product, with settings that were found without this data set."""
    return [with_settings(member, adopted_without(member.name, name)) for member in choose_members(MEDIUM, n)]


def split(name, seed, most):
    """Cases, classes, and which of them are for training and for the test."""
    X, y = load_once(name)
    n_train = min(int(SHARE * len(y)), most)
    n_test = min(len(y) - n_train, TEST)
    train, test = train_test_split(
        np.arange(len(y)), train_size=n_train, test_size=n_test, stratify=y, random_state=seed
    )
    return X, y, train, test


@cache
def load_once(name):
    return load(name, return_X_y=True)
