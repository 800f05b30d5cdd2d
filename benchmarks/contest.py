"""The ensemble and its rivals on random splits of data sets: everybody's probabilities for the test parts."""

import os
import time
from dataclasses import astuple
from functools import cache

import numpy as np
from sklearn.model_selection import train_test_split

from recuse import Costs
from recuse.datasets import load
from recuse.ensemble.roster import MEDIUM, choose_members

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
    found |= _keep(f"{kept}-ensemble.npz", _ensemble, name, *parts)
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
    model = OpenEnsemble(members=members_for(name), random_state=seed)
    _, seconds = timed(model.fit, X, y)
    members = model.member_log_odds(new)
    return {
        "names": np.array(model.names_), "weights": np.array([model.weights_[each] for each in model.names_]),
        "held_out": model.held_out_.members, "members": members, ENSEMBLE: model.blended(members),
        "bands": np.array([astuple(band) for band in model.bands(PRICES)]), "seconds": seconds,
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


def members_for(name):
    """The members of the product, with settings that were found without this data set."""
    return [with_settings(member, adopted_without(member.name, name)) for member in choose_members(MEDIUM)]


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
