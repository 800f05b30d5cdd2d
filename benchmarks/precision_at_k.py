"""What is lost at the top of the list: training on precision at k against training on AUC.

Share of the k first cases that are not positive, k being 5 % or 2 % of the cases, on training and on test cases: at
most 6,000 cases of each data set (the folder in RECUSE_DATA), half of them for training, means over seven random
splits; 50 runs of 50 rounds. "Twice the rounds" is AUC with 100, since a run for precision at k begins with one for
AUC. Below 1, ours loses less.
"""

from collections import defaultdict

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import train_test_split

from recuse import ExactBoostClassifier
from recuse.datasets import load
from recuse.metrics import precision_at_k_score

from .runner import Row

DATASETS = ("a1a", "bank_marketing", "credit_default", "german", "gmsc", "pima")
SPLITS = range(10, 17)  # not those, 0 to 2, on which the beginning of a run was chosen
SHARES = (0.05, 0.02)
MOST = 6_000
OURS, AUC, LONGER = "precision at k", "AUC", "AUC, twice the rounds"


def run(quick=False):
    names, splits, n_runs = (("pima",), SPLITS[:1], 2) if quick else (DATASETS, SPLITS, 50)
    tasks = [(name, split, share, n_runs) for share in SHARES for name in names for split in splits]
    lost = defaultdict(list)
    results = Parallel(n_jobs=2)(delayed(_lost)(*task) for task in tasks)
    for (name, _, share, _), found in zip(tasks, results, strict=True):
        for key, value in found.items():
            lost[share, name, key].append(value)
            lost[share, "mean of all", key].append(value)
    for share in SHARES:
        for name in (*names, "mean of all"):
            for part in ("training", "test"):
                ours = float(np.mean(lost[share, name, (OURS, part)]))
                for peer in (AUC, LONGER):
                    theirs = float(np.mean(lost[share, name, (peer, part)]))
                    decisive = not quick and (name, part, peer) == ("mean of all", "test", AUC)
                    goal = 1.0 if decisive else None
                    yield Row(f"lost in the first {share:.0%}, {part}", name, peer, ours, theirs, goal)
        gains = np.subtract(*(lost[share, "mean of all", (method, "test")] for method in (AUC, OURS)))
        error = gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else np.nan
        what = f"gain over AUC in the first {share:.0%}, test"
        yield Row(what, "mean of all", "its standard error", float(gains.mean()), float(error))


def _lost(name, split, share, n_runs):
    """Share of the list that is not positive, by method and part."""
    X, y = load(name, return_X_y=True)
    if len(y) > MOST:
        X, _, y, _ = train_test_split(X, y, train_size=MOST, stratify=y, random_state=split)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=split)
    k = round(share * len(y))
    shared = {"n_estimators": n_runs, "margin": 0.05, "random_state": split}
    models = {
        OURS: ExactBoostClassifier(metric="precision_at_k", k=k, **shared),
        AUC: ExactBoostClassifier(**shared),
        LONGER: ExactBoostClassifier(n_rounds=100, **shared),
    }
    found = {}
    for method, model in models.items():
        model.fit(X, y)
        for part, cases, truth in (("training", X, y), ("test", X_test, y_test)):
            score = model.decision_function(cases)
            found[method, part] = 1 - precision_at_k_score(truth, score, k=round(share * len(truth)))
    return found
