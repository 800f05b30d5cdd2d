"""Whole fits by this working tree against the same fits by an earlier commit, alternating, in one run.

``python -m benchmarks.revisions REV [NAME ...]`` checks REV out beside the working tree, starts a process for each of
the two, and lets them do the same jobs alternately; the best processor seconds of each count. The processes are started
again a few times: where code and arrays happen to lie in memory changes with every start, and with it the time, by up
to a tenth. Jobs use only public names, so that any two commits can be compared. The table is printed and not kept: a
comparison of commits is out of date with the next commit.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GOAL = 1.05
STARTS = 4  # the first one also compiles: its machine code lies elsewhere than code that comes from the cache


def _classes(n, p):
    from sklearn.datasets import make_classification

    return make_classification(n, p, n_informative=min(p, 5), n_redundant=0, weights=[0.7], random_state=0)


def _abstention(n, p, **options):
    from recuse import AbstentionBoostingClassifier

    model, data = AbstentionBoostingClassifier(random_state=0, **options), _classes(n, p)
    return lambda: model.fit(*data)


def _abstention_answers(n, p):
    from recuse import AbstentionBoostingClassifier

    X, y = _classes(n, p)
    model = AbstentionBoostingClassifier(family="coupled", beta=1e-3, threshold="calibrated").fit(X[:5_000], y[:5_000])
    return lambda: model.predict(X)


def _exactboost(n, p, **options):
    from recuse import ExactBoostClassifier

    model, data = ExactBoostClassifier(random_state=0, n_estimators=10, margin=0.05, **options), _classes(n, p)
    return lambda: model.fit(*data)


def _double_hinge(n, p, **options):
    from recuse import DoubleHingeSVC

    model, data = DoubleHingeSVC(**options), _classes(n, p)
    return lambda: model.fit(*data)


def _double_ramp(n, p, **options):
    from recuse import DoubleRampSVC

    model, data = DoubleRampSVC(**options), _classes(n, p)
    return lambda: model.fit(*data)


def _coupled(n, **options):
    from recuse import CoupledOneClassSVC
    from recuse.datasets import make_gaussian_classes

    model, data = CoupledOneClassSVC(**options), make_gaussian_classes(n, 10, separation=2.5, random_state=0)
    return lambda: model.fit(*data)


_ONE_FIT = {"beta": 1e-4, "threshold": "calibrated", "n_rounds": 100}
# Name -> (how often it is timed, a function that prepares the data and returns the call to time).
JOBS = {
    "abstention boosting, default, 569 x 30": (3, partial(_abstention, 569, 30)),
    "abstention boosting, coupled, 5,000 x 20": (7, partial(_abstention, 5_000, 20, family="coupled", **_ONE_FIT)),
    "abstention boosting, coupled, 100,000 x 20": (5, partial(_abstention, 100_000, 20, family="coupled", **_ONE_FIT)),
    "abstention boosting, decoupled, exponential, 100,000 x 20": (
        5,
        partial(_abstention, 100_000, 20, family="decoupled", loss="exponential", **_ONE_FIT),
    ),
    "abstention boosting, trees of depth 3, 20,000 x 20": (
        5,
        partial(_abstention, 20_000, 20, family="coupled", max_depth=3, n_rounds=20, threshold="calibrated"),
    ),
    "abstention boosting, answers, 500,000 x 20": (7, partial(_abstention_answers, 500_000, 20)),
    "ExactBoost, AUC, 10,000 x 10": (7, partial(_exactboost, 10_000, 10, metric="auc")),
    "ExactBoost, KS, 10,000 x 10": (7, partial(_exactboost, 10_000, 10, metric="ks")),
    "ExactBoost, precision at k, 10,000 x 10": (5, partial(_exactboost, 10_000, 10, metric="precision_at_k", k=500)),
    "ExactBoost, reject cost, 10,000 x 10": (5, partial(_exactboost, 10_000, 10, metric="reject_cost", costs=0.2)),
    "ExactBoost, AUC by bisection, 1,000 x 10": (3, partial(_exactboost, 1_000, 10, metric="auc", search="bisection")),
    "ExactBoost, AUC, 100,000 x 10": (3, partial(_exactboost, 100_000, 10, metric="auc")),
    "double hinge, rbf, 2,000 x 10": (9, partial(_double_hinge, 2_000, 10)),
    "double hinge, rbf, 10,000 x 10": (5, partial(_double_hinge, 10_000, 10)),
    "double hinge, active set, 1,000 x 10": (9, partial(_double_hinge, 1_000, 10, solver="active_set")),
    "double hinge, linear, 100,000 x 20": (5, partial(_double_hinge, 100_000, 20, kernel="linear")),
    "double ramp, l1, 500 x 10": (3, partial(_double_ramp, 500, 10)),
    "double ramp, l2, 1,000 x 10": (3, partial(_double_ramp, 1_000, 10, penalty="l2")),
    "coupled one-class, 2,000": (9, partial(_coupled, 2_000)),
    "coupled one-class, 10,000": (3, partial(_coupled, 10_000)),
}


def serve():
    """Read names of jobs from standard input, do each, and print its processor seconds."""
    out, sys.stdout = sys.stdout, sys.stderr  # what the library prints must not be read as an answer
    import warnings

    warnings.simplefilter("ignore")
    call, prepared = None, None
    for line in sys.stdin:
        name = line.strip()
        if name != prepared:
            call, prepared = JOBS[name][1](), name
            call()  # compiles, fills caches
        start = time.process_time()
        call()
        print(time.process_time() - start, file=out, flush=True)


class Revision:
    """A process that does jobs with the library of one source tree."""

    def __init__(self, source):
        limits = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        environment = os.environ | limits | {"PYTHONPATH": str(source)}
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__)), "--serve"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip

    def seconds(self, name):
        """Do a job once and return its processor seconds."""
        self._process.stdin.write(f"{name}\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def stop(self):
        """End the process."""
        self._process.stdin.close()
        self._process.wait()


def _best_seconds(name, sources):
    """Start a process for each tree, let them do the job alternately, and return the best seconds of each."""
    trees = [Revision(source) for source in sources]
    rounds = [[tree.seconds(name) for tree in trees] for _ in range(JOBS[name][0])]
    for tree in trees:
        tree.stop()
    return [min(seconds) for seconds in zip(*rounds, strict=True)]


def compare(revision, names):
    """Print the processor seconds of both trees for every job."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "worktree", "add", "-q", "--detach", folder, revision], cwd=ROOT, check=True)
        try:
            print(f"{'job':<60} {'now':>9} {revision[:12]:>12} {'ratio':>7}")
            for name in names:
                starts = [_best_seconds(name, (ROOT / "src", Path(folder) / "src")) for _ in range(STARTS)]
                now, before = (min(seconds) for seconds in zip(*starts, strict=True))
                ratio = now / before
                print(f"{name:<60} {now:>9.4f} {before:>12.4f} {ratio:>7.3f}{'' if ratio <= GOAL else ' SLOWER'}")
                sys.stdout.flush()
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", folder], cwd=ROOT, check=False)


def main():
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.revisions", description=__doc__.splitlines()[0])
    parser.add_argument("revision", help="commit to compare with")
    parser.add_argument("names", nargs="*", help="how the names of the jobs begin (default: all)")
    options = parser.parse_args()
    names = [name for name in JOBS if not options.names or name.startswith(tuple(options.names))]
    compare(options.revision, names)


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["--serve"] else main()
