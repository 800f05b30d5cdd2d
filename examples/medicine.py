"""Medicine: at which prices a second look pays.

Tumours are benign or malignant, a missed malignant one costs five false alarms, and a pathologist's second look has a
price that the hospital does not know exactly. So look at a range of them. Every tumour is answered by a model that
was fitted without it. The reject option stays below both lines: where a look is nearly free it leaves most tumours to
the pathologist, where it is expensive hardly any, and it gains most in between.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from recuse import Costs, ThresholdRejectClassifier, cross_val_decide
from recuse.metrics import coverage_score, expected_cost

ALT = "Cost per 100 tumours against the price of a second look: reviewing all, answering all, and the reject option"
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
PRICES = np.array([0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.75])


def answer(X, y, price):
    """Cost per 100 tumours and share of answers when a second look costs this much."""
    prices = Costs(fp=1, fn=5, reject=price)
    model = make_pipeline(StandardScaler(), ThresholdRejectClassifier(LogisticRegression(C=0.1), costs=prices))
    decisions = cross_val_decide(model, X, y, cv=FOLDS)
    forced = expected_cost(y, decisions.forced, costs=prices)
    return 100 * expected_cost(y, decisions), 100 * forced, coverage_score(y, decisions)


def main(picture="medicine.png"):
    """Print the costs at each price and draw them."""
    data = load_breast_cancer()
    X, y = data.data, np.where(data.target == 0, "malignant", "benign")
    rows = np.array([answer(X, y, price) for price in PRICES])
    print("price of a look   reject option   answer all   review all   answered")
    for price, (cost, forced, coverage) in zip(PRICES, rows, strict=True):
        print(f"{price:>15.2f} {cost:>15.1f} {forced:>12.1f} {100 * price:>12.1f} {coverage:>10.0%}")

    figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
    axes.plot(PRICES, rows[:, 0], "o-", label="reject option", linewidth=2.5)
    axes.plot(PRICES, rows[:, 1], "--", label="answer every case")
    axes.plot(PRICES, 100 * PRICES, ":", label="review every case")
    axes.set(
        xlabel="price of a second look (a false alarm is 1, a miss 5)", ylabel="cost per 100 tumours", ylim=(0, 16)
    )
    axes.legend()
    figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
