"""ShapeFunctionDisplay."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

matplotlib.use("Agg")
from matplotlib import pyplot as plt

from recuse import AbstentionBoostingClassifier
from recuse.plot import ShapeFunctionDisplay


@pytest.fixture(scope="module")
def model_and_cases():
    X, y = make_classification(200, n_features=5, random_state=0)
    frame = pd.DataFrame(X, columns=list("abcde"))
    options = {"family": "coupled", "beta": 0.005, "threshold": "calibrated", "n_rounds": 40}
    return AbstentionBoostingClassifier(**options).fit(frame, y), frame


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_panels_show_the_step_functions(model_and_cases):
    model, frame = model_and_cases
    display = ShapeFunctionDisplay.from_estimator(model, frame, max_features=2)
    assert len(display.axes_) == 2
    order = np.argsort(-display.importance())
    shape = model.shape_functions_[order[0]]
    assert display.axes_[0].get_xlabel() == frame.columns[shape.feature]
    steps = [patch for patch in display.axes_[0].patches if hasattr(patch, "get_data")]
    np.testing.assert_array_equal(steps[0].get_data().values, shape.h)
    np.testing.assert_array_equal(steps[1].get_data().values, shape.r)


def test_given_axes_are_used_and_ranges_are_optional(model_and_cases):
    model, _ = model_and_cases
    figure, axes = plt.subplots(1, 4)
    display = ShapeFunctionDisplay.from_estimator(model, axes=axes)
    assert display.figure_ is figure


def test_trees_have_no_shapes():
    X, y = make_classification(100, n_features=3, n_informative=2, n_redundant=0, random_state=0)
    model = AbstentionBoostingClassifier(max_depth=2, family="coupled", n_rounds=3, random_state=0).fit(X, y)
    with pytest.raises(TypeError, match="only boosted stumps have an additive form"):
        ShapeFunctionDisplay.from_estimator(model)
