"""Several classes: digits that a person should read.

Chow's rule knows any number of classes: with one price for every error, a case is answered if its most probable class
is probable enough. Ten handwritten digits, an error at 1, a human reader at 0.1. The picture shows rejected digits
with the two classes that compete: most of them would make a person hesitate, too.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from recuse import Costs, ThresholdRejectClassifier, compare
from recuse.metrics import coverage_score, selective_accuracy_score

ALT = "Sixteen handwritten digits that were rejected, each with the two digits that compete and their probabilities"


def main(picture="several_classes.png"):
    """Read the digits at three prices, and show what is left to a person."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:1000], order[1000:]
    reader = make_pipeline(StandardScaler(), LogisticRegression(C=0.05, max_iter=1000)).fit(X[train], y[train])
    print(f"answering everything: {np.mean(reader.predict(X[test]) == y[test]):.1%} right")
    for price in (0.4, 0.2, 0.1):
        model = ThresholdRejectClassifier(reader, rule="chow", costs=price).fit(X[train], y[train])
        decisions = model.decide(X[test])
        right = selective_accuracy_score(y[test], decisions)
        print(f"a person at {price}: {coverage_score(y[test], decisions):.1%} answered, {right:.1%} of these right")

    rejected = test[~decisions.accepted]
    chances = model.predict_proba(X[rejected])
    figure, axes = plt.subplots(2, 8, figsize=(10, 3.4), layout="constrained")
    for ax, i in zip(axes.ravel(), np.argsort(chances.max(axis=1), kind="stable"), strict=False):
        first, second = np.argsort(-chances[i], kind="stable")[:2]
        ax.imshow(X[rejected[i]].reshape(8, 8), cmap="gray_r")
        ax.set_title(f"{first} ({chances[i, first]:.2f}) or\n{second} ({chances[i, second]:.2f})", fontsize=9)
        ax.set_axis_off()
    figure.savefig(picture, dpi=110)
    read_cheques(X[:600], y[:600])


def read_cheques(X, y):
    """Compare answering with the reading of every digit by a person, where an error costs what it is off by."""
    costs = Costs(errors=np.abs(np.subtract.outer(range(10), range(10))), reject=0.4)
    result = compare(X, y, costs=costs, methods=["logistic-no-reject", "logistic-chow"], cv=3, repeats=1)
    print(result.conclusions["answering"])
    cases = result.decisions()
    for digit, rows in cases.groupby("outcome"):
        print(f"{digit}: {rows['answered'].mean():.0%} answered, at {rows['cost'].mean():.2f} a digit")


if __name__ == "__main__":
    main(*sys.argv[1:])
