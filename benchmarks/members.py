"""What the members of the ensemble take to fit, against what the roster expects, and the ensemble against its limits.

Processor seconds on one thread. "one fit" is of one member on simulated numbers, against `Member.seconds`, which
the time budget goes by: within a factor of three it does its work. "fit at medium" is that of the whole ensemble, 5
folds of every member; the peer is the limit. "predict" is the whole ensemble on 100,000 further cases, fitted to as
many as `size` says, against one LightGBM model of 150 trees with 31 leaves fitted to the same cases; its goal is ten
times that.
"""

import time
import warnings

import numpy as np
from scipy.special import expit

from recuse.ensemble import ROSTER, EnsembleRejectClassifier
from recuse.ensemble.boosters import NativeBooster
from recuse.ensemble.roster import Training

from .runner import Row

SIZES = ((500, 10), (5_000, 20), (20_000, 20), (100_000, 10))
LIMITS = {(500, 10): 20.0, (10_000, 20): 180.0, (150_000, 10): 600.0}
NEW_CASES = 100_000


def run(quick=False):
    warnings.simplefilter("ignore")
    for member in ROSTER:  # what is compiled on first use must not count
        if member.installed:
            _fit_seconds(member, 3_000, 5)
    for n, p in SIZES[:1] if quick else SIZES:
        for member in ROSTER:
            if member.installed:
                seconds = _fit_seconds(member, n, p)
                yield Row(f"one fit: {member.name}", f"{n:,} x {p}", "roster", seconds, member.seconds(n, p), 3.0)
    for (n, p), limit in list(LIMITS.items())[: 1 if quick else None]:
        yield from _whole(n, p, limit)


def draw(n, p, seed=0):
    """Cases with a bent and interacting signal in five columns."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    log_odds = 1.5 * X[:, 0] - X[:, 1] + X[:, 2] * X[:, 3] + np.sin(2 * X[:, 4]) - 0.5
    return X, (rng.random(n) < expit(log_odds)).astype(int)


def _fit_seconds(member, n, p):
    X, y = draw(n, p)
    rows = min(n, member.most_rows or n)
    classifier = member.build(Training(n, p, 0, np.zeros(0, dtype=int)))
    return _seconds(lambda: classifier.fit(X[:rows], y[:rows]))


def _whole(n, p, limit):
    X, y = draw(n, p)
    new, _ = draw(NEW_CASES, p, seed=1)
    model = EnsembleRejectClassifier()
    size = f"{n:,} x {p}"
    yield Row("fit at medium", size, "limit", _seconds(lambda: model.fit(X, y)), limit, 1.0)
    peer = NativeBooster("lightgbm", {"rounds": 150, "num_leaves": 31}).fit(X, y)
    ours, theirs = (_seconds(lambda each=each: each.predict_proba(new)) for each in (model, peer))
    yield Row(f"predict {NEW_CASES:,}", size, "LightGBM", ours, theirs, 10.0)


def _seconds(call):
    started = time.process_time()
    call()
    return time.process_time() - started
