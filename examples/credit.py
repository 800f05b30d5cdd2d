"""Credit: a model that a loan officer can read.

Boosting with abstention learns two sums over the columns of an application: one for the class, one for whether to
decide at all. Both can be drawn, and every answer can be taken apart. The table is made up, so we know what a good
model has to find: of the self-employed, whose income on paper says little, nobody can tell who will repay. The second
score finds that by itself: it falls for them, and most of them go to a loan officer. The family with a score of its
own for rejecting is asked for here; by default the fit takes it only where held-out cases leave no doubt that it is
cheaper.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from recuse import AbstentionBoostingClassifier, Costs
from recuse.datasets import make_loans
from recuse.metrics import expected_cost
from recuse.plot import ShapeFunctionDisplay

ALT = "What employment, late payments, instalment and years in the job add to the class and acceptance scores"
COLUMNS = ["employment", "late_payments", "instalment_share", "years_in_job"]
PRICES = Costs(fp=800, fn=4000, reject=200)  # euros: a good customer refused, a default, an hour of a loan officer


def main(picture="credit.png"):
    """Fit the readable columns, show who is rejected and why, and draw the functions."""
    table, probability = make_loans(3000, return_probability=True, random_state=3)
    X = table[COLUMNS].astype({"employment": "category"})
    train, test = slice(0, 2000), slice(2000, None)
    model = AbstentionBoostingClassifier(
        costs=PRICES, family="decoupled", stack="start", pos_label="default", random_state=0
    )
    model.fit(X[train], table["outcome"][train])
    decisions, outcome = model.decide(X[test]), table["outcome"][test]

    p = probability[test]
    least = np.minimum(np.minimum((1 - p) * PRICES.fp, p * PRICES.fn), 200).mean()
    paid = expected_cost(outcome, decisions)
    print(f"cost per loan: {paid:.0f}; review of every loan: 200; the best possible: {least:.0f}")
    print("share of each group that goes to a loan officer:")
    rejected = (~decisions.accepted).astype(float)
    for group in ("civil servant", "employee", "retired", "self-employed"):
        print(f"  {group:<14} {rejected[(table['employment'][test] == group).to_numpy()].mean():.0%}")

    figure, axes = plt.subplots(2, 2, figsize=(9, 6.4), layout="constrained")
    ShapeFunctionDisplay.from_estimator(model, X[train], max_features=4, axes=axes.ravel())
    figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:])
