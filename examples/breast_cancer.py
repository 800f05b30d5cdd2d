"""What does rejecting gain? Logistic regression on the breast-cancer table, at three costs of review.

A case is a tumour, the outcome is malignant or benign, a missed malignant tumour costs five times a false alarm, and
a case can be sent to manual review at the reject price. Every case is answered by a model that was fitted without it.
"""

import time

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from recuse import Costs, ThresholdRejectClassifier, cross_val_decide
from recuse.datasets import load
from recuse.metrics import coverage_score, expected_cost, reject_confusion_matrix, selective_accuracy_score

FOLDS = StratifiedKFold(10, shuffle=True, random_state=0)
REJECT_PRICES = (0.05, 0.15, 0.4)


def answer(X, y, costs, **options):
    """Answers of logistic regression with the given reject rule, each by a model that never saw the case."""
    classifier = ThresholdRejectClassifier(LogisticRegression(), costs=costs, **options)
    return cross_val_decide(make_pipeline(StandardScaler(), classifier), X, y, cv=FOLDS)


def row(name, y, label, costs):
    """One line of the table: cost, share of cases answered, and share of these that are right."""
    known = {"labels": ["benign", "malignant"], "reject_label": "[abstain]"}
    cost = expected_cost(y, label, costs=costs, **known)
    coverage = coverage_score(y, label, **known)
    accuracy = selective_accuracy_score(y, label, all_rejected=np.nan, **known)
    shown = f"{accuracy:>8.1%}" if coverage > 0 else f"{'-':>8}"
    return f"  {name:<34} {cost:>8.4f} {coverage:>9.1%} {shown}"


def main():
    """Print a table for each reject price, and some of the rejected cases."""
    started = time.perf_counter()
    table = load("breast_cancer")
    X, y = table.data, np.where(table.target == 1, "benign", "malignant")
    print(f"Breast cancer: {len(y)} tumours, {np.mean(y == 'malignant'):.0%} malignant.")
    print("Prices: false alarm 1, missed malignant tumour 5, manual review of a case as below.\n")
    print(f"  {'':<34} {'cost':>8} {'answered':>9} {'right':>8}")
    for price in REJECT_PRICES:
        costs = Costs(fp=1, fn=5, reject=price)
        chow = answer(X, y, costs)
        tuned = answer(X, y, costs, rule="tuned")
        print(f"reject price {price}")
        print(row(f"never reject, yes above {costs.break_even:.2f}", y, chow.forced, costs), flush=True)
        print(row("review every case", y, np.full(len(y), "[abstain]"), costs))
        print(row("Chow's rule", y, chow.label, costs))
        print(row("tuned thresholds", y, tuned.label, costs))
    show_rejected(y, tuned)
    print(f"\nDone in {time.perf_counter() - started:.1f} s. Next: docs/own_table.md, with your own CSV.")


def show_rejected(y, decisions):
    """Where the tuned rule put the tumours at the last price, and why some of them need review."""
    print(f"\nThe tuned rule at reject price {REJECT_PRICES[-1]}, outcomes in rows:\n")
    print(f"  {'':<12}{'benign':>8}{'malignant':>11}{'[abstain]':>11}")
    for name, counts in zip(decisions.classes, reject_confusion_matrix(y, decisions), strict=True):
        print(f"  {name:<12}{counts[0]:>8.0f}{counts[1]:>11.0f}{counts[2]:>11.0f}")
    print("\nSome of the cases for manual review (each by the thresholds of the model that did not see it):")
    for case in np.flatnonzero(~decisions.accepted)[:3]:
        print(f"  case {case}: {decisions.reason[case]}")


if __name__ == "__main__":
    main()
