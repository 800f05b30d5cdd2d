"""Two fits at once: the processor seconds of each, against those of one fit on its own.

Each fit runs in a process of its own, with as many threads of linear algebra as the libraries take by default: where
the threads of two fits wait for each other, each fit takes far more than its share. A process fits once before it is
measured, so that nothing is compiled. One process alone, then two that start together, of which the slower counts.
Processor seconds of the whole process, all its threads included.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

ALLOWED = 1.3
# What is said of an estimator -> its class, parameters and size of the table.
FITS = {
    "abstention boosting": ("AbstentionBoostingClassifier", {}, (2000, 20)),
    "ExactBoost": ("ExactBoostClassifier", {"n_estimators": 50}, (2000, 20)),
    "double hinge, rbf": ("DoubleHingeSVC", {}, (2000, 20)),
    "double hinge, linear": ("DoubleHingeSVC", {"kernel": "linear"}, (20000, 50)),
    "ensemble, quick": ("EnsembleRejectClassifier", {"effort": "quick", "costs": 0.2}, (1000, 10)),
}


def run(quick=False):
    from .runner import Row

    for what, fit in list(FITS.items())[: 1 if quick else None]:
        (alone,), beside = fit_together(1, *fit), fit_together(2, *fit)
        n, p = fit[-1]
        yield Row(f"{what} (CPU s)", f"{n:,} x {p}", "the same fit alone", max(beside), alone, ALLOWED)


def fit_together(n_processes, name, options, shape):
    """Processor seconds of each of several fits that start at the same time."""
    command = [sys.executable, str(Path(__file__)), name, json.dumps(options), json.dumps(shape)]
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(n_processes)
    ]
    for process in processes:
        process.stdout.readline()  # it has fitted once
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    answers = [process.communicate()[0] for process in processes]
    return [float(answer) for answer in answers]


def fit_when_told(name, options, shape):
    """Fit once, say so, wait for a line, fit again, and print what that took."""
    import warnings

    from sklearn.datasets import make_classification

    import recuse

    warnings.simplefilter("ignore")
    X, y = make_classification(*shape, flip_y=0.1, random_state=0)
    model = getattr(recuse, name)(**options).fit(X, y)
    print("ready", flush=True)
    sys.stdin.readline()
    start = time.process_time()
    model.fit(X, y)
    print(time.process_time() - start)


if __name__ == "__main__":
    fit_when_told(sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3]))
