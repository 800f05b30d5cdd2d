"""Triage: visits of the same patient are not new patients.

Patients come several times, and the outcome belongs to the patient. A flexible model that has seen one visit of a
patient recognises the next one, so folds that cut through patients show a cost that no new patient will ever have.
With `groups=` the visits of a patient stay on one side of every fold. Both figures are held against the truth here:
patients who were not there when the model was fitted.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier

from recuse import Costs, ThresholdRejectClassifier, cross_val_decide
from recuse.metrics import coverage_score, expected_cost

ALT = "Cost per visit promised by ordinary folds, by folds that keep patients together, and paid for new patients"
PRICES = Costs(fp=1, fn=4, reject=0.3)  # a bed in vain, an emergency sent home, a senior doctor's look
VISITS = 6


def draw_visits(n_patients, rng):
    """Several visits each: what is measured varies little from visit to visit, and says little about the outcome."""
    urgent = rng.random(n_patients) < 0.35
    patient = rng.normal(size=(n_patients, 5))
    patient[:, 0] += 1.5 * urgent
    X = np.repeat(patient, VISITS, axis=0) + 0.1 * rng.normal(size=(n_patients * VISITS, 5))
    return X, np.repeat(np.where(urgent, "urgent", "can wait"), VISITS), np.repeat(np.arange(n_patients), VISITS)


def main(picture="triage.png"):
    """Cross-validate with and without groups, then answer patients nobody has seen."""
    rng = np.random.default_rng(2)
    X, y, patients = draw_visits(150, rng)
    forest = RandomForestClassifier(60, min_samples_leaf=2, random_state=0)
    model = ThresholdRejectClassifier(forest, costs=PRICES, pos_label="urgent")
    X_new, y_new, _ = draw_visits(1000, rng)
    answers = {
        "ordinary folds": (y, cross_val_decide(model, X, y, cv=5)),
        "patients kept together": (y, cross_val_decide(model, X, y, cv=5, groups=patients)),
        "new patients": (y_new, model.fit(X, y).decide(X_new)),
    }
    costs = []
    print(f"{'':<24} cost per visit   answered")
    for name, (outcome, decisions) in answers.items():
        costs.append(expected_cost(outcome, decisions))
        print(f"{name:<24} {costs[-1]:>14.2f} {coverage_score(outcome, decisions):>10.0%}")
    print(f"{'review of every visit':<24} {0.3:>14.2f}")

    figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
    bars = axes.barh(list(answers), costs, color=["#D55E00", "#0072B2", "0.4"])
    axes.bar_label(bars, fmt="%.2f", label_type="center", color="white")
    axes.axvline(0.3, linestyle=":", color="black", label="review of every visit")
    axes.set(xlabel="cost per visit")
    axes.invert_yaxis()
    figure.legend(loc="outside upper right")
    figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
