"""A sensor that fails: answers stop where the training data end.

A pump is watched by two sensors, and the model says whether it needs service. Then a cable breaks, and the vibration
sensor reports a constant. The model, which knows only its two classes, goes on answering, with high confidence and
wrong. An outlier detector beside it turns these cases into novelties: "unlike the training cases" is a reason of its
own, and a rising share of them is an alarm about the sensor, not about the pump.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from recuse import Costs, ThresholdRejectClassifier, decide
from recuse.metrics import expected_cost
from recuse.plot import RejectRegionDisplay

ALT = "Regions of the model over temperature and vibration, with the readings of the broken sensor outside them"
PRICES = Costs(fp=1, fn=8, reject=0.4)


def draw_pumps(n, rng):
    """Temperature and vibration; a worn pump is hot and shakes."""
    worn = rng.random(n) < 0.3
    shape = np.array([[4.0, 1.2], [1.2, 0.8]])
    X = rng.multivariate_normal([0, 0], shape, size=n) + np.where(worn[:, None], [66, 7], [60, 4])
    return X, np.where(worn, "worn", "fine")


def main(picture="failing_sensor.png"):
    """Answer a healthy week and one with a broken cable, with and without the detector."""
    rng = np.random.default_rng(4)
    X, y = draw_pumps(800, rng)
    week, outcome = draw_pumps(400, rng)
    broken = week.copy()
    broken[:, 1] = -2.0  # the voltage of a loose cable, read as vibration
    detector = LocalOutlierFactor(n_neighbors=30, novelty=True, contamination=0.01)
    print(f"{'':<34} healthy week   broken cable")
    models = {}
    for name, novelty in {"without a detector": None, "with a detector": detector}.items():
        classifier = ThresholdRejectClassifier(LogisticRegression(), costs=PRICES, pos_label="worn", novelty=novelty)
        models[name] = make_pipeline(StandardScaler(), classifier).fit(X, y)
        answers = [decide(models[name], cases) for cases in (week, broken)]
        print(f"{name + ': cost per pump':<34}" + "".join(f"{expected_cost(outcome, a):>13.2f}" for a in answers))
        print(f"{name + ': novelties':<34}" + "".join(f"{a.counts()['novelty'] / len(a):>13.0%}" for a in answers))
    print(decide(models["with a detector"], broken)[0].reason)

    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", sharey=True)
    shown = np.vstack([X[:200], broken[:60]])
    truth = np.concatenate([y[:200], np.full(60, "broken sensor")])
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        RejectRegionDisplay.from_estimator(model, shown, truth, ax=ax)
        ax.annotate("broken sensor", (62, -2), (62, -3.4), ha="center")
        ax.set(title=name, xlabel="temperature", ylabel="vibration")
    figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:])
