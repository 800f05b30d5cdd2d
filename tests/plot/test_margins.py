"""MarginLossDisplay."""

import matplotlib
import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

matplotlib.use("Agg")
from matplotlib import pyplot as plt

from recuse import ExactBoostClassifier, ThresholdRejectClassifier
from recuse.plot import MarginLossDisplay, ShapeFunctionDisplay


@pytest.fixture(scope="module")
def model_and_cases():
    X, y = make_classification(300, n_features=5, random_state=0)
    return ExactBoostClassifier(n_estimators=10, random_state=0).fit(X[:200], y[:200]), X, y


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_curves_show_the_losses(model_and_cases):
    model, X, y = model_and_cases
    display = MarginLossDisplay.from_estimator(model, X[:200], y[:200], X[200:], y[200:])
    train, test = display.lines_
    np.testing.assert_allclose(train.get_ydata(), model.margin_losses(X[:200], y[:200], display.margins))
    np.testing.assert_allclose(test.get_ydata(), display.test)
    assert (np.diff(display.train) >= 0).all()
    own = np.argmin(np.abs(display.margins - model.margin))
    assert display.train[own] == pytest.approx(model.objective_, abs=0.01)
    assert display.ax_.get_ylabel() == "1 - AUC"
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == [
        "training cases", "test cases", "margin of the fit",
    ]  # fmt: skip


def test_given_axes_pipelines_and_other_estimators(model_and_cases):
    _, X, y = model_and_cases
    _, ax = plt.subplots()
    pipe = make_pipeline(StandardScaler(), ExactBoostClassifier(metric="ks", n_estimators=3, random_state=0)).fit(X, y)
    display = MarginLossDisplay.from_estimator(pipe, X, y, ax=ax, margins=[0.0, 0.1])
    assert display.ax_ is ax
    assert len(display.lines_) == 1
    with pytest.raises(TypeError, match="has no margin_losses"):
        MarginLossDisplay.from_estimator(ThresholdRejectClassifier(LogisticRegression()).fit(X, y), X, y)
    with pytest.raises(ValueError, match="both classes"):
        pipe[-1].margin_losses(X[y == 1], y[y == 1], [0.0])


def test_shape_functions_without_an_acceptance_score(model_and_cases):
    model, X, _ = model_and_cases
    display = ShapeFunctionDisplay.from_estimator(model, X, max_features=2)
    assert [text.get_text() for text in display.figure_.legends[0].get_texts()] == ["class score h"]
