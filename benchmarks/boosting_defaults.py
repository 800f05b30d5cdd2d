"""The default fit of abstention boosting: processor seconds and held-out cost beside an earlier commit's default.

Cost rows: mean abstention loss on test cases over partitions and reject prices of the paper's protocol (`reproduce
boosting-abstention`: four fifths to train and choose on, a fifth to test), on the paper's sets and a few more. Both
trees see the same partitions, so that the difference is paired: the rows named "difference" show, over all sets or over
the synthetic draws, the mean of (now - before), which should be at most one standard error above 0. The standard error
is over partitions, within which prices and sets share their cases. Time rows: processor seconds of one default fit.
The earlier tree is commit `REVISION`, the last one that looked at every distinct value and fitted every penalty from
the start; ``results/boosting_defaults_before.json`` keeps its losses, as they cannot change. ``--quick`` compares the
present commit with itself, to see whether the benchmark runs. With ``RECUSE_BENCHMARK_MINUTES`` in the environment no
partition is begun after so many minutes; the rows say how many were run.

The number of bins was chosen after half of the cells had been seen, so that for those the comparison is not blind;
several of the sets were looked at, too, while the averaging of fits to parts of the cases was built.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
REVISION = "612077e"
BEFORE = ROOT / "benchmarks" / "results" / "boosting_defaults_before.json"
SETS = (
    "haberman", "pima", "australian", "banknote", "cod_rna", "skin", "wdbc", "german_numeric", "heart_statlog", "ilpd",
    "transfusion", "phoneme",
)  # fmt: skip
SYNTHETIC = "label by x1, noise by x2"
PRICES = (0.1, 0.2, 0.3, 0.4)
SPLITS = 5
SIZES = ((569, 30), (5_000, 20))
GOAL_SECONDS = {(569, 30): 2.0, (5_000, 20): 8.0}
REPEATS = (3, 1)  # of ours, and of the earlier commit's


def run(quick=False):
    from .runner import Row

    names, sizes = ((SYNTHETIC,), ((100, 5),)) if quick else ((SYNTHETIC, *SETS), SIZES)
    minutes, begun = float(os.environ.get("RECUSE_BENCHMARK_MINUTES", "inf")), time.monotonic()
    cells, losses = [], []
    with tempfile.TemporaryDirectory() as folder:
        revision = "HEAD" if quick else REVISION
        subprocess.run(["git", "worktree", "add", "-q", "--detach", folder, revision], cwd=ROOT, check=True)
        try:
            trees = [Tree(ROOT / "src"), Tree(Path(folder) / "src")]
            for size in sizes:
                repeats = (1, 1) if quick else REPEATS
                ours, theirs = (
                    np.median([tree.ask("time", *size) for _ in range(n)])
                    for tree, n in zip(trees, repeats, strict=True)
                )
                what, dimension = "default fit (CPU s)", f"{size[0]:,} x {size[1]}"
                yield Row(what, dimension, f"commit {revision}", ours, theirs)
                yield Row(what, dimension, "seconds allowed", ours, GOAL_SECONDS.get(size, 60.0), 1.0)
            known = {} if quick else json.loads(BEFORE.read_text())["losses"]
            for split in range(1 if quick else SPLITS):
                if time.monotonic() - begun > 60 * minutes:
                    break
                cells += [(name, split, c) for name in names for c in (PRICES[:1] if quick else PRICES)]
                losses += [losses_of(cell, trees, known) for cell in cells[len(losses) :]]
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", folder], cwd=ROOT, check=False)
    if losses:
        yield from cost_rows(cells, np.array(losses), revision)


def losses_of(cell, trees, known):
    """Losses of a cell now and before; the latter from the file where it holds them."""
    name, split, c = cell
    before = known.get(name, {}).get(f"{split}, {c}")
    return trees[0].ask("loss", *cell), trees[1].ask("loss", *cell) if before is None else before


def cost_rows(cells, losses, revision):
    """Mean losses by set, then paired differences."""
    from .runner import Row

    names = np.array([name for name, _, _ in cells])
    for name in dict.fromkeys(names):
        now, before = losses[names == name].mean(axis=0)
        n_splits = len({split for other, split, _ in cells if other == name})
        yield Row("mean abstention loss", f"{name}, {n_splits} partitions", f"commit {revision}", now, before)
    for title, chosen in (("all sets", names != SYNTHETIC), (SYNTHETIC, names == SYNTHETIC)):
        if chosen.any():
            mean, error = paired_difference([c for c, keep in zip(cells, chosen, strict=True) if keep], losses[chosen])
            yield Row("difference of the losses", title, "one standard error", mean, error, 1.0)


def paired_difference(cells, losses):
    """Mean of now - before, and its standard error over partitions of each set."""
    groups = {}
    for (name, split, _), (now, before) in zip(cells, losses, strict=True):
        groups.setdefault((name, split), []).append(now - before)
    means = np.array([np.mean(values) for values in groups.values()])
    return means.mean(), means.std(ddof=1) / np.sqrt(len(means)) if len(means) > 1 else 0.0


class Tree:
    """A process that fits the default of one source tree."""

    def __init__(self, source):
        limits = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        environment = os.environ | limits | {"PYTHONPATH": str(source)}
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__)), "--serve"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip

    def ask(self, *question):
        """Send a question and wait for its answer, a number."""
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


def serve():
    """Answer questions from standard input: seconds of a fit, or the loss of a cell."""
    import warnings

    out, sys.stdout = sys.stdout, sys.stderr  # what the library prints must not be read as an answer
    warnings.simplefilter("ignore")
    answers = {"time": seconds_of_fit, "loss": loss_of_cell}
    for line in sys.stdin:
        kind, *question = json.loads(line)
        print(json.dumps(answers[kind](*question)), file=out, flush=True)


def seconds_of_fit(n, p):
    """Processor seconds of a default fit, everything compiled before."""
    from sklearn.datasets import make_classification

    from recuse import AbstentionBoostingClassifier

    X, y = make_classification(n, p, n_informative=min(p, 5), n_redundant=0, weights=[0.7], random_state=0)
    AbstentionBoostingClassifier(n_rounds=3).fit(X[:300], y[:300])
    start = time.process_time()
    AbstentionBoostingClassifier().fit(X, y)
    return time.process_time() - start


def loss_of_cell(name, split, c):
    """Test loss of the default on one partition of a set at one price."""
    from recuse import AbstentionBoostingClassifier
    from recuse.reproduce.boosting_abstention.experiment import abstention_loss

    train, test = partition(name, split)
    model = AbstentionBoostingClassifier(costs=c, random_state=split).fit(*train)
    return abstention_loss(test[1], model.decision_function(test[0]), model.score_samples(test[0]), c)


def partition(name, split):
    """Training and test cases; those of the paper's protocol for its sets."""
    from recuse.datasets import load, make_noise_by_feature
    from recuse.reproduce.boosting_abstention.tables import DATASETS

    if name == SYNTHETIC:
        return make_noise_by_feature(800, random_state=split), make_noise_by_feature(20_000, random_state=1000 + split)
    X, y = load(name, return_X_y=True)
    if DATASETS.get(name) is not None:
        chosen = np.random.default_rng(7).permutation(len(y))[: DATASETS[name]]
        X, y = X[chosen], y[chosen]
    order, fifth = np.random.default_rng(split).permutation(len(y)), len(y) // 5
    train, test = order[fifth:], order[:fifth]
    return (X[train], y[train]), (X[test], y[test])


if __name__ == "__main__":
    serve()
