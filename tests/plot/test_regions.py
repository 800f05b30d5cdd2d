"""RejectRegionDisplay."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

matplotlib.use("Agg")
from matplotlib import pyplot as plt

from recuse import CoupledOneClassSVC, DoubleHingeSVC, ThresholdRejectClassifier
from recuse.datasets import make_gaussian_classes
from recuse.plot import RejectRegionDisplay


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def clouds():
    return make_gaussian_classes(200, 2, separation=2, random_state=0)


@pytest.mark.parametrize(
    "model",
    [
        CoupledOneClassSVC(),
        DoubleHingeSVC(0.1, C=10),
        ThresholdRejectClassifier(LogisticRegression(), costs=0.1),
        make_pipeline(StandardScaler(), CoupledOneClassSVC(gamma=0.5)),
    ],
    ids=["coupled", "double hinge", "Chow", "pipeline"],
)
def test_every_point_has_the_answer_of_the_model(clouds, model):
    X, y = clouds
    model.fit(X, y)
    display = RejectRegionDisplay.from_estimator(model, X, y, resolution=30)
    points = np.array([[a, b] for b in display.y for a in display.x])
    answers = model.predict(points).reshape(30, 30)
    np.testing.assert_array_equal(display.regions < 2, answers != -1)
    np.testing.assert_array_equal(display.regions[answers != -1], answers[answers != -1])
    assert display.x[0] < X[:, 0].min() < X[:, 0].max() < display.x[-1]
    shown = {text.get_text() for text in display.ax_.get_legend().get_texts()}
    assert {"0", "1", "ambiguity", "case of 0", "case of 1"} <= shown
    assert ("novelty" in shown) == bool((display.regions == 3).any())


def test_the_four_regions(clouds):
    X, y = clouds
    display = RejectRegionDisplay.from_estimator(CoupledOneClassSVC(gamma=1.0).fit(X, y), X, y, margin=1.0)
    assert set(np.unique(display.regions)) == {0, 1, 2, 3}
    assert (display.regions[0] == 3).all()  # the rim is far from all cases


def test_colours_differ_in_brightness(clouds):
    """To a reader without colours the two rejections still differ from each other and from the classes."""
    X, y = clouds
    display = RejectRegionDisplay.from_estimator(CoupledOneClassSVC(gamma=1.0).fit(X, y), X, margin=1.0)
    image = display.ax_.get_images()[0]
    colours = image.cmap(np.arange(4))[:, :3]
    brightness = np.sort(colours @ [0.299, 0.587, 0.114])
    assert (np.diff(brightness) > 0.03).all()


def test_frames_other_features_and_more_classes():
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = ThresholdRejectClassifier(LogisticRegression(max_iter=500), costs=0.3).fit(frame, y)
    figure, ax = plt.subplots()
    display = RejectRegionDisplay.from_estimator(model, frame, y, features=("c", 3), ax=ax, resolution=20)
    assert display.figure_ is figure
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("c", "d")
    assert {0, 1, 2} <= set(np.unique(display.regions))
    point = frame.median().to_frame().T.assign(c=display.x[0], d=display.y[0])
    assert display.regions[0, 0] == model.predict(point)[0]


def test_cases_of_unknown_classes_are_crosses(clouds):
    X, y = clouds
    model = CoupledOneClassSVC().fit(X, y)
    display = RejectRegionDisplay.from_estimator(model, X, np.where(np.arange(len(y)) < 5, 7, y), resolution=10)
    assert (display.truth == 2).sum() == 5


def test_answers_that_are_already_known(clouds):
    X, y = clouds
    model = CoupledOneClassSVC(gamma=1.0).fit(X, y)
    one = RejectRegionDisplay.from_estimator(model, X, y, resolution=25)
    points = np.array([[a, b] for a in one.x for b in one.y])
    points = np.random.default_rng(0).permutation(points)
    other = RejectRegionDisplay.from_predictions(points, model.decide(points), X=X, y=y, names=("a", "b"))
    np.testing.assert_array_equal(one.regions, other.regions)
    np.testing.assert_array_equal(one.x, other.x)
    np.testing.assert_array_equal(one.truth, other.truth)
    assert (other.ax_.get_xlabel(), other.ax_.get_ylabel()) == ("a", "b")
    with pytest.raises(ValueError, match=r"a rectangular grid: 25 values .* 625 points, each once; got 624"):
        RejectRegionDisplay.from_predictions(points[1:], model.decide(points[1:]))
    twice = np.vstack([points[1:], points[1:2]])
    with pytest.raises(ValueError, match="rectangular grid"):
        RejectRegionDisplay.from_predictions(twice, model.decide(twice))
    with pytest.raises(ValueError, match=r"two columns and a row for each answer: \(625, 2\), got \(624, 2\)"):
        RejectRegionDisplay.from_predictions(points[1:], model.decide(points))
    with pytest.raises(TypeError, match="y_pred must be a Decisions table"):
        RejectRegionDisplay.from_predictions(points, model.predict(points))
    with pytest.raises(ValueError, match="X and y go together"):
        RejectRegionDisplay.from_predictions(points, model.decide(points), y=y)


def test_bad_features(clouds):
    X, y = clouds
    model = CoupledOneClassSVC().fit(X, y)
    with pytest.raises(ValueError, match="features: 'age' is none of the 2 features x0, x1"):
        RejectRegionDisplay.from_estimator(model, X, features=("age", 0))
    with pytest.raises(ValueError, match="features must name two features"):
        RejectRegionDisplay.from_estimator(model, X, features=(0,))
    with pytest.raises(TypeError):
        RejectRegionDisplay.from_estimator(LogisticRegression().fit(X, y), X)
