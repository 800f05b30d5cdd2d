"""Fraud: how many investigators are worth their pay.

One payment in a hundred is a fraud. The price list says which payments should be looked at, but the team can look at
so many per day and no more. The rejected payments are therefore ranked by their acceptance score: those whose review
saves most come first, and what is beyond the team's capacity gets the answer the model would give if it had to. Seen
over all capacities this says when one more investigator still pays, and when the queue holds nothing worth their
time.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from recuse import Costs, ThresholdRejectClassifier, decide

ALT = "Cost per day against reviews per day: falling until the cases worth a review are used up"
PRICES = Costs(fp=40, fn=400, reject=8)  # euros: a customer stopped in vain, a fraud paid out, a quarter of an hour
DAYS, PER_DAY, PER_INVESTIGATOR = 20, 1000, 30


def draw_payments(n, rng):
    """Payments with four features; frauds are larger, from newer accounts, at night, and further away."""
    fraud = rng.random(n) < 0.01
    shift = 1.4 * fraud[:, None]
    return rng.normal(size=(n, 4)) * [1, 1, 1.2, 1] + shift * [1.2, 1.0, 0.8, 1.1], np.where(fraud, "fraud", "honest")


def cost_per_day(decisions, outcome, reviews):
    """What a day costs if so many of its rejected payments, the most worthwhile first, are reviewed."""
    spent = 0.0
    for day in range(DAYS):
        part = slice(day * PER_DAY, (day + 1) * PER_DAY)
        r, accepted, truth = decisions.r[part], decisions.accepted[part], outcome[part]
        reviewed = np.flatnonzero(~accepted)[np.argsort(r[~accepted], kind="stable")][:reviews]
        answer = decisions.forced[part].copy()
        answer[reviewed] = truth[reviewed]  # the investigator finds out
        spent += PRICES.fp * np.sum((answer == "fraud") & (truth == "honest")) + 8 * len(reviewed)
        spent += PRICES.fn * np.sum((answer == "honest") & (truth == "fraud"))
    return spent / DAYS


def main(picture="fraud.png"):
    """Fit on one month, answer the next, and price every capacity."""
    rng = np.random.default_rng(1)
    X, y = draw_payments(30_000, rng)
    model = ThresholdRejectClassifier(LogisticRegression(), costs=PRICES, pos_label="fraud")
    model = make_pipeline(StandardScaler(), model).fit(X, y)
    X_new, outcome = draw_payments(DAYS * PER_DAY, rng)
    decisions = decide(model, X_new)

    wanted = np.sum(~decisions.accepted) / DAYS
    print(f"{wanted:.0f} of {PER_DAY} payments per day are worth a review at these prices")
    capacities = np.arange(0, 151, 10)
    costs = [cost_per_day(decisions, outcome, reviews) for reviews in capacities]
    print("investigators   reviews per day   cost per day")
    for reviews, cost in zip(capacities, costs, strict=True):
        if reviews % PER_INVESTIGATOR == 0:
            print(f"{reviews // PER_INVESTIGATOR:>13} {reviews:>17} {cost:>14.0f}")

    figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
    axes.plot(capacities, costs, "o-", linewidth=2)
    axes.axvline(wanted, linestyle=":", color="0.4")
    axes.annotate("worth a review\nat these prices", (wanted, max(costs)), (5, -28), textcoords="offset points")
    axes.set(xlabel="reviews per day", ylabel="cost per day (euros)", ylim=(0, None))
    figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
