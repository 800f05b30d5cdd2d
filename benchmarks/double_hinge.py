"""The double hinge SVM against LIBSVM (in scikit-learn) and a conic solver.

Two overlapping classes, 20 features of which 7 matter, Gaussian kernel with gamma = 0.05, reject price 0.2; the same
C, tol = 1e-3 and cache of 200 MB on both sides, one thread each. The double hinge has more support vectors than the
hinge at the same C (the first column says how many). The conic solver gets the primal with a square root of the kernel
matrix, as a user would write it. Memory is the growth of the process's peak during `fit`, each in a process of its own.
At n = 50,000 each side runs once.
The linear machine on very many cases is in `kernel_fits`.
"""

import json
import subprocess
import sys
import time

import numpy as np
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from recuse import DoubleHingeSVC
from recuse.svm import double_hinge_path

from .runner import Row, measure

GAMMA = 0.05
MEMORY = """
import json, sys
sys.path.insert(0, ".")
from benchmarks.double_hinge import problem, ours, theirs
from benchmarks.memory import peak
fit = {"ours": ours, "theirs": theirs}[sys.argv[1]]
fit(*problem(2500), 1.0)()
X, y = problem(int(sys.argv[2]))
before = peak()
fit(X, y, 1.0)()
print(json.dumps(peak() - before))
"""


def run(quick=False):
    with threadpool_limits(1):
        yield from _kernel_rows(quick)
        yield _conic_row(200 if quick else 1000)
        yield _path_row(300 if quick else 1000)
    if not quick and sys.platform == "linux":
        yield Row("peak memory of fit, MiB", "n = 20,000", "SVC", _memory("ours"), _memory("theirs"))


def problem(n, d=20):
    """Overlapping classes, two of the features in interaction."""
    rng = np.random.default_rng(0)
    y = rng.choice([-1, 1], n)
    X = rng.normal(size=(n, d))
    X[:, :5] += 0.35 * y[:, None]
    X[:, 5] += 0.8 * y * (X[:, 6] > 0)
    return X, y


def ours(X, y, C):
    return lambda: DoubleHingeSVC(0.2, C=C, gamma=GAMMA, tol=1e-3, cache_size=200).fit(X, y)


def theirs(X, y, C):
    return lambda: SVC(C=C, gamma=GAMMA, tol=1e-3, cache_size=200).fit(X, y)


def _kernel_rows(quick):
    goal = 1 / 3
    sizes = [(2_000, 1.0, 5, None)]
    if not quick:
        sizes += [(10_000, 1.0, 5, goal), (10_000, 10.0, 3, goal), (20_000, 1.0, 3, goal), (50_000, 1.0, 1, goal)]
    ours(*problem(3000), 1.0)()  # compile
    for n, C, repeats, wanted in sizes:
        X, y = problem(n)
        best, support = [np.inf, np.inf], [0, 0]
        for _ in range(repeats):
            for i, fit in enumerate((ours(X, y, C), theirs(X, y, C))):
                start = time.perf_counter()
                support[i] = len(fit().support_)
                best[i] = min(best[i], time.perf_counter() - start)
        what = f"rbf, C = {C:g} ({support[0]:,} against {support[1]:,} SVs)"
        yield Row(what, f"n = {n:,}", "SVC", *best, wanted, timed=True)


def _conic_row(n):
    X, y = problem(n)
    model = ours(X, y, 1.0)
    objective = {}

    def conic():
        objective["conic"] = _conic_minimum(X, y)

    def mine():
        objective["mine"] = model().objective_

    row = measure("rbf, C = 1, to 1e-6", f"n = {n:,}", mine, "cvxpy, Clarabel", conic, goal=1 / 50, repeats=2)
    assert abs(objective["mine"] / objective["conic"] - 1) < 1e-6, objective
    return row


def _conic_minimum(X, y):
    import cvxpy as cp
    from sklearn.metrics.pairwise import rbf_kernel

    values, vectors = np.linalg.eigh(rbf_kernel(X, gamma=GAMMA))
    root = vectors * np.sqrt(np.maximum(values, 0))
    low, entropy = 0.2, -0.2 * np.log(0.2) - 0.8 * np.log(0.8)
    u, b = cp.Variable(len(y)), cp.Variable()
    margin = cp.multiply(y, root @ u + b)
    loss = cp.sum(cp.maximum(entropy - (1 - low) * margin, entropy - low * margin, 0))
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(u) + loss)).solve(solver=cp.CLARABEL)


def _path_row(n):
    X, y = problem(n)
    grid = np.geomspace(0.1, 100, 10)
    return measure(
        "path over 10 values of C",
        f"n = {n:,}",
        lambda: double_hinge_path(X, y, grid, 0.2, gamma=GAMMA),
        "10 separate paths of one",
        lambda: [double_hinge_path(X, y, [C], 0.2, gamma=GAMMA) for C in grid],
        goal=1.0,
        repeats=3,
    )


def _memory(side, n=20_000):
    done = subprocess.run([sys.executable, "-c", MEMORY, side, str(n)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
