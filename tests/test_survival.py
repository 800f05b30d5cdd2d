"""Rejections survive every road an answer can take, for every label family."""

import io
import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import recuse
from recuse import Decisions, ThresholdRejectClassifier, cross_val_decide, decide, is_rejected


@pytest.fixture(autouse=True)
def _quiet_about_booleans():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The labels are booleans")
        yield


@pytest.fixture
def problem(family, overlapping):
    X, y = overlapping
    classes, reject_label, _ = family
    return X, classes[y], reject_label


def model(**options):
    return ThresholdRejectClassifier(LogisticRegression(), costs=0.2, **options)


def expected(X, y):
    """What the model must answer: the probabilities cut by hand."""
    p = LogisticRegression().fit(X, y).predict_proba(X)[:, 1]
    rejected = (p >= 0.2) & (p <= 0.8)
    assert 20 < rejected.sum() < len(y) - 20
    return rejected, p > 0.5


def assert_answers(answers, X, y, reject_label):
    rejected, positive = expected(X, y)
    classes = np.unique(y)
    assert [bool(value == reject_label) for value in answers] == rejected.tolist()
    for value, is_rejected_, is_positive in zip(answers, rejected, positive, strict=True):
        if not is_rejected_:
            assert value == classes[int(is_positive)]


def test_predict(problem, family):
    X, y, label = problem
    answers = model().fit(X, y).predict(X)
    assert_answers(answers, X, y, label)
    assert answers.dtype == family[2]


def test_every_mask_agrees(problem):
    X, y, label = problem
    fitted = model().fit(X, y)
    decisions = fitted.decide(X)
    masks = [
        is_rejected(fitted.predict(X), label),
        is_rejected(fitted.predict(X), estimator=fitted),
        is_rejected(decisions),
        ~decisions.accepted,
        decisions.kind != "accept",
        fitted.score_samples(X) <= 0,
        decisions.r <= 0,
    ]
    for mask in masks:
        assert np.array_equal(mask, expected(X, y)[0])
    assert decisions.label.tolist() == fitted.predict(X).tolist()
    assert np.array_equal(decisions.h > 0, decisions.forced == np.unique(y)[1])
    assert np.array_equal(fitted.decision_function(X), decisions.h)


def test_clone_pickle_joblib(problem, tmp_path):
    X, y, label = problem
    fitted = clone(model()).fit(X, y)
    joblib.dump(fitted, tmp_path / "model.joblib")
    for copy in (pickle.loads(pickle.dumps(fitted)), joblib.load(tmp_path / "model.joblib")):
        assert_answers(copy.predict(X), X, y, label)
        assert copy.predict(X[:3]).dtype == fitted.predict(X).dtype


def test_saved_and_loaded(problem, tmp_path):
    X, y, label = problem
    recuse.save(model().fit(X, y), tmp_path / "model.skops")
    assert_answers(recuse.load(tmp_path / "model.skops").predict(X), X, y, label)


def test_pipeline_and_search(problem):
    X, y, label = problem
    scaled = StandardScaler().fit_transform(X)
    pipeline = make_pipeline(StandardScaler(), model()).fit(X, y)
    search = GridSearchCV(pipeline, {"thresholdrejectclassifier__rule": ["chow"]}, cv=2).fit(X, y)
    lone = make_pipeline(model()).fit(scaled, y)
    for estimator, given in ((pipeline, X), (search, X), (FrozenEstimator(pipeline), X), (lone, scaled)):
        assert_answers(estimator.predict(given), scaled, y, label)
        decisions = decide(estimator, given)
        assert_answers(decisions.label, scaled, y, label)
        assert np.array_equal(is_rejected(estimator.predict(given), estimator=estimator), ~decisions.accepted)
        assert np.array_equal(estimator.score_samples(given) > 0, decisions.accepted)


def test_cross_validation(problem):
    X, y, label = problem
    estimator = make_pipeline(StandardScaler(), model())
    shuffled = StratifiedKFold(3, shuffle=True, random_state=0)  # what a number of folds means here
    predicted = cross_val_predict(estimator, X, y, cv=shuffled)
    for cv in (shuffled, 3):
        decisions = cross_val_decide(estimator, X, y, cv=cv)
        assert predicted.tolist() == decisions.label.tolist()
    unshuffled = StratifiedKFold(3)
    assert (
        cross_val_predict(estimator, X, y, cv=unshuffled).tolist()
        == cross_val_decide(estimator, X, y, cv=unshuffled).label.tolist()
    )
    assert (predicted == label).any()
    assert len(decisions) == len(y)


def test_csv_round_trip(problem, tmp_path):
    X, y, label = problem
    fitted = model().fit(X, y)
    decisions = fitted.decide(X)
    text = decisions.to_pandas().to_csv(index=False)
    table = pd.read_csv(io.StringIO(text), keep_default_na=False)
    assert [str(v) for v in table["label"]] == [str(v) for v in decisions.label]
    assert np.array_equal(is_rejected(table["label"], label), ~decisions.accepted)
    assert table["kind"].tolist() == decisions.kind.tolist()
    assert table["reason"].tolist() == decisions.reason.tolist()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames(problem, frame):
    X, y, label = problem
    names = [f"feature {i}" for i in range(X.shape[1])]
    table = frame(dict(zip(names, X.T, strict=True)))
    outcome = pd.Series(y) if frame is pd.DataFrame else pl.Series("y", y.tolist())
    fitted = model().fit(table, outcome)
    assert fitted.feature_names_in_.tolist() == names
    assert_answers(fitted.predict(table), X, y, label)
    assert_answers(decide(make_pipeline(StandardScaler(), fitted)[1:], table).label, X, y, label)


def test_slices_and_concatenation(problem):
    X, y, label = problem
    fitted = model().fit(X, y)
    whole = fitted.decide(X)
    parts = [fitted.decide(X[i : i + 7]) for i in range(0, len(X), 7)]
    joined = Decisions.concatenate(parts)
    assert_answers(joined.label, X, y, label)
    assert joined.label.dtype == whole.label.dtype == parts[0].label.dtype
    assert_answers(np.concatenate([fitted.predict(X[:100]), fitted.predict(X[100:])]), X, y, label)
    rejected = whole[~whole.accepted]
    assert (rejected.label == whole.reject_label).all()
    assert whole[10:20].label.tolist() == fitted.predict(X[10:20]).tolist()
    assert [row.label for row in whole] == whole.label.tolist()
    copy = pickle.loads(pickle.dumps(whole))
    assert copy.label.tolist() == whole.label.tolist()
    assert copy.label.dtype == whole.label.dtype


def test_one_case_at_a_time_is_the_batch(problem):
    X, y, _ = problem
    fitted = model().fit(X, y)
    batch = fitted.predict(X[:40])
    single = [fitted.predict(X[i : i + 1]) for i in range(40)]
    assert [value for answer in single for value in answer.tolist()] == batch.tolist()
    assert {answer.dtype for answer in single} == {batch.dtype}
