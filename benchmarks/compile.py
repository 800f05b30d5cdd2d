"""What a first fit waits for the compiler: processor seconds in a fresh process with an empty cache of compiled code.

Each estimator is fitted twice in a process of its own to 300 cases of 6 features. The first fit compiles what it needs,
the second finds it compiled; their difference is what the compiler took, against the seconds that are allowed. One
process each: other work on the machine can add a third to its processor seconds. A cache that is kept, as it is by
default, spares all later processes this.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ALLOWED = 3.0
# What is said of an estimator -> its class and parameters, and the number of classes where it is not two.
FITS = {
    "abstention boosting, default": ("AbstentionBoostingClassifier", {}),
    "abstention boosting, exponential loss": ("AbstentionBoostingClassifier", {"loss": "exponential"}),
    "abstention boosting, trees": ("AbstentionBoostingClassifier", {"max_depth": 2, "n_rounds": 5}),
    "abstention boosting, six pairs": ("AbstentionBoostingClassifier", {"interactions": 6}),
    "abstention boosting, three classes": ("AbstentionBoostingClassifier", {}, 3),
    "ExactBoost, AUC": ("ExactBoostClassifier", {"n_estimators": 3}),
    "ExactBoost, KS": ("ExactBoostClassifier", {"n_estimators": 3, "metric": "ks"}),
    "ExactBoost, precision at k": ("ExactBoostClassifier", {"n_estimators": 3, "metric": "precision_at_k", "k": 30}),
    "ExactBoost, reject cost": ("ExactBoostClassifier", {"n_estimators": 3, "metric": "reject_cost", "costs": 0.2}),
    "double hinge, rbf": ("DoubleHingeSVC", {}),
    "double hinge, linear": ("DoubleHingeSVC", {"kernel": "linear"}),
    "double ramp": ("DoubleRampSVC", {}),
    "coupled one-class": ("CoupledOneClassSVC", {}),
}


def run(quick=False):
    from .runner import Row

    for what, fit in list(FITS.items())[: 1 if quick else None]:
        yield Row(f"{what} (CPU s)", "300 x 6", "seconds allowed", compile_seconds(*fit), ALLOWED, 1.0)


def compile_seconds(name, options, n_classes=2):
    """Processor seconds that a first fit takes more than a second one."""
    with tempfile.TemporaryDirectory() as cache:
        limits = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        result = subprocess.run(
            [sys.executable, str(Path(__file__)), name, json.dumps(options), str(n_classes)],
            capture_output=True, text=True, check=True, env=os.environ | limits | {"NUMBA_CACHE_DIR": cache},
        )  # fmt: skip
    return float(result.stdout.splitlines()[-1])


def fit_twice(name, options, n_classes):
    """Fit in this process, whose cache is empty, and print what the first fit took more."""
    import warnings

    import numba  # noqa: F401  loading the compiler is not compiling
    from sklearn.datasets import make_classification

    import recuse

    warnings.simplefilter("ignore")
    X, y = make_classification(300, 6, n_informative=4, n_redundant=0, n_classes=n_classes, random_state=0)
    model, seconds = getattr(recuse, name)(**options), []
    for _ in range(2):
        start = time.process_time()
        model.fit(X, y)
        seconds.append(time.process_time() - start)
    print(seconds[0] - seconds[1])


if __name__ == "__main__":
    fit_twice(sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]))
