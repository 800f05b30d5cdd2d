import matplotlib as mpl
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from recuse import Costs, ThresholdRejectClassifier
from recuse.metrics import (
    accuracy_rejection_curve,
    aurc_score,
    cost_curve,
    expected_cost,
    reject_confusion_matrix,
    risk_coverage_curve,
)
from recuse.plot import AccuracyRejectionDisplay, CostCurveDisplay, RejectConfusionMatrixDisplay, RiskCoverageDisplay

PRICES = Costs(fp=1, fn=3, reject=0.3)
CURVES = {
    RiskCoverageDisplay: (risk_coverage_curve, {}),
    AccuracyRejectionDisplay: (accuracy_rejection_curve, {}),
    CostCurveDisplay: (cost_curve, {"costs": PRICES}),
}


@pytest.fixture(autouse=True)
def _off_screen():
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture
def fitted(overlapping):
    X, y = overlapping
    model = make_pipeline(StandardScaler(), ThresholdRejectClassifier(LogisticRegression(), costs=PRICES))
    return model.fit(X, y), X, y


@pytest.mark.parametrize("display", CURVES)
def test_draws_the_curve_of_the_metric(display, fitted):
    model, X, y = fitted
    curve, options = CURVES[display]
    drawn = display.from_estimator(model, X, y, name="mine")
    scaled = model[0].transform(X)
    x, values, thresholds = curve(y, model[-1].decide(scaled), **options)
    line = drawn.line_.get_data()
    assert np.array_equal(line[0], x)
    assert np.array_equal(line[1], values)
    assert np.array_equal(drawn.thresholds, thresholds)
    assert "mine" in drawn.ax_.get_legend().get_texts()[0].get_text()
    assert drawn.ax_.get_xlabel()
    assert drawn.ax_.get_ylabel()


def test_the_dot_is_the_models_own_point(fitted):
    model, X, y = fitted
    decisions = model[-1].decide(model[0].transform(X))
    drawn = CostCurveDisplay.from_estimator(model, X, y)
    assert drawn.chosen == pytest.approx((decisions.accepted.mean(), expected_cost(y, decisions, costs=PRICES)))
    risk = RiskCoverageDisplay.from_predictions(y, decisions)
    wrong = (decisions.forced != y)[decisions.accepted].mean()
    assert risk.chosen == pytest.approx((decisions.accepted.mean(), wrong))
    assert f"{aurc_score(y, decisions):.3g}" in risk.name
    assert RiskCoverageDisplay.from_predictions(y, decisions.forced, decisions.r).chosen is None


@pytest.mark.parametrize("display", CURVES)
def test_axes_given_are_used_and_no_curve_is_cut_off(display, fitted):
    import matplotlib.pyplot as plt

    model, X, y = fitted
    figure, ax = plt.subplots()
    first = display.from_estimator(model, X[:100], y[:100], ax=ax, name="a")
    second = display.from_estimator(model, X[100:], y[100:], ax=ax, name="b")
    assert first.ax_ is second.ax_ is ax
    assert second.figure_ is figure
    bottom, top = ax.get_ylim()
    for curve in (first, second):
        assert bottom <= curve.y.min()
        assert curve.y.max() <= top
    assert len(ax.get_legend().get_texts()) == 2


def test_confusion_matrix(fitted):
    model, X, y = fitted
    drawn = RejectConfusionMatrixDisplay.from_estimator(model, X, y)
    decisions = model[-1].decide(model[0].transform(X))
    matrix = reject_confusion_matrix(y, decisions)
    assert np.array_equal(drawn.matrix, matrix)
    assert drawn.text_[0, 2].get_text().startswith(f"{matrix[0, 2]:.0f}\n")
    assert [text.get_text() for text in drawn.ax_.get_xticklabels()] == ["0", "1", "rejected"]
    by_hand = RejectConfusionMatrixDisplay.from_predictions(y, decisions.label, reject_label=-1)
    assert np.array_equal(by_hand.matrix, matrix)


def test_confusion_matrix_by_kind():
    kind = ["accept", "ambiguity", "novelty", "accept"]
    options = {"labels": ["a", "b", "c"], "reject_label": "?", "kind": kind, "by_kind": True}
    drawn = RejectConfusionMatrixDisplay.from_predictions(["a", "b", "c", "c"], ["a", "?", "?", "b"], **options)
    assert drawn.matrix.tolist() == [[1, 0, 0, 0, 0], [0, 0, 0, 1, 0], [0, 1, 0, 0, 1]]
    assert [text.get_text() for text in drawn.ax_.get_xticklabels()] == ["a", "b", "c", "ambiguity", "novelty"]


def test_without_matplotlib_the_remedy_is_named(fitted, monkeypatch):
    import sys

    model, X, y = fitted
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'recuse\[plot\]'"):
        CostCurveDisplay.from_estimator(model, X, y)
