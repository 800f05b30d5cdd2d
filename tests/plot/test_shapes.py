"""ShapeFunctionDisplay."""

import itertools

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

matplotlib.use("Agg")
from matplotlib import pyplot as plt

from recuse import AbstentionBoostingClassifier, ExactBoostClassifier
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


def test_the_background_is_darker_where_more_argues_for_rejection(model_and_cases):
    model, frame = model_and_cases
    display = ShapeFunctionDisplay.from_estimator(model, frame)
    assert len(display.figure_.legends) == 1
    shades = {}
    for ax, position in zip(display.axes_, np.argsort(-display.importance(), kind="stable"), strict=False):
        shape = model.shape_functions_[position]
        spans = [patch for patch in ax.patches if not hasattr(patch, "get_data")]
        assert len(spans) == (shape.r < 0).sum()
        shades |= {float(r): span.get_alpha() for r, span in zip(shape.r[shape.r < 0], spans, strict=True)}
    ordered = [shades[r] for r in sorted(shades)]
    assert ordered == sorted(ordered, reverse=True)
    assert max(ordered) == 0.25


def test_without_a_rejector_only_h_is_drawn_and_missing_values_are_shown(model_and_cases):
    _, frame = model_and_cases
    cases = frame.mask(np.random.default_rng(0).random(frame.shape) < 0.2)
    y = (frame["a"] + frame["b"] > 0).astype(int)
    y[cases["a"].isna()] = 1
    model = AbstentionBoostingClassifier(family="chow", beta=0.01, n_rounds=20).fit(cases, y)
    display = ShapeFunctionDisplay.from_estimator(model, cases, max_features=2)
    panels = {ax.get_xlabel(): ax for ax in display.axes_}
    assert all(sum(hasattr(patch, "get_data") for patch in ax.patches) == 1 for ax in panels.values())
    assert panels["a"].texts[0].get_text() == "missing"
    shape = next(shape for shape in model.shape_functions_ if shape.feature == 0)
    thick = [line for line in panels["a"].lines if line.get_linewidth() == 3]
    assert [line.get_ydata()[0] for line in thick] == [shape.missing[0]]  # no acceptance score, no second bar
    reached = max(
        edge for patch in panels["a"].patches if hasattr(patch, "get_data") for edge in patch.get_data().edges
    )
    assert thick[0].get_xdata()[0] > reached  # at the right of all values


def test_missing_values_are_drawn_for_both_scores_where_there_are_some(model_and_cases):
    model, frame = model_and_cases
    complete = ShapeFunctionDisplay.from_estimator(model, frame)
    assert not any(ax.texts for ax in complete.axes_)
    assert not any(ax.texts for ax in ShapeFunctionDisplay.from_estimator(model).axes_)
    gaps = frame.mask(np.random.default_rng(0).random(frame.shape) < 0.2)
    fitted = AbstentionBoostingClassifier(**model.get_params()).fit(gaps, (model.predict(frame) == 1).astype(int))
    for display in (ShapeFunctionDisplay.from_estimator(fitted, gaps), ShapeFunctionDisplay.from_estimator(fitted)):
        for ax, position in zip(display.axes_, np.argsort(-display.importance(), kind="stable"), strict=False):
            missing = fitted.shape_functions_[position].missing
            if missing[0]:
                drawn = [line.get_ydata()[0] for line in ax.lines if line.get_linewidth() == 3]
                assert drawn == pytest.approx(list(missing))


def test_the_class_that_h_speaks_for_is_named_and_ticks_are_few():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"amount": rng.gamma(3, 5000, 300), "member": rng.integers(0, 2, 300), "region": rng.integers(1, 4, 300)}
    )
    y = np.where(frame["amount"] / 9000 + frame["member"] + (frame["region"] == 2) > 2.5, "default", "paid")
    model = ExactBoostClassifier(n_estimators=5, random_state=0).fit(frame, y)
    display = ShapeFunctionDisplay.from_estimator(model, frame)
    assert "towards 'paid'" in display.axes_[0].get_ylabel()
    panels = {ax.get_xlabel(): ax for ax in display.axes_}
    assert panels["member"].get_xticks().tolist() == [0, 1]
    assert panels["member"].get_xlim() == (-0.5, 1.5)
    assert panels["region"].get_xticks().tolist() == [1, 2, 3]
    assert len(panels["amount"].get_xticks()) <= 5
    display.figure_.canvas.draw()
    boxes = [label.get_window_extent() for label in panels["amount"].get_xticklabels()]
    assert all(a.x1 < b.x0 for a, b in itertools.pairwise(boxes))
    alone = {ax.get_xlabel(): ax for ax in ShapeFunctionDisplay.from_estimator(model).axes_}
    assert alone["member"].get_xticks().tolist() != [0, 1]  # without cases nobody knows that there are two values


def test_the_names_of_a_pipeline_are_used(model_and_cases):
    model, frame = model_and_cases
    pipe = make_pipeline(StandardScaler(), clone(model)).fit(frame, (model.predict(frame) == 1).astype(int))
    shown = [ax.get_xlabel() for ax in ShapeFunctionDisplay.from_estimator(pipe, frame, max_features=2).axes_]
    assert set(shown) <= set(frame.columns)
