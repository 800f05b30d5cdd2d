"""What the ensemble is compared with: tuned LightGBM, gradient boosting as `recuse fit` had it, and AutoGluon."""

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from recuse.comparison.methods import METHODS
from recuse.comparison.plans import Task
from recuse.ensemble.boosters import NativeBooster

POINTS, FOLDS = 10, 5
AUTOGLUON = "RECUSE_AUTOGLUON"  # names the Python of an environment that has autogluon.tabular[lightgbm,catboost]
_BOOSTING = next(method for method in METHODS if method.name == "boosting-chow")


def lightgbm_points(seed):
    """Settings to choose from: LightGBM's own, and nine drawn at random."""
    rng = np.random.default_rng(seed)
    drawn = [
        {
            "rounds": int(rng.integers(50, 401)),
            "learning_rate": float(np.exp(rng.uniform(np.log(0.01), np.log(0.2)))),
            "num_leaves": int(rng.choice([4, 7, 12, 20, 31, 63])),
            "min_data_in_leaf": int(rng.choice([3, 5, 10, 20, 40])),
            "lambda_l2": float(rng.choice([0.0, 0.1, 1.0, 10.0])),
            "feature_fraction": float(rng.choice([0.5, 0.7, 1.0])),
            "bagging_fraction": float(rng.choice([0.6, 0.8, 1.0])),
            "bagging_freq": 1,
        }
        for _ in range(POINTS - 1)
    ]
    return [{"rounds": 100}, *drawn]


def tuned_lightgbm(X, y, new, seed):
    """Probabilities by LightGBM with the settings of least log loss over 5 folds, fitted on all cases."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    points = [NativeBooster("lightgbm", point, random_state=seed) for point in lightgbm_points(seed)]
    losses = [log_loss(y, cross_val_predict(point, X, y, cv=folds, method="predict_proba")) for point in points]
    return points[int(np.argmin(losses))].fit(X, y).predict_proba(new)[:, 1]


def gradient_boosting(X, y, new, seed, costs):
    """Probabilities by the method "boosting-chow" of `recuse.compare`: its grid is searched by the cost."""
    task = Task(costs, 1, seed, len(y))
    return _BOOSTING.build(task).fit(X, y, task)[0].predict_proba(new)[:, 1]


class AutoGluon:
    """AutoGluon in a process of its own; to be used in a `with` statement. Absent where nothing names its Python."""

    def __init__(self):
        self.python = os.environ.get(AUTOGLUON)

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory()
        self._process = self.python and subprocess.Popen(
            [self.python, Path(__file__).with_name("autogluon_worker.py")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            cwd=self._folder.name, env=_plain_environment(),
        )  # fmt: skip
        return self

    def __exit__(self, *_):
        if self._process:
            self._process.stdin.close()
            self._process.wait(60)
        self._folder.cleanup()

    def fit(self, X, y, new, seconds):
        """Probabilities after a fit of so many processor seconds, and the seconds it took."""
        tables, out = (str(Path(self._folder.name) / name) for name in ("tables.npz", "out.npy"))
        np.savez(tables, train=X, classes=y, test=new)
        print(json.dumps({"tables": tables, "out": out, "seconds": seconds}), file=self._process.stdin, flush=True)
        answer = json.loads(self._process.stdout.readline() or '{"error": "its process ended"}')
        if "error" in answer:
            raise RuntimeError(f"AutoGluon failed: {answer['error']}")
        return np.load(out), answer["seconds"]


def _plain_environment():
    """Of this process, without what points Python to this library; one thread."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return kept | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def timed(call, *arguments):
    """What a call returns, and its processor seconds."""
    started = time.process_time()
    found = call(*arguments)
    return found, time.process_time() - started
