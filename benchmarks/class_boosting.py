"""Three or more classes in one model: what a round takes, and what it costs new cases.

A round of `AbstentionBoostingClassifier` for K classes finds one cut for all K scores; the peer is one iteration of
LightGBM, K trees of 2 leaves, with as many bins (seconds of one processor). Costs per case: the default against
one-vs-rest of the two-class estimator (probabilities of each class against the others, divided by their sum, with the
answer of least expected cost), LightGBM with its defaults and logistic regression, with the same rule and prices; means
over stratified splits, a third of the cases held out; each goal is a cost no more than one standard error of the paired
differences above the peer's. "Noise by feature" has a cause of its own for the noise. On tables below 500 cases the
default is also compared with its own first candidate, family="chow": does the choice among families cost anything? The
splits of a table share most of its cases, so that standard errors over them are too small, the more so on small tables.
"""

import time

import lightgbm
import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from recuse import AbstentionBoostingClassifier, Costs
from recuse.boosting.abstention.classes.problem import ClassProblem
from recuse.boosting.abstention.classes.state import ClassState
from recuse.boosting.binning import bin_features
from recuse.decisions import least_cost

from .class_regret import additive
from .runner import Row, measure

N_FEATURES, N_CLASSES = 20, 5
ROUNDS, REPEATS = 2, 10
SMALL = 500  # cases of a table on which the choice among families is judged, too
REJECT = 0.2


def run(quick=False):
    for m in (5_000,) if quick else (100_000, 1_000_000):
        yield rounds(m)
    yield whole_fit(5_000 if quick else 100_000)
    for name, (X, y) in tables(quick).items():
        yield from costs(name, X, y, n_splits=2 if quick else 3 if len(y) * X.shape[1] > 50_000 else 5)


# Speed


def make_data(m, n_classes=N_CLASSES):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, N_FEATURES))
    scores = X @ rng.normal(size=(N_FEATURES, n_classes)) / 2 + rng.gumbel(size=(m, n_classes))
    return X, scores.argmax(axis=1)


def rounds(m):
    X, y = make_data(m)
    bins = bin_features(X, np.arange(m), 255)
    state = ClassState(ClassProblem(bins, y, np.full(m, 1 / m), np.eye(N_CLASSES)[y]))
    settings = {"objective": "multiclass", "num_class": N_CLASSES, "num_leaves": 2, "max_bin": 255}
    settings |= {"num_threads": 1, "verbose": -1}
    model = lightgbm.Booster(settings, lightgbm.Dataset(X, y, params=settings).construct())

    def ours():
        for _ in range(ROUNDS):
            state.move(state.sweep(1e-6), 1e-6, 1.0)

    def theirs():
        for _ in range(ROUNDS):
            model.update()

    size = f"m = {m:,}, p = {N_FEATURES}, K = {N_CLASSES}"
    peer = f"LightGBM, {ROUNDS} x {N_CLASSES} trees of 2 leaves"
    return measure(
        f"{ROUNDS} rounds (CPU s)", size, ours, peer, theirs, goal=1.0, repeats=REPEATS, clock=time.process_time
    )


def whole_fit(m, n_rounds=200):
    """The same whole: binning, rounds and the certificate, for one penalty; in our rounds one cut, in theirs K."""
    X, y = make_data(m)
    settings = {"objective": "multiclass", "num_class": N_CLASSES, "num_leaves": 2, "max_bin": 255}
    settings |= {"num_threads": 1, "verbose": -1}
    model = AbstentionBoostingClassifier(family="chow", beta=1e-6, n_rounds=n_rounds // 4)

    def theirs():
        lightgbm.train(settings, lightgbm.Dataset(X, y), n_rounds)

    size = f"m = {m:,}, p = {N_FEATURES}, K = {N_CLASSES}"
    peer = f"LightGBM, {n_rounds} x {N_CLASSES} trees"
    return measure(
        f"whole fit, {n_rounds} rounds (CPU s)", size, lambda: model.fit(X, y), peer, theirs, goal=1.0, repeats=2,
        clock=time.process_time,
    )  # fmt: skip


# Decisions


def tables(quick):
    """Cases and classes by name."""
    found = {"iris": load_iris(return_X_y=True), "wine": load_wine(return_X_y=True)}
    if quick:
        return found
    found["digits"] = load_digits(return_X_y=True)
    found["five clusters"] = make_classification(
        1500, 12, n_informative=8, n_classes=5, n_clusters_per_class=2, flip_y=0.05, random_state=1
    )
    found["additive"] = additive(1500, 0)[:2]
    found["noise by feature"] = noise_by_feature(1500)
    return found


def noise_by_feature(n):
    """The class by x0, and pure noise where x1 is small."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, 4))
    y = np.minimum((3 * X[:, 0]).astype(int), 2)
    noisy = X[:, 1] < 0.35
    y[noisy] = rng.integers(0, 3, noisy.sum())
    return X, y


def costs(name, X, y, n_splits):
    """Rows of the default against each peer."""
    methods = METHODS | ({"family='chow' alone": confidence_rule} if len(y) < SMALL else {})
    found = {method: [] for method in methods}
    for train, test in StratifiedShuffleSplit(n_splits, test_size=1 / 3, random_state=0).split(X, y):
        for method, answers in methods.items():
            given = answers(X[train], y[train], X[test])
            found[method].append(prices(len(np.unique(y)))[y[test], given].mean())
    ours = np.array(found.pop(OURS))
    for method, theirs in found.items():
        difference = ours - np.array(theirs)
        error = difference.std(ddof=1) / np.sqrt(n_splits)
        peer = f"{method}; difference {difference.mean():+.4f} ± {error:.4f}"
        goal = round(1.0 + error / max(np.mean(theirs), 1e-12), 4)
        yield Row(f"cost per case, {name}", f"{len(y)} x {X.shape[1]}", peer, ours.mean(), np.mean(theirs), goal)


def prices(n_classes):
    return Costs(fp=1, fn=1, reject=REJECT).matrix(n_classes)


def least(p):
    """Columns of the price matrix: the answer of least expected cost, the rejection after the classes."""
    h, r = least_cost(p, prices(p.shape[1]))
    return np.where(r > 0, h.argmax(axis=1), p.shape[1])


def default(X, y, new, **options):
    model = AbstentionBoostingClassifier(costs=REJECT, **options).fit(X, y)
    evaluation = model._evaluate(new)
    return np.where(evaluation.accepted, evaluation.forced(), len(model.classes_))


def confidence_rule(X, y, new):
    return default(X, y, new, family="chow")


def one_vs_rest(X, y, new):
    models = [
        AbstentionBoostingClassifier(costs=REJECT, family="chow").fit(X, (y == k).astype(int)) for k in np.unique(y)
    ]
    p = np.column_stack([model.predict_proba(new)[:, 1] for model in models])
    return least(p / p.sum(axis=1, keepdims=True))


def light(X, y, new):
    return least(lightgbm.LGBMClassifier(n_jobs=1, verbose=-1, random_state=0).fit(X, y).predict_proba(new))


def logistic(X, y, new):
    return least(make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)).fit(X, y).predict_proba(new))


OURS = "one model"
METHODS = {OURS: default, "one-vs-rest": one_vs_rest, "LightGBM": light, "logistic regression": logistic}
