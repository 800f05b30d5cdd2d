"""One boosting round with a reject option against one round without, and whole-model predictions.

A round of `AbstentionBoostingClassifier` finds the best of six kinds of two-threshold stumps over all features,
moves its weight and two intercepts, and updates two weights per case. The peers find a one-threshold stump: LightGBM
with 2 leaves, XGBoost with depth 1 (histograms, 255 and 256 bins), and the depth-1 tree that scikit-learn's AdaBoost
fits and predicts each round. Data are binned before the clock starts, except for whole fits, where binning counts on
both sides. Rows "... times" compare two of our own sizes, and memory is counted in MiB. Rows marked CPU count processor
seconds of one thread.
"""

import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import lightgbm
import numpy as np
import xgboost
from sklearn.tree import DecisionTreeClassifier

from recuse import AbstentionBoostingClassifier
from recuse.boosting.abstention.engine.problem import Problem
from recuse.boosting.abstention.engine.rounds import _History, _look, _move
from recuse.boosting.abstention.engine.settings import Settings
from recuse.boosting.abstention.engine.state import State
from recuse.boosting.abstention.engine.surrogates import make_surrogate
from recuse.boosting.binning import bin_features

from .runner import Row, measure

N_FEATURES = 20
# Few rounds at a time and many repeats: the best of them is one that nothing interrupted.
ROUNDS, REPEATS = 2, 15


def run(quick=False):
    sizes = (5_000,) if quick else (100_000, 1_000_000)
    for m in sizes:
        X, y = make_data(m, N_FEATURES)
        for n_threads in (1, 2):
            yield from rounds_against_peers(X, y, n_threads)
        yield from against_adaboost(X, y)
    for m in (5_000,) if quick else (200_000, 1_000_000):
        yield from whole_fits(*make_data(m, N_FEATURES))
    yield from own_scaling(quick)
    yield from exact_mode(5_000 if quick else 100_000)
    yield from prediction(20_000 if quick else 1_000_000)
    yield from memory(20_000 if quick else 1_000_000)


def measure_apart(what, size, ours, peer, theirs, *, goal=None, repeats=(REPEATS, REPEATS), clock=time.process_time):
    """Best seconds of two callables, by default of the processor: what else runs on the machine does not count.

    A pause before each call lets threads of the other, which go on waiting busily for a while, come to rest.
    """
    best = []
    for call, n in ((ours, repeats[0]), (theirs, repeats[1])):
        call()
        times = []
        for _ in range(n):
            time.sleep(0.02)
            start = clock()
            call()
            times.append(clock() - start)
        best.append(min(times))
    return Row(what + (" (CPU s)" if clock is time.process_time else ""), size, peer, *best, goal, timed=True)


def make_data(m, p):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, p))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=m) > 0).astype(int)
    return X, y


def make_state(X, y, *, n_threads=1, loss="logistic", max_bins=255):
    order = np.concatenate([np.flatnonzero(y == 1), np.flatnonzero(y == 0)])
    surrogate = make_surrogate(loss, None, (), 0.2)
    problem = Problem(bin_features(X, order, max_bins), int(y.sum()), np.full(len(y), 1 / len(y)), surrogate)
    pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None
    state = State(problem, Settings(n_threads=n_threads, beta=1e-5), pool)
    state.settle_intercepts()
    return state


def boost_rounds(state, n=ROUNDS):
    history = _History()
    for _ in range(n):
        stump, _ = _look(state, history, 1, full=False)
        _move(state, stump)


def rounds_against_peers(X, y, n_threads):
    size = f"m = {len(y):,}, p = {X.shape[1]}, {n_threads} thread{'s' if n_threads > 1 else ''}"
    light = {"objective": "binary", "num_leaves": 2, "max_bin": 255, "num_threads": n_threads, "verbose": -1}
    table = lightgbm.Dataset(X, y, params=light).construct()
    light_model = lightgbm.Booster(light, table)
    matrix = xgboost.QuantileDMatrix(X, y, max_bin=256, nthread=n_threads)
    extreme = {"objective": "binary:logistic", "max_depth": 1, "max_bin": 256, "nthread": n_threads}
    extreme_model = xgboost.Booster(extreme | {"tree_method": "hist"}, [matrix])
    counter = iter(range(10**9))

    def update_light():
        for _ in range(ROUNDS):
            light_model.update()

    def update_extreme():
        for _ in range(ROUNDS):
            extreme_model.update(matrix, next(counter))

    for loss in ("logistic", "exponential"):
        state = make_state(X, y, n_threads=n_threads, loss=loss)
        for peer, theirs in (("LightGBM, 2 leaves", update_light), ("XGBoost, depth 1", update_extreme)):
            what = f"{ROUNDS} histogram rounds, {loss}"
            if n_threads == 1:
                yield measure(
                    what, size, lambda state=state: boost_rounds(state), peer, theirs, goal=1.0, repeats=REPEATS
                )
            else:
                clock = time.perf_counter
                yield measure_apart(
                    what, size, lambda state=state: boost_rounds(state), peer, theirs, goal=1.0, clock=clock
                )


def whole_fits(X, y, n_rounds=200):
    """Fits of one family and one penalty from the table to the model, binning and certificates included."""
    size = f"m = {len(y):,}, p = {X.shape[1]}, 1 thread"
    light = {"objective": "binary", "num_leaves": 2, "max_bin": 255, "num_threads": 1, "verbose": -1}
    shared = {"threshold": "calibrated", "max_bins": 255, "n_rounds": n_rounds}

    def fit_light():
        lightgbm.train(light, lightgbm.Dataset(X, y), n_rounds)

    for family, beta in (("coupled", 0.0), ("coupled", 1e-5), ("decoupled", 0.0)):
        model = AbstentionBoostingClassifier(family=family, beta=beta, **shared)
        yield measure_apart(
            f"whole fit, {family}, beta {beta:g}, {n_rounds} rounds",
            size,
            lambda model=model: model.fit(X, y),
            f"LightGBM, 2 leaves, {n_rounds} rounds",
            fit_light,
            goal=1.0,
            repeats=(3, 3),
        )


def against_adaboost(X, y):
    state = make_state(X, y)
    weights = np.full(len(y), 1 / len(y))

    def one_tree():
        DecisionTreeClassifier(max_depth=1).fit(X, y, sample_weight=weights).predict(X)

    size = f"m = {len(y):,}, p = {X.shape[1]}, 1 thread"
    yield measure_apart(
        "1 histogram round", size, lambda: boost_rounds(state, 1), "scikit-learn depth-1 tree, fit + predict", one_tree,
        goal=0.01, repeats=(REPEATS, 2),
    )  # fmt: skip


def own_scaling(quick):
    """Ten times the cases, or twice the features, against the smaller problem."""
    small, large, p = (2_000, 20_000, 5) if quick else (100_000, 1_000_000, 20)
    one, ten = make_state(*make_data(small, p)), make_state(*make_data(large, p))
    what = f"{ROUNDS} rounds, 10 times the cases"
    yield measure_apart(
        what, f"m = {large:,}", lambda: boost_rounds(ten), f"m = {small:,}", lambda: boost_rounds(one), goal=12.0
    )
    wide = make_state(*make_data(small, 2 * p))
    what = f"{ROUNDS} rounds, 2 times the features"
    yield measure_apart(
        what, f"p = {2 * p}", lambda: boost_rounds(wide), f"p = {p}", lambda: boost_rounds(one), goal=2.4
    )


def exact_mode(m):
    X, y = make_data(m, N_FEATURES)
    exact, binned = make_state(X, y, max_bins=None), make_state(X, y)
    size = f"m = {m:,}, every value distinct"
    yield measure_apart(
        "1 exact round",
        size,
        lambda: boost_rounds(exact, 1),
        "1 histogram round",
        lambda: boost_rounds(binned, 1),
        repeats=(5, 15),
    )


def prediction(m):
    X, y = make_data(m, N_FEATURES)
    head = slice(0, min(m, 50_000))
    options = {"family": "coupled", "beta": 1e-4, "threshold": "calibrated", "n_rounds": 200}
    ours = AbstentionBoostingClassifier(**options).fit(X[head], y[head])
    peer = lightgbm.LGBMClassifier(n_estimators=200, num_leaves=2, n_jobs=1, verbose=-1).fit(X[head], y[head]).booster_
    size = f"m = {m:,}, p = {N_FEATURES}, T = 200"
    yield measure(
        "prediction, 1 thread", size, lambda: ours._pair.evaluate(X, 1), "LightGBM, 2 leaves",
        lambda: peer.predict(X, num_threads=1), goal=1.0, repeats=3,
    )  # fmt: skip
    yield measure(
        "prediction, 2 threads", size, lambda: ours._pair.evaluate(X, 2), "LightGBM, 2 leaves",
        lambda: peer.predict(X, num_threads=2), goal=1.0, repeats=3,
    )  # fmt: skip


def memory(m):
    """Peak of one fit beyond the data given, against the codes and the two weights per case."""
    X, y = make_data(m, N_FEATURES)
    boost_rounds(make_state(X[:5_000], y[:5_000]))  # compile first
    options = {"family": "coupled", "beta": 1e-4, "threshold": "calibrated", "n_rounds": 5}
    start = time.perf_counter()
    tracemalloc.start()
    AbstentionBoostingClassifier(max_bins=255, **options).fit(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    raw = m * N_FEATURES + 2 * 8 * m
    size = f"m = {m:,}, p = {N_FEATURES}, fit in {time.perf_counter() - start:.0f} s"
    yield Row("peak memory of a fit (MiB)", size, "uint8 codes and weights", peak / 2**20, raw / 2**20, 3.0)
