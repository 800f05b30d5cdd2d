"""InteractionDisplay."""

from itertools import pairwise
from types import SimpleNamespace

import matplotlib
import numpy as np
import pandas as pd
import pytest

matplotlib.use("Agg")
from matplotlib import pyplot as plt

from recuse import AbstentionBoostingClassifier
from recuse.plot import InteractionDisplay

OPTIONS = {"beta": 0.003, "n_rounds": 30, "max_bins": 16, "cv": 2}


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = (rng.random(600) < 1 / (1 + np.exp(-2.5 * X[:, 0] * X[:, 1] - 2 * X[:, 2]))).astype(int)
    X[::9, 0] = np.nan
    return pd.DataFrame(X, columns=["age", "smoking", "sex", "weight"]), y


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_a_heat_map_of_each_score_shows_the_table(cases):
    X, y = cases
    model = AbstentionBoostingClassifier(family="decoupled", interactions=2, **OPTIONS).fit(X, y)
    display = InteractionDisplay.from_estimator(model, X, max_pairs=1)
    assert display.axes_.shape == (1, 2)
    surface = model.interaction_functions_[int(np.argmax(display.importance()))]
    assert surface.features == (0, 1)
    for ax, table in zip(display.axes_[0], (surface.h, surface.r), strict=True):
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "smoking")
        shown = np.asarray(ax.collections[0].get_array()).reshape(len(surface.cuts[1]) + 1, len(surface.cuts[0]) + 2)
        # Missing values of age have a strip; smoking has none.
        np.testing.assert_allclose(shown, table[:, :-1].T)
        assert "missing" in [text.get_text() for text in ax.get_xticklabels()]
        assert "missing" not in [text.get_text() for text in ax.get_yticklabels()]


def test_a_score_with_chows_rule_has_one_panel_per_pair(cases):
    X, y = cases
    model = AbstentionBoostingClassifier(family="chow", interactions=2, **OPTIONS).fit(X, y)
    display = InteractionDisplay.from_estimator(model)
    assert display.axes_.shape == (len(model.interaction_functions_), 1)
    assert display.axes_[0, 0].get_xlabel() == "age"


def test_given_axes_are_used(cases):
    X, y = cases
    model = AbstentionBoostingClassifier(family="chow", interactions=[("age", "smoking")], **OPTIONS).fit(X, y)
    figure, ax = plt.subplots()
    assert InteractionDisplay.from_estimator(model, X, axes=ax).figure_ is figure


def test_a_model_without_pairs_is_refused(cases):
    X, y = cases
    model = AbstentionBoostingClassifier(family="chow", **OPTIONS).fit(X, y)
    with pytest.raises(TypeError, match="has no pair terms: fit AbstentionBoostingClassifier with interactions"):
        InteractionDisplay.from_estimator(model, X)


def test_categories_have_a_column_for_each_level(cases):
    X, y = cases
    X = X.assign(sex=pd.Categorical(np.where(X["sex"] > 0.3, "f", "m")))
    model = AbstentionBoostingClassifier(family="chow", interactions=[("age", "sex")], **OPTIONS).fit(X, y)
    for given in (None, X):
        ax = InteractionDisplay.from_estimator(model, given).axes_[0, 0]
        assert [text.get_text() for text in ax.get_yticklabels()] == ["f", "m"]
        assert ax.get_ylim() == (-0.5, 1.5)
    shown = np.asarray(ax.collections[0].get_array()).reshape(2, -1)
    np.testing.assert_allclose(shown, model.interaction_functions_[0].h[:, :-1].T)


def of_categories(n_first, n_second, length=6):
    """A pair of categories with so many levels, and missing values of both."""
    rng = np.random.default_rng(0)
    levels = {f: tuple(f"{i:0{length}d}" for i in range(n)) for f, n in enumerate((n_first, n_second))}
    cuts = tuple(np.arange(n - 1) + 0.5 for n in (n_first, n_second))
    h = rng.normal(size=(n_first + 1, n_second + 1))
    surface = SimpleNamespace(features=(0, 1), cuts=cuts, h=h, r=np.zeros_like(h))
    return InteractionDisplay([surface], ["ward", "icd"], levels=levels).plot()


@pytest.mark.parametrize(("n_first", "n_second"), [(12, 3), (3, 12), (12, 30), (40, 40), (2, 2), (130, 90)])
@pytest.mark.parametrize("length", [3, 12])
def test_names_of_levels_do_not_overlap(n_first, n_second, length):
    display = of_categories(n_first, n_second, length)
    display.figure_.canvas.draw()
    ax = display.axes_[0, 0]
    for axis in (ax.xaxis, ax.yaxis):
        boxes = [label.get_window_extent() for label in axis.get_ticklabels()]
        assert not any(one.overlaps(other) for one, other in pairwise(boxes))
        assert axis.get_ticklabels()[-1].get_text() == "missing"


@pytest.mark.parametrize("n", [40, 41, 130])
def test_each_name_stands_at_its_level(n):
    """Up to 40 levels all have their names, and of more as many as fit."""
    axis = of_categories(n, 2).axes_[0, 0].xaxis
    named = [(tick, label.get_text()) for tick, label in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)]
    assert all(tick == int(name) for tick, name in named[:-1])
    assert 20 < len(named) - 1 <= 40
    assert (n > 40) or len(named) == n + 1
