"""Curves and costs against scikit-learn's `roc_curve` on the same scores.

`roc_curve` sorts the same scores and sums the same cases, so it is the natural standard: at most twice its time.
"""

import numpy as np
from sklearn.metrics import roc_curve

from recuse import Costs
from recuse.metrics import (
    accuracy_rejection_curve,
    augrc_score,
    aurc_score,
    cost_curve,
    coverage_at_risk,
    expected_cost,
    ks_score,
    precision_at_k_score,
    risk_coverage_curve,
)

from .runner import measure


def run(quick=False):
    n = 10_000 if quick else 1_000_000
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    score = rng.normal(size=n) + y
    forced, confidence = (score > 0.5).astype(int), np.abs(score - 0.5)
    answers = np.where(confidence > 0.3, forced, -1)
    prices = Costs(fp=1, fn=5, reject=0.3)
    calls = {
        "risk_coverage_curve": lambda: risk_coverage_curve(y, forced, confidence),
        "accuracy_rejection_curve": lambda: accuracy_rejection_curve(y, forced, confidence),
        "cost_curve": lambda: cost_curve(y, forced, confidence, costs=prices),
        "aurc_score": lambda: aurc_score(y, forced, confidence),
        "augrc_score": lambda: augrc_score(y, forced, confidence),
        "coverage_at_risk": lambda: coverage_at_risk(y, forced, confidence),
        "expected_cost": lambda: expected_cost(y, answers, costs=prices, reject_label=-1),
        "ks_score": lambda: ks_score(y, score),
        "precision_at_k_score": lambda: precision_at_k_score(y, score, k=n // 10),
    }
    for name, call in calls.items():
        yield measure(name, f"n = {n:,}", call, "roc_curve", lambda: roc_curve(y, score), goal=2.0)
    text, text_forced, text_answers = (np.array(["no", "yes", "[abstain]"])[codes] for codes in (y, forced, answers))
    calls = {
        "risk_coverage_curve": lambda: risk_coverage_curve(text, text_forced, confidence),
        "expected_cost": lambda: expected_cost(text, text_answers, costs=prices, reject_label="[abstain]"),
    }
    for name, call in calls.items():
        yield measure(
            f"{name}, text labels",
            f"n = {n:,}",
            call,
            "roc_curve",
            lambda: roc_curve(text, score, pos_label="yes"),
            goal=2.0,
        )
