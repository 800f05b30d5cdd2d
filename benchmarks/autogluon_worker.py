"""Fits AutoGluon on one table after another: a line of JSON in for each, a line of JSON out.

Started by `rivals` with the Python of another environment (it needs `autogluon.tabular` and NumPy, nothing of this
library). AutoGluon takes its time limit from `time.time`; here that clock counts the processor seconds of this process,
so that a limit means the same on a busy machine.
"""

import json
import sys
import time

# Before the imports: AutoGluon must find the other clock.
_started, _processor = time.time(), time.process_time
time.time = lambda: _started + _processor()

import tempfile  # noqa: E402

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from autogluon.tabular import TabularPredictor  # noqa: E402


def fit(tables, out, seconds):
    """Fit on `train` within so many processor seconds, and write the probabilities of `test`; return what it took."""
    arrays = np.load(tables)
    columns = [f"x{i}" for i in range(arrays["train"].shape[1])]
    train, test = (pd.DataFrame(arrays[part], columns=columns) for part in ("train", "test"))
    train["target"] = arrays["classes"]
    begun = _processor()
    with tempfile.TemporaryDirectory() as folder:
        predictor = TabularPredictor("target", path=folder, eval_metric="log_loss", verbosity=0)
        predictor.fit(train, presets="good_quality", time_limit=seconds, num_cpus=1, num_gpus=0)
        took = _processor() - begun
        np.save(out, predictor.predict_proba(test)[1].to_numpy())
    return {"seconds": took}


if __name__ == "__main__":
    answers = sys.stdout
    sys.stdout = sys.stderr
    for line in sys.stdin:
        try:
            answer = fit(**json.loads(line))
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)
