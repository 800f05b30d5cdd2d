import matplotlib as mpl
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from recuse import DoubleHingeSVC, ThresholdRejectClassifier
from recuse.metrics import reliability_curve
from recuse.plot import ReliabilityDisplay


@pytest.fixture(autouse=True)
def _off_screen():
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.mark.parametrize("positive", ["no", "yes"])
def test_it_draws_the_curve_of_the_positive_class(positive, overlapping):
    X, y = overlapping
    y = np.where(y == 1, "yes", "no")
    rule = ThresholdRejectClassifier(LogisticRegression(), costs=0.3, pos_label=positive)
    model = make_pipeline(StandardScaler(), rule).fit(X, y)
    display = ReliabilityDisplay.from_estimator(model, X, y, n_bins=5)
    p = model.predict_proba(X)[:, ["no", "yes"].index(positive)]
    curve = reliability_curve(y, p, n_bins=5, pos_label=positive)
    assert np.array_equal(display.line_.get_xdata(), curve.predicted)
    assert np.array_equal(display.line_.get_ydata(), curve.observed)
    text = display.ax_.get_legend().get_texts()[0].get_text()
    assert text == f"ThresholdRejectClassifier (error {curve.error:.3f})"


def test_several_models_share_one_diagonal(overlapping):
    _, y = overlapping
    first = ReliabilityDisplay.from_predictions(y, np.full(len(y), 0.4), name="a")
    second = ReliabilityDisplay.from_predictions(y, np.full(len(y), 0.6), name="b", ax=first.ax_)
    assert second.ax_ is first.ax_
    diagonals = [line for line in first.ax_.lines if line.get_linestyle() == "--"]
    assert len(diagonals) == 1


def test_a_machine_without_probabilities_is_named(overlapping):
    X, y = overlapping
    with pytest.raises(TypeError, match="DoubleHingeSVC has no predict_proba"):
        ReliabilityDisplay.from_estimator(DoubleHingeSVC().fit(X, y), X, y)
