"""Three or more classes: what one fit saves over a fit for each class, and how near the answers are to the best ones.

**Speed.** One fit to five classes beside five fits to one of them against the rest, the same machines, in processor
seconds of one thread: `make_classification` with 7 informative features. The double hinge and the coupled machines
share kernel rows, the double ramp the kernel matrix, ExactBoost the coded features. "rows" are kernel rows that
were computed, in place of seconds: a row of a single fit has the length of what that fit has not settled yet.

**Regret.** Three classes with a known posterior: softmax of three linear functions of four standard normal features,
prices 1 for an error and d for a rejection, or a table of prices ("prices by class"). The regret of a rule is its
expected cost under the posterior of 20,000 further cases, less that of the Bayes rule; mean of the draws. "ours" is the
regret at the larger size, "peer's" that at a quarter of it: at the goal it has shrunk. `DoubleHingeSVC` has C = 0.03 n
and gamma = 0.05; "calibrated" is `ThresholdRejectClassifier(DoubleHingeSVC(...), calibration="temperature")`. The rows
with peer "logistic + Chow" are at the larger size, where the peer knows the form of the posterior.
"""

import time
import warnings

import numpy as np
from scipy.special import softmax
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from recuse import Costs, CoupledOneClassSVC, DoubleHingeSVC, DoubleRampSVC, ExactBoostClassifier
from recuse import ThresholdRejectClassifier as Thresholds
from recuse.svm.rows import VectorRows

from .runner import Row, measure

CLASSES = 5
FITS = {
    "double hinge, 20 features": (lambda: DoubleHingeSVC(0.2, gamma=0.05), 5000, 20),
    "double hinge, 400 features": (lambda: DoubleHingeSVC(0.2, gamma=0.0025), 5000, 400),
    "double hinge, whole matrix": (lambda: DoubleHingeSVC(0.2, gamma=0.05), 2000, 20),
    "coupled one-class": (lambda: CoupledOneClassSVC(gamma=0.05), 5000, 20),
    "double ramp": (lambda: DoubleRampSVC(0.2, gamma=0.05), 1000, 20),
    "ExactBoost": (lambda: ExactBoostClassifier(n_estimators=20, random_state=0), 20_000, 20),
}
WEIGHTS = 1.5 * np.array([[1.0, -0.5, 0.0, 0.3], [-0.6, 1.0, 0.4, 0.0], [-0.4, -0.5, -0.4, -0.3]])
PRICES = {
    "d = 0.2": Costs(reject=0.2),
    "d = 0.4": Costs(reject=0.4),
    "prices by class": Costs(errors=[[0, 1, 1], [1, 0, 2], [1, 5, 0]], reject=[0.3, 0.2, 0.4]),
}
TEST_CASES = 20_000


def run(quick=False):
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, (make, n, p) in FITS.items():
            yield _fits(name, make, n // 10 if quick else n, p, repeats=1 if quick else 3)
        yield _rows(500 if quick else 5000)
        n, draws = (400, 1) if quick else (3200, 5)
        for name, costs in PRICES.items():
            yield from _regrets(name, costs, n, draws)


def problem(n, p):
    X, y = make_classification(n, p, n_informative=7, n_classes=CLASSES, class_sep=1.5, random_state=0)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def _fits(name, make, n, p, repeats):
    X, y = problem(n, p)

    def apart():
        for k in range(CLASSES):
            make().fit(X, (y == k).astype(int))

    return measure(
        f"fit to {CLASSES} classes: {name}",
        f"{n:,} x {p}",
        lambda: make().fit(X, y),
        f"{CLASSES} fits",
        apart,
        goal=1.1,
        repeats=repeats,
        clock=time.process_time,
    )


def _rows(n):
    X, y = problem(n, 20)
    load, computed = VectorRows._load, []

    def counted(rows, ids):
        computed.append(len(ids))
        return load(rows, ids)

    VectorRows._load = counted
    try:
        DoubleHingeSVC(0.2, gamma=0.05).fit(X, y)
        together, computed = sum(computed), []
        for k in range(CLASSES):
            DoubleHingeSVC(0.2, gamma=0.05).fit(X, (y == k).astype(int))
    finally:
        VectorRows._load = load
    return Row("kernel rows computed, double hinge", f"{n:,} x 20", f"{CLASSES} fits", together, sum(computed), 1.0)


def _regrets(name, costs, n, draws):
    found = {size: [_draw(costs, size, seed) for seed in range(draws)] for size in (n // 4, n)}
    mean = {size: {rule: float(np.mean([d[rule] for d in each])) for rule in each[0]} for size, each in found.items()}
    size = f"n = {n:,}, {draws} draws"
    for rule in ("double hinge", "calibrated"):
        yield Row(f"regret, {rule}, {name}", size, f"n = {n // 4:,}", mean[n][rule], mean[n // 4][rule], 1.0)
        yield Row(f"regret, {rule}, {name}", size, "logistic + Chow", mean[n][rule], mean[n]["logistic"])


def _draw(costs, n, seed):
    rng = np.random.default_rng([seed, n])
    X, new = rng.standard_normal((n, 4)), rng.standard_normal((TEST_CASES, 4))
    p, posterior = softmax(X @ WEIGHTS.T, axis=1), softmax(new @ WEIGHTS.T, axis=1)
    y = (rng.random((n, 1)) > p.cumsum(axis=1)).sum(axis=1)
    machine = DoubleHingeSVC(costs, C=0.03 * n, gamma=0.05)
    rules = {
        "double hinge": machine,
        "calibrated": Thresholds(machine, costs=costs, calibration="temperature"),
        "logistic": Thresholds(LogisticRegression(C=1e4), costs=costs),
    }
    matrix = costs.matrix(3)[:-1]
    prices = posterior @ matrix
    best = prices[:, :-1].min(axis=1).mean()
    rows = np.arange(TEST_CASES)
    return {rule: prices[rows, model.fit(X, y)._evaluate(new).answers()].mean() - best for rule, model in rules.items()}
