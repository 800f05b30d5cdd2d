"""Fits of the kernel machines that used to be slow: very many cases, raw features, large C, a busy machine.

Processor seconds, one thread, except in the last rows. The linear double hinge machine has two peers in LIBLINEAR: by
default it minimises the squared hinge by Newton steps, and its relative duality gap and ours are in the first column;
on the hinge it goes through the dual one coordinate at a time, and is not done after the 20 passes it is given. Data as
in `double_hinge`, 50 features.

A Gaussian kernel of full rank at C = 10,000 (5 features, overlapping classes, gamma = 0.2) stands beside LIBSVM at the
same C and tolerance. The l2 double ramp machine with a linear kernel on the raw 569 x 30 breast cancer features, whose
scales differ by a factor of 10,000, stands beside a limit of a second.

The last rows are the slower of two processes that fit the same machine at the same time, beside one alone, with as many
threads as the library chooses. Seconds of the clock mean something on two idle cores; those of the processor always do.
"""

import subprocess
import sys
import time
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from recuse import DoubleHingeSVC, DoubleRampSVC

from .double_hinge import problem
from .runner import Row, measure

SIDE_BY_SIDE = """
import sys, time, warnings
sys.path.insert(0, ".")
warnings.simplefilter("ignore")
from benchmarks.kernel_fits import FITS
from benchmarks.double_hinge import problem
name, n, repeats = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
X, y = problem(n)
fit = FITS[name]
fit(X[:400], y[:400]), fit(X, y)
print("ready", flush=True)
sys.stdin.readline()
clock, processor = time.perf_counter(), time.process_time()
for _ in range(repeats):
    fit(X, y)
print(time.perf_counter() - clock, time.process_time() - processor, flush=True)
"""


def _coupled(X, y):
    from recuse import CoupledOneClassSVC

    return CoupledOneClassSVC().fit(X, y)


FITS = {
    "double hinge, rbf": lambda X, y: DoubleHingeSVC(0.2, gamma=0.05).fit(X, y),
    "double hinge, linear": lambda X, y: DoubleHingeSVC(0.2, kernel="linear").fit(X, y),
    "coupled one-class": _coupled,
}


def run(quick=False):
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from _linear_rows(20_000 if quick else 500_000)
        yield _full_rank_row(400 if quick else 3000)
        yield _raw_ramp_row()
    for name, n, repeats in (
        ("double hinge, rbf", 5000, 6),
        ("double hinge, linear", 50_000, 10),
        ("coupled one-class", 5000, 10),
    ):
        yield from _side_by_side(name, n // 10 if quick else n, 1 if quick else repeats)


def _linear_rows(n):
    X, y = problem(n, 50)
    model = DoubleHingeSVC(0.2, kernel="linear").fit(X, y)
    theirs = _squared_hinge_gap(LinearSVC().fit(X, y), X, y)
    gap = model.dual_gap_ / model.objective_
    assert gap <= theirs, (gap, theirs)
    for what, peer, settings, repeats in (
        (f"linear, C = 1, gap {gap:.0e} against {theirs:.0e}", "LinearSVC", {}, 5),
        ("the same", "LinearSVC, hinge, 20 passes", {"loss": "hinge", "max_iter": 20}, 2),
    ):
        yield measure(
            what,
            f"{n:,} x 50",
            lambda: DoubleHingeSVC(0.2, kernel="linear").fit(X, y),
            peer,
            lambda settings=settings: LinearSVC(**settings).fit(X, y),
            goal=1.0,
            repeats=repeats,
            clock=time.process_time,
        )


def _squared_hinge_gap(peer, X, y):
    """Duality gap of a fitted LinearSVC (squared hinge, intercept penalised) as a share of its objective."""
    w = np.append(peer.coef_[0], peer.intercept_)
    short = np.maximum(1.0 - y * (X @ w[:-1] + w[-1]), 0.0)
    alpha = 2.0 * short
    v = np.append(X.T @ (alpha * y), alpha @ y)
    primal = 0.5 * float(w @ w) + float(short @ short)
    dual = float(alpha.sum()) - 0.25 * float(alpha @ alpha) - 0.5 * float(v @ v)
    return (primal - dual) / primal


def _full_rank_row(n):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(n, 5)), rng.choice([-1, 1], n)
    X[:, 0] += 0.8 * y
    model = DoubleHingeSVC(0.2, C=1e4, gamma=0.2)
    row = measure(
        "rbf of full rank, C = 10,000",
        f"{n:,} x 5",
        lambda: model.fit(X, y),
        "SVC",
        lambda: SVC(C=1e4, gamma=0.2, tol=1e-3).fit(X, y),
        repeats=1,
        clock=time.process_time,
    )
    assert model.residual_ <= model.tol
    return row


def _raw_ramp_row():
    X, y = load_breast_cancer(return_X_y=True)
    best = np.inf
    for _ in range(3):
        start = time.process_time()
        model = DoubleRampSVC(penalty="l2", kernel="linear").fit(X, y)
        best = min(best, time.process_time() - start)
    assert model.residual_ <= model.tol
    return Row("l2 double ramp, linear, raw features", "569 x 30", "a second", best, 1.0, 1.0)


def _side_by_side(name, n, repeats):
    (alone,) = _together(1, name, n, repeats)
    both = _together(2, name, n, repeats)
    wall, processor = (max(times[k] for times in both) for k in (0, 1))
    yield Row(f"two at once: {name}, clock", f"{n:,} x 20", "one alone", wall, alone[0], 1.3)
    yield Row(f"two at once: {name}, processor", f"{n:,} x 20", "one alone", processor, alone[1], 1.3)


def _together(count, *arguments):
    """Seconds of the clock and of the processor of each of several processes that begin at the same time."""
    command = [sys.executable, "-c", SIDE_BY_SIDE, *map(str, arguments)]
    running = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(count)
    ]
    for process in running:
        process.stdout.readline()
    for process in running:
        process.stdin.write("\n")
        process.stdin.flush()
    times = [tuple(map(float, process.stdout.readline().split())) for process in running]
    for process in running:
        process.communicate()
    return times
