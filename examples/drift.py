"""Drift: the queue of rejected cases speaks before the outcomes do.

A model is fitted on the first eight weeks and used from then on. In week 16 the population begins to change. What
that costs is known when the outcomes are, weeks later; the share of rejected cases is known the same day, and
doubles, because cases move to where the model is not sure. It is a warning, not a measure: the cost grows fourfold,
and passes that of reviewing every case. A model fitted again on four recent weeks brings both down.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from recuse import Costs, ThresholdRejectClassifier
from recuse.metrics import expected_cost, rejection_rate

ALT = "Rejected share and cost per case by week: both rise after week 16, and fall for a model fitted again in week 28"
PRICES = Costs(fp=1, fn=3, reject=0.25)
WEEKS, PER_WEEK, FITTED, CHANGES, AGAIN = 40, 300, 8, 16, 28


def draw_week(week, rng):
    """Cases of a week: what tells the classes apart turns and shrinks after the change."""
    y = rng.random(PER_WEEK) < 0.3
    moved = np.clip((week - CHANGES) / 8, 0, 1)
    direction = np.array([1 - 0.75 * moved, 0.9 * moved, 0.4])
    return rng.normal(size=(PER_WEEK, 3)) + 2.6 * np.outer(y - 0.3, direction), np.where(y, "yes", "no")


def main(picture="drift.png"):
    """Run both models week by week."""
    rng = np.random.default_rng(5)
    weeks = [draw_week(week, rng) for week in range(WEEKS)]

    def fit(first, last):
        X, y = (np.concatenate(parts) for parts in zip(*weeks[first:last], strict=True))
        return ThresholdRejectClassifier(LogisticRegression(), costs=PRICES).fit(X, y)

    old, new = fit(0, FITTED), fit(AGAIN - 4, AGAIN)
    figure, axes = plt.subplots(2, 1, figsize=(7, 5), layout="constrained", sharex=True)
    print(f"{'weeks':<10} rejected   cost per case")
    for name, model, first, style in (("fitted once", old, FITTED, "o-"), ("fitted again", new, AGAIN, "s-")):
        shown = range(first, WEEKS)
        answers = [model.decide(weeks[week][0]) for week in shown]
        rejected = [rejection_rate(weeks[w][1], a) for w, a in zip(shown, answers, strict=True)]
        costs = [expected_cost(weeks[w][1], a) for w, a in zip(shown, answers, strict=True)]
        for ax, values in zip(axes, (rejected, costs), strict=True):
            ax.plot(shown, values, style, markersize=4, label=name)
        print(name)
        for start, end in ((FITTED, CHANGES), (CHANGES, 24), (AGAIN, WEEKS)):
            if start >= first:
                part = slice(start - first, end - first)
                print(f"  {start:>2} to {end - 1} {np.mean(rejected[part]):>9.0%} {np.mean(costs[part]):>15.2f}")
    axes[1].axhline(PRICES.reject_positive, linestyle=":", color="0.3", label="review of every case")
    axes[0].set(ylabel="share rejected", ylim=(0, 1))
    axes[1].set(ylabel="cost per case", xlabel="week", ylim=(0, None))
    for ax in axes:
        ax.axvspan(CHANGES, CHANGES + 8, color="0.9")
        ax.legend(loc="upper left", fontsize="small")
    figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:])
