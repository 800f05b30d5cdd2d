"""The double ramp machine (l1) against the same sequence of linear programs by CVXOPT and by cold linprog.

Two overlapping classes, 5 features, Gaussian kernel with gamma = 0.2, reject price 0.2, mu = 1, lam = 1e-3 and 3e-4.
Ours is `DoubleRampSVC.fit` as a user calls it, kernel matrix included. Each peer gets the programs of that fit, one
after the other, as the paper prints them (alpha, b, rho and two slacks a case), and solves each from scratch; its
minima must agree with ours. The peers run once at each size, CVXOPT, the paper's solver, not at n = 1,000. Seconds of
the processor, not of the clock, one thread each: what else the machine does matters little.
The last rows are limits, not peers: processor seconds and peak memory of one fit, kernel matrix included, each in a
process of its own.
"""

import json
import subprocess
import sys
import time

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

from recuse import Costs, DoubleRampSVC
from recuse.svm import double_ramp_path
from recuse.svm.dc.descent import best_of
from recuse.svm.dc.linear_program import SparseProgram
from recuse.svm.losses import double_ramp
from recuse.svm.rows import MatrixRows

from .runner import Row, measure

GAMMA, D = 0.2, 0.2
LIMITS = """
import json, sys, time
sys.path.insert(0, ".")
from benchmarks.double_ramp import fit, problem
from benchmarks.memory import peak
fit(*problem(200), 1e-3)
X, y = problem(int(sys.argv[1]))
before, start = peak(), time.process_time()
fit(X, y, float(sys.argv[2]))
print(json.dumps([time.process_time() - start, peak() - before]))
"""


def run(quick=False):
    with threadpool_limits(1):
        yield from _peers(quick)
        yield _path_row(100 if quick else 400)
    if not quick and sys.platform == "linux":
        for lam in (1e-3, 3e-4):
            seconds, mebibytes = _limits(5000, lam)
            yield Row(f"one fit, lam = {lam:g}, seconds", "n = 5,000", "2 minutes", seconds, 120.0, 1.0)
            yield Row(f"one fit, lam = {lam:g}, peak MiB", "n = 5,000", "4 GiB", mebibytes, 4096.0, 1.0)


def problem(n):
    """Overlapping classes, two of the features in interaction."""
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], n)
    X = rng.normal(size=(n, 5))
    X[:, :2] += 0.4 * y[:, None]
    X[:, 2] += 0.8 * y * (X[:, 3] > 0)
    return X, y


def fit(X, y, lam):
    return DoubleRampSVC(D, lam=lam, gamma=GAMMA).fit(X, y)


def _peers(quick):
    sizes = {100: (1.0, 1.0)} if quick else {300: (None, None), 600: (None, 1 / 100), 1000: (1 / 20, None)}
    fit(*problem(50), 1e-3)  # load the solver
    for n, (linprog_goal, cvxopt_goal) in sizes.items():
        X, y = problem(n)
        for lam in (1e-3, 3e-4):
            programs, minima = _sequence(X, y, lam)
            ours = min(_seconds(lambda X=X, y=y, lam=lam: fit(X, y, lam)) for _ in range(3))
            what = f"lam = {lam:g}, {len(programs)} programs"
            theirs = _seconds(lambda p=programs, m=minima: _agree(p, m, _by_linprog))
            yield Row(what, f"n = {n:,}", "linprog, cold", ours, theirs, linprog_goal)
            if n < 1000 and lam == 1e-3:
                theirs = _seconds(lambda p=programs, m=minima: _agree(p, m, _by_cvxopt))
                yield Row(what, f"n = {n:,}", "CVXOPT", ours, theirs, cvxopt_goal)


def _seconds(call):
    start = time.process_time()
    call()
    return time.process_time() - start


class _Recording(SparseProgram):
    """Keeps each program as printed, and its minimum."""

    def minimise(self, active):
        point, bound = super().minimise(active)
        self.seen.append((active, bound - self.loss.constant(active) * self.loss.mu / (1 + self.loss.mu)))
        return point, bound


def _sequence(X, y, lam):
    loss, K = double_ramp(Costs(reject=D), y, np.ones(len(y)), 1.0), rbf_kernel(X, gamma=GAMMA)
    program = _Recording(loss, MatrixRows(K), lam)
    program.seen = []
    best_of(program, [loss.no_active_hinges()], tol=1e-6, max_iter=200)
    G = y[:, None] * y * K
    return [_printed(loss, G, y, lam, active) for active, _ in program.seen], [minimum for _, minimum in program.seen]


def _printed(loss, G, y, lam, active):
    """Cost, and A x >= bound, over x = (alpha, b, rho, slack of the outer ramp, slack of the inner ramp)."""
    n, mu = len(y), loss.mu
    outer, inner = loss.outer / mu, loss.inner / mu
    on = outer * active.outer + inner * active.inner
    width = -(outer @ active.outer) + inner @ active.inner
    cost = np.concatenate([lam + G @ on, [y @ on, width], outer, inner])
    eye, none, one = np.eye(n), np.zeros((n, n)), np.ones((n, 1))
    A = np.block([[G, y[:, None], -one, eye, none], [G, y[:, None], one, none, eye]])
    least = np.concatenate([np.zeros(n), [-np.inf, loss.rho_min], np.zeros(2 * n)])
    return cost, A, np.full(2 * n, mu), least


def _agree(programs, minima, solve):
    for program, minimum in zip(programs, minima, strict=True):
        found = solve(*program)
        assert abs(found - minimum) < 1e-5, (found, minimum)


def _by_linprog(cost, A, bound, least):
    return linprog(cost, -A, -bound, bounds=np.column_stack([least, np.full(len(least), np.inf)]), method="highs").fun


def _by_cvxopt(cost, A, bound, least):
    from cvxopt import matrix, solvers

    kept = np.flatnonzero(np.isfinite(least))
    rows = np.vstack([A, sparse.eye_array(len(least)).tocsr()[kept].toarray()])
    limits = np.concatenate([bound, least[kept]])
    done = solvers.lp(matrix(cost), matrix(-rows), matrix(-limits), options={"show_progress": False})
    return done["primal objective"]


def _path_row(n):
    X, y = problem(n)
    lams = np.geomspace(3e-4, 3e-3, 8)
    return measure(
        "path over 8 values of lam",
        f"n = {n:,}",
        lambda: double_ramp_path(X, y, lams, D, gamma=GAMMA),
        "8 separate fits",
        lambda: [fit(X, y, lam) for lam in lams],
        goal=1.0,
        repeats=3,
        clock=time.process_time,
    )


def _limits(n, lam):
    done = subprocess.run([sys.executable, "-c", LIMITS, str(n), str(lam)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
