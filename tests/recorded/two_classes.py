"""Models of every estimator at three kinds of prices, and what they say of cases they were not fitted on."""

import json
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from recuse import (
    AbstentionBoostingClassifier,
    Costs,
    CoupledOneClassSVC,
    DoubleHingeSVC,
    DoubleRampSVC,
    EnsembleRejectClassifier,
    ExactBoostClassifier,
    ThresholdRejectClassifier,
)
from recuse.baselines import IndependentOneClassSVC, TwoStepBoostingClassifier
from recuse.metrics import expected_cost, reject_confusion_matrix

FILE = Path(__file__).parent / "two_classes.json"
PRICES = {
    "one price": Costs(reject=0.2),
    "dear misses": Costs(fp=1, fn=3, reject=0.2),
    "by class": Costs(fp=2, fn=5, reject_negative=0.3, reject_positive=0.5),
}
# Without `EmbeddedRejectSVC`, whose program has many optima, of which another processor finds another one; and without
# `GuaranteedRejectClassifier`, which has been changed on purpose since: its tests begin at another threshold.
EXACT = LogisticRegression(tol=1e-10, max_iter=1000)
MODELS = {
    "chow": ThresholdRejectClassifier(EXACT),
    "tuned": ThresholdRejectClassifier(EXACT, rule="tuned"),
    "symmetric": ThresholdRejectClassifier(EXACT, rule="symmetric"),
    "coverage": ThresholdRejectClassifier(EXACT, coverage=0.8),
    "promise": ThresholdRejectClassifier(EXACT, guarantee="error<=0.3"),
    "sigmoid": ThresholdRejectClassifier(GaussianNB(), calibration="sigmoid"),
    "isotonic": ThresholdRejectClassifier(GaussianNB(), calibration="isotonic"),
    "boosting, chow": AbstentionBoostingClassifier(family="chow", beta=0.01, n_rounds=20),
    "boosting, coupled": AbstentionBoostingClassifier(family="coupled", beta=0.01, n_rounds=20),
    "boosting, started": AbstentionBoostingClassifier(
        family="decoupled", stack="start", beta=0.01, n_rounds=20, random_state=0
    ),
    "double hinge": DoubleHingeSVC(C=10, tol=1e-8),
    "double hinge, linear": DoubleHingeSVC(C=10, kernel="linear", tol=1e-8),
    "double ramp": DoubleRampSVC(tol=1e-8),
    "coupled": CoupledOneClassSVC(tol=1e-8),
    "independent": IndependentOneClassSVC(tol=1e-8),
    "exact": ExactBoostClassifier(metric="reject_cost", n_estimators=10, n_rounds=10, random_state=0),
    "two steps": TwoStepBoostingClassifier(n_rounds=10, random_state=0),
    "ensemble": EnsembleRejectClassifier(["logistic"], cv=3, random_state=0),
}


def answers(name, prices):
    """What a model says of 30 cases: scores, answers, what they cost and how often they are right, as plain numbers."""
    X, y = make_classification(
        n_samples=150, n_features=4, n_informative=3, n_redundant=0, class_sep=0.7, flip_y=0.15, random_state=3
    )
    model = clone(MODELS[name]).set_params(costs=PRICES[prices])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some reject every case, or have no time to converge
        model.fit(X[:120], y[:120])
    decisions = model.decide(X[120:])
    return {
        "h": [float(f"{score:.9g}") for score in decisions.h],
        "r": [float(f"{score:.9g}") for score in decisions.r],
        "answers": np.asarray(decisions.label).tolist(),
        "kinds": decisions.kind.tolist(),
        "cost": expected_cost(y[120:], decisions),
        "score": model.score(X[120:], y[120:]),
        "matrix": reject_confusion_matrix(y[120:], decisions).tolist(),
    }


def record():
    """Write the file."""
    found = {f"{name} at {prices}": answers(name, prices) for name in MODELS for prices in PRICES}
    FILE.write_text(json.dumps(found, separators=(",", ":")).replace("},", "},\n") + "\n")
